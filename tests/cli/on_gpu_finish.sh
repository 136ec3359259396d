#!/usr/bin/env bash
# on_gpu.sh blind and finish: what came back from a GPU becomes platforms, tables, a
# page and rows that are held without one. The GPU is the one that is made up, the
# jobs are samples; so nothing of it may go into the checkout.
. "$(dirname "$0")/lib.bash"
in_turn scripts/on_gpu.sh scripts/gpu

scripts=${SOURCE_DIR:?the source folder}/scripts
profiler=${BUILD_DIR:?the build folder}/fake_gpu/mystique-prof-cuda
last="on_gpu.sh finish"
for program in "$profiler" "$BUILD_DIR/msim-calibrate"; do
    [ -x "$program" ] || { echo "no $program: skipped"; exit 77; }
done
command -v python3 >/dev/null || { echo "no python3: skipped"; exit 77; }
python=$(command -v python3)

# ---- what comes back ---------------------------------------------------------

made=$folder/made
mkdir -p "$made/results" "$made/journals" "$made/kernels" "$folder/samples" \
    "$folder/back"
cp -r "$SOURCE_DIR/data/traces/gpt2" "$SOURCE_DIR/data/traces/dlrm" \
    "$folder/samples"
"$python" "$SOURCE_DIR/tests/fake_gpu/fake_traces.py" "$folder/samples" \
    "$made/captures" || complain "no traces of a GPU that is made up"
cp -r "$made/captures/gpt2" "$made/captures/gpt2-again"
n=0
for trace in "$made"/captures/*/kineto/*; do # kernels in any trace are kernels
    cp "$trace" "$made/kernels/made_up-$n.json.gz"
    n=$((n + 1))
done
for name in cuda again-cuda; do
    journal=$folder/$name.journal.jsonl
    for minutes in 0.03 0.1 0.3; do # until there are enough rows for a fit
        "$sim" calibrate --measure-only --backend "$profiler" --budget $minutes \
            --out "$folder/$name.json" >"$folder/out" 2>&1 ||
            complain "$name: $(tail -n 3 "$folder/out")"
        [ "$(grep -c time_us "$journal")" -lt 800 ] || break
    done
    gzip -c "$journal" >"$made/journals/$name.journal.jsonl.gz"
done
for name in gpt2 dlrm; do
    for cache in cold warm; do
        "$sim" replay --backend "$profiler" --cache $cache --iterations 2 --json \
            -o "$made/results/replay-$name-$cache.json.gz" \
            "$made/captures/$name/et" >"$made/results/replay-$name-$cache.json" ||
            complain "$name is not replayed"
    done
    cat >"$made/results/bench-$name.json" <<'JSON'
{"ms": 2.5, "peak_bytes": 3000000, "certified": true,
 "metered": {"seconds": 2.0, "steps": 100, "joules": 50.0, "power_w": 25.0,
             "sm_mhz": 1500, "sm_util": 0.5, "sm_occupancy": null,
             "tensor_util": 0.25, "dram_util": 0.125}}
JSON
done
"$python" - "$scripts/gpu" "$made/results/about.json" <<'PYTHON'
import json, pathlib, sys
sys.path.insert(0, sys.argv[1])
import about
root = pathlib.Path(sys.argv[1]).parents[1]
json.dump({"schema": "mystique-sim/gpu/1", "kind": "fake",
           "device": "FAKE GPU", "torch": "none", "processor": "made up",
           "cpus": 2, "commit": None, "sources": about.sources(root),
           "date": "2026-11-26T12:00:00Z"}, open(sys.argv[2], "w"))
PYTHON
bundle() {
    for name in captures results journals kernels; do
        tar -C "$made/$name" -cf "$folder/back/$name.tar" .
    done
}
bundle

# Predictions from the same execution traces.
printf 'gpt2 --model gpt2\ndlrm --model dlrm\n' >"$folder/jobs"
"$python" "$scripts/gpu/blind.py" --jobs "$folder/jobs" --binary "$sim" \
    --captures "$made/captures" --platform h100 --out "$folder/back/blind.csv" \
    >"$folder/out" || complain "no predictions: $(<"$folder/out")"
want=$("$sim" --platform h100 --costs model --json "$made/captures/gpt2/et" |
    sed -nE 's/^ *"kernel_us": \{"predicted": ([0-9]+).*/\1/p')
grep -q "^h100,gpt2,--model gpt2,kernel_us,${want}[.,]" "$folder/back/blind.csv" ||
    complain "not the prediction of $want us: $(<"$folder/back/blind.csv")"

# ---- what it becomes -----------------------------------------------------------

finish_to() { # ARGUMENT...: fills rc
    rc=0
    MYSTIQUE_SIM=$sim PYTHON=$python "$scripts/on_gpu.sh" finish "$@" \
        >"$folder/out" 2>"$folder/err" || rc=$?
}
state() { # of the checkout's figures
    cat "$SOURCE_DIR/docs/gpu.md" "$SOURCE_DIR"/tests/accuracy/gpu/* | cksum
}
before=$(state)
finish_to "$folder/back"
[ "$rc" -eq 3 ] || complain "a rehearsal goes into the checkout: exit $rc"
grep -q "'FAKE GPU' is no GPU that was measured: want --out" "$folder/err" ||
    complain "$(<"$folder/err")"

finish_to "$folder/back" --out "$folder/home"
[ "$rc" -eq 0 ] || complain "exit $rc: $(<"$folder/err")"
[ "$(state)" = "$before" ] || complain "the checkout was changed"
home=$folder/home/tests/accuracy/gpu
for file in about.json platform.json learned.json fits.txt blind.csv jobs.csv \
    compare.csv learned.csv evaluation.csv validated.csv repeats.csv \
    sustained.csv held.csv rows/gemm.csv.gz rows/vector.csv.gz et/gpt2.json.gz; do
    [ -s "$home/$file" ] || complain "no $file"
done
for text in "A rehearsal without a GPU" "h100.*commit" "| gpt2 | kernels, ms |" \
    "| here | kernels | 2 |" "| cuda gemm |" "| made_up | 3 |" \
    "| gpt2 | benchmark | 2.500 .*| 0.5000 |.*| yes |" "| dlrm | replay, in a row |" \
    "| gpt2: kernel_us | 1 | 1.0000 |" "| cuda: gemm |" "^### Products in a row"; do
    grep -q "$text" "$folder/home/docs/gpu.md" || complain "the page has no '$text'"
done
if command -v gnuplot >/dev/null; then
    for chart in blind dlrm; do
        grep -q "<svg" "$folder/home/docs/gpu/$chart.svg" || complain "no $chart.svg"
    done
fi
# the machine had no git, but these sources
! git -C "$SOURCE_DIR" rev-parse >/dev/null 2>&1 ||
    ! grep -q '"measured_commit": null' "$home/about.json" || complain "no commit"
# the platform predicts what was timed on it
run op --platform "$home/platform.json" "$home/rows/gemm.csv.gz"
want_rc 0
grep -q '^h100,gpt2,kernel_us,[0-9.]*,'"$want" "$home/jobs.csv" ||
    complain "$(<"$home/jobs.csv")"

# ---- what is held ----------------------------------------------------------------

held() {
    "$python" "$scripts/gpu/held.py" --binary "$sim" --check "$home" 2>"$folder/err"
}
held || complain "not as it was a moment ago: $(<"$folder/err")"
sed -i -E 's/^(h100,job gpt2 kernel_us,1,)[0-9.]+/\11.0/' "$home/held.csv"
! held || complain "another error is not seen"
grep -q "job gpt2 kernel_us: " "$folder/err" || complain "$(<"$folder/err")"

# ---- less came back ----------------------------------------------------------------

rm "$folder/back/kernels.tar" "$folder/back/journals.tar"
finish_to "$folder/back" --out "$folder/less"
[ "$rc" -eq 1 ] || complain "with two bundles: exit $rc"
grep -q "^finish.py: calibrate: no calibration came back" "$folder/err" &&
    grep -q "^finish.py: learn: no kernels came back" "$folder/err" ||
    complain "$(<"$folder/err")"
grep -q "| gpt2 | kernels, ms |" "$folder/less/docs/gpu.md" ||
    complain "captures alone make no page"
truncate -s 3000 "$folder/back/captures.tar"
finish_to "$folder/back" --out "$folder/broken"
[ "$rc" -eq 3 ] || complain "a broken bundle: exit $rc"
grep -q "^finish.py: .*captures.tar: " "$folder/err" || complain "$(<"$folder/err")"
finish
