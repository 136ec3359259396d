#!/usr/bin/env bash
# whatif: other ways to train, made of one traced step.
. "$(dirname "$0")/lib.bash"

trace=$MSIM_DATA/traces/resnet
figures() { # NAME: all figures of that scenario
    grep -E "^\"?$1\"?," "$folder/out" | sed -E 's/^("[^"]*"|[^,]*),//'
}
column() { figures "$1" | cut -d, -f"$2"; }
kernels() { column "$1" 8; }
peak() { column "$1" 16; }
within() { # A B LOW HIGH: is A / B between LOW and HIGH?
    awk -v a="$1" -v b="$2" -v l="$3" -v h="$4" 'BEGIN { exit !(a >= l * b && a <= h * b) }'
}

cat >"$folder/blocks.json" <<'JSON'
{"scenarios": [
  {"name": "32", "changes": [{"batch": 32}]},
  {"name": "one", "changes": [{"accumulate": 1}, {"batch": 32}]},
  {"name": "three", "changes": [{"accumulate": 3}, {"batch": 32}]},
  {"name": "again", "changes": [{"recompute": "full"}, {"batch": 32}]},
  {"name": "half", "changes": [{"recompute": {"every": 2}}, {"batch": 32}]},
  {"name": "norms", "changes": [{"recompute": "aten::batch_norm"}, {"batch": 32}]},
  {"name": "a, b", "changes": [{"recompute": "full"}, {"accumulate": 2}, {"batch": 32}]},
  {"name": "b, a", "changes": [{"batch": 32}, {"accumulate": 2}, {"recompute": "full"}]},
  {"name": "no such", "changes": [{"recompute": "aten::gelu*"}]}]}
JSON
run whatif --platform a100 "$folder/blocks.json" "$trace" --csv
want_rc 0
want_no_err
[ "$(figures one)" = "$(figures 32)" ] || complain "one micro batch changes something"
[ "$(figures 'a, b')" = "$(figures 'b, a')" ] || complain "the order of changes counts"
# Three micro batches: three times forward and backward, one step of the
# optimizer; the same activations, and the first one's gradients beside them.
within "$(kernels three)" "$(kernels 32)" 2.7 3.0 || complain "kernels of three micro batches"
within "$(peak three)" "$(peak 32)" 1.0 1.2 || complain "peak of three micro batches"
# Forward is about a third of a step, and nearly all of it is in blocks.
within "$(kernels again)" "$(kernels 32)" 1.15 1.40 || complain "kernels of 'again'"
within "$(peak again)" "$(peak 32)" 0.3 0.85 || complain "peak of 'again'"
within "$(kernels half)" "$(kernels again)" 0.8 0.99 || complain "kernels of 'half'"
within "$(peak norms)" "$(peak 32)" 0.6 0.98 || complain "peak of 'norms'"
[[ $(figures 'no such') == ,,,*"matches"* ]] || complain "no reason: $(figures 'no such')"

# Data parallel: what is sent, what is held, whatever the order in the file.
cat >"$folder/ranks.json" <<'JSON'
{"scenarios": [
  {"name": "one", "changes": [{"world": 1}]},
  {"name": "ddp", "changes": [{"world": 4}]},
  {"name": "also ddp", "changes": [{"shard": {"strategy": "ddp", "bucket_mb": 25}}, {"world": 4}]},
  {"name": "views", "changes": [{"world": 4}, {"shard": {"strategy": "ddp", "gradient_as_bucket_view": true}}]},
  {"name": "zero1", "changes": [{"world": 4}, {"shard": "zero1"}]},
  {"name": "zero2", "changes": [{"world": 4}, {"shard": "zero2"}]},
  {"name": "zero3", "changes": [{"world": 4}, {"shard": "zero3"}]},
  {"name": "fsdp", "changes": [{"shard": "fsdp"}, {"world": 4}]},
  {"name": "64", "changes": [{"shard": "fsdp"}, {"world": 64}]},
  {"name": "all", "changes": [{"world": 4}, {"shard": "fsdp"}, {"recompute": "full"}, {"accumulate": 2}, {"batch": 8}]},
  {"name": "other way", "changes": [{"batch": 8}, {"accumulate": 2}, {"recompute": "full"}, {"shard": "fsdp"}, {"world": 4}]},
  {"name": "offload", "changes": [{"world": 4}, {"shard": "fsdp"}, {"offload": "optimizer"}]},
  {"name": "how many", "changes": [{"shard": "fsdp"}]}]}
JSON
run whatif --platform a100 "$folder/ranks.json" "$trace" --csv
want_rc 0
want_no_err
transfer() { column "$1" 9; }
[ "$(figures one)" = "$(figures base)" ] || complain "one rank changes something"
[ "$(figures ddp)" = "$(figures 'also ddp')" ] || complain "ddp is not the default"
[ "$(figures zero3)" = "$(figures fsdp)" ] || complain "zero3 is not fsdp"
[ "$(figures all)" = "$(figures 'other way')" ] || complain "the order of changes counts"
for name in ddp zero1 zero2 zero3 64 all; do
    within "$(transfer $name)" 1 1 1e9 || complain "nothing is sent: $name"
done
within "$(transfer 64)" "$(transfer fsdp)" 1.2 100 || complain "64 ranks send as 4"
within "$(peak ddp)" "$(peak base)" 1.01 1.5 || complain "no buckets: $(peak ddp)"
within "$(kernels views)" "$(kernels ddp)" 0.5 1 || complain "views are copied: $(kernels views)"
within "$(peak views)" "$(peak ddp)" 0.5 1 || complain "views hold more than buckets and gradients"
for pair in "zero1 ddp" "zero2 zero1" "fsdp zero2" "offload fsdp"; do
    # shellcheck disable=SC2086
    set -- $pair
    within "$(peak "$1")" "$(peak "$2")" 0.3 0.999 || complain "$1 holds no less than $2"
done
[[ $(figures 'how many') == ,,,*"how many ranks"* ]] || complain "no reason: $(figures 'how many')"

# Mixed precision: activations take about half, fp32 weights stay.
cat >"$folder/types.json" <<'JSON'
{"scenarios": [
  {"name": "32", "changes": [{"batch": 32}]},
  {"name": "amp", "changes": [{"batch": 32}, {"dtype": "amp_bf16"}]},
  {"name": "all", "changes": [{"batch": 32}, {"dtype": "bf16"}]},
  {"name": "a, b", "changes": [{"dtype": "amp_fp16"}, {"world": 2}, {"batch": 32}, {"recompute": "full"}]},
  {"name": "b, a", "changes": [{"recompute": "full"}, {"batch": 32}, {"world": 2}, {"dtype": "amp_fp16"}]},
  {"name": "fsdp", "changes": [{"batch": 32}, {"world": 2}, {"shard": "fsdp"}]},
  {"name": "half", "changes": [{"batch": 32}, {"world": 2}, {"shard": {"strategy": "fsdp", "mixed_precision": "fp16"}}]}]}
JSON
run whatif --platform a100 "$folder/types.json" "$trace" --csv
want_rc 0
want_no_err
[ "$(figures 'a, b')" = "$(figures 'b, a')" ] || complain "the order of changes counts"
within "$(peak amp)" "$(peak 32)" 0.45 0.75 || complain "peak of autocast: $(peak amp)"
within "$(kernels amp)" "$(kernels 32)" 0.3 0.95 || complain "kernels of autocast"
within "$(peak amp)" "$(peak all)" 1.01 2 || complain "autocast keeps no fp32 weights"
within "$(peak half)" "$(peak fsdp)" 0.6 0.95 || complain "peak of FSDP in fp16"
# Half the bytes, but each batch norm of 29 is gathered twice and scattered once by
# itself: 87 more messages, of which the shortest take 5 to 20 us.
within "$(transfer half)" "$(transfer fsdp)" 0.7 3 || complain "messages of FSDP in fp16"

# 8 bits: products of 16 bits at up to twice their rate, operands read twice
# more; the head stays, and a GPU without such units has no answer.
cat >"$folder/bits.json" <<'JSON'
{"scenarios": [
  {"name": "amp", "changes": [{"batch": 64}, {"dtype": "amp_bf16"}]},
  {"name": "amp_fp8", "changes": [{"batch": 64}, {"dtype": "amp_fp8"}]},
  {"name": "fp8", "changes": [{"batch": 64}, {"dtype": "fp8"}]},
  {"name": "again", "changes": [{"dtype": "fp8"}, {"world": 2}, {"accumulate": 2}]},
  {"name": "a100", "changes": [{"dtype": "fp8"}, {"gpu": "a100"}]}]}
JSON
run whatif --platform h100 "$folder/bits.json" "$MSIM_DATA/traces/bert" --csv
want_rc 0
want_no_err
within "$(kernels fp8)" "$(kernels amp)" 1.2 5 || complain "fp8 alone narrows the rest"
within "$(kernels amp_fp8)" "$(kernels amp)" 0.7 1.3 || complain "kernels in 8 bits"
[ "$(kernels amp_fp8)" != "$(kernels amp)" ] || complain "8 bits change nothing"
within "$(kernels again)" 1 1 1e9 || complain "no figures: $(figures again)"
[[ $(figures a100) == ,,,*"fp8 is not supported on a100"* ]] || complain "a100: $(figures a100)"
run whatif --platform h100 "$folder/bits.json" "$MSIM_DATA/traces/llama-block" --csv
[[ $(figures amp) == ,,,*"no product"*"is in fp32"* ]] || complain "autocast twice: $(figures amp)"
run whatif --platform h100 "$folder/bits.json" "$trace" --csv # one linear layer, the head
[[ $(figures fp8) == ,,,*"multiple of 16"* ]] || complain "no reason: $(figures fp8)"

# Activations on the host: what backward reads goes down and comes up again.
cat >"$folder/activations.json" <<'JSON'
{"scenarios": [
  {"name": "32", "changes": [{"batch": 32}]},
  {"name": "away", "changes": [{"batch": 32}, {"offload": "activations"}]},
  {"name": "a, b", "changes": [{"batch": 32}, {"recompute": "full"}, {"offload": "activations"}]},
  {"name": "b, a", "changes": [{"offload": "activations"}, {"recompute": "full"}, {"batch": 32}]},
  {"name": "all", "changes": [{"offload": "activations"}, {"offload": "optimizer"}, {"batch": 32}]}]}
JSON
run whatif --platform a100 "$folder/activations.json" "$trace" --csv
want_rc 0
want_no_err
[ "$(figures 'a, b')" = "$(figures 'b, a')" ] || complain "the order of changes counts"
within "$(peak away)" "$(peak 32)" 0.1 0.6 || complain "peak without activations: $(peak away)"
within "$(peak all)" "$(peak away)" 0.3 0.999 || complain "the optimizer stays: $(peak all)"
# Copies at some 10 to 60 GB/s, both ways, of what left.
within "$(column away 2)" "$(column 32 2)" 2 20 || complain "copies take no time"
within "$(column 'a, b' 2)" "$(column away 2)" 0.1 0.8 || complain "what is computed again is copied"

# The optimizer: fewer bytes, on the host, in backward.
cat >"$folder/steps.json" <<'JSON'
{"scenarios": [
  {"name": "8", "changes": [{"optimizer_bits": 8}]},
  {"name": "32", "changes": [{"optimizer_bits": 32}]},
  {"name": "offload", "changes": [{"offload": "optimizer"}]},
  {"name": "ranks", "changes": [{"offload": "optimizer"}, {"world": 2}, {"shard": "zero2"}]},
  {"name": "both", "changes": [{"optimizer_bits": 8}, {"offload": "optimizer"}]},
  {"name": "other way", "changes": [{"offload": "optimizer"}, {"optimizer_bits": 8}]},
  {"name": "not", "changes": [{"optimizer_in_backward": false}]},
  {"name": "sent", "changes": [{"optimizer_in_backward": true}, {"world": 2}]}]}
JSON
run whatif --platform a100 "$folder/steps.json" "$MSIM_DATA/traces/bert" --csv # Adam
want_rc 0
want_no_err
[ "$(figures 32)" = "$(figures base)" ] || complain "32 bits change something"
[ "$(figures not)" = "$(figures base)" ] || complain "false changes something"
[ "$(figures both)" = "$(figures 'other way')" ] || complain "the order of changes counts"
within "$(peak 8)" "$(peak base)" 0.5 0.95 || complain "peak with 8 bits: $(peak 8)"
within "$(peak offload)" "$(peak base)" 0.3 0.9 || complain "peak without the optimizer"
within "$(column offload 13)" 1 1 1e9 || complain "nothing is copied: $(figures offload)"
[[ $(figures ranks) == ,,,*"must be shared out"* ]] || complain "no reason: $(figures ranks)"
[[ $(figures sent) == ,,,*"ranks reduce gradients"* ]] || complain "no reason: $(figures sent)"

# A trace that cannot support a change says why.
cat >"$folder/reason.json" <<'JSON'
{"scenarios": [{"name": "again", "changes": [{"recompute": "full"}]}]}
JSON
run whatif --platform a100 "$folder/reason.json" "$MSIM_DATA/traces/gpt2" --csv # one layer
want_rc 1
want_out "no block of layers repeats"
run whatif --platform a100 "$folder/reason.json" \
    "$MSIM_DATA/traces/gpt2/kineto" --csv # no tensor ids
want_out "want an execution trace"

# What a table of jobs says by default is the step as it was recorded.
echo '{"scenarios": [{"name": "same", "changes": [{"recompute": "none"}, {"offload": "none"}]}]}' >"$folder/none.json"
run whatif --platform a100 "$folder/none.json" "$MSIM_DATA/traces/gpt2" --csv
want_rc 0
[ "$(sed -n '2s/^base//p' "$folder/out")" = "$(sed -n '3s/^same//p' "$folder/out")" ] ||
    complain "a step trained as it was recorded is not the base"

# What users mistype is refused by its path.
refused() { # CHANGE WANT
    printf '{"scenarios": [{"name": "x", "changes": [%s]}]}' "$1" >"$folder/bad.json"
    run whatif "$folder/bad.json" "$folder/no-such-trace"
    want_rc 3
    want_err "scenarios[0].changes[0].$2"
}
refused '{"recompute": true}' 'recompute is true, want "full"'
refused '{"recompute": "ful"}' 'recompute is "ful", want "full"'
refused '{"recompute": {"every": 0}}' 'recompute.every is 0'
refused '{"recompute": {"evry": 2}}' 'recompute.evry is not known, did you mean every?'
refused '{"accumulate": 0}' "accumulate is 0"
refused '{"accumulate": "4"}' 'accumulate is "4"'
refused '{"world": 0}' "world is 0"
refused '{"shard": "zero4"}' 'shard is "zero4", want "ddp", "zero1"'
refused '{"shard": {"bucket_mb": 25}}' "shard.strategy is missing"
refused '{"shard": {"strategy": "ddp", "bucket_mb": -1}}' "shard.bucket_mb is -1"
refused '{"shard": {"strategy": "ddp", "mixed_precision": "fp16"}}' 'shard.mixed_precision is "fp16", want it with'
refused '{"shard": {"strategy": "fsdp", "mixed_precision": "fp8"}}' 'shard.mixed_precision is "fp8"'
refused '{"optimizer_bits": 4}' "optimizer_bits is 4, want 8"
refused '{"optimizer_in_backward": "yes"}' 'optimizer_in_backward is "yes"'
refused '{"dtype": "amp"}' 'dtype is "amp"'
refused '{"offload": "weights"}' 'offload is "weights", want optimizer, activations or none'

# Logits are there in 16 bits and, cast for the loss, in 32: what an operator holds
# for itself is no batch that stays. A batch in autocast needs no more than in fp32.
echo '{"scenarios": [{"name": "fp32", "changes": [{"batch": 64}]},
    {"name": "amp", "changes": [{"batch": 64}, {"dtype": "amp_bf16"}]}]}' >"$folder/amp.json"
run whatif --platform a100 --json "$folder/amp.json" "$MSIM_DATA/traces/gpt2"
python3 - "$folder/out" <<'PYTHON' || complain "autocast needs more than fp32"
import json, sys
fp32, amp = (s["memory_bytes"] for s in json.load(open(sys.argv[1]))["scenarios"])
assert 0.8 * fp32["peak"] < amp["peak"] < 1.02 * fp32["peak"], (fp32, amp)
assert amp["by"]["inputs"] < 1.1 * fp32["by"]["inputs"], (fp32, amp)
PYTHON

# A table that embedding and head share hides no block: with it and without, whole
# blocks run again, for up to a third of the step.
for model in mpt-125m bert-base llama3-8b; do
    echo '{"gpus": 1, "micro_batch": 8, "global_batch": 8, "sequence": 512}' >"$folder/s.json"
    run synth "$model" --strategy "$folder/s.json" -o "$folder/$model"
    echo '{"scenarios": [{"name": "again", "changes": [{"recompute": "full"}]}]}' >"$folder/again.json"
    run whatif --csv --platform h100 "$folder/again.json" "$folder/$model"
    want_rc 0
    awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i } NR == 2 { peak = $at["peak_bytes"] }
        NR == 3 { exit !($at["ratio"] > 1.02 && $at["ratio"] < 1.34 && $at["peak_bytes"] < peak) }' "$folder/out" ||
        complain "$model: blocks do not run again: $out"
done

# Micro batches of a step are in all so many, however many are recorded: as a step of so many is written.
for n in 3 1 5; do
    echo "{\"gpus\": 1, \"micro_batch\": 1, \"global_batch\": $n, \"sequence\": 512}" >"$folder/s.json"
    run synth mpt-125m --strategy "$folder/s.json" -o "$folder/passes-$n"
    rm "$folder/passes-$n/synth.json"
    echo '{"scenarios": [{"name": "none", "changes": [{"recompute": "none"}]}]}' >"$folder/none.json"
    run whatif --csv --platform h100 "$folder/none.json" "$folder/passes-$n"
    declare "passes_$n=$(column base 1) $(kernels base) $(peak base)"
done
cat >"$folder/passes.json" <<'JSON'
{"scenarios": [{"name": "three", "changes": [{"accumulate": 3}]},
               {"name": "single", "changes": [{"accumulate": 1}]},
               {"name": "five", "changes": [{"accumulate": 5}]}]}
JSON
run whatif --csv --platform h100 "$folder/passes.json" "$folder/passes-3"
want_rc 0
[ "$(column three 1) $(kernels three) $(peak three)" = "$passes_3" ] || complain "three of three: $out"
[ "$(column single 1) $(kernels single) $(peak single)" = "$passes_1" ] || complain "one of three, want $passes_1: $out"
awk -v a="$(column five 1)" -v b="${passes_5%% *}" -v p="$(peak five)" -v q="${passes_5##* }" \
    'BEGIN { exit !(a > b * 0.9999 && a < b * 1.0001 && p > q * 0.999 && p < q * 1.001) }' ||
    complain "five of three, want $passes_5: $out"
finish
