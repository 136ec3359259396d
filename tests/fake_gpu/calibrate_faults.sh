#!/usr/bin/env bash
# calibrate on a made-up GPU where calls fail once, always, or hang: it ends in
# time, says what is missing, and has the rows of the other tables.
. "$(dirname "$0")/../cli/lib.bash"
in_turn profilers calibrate/measure tests/fake_gpu

prof=${BUILD_DIR:?the build folder}/fake_gpu/mystique-prof-cuda
export ASAN_OPTIONS=detect_leaks=0
if [ ! -x "$(dirname "$sim")/msim-calibrate" ]; then
    echo "built without XGBoost: skipped"
    exit 77
fi

journal=$folder/x.journal.jsonl

# once FAULT MINUTES: measure, on a new journal
once() {
    local begin=$EPOCHREALTIME
    rm -f "$journal"
    last="calibrate, $1"
    FAKE_GPU=$1 "$sim" calibrate --measure-only --backend "$prof" \
        --patience 1 --budget "$2" --out "$folder/x.json" \
        >"$folder/out" 2>"$folder/err"
    rc=$? out=$(<"$folder/out") err=$(<"$folder/err")
    took=$(((${EPOCHREALTIME/./} - ${begin/./}) / 1000))
    # three hangs, ends of processes, and a busy machine
    limit=$(awk -v minutes="$2" 'BEGIN { print int(minutes * 240000) + 12000 }')
    [ "$took" -lt "$limit" ] || complain "took $took ms, want at most $limit"
}

# Tables that have rows.
tables() {
    sed -n 's/.*"table":"\([a-z]*\)".*"answer":.*"time_us".*/\1/p' \
        "$journal" | sort -u | tr '\n' ' '
}

# calibrate FAULT MINUTES TABLES: with a larger budget where a busy machine did
# not come to each of TABLES, a pattern.
shopt -s extglob
calibrate() {
    local minutes
    for minutes in $(awk -v m="$2" 'BEGIN { print m, 4 * m, 16 * m }'); do
        once "$1" "$minutes"
        # shellcheck disable=SC2053
        [[ $(tables) == $3 ]] && return
    done
    complain "rows of '$(tables)', want '$3'"
}

# FAULT|MINUTES|EXIT CODE|TABLES THAT HAVE ROWS|TEXT OF A MESSAGE. Of the table
# "copy" reads and writes of kernels have rows, where it comes to them between failures.
while IFS='|' read -r fault minutes code rows text; do
    calibrate "$fault" "$minutes" "$rows"
    want_rc "$code"
    want_err "$text"
    [ "$(grep -c '"hung":true' "$journal")" -le 3 ] || complain "hung on"
done <<'END'
cublasLtMatmul=hang|0.06|0|conv copy latency vector |asks 'cuda' for no more of gemm, which hangs: the backend did not
cublasLtMatmul=always|0.04|0|conv copy latency vector |cublasLtMatmul: made-up cuBLAS error
cublasLtMatmul=once|0.04|0|conv copy gemm latency vector |cublasLtMatmul: made-up cuBLAS error
cudnnCreate=always|0.04|0|copy gemm latency vector |cudnnCreate: made-up cuDNN error
cudaMemcpyAsync=always|0.04|0|conv ?(copy )gemm latency vector |cudaMemcpyAsync: made-up CUDA error
cudaMalloc=always@20|0.02|1|conv copy gemm latency vector |failures ended the measuring early
cudaStreamSynchronize=hang@3|0.08|1||hung in 3 tables, one after the other
cudaGetDeviceCount=always|0.01|3||the backend ended with exit code 3
END

# Where a table hangs that had rows before, those are not asked for a second time.
once cublasLtMatmul=hang@9 0.06
want_rc 0
[ "$(grep -c 'for no more of gemm' <<<"$err")" = 1 ] || complain "gemm is given up more than once: $err"

# Its first start alone fails.
prof="$folder/started && exec $prof"
printf '#!/bin/sh\n[ -e "%s" ] || { : >"%s"; exit 3; }\n' \
    "$folder/was" "$folder/was" >"$folder/started"
chmod +x "$folder/started"
calibrate "" 0.04 "conv copy gemm latency vector "
want_rc 0

finish
