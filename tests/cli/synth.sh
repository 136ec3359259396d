#!/usr/bin/env bash
# synth: execution traces of described models, read back by all else.
. "$(dirname "$0")/lib.bash"

cat >"$folder/tiny.json" <<'JSON'
{"name": "tiny", "type": "decoder", "tied_embeddings": false, "gated": true, "norm": "rmsnorm",
 "positions": "rope", "bias": false, "layers": 4, "hidden": 1024, "heads": 16, "kv_heads": 4,
 "ffn": 4096, "vocab": 32000}
JSON
strategy() { # MEMBERS: a strategy of sequences of 1024
    echo "{$1, \"sequence\": 1024, \"precision\": \"bf16\"}" >"$folder/s.json"
}
write() { # DIR MEMBERS: the traces of such a strategy
    strategy "$2"
    run synth "$folder/tiny.json" --strategy "$folder/s.json" -o "$folder/$1"
    want_rc 0
}
figure() { # DIR FIGURE: what predict --json says of it
    "$MYSTIQUE_SIM" --platform h100 --json "$folder/$1" 2>/dev/null |
        grep -oE "\"$2\": (\{\"predicted\": |\{\"peak\": |\{\"transfer\": )?[0-9.e+]+" |
        head -1 | grep -oE '[0-9.e+]+$'
}
holds() { # WHAT A OP B
    awk -v a="$2" -v b="$4" "BEGIN { exit !(a + 0 $3 b + 0) }" || complain "$1: $2 $3 $4 does not hold"
}

write one '"gpus": 1, "micro_batch": 1, "global_batch": 2'
want_out "written: 1 execution trace of 1 rank"
want_err "note: assumed"
run synth "$folder/tiny.json" --strategy "$folder/s.json" -o "$folder/one" --json
want_rc 0
want_out '"traces": 1,'
want_out '"ranks": 1,'
run info "$folder/one"
want_rc 0
want_out "1.1.1-chakra.0.0.4"
run --platform h100 --json --strict "$folder/one"
want_rc 0
want_out '"coverage": {"ops": 1, "device_time": 1}'

# 6 FLOPs a parameter and token, without the embedding, and causal attention's
# 6 x tokens x sequence x hidden a layer.
layer=$((1024 * (1024 + 512) + 1024 * 1024 + 3 * 1024 * 4096))
want=$((6 * 2048 * (4 * layer + 32000 * 1024) + 4 * 6 * 2048 * 1024 * 1024))
flops=$(figure one flops)
holds "FLOPs" "$flops" ">" "$(awk "BEGIN { print 0.97 * $want }")"
holds "FLOPs" "$flops" "<" "$(awk "BEGIN { print 1.05 * $want }")"

# The same bytes again; twice the micro batches, twice the FLOPs.
write again '"gpus": 1, "micro_batch": 1, "global_batch": 2'
cmp -s "$folder/one/rank-0.et.json" "$folder/again/rank-0.et.json" || complain "not the same bytes"
write four '"gpus": 1, "micro_batch": 1, "global_batch": 4'
holds "FLOPs of twice as many" "$(figure four flops)" ">" "$(awk "BEGIN { print 1.98 * $flops }")"
write full '"gpus": 1, "micro_batch": 1, "global_batch": 2, "recompute": "full"'
holds "FLOPs of recomputation" "$(figure full flops)" ">" "$(awk "BEGIN { print 1.2 * $flops }")"
holds "memory of recomputation" "$(figure full memory_bytes)" "<" "$(figure one memory_bytes)"

# In 8 bits each of the four linear layers of a block has three scaled products,
# whose operands both are of 8 bits; the head stays. The same change of the trace
# in 16 bits says the same.
write half '"gpus": 1, "micro_batch": 4, "global_batch": 4'
echo '{"gpus": 1, "micro_batch": 4, "global_batch": 4, "sequence": 1024, "precision": "fp8"}' >"$folder/s.json"
run synth "$folder/tiny.json" --strategy "$folder/s.json" -o "$folder/narrow"
want_rc 0
scaled() { # scaled products, those of 8 bits, other products
    python3 - "$folder/narrow/rank-0.et.json" <<'PY'
import json, sys
nodes = json.load(open(sys.argv[1]))["nodes"]
types = [n["inputs"]["types"][:2] for n in nodes if n["name"] == "aten::_scaled_mm"]
print(len(types), sum(all("Float8" in t for t in two) for two in types),
      sum(n["name"] == "aten::mm" for n in nodes))
PY
}
[ "$(scaled)" = "48 48 3" ] || complain "scaled products: $(scaled)"
rm "$folder"/{half,narrow}/synth.json # what the graphs say
echo '{"scenarios": [{"name": "x", "changes": [{"dtype": "fp8"}]}]}' >"$folder/x.json"
run whatif --platform h100 --json "$folder/x.json" "$folder/half"
want_rc 0
changed=$(grep -oE '"period_us": \{"predicted": [0-9.e+]+' "$folder/out" | tail -1 | grep -oE '[0-9.e+]+$')
written=$(figure narrow period_us)
holds "fp8 changed and written" "$changed" "<" "$(awk "BEGIN { print 1.03 * $written }")"
holds "fp8 changed and written" "$changed" ">" "$(awk "BEGIN { print 0.97 * $written }")"

# TF32: a label says it, and a change of the fp32 trace is the same.
for type in fp32 tf32 amp_fp16; do
    echo "{\"gpus\": 1, \"micro_batch\": 4, \"global_batch\": 4, \"sequence\": 1024, \"precision\": \"$type\"}" >"$folder/s.json"
    run synth "$folder/tiny.json" --strategy "$folder/s.json" -o "$folder/$type"
    want_rc 0
    rm "$folder/$type/synth.json"
done
holds "TF32" "$(figure tf32 kernel_us)" "<" "$(awk "BEGIN { print 0.6 * $(figure fp32 kernel_us) }")"
holds "16 bits" "$(figure amp_fp16 kernel_us)" "<" "$(figure tf32 kernel_us)"
echo '{"scenarios": [{"name": "x", "changes": [{"dtype": "tf32"}]}]}' >"$folder/x.json"
run whatif --platform h100 --json "$folder/x.json" "$folder/fp32"
want_rc 0
want_out "\"kernel_us\": {\"predicted\": $(figure tf32 kernel_us)"

# Sizes whose products no number holds (from a fuzzer).
echo '{"type": "vit", "image": 112, "patch": 16, "channels": 2147483648, "classes": 768, "layers": 13,
    "hidden": 768000000000, "heads": 5, "ffn": 11, "head_dim": 64}' >"$folder/wide.json"
run synth "$folder/wide.json" -o "$folder/wide"
want_rc 2
want_err "want at most 1e+15 in a written step"

# Sharding holds less, and sends.
write ddp '"gpus": 4, "dp": 4, "micro_batch": 1, "global_batch": 8'
write zero '"gpus": 4, "dp": 4, "micro_batch": 1, "global_batch": 8, "zero": 3'
holds "memory of ZeRO 3" "$(figure zero memory_bytes)" "<" "$(figure ddp memory_bytes)"
holds "transfers of ZeRO 3" "$(figure zero communication_us)" ">" 0
write tp '"gpus": 2, "tp": 2, "micro_batch": 1, "global_batch": 2'
holds "FLOPs of half a rank" "$(figure tp flops)" "<" "$(awk "BEGIN { print 0.55 * $flops }")"

# Stages wait for each other: 4 micro batches through 2 stages take 5 turns.
write pp '"gpus": 2, "pp": 2, "micro_batch": 1, "global_batch": 4'
want_out "written: 2 execution traces of 2 ranks"
run --platform h100 "$folder/pp"
[[ $out =~ ([0-9.]+)\ ms\ waiting\ for\ peers ]] || complain "no waiting: $out"
holds "waiting" "${BASH_REMATCH[1]:-0}" ">" 0

# Two chunks a stage: every micro batch comes twice, and goes around from the last
# stage to the first. Both ends of each transfer meet, and the bubble shrinks: of 3
# passes beside 4 x 3 to 1.5.
pipe() { # DIR MEMBERS: the period of 4 stages
    write "$1" "\"gpus\": 4, \"pp\": 4, $2, \"micro_batch\": 2, \"global_batch\": 8"
    figure "$1" period_us
}
sed -i 's/"layers": 4/"layers": 8/; s/32000/1000/' "$folder/tiny.json"
whole=$(pipe vp1 '"vp": 1')
chunks=$(pipe vp2 '"vp": 2')
# Gradients of weights where a stage would wait: a third of the bubble is left, and
# nothing is computed twice.
zero=$(pipe zb '"schedule": "zero-bubble"')
holds "period without bubbles" "$zero" "<" "$whole"
products() { cat "$folder/$1"/rank-*.et.json | grep -o '"name": "aten::mm"' | wc -l; }
holds "products without bubbles" "$(products vp1)" == "$(products zb)"
sent=$(grep -o '"collective_name", "type": "string", "value": "send"' "$folder/vp2/rank-0.et.json" | wc -l)
[ "$sent" = 12 ] || complain "the first stage sends $sent times, want 4 x 2 forward and 4 backward"
holds "FLOPs of chunks" "$(figure vp1 flops)" == "$(figure vp2 flops)"
sed -i 's/"layers": 8/"layers": 4/; s/1000,*}/32000}/' "$folder/tiny.json"
holds "period of chunks" "$chunks" "<" "$whole"

# Programs by their habits: Megatron-LM sums gradients in 32 bits, which takes 2 bytes a
# parameter more; nanotron exchanges them after each of two micro batches.
for program in common megatron nanotron; do
    write "alone-$program" "\"gpus\": 1, \"micro_batch\": 1, \"global_batch\": 2, \"framework\": \"$program\""
    write "staged-$program" "\"gpus\": 4, \"pp\": 2, \"micro_batch\": 1, \"global_batch\": 4, \"framework\": \"$program\""
done
parameters=$(((2 * 32000 * 1024) + 4 * (1024 * (1024 + 2 * 256) + 1024 * 1024 + 3 * 1024 * 4096)))
more=$(($(figure alone-megatron memory_bytes) - $(figure alone-common memory_bytes)))
holds "gradients in 32 bits" "$more" ">" $((19 * parameters / 10))
holds "gradients in 32 bits" "$more" "<" $((21 * parameters / 10))
sums() { grep -o '"collective_name", "type": "string", "value": "allreduce"' "$folder/$1/rank-0.et.json" | wc -l; }
holds "exchanges of embedding and 2 layers" "$(sums staged-common)" == 3
holds "exchanges of embedding and 4 layers, as large as the head, twice" "$(sums staged-nanotron)" == 10

# Shards are asked for ahead, and come while layers work.
write ahead '"gpus": 8, "zero": 3, "micro_batch": 8, "global_batch": 64'
waits=$(grep -o '"collective_name", "type": "string", "value": "wait"' "$folder/ahead/rank-0.et.json" | wc -l)
holds "waits of 6 parts each way, and for gradients" "$waits" == 13
hidden=$("$MYSTIQUE_SIM" --platform h100 --json "$folder/ahead" 2>/dev/null |
    sed -n '/"overlapped_us"/,/}/s/.*"communication": \([0-9.e+]*\).*/\1/p' | head -1)
holds "shards beside layers" "${hidden:-0}" ">" 100

# All ranks where they are asked for; ranks of one stage do alike.
strategy '"gpus": 4, "tp": 2, "pp": 2, "micro_batch": 1, "global_batch": 2'
run synth "$folder/tiny.json" --strategy "$folder/s.json" -o "$folder/all" --every-rank
want_rc 0
want_out "written: 4 execution traces of 4 ranks"
[ "$(grep -c '"id"' "$folder/all/rank-0.et.json")" = "$(grep -c '"id"' "$folder/all/rank-1.et.json")" ] ||
    complain "ranks of one stage differ"
run --platform h100 "$folder/all"
want_rc 0

# Ranks of an earlier job in the same folder are not taken for this one's; files of
# others stay.
touch "$folder/all/mine.et.json"
write all '"gpus": 1, "micro_batch": 1, "global_batch": 2'
[ "$(cd "$folder/all" && echo *)" = "mine.et.json rank-0.et.json synth.json" ] ||
    complain "left in the folder: $(ls "$folder/all")"

# PyTorch itself takes every operator with these arguments, but for the kernels that
# a GPU alone has.
sed 's/rmsnorm/layernorm/; s/"hidden": 1024/"hidden": 256/; s/32000/500/; s/"layers": 4/"layers": 1/; s/4096/256/' "$folder/tiny.json" \
    >"$folder/cpu.json"
echo '{"gpus": 1, "global_batch": 2, "sequence": 64, "recompute": "full"}' >"$folder/s.json"
run synth "$folder/cpu.json" --strategy "$folder/s.json" -o "$folder/cpu"
want_rc 0
run generate "$folder/cpu" -o "$folder/bench" --exclude '*flash*'
want_rc 0
want_err "all operators called directly"
if [ "${MSIM_SANITIZE:-0}" = 0 ] && python3 -c 'import torch' 2>/dev/null; then
    # Its values are random, so that its exit code (1: inf or nan) says nothing.
    python3 "$folder/bench/bench.py" --device cpu --iters 1 --warmup 1 >"$folder/run" 2>&1 || true
    grep -q '100.0% of [0-9]* operators run' "$folder/run" ||
        complain "operators do not run: $(grep Error "$folder/run")"
else
    echo "no PyTorch, or sanitizers: the benchmark of a synthesised trace is not run"
fi

# What cannot be is refused, and nothing is written.
refuse() { # TEXT RC MEMBERS
    strategy "$3"
    run synth "$folder/tiny.json" --strategy "$folder/s.json" -o "$folder/refused"
    want_rc "$2"
    want_err "$1"
    [ ! -e "$folder/refused/rank-0.et.json" ] || complain "written all the same"
}
refuse "grad_accum is 3, and vp 2 takes micro batches in groups of pp; want a multiple of 2" 2 \
    '"gpus": 2, "pp": 2, "vp": 2, "micro_batch": 1, "global_batch": 3'
refuse "tpp is not known, did you mean tp?" 3 '"gpus": 2, "tpp": 2'
refuse "tp is 0, want a whole number from 1" 3 '"gpus": 2, "tp": 0'
refuse "offload cannot be written: a written rank works on its GPU alone" 2 \
    '"gpus": 1, "offload": "optimizer"'
refuse "heads 16 cannot be split by tp 3" 2 '"gpus": 3, "tp": 3'
run synth "$folder/tiny.json"
want_rc 2
want_err "want '-o DIR'"
run synth nosuch -o "$folder/x"
want_rc 2
want_err "nosuch"

# Tokens of all samples stand in a row; the batch is of samples all the same.
echo '{"gpus": 1, "micro_batch": 6, "global_batch": 6, "sequence": 2048}' >"$folder/six.json"
run synth mpt-125m --strategy "$folder/six.json" -o "$folder/six"
want_rc 0
echo '{"scenarios": [{"name": "six", "changes": [{"batch": 6}]},
    {"name": "three", "changes": [{"batch": 3}]}]}' >"$folder/batches.json"
run whatif --platform a100 --csv "$folder/batches.json" "$folder/six"
want_rc 0
awk -F, '$1 == "six" { same = $5 } $1 == "three" { half = $5 }
    END { exit !(same == 1 && half > 0.4 && half < 0.65) }' "$folder/out" ||
    complain "another batch than that of samples: $out"

# As many micro batches as a number holds: refused before memory is asked for.
echo '{"global_batch": 500000000}' >"$folder/many.json"
usage_error "a rank passes 1.4e+10 layers" synth llama3.2-3b --strategy "$folder/many.json" -o "$folder/many"
finish
