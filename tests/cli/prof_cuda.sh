#!/usr/bin/env bash
# The program that times NVIDIA GPUs, on a machine that has none: it says so,
# and checks experiments without one. And the library that records CUDA programs:
# what a program is given to see of it.
. "$(dirname "$0")/lib.bash"

prof=${BUILD_DIR:?the build folder}/mystique-prof-cuda
library=$BUILD_DIR/libmystique-cupti.so
if [ ! -x "$prof" ]; then
    echo "built without a CUDA toolkit: skipped"
    exit 77
fi

prof() { # INPUT ARGUMENT...: runs it; fills rc, out and err
    local input=$1
    shift
    last="mystique-prof-cuda $*"
    printf '%s' "$input" | "$prof" "$@" >"$folder/out" 2>"$folder/err"
    rc=$?
    out=$(<"$folder/out") err=$(<"$folder/err")
}

# Arguments
prof '' --nonsense
want_rc 2
want_err "unknown argument '--nonsense'"
want_no_out

# No GPU here, or none to be seen: one line, and nothing else.
CUDA_VISIBLE_DEVICES='' prof '{"id":1,"table":"latency","op":"launch"}'
want_rc 3
want_err "no NVIDIA GPU to time"
want_no_out
[ "$(wc -l <"$folder/err")" -eq 1 ] || complain "more than a line: $err"

# A dry run wants none: every table, and what is wrong.
lines='{"id":1,"table":"gemm","dtype":"fp8","m":64,"n":64,"k":64}
{"id":2,"table":"conv","n":1,"c":4,"h":8,"w":8,"k":6,"r":3,"s":3}
{"id":3,"table":"vector","op":"softmax","dtype":"fp16","shape":"128x1000"}
{"id":4,"table":"collective","collective":"all_reduce","ranks":8,"bytes":1024}
{"id":5,"table":"copy","op":"h2d","bytes":4096,"memory":"pageable"}
{"id":6,"table":"latency","op":"sync_wake"}
{"id":7,"table":"gemm","dtype":"fp16","m":8,"n":8,"k":8,"beside":{"table":"copy","op":"d2d","bytes":1000}}
{"id":8,"table":"gemm","dtype":"fp16","m":8,"n":8}
{"id":9,"table":"attention","phase":"prefill","batch":1,"heads":1,"q_len":8,"kv_len":8,"head_dim":64,"dtype":"fp16"}
'
prof "$lines" --dry-run
want_rc 0
want_out '"dry_run": true'
[ "$(wc -l <"$folder/out")" -eq 10 ] || complain "not one line each: $out"
want_out '{"id": 3, "would_run": true, "bytes": 512000}'
want_out '{"id": 5, "would_run": true, "bytes": 4096}'
want_out '{"id": 6, "would_run": true, "bytes": 0}'
want_out "\"error\": \"'k' is missing, want a whole number from 1\", \"unsupported\": false"
want_out "\"error\": \"no table 'attention' here: left to the torch backend"
for id in 1 2 4; do # of libraries that may be missing
    grep -qE "^\{\"id\": $id, (\"would_run\": true|\"error\": \"no table .* built without)" \
        "$folder/out" || complain "experiment $id: $out"
done

prof 'no JSON
' --dry-run
want_rc 3
want_err "line 1 is no JSON object"

# A program that is recorded sees one function, and goes on without a GPU.
if command -v nm >/dev/null; then
    names=$(nm -D --defined-only "$library" | sed 's/.* //')
    [ "$names" = InitializeInjection ] || complain "it exports: $names"
fi
cat >"$folder/host.c" <<'END'
#include <dlfcn.h>
#include <string.h>

int main(int argc, char **argv)
{
    void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW) : 0;
    void *found = library ? dlsym(library, "InitializeInjection") : 0;
    int (*begin)(void);

    memcpy(&begin, &found, sizeof(begin));
    return found && begin() == 1 ? 0 : 1;
}
END
if "${CC:-cc}" -o "$folder/host" "$folder/host.c" -ldl; then
    last="a program with libmystique-cupti.so"
    CUDA_VISIBLE_DEVICES='' MSIM_CUPTI_OUT=$folder/t-%p.json "$folder/host" \
        "$library" 2>"$folder/err" || complain "failed: $(<"$folder/err")"
    ! grep -vq '^mystique-cupti: ' "$folder/err" ||
        complain "a line without 'mystique-cupti: ': $(<"$folder/err")"
fi

finish
