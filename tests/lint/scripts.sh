#!/usr/bin/env bash
# Scripts parse, say in a comment what they are for, and can be run.
. "$(dirname "$0")/lib.bash"

while IFS= read -r script; do
    bash -n "$script" || complain "$script: bash does not parse it"
    case $script in scripts/* | .ci/*)
        [ -x "$script" ] || complain "$script: not executable"
        ;;
    esac
    sed -n 2p "$script" | grep -q '^# ' ||
        complain "$script: no comment on line 2 that says what it is"
done < <(project_files '*.sh' '.ci/run')

if command -v python3 >/dev/null; then
    while IFS= read -r script; do
        python3 -c 'import ast, sys; ast.parse(open(sys.argv[1]).read())' \
            "$script" || complain "$script: Python does not parse it"
    done < <(project_files '*.py')
fi

finish scripts
