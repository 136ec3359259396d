#!/usr/bin/env bash
# `plan` of serving: how many replicas keep what was promised, as `serve` sees
# them; a promise that cannot be kept; the folder; what is refused.
. "$(dirname "$0")/lib.bash"

spec() { # MEMBERS...: in place of those of the same name
    python3 - "$folder/spec.json" "$@" <<'END'
import json
import sys

spec = {
    "workload": "serving", "model": "llama3-8b", "rate": 30, "requests": 600,
    "input_tokens": 500, "output_tokens": {"lognormal": {"mean": 60, "cv": 0.5}},
    "slo": [{"metric": "ttft", "percentile": 90, "limit_ms": 300},
            {"metric": "tpot", "percentile": 90, "limit_ms": 30}],
    "platforms": [{"name": "h100", "price_per_gpu_hour": 2.5, "power_w": 1000},
                  {"name": "l40s", "price_per_gpu_hour": 0.9}],
    "tp": 1}
for text in sys.argv[2:]:
    for name, value in json.loads(text).items():
        if value is None:
            spec.pop(name, None)
        else:
            spec[name] = value
json.dump(spec, open(sys.argv[1], "w"))
END
}
member() { # PATH: of plan.json, as Python says it
    python3 -c 'import json, sys; print(eval("p" + sys.argv[2], {}, {"p": json.load(open(sys.argv[1]))}))' \
        "$folder/plan/plan.json" "$1"
}

spec '{"tp": [1, 16]}'
run plan "$folder/spec.json" -o "$folder/plan" --threads 1
want_rc 0
want_out "30 requests/s to llama3-8b: TTFT p90 within 300 ms, TPOT p90 within 30 ms"
want_out "take "
want_out "written: $folder/plan/report.html"
cp "$folder/plan/plan.json" "$folder/first.json"
cp "$folder/plan/points.csv" "$folder/first.csv"
grep -q '^platform,gpus,replicas,gpus_per_replica,tp,' "$folder/plan/points.csv" ||
    complain "no header: $(head -1 "$folder/plan/points.csv")"
grep -q '<h1>Plan of llama3-8b</h1>' "$folder/plan/report.html" ||
    complain "no page"
[ "$(member '["sure"]')" = True ] || complain "the plan is not sure"
[ "$(member '["recommended"]["of_limit"]["high"] <= 1')" = True ] ||
    complain "what is sure breaks a promise at the end of its interval"
[ "$(member '["recommended"]["cost_per_hour"] == p["recommended"]["gpus"] * {"h100": 2.5, "l40s": 0.9}[p["recommended"]["platform"]]')" = True ] ||
    complain "not the cost of its GPUs"

# The same bytes for any number of threads, and over what an earlier run wrote.
run plan "$folder/spec.json" -o "$folder/plan" --threads 3
want_rc 0
cmp -s "$folder/plan/plan.json" "$folder/first.json" ||
    complain "other bytes with three threads"
cmp -s "$folder/plan/points.csv" "$folder/first.csv" ||
    complain "other points with three threads"

# The fewest that keep the promises as predicted: `serve` agrees on both sides.
spec '{"rate": 300, "platforms": ["h100"], "requests": 3000}'
run plan "$folder/spec.json" -o "$folder/plan"
want_rc 0
n=$(awk -F, 'NR == 2 {print $3}' "$folder/plan/points.csv")
cat >"$folder/app.json" <<'END'
{"schema": "mystique-sim/app/1",
 "slo": [{"metric": "ttft", "percentile": 90, "limit_ms": 300},
         {"metric": "tpot", "percentile": 90, "limit_ms": 30}],
 "classes": [{"name": "all", "share": 1, "input_tokens": 500,
              "output_tokens": {"lognormal": {"mean": 60, "cv": 0.5}}}],
 "stages": {"s": {"kind": "llm", "call": "queue", "model": "llama3-8b",
                  "platform": "h100"}}}
END
[ "$n" -gt 1 ] || complain "$n replicas, want several"
for replicas in "$n" $((n - 1)); do
    share=$(python3 -c "print(300 / $replicas)")
    run serve "$folder/app.json" --rate "$share" --num-requests 3000 \
        --warmup "$(python3 -c "print(600 / $share)")" --json
    want_rc 0
    kept=$(python3 -c '
import json, sys
c = json.load(open(sys.argv[1]))["classes"]["all"]
print(c["ttft_ms"]["p90"] <= 300 and c["tpot_ms"]["p90"] <= 30)' "$folder/out")
    [ "$kept" = "$([ "$replicas" = "$n" ] && echo True || echo False)" ] ||
        complain "$replicas of $n replicas: kept is $kept"
done

# The end of the interval: steps that all take f times as long, which is a run
# under f times the rate, f times as slow.
slow=$(member '["recommended"]["replica_capacity_rps"]["high"] / p["recommended"]["replica_capacity_rps"]["value"]')
share=$(python3 -c "print(300 / $(member '["recommended"]["replicas"]') * $slow)")
run serve "$folder/app.json" --rate "$share" --num-requests 3000 \
    --warmup "$(python3 -c "print(600 / $share)")" --json
want_rc 0
python3 - "$folder/out" "$slow" "$(member '["recommended"]["ttft_p90_ms"]["high"]')" <<'END' ||
import json
import sys

ms = json.load(open(sys.argv[1]))["classes"]["all"]["ttft_ms"]["p90"]
slow, high = float(sys.argv[2]), float(sys.argv[3])
sys.exit(not (slow > 1.05 and abs(ms * slow / high - 1) < 0.02))
END
    complain "not the run of a slower clock"

# A promise that no number of GPUs keeps, a model that does not fit, limits.
spec '{"slo": [{"metric": "ttft", "percentile": 90, "limit_ms": 2}]}'
run plan "$folder/spec.json" -o "$folder/plan"
want_rc 1
want_err "no number of replicas keeps the promises; the nearest is h100, tp 1: ttft p90 of a lone request is "
[ "$(member '["recommended"]')" = None ] || complain "something is recommended"
spec '{"model": "llama3.1-405b"}'
run plan "$folder/spec.json"
want_rc 1
want_err "GiB"
spec '{"limits": {"gpus": 0.5}}'
run plan "$folder/spec.json"
want_rc 1
want_err "does not keep the limits of the spec"

refused() { # TEXT MEMBERS...
    local text=$1
    shift
    spec "$@"
    run plan "$folder/spec.json"
    want_rc 3
    want_no_out
    want_err "spec.json: $text"
}
refused 'tp[1] is 0, want ' '{"tp": [1, 0]}'
refused 'precision is "fp7", want ' '{"precision": "fp7"}'
refused 'max_num_seqs[0] is -4, want ' '{"max_num_seqs": [-4]}'
refused 'rate is missing, want requests a second' '{"rate": null}'
refused 'slo is missing, want promises' '{"slo": null}'
refused 'slo is [], want at least one promise' '{"slo": []}'
refused 'slo[0].percentile is 0.9, want ' \
    '{"slo": [{"metric": "ttft", "percentile": 0.9, "limit_ms": 5}]}'
refused 'input_tokens is missing, want ' '{"input_tokens": null}'
refused 'input_tokens is 500, want none beside "classes"' \
    '{"classes": [{"name": "a", "share": 1, "input_tokens": 5, "output_tokens": 5}]}'
refused 'arrivals.process is "log", want ' '{"arrivals": {"process": "log"}}'
refused "model: no model 'llama9'" '{"model": "llama9"}'
refused "platforms[1]: unknown platform 'h9000'" '{"platforms": ["h100", "h9000"]}'
refused 'platforms[0].prise is not known, want name, price_per_gpu_hour or power_w' \
    '{"platforms": [{"name": "h100", "prise": 1}]}'
refused 'limits.days is not known' '{"limits": {"days": 3}}'
refused 'tokens is not known' '{"tokens": 1000}'
refused 'the spec has 8 configurations, and "most_points" is 4' \
    '{"tp": [1, 2, 4, 8], "most_points": 4}'

finish
