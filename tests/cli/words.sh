#!/usr/bin/env bash
# help report: every heading, column, label and kind that text reports print is
# explained there, once, in alphabetical order.
. "$(dirname "$0")/lib.bash"

command -v python3 >/dev/null || exit 77
samples=${SOURCE_DIR:?the source folder}/data/traces

run help report
want_rc 0
want_no_err
! grep -nE '.{81}| $' "$folder/out" >&2 || complain "an untidy line"
cp "$folder/out" "$folder/words"
run help
want_out "'mystique-sim help report' explains every word"

n=0
report() { # ARGUMENT...: one report, as text and as JSON
    n=$((n + 1))
    "$sim" "$@" >"$folder/$n.text" 2>/dev/null || complain "no report of $*"
    "$sim" --json "$@" >"$folder/$n.json" 2>/dev/null
}

report --platform a100 --usage "$samples/gpt2"
report --costs measured "$samples/dlrm"
report --platform a100 "$samples/dlrm-ddp-2ranks"
if [ -n "${MSIM_TRACES:-}" ]; then
    report "$MSIM_TRACES/traces/torchrec-4xv100"
    report "$MSIM_TRACES/traces/ranking-a100"
    report "$MSIM_TRACES/traces/opened/deepseek-v3-h800.json.gz"
    report --platform h100 "$MSIM_TRACES/traces/resnet50-v100/kineto/workers-0.json.gz"
    report --platform t4 --costs model "$MSIM_TRACES/traces/vgg13-h100"
fi

python3 - "$folder" "$n" <<'PYTHON' || complain "help report lacks words"
import json, re, sys

folder, n = sys.argv[1], int(sys.argv[2])
lines = open(f"{folder}/words").read().splitlines()
words = [re.split(r"  +", l[2:])[0] for l in lines if re.match(r"  \S", l)]
assert words == sorted(words, key=str.lower), "not in order"
assert len(words) == len(set(words)) > 80, len(words)
known = {w.lower() for w in words}
missing = set()


def want(word, where):
    word = word.strip().lower()
    if word and word not in known:
        missing.add(f"'{word}' ({where})")


def headings(text):
    for line in text.splitlines():
        if not line or line.startswith(("warning:", "next:", " ")):
            continue
        first, *columns = re.split(r"  +", line)
        yield re.split(r",|:| \(", first)[0]
        yield from (c.split("/")[0] for c in columns)


def columns_of_ranks(text):
    lines = text.splitlines()
    for line, below in zip(lines, lines[1:]):
        if line.startswith("ranks, in "):
            yield from below.split()


for i in range(1, n + 1):
    text = open(f"{folder}/{i}.text").read()
    body = text.split("\n\n", 1)[1]  # behind the verdict and the title
    verdict = text.split(":")[0]
    if verdict.endswith("-bound"):
        want(verdict, "verdict")
    for word in headings(body.split("\n\n", 1)[1]):
        want(word, "heading")
    for word in columns_of_ranks(body):
        want(word, "column")
    for line in body.split("\n\n", 1)[0].splitlines():
        if not line.startswith("  mean of"):
            want(re.split(r"  +", line[2:])[0], "figure")
    for label in re.findall(r"^  ((?:main thread|idle GPU), for|last to arrive"
                            r"|time to spare|by class|copied times) ", text, re.M):
        want(label, "label")
    p = json.load(open(f"{folder}/{i}.json"))
    for op in p["ops"] + p["not_covered"]:
        want(op["model"], "model")
        want(op["source"], "source")
    for o in p["critical_owners"]:
        want(o["kind"], "kind")
    for e in p["edges"]:
        want(e["kind"], "edge")
        want(e["source"], "source of an edge")
    for waits in p["waits_us"].values():
        for cause in waits:
            want(cause, "wait")
    for name in p["copied_us"]:
        want(name, "copied")
    for it in p["iterations"]:
        want(it.get("state") or "", "state")
for word in sorted(missing):
    print(f"not explained: {word}", file=sys.stderr)
sys.exit(bool(missing))
PYTHON

finish
