#!/usr/bin/env bash
# `serve`: figures of a run worked out by hand, the same bytes for any number of
# threads, a stage free of time, what is refused.
. "$(dirname "$0")/hold.bash"
hold_runs

cat >"$folder/app.json" <<'END'
{"schema": "mystique-sim/app/1", "name": "two",
 "slo": [{"class": "all", "metric": "e2e", "percentile": 90, "limit_ms": 20}],
 "classes": [{"name": "all", "share": 1}],
 "arrivals": {"process": "poisson", "rate": 300},
 "stages": {
  "gate": {"kind": "measured", "workers": 1, "call": "rpc", "service": 1,
           "price_per_hour": 3600},
  "work": {"kind": "measured", "replicas": 1, "call": "queue", "service": 10}},
 "flow": {"start": "gate", "edges": [{"from": "gate", "to": "work"}]}}
END
printf 't_s\n0\n0.001\n0.1\n' >"$folder/log.csv"

# The gate is held from 0 to 11 and from 11 to 22, then from 100 to 111; so the
# second waits 10 and takes 21, later than the 20 that were promised. Between 0
# and 100, the last arrival, the gate is held for 22, serves for 2, and has
# 1 + (10 + 1) in it; work is held for 20. The visits of that arrival come after.
run serve "$folder/app.json" --requests "$folder/log.csv" --json --threads 1
want_rc 0
for figure in '"requests": 3,' '"unfinished": 0,' \
    '"e2e_ms": {"mean": 14.333333333333334, "p50": 11, "p90": 19, "p99": 20.8, "low": null, "high": null}' \
    '"throughput_rps": 20,' '"goodput_rps": 10,' \
    '"violations": 0.3333333333333333,' '"late_requests": 1' \
    '"visits_per_s": 20,' '"utilisation": 0.22,' '"computing": 0.02,' \
    '"in_stage": 0.12,' '"utilisation": 0.2,' '"in_stage": 0.2,' \
    '"queue_ms": {"mean": 3.3333333333333335, "p50": 0, "p90": 8, "p99": 9.8, ' \
    '"self_ms": {"mean": 10, "p50": 10, "p90": 10, "p99": 10, ' \
    '"critical_share": 0.3023255813953488,' \
    '"critical_share": 0.6976744186046512,' '"cost": 0.1,' \
    '"gate": {"p99_ms": 18.82, "mean_ms": 13}' \
    '"work": {"p99_ms": 1, "mean_ms": 1}' '"saturated": []' \
    '"p50 of all is rough: of 3 requests, want 200"'; do
    want_out "$figure"
done

# Nothing ends in the millisecond from the first to the last arrival: 0 a second would
# say that nothing is served.
printf 't_s\n0\n0.001\n' >"$folder/short.csv"
run serve "$folder/app.json" --requests "$folder/short.csv"
want_rc 0
want_out "all: 2 requests, 0 unfinished, -/s, goodput -/s, 50 % late"
want_out "warning: no request of all ends between the warm-up and the last arrival, so it has no rate"
run serve "$folder/app.json" --requests "$folder/short.csv" --json
want_out '"throughput_rps": null,'

run serve "$folder/app.json" --requests "$folder/log.csv" --csv
want_rc 0
[ "$out" = "t_s,class,input_tokens,output_tokens,queued_ms,ttft_ms,tpot_ms,e2e_ms
0.000000000,all,,,0,,,11
0.001000000,all,,,10,,,21
0.100000000,all,,,0,,,11" ] || complain "not the requests: $out"

run serve "$folder/app.json" --requests "$folder/log.csv" \
    --counters "$folder/counters.csv" --timeline "$folder/timeline.json"
want_rc 0
want_out "the promise to all is not kept at 30 requests/s: 33.3 % are late, by 3 requests of all: too few to tell"
[ "$(sed -n 1,4p "$folder/counters.csv")" = \
    "t,stage,arrivals,queue,busy,replicas,mean_ms,p99_ms,self_ms,wait_ms,psi_cpu,psi_mem,psi_io,net_ms
0.2,gate,3,0,0.165,1,14.3333,20.8,1,3.33333,,,,
0.2,work,3,0,0.15,1,10,10,10,0,,,,
0.2,e2e,3,0,,,14.3333,20.8,,,,,," ] ||
    complain "not the counters: $(cat "$folder/counters.csv")"
grep -q '"name": "calls", "pid": 1, "tid": 1, "ts": 1000.000, "dur": 10000.000' \
    "$folder/timeline.json" || complain "not the timeline"

# Capacity, whatever the rate: the gate's worker is held for 11 ms, so 90.9; with
# nine workers work alone decides, 100. Batches of 8 take 25 ms on two replicas:
# 640, though at this rate most are of one.
run serve "$folder/app.json" --rate 10 --json
grep -q '"capacity_rps": {"value": 90.9[^}]*"by": "work"}' <<<"$out" ||
    complain "not a capacity of 90.9"
sed 's/"workers": 1/"workers": 9/' "$folder/app.json" >"$folder/nine.json"
run serve "$folder/nine.json" --rate 10 --json
grep -q '"capacity_rps": {"value": \(100\|99.9[0-9]*\|100.0[0-9]*\), .*"by": "work"}' \
    <<<"$out" || complain "not a capacity of 100"
cat >"$folder/batch.json" <<'END'
{"schema": "mystique-sim/app/1", "name": "batch",
 "arrivals": {"process": "poisson", "rate": 20},
 "stages": {"s": {"kind": "measured", "replicas": 2, "service": 10,
  "batching": {"policy": "dynamic", "max_batch": 8, "max_wait_ms": 4,
               "law": [[1, 1], [8, 2.5]]}}},
 "flow": {"start": "s"}}
END
run serve "$folder/batch.json" --json
grep -q '"capacity_rps": {"value": 6[34][0-9]' <<<"$out" ||
    complain "not a capacity of 640"

# Random services: the same bytes, and a free stage is its counterfactual.
sed -i 's/"workers": 1,/"workers": 64,/; s/"service": 10/"replicas": 4, "workers": 2, "routing": "least", "service": {"lognormal": {"mean": 10, "cv": 1}}/; s/"replicas": 1, //' \
    "$folder/app.json"
run serve "$folder/app.json" --num-requests 3000 --seed 3 --json --threads 1
want_rc 0
one=$out
run serve "$folder/app.json" --num-requests 3000 --seed 3 --json --threads 2
[ "$out" = "$one" ] || complain "other bytes with two threads"
run serve "$folder/app.json" --num-requests 3000 --seed 4 --json
[ "$out" != "$one" ] || complain "the same bytes with another seed"
for stage in gate work; do
    run serve "$folder/app.json" --num-requests 3000 --seed 3 --json \
        --free "$stage"
    free=$(sed -n 's/.*"e2e_ms": {"mean": \([^,]*\),.*"p99": \([^,]*\),.*/"p99_ms": \2, "mean_ms": \1/p' <<<"$out")
    [[ $one == *"\"$stage\": {$free}"* ]] ||
        complain "--free $stage says $free, not what was said before"
done

# Above capacity: said first, and every percentile has a star. work has no time
# left, and so the gate, whose workers wait for it, has a queue that grows.
run serve "$folder/app.json" --rate 2000 --num-requests 5000
want_rc 0
[[ $out == "overloaded: "*"work"*" cannot keep up with"* ]] ||
    complain "not overloaded: $out"
want_out ' ms*'
run serve "$folder/app.json" --rate 2000 --num-requests 5000 --json
grep -q '"saturated": \[.*"work".*\]' <<<"$out" || complain "not saturated"

# What was asked is said, with what arrived; a warm-up as long as the run leaves
# nothing to judge.
run serve "$folder/app.json" --rate 10 --goodput e2e:900 --num-requests 300 --seed 3
want_rc 0
[[ $out == "every promise is kept at 10 requests/s ("*" arrived), by 300 requests of all: too few to tell;"* ]] ||
    complain "not what was asked: $out"
run serve "$folder/app.json" --rate 10 --goodput e2e:900 --num-requests 10000 --seed 3
[[ $out == "every promise is kept at 10 requests/s ("*" arrived);"* ]] ||
    complain "10000 are enough for a p99: $out"
run serve "$folder/app.json" --rate 10 --num-requests 300 --warmup 1000
want_rc 0
want_out ": no request to which something is promised was measured"

# Plans, a line each.
printf '%s\n' '{"name": "few", "replicas": {"work": 2}}' \
    '{"replicas": {"work": 40}}' >"$folder/plans.jsonl"
run serve "$folder/app.json" --plans "$folder/plans.jsonl" --num-requests 3000
want_rc 0
[[ $out == "plan,worst_class,violations,p99_ms,replicas,cost_per_hour
few,all,0."*",3,3600
2,all,0."*",41,3600" ]] || complain "not the plans: $out"
one=$out
run serve "$folder/app.json" --plans "$folder/plans.jsonl" --num-requests 3000 \
    --threads 1
[ "$out" = "$one" ] || complain "other plans with one thread"

# The other tools' names.
run serve "$folder/app.json" --request-rate 100 --num-prompts 500 --json
one=$out
run serve "$folder/app.json" --rate 100 --num-requests 500 --json
[ "$out" = "$one" ] || complain "--request-rate is not --rate"
run serve "$folder/app.json" --max-concurrency 4 --num-requests 500 --json
one=$out
run serve "$folder/app.json" --concurrency 4 --num-requests 500 --json
[ "$out" = "$one" ] || complain "--max-concurrency is not --concurrency"

run serve "$folder/app.json" --free wrok
want_rc 2
want_err "no stage 'wrok'"
run serve "$folder/app.json" --rate 0
want_rc 2
run serve "$folder/app.json" --num-requests 60000000
want_rc 2
want_err "from 1 to 50000000"
for wrong in "rate 0" "rate 1e12" "num-requests x" "seconds nan" "warmup -1" "goodput ttft:x"; do
    usage_error "option '--${wrong% *}' is '" serve x.json --"${wrong% *}" "${wrong#* }"
done
run serve "$folder/app.json" --rate 1e6 --seconds 1e6
want_rc 2
want_err "want less of either"
run serve "$folder/app.json" --rate 3 --concurrency 4
want_rc 2
run serve "$folder/app.json" --goodput latency:3
want_rc 2
run serve "$folder/app.json" --chart "$folder/x.pdf"
want_rc 2
run serve "$folder/app.json" --counters "$folder/app.json"
want_rc 2
run serve "$folder/app.json" --chart "$folder/x.svg" --counters "$folder/./x.svg"
want_rc 2
want_err "is what '--counters' and '--chart' would both write"
printf 't_s\n1\n0\n' >"$folder/log.csv"
run serve "$folder/app.json" --requests "$folder/log.csv"
want_rc 3
sed -i 's/"service": 1,//' "$folder/app.json"
run serve "$folder/app.json"
want_rc 3
want_err "stages.gate.service"
finish
