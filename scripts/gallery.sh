#!/usr/bin/env bash
# The pictures of docs/gallery.md, made again: pages that the program writes, as
# Chromium shows them, and charts of gnuplot.
#
#     scripts/gallery.sh [FOLDER]     [default: docs/gallery]
#
# Wants build/mystique-sim, python3, gnuplot and Chromium (Debian: apt install
# chromium).
set -euo pipefail
cd "$(dirname "$0")/.."
sim=$PWD/build/mystique-sim
to=$(realpath -m "${1:-docs/gallery}")
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$to"

# A picture of a page, from the part that a selector names.
picture() { # NAME PAGE WIDTH HEIGHT SELECTOR
    python3 tests/cli/browser.py "$browser" "file://$2" "size:$3:$4" \
        "eval:document.querySelector('$5').scrollIntoView()" \
        'eval:new Promise(r => setTimeout(() => r(1), 300))' "shot:$to/$1.webp" >/dev/null
}

"$sim" --platform a100 --html "$work/gpt2.html" --chart "$work/chart.svg" data/traces/gpt2 >/dev/null
picture predict "$work/gpt2.html" 1100 640 h1
picture roofline "$work/gpt2.html" 1100 620 'section:nth-of-type(5)'
picture phone "$work/gpt2.html" 390 780 h1
"$sim" --platform h100 --ranks 64 --html "$work/ranks.html" data/traces/dlrm-ddp-2ranks >/dev/null
picture timeline "$work/ranks.html" 1100 620 'section:nth-of-type(2)'
"$sim" whatif --platform rtx-4090 --html "$work/whatif.html" docs/tutorials/gallery.json \
    data/traces/gpt2 >/dev/null
picture whatif "$work/whatif.html" 1100 420 h1
"$sim" compare --platform a100,h100 --html "$work/compare.html" data/traces/gpt2 data/traces/gpt2 >/dev/null
picture compare "$work/compare.html" 1100 640 h1
"$sim" plan docs/tutorials/gallery_plan.json -o "$work/plan" >/dev/null 2>&1
picture plan "$work/plan/report.html" 1100 760 h1
picture memory "$work/plan/report.html" 1100 760 'section:nth-of-type(2)'
"$sim" select -k 3 --chart "$work/fleet.svg" data/traces/*/ >/dev/null
for chart in chart fleet; do
    { echo '<!doctype html><body style="margin:0">' && cat "$work/$chart.svg"; } >"$work/$chart.html"
    picture "$chart" "$work/$chart.html" 1000 "$(
        sed -n 's/^ width="[0-9]*" height="\([0-9]*\)"$/\1/p' "$work/$chart.svg")" svg
done
echo "written: $to"
