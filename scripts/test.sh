#!/usr/bin/env bash
# Set up, build with and without sanitizers, run every test.
#
#   scripts/test.sh [CTEST-OPTION]...    for example: scripts/test.sh -R unit
#
# MSIM_TRACES names a folder of real traces; without it the tests that need
# one skip. Tests of the sanitizer build are called sanitize.*.
set -euo pipefail

# Relative to where the caller is, not to the project.
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
exec ctest --test-dir build/all --output-on-failure --parallel "$jobs" "$@"
