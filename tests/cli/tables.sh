#!/usr/bin/env bash
# Tables and JSON of one answer: as many fields as columns, the same figures in both,
# each inside its interval, and sums, products and ratios that are what they are of.
. "$(dirname "$0")/lib.bash"

command -v python3 >/dev/null || { echo "no python3: skipped"; exit 77; }
traces=${MSIM_DATA:?the data folder}/traces

# judge WHAT FILE...: a program on standard input, which has the files' content:
# tables as lists of dictionaries, JSON as it is.
judge() {
    cat >"$folder/judge.py"
    PYTHONPATH=$folder python3 - "$folder/judge.py" "${@:2}" <<'PYTHON' || complain "$1"
import csv, json, math, sys


def table(path):
    header, *rows = csv.reader(open(path))
    for row in rows:
        assert len(row) == len(header), f"{path}: {len(header)} columns, {row}"
    assert rows, f"{path} is empty"
    return [dict(zip(header, row)) for row in rows]


def near(a, b, why, most=1e-4):
    assert abs(float(a) - b) <= most * max(abs(b), 1e-9), f"{why}: {a}, want {b}"


def inside(low, value, high, why):
    assert 0 < float(low) <= float(value) <= float(high), f"{why}: {low} {value} {high}"


def expected_cost(p):  # under the interval of the step, log-normal
    sd = math.log(float(p["high_ms"]) / float(p["low_ms"])) / 2 / 1.645
    return float(p["cost"]) * math.exp(sd * sd / 2)


files = [json.load(open(p)) if p.endswith("json") else table(p) for p in sys.argv[2:]]
exec(compile(open(sys.argv[1]).read(), sys.argv[1], "exec"))
PYTHON
}
keep() { # FILE ARGUMENT...: what they print
    run "${@:2}"
    want_rc 0
    cp "$folder/out" "$folder/$1"
}

# ---- plan: the table is what the JSON and the page say -----------------------

echo '{"model": "llama3-8b", "global_batch": 64, "tokens": 1e9, "gpus": [8, 16], "platforms": [
    {"name": "h100", "price_per_gpu_hour": 2, "power_w": 1000}, "a100"]}' >"$folder/spec.json"
run plan "$folder/spec.json" -o "$folder/plan"
want_rc 0
judge "a plan's points" "$folder/plan/points.csv" "$folder/plan/frontier.csv" "$folder/plan/plan.json" <<'PY'
points, frontier, plan = files
assert len(points) == plan["feasible"]
for p in points:
    inside(p["low_ms"], p["predicted_ms"], p["high_ms"], p)
    assert int(p["gpus"]) == int(p["tp"]) * int(p["pp"]) * int(p["cp"]) * int(p["dp"]), p
    assert int(p["nodes"]) == int(p["gpus"]) / 8, p
    assert 64 == int(p["dp"]) * int(p["micro_batch"]) * int(p["grad_accum"]), p
    near(p["tokens_per_second"], 64 * 4096 / float(p["predicted_ms"]) * 1e3, p)
    near(p["days"], 1e9 / float(p["tokens_per_second"]) / 86400, p)
    assert 0 < float(p["mfu"]) < 1, p
    if p["platform"] == "h100":  # $2 and 1 kW an hour and GPU
        near(p["cost"], float(p["days"]) * 24 * int(p["gpus"]) * 2, p)
        near(p["kwh"], float(p["days"]) * 24 * int(p["gpus"]), p)
for f in frontier:  # none is both shorter and cheaper
    assert f in points
    assert not any(p["cost"] and float(p["days"]) < float(f["days"]) and
                   float(p["cost"]) < float(f["cost"]) for p in points if p["keeps_limits"] == "1"), f
best = plan["recommended"]
like = [p for p in points if all(str(best[k]) == p[k] for k in list(p)[:17])]
assert len(like) == 1
near(like[0]["predicted_ms"], best["step_us"]["predicted"] / 1e3, "step")
near(like[0]["low_ms"], best["step_us"]["low"] / 1e3, "low")
near(like[0]["high_ms"], best["step_us"]["high"] / 1e3, "high")
near(like[0]["predicted_memory_gib"], best["memory_bytes"]["peak"] / 2**30, "peak")
inside(best["memory_bytes"]["low"], best["memory_bytes"]["peak"], best["memory_bytes"]["high"], "memory")
near(sum(best["parts_us"].values()), best["step_us"]["predicted"], "parts")
near(expected_cost(like[0]), min(expected_cost(p) for p in points
                                 if p["cost"] and p["fits"] == "yes" and not p["guards"]), "least cost")
PY
# Limits: the point that is sure to keep them and is expected to cost least of those, and the
# frontier of those that keep them as predicted.
sed 's/"tokens"/"limits": {"days": 0.1, "memory_gib": 60}, "tokens"/' "$folder/spec.json" >"$folder/limits.json"
run plan "$folder/limits.json" -o "$folder/limited"
want_rc 0
judge "limits" "$folder/limited/points.csv" "$folder/limited/frontier.csv" "$folder/limited/plan.json" <<'PY'
points, frontier, plan = files
for p in points:
    keeps = float(p["days"]) <= 0.1 and float(p["predicted_memory_gib"]) <= 60
    assert keeps == (p["keeps_limits"] == "1"), p
kept = [p for p in points if p["keeps_limits"] == "1"]
assert 0 < len(kept) < len(points) and all(f in kept for f in frontier)
best = plan["recommended"]
sure = [p for p in kept if p["cost"] and p["fits"] == "yes" and not p["guards"] and math.log(
    0.1 / float(p["days"])) >= math.log(float(p["high_ms"]) / float(p["predicted_ms"]))]
cheapest = min(sure, key=expected_cost)
assert all(str(best[k]) == cheapest[k] for k in list(cheapest)[:17]), (best, cheapest)
PY

# The page as a list of texts: what stands between its tags, without charts.
python3 - "$folder/plan/report.html" >"$folder/page.json" <<'PY' || complain "a row of the page has other cells than its head"
import html, json, re, sys
page = re.sub(r"<(style|svg).*?</\1>", "", open(sys.argv[1]).read(), flags=re.S)
for table in re.findall(r"<table.*?</table>", page, re.S):  # as many cells as heads
    rows = [re.findall(r"<t[hd]\b[^>]*", row) for row in re.findall(r"<tr.*?</tr>", table, re.S)]
    for row in rows:
        spans = sum(int(span) for cell in row for span in re.findall(r"colspan=.?([0-9]+)", cell))
        assert len(row) + spans - ("colspan" in " ".join(row)) == len(rows[0]), row
texts = (html.unescape(t).strip() for t in re.split(r"<[^>]+>", page))
print(json.dumps([t for t in texts if t]))
PY
judge "a plan's page" "$folder/plan/plan.json" "$folder/plan/frontier.csv" "$folder/page.json" <<'PY'
import re
plan, frontier, page = files
best, text = plan["recommended"], " ".join(page)
step, memory = best["step_us"], best["memory_bytes"]
UNITS = {"s": 1, "ms": 1e-3, "k": 1e3, "M": 1e6}


def figures(what, n=1):
    """The numbers of the `n` texts behind `what`, by their units."""
    at = page.index(what)
    return [float(v) * UNITS.get(unit, 1) for v, unit in re.findall(
        r"([0-9.]+)(?: (ms|s|k|M)\b)?", " ".join(page[at + 1:at + 1 + n]).replace("90 %", ""))]


def card(what, value, low, high):
    said = figures(what, 2)
    for got, want in zip(said, (value, low, high)):
        near(got, want, f"{what}: {said}", 0.02 if want >= 1 else max(0.5, 0.051 / want))  # one decimal


ways = [plan[k] for k in ("points", "feasible", "no_memory", "not_split", "no_model")]
assert ways[0] == sum(ways[1:])
assert "{} ways were looked at: {} are feasible, {} do not fit into memory, {} cannot be split so, " \
    "{} have no model".format(*ways) in text
days = 1e9 / (64 * 4096) * step["predicted"] / 86400e6
low, high = step["low"] / step["predicted"], step["high"] / step["predicted"]
card("whole training", days, days * low, days * high)
cost = days * 24 * best["gpus"] * 2
card("cost", cost, cost * low, cost * high)
card("energy", cost / 2, cost / 2 * low, cost / 2 * high)
card("a step", *(step[k] / 1e6 for k in ("predicted", "low", "high")))
rate = 64 * 4096e6 / step["predicted"]
card("throughput", rate, rate / high, rate / low)
card("memory a GPU: it fits", *(memory[k] / 2**30 for k in ("peak", "low", "high")))
mfu, worst, most = figures("of the GPUs' peak (MFU)", 2)
near(worst, mfu / high, "least MFU", 0.02)
near(most, mfu / low, "most MFU", 0.02)
share = re.search(r" compute ([0-9.]+) %", text[text.index("Where a step goes"):])
near(share[1], 100 * best["parts_us"]["compute"] / step["predicted"], "compute", 0.02)
table = text[text.index("Frontier: what no other way"):text.index("What it stands on")]
for f in frontier:
    assert f"{float(f['predicted_memory_gib']):.1f}" in table, f
    assert f"{float(f['predicted_ms']) / 1e3:.2f} s" in table, f
    assert f"dp {f['dp']}" in table and f"zero {f['zero']}" in table, f
for name in ("h100", "a100"):
    rows = re.search(rf"{name} NVIDIA .*? fitted to ([0-9]+) measured rows", text)
    assert 1000 < int(rows[1]) < 1e7, rows
laws = re.findall(r"between ([0-9.]+) and ([0-9.]+) times the prediction", text)
assert len(laws) == 2 and all(float(a) < 1 < float(b) for a, b in laws), laws
kinds = re.findall(r"([0-9.]+) to ([0-9.]+)", text[text.index("unlike all rows"):text.index("Memory The peak")])
assert len(kinds) == 12 and all(float(a) < 1 < float(b) for a, b in kinds), kinds
held = re.search(r"the answer: ([0-9.]+) to ([0-9.]+)", text).groups()
assert held == laws[0], (held, laws)
near(held[0], low, "the least of the answer's kind", 0.01)
near(held[1], high, "the most of the answer's kind", 0.01)
PY

# ---- jobs by rows ------------------------------------------------------------

cat >"$folder/jobs.csv" <<'CSV'
source,model,platform,gpus,tp,micro_batch,global_batch,sequence,step_ms
nanotron,nanotron-1b,h100,8,1,2,256,4096,3264.558
other,llama3-8b,h100,16,2,1,128,8192,
other,llama3-8b,a100,16,2,1,128,8192,
CSV
keep rows.csv validate --rows "$folder/jobs.csv" --csv
judge "rows of jobs" "$folder/rows.csv" <<'PY'
for r in files[0]:
    inside(r["low_ms"], r["predicted_ms"], r["high_ms"], r)
    assert float(r["high_ms"]) < 4 * float(r["predicted_ms"]) < 16 * float(r["low_ms"]), r
PY

# ---- one trace ---------------------------------------------------------------

keep one.json --platform h100 --json "$traces/gpt2"
keep ops.csv --platform h100 --csv "$traces/gpt2"
judge "operators of a trace" "$folder/one.json" "$folder/ops.csv" <<'PY'
one, operators = files
inside(one["period_us"]["low"], one["period_us"]["predicted"], one["period_us"]["high"], "period")
near(sum(one["breakdown_us"].values()), one["iteration_us"]["predicted"], "breakdown")
for o in operators:
    inside(o["low_us"], o["predicted_us"], o["high_us"], o)
near(sum(float(o["predicted_us"]) for o in operators),
     one["kernel_us"]["predicted"] + one["breakdown_us"]["memory_copy"], "operators", 0.02)
PY

# ---- scenarios ---------------------------------------------------------------

echo '{"scenarios": [{"name": "half", "changes": [{"scale": {"select": "kernels", "factor": 0.5}}]},
    {"name": "a100", "changes": [{"gpu": "a100"}]}, {"name": "none", "changes": [{"overlap": true}]}]}' \
    >"$folder/changes.json"
keep whatif.csv whatif "$folder/changes.json" "$traces/gpt2" --platform h100 --csv
keep whatif.json whatif "$folder/changes.json" "$traces/gpt2" --platform h100 --json
judge "scenarios" "$folder/whatif.csv" "$folder/whatif.json" "$folder/one.json" <<'PY'
table, said, one = files
rows = [said["base"]] + said["scenarios"]
assert [r["scenario"] for r in table] == [r["name"] for r in rows]
for t, r in zip(table, rows):
    assert t["reason"] == (r["reason"] or "")
    if t["reason"]:
        assert not any(v for k, v in t.items() if k.endswith("_us"))
        continue
    for column in ("predicted", "low", "high"):
        suffix = "" if column == "predicted" else "_" + column
        near(t[f"period{suffix}_us" if suffix else "period_us"], r["period_us"][column], t)
        near(t["ratio" + suffix], r["ratio"][column], t)
    inside(t["period_low_us"], t["period_us"], t["period_high_us"], t)
    inside(t["ratio_low"], t["ratio"], t["ratio_high"], t)
    near(t["ratio"], float(t["period_us"]) / float(table[0]["period_us"]), t)
    near(t["iteration_us"], sum(float(t[k + "_us"]) for k in r["breakdown_us"]), t)
    for k, v in r["breakdown_us"].items():
        near(t[k + "_us"], v, t)
    near(t["kernel_us"], r["kernel_us"]["predicted"], t)
    memory = r["memory_bytes"]
    near(t["peak_bytes"], memory["peak"], t)
    near(t["reserved_bytes"], memory["reserved"], t)
    near(t["needed_bytes"], memory["reserved"] + memory["cuda_context"] + memory["nccl_buffers"], t)
    near(t["capacity_bytes"], memory["capacity"], t)
near(table[0]["period_us"], one["period_us"]["predicted"], "base")
near(table[1]["kernel_us"], one["kernel_us"]["predicted"] / 2, "half")
PY

# ---- two jobs ----------------------------------------------------------------

keep compare.csv compare "$traces/gpt2" "$traces/bert" --platform h100 --csv
judge "two jobs" "$folder/compare.csv" "$folder/one.json" <<'PY'
table, one = files
for r in table:
    if r["a_us"] and r["b_us"]:
        near(r["difference_us"], float(r["b_us"]) - float(r["a_us"]), r, 1e-6)
        if float(r["a_us"]) > 0 and r["ratio"]:
            near(r["ratio"], float(r["b_us"]) / float(r["a_us"]), r)
near(table[0]["a_us"], one["iteration_us"]["predicted"], "a")
PY

# ---- platforms ---------------------------------------------------------------

keep sweep.csv --platform h100,a100 --csv "$traces/gpt2"
keep sweep.json --platform h100,a100 --json "$traces/gpt2"
judge "platforms" "$folder/sweep.csv" "$folder/sweep.json" <<'PY'
table, said = files
assert len(table) == len(said["platforms"]) == 2
fastest = min(float(r["period_us"]) for r in table)
for r, p in zip(table, said["platforms"]):
    assert r["platform"] == p["platform"] and r["costs"] == p["costs"], r
    near(r["period_us"], p["period_us"]["predicted"], r)
    near(r["low_us"], p["period_us"]["low"], r)
    near(r["high_us"], p["period_us"]["high"], r)
    near(r["ratio"], float(r["period_us"]) / fastest, r)
    inside(r["ratio_low"], r["ratio"], r["ratio_high"], r)
    for k, v in p["breakdown_us"].items():
        near(r[k + "_us"], v, r)
PY
finish
