#!/usr/bin/env bash
# Every form of a report, with every part that is asked for, of small recordings of a GPU
# and of two ranks, and of traces without times.
. "$(dirname "$0")/answers.bash"
command -v python3 >/dev/null || { echo "no python3: skipped"; exit 77; }
here=$(cd "$(dirname "$0")" && pwd)

cd "$folder" || exit 1
PYTHONPATH=$here python3 - <<'PYTHON'
import os
from odd_records import gpu, nodes, ranks, save

for name, files in {"gpu": gpu(), "ranks": ranks(), "nodes": nodes()}.items():
    os.mkdir(name)
    for file, whole in files.items():
        save(f"{name}/{file}", whole)
later = gpu()["one.json"]
for event in later["traceEvents"]:
    if event["name"] == "aten::relu":
        event["name"] = "aten::gelu"
    elif event.get("cat") == "kernel" and "sgemm" in event["name"]:
        event["dur"] *= 0.9
os.mkdir("later")
save("later/one.json", later)
PYTHON
ln -s "$data/traces/dlrm-ddp-2ranks" dlrm
ln -s "$data/traces/vit" vit
sim=$(realpath "$sim")
set -f # patterns are for the program

forms() { # NAME ARGUMENT...: words as they are, of what is long a checksum
    local name=$1 form
    shift
    for form in '' --brief --csv --markdown --json '--html page.html' '--timeline run.json'; do
        # shellcheck disable=SC2086
        run "$@" $form
        echo "== ${form%% *} $rc"
        case $form in
            --json) to_eight_digits <out | cksum ;;
            --html*) to_eight_digits <page.html | cksum ;;
            --timeline*) to_eight_digits <run.json | cksum ;;
            *) cat out err ;;
        esac
    done | to_eight_digits >said
    hold "reports_$name"
}
forms gpu gpu
forms ranks ranks --per-iteration '32 samples' --price 2.5 --power 600
forms usage gpu --usage --platform a100
forms linked nodes --platform h100
forms model dlrm --platform h100 --nodes 2 --per-iteration 4096 --price 3
forms wider ranks --platform h100 --ranks 8 --usage

# One part after the other; one line where it is refused.
asked() { # NAME TRACE OPTIONS...: each line of options by itself
    local name=$1 trace=$2 options
    while IFS= read -r options; do
        # shellcheck disable=SC2086
        run $trace $options
        echo "== $options: $rc $(head -n 1 err)"
        cat out
    done | to_eight_digits >said
    hold "reports_$name"
}
asked parts gpu <<'OPTIONS'
--csv --iteration 1
--csv --iteration 2
--csv --iteration 0
--csv --iteration 3
--csv --iteration all
--csv --subtree aten::mm
--csv --subtree ProfilerStep#2
--csv --subtree no_such
--csv --kind compute
--csv --kind communication
--csv --kind copies
--csv --exclude aten::*_
--csv --exclude *
--csv --ops aten::?m
--csv --ops no_such*
--csv --range 1..5
--csv --communication *sgemm*
--brief --communication *sgemm* --communication reduce*
--brief --scale kernels=0.5 --scale copies=2
--brief --scale family:gemm=0
--brief --scale op:aten::mm=0 --scale host:aten::*=3
--brief --scale stream:7=0.5
--brief --scale stream:9=0.5
--brief --scale host-part:calls=0
--brief --scale link:h2d=4
--brief --host generic
--brief --platform a100 --costs model
--brief --platform a100 --costs measured
--brief --platform h100 --costs scaled
--brief --peers follow
--explain aten::mm
--explain aten::mm --platform a100
--explain aten::mm --platform h100 --json
--explain ampere* --platform a100
--explain aten::no_such --platform a100
--explain aten::s* --platform h100
--explain aten::copy_ --platform h100
OPTIONS
asked parts_ranks ranks <<'OPTIONS'
--brief --peers follow
--brief --peers fixed
--brief --ranks 4
--brief --ranks 3
--brief --ranks 8 --nodes 2 --platform h100
--brief --nodes 2 --platform h100 --network infiniband-ndr400
--csv --kind communication
--csv --iteration 2
--explain nccl* --platform h100
--explain record_param_comms --platform h100
--brief --scale communication=0
--brief --scale link:*=0.5
OPTIONS
asked parts_nodes nodes <<'OPTIONS'
--csv --platform a100 --range 10..20
--csv --platform a100 --range 14..14
--csv --platform a100 --range 20..10
--csv --platform a100 --range 10..
--csv --platform a100 --subtree ProfilerStep#2
--csv --platform a100 --costs model --kind communication
OPTIONS

compared() { # NAME ARGUMENT...
    local name=$1 form
    shift
    for form in '' --csv --markdown --json '--html page.html' '--fail-above 0.1'; do
        # shellcheck disable=SC2086
        run compare "$@" $form
        echo "== $form $rc"
        case $form in
            --json) to_eight_digits <out | cksum ;;
            --html*) to_eight_digits <page.html | cksum ;;
            *) cat out err ;;
        esac
    done | to_eight_digits >said
    hold "reports_$name"
}
compared compare gpu later
compared compare_back later gpu
compared compare_same gpu gpu
compared compare_steps gpu gpu --iteration 1,2
compared compare_jobs gpu ranks
compared compare_clocks vit vit --platform a100,h100 --clock 0.8,1

cat >edits.json <<'JSON'
{"scenarios": [
  {"name": "half | kernels", "changes": [{"scale": {"select": "kernels", "factor": 0.5}}]},
  {"name": "gone", "changes": [{"remove": {"select": "op:aten::sum"}}]},
  {"name": "host", "changes": [{"scale": {"select": "host", "factor": 0.5}}, {"scale": {"select": "copies", "factor": 3}}]},
  {"name": "other", "changes": [{"gpu": "h100"}, {"usual": 1}]}]}
JSON
cp edits.json wrong.json
sed -i 's/, {"usual": 1}//' edits.json
for arguments in 'wrong.json gpu' 'edits.json gpu' 'edits.json gpu --kernels' 'edits.json ranks --usage --platform a100' \
    'edits.json nodes --platform h100' '--sensitivity gpu' '--sensitivity ranks' '--grid kernels=0.5,1 --grid copies=1,2 gpu'; do
    for form in '' --csv --markdown --json '--html page.html'; do
        # shellcheck disable=SC2086
        run whatif $arguments $form
        echo "== $arguments $form $rc"
        case $form in
            --json) to_eight_digits <out | cksum ;;
            --html*) to_eight_digits <page.html | cksum ;;
            *) cat out err ;;
        esac
    done
done | to_eight_digits >said
hold reports_whatif

# As another format, and what is read of that again.
for trace in gpu ranks nodes dlrm; do
    rm -rf other
    mkdir other
    run convert $trace -o other/trace.et
    cat err
    (cd other && find . -type f | sort | xargs cksum)
    run info other
    cat out err
    run --json --platform h100 other
    to_eight_digits <out | cksum
done | to_eight_digits >said
hold reports_convert

for trace in gpu ranks nodes later dlrm; do
    run info $trace
    cat out err
    run info --json $trace --communication '*sgemm*'
    to_eight_digits <out | cksum
done >said
hold reports_info
finish
