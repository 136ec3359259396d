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

# ---- nodes that state work and no time -----------------------------------

# In hexadecimal digits: a number as protobuf has it, a text, a field of either.
varint() {
    local v=$1 digits='' byte
    while ((v > 127)); do
        printf -v byte %02x $((v & 127 | 128))
        digits+=$byte
        ((v >>= 7))
    done
    printf %s%02x "$digits" "$v"
}
text() {
    printf %s "$1" | od -An -v -tx1 | tr -d ' \n'
}
number() { # FIELD VALUE
    varint $(($1 << 3))
    varint "$2"
}
part() { # FIELD DIGITS
    varint $(($1 << 3 | 2))
    varint $((${#2} / 2))
    printf %s "$2"
}
# message DIGITS: behind its length, as bytes.
message() {
    # shellcheck disable=SC2059
    printf "$(printf %s "$(varint $((${#1} / 2)))$1" | sed 's/../\\x&/g')"
}
# node ID TYPE DEPENDENCY|- MICROS|- NAME=NUMBER...: a node of the device. What it
# waits for is in data_deps, field 5, or in ctrl_deps, "4:ID".
node() {
    local digits attr
    digits=$(number 1 "$1")$(part 2 "$(text "node $1")")$(number 3 "$2")
    case $3 in
    -) ;;
    4:*) digits+=$(part 4 "$(varint "${3#4:}")") ;;
    *) digits+=$(part 5 "$(varint "$3")") ;;
    esac
    [ "$4" = - ] || digits+=$(number 7 "$4")
    for attr in "${@:5}"; do
        digits+=$(part 10 "$(part 1 "$(text "${attr%=*}")")$(number 9 \
            "${attr#*=}")")
    done
    message "$digits"
}
begin() { # FILE
    message "$(part 1 "$(text 0.0.4)")" >"$1"
}

# 1e12 operations take 1.0107 ms at 989.4 TFLOP/s, and a bound is twice that; an
# all-reduce of 1 GiB between two GPUs takes about as long again. What depends on
# another waits for it; what does not runs beside it.
load=num_ops=1000000000000
mkdir "$folder/apart" "$folder/behind" "$folder/control"
for rank in 0 1; do
    for way in apart behind control; do
        begin "$folder/$way/job.$rank.et"
        node 1 4 - - is_cpu_op=0 $load >>"$folder/$way/job.$rank.et"
    done
    node 2 7 - - is_cpu_op=0 comm_type=0 comm_size=1073741824 \
        >>"$folder/apart/job.$rank.et"
    node 2 7 1 - is_cpu_op=0 comm_type=0 comm_size=1073741824 \
        >>"$folder/behind/job.$rank.et"
    node 2 7 4:1 - is_cpu_op=0 comm_type=0 comm_size=1073741824 \
        >>"$folder/control/job.$rank.et"
done
run --platform h100 --json "$folder/apart"
want_rc 0
want_out '"ranks": 2'
[ "$(figure kernel_us predicted)" -ge 2021 ] &&
    [ "$(figure kernel_us predicted)" -le 2030 ] ||
    complain "kernels of $(figure kernel_us predicted) us, want 2021 us"
[ "$(figure kernel_us low)" -le 1015 ] || complain "the roofline is no bound"
kernels=$(figure kernel_us predicted)
transfer=$(figure communication_us transfer)
[ "$transfer" -gt 2000 ] || complain "a transfer of $transfer us"
longest=$((kernels > transfer ? kernels : transfer))
beside=$(figure iteration_us predicted)
[ "$beside" -ge $longest ] && [ "$beside" -le $((longest + 30)) ] ||
    complain "$beside us, want those of the longer one, $longest us"
for way in behind control; do
    run --platform h100 --json "$folder/$way"
    behind=$(figure iteration_us predicted)
    [ "$behind" -ge $((kernels + transfer)) ] &&
        [ "$behind" -le $((kernels + transfer + 30)) ] ||
        complain "$behind us, want $kernels and $transfer us one after the other"
done
want_out '"name": "node 1", "calls": 1'
[[ $err != *'traced GPU'* ]] || complain "times that nobody recorded: $err"
want_out '"measured": null'
run --platform h100 --strict "$folder/behind"
want_rc 3
want_err "no model covers kernel 'node 1' on 'h100'"
run "$folder/behind"
want_rc 2
run --platform h100 --costs measured "$folder/behind"
want_rc 3
want_err "no times in the trace"

# A time that is stated stays; loads take their bytes: 1 GiB at 3.35 TB/s is 321
# us, and a bound is twice that. Without is_cpu_op a node that states work is the
# device's all the same.
begin "$folder/timed.0.et"
node 1 4 - 700 is_cpu_op=0 $load >>"$folder/timed.0.et"
node 2 2 1 - tensor_size=1073741824 >>"$folder/timed.0.et"
run --platform h100 --json "$folder/timed.0.et"
want_rc 0
want_out '"kernel_us": {"predicted": 700,'
copies=$(figure breakdown_us memory_copy)
[ "$copies" -ge 641 ] && [ "$copies" -le 650 ] ||
    complain "copies of $copies us, want 641 us"

# A message meets the one that its other end names: the receiver waits for the
# sender's kernel of 2 ms, and both ends take one time.
mkdir "$folder/pair"
begin "$folder/pair/job.0.et"
node 1 4 - - is_cpu_op=0 $load >>"$folder/pair/job.0.et"
node 2 5 1 - is_cpu_op=0 comm_src=0 comm_dst=1 comm_size=33554432 \
    >>"$folder/pair/job.0.et"
begin "$folder/pair/job.1.et"
node 1 6 - - is_cpu_op=0 comm_src=0 comm_dst=1 comm_size=33554432 \
    >>"$folder/pair/job.1.et"
run --platform h100 --json "$folder/pair"
want_rc 0
[[ $out == *'"rank": 1, "ranks": 1, "iteration_us": {"predicted": 2'[12]* ]] ||
    complain "the receiver does not wait for the sender: $out"
[ "$(grep -o '{"rank": [01],.*' <<<"$out" | grep -o '"transfer": [0-9.]*' |
    sort -u | wc -l)" -eq 1 ] || complain "a message has two times: $out"

# ---- messages without a size ---------------------------------------------

# end RANK ELEMENTS WROTE: one end of a message of ELEMENTS numbers in bfloat16,
# behind an addition that wrote WROTE numbers.
end() {
    cat <<JSON
{"schemaVersion": 1,
 "distributedInfo": {"backend": "nccl", "rank": $1, "world_size": 2},
 "traceEvents": [
 {"ph": "X", "cat": "cpu_op", "name": "aten::add", "pid": 1, "tid": 1,
  "ts": 10, "dur": 9, "args": {"External id": 1, "Input Dims": [[$3], [$3]],
  "Input type": ["c10::BFloat16", "c10::BFloat16"]}},
 {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1,
  "tid": 1, "ts": 12, "dur": 5, "args": {"correlation": 1}},
 {"ph": "X", "cat": "kernel", "name":
  "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<c10::BFloat16>, at::detail::Array<char*, 3> >",
  "pid": 0, "tid": 7, "ts": 30, "dur": 5, "args": {"device": 0, "stream": 7, "correlation": 1,
  "grid": [$(($3 / 512)), 1, 1], "block": [128, 1, 1]}},
 {"ph": "X", "cat": "cpu_op", "name": "record_param_comms", "pid": 1, "tid": 1,
  "ts": 40, "dur": 9, "args": {"External id": 2, "Group size": 2,
  "Process Group Name": "0", "Process Group Ranks": "[0, 1]",
  "Collective name": "coalesced", "dtype": "BFloat16",
  "In msg nelems": $2, "Out msg nelems": $2}},
 {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1,
  "tid": 1, "ts": 42, "dur": 2, "args": {"correlation": 2}},
 {"ph": "X", "cat": "kernel", "name": "ncclDevKernel_SendRecv", "pid": 0,
  "tid": 20, "ts": 60, "dur": 200, "args": {"device": 0, "stream": 20,
  "correlation": 2, "grid": [16, 1, 1], "block": [640, 1, 1]}}]}
JSON
}
# ends ELEMENTS0 ELEMENTS1: what both ranks take for the message, in turn.
ends() {
    end 0 "$1" 16777216 >"$folder/ends/rank0.json"
    end 1 "$2" 4096 >"$folder/ends/rank1.json"
    run --platform h100 --costs model --json "$folder/ends"
    want_rc 0
    grep -o '{"rank": [01],.*' <<<"$out" | grep -o '"transfer": [0-9.]*' |
        tr '\n' ' '
}

# Both ends say it, or one: it is the same message. 32 MiB at the 450 GB/s of a
# link take 75 us at least.
mkdir "$folder/ends"
both=$(ends 16777216 16777216)
read -r _ first _ second <<<"$both"
[ "$first" = "$second" ] && [ "${first%.*}" -gt 75 ] ||
    complain "two ends take $both us"
for sizes in '16777216 0' '0 16777216'; do
    # shellcheck disable=SC2086
    one=$(ends $sizes)
    [ "$one" = "$both" ] || complain "with $sizes: $one us, want $both us"
    want_no_err
done

# No end says it: both take one guess, that of the larger buffer, and it is said.
read -r _ first _ second <<<"$(ends 0 0)"
[ "$first" = "$second" ] && [ "${first%.*}" -gt 75 ] ||
    complain "two ends guess $first and $second us"
run --platform h100 --costs model --json "$folder/ends"
want_err "the size of 2 transfers, such as 'ncclDevKernel_SendRecv', is not recorded"
[[ $(grep -A2 '"not_covered": ' <<<"$out") == *record_param_comms* ]] ||
    complain "a guess is covered: $out"
run --platform h100 --costs model --strict "$folder/ends"
want_rc 3
want_err "the size of transfer 'ncclDevKernel_SendRecv' is not recorded"

# ---- more ranks -----------------------------------------------------------

# gathers N SHARE: rank 0 of N, a sharded parameter of 2^28 numbers of which each
# has SHARE, gathered and reduced, and 2^20 numbers of each rank that the first
# gathers.
comm() { # NAME IN OUT AT
    cat <<JSON
 {"ph": "X", "cat": "cpu_op", "name": "record_param_comms", "pid": 1, "tid": 1,
  "ts": $4, "dur": 9, "args": {"External id": $4, "Group size": $n,
  "Process Group Name": "0", "Process Group Ranks": "[$members]",
  "Collective name": "$1", "dtype": "BFloat16", "In msg nelems": $2,
  "Out msg nelems": $3}},
 {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1,
  "tid": 1, "ts": $(($4 + 2)), "dur": 2, "args": {"correlation": $4}},
 {"ph": "X", "cat": "kernel", "name": "ncclDevKernel_$1", "pid": 0,
  "tid": 20, "ts": $(($4 * 1000)), "dur": 200, "args": {"device": 0,
  "stream": 20, "correlation": $4}}
JSON
}
gathers() {
    local n=$1 share=$((268435456 / $1)) members
    members=$(seq -s , 0 $((n - 1)))
    echo "{\"schemaVersion\": 1, \"distributedInfo\": {\"backend\": \"nccl\",
        \"rank\": 0, \"world_size\": $n}, \"traceEvents\": ["
    comm _allgather_base $share 268435456 10
    echo ,
    comm _reduce_scatter_base 268435456 $share 30
    echo ,
    comm gather 1048576 $((n * 1048576)) 50
    echo ,
    comm allreduce 1048576 1048576 70
    echo ']}'
}
transfers() {
    grep -A4 '"collectives": ' <<<"$out" |
        grep -o '"name": "[a-z_]*"\|"transfer_us": [0-9.]*'
}
for n in 8 16 64; do
    gathers $n >"$folder/gathers.$n.json"
done
for n in 16 64; do
    run --platform h100 --costs model --json "$folder/gathers.$n.json"
    want_rc 0
    recorded=$(transfers)
    run --platform h100 --costs model --json --ranks $n "$folder/gathers.8.json"
    want_rc 0
    want_err "all-gathers and reduce-scatters keep the whole that was traced"
    [ "$(wc -l <<<"$recorded")" -eq 8 ] && [ "$(transfers)" = "$recorded" ] ||
        complain "$n ranks of 8: $(transfers), recorded so: $recorded"
done

# ---- types of elements ----------------------------------------------------

# product NAME TYPE|- DIMS KERNEL: with a tensor for the output, as nobody writes
# it: the arguments alone.
product() {
    local types=", \"Input type\": [\"$2\", \"$2\"]"
    [ "$2" != - ] || types=
    cat <<JSON
{"schemaVersion": 1, "traceEvents": [
 {"ph": "X", "cat": "cpu_op", "name": "$1", "pid": 1, "tid": 1, "ts": 10,
  "dur": 15, "args": {"External id": 2, "Input Dims": $3$types}},
 {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1,
  "tid": 1, "ts": 15, "dur": 5, "args": {"correlation": 1}},
 {"ph": "X", "cat": "kernel", "name": "$4", "pid": 0, "tid": 7, "ts": 22,
  "dur": 100, "args": {"device": 0, "stream": 7, "correlation": 1,
  "grid": [132, 1, 1], "block": [384, 1, 1]}}]}
JSON
}
# asks PLATFORM ARGUMENT...: of product(); the kernels' time, whole, in `us`.
asks() {
    local platform=$1
    shift
    product "$@" >"$folder/product.json"
    run --platform "$platform" --costs model --json "$folder/product.json"
    want_rc 0
    us=$(figure kernel_us predicted)
}
square='[[4096, 4096], [4096, 4096]]'
half='[[4096, 2048], [2048, 4096]]'

# 2 x 4096^3 = 137.4 GFLOP, by whatever type: of four bits two numbers lie in an
# element. Grouped, too.
asks b200 aten::mm c10::BFloat16 "$square" gemm
want_out '"flops": 137438953472'
bf16=$us
asks b200 aten::_scaled_mm c10::Float8_e4m3fn "$square" gemm
fp8=$us
for name in aten::_scaled_mm aten::_scaled_mm_v2; do
    asks b200 $name c10::Float4_e2m1fn_x2 "$half" gemm
    want_out '"flops": 137438953472'
    want_out '"coverage": {"ops": 1,'
    [ "$us" -lt "$fp8" ] || complain "$name: $us us, want less than $fp8 us"
done
asks b200 aten::_scaled_grouped_mm c10::Float4_e2m1fn_x2 \
    '[[4096, 2048], [8, 2048, 4096]]' gemm
want_out '"flops": 137438953472'
# A GPU that has none: a bound.
asks h100 aten::_scaled_mm c10::Float4_e2m1fn_x2 "$half" gemm
want_out '"coverage": {"ops": 0,'
want_err "fp4 is not supported on h100"

# A complex product is four real ones.
asks h100 aten::mm float "$square" gemm
real=$us
asks h100 aten::mm 'c10::complex<float>' "$square" gemm
want_out '"flops": 549755813888'
[ "$us" -gt $((7 * real / 2)) ] && [ "$us" -lt $((9 * real / 2)) ] ||
    complain "a complex product takes $us us, a real one $real us"

# A type that nobody knows is named, and counted; any type may be behind the
# bound.
asks b200 aten::mm c10::Float6_e2m3fn "$square" gemm
want_err "2 tensors of the element type 'c10::Float6_e2m3fn', which is not known"
want_out '"coverage": {"ops": 0, "device_time": 0}'
want_out '"source": "bound"'
[ "$(figure kernel_us low)" -lt "$bf16" ] &&
    [ "$(figure kernel_us high)" -gt "$real" ] ||
    complain "the bound has no room for half or single precision: $out"
run --platform b200 --costs model --strict "$folder/product.json"
want_rc 3

# One that the file does not name: of the kernel's name, else a bound, too.
asks b200 aten::mm - "$square" cutlass_80_tensorop_bf16_s16816gemm_bf16_128x128
[ "$us" = "$bf16" ] || complain "$us us by the kernel's name, want $bf16 us"
want_out '"coverage": {"ops": 1,'
want_err "2 tensors have no element type"
asks b200 aten::mm - "$square" gemm
want_out '"coverage": {"ops": 0,'

# ---- templates of Inductor ------------------------------------------------

# template NAME DIMS: tensors of bfloat16, the last of which is written; the
# kernels' time and their FLOPs.
template() {
    local types
    types=$(sed 's/\[[0-9, ]*\]/"c10::BFloat16"/g' <<<"$2")
    unknown "$1" "$1" "$2" "$types" 132 >"$folder/template.json"
    run --platform h100 --costs model --json "$folder/template.json"
    want_rc 0
    us=$(figure kernel_us predicted)
    flops=$(grep -o '"flops": [0-9]*' <<<"$out" | head -1 | grep -o '[0-9]*')
}
# same NAME DIMS ATEN DIMS: the template asks what ATen's own operator does.
same() {
    local aten_us aten_flops
    template "$3" "$4"
    aten_us=$us aten_flops=$flops
    template "$1" "$2"
    [ "${flops:-0}" = "${aten_flops:-1}" ] ||
        complain "$1: $flops FLOPs, want $aten_flops"
    [ "$((10 * us))" -ge $((9 * aten_us)) ] &&
        [ "$((10 * us))" -le $((12 * aten_us)) ] ||
        complain "$1: $us us, want those of $3, $aten_us us"
    want_out '"coverage": {"ops": 1,'
}

# A linear layer whose weight lies as a buffer, with a bias before the factors and
# something added behind them: 2 x 8192 x 4096 x 1024 = 68.7 GFLOP.
same triton_tem_fused_addmm_relu_0 \
    '[[4096], [8192, 1024], [4096, 1024], [8192, 4096]]' \
    aten::addmm '[[4096], [8192, 1024], [1024, 4096]]'
[ "$flops" = 68719476736 ] || complain "$flops FLOPs of addmm"
same triton_tem_fused_add_mm_3 \
    '[[4, 2048, 1024], [1024, 4096], [8192, 4096], [8192, 4096], [65536]]' \
    aten::mm '[[8192, 1024], [1024, 4096]]'
same triton_tem_fused_bmm_1 '[[64, 512, 128], [64, 128, 1024], [64, 512, 1024]]' \
    aten::bmm '[[64, 512, 128], [64, 128, 1024]]'
[ "$flops" = 8589934592 ] || complain "$flops FLOPs of bmm"
same triton_bmm_7 '[[8, 8, 512, 128], [64, 1024, 128], [64, 512, 1024]]' \
    aten::bmm '[[64, 512, 128], [64, 128, 1024]]'
same extern_kernels.bias_addmm '[[4096], [8192, 1024], [1024, 4096]]' \
    aten::addmm '[[4096], [8192, 1024], [1024, 4096]]'

# A convolution: 2 x 32 x 128 x 28 x 28 x 64 x 9 = 3.7 GFLOP, by strides of two.
template triton_tem_fused_convolution_0 \
    '[[32, 64, 56, 56], [128, 64, 3, 3], [32, 128, 28, 28]]'
[ "$flops" = 3699376128 ] || complain "$flops FLOPs of a convolution"
want_out '"coverage": {"ops": 1,'

# Attention whose mask is in numbers that no trace has: 4 x 4 x 16 x 2048^2 x 64 =
# 68.7 GFLOP without one, which take 69 us at least, and not covered.
heads='[4, 16, 2048, 64]'
template triton_tem_fused_flex_attention_0 "[$heads, $heads, $heads, $heads]"
[ "$us" -ge 69 ] && [ "$us" -le 400 ] || complain "flex attention takes $us us"
want_out '"coverage": {"ops": 0,'
want_out '"source": "nearest"'

# Groups: 2 x 8192 x 4096 x 1024 = 68.7 GFLOP, whichever rows they have.
template triton_tem_fused__grouped_mm_0 \
    '[[8192, 1024], [8, 1024, 4096], [8], [8192, 4096]]'
[ "$us" -ge 69 ] || complain "grouped products take $us us"
want_out '"coverage": {"ops": 0,'

# What does not fit together, or whose name says nothing, is not covered. The
# product of the first two takes 33.6 GFLOP / 989.4 TFLOP/s = 34 us at least.
for name in triton_tem_fused_mm_0 triton_tem_fused_0; do
    template $name '[[4096, 4096], [4096, 1000], [4096, 4096]]'
    want_out '"coverage": {"ops": 0,'
    [ "$(figure kernel_us high)" -gt 34 ] ||
        complain "$name: no room for a product: $(figure kernel_us high) us"
done

finish
