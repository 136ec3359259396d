#!/usr/bin/env bash
# calibrate and replay by name on a GPU that is made up, beside programs of this
# build: what comes of it says that it is made up, and is that GPU's.
. "$(dirname "$0")/../cli/lib.bash"

fake=${BUILD_DIR:?the build folder}/fake_gpu
samples=${SOURCE_DIR:?the source folder}/data/traces
export ASAN_OPTIONS=detect_leaks=0

# Backends are looked for beside the program.
mkdir "$folder/bin"
cp "$BUILD_DIR/mystique-sim" "$folder/bin/"
ln -s "$fake/mystique-prof-cuda" "$folder/bin/"
sim=$folder/bin/mystique-sim

# Of two samples each operator that it has a routine for, and the bytes of
# others.
for sample in resnet gpt2; do
    run replay --backend cuda --iterations 3 --json -o "$folder/$sample.json" \
        "$samples/$sample"
    want_rc 0
    want_out '"device": "FAKE GPU'
    cp "$folder/out" "$folder/cold.json"
    run replay --backend cuda --iterations 3 --json --cache warm \
        "$samples/$sample"
    want_rc 0
    want_out '"cache": "warm"'
    cp "$folder/out" "$folder/warm.json"
    python3 - "$folder/cold.json" "$folder/warm.json" <<'END' ||
import json, sys

cold, warm = (json.load(open(path)) for path in sys.argv[1:])
assert cold["step_us"] != warm["step_us"], "caches make no difference"
for r in cold, warm:
    assert 0.5 < r["together_us"] / r["step_us"] < 2, r["together_us"]
    how = {part["run"]: part for part in r["coverage"]}
    assert how["native"]["share"] > 0.2, how
    assert how["not run"]["operators"] == 0, how
END
        complain "replay of $sample"
    grep -q '"FAKE GPU' "$folder/$sample.json" ||
        complain "the trace does not say what ran it"
    run info "$folder/$sample.json"
    want_rc 0
done

if [ ! -x "$BUILD_DIR/msim-calibrate" ]; then
    echo "built without XGBoost: no calibration"
    finish
    exit
fi
cp "$BUILD_DIR/msim-calibrate" "$folder/bin/"
# A busy machine gets to less in the time: the journal goes on with more of it.
for budget in 0.1 0.4 1.6; do
    run calibrate --backend cuda --budget "$budget" --out "$folder/mine.json"
    [ "$rc" -eq 0 ] && [ "$(grep -c '"time_us"' "$folder/mine.journal.jsonl")" -gt 100 ] && break
done
want_rc 0
want_out "errors on held-out rows"
run platforms "$folder/mine.json"
want_rc 0
want_out "FAKE GPU"
python3 - "$folder/mine.json" "$folder/mine.journal.jsonl" <<'END' ||
import json, sys

platform = json.load(open(sys.argv[1]))
entries = [json.loads(line) for line in open(sys.argv[2])]
rows = [e for e in entries if "time_us" in e.get("answer", {})]
errors = [e["answer"]["error"] for e in entries
          if "error" in e.get("answer", {})]
assert len(rows) > 100, f"{len(rows)} rows"
assert not errors, errors[:3]
assert not any(e["experiment"]["table"] == "collective" for e in rows), \
    "collectives of one GPU"
# What is written stays in the cache for a while: it moved no bytes yet.
bandwidth = platform["data_sheet"]["memory_bandwidth"]["value"]
assert 2.7e12 < bandwidth <= 3e12, bandwidth
END
    complain "the platform"
printf 'm,n,k,dtype,framework\n4096,4096,4096,bfloat16,cuda\n' \
    >"$folder/one.csv"
run op --platform "$folder/mine.json" "$folder/one.csv"
want_rc 0
# as fake_cublas.c has it: 2 * 4096^3 / 800e12 s and 2 us
us=$(sed -nE '2s/^.*cuda,([0-9]+).*/\1/p' "$folder/out")
[ "${us:-0}" -gt 150 ] && [ "${us:-0}" -lt 200 ] ||
    complain "predicted '$us' us, want about 174"

finish
