#!/usr/bin/env bash
# Nothing names a place of the machine it was written on, nothing was left for
# later, no file is oversized, and no two sources have one name.
. "$(dirname "$0")/lib.bash"

text_files=$(project_files '*' | grep -vE '\.(gz|png|et)$|^LICENSE$' |
    grep -vxF tests/lint/names.sh)

forbid() { # WHY PATTERN [EXCEPT]
    local hit
    while IFS= read -r hit; do
        complain "$hit: $1"
    done < <(of_files grep -nIE -- "$2" <<<"$text_files" |
        grep -vE -- "${3:-^\$}" | cut -c1-160 || true)
}

forbid "left for later" '\b(TODO|FIXME|XXX|HACK)\b'
forbid "an absolute path of some machine" \
    '(^|[^A-Za-z0-9_.$}/])/(work|home|root|tmp|Users|mnt)/[A-Za-z0-9]'
forbid "an address of some machine" \
    '\b(10|192\.168|172\.(1[6-9]|2[0-9]|3[01]))(\.[0-9]{1,3}){2,3}\b'
forbid "trailing white space" '[[:space:]]+$' '^data/traces/|\.csv:'
forbid "a merge conflict" '^(<<<<<<<|>>>>>>>) '

# Limits of the style: a file tells one story.
while IFS= read -r complaint; do
    complain "$complaint"
done < <(project_files '*.c' '*.h' | of_files awk '
    FNR == 601 { print FILENAME ": over 600 lines, want about 500 at most" }
    length($0) > 80 && !(FILENAME in long) {
        long[FILENAME] = 1
        print FILENAME ":" FNR ": over 80 columns"
    }')

# File names are unique in the tree, so that a name says which file. Headers that
# stand in for CUDA's have CUDA's names.
while IFS= read -r name; do
    complain "$name: more than one file of that name"
done < <(project_files '*.c' '*.h' | grep -v '^tests/fake_gpu/include/' |
    sed 's|.*/||' | sort | uniq -d)

finish names
