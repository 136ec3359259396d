#!/usr/bin/env bash
# All that wants an NVIDIA GPU, in one call, on a machine that cannot download:
# record what PyTorch's own kernels take, build, learn from that, run the GPU's
# tests, calibrate (twice), capture PyTorch models, compare predicted with
# measured, run benchmarks made of the captures, replay them, record a program
# through CUPTI. Of several GPUs calibrating times the collectives between them.
#
#   scripts/on_gpu.sh --out DIR [--budget MINUTES] [--libraries FILE.tar]
#                     [--resume FILE.tar.gz] [--device cuda|cpu]
#   scripts/on_gpu.sh --pack FILE.tar
#
# It needs the CUDA toolkit, CMake, a C++ compiler and PyTorch to be there, and
# ninja if it is. Libraries of Debian's come from --libraries [default:
# gpu-libs.tar beside scripts/, where it is]: what `--pack FILE.tar`, on a Debian
# machine that can download, put there. --budget [default: 8.5] is for
# everything. --resume goes on with the calibration of an earlier call: its
# calibration.tar.gz. --device cpu rehearses all of it without a GPU.
#
# DIR then holds at most 8 files, as much of each as there was time for:
#   report.txt          each step with its time and exit code, and what it said
#   platform.json       this GPU, for --platform: as calibrated, else as learned
#   host.json           what operators take of its host, for --host
#   kernels.tar.gz      PyTorch's own kernels: traces, and the platforms learned
#                       from them, of the shipped one and of the calibrated one
#   calibration.tar.gz  what was timed, both times, and what was held back
#   traces.tar.gz       captures: execution traces, Kineto traces, step times; and
#                       a program of CUDA, recorded by libmystique-cupti.so
#   compare.csv         predicted against measured, by platforms that were made
#                       here and by the shipped one
#   chart.svg           where the time of the first capture goes
#
# A step that fails leaves the others; the exit code says whether all went well.
# Stopped by a signal it leaves what there is so far.
set -uo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
out='' budget=8.5 libraries=$root/gpu-libs.tar resume='' device=cuda pack=''
PACKAGES="libyajl-dev libyajl2 libcjson-dev libcjson1 libgsl-dev libgsl27
    libgslcblas0 zlib1g-dev zlib1g libzstd-dev libzstd1 libprotobuf-c-dev libprotobuf-c1
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
    --out | --budget | --libraries | --resume | --device | --pack)
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
    rm -rf usr/share/doc usr/share/man usr/share/info usr/lib/*/*.a \
        usr/share/gnuplot/*/js
    # libz.so leads to /lib, where another Debian has another version
    find . -type l -lname '/*' | while read -r link; do
        ln -sfnr ".$(readlink "$link")" "$link"
    done
    tar -cf "$pack" .
    du -h "$pack"
    exit
fi

[ -n "$out" ] || usage 2 >&2
mkdir -p "$out" || exit 3
out=$(realpath "$out")
work=$(mktemp -d)
report=$out/report.txt
began=$(date +%s.%N)
: >"$report"

# What was written so far, whatever ends this; of files of one name the last.
keep() {
    local name some=()
    for name in platform:learned platform:here host:here.host; do
        [ ! -e "$work/${name#*:}.json" ] ||
            cp "$work/${name#*:}.json" "$out/${name%:*}.json"
    done
    for name in "$work"/kernels "$work"/learned*.json; do
        [ ! -e "$name" ] || some+=("${name##*/}")
    done
    [ ${#some[@]} -eq 0 ] ||
        tar -C "$work" -czf "$out/kernels.tar.gz" "${some[@]}"
    some=()
    for name in "$work"/here.* "$work"/again.*; do
        [ ! -e "$name" ] || some+=("${name##*/}")
    done
    [ ${#some[@]} -eq 0 ] ||
        tar -C "$work" -czf "$out/calibration.tar.gz" "${some[@]}"
    some=(-C "$work/captures" .)
    for name in injected.json.gz replayed; do
        [ ! -e "$work/$name" ] || some+=(-C "$work" "$name")
    done
    [ -z "$(ls "$work/captures" 2>/dev/null)" ] ||
        tar -czf "$out/traces.tar.gz" "${some[@]}"
}
running='' running_name='' is_stopped=''
stopped() {
    trap '' HUP INT TERM
    is_stopped=yes
    if [ -n "$running" ]; then
        kill "$running"
        wait "$running"
        tell "== $running_name: stopped by a signal at $(spent) s"
    fi
    exit 1
}
trap 'keep; rm -rf "$work"' EXIT
trap stopped HUP INT TERM

# What is left of the budget in seconds, or so much of it.
left() { # [SHARE]
    awk "BEGIN { printf \"%d\",
        ${1:-1} * (60 * $budget - $(date +%s.%N) + $began) }"
}

spent() {
    awk "BEGIN { printf \"%.1f\", $(date +%s.%N) - $began }"
}

tell() { # LINE: and what the step that ended said
    echo "$1" >>"$report"
    tail -c 200000 "$work/said" >>"$report"
}

# step NAME MOST-SECONDS COMMAND...: with what it says in the report; never
# beyond the budget. It runs beside this shell, which so hears of signals.
failed=0
step() {
    local name=$1 most=$2 rest rc=0 at
    # bash may leave only the line whose $(...) a signal interrupted
    [ -z "$is_stopped" ] || exit 1
    shift 2
    rest=$(left)
    if [ "$rest" -lt 5 ]; then
        echo "== $name: not begun, the budget is spent" >>"$report"
        failed=1
        return 1
    fi
    at=$(spent)
    running_name=$name
    timeout -k 5 "$((most < rest ? most : rest))" bash -c '"$@"' step "$@" \
        >"$work/said" 2>&1 &
    running=$!
    wait "$running" || rc=$?
    running=''
    tell "== $name: exit $rc, from $at to $(spent) s"
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
    # what a library of Debian's lies in below that
    export CMAKE_LIBRARY_PATH=$lib
fi

export root out work device
export build=$work/build binary=$work/build/mystique-sim
export python=${PYTHON:-python3}
export MSIM_PYTHON=$python

if [ -n "$resume" ]; then
    tar -C "$work" -xzf "$resume" || exit 3
    # only what was timed: all else is made of it
    find "$work" -maxdepth 1 -type f ! -name '*.journal.jsonl' -delete
fi

about() {
    date -u
    uname -sr
    grep PRETTY_NAME /etc/os-release
    nproc
    nvidia-smi 2>/dev/null || echo "no nvidia-smi"
    nvcc --version 2>/dev/null | tail -n 2
    cmake --version | head -n 1
    cc --version | head -n 1
    "$python" -c 'import torch; print("PyTorch", torch.__version__,
        torch.version.cuda, torch.backends.cudnn.version())'
}

# This GPU's code alone; what CMake finds out where nothing says it.
architecture() {
    nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null |
        sed -nE '1s/^([0-9]+)\.([0-9]+)$/\1\2-real/p'
}

build_it() {
    local nvidia code targets=(mystique-sim msim-calibrate) options=()
    nvidia=$("$python" -c 'import nvidia; print(list(nvidia.__path__)[0])' \
        2>/dev/null)
    [ -z "$nvidia" ] || options+=("-DMSIM_CUDA_LIBS=$nvidia")
    if [ "$device" = cuda ]; then
        code=$(architecture)
        options+=("-DCMAKE_CUDA_ARCHITECTURES=${code:-native}")
        targets+=(mystique-prof-cuda mystique-cupti test_kernels
            test_cupti_metrics)
    fi
    command -v ninja >/dev/null && options+=(-G Ninja)
    cmake -S "$root" -B "$build" "${options[@]}" || return 1
    # What has no CUDA in it comes first, and is there if the rest fails.
    cmake --build "$build" --parallel "$(nproc)" --target "${targets[@]:0:2}" &&
        cmake --build "$build" --parallel "$(nproc)" --target "${targets[@]}"
}

test_it() {
    ctest --test-dir "$build" --verbose -R '^gpu\.'
}

# PyTorch's own kernels, which no table has.
record_kernels() { # SECONDS
    "$python" "$root/profilers/torch/record_kernels.py" --device "$device" \
        --seconds "$1" --out "$work/kernels"
}

# Factors by kind of work, held out trace by trace; [BASE]: the GPU's own.
learn() { # NAME [BASE]
    local traces=("$work"/kernels/*.json.gz)
    [ -e "${traces[0]}" ] || {
        echo "no kernels were recorded"
        return 1
    }
    "$binary" calibrate --from "${traces[@]}" ${2:+--platform "$2"} \
        --out "$work/$1.json"
}

calibrate() { # MINUTES NAME
    "$binary" calibrate --budget "$1" --patience 20 --out "$work/$2.json"
}

# Minutes for a calibration: a share of what is left, and those that its answers
# of an earlier call took.
minutes() { # SHARE NAME
    local before
    before=$("$python" - "$work/$2.journal.jsonl" <<'PYTHON' 2>/dev/null || echo 0
import json, sys

with open(sys.argv[1], encoding="utf-8") as f:
    lines = [json.loads(line) for line in f if line.endswith("}\n")]
print(sum(e.get("seconds", 0) + e.get("fitting_seconds", 0)
          for e in lines))
PYTHON
    )
    awk "BEGIN { printf \"%.3f\", ($1 * $(left) + $before) / 60 }"
}

# Experiments that both calibrations timed; of several visits the median.
agree() {
    "$python" - "$work/here.journal.jsonl" "$work/again.journal.jsonl" <<'PYTHON'
import collections, json, statistics, sys


def times(path):
    with open(path, encoding="utf-8") as f:
        lines = [json.loads(line) for line in f if line.endswith("}\n")]
    visits = collections.defaultdict(list)
    for e in lines:
        if "time_us" in e.get("answer", {}):
            key = e["backend"], json.dumps(e["experiment"], sort_keys=True)
            visits[key].append(e["answer"]["time_us"])
    return {key: statistics.median(us) for key, us in visits.items()}


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
    local file=$work/injected.json.gz
    CUDA_INJECTION64_PATH=$build/libmystique-cupti.so \
        MSIM_CUPTI_OUT=$file "$python" -c '
import torch
a = torch.randn(2048, 2048, device="cuda")
for _ in range(20):
    a = torch.nn.functional.gelu(a @ a / 64)
torch.cuda.synchronize()' && "$binary" info "$file"
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

# The calibrated platform; without it the learned one, else the shipped one.
platform() {
    local name
    for name in here learned; do
        [ ! -e "$work/$name.json" ] || {
            echo "$work/$name.json"
            return
        }
    done
    shipped
}

compare() {
    local name options=(--platform "$(platform)")
    name=$(shipped)
    [ -z "$name" ] || options+=(--shipped "$name")
    [ -z "$name" ] || [ ! -e "$work/here.journal.jsonl" ] ||
        options+=(--journal "$work/here.journal.jsonl")
    for name in "$work"/learned*.json; do # the first may be that platform
        [ ! -e "$name" ] || [ "$name" = "$(platform)" ] ||
            options+=(--platform "$name")
    done
    [ ! -e "$work/here.host.json" ] ||
        options+=(--host "$work/here.host.json")
    "$python" "$root/scripts/capture/compare_captures.py" --binary "$binary" \
        "${options[@]}" --out "$out/compare.csv" "$work"/captures/*/
}

# Operators of each capture without PyTorch: traced, replayed and predicted.
replay() {
    local folder name failed=0
    mkdir -p "$work/replayed"
    for folder in "$work"/captures/*/; do
        name=$(basename "$folder")
        "$binary" replay --backend "$device" --iterations 3 \
            -o "$work/replayed/$name.json.gz" "$folder" &&
            "$binary" validate --platform "$(platform)" "$folder" \
                "$work/replayed/$name.json.gz" || failed=1
    done
    return "$failed"
}

# A benchmark of each capture: is it the same, and does it take as long?
benchmarks() {
    local folder name et failed=0
    for folder in "$work"/captures/*/; do
        name=$(basename "$folder")
        et=$folder/et/rank-0.json.gz
        "$binary" generate "$et" -o "$work/benchmarks/$name" &&
            "$python" "$work/benchmarks/$name/bench.py" --device "$device" \
                --certify "$et" || failed=1
        "$python" -c '
import json, sys
meta = json.load(open(sys.argv[1]))
print(sys.argv[2] + ", the original:", meta["step_ms_median"], "ms a step, peak",
      meta["ranks"][0]["peak_memory"]["bytes"] / 2**20, "MiB")
' "$folder/meta.json" "$name"
    done
    return "$failed"
}

draw() {
    local first
    first=$(find "$work/captures" -mindepth 1 -maxdepth 1 | sort | head -n 1)
    "$binary" --platform "$(platform)" --costs model \
        --chart "$out/chart.svg" "$first"
}

export -f about architecture record_kernels learn build_it test_it calibrate \
    agree capture inject shipped platform compare replay benchmarks draw

# ---- all of it -------------------------------------------------------------

images=(--batch 16) texts=(--batch 2 --seq 256) rows=()
if [ "$device" = cpu ]; then # as small as they are still models
    images=(--batch 2 --image 64 --timed 3 --warmup 1)
    texts=(--batch 2 --seq 32 --layers 2 --timed 3 --warmup 1)
    rows=(--batch 256 --timed 3 --warmup 1)
fi
mkdir -p "$work/captures" "$work/benchmarks"
step about 60 about
# First what no table has. It needs no build, and is there if that fails.
step kernels "$(left 0.35)" record_kernels "$(left 0.3)"
keep
step build 200 build_it
[ -x "$binary" ] || {
    echo "on_gpu.sh: nothing was built, see $report" >&2
    exit 1
}
# A CPU's trace has no kernels to learn from.
[ "$device" = cpu ] || step learn 60 learn learned
[ "$device" = cpu ] || step tests 60 test_it
# Half of what is left is for this; it is stopped later, as it fits at the end.
step calibrate "$(left 0.65)" calibrate "$(minutes 0.5 here)" here
keep
# Stopped in its last fit? Then of what there is.
[ -e "$work/here.json" ] || step fit 60 calibrate 0.001 here
[ "$device" = cpu ] || [ ! -e "$work/here.json" ] ||
    step learn-more 60 learn learned-here "$work/here.json"
step capture-resnet50 45 capture resnet50 --model resnet50 "${images[@]}"
step capture-gpt2 45 capture gpt2 --model gpt2 "${texts[@]}"
step capture-dlrm 45 capture dlrm --model dlrm "${rows[@]}"
step compare 40 compare
step benchmarks 60 benchmarks
step replay 40 replay
if [ "$device" = cuda ]; then
    step inject 40 inject
    step capture-llama 45 \
        capture llama --model llama --layers 2 --precision bf16
    step capture-bert 45 capture bert --model bert --precision bf16
    step capture-vit 45 \
        capture vit --model vit --precision fp16 --inference
    step compare-all 40 compare
    step benchmarks-all 90 benchmarks
fi
step draw 20 draw
keep
step again "$(left 0.85)" calibrate "$(minutes 0.5 again)" again
step agree 20 agree
cat "$report"
grep -a '^== ' "$report"
exit "$failed"
