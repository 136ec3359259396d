#!/usr/bin/env bash
# The scripts that go to a machine with a GPU: what they refuse, and captures
# compared with what a platform predicts, on samples that a CPU recorded.
. "$(dirname "$0")/lib.bash"

scripts=${SOURCE_DIR:?the source folder}/scripts
samples=$SOURCE_DIR/data/traces
last=on_gpu.sh

"$scripts/on_gpu.sh" --help >"$folder/out" || complain "--help fails"
grep -q -- "--out DIR" "$folder/out" || complain "no help: $(<"$folder/out")"
for arguments in "" "--out" "--sideways 3"; do
    rc=0
    # shellcheck disable=SC2086 # several words
    "$scripts/on_gpu.sh" $arguments >/dev/null 2>"$folder/err" || rc=$?
    [ "$rc" -eq 2 ] || complain "'$arguments' exits $rc, want 2"
    grep -q -- "--out DIR" "$folder/err" || complain "'$arguments': no usage"
done

command -v python3 >/dev/null || { finish; exit; }
cat >"$folder/cpu.json" <<'JSON'
{"name": "mine", "generation": "zen4", "kind": "cpu", "data_sheet": {
  "fp32_flops": 3e11, "fp16_flops": 3e11, "sms": 2, "memory_bytes": 2e10,
  "l2_bytes": 3e7, "memory_bandwidth": 3e10}}
JSON
cat >"$folder/journal" <<'JSON'
{"schema": "mystique-sim/calibration/1"}
{"backend": "made-up", "seconds": 1, "experiment": {"table": "gemm", "dtype": "fp32", "m": 4096, "n": 4096, "k": 4096}, "answer": {"time_us": 9000}}
{"backend": "made-up", "seconds": 1, "experiment": {"table": "gemm", "dtype": "fp32", "m": 4096, "n": 4096, "k": 4}, "answer": {"error": "no"}}
JSON
# Stopped in the middle: said, and what there was is there.
cat >"$folder/python" <<'SH'
#!/bin/sh
sleep 60
SH
chmod +x "$folder/python"
echo '{"schema":"mystique-sim/calibration/1"}' >"$folder/here.journal.jsonl"
tar -C "$folder" -czf "$folder/before.tar.gz" here.journal.jsonl
mkdir "$folder/tmp"
TMPDIR=$folder/tmp PYTHON=$folder/python "$scripts/on_gpu.sh" --device cpu \
    --libraries "$folder/none" --resume "$folder/before.tar.gz" \
    --out "$folder/stopped" >"$folder/out" 2>&1 &
pid=$!
for _ in $(seq 100); do
    ! grep -qs cmake "$folder"/tmp/*/said || break
    sleep 0.1
done
began=$SECONDS
kill $pid
rc=0
wait $pid || rc=$?
[ "$rc" -eq 1 ] || complain "stopped, it exits $rc, want 1: $(<"$folder/out")"
[ $((SECONDS - began)) -lt 20 ] || complain "it did not heed the signal"
grep -q "^== about: stopped by a signal" "$folder/stopped/report.txt" ||
    complain "not reported: $(<"$folder/stopped/report.txt")"
tar -xOzf "$folder/stopped/calibration.tar.gz" here.journal.jsonl |
    cmp -s - "$folder/here.journal.jsonl" || complain "the journal is lost"
[ -z "$(ls "$folder/tmp")" ] || complain "left behind: $(ls "$folder/tmp")"

# Up to the calibration, with a machine that is made up: kernels come before the
# build, and a platform is learned from them. What is run is this build's.
rehearse() {
    local stubs=$folder/stubs real pid until=$((SECONDS + 120))
    real=$(command -v python3)
    mkdir -p "$stubs" "$folder/recorded" "$folder/rehearsed"
    "$real" "$SOURCE_DIR/profilers/torch/record_kernels.py" --device cpu \
        --rounds 2 --only scan --out "$folder/recorded" >"$folder/out" 2>&1 ||
        complain "nothing is recorded: $(tail -3 "$folder/out")"
    for trace in "$folder"/recorded/*; do
        "$real" "$SOURCE_DIR/tests/kernels/as_on_gpu.py" "$trace" "$trace"
    done
    cat >"$stubs/cmake" <<SH
#!/bin/sh
while [ \$# -gt 0 ]; do
    [ "\$1" != -B ] || { mkdir -p "\$2" && ln -sf "$sim" "\$2/"; }
    shift
done
SH
    cat >"$stubs/nvidia-smi" <<'SH'
#!/bin/sh
case $1 in *compute_cap*) echo 9.0 ;; *) echo "NVIDIA H100 80GB HBM3" ;; esac
SH
    cat >"$stubs/ctest" <<'SH'
#!/bin/sh
exit 8
SH
    cat >"$stubs/python" <<SH
#!/bin/sh
case \$* in
*record_kernels.py*--device\ cuda*--out*)
    while [ \$# -gt 1 ]; do shift; done
    mkdir -p "\$1" && cp "$folder"/recorded/* "\$1" ;;
*) exec "$real" "\$@" ;;
esac
SH
    chmod +x "$stubs"/*
    PATH=$stubs:$PATH PYTHON=$stubs/python TMPDIR=$folder/tmp \
        "$scripts/on_gpu.sh" --device cuda --libraries "$folder/none" \
        --out "$folder/rehearsed" >"$folder/out" 2>&1 &
    pid=$!
    until grep -qs '^== tests' "$folder/rehearsed/report.txt" ||
        [ "$SECONDS" -gt "$until" ]; do
        sleep 0.2
    done
    # bash loses a signal that comes while it expands $(...)
    while kill $pid 2>/dev/null; do
        sleep 1
    done
    [ "$(sed -n 's/^== \([a-z]*: exit [0-9]*\).*/\1/p' \
        "$folder/rehearsed/report.txt" | head -5 | paste -sd' ')" = \
        "about: exit 0 kernels: exit 0 build: exit 0 learn: exit 0 tests: exit 8" ] ||
        complain "wrong steps: $(<"$folder/rehearsed/report.txt")"
    tar -tzf "$folder/rehearsed/kernels.tar.gz" >"$folder/out" ||
        complain "no kernels are left"
    for file in kernels/scan-0.json.gz kernels/scan-1.json.gz learned.json; do
        grep -qx "$file" "$folder/out" || complain "no $file: $(<"$folder/out")"
    done
    grep -q '"vector argmax\|"vector cumsum' "$folder/rehearsed/platform.json" ||
        complain "no learned platform"
}
if python3 -c 'import torch' 2>/dev/null; then
    last="on_gpu.sh with a GPU that is made up"
    rehearse
fi

last=compare_captures.py
# What is no capture is said, and leaves the others.
python3 "$scripts/capture/compare_captures.py" --binary "$sim" --out "$folder/rows.csv" \
    --platform "$folder/cpu.json" --shipped a100 --journal "$folder/journal" \
    --host "$SOURCE_DIR/data/hosts/generic.json" \
    "$samples/gpt2" "$samples/resnet" "$folder" >"$folder/out" \
    2>"$folder/err" || complain "fails: $(<"$folder/err")"
grep -q "$folder.*meta.json" "$folder/err" || complain "$(<"$folder/err")"
[ "$(grep -c '^cpu.json,.*,iteration_us,1,' "$folder/rows.csv")" -eq 2 ] ||
    complain "$(<"$folder/rows.csv")"
grep -q '^a100,gemm made-up:fp32,median of rows,1,' "$folder/rows.csv" ||
    complain "$(<"$folder/rows.csv")"
grep -q "mean error .* of 2 captures" "$folder/out" || complain "$(<"$folder/out")"

finish
