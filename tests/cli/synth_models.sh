#!/usr/bin/env bash
# synth: encoders, vision transformers, recommendation models and decoders, beside
# captures of the same models with the same sizes (data/traces).
. "$(dirname "$0")/lib.bash"

samples=$(dirname "$0")/../../data/traces

synth() { # NAME MODEL STRATEGY: traces of it in $folder/NAME, without what measured jobs say
    echo "$2" >"$folder/$1.json"
    echo "$3" >"$folder/$1.strategy.json"
    run synth "$folder/$1.json" --strategy "$folder/$1.strategy.json" -o "$folder/$1"
    want_rc 0
    rm -f "$folder/$1/synth.json"
}
# Matrix products with their sizes, one a line, in order: those of addmm, mm, bmm.
cat >"$folder/products.py" <<'PY'
import gzip, json, sys
path = sys.argv[1]
for n in json.load(gzip.open(path) if path.endswith("gz") else open(path))["nodes"]:
    s = n["inputs"]["shapes"]
    if n["name"] in ("aten::mm", "aten::bmm"):
        print(n["name"], s[0], s[1])
    if n["name"] == "aten::addmm":
        print("aten::addmm", s[1], s[2])
PY
products() { # FILE [PATTERN that is left out]
    python3 "$folder/products.py" "$1" | grep -v "${2:-nothing}" | sort
}
same_products() { # NAME CAPTURE [PATTERN]: as many of each size
    products "$folder/$1/rank-0.et.json" >"$folder/$1.products"
    [ -s "$folder/$1.products" ] || complain "no products in $1"
    products "$samples/$2/et/rank-0.json.gz" "${3:-nothing}" |
        diff - "$folder/$1.products" >"$folder/diff" ||
        complain "products of $1 (>) are not those of the capture (<): $(cat "$folder/diff")"
}
# GPU time by phase and FLOPs, h100: "forward backward flops".
figures() { # FILES
    "$sim" --platform h100 --strict "$1" >"$folder/text" 2>"$folder/errors" ||
        complain "no prediction of $1: $(cat "$folder/errors")"
    awk '/^phases/ { unit = /GPU\/us/ ? 0.001 : 1 }
        /^ +(forward|backward) +[0-9]/ && !seen[$1]++ { at[$1] = $2 * unit }
        /arithmetic/ { flops = $2 * ($3 == "TFLOP" ? 1000 : $3 == "MFLOP" ? 0.001 : 1) }
        END { print at["forward"], at["backward"], flops }' "$folder/text"
}
near() { # WHAT A B SHARE: within that share of each other
    awk -v a="$2" -v b="$3" -v s="$4" 'BEGIN { exit !(a > b * (1 - s) && a < b * (1 + s)) }' ||
        complain "$1: $2, the capture has $3"
}
compare() { # NAME CAPTURE FLOPS FORWARD BACKWARD: the shares that they may differ by
    read -r forward backward flops < <(figures "$folder/$1")
    read -r f b w < <(figures "$samples/$2/et")
    near "FLOPs of $1" "$flops" "$w" "$3"
    near "forward of $1" "$forward" "$f" "$4"
    near "backward of $1" "$backward" "$b" "$5"
    echo "$1: forward $forward ms, captured $f; backward $backward ms, captured $b; GFLOP $flops, captured $w"
}

# The capture's attention is in parts, on a CPU: its products are no matrix products of ours.
synth bert '{"type": "encoder", "layers": 1, "hidden": 768, "heads": 12, "ffn": 3072, "vocab": 30522,
    "max_positions": 512, "token_types": 2, "dropout": 0.1}' \
    '{"gpus": 1, "micro_batch": 8, "global_batch": 8, "sequence": 128, "precision": "fp32"}'
same_products bert bert 'aten::bmm'
compare bert bert 0.005 0.06 0.08
# Autocast of the capture casts weights and activations; ours are in bf16.
synth vit '{"type": "vit", "image": 224, "patch": 16, "classes": 1000, "layers": 1, "hidden": 768,
    "heads": 12, "ffn": 3072}' \
    '{"gpus": 1, "micro_batch": 8, "global_batch": 8, "precision": "bf16"}'
same_products vit vit
compare vit vit 0.005 0.35 0.2
synth gpt2 '{"layers": 1, "hidden": 768, "heads": 12, "kv_heads": 12, "ffn": 3072, "vocab": 50257,
    "gated": false, "norm": "layernorm", "bias": true, "positions": "learned", "tied_embeddings": true}' \
    '{"gpus": 1, "micro_batch": 2, "sequence": 512, "precision": "fp32"}'
same_products gpt2 gpt2 'aten::bmm'
compare gpt2 gpt2 0.01 0.08 0.04
# Ours has queries, keys and values in one product, norms, gates and rotations in one
# kernel each, and adds gradients in 16 bits; the capture has them in parts, so that its FLOPs
# alone are to be met.
synth llama '{"layers": 1, "hidden": 1024, "heads": 8, "kv_heads": 2, "ffn": 3584, "vocab": 8000}' \
    '{"gpus": 1, "micro_batch": 1, "sequence": 512, "precision": "bf16"}'
compare llama llama-block 0.005 0.6 0.6

# Tables looked up one by one, on every rank, as in the captures.
mlp='"dense": 13, "dim": 64, "lookups": "separate"'
synth dlrm "{\"type\": \"dlrm\", $mlp, \"bottom\": [512, 256, 64], \"top\": [512, 512, 256, 1],
    \"tables\": [{\"rows\": 100000, \"pooling\": 8, \"count\": 4}]}" \
    '{"gpus": 1, "micro_batch": 512, "precision": "fp32", "optimizer": "sgd"}'
same_products dlrm dlrm
compare dlrm dlrm 0.005 0.1 0.1
synth ddp "{\"type\": \"dlrm\", $mlp, \"bottom\": [512, 64], \"top\": [512, 512, 1],
    \"tables\": [{\"rows\": 10000, \"pooling\": 8, \"count\": 2}]}" \
    '{"gpus": 2, "micro_batch": 512, "precision": "fp32", "optimizer": "sgd"}'
same_products ddp dlrm-ddp-2ranks
# Gradients of all 1,354,816 + 263,169 numbers, in the buckets of the capture.
sums=$(grep -o '"collective_name", "type": "string", "value": "allreduce"' "$folder/ddp/rank-0.et.json" | wc -l)
[ "$sums" = 2 ] || complain "$sums sums of gradients, want 2"
for n in 1354816 263169; do
    grep -q "\"in_msg_nelems\", \"type\": \"uint64\", \"value\": $n" "$folder/ddp/rank-0.et.json" ||
        complain "no sum of $n numbers"
done

# Each kind has its own tables, as many as it counts.
synth kinds "{\"type\": \"dlrm\", $mlp, \"bottom\": [512, 64], \"top\": [512, 1], \"tables\": [
    {\"rows\": 1000, \"pooling\": 8, \"count\": 2}, {\"rows\": 500, \"pooling\": 8, \"count\": 3}]}" \
    '{"gpus": 1, "micro_batch": 64, "precision": "fp32", "optimizer": "sgd"}'
for rows in 1000:2 500:3; do
    got=$(grep '"name": "aten::embedding_bag"' "$folder/kinds/rank-0.et.json" | grep -c "\[\[${rows%:*}, 64\]")
    [ "$got" = "${rows#*:}" ] || complain "$got tables of ${rows%:*} rows, want ${rows#*:}"
done

# Tables spread over ranks: what is looked up goes to them all to all, pooled rows
# come back, and their gradients go there again. 26 tables on 8 ranks: 4 or 3.
run synth dlrm-mlperf --strategy <(echo '{"gpus": 8, "micro_batch": 2048, "precision": "fp32", "optimizer": "adagrad"}') \
    -o "$folder/spread"
want_rc 0
want_out "8 execution traces of 8 ranks"
sent=$(grep -o '"all_to_allv"' "$folder/spread/rank-0.et.json" | wc -l)
[ "$sent" = 8 ] || complain "$sent mentions of all_to_allv, want 2 of each of 4"
run --platform a100 --json --strict "$folder/spread"
want_rc 0
want_out '"coverage": {"ops": 1, "device_time": 1}'
# Equal ranks are one file.
run synth "$folder/dlrm.json" --strategy <(echo '{"gpus": 4, "micro_batch": 512, "precision": "bf16"}') -o "$folder/four"
want_rc 0
want_out "1 execution trace of 4 ranks"

# Everything else takes them.
for name in bert vit dlrm; do
    run info "$folder/$name"
    want_rc 0
    want_out "1.1.1-chakra.0.0.4"
    run --platform a100 --json --strict "$folder/$name"
    want_rc 0
    want_out '"coverage": {"ops": 1, "device_time": 1}'
    run convert "$folder/$name" -o "$folder/$name.et"
    want_rc 0
done

# PyTorch itself takes every operator with these arguments, but for the kernels that
# a GPU alone has; its values are random.
runs() { # NAME MODEL STRATEGY PATTERN
    synth "$1" "$2" "$3"
    run generate "$folder/$1" -o "$folder/$1.bench" --exclude "$4"
    want_rc 0
    want_err "all operators called directly"
    [ "${MSIM_SANITIZE:-0}" = 0 ] && python3 -c 'import torch' 2>/dev/null || return 0
    python3 "$folder/$1.bench/bench.py" --device cpu --iters 1 --warmup 1 >"$folder/run" 2>&1 || true
    grep -q '100.0% of [0-9]* operators run' "$folder/run" ||
        complain "operators of $1 do not run: $(grep Error "$folder/run")"
}
small='"layers": 1, "hidden": 128, "heads": 2, "ffn": 256'
runs small-bert "{\"type\": \"encoder\", $small, \"vocab\": 500, \"dropout\": 0.1, \"head\": \"pretraining\"}" \
    '{"gpus": 1, "micro_batch": 2, "global_batch": 4, "sequence": 64, "recompute": "full"}' '*_scaled_dot*'
runs small-vit "{\"type\": \"vit\", $small, \"image\": 32, \"patch\": 8, \"classes\": 9}" \
    '{"gpus": 1, "micro_batch": 2, "precision": "fp32"}' '*[:n]_[sc][co]*n*'
runs small-dlrm "{\"type\": \"dlrm\", $mlp, \"bottom\": [32, 64], \"top\": [32, 1],
    \"tables\": [{\"rows\": 99, \"pooling\": 2, \"count\": 3}]}" \
    '{"gpus": 1, "micro_batch": 16, "optimizer": "adagrad"}' '*bag_dense*'

# Tables of jobs and plans take encoders and images; sequences follow from the model.
cat >"$folder/rows.csv" <<'CSV'
model,platform,gpus,micro_batch,global_batch,sequence
bert-base,h100,8,32,512,
vit-b-16,h100,8,64,1024,
vit-b-16,h100,8,64,1024,512
bert-base,h100,8,32,512,1024
CSV
run validate --rows "$folder/rows.csv" --csv
want_rc 0
want_out "sequence=512"
want_out "sequence is 512, but the model has as many tokens as its images make: 197"
want_out "sequence is 1024, but the model has positions up to 512"
[ "$(grep -cE ',[0-9.]+,[0-9.]+,[0-9.]+,[0-9.]+,yes,' "$folder/out")" = 2 ] || complain "want two predictions: $out"

# Steps of a dlrm are not known: a word of what to do instead.
printf 'model,platform,gpus\ndlrm-mlperf,h100,8\n' >"$folder/rows.csv"
run validate --rows "$folder/rows.csv" --csv
want_rc 1
want_out "model 'dlrm-mlperf' is a dlrm: want a transformer"
run plan <(echo '{"model": "dlrm-mlperf", "platforms": ["h100"], "gpus": [8], "global_batch": 64}') -o "$folder/plan"
want_rc 3
want_err "model is \"dlrm-mlperf\", want a transformer"
split() { # TEXT STRATEGY
    run synth dlrm-mlperf --strategy <(echo "$2") -o "$folder/refused"
    want_rc 2
    want_err "$1"
}
split "tp is not 1, but the model is a dlrm" '{"gpus": 8, "tp": 2}'
split "gpus is 64, but the model has 26 tables" '{"gpus": 64}'

# What cannot be is refused by its path.
refused() { # TEXT MODEL
    echo "$2" >"$folder/bad.json"
    run synth "$folder/bad.json" -o "$folder/refused"
    want_rc 3
    want_err "$1"
}
vit='"type": "vit", "classes": 10, "layers": 1, "ffn": 256'
refused "patch is 15, want a divisor of the image's side" "{$vit, \"image\": 32, \"patch\": 15, \"hidden\": 128, \"heads\": 2}"
refused "heads is 3, want a divisor of" "{$vit, \"image\": 32, \"patch\": 8, \"hidden\": 128, \"heads\": 3}"
refused "image is missing, want a whole number from 1" "{$vit, \"patch\": 8, \"hidden\": 128, \"heads\": 2}"
refused "vocab is not known" "{$vit, \"image\": 32, \"patch\": 8, \"hidden\": 128, \"heads\": 2, \"vocab\": 9}"
refused 'head is "nsp", want lm, mlm, pretraining or classifier' \
    '{"type": "encoder", "layers": 1, "hidden": 128, "heads": 2, "ffn": 256, "vocab": 99, "head": "nsp"}'
refused "dropout is 1, want a share from 0 to below 1" \
    '{"type": "encoder", "layers": 1, "hidden": 128, "heads": 2, "ffn": 256, "vocab": 99, "dropout": 1}'
mlps='"type": "dlrm", "dense": 13, "dim": 8, "top": [1]'
refused "tables[1].rows is 0, want a whole number from 1" \
    "{$mlps, \"bottom\": [8], \"tables\": [{\"rows\": 9}, {\"rows\": 0}]}"
refused 'bottom is [8,9], want "dim" last' "{$mlps, \"bottom\": [8, 9], \"tables\": [{\"rows\": 9}]}"
refused "tables is missing, want a list of 1 to 64 objects" "{$mlps, \"bottom\": [8]}"
refused 'type is "gnn", want decoder, encoder, vit or dlrm' '{"type": "gnn"}'
finish
