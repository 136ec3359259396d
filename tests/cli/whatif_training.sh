#!/usr/bin/env bash
# whatif: other ways to train, made of one traced step.
. "$(dirname "$0")/lib.bash"

trace=$MSIM_DATA/traces/resnet
figures() { # NAME: all figures of that scenario
    grep -E "^\"?$1\"?," "$folder/out" | sed -E 's/^("[^"]*"|[^,]*),//'
}
column() { figures "$1" | cut -d, -f"$2"; }
kernels() { column "$1" 8; }
peak() { column "$1" 16; }
within() { # A B LOW HIGH: is A / B between LOW and HIGH?
    awk -v a="$1" -v b="$2" -v l="$3" -v h="$4" 'BEGIN { exit !(a >= l * b && a <= h * b) }'
}

cat >"$folder/blocks.json" <<'JSON'
{"scenarios": [
  {"name": "32", "changes": [{"batch": 32}]},
  {"name": "one", "changes": [{"accumulate": 1}, {"batch": 32}]},
  {"name": "three", "changes": [{"accumulate": 3}, {"batch": 32}]},
  {"name": "again", "changes": [{"recompute": "full"}, {"batch": 32}]},
  {"name": "half", "changes": [{"recompute": {"every": 2}}, {"batch": 32}]},
  {"name": "norms", "changes": [{"recompute": "aten::batch_norm"}, {"batch": 32}]},
  {"name": "a, b", "changes": [{"recompute": "full"}, {"accumulate": 2}, {"batch": 32}]},
  {"name": "b, a", "changes": [{"batch": 32}, {"accumulate": 2}, {"recompute": "full"}]},
  {"name": "no such", "changes": [{"recompute": "aten::gelu*"}]}]}
JSON
run whatif --platform a100 "$folder/blocks.json" "$trace" --csv
want_rc 0
want_no_err
[ "$(figures one)" = "$(figures 32)" ] || complain "one micro batch changes something"
[ "$(figures 'a, b')" = "$(figures 'b, a')" ] || complain "the order of changes counts"
# Three micro batches: three times forward and backward, one step of the
# optimizer; the same activations, and the first one's gradients beside them.
within "$(kernels three)" "$(kernels 32)" 2.7 3.0 || complain "kernels of three micro batches"
within "$(peak three)" "$(peak 32)" 1.0 1.2 || complain "peak of three micro batches"
# Forward is about a third of a step, and nearly all of it is in blocks.
within "$(kernels again)" "$(kernels 32)" 1.15 1.40 || complain "kernels of 'again'"
within "$(peak again)" "$(peak 32)" 0.3 0.85 || complain "peak of 'again'"
within "$(kernels half)" "$(kernels again)" 0.8 0.99 || complain "kernels of 'half'"
within "$(peak norms)" "$(peak 32)" 0.6 0.98 || complain "peak of 'norms'"
[[ $(figures 'no such') == ,,,*"matches"* ]] || complain "no reason: $(figures 'no such')"

# A trace that cannot support a change says why.
cat >"$folder/reason.json" <<'JSON'
{"scenarios": [{"name": "again", "changes": [{"recompute": "full"}]}]}
JSON
run whatif --platform a100 "$folder/reason.json" "$MSIM_DATA/traces/gpt2" --csv # one layer
want_rc 0
want_out "no block of layers repeats"
run whatif --platform a100 "$folder/reason.json" \
    "$MSIM_DATA/traces/gpt2/kineto" --csv # no tensor ids
want_out "want an execution trace"

# What users mistype is refused by its path.
refused() { # CHANGE WANT
    printf '{"scenarios": [{"name": "x", "changes": [%s]}]}' "$1" >"$folder/bad.json"
    run whatif "$folder/bad.json" "$folder/no-such-trace"
    want_rc 3
    want_err "scenarios[0].changes[0].$2"
}
refused '{"recompute": true}' 'recompute is true, want "full"'
refused '{"recompute": "ful"}' 'recompute is "ful", want "full"'
refused '{"recompute": {"every": 0}}' 'recompute.every is 0'
refused '{"recompute": {"evry": 2}}' 'recompute.evry is not known, did you mean every?'
refused '{"accumulate": 0}' "accumulate is 0"
refused '{"accumulate": "4"}' 'accumulate is "4"'
finish
