#!/usr/bin/env python3
"""The JSON Schemas of answers: data/schemas, made of answers.

schemas.py write    make them of what the program answers to the samples
schemas.py check    hold such answers, and others, against them (python3-jsonschema)

docs/json.md says what fields mean, and is what a schema's descriptions are taken
from. A value that is not known is null, so every field may be. Fields may be added.
MYSTIQUE_SIM is the program.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SCHEMAS = os.path.join(ROOT, "data", "schemas")
TRACES = os.path.join(ROOT, "data", "traces")
APPS = os.path.join(ROOT, "data", "apps")
SAMPLES = ["gpt2", "resnet", "vit", "bert", "dlrm", "llama-block", "dlrm-ddp-2ranks"]
# Objects whose keys are names of the job, and not of fields.
MAPS = {"main_thread", "threads", "gpu_idle", "streams", "by", "copied_us", "stages", "classes",
        "counterfactual", "provenance", "replicas", "grid"}

SCENARIOS = {"scenarios": [
    {"name": "half", "changes": [{"scale": {"select": "kernels", "factor": 0.5}}]},
    {"name": "h100", "changes": [{"gpu": "h100"}]},
    {"name": "none", "changes": [{"batch": {"from": 7, "to": 9}}]}]}
DESCRIBED = {"scenarios": [{"name": "a100", "changes": [{"gpu": "a100"}]}]}
PLAN = {"model": "llama3-8b", "platforms": [{"name": "h100", "price_per_gpu_hour": 2}],
        "gpus": [8], "global_batch": 64, "sequence": 4096, "tokens": 1e9}
LENGTHS = {"input_tokens": {"lognormal": {"mean": 300, "cv": 1}},
           "output_tokens": {"lognormal": {"mean": 60, "cv": 0.5}}}
SERVED = {"workload": "serving", "model": "llama3-8b", "rate": 20, "requests": 200, **LENGTHS,
          "slo": [{"metric": "ttft", "percentile": 90, "limit_ms": 500}],
          "platforms": [{"name": "h100", "price_per_gpu_hour": 2.5, "power_w": 1200}], "tp": 1}
# Two stages whose p99 is near its promise, so that seconds of both kinds come.
STAGES = {
    "schema": "mystique-sim/app/1", "name": "two",
    "slo": [{"class": "all", "metric": "e2e", "percentile": 99, "limit_ms": 80}],
    "classes": [{"name": "all", "share": 1}],
    "arrivals": {"process": "poisson", "rate": 120},
    "stages": {"front": {"kind": "measured", "workers": 2, "call": "queue",
                         "service": {"exponential": 10}, "price_per_hour": 2},
               "back": {"kind": "measured", "workers": 1, "call": "queue",
                        "service": {"exponential": 5}, "price_per_hour": 1}},
    "flow": {"start": "front", "edges": [{"from": "front", "to": "back"}]}}
CHAT = {"schema": "mystique-sim/app/1", "name": "chat",
        "classes": [{"name": "all", "share": 1, **LENGTHS}],
        "arrivals": {"process": "poisson", "rate": 8},
        "stages": {"llm": {"kind": "llm", "model": "llama3-8b", "platform": "h100"}},
        "flow": {"start": "llm", "edges": []}}


def gpu_trace():
    """Six products on an A100, that take other times than its models say."""
    events = []
    for n in range(6):
        at, rows = 1000 * n, 64 << n
        dims = {"Input Dims": [[rows, 1024], [1024, 1024]], "Input type": ["c10::Half"] * 2}
        for cat, name, begin, dur, args in (
                ("cpu_op", "aten::mm", at, 10, dims),
                ("cuda_runtime", "cudaLaunchKernel", at + 2, 2, {"correlation": n + 1}),
                ("kernel", "gemm", at + 10, 10 + 9 * n,
                 {"correlation": n + 1, "device": 0, "stream": 7})):
            events.append({"ph": "X", "cat": cat, "name": name, "pid": 1, "ts": begin, "dur": dur,
                           "tid": 7 if cat == "kernel" else 1, "args": args})
    gpu = {"id": 0, "name": "NVIDIA A100-SXM4-80GB", "totalGlobalMem": 85000000000,
           "numSms": 108}
    return {"schemaVersion": 1, "deviceProperties": [gpu], "traceEvents": events}


FILES = {"gpu": gpu_trace(), "s": SCENARIOS, "d": DESCRIBED, "p": PLAN, "served": SERVED, "two": STAGES, "chat": CHAT}


class Asked:
    """The program, and a folder with files for it; answers by schema."""

    def __init__(self, folder):
        self.program = os.environ.get("MYSTIQUE_SIM", os.path.join(ROOT, "build", "mystique-sim"))
        self.folder = folder
        for name, content in FILES.items():
            with open(self.file(name), "w", encoding="utf-8") as out:
                json.dump(content, out)

    def file(self, name):
        return os.path.join(self.folder, name + ("" if "." in name else ".json"))

    def run(self, *arguments):
        done = subprocess.run([self.program, *arguments], capture_output=True, check=False)
        if done.returncode:
            raise SystemExit(f"error: {' '.join(arguments)}: exit code {done.returncode}: "
                             + done.stderr.decode()[:400])
        return done.stdout

    def has(self, beside):
        """Is a program built that fits or times? Not everywhere."""
        return os.path.exists(os.path.join(os.path.dirname(self.program), beside))

    def answers(self):
        """Yield (schema, arguments, answer)."""
        for asks in (self.traced, self.described, self.several, self.calibrated, self.timed, self.serving):
            for name, *arguments in asks():
                out = self.run(*arguments)
                for line in out.splitlines() if name == "watch" else [out]:
                    yield name, arguments, json.loads(line)

    def traced(self):
        """Every verb that takes a trace, of every sample."""
        for sample in SAMPLES:
            trace = os.path.join(TRACES, sample)
            yield "prediction", "--json", "--platform", "a100", trace
            yield "info", "info", "--json", trace
            yield "whatif", "whatif", "--json", "--platform", "a100", self.file("s"), trace
            yield "comparison", "compare", "--json", "--platform", "a100,h100", trace, trace
            yield "program", "generate", "--json", trace
            yield "conversion", "convert", "--json", "-o", self.file("chakra.et"), trace
        one, two = (os.path.join(TRACES, s) for s in (SAMPLES[0], SAMPLES[-1]))
        yield ("prediction", "--json", "--platform", "h100", "--scale", "kernels=0.5", "--price",
               "2", "--per-iteration", "32 samples", "--power", "300", "--usage", "--clock",
               "0.8", one)
        yield "prediction", "--json", "--platform", "h100", "--ranks", "64", "--nodes", "8", two
        yield "predictions", "--json", "--platform", "a100,h100", one
        for op in ("aten::linear", "aten::layer_norm", "aten::scaled_dot_product_attention"):
            yield "explanation", "--json", "--platform", "h100", "--explain", op, one
        yield "whatif", "whatif", "--json", "--platform", "a100", "--sensitivity", two
        yield ("whatif", "whatif", "--json", "--platform", "a100", "--grid", "gpu=a100,h100",
               "--grid", "kernels=1,0.5", one)
        yield "comparison", "compare", "--json", "--platform", "a100,a100", one, two
        yield "program", "generate", "--json", "--direct", "--no-loops", one

    def described(self):
        yield "whatif", "whatif", "--json", "--platform", "h100", self.file("d"), "llama3-8b"
        yield "plan", "plan", "--json", "--law-only", self.file("p")
        yield "plan", "plan", "--json", self.file("p")
        yield "synthesis", "synth", "--json", "-o", self.file("synth."), "llama3-8b"
        yield "plan/serving", "plan", "--json", self.file("served")

    def several(self):
        yield "selection", "select", "--json", TRACES
        with open(self.file("rows.csv"), "w", encoding="utf-8") as out:
            out.write("m,n,k,dtype\n4096,4096,4096,bf16\n8,0,8,bf16\n1000000,1000000,8,bf16\n")
        yield "operations", "op", "--json", "--platform", "a100", self.file("rows.csv")
        yield "platforms", "platforms", "--json"
        for platform in ("a100", "h100", "rtx-4090"):
            yield "platform", "platforms", "--json", platform

    def calibrated(self):
        yield ("evidence", "calibrate", "--json", "--from", self.file("gpu"), "--out",
               self.file("mine"))
        if not self.has("msim-calibrate"):
            return
        fake = "bash " + os.path.join(ROOT, "tests", "cli", "fake_backend.bash")
        timed = ["calibrate", "--json", "--backend", fake + " " + self.file("asked."),
                 "--budget", "0.1"]
        yield "experiments", *timed, "--dry-run"
        yield "calibrated", *timed, "--out", self.file("made-up")
        yield "calibrated", *timed, "--measure-only", "--out", self.file("kept")

    def timed(self):
        """What runs on this machine, of the samples that are quick there."""
        if not self.has("mystique-prof-cpu"):
            return
        for sample in SAMPLES[-2:] + ["dlrm"]:
            trace, replayed = os.path.join(TRACES, sample), self.file(sample + ".replayed.json")
            yield ("replay", "replay", "--json", "--backend", "cpu", "--iterations", "1",
                   "--warmup", "0", "-o", replayed, trace)
            yield "validation", "validate", "--json", trace, replayed
            yield "validation", "validate", "--json", "--platform", "a100", trace, replayed

    def serving(self):
        for app in sorted(os.listdir(APPS)):
            yield "serving", "serve", "--json", "--num-requests", "40", os.path.join(APPS, app)
        yield "serving", "serve", "--json", self.file("two")
        for sweep in ([], ["--sweep", os.path.join(ROOT, "data", "sweeps", "gpus.json")]):
            yield "apps", "apps", "--json", "--num-requests", "20", *sweep, APPS
        yield "serving-plan", "size", "--json", self.file("two")
        os.mkdir(self.file("runs."))
        for seed in "1234":
            self.run("serve", self.file("two"), "--seconds", "100", "--seed", seed,
                     "--counters", os.path.join(self.file("runs."), seed + ".csv"))
        counters = os.path.join(self.file("runs."), "1.csv")
        yield "watch", "watch", "--json", "--counters", counters, self.file("two")
        yield "watch", "watch", "--json", "--advise", "--counters", counters, self.file("two")
        if self.has("msim-learn"):
            yield ("learned", "learn", "--json", "--runs", self.file("runs."), "-o",
                   self.file("model"), self.file("two"))
        with open(self.file("log.csv"), "wb") as out:
            out.write(self.run("serve", self.file("chat"), "--num-requests", "60", "--csv"))
        yield ("tuned", "learn", "--json", "--requests", self.file("log.csv"), "-o",
               self.file("fit"), self.file("chat"))


def answers():
    with tempfile.TemporaryDirectory() as folder:
        yield from Asked(folder).answers()


class Shape:
    """What was seen of the values of one place."""

    def __init__(self):
        self.types = set()
        self.items = None
        self.keys = {}
        self.counts = {}
        self.objects = 0

    def add(self, value):
        if isinstance(value, bool):
            self.types.add("boolean")
        elif isinstance(value, (int, float)):
            self.types.add("number")
        elif isinstance(value, str):
            self.types.add("string")
        elif isinstance(value, list):
            self.types.add("array")
            self.items = self.items or Shape()
            for item in value:
                self.items.add(item)
        elif isinstance(value, dict):
            self.types.add("object")
            self.objects += 1
            for key, item in value.items():
                self.keys.setdefault(key, Shape()).add(item)
                self.counts[key] = self.counts.get(key, 0) + 1

    def merge(self, other):
        self.types |= other.types
        if other.items is not None:
            self.items = self.items or Shape()
            self.items.merge(other.items)
        self.objects += other.objects
        for key, child in other.keys.items():
            self.keys.setdefault(key, Shape()).merge(child)
            self.counts[key] = self.counts.get(key, 0) + other.counts[key]

    def schema(self, meanings, name=""):
        if not self.types:
            return {}  # nothing but null was seen
        out = {"type": sorted(self.types) + ["null"]}
        if self.items is not None:
            out["items"] = self.items.schema(meanings, name)
        if "object" in self.types and name in MAPS:
            merged = Shape()
            for child in self.keys.values():
                merged.merge(child)
            out["additionalProperties"] = merged.schema(meanings)
        elif "object" in self.types:
            out["properties"] = {}
            for key, child in self.keys.items():
                of = child.schema(meanings, key)
                if key in meanings:
                    of = {"description": meanings[key], **of}
                out["properties"][key] = of
            out["required"] = [k for k in self.keys if self.counts[k] == self.objects]
        return out


# Where the documentation has the members of an answer: a page, and its section.
SECTIONS = {
    "prediction": ("json", "Prediction"), "predictions": ("json", "Prediction"),
    "explanation": ("json", "Explanation"), "whatif": ("json", "What if"), "comparison": ("json", "Comparison"),
    "plan": ("json", "Plan"), "plan/serving": ("serving", "Which GPU, how many"),
    "platforms": ("json", "Platforms"), "platform": ("json", "Platform"),
    "info": ("json", "Info"), "selection": ("json", "Selection"),
    "program": ("json", "Program"), "replay": ("replay", "JSON"),
    "conversion": ("json", "Conversion"), "synthesis": ("json", "Synthesis"),
    "calibrated": ("json", "Calibration"), "experiments": ("json", "Calibration"),
    "evidence": ("json", "Evidence"),
    "validation": ("replay", "Three times side by side: `validate`"),
    "serving": ("serving", "A run"), "serving-plan": ("json", "Plan of replicas"),
    "apps": ("json", "Applications"), "learned": ("json", "Learned"),
    "operations": ("json", "Operations"), "tuned": ("json", "Tuned"), "watch": ("serving", "Watched before it breaks")}


def meanings_of(name):
    """{field: meaning} of the tables of the section that the schema's answer has."""
    page, section = SECTIONS[name]
    with open(os.path.join(ROOT, "docs", page + ".md"), encoding="utf-8") as file:
        text = file.read()
    found = re.search(rf"^#+ {re.escape(section)}\n(.*?)(?=^##? |\Z)", text, re.S | re.M)
    if not found:
        raise SystemExit(f"error: docs/{page}.md has no section '{section}'")
    out = {}
    for row in re.finditer(r"^\| (`[^|]*) \| (.*) \|$", found[1], re.M):
        meaning = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", row[2])
        for field in re.findall(r"`([a-z0-9_]+)`", row[1]):
            out.setdefault(field, meaning)
    return out


def path_of(name):
    return os.path.join(SCHEMAS, name + ".json")


def write():
    shapes = {}
    for name, _, answer in answers():
        shapes.setdefault(name, Shape()).add(answer)
    missing = set(SECTIONS) - set(shapes)
    if missing:
        raise SystemExit(f"error: no answer of {', '.join(sorted(missing))}: want a build with "
                         "msim-calibrate, msim-learn and mystique-prof-cpu")
    for name, shape in shapes.items():
        schema = shape.schema(meanings_of(name))
        schema["type"] = "object"
        if "schema" in schema["properties"]:  # a line of `watch` does not say its own
            schema["properties"]["schema"] = {"const": f"mystique-sim/{name}/1"}
        os.makedirs(os.path.dirname(path_of(name)), exist_ok=True)
        with open(path_of(name), "w", encoding="utf-8") as out:
            json.dump({"$schema": "http://json-schema.org/draft-07/schema#",
                       "title": f"mystique-sim/{name}/1", **schema}, out, indent=1, ensure_ascii=False)
            out.write("\n")


def check():
    try:
        import jsonschema
    except ImportError:
        print("no jsonschema of Python (Debian: python3-jsonschema): skipped")
        return 77
    validators, faults, n = {}, 0, 0
    for name, arguments, answer in answers():
        if name not in validators:
            with open(path_of(name), encoding="utf-8") as file:
                validators[name] = jsonschema.Draft7Validator(json.load(file))
        n += 1
        for fault in validators[name].iter_errors(answer):
            faults += 1
            where = "/".join(str(p) for p in fault.absolute_path)
            print(f"error: {' '.join(arguments)}: {where}: {fault.message[:200]}")
    print(f"{n} answers, {faults} faults")
    return 1 if faults else 0


sys.exit(write() if sys.argv[1:] == ["write"] else check())
