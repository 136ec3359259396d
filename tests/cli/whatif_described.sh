#!/usr/bin/env bash
# whatif on a described model: scenarios with no trace.
. "$(dirname "$0")/lib.bash"

cat >"$folder/tiny.json" <<'JSON'
{"name": "tiny", "layers": 16, "hidden": 2048, "heads": 32, "kv_heads": 8, "ffn": 8192, "vocab": 128256}
JSON
cat >"$folder/base.json" <<'JSON'
{"gpus": 8, "zero": 1, "micro_batch": 2, "global_batch": 64, "sequence": 4096}
JSON
cat >"$folder/some.json" <<'JSON'
{"scenarios": [
  {"name": "nothing", "changes": []},
  {"name": "twice", "changes": [{"speedup": {"select": "kernels", "factor": 2}}]},
  {"name": "half", "changes": [{"scale": {"select": "kernels", "factor": 0.5}}]},
  {"name": "a, b", "changes": [{"world": 16}, {"parallel": {"tp": 2}}, {"recompute": "full"}]},
  {"name": "b, a", "changes": [{"recompute": "full"}, {"parallel": {"tp": 2}}, {"world": 16}]},
  {"name": "world", "changes": [{"world": 64}]},
  {"name": "h100", "changes": [{"gpu": "h100"}]},
  {"name": "fsdp", "changes": [{"shard": "fsdp"}]},
  {"name": "recompute", "changes": [{"recompute": "full"}]},
  {"name": "offload", "changes": [{"offload": "activations"}]},
  {"name": "lora", "changes": [{"lora": {"rank": 16, "targets": "attention"}}]},
  {"name": "qlora", "changes": [{"qlora": {"rank": 16, "targets": "attention"}}]},
  {"name": "narrow", "changes": [{"network": "ethernet-100"}, {"world": 64}, {"quantise-comms": 8}]},
  {"name": "pipeline", "changes": [{"parallel": {"pp": 4}}]},
  {"name": "zero bubble", "changes": [{"parallel": {"pp": 4, "schedule": "zero-bubble"}}]},
  {"name": "eager", "changes": [{"fuse": false}]},
  {"name": "straggler", "changes": [{"straggler": {"rank": 3, "factor": 1.3}}]},
  {"name": "micro", "changes": [{"batch": {"micro": 4}}]},
  {"name": "heads", "changes": [{"parallel": {"tp": 5, "dp": 2}}]},
  {"name": "fp8", "changes": [{"dtype": "fp8"}]},
  {"name": "clock", "changes": [{"clock": "1100"}]},
  {"name": "operator", "changes": [{"remove": {"select": "op:aten::mm"}}]}]}
JSON
args=(--strategy "$folder/base.json" --platform a100)
run whatif "$folder/some.json" "$folder/tiny.json" "${args[@]}" --csv
want_rc 0
want_no_err
[ "$(wc -l <"$folder/out")" -eq 24 ] || complain "not one line a scenario: $out"
figures() { grep -E "^\"?$1\"?," "$folder/out" | sed -E 's/^("[^"]*"|[^,]*),//'; }
column() { figures "$1" | cut -d, -f"$2"; }
step() { column "$1" 1; }
ratio() { column "$1" 4; }
peak() { column "$1" 12; }
below() { awk -v a="$1" -v b="$2" 'BEGIN { exit !(a > 0 && a < b) }' || complain "$3: $1 is not below $2"; }

[ "$(figures nothing)" = "$(figures base)" ] || complain "no change changes something"
[[ $(figures nothing) == *,1,1,1,* ]] || complain "no change has an interval: $(figures nothing)"
[ "$(figures twice)" = "$(figures half)" ] || complain "half is not twice as fast"
[ "$(figures 'a, b')" = "$(figures 'b, a')" ] || complain "the order of changes counts"
below "$(step h100)" "$(step base)" "an H100"
below "$(step twice)" "$(step base)" "faster kernels"
below "$(step base)" "$(step recompute)" "computing again"
below "$(step base)" "$(step eager)" "operators one by one"
below "$(step base)" "$(step offload)" "copies that compute does not hide"
below "$(step base)" "$(step straggler)" "waiting for a slow rank"
below "$(step lora)" "$(step base)" "no gradients of weights"
below "$(step 'zero bubble')" "$(step pipeline)" "no bubbles"
below "$(peak fsdp)" "$(peak base)" "sharded memory"
below "$(peak recompute)" "$(peak base)" "memory of recomputation"
below "$(peak lora)" "$(peak base)" "memory of adapters"
below "$(peak qlora)" "$(peak lora)" "memory in 4 bits"
# Every rank keeps its batch: 8 times the GPUs, at most that many tokens.
below "$(column base 16)" "$(column world 16)" "tokens of more GPUs"
[[ $(figures heads) == ,,,*"heads 32 cannot be split by tp 5"* ]] || complain "$(figures heads)"
[[ $(figures fp8) == ,,,*"a100"* ]] || complain "$(figures fp8)"
[[ $(figures clock) == ,,,*"clock changes a traced job"* ]] || complain "$(figures clock)"
[[ $(figures operator) == ,,,*"operators of a traced job"* ]] || complain "$(figures operator)"

# The same as validate --rows says of such a row.
cp "$folder/out" "$folder/all.csv"
cat >"$folder/rows.csv" <<CSV
model,platform,gpus,zero,micro_batch,global_batch,sequence,recompute
$folder/tiny.json,a100,8,1,2,64,4096,full
CSV
run validate --rows "$folder/rows.csv" --csv
rows=$(tail -1 <"$folder/out" | cut -d, -f9)
cp "$folder/all.csv" "$folder/out"
awk -v a="$(step recompute)" -v b="$rows" 'BEGIN { exit !(a / 1e3 / b > 0.99999 && a / 1e3 / b < 1.00001) }' ||
    complain "validate --rows says $rows ms"

run whatif "$folder/some.json" "$folder/tiny.json" "${args[@]}" --json
want_out '"schema": "mystique-sim/whatif/1"'
if command -v python3 >/dev/null; then
    python3 -c 'import json, sys; d = json.load(sys.stdin)
for r in d["scenarios"]:
    if r["reason"]: assert "period_us" not in r; continue
    assert r["ratio"]["low"] <= r["ratio"]["predicted"] <= r["ratio"]["high"], r
    assert abs(sum(r["breakdown_us"].values()) / r["period_us"]["predicted"] - 1) < 1e-6, r
    assert abs(sum(r["parts_us"].values()) / r["period_us"]["predicted"] - 1) < 1e-6, r' <"$folder/out" ||
        complain "not the JSON that was wanted"
fi
run whatif "$folder/some.json" llama3-8b --platform h100
want_out "llama3-8b on h100; assumed tp=1"
want_out "no prediction: clock changes a traced job"

# What users mistype is refused by its path.
refused() { # CHANGE WANT
    printf '{"scenarios": [{"name": "x", "changes": [%s]}]}' "$1" >"$folder/bad.json"
    run whatif "$folder/bad.json" "$folder/tiny.json" "${args[@]}"
    want_rc 3
    want_err "scenarios[0].changes[0].$2"
}
refused '{"loar": 8}' "loar is not known, did you mean lora?"
refused '{"frobnicate": 8}' "frobnicate is not known, want gpu, network, world"
refused '{"lora": {}}' "lora.rank is missing, want a whole number, 1..65536"
refused '{"lora": {"rank": 8, "target": "all"}}' "lora.target is not known, did you mean targets?"
refused '{"lora": {"rank": 8, "targets": "every"}}' 'lora.targets is "every", want one of attention mlp all'
refused '{"parallel": {"tp": 0}}' "parallel.tp is 0, want a whole number from 1"
refused '{"parallel": 4}' 'parallel is 4, want {"tp": 4, "pp": 2}'
refused '{"parallel": {"schedule": "gpipe"}}' 'parallel.schedule is "gpipe", want one of 1f1b interleaved zero-bubble'
refused '{"shard": "zero4"}' 'shard is "zero4", want ddp, zero1, zero2, zero3 or fsdp'
refused '{"shard": 4}' "shard is 4, want a whole number from 0 to 3"
refused '{"dtype": "fp9"}' 'dtype is "fp9", want one of fp32 tf32 fp16 bf16'
refused '{"recompute": "some"}' 'recompute is "some", want one of none full selective'
refused '{"offload": true}' "offload is true, want one of none activations optimizer weights"
refused '{"quantise_comms": 7}' "quantise_comms is 7, want one of 4 8 16 32"
refused '{"overlap": 2}' "overlap is 2, want a number from 0 to 1"
refused '{"batch": {"local": 2}}' "batch.local is not known"
refused '{"batch": 0}' "batch is 0, want a whole number from 1"
refused '{"straggler": {"factor": 0.5}}' "straggler.factor is 0.5, want a number from 1"
refused '{"scale": {"select": "kernel", "factor": 2}}' 'scale.select is "kernel", want kernels, communication, copies or host'
refused '{"scale": {"select": "host", "factor": -1}}' "scale.factor is -1, want a number above 0"
refused '{"cuda_graph": 1}' "cuda_graph is 1, want true"
refused '{"optimizer_bits": 12}' "optimizer_bits is 12, want one of 8 16 32"
refused '{"chunked_loss": 0}' "chunked_loss is 0, want a whole number, 1..65536"
refused '{"world": 1.5}' "world is 1.5, want a whole number from 1"

# A model that lacks a member, a strategy that cannot be, options of traces.
printf '{"name": "x", "hidden": 64, "heads": 4, "ffn": 64, "vocab": 9}' >"$folder/lacks.json"
run whatif "$folder/some.json" "$folder/lacks.json" "${args[@]}"
want_rc 3
want_err "layers is missing, want a whole number from 1"
printf '{"gpus": 8, "tp": 3}' >"$folder/odd.json"
run whatif "$folder/some.json" "$folder/tiny.json" --strategy "$folder/odd.json" --platform a100
want_rc 2
want_err "gpus 8 cannot be split by tp x pp x cp 3"
printf '{"gpus": 8, "lora": 3}' >"$folder/odd.json"
run whatif "$folder/some.json" "$folder/tiny.json" --strategy "$folder/odd.json" --platform a100
want_rc 3
want_err "lora is not known"
usage_error "a described model goes alone" whatif "$folder/some.json" "$folder/tiny.json" llama3-8b --platform h100
usage_error "a described model goes alone" whatif --grid batch=2 "$folder/tiny.json" llama3-8b --platform h100
usage_error "want --platform" whatif "$folder/some.json" "$folder/tiny.json"
usage_error "--sensitivity ranks parts of a traced job" whatif --sensitivity "$folder/tiny.json"
usage_error "--host is of a traced job" whatif "$folder/some.json" "$folder/tiny.json" --host generic --platform a100
usage_error "unknown platform 'a1000'" whatif "$folder/some.json" "$folder/tiny.json" --platform a1000
usage_error "no model 'llama3-8c'" whatif "$folder/some.json" llama3-8c "${args[@]}"

# ---- boxes of sixteen ----------------------------------------------------------
# One node of 16 GPUs has no network; two of 8 are the usual; four of 4 have more.
echo '{"scenarios": [{"name": "twice", "changes": [{"world": 32}]}]}' >"$folder/twice.json"
last_comm=0
for nodes in 1 2 4; do
    echo "{\"gpus\": 16, \"nodes\": $nodes, \"micro_batch\": 1, \"global_batch\": 64, \"sequence\": 2048}" >"$folder/box.json"
    run whatif "$folder/twice.json" llama3.2-3b --strategy "$folder/box.json" --platform v100 --csv
    want_rc 0
    comm=$(grep '^base,' "$folder/out" | cut -d, -f9)
    awk -v a="$comm" -v b="$last_comm" 'BEGIN { exit !(a > 1.5 * b) }' ||
        complain "$nodes nodes of 16 GPUs: communication of $comm us, of fewer $last_comm us"
    last_comm=$comm
done
for nodes in 1 4; do # trays of a rack
    echo "{\"gpus\": 16, \"nodes\": $nodes, \"micro_batch\": 1, \"global_batch\": 64, \"sequence\": 2048}" >"$folder/box.json"
    run whatif "$folder/twice.json" llama3.2-3b --strategy "$folder/box.json" --platform gb200 --csv
    [ "$nodes" -eq 4 ] || cp "$folder/out" "$folder/rack"
done
cmp -s "$folder/out" "$folder/rack" || complain "trays of a rack pay for a network"
# Another depth is the model of that depth; as many layers are no change.
cat >"$folder/deep.json" <<'JSON'
{"scenarios": [
  {"name": "as deep", "changes": [{"layers": 16}]},
  {"name": "deeper", "changes": [{"layers": {"block": "blocks", "to": 32}}]}]}
JSON
sed 's/"layers": 16/"layers": 32/' "$folder/tiny.json" >"$folder/deeper.json"
run whatif "$folder/deep.json" "$folder/tiny.json" "${args[@]}" --csv
want_rc 0
[ "$(figures 'as deep')" = "$(figures base)" ] || complain "as many layers change something"
deeper="$(step deeper) $(peak deeper)"
run whatif "$folder/deep.json" "$folder/deeper.json" "${args[@]}" --csv
[ "$(step base) $(peak base)" = "$deeper" ] || complain "32 layers: $deeper, want $(step base) $(peak base)"
printf '{"scenarios": [{"name": "x", "changes": [{"layers": {"block": "decoder", "to": 8}}]}]}' >"$folder/wrong.json"
run whatif "$folder/wrong.json" "$folder/tiny.json" "${args[@]}"
want_rc 3
want_err 'layers.block is "decoder", want blocks'

finish
