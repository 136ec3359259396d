#!/usr/bin/env bash
# The documentation holds what the files say: tables of accuracy are those of the
# committed figures, links lead somewhere, and README.md stays short.
. "$(dirname "$0")/lib.bash"

MOST=200 # lines of README.md

if ! command -v python3 >/dev/null; then
    echo "no python3: skipped"
    exit 77
fi
python3 scripts/accuracy/accuracy_readme.py --check || complain "stale tables"
python3 scripts/bench/speed.py page || complain "stale figures of speed"
python3 scripts/gpu/page.py --check || complain "stale figures of a GPU"

lines=$(wc -l <README.md)
[ "$lines" -le "$MOST" ] ||
    complain "README.md: $lines lines, want $MOST at most: docs/ has the rest"

# link FILE TARGET: a path beside FILE, with or without the heading of a page.
check_link() {
    local path=${2%%#*} anchor='' page
    [[ $2 != *'#'* ]] || anchor=${2#*#}
    page=$(dirname "$1")/$path
    [ -n "$path" ] || page=$1
    if [ ! -e "$page" ]; then
        complain "$1: the link '$2' leads nowhere"
    elif [ -n "$anchor" ] && ! grep '^#' "$page" | tr 'A-Z ' 'a-z-' |
        tr -cd 'a-z0-9_\n-' | grep -xE -- "-*$anchor" >/dev/null; then
        complain "$1: '$page' has no heading '#$anchor'"
    fi
}

while IFS= read -r file; do
    while IFS= read -r link; do
        check_link "$file" "$link"
    done < <(grep -oE '\]\([^) ]+\)' "$file" | sed 's/^](//; s/)$//' |
        grep -v '^https\?:' || true)
done < <(project_files '*.md')

# Every page of docs/ is in its list.
while IFS= read -r page; do
    page=${page#docs/}
    [ "$page" = README.md ] || grep -qF "]($page)" docs/README.md ||
        complain "docs/README.md: does not list $page"
done < <(project_files 'docs/*.md')

finish readme
