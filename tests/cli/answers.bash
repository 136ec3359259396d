# Shared by answers_*.sh: what verbs say, held to eight digits by committed texts
# (tests/answers), so that no number and no word of an answer moves unseen. A change
# that is meant to move them makes them again, and its commit says what moved:
#
#     MYSTIQUE_SIM=build/mystique-sim MSIM_DATA=data bash tests/cli/answers_plan.sh update
#
#   answer NAME ARGUMENT...   runs mystique-sim; output and messages are those of NAME
#   fit NAME PROGRAM ARGUMENT...   the same of a program that fits, and of what it writes
#                             into $folder/made; nothing is held where it was not built
#   changed NAME              scenarios of $asked, each of a line's changes
#   sums NAME FOLDER          checksums of the files there: what is too long to keep

. "$(dirname "$0")/hold.bash"

answer() {
    local name=$1
    shift
    run "$@"
    { echo "exit code $rc"; cat "$folder/out" "$folder/err"; } | to_eight_digits >"$folder/said"
    hold "$name"
}

sums() {
    (cd "$2" && find . -type f | sort | while read -r file; do
        to_eight_digits <"$file" | cksum | tr '\n' ' '
        echo "$file"
    done) >"$folder/said"
    hold "$1"
}

programs=$(dirname "$sim")
mkdir "$folder/made"

fit() {
    local name=$1 program=$2 code=0
    shift 2
    [ -x "$programs/$program" ] || return 0 # without XGBoost
    "$programs/$program" "$@" >"$folder/out" 2>"$folder/err" || code=$?
    echo "exit code $code" >"$folder/code"
    for file in "$folder/code" "$folder/out" "$folder/err" $(ls -d "$folder/made"/* 2>/dev/null); do
        echo "== ${file##*/}"
        cat "$file"
    done | to_eight_digits >"$folder/said"
    hold "fit_$name"
    rm -f "$folder/made"/*
}

changed() {
    local line
    while read -r line; do
        echo "{\"scenarios\": [{\"name\": \"a\", \"changes\": [$line]}]}" >"$folder/changes.json"
        run whatif "$folder/changes.json" "${asked[@]}" --csv
        echo "$line"
        echo "    $rc $err$(sed 1,2d "$folder/out")"
    done | cut -c1-800 | to_eight_digits >"$folder/said"
    hold "changes_$1"
}
