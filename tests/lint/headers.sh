#!/usr/bin/env bash
# Every header compiles alone: it includes what it uses. It has a guard named
# after its path and opens with a comment that says what it is.
. "$(dirname "$0")/lib.bash"

flags=(-std=c11 -D_GNU_SOURCE -DMSIM_TRACES='""' -I. -Wall -Wextra -Werror
    -fsyntax-only -x c)
# Headers that protobuf-c makes, as the build sees them.
[ -z "${BUILD_DIR:-}" ] || flags+=(-isystem "$BUILD_DIR/proto")
# Those of the CUDA backend name CUDA's, where there is a toolkit.
cuda=${BUILD_DIR:-}/cuda_includes
if [ -s "$cuda" ]; then
    while IFS= read -r include; do
        flags+=(-isystem "$include")
    done <"$cuda"
fi

compiles() { # HEADER: included rather than compiled: a main file may be none
    case $1 in profilers/cuda/*) [ -s "$cuda" ] || return 0 ;; esac
    printf '#include "%s"\n' "$1" | "${CC:-cc}" "${flags[@]}" -
}

upper() {
    tr 'a-z.-' 'A-Z__' <<<"$1"
}

while IFS= read -r header; do
    compiles "$header" || complain "$header: does not compile alone"
    guard=MSIM_$(upper "${header//\//_}")
    grep -qx "#ifndef $guard" "$header" ||
        complain "$header: no include guard '$guard'"
    [ "$(sed -n '1s/^\(..\).*/\1/p' "$header")" = "/*" ] ||
        complain "$header: does not open with a comment on what it is"
done < <(project_files '*.h')

finish headers
