#!/usr/bin/env bash
# serve --rows: every row of a table of served models is copied and answered, or
# says why not; the same bytes come out of any number of threads.
. "$(dirname "$0")/hold.bash"
hold_runs

points=$folder/points.csv
cat >"$points" <<'END'
id,backend,model,platform,isl,osl,batch_size,tp_size,gemm_quant,ttft_ms,tpot_ms
a,vllm,meta-llama/Llama-3-8B-Instruct,h100,1024,128,1,1,,1.5,2.5
b,vllm,meta-llama/Llama-3-8B-Instruct,h100,1024,128,16,1,,,
c,sglang,llama3-70b,h100,512,64,8,4,fp8,,
d,vllm,llama3-70b,h100,512,64,8,1,,,
e,vllm,nobody/Model-7B,h100,512,64,8,1,,,
f,vllm,llama3-8b,h100,many,64,8,1,,,
g,trtllm,llama3-8b,nogpu,512,64,8,1,,,
h,vllm,deepseek-ai/DeepSeek-R1-Distill-Other-8B,h200,512,64,8,8,,,
END

# column NAME: of the rows, one a line
column() {
    python3 - "$folder/out" "$1" <<'END'
import csv, sys
for row in csv.DictReader(open(sys.argv[1])):
    print(row[sys.argv[2]])
END
}

row() { # LINE NAME
    column "$2" | sed -n "$1p"
}

run serve --rows "$points" --csv --threads 1
want_rc 0
want_out 'id,backend,model,platform,isl,osl,batch_size,tp_size,gemm_quant,measured_ttft_ms,measured_tpot_ms,ttft_ms,ttft_low_ms,ttft_high_ms,tpot_ms,tpot_low_ms,tpot_high_ms,uses_rows,defaults,reason'
[ "$(column id | tr '\n' ' ')" = 'a b c d e f g h ' ] || complain "rows in order"
[ "$(row 1 measured_tpot_ms)" = 2.5 ] || complain "what was measured is copied"
for line in 1 2 3; do
    [ -z "$(row $line reason)" ] || complain "row $line: $(row $line reason)"
    awk -v low="$(row $line tpot_low_ms)" -v ms="$(row $line tpot_ms)" \
        -v high="$(row $line tpot_high_ms)" \
        'BEGIN { exit !(0 < low && low < ms && ms < high && ms < 100) }' ||
        complain "row $line: an interval around TPOT"
done
# 16 clients: longer steps, and prompts of others before one's own.
awk -v one="$(row 1 ttft_ms)" -v many="$(row 2 ttft_ms)" \
    'BEGIN { exit !(many > 1.5 * one) }' || complain "TTFT of 16 clients"
awk -v one="$(row 1 tpot_ms)" -v many="$(row 2 tpot_ms)" \
    'BEGIN { exit !(many > one) }' || complain "TPOT of 16 clients"
case $(row 1 defaults) in
*'max_num_seqs 256; max_num_batched_tokens 8192; '*) ;;
*) complain "defaults: $(row 1 defaults)" ;;
esac
reasons=$(column reason)
for text in 'GiB' "model 'nobody/Model-7B'" "Distill-Other-8B'" "isl: got 'many', want a whole" \
    "platform 'nogpu'"; do
    grep -qF -- "$text" <<<"$reasons" || complain "no reason has $text: $reasons"
done
[ -z "$(row 4 tpot_ms)" ] || complain "a model that does not fit has a time"

cp "$folder/out" "$folder/one"
run serve --rows "$points" --csv --threads 5
cmp "$folder/one" "$folder/out" >&2 || complain "another answer of five threads"

run serve --rows "$points"
want_rc 0
want_out '3 of 8 rows answered'

printf 'model,isl\nllama3-8b,5\n' >"$folder/no_platform.csv"
run serve --rows "$folder/no_platform.csv" --csv
want_rc 3
want_err "no column 'platform'"
run serve --rows "$folder/nothing.csv"
want_rc 3
run serve --rows "$points" app.json
want_rc 2
want_err '--rows takes no application'
run serve --rows "$points" --json
want_rc 2
run serve --models "$folder" app.json
want_rc 2
want_err '--models goes with --rows'
run serve
want_rc 2

finish
