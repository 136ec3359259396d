# Shared by the tests of the command line: run, and compare what came out.
#
#   run ARGUMENT...        runs mystique-sim; fills rc, out and err
#   want_rc N              the exit code
#   want_out TEXT          standard output holds TEXT (want_no_out: it is empty)
#   want_err TEXT          standard error holds TEXT
#   in_turn                a long test: tests/turn.bash
#
# Every line on standard error must begin with the program's name, and a run
# under the sanitizers must not report anything: run checks both. There scripts take
# turns; unit tests and fuzzers look at memory for each commit.

set -uo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../turn.bash"
[ "${MSIM_SANITIZE:-0}" != 1 ] || in_turn
sim=${MYSTIQUE_SIM:?the program to test}
folder=$(mktemp -d)
complaints=$(mktemp) # a line each, so that those of a subshell count
trap 'rm -rf "$folder" "$complaints"' EXIT
rc=0 out='' err='' last=''
runs_held='' # a file: hold_runs of hold.bash

complain() {
    echo "after 'mystique-sim $last': $*" >&2
    echo >>"$complaints"
    [ -z "${MSIM_FIRST_FAILURE:-}" ] || exit 1 # all that scripts/mutants.py asks
}

run() {
    last="$*"
    [ -z "$runs_held" ] || before_run
    "$sim" "$@" >"$folder/out" 2>"$folder/err"
    rc=$?
    # Without bytes of 0: bash leaves them out, and says so.
    { out=$(<"$folder/out") err=$(<"$folder/err"); } 2>/dev/null
    [ "$rc" -le 4 ] || complain "exit code $rc, want 0 to 4: $err"
    [ ! -s "$folder/err" ] || ! grep -vq '^mystique-sim: ' "$folder/err" ||
        complain "a line without 'mystique-sim: ' in front: $err"
    [ -z "$runs_held" ] || note_run
}

want_rc() {
    [ "$rc" -eq "$1" ] || complain "exit code $rc, want $1: $err"
}

want_out() {
    [[ $out == *"$1"* ]] || complain "no '$1' in the output: $out"
}

want_no_out() {
    [ -z "$out" ] || complain "want no output, got: $out"
}

want_err() {
    [[ $err == *"$1"* ]] || complain "no '$1' in the messages: $err"
}

want_no_err() {
    [ -z "$err" ] || complain "want no message, got: $err"
}

# usage_error TEXT ARGUMENT...: exit code 2, one message that holds TEXT.
usage_error() {
    local text=$1
    shift
    run "$@"
    want_rc 2
    want_no_out
    want_err "$text"
}

finish() {
    [ -z "$runs_held" ] || end_runs
    echo "$(wc -l <"$complaints") failures"
    [ ! -s "$complaints" ]
}
