#!/usr/bin/env bash
# size: replicas that keep a promise, of an application whose services are
# stated, and of one that a program explores; what explorers do wrong; and
# promises that no number of replicas keeps.
. "$(dirname "$0")/lib.bash"
in_turn serving/size serving/explore

# Two stages in series, exponential services of 10 and 5 ms. Without any queue
# the sum is above 60 ms with chance 2 exp(-6) - exp(-12) = 0.5 %.
stated=$folder/stated.json
cat >"$stated" <<'JSON'
{"schema": "mystique-sim/app/1", "name": "two",
 "slo": [{"class": "all", "metric": "e2e", "percentile": 99, "limit_ms": 60}],
 "classes": [{"name": "all", "share": 1}],
 "arrivals": {"process": "poisson", "rate": 100},
 "stages": {
  "front": {"kind": "measured", "workers": 2, "call": "queue", "routing": "shared",
            "service": {"exponential": 10}, "price_per_hour": 2},
  "back": {"kind": "measured", "workers": 1, "call": "queue", "routing": "shared",
           "service": {"exponential": 5}, "price_per_hour": 1}},
 "flow": {"start": "front", "edges": [{"from": "front", "to": "back"}]}}
JSON

# An explorer of them: Poisson arrivals at one replica, in order of arrival.
explorer=$folder/explorer
cat >"$explorer" <<'PYTHON'
#!/usr/bin/env python3
import heapq, os, random, sys, time

how = dict(zip(sys.argv[1::2], sys.argv[2::2]))
broken = os.environ.get("BROKEN", "")
if broken == "exit":
    sys.exit(3)
if broken == "hang":
    time.sleep(60)
if broken == "silent":
    print("t_s,latency_ms\n" + "0.1,0\n" * 40)
    sys.exit(0)
if broken == "garbage":
    print("no table")
    sys.exit(0)
mean, workers = {"front": (10, 2), "back": (5, 1)}[how["--stage"]]
r = random.Random(int(how["--seed"]))
free = [0.0] * workers
t = 0.0
print("t_s,class,latency_ms,wait_ms,batch,size")
while t < float(how["--seconds"]):
    t += r.expovariate(float(how["--rate"]))
    start = max(t, free[0])
    service = r.expovariate(1 / mean) / 1e3
    heapq.heapreplace(free, start + service)
    wait = 1e3 * (start - t)
    if broken == "lie":
        wait += 1e4
    print("%.6f,%s,%.4f,%.4f,1,1" % (t, "others" if broken == "class" else "all",
                                     1e3 * (start + service - t), wait))
PYTHON
chmod +x "$explorer"

# plan FILE: replicas of front and back, whether the promise is kept.
plan() {
    python3 - "$1" <<'PYTHON'
import json, sys
p = json.load(open(sys.argv[1]))
assert p["schema"] == "mystique-sim/serving-plan/1", p["schema"]
c = p["predicted"]["classes"]["all"]
assert c["low"] <= c["within"] <= c["high"], c
assert p["why"] and p["method"], p
s = p["stages"]
cost = 2 * s["front"]["replicas"] + s["back"]["replicas"]
priced = p["cost_per_hour"] is not None
assert not priced or p["cost_per_hour"] == cost, p
print(s["front"]["replicas"], s["back"]["replicas"], c["within"] >= 0.99)
PYTHON
}

command -v python3 >/dev/null || { echo "no python3: skipped"; exit 77; }

# One worker is busy half the time in each stage with 1 and 1 replicas: too
# late by far (M/M/2 and M/M/1 at 50 %: the waits alone are above 20 ms often).
for method in convolution search; do
    run size "$stated" --method $method -o "$folder/plan.json"
    want_rc 0
    want_out "back"
    read -r front back kept <<<"$(plan "$folder/plan.json")"
    [ "$kept" = True ] || complain "$method does not keep the promise"
    { [ "$front" -ge 1 ] && [ "$front" -le 2 ] && [ "$back" -ge 1 ] &&
        [ "$back" -le 3 ]; } || complain "$method wants $front and $back"
    cp "$folder/plan.json" "$folder/first.json"
    run size "$stated" --method $method -o "$folder/plan.json"
    cmp -s "$folder/first.json" "$folder/plan.json" ||
        complain "$method does not say the same twice"
done

# All queues long at once: never fewer replicas than with queues that are
# independent. Without any queue the sum is above 50 ms with chance 2 exp(-5) -
# exp(-10) = 1.343 %: no plan, and that is said.
run size "$stated" --method union -o "$folder/union.json"
want_rc 0
read -r front back kept <<<"$(plan "$folder/union.json")"
[ "$kept" = True ] || complain "union does not keep the promise"
run size "$stated" --method convolution -o "$folder/plan.json"
want_rc 0
read -r f b kept <<<"$(plan "$folder/plan.json")"
[ $((2 * front + back)) -ge $((2 * f + b)) ] ||
    complain "union wants $front and $back, convolution $f and $b"
sed 's/"limit_ms": 60/"limit_ms": 50/' "$stated" >"$folder/tight.json"
run size "$folder/tight.json" --method union
want_rc 1
want_err "union bound finds no plan"
want_err "'front'"
share=$(sed -n 's/.*; \([0-9.]*\) % are late without any queue.*/\1/p' <<<"$err")
python3 -c "assert abs($share - 1.343) < 0.03" ||
    complain "$share % are late without any queue, want 1.343"

# What is predicted is of 20 runs: the mean lies between the best and the worst,
# and the worst is within a fifth of what is allowed.
python3 - "$folder/union.json" "$folder/plan.json" <<'PYTHON' || complain "the interval is not that of runs"
import json, sys
for path in sys.argv[1:]:
    c = json.load(open(path))["predicted"]["classes"]["all"]
    assert 0.988 <= c["low"] < c["within"] < c["high"] < 1, c
    assert c["within"] >= 0.99, c
PYTHON

# A promise below what the services take.
sed 's/"limit_ms": 60/"limit_ms": 20/' "$stated" >"$folder/hard.json"
for method in convolution search; do
    run size "$folder/hard.json" --method $method
    want_rc 1
    want_err "no number of replicas keeps the promise of class 'all'"
    want_err "stage 'front'"
done

# Explored: the same plan or one beside it, and every second counted.
python3 - "$stated" "$folder/app.json" <<'PYTHON'
import json, sys
app = json.load(open(sys.argv[1]))
for s in app["stages"].values():
    del s["service"]
    del s["price_per_hour"]
json.dump(app, open(sys.argv[2], "w"))
PYTHON
app=$folder/app.json
run size "$app"
want_rc 3
want_err "stages.front has no service"
run size "$app" --explore "'$explorer'" --tables "$folder/tables" -o "$folder/plan.json"
want_rc 0
want_out "replica-seconds"
read -r front back kept <<<"$(plan "$folder/plan.json")"
[ "$kept" = True ] || complain "the explored plan does not keep the promise"
python3 - "$folder/plan.json" <<'PYTHON' || complain "wrong count of what was explored"
import json, sys
x = json.load(open(sys.argv[1]))["explored"]
assert x["runs"] >= 4 and 4 < x["replica_seconds"] < 300, x
PYTHON
ls "$folder"/tables/front,1,*.csv >/dev/null || complain "no table of front"

# Tables alone, and tables before the explorer, which is not asked then.
run size "$app" --tables "$folder/tables"
want_rc 0
BROKEN=exit run size "$app" --tables "$folder/tables" --explore "'$explorer'"
want_rc 0

# What explorers do wrong.
BROKEN=exit run size "$app" --explore "'$explorer'"
want_rc 3
want_err "ended with exit code 3"
BROKEN=hang run size "$app" --explore "'$explorer'" --patience 0.2
want_rc 3
want_err "has not ended in time"
BROKEN=garbage run size "$app" --explore "'$explorer'"
want_rc 3
want_err "no column 't_s'"
BROKEN=lie run size "$app" --explore "'$explorer'"
want_rc 3
want_err "want at most latency_ms"
BROKEN=class run size "$app" --explore "'$explorer'"
want_rc 3
want_err "class is 'others', want a class of the application"
run size "$app" --explore "$folder/nothing"
want_rc 3
want_err "cannot run the explorer"

# Their errors name the command and the stage, no file that is gone.
BROKEN=garbage run size "$app" --explore "'$explorer'"
want_err "answer of ''$explorer' --stage front'"
case $err in *sim-explore-*) complain "names a temporary file: $err" ;; esac
BROKEN=garbage run size "$app" --explore "'$explorer'" --tables "$folder/none"
want_err "answer of ''$explorer' --stage front'"
BROKEN=silent run size "$app" --explore "'$explorer'"
want_rc 3
want_err "latency_ms of all 40 visits of stage 'front' is 0"

# Explorers that never end, and what they started: stopped, and gone. A process
# that nobody waited for is a zombie, which is gone, too.
is_gone() {
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        grep -qs 'State:.[^ZX]' "/proc/$1/status" || return 0
        sleep 0.1
    done
    return 1
}
cat >"$folder/sleeper" <<'SLEEPER'
#!/usr/bin/env bash
sleep 300 &
echo "$$ $!" >"$PIDS"
wait
SLEEPER
cat >"$folder/writer" <<'WRITER'
#!/usr/bin/env bash
yes "0.1,5" &
echo "$$ $!" >"$PIDS"
wait
WRITER
chmod +x "$folder/sleeper" "$folder/writer"
export PIDS=$folder/pids
stopped_by() { # NAME PATIENCE SENTENCE
    rm -f "$PIDS"
    run size "$app" --explore "'$folder/$1'" --patience "$2"
    want_rc 3
    want_err "/$1', asked for stage 'front'"
    want_err "$3"
    [ "$(wc -l <<<"$err")" = 1 ] || complain "more than a sentence: $err"
    for pid in $(cat "$PIDS"); do
        is_gone "$pid" || complain "$1 left process $pid behind"
        is_gone "$pid" || kill "$pid"
    done
}
stopped_by sleeper 0.2 "has not ended in time: it was stopped"
stopped_by writer 30 "prints too much: it was stopped"

# Who is stopped stops the explorer.
rm -f "$PIDS"
TMPDIR=$folder timeout -s TERM 1 "$sim" size "$app" --explore "'$folder/sleeper'" \
    2>/dev/null
[ $? = 124 ] || complain "a signal does not end it"
! ls "$folder"/mystique-sim-explore-* >/dev/null 2>&1 ||
    complain "a signal leaves a file behind"
for pid in $(cat "$PIDS"); do
    is_gone "$pid" || complain "a signal left process $pid behind"
    is_gone "$pid" || kill "$pid"
done

# Rates that want very many replicas: an answer within seconds.
quick() { # SECONDS ARGUMENTS...
    local before=$SECONDS most=$1
    shift
    run "$@"
    [ $((SECONDS - before)) -le "$most" ] ||
        complain "$* takes $((SECONDS - before)) s"
}
quick 10 size "$stated" --rate 1e9
want_rc 1
want_err "stage 'front' wants 5"
# 1e6/s of 10 ms are 10,000 workers, 5,000 replicas of two, of 5 ms as many of
# one; simulated runs are over before such a queue has grown.
for method in convolution search; do
    quick 60 size "$stated" --rate 1e6 --method $method -o "$folder/plan.json"
    want_rc 0
    read -r front back kept <<<"$(plan "$folder/plan.json")"
    { [ "$front" -gt 5000 ] && [ "$back" -gt 5000 ] && [ "$front" -lt 5600 ] &&
        [ "$back" -lt 5600 ]; } || complain "$method wants $front and $back at 1e6/s"
done
sed 's/"workers": 2,/"workers": 2, "replicas": 1000000,/
     s/"shared"/"least"/' "$stated" >"$folder/many.json"
quick 10 serve "$folder/many.json" --num-requests 100
want_rc 0

# Engines are another command's.
python3 - "$stated" "$folder/llm.json" <<'PYTHON'
import json, sys
app = json.load(open(sys.argv[1]))
app["stages"]["front"] = {"kind": "llm", "model": "llama3-8b", "platform": "h100"}
app["classes"][0].update(input_tokens=20, output_tokens=8)
json.dump(app, open(sys.argv[2], "w"))
PYTHON
run size "$folder/llm.json"
want_rc 3
for next in '"workload": "serving"' "serve --plans" "apps --sweep"; do
    want_err "$next"
done

usage_error "quote that is never closed" size "$app" --explore "'$explorer"
usage_error "want union, convolution or search" size "$app" --method unoin
usage_error "want a number above 0" size "$app" --rate -3
finish
