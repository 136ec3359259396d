#!/usr/bin/env bash
# The headers of the made-up GPU against CUDA's own, where these are: numbers,
# sizes and places of members, and the parameters of calls. MSIM_CUDA_LIBS names
# a folder with cuBLAS, cuDNN and NCCL where the toolkit has none.
. "$(dirname "$0")/../cli/lib.bash"

cd "${SOURCE_DIR:?the source folder}" || exit 1
last="headers of the made-up GPU"
includes=${BUILD_DIR:?the build folder}/cuda_includes
[ -s "$includes" ] || {
    echo "no CUDA toolkit: skipped"
    exit 77
}
real=()
while IFS= read -r include; do
    real+=(-isystem "$include")
done <"$includes"

has() { # HEADER
    echo "#include <$1>" | "${CC:-cc}" "${real[@]}" -E -x c - >/dev/null 2>&1
}
libraries=()
for pair in CUBLAS:cublasLt.h CUDNN:cudnn.h NCCL:nccl.h; do
    if has "${pair#*:}"; then
        libraries+=("-DMSIM_HAVE_${pair%:*}=1")
    else
        echo "no ${pair#*:}: not compared"
    fi
done

compile() { # OUT OPTION...
    "${CC:-cc}" -std=gnu11 -D_GNU_SOURCE -Wall -Wno-deprecated-declarations \
        -Werror "${libraries[@]}" -I. "${@:2}" tests/fake_gpu/layout.c \
        -o "$folder/$1" >"$folder/log" 2>&1 || complain "$(<"$folder/log")"
    "$folder/$1" >"$folder/$1.txt"
}
compile fake -isystem tests/fake_gpu/include
compile real -DMSIM_REAL "${real[@]}"
diff "$folder/fake.txt" "$folder/real.txt" || complain "they differ"
[ "$(wc -l <"$folder/real.txt")" -gt 80 ] || complain "little was compared"

finish
