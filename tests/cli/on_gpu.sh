#!/usr/bin/env bash
# on_gpu.sh on a machine that is made up (fake_machine.bash), whose minutes take two
# or three seconds: the order of steps, what is kept where it is killed at any
# moment, steps that fail or hang, and what comes back. What is made of that is in
# on_gpu_finish.sh.
. "$(dirname "$0")/lib.bash"
in_turn scripts/on_gpu.sh scripts/gpu tests/cli/fake_machine.bash

scripts=${SOURCE_DIR:?the source folder}/scripts
last=on_gpu.sh
LOOK="about capture build tests inject bench-llama bench-resnet50 bench-bert
    bench-gpt2 bench-vit bench-dlrm small"
MEASURE="about capture build replay-llama replay-resnet50 replay-bert replay-gpt2
    replay-vit replay-dlrm kernels torch cuda again-torch again-cuda
    again"
JOBS="llama resnet50 bert gpt2 vit dlrm bert-graph gpt2-graph"

# ---- arguments, and machines that lack something -----------------------------

"$scripts/on_gpu.sh" --help >"$folder/out" || complain "--help fails"
grep -q -- "--out DIR" "$folder/out" || complain "no help: $(<"$folder/out")"
for arguments in "" "sing" "look" "look --out" "measure --sideways 3" "pack" \
    "finish" "look --out $folder/x --budget soon" \
    "look --out $folder/x --device abacus"; do
    rc=0
    # shellcheck disable=SC2086 # several words
    "$scripts/on_gpu.sh" $arguments >/dev/null 2>"$folder/err" || rc=$?
    [ "$rc" -eq 2 ] || complain "'$arguments' exits $rc, want 2"
    grep -q "^on_gpu.sh: .*\(want\|missing\|no value\|unknown\)" "$folder/err" &&
        grep -q -- "--out DIR" "$folder/err" ||
        complain "'$arguments': no sentence or no usage: $(<"$folder/err")"
done

# Every job was predicted, with the options that it has.
grep -hv '^ *#' "$scripts/gpu/jobs.txt" "$scripts/gpu/jobs_small.txt" |
    sed 's/ /,/' | sort >"$folder/jobs"
tail -n +2 "$SOURCE_DIR/tests/accuracy/gpu/blind.csv" | cut -d, -f2,3 | sort -u |
    diff "$folder/jobs" - >"$folder/out" ||
    complain "tests/accuracy/gpu/blind.csv has other jobs: $(<"$folder/out")"

# The programs of the machine in a folder of their own, with the shell's tools.
stubs=$folder/stubs
mkdir "$stubs"
for name in cmake ctest ninja nvcc nvidia-smi pkg-config python; do
    ln -s "$(realpath "$(dirname "$0")/fake_machine.bash")" "$stubs/$name"
done
# Where it is killed, files are long in the making.
mkdir "$folder/slow"
ln -s "$(realpath "$(dirname "$0")/fake_machine.bash")" "$folder/slow/tar"
# a capture's two traces of a GPU take less together
head -c 700000 /dev/urandom >"$folder/data"

# begin NAME PHASE MINUTES [FAULT...]: on_gpu.sh in the background, as $pid. A minute
# takes two seconds; where all of it is to end in time three, and what is run hardly
# any, as this machine may be slow.
begin() {
    local run=$folder/$1 minute=2 part=30 path=$stubs:$PATH
    case $1 in
    *-8) minute=3 part=500 ;;
    *-kill-*) path=$folder/slow:$path ;;
    esac
    mkdir -p "$run"
    touch "$run/alive"
    ln "$folder/data" "$run/data"
    FAKE_ROOT=$run FAKE_PART=$part FAKE_FAULTS=${*:4} \
        PATH=$path PYTHON=$stubs/python \
        "$scripts/on_gpu.sh" "$2" --out "$run/out" --work "$run/work" \
        --budget $((minute * $3)) --libraries "$folder/none" >"$run/said" 2>&1 &
    pid=$!
}

ended() { # REPORT: steps in the order in which they ended
    [ ! -f "$1" ] || sed -nE 's/^== ([a-z0-9-]+): exit .*/\1/p' "$1"
}

has() { # NAME STEP: it ended well
    grep -q "^== $2: exit 0" "$folder/$1/out/report.txt"
}

# In the order of the schedule; the build and captures run side by side.
want_order() { # NAME STEPS
    local step rest
    rest=" $(paste -sd' ' <<<"${2//[[:space:]]/$'\n'}") "
    for step in $(ended "$folder/$1/out/report.txt" | grep -v 'build\|small\|-rest$'); do
        case $rest in
        *" $step "*) rest=" ${rest#*" $step "}" ;;
        *) complain "$1: $step comes too early, or twice:" \
            "$(ended "$folder/$1/out/report.txt" | paste -sd' ')" ;;
        esac
    done
}

# The files that a step must have left, as they are in the bundles.
files_of() { # STEP
    local name
    case $1 in
    about) echo results/about.json ;;
    capture) for name in $JOBS; do echo "captures/$name/meta.json"; done ;;
    inject) echo results/injected.json.gz ;;
    bench-*) echo "results/$1.json" ;;
    replay-*)
        echo "results/$1-cold.json"
        echo "results/$1-warm.json.gz"
        ;;
    small) echo captures/vit-small/meta.json ;;
    torch | cuda | again-*) echo "journals/$1.journal.jsonl.gz" ;;
    again) echo captures/gpt2-again/meta.json ;;
    esac
}

# What ended is there, and all that is there is whole.
want_whole() { # NAME
    local run=$folder/$1 out=$folder/$1/out tar bundle step file n=0
    : >"$run/there"
    for tar in "$out"/*; do
        case $tar in
        *'*' | *.part) continue ;; # none; what was written when it was killed
        esac
        n=$((n + 1))
        [ "$(stat -c %s "$tar")" -lt 11000000 ] || complain "$1: $tar is too large"
        case $tar in */report.txt) continue ;; esac
        bundle=$(basename "${tar%.tar}")
        bundle=${bundle%-[0-9]}
        tar -tf "$tar" | sed "s|^\./|$bundle/|" >>"$run/there" ||
            complain "$1: $tar is no whole file"
        [ "$bundle" = journals ] || # which go on
            tar -C "$run/work/products/$bundle" --compare -f "$tar" >/dev/null ||
            complain "$1: $tar is not what was made"
    done
    [ "$n" -le 8 ] || complain "$1: $n files"
    [ -f "$out/report.txt" ] || return # it had not begun
    for step in $(ended "$out/report.txt"); do
        has "$1" "$step" || continue
        for file in $(files_of "$step"); do
            grep -qx "$file" "$run/there" || complain "$1: $step left no $file"
        done
    done
    sed -nE 's/^== kept: ([^ ]*).*/\1/p' "$out/report.txt" | while read -r file; do
        grep -q "^$file\(/\|\$\)" "$run/there" || echo "$1: no $file"
    done >"$run/lost"
    [ ! -s "$run/lost" ] || complain "$(<"$run/lost")"
}

# What is missing is said at once.
refused() { # SENTENCE FAULTS
    begin "refused-$2" look 5 "$2"
    rc=0
    wait $pid || rc=$?
    [ "$rc" -eq 3 ] || complain "$2: exit $rc, want 3"
    grep -q "^on_gpu.sh: $1" "$folder/refused-$2/said" ||
        complain "$2: no '$1': $(<"$folder/refused-$2/said")"
}
refused "PyTorch sees no GPU" about:fail
refused "found neither libyajl" no-libraries:fail

# ---- eight, five and three minutes; faults; signals ----------------------------

declare -A pids=() # of runs side by side, which mostly wait
for minutes in 8 5 3; do
    for phase in look measure; do
        begin $phase-$minutes $phase $minutes
        pids[$phase-$minutes]=$pid
    done
done
begin look-hang-8 look 8 bert:hang bench-gpt2:hang tests:fail
pids[look-hang-8]=$pid
# one that fails before another hangs; a first import that takes long
begin look-both-8 look 8 resnet50:fail gpt2:hang no-gpu:fail
pids[look-both-8]=$pid
begin measure-slow-8 measure 8 about:slow
pids[measure-slow-8]=$pid
begin measure-hang-8 measure 8 kernels:hang replay-bert:fail cuda:fail
pids[measure-hang-8]=$pid
for phase in look measure; do
    begin $phase-term $phase 8
    pids[$phase-term]=$pid
    for n in 1 2 3 4 5; do
        begin $phase-kill-$n $phase 5
        pids[$phase-kill-$n]=$pid
    done
done

# kill_at SECONDS SIGNAL NAME: and what runs of it ends.
kill_at() {
    sleep "$1"
    kill "-$2" "${pids[$3]}" 2>/dev/null
    [ "$2" != KILL ] || rm "$folder/$3/alive"
}
for name in "${!pids[@]}"; do
    case $name in
    *-kill-*)
        moment=$((RANDOM % 10)).$((RANDOM % 10))
        echo "$moment" >"$folder/$name/moment"
        kill_at "$moment" KILL "$name" &
        ;;
    *-term) kill_at 4 TERM "$name" & ;;
    esac
done
for name in "${!pids[@]}"; do
    rc=0
    wait "${pids[$name]}" 2>/dev/null || rc=$?
    echo "$rc" >"$folder/$name/code"
done
wait

for name in "${!pids[@]}"; do
    case $name in
    look*) want_order "$name" "$LOOK" ;;
    *) want_order "$name" "$MEASURE" ;;
    esac
    want_whole "$name"
done

# Eight minutes are enough for all; but the last steps have what others left, which is
# little where this machine is slow.
for step in $LOOK; do
    has look-8 "$step" || complain "look-8: no $step"
done
for step in ${MEASURE%%again*}; do
    has measure-8 "$step" || complain "measure-8: no $step"
done
[ "$(<"$folder/look-8/code")" -eq 0 ] ||
    complain "look-8 fails: $(<"$folder/look-8/out/report.txt")"
# More kernels than two files hold: the last ones are left out, and named.
grep -q "^== left out, as the bundles are full: kernels/" \
    "$folder/measure-8/out/report.txt" || complain "all kernels came back"
[ -f "$folder/measure-8/out/kernels-2.tar" ] &&
    [ ! -f "$folder/measure-8/out/kernels-3.tar" ] ||
    complain "kernels in other than two files: $(ls "$folder/measure-8/out")"

# What hangs or fails costs itself: of captures, the job that it was at.
want_all_but() { # NAME STEPS BAD...
    local name=$1 steps=$2 step
    shift 2
    [ "$(<"$folder/$name/code")" -eq 1 ] ||
        complain "$name exits $(<"$folder/$name/code"), want 1"
    for step in $steps; do
        case " $* " in
        *" $step "*) ! has "$name" "$step" ;;
        *) has "$name" "$step" ;;
        esac || complain "$name: $step is otherwise: $(grep '^==.*exit' \
            "$folder/$name/out/report.txt")"
    done
}
want_all_but look-hang-8 "$LOOK" capture tests bench-bert bench-gpt2
for name in $JOBS; do
    grep -q "^captures/$name/meta.json" "$folder/look-hang-8/there" ||
        [ "$name" = bert ] || complain "look-hang-8: no capture of $name"
done
for name in $JOBS; do
    grep -q "^captures/$name/meta.json" "$folder/look-both-8/there" ||
        [ "$name" = resnet50 ] || [ "$name" = gpt2 ] ||
        complain "look-both-8: no capture of $name"
done
has measure-slow-8 about || complain "a slow import ends it: $(<"$folder/measure-slow-8/out/report.txt")"
want_all_but measure-hang-8 "${MEASURE%%again*}" kernels replay-bert cuda

for phase in look measure; do
    [ "$(<"$folder/$phase-term/code")" -eq 1 ] ||
        complain "$phase-term exits $(<"$folder/$phase-term/code"), want 1"
    tail -n 1 "$folder/$phase-term/out/report.txt" |
        grep -q "^== stopped by a signal at" ||
        complain "$phase-term: $(tail -n 3 "$folder/$phase-term/out/report.txt")"
done
finish
