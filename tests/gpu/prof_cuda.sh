#!/usr/bin/env bash
# The backend for NVIDIA GPUs on one: an experiment of every kind that its
# greeting lists is answered; CUPTI and events agree; and a program that is
# recorded leaves a trace that mystique-sim reads. Skips without a GPU.
. "$(dirname "$0")/../cli/lib.bash"

prof=${BUILD_DIR:?the build folder}/mystique-prof-cuda
"$prof" </dev/null >"$folder/greeting" 2>"$folder/err"
rc=$?
if [ "$rc" -eq 3 ]; then
    echo "$(<"$folder/err"): skipped"
    exit 77
fi
last="mystique-prof-cuda"
want_rc 0
if ! command -v python3 >/dev/null; then
    echo "no python3: skipped"
    exit 77
fi

python3 "$(dirname "$0")/ask_all.py" "$prof" || complain "answers are wrong"

# Recorded: the test of the kernels, which is a CUDA program.
trace=$folder/trace.json.gz
CUDA_INJECTION64_PATH=$BUILD_DIR/libmystique-cupti.so MSIM_CUPTI_OUT=$trace \
    "$BUILD_DIR/tests/test_kernels" >"$folder/log" 2>&1 ||
    complain "the recorded program failed: $(tail -5 "$folder/log")"
[ -s "$trace" ] || complain "no trace: $(tail -5 "$folder/log")"
run info "$trace"
want_rc 0
want_out "NVIDIA"
run --costs measured "$trace"
want_rc 0
want_out "kernels"

finish
