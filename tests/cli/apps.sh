#!/usr/bin/env bash
# `apps`: a suite at every point of a sweep: what is feasible, what no other
# point beats, which rules hold; the same bytes for any number of threads.
. "$(dirname "$0")/lib.bash"

app() { # NAME STAGE: one stage, 10 requests a second, evenly
    cat >"$folder/suite/$1.json" <<END
{"schema": "mystique-sim/app/1", "name": "$1",
 "slo": [{"class": "all", "metric": "e2e", "percentile": 99, "limit_ms": 1000}],
 "classes": [{"name": "all", "share": 1${3:-}}],
 "arrivals": {"process": "constant", "rate": 10},
 "stages": {"work": $2},
 "flow": {"start": "work", "edges": []}}
END
}
mkdir "$folder/suite"
app plain '{"kind": "measured", "service": 50, "price_per_hour": 3.6, "power_w": 100}'
app served '{"kind": "llm", "model": "llama3-8b", "platform": "h100", "engine": "vllm", "price_per_hour": 3, "power_w": 1000}' \
    ', "input_tokens": 200, "output_tokens": 20'
echo 'not an application' >"$folder/suite/README"

# 50 ms of each 100 ms: no queue, half of the worker. A worker an hour costs 3.6, so
# that 1,000 requests, which take 100 s, cost 0.1, and 100 W x 100 s are 2.78 Wh.
run apps "$folder/suite/plain.json" --json --num-requests 1001
want_rc 0
want_out '{"app": "plain", "scheduler": null, "platform": null, "rate": null, "replicas": null, "feasible": true, "reason": null, "arrived_rps": 10'
python3 - "$folder/out" <<'END' || complain "not the figures of a stage that is half busy"
import json, sys
p = json.load(open(sys.argv[1]))["points"][0]
near = lambda a, b: abs(a / b - 1) < 0.005
assert near(p["p50_ms"], 50) and near(p["p99_ms"], 50), p
assert near(p["cost_per_1000"], 0.1) and near(p["energy_wh_per_1000"], 1000 / 360), p
assert near(p["stages"]["work"]["utilisation"], 0.5) and p["stages"]["work"]["critical_share"] == 1, p
assert p["gpus"] == 0 and p["pareto"], p
END

# Of the plain stage, which has no GPU, only the rate can be swept: 30 requests a
# second are more than it bears. Of the model all can.
cat >"$folder/sweep.json" <<'END'
{"scheduler": [{"max_num_seqs": 8}, {"policy": "static", "max_num_seqs": 8}], "platform": ["h100", "a100"],
 "rate": [5, 30], "replicas": [1, 2], "price_per_hour": {"a100": 1.5}}
END
run apps "$folder/suite" --sweep "$folder/sweep.json" --json --num-requests 60 --threads 1
want_rc 0
cp "$folder/out" "$folder/one.json"
run apps "$folder/suite" --sweep "$folder/sweep.json" --json --num-requests 60 --threads 3
cmp -s "$folder/out" "$folder/one.json" || complain "another number of threads, other bytes"
python3 - "$folder/out" <<'END' || complain "not the points of the sweep"
import json, sys
r = json.load(open(sys.argv[1]))
points = r["points"]
assert len(points) == 32
for p in points:
    if p["app"] == "plain":
        assert p["feasible"] == (p["rate"] == 5), p
        assert (p["reason"] is None) == p["feasible"], p
        if p["rate"] == 30:
            assert p["reason"] == "overloaded: work bears 20 requests/s", p
    elif p["feasible"]:
        assert p["gpus"] == p["replicas"], p
        assert p["pareto"] == (not any(
            q["feasible"] and q["app"] == p["app"] and q["rate"] == p["rate"] and
            q["p99_ms"] <= p["p99_ms"] and q["cost_per_1000"] <= p["cost_per_1000"] and
            (q["p99_ms"], q["cost_per_1000"]) != (p["p99_ms"], p["cost_per_1000"]) for q in points)) or not p["pareto"], p
def of(**want):
    return next(p for p in points if all(p[k] == v for k, v in want.items()))
fast = {"app": "served", "rate": 5, "replicas": 1, "scheduler": {"max_num_seqs": 8}}
a, b = of(platform="h100", **fast), of(platform="a100", **fast)
assert a["p99_ms"] < b["p99_ms"]
assert abs(b["cost_per_1000"] / a["cost_per_1000"] - 0.5) < 0.1, (a, b)
busy = dict(fast, rate=30)
static = of(platform="h100", **dict(busy, scheduler={"policy": "static", "max_num_seqs": 8}))
assert static["p50_ms"] > of(platform="h100", **busy)["p50_ms"], static
for p in points:
    same = [q for q in points if (q["app"], q["rate"]) == (p["app"], p["rate"])]
    least = min((q["cost_per_1000"] for q in same if q["feasible"] and q["kept"] == "yes"), default=None)
    assert p["cheapest"] == (p["feasible"] and p["kept"] == "yes" and p["cost_per_1000"] == least and
                             p is next(q for q in same if q["feasible"] and q["kept"] == "yes" and q["cost_per_1000"] == least)), p
assert sum(p["cheapest"] for p in points) == 3
rules = {x["text"]: x for x in r["rules"]}
assert rules["a higher rate: the p99 is no shorter"]["of"] == 16
assert all(0 <= x["holds"] <= x["of"] for x in r["rules"])
assert any("fewer than 10,000 requests" in w for w in r["warnings"])
assert any("for another platform" in w for w in r["warnings"])
END

run apps "$folder/suite" --sweep "$folder/sweep.json" --num-requests 60 -o "$folder/swept" --csv
want_rc 0
cmp -s "$folder/out" "$folder/swept/points.csv" || complain "the folder has other points"
cmp -s "$folder/swept/apps.json" "$folder/one.json" || complain "the folder has another JSON"
run apps "$folder/suite" --sweep "$folder/sweep.json" --num-requests 60
want_rc 0
want_out "32 points of 2 applications; the cheapest that keeps its promises, at each rate:"
want_out "a higher rate: the p99 is no shorter"
echo mine >"$folder/swept/points.csv"
run apps "$folder/suite" -o "$folder/swept"
want_rc 2
want_err "points.csv"
[ "$(cat "$folder/swept/points.csv")" = mine ] || complain "a file of the user is gone"

# What does not fit is a point with a reason, not the end.
echo '{"platform": ["t4", "h100"]}' >"$folder/small.json"
run apps "$folder/suite/served.json" --sweep "$folder/small.json" --num-requests 20 --csv
want_rc 0
want_out 'served,,t4,,,no,'
want_out 'served,,h100,,,yes,'

refused() { # SWEEP WORDS
    echo "$1" >"$folder/bad.json"
    run apps "$folder/suite" --sweep "$folder/bad.json"
    want_rc 3
    want_err "$2"
}
refused '[]' "this is not a JSON object"
refused '{"rates": [1]}' "rates is not known, did you mean rate?"
refused '{"rate": []}' "rate is [], want a list of at least one"
refused '{"rate": [1, 0]}' "rate[1] is 0, want requests a second, above 0 and at most 1e9"
refused '{"replicas": [1.5]}' "replicas[0] is 1.5, want a whole number from 1 to 1000000"
refused '{"platform": ["h100", 3]}' "platform[1] is 3, want the name or file of a platform"
refused '{"scheduler": [{"zork": 1}]}' "served.json wrong: stages.work.batching.zork is not known"
refused '{"platform": ["zz"]}' "served.json wrong: stages.work: unknown platform 'zz'"
refused '{"scheduler": ["static"]}' 'scheduler[0] is "static", want members of batching'
run apps "$folder/suite" --sweep "$folder/none.json"
want_rc 3
mkdir "$folder/empty"
run apps "$folder/empty"
want_rc 3
want_err "has 0 files NAME.json, want applications"
sed -i 's/"share": 1/"share": 2/' "$folder/suite/plain.json"
run apps "$folder/suite"
want_rc 3
want_err "plain.json"
finish
