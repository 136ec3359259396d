#!/usr/bin/env bash
# Set up, build with and without sanitizers, run every test.
#
#   scripts/test.sh [CTEST-OPTION]...    for example: scripts/test.sh -R unit
#   scripts/test.sh --all                everything, in at most an hour or so:
#                                        then libFuzzer on every verb, 60 s each
#                                        (Debian: clang), and mutants drawn at
#                                        random
#
# MSIM_TRACES names a folder of real traces; without it the tests that need
# one skip. Tests of the sanitizer build are called sanitize.*.
set -euo pipefail

# Relative to where the caller is, not to the project.
all=
export MSIM_FUZZ_SHARE=0.1 # tests/fuzz/share.h
if [ "${1:-}" = --all ]; then
    all=1 MSIM_FUZZ_SHARE=1
    shift
fi
traces=
if [ -n "${MSIM_TRACES:-}" ]; then
    traces=$(realpath -e -- "$MSIM_TRACES")
fi
cd "$(dirname "$0")/.."
jobs=$(nproc)

scripts/setup.sh
for preset in ci ci-sanitize; do
    cmake --preset "$preset" -DMSIM_TRACES="$traces"
    cmake --build --preset "$preset" --parallel "$jobs"
done

# One run, hence one summary, over both build folders.
mkdir -p build/all
printf 'subdirs("%s" "%s")\n' "$PWD/build" "$PWD/build-sanitize" \
    >build/all/CTestTestfile.cmake
ctest --test-dir build/all --output-on-failure --parallel "$jobs" "$@"
[ -n "$all" ] || exit 0
scripts/fuzz.sh
scripts/mutants.py --sample 40 --budget 900
