#!/usr/bin/env bash
# Names of all kinds in every file, through every verb and every output: nothing
# from a file is ever code. Not for gnuplot, the shell, Python, HTML or a
# spreadsheet, and a terminal only shows it. What is drawn, planned and written
# lies where it was asked for, and nowhere else. MSIM_HOSTILE_SEED draws other names.
. "$(dirname "$0")/lib.bash"

python=${MSIM_PYTHON:-python3}
if ! "$python" -c '' 2>/dev/null; then
    echo "no python3: skipped"
    exit 77
fi
# Itself, and not a script that looks for it.
MSIM_PYTHON=$("$python" -c 'import sys; print(sys.executable)')
python=$MSIM_PYTHON
export MSIM_PYTHON
source=${SOURCE_DIR:?the source folder}
mkdir "$folder/in" "$folder/kept" "$folder/cwd"
cd "$folder/in" || exit 1 # names of files are relative, as an archive has them

# ---- files with such names in them, and files called so ----------------------

"$python" - "$source" <<'PYTHON' || complain "the files cannot be made"
import copy
import json
import os
import random
import shutil
import sys

SOURCE = sys.argv[1]
RUN = "touch CANARY"
NAMES = [
    "it's \"quoted\"", f"'; {RUN} #", f"\"; {RUN}; \"", f"`{RUN}`$({RUN})",
    f"' ; system \"{RUN}\" #", f"a\nMSIM_END\nsystem '{RUN}'\n$x << MSIM_END",
    "back\\slash\\", "\x1b[31mred\x1b]0;title\x07", "\x9b31m\x7f\x85",
    "<svg onload=\"alert(1)\"><script>alert(1)</script>&amp;",
    "<link rel=attachment href=file:/etc/passwd>", "=1+2;@SUM(A1)\t=cmd",
    "-2+3+cmd|'/C calc'!A0", "\u2028line\u202eright", "%s%n%d%999999d",
    "{x}^_@ {/b}", "nul\0inside", "no\udcff\udcfe\udcc0utf8", "'''\"\"\"\n#",
]
if os.environ.get("MSIM_HOSTILE_SEED"):  # other ones: two or three of them in a row
    drawn = random.Random(os.environ["MSIM_HOSTILE_SEED"])
    NAMES = ["".join(drawn.sample(NAMES, drawn.choice([2, 2, 3])))[-80:] for _ in NAMES]
LONG = "long " + "x" * (1 << 20)


def write(path, value):
    text = json.dumps(value, ensure_ascii=False)
    with open(path, "wb") as file:
        file.write(text.encode("utf-8", "surrogateescape"))


def hostile(value, n=0):
    """All texts of a tree behind such a name."""
    if isinstance(value, dict):
        return {key: hostile(v, n + i) for i, (key, v) in enumerate(value.items())}
    if isinstance(value, list):
        return [hostile(v, n + i) for i, v in enumerate(value)]
    return NAMES[n % len(NAMES)] + value if isinstance(value, str) else value


# A trace of the profiler: operators and kernels.
def kineto(names):
    events, ts = [], 0
    for i, name in enumerate(names):
        events += [
            {"ph": "X", "cat": "cpu_op", "name": name, "pid": 1, "tid": 1, "ts": ts,
             "dur": 20, "args": {"External id": i + 1, "Input Dims": [[64, 64], [64, 64]],
                                 "Input type": ["float", "float"]}},
            {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1,
             "ts": ts + 5, "dur": 3, "args": {"correlation": i + 1, "External id": i + 1}},
            {"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 7, "ts": ts + 20,
             "dur": 30 + i, "args": {"device": 0, "stream": 7, "correlation": i + 1,
                                     "External id": i + 1}}]
        ts += 100
    events.append({"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#1", "pid": 1,
                   "tid": 1, "ts": 0, "dur": ts})
    return {"schemaVersion": 1, "traceEvents": events, "deviceProperties": [
        {"id": 0, "name": "NVIDIA A100-SXM4-80GB", "totalGlobalMem": 85000000000,
         "numSms": 108}]}


write("trace.json", kineto(NAMES + ["aten::mm", LONG]))
write("other.json", kineto(NAMES[::-1] + ["aten::mm"]))
write("large.json", kineto(["y" * ((16 << 20) - 100), "aten::mm"]))


# An execution trace: operators, signatures, texts as arguments.
def et(calls):
    none = {"values": [], "shapes": [], "types": [], "strides": []}
    nodes = [{"id": 1, "name": "[pytorch|profiler|execution_trace|process]", "ctrl_deps": 1,
              "inputs": none, "outputs": none, "attrs": []}]
    for i, (name, schema, texts) in enumerate(calls):
        at, made = 10 + i, 10000 + 10 * i  # nodes and tensors have ids of one counter
        values = [[at, at, 0, 16, 4, "cpu"], *texts]
        if name == "aten::from_file":  # maps this file for writing, and makes it
            values = [*texts, True, 16]
        types = {list: "Tensor(float)", str: "String", bool: "Bool", int: "Int"}
        nodes.append({
            "id": made, "name": name, "ctrl_deps": 1,
            "inputs": {"values": values, "types": [types[type(v)] for v in values],
                       "shapes": [[4, 4] if type(v) is list else [] for v in values],
                       "strides": [[4, 1] if type(v) is list else [] for v in values]},
            "outputs": {"values": [[made + 1, made + 1, 0, 16, 4, "cpu"]],
                        "shapes": [[4, 4]], "types": ["Tensor(float)"], "strides": [[4, 1]]},
            "attrs": [{"name": "tid", "type": "uint64", "value": 1},
                      {"name": "op_schema", "type": "string", "value": schema}]})
    return {"schema": "1.1.1-chakra.0.0.4", "pid": 1, "time": "", "start_ts": 0,
            "nodes": nodes, "finish_ts": 1}


RELU = "aten::relu(Tensor self) -> Tensor"
FROM_FILE = "aten::from_file(str filename, bool? shared=None, int? size=0) -> Tensor"
calls = [("aten::relu", RELU, []), ("aten::from_file", FROM_FILE, ["CANARY"])]
for name in NAMES:
    calls += [(name, RELU, []), ("aten::relu", RELU, []),
              ("aten::pad", "aten::pad(Tensor self, str mode) -> Tensor", [name]),
              ("aten::from_file", FROM_FILE, ["CANARY" + name]),
              (f"{name}::x", f"{name}::x(Tensor self) -> Tensor", []),
              ("aten::x", f"aten::x.{name}(Tensor self) -> Tensor", []),
              ("aten::x", f"aten::x(Tensor self, *, str {name}) -> Tensor", ["a"])]
for space in ("async", "operators", "record", "run", "values", "json", "image"):
    calls.append((f"{space}::x", f"{space}::x(Tensor self) -> Tensor", []))
calls += [(LONG, RELU, []), ("aten::relu", RELU, [])]
write("rank-0.et.json", et(calls))

# What lies in data/, with such texts, and called so. Words that have a meaning
# stay: schemas, units, names of laws and of members.
KEPT = {"schema", "law", "key", "framework", "unit", "type", "family", "kind", "how_many"}


def poison(value, n=0):
    if isinstance(value, dict):
        return {key: v if key in KEPT else poison(v, n + i)
                for i, (key, v) in enumerate(value.items())}
    return hostile(value, n)


def shipped(kind, name):
    with open(f"{SOURCE}/data/{kind}/{name}.json", encoding="utf-8") as file:
        return json.load(file)


t4 = shipped("platforms", "t4")
t4["cells"] = [cell for cell in t4["cells"] if cell["law"] == "gemm"][:3]
for key in ("title", "aliases", "generation", "data_sheet", "parameters", "devices"):
    if key in t4:
        t4[key] = poison(t4[key])
t4["made_by"] = {"program": NAMES[7], "rows_file": NAMES[11]}
for cell in t4["cells"]:
    cell["how"] = cell["table_gpu"] = NAMES[7] + NAMES[9]
write("platform.json", t4)
network = shipped("networks", "ethernet-100")
network["title"] = NAMES[7]
network["name"] = NAMES[11]
network["parameters"] = poison(network["parameters"])
write("network.json", network)
host = shipped("hosts", "generic")
host["name"], host["title"], host["source"] = NAMES[7], NAMES[9], NAMES[11]
write("host.json", host)

# Files that are called so: the byte that no name can have is left out.
files = []
for name in NAMES:
    file = "./" + name.replace("/", "|").replace("\0", "") + ".json"
    files.append(file)
    with open(os.fsencode(file), "wb") as out:
        out.write(open("platform.json", "rb").read())
open("files", "wb").write(b"".join(os.fsencode(file) + b"\0" for file in files))

# Plans, models, scenarios.
MODEL = {"layers": 2, "hidden": 256, "heads": 4, "kv_heads": 4, "ffn": 512, "vocab": 1000}
write("model.json", {"name": "".join(NAMES)[:200], **MODEL})
named = "./model'; " + RUN + " #\"<b>.json"
write(named, {"name": NAMES[9] + NAMES[7], **MODEL})
WAYS = {"sequence": 128, "global_batch": 8, "tokens": 1e6, "gpus": [1, 2], "tp": [1],
        "pp": [1], "zero": [1]}
write("plan.json", {"model": "model.json", "currency": "<svg onload=\"`",
                    "limits": {"cost": 1e9}, **WAYS,
                    "platforms": [{"name": f, "price_per_gpu_hour": 1 + i if i != 4 else 0.1,
                                   "power_w": 300} for i, f in enumerate(files)][:16]})
write("plan-model.json", {"model": named, "currency": "=1'\x1b[31m\"&", **WAYS, "platforms": [
    {"name": f, "price_per_gpu_hour": 2, "network": "network.json"} for f in files[16:]] + [
    {"name": files[5], "price_per_gpu_hour": 0.1}]})
step = "./step' ;`" + RUN + "`\"<b>.json.gz"
shutil.copy(f"{SOURCE}/tests/accuracy/resnet50_adam.et.json.gz", step)
write("plan-trace.json", {"trace": step, "platforms": [
    {"name": f} for f in files[:3]], "gpus": [1], "micro_batch": [16], "currency": "\u2028\u202e'\\"})
write("plan-unknown.json", {"model": NAMES[7], **WAYS, "platforms": [{"name": NAMES[7]}]})
write("scenarios.json", {"scenarios": [
    {"name": name, "changes": [{"scale": {"select": "kernels", "factor": 0.5}}]}
    for name in NAMES] + [
    {"name": "no " + name, "changes": [{"remove": {"select": "op:" + name}}]}
    for name in NAMES] + [{"name": "gpu", "changes": [{"gpu": files[4]}]},
                          {"name": "none", "changes": [{"gpu": NAMES[7]}]}]})
write("described.json", {"scenarios": [
    {"name": name, "changes": [{"world": 2}]} for name in NAMES] + [
    {"name": "network", "changes": [{"network": NAMES[7]}]}]})
write("strategy.json", {"gpus": 1, "micro_batch": 1, "global_batch": 8, "sequence": 128})


# Tables.
def cell(text):
    text = text.replace("\0", "")
    return '"' + text.replace('"', '""') + '"'


def table(path, head, rows):
    with open(path, "wb") as file:
        for row in [head, *rows]:
            file.write((",".join(row) + "\n").encode("utf-8", "surrogateescape"))


table("rows.csv", ["op", "dtype", "shape", "framework", cell("=note" + NAMES[7])],
      [["add", "fp32", "64x64", "", cell(n)] for n in NAMES] +
      [[cell(n), cell(n), "64x64", cell(n), "-1.5"] for n in NAMES])
table("jobs.csv", ["source", "model", "platform", "gpus", "micro_batch", "global_batch",
                   "sequence", "step_ms"],
      [[cell(n), "llama3-8b", "h100", "8", "1", "64", "4096", "900"] for n in NAMES] +
      [[cell(n), cell(n), cell(n), "8", "1", "64", "4096", ""] for n in NAMES])
table("traced.csv", ["model", "strategy", "gpus", "batch_per_gpu", "gpu"],
      [[cell(n), "single", "1", "16", "L40S"] for n in NAMES] +
      [["m", cell(n), "1", "16", cell(n)] for n in NAMES])
table("ops.csv", ["operator", "like", "note"], [["aten::mm", "aten::mul", cell(n)] for n in NAMES[:1]])
table("weights.csv", ["job", "weight"], [[cell(n), "1"] for n in NAMES])

# A fleet: folders that are called so.
for name in NAMES:
    place = "fleet/" + name.replace("/", "|").replace("\0", "")
    os.makedirs(os.fsencode(place), exist_ok=True)
    with open(os.fsencode(place + "/k.json"), "wb") as out:
        out.write(open("other.json", "rb").read())
PYTHON

# ---- every verb, every output ------------------------------------------------

n=0
# keep KIND ARGUMENT...: run, and keep what came out as a file of that kind.
keep() {
    local kind=$1
    shift
    n=$((n + 1))
    last="$*"
    (cd "$folder/in" && "$sim" "$@" >"$folder/kept/$n.$kind" \
        2>"$folder/kept/$n.messages")
    rc=$?
    printf '%q ' "$@" >"$folder/kept/$n.command"
    [ "$rc" -le 4 ] || complain "exit code $rc, want 0 to 4"
}
# good KIND ARGUMENT...: the same, and it has to succeed.
good() {
    keep "$@"
    [ "$rc" -eq 0 ] || complain "exit code $rc: $(head -c 400 "$folder/kept/$n.messages")"
}
readarray -td '' files <files

for kind in txt json csv; do
    as=()
    [ $kind = txt ] || as=(--$kind)
    good $kind --platform a100 "${as[@]}" trace.json
    good $kind --platform a100,./platform.json "${as[@]}" trace.json
    good $kind compare "${as[@]}" trace.json other.json
    good $kind whatif --platform a100 "${as[@]}" scenarios.json trace.json
    good $kind whatif --platform "${files[4]}" --strategy strategy.json "${as[@]}" \
        described.json model.json
    good $kind select -k 2 "${as[@]}" fleet
    [ $kind = csv ] || good $kind info "${as[@]}" trace.json rank-0.et.json
    [ $kind = csv ] || good $kind platforms "${as[@]}" ./platform.json
    [ $kind = json ] || good $kind validate "${as[@]}" --rows jobs.csv
    [ $kind = json ] || keep $kind validate "${as[@]}" --rows traced.csv --trace \
        "$source/tests/accuracy/resnet50_adam.et.json.gz"
done
good txt platforms --constants ./platform.json
good csv op --platform a100 rows.csv
good csv op --platform "${files[9]}" rows.csv
good txt --platform ./platform.json --host ./host.json --network ./network.json trace.json
good json --platform ./platform.json --host ./host.json --network ./network.json --json \
    trace.json
good txt --platform a100 --ops ops.csv --explain aten::mm trace.json
explain=good
[ -z "${MSIM_HOSTILE_SEED:-}" ] || explain=keep # that name may not be drawn
$explain txt --platform a100 --explain $'\e[31mred\e]0;title\a' trace.json
good txt --platform a100 large.json
keep txt select -k 1 --weight weights.csv fleet
for file in "${files[@]}"; do
    good txt --platform "$file" other.json
done
good txt convert trace.json -o "$folder/made.et"
good txt --platform a100 --timeline "$folder/kept/timeline.json" trace.json
good txt generate rank-0.et.json -o "$folder/bench"
good json generate --json rank-0.et.json
good txt generate --namespaces async,run,json,values rank-0.et.json -o "$folder/trusted"
cp "$folder/bench/bench.py" "$folder/kept/bench.py"
cp "$folder/bench/README.md" "$folder/kept/bench.md"
cp "$folder/bench/data.json" "$folder/kept/data.json"
cp "$folder/trusted/bench.py" "$folder/kept/trusted.py"
if [ -x "${BUILD_DIR:?the build folder}/mystique-prof-cpu" ]; then
    good txt replay --backend cpu --iterations 1 -o "$folder/replayed.json" rank-0.et.json
    good json replay --backend cpu --iterations 1 --json rank-0.et.json
    good txt validate trace.json "$folder/replayed.json"
    good csv validate --csv trace.json "$folder/replayed.json"
fi
good txt synth ./model.json --strategy strategy.json -o "$folder/synth"
for plan in plan plan-model plan-trace; do
    good txt plan $plan.json
    good json plan $plan.json --json
done
keep txt plan plan-unknown.json
keep txt calibrate --from trace.json other.json --out "$folder/learned.json"

# What is mistyped, and what is not there.
for name in "${files[@]}"; do
    keep txt "$name$name"
    keep txt --platform "$name$name" trace.json
    keep txt "--$name" trace.json
done

# ---- charts, the page, the PDF -----------------------------------------------

# A module that stands for WeasyPrint: it wants to be refused all that it loads.
# Another lies where the user is, and must not be found.
mkdir "$folder/modules"
cat >"$folder/modules/weasyprint.py" <<'PYTHON'
class urls:
    pass


class HTML:
    def __init__(self, string, url_fetcher, base_url=None):
        assert base_url is None and "<h1>" in string
        for url in ("file:///etc/passwd", "http://localhost/", "https://a.b/",
                    "data:text/plain,x", "/etc/passwd", "x.css"):
            try:
                url_fetcher(url)
            except ValueError:
                continue
            raise SystemExit("loads " + url)

    def write_pdf(self):
        return b"%PDF-made-up\nstartxref\n9\n%%EOF\n"
PYTHON
echo 'open("CANARY", "w")' >weasyprint.py
echo 'open("CANARY", "w")' >torch.py

# LeakSanitizer does not work under strace.
watch=()
if [ "${MSIM_SANITIZE:-0}" != 1 ] && strace -f -qq -o /dev/null true 2>/dev/null; then
    watch=(strace -f -qq -e "trace=execve" -o "$folder/started")
fi
# drawn NAME ARGUMENT...: charts are drawn without a word, and nothing but
# gnuplot and Python is started.
drawn() {
    local name=$1
    shift
    last="$*"
    PYTHONPATH=$folder/modules "${watch[@]}" "$sim" "$@" >/dev/null \
        2>"$folder/said" || complain "$name: exit code $?: $(head -c 400 "$folder/said")"
    ! grep -q 'no charts\|gnuplot' "$folder/said" || complain "$name: $(cat "$folder/said")"
    [ ${#watch[@]} -eq 0 ] && return
    sed -n 's/.*execve("\([^"]*\)".* = 0$/\1/p' "$folder/started" |
        grep -vE '/(mystique-sim|gnuplot|gnuplot-[a-z0-9]*|python[0-9.]*)$' \
            >"$folder/others" && complain "$name started $(sort -u "$folder/others" | xargs)"
}
if command -v gnuplot >/dev/null; then
    for plan in plan plan-model plan-trace; do
        drawn $plan plan $plan.json -o "$folder/$plan"
        for file in "$folder/$plan"/*.*; do
            cp "$file" "$folder/kept/$plan-$(basename "$file")"
        done
        [ -s "$folder/$plan/report.pdf" ] || complain "no PDF: $(cat "$folder/said")"
    done
    for type in svg png; do
        drawn $type --platform a100 --chart "$folder/kept/chart.$type" trace.json
    done
    drawn select select -k 2 --chart "$folder/kept/select.svg" fleet
    [ ! -e "$folder/replayed.json" ] ||
        drawn validate validate --platform "${files[4]}" \
            --chart "$folder/kept/validate.svg" trace.json "$folder/replayed.json"
fi

# The program in a folder that is called so starts its backend.
if [ -x "$BUILD_DIR/mystique-prof-cpu" ]; then
    there="$folder/o'brien; touch CANARY \$(touch CANARY) \"x\""
    mkdir "$there"
    cp "$sim" "$BUILD_DIR/mystique-prof-cpu" "$there"
    last="replay in a folder with an apostrophe"
    MSIM_DATA=$source/data "$there/mystique-sim" replay --backend cpu --iterations 1 \
        rank-0.et.json >/dev/null 2>"$folder/said" || complain "$(cat "$folder/said")"
fi

# ---- what came out -----------------------------------------------------------

last="all of them"
"$python" - "$folder" <<'PYTHON' || complain "something came out that should not"
import ast
import csv
import html.parser
import json
import pathlib
import re
import sys
import xml.etree.ElementTree

FOLDER = pathlib.Path(sys.argv[1])
HIDDEN = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
TAGS = set("html meta title style body h1 h2 h3 p b u s div span ul li table thead tbody tr th td br i "
           "section figure figcaption dl dt dd pre svg desc g path rect use defs circle text "
           "polygon line polyline tspan clippath lineargradient symbol filter feflood "
           "fecomposite".split())
csv.field_size_limit(1 << 25)
faults = 0


def fault(path, what):
    global faults
    command = path.with_suffix(".command")
    about = command.read_text("utf-8", "replace") if command.exists() else ""
    print(f"{path.name}: {what!r}: {about}"[:600], file=sys.stderr)
    faults += 1


def check_json(path, text):
    json.loads(text)


def check_csv(path, text):
    """No cell is a formula, wherever a spreadsheet divides cells."""
    rows = list(csv.reader(text.splitlines(keepends=True), strict=True))
    if len({len(row) for row in rows}) > 1:
        fault(path, "rows of several lengths")
    for divider in ",;\t":
        for row in csv.reader(text.splitlines(keepends=True), delimiter=divider):
            for cell in row:
                cell = cell.strip(" ")
                if cell[:1] in "=+-@" and len(cell) > 1 and \
                        not re.fullmatch(r"[-+]?[0-9.]+(e[-+]?[0-9]+)?(,.*)?", cell, re.S):
                    fault(path, cell[:80])


class Page(html.parser.HTMLParser):
    def __init__(self, path):
        super().__init__()
        self.path = path

    def handle_starttag(self, tag, attrs):
        if tag not in TAGS:
            fault(self.path, f"<{tag}>")
        for key, value in attrs:
            local = key.endswith("href") and value.startswith("#")
            if key.startswith("on") or key == "src" or (key.endswith("href") and not local):
                fault(self.path, f"{tag} {key}={value}")


def check_html(path, text):
    Page(path).feed(text)
    if "Content-Security-Policy" not in text:
        fault(path, "no policy")


def check_svg(path, text):
    for element in xml.etree.ElementTree.fromstring(text).iter():
        if element.tag.split("}")[-1].lower() not in TAGS:
            fault(path, element.tag)
        for key, value in element.attrib.items():
            if key.startswith("on") or (key.endswith("href") and value[0] != "#"):
                fault(path, f"{key}={value}")


def check_py(path, text):
    """The program calls operators of known name spaces, with words and tensors."""
    step = next(node for node in ast.parse(text).body
                if isinstance(node, ast.FunctionDef) and node.name == "step")
    for node in ast.walk(step):
        if isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            if not re.match(r"(aten|torch\.ops\.(run|json|values))\.[a-z_]+\.[A-Za-z_]+$|range$|"
                            r"begin_step$|torch\.no_grad$", called):
                fault(path, called)
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            fault(path, node.value)
    if "from_file" in text.split("def step")[1].split("\n\n\n")[0]:
        fault(path, "from_file")


def check_md(path, text):
    outside = re.sub("`[^`\n]*`", "", text)
    if re.search(r"[<\[\]]|CANARY", outside):
        fault(path, outside)


def check_png(path):
    if path.read_bytes()[:8] != b"\x89PNG\r\n\x1a\n":
        fault(path, "no PNG")


CHECKS = {".json": check_json, ".csv": check_csv, ".html": check_html, ".svg": check_svg,
          ".py": check_py, ".md": check_md}
seen = {}
for path in sorted((FOLDER / "kept").iterdir()):
    seen[path.suffix] = seen.get(path.suffix, 0) + 1
    if path.suffix == ".png":
        check_png(path)
    if path.suffix in (".png", ".pdf", ".command"):
        continue
    try:
        text = path.read_bytes().decode("utf-8")
        hidden = HIDDEN.search(text if path.suffix != ".csv" else text.replace("\r", ""))
        if hidden:
            fault(path, text[max(0, hidden.start() - 40):hidden.end() + 40])
        if text and path.suffix in CHECKS:
            CHECKS[path.suffix](path, text)
    except (ValueError, SyntaxError, csv.Error, xml.etree.ElementTree.ParseError) as error:
        fault(path, repr(error)[:300])
for line in (line for path in (FOLDER / "kept").glob("*.messages")
             for line in path.read_text("utf-8", "replace").splitlines()):
    if not line.startswith("mystique-sim: "):
        fault(pathlib.Path("messages"), line)
print(", ".join(f"{count} {kind}" for kind, count in sorted(seen.items())))
sys.exit(faults > 0)
PYTHON

# No command ran: nothing is called CANARY, and no file is new beside the inputs.
while IFS= read -r file; do
    complain "a command ran: $file"
done < <(find "$folder" -name '*CANARY' ! -name '* *')
finish
