#!/usr/bin/env bash
# Parts of a job: what predict is to give time to.
. "$(dirname "$0")/lib.bash"
traces=${SOURCE_DIR:?the source folder}/data/traces

# parts TRACE OPTIONS...: the whole as 0.json, each part as 1.json and on.
parts() {
    local trace=$1 n=0 part
    shift
    for part in "" "$@"; do
        # shellcheck disable=SC2086 # several words
        run --json --platform a100 --costs model $part "$traces/$trace"
        want_rc 0
        cp "$folder/out" "$folder/$((n++)).json"
    done
}

# sums N: what the GPU does in N parts is what it does in the whole, and they
# take at least as long. What a number is rounded to in JSON may differ.
sums() {
    python3 - "$folder" "$1" <<'PYTHON' || complain "parts do not add up"
import json, sys

docs = [json.load(open(f"{sys.argv[1]}/{i}.json"))
        for i in range(int(sys.argv[2]) + 1)]

def copies(d):  # with what is hidden by kernels
    return (d["breakdown_us"]["memory_copy"] +
            d["overlapped_us"]["memory_copy"])

figures = {"kernels": lambda d: d["kernel_us"]["predicted"],
           "communication": lambda d: d["communication_us"]["transfer"],
           "copies": copies,
           "ranks": lambda d: sum(r["kernel_us"]["predicted"] +
                                  r["communication_us"]["transfer"]
                                  for r in d["ranks_detail"]),
           "flops": lambda d: d["flops"] or 0,
           "operators": lambda d: sum(o["predicted_us"] for o in d["ops"])}
bad = 0
for name, of in figures.items():
    whole, parts = of(docs[0]), [of(d) for d in docs[1:]]
    if abs(sum(parts) - whole) > 1e-6 * whole:
        bad = print(name, whole, parts) or 1
whole, *parts = [d["iteration_us"]["predicted"] for d in docs]
if sum(parts) < whole * (1 - 1e-9):
    bad = print("iteration", whole, parts) or 1
if not docs[0]["kernel_us"]["predicted"] > 0 or docs[0]["scenario"]:
    bad = print("the whole is no whole") or 1
for d in docs[1:]:
    if not d["scenario"]["options"]:
        bad = print("no options in the scenario") or 1
sys.exit(bad)
PYTHON
}

for trace in gpt2 resnet dlrm-ddp-2ranks llama-block; do
    parts "$trace" "--kind compute" "--kind communication" "--kind copies"
    sums 3
    parts "$trace" "--subtree *[Mm]mBackward0" "--exclude *[Mm]mBackward0"
    sums 2
    parts "$trace" "--ops aten::*mm" "--exclude aten::*mm"
    sums 2
done
parts gpt2 "--range 1..500" "--range 501..99999"

# What is chosen is named where other changes are.
run --json --platform a100 --costs model --kind copies --exclude "aten::to" \
    "$traces/gpt2"
want_rc 0
tr -d ' \n' <"$folder/out" | grep -q -e \
    '"options":\["--platform","a100","--costs","model","--kind","copies","--exclude","aten::to"\]' ||
    complain "other options in the scenario: $out"

# A file is a table, with which a pattern may stand.
printf 'operator,law,us\naten::gelu,time,5\n' >"$folder/ops.csv"
run --json --platform a100 --costs model --ops "$folder/ops.csv" \
    --ops "aten::gelu" "$traces/gpt2"
want_rc 0
want_out '"aten::gelu"'

# Slips.
usage_error "near it are 'aten::addmm'" --platform a100 --costs model \
    --ops "aten::adddmm" "$traces/gpt2"
want_err "there is no file (a table) of that name, and no operator has a name"
usage_error "'--subtree Optimiser*' selects nothing: no operator or label" \
    --platform a100 --costs model --subtree "Optimiser*" "$traces/gpt2"
want_err "near it are 'Optimizer"
usage_error "'--exclude aten::geluu' selects nothing" --platform a100 \
    --costs model --exclude "aten::geluu" "$traces/gpt2"
usage_error "choose no operator of the job, together" --platform a100 \
    --costs model --subtree "aten::gelu" --exclude "aten::gelu" "$traces/gpt2"
usage_error "ids of nodes of an execution trace" --platform a100 \
    --costs model --range 4000000..4000001 "$traces/gpt2"
usage_error "want two ids of ET nodes" --range 9..3 "$traces/gpt2"
run --platform a100 --costs model --kind communication "$traces/gpt2"
want_rc 0
want_err "'--kind communication' leaves nothing"
run --platform a100,h100 --costs model --kind communication "$traces/gpt2"
want_rc 0
[[ $out != *nan* ]] || complain "a ratio of nothing: $out"
finish
