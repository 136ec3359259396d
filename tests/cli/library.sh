#!/usr/bin/env bash
# libmystique.so as others have it: installed, found by pkg-config and by CMake, with
# the symbols of mystique.h alone, each with a version; the example of
# docs/library.md builds, and says what the program says.
. "$(dirname "$0")/lib.bash"

library=${BUILD_DIR:?the build folder}/libmystique.so
[ -e "$library" ] || { echo "built without libmystique.so: skipped"; exit 77; }
source=${SOURCE_DIR:?the source folder}
last="libmystique.so"

# ---- symbols -------------------------------------------------------------------

shown=$(nm -D --defined-only "$library" | awk '$2 != "A" { print $3 }' | sort)
declared=$(sed -n '/^MYSTIQUE_API/,/;/p' "$source/api/mystique.h" |
    grep -oE '\bmystique_[a-z_]+\(' | tr -d '(' | sort -u | sed 's/$/@@MYSTIQUE_0/')
[ "$shown" = "$declared" ] ||
    complain "shows other symbols than mystique.h: $(diff <(echo "$declared") <(echo "$shown"))"
[ -n "$declared" ] || complain "mystique.h declares nothing"
! readelf -d "$library" | grep -E 'NEEDED.*(gsl|xgboost|openblas|mpi|stdc)' ||
    complain "wants a library that predicting does not need"
readelf -d "$library" | grep -q 'SONAME.*\[libmystique\.so\.0\]' ||
    complain "no SONAME libmystique.so.0"

# ---- installed -------------------------------------------------------------------

prefix=$folder/prefix
for component in library development predictor; do
    cmake --install "$BUILD_DIR" --prefix "$prefix" --component $component \
        >>"$folder/log" 2>&1 || complain "$component: $(tail -3 "$folder/log")"
done
libdir=$(dirname "$(find "$prefix" -name libmystique.so.0)")
export PKG_CONFIG_PATH=$libdir/pkgconfig
unset MSIM_DATA # what is installed finds its own
trace=$source/data/traces/gpt2
last="the example"
flags=()
[ "${MSIM_SANITIZE:-0}" != 1 ] || flags=(-fsanitize=address,undefined)
# shellcheck disable=SC2046 # words of options
"${CC:-cc}" "${flags[@]}" -Wall -Wextra -Werror -o "$folder/two_gpus" \
    "$source/tests/api/two_gpus.c" \
    $(pkg-config --cflags --libs mystique) ||
    complain "does not build"
[ "$(wc -l <"$source/tests/api/two_gpus.c")" -le 40 ] ||
    complain "has more than 40 lines"
said=$(LD_LIBRARY_PATH=$libdir "$folder/two_gpus" "$trace") || complain "fails: $said"
for platform in a100 h100; do
    run --platform $platform --json "$trace"
    ms=$(python3 -c 'import json, sys
p = json.load(sys.stdin)["period_us"]
print("%.3f ms (%.3f to %.3f)" % (p["predicted"] / 1e3, p["low"] / 1e3, p["high"] / 1e3))' <"$folder/out")
    grep -qF "{\"platform\": \"$platform\"}: $ms" <<<"$said" ||
        complain "no '$ms' of $platform in: $said"
done
! LD_LIBRARY_PATH=$libdir "$folder/two_gpus" "$folder/none.json" 2>"$folder/err" ||
    complain "predicts from nothing"
grep -q "none.json: " "$folder/err" || complain "got $(cat "$folder/err")"

# A job that is loaded is worth it: another prediction takes at most half of the
# instructions that the program takes for one. What a run with two has more than one
# with one is the second.
last="the second prediction"
cat >"$folder/again.c" <<'END'
#include <mystique.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    const char *path = argv[1];
    mystique_job *job;
    mystique_result *r;
    mystique *m;

    if (argc != 3 || mystique_open(&m, NULL, NULL) ||
        mystique_load(&job, m, &path, 1, NULL, NULL))
        return 1;
    for (int n = atoi(argv[2]); n > 0; n--) {
        if (mystique_predict(&r, job, "{\"platform\": \"a100\"}", NULL))
            return 1;
        mystique_result_free(r);
    }
    mystique_job_free(job);
    mystique_close(m);
    return 0;
}
END
instructions() { # COMMAND...
    LD_LIBRARY_PATH=$libdir valgrind --tool=callgrind --callgrind-out-file=/dev/null "$@" \
        2>&1 >/dev/null | sed -n 's/.*Collected : \([0-9]*\).*/\1/p'
}
if [ "${MSIM_SANITIZE:-0}" = 1 ] || ! command -v valgrind >/dev/null; then
    echo "with sanitizers, or no valgrind: instructions are not counted"
else
    # shellcheck disable=SC2046 # words of options
    "${CC:-cc}" -o "$folder/again" "$folder/again.c" $(pkg-config --cflags --libs mystique) ||
        complain "does not build"
    one=$(instructions "$folder/again" "$trace" 1)
    two=$(instructions "$folder/again" "$trace" 2)
    program=$(instructions "$sim" --platform a100 --json "$trace")
    echo "instructions: the program $program, the second prediction $((two - one))"
    [ "$one" -gt 0 ] && [ $((2 * (two - one))) -le "$program" ] ||
        complain "takes $((two - one)) instructions, the program $program: want half"
fi

last="the CMake package"
mkdir "$folder/user"
cat >"$folder/user/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.20)
project(user C)
find_package(mystique 0.1 REQUIRED)
add_executable(user $source/tests/api/two_gpus.c)
target_link_libraries(user PRIVATE mystique::mystique)
END
cmake -S "$folder/user" -B "$folder/user/build" -DCMAKE_PREFIX_PATH="$prefix" \
    -DCMAKE_C_FLAGS="${flags[*]-}" >"$folder/log" 2>&1 &&
    cmake --build "$folder/user/build" >>"$folder/log" 2>&1 ||
    complain "$(tail -5 "$folder/log")"
[ "$("$folder/user/build/user" "$trace")" = "$said" ] || complain "says something else"

finish
