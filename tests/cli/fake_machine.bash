#!/usr/bin/env bash
# Programs of a machine with a GPU, for tests of on_gpu.sh: this file, by the names
# of its links. They take so many parts of a second as the real ones take seconds,
# and make files of random bytes in the size that a GPU's traces have.
#
# FAKE_ROOT has `data`, of which they copy, and `alive`, without which they end.
# FAKE_PART of the real machine's seconds are one here; FAKE_FAULTS are NAME:hang,
# NAME:slow and NAME:fail, of jobs and programs.
root=${FAKE_ROOT:?a folder}
exec {idle}<> <(:) # to wait without a process

nap() { # SECONDS of the real machine
    local ms=$(($1 * 1000 / FAKE_PART)) wait
    printf -v wait %d.%03d $((ms / 1000)) $((ms % 1000))
    read -rt "$wait" -u "$idle"
    [ -e "$root/alive" ] || exit 1
}

until_over() { # SECONDS of this machine
    now=$((${EPOCHREALTIME//[!0-9]/} / 1000))
    until=$((now + $(printf %.0f "${1}e3")))
}

is_time() {
    now=$((${EPOCHREALTIME//[!0-9]/} / 1000))
    ((now < until))
}

fault() { # NAME
    case " $FAKE_FAULTS " in
    *" $1:hang "*)
        while :; do
            nap 6
        done
        ;;
    *" $1:slow "*) nap 30 ;;
    *" $1:fail "*) return 1 ;;
    esac
}

option() { # NAME ARGUMENT...: the value of --NAME
    local name=--$1
    shift
    while [ $# -gt 1 ]; do
        [ "$1" != "$name" ] || echo "$2"
        shift
    done
}

capture() { # ARGUMENT...
    local out rc=0 name
    out=$(option out "$@")
    nap 4
    while read -r name _; do
        nap 5
        mkdir -p "$out/$name.part/et" "$out/$name.part/kineto"
        fault "$name" || {
            rc=1
            rm -r "$out/$name.part"
            continue
        }
        head -c 300000 "$root/data" >"$out/$name.part/et/rank-0.json.gz"
        cp "$root/data" "$out/$name.part/kineto/rank-0.json.gz"
        echo '{"device": "FAKE"}' >"$out/$name.part/meta.json"
        mv "$out/$name.part" "$out/$name"
    done < <(grep -v '^ *#' "$(option jobs "$@")")
    return "$rc"
}

record() { # ARGUMENT...: a law after the other, 40 of them as fast as they come
    local out n=0
    out=$(option out "$@")
    until_over "$(option seconds "$@")"
    mkdir -p "$out"
    fault kernels || return
    while is_time; do
        [ "$n" -lt 40 ] || nap 5
        head -c 600000 "$root/data" >"$out/law-$n.json.gz.part"
        mv "$out/law-$n.json.gz.part" "$out/law-$n.json.gz"
        n=$((n + 1))
    done
}

calibrate() { # ARGUMENT...
    local out n=0
    out=$(option out "$@")
    until_over "$(awk "BEGIN { print 60 * $(option budget "$@") }")"
    fault "$(basename "${out%.json}")" || return
    while is_time; do
        nap 1
        n=$((n + 1))
        echo "{\"answer\": $n}" >>"${out%.json}.journal.jsonl"
    done
}

replay() { # -o FILE FOLDER, among others
    local file=''
    while [ $# -gt 1 ]; do
        [ "$1" != -o ] || file=$2
        shift
    done
    fault "replay-$(basename "$(dirname "$1")")" || return
    nap 2
    head -c 200000 "$root/data" >"$file"
    echo '{"operators_us": 1}'
}

build() { # ARGUMENT...
    local folder=$2
    [ "$1" != -S ] || { nap 5; return; }
    nap 12
    fault build || return
    mkdir -p "$folder"
    ln -sf "$(realpath "$0")" "$folder/mystique-sim"
}

# -C FOLDER -cf FILE -- NAME...: half of FILE first.
slow_tar() {
    local file=$4 half
    command -p tar -C "$2" -cf "$root/tar.$$" "${@:5}"
    half=$(($(stat -c %s "$root/tar.$$") / 2))
    head -c "$half" "$root/tar.$$" >"$file"
    nap 9
    tail -c "+$((half + 1))" "$root/tar.$$" >>"$file"
    rm "$root/tar.$$"
}

case ${0##*/}:$* in
tar:*) slow_tar "$@" ;;
pkg-config:*) fault no-libraries ;;
ninja:*) ;;
nvidia-smi:*compute_cap*) echo 9.0 ;;
nvidia-smi:*) fault no-gpu && echo "FAKE, 1.0" ;;
nvcc:*) echo "release 13.0" ;;
cmake:*) build "$@" ;;
ctest:*) nap 20 && fault tests ;;
python:*about.py*)
    fault about || exit 3
    nap 8 && echo '{"device": "FAKE"}' >"$(option out "$@")"
    ;;
python:*capture.py*) capture "$@" ;;
python:*record_kernels.py*) record "$@" ;;
python:*bench.py*)
    name=$(basename "$(dirname "$1")")
    fault "bench-$name" || exit 1
    nap 6
    echo '{"ms": 1}'
    ;;
python:*) nap 2 && head -c 3000 "$root/data" >"${MSIM_CUPTI_OUT:-/dev/null}" ;;
mystique-sim:replay*) replay "$@" ;;
mystique-sim:calibrate*) calibrate "$@" ;;
mystique-sim:*) nap 1 ;;
esac
