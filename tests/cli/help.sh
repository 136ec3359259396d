#!/usr/bin/env bash
# --help and --version: to standard output, exit code 0, for every verb.
. "$(dirname "$0")/hold.bash"
hold_runs

for args in --help -h help "help help"; do
    # shellcheck disable=SC2086
    run $args
    want_rc 0
    want_no_err
    want_out "usage: mystique-sim [predict] [OPTION]... TRACE|DIR..."
    want_out "[default: "
    want_out "--platform NAME|FILE"
    for verb in predict info compare op platforms select convert generate replay validate calibrate help; do
        want_out $'\n'"  $verb "
    done
    examples=$(sed -n '/^examples:/,$p' "$folder/out" | grep -c '^  mystique-sim')
    [ "$examples" -ge 2 ] || complain "$examples examples, want two"
done

for verb in predict info compare op platforms select convert generate replay validate calibrate; do
    run "$verb" --help
    want_rc 0
    want_no_err
    want_out "usage: mystique-sim $verb "
    want_out "examples:"
    want_out "--help, -h "
    want_out "--version, -V "
    help=$out
    run help "$verb"
    want_rc 0
    [ "$out" = "$help" ] || complain "differs from '$verb --help'"
    run "$verb" --version
    want_rc 0
    want_out "mystique-sim "
done

# No line is wider than a terminal, none ends in a space.
for verb in "" predict info compare op platforms select convert generate replay validate calibrate; do
    # shellcheck disable=SC2086
    run $verb --help
    ! grep -nE '.{81}| $' "$folder/out" >&2 || complain "an untidy line"
done

# Where a name of a platform may end in a stack, help says so.
for verb in predict op compare plan whatif validate calibrate; do
    run "$verb" --help
    tr -s '\n ' ' ' <"$folder/out" |
        grep -q "a name may end in a stack (h100@pytorch-2.9)" ||
        complain "no word of stacks"
done

usage_error "got 'extra' behind 'whatif', want one verb or 'report'" help whatif extra
usage_error "got 'op' behind 'report', want one verb" help report op

run --version
want_rc 0
want_no_err
# The commit stands behind it, where the source is git's; a + says "changed since".
commit=$(git -C "${SOURCE_DIR:?the source folder}" rev-parse --short=12 HEAD \
    2>/dev/null || true)
[[ $out =~ ^mystique-sim\ [0-9]+\.[0-9]+\.[0-9]+(\ \(([0-9a-f]+)\+?\))?$ ]] ||
    complain "got '$out'"
[ -z "$commit" ] || [ "${BASH_REMATCH[2]:-}" = "$commit" ] ||
    complain "got '$out', want commit $commit"
run -V
want_rc 0

# Output that cannot be written is a failure.
if [ -w /dev/full ]; then
    last="--help >/dev/full"
    "$sim" --help >/dev/full 2>"$folder/err"
    rc=$?
    err=$(cat "$folder/err")
    want_rc 4
    want_err "cannot write to standard output: No space left on device"
fi

finish
