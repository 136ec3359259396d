# Shared by the lint tests: where to look, and how to report.
#
# The files looked at are those of the working tree that git does not ignore;
# outside a git checkout (a release archive) all but build folders.

set -euo pipefail
cd "${SOURCE_DIR:-$(dirname "${BASH_SOURCE[0]}")/../..}"

failures=0

complain() {
    echo "$*" >&2
    failures=$((failures + 1))
}

finish() {
    echo "$1: $failures complaints"
    [ "$failures" -eq 0 ]
}

# project_files PATTERN...: paths relative to the project, one a line.
project_files() {
    if git rev-parse --is-inside-work-tree >/dev/null 2>&1; then
        git ls-files --cached --others --exclude-standard -- "$@" |
            sort -u | while IFS= read -r file; do
                [ ! -f "$file" ] || printf '%s\n' "$file"
            done
    else
        local pattern
        for pattern in "$@"; do
            find . \( -path './build*' -o -path ./.git -o \
                -name __pycache__ \) -prune -o -type f \
                -path "./$pattern" -print
        done | sed 's|^\./||' | sort -u
    fi
}

# C text without comments, strings and character literals; lines are kept.
code_only() {
    awk '
    {
        line = $0; out = ""
        while (line != "") {
            if (comment) {
                end = index(line, "*/")
                if (!end) { line = ""; break }
                line = substr(line, end + 2); comment = 0
                continue
            }
            two = substr(line, 1, 2); one = substr(line, 1, 1)
            if (two == "/*") { comment = 1; line = substr(line, 3) }
            else if (two == "//") line = ""
            else if (one == "\"" || one == "\047") {
                line = substr(line, 2)
                while (line != "" && substr(line, 1, 1) != one)
                    line = substr(line, substr(line, 1, 1) == "\\" ? 3 : 2)
                line = substr(line, 2); out = out one one
            }
            else { out = out one; line = substr(line, 2) }
        }
        print out
    }' "$1"
}
