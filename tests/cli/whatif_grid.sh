#!/usr/bin/env bash
# Grids: all combinations of changes, in a file and on the command line; they are
# the scenarios that a file could name, and say their values in JSON and CSV.
. "$(dirname "$0")/lib.bash"
command -v python3 >/dev/null || { echo "no python3: skipped"; exit 77; }

job=${SOURCE_DIR:?the source folder}/data/traces/gpt2

cat >"$folder/grid.json" <<'JSON'
{"scenarios": [{"name": "none", "changes": []}],
 "grid": {"gpu": ["a100", "h100"], "kernels": [1, 0.5], "clock": [0.8]}}
JSON
python3 - >"$folder/names.json" <<'PYTHON'
import json
points = [(gpu, factor) for gpu in ("a100", "h100") for factor in (1, 0.5)]
print(json.dumps({"scenarios": [{"name": "none", "changes": []}] + [
    {"name": f"gpu {gpu}, kernels {factor}, clock 0.8", "changes": [
        {"scale": {"select": "kernels", "factor": factor}}, {"gpu": gpu}, {"clock": "0.8"}]}
    for gpu, factor in points]}))
PYTHON

run whatif --platform a100 --json "$folder/names.json" "$job"
want_rc 0
cp "$folder/out" "$folder/named"
run whatif --platform a100 --json "$folder/grid.json" "$job"
want_rc 0
cp "$folder/out" "$folder/answer"
run whatif --platform a100 --csv "$folder/grid.json" "$job"
want_rc 0
python3 - "$folder"/{named,answer,out} <<'PYTHON' || complain "a grid is not its scenarios"
import csv, json, sys

named, grid = (json.load(open(path)) for path in sys.argv[1:3])
rows = list(csv.DictReader(open(sys.argv[3])))
at = [one.pop("grid", None) for one in grid["scenarios"]]
assert at[0] is None and at[1:] == [
    {"gpu": gpu, "kernels": factor, "clock": 0.8}
    for gpu in ("a100", "h100") for factor in (1, 0.5)], at
assert grid == named
assert "grid" not in grid["base"]
assert [row["grid.gpu"] for row in rows] == ["", "", "a100", "a100", "h100", "h100"]
assert [row["grid.kernels"] for row in rows[2:]] == ["1", "0.5"] * 2
PYTHON

# The same from the command line, without the scenario by name.
run whatif --platform a100 --grid gpu=a100,h100 --grid kernels=1,0.5 --grid clock=0.8 --json "$job"
want_rc 0
python3 - "$folder"/{answer,out} <<'PYTHON' || complain "--grid is not the file's grid"
import json, sys

file, line = (json.load(open(path))["scenarios"] for path in sys.argv[1:])
assert file[1:] == line
PYTHON
# Names are shown whole, since they tell points apart.
run whatif --platform a100 --grid gpu=a100,h100 --grid host=1,0.5 --grid communication=1 "$job"
want_rc 0
want_out "gpu h100, host 0.5, communication 1 "
run whatif --platform a100 --grid "gpu= a100 , h100" "$job"
want_rc 0
want_out "gpu a100 "
want_out "gpu h100 "

# A described job has grids, too; a change that is an object is one value.
run whatif --platform h100 --grid world=1,8 --grid 'batch={"micro":1},{"micro":2}' --csv llama3-8b
want_rc 0
[ "$(wc -l <"$folder/out")" -eq 6 ] || complain "want a head, a base and four points: $out"
want_out ',8,"{""micro"":2}"'

# Values that contradict each other are a point's own matter.
run whatif --platform a100 --grid world=2,4 --grid 'parallel={"dp":2}' --grid accumulate=1,2 --csv "$job"
want_rc 0
[ "$(wc -l <"$folder/out")" -eq 6 ] || complain "want a head, a base and four points: $out"
[ "$(grep -c 'grid.parallel.dp is 2, want as many as ""world""' "$folder/out")" -eq 2 ] ||
    complain "want two points without a prediction: $out"
[ "$(grep -c '"world 2, .*",[0-9.]*,' "$folder/out")" -eq 2 ] || complain "want two with one: $out"
run whatif --platform a100 --grid 'parallel={"pp":2,"dp":2,"micro_batches":4},{"pp":2,"micro_batches":8}' \
    --grid world=2,4 --grid accumulate=8 "$job"
want_rc 1 # none has an answer
want_out 'grid.accumulate is 8, want as many as "parallel" says'
want_out 'grid.world is 4, want as many as "dp" of "parallel"'
# By name it is the file's: who wrote it can mend it.
cat >"$folder/wrong.json" <<'JSON'
{"scenarios": [{"name": "a", "changes": [{"world": 4}, {"parallel": {"dp": 2}}]}]}
JSON
run whatif --platform a100 "$folder/wrong.json" "$job"
want_rc 3
want_err 'parallel.dp is 2, want as many as "world"'

wrong() { # TEXT JSON
    echo "$2" >"$folder/wrong.json"
    run whatif --platform a100 "$folder/wrong.json" "$job"
    want_rc 3
    want_err "$folder/wrong.json: $1"
}
wrong 'grid.batch is "x", want' '{"grid": {"batch": ["x"]}}'
wrong "grid.gpus is not known, did you mean gpu?" '{"grid": {"gpus": ["a100"]}}'
wrong "grid is no object of changes" '{"grid": ["a100"]}'
wrong "grid is no object of changes" '{"grid": {}}'
wrong "grid.gpu is no array of values" '{"grid": {"gpu": "a100"}}'
wrong "grid.gpu is no array of values" '{"grid": {"gpu": []}}'
wrong "grid.gpu is no array of values" '{"grid": {"batch": [8], "gpu": [], "gpu": ["a100"]}}'
wrong "scenarios is {}, want an array" '{"scenarios": {}, "grid": {"gpu": ["a100"]}}'
ten='[1,2,3,4,5,6,7,8,9,10]'
wrong "grid has 100000 points, want at most 10000" \
    "{\"grid\": {\"batch\": $ten, \"kernels\": $ten, \"host\": $ten, \"nodes\": $ten, \"ranks\": $ten}}"
wrong 'scenarios[0].changes[0].pp is no change, want {"pp":4} as' \
    '{"scenarios": [{"name": "a", "changes": [{"pp": 4}]}]}'
wrong 'grid.parallel has {"tp":2} twice' '{"grid": {"parallel": [{"tp": 2}, {"tp": 2}]}}'
wrong 'grid.kernels is 0, want a number above 0' '{"grid": {"gpu": ["a100"], "kernels": [1, 0]}}'
wrong 'grid.copies is "x", want a number above 0' '{"grid": {"copies": ["x"]}}'
# What is wrong in the option is so in the question.
usage_error "--grid: grid.gpuu is not known, did you mean gpu?" whatif --grid gpuu=a100 "$job"
usage_error "--grid: grid.world is 0, want" whatif --platform h100 --grid world=0 llama3-8b
usage_error '--grid: grid.tp is no change, want {"tp":1} as a value of parallel' whatif --grid tp=1,2 "$job"
usage_error '--grid: grid.dp is no change, want {"dp":2} as a value of parallel' whatif --platform h100 --grid dp=2 llama3-8b
usage_error "--grid: grid.batch has 8 twice, want each value once" whatif --grid batch=8,4,8 "$job"
usage_error "--grid: grid.gpu has a100 twice" whatif --grid gpu=a100,a100 "$job"
usage_error "--grid: grid.kernels is \"nan\", want a number above 0" whatif --grid kernels=nan "$job"
# Where one GPU is asked for, several are no name that is not known.
usage_error "unknown platform 'a100,h100', want one name here, of: a10," whatif --platform a100,h100 --grid batch=2 "$job"
usage_error "option '--grid' is 'gpu', want a change and its values" whatif --grid gpu "$job"
usage_error "option '--grid' is '=a100'" whatif --grid =a100 "$job"
usage_error "holds scenarios, and --grid has some" whatif --grid gpu=a100 "$folder/grid.json" "$job"
usage_error "names 'gpu' twice" whatif --grid gpu=a100 --grid gpu=h100 "$job"
usage_error "--sensitivity its own" whatif --grid gpu=a100 --sensitivity "$job"

# A recording of a CPU is asked of a GPU in the form that it has there, as by predict.
for of in gpt2 resnet; do
    traces=${SOURCE_DIR:?the source folder}/data/traces/$of
    run predict --platform a100 --json "$traces"
    want=$(sed -nE '/"period_us"/,/}/s/.*"predicted": ([0-9.]+).*/\1/p' "$folder/out" | head -1)
    run whatif --grid gpu=a100,h100 --csv "$traces"
    want_rc 0
    awk -F, -v want="$want" '$1 == "gpu a100" && $2 - want < 1e-3 && want - $2 < 1e-3 { n++ }
        END { exit n != 1 }' "$folder/out" || complain "gpu=a100 is not the $want us of predict: $out"
done

finish
