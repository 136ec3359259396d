#!/usr/bin/env bash
# whatif: changes of the simulated graph, on a step whose every time is known.
. "$(dirname "$0")/lib.bash"

event() { # CAT NAME TID TS DUR ARGS
    printf '{"ph":"X","cat":"%s","name":"%s","pid":%s,"tid":%s,"ts":%s,"dur":%s,"args":{%s}},' \
        "$1" "$2" "$([[ $1 == kernel ]] && echo 0 || echo 9)" "$3" "$4" "$5" "$6"
}
launch() { # CORRELATION TS OPERATOR: an operator of 10 us that launches at its end
    event cpu_op "$3" 1 $(($2 - 6)) 10 ''
    event cuda_runtime cudaLaunchKernel 1 "$2" 2 "\"correlation\":$1"
}
kernel() { # CORRELATION TS DUR STREAM NAME
    event kernel "$5" "$4" "$2" "$3" "\"correlation\":$1,\"stream\":$4,\"device\":0,\"grid\":[1024,1,1],\"block\":[128,1,1]"
}
add='void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, at::detail::Array<char*, 3> >'
relu='void at::native::vectorized_elementwise_kernel<4, at::native::relu_kernel<float>, at::detail::Array<char*, 2> >'
mkdir "$folder/one"
{
    printf '{"schemaVersion":1,"distributedInfo":{"rank":0,"world_size":1},"traceEvents":['
    event user_annotation ProfilerStep#1 1 0 230 ''
    launch 1 10 aten::mm
    launch 2 20 aten::add
    launch 3 30 aten::relu
    event cuda_runtime cudaDeviceSynchronize 1 40 180 '"correlation":4'
    kernel 1 15 100 7 gemm
    kernel 2 115 50 7 "$add"
    kernel 3 165 50 7 "$relu"
    printf '{"ph":"M","name":"end"}]}'
} >"$folder/one/trace.json"

figure() { # NAME COLUMN
    grep -E "^\"?$1\"?," "$folder/out" | sed -E 's/^("[^"]*"|[^,]*),//' | cut -d, -f"$2"
}
# scenario NAME US CHANGE[,CHANGE]: the iteration then takes so long.
names=() want=() rows=''
scenario() {
    names+=("$1") want+=("$2")
    rows+="${rows:+,}{\"name\": \"$1\", \"changes\": [$3]}"
}
judge() { # TRACE OPTION...
    printf '{"scenarios": [%s]}' "$rows" >"$folder/all.json"
    run whatif "$folder/all.json" "$@" --csv
    want_rc 0
    for i in "${!names[@]}"; do
        local got
        got=$(figure "${names[i]}" 7)
        awk -v a="$got" -v b="${want[i]}" 'BEGIN { exit !(a != "" && (a - b)^2 < 1e-6) }' ||
            complain "'${names[i]}' takes '$got' us, want ${want[i]}: $out"
    done
    names=() want=() rows=''
}

# The device is busy from 15 to 215 without a gap, and the step ends 15 later:
# what the chain takes longer or shorter the step does, too.
scenario base2 230 '{"insert": {"after": "kernels", "microseconds": 0}}'
scenario before0 230 '{"insert": {"before": "kernels", "microseconds": 0}}'
scenario aside0 230 '{"insert": {"after": "kernels", "microseconds": 0, "on": "new stream"}}'
scenario after 240 '{"insert": {"after": "op:aten::mm", "microseconds": 10}}'
scenario before 240 '{"insert": {"before": "op:aten::mm", "microseconds": 10}}'
scenario each 260 '{"insert": {"after": "kernels", "microseconds": 10}}'
scenario hidden 230 '{"insert": {"after": "op:aten::mm", "microseconds": 10, "on": "new stream"}}'
scenario onto 240 '{"insert": {"after": "op:aten::mm", "microseconds": 10, "on": "stream:7"}}'
scenario same 230 '{"replace": {"select": "op:aten::add", "microseconds": 50}}'
scenario longer 260 '{"replace": {"select": "op:aten::add", "microseconds": 80}}'
scenario short 180 '{"replace": {"select": "kernels", "microseconds": 50}}'
# A number of changes, in either order; a factor is of what is there then.
scenario two 300 '{"replace": {"select": "kernels", "microseconds": 80}}, {"insert": {"after": "kernels", "microseconds": 10}}'
scenario owt 300 '{"insert": {"after": "kernels", "microseconds": 10}}, {"replace": {"select": "kernels", "microseconds": 80}}'
scenario half 165 '{"scale": {"select": "kernels", "factor": 0.5}}, {"insert": {"after": "kernels", "microseconds": 23.333333}}'
# add reads 2 and writes 1, relu reads 1 and writes 1; as one kernel add does not
# write (50 * 2 / 3) and relu does not read (50 / 2): 41.667 us less.
scenario fused 188.333333 '{"fuse": "pointwise"}'
scenario chosen 188.333333 '{"fuse": {"select": "op:aten::[ar]*"}}'
# Durations: of 100, 50 and 50 us. Without kernels the host asks at 40 and ends 15
# later. All of a rank twice as slow, but for the 5 us from a launch to its kernel:
# 2 x 10 + 5 + 2 x 200 + 2 x 15.
scenario halves 130 '{"scale": {"select": "kernels", "factor": 0.5}}'
scenario faster 205 '{"speedup": {"select": "op:aten::add", "factor": 2}}'
scenario both 180 '{"speedup": {"select": "op:aten::add", "factor": 2}}, {"scale": {"select": "op:aten::relu", "factor": 0.5}}'
scenario gone 180 '{"remove": {"select": "op:aten::relu"}}'
scenario none 55 '{"remove": {"select": "kernels"}}'
scenario stream 430 '{"scale": {"select": "stream:7", "factor": 2}}'
scenario slow 455 '{"straggler": {"rank": 0, "factor": 2}}'
judge "$folder/one"
grep -E '^(two|owt),' "$folder/out" | cut -d, -f2- | sort -u | wc -l | grep -qx 1 ||
    complain "the order of changes counts"

# Two transfers of 50 us on the stream of the kernels: product 100, transfer, add 10,
# transfer, relu 50, to 275, and the step ends 15 later. On a stream of their own the
# kernels, which the host waits for, are done at 175.
mkdir "$folder/sent"
nccl='ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)'
{
    printf '{"schemaVersion":1,"distributedInfo":{"rank":0,"world_size":1},"traceEvents":['
    event user_annotation ProfilerStep#1 1 0 290 ''
    i=0
    for operator in aten::mm c10d::allreduce_ aten::add c10d::allreduce_ aten::relu; do
        i=$((i + 1))
        launch $i $((10 * i)) $operator
    done
    event cuda_runtime cudaDeviceSynchronize 1 60 220 '"correlation":6'
    kernel 1 15 100 7 gemm
    kernel 2 115 50 7 "$nccl"
    kernel 3 165 10 7 "$add"
    kernel 4 175 50 7 "$nccl"
    kernel 5 225 50 7 "$relu"
    printf '{"ph":"M","name":"end"}]}'
} >"$folder/sent/trace.json"
scenario overlap 190 '{"overlap": true}'
judge "$folder/sent"

# Work on another stream: behind what it follows, behind what that stream began
# until then, and ahead of what comes next there. Stream 7: mm to 115, add to 165,
# exp to 185; stream 9: relu to 50, neg to 65, tanh to 115; the step ends at 200.
mkdir "$folder/beside"
{
    printf '{"schemaVersion":1,"distributedInfo":{"rank":0,"world_size":1},"traceEvents":['
    event user_annotation ProfilerStep#1 1 0 200 ''
    i=0
    for operator in aten::mm aten::add aten::relu aten::neg aten::tanh aten::exp; do
        i=$((i + 1))
        launch $i $((10 * i)) $operator
    done
    event cuda_runtime cudaDeviceSynchronize 1 70 130 '"correlation":7'
    kernel 1 15 100 7 gemm
    kernel 2 115 50 7 "$add"
    kernel 3 35 15 9 "$relu"
    kernel 4 50 15 9 neg
    kernel 5 65 50 9 tanh
    kernel 6 165 20 7 exp
    printf '{"ph":"M","name":"end"}]}'
} >"$folder/beside/trace.json"
aside() { # NAME US OPERATOR MICROSECONDS STREAM [CHANGE]
    scenario "$1" "$2" "{\"insert\": {\"after\": \"$3\", \"microseconds\": $4, \"on\": \"$5\"}}${6:+, $6}"
}
aside idle 200 op:aten::mm 10 stream:9
aside between 210 op:aten::relu 10 stream:7
aside twice 220 'op:aten::[rn]*' 10 stream:7
aside own 245 op:aten::relu 115 stream:9
# tanh ends when add begins: what follows it is behind add, also where it is longer.
aside tied 210 op:aten::tanh 10 stream:7 '{"scale": {"select": "op:aten::tanh", "factor": 2}}'
# New streams, one for each that is followed: from 115 on 100, 100 and 100, 400 in all.
aside apart 200 kernels 100 'new stream'
judge "$folder/beside"
[ "$(figure apart 1)" = 400 ] || complain "work on a new stream is not in order: $out"

# Attention that is written out, with kernels between its products and its softmax:
# 16 heads of 512 queries and keys. As one kernel it takes what the models say of
# that on an A100, far less than 5 kernels of 50 us.
mkdir "$folder/attends"
heads='"Input type":["c10::Half","c10::Half"],"Input Dims":'
{
    printf '{"schemaVersion":1,"distributedInfo":{"rank":0,"world_size":1},'
    printf '"deviceProperties":[{"id":0,"name":"NVIDIA A100-SXM4-80GB","totalGlobalMem":85000000000,"computeMajor":8,"computeMinor":0,"numSms":108}],"traceEvents":['
    event user_annotation ProfilerStep#1 1 0 280 ''
    i=0
    while read -r operator sizes; do
        i=$((i + 1))
        event cpu_op "$operator" 1 $((10 * i - 6)) 10 "${sizes:+$heads$sizes}"
        event cuda_runtime cudaLaunchKernel 1 $((10 * i)) 2 "\"correlation\":$i"
        kernel $i $((50 * i - 35)) 50 7 "kernel$i"
    done <<'OPERATORS'
aten::bmm [[16,512,64],[16,64,512]]
aten::mul
aten::_softmax
aten::native_dropout
aten::bmm [[16,512,512],[16,512,64]]
OPERATORS
    event cuda_runtime cudaDeviceSynchronize 1 60 210 '"correlation":6'
    printf '{"ph":"M","name":"end"}]}'
} >"$folder/attends/trace.json"
echo '{"scenarios": [{"name": "flash", "changes": [{"fuse": "attention"}]}]}' >"$folder/flash.json"
run whatif "$folder/flash.json" "$folder/attends" --csv
want_rc 0
awk -v a="$(figure flash 7)" 'BEGIN { exit !(a > 30 && a < 130) }' ||
    complain "attention is not one kernel: $out"

# What is listed by name: the chain is one kernel, and what is inserted has a
# name.
printf '{"scenarios": [{"name": "f", "changes": [{"fuse": "pointwise"}, {"insert": {"after": "op:aten::mm", "microseconds": 3}}]}]}' \
    >"$folder/named.json"
run whatif --kernels "$folder/named.json" "$folder/one"
want_out "fused(add, relu)"
want_out "inserted"
run whatif --kernels --json "$folder/named.json" "$folder/one"
want_out '"name": "fused(add, relu)", "kind": "kernel", "calls": 1'
run whatif --json "$folder/named.json" "$folder/one"
[[ $out != *'"kernels": '* ]] || complain "kernels that nobody asked for"

# Kernels that no operator launched have no names to be put together.
mkdir "$folder/bare"
sed 's/{"ph":"X","cat":"cpu_op"[^}]*}},//g' "$folder/one/trace.json" >"$folder/bare/trace.json"
! grep -q cpu_op "$folder/bare/trace.json" || complain "operators are left"
echo '{"scenarios": [{"name": "bare", "changes": [{"fuse": "pointwise"}]}]}' >"$folder/bare.json"
run whatif --kernels "$folder/bare.json" "$folder/bare"
want_out "fused(2 kernels)"

# Kernels of other sizes are not made one, though they follow each other.
mkdir "$folder/sizes"
sed 's/\("correlation":2,"stream":7,"device":0,"grid":\)\[1024,/\1[512,/' "$folder/one/trace.json" \
    >"$folder/sizes/trace.json"
! cmp -s "$folder/one/trace.json" "$folder/sizes/trace.json" || complain "no kernel has another size"
scenario chosen 188.333333 '{"fuse": {"select": "op:aten::[ar]*"}}'
judge "$folder/sizes"
echo '{"scenarios": [{"name": "apart", "changes": [{"fuse": "pointwise"}]}]}' >"$folder/apart.json"
run whatif "$folder/apart.json" "$folder/sizes" --csv
want_out "no two kernels that could be fused follow each other"

# Streams that there are.
sed 's/"stream":7/"stream":17/; s/"tid":7/"tid":17/' "$folder/one/trace.json" >"$folder/streams.json"
printf '{"scenarios": [{"name": "3", "changes": [{"remove": {"select": "stream:3"}}]}]}' >"$folder/third.json"
run whatif "$folder/third.json" "$folder/streams.json" --csv
want_rc 1
want_out "no stream '3' has GPU work; there are 7 17"

# What a trace cannot support says why.
cat >"$folder/cannot.json" <<'JSON'
{"scenarios": [
  {"name": "overlap", "changes": [{"overlap": true}]},
  {"name": "quantise", "changes": [{"quantise_comms": "fp16"}]},
  {"name": "optimizer", "changes": [{"fuse": "optimizer"}]},
  {"name": "attention", "changes": [{"fuse": "attention"}]},
  {"name": "ranks", "changes": [{"straggler": {"sigma": 0.1, "seed": 1}}]},
  {"name": "stream", "changes": [{"insert": {"after": "kernels", "microseconds": 1, "on": "stream:99"}}]},
  {"name": "host", "changes": [{"insert": {"after": "host", "microseconds": 1}}]},
  {"name": "price", "changes": [{"insert": {"after": "kernels", "operator": "aten::mm", "sizes": [[8, 8], [8, 8]]}}]},
  {"name": "nothing", "changes": [{"replace": {"select": "op:nosuch", "microseconds": 1}}]}]}
JSON
run whatif "$folder/cannot.json" "$folder/one" --csv
want_rc 1
reason() { # NAME TEXT
    grep "^$1," "$folder/out" | grep -qF "$2" || complain "no '$2' for $1: $out"
}
reason overlap "no communication to overlap"
reason quantise "no all-to-all of the job sends fp32"
reason optimizer "no optimizer step of several kernels is marked"
reason attention "no attention of the job is written out"
reason ranks "the traces are of one rank"
reason stream "rank 0 has no stream 99"
reason host "'host' selects work of the host"
reason price "want '--platform NAME'"
reason nothing "'op:nosuch' selects nothing"

# Operators by the models; the whole of a job with collectives.
cat >"$folder/ranks.json" <<'JSON'
{"scenarios": [
  {"name": "nothing", "changes": [{"insert": {"before": "communication", "microseconds": 0}}]},
  {"name": "mm", "changes": [{"insert": {"after": "op:aten::linear", "operator": "aten::mm", "sizes": [[4096, 4096], [4096, 4096]], "dtype": "bf16"}}]},
  {"name": "no such", "changes": [{"replace": {"select": "op:aten::linear", "operator": "aten::nosuch", "sizes": [[8]]}}]},
  {"name": "overlap", "changes": [{"overlap": true}]},
  {"name": "fp16", "changes": [{"quantise_comms": {"backward": "fp16", "select": "communication"}}]},
  {"name": "forward", "changes": [{"quantise_comms": {"forward": "fp16", "select": "communication"}}]},
  {"name": "uneven", "changes": [{"straggler": {"sigma": 0.1, "seed": 1}}]},
  {"name": "uneven again", "changes": [{"straggler": {"sigma": 0.1, "seed": 1}}]},
  {"name": "another", "changes": [{"straggler": {"sigma": 0.1, "seed": 2}}]},
  {"name": "optimizer", "changes": [{"fuse": "optimizer"}]},
  {"name": "q, o", "changes": [{"quantise-comms": {"backward": "fp16", "select": "communication"}}, {"fuse": "optimizer"}]},
  {"name": "o, q", "changes": [{"fuse": "optimizer"}, {"quantise_comms": {"backward": "fp16", "select": "communication"}}]}]}
JSON
run whatif --platform a100 "$folder/ranks.json" "$MSIM_DATA/traces/dlrm-ddp-2ranks" --csv
want_rc 0
below() { # A B: figure 7 or 9 of A is below that of B
    awk -v a="$(figure "$1" "$3")" -v b="$(figure "$2" "$3")" 'BEGIN { exit !(a != "" && a < b) }' ||
        complain "figure $3 of $1 is not below that of $2: $out"
}
row() { grep -E "^\"?$1\"?," "$folder/out" | sed -E 's/^("[^"]*"|[^,]*),//'; }
[ "$(row nothing)" = "$(row base)" ] || complain "nothing changes something"
[ "$(row 'uneven')" = "$(row 'uneven again')" ] || complain "a seed is no seed"
[ "$(row 'uneven')" != "$(row 'another')" ] || complain "all seeds are one"
[ "$(row 'q, o')" = "$(row 'o, q')" ] || complain "the order of changes counts"
below base mm 7
below fp16 base 9
below base fp16 8
below optimizer base 8
awk -v a="$(figure overlap 7)" -v b="$(figure base 7)" 'BEGIN { exit !(a != "" && a <= b) }' ||
    complain "overlap takes longer: $out"
grep -qF "no kernel is known of an operator 'aten::nosuch'" "$folder/out" ||
    complain "no reason for aten::nosuch: $out"
grep -qF "no selected collective of the job sends fp32" "$folder/out" ||
    complain "gradients are sent forward: $out"

# What users mistype is refused by its path, before a trace is read.
refused() { # CHANGE WANT
    printf '{"scenarios": [{"name": "x", "changes": [%s]}]}' "$1" >"$folder/bad.json"
    run whatif "$folder/bad.json" "$folder/no-such-trace"
    want_rc 3
    want_err "scenarios[0].changes[0].$2"
}
refused '{"insert": 3}' 'insert is 3, want {"after"'
refused '{"insert": {"microseconds": 3}}' 'insert.after is missing'
refused '{"insert": {"after": "kernels"}}' 'insert.microseconds is missing'
refused '{"insert": {"after": "kernels", "microseconds": -1}}' 'insert.microseconds is -1'
refused '{"insert": {"after": "kernels", "before": "host", "microseconds": 1}}' 'insert.before is "host", want either'
refused '{"insert": {"after": "kernels", "microseconds": 1, "on": "stream:x"}}' 'insert.on is "stream:x"'
refused '{"insert": {"before": "kernels", "microseconds": 1, "on": "new stream"}}' 'insert.on is "new stream", want "after"'
refused '{"insert": {"after": "kernels", "microseconds": 1, "operator": "aten::mm"}}' 'insert.microseconds is 1, want either'
refused '{"insert": {"after": "kernels", "operator": "aten::mm"}}' 'insert.sizes is missing'
refused '{"insert": {"after": "kernels", "operator": "aten::mm", "sizes": [[1, -2]]}}' 'insert.sizes is'
refused '{"insert": {"after": "kernels", "operator": "aten::mm", "sizes": [[1]], "dtype": "fp15"}}' 'insert.dtype is "fp15"'
refused '{"insert": {"after": "kernels", "microsecond": 1}}' 'insert.microsecond is not known, did you mean microseconds?'
refused '{"replace": {"select": "kernel", "microseconds": 1}}' 'replace.select is "kernel"'
refused '{"fuse": "pointwis"}' 'fuse is "pointwis", want "pointwise"'
refused '{"overlap": 3}' 'overlap is 3, want true'
refused '{"overlap": "comms"}' 'overlap is "comms"'
refused '{"quantise_comms": "fp32"}' 'quantise_comms is "fp32", want "fp16"'
refused '{"quantise_comms": {}}' 'quantise_comms is {}'
refused '{"quantise_comms": {"forward": 16}}' 'quantise_comms.forward is 16'
refused '{"straggler": {"sigma": 2}}' 'straggler.sigma is 2, want a number above 0, at most 1'
refused '{"straggler": {"sigma": 0.1, "rank": 1}}' 'straggler.rank is not known'
finish
