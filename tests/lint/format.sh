#!/usr/bin/env bash
# Sources are as clang-format 14 (Debian 12) leaves them. Versions differ in
# details, so that with another one, or none, this is skipped.
. "$(dirname "$0")/lib.bash"

for format in clang-format-14 clang-format ''; do
    "${format:-false}" --version 2>/dev/null | grep -q 'version 14\.' && break
done
if [ -z "$format" ]; then
    echo "no clang-format 14: skipped"
    exit 77
fi

# One process for all: starting one takes longer than reading a file.
while IFS= read -r file; do
    complain "$file: not formatted ($format -i $file)"
done < <(project_files '*.c' '*.h' |
    of_files "$format" --style=file --dry-run 2>&1 |
    sed -n 's/^\([^:]*\):.*clang-format-violations.*/\1/p' | sort -u)

finish format
