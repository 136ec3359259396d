#!/usr/bin/env bash
# learn APP.json --runs DIR: what it prints of runs held back, the model that
# watch reads, and what is refused.
. "$(dirname "$0")/hold.bash"
hold_runs
command -v python3 >/dev/null || { echo "no python3: skipped"; exit 77; }
[ -x "$(dirname "$sim")/msim-learn" ] || { echo "no XGBoost: skipped"; exit 77; }

cat >"$folder/app.json" <<'JSON'
{"schema": "mystique-sim/app/1", "name": "one",
 "slo": [{"class": "all", "metric": "e2e", "percentile": 99, "limit_ms": 50}],
 "classes": [{"name": "all", "share": 1}],
 "arrivals": {"process": "poisson", "rate": 100},
 "stages": {"only": {"kind": "measured", "service": 10, "workers": 4}},
 "flow": {"start": "only", "edges": []}}
JSON

# Load rises now and then; the queue shows it three seconds before the p99 does,
# and the p99 of single seconds is noise.
mkdir "$folder/runs"
python3 - "$folder/runs" <<'PYTHON'
import random, sys
for run in range(4):
    rng = random.Random(run)
    load, out = 0, ["t,stage,arrivals,queue,busy,replicas,mean_ms,p99_ms,self_ms,wait_ms"]
    past = [0] * 15
    for i in range(150 * 5):
        if i % 75 == 0:
            begins = i + rng.randint(10, 50)
        load = max(0, min(1, (i - begins) / 20)) if i - begins < 40 else 0
        past = past[1:] + [load]
        wait = 1 + 20 * load
        late = 20 + 45 * past[0] + rng.uniform(-8, 8)
        t = (i + 1) / 5
        out.append("%.1f,only,20,%.1f,%.3f,2,%.2f,%.2f,10,%.2f" % (
            t, 20 * load, 0.5 + 0.4 * load, 10 + wait, 30, wait * rng.uniform(.9, 1.1)))
        out.append("%.1f,e2e,20,3,,,%.2f,%.2f,," % (t, late / 2, late))
    open("%s/%d.csv" % (sys.argv[1], run), "w").write("\n".join(out) + "\n")
PYTHON

run learn "$folder/app.json" --runs "$folder/runs" -o "$folder/model.json" --json
want_rc 0
want_no_err
python3 - "$folder/out" <<'PYTHON' || complain "the figures are wrong: $out"
import json, sys
f = json.load(open(sys.argv[1]))
assert f["schema"] == "mystique-sim/learned/1" and f["horizon_s"] == 5, f
assert f["runs"] == 4 and f["parts"] == 4, f
# The queue tells of what the last p99 does not.
assert f["auc"]["trees"] > 0.9 > f["auc"]["persistence"] + 0.1, f["auc"]
assert f["auc"]["majority"] == 0.5
assert f["calibration_error"]["trees"] < 0.1, f
assert f["p99_error"]["trees"] < f["p99_error"]["persistence"], f
PYTHON
cp "$folder/model.json" "$folder/first.json"
run learn "$folder/app.json" --runs "$folder/runs" -o "$folder/model.json"
want_rc 0
want_out "AUC on calm seconds"
cmp -s "$folder/model.json" "$folder/first.json" || complain "another run, another model"

# ---- what watch makes of it --------------------------------------------------
run watch "$folder/app.json" --counters "$folder/runs/0.csv" --model "$folder/model.json" --csv
want_rc 0
awk -F, 'NR > 1 { n++; if ($2 > 0.8) high++; if ($2 < 0.2) low++ }
    END { exit !(n == 150 && high > 10 && low > 50) }' <<<"$out" ||
    complain "p_violation tells nothing apart"
run watch "$folder/app.json" --counters "$folder/runs/0.csv" --model "$folder/model.json" --horizon 9
want_rc 2
want_err "was learned for 5 s"
sed 's/"only"/"other"/g; s/"one"/"two"/' "$folder/app.json" >"$folder/two.json"
run watch "$folder/two.json" --counters "$folder/runs/0.csv" --model "$folder/model.json"
want_rc 3
want_err 'app is "one", want a model of "two"'
python3 - "$folder/model.json" "$folder/cut.json" <<'PYTHON'
import json, sys
m = json.load(open(sys.argv[1]))
m["violation"]["leaves"] = m["violation"]["leaves"][:40]
json.dump(m, open(sys.argv[2], "w"))
PYTHON
run watch "$folder/app.json" --counters "$folder/runs/0.csv" --model "$folder/cut.json"
want_rc 3
want_err "violation holds no whole trees"

# ---- what is refused ---------------------------------------------------------
run learn "$folder/app.json" -o "$folder/model.json"
want_rc 2
want_err "--runs is missing"
run learn "$folder/app.json" --runs "$folder/runs"
want_rc 2
want_err "-o is missing"
mkdir "$folder/none"
run learn "$folder/app.json" --runs "$folder/none" -o "$folder/new.json"
want_rc 3
want_err "no file ends in .csv"
cp "$folder/runs/0.csv" "$folder/none"
run learn "$folder/app.json" --runs "$folder/none" -o "$folder/new.json"
want_rc 3
want_err "one run, want two or more"
for i in 1 2; do # runs in which nothing violates
    awk -F, -v OFS=, 'NR > 1 { $8 = 20 } { print }' "$folder/runs/$i.csv" >"$folder/none/$i.csv"
done
rm "$folder/none/0.csv"
run learn "$folder/app.json" --runs "$folder/none" -o "$folder/new.json"
want_rc 3
want_err "0 of them before a violation"
[ ! -e "$folder/new.json" ] || complain "a model of nothing was written"
run learn "$folder/app.json" --runs "$folder/runs" -o "$folder/runs/0.csv"
want_rc 2
want_err "0.csv"

finish
