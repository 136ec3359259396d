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
        git ls-files --cached --others --exclude-standard -- "$@" | sort -u |
            grep -vxFf <(git ls-files --deleted -- "$@") || true
    else
        local pattern
        for pattern in "$@"; do
            find . \( -path './build*' -o -path ./.git -o \
                -name __pycache__ \) -prune -o -type f \
                -path "./$pattern" -print
        done | sed 's|^\./||' | sort -u
    fi
}

# library_rooms: top folders of C whose functions others call, one a line.
library_rooms() {
    project_files '*.c' | sed -n 's|/.*||p' | sort -u | grep -vxE 'cli|tests'
}

# of_files COMMAND...: the command, with the paths of standard input after it. One
# process for all of them: to start one takes longer than to read a file.
of_files() {
    tr '\n' '\0' | xargs -0 -r "$@"
}

# Reads C without comments, strings and character literals: code(LINE).
code_of_lines='
FNR == 1 { comment = 0 }
function code(line,    out, end, two, one) {
    while (line != "") {
        if (comment) {
            end = index(line, "*/")
            if (!end) break
            line = substr(line, end + 2); comment = 0
            continue
        }
        if (!match(line, /["\047]|\/[*\/]/)) return out line
        out = out substr(line, 1, RSTART - 1)
        line = substr(line, RSTART)
        two = substr(line, 1, 2); one = substr(line, 1, 1)
        if (two == "/*") { comment = 1; line = substr(line, 3) }
        else if (two == "//") break
        else {
            line = substr(line, 2)
            while (line != "" && substr(line, 1, 1) != one)
                line = substr(line, substr(line, 1, 1) == "\\" ? 3 : 2)
            line = substr(line, 2); out = out one one
        }
    }
    return out
}'

# Lines of one file, all of them.
code_only() { # FILE
    awk "$code_of_lines"' { print code($0) }' "$1"
}

# Of the files of standard input: FILE:LINE:CODE, without empty lines.
code_lines() {
    of_files awk "$code_of_lines"' {
        text = code($0)
        if (text != "") print FILENAME ":" FNR ":" text
    }'
}
