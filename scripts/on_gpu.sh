#!/usr/bin/env bash
# All that wants an NVIDIA GPU, in one call, on a machine that cannot download:
# build, calibrate (twice), capture PyTorch models, record a program through
# CUPTI, run the GPU's tests, compare predicted with measured.
#
#   scripts/on_gpu.sh --out DIR [--budget MINUTES] [--libraries FILE.tar]
#                     [--device cuda|cpu]
#   scripts/on_gpu.sh --pack FILE.tar
#
# It needs the CUDA toolkit, CMake, ninja and PyTorch to be there. Libraries of
# Debian's that are not come from --libraries [default: gpu-libs.tar beside
# scripts/, where it is]: what `--pack FILE.tar`, on a Debian machine that can
# download, put there. --budget [default: 8.5] is for everything.
# --device cpu rehearses all of it without a GPU.
#
# DIR then holds at most 8 files:
#   report.txt        each step with its time and exit code, and what it said
#   platform.json     this GPU, for --platform
#   journal.jsonl.gz  what was timed: rows of the platform
#   again.jsonl.gz    the same experiments once more
#   traces.tar.gz     captures: execution traces, Kineto traces, step times
#   compare.csv       predicted against measured, here and with what is shipped
#   injected.json.gz  a program of CUDA, recorded by libmystique-cupti.so
#   chart.svg         where the time of the first capture goes
#
# A step that fails leaves the others; the exit code says whether all went well.
set -uo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
out='' budget=8.5 libraries=$root/gpu-libs.tar device=cuda pack=''
PACKAGES="libyajl-dev libyajl2 libcjson-dev libcjson1 libgsl-dev libgsl27
    libgslcblas0 zlib1g-dev libprotobuf-c-dev libprotobuf-c1
    protobuf-c-compiler libprotobuf32 libprotoc32 libxgboost-dev libxgboost0
    libdmlc0 gnuplot-nox gnuplot-data
    liblua5.4-0 libedit2 libbsd0 libmd0 libtinfo6 pkgconf pkgconf-bin
    libpkgconf3"

usage() {
    sed -n '2,/^set /p' "$0" | sed '$d; s/^# \{0,1\}//'
    exit "$1"
}

while [ $# -gt 0 ]; do
    case $1 in
    --help) usage 0 ;;
    --out | --budget | --libraries | --device | --pack)
        [ $# -gt 1 ] || usage 2 >&2
        declare "${1#--}=$2"
        shift 2
        ;;
    *)
        echo "on_gpu.sh: unknown argument '$1'" >&2
        usage 2 >&2
        ;;
    esac
done

# What the packages hold but for what nothing here reads.
if [ -n "$pack" ]; then
    set -e
    pack=$(realpath "$pack")
    folder=$(mktemp -d)
    trap 'rm -rf "$folder"' EXIT
    cd "$folder"
    # shellcheck disable=SC2086 # a list of package names
    apt-get -o APT::Sandbox::User=root download $PACKAGES
    for package in ./*.deb; do
        dpkg-deb -x "$package" root
    done
    cd root
    rm -rf usr/share/doc usr/share/man usr/share/info usr/lib/*/libgsl.a \
        usr/lib/*/libprotobuf.a usr/share/gnuplot/*/js
    tar -cf "$pack" .
    du -h "$pack"
    exit
fi

[ -n "$out" ] || usage 2 >&2
mkdir -p "$out" || exit 3
out=$(realpath "$out")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
report=$out/report.txt
began=$(date +%s.%N)
: >"$report"

seconds() { # SHARE of the budget
    awk "BEGIN { printf \"%d\", 60 * $budget * $1 }"
}

spent() {
    awk "BEGIN { printf \"%.1f\", $(date +%s.%N) - $began }"
}

# step NAME MOST-SECONDS COMMAND...: with what it says in the report; never
# beyond the budget.
failed=0
step() {
    local name=$1 most=$2 left rc=0 at
    shift 2
    left=$(awk "BEGIN { printf \"%d\", 60 * $budget - $(spent) }")
    if [ "$left" -lt 5 ]; then
        echo "== $name: not begun, the budget is spent" >>"$report"
        failed=1
        return 1
    fi
    at=$(spent)
    export -f "$1" 2>/dev/null || true
    timeout -k 5 "$((most < left ? most : left))" bash -c '"$@"' step "$@" \
        >"$work/said" 2>&1 || rc=$?
    {
        echo "== $name: exit $rc, from $at to $(spent) s"
        tail -c 20000 "$work/said"
    } >>"$report"
    [ "$rc" -eq 0 ] || failed=1
    return "$rc"
}

# ---- the libraries ---------------------------------------------------------

if [ -f "$libraries" ]; then
    libraries=$(realpath "$libraries")
    mkdir "$work/libraries"
    tar -C "$work/libraries" -xf "$libraries" || exit 3
    libraries=$work/libraries
    lib=$(dirname "$(find "$libraries/usr/lib" -name 'libyajl.so.2')")
    export PATH=$libraries/usr/bin:$PATH
    export LD_LIBRARY_PATH=$lib:$libraries/lib/${lib##*/}:${LD_LIBRARY_PATH:-}
    export PKG_CONFIG_LIBDIR=$lib/pkgconfig:$libraries/usr/share/pkgconfig
    export PKG_CONFIG_SYSROOT_DIR=$libraries
    export CMAKE_PREFIX_PATH=$libraries/usr
fi

export root out work device budget
export build=$work/build binary=$work/build/mystique-sim
export python=${PYTHON:-python3}
export MSIM_PYTHON=$python

about() {
    date -u
    uname -sr
    nvidia-smi 2>/dev/null || echo "no nvidia-smi"
    nvcc --version 2>/dev/null | tail -n 2
    "$python" -c 'import torch; print("PyTorch", torch.__version__)'
}

build_it() {
    local nvidia options=()
    nvidia=$("$python" -c 'import nvidia; print(list(nvidia.__path__)[0])' \
        2>/dev/null)
    [ -z "$nvidia" ] || options+=("-DMSIM_CUDA_LIBS=$nvidia")
    [ "$device" = cpu ] || options+=(-DCMAKE_CUDA_ARCHITECTURES=native)
    command -v ninja >/dev/null && options+=(-G Ninja)
    cmake -S "$root" -B "$build" "${options[@]}" &&
        cmake --build "$build" --parallel "$(nproc)"
}

test_it() {
    ctest --test-dir "$build" --output-on-failure -R "gpu|backends"
}

calibrate() { # MINUTES FILE
    "$binary" calibrate --budget "$1" --out "$2"
}

keep_journals() {
    cp "$work/here.json" "$out/platform.json"
    gzip -c "$work/here.journal.jsonl" >"$out/journal.jsonl.gz"
    [ ! -e "$work/again.journal.jsonl" ] ||
        gzip -c "$work/again.journal.jsonl" >"$out/again.jsonl.gz"
}

# Medians of the experiments that both calibrations timed.
agree() {
    "$python" - "$work/here.journal.jsonl" "$work/again.journal.jsonl" <<'PYTHON'
import collections, json, statistics, sys


def times(path):
    with open(path, encoding="utf-8") as f:
        lines = [json.loads(line) for line in f]
    return {(e["backend"], json.dumps(e["experiment"], sort_keys=True)):
            e["answer"]["time_us"] for e in lines
            if "time_us" in e.get("answer", {})}


first, second = map(times, sys.argv[1:])
groups = collections.defaultdict(list)
for key in first.keys() & second.keys():
    table = json.loads(key[1])["table"]
    groups[key[0], table].append(second[key] / first[key])
for (backend, table), ratios in sorted(groups.items()):
    off = sorted(abs(r - 1) for r in ratios)
    print(f"{backend} {table}: {len(ratios)} experiments twice, the second "
          f"times x {statistics.median(ratios):.3f}, apart by "
          f"{100 * statistics.median(off):.1f} % in the median, "
          f"{100 * off[int(0.9 * (len(off) - 1))]:.1f} % at the 90th "
          "percentile")
PYTHON
}

capture() { # NAME OPTION...
    local name=$1
    shift
    "$python" "$root/scripts/capture.py" --device "$device" --steps 2 \
        --out "$work/captures/$name" "$@"
}

inject() {
    CUDA_INJECTION64_PATH=$build/profilers/cuda/libmystique-cupti.so \
        MSIM_CUPTI_OUT=$out/injected.json.gz "$python" -c '
import torch
a = torch.randn(2048, 2048, device="cuda")
for _ in range(20):
    a = torch.nn.functional.gelu(a @ a / 64)
torch.cuda.synchronize()' && "$binary" info "$out/injected.json.gz"
}

# The shipped platform of this GPU, if there is one.
shipped() {
    case $(nvidia-smi --query-gpu=name --format=csv,noheader 2>/dev/null |
        head -n 1) in
    *H200*) echo h200 ;;
    *H100*) echo h100 ;;
    *B200*) echo b200 ;;
    *A100*80GB*) echo a100 ;;
    *A100*) echo a100-40gb ;;
    *L40S*) echo l40s ;;
    *V100*) echo v100 ;;
    *T4*) echo t4 ;;
    esac
}

compare() {
    local name options=()
    name=$(shipped)
    [ -z "$name" ] || options=(--shipped "$name"
        --journal "$work/here.journal.jsonl")
    "$python" "$root/scripts/compare_captures.py" --binary "$binary" \
        --platform "$work/here.json" "${options[@]}" \
        --out "$out/compare.csv" "$work"/captures/*/
}

draw() {
    local first
    first=$(find "$work/captures" -mindepth 1 -maxdepth 1 | sort | head -n 1)
    "$binary" --platform "$work/here.json" --costs model \
        --chart "$out/chart.svg" "$first"
}

export -f about build_it test_it calibrate keep_journals agree capture inject \
    shipped compare draw

# ---- all of it -------------------------------------------------------------

small=()
[ "$device" = cuda ] || small=(--timed 5)
mkdir -p "$work/captures"
step about 30 about
step build "$(seconds 0.35)" build_it || {
    echo "on_gpu.sh: nothing was built, see $report" >&2
    exit 1
}
step calibrate "$(seconds 0.5)" \
    calibrate "$(awk "BEGIN { print 0.4 * $budget }")" "$work/here.json"
step capture-resnet50 "$(seconds 0.08)" \
    capture resnet50 --model resnet50 --batch 16 "${small[@]}"
step capture-gpt2 "$(seconds 0.08)" \
    capture gpt2 --model gpt2 --batch 2 --seq 256 "${small[@]}"
step capture-dlrm "$(seconds 0.08)" capture dlrm --model dlrm "${small[@]}"
if [ "$device" = cuda ]; then
    step capture-llama "$(seconds 0.08)" \
        capture llama --model llama --layers 2 --precision bf16
    step capture-bert "$(seconds 0.08)" \
        capture bert --model bert --precision bf16
    step capture-vit "$(seconds 0.08)" \
        capture vit --model vit --precision fp16 --inference
fi
step again "$(seconds 0.1)" \
    calibrate "$(awk "BEGIN { print 0.06 * $budget }")" "$work/again.json"
step agree 20 agree
step compare 60 compare
step draw 30 draw
if [ "$device" = cuda ]; then
    step inject 60 inject
    step tests "$(seconds 0.1)" test_it
fi
step keep 30 keep_journals
step traces 30 tar -C "$work/captures" -czf "$out/traces.tar.gz" .
cat "$report"
exit "$failed"
