#!/usr/bin/env bash
# watch APP.json --counters FILE|-: a line a second, who is to blame, what a
# pipe gives while it is written, and what is refused.
. "$(dirname "$0")/hold.bash"
hold_runs
command -v python3 >/dev/null || { echo "no python3: skipped"; exit 77; }

cat >"$folder/app.json" <<'JSON'
{"schema": "mystique-sim/app/1", "name": "two",
 "slo": [{"class": "all", "metric": "e2e", "percentile": 99, "limit_ms": 80}],
 "classes": [{"name": "all", "share": 1}],
 "arrivals": {"process": "poisson", "rate": 100},
 "stages": {"front": {"kind": "measured", "call": "rpc", "service": 2, "workers": 8},
            "store": {"kind": "measured", "call": "queue", "service": 10, "workers": 4}},
 "flow": {"start": "front", "edges": [{"from": "front", "to": "store"}]}}
JSON

# counters KIND SECONDS: forty usual seconds, then one thing grows.
counters() {
    python3 - "$@" <<'PYTHON'
import math, random, sys
kind, seconds = sys.argv[1], int(sys.argv[2])
rng = random.Random(1)
def near(x, part=0.03):
    return x * (1 + part * rng.uniform(-1, 1))
psi = kind != "no_psi"
print("t,stage,arrivals,queue,busy,replicas,mean_ms,p99_ms,self_ms,wait_ms"
      + (",psi_cpu,psi_mem,psi_io" if psi else "") + ",net_ms")
for i in range(seconds * 5):
    s = max(0, i / 5 - 40)  # of growth
    slow = s if kind in ("slow", "no_psi") else 0
    load = s if kind == "load" else 0
    arrivals = near(20 * (1 + 0.05 * load), 0.1)
    front = dict(self=2, wait=0.5 + 1.5 * slow + 0.1 * load, busy=0.2 + 0.02 * slow, mem=0.02)
    store = dict(self=10 * (1 + 0.15 * slow), wait=1 + 0.4 * slow + 4 * load,
                 busy=min(1, 0.5 + 0.02 * slow + 0.04 * load), mem=0.02 + 0.04 * slow)
    for name, c in (("front", front), ("store", store)):
        p = ",%.3f,%.3f,%.3f" % (near(0.05), near(c["mem"]), near(0.02)) if psi else ""
        mean = c["self"] + c["wait"] + (store["self"] + store["wait"] if name == "front" else 0)
        print("%.1f,%s,%d,%d,%.3f,2,%.3f,%.3f,%.3f,%.3f%s,%.3f" % (
            (i + 1) / 5, name, arrivals, c["wait"] / 10, near(c["busy"]), mean, 3 * mean,
            near(c["self"]), near(c["wait"]), p, near(0.3)))
    mean = front["self"] + front["wait"] + store["self"] + store["wait"]
    print("%.1f,e2e,%d,3,,,%.3f,%.3f,,%s" % ((i + 1) / 5, arrivals, near(mean),
          near(2.5 * mean, 0.1), ",,,," if psi else ","))
PYTHON
}

# last STAGE RESOURCE: who is to blame at the end of the csv in $out.
last() {
    local line
    line=$(tail -1 <<<"$out")
    [[ $line == *",$1,$2,"* ]] || complain "want $1, $2 at the end, got: $line"
}

# ---- a line a second, and who is to blame ------------------------------------
counters slow 52 >"$folder/slow.csv"
run watch "$folder/app.json" --counters "$folder/slow.csv" --csv
want_rc 0
want_no_err
[ "$(head -1 <<<"$out")" = t,p_violation,stage,resource,lead_s,p99_next_ms ] ||
    complain "another header: $(head -1 <<<"$out")"
[ "$(wc -l <<<"$out")" -eq 53 ] || complain "want 52 lines and a header"
last store memory
# What was usual is unlikely to violate; what grew to the limit is likely.
awk -F, 'NR > 1 && $1 == 39 && $2 > 0.3 { bad = 1 }
    NR > 1 && $1 == 52 && $2 < 0.5 { bad = 1 } END { exit bad }' <<<"$out" ||
    complain "p_violation does not follow: $(sed -n '40p;53p' <<<"$out")"
first=$out
run watch "$folder/app.json" --counters "$folder/slow.csv" --csv
[ "$out" = "$first" ] || complain "another run, other bytes"

counters load 52 >"$folder/load.csv"
run watch "$folder/app.json" --counters "$folder/load.csv" --csv
last store load
counters no_psi 52 >"$folder/no_psi.csv"
run watch "$folder/app.json" --counters "$folder/no_psi.csv" --csv
want_no_err
last store cpu

# ---- JSON, why, advice -------------------------------------------------------
run watch "$folder/app.json" --counters "$folder/load.csv" --json --advise
want_rc 0
python3 - "$folder/out" <<'PYTHON' || complain "the JSON lines are wrong"
import json, sys
lines = [json.loads(l) for l in open(sys.argv[1])]
assert len(lines) == 52
assert list(lines[0]) == ["t", "p_violation", "stage", "resource", "lead_s",
                          "p99_next_ms", "why", "replicas", "do"], list(lines[0])
assert "arrivals at 'store'" in lines[-1]["why"], lines[-1]["why"]
# Arrivals grew until the workers of store are nearly all held: it gets more.
asked = [l["replicas"].get("store", 0) for l in lines if l["do"] == "scale"]
assert max(asked) > 2, asked
PYTHON
run watch "$folder/app.json" --counters "$folder/load.csv" --advise
want_rc 2
want_err "--json"

# ---- a pipe, read while it is written ----------------------------------------
mkfifo "$folder/in"
"$sim" watch "$folder/app.json" --counters - --csv <"$folder/in" >"$folder/live" &
watcher=$!
exec 3>"$folder/in"
head -16 "$folder/slow.csv" >&3 # the header and the first second
for _ in $(seq 100); do
    [ "$(wc -l <"$folder/live")" -lt 2 ] || break
    sleep 0.05
done
[ "$(wc -l <"$folder/live")" -eq 2 ] ||
    complain "the first second is over, and no line is there while the pipe is open"
exec 3>&-
wait "$watcher" || complain "a pipe that ends is no error"

# ---- files of strangers ------------------------------------------------------
{
    head -50 "$folder/slow.csv"
    echo 'connection lost'
    echo '#'
    tail -n +51 "$folder/slow.csv"
} >"$folder/garbage.csv"
run watch "$folder/app.json" --counters "$folder/garbage.csv" --csv
want_rc 0
want_err "1 lines of counters were left out, the first is line 51"
[ "$out" = "$first" ] || complain "a line that is no row changed the rest"

sed 's/,store,/,stroe,/' "$folder/slow.csv" >"$folder/other.csv"
run watch "$folder/app.json" --counters "$folder/other.csv"
want_rc 3
want_err "no stage 'stroe', is it 'store'?"
{ cat "$folder/slow.csv"; sed -n 2p "$folder/slow.csv"; } >"$folder/back.csv"
run watch "$folder/app.json" --counters "$folder/back.csv" --csv
want_rc 3
want_err "t goes back from 52 to 0.2 s"
printf 'a\0b\nnothing\n' >"$folder/none.csv"
run watch "$folder/app.json" --counters "$folder/none.csv"
want_rc 3
want_err "no column 't'"
grep -v e2e "$folder/slow.csv" >"$folder/no_e2e.csv"
run watch "$folder/app.json" --counters "$folder/no_e2e.csv"
want_rc 3
want_err "want rows of stage 'e2e'"
run watch "$folder/app.json" --counters "$folder/missing.csv"
want_rc 3
run watch "$folder/app.json"
want_rc 2
want_err "--counters is missing"
run watch "$folder/app.json" --counters "$folder/slow.csv" --model "$folder/app.json"
want_rc 3
want_err 'want "mystique-sim/watch-model/1"'

finish
