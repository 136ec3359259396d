#!/usr/bin/env bash
# Nothing is lost: no output replaces an input or a file of somebody else, a disk
# that is full and a kill at any moment leave what was there, and the next run
# removes what the killed one left.
. "$(dirname "$0")/lib.bash"
in_turn core/base

here=$(cd "$(dirname "$0")" && pwd)
traces=$here/../../data/traces
liar="exec bash $here/lying_backend.bash honest"
cd "$folder" || exit 1
gzip -dc "$traces/dlrm/kineto/rank-0.json.gz" >t.json
gzip -dc "$traces/dlrm/et/rank-0.json.gz" >et.json
echo '{"model": "llama3-8b", "platforms": ["./mine.json"], "gpus": [8, 16],
    "global_batch": 64, "tp": [1, 2, 4], "pp": [1, 2, 4]}' >spec.json
cp "$here/../../data/platforms/h100.json" mine.json
draws=$(command -v gnuplot || true)
fits=$(dirname "$sim")/msim-calibrate

# ---- an output that is an input ----------------------------------------------

# spares FILE ARGUMENT...: refused, and FILE is as it was
spares() {
    local file=$1 before
    shift
    before=$(cksum <"$file")
    run "$@"
    want_rc 2
    want_no_out
    [ -n "$err" ] || complain "not a word"
    [ "$(cksum <"$file")" = "$before" ] || complain "$file is lost"
    [ -z "$(find . -name '*.part[0-9]*')" ] || complain "a draft is left"
}

# By its own name, another, and links of both kinds.
ln -s t.json soft.json && ln t.json hard.json
for name in t.json "$folder/./t.json" soft.json hard.json; do
    spares t.json --platform a100 --timeline "$name" t.json
    spares t.json convert t.json -o "$name"
    spares t.json convert "$name" -o t.json
done
cp t.json t.svg
spares t.svg --platform a100 --chart t.svg t.svg
spares t.svg validate t.svg t.json --chart t.svg
spares t.svg select t.svg t.json --chart t.svg
spares et.json replay --backend "$liar" -o et.json et.json
spares t.json --platform a100 --timeline t.json - <t.json
run convert "$traces/dlrm-ddp-2ranks/et" -o two.et
want_rc 0
spares two.1.et convert two.0.et two.1.et -o two
if [ -x "$fits" ]; then
    spares t.json calibrate --backend "$liar" --for t.json --out t.json
    ln -s t.json of_trace.journal.jsonl
    spares t.json calibrate --backend "$liar" --for t.json --out of_trace.json
    echo '{"schema":"mystique-sim/calibration/1"}' >it.journal.jsonl
    ln -s it.journal.jsonl it.json
    spares it.journal.jsonl calibrate --backend "$liar" --out it.json
fi
# Beside what the user named, and not ours.
for name in two.et two.et.gz; do
    run convert "$traces/dlrm-ddp-2ranks/et" -o "$name"
    want_rc 0
    run convert "$traces/dlrm-ddp-2ranks/et" -o "$name" # again: they are ours
    want_rc 0
    theirs=${name/two/two.1}
    cp t.json "$theirs"
    spares "$theirs" convert "$traces/dlrm-ddp-2ranks/et" -o "$name"
    want_err "$theirs: would be replaced, but was not written by mystique-sim"
done
if [ -x "$fits" ]; then
    for ending in held.csv host.json network.json; do
        echo "my notes" >"notes.$ending"
        spares "notes.$ending" calibrate --backend "$liar" --out notes.json
        want_err "notes.$ending: would be replaced"
        rm "notes.$ending"
    done
fi
# What is read by the way.
spares mine.json --platform ./mine.json --timeline mine.json t.json
cp "$here/../../data/hosts/generic.json" host.json
spares host.json --platform a100 --host ./host.json --timeline host.json t.json
mkdir of_plan && sed 's|\./mine|mine|' spec.json >of_plan/plan.json
spares of_plan/plan.json plan of_plan/plan.json -o of_plan
echo '{"gpus": 1}' >synth.json
spares synth.json synth llama3-8b --strategy synth.json -o .
mkdir run && cp et.json run/
spares run/et.json generate run -o run
mkdir -p deep/et && cp et.json deep/et/
spares deep/et/et.json generate deep -o deep
spares deep/et/et.json generate deep -o deep/et
# Before the first of several.
run --platform a100 --chart new.svg --timeline t.json t.json
want_rc 2
[ ! -e new.svg ] || complain "a chart beside a timeline that is refused"
cp t.json appended.json
last='predict appended.json >>appended.json'
"$sim" predict --platform a100 appended.json >>appended.json 2>err
rc=$?
want_rc 2
cmp -s t.json appended.json || complain "appended to its input"
# Nor does one output replace another, or standard output.
run --platform a100 --chart x.svg --timeline ./x.svg t.json
want_rc 2
[ ! -e x.svg ] || complain "one of two outputs is lost"
for arguments in 'predict --platform a100 --timeline said.json t.json' \
    'convert t.json -o /dev/stdout' 'synth llama3-8b -o .'; do
    last="$arguments >said.json"
    ln -sf said.json rank-0.et.json
    # shellcheck disable=SC2086
    "$sim" $arguments >said.json 2>err
    rc=$?
    want_rc 2
    grep -q 'is standard output, too' err || complain "$(cat err)"
done
rm rank-0.et.json
# A new file beside inputs is none of them.
run --platform a100 --timeline run/timeline.json.gz run/et.json
want_rc 0
run generate run/et.json -o run/bench
want_rc 0
run generate run/et.json -o run/bench
want_rc 0

# ---- a folder that is somebody else's ----------------------------------------

# keeps FILE ARGUMENT...: a file of theirs is kept, of whatever content
keeps() {
    local file=$1 content
    shift
    for content in '' 'mine' '{"schema": "1.1.1-chakra.0.0.4", "nodes": []}'; do
        rm -rf theirs && mkdir theirs
        echo "$content" >"theirs/$file"
        spares "theirs/$file" "$@" -o theirs
        [ "$(find theirs | wc -l)" -eq 2 ] || complain "files beside $file"
    done
    rm "theirs/$file"
    mkfifo "theirs/$file" # nobody is at its other end
    last="$* -o theirs"
    timeout 20 "$sim" "$@" -o theirs >/dev/null 2>&1
    rc=$?
    want_rc 2
}
for name in bench.py data.json meter.py README.md data-rank-3.json; do
    keeps $name generate et.json
done
for name in rank-0.et.json rank-7.et.json synth.json; do
    keeps $name synth llama3-8b
done
for name in points.csv plan.json report.html report.pdf frontier.svg; do
    keeps $name plan spec.json
done
rm -rf theirs && mkdir -p theirs/parts && echo mine >theirs/parts/0.part
spares theirs/parts/0.part plan spec.json -o theirs

# Our own are replaced, and those of an earlier run that are not among them go;
# others stay.
echo '{"gpus": 8, "pp": 4}' >four.json
run synth llama3-8b --strategy four.json -o ours
want_rc 0
echo note >ours/notes.txt
run synth llama3-8b -o ours
want_rc 0
[ "$(echo ours/*)" = "ours/notes.txt ours/rank-0.et.json ours/synth.json" ] ||
    complain "not one run: $(echo ours/*)"
run plan spec.json -o ours
want_rc 0
run plan spec.json -o ours
want_rc 0
run generate et.json -o ours
want_rc 0

# ---- what is written, for all that follows -----------------------------------

mkdir fleet && cp t.json fleet/
# Output, and what writes it; each twice has the same bytes.
writers='timeline.json|--platform a100 --timeline timeline.json t.json
timeline.json.gz|--platform a100 --timeline timeline.json.gz t.json
t.et|convert t.json -o t.et
bench|generate et.json -o bench
traces|synth llama3-8b --strategy four.json -o traces
plan|plan spec.json -o plan'
[ -z "$draws" ] || writers+='
chart.svg|--platform a100 --chart chart.svg t.json
chart.png|--platform a100 --chart chart.png t.json
judged.svg|validate t.json t.json --chart judged.svg
spread.svg|select fleet --chart spread.svg'

each() { # FUNCTION: for every writer, with OUTPUT ARGUMENT...
    local output arguments
    while IFS='|' read -r output arguments; do
        # shellcheck disable=SC2086
        "$1" "$output" $arguments </dev/null
    done <<<"$writers"
}

undisturbed() { # OUTPUT ARGUMENT...
    mkdir -p new
    last="${*:2}"
    "$sim" "${@:2}" >/dev/null 2>err || complain "$(cat err)"
    mv "$1" new/
}
each undisturbed

whole() { # OUTPUT: as it is, or as a run makes it; nothing else
    diff -rq "$1" "new/$1" >/dev/null || complain "$1 is neither old nor new"
}

# ---- a limit, a full disk, a closed output -----------------------------------

# Neither the old nor a half file goes, and one sentence names the file. (The
# output goes through a pipe, or it would have the limit itself.)
limited() { # OUTPUT ARGUMENT...
    local output=$1 said
    shift
    last="ulimit -f 1; $*"
    cp -r "new/$output" .
    said=$({ (ulimit -f 1 && exec "$sim" "$@") | cat >/dev/null
        exit "${PIPESTATUS[0]}"; } 2>&1)
    rc=$?
    err=$(grep -v 'note: ' <<<"$said")
    want_rc 4
    [[ $err == "mystique-sim: $output"*": File too large" ]] ||
        complain "not one sentence with the path: $err"
    rm -rf "$output/parts"
    whole "$output"
    rm -r "$output"
}
each limited
run replay --backend "$liar" --iterations 1 --warmup 0 -o /dev/full et.json
if [ -w /dev/full ]; then
    want_rc 4
    want_err "/dev/full: cannot write: No space left on device"
    printf 'm,n,k,dtype\n8,8,8,fp32\n' >rows.csv
    echo '{"scenarios": [{"name": "x", "changes": []}]}' >changes.json
    while IFS= read -r arguments; do
        last="$arguments >/dev/full"
        # shellcheck disable=SC2086
        "$sim" $arguments >/dev/full 2>"$folder/err" </dev/null
        rc=$?
        err=$(grep -v 'note: \|warning: \|wrote ' "$folder/err")
        want_rc 4
        [ "$err" = "mystique-sim: cannot write to standard output:$(
            ) No space left on device" ] || complain "not one sentence: $err"
    done <<'VERBS'
predict --platform a100 t.json
predict --platform a100,h100 t.json
predict --platform a100 --json t.json
predict --platform a100 --csv t.json
predict --platform a100 --explain aten::linear t.json
whatif changes.json t.json --platform a100
whatif changes.json t.json --platform a100 --csv
synth llama3-8b -o ours2
info t.json
info --json t.json
compare t.json t.json
compare --json t.json t.json
op --platform a100 rows.csv
platforms
platforms --json
platforms a100
select fleet
select --csv fleet
generate --json et.json
validate t.json t.json
validate t.json t.json --csv
plan spec.json
plan spec.json --json
plan spec.json -o ours3
help
help plan
VERBS
    "$sim" platforms a100 >&- 2>err
    [ $? -eq 4 ] || complain "closed output: $?"
fi

# What is renamed is on the disk, and so is its new name.
if command -v strace >/dev/null &&
    strace -qq -e trace=fsync,rename -o calls "$sim" convert t.json -o s.et \
        2>/dev/null; then
    calls=$(sed -E 's/\(.*//' calls | tr '\n' ' ')
    [ "$calls" = "fsync rename fsync " ] || complain "not synced: $calls"
    strace -qq -e trace=fsync,rename -o calls "$sim" --platform a100 \
        --timeline s.json t.json >/dev/null 2>&1
    calls=$(sed -E 's/\(.*//' calls | tr '\n' ' ')
    [ "$calls" = "fsync rename fsync " ] || complain "not synced: $calls"
    # Between two renames there are no files of two runs.
    rm -rf set old
    "$sim" generate et.json -o set 2>/dev/null
    cp -r set old
    for i in 1 2 3 4; do
        strace -qq -o /dev/null -e trace=rename \
            -e inject=rename:signal=KILL:when=$i \
            "$sim" generate "$traces/bert/et" -o set >/dev/null 2>&1
        for file in set/bench.py set/data.json; do
            ! cmp -s "$file" "old/${file##*/}" ||
                complain "killed at rename $i: $file is of the run before"
        done
    done
    rm -rf set old
fi

# ---- kills -------------------------------------------------------------------

# Until what is there is removed by a run that ends: nothing else is left.
# MSIM_KILLS says how often each writer is killed.
killed() { # OUTPUT ARGUMENT...
    local output=$1 pid i
    shift
    last="kill -9 of $*"
    for ((i = 1; i <= ${MSIM_KILLS:-4}; i++)); do
        [ "$i" -lt 3 ] || [ -e "$output" ] || cp -r "new/$output" .
        "$sim" "$@" >/dev/null 2>&1 &
        pid=$!
        sleep "0.0$((RANDOM % 90 + 10))"
        kill -9 $pid 2>/dev/null
        wait $pid 2>/dev/null
        [ ! -f "$output" ] || whole "$output"
        [ ! -d "$output" ] || [ "$(find "$output" -type f \
            ! -path '*/parts/*' ! -name '*.part*' | wc -l)" -eq 0 ] ||
            whole_files "$output"
    done
    run "$@"
    want_rc 0
    whole "$output"
    [ -z "$(find . -name '*.part[0-9]*')" ] ||
        complain "left: $(find . -name '*.part[0-9]*')"
    rm -r "$output"
}

whole_files() { # DIR: each of its files
    local file
    while IFS= read -r file; do
        cmp -s "$file" "new/$file" || complain "$file is neither old nor new"
    done < <(find "$1" -type f ! -path '*/parts/*' ! -name '*.part*')
}
each killed

# Two at a time: what is there is of one of them.
both() { # OUTPUT ARGUMENT...
    local output=$1 first
    shift
    last="two of $*"
    "$sim" "$@" >/dev/null 2>&1 &
    first=$!
    run "$@"
    want_rc 0
    wait $first || complain "the other one failed"
    whole "$output"
    rm -r "$output"
}
each both
echo '{"gpus": 8, "pp": 2}' >two.json
"$sim" synth llama3-8b --strategy two.json -o traces >/dev/null 2>&1 &
run synth llama3-8b --strategy four.json -o traces
wait
n=$(find traces -name 'rank-*' | wc -l)
grep -q "\"pp\": $n" traces/synth.json || complain "$n traces of another job"

# ---- parts of a plan ---------------------------------------------------------

part() { # keep the half of a plan
    rm -rf resumed
    OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=2 run plan "$1" -o resumed
    want_rc 0
    [ -s resumed/parts/1.part ] || complain "no parts"
}
resume() { # SPEC: as a plan that was never stopped
    rm -rf fresh
    run plan "$1" -o resumed
    want_rc 0
    run plan "$1" -o fresh
    diff -rq resumed fresh >/dev/null || complain "$2: not as a fresh plan"
}
echo '{"model": "./m.json", "platforms": [{"name": "./mine.json", "network":
    "./net.json"}], "gpus": [8, 16, 32], "global_batch": 64,
    "tp": [1, 2, 4], "pp": [1, 2, 4], "cp": [1, 2, 4], "vp": [1, 2, 4],
    "recompute": ["none", "full"], "micro_batch": [1, 2, 4]}' >large.json
cp "$here/../../data/models/llama3-8b.json" m.json
cp "$here/../../data/networks/ethernet-100.json" net.json
while IFS='|' read -r file change; do
    part large.json
    cp "$file" before
    sed -i "$change" "$file"
    ! cmp -s "$file" before || complain "$file did not change"
    resume large.json "$file"
done <<'CHANGES'
mine.json|s/989400000000000/489400000000000/
m.json|s/"layers": [0-9]*/"layers": 16/
net.json|s/12500000000/2500000000/
large.json|s/"micro_batch": \[1/"micro_batch": [8/
CHANGES
# A byte of a part, anywhere.
for at in 9 200 700 3000; do
    part large.json
    printf '\377' | dd of=resumed/parts/1.part bs=1 seek=$at conv=notrunc \
        2>/dev/null
    resume large.json "byte $at"
done

finish
