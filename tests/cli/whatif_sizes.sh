#!/usr/bin/env bash
# whatif: a recorded step of another width, of other heads, another MLP, another
# vocabulary is what a step of such a model is.
. "$(dirname "$0")/lib.bash"
. "$(dirname "$0")/scenarios.bash"

write() { # DIR HIDDEN HEADS KV FFN VOCAB: the trace of a step of such a model
    echo "{\"name\": \"tiny\", \"type\": \"decoder\", \"tied_embeddings\": $tied, \"gated\": $gated,
      \"norm\": \"$norm\", \"positions\": \"rope\", \"bias\": $tied, \"layers\": 2, \"hidden\": $2,
      \"heads\": $3, \"kv_heads\": $4, \"ffn\": $5, \"vocab\": $6}" >"$folder/$1.json"
    rm -rf "${folder:?}/$1"
    run synth "$folder/$1.json" --strategy "$folder/s.json" -o "$folder/$1"
    want_rc 0
    # as a trace alone: the factor of a described job is its own
    rm "$folder/$1/synth.json"
}

cat >"$folder/sizes.json" <<'JSON'
{"scenarios": [
  {"name": "same", "changes": [{"hidden": 256}]},
  {"name": "hidden", "changes": [{"hidden": {"from": 256, "to": 512}}]},
  {"name": "heads", "changes": [{"heads": 16}]},
  {"name": "ffn", "changes": [{"ffn": {"from": 768, "to": 512}}]},
  {"name": "vocab", "changes": [{"vocab": 2000}]},
  {"name": "all", "changes": [{"ffn": 512}, {"hidden": 512}, {"heads": 16}, {"vocab": 2000}]},
  {"name": "seven", "changes": [{"heads": 7}]},
  {"name": "none", "changes": [{"hidden": {"from": 1000, "to": 512}}]}]}
JSON
echo '{"scenarios": [{"name": "x", "changes": [{"scale": {"select": "kernels", "factor": 2}}]}]}' >"$folder/nothing.json"
# As many tokens as the model is wide.
echo '{"gpus": 2, "dp": 2, "global_batch": 4, "micro_batch": 1, "sequence": 256, "precision": "bf16"}' \
    >"$folder/s.json"
for model in "true false layernorm" "false true rmsnorm"; do
    read -r tied gated norm <<<"$model"
    kv=8
    [ "$gated" = false ] || kv=2
    write of 256 8 $kv 768 1000
    write hidden 512 8 $kv 1536 1000
    write heads 256 16 $((2 * kv)) 768 1000
    write ffn 256 8 $kv 512 1000
    write vocab 256 8 $kv 768 2000
    write all 512 16 $((2 * kv)) 512 2000
    run whatif "$folder/sizes.json" "$folder/of" --platform a100 --csv
    want_rc 0
    cp "$folder/out" "$folder/answers"
    [ "$(figures same)" = "$(figures base)" ] || complain "as wide as it was changes something"
    [[ $(reason seven) == *"heads do not divide the width: 8 heads of 32"* ]] ||
        complain "no reason: $(reason seven)"
    [[ $(reason none) == *"1000; it has 256"* ]] || complain "no reason: $(reason none)"
    for name in hidden heads ffn vocab all; do
        cp "$folder/answers" "$folder/out"
        got=$(figures $name)
        [ "$got" != "$(figures base)" ] || complain "$name changes nothing"
        run whatif "$folder/nothing.json" "$folder/$name" --platform a100 --csv
        want_rc 0
        [ "$(figures base)" = "$got" ] || complain "$name ($model): $got, want $(figures base)"
    done
done

# Ranks that share layers hold parts of the tokens between them, which go with the sequence and the batch.
tied=false gated=true norm=rmsnorm
for job in "shared 64 1" "longer 96 1" "more 64 3"; do
    read -r name tokens batch <<<"$job"
    echo "{\"gpus\": 2, \"tp\": 2, \"global_batch\": $batch, \"micro_batch\": $batch, \"sequence\": $tokens}" \
        >"$folder/s.json"
    write "$name" 256 4 2 384 512
done
echo '{"scenarios": [{"name": "longer", "changes": [{"sequence": {"from": 64, "to": 96}}]},
  {"name": "more", "changes": [{"batch": 3}]}]}' >"$folder/tokens.json"
run whatif "$folder/tokens.json" "$folder/shared" --platform a100 --csv
want_rc 0
cp "$folder/out" "$folder/answers"
for name in longer more; do
    run whatif "$folder/nothing.json" "$folder/$name" --platform a100 --csv
    want_rc 0
    want=$(sed -n 's/^base,//p' "$folder/out" | cut -d, -f9)
    got=$(sed -n "s/^$name,//p" "$folder/answers" | cut -d, -f9)
    [ -n "$want" ] && [ "$got" = "$want" ] || complain "shared, $name: $got us on the wire, want $want"
done

# A described model has the same changes, with the same meaning.
echo '{"gpus": 8, "dp": 8, "global_batch": 64, "micro_batch": 1, "sequence": 512, "precision": "bf16"}' \
    >"$folder/s.json"
run whatif "$folder/sizes.json" "$folder/of.json" --strategy "$folder/s.json" --platform a100 --csv
want_rc 0
cp "$folder/out" "$folder/answers"
[ "$(figures same)" = "$(figures base)" ] || complain "described: as wide as it was changes something"
[[ $(reason seven) == *"heads do not divide the width"* ]] || complain "no reason: $(reason seven)"
[[ $(reason none) == *"256, not 1000"* ]] || complain "no reason: $(reason none)"
for name in hidden heads ffn vocab all; do
    cp "$folder/answers" "$folder/out"
    got=$(figures $name | cut -d, -f1)
    [ "$got" != "$(figures base | cut -d, -f1)" ] || complain "described: $name changes nothing"
    run whatif "$folder/nothing.json" "$folder/$name.json" --strategy "$folder/s.json" --platform a100 --csv
    [ "$(figures base | cut -d, -f1)" = "$got" ] ||
        complain "described, $name: $got, want $(figures base | cut -d, -f1)"
done

# What cannot be a size.
for wrong in 0 -3 '"12"' '{"from": 256}' '{"to": 0}' '{"to": 4, "of": 3}' 2000000000; do
    echo "{\"scenarios\": [{\"name\": \"x\", \"changes\": [{\"hidden\": $wrong}]}]}" >"$folder/wrong.json"
    run whatif "$folder/wrong.json" "$folder/of" --platform a100
    want_rc 3
    want_err "hidden"
done

# Without ids of tensors nothing can be followed.
echo '{"scenarios": [{"name": "x", "changes": [{"heads": 512}]}]}' >"$folder/s.json"
run whatif "$folder/s.json" "$MSIM_DATA/traces/resnet" --platform a100 --csv
want_rc 1
[[ $(reason x) == *"ids of tensors"* || $(reason x) == *"no operator of the trace says"* ]] ||
    complain "no reason: $(reason x)"

finish
