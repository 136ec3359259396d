#!/usr/bin/env bash
# whatif: steps that compute again what forward made, on other ranks, beside what is written of
# the job that is trained so.
. "$(dirname "$0")/lib.bash"
. "$(dirname "$0")/described.bash"
in_turn core/rewrite/split core/rewrite/weave plan/synth

cat >"$folder/m.json" <<'JSON'
{"name": "again", "type": "decoder", "tied_embeddings": false, "gated": true, "norm": "rmsnorm",
 "positions": "rope", "bias": false, "layers": 4, "hidden": 2048, "heads": 16, "kv_heads": 8,
 "ffn": 4096, "vocab": 8000, "moe": {"experts": 8, "topk": 2, "ffn": 2816}}
JSON
both() { # RECOMPUTE NAME PARALLEL: written of one and changed, and written so
    write one "\"gpus\": 1, \"global_batch\": 4, \"recompute\": \"$1\""
    write "$2" "\"gpus\": 2, \"global_batch\": 4, \"recompute\": \"$1\", ${3}"
    change one "$2" "[{\"parallel\": {$3}}]"
    close_to "one.$2" "$2" 0.002 0.001
    rm -r "$folder/one.$2" "$folder/$2"
}
for how in full selective; do
    both $how stages '"pp": 2'
    both $how halves '"pp": 2, "schedule": "zero-bubble"'
    both $how shares '"tp": 2'
done
# Of stages one rank is not made: what is computed again is told from no pass of its own.
write cut '"gpus": 2, "pp": 2, "global_batch": 4, "recompute": "full"'
no_answer cut '[{"parallel": {"pp": 1}}]' 'parallel.pp is 1: between messages a stage has .* pieces of forward'
finish
