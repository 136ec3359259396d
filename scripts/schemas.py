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
SAMPLES = ["gpt2", "resnet", "vit", "bert", "dlrm", "llama-block", "dlrm-ddp-2ranks"]
# Objects whose keys are names of the job, and not of fields.
MAPS = {"main_thread", "threads", "gpu_idle", "streams", "by", "copied_us"}

SCENARIOS = {"scenarios": [
    {"name": "half", "changes": [{"scale": {"select": "kernels", "factor": 0.5}}]},
    {"name": "h100", "changes": [{"gpu": "h100"}]},
    {"name": "none", "changes": [{"batch": {"from": 7, "to": 9}}]}]}
DESCRIBED = {"scenarios": [{"name": "a100", "changes": [{"gpu": "a100"}]}]}
PLAN = {"model": "llama3-8b", "platforms": [{"name": "h100", "price_per_gpu_hour": 2}],
        "gpus": [8], "global_batch": 64, "sequence": 4096, "tokens": 1e9}


def commands(folder, samples):
    """Yield (schema, arguments) of answers; files that they want are in `folder`."""
    for name, content in (("s", SCENARIOS), ("d", DESCRIBED), ("p", PLAN)):
        with open(os.path.join(folder, name + ".json"), "w", encoding="utf-8") as out:
            json.dump(content, out)
    file = {n: os.path.join(folder, n + ".json") for n in "sdp"}
    for sample in samples:
        trace = os.path.join(TRACES, sample)
        yield "prediction", ["--json", "--platform", "a100", trace]
        yield "info", ["info", "--json", trace]
    one, two = (os.path.join(TRACES, s) for s in (samples[0], samples[-1]))
    yield "prediction", ["--json", "--platform", "h100", "--scale", "kernels=0.5", "--price", "2",
                         "--per-iteration", "32 samples", "--power", "300", "--usage", "--clock", "0.8", one]
    yield "prediction", ["--json", "--platform", "h100", "--ranks", "64", "--nodes", "8", two]
    yield "predictions", ["--json", "--platform", "a100,h100", one]
    yield "whatif", ["whatif", "--json", "--platform", "a100", file["s"], one]
    yield "whatif", ["whatif", "--json", "--platform", "a100", "--sensitivity", two]
    yield "whatif", ["whatif", "--json", "--platform", "h100", file["d"], "llama3-8b"]
    yield "comparison", ["compare", "--json", "--platform", "a100,h100", one, one]
    yield "comparison", ["compare", "--json", "--platform", "a100,a100", one, two]
    yield "plan", ["plan", "--json", "--law-only", file["p"]]
    yield "plan", ["plan", "--json", file["p"]]
    yield "platforms", ["platforms", "--json"]
    for platform in ("a100", "h100", "rtx-4090"):
        yield "platform", ["platforms", "--json", platform]


def answers(samples):
    program = os.environ.get("MYSTIQUE_SIM", os.path.join(ROOT, "build", "mystique-sim"))
    with tempfile.TemporaryDirectory() as folder:
        for name, arguments in commands(folder, samples):
            done = subprocess.run([program] + arguments, capture_output=True, check=False)
            if done.returncode:
                raise SystemExit(f"error: {' '.join(arguments)}: exit code {done.returncode}: "
                                 + done.stderr.decode()[:400])
            yield name, arguments, json.loads(done.stdout)


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

    def schema(self, meanings, name=""):
        if not self.types:
            return {}  # nothing but null was seen
        out = {"type": sorted(self.types) + ["null"]}
        if self.items is not None:
            out["items"] = self.items.schema(meanings, name)
        if "object" in self.types and name in MAPS:
            merged = Shape()
            for child in self.keys.values():
                merged.types |= child.types
            out["additionalProperties"] = merged.schema({})
        elif "object" in self.types:
            out["properties"] = {}
            for key, child in self.keys.items():
                of = child.schema(meanings, key)
                if key in meanings:
                    of = {"description": meanings[key], **of}
                out["properties"][key] = of
            out["required"] = [k for k in self.keys if self.counts[k] == self.objects]
        return out


def meanings_of():
    """{schema: {field: meaning}} of the tables of docs/json.md."""
    out, section = {}, None
    with open(os.path.join(ROOT, "docs", "json.md"), encoding="utf-8") as file:
        for line in file:
            head = re.match(r"## (.*)", line)
            if head:
                section = out.setdefault(head[1].strip().lower(), {})
            row = re.match(r"\| (`[^|]*) \| (.*) \|$", line)
            if row and section is not None:
                text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", row[2])
                for name in re.findall(r"`([a-z_]+)`", row[1]):
                    section.setdefault(name, text)
    return out


SECTIONS = {"prediction": "prediction", "predictions": "prediction", "whatif": "what-if",
            "comparison": "comparison", "plan": "plan", "platforms": "platforms",
            "platform": "platform", "info": "info"}


def write():
    shapes, texts = {}, meanings_of()
    for name, _, answer in answers(SAMPLES):
        shapes.setdefault(name, Shape()).add(answer)
    for name, shape in shapes.items():
        schema = shape.schema(texts.get(SECTIONS[name], {}))
        schema["type"] = "object"
        schema["properties"]["schema"] = {"const": f"mystique-sim/{name}/1"}
        with open(os.path.join(SCHEMAS, name + ".json"), "w", encoding="utf-8") as out:
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
    for name, arguments, answer in answers(SAMPLES):
        if name not in validators:
            with open(os.path.join(SCHEMAS, name + ".json"), encoding="utf-8") as file:
                validators[name] = jsonschema.Draft7Validator(json.load(file))
        n += 1
        for fault in validators[name].iter_errors(answer):
            faults += 1
            where = "/".join(str(p) for p in fault.absolute_path)
            print(f"error: {' '.join(arguments)}: {where}: {fault.message[:200]}")
    print(f"{n} answers, {faults} faults")
    return 1 if faults else 0


sys.exit(write() if sys.argv[1:] == ["write"] else check())
