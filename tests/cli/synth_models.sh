#!/usr/bin/env bash
# synth: encoders, vision transformers and recommendation models, beside captures
# of the same models with the same sizes (data/traces).
. "$(dirname "$0")/lib.bash"

samples=$(dirname "$0")/../../data/traces

synth() { # NAME MODEL STRATEGY: traces of it in $folder/NAME
    echo "$2" >"$folder/$1.json"
    echo "$3" >"$folder/$1.strategy.json"
    run synth "$folder/$1.json" --strategy "$folder/$1.strategy.json" -o "$folder/$1"
    want_rc 0
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
    awk '/^ +(forward|backward) +[0-9]/ && !seen[$1]++ { at[$1] = $2 }
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

# Everything else takes them.
for name in bert vit; do
    run info "$folder/$name"
    want_rc 0
    want_out "1.1.1-chakra.0.0.4"
    run --platform a100 --json --strict "$folder/$name"
    want_rc 0
    want_out '"coverage": {"ops": 1, "device_time": 1}'
    run convert "$folder/$name" -o "$folder/$name.et"
    want_rc 0
done

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
refused 'type is "gnn", want decoder, encoder, vit or dlrm' '{"type": "gnn"}'
finish
