#!/usr/bin/env bash
# op: one output row an input row, in order, with four columns added; what
# cannot be predicted says why; bad input is refused.
. "$(dirname "$0")/lib.bash"

rows() { # TEXT: op on it, from a file
    printf '%s' "$1" >"$folder/rows.csv"
    run op --platform a100 "$folder/rows.csv"
}

# Unknown columns and quoting are kept, empty dtypes and sizes are refused row
# by row.
rows 'note,m,n,k,dtype
"a, ""b""",4096,4096,4096,bfloat16
x,0,4096,4096,bfloat16
y,4096,4096,4096,no such type
'
want_rc 0
want_no_err
[ "$(wc -l <"$folder/out")" -eq 4 ] || complain "want 4 lines: $out"
want_out 'note,m,n,k,dtype,predicted_us,low_us,high_us,model'
want_out '"a, ""b""",4096,4096,4096,bfloat16,'
sed -n 2p "$folder/out" | grep -Eq ',[0-9.]+,[0-9.]+,[0-9.]+,gemm$' ||
    complain "no prediction: $out"
want_out "x,0,4096,4096,bfloat16,,,,\"m is '0', want a whole number from 1\""
want_out "y,4096,4096,4096,no such type,,,,\"dtype 'no such type' is not known, want fp32,"

printf 'm,n,k,dtype\n1e15,8,8,fp32\n' >"$folder/most.csv"
run op --platform a100 "$folder/most.csv"
want_out "m is '1e15', want a whole number from 1 to below 1e15"
run op --platform a100 "$folder/rows.csv"

# Where no row has an answer nothing was answered; no row asks for none.
for form in "" --json; do
    # shellcheck disable=SC2086
    run op --platform a100 $form "$folder/most.csv"
    want_rc 1
    want_out "want a whole number from 1"
    want_err "0 of 1 rows have an answer, want one; each says why"
done
printf 'm,n,k,dtype\n' >"$folder/empty.csv"
run op --platform a100 "$folder/empty.csv"
want_rc 0
run op --platform a100 "$folder/rows.csv"

# The same as JSON: cells are texts, what is said of a row has members of its own.
run op --platform a100 --json "$folder/rows.csv"
want_rc 0
python3 - "$folder/out" <<'PYTHON' || complain "the JSON is wrong: $out"
import json, sys
answer = json.load(open(sys.argv[1]))
assert answer["schema"] == "mystique-sim/operations/1" and answer["platform"] == "a100"
first, second, third = answer["rows"]
assert first["input"] == {"note": 'a, "b"', "m": "4096", "n": "4096", "k": "4096",
                          "dtype": "bfloat16"}
assert 0 < first["low_us"] < first["predicted_us"] < first["high_us"]
assert (first["model"], first["source"], first["reason"]) == ("gemm", "law", None)
assert second["predicted_us"] is None and second["model"] is None
assert second["reason"] == "m is '0', want a whole number from 1"
assert answer["guards"] == {"answers": 1, "marked": 0, "text": None}, answer["guards"]
PYTHON

# A result of 2 TB on a GPU of 80 GB: the law's answer, which is marked.
rows 'm,n,k,dtype
1000000,1000000,8,bf16
'
want_rc 0
sed -n 2p "$folder/out" | grep -Eq ',gemm \(memory\)$' || complain "not marked: $out"
want_err "1 of 1 rows are marked: 1 memory"

# Every kind of table, and the two that no law covers yet.
rows 'phase,batch,heads,kv_heads,q_len,kv_len,head_dim,dtype,kv_dtype,window
prefill,1,32,8,2048,2048,128,bfloat16,,
decode,64,32,8,1,4096,128,bfloat16,fp8,0
encoder_noncausal,8,16,16,512,512,64,fp16,,
'
want_rc 0
[ "$(grep -c ',attention$' "$folder/out")" -eq 3 ] || complain "$out"
rows 'op,dtype,shape,bytes
add,fp32,1024x1024,
softmax,fp16,1024x512,
ln,fp32,8x128x768,6291456
emb,fp16,100x4096,1638400
'
want_rc 0
for family in pointwise softmax norm embedding; do
    want_out ",$family"
done
# A name that nobody knows is no pointwise operator.
rows 'op,dtype,shape
foo,fp32,1024x1024
sofmax,fp32,1024x1024
aten::gelu_backward,fp32,1024x1024
mulu_,fp32,1024x1024
scale_matrix:fp8,fp32,1024x1024
mine::add,fp32,1024x1024
'
want_rc 0
want_out "foo,fp32,1024x1024,,,,op 'foo' is not known"
want_out "sofmax,fp32,1024x1024,,,,\"op 'sofmax' is not known, did you mean 'softmax'?\""
want_out "mine::add,fp32,1024x1024,,,,op 'mine::add' is not known"
[ "$(grep -c ',pointwise$' "$folder/out")" -eq 3 ] || complain "$out"
rows 'collective,ranks,bytes,nodes,interconnect,dtype
all_reduce,8,67108864,1,NVLink3-NVSwitch,half
alltoall,8,67108864,1,,
send_recv,2,1048576,2,a100_dgx,fp16
no_such,2,1048576,1,,
'
want_rc 0
[ "$(grep -c ',collective$' "$folder/out")" -eq 3 ] || complain "$out"
want_out "collective 'no_such' is not known"
rows 'op,dtype,n,c,h,w,k,r,s,stride,pad,groups
conv2d_fwd,fp32,32,64,56,56,64,3,3,1,1,1
conv2d_bwd_weight,fp16,32,64,56,56,64,1,1,1,0,1
'
want_rc 0
[ "$(grep -c ',conv$' "$folder/out")" -eq 2 ] || complain "$out"
rows 'tokens,hidden,inter,topk,experts,tp,ep,dtype,distribution
1,2048,1024,2,8,1,1,bfloat16,balanced
4096,4096,1536,8,128,1,4,int4_wo,power_law_1.2
64,2880,2880,4,32,1,1,w4a16_mxfp4,
64,2880,2880,4,32,1,1,bfloat16,zipf
'
want_rc 0
[ "$(grep -c ',moe$' "$folder/out")" -eq 3 ] || complain "$out"
want_out "distribution 'zipf' is not known"
# Six GPUs were not tried, and are between others: said so.
rows 'collective,ranks,bytes
all_reduce,8,1048576
all_reduce,6,1048576
'
run op --platform h100 "$folder/rows.csv"
want_rc 0
[ "$(grep -c ',collective$' "$folder/out")" -eq 1 ] || complain "$out"
want_out "all_reduce,6,1048576,"
want_out ",collective (ranks not run)"

rows 'collective,tokens,topk,hidden,experts,ranks,sms
deepep_normal_dispatch,4096,8,7168,256,8,20
deepep_ll_combine,16,8,7168,256,8,
all_gather,16,8,7168,256,8,
'
want_rc 0
[ "$(grep -c ',collective$' "$folder/out")" -eq 2 ] || complain "$out"
want_out "collective 'all_gather' is not known"

# What a source would have measured is not the bare kernel.
rows 'framework,op,dtype,shape
NeuSight,add,fp32,10x10
,add,fp32,10x10
'
awk -F, 'NR == 2 { gap = $5 } NR == 3 && gap > 3 * $5 { ok = 1 }
         END { exit !ok }' "$folder/out" || complain "no launch gap: $out"

# From standard input and compressed: the same bytes.
run op --platform a100 "$folder/rows.csv"
cp "$folder/out" "$folder/first"
gzip -kf "$folder/rows.csv"
run op --platform a100 "$folder/rows.csv.gz"
cmp -s "$folder/out" "$folder/first" || complain "gzip changes the output"
last="op -"
"$sim" op --platform a100 - <"$folder/rows.csv" >"$folder/out" ||
    complain "standard input is not read"
cmp -s "$folder/out" "$folder/first" || complain "'-' changes the output"

# Long tables are answered by several threads, in order, up to the row that is
# wrong.
awk 'BEGIN {
    print "id,m,n,k,dtype"
    for (i = 1; i <= 40000; i++)
        print i "," 1 + i * 7 % 512 ",1024,1024,half"
}' >"$folder/long.csv"
run op --platform a100 "$folder/long.csv"
want_rc 0
awk -F, 'NR > 1 && ($1 != NR - 1 || $9 !~ /^gemm/ ||
                    (($2 in t) && t[$2] != $6)) { bad = 1 }
         NR > 1 { t[$2] = $6 }
         END { exit bad || NR != 40001 }' "$folder/out" ||
    complain "a long table is answered out of order"
echo 1,2 >>"$folder/long.csv"
run op --platform a100 "$folder/long.csv"
want_rc 3
want_err "line 40002 has 2 fields, want 5"
[ "$(wc -l <"$folder/out")" -eq 40001 ] || complain "rows before it are lost"

# Bad input.
usage_error "--platform" op "$folder/rows.csv"
run op --platform no-such-gpu "$folder/rows.csv"
want_err "'no-such-gpu', known are: a10, a100"
[ "$rc" -ne 0 ] || complain "an unknown platform passes"
run op --platform a100 "$folder/not-there.csv"
want_rc 3
want_err "not-there.csv"
rows 'a,b
1,2
'
want_rc 3
want_err "header"
rows ''
want_rc 3
want_err "empty"
rows 'm,n,k,dtype
1,2,3
'
want_rc 3
want_err "line 2 has 3 fields, want 4"

# Types that a GPU lacks: bfloat16 runs in fp32 on a T4 and a V100, not at the
# rate of fp16; no library has fp8 for an A100, and an H100 has both.
types() { # PLATFORM
    printf 'dtype,m,n,k\nfp32,4096,4096,4096\nbfloat16,4096,4096,4096\n%s\n' \
        'fp8,4096,4096,4096' >"$folder/types.csv"
    run op --platform "$1" "$folder/types.csv"
    want_rc 0
}
for gpu in t4 v100; do
    types "$gpu"
    want_out ",gemm (emulated)"
    want_out "4096,,,,fp8 is not supported on $gpu"
    awk -F, 'NR == 2 { fp32 = $5 } NR == 3 { ratio = $5 / fp32 }
        END { exit !(ratio > 1 && ratio < 2) }' "$folder/out" ||
        complain "bfloat16 is not priced as fp32: $out"
done
types a100
want_out "4096,,,,fp8 is not supported on a100"
[[ $out != *emulated* ]] || complain "an A100 has bfloat16: $out"
types h100
[[ $out != *emulated* && $out != *supported* ]] ||
    complain "an H100 has both: $out"

# fp8 is the bare kernel: less than vLLM's linear layer, which casts its input,
# and than any kernel with a scale a block; faster than half precision.
printf '%s\n' m,n,k,dtype,framework 8192,4096,4096,fp8, 8192,4096,4096,fp8,vllm \
    8192,4096,4096,fp8_block, 8192,4096,4096,bf16, >"$folder/narrow.csv"
for gpu in h100 b200; do
    run op --platform "$gpu" "$folder/narrow.csv"
    want_rc 0
    awk -F, 'NR > 1 { us[NR] = $6 }
        END { exit !(us[2] < 0.85 * us[3] && us[2] <= us[4] && us[2] < 0.8 * us[5]) }' \
        "$folder/out" || complain "fp8 is not the bare kernel on $gpu: $out"
done

# Values of another width than keys. DeepSeek's decode reads each of its latent
# keys once, values and all: half of the bytes of keys and values.
printf '%s\n' phase,batch,heads,kv_heads,q_len,kv_len,head_dim,v_head_dim,dtype \
    decode,128,128,1,1,8192,576,512,bf16 decode,128,16,1,1,8192,576,,bf16 \
    decode,128,16,1,1,8192,576,512,bf16 prefill,1,128,128,4096,4096,192,128,bf16 \
    prefill,1,128,128,4096,4096,160,,bf16 >"$folder/latent.csv"
run op --platform h800 "$folder/latent.csv"
want_rc 0
awk -F, 'NR > 1 { us[NR] = $10 }
    END { r = us[4] / us[3]; s = us[5] / us[6]
          exit !(r > 0.4 && r < 0.7 && s > 0.8 && s < 1.25) }' "$folder/out" ||
    complain "widths of values: $out"

# More nodes cost no less: the same ranks where GPUs do not share PCIe, and as
# many a node. A row that does not say has 8 GPUs a node.
times() { # PLATFORM RANKS,NODES...
    local gpu=$1
    shift
    { echo collective,bytes,ranks,nodes
        printf 'all_reduce,67108864,%s\n' "$@"; } >"$folder/nodes.csv"
    run op --platform "$gpu" "$folder/nodes.csv"
    want_rc 0
    awk -F, 'NR > 1 { print $5 }' "$folder/out"
}
for gpu in a100 h100 b200 gh200; do
    times "$gpu" 8,1 8,2 8,3 8,4 8,8 | sort -gc ||
        complain "fewer nodes cost more on $gpu"
    times "$gpu" 8,1 16,2 32,4 64,8 512,64 | sort -gc ||
        complain "fewer ranks cost more on $gpu"
done
times t4 8,1 16,2 32,4 64,8 512,64 | sort -gc ||
    complain "fewer ranks cost more on a T4"
[ "$(times a100 64, | tail -1)" = "$(times a100 64,8 | tail -1)" ] ||
    complain "64 ranks are not on 8 nodes"
# No machine's PCIe is another's: the newer link is the faster one.
times t4 8,1 >"$folder/t4"
times rtx-4090 8,1 | cat - "$folder/t4" | sort -gc ||
    complain "a T4 beats an RTX 4090 on PCIe"

# Figures in the wrong unit, and clocks that no such GPU has.
sed 's/3350000000000,/3.35e30,/' "$SOURCE_DIR/data/platforms/h100.json" \
    >"$folder/wrong.json"
run op --platform "$folder/wrong.json" "$folder/types.csv"
want_rc 3
want_err "'memory_bandwidth' is missing or wrong, want a number from 1e+08 to"
usage_error "want 198 to 2475 MHz for platform 'h100'" \
    op --platform h100 --clock 9999 "$folder/types.csv"
usage_error "want 198 to 2475 MHz" \
    op --platform h100 --clock 60 "$folder/types.csv"
usage_error "at most 2, or megahertz" \
    op --platform h100 --clock 5 "$folder/types.csv"

finish
