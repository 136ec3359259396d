#!/usr/bin/env bash
# Every header compiles alone: it includes what it uses. It has a guard named
# after its path and opens with a comment that says what it is.
. "$(dirname "$0")/lib.bash"

flags=(-std=c11 -D_GNU_SOURCE -DMSIM_TRACES='""' -I. -Wall -Wextra -Werror
    -fsyntax-only -x c)
# Headers that the build makes, as it sees them.
[ -z "${BUILD_DIR:-}" ] || flags+=(-isystem "$BUILD_DIR/proto" -isystem "$BUILD_DIR/rows")
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

# The build compiles the others alone: the first line that their source includes.
first=$(project_files '*.c' | of_files awk '
    FNR == 1 { found = 0 }
    !found && /^#include/ { found = 1; if (split($0, at, "\"") > 1) print at[2] }')
while IFS= read -r header; do
    compiles "$header" || complain "$header: does not compile alone"
done < <(project_files '*.h' | grep -vxF "$first")

while IFS= read -r complaint; do
    complain "$complaint"
# what stands in for CUDA's is read in two parts (cuda_runtime_api.h there)
done < <(project_files '*.h' | of_files awk '
    function end() {
        if (file != "" && !guarded && file !~ /^tests\/fake_gpu\/include\//)
            print file ": no include guard \047" guard "\047"
    }
    FNR == 1 {
        end()
        file = FILENAME; guarded = 0
        guard = "MSIM_" toupper(file); gsub(/[.\/-]/, "_", guard)
        if (!/^\/\*/)
            print file ": does not open with a comment on what it is"
    }
    $0 == "#ifndef " guard { guarded = 1 }
    END { end() }')

finish headers
