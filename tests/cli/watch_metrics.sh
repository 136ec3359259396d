#!/usr/bin/env bash
# watch reads what running engines tell: scrapes of vLLM and SGLang in
# Prometheus' format, from a file or a pipe; histograms, replicas that begin
# anew, promises of the first token; scrapes that are refused.
. "$(dirname "$0")/hold.bash"
hold_runs
command -v python3 >/dev/null || { echo "no python3: skipped"; exit 77; }

# app METRIC LIMIT
app() {
    cat >"$folder/$1.json" <<JSON
{"schema": "mystique-sim/app/1", "name": "chat",
 "slo": [{"class": "all", "metric": "$1", "percentile": 99, "limit_ms": $2}],
 "classes": [{"name": "all", "share": 1, "input_tokens": 100, "output_tokens": 50}],
 "arrivals": {"process": "poisson", "rate": 10},
 "stages": {"answer": {"kind": "llm", "call": "queue", "replicas": 2,
   "model": "llama3-8b", "platform": "h100", "batching": {"max_num_seqs": 8}}}}
JSON
}
app e2e 4800
app ttft 900

# scrapes ENGINE SERVERS SECONDS: steady for forty seconds, then queues grow.
# Every second 10 requests end on each server; of their latencies 9 lie in the
# bucket (1, 2] s, one in (2, 5]; of their first tokens 9 in (0.1, 0.25].
scrapes() {
    python3 - "$@" <<'PYTHON'
import sys
engine, servers, seconds = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
V = engine == "vllm"
label = 'model_name="m{1},\\"x\\""' + (',engine="0"' if V else ',tp_rank="0"')
def histogram(name, buckets, total, count):
    print(f"# TYPE {name} histogram")
    for le, n in buckets:
        print(f'{name}_bucket{{le="{le}",{label}}} {float(n)}')
    print(f"{name}_sum{{{label}}} {total}")
    print(f"{name}_count{{{label}}} {float(count)}")
p = "vllm:" if V else "sglang:"
for s in range(seconds + 1):
    late = max(0, s - 40)
    n = 10 * s  # ended
    slow = s + sum(min(9, k) for k in range(late + 1))  # of them above 2 s
    for i in range(servers):
        print(f"# at {1000 + s}")
        print("# HELP python_info Python platform information.")
        print('python_info{version="3.12"} 1.0')
        print(f"{p}{'num_requests_running' if V else 'num_running_reqs'}{{{label}}} 6.0")
        print(f"{p}{'num_requests_waiting' if V else 'num_queue_reqs'}{{{label}}} {float(late * 3)}")
        print(f"{p}{'kv_cache_usage_perc' if V else 'token_usage'}{{{label}}} 0.5")
        histogram(f"{p}e2e_request_latency_seconds",
                  [("1.0", 0), ("2.0", n - slow), ("5.0", n), ("+Inf", n)], 1.6 * n, n)
        histogram(f"{p}{'request_queue_time_seconds' if V else 'queue_time_seconds'}",
                  [("0.3", n), ("+Inf", n)], 0.1 * n + 2 * late * late, n)
        histogram(f"{p}time_to_first_token_seconds",
                  [("0.1", 0), ("0.25", n - slow), ("1.0", n), ("+Inf", n)], 0.3 * n, n)
    print("# end")
PYTHON
}

# ---- figures -------------------------------------------------------------------
# p99 of a second is in (2, 5]: rank 9.9 of 10 with 9 below 2 s and one to 5 s:
# 2 + 3 (9.9 - 9) / 1 = 4.7 s, within the promise. With nine above 2 s it is
# 2 + 3 (9.9 - 1) / 9 = 4.97 s, a violation.
for engine in vllm sglang; do
    scrapes $engine 2 50 >"$folder/$engine.txt"
    run watch "$folder/e2e.json" --counters "$folder/$engine.txt" --json
    want_rc 0
    want_no_err
    [ "$(wc -l <<<"$out")" -eq 50 ] || complain "$engine: $(wc -l <<<"$out") lines, want 50"
    python3 - "$folder/out" $engine <<'PYTHON' || complain "$engine: wrong lines"
import json, sys
lines = [json.loads(l) for l in open(sys.argv[1])]
assert lines[0]["t"] == 1001 and lines[-1]["t"] == 1050, lines[0]
assert lines[-1]["stage"] == "answer", lines[-1]
assert all(l["p_violation"] > 0.5 for l in lines[-3:]), lines[-1]
assert lines[30]["lead_s"] != 0, lines[30]
assert lines[-1]["lead_s"] == 0, lines[-1]
PYTHON
    cp "$folder/out" "$folder/$engine.out"
done
cmp -s "$folder/vllm.out" "$folder/sglang.out" ||
    complain "the same scrapes under other names give another answer"

# A promise of the first token: 0.25 + 0.75 x 0.9 = 0.925 s are late, 0.9 allowed.
run watch "$folder/ttft.json" --counters "$folder/vllm.txt" --json
want_rc 0
python3 - "$folder/out" <<'PYTHON' || complain "the first token is not watched"
import json, sys
lines = [json.loads(l) for l in open(sys.argv[1])]
assert lines[30]["lead_s"] == 0, lines[30]
PYTHON
printf 't,stage,p99_ms\n1,e2e,5\n2,e2e,5\n' >"$folder/plain.csv"
run watch "$folder/ttft.json" --counters "$folder/plain.csv"
want_rc 3
want_err "no promise with metric e2e"

# A server that begins anew counts from 0: no line is lost, none is absurd.
{
    scrapes vllm 1 20
    scrapes vllm 1 20 | sed 's/^# at 10/# at 11/'
} >"$folder/anew.txt"
run watch "$folder/e2e.json" --counters "$folder/anew.txt" --csv
want_rc 0
[ "$(wc -l <<<"$out")" -eq 42 ] || complain "anew: $(wc -l <<<"$out") lines, want 42"

# ---- a pipe: a round is told when it has ended, not when the next begins ----------
mkfifo "$folder/in"
"$sim" watch "$folder/e2e.json" --counters - --csv <"$folder/in" >"$folder/live" &
watcher=$!
exec 3>"$folder/in"
scrapes vllm 2 1 >&3
for _ in $(seq 100); do
    [ "$(wc -l <"$folder/live")" -lt 2 ] || break
    sleep 0.05
done
[ "$(wc -l <"$folder/live")" -eq 2 ] || complain "the round has ended, and no line is there"
exec 3>&-
wait "$watcher" || complain "a pipe that ends is no error"

# ---- what is wrong ----------------------------------------------------------------
wrong() { # SENTENCE, scrapes on stdin
    cat >"$folder/wrong.txt"
    run watch "$folder/e2e.json" --counters "$folder/wrong.txt"
    want_rc 3
    want_err "$1"
}
wrong "metrics without a time, want a line '# at" < <(scrapes vllm 1 3 | grep -v '^# at')
wrong "t goes back from 1001.000 to 900.000" < <(scrapes vllm 1 3 | sed 's/# at 1002/# at 900/')
wrong "no stage 'anwser', is it 'answer'" < <(scrapes vllm 1 3 | sed 's/# at .*/& anwser/')
wrong "no row of counters" < <(printf '# at 1\n# at 2\n# end\n')
{
    scrapes vllm 1 3
    echo '# at soon'
    echo 'vllm:num_requests_waiting{model_name="m} 3'
} >"$folder/part.txt"
run watch "$folder/e2e.json" --counters "$folder/part.txt"
want_rc 0
want_err "2 lines of counters were left out"
finish
