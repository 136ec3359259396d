#!/usr/bin/env bash
# What work asks of a device where a trace says little of it: which laws stand
# behind a time, and what is said where none does.
. "$(dirname "$0")/lib.bash"

# figure KEY PART: that part of the first figure KEY in the output, whole.
figure() {
    grep -m1 -o "^ *\"$1\": {.*" <<<"$out" | grep -o "\"$2\": [0-9]*" |
        head -1 | grep -o '[0-9]*$'
}

# ---- a kernel that nobody knows ------------------------------------------

# unknown OPERATOR KERNEL DIMS TYPES BLOCKS: a kernel of 4 ms.
unknown() {
    cat <<JSON
{"schemaVersion": 1, "traceEvents": [
 {"ph": "X", "cat": "cpu_op", "name": "$1", "pid": 1, "tid": 1, "ts": 10,
  "dur": 15, "args": {"External id": 2, "Input Dims": $3, "Input type": $4}},
 {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1,
  "tid": 1, "ts": 15, "dur": 5, "args": {"correlation": 1}},
 {"ph": "X", "cat": "kernel", "name": "$2", "pid": 0, "tid": 7, "ts": 22,
  "dur": 4000, "args": {"device": 0, "stream": 7, "correlation": 1,
  "grid": [$5, 1, 1], "block": [256, 1, 1]}}]}
JSON
}

# Its size is a guess from its launch: not covered, refused under --strict. It
# may be a product of its operands, which takes 137.4 GFLOP / 989.4 TFLOP/s =
# 139 us at least.
unknown mine::glue glue '[[4096, 4096], [4096, 4096]]' '["c10::Half", "c10::Half"]' \
    64 >"$folder/glue.json"
run --platform h100 --costs model --json "$folder/glue.json"
want_rc 0
want_out '"coverage": {"ops": 0, "device_time": 0}'
want_out '"source": "launch"'
[ "$(figure kernel_us high)" -gt 139 ] || complain "no room for a product: $out"
run --platform h100 --costs model --strict "$folder/glue.json"
want_rc 3
want_err "no model covers operator 'mine::glue' on 'h100'"
want_err "guessed from its name and launch"
run --platform h100 --costs model "$folder/glue.json"
want_out "not covered by a law of their own"

# So is one whose kernel's name says its kind: of which size is a guess.
unknown mine::add 'void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, at::detail::Array<char*, 3> >' \
    '[]' '[]' 64 >"$folder/add.json"
run --platform h100 --costs model --json "$folder/add.json"
want_out '"coverage": {"ops": 0, "device_time": 0}'
run --platform h100 --costs model --strict "$folder/add.json"
want_rc 3

finish
