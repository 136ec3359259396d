#!/usr/bin/env bash
# Each script that takes turns has its own in any ten digits, and without a digit it
# runs: no test is left to nobody. What brings one for a commit out of turn is there.
. "$(dirname "$0")/lib.bash"
. tests/turn.bash

scripts=$(project_files 'tests/*.sh')
turns() { # DIGIT: scripts that run then
    while IFS= read -r BASH_ARGV0; do # what $0 is
        ! (MSIM_TURN=$1 in_turn >/dev/null) || echo "$0"
    done <<<"$scripts"
}
for digit in {0..9}; do
    turns "$digit"
done | sort | diff - <(echo "$scripts") >&2 ||
    complain "<: runs twice in ten commits, >: in none"
turns "" | diff - <(echo "$scripts") >&2 || complain ">: does not run in --all"

while IFS=: read -r script path; do
    [ -e "$path" ] || complain "$script: takes its turn for '$path', which is not there"
done < <(project_files 'tests/*.sh' 'tests/*.bash' | of_files awk '
    /^ *in_turn /, !/\\$/ {
        for (i = 1; i <= NF; i++)
            if ($i !~ /^(in_turn|\\|"\$[0@]")$/)
                print FILENAME ":" $i
    }')

finish turns
