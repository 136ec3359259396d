#!/usr/bin/env bash
# Every header compiles alone: it includes what it uses. It has a guard named
# after its path and opens with a comment that says what it is.
. "$(dirname "$0")/lib.bash"

flags=(-std=c11 -D_GNU_SOURCE -DMSIM_TRACES='""' -I. -Wall -Wextra -Werror
    -fsyntax-only -x c)
# Headers that protobuf-c makes, as the build sees them.
[ -z "${BUILD_DIR:-}" ] || flags+=(-isystem "$BUILD_DIR/proto")
# Those of the CUDA backend name CUDA's, where there is a toolkit; else, and in
# the made-up GPU, its own.
fake=(-isystem tests/fake_gpu/include)
cuda=()
if [ -s "${BUILD_DIR:-}/cuda_includes" ]; then
    while IFS= read -r include; do
        cuda+=(-isystem "$include")
    done <"$BUILD_DIR/cuda_includes"
else
    cuda=("${fake[@]}")
fi

compiles() { # HEADER: included rather than compiled: a main file may be none
    local more=("${cuda[@]}")
    case $1 in tests/fake_gpu/*) more=("${fake[@]}") ;; esac
    printf '#include "%s"\n' "$1" | "${CC:-cc}" "${flags[@]}" "${more[@]}" -
}

upper() {
    tr 'a-z.-' 'A-Z__' <<<"$1"
}

while IFS= read -r header; do
    compiles "$header" || complain "$header: does not compile alone"
    guard=MSIM_$(upper "${header//\//_}")
    # what stands in for CUDA's is read in two parts (cuda_runtime_api.h there)
    [[ $header == tests/fake_gpu/include/* ]] ||
        grep -qx "#ifndef $guard" "$header" ||
        complain "$header: no include guard '$guard'"
    [ "$(sed -n '1s/^\(..\).*/\1/p' "$header")" = "/*" ] ||
        complain "$header: does not open with a comment on what it is"
done < <(project_files '*.h')

finish headers
