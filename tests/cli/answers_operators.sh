#!/usr/bin/env bash
# Every operator of the built-in table on inputs of every form: what it takes on a GPU, to
# four digits, and a checksum of all that is said of it. An input that goes with an
# operator is what its rule is for; one that does not is what it must bear.
. "$(dirname "$0")/answers.bash"
command -v python3 >/dev/null || { echo "no python3: skipped"; exit 77; }

cat >"$folder/forms.py" <<'PYTHON'
import csv
import glob
import json
import os
import sys

data, folder = sys.argv[1:]
names = sorted({row["operator"] for path in glob.glob(f"{data}/ops/*.csv") if "example" not in path
                for row in csv.DictReader(open(path)) if row["operator"]} | {"no::such"})
# Tensors as sizes, lists of them, and words for what is none.
FORMS = {
    "matrices": ([[96, 64], [64, 160], [96, 160]], "float", ["", "", "", "1", "1"]),
    "thin": ([[1, 5000], [5000, 1], [1]], "c10::BFloat16", ["", "", "", "0", "False"]),
    "large": ([[8192, 4096], [4096, 8000], [8192, 8000]], "float", []),
    "batches": ([[6, 40, 64], [6, 64, 24], [24]], "c10::Half", ["", "", "", "-1", "2", "True"]),
    "heads": ([[2, 8, 128, 64], [2, 4, 160, 64], [2, 4, 160, 64], []], "c10::Half",
              ["", "", "", "", "0.", "True", "False"]),
    "images": ([[4, 16, 30, 34], [32, 16, 3, 5], [32]], "float",
               ["", "", "", "[2, 1]", "[1, 2]", "[1, 1]", "False", "[0, 0]", "1", "False", "False", "True"]),
    "grouped": ([[4, 32, 15, 15], [4, 16, 31, 31], [32, 4, 3, 3], []], "c10::Half",
                ["", "", "", "", "[2, 2]", "[1, 1]", "[1, 1]", "False", "[0, 0]", "4", "[True, True, False]"]),
    "groups": ([[4, 32, 15, 15], [64, 8, 3, 3], []], "float",
               ["", "", "", "[2, 2]", "[1, 1]", "[1, 1]", "False", "[0, 0]", "4", "False", "False", "True"]),
    "volumes": ([[2, 8, 6, 10, 10], [16, 8, 3, 3, 3], [16]], "float",
                ["", "", "", "[1, 1, 1]", "[0, 0, 0]", "[1, 1, 1]", "False", "[0, 0, 0]", "1"]),
    "sequences": ([[20, 6, 48], [2, 6, 32], [[96, 48], [96, 32], [96], [96]]],
                  ["float", "float", "TensorList"], ["", "", "", "True", "2", "0.", "True", "False", "False"]),
    "both ways": ([[6, 20, 48], [4, 6, 32], [[96, 48], [96, 32], [96], [96]]],
                  ["c10::Half", "c10::Half", "TensorList"], ["", "", "", "True", "2", "0.", "True", "True", "True"]),
    "packed": ([[110, 48], [20], [2, 6, 32], [[96, 48], [96, 32], [96], [96]]],
               ["float", "long int", "float", "TensorList"], ["", "", "", "", "True", "2", "0.", "True", "True"]),
    "look-ups": ([[1000, 48], [700], [33], []], ["float", "long int", "long int", "Scalar"],
                 ["", "", "", "-1", "False", "0", "False"]),
    "lists": ([[[100], [20, 30], [7]], [[100], [20, 30], [7]], [[100], [20, 30], [7]]], "TensorList",
              ["", "", "", "0.9", "1"]),
    "numbers": ([[700, 33]], "long int", ["", "[1]", "True", "4", "[2, 3]"]),
    "nothing": ([], "", []),
}
for form, (sizes, kind, values) in FORMS.items():
    events = []
    for at, name in enumerate(names):
        kinds = kind if isinstance(kind, list) else [kind if s else "Scalar" for s in sizes]
        rest = len(values) - len(sizes)
        events.append({"ph": "X", "cat": "cpu_op", "name": name, "pid": 1, "tid": 1, "ts": 30 * at, "dur": 20,
                       "args": {"External id": at + 1, "Input Dims": sizes + [[]] * rest,
                                "Input type": kinds + ["Scalar"] * rest, "Concrete Inputs": values}})
    json.dump({"schemaVersion": 1, "traceEvents": events}, open(f"{folder}/{form}.json", "w"))
PYTHON
python3 "$folder/forms.py" "$data" "$folder" || complain "no traces"

# One platform of each maker and age has each form.
while IFS=, read -r form platform; do
    run --csv --platform "$platform" --costs model "$folder/$form.json"
    to_eight_digits <"$folder/out" >"$folder/said.csv"
    python3 - "$folder/said.csv" <<'PYTHON' | LC_ALL=C sort
import csv, sys, zlib

for row in csv.DictReader(open(sys.argv[1])):
    if float(row["predicted_us"] or 0) or row["model"]:
        said = "|".join(v for k, v in row.items() if k not in ("peak_share", "slack_us"))
        print(f"{row['name']},{float(row['predicted_us'] or 0):.4g},{zlib.crc32(said.encode())}")
PYTHON
done >"$folder/lines" <<'FORMS'
matrices,h100
matrices,v100
thin,a100
large,v100
batches,h100
heads,h100
heads,v100
images,h100
images,l40s
images,mi300x
grouped,h100
groups,h100
groups,l40s
groups,v100
groups,t4
volumes,a100
volumes,h100
sequences,h100
both ways,h100
packed,a100
look-ups,h100
lists,h100
numbers,b200
nothing,h100
FORMS
awk -F, '{ said[$1] = said[$1] " " $2 " " $3 } END { for (name in said) print name ":" said[name] }' "$folder/lines" |
    LC_ALL=C sort >"$folder/said"
hold operators

# Works whose sizes are the numbers of data/laws, where a law has another branch, and those
# beside them: a checksum for each number.
cat >"$folder/limits.py" <<'PYTHON'
import csv
import re
import sys

data, folder = sys.argv[1:]
limits = {int(float(row["value"])) for row in csv.DictReader(open(f"{data}/laws/kernels.csv"))
          if re.fullmatch(r"\d+(\.0+)?", row["value"]) and 1 < float(row["value"]) <= 65536}
sizes = sorted({v + by for v in limits for by in (-1, 0, 1)})
few = [v for v in sizes if v <= 2200]


def write(name, head, rows):
    with open(f"{folder}/limits_{name}.csv", "w") as f:
        f.write(head + "\n" + "".join(",".join(map(str, row)) + "\n" for row in rows))


write("gemm", "work,m,n,k,dtype,batch",
      [(v, m, n, k, dtype, batch) for v in sizes for dtype in ("bf16", "fp32")
       for m, n, k, batch in ((v, 384, 512, 1), (384, v, 512, 1), (256, 384, v, 1), (64, 128, 96, v))])
write("vector", "work,op,dtype,shape,table_rows",
      [(v, op, dtype, shape, rows) for v in sizes for dtype in ("fp16", "fp32")
       for op, shape, rows in [(op, shape, "") for op in ("softmax", "softmax_backward", "layer_norm", "sum", "mean",
                                                          "rms_norm", "add", "batch_norm", "copy_")
                               for shape in (f"600x{v}", f"{v}x700")] + [
           ("embedding", f"{v}x96", 5000), ("embedding", f"300x{v}", 700), ("embedding_backward", f"{v}x64", 300)]])
write("conv", "work,op,dtype,n,c,h,w,k,r,s,stride,pad,groups",
      [(v, op, dtype, n, c, h, h, k, r, r, stride, r // 2, groups) for v in few
       for op in ("conv2d_fwd", "conv2d_bwd_data", "conv2d_bwd_weight") for dtype in ("fp32", "fp16")
       for n, c, h, k, r, stride, groups in ((8, v, 28, 64, 3, 1, 1), (8, 64, 28, v, 1, 2, 1), (v, 16, 14, 32, 3, 1, 1),
                                             (4, v, 20, v, 3, 1, v), (2, 16, min(v, 260), 16, 5, 1, 4))])
write("attention", "work,phase,batch,heads,kv_heads,q_len,kv_len,head_dim,dtype,pass",
      [(v, "prefill", b, h, h, q, q, d, "bf16", way) for v in few for way in ("", "backward")
       for b, h, q, d in ((1, 8, v, 64), (v, 8, 256, 128), (2, v, 300, 64))] +
      [(v, "decode", b, 8, 8, 1, kv, 128, "fp16", "") for v in few for b, kv in ((4, v), (v, 1000))])
write("collective", "work,collective,ranks,bytes",
      [(v, kind, ranks, size) for v in sizes
       for kind in ("all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast")
       for ranks, size in ((8, 1024 * v), (2, v), (16, 65536 * v))])
PYTHON
python3 "$folder/limits.py" "$data" "$folder" || complain "no limits"
for platform in h100 v100 t4 mi300x; do
    for table in gemm vector conv attention collective; do
        run op --platform $platform "$folder/limits_$table.csv"
        want_rc 0
        sed 1d "$folder/out" | to_eight_digits >"$folder/rows"
        python3 - "$folder/rows" "$table $platform" <<'PYTHON'
import itertools, sys, zlib

for v, rows in itertools.groupby(open(sys.argv[1]), lambda row: row.split(",")[0]):
    print(sys.argv[2], v, zlib.crc32("".join(rows).encode()))
PYTHON
    done
done >"$folder/said"
hold operators_limits

# How some of them are explained, at such sizes and on inputs of each form.
python3 - "$data" "$folder" <<'PYTHON' || complain "no trace of limits"
import csv, json, re, sys

data, folder = sys.argv[1:]
limits = sorted({int(float(row["value"])) for row in csv.DictReader(open(f"{data}/laws/kernels.csv"))
                 if re.fullmatch(r"\d+(\.0+)?", row["value"]) and 1 < float(row["value"]) <= 65536})[::-1]
events = []
for v in limits:
    for name, sizes in {"aten::_softmax": [[40, v]], "aten::mm": [[64, v], [v, 96]], "aten::bmm": [[v, 16, 32], [v, 32, 48]],
                        "aten::sum": [[v, 50]], "aten::native_layer_norm": [[30, v], [], [v], [v]],
                        "aten::embedding": [[900, v], [70]]}.items():
        for kind in ("float", "c10::Half"):
            events.append({"ph": "X", "cat": "cpu_op", "name": name, "pid": 1, "tid": 1, "ts": 30 * len(events), "dur": 20,
                           "args": {"External id": len(events) + 1, "Input Dims": sizes, "Input type": [kind] * len(sizes),
                                    "Concrete Inputs": ["", "[1]"] if name == "aten::sum" else []}})
json.dump({"schemaVersion": 1, "traceEvents": events}, open(f"{folder}/limits.json", "w"))
PYTHON
while read -r trace operators; do
    for operator in $operators; do
        for platform in h100 v100; do
            run --platform $platform --explain "aten::$operator" "$folder/$trace.json"
            echo "== $operator of $trace on $platform: $rc $(head -n 1 "$folder/err")"
            to_eight_digits <"$folder/out" | cksum
            grep '^kind:' "$folder/out" | sort | uniq -c
        done
    done
done <<'OPERATORS' | to_eight_digits >"$folder/said"
limits _softmax mm bmm sum native_layer_norm embedding
matrices mm addmm mul_ _softmax gelu sum native_layer_norm copy_ index_select topk
batches bmm baddbmm cat
heads _flash_attention_forward scaled_dot_product_attention _scaled_dot_product_flash_attention_backward
images conv2d convolution max_pool2d_with_indices upsample_bilinear2d native_batch_norm
groups convolution_backward conv2d
look-ups embedding embedding_bag index
lists _foreach_add_ _fused_adam_
sequences lstm
OPERATORS
hold operators_explained
# A file of a network with each value at or behind its limits.
python3 "$(dirname "$0")/edges.py" "$sim" "$data/networks/infiniband-ndr400.json" --platform h100 --network @ --nodes 2 \
    --csv "$data/traces/dlrm-ddp-2ranks" | to_eight_digits >"$folder/said"
hold operators_of_network
finish
