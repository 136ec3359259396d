#!/usr/bin/env bash
# Scripts parse, say in a comment what they are for, and can be run.
. "$(dirname "$0")/lib.bash"

while IFS= read -r script; do
    bash -n "$script" || complain "$script: bash does not parse it"
    case $script in scripts/* | .ci/*)
        [ -x "$script" ] || complain "$script: not executable"
        ;;
    esac
done < <(project_files '*.sh' '.ci/run')

while IFS= read -r script; do
    complain "$script: no comment on line 2 that says what it is"
done < <(project_files '*.sh' '.ci/run' | of_files awk '
    FNR == 2 && /^# / { says[FILENAME] = 1 }
    END { for (i = 1; i < ARGC; i++) if (!(ARGV[i] in says)) print ARGV[i] }')

# A test that complains and does not end with `finish` passes whatever it found.
while IFS= read -r script; do
    complain "$script: complains, and does not end with 'finish'"
done < <(project_files 'tests/*.sh' | of_files awk '
    /^[^#]*complain / { complains[FILENAME] = 1 }
    NF { last[FILENAME] = $1 }
    END { for (s in complains) if (last[s] != "finish") print s }')

if command -v python3 >/dev/null; then
    while IFS= read -r complaint; do
        complain "$complaint"
    done < <(project_files '*.py' | of_files python3 -c '
import ast, sys
for name in sys.argv[1:]:
    try:
        ast.parse(open(name, encoding="utf-8").read())
    except SyntaxError as error:
        print(f"{name}: Python does not parse it: {error}")')
fi

finish scripts
