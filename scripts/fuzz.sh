#!/usr/bin/env bash
# Every target of tests/fuzz/verbs under libFuzzer and sanitizers, for some
# seconds or executions each; a table of what was run. Wants Clang with its
# runtime (Debian: clang) and what the build needs.
#
#   scripts/fuzz.sh [SECONDS [TARGET...]]     [default: 60, all targets]
#   RUNS=200000 scripts/fuzz.sh 0 [TARGET...] executions, however long they take
#
# With RUNS, inputs are small and drawn evenly, so that the time goes to runs.
# JOBS targets run at a time (default: one a CPU).
#
# Inputs start from the seeds in tests/fuzz/verbs/corpus. What is found besides
# lies in build-fuzz/found/TARGET, and goes on from there the next time; an
# input that fails lies in build-fuzz/failed, and the exit code is 1. With
# KEEP=1, found inputs that reach more code go to the seeds, KEEP_BYTES
# (default: 30000) for each kind of file at most.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-60}
shift || true
keep_bytes=${KEEP_BYTES:-30000}
jobs=${JOBS:-$(nproc)}
limits=(-max_total_time="$seconds" -max_len=65536)
patience=30 # seconds for one input
if [ -n "${RUNS:-}" ]; then
    # Drawing rare features first, as libFuzzer does else, takes a third of it.
    limits=(-max_total_time="$seconds" -runs="$RUNS" -max_len=6144 -entropic=0)
    patience=120 # a step of 50,000 layers is written, if slowly, and no fault
fi

command -v clang >/dev/null || {
    echo "fuzz.sh: no clang: apt-get install clang" >&2
    exit 1
}
cmake --preset fuzz >/dev/null
cmake --build --preset fuzz --parallel "$(nproc)" --target fuzz_verbs >/dev/null

targets() {
    sed -n 's/^TARGET("\([^"]*\)", "\([^"]*\)".*/\1 \2/p' \
        tests/fuzz/verbs/targets.def
}

here=$PWD
program=$here/build-fuzz/tests/fuzz_verbs
failed=0
mkdir -p build-fuzz/failed
# Short stacks of allocations: to keep them is much of what a run takes.
export ASAN_OPTIONS=detect_leaks=1:allocator_may_return_null=1
ASAN_OPTIONS+=:malloc_context_size=5
export UBSAN_OPTIONS=print_stacktrace=1

# Of the smallest set of inputs that reaches what all of them do, the smallest.
keep() { # TARGET FILE
    local merged=build-fuzz/merged-$1 seeds=tests/fuzz/verbs/corpus/$2 size=0 n f
    rm -rf "$merged"
    mkdir -p "$merged"
    MSIM_FUZZ_TARGET=$1 "$program" -merge=1 "$here/$merged" \
        "$here/$seeds" "$here/build-fuzz/found/$1" 2>/dev/null || return 0
    while read -r n f; do
        size=$((size + n))
        [ "$size" -le "$keep_bytes" ] || break
        cp "$f" "$seeds"
    done < <(stat -c '%s %n' "$merged"/* | sort -n)
}

run() { # TARGET FILE
    local log=build-fuzz/$1.log begin rc=0
    mkdir -p "build-fuzz/found/$1"
    begin=$(date +%s)
    MSIM_FUZZ_TARGET=$1 "$program" "${limits[@]}" \
        -timeout="$patience" -rss_limit_mb=3000 -print_final_stats=1 -verbosity=1 \
        -artifact_prefix="$here/build-fuzz/failed/$1-" \
        "$here/build-fuzz/found/$1" "$here/tests/fuzz/verbs/corpus/$2" \
        >"$log" 2>&1 || rc=$?
    printf '%-20s %9s executions %7s edges %5s s  %s\n' "$1" \
        "$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")" \
        "$(grep -o 'cov: [0-9]*' "$log" | tail -1 | cut -c6-)" \
        $(($(date +%s) - begin)) \
        "$([ "$rc" -eq 0 ] && echo ok || echo "FAILED: $log")"
    [ -z "${KEEP:-}" ] || keep "$1" "$2"
    return "$rc"
}

running=0
while read -r target file; do
    [ $# -eq 0 ] || [[ " $* " == *" $target "* ]] || continue
    if [ "$running" -ge "$jobs" ]; then
        wait -n || failed=1
        running=$((running - 1))
    fi
    run "$target" "$file" &
    running=$((running + 1))
done < <(targets)
while [ "$running" -gt 0 ]; do
    wait -n || failed=1
    running=$((running - 1))
done
exit "$failed"
