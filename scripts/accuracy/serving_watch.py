#!/usr/bin/env python3
"""How well `watch` foresees violations, on a simulated cluster; and its trees.

    scripts/accuracy/serving_watch.py --plant PLANT --topologies DIR
        [--folder RUNS] [--build build] [--fit data/laws/watch.json | --days 2,3]

PLANT is the program of a cluster (`cc -O2 -o plant plant.c -lm` of the shared
serving folder), DIR the folder of its topologies. The runs are made once and
stay in RUNS.

Topologies come in two halves. The trees of all applications are fitted to one
half and judged on the other, and the other way round; what stands in
data/laws/watch.json is then fitted to both (--fit). By half, into
tests/accuracy/serving_watch.csv:

* ramps: runs of 200 s, most with one fault that grows for 10 to 30 s, a third
  of them without pressure counters. The alarm is a p_violation from a threshold
  on that gives 6 false alarms an hour (seconds without a violation in the
  horizon, 10 s or more apart). Foreseen: it came after the fault began and
  before the first of two violating seconds. Lead, stage and resource are of the
  foreseen ones; a ramp of traffic has no stage.
* load: runs of 300 s with bursts, while replicas change; `learn` says how good
  its trees are on the parts of the runs held back. Ten runs hold so few calm
  seconds before a violation that another ten give another AUC by 0.03; so
  `watch --model` is asked for runs that `learn` has not seen, too.
* loop: a day of 500 s with bursts; `watch --advise` sets the replicas. Beside
  it the best scaler that keeps workers below a share of time held, of those
  that stay below 2 % late requests. Clairvoyant: replicas of the plan found by
  search at the full rate, times the highest rate of the next 2 s, rounded up.

--days judges the loop alone, on days of other seeds than the table's, by the trees
that are shipped: numbers of advice that are set by hand are chosen on these.
"""
import argparse
import bisect
import csv
import json
import math
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile

HALVES = {
    "first": ["hotel-1", "rag-1", "random5-1", "random14-1", "random30-1", "video-1"],
    "second": ["agent-1", "media-1", "random20-1", "random8-1", "recsys-1", "social-1"],
}
LOADED = {"first": ["hotel-1", "rag-1"], "second": ["random8-1", "social-1"]}
RAMPS, MANY, LOADS = 24, 14, 10  # runs a topology
OTHERS = range(100, 140)  # seeds of runs that `learn` does not see
HORIZON = 5
FALSE_AN_HOUR = 6
RESOURCE = {"cpu": "cpu", "memory": "memory", "disk": "disk", "net": "network",
            "workers": "workers", "traffic": "load"}


class Plant:
    def __init__(self, program, topologies, folder):
        self.program, self.topologies, self.folder = program, topologies, folder

    def app(self, name):
        return self.topologies / f"{name}.app.json"

    def read(self, name, kind):
        return json.loads((self.topologies / f"{name}.{kind}.json").read_text())

    def limit(self, name):
        return max(s["limit_ms"] for s in self.read(name, "app")["slo"])

    def command(self, verb, name, *more):
        return [self.program, verb, str(self.topologies / f"{name}.plant.json"), *map(str, more)]


def write(path, what):
    path.write_text(json.dumps(what))
    return path


# ---- runs ------------------------------------------------------------------

def fault(rng, app, t):
    kind = rng.choice(["cpu", "memory", "net", "disk", "workers", "traffic"])
    f = {"t": t, "kind": kind, "ramp_s": rng.choice([10, 15, 20, 30]), "hold_s": 10, "share": 1}
    limit = max(s["limit_ms"] for s in app["slo"])
    if kind == "traffic":
        f["factor"] = rng.uniform(1.4, 2.5)
    else:
        f["stage"] = rng.choice(list(app["stages"]))
    if kind in ("cpu", "memory", "disk"):
        f["factor"] = rng.uniform(2.5, 8)
    if kind in ("cpu", "disk") and rng.random() < .25:
        f["share"] = .5
    if kind == "net":
        f["factor"] = limit * rng.uniform(.2, .8)
    if kind == "workers":
        f["factor"] = rng.uniform(2, 6)
    return f


def without_pressure(path):
    lines = []
    for line in path.read_text().splitlines():
        cells = line.split(",")
        lines.append(",".join(cells[:10] + cells[13:]))
    path.write_text("\n".join(lines) + "\n")


def plan_of(replicas):
    return {"stages": {k: {"replicas": v} for k, v in replicas.items()}}


def make_ramps(plant, name, seed, out, many):
    """One fault or none in 200 s, or many in 430."""
    rng = random.Random(f"m{name}{seed}" if many else f"{name}{seed}")
    app, oracle = plant.read(name, "app"), plant.read(name, "oracle")
    seconds = 430 if many else 200
    scale = rng.uniform(.6, .95 if many else .92)
    if many:
        faults = [fault(rng, app, t + rng.uniform(-8, 8)) for t in range(60, seconds - 50, 75)]
    else:
        faults = [] if seed % 4 == 0 else [fault(rng, app, rng.uniform(60, 140))]
    subprocess.run(plant.command(
        "run", name, "--plan", write(out.with_suffix(".csv.plan"), plan_of(oracle["replicas"])),
        "--faults", write(out.with_suffix(".csv.fault"), faults),
        "--rate", oracle["rate"] * scale, "--seconds", seconds,
        "--seed", seed + (9000 if many else 1000), "--counters", out),
        stdout=subprocess.DEVNULL, check=True)
    if rng.random() < 1 / 3:
        without_pressure(out)


def bursts(rng, seconds):
    points, t, base = [], 0, rng.uniform(.7, 1)
    while t < seconds:
        points.append([t, base * rng.uniform(.85, 1.15)])
        t += rng.uniform(10, 25)
        if rng.random() < .5:
            up, rise = rng.uniform(1.15, 1.7), rng.uniform(2, 6)
            points += [[t, points[-1][1]], [t + rise, base * up],
                       [t + rise + rng.uniform(3, 8), base * up]]
            t += 18
            points.append([t, base])
    return points


def step(plant, name, decide, *more):
    """The closed loop: decide(lines) after each second; the plant's summary."""
    p = subprocess.Popen(plant.command("step", name, *more), text=True,
                         stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    lines = []
    for line in p.stdout:
        if line.startswith("{"):
            p.wait()
            return json.loads(line)
        if not line.startswith("#"):
            lines.append(line)
            continue
        replicas = decide(lines)
        lines = []
        p.stdin.write((json.dumps({"replicas": replicas}) if replicas else "go") + "\n")
        p.stdin.flush()
    sys.exit(f"{name}: the plant said nothing at its end")


def make_load(plant, name, seed, out, seconds=300):
    rng = random.Random(f"x{name}{seed}")
    oracle = plant.read(name, "oracle")["replicas"]
    plan = write(out.with_suffix(".csv.plan"), plan_of(oracle))
    profile = write(out.with_suffix(".csv.prof"), bursts(rng, seconds))
    state = {"t": 0, "next": rng.uniform(10, 25)}
    with out.open("w") as counters:
        def decide(lines):
            counters.writelines(lines)
            state["t"] += 1
            if state["t"] <= state["next"]:
                return None
            state["next"] = state["t"] + rng.uniform(10, 25)
            new = {k: max(1, round(v * rng.choice([.8, .9, 1, 1, 1, 1.1, 1.3])))
                   for k, v in oracle.items()}
            if rng.random() < .6:
                k = rng.choice(list(new))
                new[k] = max(1, new[k] - 1)
            return new
        step(plant, name, decide, "--plan", plan, "--seconds", seconds,
             "--seed", seed + 5000, "--profile", profile)


def make_runs(plant, name, kind, seeds, make):
    folder = plant.folder / kind / name
    folder.mkdir(parents=True, exist_ok=True)
    for seed in seeds:
        out = folder / f"{seed}.csv"
        if not out.exists():
            make(plant, name, seed, out)
    return folder


def make_all(plant, names):
    for name in names:
        make_runs(plant, name, "one", range(RAMPS), lambda *a: make_ramps(*a, False))
        make_runs(plant, name, "many", range(MANY), lambda *a: make_ramps(*a, True))
        make_runs(plant, name, "load", range(LOADS), make_load)


# ---- ramps -----------------------------------------------------------------

def violating(path, limit):
    """{second: does it violate}, by the definition of the contract."""
    seconds = {}
    for row in csv.DictReader(path.open()):
        if row["stage"] == "e2e" and float(row["p99_ms"] or 0) > 0:
            seconds.setdefault(math.ceil(float(row["t"]) - 1e-6), []).append(float(row["p99_ms"]))
    return {t: statistics.median(v) > limit for t, v in seconds.items()}


def verdicts(program, plant, name, path, *more):
    out = subprocess.run([program, "watch", plant.app(name), "--counters", path, "--csv", *more],
                         stdout=subprocess.PIPE, text=True, check=True).stdout
    return [(round(float(r["t"])), float(r["p_violation"]), r["stage"], r["resource"])
            for r in csv.DictReader(out.splitlines())]


def first_violation(late, f):
    """The first of two violating seconds (of three) after a fault began."""
    end = f["t"] + f["ramp_s"] + f["hold_s"] + 2
    return next((t for t in sorted(late) if f["t"] <= t <= end and late[t]
                 and (late.get(t + 1) or late.get(t + 2))), None)


def look(program, plant, name, path):
    """Quiet seconds as (t, p), and the event: (fault, its verdicts, its second)."""
    late = violating(path, plant.limit(name))
    faults = json.loads(path.with_suffix(".csv.fault").read_text())
    begins = faults[0]["t"] if faults else math.inf
    rows = verdicts(program, plant, name, path)
    quiet = [(t, p) for t, p, *_ in rows if 20 <= t <= begins
             and not any(late.get(t + k) for k in range(HORIZON + 1))]
    first = first_violation(late, faults[0]) if faults else None
    if first is None:
        return quiet, None
    return quiet, (faults[0], [r for r in rows if begins < r[0] < first], first)


def false_alarms(quiet, threshold):
    n = 0
    for run in quiet:
        last = -math.inf
        for t, p in run:
            if p >= threshold:
                n += t - last > 10
                last = t
    return n


def judge_ramps(program, plant, names):
    quiet, events = [], []
    for name in names:
        for path in sorted((plant.folder / "one" / name).glob("*.csv")):
            q, event = look(program, plant, name, path)
            quiet.append(q)
            events += [event] if event else []
    hours = sum(map(len, quiet)) / 3600
    threshold = next(x / 200 for x in range(1, 201)
                     if false_alarms(quiet, x / 200) <= FALSE_AN_HOUR * hours)
    leads, stages, resources = [], [], []
    for f, rows, first in events:
        hit = next((r for r in rows if r[1] >= threshold), None)
        if not hit:
            continue
        leads.append(first - hit[0])
        resources.append(hit[3] == RESOURCE[f["kind"]])
        if f["kind"] != "traffic":
            stages.append(hit[2] == f["stage"])
    return [("ramps foreseen", len(events), len(leads) / len(events)),
            ("lead of ramps, median s", len(leads), statistics.median(leads)),
            ("stage of ramps", len(stages), statistics.mean(stages)),
            ("resource of ramps", len(resources), statistics.mean(resources))]


# ---- load ------------------------------------------------------------------

def replicas_by_second(path):
    seconds = {}
    for row in csv.DictReader(path.open()):
        if row["stage"] != "e2e":
            t = math.ceil(float(row["t"]) - 1e-6)
            seconds.setdefault(t, {})[row["stage"]] = row["replicas"]
    return seconds


def calm_seconds(program, plant, name, path):
    """(p_violation, did one come within the horizon) of seconds that do not
    violate, and in whose horizon no replica comes or goes."""
    late, plans = violating(path, plant.limit(name)), replicas_by_second(path)
    rows = verdicts(program, plant, name, path, "--model", plant.folder / "model.json")
    for t, p, *_ in rows:
        ahead = range(t + 1, t + HORIZON + 1)
        if (ahead[-1] in plans and not late.get(t)
                and all(plans[u] == plans[t] for u in ahead)):
            yield p, any(late.get(u) for u in ahead)


def auc(said):
    """How often a second before a violation was given more than another."""
    yes = [p for p, came in said if came]
    no = sorted(p for p, came in said if not came)
    above = sum(bisect.bisect_left(no, p) + bisect.bisect_right(no, p) for p in yes) / 2
    return above / (len(yes) * len(no))


def judge_others(program, plant, name):
    runs = make_runs(plant, name, "other", OTHERS, make_load)
    said = [s for seed in OTHERS
            for s in calm_seconds(program, plant, name, runs / f"{seed}.csv")]
    return (f"AUC of {name}, {len(OTHERS)} other runs", len(said), auc(said))


def judge_load(program, plant, names):
    rows = []
    for name in names:
        runs = plant.folder / "load" / name
        out = subprocess.run([program, "learn", plant.app(name), "--runs", runs, "--json",
                              "-o", plant.folder / "model.json"],
                             stdout=subprocess.PIPE, text=True, check=True).stdout
        f = json.loads(out)
        n = f["calm_seconds"]
        rows += [(f"AUC of {name}", n, f["auc"]["trees"]),
                 (f"AUC of {name}, persistence", n, f["auc"]["persistence"]),
                 (f"calibration error of {name}", n, f["calibration_error"]["trees"]),
                 (f"p99 error of {name}", f["held_seconds"], f["p99_error"]["trees"]),
                 (f"p99 error of {name}, persistence", f["held_seconds"],
                  f["p99_error"]["persistence"]),
                 judge_others(program, plant, name)]
    return rows


# ---- loop ------------------------------------------------------------------

def day(rng, seconds):
    points = [[t, .65 - .35 * math.cos(2 * math.pi * t / seconds) + rng.uniform(-.03, .03)]
              for t in range(0, seconds + 1, 10)]
    for _ in range(4):
        t, up, rise = rng.uniform(.1, .9) * seconds, rng.uniform(1.25, 1.6), rng.uniform(3, 8)
        end = t + rise + rng.uniform(8, 15)
        burst = [[t, rate_at(points, t)], [t + rise, rate_at(points, t + rise) * up],
                 [end, rate_at(points, end) * up], [end + rise, rate_at(points, end + rise)]]
        points = sorted([q for q in points if not t <= q[0] <= end + rise] + burst)
    return points


def rate_at(points, t):
    for (a, b), (c, e) in zip(points, points[1:]):
        if a <= t <= c:
            return b + (e - b) * (t - a) / max(1e-9, c - a)
    return points[-1][1]


def threshold_scaler(share, replicas):
    """More at once; fewer when 20 s asked for fewer."""
    held, now = {}, dict(replicas)

    def decide(lines):
        busy, new = {}, {}
        for line in lines:
            cells = line.split(",")
            if cells[1] in now:
                busy.setdefault(cells[1], []).append((float(cells[4]), int(cells[5])))
        for k, windows in busy.items():
            mean = sum(b for b, _ in windows) / len(windows)
            held.setdefault(k, []).append(mean * windows[-1][1])
            need = max(1, math.ceil(held[k][-1] / share))
            low = max(1, math.ceil(max(held[k][-20:]) / share))
            n = max(need, min(low, now[k]))
            if n != now[k]:
                new[k] = now[k] = n
        return new
    return decide


def loop(plant, name, seed, seconds, scaler):
    oracle = plant.read(name, "oracle")
    replicas = {k: max(1, math.ceil(v * .5)) for k, v in oracle["replicas"].items()}
    profile = day(random.Random(f"day{name}{seed}"), seconds)
    least = sum(max(1, math.ceil(v * max(rate_at(profile, t + d) for d in (0, 1, 2))))
                for t in range(seconds // 10, seconds) for v in oracle["replicas"].values())
    s = step(plant, name, scaler(replicas), "--plan",
             write(plant.folder / "plan.json", plan_of(replicas)), "--rate", oracle["rate"],
             "--seconds", seconds, "--seed", seed + 77,
             "--profile", write(plant.folder / "profile.json", profile))
    late = sum(c["violations"] * c["requests"] for c in s["classes"].values())
    return late / max(1, s["requests"]), s["replica_seconds"] / least


def watched(program, plant, name):
    w = subprocess.Popen([program, "watch", plant.app(name), "--counters", "-", "--advise",
                          "--json"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def decide(lines):
        w.stdin.writelines(lines)
        w.stdin.flush()
        return json.loads(w.stdout.readline())["replicas"]
    return w, decide


def advised(program, plant, name, seed, seconds):
    w, decide = watched(program, plant, name)
    judged = loop(plant, name, seed, seconds, lambda _: decide)
    w.stdin.close()
    w.wait()
    return judged


def judge_days(program, plant, names, seeds, seconds=500):
    days = []
    for seed in seeds:
        for name in names:
            days.append(advised(program, plant, name, seed, seconds))
            print(f"day {seed} of {name:24}late {days[-1][0]:.4f} over clairvoyant "
                  f"{days[-1][1]:.4f}", flush=True)
    late, cost = zip(*days)
    print(f"{len(days)} days: late {statistics.mean(late):.4f}, at most {max(late):.4f}; "
          f"over clairvoyant {statistics.mean(cost):.4f}, at most {max(cost):.4f}")


def judge_loop(program, plant, names, seconds=500):
    rows = []
    for name in names:
        late, cost = advised(program, plant, name, 1, seconds)
        best = [loop(plant, name, 1, seconds, lambda r, s=share: threshold_scaler(s, r))
                for share in (.5, .6, .7)]
        cheap = min((c for v, c in best if v <= .02), default=math.nan)
        rows += [(f"late in the loop of {name}", seconds, late),
                 (f"replicas over clairvoyant of {name}", seconds, cost),
                 (f"replicas over clairvoyant of {name}, best threshold", seconds, cheap)]
    return rows


# ---- the whole -------------------------------------------------------------

def fit(build, plant, names, out):
    pairs = []
    for name in names:
        for kind in ("one", "many", "load"):
            pairs += [plant.app(name), plant.folder / kind / name]
    subprocess.run([build / "msim-learn", f"--out={out}", *pairs], check=True)


def judge_half(args, plant, half, other):
    with tempfile.TemporaryDirectory() as folder:
        data = pathlib.Path(folder)
        (data / "laws").mkdir()
        (data / "platforms").symlink_to(pathlib.Path("data/platforms").resolve())
        fit(args.build, plant, HALVES[other], data / "laws/watch.json")
        os.environ["MSIM_DATA"] = folder
        program = args.build / "mystique-sim"
        rows = judge_ramps(program, plant, HALVES[half])
        rows += judge_load(program, plant, LOADED[half])
        return rows + judge_loop(program, plant, HALVES[half])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--plant", required=True, type=pathlib.Path)
    parser.add_argument("--topologies", required=True, type=pathlib.Path)
    parser.add_argument("--folder", type=pathlib.Path, default=pathlib.Path("build/watch_runs"))
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build"))
    parser.add_argument("--fit", type=pathlib.Path, help="write the trees of all topologies")
    parser.add_argument("-o", type=pathlib.Path,
                        default=pathlib.Path("tests/accuracy/serving_watch.csv"))
    parser.add_argument("--days", type=lambda text: [int(s) for s in text.split(",")],
                        metavar="SEED,...", help="judge the loop alone, on these days")
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    plant = Plant(args.plant, args.topologies, args.folder)
    every = sum(HALVES.values(), [])
    if args.days:
        judge_days(args.build / "mystique-sim", plant, every, args.days)
        return
    make_all(plant, every)
    if args.fit:
        fit(args.build, plant, every, args.fit)
        return
    with args.o.open("w", newline="") as f:
        out = csv.writer(f, lineterminator="\n")
        out.writerow(["half", "figure", "of", "value"])
        for half, other in (("first", "second"), ("second", "first")):
            for figure, n, value in judge_half(args, plant, half, other):
                out.writerow([half, figure, n, f"{value:.4f}"])
                print(f"{half:8}{figure:60}{n:7}{value:9.4f}", flush=True)


if __name__ == "__main__":
    main()
