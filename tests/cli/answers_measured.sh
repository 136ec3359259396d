#!/usr/bin/env bash
# What calibrate asks a made-up machine, in which order, and what it makes of the
# answers: all questions, journals, platforms and words, with faults and without.
. "$(dirname "$0")/answers.bash"
cp "$(dirname "$0")/fake_backend.bash" "$folder/backend.bash"
[ -x "$programs/msim-calibrate" ] || { echo "built without XGBoost: skipped"; exit 77; }

# The machine says how long it takes, so that no clock has a say; but for a line each
# half a minute, of which the first alone is held.
measured() { # NAME OUT MINUTES FAULTS [OPTION...]
    export FAKE_LOG=$folder/made/$1.questions
    run calibrate --backend "exec bash $folder/backend.bash $folder/asked_$2 $4" --budget "$3" --out "$folder/made/$2.json" "${@:5}"
    { echo "exit code $rc"; cat "$folder/out"; awk '!/ left: / || !n++' "$folder/err"; } | to_eight_digits >"$folder/said"
    hold "measured_$1"
}
FAKE_COUNTERS=1 FAKE_SUSTAINED=1 FAKE_BESIDE=1 measured all all 0.15 "" --measure-only
FAKE_RESTLESS=1 measured restless restless 0.15 ""
FAKE_TOOK=0.005 measured products products 0.05 "fail:30:gemm fail:130:" --measure-only
FAKE_TOOK=0.005 measured given_up given_up 0.05 "fail:90:"
FAKE_TOOK=0.005 measured tired tired 0.02 "tired:40" --measure-only --seed 3
FAKE_TOOK=0.005 measured sticky sticky 0.02 "sticky:gemm fail:80:" --measure-only
FAKE_TOOK=0.005 FAKE_BESIDE=1 FAKE_COUNTERS=1 measured beside beside 0.05 "fail:1:beside fail:80:counters" --measure-only
measured narrow narrow 0.2 "" --target-interval 40
measured narrower narrow 0.25 "" --target-interval 20 # goes on
# Two, of which the second takes longer now and then.
two="exec bash $folder/backend.bash $folder/asked_first,exec env FAKE_NAME=other FAKE_RESTLESS=1 bash $folder/backend.bash $folder/asked_second"
run calibrate --backend "$two" --budget 0.2 --seed 4 --out "$folder/made/two.json"
{ echo "exit code $rc"; cat "$folder/out"; grep -v ' left: ' "$folder/err"; } | to_eight_digits >"$folder/said"
hold measured_two
answer measured_json calibrate --fit-only --json --out "$folder/made/narrow.json"
answer measured_left calibrate --measure-only --json --budget 0.001 --backend "exec bash $folder/backend.bash $folder/asked_narrow" --out "$folder/made/narrow.json"
# What a calibration goes on without: one that says nothing, ends, or is no backend.
for backend in "echo {}" "echo no JSON" "exec false" "cat" "echo '{\"backend\": \"b\"}'" "echo '{\"backend\": 1}'"; do
    echo "$backend"
    run calibrate --backend "$backend" --budget 0.01 --patience 1 --out "$folder/none.json"
    echo "$rc $out $err"
done | to_eight_digits >"$folder/said"
hold measured_none
sums measured_files "$folder/made"
finish
