#!/usr/bin/env bash
# whatif: a recorded step with more or fewer layers is what a step of so many
# layers is.
. "$(dirname "$0")/lib.bash"
. "$(dirname "$0")/scenarios.bash"

write() { # DIR LAYERS MEMBERS: the traces of a step of so many layers
    echo "{\"name\": \"tiny\", \"type\": \"decoder\", \"tied_embeddings\": true, \"gated\": true,
      \"norm\": \"rmsnorm\", \"positions\": \"rope\", \"bias\": false, \"layers\": $2, \"hidden\": ${hidden:-512},
      \"heads\": ${heads:-8}, \"kv_heads\": 4, \"ffn\": 1024, \"vocab\": 32000}" >"$folder/$1.json"
    echo "{$3, \"micro_batch\": 1, \"sequence\": 512, \"precision\": \"bf16\"}" >"$folder/s.json"
    run synth "$folder/$1.json" --strategy "$folder/s.json" -o "$folder/$1"
    want_rc 0
    # as traces alone: the factor of a described job is its own
    rm "$folder/$1/synth.json"
}

cat >"$folder/deeper.json" <<'JSON'
{"scenarios": [
  {"name": "same", "changes": [{"layers": 4}]},
  {"name": "x", "changes": [{"layers": 7}]},
  {"name": "recomputed", "changes": [{"recompute": "full"}, {"layers": 7}]},
  {"name": "one", "changes": [{"layers": 1}]},
  {"name": "which", "changes": [{"layers": {"block": "decoder", "to": 8}}]}]}
JSON
cat >"$folder/flatter.json" <<'JSON'
{"scenarios": [
  {"name": "x", "changes": [{"layers": {"block": "blocks", "to": 4}}]},
  {"name": "recomputed", "changes": [{"recompute": "full"}]}]}
JSON
for job in '"gpus": 1, "global_batch": 2' '"gpus": 2, "tp": 2, "global_batch": 1' \
    '"gpus": 2, "dp": 2, "global_batch": 2'; do
    rm -rf "$folder/four" "$folder/seven"
    write four 4 "$job"
    write seven 7 "$job"
    run whatif "$folder/deeper.json" "$folder/four" --platform h100 --csv
    want_rc 0
    base=$(figures base) deeper=$(figures x) both=$(figures recomputed)
    [ -n "$base" ] && [ "$deeper" != "$base" ] || complain "7 layers take what 4 take: $base"
    [ "$(figures same)" = "$base" ] || complain "as many layers change something"
    [[ $(reason one) == *"want 2 blocks or more, not 1"* ]] || complain "no reason: $(reason one)"
    # shellcheck disable=SC1087
    [[ $(reason which) == *'it has ""blocks"" (4)'* ]] || complain "no reason: $(reason which)"
    run whatif "$folder/flatter.json" "$folder/seven" --platform h100 --csv
    want_rc 0
    [ "$(figures base)" = "$deeper" ] || complain "7 layers of 4: $deeper, want $(figures base)"
    [ "$(figures x)" = "$base" ] || complain "4 layers of 7: $(figures x), want $base"
    [ "$(figures recomputed)" = "$both" ] || complain "7 layers of 4, recomputed: $both"
done

# Weights that are gathered block by block, before they are used or after the
# step; and a step that computes blocks again.
for job in '"gpus": 2, "zero": 3, "global_batch": 2' \
    '"gpus": 4, "tp": 2, "zero": 1, "global_batch": 2' \
    '"gpus": 1, "global_batch": 1, "recompute": "full"'; do
    rm -rf "$folder/six" "$folder/nine"
    write six 6 "$job"
    write nine 9 "$job"
    echo '{"scenarios": [{"name": "x", "changes": [{"layers": 9}]}]}' >"$folder/s.json"
    run whatif "$folder/s.json" "$folder/six" --platform h100 --csv
    deeper=$(figures x)
    run whatif "$folder/s.json" "$folder/nine" --platform h100 --csv
    [ -n "$deeper" ] && [ "$(figures base)" = "$deeper" ] ||
        complain "9 layers of 6: $deeper, want $(figures base)"
done

# What would make so many layers fit is what would a step that has them.
rm -rf "$folder/four" "$folder/forty"
hidden=8192 heads=64
write four 4 '"gpus": 1, "global_batch": 1'
write forty 40 '"gpus": 1, "global_batch": 1'
hidden='' heads=''
echo '{"scenarios": [{"name": "x", "changes": [{"layers": 40}]}]}' >"$folder/s.json"
run whatif "$folder/s.json" "$folder/four" --platform h100 --csv
deeper=$(figures x)
[[ $deeper == *"offload the optimizer"*GiB* ]] || complain "nothing would make 40 layers fit: $deeper"
run whatif "$folder/s.json" "$folder/forty" --platform h100 --csv
[ "$(figures base)" = "$deeper" ] || complain "40 layers of 4: $deeper, want $(figures base)"
rm -rf "$folder/four"
write four 4 '"gpus": 1, "global_batch": 1'

# A stage of a pipeline has some of the layers.
rm -rf "$folder/stages"
write stages 8 '"gpus": 2, "pp": 2, "global_batch": 2'
run whatif "$folder/flatter.json" "$folder/stages" --platform h100 --csv
[[ $(reason x) == *"one stage of a pipeline"* ]] || complain "no reason: $(reason x)"

# What cannot be a number of layers.
for wrong in 0 -3 '"12"' 10001 1e18 '{"block": "", "to": 4}' '{"to": 1e18}' '{"block": "blocks"}' '{"to": 0}' '{"to": 4, "of": 3}'; do
    echo "{\"scenarios\": [{\"name\": \"x\", \"changes\": [{\"layers\": $wrong}]}]}" >"$folder/wrong.json"
    run whatif "$folder/wrong.json" "$folder/four" --platform h100
    want_rc 3
    want_err "layers"
done

echo '{"scenarios": [{"name": "x", "changes": [{"layers": 1e18}]}]}' >"$folder/wrong.json"
run whatif "$folder/wrong.json" "$folder/four" --platform h100
want_err "want at most 10,000 layers"

# What is recorded with recomputation is not asked to do so twice.
echo '{"scenarios": [{"name": "x", "changes": [{"recompute": "full"}]}]}' >"$folder/s.json"
run whatif "$folder/s.json" "$folder/nine" --platform h100 --csv
[[ $(reason x) == *"its blocks are computed again already"* ]] || complain "no reason: $(reason x)"

# Each repetition once, up to four of them.
echo '{"scenarios": [{"name": "x", "changes": [{"layers": 3}, {"layers": 4}]}]}' >"$folder/wrong.json"
run whatif "$folder/wrong.json" "$folder/four" --platform h100
want_rc 3
want_err "each repetition of blocks once"
echo '{"scenarios": [{"name": "x", "changes": [{"layers": 3}, {"layers": {"block": "a", "to": 4}},
    {"layers": {"block": "b", "to": 4}}, {"layers": {"block": "c", "to": 4}},
    {"layers": {"block": "d", "to": 4}}]}]}' >"$folder/wrong.json"
run whatif "$folder/wrong.json" "$folder/four" --platform h100
want_rc 3
want_err "at most 4 such changes"

# Convolutions of other sizes are no repetition.
echo '{"scenarios": [{"name": "x", "changes": [{"layers": 8}]}]}' >"$folder/s.json"
run whatif "$folder/s.json" "$MSIM_DATA/traces/resnet" --platform a100 --csv
want_rc 1
[[ $(reason x) == *"blocks"* ]] || complain "no reason: $(reason x)"

finish
