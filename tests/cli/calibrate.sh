#!/usr/bin/env bash
# calibrate: a made-up backend from the plan to the platform file, with faults,
# and killed at random moments; the CPU where its backend was built.
. "$(dirname "$0")/lib.bash"
in_turn

here=$(cd "$(dirname "$0")" && pwd)
programs=$(dirname "$sim")
if [ ! -x "$programs/msim-calibrate" ]; then
    echo "built without XGBoost: skipped"
    exit 77
fi

usage_error "--out is missing" calibrate
usage_error "--budget is 'x'" calibrate --out "$folder/a.json" --budget x
usage_error "no backend 'abacus'" calibrate --out "$folder/a.json" \
    --backend abacus
usage_error "no operand" calibrate --out "$folder/a.json" more

fake() { # FAULT...: the command line of the made-up backend
    echo "exec bash $here/fake_backend.bash $(mktemp "$folder/asked-XXXXXX") $*"
}

# Where a busy machine timed too few experiments in its budget, the message asks
# for more of it, with which the journal goes on.
calibrated() { # BUDGET ARGUMENT...: run, with a larger budget where that is said
    local budget=$1
    shift
    for budget in "$budget" $(awk -v b="$budget" 'BEGIN { print 2 * b, 4 * b, 16 * b }'); do
        run calibrate --budget "$budget" "$@"
        [ "$rc" -eq 1 ] && [[ $err == *"give more --budget"* ]] || break
    done
}

# Several wait side by side for their backends: what is begun is ended by name.
begin() { # NAME BUDGET ARGUMENT...
    (
        folder=$folder/$1
        mkdir "$folder"
        shift
        calibrated "$@"
        printf '%s\n' "$rc" "$last" >"$folder/rc"
    ) &
    eval "pid_$1=$!"
}
end() { # NAME: as if it had been run now
    local pid=pid_$1
    wait "${!pid}"
    { read -r rc && read -r last; } <"$folder/$1/rc"
    cp "$folder/$1/out" "$folder/$1/err" "$folder/"
    out=$(<"$folder/out") err=$(<"$folder/err")
}

# What a host file says that aten::mm takes of its own.
self_of() { # HOST
    tr -d ' \n\t' <"$1" | sed -nE 's/.*"aten::mm":\{"self_us":([0-9.]+).*/\1/p'
}

# That --host takes it.
want_host() { # HOST
    run --platform h100 --host "$1" \
        "${SOURCE_DIR:-$here/../..}/data/traces/gpt2/et"
    want_rc 0
}

# transfer ARGUMENT...: what two ranks' collectives take by --json, in us.
transfer() {
    run --costs model --json "$@" \
        "${SOURCE_DIR:-$here/../..}/data/traces/dlrm-ddp-2ranks/et"
    want_rc 0
    sed -nE 's/^ *"communication_us": \{"transfer": ([0-9.]+).*/\1/p' \
        "$folder/out"
}

# That --network takes it on any platform, and between nodes not at all.
want_links() { # NETWORK
    local own here there
    own=$(transfer --platform a100)
    here=$(transfer --platform a100 --network "$1")
    there=$(transfer --platform h200 --network "$1")
    [ "$here" = "$there" ] && [ "$here" != "$own" ] ||
        complain "transfers of $own us, want other ones, not $here and $there"
    [ "$(transfer --platform a100 --nodes 2)" = \
        "$(transfer --platform a100 --nodes 2 --network "$1")" ] ||
        complain "one machine's links count between nodes"
}

# That a platform knows what products take.
want_product() { # PLATFORM
    local us
    printf 'm,n,k,dtype,framework\n512,512,512,fp32,fake\n' >"$folder/one.csv"
    run op --platform "$1" "$folder/one.csv"
    want_rc 0
    # 2 us + 512^3 / 25 ns + 3 MB at 8 GB/s: 5764 us
    us=$(sed -nE '2s/^.*fake,([0-9]+).*/\1/p' "$folder/out")
    [ "${us:-0}" -gt 4900 ] && [ "${us:-0}" -lt 6600 ] ||
        complain "predicted '$us' us, want about 5764"
}

# Every visit of an experiment in a journal once; what differs is what was asked.
twice() { # JOURNAL
    sed -nE 's/^\{"backend":"[a-z]*"(,"visit":[0-9]+)?,.*"experiment":(\{[^}]*\}).*/\2\1/p' \
        "$1" | sort | uniq -d
}

# The experiments of a journal, whatever their visits.
experiments() { # JOURNAL
    grep '"experiment"' "$1" | grep -vc '"visit"'
}

# The answers in a journal, of all visits.
answers() { # JOURNAL
    grep -cs '"experiment"' "$1" || true
}

# A backend that is none, and one that is not there.
run calibrate --backend "echo {}" --budget 0.01 --out "$folder/none.json"
want_rc 3
want_err "does not greet"
run calibrate --backend "exec false" --budget 0.01 --out "$folder/none.json"
want_rc 3
want_err "exit code 1"
[ ! -e "$folder/none.json" ] || complain "a platform without rows"

# These wait for their backends while what follows is tested.
begin faults 0.3 --backend "$(fake die:9 hang:30 stuck:50)" --patience 1 \
    --out "$folder/faults.json"
FAKE_RESTLESS=1 begin restless 0.1 --backend "$(fake)" \
    --out "$folder/restless.json"
FAKE_COUNTERS=1 FAKE_BESIDE=1 begin counted 0.15 --backend "$(fake)" \
    --out "$folder/counted.json"
FAKE_COUNTERS=1 begin uncounted 0.15 --backend "$(fake die:counters)" \
    --out "$folder/uncounted.json"
begin deadly 0.15 --backend "$(fake die:add)" --out "$folder/deadly.json"
begin one 0.1 --backend "exec false,$(fake)" --out "$folder/one.json"

made_up=$(fake)
# A plan writes nothing, and is the same for the same seed.
run calibrate --backend "$made_up" --budget 0.1 --dry-run \
    --out "$folder/plan.json"
want_rc 0
want_out "gemm fp32 m "
want_out "experiments, expected to take"
[ -z "$(find "$folder" -name 'plan*')" ] || complain "a plan left a file"
first=$out
run calibrate --backend "$made_up" --budget 0.1 --dry-run --json
want_rc 0
[ "$(grep -c '"backend": "fake"' <<<"$out")" -eq "$(grep -c ' us a run ' <<<"$first")" ] ||
    complain "JSON and text ask for other experiments: $out"
# two at a time do not meet: neither keeps a journal
"$sim" calibrate --backend "$made_up" --budget 0.1 --dry-run \
    --out "$folder/plan.json" >"$folder/other" 2>&1 &
pid=$!
run calibrate --backend "$made_up" --budget 0.1 --dry-run \
    --out "$folder/plan.json"
[ "$out" = "$first" ] || complain "equal seeds, different plans"
wait $pid
[ "$(cat "$folder/other")" = "$first" ] ||
    complain "two plans at a time differ: $(cat "$folder/other")"
run calibrate --backend "$made_up" --budget 0.1 --dry-run --seed 2 \
    --out "$folder/plan.json"
[ "$out" != "$first" ] || complain "different seeds, equal plans"

# The shapes of a job come first.
run calibrate --backend "$made_up" --budget 0.1 --dry-run \
    --for "${SOURCE_DIR:-$here/../..}/data/traces/gpt2" --out "$folder/plan.json"
want_rc 0
want_err "shapes in "
[[ $(sed -n 1p <<<"$out") != "$(sed -n 1p <<<"$first")" ]] ||
    complain "the shapes of the trace do not come first: $out"
run calibrate --backend "$made_up" --budget 0.1 --dry-run \
    --for "$folder/no-such-trace" --out "$folder/plan.json"
want_rc 3

# It dies, hangs and speaks nonsense: that is said, and the rest goes on.
end faults
want_rc 0
want_err "the backend was killed by signal 11"
want_err "did not answer within 1 s"
want_err "no JSON object"
! grep -q "at another" "$folder/err" || complain "a quiet machine called restless"
want_out "cpu_gemm           fake"
[ "$(grep -c '"error":"the backend' "$folder/faults.journal.jsonl")" -eq 3 ] ||
    complain "three failures, want them in the journal"
[ -z "$(twice "$folder/faults.journal.jsonl")" ] || complain "timed twice"
# What has sizes is visited again, when others were timed in between.
grep '"experiment"' "$folder/faults.journal.jsonl" | awk '
    /"visit":2/ { again++; if (before !~ /"visit"/) changes++ }
    { before = $0 }
    END { exit !(again > 5 && changes < again / 5) }' ||
    complain "no rounds of later visits"
run platforms "$folder/faults.json"
want_rc 0
want_out "Made-up machine"
want_out "Calibrated by mystique-sim calibrate"
[ "$(self_of "$folder/faults.host.json")" = 4.5 ] ||
    complain "not what the host was timed to take"
want_host "$folder/faults.host.json"
want_links "$folder/faults.network.json"
want_product "$folder/faults.json"

# A machine on which the same takes now so long, now twice that.
end restless
want_rc 0
want_err "took 2.00 times as long at one moment as at another"

# Counters are read last, and what they say of works is kept and shown; one that
# dies of it is not asked for them again. Before them some are timed beside a
# collective: that is kept and shown, and in no fit.
end counted
want_rc 0
want_out "gemm: fake counted x 2.00 of the bytes read that works assume"
sed -n '/"counters":{/,$p' "$folder/counted.journal.jsonl" | grep '"experiment"' |
    grep -vq '"counters":{' && complain "something was timed after counting"
want_out "computing: x 1.50 as long beside a collective (median of "
sed -n '/"beside":{"table"/,/"counters":{/p' "$folder/counted.journal.jsonl" |
    grep '"experiment"' | grep -v '"counters":{' |
    grep -vq '"beside":{"table"' &&
    complain "something was timed again after what runs beside a collective"
want_product "$folder/counted.json"
run platforms "$folder/counted.json"
want_rc 0
want_out "vector     x 1.50 as long while all_reduce runs (median of "
want_out "all        x 1.50 as long while a collective runs (median of "
want_out "bytes read    x 2.00"
want_out "operations    x 1.00"
end uncounted
want_rc 0
[ "$(grep -c '"error":"the backend' "$folder/uncounted.journal.jsonl")" -eq 1 ] ||
    complain "it died of its counters more than once"

# What ends it whenever it is asked is not asked for time after time.
end deadly
want_rc 0
[ "$(grep -c '"lost":true' "$folder/deadly.journal.jsonl")" -eq 2 ] ||
    complain "an operator ended it $(grep -c '"lost":true' \
        "$folder/deadly.journal.jsonl") times, want 2"
want_out "cpu_gemm           fake"

# Killed at random moments: nothing is lost, nothing is timed twice.
journal=$folder/killed.journal.jsonl
kept=0
for i in $(seq 20); do
    "$sim" calibrate --backend "$(fake)" --budget 0.1 \
        --out "$folder/killed.json" >"$folder/log" 2>&1 &
    pid=$!
    # Every fourth is killed only after an answer of its own, however long a
    # busy machine takes to start it; or after its last.
    while [ $((i % 4)) -eq 0 ] && kill -0 $pid 2>/dev/null &&
        [ "$(answers "$journal")" -le "$kept" ]; do
        sleep 0.01
    done
    sleep "0.$((RANDOM % 4))$((RANDOM % 10))"
    kill -9 $pid 2>/dev/null
    wait $pid 2>/dev/null
    if [ -e "$journal" ]; then
        cp "$journal" "$folder/before"
        # as when the machine went down in the middle of a line
        [ $((i % 3)) -ne 0 ] || printf '{"backend":"fake","sec' >>"$journal"
        rows=$(grep -c '"experiment"' "$folder/before")
        [ "$rows" -ge "$kept" ] || complain "$kept answers, then $rows"
        kept=$rows
    fi
done
[ "$kept" -gt 0 ] || complain "twenty runs kept nothing"
calibrated 0.1 --backend "$(fake)" --out "$folder/killed.json"
want_rc 0
want_err "goes on with the $(experiments "$folder/before") experiments"
head -n "$(grep -c '' "$folder/before")" "$journal" |
    cmp -s - <(grep '}$' "$folder/before") ||
    complain "finished answers were changed"
[ -z "$(twice "$journal")" ] || complain "timed twice: $(twice "$journal")"
[ -s "$folder/killed.json" ] || complain "no platform at the end"
before=$(wc -l <"$journal")
run calibrate --backend "$(fake)" --budget 0.1 --out "$folder/killed.json"
want_rc 0
[ "$(wc -l <"$journal")" -le "$before" ] ||
    complain "a spent budget was spent again"

# One of two that does not start: the other goes on.
end one
want_rc 0
want_err "goes on without 'exec false'"

# Where PyTorch alone finds a GPU, that is what is timed.
if ! "$programs/mystique-prof-cuda" </dev/null >/dev/null 2>&1; then
    cat >"$folder/python" <<SH
#!/bin/sh
[ "\$1" = -c ] || exec bash $here/fake_backend.bash $folder/asked
SH
    chmod +x "$folder/python"
    MSIM_PYTHON=$folder/python run calibrate --budget 0.1 --dry-run \
        --out "$folder/plan.json"
    want_rc 0
    want_err "PyTorch finds a GPU, mystique-prof-cuda none"
    want_out "fake "
    sed -i '2i [ "$3" != cuda ] || exit 3' "$folder/python"
    # what Open MPI leaks is its own
    ASAN_OPTIONS=detect_leaks=0 MSIM_PYTHON=$folder/python run calibrate \
        --budget 0.1 --dry-run --out "$folder/plan.json"
    want_rc 0
    [[ $err != *"finds a GPU"* ]] || complain "a GPU, where there is none"
fi

# Something else is not taken for a journal, nor a journal by two at a time.
echo "m,n,k" >"$folder/other.journal.jsonl"
run calibrate --backend "$(fake)" --budget 0.01 --out "$folder/other.json"
want_rc 3
want_err "none of a calibration's journal"
[ "$(cat "$folder/other.journal.jsonl")" = "m,n,k" ] ||
    complain "a file of something else was changed"
"$sim" calibrate --backend "$(fake)" --budget 1 --out "$folder/two.json" \
    >"$folder/log" 2>&1 &
pid=$!
# its first line is written once the journal is its own
while kill -0 $pid 2>/dev/null && [ ! -s "$folder/two.journal.jsonl" ]; do
    sleep 0.01
done
run calibrate --backend "$(fake)" --budget 1 --out "$folder/two.json"
want_rc 3
want_err "another calibration"
kill $pid
wait $pid 2>/dev/null

if [ -x "$programs/mystique-prof-cpu" ]; then
    export ASAN_OPTIONS=detect_leaks=0 # Open MPI's own
    calibrated 0.3 --backend cpu --out "$folder/cpu.json"
    want_rc 0
    grep -q '"kind":[[:space:]]*"cpu"' "$folder/cpu.json" ||
        complain "not said to be a CPU's"
    run platforms "$folder/cpu.json"
    want_rc 0
    want_out "the fastest matrix product"
fi

finish
