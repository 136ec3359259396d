#!/usr/bin/env bash
# Calls of CUDA's libraries that fail once, always, hang, or break the context:
# the backend says so in the library's words, and goes on where it can. What has
# broken the device ends it, so that it is started again.
. "$(dirname "$0")/../cli/lib.bash"

prof=${BUILD_DIR:?the build folder}/fake_gpu/mystique-prof-cuda
last="mystique-prof-cuda with faults"

product='{"table": "gemm", "dtype": "fp16", "m": 512, "n": 512, "k": 512}'
conv='{"table": "conv", "op": "conv2d_fwd", "dtype": "fp16", "n": 2, "c": 16, "h": 14, "w": 14, "k": 16, "r": 3, "s": 3, "pad": 1}'
vector='{"table": "vector", "op": "add", "dtype": "fp32", "shape": "100x1000"}'
copy='{"table": "copy", "op": "h2d", "bytes": 4096}'
latency='{"table": "latency", "op": "event_gap"}'
collective='{"table": "collective", "collective": "broadcast", "ranks": 1, "bytes": 4096}'
counted='{"table": "copy", "op": "read", "bytes": 100000000, "counters": true}'

# ask SETTINGS QUESTION...: fills answers and rc
ask() {
    local settings=$1
    shift
    printf '%s\n' "$@" | FAKE_GPU=$settings timeout 20 "$prof" \
        >"$folder/answers" 2>"$folder/err"
    rc=$?
    answers=$(tail -n +2 "$folder/answers")
    [ "$rc" -lt 124 ] || complain "'$settings': exit $rc: $(<"$folder/err")"
}

# What fails for one question is answered, and the next one is well.
while IFS='|' read -r fault question text; do
    ask "$fault" "${!question}" "$vector"
    grep -q "\"error\": \"[^\"]*$text" <<<"$(head -1 <<<"$answers")" ||
        complain "'$fault': no '$text': $answers"
    ! grep -q '(' <<<"$(sed -n '1s/.*"error": "\([^"]*\)".*/\1/p' <<<"$answers")" ||
        complain "'$fault' shows a call's arguments: $answers"
    [ "$(grep -c time_us <<<"$answers")" -eq 1 ] ||
        complain "'$fault': the next one fails, too: $answers $(<"$folder/err")"
    [ "$rc" -eq 0 ] || complain "'$fault': exit $rc"
done <<'END'
cublasLtMatmul=once|product|cublasLtMatmul: made-up cuBLAS error
cublasLtCreate=once|product|cublasLtCreate: made-up cuBLAS error
cublasLtMatmulAlgoGetHeuristic=once|product|cuBLAS has no such product
cublasLtMatrixLayoutSetAttribute=once|product|cublasLtMatrixLayoutSetAttribute: made-up
cudnnCreate=once|conv|cudnnCreate: made-up cuDNN error
cudnnConvolutionForward=once|conv|cudnnConvolutionForward: made-up cuDNN error
cudnnGetConvolutionForwardAlgorithm_v7=once|conv|cuDNN has no such convolution
ncclCommInitAll=once|collective|ncclCommInitAll: made-up NCCL error
ncclGroupEnd=once|collective|ncclGroupEnd: made-up NCCL error
cudaMallocHost=once|copy|cudaMallocHost: made-up CUDA error
cudaMemcpyAsync=once|copy|cudaMemcpyAsync: made-up CUDA error
cudaMalloc=once@3|vector|cudaMalloc: made-up CUDA error
cudaStreamWaitEvent=once|latency|cudaStreamWaitEvent: made-up CUDA error
END

# A count that fails leaves the times.
ask "cuptiRangeProfilerStart=once" "$counted" "$vector"
[ "$(grep -c time_us <<<"$answers")" -eq 2 ] &&
    grep -q '"counters_error": "cuptiRangeProfilerStart: ' <<<"$answers" ||
    complain "a failed count: $answers"

# CUPTI that hands nothing over is not asked for ever: it ends, with an answer.
# What a broken device holds is not given back: it may never return.
export ASAN_OPTIONS=detect_leaks=0
ask "cuptiActivityFlushAll=always@20" "$vector" "$vector" "$vector" "$vector" \
    "$vector" "$vector" "$vector" "$vector" "$vector" "$vector" "$vector"
[ "$rc" -eq 4 ] || complain "CUPTI's flush fails: exit $rc, want 4: $answers"
[ "$(grep -c '"error": "cuptiActivityFlushAll: ' <<<"$answers")" -eq 1 ] ||
    complain "its flush failed more than once: $answers"

# So does a context that is broken.
ask "cudaEventRecord=sticky@30" "$vector" "$vector" "$vector" "$vector" \
    "$vector" "$vector" "$vector"
[ "$rc" -eq 4 ] || complain "a broken context: exit $rc, want 4"
[ "$(grep -c '"error"' <<<"$answers")" -eq 1 ] || complain "$answers"
grep -q "cannot be used any more" "$folder/err" || complain "$(<"$folder/err")"

# What it cannot begin with ends it at once, with a sentence.
for fault in cudaGetDeviceCount cudaSetDevice cudaMalloc cudaEventCreate; do
    ask "$fault=always" "$vector"
    [ "$rc" -eq 3 ] || [ "$rc" -eq 4 ] || complain "'$fault': exit $rc"
    grep -q "$fault: made-up CUDA error" "$folder/err" ||
        complain "'$fault': $(<"$folder/err")"
done

# What the memory has no room for is said, and small ones go on.
ask "" '{"table": "vector", "op": "add", "dtype": "fp32", "shape": "1000000x40000"}' \
    "$vector"
grep -q '"error": "takes 480 GB, ' <<<"$answers" || complain "no memory: $answers"
[ "$(grep -c time_us <<<"$answers")" -eq 1 ] || complain "$answers"

# One that hangs ends with whoever asked, also where that is killed.
cp "$prof" "$folder/prof-alone"
FAKE_GPU=cudaEventSynchronize=hang@30 "$sim" replay \
    --backend "$folder/prof-alone" \
    "${SOURCE_DIR:?the source folder}/data/traces/gpt2" >"$folder/out" 2>&1 &
pid=$!
for _ in $(seq 50); do
    ! pgrep -f "$folder/prof-alone" >"$folder/alone" || break
    sleep 0.1
done
[ -s "$folder/alone" ] || complain "no backend was started: $(<"$folder/out")"
sleep 1 # until it hangs
kill -9 "$pid"
wait "$pid" 2>/dev/null
for _ in $(seq 50); do
    pgrep -f "$folder/prof-alone" >"$folder/alone" || break
    sleep 0.1
done
[ ! -s "$folder/alone" ] || complain "a backend that hangs is left behind"
pkill -f "$folder/prof-alone"

# The fake itself: what it is asked for and does not know.
for wrong in gpus bananas=1 cudaMalloc=twice nvml_us=x; do
    FAKE_GPU=$wrong "$prof" </dev/null >/dev/null 2>"$folder/err"
    rc=$?
    [ "$rc" -eq 2 ] && grep -q "FAKE_GPU has '$wrong'" "$folder/err" ||
        complain "FAKE_GPU=$wrong: exit $rc: $(<"$folder/err")"
done
ask "cudaMallocc=once" "$vector"
grep -q "no call of 'cudaMallocc' was made" "$folder/err" ||
    complain "a call that is mistyped: $(<"$folder/err")"

finish
