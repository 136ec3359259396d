#!/usr/bin/env bash
# select DIR...: which files are jobs, whatever their order; what the chosen
# ones weigh; and that they are better than chosen at random.
. "$(dirname "$0")/lib.bash"
in_turn replay/fleet

samples=${SOURCE_DIR:?the source folder}/data/traces
kineto=kineto/rank-0.json.gz

# checked: the selection in $folder/out adds up.
checked() {
    command -v python3 >/dev/null || return 0
    python3 - "$folder/out" "$@" <<'PYTHON' || complain "the figures are wrong"
import json, math, random, sys

s = json.load(open(sys.argv[1]))
assert s["schema"] == "mystique-sim/selection/1", s["schema"]
assert list(s) == ["schema", "version", "weighed_by", "selected",
                   "largest_difference", "kinds", "jobs", "left_out", "import"], list(s)
jobs = {j["job"]: j for j in s["jobs"]}
assert len(jobs) == len(s["jobs"])

def close(a, b, what, off=1e-9):
    assert math.isclose(a, b, rel_tol=off, abs_tol=off), (what, a, b)

# Weights and shares are parts of wholes.
close(sum(j["weight"] for j in jobs.values()), 1, "weights of jobs")
close(sum(c["weight"] for c in s["selected"]), 1, "weights of the selected")
close(sum(c["stands_for_share"] for c in s["selected"]), 1, "stood for")
assert sum(c["stands_for_jobs"] for c in s["selected"]) == len(jobs)
for j in jobs.values():
    close(sum(j["shares"].values()), 1, j["job"])

if s["weighed_by"] == "traced time":
    whole = sum(j["device_time_us"] for j in jobs.values())
    for j in jobs.values():
        close(j["weight"], j["device_time_us"] / whole, j["job"])
times = [j["device_time_us"] for j in s["jobs"]]
assert times == sorted(times, reverse=True)

# The fleet is the mean of all jobs, the selection that of the chosen ones.
kinds = [k["kind"] for k in s["kinds"]]
vector = {n: [j["shares"][k] for k in kinds] for n, j in jobs.items()}

def mixture(weights):
    return [sum(w * vector[n][i] for n, w in weights.items())
            for i in range(len(kinds))]

fleet = mixture({n: j["weight"] for n, j in jobs.items()})
chosen = {c["job"]: c["weight"] for c in s["selected"]}
mixed = mixture(chosen)
for k, a, b in zip(s["kinds"], fleet, mixed):
    close(k["fleet_share"], a, k["kind"])
    close(k["selection_share"], b, k["kind"])
worst = max(abs(a - b) for a, b in zip(fleet, mixed))
close(s["largest_difference"]["share"], worst, "largest difference")

# Everyone is stood for by the nearest.
for n, j in jobs.items():
    off = {c: math.dist(vector[n], vector[c]) for c in chosen}
    close(j["distance"], off[j["stood_for_by"]], n)
    close(j["distance"], min(off.values()), n)

# The best mixture of some jobs: weight moves between two of them at a time.
def fit(names):
    y = [[a - b for a, b in zip(vector[n], fleet)] for n in names]
    gram = [[sum(a * b for a, b in zip(p, q)) for q in y] for p in y]
    w = [1 / len(names)] * len(names)
    for _ in range(2000):
        g = [sum(a * b for a, b in zip(row, w)) for row in gram]
        to = min(range(len(w)), key=lambda i: g[i])
        at = max((i for i in range(len(w)) if w[i] > 0), key=lambda i: g[i])
        if g[at] - g[to] < 1e-10:
            break
        curve = gram[at][at] + gram[to][to] - 2 * gram[at][to]
        move = min(w[at], (g[at] - g[to]) / curve) if curve > 0 else w[at]
        w[at] -= move
        w[to] += move
    return dict(zip(names, w))

# The weights are the best that the chosen ones can have.
def squares(weights):
    return sum((a - b) ** 2 for a, b in zip(fleet, mixture(weights)))

assert squares(chosen) <= squares(fit(list(chosen))) + 1e-8

# Against others chosen at random, each mixed as well as it can be.
if len(sys.argv) > 2:
    points, least = float(sys.argv[2]), int(sys.argv[3])
    assert 100 * worst <= points, worst
    rng = random.Random(4)
    offs, spreads = [], []
    for _ in range(100):
        names = rng.sample(sorted(jobs), len(chosen))
        offs.append(max(abs(a - b)
                        for a, b in zip(fleet, mixture(fit(names)))))
        spreads.append(sum(
            j["weight"] * min(math.dist(vector[n], vector[c])
                              for c in names) ** 2 for n, j in jobs.items()))
    own = sum(j["weight"] * j["distance"] ** 2 for j in jobs.values())
    beaten = sum(worst < o for o in offs)
    nearer = sum(own < o for o in spreads)
    print(f"{100 * worst:.2f} points; of 100 at random the best "
          f"{100 * min(offs):.2f}, median {100 * sorted(offs)[50]:.2f}, "
          f"{beaten} are further off; {nearer} are less like all jobs "
          f"({own:.4f}, best {min(spreads):.4f})")
    assert beaten >= least and nearer >= least, (beaten, nearer)
PYTHON
}

# names: the jobs that were found, one a line; from --csv.
names() {
    sed '1d; s/,.*//' "$folder/out"
}

# ---- the samples: a folder a job ---------------------------------------------

run select "$samples" -k 3
want_rc 0
want_no_err
want_out "these 3 of 7 jobs stand for the fleet: shares of its time within "
want_out "of 7 the device is the CPU"
! grep -nE '.{101}| $' "$folder/out" >&2 || complain "an untidy line"
run select "$samples" --json
want_rc 0
checked
cp "$folder/out" "$folder/first"
[ "$(grep -c '"stands_for_jobs"' "$folder/out")" = 4 ] || complain "not four"
run select -k 7 --json "$samples"
want_rc 0
checked
want_out '"largest_difference": {"kind": '
run select -k 1 --json "$samples"
want_rc 0
checked
run select --csv "$samples"
want_rc 0
[ "$(names | sort)" = "$(printf '%s\n' "$samples"/*/ | sed 's|/$||' |
    sort)" ] || complain "other jobs: $(names)"

# Files in any order, twice, below other names: the same jobs.
run select --json "$samples"/vit "$samples"/b* "$samples"/resnet \
    "$samples"/dlrm-ddp-2ranks "$samples" "$samples"/gpt2/et
want_rc 0
cmp -s "$folder/out" "$folder/first" || complain "the order of files matters"
mkdir "$folder/renamed"
i=9
for job in "$samples"/*/; do
    mkdir -p "$folder/renamed/$i"
    cp -r "$job/kineto" "$folder/renamed/$i/"
    i=$((i - 1))
done
# The traces alone: without what an ET says of shapes nothing here changes.
run select --json "$folder/renamed"
want_rc 0
for field in weight stands_for_share distance; do
    [ "$(grep -o "\"$field\": [0-9.e-]*" "$folder/out")" = \
        "$(grep -o "\"$field\": [0-9.e-]*" "$folder/first")" ] ||
        complain "$field differs with the names"
done

# ---- which files are one job --------------------------------------------------

mkdir -p "$folder/jobs/a" "$folder/jobs/b/et" "$folder/jobs/b/kineto"
cp "$samples/bert/$kineto" "$folder/jobs/a/batch-2.json.gz"
cp "$samples/gpt2/$kineto" "$folder/jobs/a/batch-8.json.gz"
cp "$samples"/dlrm-ddp-2ranks/kineto/* "$folder/jobs/b/kineto"
cp "$samples"/dlrm-ddp-2ranks/et/* "$folder/jobs/b/et"
cp "$samples/vit/et/rank-0.json.gz" "$folder/jobs/lonely.json.gz"
echo '{"a": 1}' >"$folder/jobs/a/meta.json"
echo 'no trace' >"$folder/jobs/notes.txt"
head -c 3000 "$samples/bert/$kineto" >"$folder/jobs/cut.json.gz"
run select --csv "$folder/jobs"
want_rc 0
[ "$(names | sed "s|$folder/jobs/||" | sort | xargs)" = \
    "a/batch-2.json.gz a/batch-8.json.gz b" ] || complain "jobs: $(names)"
want_err "left out $folder/jobs/lonely.json.gz: an execution trace alone has"
want_err "left out $folder/jobs/cut.json.gz: "
[[ $err != *meta.json* ]] || complain "a note is taken for a trace: $err"
run select "$folder/jobs"
want_out "; 2 left out"
run select --json "$folder/jobs"
want_rc 0
checked
want_out '"ranks": 2'
want_out "/b/et/rank-1.json.gz\"]"
run select "$folder/jobs/b" "$folder/jobs/a/batch-2.json.gz"
want_rc 0
want_out "these 2 of 2 jobs"
run select "$folder/jobs/b"
want_rc 0
want_out "this 1 of 1 job stands for the fleet: shares of its time within 0.0"

# ---- weights ------------------------------------------------------------------

run select --json --weight job "$samples"
want_rc 0
checked
want_out '"weighed_by": "job"'
printf 'job,hours,weight\n%s,x,3\n%s,x,1\n' "$samples/bert" "$samples/vit" \
    >"$folder/hours.csv"
run select --json --weight "$folder/hours.csv" "$samples"
want_rc 0
checked
want_out "\"job\": \"$samples/bert\", \"weight\": 0.75"
want_out "\"job\": \"$samples/gpt2\", \"weight\": 0, "
run select --csv "$samples"
cp "$folder/out" "$folder/own.csv"
run select --csv --weight "$folder/own.csv" "$samples"
want_rc 0
diff <(cut -d, -f1,5 "$folder/out") <(cut -d, -f1,5 "$folder/own.csv") >&2 ||
    complain "its own weights give something else"
bad_table() { # TEXT LINE...: of a table
    local text=$1
    shift
    printf '%s\n' "$@" >"$folder/bad.csv"
    run select --weight "$folder/bad.csv" "$samples"
    want_rc 3
    want_no_out
    want_err "$text"
}
bad_table "line 2: no job is called '$samples/bart', did you mean" \
    job,weight "$samples/bart,1"
bad_table "line 3: the job has a weight already" job,weight \
    "$samples/bert,1" "$samples/bert,2"
for bad in -1 nan inf x ''; do
    bad_table "line 2: the weight is no number" job,weight "$samples/bert,$bad"
done
bad_table "the weights sum to 0, want more" job,weight "$samples/bert,0"
bad_table "has no column 'weight'" job,hours "$samples/bert,0"

# ---- the chart ----------------------------------------------------------------

if command -v gnuplot >/dev/null; then
    run select --chart "$folder/fleet.svg" "$samples"
    want_rc 0
    grep -q "these 4 of 7 jobs stand for the fleet" "$folder/fleet.svg" ||
        complain "no chart"
    run select --chart "$folder/fleet.png" "$samples"
    want_rc 0
    [ "$(head -c 4 "$folder/fleet.png" | tail -c 3)" = PNG ] ||
        complain "no PNG"
fi
usage_error "option '--chart' is 'x.pdf', want a file that ends in .svg or" \
    select --chart x.pdf "$samples"

# ---- wrong command lines and inputs -------------------------------------------

usage_error "'select' wants TRACE|DIR..., got nothing" select
usage_error "option '-k' is '0', want a whole number from 1 to" select -k 0 x
usage_error "option '-k' is 'few', want" select -k few x
usage_error "option '-k' is 8, want 7 at most: so many jobs have times" \
    select -k 8 "$samples"
usage_error "unknown option '--kk'" select --kk 3 x
usage_error "got both --json and --csv" select --json --csv x
run select "$folder/absent"
want_rc 3
want_err "$folder/absent: cannot open: No such file or directory"
run select "$samples/bert/et" "$samples/vit/et"
want_rc 3
want_no_out
want_err "no job with times: 2 left out, such as "
mkdir "$folder/empty"
run select "$folder/empty"
want_rc 3
want_err "no trace in 0 files"
# One of several may be a note, as of `*`; one that is not there was mistyped.
echo "# notes" >"$folder/notes.md"
run select "$samples/bert" "$folder/notes.md" "$folder/jobs/cut.json.gz"
want_rc 0
want_err "left out $folder/notes.md: "
want_err "left out $folder/jobs/cut.json.gz: "
want_out "; 2 left out"
run select "$samples/bert" "$folder/nosuch.json"
want_rc 3
want_err "nosuch.json: cannot open"
run select "$folder/jobs/cut.json.gz"
want_rc 3
want_err "cut.json.gz:"

# ---- real jobs ----------------------------------------------------------------

if [ -n "${MSIM_TRACES:-}" ]; then
    real=$MSIM_TRACES/traces
    run select -k 4 --json "$real"
    want_rc 0
    checked 5 100
    cp "$folder/out" "$folder/first"
    want_err "megatron-8b-tp8-a100: an execution trace alone has no times"
    # shellcheck disable=SC2046 # names have no blanks
    run select -k 4 --json $(find "$real" -mindepth 1 -maxdepth 1 -type d |
        sort -r) "$real"
    want_rc 0
    cmp -s "$folder/out" "$folder/first" ||
        complain "the order of folders matters"
    run select -k 4 --json --weight job "$real"
    want_rc 0
    checked 5 95
fi

finish
