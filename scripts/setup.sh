#!/usr/bin/env bash
# Make sure that what the build needs is there. On Debian and its relatives, as
# root, the missing packages are installed; otherwise they are named and the
# exit code is 1. Changes nothing where nothing is missing.
#
# With --tests what scripts/test.sh can do without is installed, too, where it can be.
# With --predictor it is what -DMSIM_FITTING=OFF needs, which predicts and no more.
set -euo pipefail

# what looks for it : the Debian package that brings it
needs=(
    "command -v cc:gcc"
    "header stdio.h:libc6-dev"
    "command -v cmake:cmake"
    "command -v make:make"
    "command -v pkg-config:pkg-config"
    "pkg-config --exists yajl:libyajl-dev"
    "pkg-config --exists libcjson:libcjson-dev"
    "pkg-config --exists libprotobuf-c:libprotobuf-c-dev"
    "command -v protoc-c:protobuf-c-compiler"
    "header zlib.h:zlib1g-dev"
    "pkg-config --exists libzstd:libzstd-dev"
    "header sqlite3.h:libsqlite3-dev" # exports of Nsight Systems
    "command -v gnuplot:gnuplot-nox" # draws charts
    "command -v python3:python3" # makes C of data/ops; files of some tests
)
fitting=(
    "pkg-config --exists gsl:libgsl-dev"
    "pkg-config --exists xgboost:libxgboost-dev" # 7 MB with what it needs
    "openblas:libopenblas-openmp-dev" # to time the CPU
    "header oneapi/dnnl/dnnl.h:libdnnl-dev" # and this some of it
    "pkg-config --exists ompi-c:libopenmpi-dev" # its collectives
    "command -v mpirun:openmpi-bin"
)

[ "${1:-}" = --predictor ] || needs+=("${fitting[@]}")

# With OpenMP, or with threads of its own.
openblas() {
    local path
    path=$(cc -print-multiarch)
    PKG_CONFIG_PATH=/usr/lib/$path/openblas-openmp/pkgconfig:${PKG_CONFIG_PATH:-} \
        pkg-config --exists openblas
}

header() {
    echo "#include <$1>" | cc -E -x c - -o /dev/null
}

missing_packages() {
    local need
    for need in "${needs[@]}"; do
        ${need%:*} >/dev/null 2>&1 || printf '%s ' "${need##*:}"
    done
}

can_install() {
    [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null
}

# Without these, builds take longer, and tests skip: lint.format, lint.tidy, those
# that count instructions.
wanted=(
    "command -v valgrind:valgrind"
    "command -v ninja:ninja-build"
    "command -v clang-format-14:clang-format-14"
    "command -v clang-tidy-14:clang-tidy-14"
)

install_wanted() {
    local want updated=''
    for want in "${wanted[@]}"; do
        ! ${want%:*} >/dev/null 2>&1 || continue
        [ -n "$updated" ] || apt-get -qq update || return
        updated=1
        apt-get -qq install -y --no-install-recommends "${want##*:}" >/dev/null ||
            return
    done
}

if [ "${1:-}" = --tests ] && can_install; then
    DEBIAN_FRONTEND=noninteractive install_wanted 2>/dev/null ||
        echo "setup.sh: some of what tests can do without is not to be had"
fi

missing=$(missing_packages)
[ -n "$missing" ] || exit 0

if ! can_install; then
    echo "setup.sh: missing: ${missing% }" >&2
    echo "setup.sh: install them (Debian's names), for example:" \
        "sudo apt-get install ${missing% }" >&2
    exit 1
fi

echo "setup.sh: installing ${missing% }"
export DEBIAN_FRONTEND=noninteractive
apt-get -qq update
# shellcheck disable=SC2086 # a list of package names
apt-get -qq install -y --no-install-recommends $missing >/dev/null

missing=$(missing_packages)
if [ -n "$missing" ]; then
    echo "setup.sh: still missing: ${missing% }" >&2
    exit 1
fi
