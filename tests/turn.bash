# Shared by tests that take long, such as refits of whole tables.
#
#   in_turn [PATH...]   CI runs it for one commit of ten, and for each that changes
#                       something below PATH
#
# MSIM_TURN is a digit, of the commit (scripts/test.sh): tests whose name has it run.
# Without it all do, as in scripts/test.sh --all.

# The digit of a script's name, as $digit; by a factor with which the long ones lie
# far apart, from what they are under sanitizers, too.
digit_of() { # PATH
    local name=${1%/*} i letter
    name=${name##*/}.${1##*/}
    digit=0
    for ((i = 0; i < ${#name}; i++)); do
        printf -v letter %d "'${name:i:1}"
        digit=$(((digit * 2381 + letter) % 100003))
    done
    digit=$(((digit + 5 * ${MSIM_SANITIZE:-0}) % 10))
}

lately_changed() { # PATH...: by the last commit, or by who works here
    local code=0
    git -C "${SOURCE_DIR:-.}" diff --quiet HEAD~1 -- "$@" 2>/dev/null || code=$?
    [ "$code" -eq 1 ] # more where there is no git, or no commit before
}

in_turn() { # [PATH...]
    local digit
    [ "$#" -eq 0 ] || ! lately_changed "$@" || return 0
    digit_of "$0"
    if [ "${MSIM_TURN:-$digit}" -ne "$digit" ]; then
        echo "another commit's turn, or that of scripts/test.sh --all: skipped"
        exit 77
    fi
}
