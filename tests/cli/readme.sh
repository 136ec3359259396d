#!/usr/bin/env bash
# What the documentation shows is what the program does: its runs print the lines
# that stand below them, every option and every member of the JSON is explained,
# and the recipes for recording make traces that lack nothing.
. "$(dirname "$0")/lib.bash"

command -v python3 >/dev/null || { echo "no python3: skipped"; exit 77; }
root=${SOURCE_DIR:?the source folder}
pages=("$root/README.md" "$root"/docs/*.md "$root"/docs/tutorials/*.md)

# ---- runs: "    $ mystique-sim ..." and the lines below, "..." for some -----

last="the runs of README.md"
python3 - "$sim" "$root" "${pages[@]}" <<'PYTHON' || complain "other output"
import pathlib, shlex, subprocess, sys

sim, root, *pages = sys.argv[1:]
failed = runs = 0


def blocks(page):
    """(command, shown lines) of every run."""
    shown = None
    for line in pathlib.Path(page).read_text(encoding="utf-8").splitlines():
        if line.startswith("    $ mystique-sim "):
            if shown:
                yield shown
            shown = (line[len("    $ mystique-sim "):], [])
        elif shown and (line.startswith("    ") or not line):
            shown[1].append(line[4:].rstrip())
        elif shown:
            yield shown
            shown = None
    if shown:
        yield shown


for page in pages:
    for command, shown in blocks(page):
        runs += 1
        done = subprocess.run([sim, *shlex.split(command)], cwd=root, text=True,
                              capture_output=True, check=False)
        said = iter([line.rstrip() for line in done.stdout.splitlines()])
        for line in (s for s in shown if s and s.strip() != "..."):
            if line not in said:  # from where the last one stood
                print(f"{page}: '{command}' does not print, or not there: "
                      f"{line}", file=sys.stderr)
                failed = 1
                break
sys.exit(failed or runs < 4)
PYTHON

# ---- commands whose output is a file ------------------------------------------

mkdir "$folder/at" "$folder/bin"
ln -s "$root/data" "$root/docs" "$folder/at"
ln -s "$sim" "$folder/bin/mystique-sim"
while IFS= read -r command; do
    last=$command
    (cd "$folder/at" && PATH=$folder/bin:$PATH bash -c "$command") >"$folder/log" 2>&1 ||
        complain "it fails: $(tail -1 "$folder/log")"
done < <(sed -n 's/^    \(mystique-sim .*\)/\1/p' "$root/docs/gallery.md" "$root"/docs/tutorials/*.md |
    grep -v 'run\.sqlite')
[ -s "$folder/at/plan/report.html" ] || complain "no page of a plan"

# ---- Python in tutorials, page by page ----------------------------------------

for page in "$root"/docs/tutorials/*.md; do
    last="the Python of $page"
    awk '/^```python$/ { on = 1; next } /^```$/ { on = 0 } on' "$page" >"$folder/tutorial.py"
    MYSTIQUE_SIM=$sim PYTHONPATH=$root/python PYTHONDONTWRITEBYTECODE=1 \
        python3 "$folder/tutorial.py" >"$folder/log" 2>&1 || complain "it fails: $(cat "$folder/log")"
done

# ---- every option ----------------------------------------------------------

for verb in predict info compare op platforms select convert generate replay validate calibrate; do
    run "$verb" --help
    for option in $(grep -oE '^  -(-[a-z][a-z-]+|[a-z]) ' "$folder/out"); do
        grep -qE -- "$option([^a-z-]|\$)" "${pages[@]}" ||
            complain "$option is not in the documentation"
    done
done

# ---- every GPU -------------------------------------------------------------

run platforms
for name in $(sed -n '2,$s/ .*//p' "$folder/out"); do
    grep -qE -- "(^| )$name([^a-z0-9-]|\$)" "$root/README.md" ||
        complain "$name is not in README.md"
done

# ---- every member of the JSON ----------------------------------------------

traces=$root/data/traces
"$sim" --json --platform a100 --clock 0.8 --nodes 2 --ranks 16 \
    "$traces/dlrm-ddp-2ranks" >"$folder/predict.json" 2>/dev/null
"$sim" --json --costs measured "$traces/dlrm" >"$folder/measured.json" \
    2>/dev/null
"$sim" info --json "$traces/dlrm" >"$folder/info.json"
"$sim" compare --json --platform a100,h100 "$traces/dlrm-ddp-2ranks" \
    "$traces/dlrm-ddp-2ranks" >"$folder/compare.json" 2>/dev/null
"$sim" select --json "$traces" >"$folder/select.json"
"$sim" platforms --json >"$folder/platforms.json"
"$sim" platforms --json h100 >"$folder/platform.json"
last="docs/json.md"
python3 - "$root/docs/json.md" "$folder"/*.json <<'PYTHON' || complain "above"
import json, pathlib, re, sys

page = pathlib.Path(sys.argv[1]).read_text(encoding="utf-8")
told = {word for code in re.findall(r"`([^`]+)`", page)
        for word in re.split(r"\W+", code)}
# Whose members are names of other things, or are told elsewhere.
OPEN = {"copied_us", "main_thread", "threads", "gpu_idle", "streams",
        "data_sheet", "parameters", "cells"}


def members(value, name=None):
    if isinstance(value, list):
        for each in value:
            yield from members(each, name)
    elif isinstance(value, dict):
        for key, each in value.items():
            yield key
            table = isinstance(each, dict) and "rows" in each
            if key not in OPEN or table:
                yield from members(each, key)


failed = 0
for path in sys.argv[2:]:
    found = set(members(json.loads(pathlib.Path(path).read_text())))
    for key in sorted(found - told):
        print(f"docs/json.md: '{key}' of {pathlib.Path(path).stem} is not told",
              file=sys.stderr)
        failed = 1
    if len(found) < 4:
        failed = 1
sys.exit(failed)
PYTHON

# ---- the recipe for recording ------------------------------------------------

python=${MSIM_PYTHON:-python3}
try_recipe() { # PAGE: its first block of Python
    last="the recipe of $1"
    rm -rf "$folder/run" && mkdir "$folder/run"
    {
        echo "import torch"
        echo "model = torch.nn.Linear(64, 64)"
        echo "def train_step():"
        echo "    model(torch.ones(8, 64)).sum().backward()"
        awk '/^```python$/ { on = 1; next } on && /^```$/ { exit } on' "$root/$1"
    } >"$folder/recipe.py"
    (
        cd "$folder" && export PYTHONPATH=$root/python:${PYTHONPATH:-} &&
            PYTHONDONTWRITEBYTECODE=1 "$python" recipe.py
    ) >"$folder/log" 2>&1 || complain "it failed: $(cat "$folder/log")"
    run info --json "$folder/run"
    want_rc 0
    want_out '"missing": [
    "no GPU activity'
    [ "$(grep -c '"steps": 3' "$folder/out")" = 2 ] ||
        complain "not three steps in both files: $out"
}
if "$python" -c 'import torch' 2>/dev/null; then
    try_recipe README.md
    try_recipe docs/traces.md
else
    echo "no PyTorch: the recipe for recording is not tried"
fi

finish
