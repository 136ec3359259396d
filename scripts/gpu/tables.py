"""Tables of what came back from a GPU, as lists of rows (used by finish.py).

FOLDER has what look and measure kept: captures/NAME, results/, kernels/, and
journals/ unpacked.
"""

import collections
import json
import re
import statistics

import compare_captures

METERED = ["sm_util", "sm_occupancy", "tensor_util", "dram_util", "power_w",
           "sm_mhz"]


def read(path):
    """JSON of a file, or None."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def short(number, digits=3):
    return "" if number is None else f"{number:.{digits}f}"


def captures(folder):
    """Name -> meta.json, of jobs that were captured once."""
    found = {}
    for path in sorted((folder / "captures").glob("*/meta.json")):
        meta = read(path)
        if meta and not path.parent.name.endswith("-again"):
            found[path.parent.name] = meta
    return found


def measured(binary, folder, meta):
    """Figure -> number: bare steps, kernels of the recorded ones, memory."""
    out = compare_captures.measured(binary, folder)
    out["memory_bytes"] = meta["ranks"][0]["peak_memory"]["bytes"]
    return out


# ---- blind -----------------------------------------------------------------

JOBS = ["platform", "job", "figure", "measured", "predicted", "low", "high",
        "error_percent", "inside"]


def against_blind(binary, folder, predictions, platform):
    """Rows of JOBS: what was predicted before against what was measured."""
    rows = []
    for job, meta in captures(folder).items():
        there = measured(binary, folder / "captures" / job, meta)
        for p in predictions:
            if (p["platform"], p["job"]) != (platform, job) or \
                    p["figure"] not in there:
                continue
            value, guess = there[p["figure"]], float(p["predicted"])
            inside = "" if not p["low"] else \
                "y" if float(p["low"]) <= value <= float(p["high"]) else "n"
            rows.append({**{k: p[k] for k in JOBS if k in p},
                         "measured": short(value),
                         "error_percent": f"{100 * (guess / value - 1):.1f}",
                         "inside": inside})
    return rows


# ---- Mystique's own evaluation -----------------------------------------------

EVALUATION = ["job", "program", "step_ms", "kernel_ms", *METERED, "joules_a_step",
              "peak_bytes", "equal"]


def metered(found):
    """Columns of what the meter said; a device tells some of it."""
    found = found or {}
    steps, joules = found.get("steps"), found.get("joules")
    out = {name: short(found.get(name), 4) for name in METERED}
    out["joules_a_step"] = short(joules / steps, 4) if steps and joules else ""
    return out


def of_benchmark(path):
    found = read(path)
    if not found:
        return None
    equal = found.get("certified")
    return {"program": "benchmark", "step_ms": short(found["ms"]),
            **metered(found.get("metered")), "peak_bytes": found["peak_bytes"],
            "equal": "" if equal is None else "y" if equal else "n"}


def of_replays(results, job):
    """A replay is the sum of its operators, or these in a row: no step."""
    rows = []
    for cache in ("cold", "warm"):
        found = read(results / f"replay-{job}-{cache}.json")
        if found:
            rows.append({"program": f"replay, {cache} caches",
                         "kernel_ms": short(found["operators_us"] / 1e3)})
        if cache == "warm" and found and "together_us" in found:
            rows.append({"program": "replay, in a row",
                         "kernel_ms": short(found["together_us"] / 1e3)})
    return rows


def evaluation(binary, folder):
    """Rows of EVALUATION: each job, its benchmark and its replays."""
    rows = []
    results = folder / "results"
    for job, meta in captures(folder).items():
        capture = folder / "captures" / job
        bench = of_benchmark(results / f"bench-{job}.json")
        replays = of_replays(results, job)
        if not bench and not replays:
            continue
        there = measured(binary, capture, meta)
        rows.append({"job": job, "program": "original",
                     "step_ms": short(there["iteration_us"] / 1e3),
                     "kernel_ms": short(there.get("kernel_us", 0) / 1e3 or None),
                     **metered(meta.get("metered")),
                     "peak_bytes": there["memory_bytes"]})
        rows += [{"job": job, **row} for row in (bench, *replays) if row]
    return rows


VALIDATED = ["job", "name", "operators", "measured_us", "replayed_us",
             "predicted_us"]


def validated(binary, folder, platform):
    """Rows of VALIDATED: operators by family, traced, replayed and predicted."""
    rows = []
    for job in captures(folder):
        replayed = folder / "results" / f"replay-{job}-cold.json.gz"
        if not replayed.exists():
            continue
        found = json.loads(compare_captures.run(
            binary, ["validate", "--json", "--platform", platform,
                     folder / "captures" / job, replayed]))
        rows += [{"job": job, "name": r["name"], "operators": r["operators"],
                  **{k: short(r[k]) for k in VALIDATED[3:]}}
                 for r in found["rows"] if r["name"] != "step"]
    return rows


# ---- twice -------------------------------------------------------------------

REPEATS = ["what", "cases", "second_over_first", "apart_median_percent",
           "apart_p90_percent"]


def repeat_row(what, ratios):
    apart = sorted(abs(r - 1) for r in ratios)
    return {"what": what, "cases": len(ratios),
            "second_over_first": f"{statistics.median(ratios):.4f}",
            "apart_median_percent": f"{100 * statistics.median(apart):.2f}",
            "apart_p90_percent":
                f"{100 * apart[int(0.9 * (len(apart) - 1))]:.2f}"}


def lines(path):
    """Of a file of JSON lines; the last one may have been cut off."""
    if not path.exists():
        return []
    text = path.read_text(encoding="utf-8").splitlines(keepends=True)
    return [json.loads(line) for line in text if line.endswith("}\n")]


def times(path):
    """(table, experiment) -> microseconds: of several visits the median."""
    visits = collections.defaultdict(list)
    for entry in lines(path):
        if "time_us" in entry.get("answer", {}):
            e = entry["experiment"]
            visits[e["table"], json.dumps(e, sort_keys=True)].append(
                entry["answer"]["time_us"])
    return {key: statistics.median(us) for key, us in visits.items()}


def again_captures(binary, folder):
    """What -> ratios, of jobs that were captured twice."""
    ratios = collections.defaultdict(list)
    for path in sorted((folder / "captures").glob("*-again/meta.json")):
        first = path.parent.with_name(path.parent.name.removesuffix("-again"))
        if (first / "meta.json").exists():
            before, after = (compare_captures.measured(binary, f)
                             for f in (first, path.parent))
            for figure in before.keys() & after.keys():
                ratios[f"{first.name}: {figure}"].append(
                    after[figure] / before[figure])
    return ratios


def repeats(binary, folder):
    """Rows of REPEATS: experiments and captures, each timed twice."""
    ratios = collections.defaultdict(list)
    for backend in ("torch", "cuda"):
        first, second = (times(folder / "journals" / f"{name}.journal.jsonl")
                         for name in (backend, f"again-{backend}"))
        for key in first.keys() & second.keys():
            ratios[f"{backend}: {key[0]}"].append(second[key] / first[key])
    ratios.update(again_captures(binary, folder))
    return [repeat_row(what, some) for what, some in sorted(ratios.items())]


# ---- what a calibration timed --------------------------------------------------

def journal(folder):
    """All lines that a calibration fits, of both backends."""
    found = []
    for backend in ("torch", "cuda"):
        found += lines(folder / "journals" / f"{backend}.journal.jsonl")[1:]
    if not found:
        return []
    return [{"schema": "mystique-sim/calibration/1"}, *found]


SUSTAINED = ["product", "alone_us", "in_a_row_us", "ratio", "sm_mhz", "power_w"]


def sustained(folder):
    """Rows of SUSTAINED: a product alone, and many in a row."""
    rows = []
    for entry in lines(folder / "journals" / "cuda.journal.jsonl"):
        answer = entry.get("answer", {})
        found, alone = answer.get("sustained"), answer.get("time_us")
        if found and alone:
            e = entry["experiment"]
            rows.append({"product": f"{e['dtype']} {e['m']} x {e['n']} x {e['k']}",
                         "alone_us": short(alone),
                         "in_a_row_us": short(found["time_us"]),
                         "ratio": f"{found['time_us'] / alone:.4f}",
                         "sm_mhz": short(found.get("sm_mhz"), 0),
                         "power_w": short(found.get("power_w"), 0)})
    return rows


# ---- learned -------------------------------------------------------------------

LEARNED = ["law", "traces", "kernels", "base_percent", "learned_percent",
           "held_out_percent"]
LEARNED_LINE = re.compile(
    r"\s+[\d.]+ \S+\s+(\d+)\s+([-+][\d.]+)%\s+([-+][\d.]+)%"
    r"\s+([-+][\d.]+)%\s+\S*?([a-z_0-9]+)-\d+\.json\.gz$")


def learned(said):
    """Rows of LEARNED from what `calibrate --from` printed, a line a trace: mean
    errors of its kernels, by law."""
    laws = collections.defaultdict(list)
    for line in said.splitlines():
        found = LEARNED_LINE.match(line)
        if found:
            laws[found[5]].append((int(found[1]),
                                   *(abs(float(e)) for e in found.groups()[1:4])))
    return [{"law": law, "traces": len(some),
             "kernels": sum(r[0] for r in some),
             **{name: f"{statistics.mean(r[i] for r in some):.1f}"
                for i, name in enumerate(LEARNED[3:], 1)}}
            for law, some in sorted(laws.items())]
