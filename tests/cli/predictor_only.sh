#!/usr/bin/env bash
# -DMSIM_FITTING=OFF asks for nothing that predicting does not need: it configures
# where pkg-config knows four libraries, and where the full build does not.
set -euo pipefail
cd "${SOURCE_DIR:?the source folder}"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

fail() {
    echo "$*: $(tail -5 "$folder/log")" >&2
    exit 1
}

# configure FOLDER OPTION...
configure() {
    local build=$1
    shift
    PKG_CONFIG_PATH='' PKG_CONFIG_LIBDIR=$folder/known \
        cmake -S . -B "$build" -DBUILD_TESTING=OFF "$@" >"$folder/log" 2>&1
}

mkdir "$folder/known"
for library in libzstd yajl libcjson libprotobuf-c; do
    at=$(pkg-config --variable=pcfiledir "$library")
    ln -s "$at/$library.pc" "$folder/known"
done
! configure "$folder/full" || fail "want GSL for the full build, it configures"
configure "$folder/alone" -DMSIM_FITTING=OFF || fail "does not configure"
# Nothing heavy was looked for, and nothing that fits would be built.
! grep -iE '^(GSL|XGBOOST|OPENBLAS|OPENMPI|MSIM_DNNL|OpenMP|CUDA)' \
    "$folder/alone/CMakeCache.txt" || fail "looks for what it does not need"
cmake --build "$folder/alone" --target help >"$folder/log"
grep -qw mystique-sim "$folder/log" || fail "no program"
! grep -E 'msim_calibrate|msim-fit|mystique-prof' "$folder/log" ||
    fail "builds what fits"
# A static program without cJSON's archive or source says what to do.
! configure "$folder/static" -DMSIM_FITTING=OFF -DMSIM_STATIC=ON \
    -DMSIM_CJSON_SOURCE="$folder" || fail "takes a folder without cJSON.c"
grep -q "no cJSON.c in MSIM_CJSON_SOURCE" "$folder/log" || fail "another error"
# As scripts/mutants.py builds it.
configure "$folder/shared" -DMSIM_FITTING=OFF -DBUILD_SHARED_LIBS=ON ||
    fail "does not configure with shared libraries"
