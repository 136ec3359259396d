#!/usr/bin/env bash
# All that wants an NVIDIA GPU, on a machine that is lent for minutes and cannot
# download; and what has to be done before and after, where there is no GPU.
#
#   scripts/on_gpu.sh pack FILE.tar            before: libraries that it may lack
#   scripts/on_gpu.sh blind [--out DIR]        before: what the shipped platforms
#                                              predict of the jobs
#   scripts/on_gpu.sh look --out DIR           there, first: build, capture the
#                                              jobs, tests, benchmarks of the jobs
#   scripts/on_gpu.sh measure --out DIR        there, next: replays, kernels,
#                                              tables, counters, all once more
#   scripts/on_gpu.sh finish DIR... [--out DIR] after: fits, comparisons, charts,
#                                              the figures of docs/gpu.md
#
# Options of look and measure:
#   --budget SECONDS      for everything [default: 280; measure: 420]
#   --libraries FILE.tar  what pack put there [default: gpu-libs.tar beside
#                         scripts/, where it is]
#   --work DIR            the build and what was measured; measure goes on from
#                         what look left there [default: build-gpu]
#   --device cuda|cpu|fake   cpu: rehearse everything with small models; fake:
#                         rehearse with the GPU that tests/fake_gpu makes up
#                         [default: cuda]
#
# DIR then holds at most 8 files, each below 11 MB:
#   report.txt            each step: when it ran, its exit code, what it said; and
#                         when each product was kept
#   captures.tar, -2      traces and figures of each job
#   results.tar           the machine, benchmarks, replays
#   kernels.tar, -2       PyTorch's own kernels, as traces for calibrate --from
#   journals.tar          what calibrations timed
# All is kept as soon as it is whole; whatever ends this leaves what there is. A
# step that fails or hangs leaves the others. The exit code is 0 where all went
# well, 1 where a step did not, 2 for wrong arguments, 3 where it cannot begin.
#
# blind writes DIR/blind.csv [default: tests/accuracy/gpu]; --device as above is for
# a rehearsal. finish writes docs/ and tests/ below DIR [default: the checkout, if a
# GPU was measured], and takes a blind.csv that lies in one of its folders.
# docs/gpu.md has the whole procedure.
set -uo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
python=${PYTHON:-python3}
here=$root/scripts/gpu
phase='' out='' budget='' libraries=$root/gpu-libs.tar device=cuda operands=()
work=$root/build-gpu

usage() {
    sed -n '2,/^set /p' "$0" | sed '$d; s/^# \{0,1\}//'
    exit "$1"
}

wrong() {
    echo "on_gpu.sh: $1" >&2
    usage 2 >&2
}

cannot() {
    echo "on_gpu.sh: $1" >&2
    exit 3
}

parse() {
    while [ $# -gt 0 ]; do
        case $1 in
        --help) usage 0 ;;
        --out | --budget | --libraries | --work | --device)
            [ $# -gt 1 ] || wrong "option '$1' has no value"
            declare -g "${1#--}=$2"
            shift 2
            ;;
        -*) wrong "unknown option '$1'" ;;
        *)
            if [ -z "$phase" ]; then phase=$1; else operands+=("$1"); fi
            shift
            ;;
        esac
    done
}

# ---- before ------------------------------------------------------------------

# Debian's: headers and libraries that the build wants, and its two programs.
PACKAGES="libyajl-dev libyajl2 libcjson-dev libcjson1 libgsl-dev libgsl27
    libgslcblas0 zlib1g-dev zlib1g libzstd-dev libzstd1 libprotobuf-c-dev libprotobuf-c1
    protobuf-c-compiler libprotobuf32 libprotoc32 libxgboost-dev libxgboost0
    libdmlc0 pkgconf pkgconf-bin libpkgconf3"

# Programs find their libraries themselves, so that nothing else meets these.
wrap_programs() {
    local program
    mv usr/bin usr/programs
    mkdir usr/bin
    for program in usr/programs/*; do
        cat >"usr/bin/${program##*/}" <<'SH'
#!/bin/sh
root=$(dirname "$(readlink -f "$0")")/..
LD_LIBRARY_PATH=$(echo "$root"/lib/*-linux-gnu) \
    exec "$root/programs/${0##*/}" "$@"
SH
        chmod +x "usr/bin/${program##*/}"
    done
}

pack() { # FILE.tar
    local tar package folder link
    tar=$(realpath "$1") && folder=$(mktemp -d) || return
    # shellcheck disable=SC2064 # the folder of now
    trap "rm -rf '$folder'" EXIT
    cd "$folder" || return
    # shellcheck disable=SC2086 # a list of package names
    apt-get -o APT::Sandbox::User=root download $PACKAGES || return
    mkdir root
    for package in ./*.deb; do
        dpkg-deb -x "$package" root || return
    done
    cd root || return
    rm -rf usr/share/doc usr/share/man usr/share/info usr/share/lintian \
        usr/lib/*/*.a usr/bin/gsl-config
    # libz.so leads to /lib, where another Debian has another version
    find . -type l -lname '/*' | while read -r link; do
        ln -sfnr ".$(readlink "$link")" "$link"
    done
    wrap_programs
    tar -cf "$tar.part" . && mv "$tar.part" "$tar" || return
    du -h "$tar"
    [ "$tar" != "$root/gpu-libs.tar" ] ||
        echo "it is ignored by git: where only what git knows travels, name" \
            "gpu-libs.tar among what is carried"
}

# Jobs as they are recorded without a GPU: what a graph has apart is its launches,
# and its kernels are the same.
blind() {
    local folder rc=0 files=("$jobs_file")
    [ "$device" != cuda ] || files+=("$here/jobs_small.txt")
    folder=$(mktemp -d) || return
    sed 's/ --graph//' "${files[@]}" >"$folder/jobs"
    "$python" "$root/scripts/capture.py" --jobs "$folder/jobs" --device meta \
        --out "$folder/captures" &&
        "$python" "$here/blind.py" --binary "$binary" --jobs "${files[@]}" \
            --captures "$folder/captures" --platform h100 h200 \
            --out "$out/blind.csv" || rc=$?
    rm -rf "$folder"
    return "$rc"
}

# ---- there: what it takes ----------------------------------------------------

check_libraries() {
    local unpacked=$work/libraries
    if [ ! -f "$libraries" ]; then
        pkg-config --exists yajl 2>/dev/null ||
            cannot "found neither libyajl here nor '$libraries': make it by \
'on_gpu.sh pack gpu-libs.tar' where packages can be had, and let it travel"
        libraries=''
        return
    fi
    if [ ! "$unpacked" -nt "$libraries" ]; then
        rm -rf "$unpacked" "$unpacked.part"
        mkdir "$unpacked.part"
        tar -C "$unpacked.part" --no-same-owner -xmf "$libraries" ||
            cannot "'$libraries' cannot be unpacked"
        mv "$unpacked.part" "$unpacked"
        touch "$unpacked"
    fi
    libraries=$unpacked
    [ -n "$(find "$libraries" -name 'libyajl.so.2')" ] ||
        cannot "'$libraries' has no libyajl.so.2: want what 'on_gpu.sh pack' made"
}

# What can be told at once.
check() {
    local free
    check_libraries
    command -v cmake >/dev/null || cannot "found no cmake"
    free=$(df --output=avail -k "$work" | tail -n 1)
    [ "$free" -gt 3000000 ] ||
        cannot "'$work' has room for $((free / 1000)) MB, want 3,000"
    [ "$device" = cuda ] || return 0
    command -v nvcc >/dev/null || PATH=$PATH:/usr/local/cuda/bin
    command -v nvcc >/dev/null || cannot "found no nvcc: want the CUDA toolkit"
    # whether PyTorch sees the GPU is what counts
    of_gpu name,driver_version || echo "on_gpu.sh: nvidia-smi fails" >&2
}

of_gpu() { # FIGURE,...
    timeout 15 nvidia-smi --query-gpu="$1" --format=csv,noheader
}

# This GPU's code alone; what CMake finds out where nothing says it.
architecture() {
    local code
    code=$(of_gpu compute_cap |
        sed -nE '1s/^([0-9]+)\.([0-9]+)$/\1\2-real/p')
    echo "${code:-native}"
}

# Our programs find the packed libraries by a path of their own (the old kind,
# which holds for libraries of libraries, too): PyTorch keeps its own.
configure() {
    local options=() nvidia lib
    if [ "$device" = cuda ]; then
        nvidia=$("$python" -c 'import nvidia; print(list(nvidia.__path__)[0])')
        options+=("-DCMAKE_CUDA_ARCHITECTURES=$(architecture)"
            ${nvidia:+"-DMSIM_CUDA_LIBS=$nvidia"})
    fi
    ! command -v ninja >/dev/null || options+=(-G Ninja)
    if [ -n "$libraries" ]; then
        lib=$(dirname "$(find "$libraries/usr/lib" -name 'libyajl.so.2')")
        export PATH=$libraries/usr/bin:$PATH
        export PKG_CONFIG_LIBDIR=$lib/pkgconfig:$libraries/usr/share/pkgconfig
        export PKG_CONFIG_SYSROOT_DIR=$libraries
        # what a library of Debian's lies in below the prefix
        export CMAKE_LIBRARY_PATH=$lib
        # shellcheck disable=SC2054 # the linker's own commas
        options+=("-DCMAKE_PREFIX_PATH=$libraries/usr"
            "-DCMAKE_BUILD_RPATH=$lib;$libraries/lib/${lib##*/}"
            -DCMAKE_EXE_LINKER_FLAGS=-Wl,--disable-new-dtags)
    fi
    cmake -S "$root" -B "$build" -DCMAKE_BUILD_TYPE=Release "${options[@]}"
}

# What has no CUDA in it comes first, then what times, and is there if the rest
# fails. Two cores are left to what is captured meanwhile.
build_it() {
    local cores some
    cores=$(($(nproc) > 3 ? $(nproc) - 2 : 2))
    configure || return
    for some in "mystique-sim msim-calibrate" "${targets[@]}"; do
        # shellcheck disable=SC2086 # several targets
        nice cmake --build "$build" --parallel "$cores" --target $some || return
    done
    touch "$work/built"
}

# ---- there: steps ------------------------------------------------------------

about() {
    "$python" "$here/about.py" --device "$device" --root "$root" \
        --out "$work/about.json" &&
        mv "$work/about.json" "$products/results/"
}

names() { # JOBS [PATTERN]: of jobs whose options have no PATTERN
    grep -v "^ *#\|^ *\$${2:+\|$2}" "$1" | cut -d' ' -f1
}

missing() { # JOBS: those that were not captured
    local name options
    grep -v '^ *#\|^ *$' "$1" | while read -r name options; do
        [ -d "$products/captures/$name" ] || echo "$name $options"
    done
}

capture() { # JOBS OPTION...
    local jobs=$1
    shift
    recorded captures "$root/scripts/capture.py" --jobs "$jobs" \
        --device "$torch" --steps 2 --timed 20 "$@"
}

# PyTorch's recordings. It knows no GPU that is made up, so that those of a CPU are
# made to look like it.
recordings() { # BUNDLE: the folder that a program makes it in
    [ "$device" = fake ] && echo "$work/recorded/$1" || echo "$products/$1"
}

recorded() { # BUNDLE PROGRAM...: with the folder in --out
    local to
    to=$(recordings "$1")
    "$python" "${@:2}" --out "$to" &
    while [ "$device" = fake ] && kill -0 $! 2>/dev/null; do
        sleep 1
        "$python" "$root/tests/fake_gpu/fake_traces.py" "$to" "$products/$1"
    done
    wait $!
}

# The jobs that a process which was ended had not begun: those behind the last that
# is there as NAME.part, or all that are missing.
not_begun() { # JOBS
    local name options some='' folder
    folder=$(recordings captures)
    while read -r name options; do
        some+="$name $options"$'\n'
        [ ! -d "$folder/$name.part" ] || some=''
    done < <(missing "$1")
    rm -rf "$folder"/*.part
    printf %s "$some"
}

# All jobs in one process. What it leaves, after a fault that sticks to the GPU or
# when it hangs, another process goes on with, but for the job that it was at; one
# that came to no job is tried again once. A process that went through all of them
# by itself leaves none: exit code 0 or 1.
capture_all() { # NAME JOBS OPTION...
    local name=$1 rest=$work/$1.jobs most=300 tried=''
    cp "$2" "$rest"
    shift 2
    while [ -s "$rest" ] && ! is_over; do
        step "$name" "$most:20" capture "$rest" "$@"
        [ "${code[$name]}" -gt 1 ] || return
        not_begun "$rest" >"$rest.part"
        if [ "$(wc -l <"$rest")" -eq "$(wc -l <"$rest.part")" ]; then
            [ -z "$tried" ] || return
            tried=yes
        fi
        mv "$rest.part" "$rest"
        name=${name%-rest}-rest most=50
    done
}

capture_small() {
    [ "$device" != cuda ] || [ -n "${code[small]:-}" ] ||
        capture_all small "$here/jobs_small.txt"
}

run_tests() {
    ctest --test-dir "$build" --verbose -R '^gpu\.'
}

# A program of CUDA that knows nothing of us.
inject() {
    local file=$work/injected.json.gz
    CUDA_INJECTION64_PATH=$build/libmystique-cupti.so MSIM_CUPTI_OUT=$file \
        "$python" -c '
import torch
a = torch.randn(2048, 2048, device="cuda")
for _ in range(20):
    a = torch.nn.functional.gelu(a @ a / 64)
torch.cuda.synchronize()' && "$binary" info "$file" &&
        mv "$file" "$products/results/"
}

# Is it the same, and does it take as long?
benchmark() { # NAME
    local et=$products/captures/$1/et/rank-0.json.gz rc=0
    local bench=$work/benchmarks/$1 file=bench-$1.json
    mkdir -p "$work/benchmarks"
    "$binary" generate "$et" -o "$bench" || return
    "$python" "$bench/bench.py" --device "$torch" --iters 20 --certify "$et" \
        --meter 2 --json >"$work/$file" || rc=$?
    [ ! -s "$work/$file" ] || mv "$work/$file" "$products/results/"
    return "$rc"
}

# Its operators without PyTorch; what the operator before left is in the caches,
# or nothing is.
replay() { # NAME
    local cache name rc=0
    for cache in cold warm; do
        name=replay-$1-$cache
        if "$binary" replay --backend "$backend" --cache "$cache" --iterations 3 \
            --json -o "$work/$name.json.gz" "$products/captures/$1/et" \
            >"$work/$name.json"; then
            mv "$work/$name.json.gz" "$work/$name.json" "$products/results/"
        else
            rc=1
        fi
    done
    return "$rc"
}

# PyTorch's own kernels, which no table has.
record_kernels() {
    recorded kernels "$root/profilers/torch/record_kernels.py" \
        --device "$torch" --seconds "$seconds" \
        --most-bytes "$((FILES[kernels] * MOST_BYTES * 9 / 10))"
}

# PyTorch's first call of a kind may load code for seconds.
calibrate() { # NAME BACKEND
    local patience=8
    [ "$2" != torch ] || patience=20
    "$binary" calibrate --measure-only --backend "$2" --patience "$patience" \
        --budget "$(awk "BEGIN { print $seconds / 60 }")" \
        --out "$growing/$1.json"
}

# ---- there -------------------------------------------------------------------

finish_build() {
    await build
    [ -x "$binary" ] && return
    say "nothing was built: steps that want it are left out"
    return 1
}

# Without a GPU that PyTorch sees there is nothing to do. It may be slow to say so:
# its first import, from a disk that is cold, beside a build.
see_machine() {
    step about 1000 about
    [ "${code[about]}" -ne 3 ] || cannot "PyTorch sees no GPU: see $report"
}

look() {
    local name jobs
    jobs=$(names "$jobs_file" ' --graph')
    rm -rf "$products" "$growing" "$work/recorded"
    begin
    # shellcheck disable=SC2046,SC2086 # words
    plan about:12 capture:85 tests:25 inject:5 small:20 \
        $(printf 'bench-%s:10\n' $jobs)
    start build 100 build_it
    see_machine
    capture_all capture "$jobs_file" --meter 2
    [ -z "${pid[build]:-}" ] || capture_small # which needs no build
    if finish_build; then
        [ "$device" != cuda ] || step tests 200 run_tests
        [ "$device" != cuda ] || step inject 300 inject
        for name in $jobs; do
            [ ! -d "$products/captures/$name" ] ||
                step "bench-$name" 300 benchmark "$name"
        done
    fi
    capture_small
}

# The order is that of value: what one finds before tables, which more time only
# makes longer.
measure() {
    local name jobs
    jobs=$(names "$jobs_file" ' --graph')
    begin
    # shellcheck disable=SC2046,SC2086 # words
    plan about:8 $(printf 'replay-%s:6\n' $jobs) kernels:130 torch:75 cuda:100 \
        again-torch:25 again-cuda:25 again:25
    missing "$jobs_file" >"$work/jobs"
    # on another machine than look ran on, or what look had no time for
    [ -e "$work/built" ] || start build 60 build_it
    [ ! -s "$work/jobs" ] || plan capture:85
    see_machine
    [ ! -s "$work/jobs" ] || capture_all capture "$work/jobs" --meter 2
    if finish_build; then
        for name in $jobs; do
            [ ! -d "$products/captures/$name" ] ||
                step "replay-$name" 300 replay "$name"
        done
    fi
    step kernels 130 record_kernels
    if [ -x "$binary" ]; then
        [ "$device" = fake ] || step torch 150 calibrate torch torch
        step cuda 150 calibrate cuda "$backend"
        [ "$device" = fake ] || step again-torch 150 calibrate again-torch torch
        step again-cuda 150 calibrate again-cuda "$backend"
    fi
    sed -nE 's/^(gpt2|resnet50) /\1-again /p' "$jobs_file" >"$work/jobs"
    step again 200 capture "$work/jobs"
}

# ---- the command -------------------------------------------------------------

# What is different where there is no GPU.
choose_device() {
    build=$work/build torch=cpu jobs_file=$here/jobs_cpu.txt
    case $device in
    cuda)
        torch=cuda backend=cuda
        jobs_file=$here/jobs.txt
        targets=(mystique-prof-cuda mystique-cupti
            "test_kernels test_cupti_metrics")
        ;;
    fake)
        backend=$build/fake_gpu/mystique-prof-cuda
        targets=(fake_gpu/mystique-prof-cuda)
        ;;
    cpu)
        backend=cpu
        targets=(mystique-prof-cpu)
        ;;
    *) wrong "option '--device' is '$device', want cuda, cpu or fake" ;;
    esac
    binary=$build/mystique-sim
    export MSIM_PYTHON=$python
}

there() { # look|measure SECONDS
    [ -n "$out" ] || wrong "$1: option '--out' is missing"
    out=$(realpath -m "$out") work=$(realpath -m "$work")
    [[ $work != *[[:space:]]* ]] ||
        wrong "option '--work' is '$work', want a path without spaces"
    choose_device
    [[ ${budget:=$2} =~ ^[0-9]+(\.[0-9]+)?$ ]] ||
        wrong "option '--budget' is '$budget', want seconds"
    budget=$(awk "BEGIN { printf \"%d\", 1000 * $budget }")
    mkdir -p "$out" "$work" || exit 3
    check
    cd "$root" || exit 3
    # shellcheck source=scripts/gpu/steps.bash
    . "$here/steps.bash"
    trap stopped HUP INT TERM
    trap end_all EXIT
    "$1"
    keep all
    grep -a '^== ' "$report"
    exit "$failed"
}

parse "$@"
case $phase in
pack)
    [ ${#operands[@]} -eq 1 ] || wrong "pack: want one FILE.tar"
    pack "${operands[0]}"
    ;;
blind)
    choose_device
    binary=${MYSTIQUE_SIM:-$root/build/mystique-sim}
    out=$(realpath -m "${out:-$root/tests/accuracy/gpu}")
    mkdir -p "$out" && cd "$root" && blind
    ;;
look) there look 280 ;;
measure) there measure 420 ;;
finish)
    [ ${#operands[@]} -gt 0 ] || wrong "finish: want the folders that came back"
    exec "$python" "$here/finish.py" \
        --binary "${MYSTIQUE_SIM:-$root/build/mystique-sim}" \
        ${out:+--out "$out"} "${operands[@]}"
    ;;
'') wrong "want pack, blind, look, measure or finish" ;;
*) wrong "unknown phase '$phase', want pack, blind, look, measure or finish" ;;
esac
