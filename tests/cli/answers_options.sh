#!/usr/bin/env bash
# predict's options of a small recording, each alone or with what it does not go with:
# the first lines of what is said.
. "$(dirname "$0")/answers.bash"
command -v python3 >/dev/null || { echo "no python3: skipped"; exit 77; }
step=$folder/step.json
python3 "$(dirname "$0")/small_step.py" "$step"

optioned() { # NAME TRACE...: lines of options
    local line
    while read -r line; do
        # shellcheck disable=SC2086
        run predict $line "${@:2}"
        echo "$line"
        echo "    $rc"
        cat "$folder/err" "$folder/out" | head -n 14 | cut -c1-300
    done | to_eight_digits >"$folder/said"
    hold "options_$1"
}
optioned step "$step" <<'LINES'
--brief
--brief --platform a100
--platform a100 --iteration 0 --brief
--platform a100 --iteration 1 --brief
--platform a100 --iteration 2 --brief
--platform a100 --iteration all --brief
--platform a100 --iteration x
--platform a100 --explain aten::mm
--platform a100 --explain aten::mm --json
--platform a100 --explain aten::m
--platform a100 --explain no::such
--platform a100 --explain cudaLaunchKernel
--platform no-such
--costs scaled --platform a100
--costs scaled --platform h100 --source-platform a100 --csv
--costs scaled --platform h100 --source-platform no-such
--costs measured --csv
--costs measured --platform a100
--costs measured --nodes 2
--costs measured --ranks 2
--costs measured --network ethernet-100
--costs measured --host generic
--costs measured --clock 0.8
--costs measured --index-skew 1
--costs model
--costs model --platform a100 --source-platform a100
--platform a100 --source-trace no-such
--platform a100 --host no-such
--platform a100 --host generic --csv
--platform a100 --network no-such
--platform a100 --nodes 2
--platform a100 --nodes 0
--platform a100 --ranks 0
--platform a100 --ranks 2 --csv
--platform a100 --ops no-such
--platform a100 --clock 9999 --csv
--platform a100 --clock 99GHz
--platform a100 --clock 0
--platform a100 --power-cap 1 --csv
--platform a100 --power-cap 9999 --csv
--platform a100 --power-cap 0
--platform a100 --index-skew 0 --csv
--platform a100 --index-skew -1
--platform a100 --index-skew 9
--platform a100 --peers follow --csv
--platform a100 --peers lead
--platform a100 --scale kernels=0 --csv
--platform a100 --scale kernels=-1
--platform a100 --scale kernels
--platform a100 --scale no-such=2
--platform a100 --scale communication=2 --csv
--platform a100 --scale link:no-such=2
--platform a100 --scale stream:7=2 --csv
--platform a100 --scale op:no-such=2
--platform a100 --subtree no-such
--platform a100 --subtree ProfilerStep#0 --csv
--platform a100 --range 1..2
--platform a100 --range 2..1
--platform a100 --range 1
--platform a100 --kind compute --csv
--platform a100 --kind communication --csv
--platform a100 --kind all --csv
--platform a100 --kind none
--platform a100 --exclude aten::* --csv
--platform a100 --exclude aten::no* --csv
--platform a100 --per-iteration 16 --csv
--platform a100 --per-iteration 0
--platform a100 --price 2 --csv
--platform a100 --price -2
--platform a100 --power 400 --csv
--platform a100 --usage --csv
--platform a100 --usage --brief
--platform a100 --communication gemm --csv
--platform a100 --communication no-such --csv
--platform a100 --salvage --csv
--platform a100 --strict --csv
--platform a100 --timeline no-such/file
--platform a100 --chart no-such/file.svg
--platform a100 --html no-such/file
--platform a100 --json --csv
--platform a100 --brief --csv
--platform a100 --threads 0
--platform t4,a100 --strict --csv
--platform t4,a100 --explain aten::mm
LINES
finish
