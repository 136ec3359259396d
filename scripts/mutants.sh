#!/usr/bin/env bash
# Break one line of the laws and rules after the other, and see a test fail.
#
#     scripts/mutants.sh [BUILD [NAME...]]
#
# tests/mutants/mutants.txt has a mutant a line: its name, a file, a text that
# the file has once, what replaces it, and the tests that must fail then. BUILD
# (default: build) is a configured build folder of a checkout that this script
# may change: each file is restored after its mutant, also on an interruption.
# The exit code is 1 where a mutant survives; 2 where one does not build, or
# where its tests are absent or fail without it, since that would kill any.
set -euo pipefail
cd "$(dirname "$0")/.."
build=${1:-build}
shift || true
names=" $* "
broken=
trap '[ -z "$broken" ] || git checkout -q -- "$broken"' EXIT
[ -z "$(git status --porcelain --untracked-files=no)" ] || {
    echo "mutants.sh: commit your changes first: files are restored from git" >&2
    exit 2
}

replace() { # FILE TEXT BY
    python3 - "$@" <<'PYTHON'
import pathlib
import sys

file, text, by = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3]
now = file.read_text(encoding="utf-8")
if now.count(text) != 1:
    sys.exit(f"mutants.sh: '{text}' is in {file} {now.count(text)} times, want "
             "once")
file.write_text(now.replace(text, by), encoding="utf-8")
PYTHON
}

# What the tests run: programs, one test program, or everything.
build_for() { # TESTS
    local targets
    case $1 in
    cli.calibrate*) targets=(msim-calibrate) ;;
    cli.backend_lies | cli.outputs) targets=(mystique-sim msim-calibrate) ;;
    cli.*) targets=(mystique-sim) ;;
    unit.*) targets=("test_${1#unit.}") ;;
    fake_gpu.*) targets=(fake_gpu_programs) ;;
    *) targets=(all) ;;
    esac
    cmake --build "$build" -j2 --target "${targets[@]}" >/dev/null 2>&1
}

passes() { # TESTS
    ctest --test-dir "$build" -R "$1" --no-tests=error -j2 >/dev/null 2>&1
}

# Each pattern of tests is tried once without a mutant.
held=" "
holds() { # TESTS
    [[ $held != *" $1 "* ]] || return 0
    build_for "$1" && passes "$1" || return 1
    held+="$1 "
}

killed=0 survived=0
while IFS='|' read -r name file text by tests <&3; do
    case $name in '#'*) continue ;; esac
    [ "$names" = "  " ] || [[ $names == *" $name "* ]] || continue
    holds "$tests" || {
        echo "mutants.sh: '$tests' of $name fails without it, or is absent" >&2
        exit 2
    }
    broken=$file
    replace "$file" "$text" "$by"
    build_for "$tests" || {
        echo "mutants.sh: $name does not build" >&2
        exit 2
    }
    if passes "$tests"; then
        echo "SURVIVED  $name"
        survived=$((survived + 1))
    else
        echo "killed    $name"
        killed=$((killed + 1))
    fi
    git checkout -q -- "$file"
    broken=
done 3<tests/mutants/mutants.txt
cmake --build "$build" -j2 >/dev/null
echo "$killed killed, $survived survived"
[ "$survived" -eq 0 ]
