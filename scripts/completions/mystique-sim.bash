# bash completion for mystique-sim. Everything is asked of the program itself,
# so that new verbs, options and platforms are there at once.

_mystique_sim_verbs() {
    "$1" --help 2>/dev/null | awk '/^verbs:/ { on = 1; next }
        on && NF == 0 { exit } on && /^  [a-z]/ { print $1 }'
}

_mystique_sim_options() { # PROGRAM VERB
    "$1" "$2" --help 2>/dev/null | awk '/^  --?[a-z]/ { sub(/,$/, "", $1); print $1 }'
}

_mystique_sim_platforms() {
    "$1" platforms 2>/dev/null | awk 'NR > 1 && NF { print $1 }'
}

# Names of files of the data folder: hosts, networks.
_mystique_sim_data() { # PROGRAM KIND
    local program folder
    program=$(command -v "$1" 2>/dev/null) || return 0
    folder=${MSIM_DATA:-$(dirname "$program")/../share/mystique-sim}
    [ -d "$folder/$2" ] || folder=$(dirname "$program")/../data
    [ -d "$folder/$2" ] || return 0
    (cd "$folder/$2" && ls -- *.json 2>/dev/null) | sed 's/\.json$//'
}

_mystique_sim() {
    local program=${COMP_WORDS[0]} word=${COMP_WORDS[COMP_CWORD]}
    local before=${COMP_WORDS[COMP_CWORD - 1]} verb=predict i words='' verbs
    verbs=$(_mystique_sim_verbs "$program")
    for ((i = 1; i < COMP_CWORD; i++)); do
        if grep -qx -- "${COMP_WORDS[i]}" <<<"$verbs"; then
            verb=${COMP_WORDS[i]}
            break
        fi
    done
    case $before in
    --platform | --source-platform)
        words=$(_mystique_sim_platforms "$program") ;;
    --host) words=$(_mystique_sim_data "$program" hosts) ;;
    --network) words=$(_mystique_sim_data "$program" networks) ;;
    --costs) words='auto measured model scaled' ;;
    --peers) words='fixed follow' ;;
    platforms) words=$(_mystique_sim_platforms "$program") ;;
    help) words=$verbs ;;
    schema) words=$("$program" schema 2>/dev/null) ;;
    esac
    if [ -z "$words" ] && [[ $word == -* ]]; then
        words=$(_mystique_sim_options "$program" "$verb")
    elif [ -z "$words" ] && [ "$COMP_CWORD" -eq 1 ]; then
        words=$verbs
    fi
    # shellcheck disable=SC2207 # words have no blanks
    COMPREPLY=($(compgen -W "$words" -- "$word"))
    # shellcheck disable=SC2207
    [[ $word == -* ]] || COMPREPLY+=($(compgen -f -- "$word"))
}

complete -o filenames -F _mystique_sim mystique-sim
