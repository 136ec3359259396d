#!/usr/bin/env bash
# validate: a traced step, its replay and a prediction side by side; exit code 1
# past --max-error.
. "$(dirname "$0")/lib.bash"

# step FILE MM ADD: two equal steps of a product and a sum, in microseconds.
step() {
    {
        echo '{"schemaVersion": 1, "traceEvents": ['
        for i in 0 1; do
            at=$((i * 100000))
            echo "{\"ph\": \"X\", \"cat\": \"user_annotation\", \"name\": \"ProfilerStep#$i\", \"pid\": 1, \"tid\": 1, \"ts\": $at, \"dur\": 90000},"
            op aten::mm $((at + 10)) "$2"
            op aten::add $((at + 50000)) "$3"
        done
        echo '{"ph": "M", "name": "end"}]}'
    } >"$1"
}
op() {
    echo "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"$1\", \"pid\": 1, \"tid\": 1, \"ts\": $2, \"dur\": $3, \"args\": {\"Input Dims\": [[1024, 1024], [1024, 1024]], \"Input type\": [\"float\", \"float\"]}},"
}
step "$folder/traced.json" 4000 1000
step "$folder/replayed.json" 5000 1500
cat >"$folder/cpu.json" <<'JSON'
{"name": "mine", "generation": "zen4", "kind": "cpu", "data_sheet": {
  "fp32_flops": 3e11, "fp16_flops": 3e11, "sms": 2, "memory_bytes": 2e10,
  "l2_bytes": 3e7, "memory_bandwidth": 3e10}}
JSON

run validate "$folder/traced.json" "$folder/replayed.json"
want_rc 0
[[ $out =~ operators\ +2\ +5.000\ +6.500\ +-\ +\+30.0%\ +- ]] ||
    complain "not 5 and 6.5 ms of operators: $out"
[[ $out =~ gemm\ +1\ +4.000\ +5.000\ +-\ +\+25.0%\ +- ]] ||
    complain "not 4 and 5 ms of products: $out"
[[ $out =~ step\ +90.000\ +90.000 ]] || complain "no step of 90 ms: $out"

run validate --csv "$folder/traced.json" "$folder/replayed.json"
want_rc 0
want_out "name,operators,measured_us,replayed_us,predicted_us,replay_error,prediction_error"
want_out "pointwise,1,1000,1500,,0.5,"

run validate --json --platform "$folder/cpu.json" "$folder/traced.json" \
    "$folder/replayed.json"
want_rc 0
want_out '"schema": "mystique-sim/validation/1"'
want_out '"name": "gemm", "operators": 1, "measured_us": 4000, "replayed_us": 5000, "predicted_us": '
! grep -q '"name": "operators".*"predicted_us": null' "$folder/out" ||
    complain "nothing predicted: $out"

# ---- iterations and the machine ------------------------------------------------

[[ $out =~ \"iterations\":\ \[$'\n'\ +\{\"number\":\ 0,\ \"step_us\":\ 90000,\ \"step_error\":\ 0,\ \"operators_us\":\ 6500,\ \"operators_error\":\ 0.3 ]] ||
    complain "no first iteration: $out"
want_out '"number": 1, "step_us": 90000'
want_out '"system": []'
sed 's/"traceEvents"/"mystiqueSystem": {"busy": 0.5, "power_w": 310}, &/' \
    "$folder/replayed.json" >"$folder/watched.json"
run validate --json "$folder/traced.json" "$folder/watched.json"
want_rc 0
want_out '"name": "busy", "measured": null, "replayed": 0.5'
run validate "$folder/watched.json" "$folder/watched.json"
want_rc 0
[[ $out =~ power_w\ +310\ +310 ]] || complain "no power of both: $out"
[[ $out =~ $'\n'1\ +90.000\ +\+0.0%\ +6.500\ +\+0.0% ]] ||
    complain "no second iteration: $out"
run validate --csv "$folder/traced.json" "$folder/watched.json"
want_rc 0
want_out "iteration 1,0,90000,90000,,0,"

# ---- the chart ------------------------------------------------------------------

if command -v gnuplot >/dev/null; then
    run validate --chart "$folder/v.svg" --platform "$folder/cpu.json" \
        "$folder/traced.json" "$folder/replayed.json"
    want_rc 0
    want_out "gemm"
    head -n 1 "$folder/v.svg" | grep -q '<?xml' || complain "no SVG"
    for text in gemm pointwise operators "measured in the trace" predicted; do
        grep -q "$text" "$folder/v.svg" || complain "no $text in the chart"
    done
    run validate --chart "$folder/v.png" "$folder/traced.json" \
        "$folder/replayed.json"
    want_rc 0
    [ "$(head -c 4 "$folder/v.png" | tail -c 3)" = PNG ] || complain "no PNG"
fi
usage_error "option '--chart' is 'x.pdf', want a file that ends in .svg or" \
    validate --chart x.pdf "$folder/traced.json" "$folder/replayed.json"

# The limit: of the replay, and with a platform of the prediction.
run validate --max-error 31 "$folder/traced.json" "$folder/replayed.json"
want_rc 0
run validate --max-error 29 "$folder/traced.json" "$folder/replayed.json"
want_rc 1
want_out "gemm"
want_err "operators took +30.0 % from what was traced, want at most 29 %"
step "$folder/slow.json" 49000 30000
run validate --max-error 50 --platform "$folder/cpu.json" \
    "$folder/traced.json" "$folder/slow.json"
want_rc 1
want_err "from what they took, want at most 50 %"

run validate --iteration 7 "$folder/traced.json" "$folder/replayed.json"
want_rc 2
want_err "one of the trace's 2 steps"
run validate "${SOURCE_DIR:?the source folder}/data/traces/dlrm/et/rank-0.json.gz" \
    "$folder/replayed.json"
want_rc 3
want_err "found no times"
usage_error "want a number above 0" validate --max-error much \
    "$folder/traced.json" "$folder/replayed.json"
usage_error "" validate "$folder/traced.json"
finish
