#!/usr/bin/env bash
# whatif of traces that synth wrote: a changed job takes what measured jobs like
# the changed one take, in the scenario, and in what is written of it.
. "$(dirname "$0")/lib.bash"

model() { # LAYERS HIDDEN HEADS FFN VOCAB
    echo "{\"name\": \"tiny\", \"type\": \"decoder\", \"tied_embeddings\": true, \"gated\": false,
      \"norm\": \"layernorm\", \"positions\": \"learned\", \"bias\": true, \"layers\": $1,
      \"hidden\": $2, \"heads\": $3, \"kv_heads\": $3, \"ffn\": $4, \"activation\": \"gelu\",
      \"vocab\": $5}"
}

write() { # DIR MODEL STRATEGY [TOKENS]: what synth writes of it
    rm -rf "${folder:?}/$1"
    echo "$2" >"$folder/$1.json"
    echo "{$3, \"sequence\": ${4:-1024}}" >"$folder/s.json"
    run synth "$folder/$1.json" --strategy "$folder/s.json" -o "$folder/$1"
    want_rc 0
}

figures() { # NAME FILE: period and peak of that line of a whatif
    awk -F, -v name="$1" '$1 == name { print $2, $17 }' "$2"
}

near() { # WHAT GOT WANT PERCENT: period and peak, both
    awk -v got="$2" -v want="$3" -v by="$4" 'BEGIN {
        n = split(got, g, " "); split(want, w, " ")
        for (i = 1; i <= 2; i++)
            if (n != 2 || g[i] < w[i] * (1 - by / 100) || g[i] > w[i] * (1 + by / 100)) exit 1
    }' || complain "$1 is $2, want $3 within $4 %"
}

echo '{"scenarios": [{"name": "none", "changes": [{"accumulate": 1}]}]}' >"$folder/none.json"
of_folder() { # DIR: what is predicted of the traces in it
    run whatif "$folder/none.json" "$folder/$1" --platform a100 --csv
    figures base "$folder/out"
}

cat >"$folder/changes.json" <<'JSON'
{"scenarios": [
  {"name": "wide", "changes": [{"hidden": 1536}]},
  {"name": "heads", "changes": [{"heads": 6}, {"ffn": {"from": 3072, "to": 2048}}, {"vocab": 32000}]},
  {"name": "deep", "changes": [{"layers": 9}]},
  {"name": "batch", "changes": [{"batch": 4}, {"accumulate": 2}]},
  {"name": "dp", "changes": [{"parallel": {"dp": 8}}]},
  {"name": "zero", "changes": [{"world": 16}, {"shard": "zero3"}, {"recompute": "full"}]},
  {"name": "tp", "changes": [{"parallel": {"tp": 2}}]},
  {"name": "cp", "changes": [{"parallel": {"cp": 2, "dp": 2}}]},
  {"name": "stages", "changes": [{"parallel": {"pp": 2, "vp": 2, "micro_batches": 4, "dp": 2}}]},
  {"name": "all", "changes": [{"hidden": 1536}, {"layers": 8}, {"parallel": {"tp": 2, "dp": 2}}]}]}
JSON
write traces "$(model 4 768 12 3072 50304)" '"gpus": 1, "micro_batch": 2'
run whatif "$folder/changes.json" "$folder/traces" --platform a100 --csv --write "$folder/made"
want_rc 0
cp "$folder/out" "$folder/said"
while IFS='|' read -r name sizes strategy; do
    # shellcheck disable=SC2086
    write other "$(model $sizes)" "$strategy"
    want=$(of_folder other)
    [ -n "$want" ] || complain "nothing is predicted of '$name'"
    near "$name" "$(figures "$name" "$folder/said")" "$want" 3
    near "what is written of $name" "$(of_folder "made/$name")" "$(figures "$name" "$folder/said")" 0.01
done <<'JOBS'
wide|4 1536 12 6144 50304|"gpus": 1, "micro_batch": 2
heads|4 768 6 2048 32000|"gpus": 1, "micro_batch": 2
deep|9 768 12 3072 50304|"gpus": 1, "micro_batch": 2
batch|4 768 12 3072 50304|"gpus": 1, "micro_batch": 4, "grad_accum": 2
dp|4 768 12 3072 50304|"gpus": 8, "micro_batch": 2
zero|4 768 12 3072 50304|"gpus": 16, "micro_batch": 2, "zero": 3, "recompute": "full"
tp|4 768 12 3072 50304|"gpus": 2, "tp": 2, "micro_batch": 2
cp|4 768 12 3072 50304|"gpus": 4, "cp": 2, "micro_batch": 2
stages|4 768 12 3072 50304|"gpus": 4, "pp": 2, "vp": 2, "micro_batch": 2, "grad_accum": 4
all|8 1536 12 6144 50304|"gpus": 4, "tp": 2, "micro_batch": 2
JOBS

# Sizes of tensor parallel ranks are shares; layers behind a dense one are some of all; what
# was changed is changed again.
echo '{"scenarios": [{"name": "x", "changes": [{"ffn": {"from": 1536, "to": 1024}}, {"layers": 6}]},
    {"name": "copies", "changes": [{"parallel": {"dp": 4}}]}]}' >"$folder/shares.json"
write traces "$(model 4 768 12 3072 50304)" '"gpus": 2, "tp": 2, "micro_batch": 2'
run whatif "$folder/shares.json" "$folder/traces" --platform a100 --csv
cp "$folder/out" "$folder/said"
write other "$(model 6 768 12 2048 50304)" '"gpus": 2, "tp": 2, "micro_batch": 2'
near "a share" "$(figures x "$folder/said")" "$(of_folder other)" 3
write other "$(model 4 768 12 3072 50304)" '"gpus": 8, "tp": 2, "micro_batch": 2'
near "copies of two ranks" "$(figures copies "$folder/said")" "$(of_folder other)" 3

echo '{"scenarios": [{"name": "x", "changes": [{"hidden": 768}, {"layers": 4}]}]}' >"$folder/back.json"
write other "$(model 4 768 12 3072 50304)" '"gpus": 1, "micro_batch": 2'
want=$(of_folder other)
run whatif "$folder/back.json" "$folder/made/all" --platform a100 --csv
reason=$(grep '^x,' "$folder/out")
[ -n "$(figures x "$folder/out")" ] || complain "no way back: $reason"
run whatif "$folder/back.json" "$folder/made/wide" --platform a100 --csv
near "there and back" "$(figures x "$folder/out")" "$want" 0.1

# What no description says keeps the factor of the described job.
echo '{"scenarios": [{"name": "x", "changes": [{"recompute": {"every": 2}}]}]}' >"$folder/odd.json"
run whatif "$folder/odd.json" "$folder/other" --platform a100 --csv --write "$folder/made-odd"
want_rc 0
[ -n "$(figures x "$folder/out")" ] || complain "nothing is predicted of every second block"
[ ! -e "$folder/made-odd/x/synth.json" ] || complain "a description of what none says"

# A described model of other sizes is written, too.
echo '{"scenarios": [{"name": "x", "changes": [{"layers": 9}, {"hidden": 1536}]}]}' >"$folder/sizes.json"
run whatif "$folder/sizes.json" "$folder/other.json" --platform a100 --csv --write "$folder/described"
want_rc 0
write other "$(model 9 1536 12 6144 50304)" '"gpus": 1, "micro_batch": 1' 2048
cmp -s "$folder"/{described/x,other}/rank-0.et.json || complain "other sizes, another trace"
near "a described model of other sizes" "$(of_folder described/x)" "$(of_folder other)" 0.01

# Changes of a description that are none.
for wrong in '[{"hidden": 700}]' '[{"width": 8}]' '[3]' '{"hidden": 1536}' '[{"hidden": {"to": 0}}]'; do
    rm -rf "$folder/wrong"
    cp -r "$folder/made/wide" "$folder/wrong"
    sed -i "s/\"changes\": .*/\"changes\": $wrong,/" "$folder/wrong/synth.json"
    run predict --platform a100 "$folder/wrong"
    want_rc 3
    want_err "changes"
done

finish
