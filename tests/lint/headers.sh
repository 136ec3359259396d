#!/usr/bin/env bash
# Every header compiles alone: it includes what it uses. It has a guard named
# after its folder and file and opens with a comment that says what it is.
. "$(dirname "$0")/lib.bash"

flags=(-std=c11 -D_GNU_SOURCE -DMSIM_TRACES='""' -I. -Wall -Wextra -Werror
    -fsyntax-only -x c)
# Headers that protobuf-c makes, as the build sees them.
[ -z "${BUILD_DIR:-}" ] || flags+=(-isystem "$BUILD_DIR/proto")

upper() {
    tr 'a-z.-' 'A-Z__' <<<"$1"
}

while IFS= read -r header; do
    # Included rather than compiled itself: a main file may not be a header.
    printf '#include "%s"\n' "$header" | "${CC:-cc}" "${flags[@]}" - ||
        complain "$header: does not compile alone"
    folder=$(upper "${header%%/*}")
    guard="MSIM_${folder}_([A-Z]+_)?$(upper "$(basename "$header")")"
    grep -qE "^#ifndef $guard\$" "$header" ||
        complain "$header: no include guard '$guard'"
    [ "$(sed -n '1s/^\(..\).*/\1/p' "$header")" = "/*" ] ||
        complain "$header: does not open with a comment on what it is"
done < <(project_files '*.h')

finish headers
