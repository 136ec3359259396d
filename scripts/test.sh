#!/usr/bin/env bash
# Set up, build with and without sanitizers, run the tests.
#
#   scripts/test.sh [CTEST-OPTION]...    what CI runs; for example:
#                                        scripts/test.sh -R unit
#   scripts/test.sh --build              only the set-up and the builds
#   scripts/test.sh --all                everything, in at most two hours or so:
#                                        tests that CI runs one commit of ten
#                                        (tests/turn.bash), all runs of fuzzers,
#                                        libFuzzer on every verb, 60 s each
#                                        (Debian: clang), and mutants drawn at
#                                        random
#
# MSIM_TRACES names a folder of real traces; without it the tests that need
# one skip. Tests of the sanitizer build are called sanitize.*.
set -euo pipefail

all='' build=''
case ${1:-} in
    --all) all=1 ;;
    --build) build=1 ;;
esac
[ -z "$all$build" ] || shift
# Relative to where the caller is, not to the project.
traces=
if [ -n "${MSIM_TRACES:-}" ]; then
    traces=$(realpath -e -- "$MSIM_TRACES")
fi
cd "$(dirname "$0")/.."
jobs=$(nproc)

unset MSIM_TURN
export MSIM_FUZZ_SHARE=1 # tests/fuzz/share.h
if [ -z "$all" ]; then
    # What passes for a number of the commit, or of the day where there is none.
    number=$(git rev-parse --verify -q HEAD 2>/dev/null | tail -c 8 || true)
    export MSIM_TURN=$((16#${number:-$(date +%j)} % 10)) MSIM_FUZZ_SHARE=0.05
fi

scripts/setup.sh --tests
# A folder that was made keeps its generator. make looks at each of four hundred
# targets in a process of its own, which took longer than to link them.
if command -v ninja >/dev/null; then
    export CMAKE_GENERATOR=Ninja
fi
if command -v ccache >/dev/null && [ -n "${HOME:-}" ]; then
    export CMAKE_C_COMPILER_LAUNCHER=ccache
fi
for preset in ci ci-sanitize; do
    cmake --preset "$preset" -DMSIM_TRACES="$traces"
    cmake --build --preset "$preset" --parallel "$jobs"
done
[ -z "$build" ] || exit 0

# One run, hence one summary, over both build folders.
mkdir -p build/all
printf 'subdirs("%s" "%s")\n' "$PWD/build" "$PWD/build-sanitize" \
    >build/all/CTestTestfile.cmake
ctest --test-dir build/all --output-on-failure --parallel "$jobs" "$@"
[ -n "$all" ] || exit 0
scripts/fuzz.sh
scripts/mutants.py --sample 40 --budget 900
