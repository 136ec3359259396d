#!/usr/bin/env bash
# `--html`: a page that needs no network, whose sliders equal `--scale`, in
# which no text of a trace is code; and in a browser, where there is one.
. "$(dirname "$0")/lib.bash"

command -v python3 >/dev/null || { echo "no python3: skipped" && exit 77; }
data=${SOURCE_DIR:?}/data/traces
page=$folder/page.html

# ---- files ----------------------------------------------------------------

# bytes_at_most FILE N
bytes_at_most() {
    local size
    size=$(stat -c %s "$1")
    [ "$size" -le "$2" ] || complain "$size bytes, want at most $2"
}

run --platform a100 --html "$page" "$data/gpt2"
want_rc 0
want_out "data/traces/gpt2 on a100"
bytes_at_most "$page" 60000
for word in 'http:' 'https:' 'src=' 'href=' 'url(' '@import' 'eval(' innerHTML; do
    ! grep -qF -- "$word" "$page" || complain "the page has '$word'"
done
grep -q "default-src 'none'" "$page" || complain "the page may load something"

# The same page twice; none where it is not asked for, or cannot be.
cp "$page" "$folder/first.html"
run --platform a100 --html "$page" --json "$data/gpt2"
cmp -s "$page" "$folder/first.html" || complain "the page changes from run to run"
run --platform a100 --html "$folder/none/page.html" "$data/gpt2"
want_rc 3
want_err "cannot write"
cp "$data/gpt2/et.json" "$folder/et.json" 2>/dev/null ||
    cp "$(find "$data/gpt2" -type f -name '*.json*' | head -1)" "$folder/et.json"
before=$(cksum <"$folder/et.json")
run --platform a100 --html "$folder/et.json" "$folder/et.json"
want_rc 2
[ "$before" = "$(cksum <"$folder/et.json")" ] || complain "an input was written"
usage_error "want a file" --platform a100 --html - "$data/gpt2"
usage_error "got --html with several platforms" \
    --platform a100,h100 --html "$page" "$data/gpt2"
usage_error "got --html with --explain" \
    --platform a100 --html "$page" --explain aten::mm "$data/gpt2"
usage_error "want two files" --platform a100 --html "$folder/a.svg" \
    --chart "$folder/a.svg" "$data/gpt2"

# ---- what is in it ----------------------------------------------------------

cat >"$folder/blocks.py" <<'PYTHON'
"""blocks.py PAGE: what its blocks hold, as one JSON object."""
import base64, gzip, json, re, sys

text = open(sys.argv[1], encoding="utf-8").read()
blocks = {name: gzip.decompress(base64.b64decode(of)) for name, of in re.findall(
    r'<script type="application/octet-stream" id="([a-z-]+)">([^<]*)</script>', text)}
assert text.count("<script") == len(blocks) + 1, "another script"
out = {name: json.loads(of) for name, of in blocks.items() if name != "bars"}
out["bars"] = len(blocks.get("bars", b""))


def planes(factors):
    of = out["planes"]["planes"]
    return max(p[0] + sum(a * b for a, b in zip(p[1:], factors)) for p in of)


if len(sys.argv) > 2:
    print(planes([float(x) for x in sys.argv[2:]]))
else:
    print(json.dumps(out))
PYTHON

# slider_is WANTED FACTOR...: planes and --scale agree within 1 %.
near() {
    python3 -c 'import sys; a, b = map(float, sys.argv[1:]); sys.exit(abs(a / b - 1) > 0.01)' \
        "$1" "$2" || complain "$3: the page says $1 us, the program $2"
}
period() { # ARGUMENT...
    "$sim" --json "$@" 2>/dev/null |
        python3 -c 'import json,sys; print(json.load(sys.stdin)["period_us"]["predicted"])'
}
for factors in "1 1" "0.5 1" "1 0.5" "0.25 2" "3 0.1"; do
    read -r kernels host <<<"$factors"
    near "$(python3 "$folder/blocks.py" "$page" "$kernels" "$host")" "$(period \
        --platform a100 --scale "kernels=$kernels" --scale "host=$host" \
        "$data/gpt2")" "gpt2, kernels $kernels, host $host"
done
run --platform h100 --ranks 64 --html "$folder/ddp.html" "$data/dlrm-ddp-2ranks"
for factors in "1 1 1" "0.5 1 1" "1 0.3 1" "1 0.2 3" "2 0.2 0.5"; do
    read -r kernels host network <<<"$factors"
    near "$(python3 "$folder/blocks.py" "$folder/ddp.html" "$kernels" "$host" \
        "$network")" "$(period --platform h100 --ranks 64 \
        --scale "kernels=$kernels" --scale "host=$host" \
        --scale "link:network=$network" "$data/dlrm-ddp-2ranks")" \
        "DDP, kernels $kernels, host $host, network $network"
done
python3 "$folder/blocks.py" "$folder/ddp.html" | python3 -c '
import json, sys

page = json.load(sys.stdin)
assert page["answer"]["schema"] == "mystique-sim/prediction/1"
assert page["planes"]["classes"] == ["kernels", "host", "network"], page["planes"]["classes"]
assert page["planes"]["deviation"] < 0.01 and page["planes"]["checked"] >= 20
assert page["bars"] > 0 and len(page["bars-head"]["lanes"]) >= 4' ||
    complain "the page of DDP is not as wanted"

# ---- comparisons and scenarios ----------------------------------------------

cat >"$folder/scenarios.json" <<'JSON'
{"scenarios": [
  {"name": "half | kernels", "changes": [{"scale": {"select": "kernels", "factor": 0.5}}]},
  {"name": "</script><b>h100", "changes": [{"gpu": "h100"}]},
  {"name": "none", "changes": [{"batch": {"from": 7, "to": 9}}]}]}
JSON
run whatif --platform a100 --html "$folder/whatif.html" "$folder/scenarios.json" "$data/gpt2"
want_rc 0
run compare --platform a100,h100 --html "$folder/compare.html" "$data/gpt2" "$data/gpt2"
want_rc 0
echo '{"scenarios": [{"name": "on a100", "changes": [{"gpu": "a100"}]}]}' >"$folder/described.json"
run whatif --platform h100 --html "$folder/described.html" "$folder/described.json" mpt-125m
want_rc 0
for name in whatif:whatif compare:comparison described:whatif; do
    kind=$(python3 "$folder/blocks.py" "$folder/${name%:*}.html" |
        python3 -c 'import json,sys; print(json.load(sys.stdin)["answer"]["schema"])')
    [ "$kind" = "mystique-sim/${name#*:}/1" ] || complain "${name%:*} holds '$kind'"
    bytes_at_most "$folder/${name%:*}.html" 60000
done
usage_error "want a file" compare --html - "$data/gpt2" "$data/gpt2"
usage_error "is empty, want FILE" whatif --html "" "$folder/scenarios.json" "$data/gpt2"

# ---- names that would be code, many events ----------------------------------

python3 - "$folder" <<'PYTHON'
import json, sys

def job(path, names, kernels):
    events, n = [], 0
    for step in range(2):
        begin = step * kernels * 12
        for i in range(kernels):
            n += 1
            at, name = begin + i * 12, names[i % len(names)]
            events += [
                {"ph": "X", "cat": "cpu_op", "name": name, "pid": 1, "tid": 1,
                 "ts": at, "dur": 8, "args": {"External id": n}},
                {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel",
                 "pid": 1, "tid": 1, "ts": at + 2, "dur": 3,
                 "args": {"correlation": n, "External id": n}},
                {"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 7,
                 "ts": at + 6, "dur": 7 + i % 4, "args": {
                     "device": 0, "stream": 7, "correlation": n, "External id": n}}]
        events.append({"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{step}",
                       "pid": 1, "tid": 1, "ts": begin, "dur": kernels * 12 - 1})
    json.dump({"schemaVersion": 1, "traceEvents": events}, open(path, "w"))

job(sys.argv[1] + "/hostile.json", [
    "</script><script>document.title='owned'</script>", "<!--<script>", "\u2028alert(1)",
    "<img src=x onerror=\"document.title='owned'\">", "]]>\"'`${1}", "__proto__"], 6)
job(sys.argv[1] + "/many.json", [f"op_{i}<float, {i}>" for i in range(60)], 17000)
PYTHON
run --html "$folder/hostile.html" "$folder/hostile.json"
want_rc 0
for word in owned onerror 'alert(1)' '<!--<' '<img'; do
    ! grep -qF -- "$word" "$folder/hostile.html" || complain "the page has '$word'"
done
run --html "$folder/many.html" "$folder/many.json"
want_rc 0
bytes_at_most "$folder/many.html" 1200000
bars=$(python3 "$folder/blocks.py" "$folder/many.html" |
    python3 -c 'import json,sys; print(sum(l["n"] for l in json.load(sys.stdin)["bars-head"]["lanes"]))')
[ "$bars" -ge 100000 ] || complain "$bars bars, want 100000"

# ---- in a browser -------------------------------------------------------------

browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome)
if [ -z "$browser" ]; then
    echo "no Chromium: the pages were not opened"
    finish
    exit
fi
look() { # PAGE STEP...: fills seen, a line a step that has an answer
    last="browser $*"
    seen=$(python3 "$(dirname "$0")/browser.py" "$browser" "file://$1" "${@:2}" 2>&1) ||
        complain "the page fails: $seen"
}
us='eval:+document.querySelector("#period").dataset.us'
half='eval:(s => { s.value = [...Array(40).keys()].find(i => { s.value = i; s.dispatchEvent(new Event("input")); return document.querySelector("#command").textContent === "--scale kernels=0.5"; }); })(document.querySelector("#slider-kernels"))'
span='eval:+document.querySelector("#timeline").dataset.span'
look "$page" "$us" key:#slider-kernels:ArrowLeft "$us" \
    'eval:document.querySelector("#command").textContent' "$half" "$us" \
    "$span" key:#timeline:+ "$span" key:#timeline:c \
    'eval:document.querySelector(".said").textContent' \
    'eval:[...document.querySelectorAll("h2")].map(h => h.textContent).join()' \
    'eval:(b => { b.click(); return document.querySelector("td").textContent; })(document.querySelector("th button"))' \
    size:390:844 'eval:document.documentElement.scrollWidth <= 390'
mapfile -t lines <<<"$seen"
near "${lines[0]}" "$(period --platform a100 "$data/gpt2")" "the page as it is"
near "${lines[1]}" "$(period --platform a100 --scale kernels=0.95 "$data/gpt2")" "a key on the slider"
[ "${lines[2]}" = '"--scale kernels=0.95"' ] || complain "the command is ${lines[2]}"
near "${lines[4]}" "$(period --platform a100 --scale kernels=0.5 "$data/gpt2")" "the slider at a half"
[ "${lines[5]}" != "${lines[6]}" ] || complain "a key does not zoom: ${lines[5]}"
[[ ${lines[7]} == *"critical path"* ]] || complain "no bar of the path: ${lines[7]}"
[ "${lines[8]}" = '"Where the time goes,What if it took less, or more?,Timeline,Operators,Roofline,Memory over time,More"' ] ||
    complain "the sections are ${lines[8]}"
[ "${lines[9]}" = '"aten::_foreach_add_"' ] || complain "the table is not sorted: ${lines[9]}"
[ "${lines[10]}" = true ] || complain "the page is wider than a phone"
look "$page#kernels=0.5" 'eval:document.querySelector("#command").textContent'
[ "$seen" = '"--scale kernels=0.5"' ] || complain "the address does not move sliders: $seen"
look "$folder/hostile.html" 'eval:document.title' 'eval:document.querySelectorAll("img,main script").length' \
    'eval:document.querySelector("main").textContent.includes("</script><script>")'
[[ $seen == *hostile.json* && $seen == *$'\n0\ntrue' ]] || complain "hostile names: $seen"
look "$folder/whatif.html" 'eval:document.querySelector(".verdict").textContent' \
    'eval:document.querySelectorAll("tbody tr").length' 'eval:document.querySelectorAll("main b > b, main script").length' \
    'eval:/ predictions are marked: 1 peak /.test(document.querySelector("main").textContent)' \
    'eval:[...document.querySelectorAll("tbody tr:first-child td:last-child")].map(td => td.textContent)[0]' \
    'eval:[...document.querySelectorAll(".bar i")].map(i => i.style.left === "50%").join()'
[[ $seen == *h100,*$'\n3\n0\ntrue\n"peak"\n"false,false"' ]] || complain "the page of what-ifs: $seen"
look "$folder/described.html" 'eval:document.querySelectorAll("tbody tr").length'
look "$folder/compare.html" 'eval:[...document.querySelectorAll(".card b")].map(b => b.textContent).join()' \
    'eval:document.querySelector(".tools ~ .scroll td").textContent'
[[ $seen == *'\u00d7 0.4'* && $seen == *MmBackward0* ]] || complain "the page of a comparison: $seen"
look "$folder/many.html" 'eval:+document.querySelector("#timeline").dataset.bars > 100'
[ "$seen" = true ] || complain "the page of many events has no bars: $seen"

finish
