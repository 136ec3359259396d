#!/usr/bin/env bash
# whatif: experts on several ranks, beside what is written of the job that is trained so, and back.
. "$(dirname "$0")/lib.bash"
. "$(dirname "$0")/described.bash"
in_turn core/rewrite/split core/rewrite/ddp.c plan/synth

cat >"$folder/m.json" <<'JSON'
{"name": "experts", "type": "decoder", "tied_embeddings": false, "gated": true, "norm": "rmsnorm",
 "positions": "rope", "bias": false, "layers": 4, "hidden": 2048, "heads": 16, "kv_heads": 8,
 "ffn": 5632, "vocab": 32000, "moe": {"experts": 8, "topk": 2, "ffn": 1408, "shared_experts": 1}}
JSON
# Products of experts with their sizes, and what ranks exchange for them, in order.
steps() { # TRACE
    python3 - "$1" <<'PY'
import json, sys
for node in sorted(json.load(open(sys.argv[1]))["nodes"], key=lambda n: n["id"]):
    told = {a["name"]: a.get("value") for a in node["attrs"]}
    if "bmm" in node["name"]:
        print(*node["inputs"]["shapes"])
    elif str(told.get("collective_name", "")).replace("_", "").startswith("alltoall"):
        print(told["in_msg_nelems"], told["out_msg_nelems"], told["pg_size"])
PY
}
same_steps() { # DIR DIR
    for file in "$folder/$2"/rank-*.et.json; do
        there=$(steps "$folder/$1/$(basename "$file")")
        [ -n "$there" ] && [ "$there" = "$(steps "$file")" ] || complain "products and exchanges of $1, $file"
    done
}

write one '"gpus": 1, "global_batch": 8'
write two '"gpus": 2, "dp": 2, "ep": 2, "global_batch": 16'
write pairs '"gpus": 4, "dp": 4, "ep": 2, "zero": 1, "global_batch": 32'
write stages '"gpus": 4, "pp": 2, "dp": 2, "ep": 2, "schedule": "zero-bubble", "global_batch": 16'
write shares '"gpus": 4, "tp": 2, "dp": 2, "ep": 2, "global_batch": 16'
write parts '"gpus": 2, "cp": 2, "ep": 2, "global_batch": 8'
write pieces '"gpus": 4, "pp": 2, "cp": 2, "ep": 2, "global_batch": 8'
change one two '[{"parallel": {"ep": 2}}]'
change one pairs '[{"parallel": {"dp": 4, "ep": 2}}, {"shard": "zero1"}]'
change one stages '[{"parallel": {"pp": 2, "dp": 2, "ep": 2, "schedule": "zero-bubble"}}]'
change one shares '[{"parallel": {"tp": 2, "dp": 2, "ep": 2}}]'
change one parts '[{"parallel": {"cp": 2, "ep": 2}}]'
change one pieces '[{"parallel": {"pp": 2, "cp": 2, "ep": 2}}]'
for name in two pairs stages shares parts pieces; do
    close_to one.$name $name 0.01 0.003
    same_steps one.$name $name
done
# Experts are half, and so are gradients and states of them; with two of four copies the same experts, these
# reduce and gather among themselves.
groups() { # TRACE NAME: how often a group of that name exchanges how many numbers in all
    python3 - "$1" "$2" <<'PY'
import json, sys
of = [n for n in json.load(open(sys.argv[1]))["nodes"] if n["name"].startswith("c10d::")]
told = [{a["name"]: a.get("value") for a in n["attrs"]} for n in of]
print(sum(t["in_msg_nelems"] for t in told if str(t["pg_name"]).startswith(sys.argv[2]) and
          "reduce" in t["collective_name"]))
PY
}
experts=$((4 * 4 * 3 * 2048 * 1408)) # numbers of four experts of four layers
[ "$(groups "$folder/one.pairs/rank-0.et.json" "expert data")" = $experts ] ||
    complain "gradients of experts: $(groups "$folder/one.pairs/rank-0.et.json" "expert data"), want $experts"
[ "$(groups "$folder/one.two/rank-0.et.json" expert)" = 0 ] || complain "gradients of experts that nobody else has"

# Back, from what is written and from what was changed.
write copies '"gpus": 2, "dp": 2, "global_batch": 16'
change two back '[{"parallel": {"ep": 1}}]'
change one.two back '[{"parallel": {"ep": 1}}]'
for name in two.back one.two.back; do
    close_to $name copies 0.01 0.001
    same_steps $name copies
    [ "$(groups "$folder/$name/rank-0.et.json" "expert data")" = $((2 * experts)) ] ||
        complain "gradients of experts that both have: $(groups "$folder/$name/rank-0.et.json" "expert data")"
done
write four '"gpus": 4, "dp": 4, "ep": 4, "global_batch": 32'
write half '"gpus": 4, "dp": 4, "ep": 2, "global_batch": 32'
change four back '[{"parallel": {"ep": 2}}]'
close_to four.back half 0.01 0.001
same_steps four.back half
# Experts have the tokens of all tensor parallel ranks that become one.
write split '"gpus": 2, "tp": 2, "global_batch": 8'
change split back '[{"parallel": {"tp": 1}}]'
close_to split.back one 0.0001 0.0001
same_steps split.back one
# Whole ones are given a rank's own, and tensor parallel ranks that have the same reduce their gradients.
write whole '"gpus": 2, "tp": 2, "etp": 1, "global_batch": 8'
change one whole '[{"parallel": {"tp": 2, "etp": 1}}]'
close_to one.whole whole 0.03 0.003
same_steps one.whole whole
[ "$(groups "$folder/one.whole/rank-0.et.json" "expert data")" = $((2 * experts)) ] ||
    complain "gradients of whole experts: $(groups "$folder/one.whole/rank-0.et.json" "expert data")"
write spread '"gpus": 4, "tp": 2, "dp": 2, "ep": 4, "global_batch": 16'
change one spread '[{"parallel": {"tp": 2, "dp": 2, "ep": 4}}]'
close_to one.spread spread 0.03 0.003
same_steps one.spread spread
same() { # DIR CHANGES: nothing is changed
    echo "{\"scenarios\": [{\"name\": \"x\", \"changes\": $2}]}" >"$folder/w.json"
    run whatif --platform h100 --csv "$folder/w.json" "$folder/$1"
    want_rc 0
    [ "$(grep ^base, "$folder/out" | cut -d, -f2-)" = "$(grep ^x, "$folder/out" | cut -d, -f2-)" ] ||
        complain "$2 changes $1: $out"
}
same two '[{"parallel": {"ep": 2}}]'
same two '[{"parallel": {"dp": 2, "ep": 2}}]'
same one '[{"parallel": {"ep": 1}}]'

no_answer one '[{"parallel": {"ep": 3}}]' \
    'parallel.ep is 3: operator [0-9]*, aten::bmm, has 8 experts, which times 1 / 3 is no whole number'
no_answer one '[{"parallel": {"dp": 6, "ep": 4}}]' \
    'parallel.ep is 4: dp x cp is 6 x 1, which 4 ranks with different experts do not divide'
no_answer one '[{"parallel": {"tp": 2, "dp": 3, "ep": 4, "etp": 1}}]' \
    'parallel.ep is 4: dp x cp is 3 x 1, with tensor parallel ranks, which 4 ranks with different experts do not divide'
no_answer whole '[{"parallel": {"tp": 1}}]' 'parallel.tp is less than recorded: ranks have whole experts'
no_answer shares '[{"parallel": {"ep": 1}}]' 'parallel.ep is less than recorded: tensor parallel ranks share each expert'
no_answer one '[{"parallel": {"cp": 1024}}]' \
    'parallel.cp is 1024: operator [0-9]*, aten::bmm, has 512 rows of each expert, which times 1 / 1024 is no whole'
no_answer two '[{"parallel": {"ep": 4}}]' 'parallel.ep is 4: the trace is of a job of 2 ranks already'
no_answer four '[{"parallel": {"ep": 3}}]' 'parallel.ep is 3, but experts of the trace are on 4 ranks'
no_answer pairs '[{"parallel": {"ep": 1}}]' 'parallel.ep is less than recorded: ranks share out states'
write single '"gpus": 8, "dp": 8, "ep": 8, "global_batch": 8'
same single '[{"parallel": {"ep": 8}}]'
no_answer single '[{"parallel": {"ep": 4}}]' 'parallel.ep is less than recorded: .* the weights of one expert'
no_answer one '[{"parallel": {"tp": 2, "sequence_parallel": false}}]' \
    'parallel.tp is 2: operator [0-9]*, aten::bmm, multiplies by weights of'
# In 8 bits experts are multiplied by casts of weights, which say nothing of rows.
precision=fp8 write narrow '"gpus": 1, "global_batch": 1'
for what in ep cp tp; do
    no_answer narrow "[{\"parallel\": {\"$what\": 2}}]" \
        "parallel.$what is 2: operator [0-9]*, aten::_scaled_grouped_mm, multiplies by casts of experts' weights"
done
sed -i 's/, "moe": {[^}]*}//' "$folder/m.json"
precision=fp8 write narrow '"gpus": 1, "global_batch": 4'
precision=fp8 write halves '"gpus": 2, "pp": 2, "global_batch": 4'
change narrow halves '[{"parallel": {"pp": 2}}]'
close_to narrow.halves halves 0.01 0.001
no_answer narrow '[{"parallel": {"tp": 2}}]' \
    'parallel.tp is 2: operator [0-9]*, aten::_scaled_mm, is given tokens that its caller cast'
write dense '"gpus": 1, "global_batch": 1'
no_answer dense '[{"parallel": {"ep": 2}}]' 'parallel.ep is 2: no operator of the trace multiplies by weights of several'
no_answer dense '[{"parallel": {"tp": 2, "etp": 1}}]' 'parallel.tp is 2: no operator of the trace multiplies by weights of'
# The description of the job goes with it.
sed -i 's/"vocab": 32000/"vocab": 32000, "moe": {"experts": 8, "topk": 1, "ffn": 1408}/' "$folder/m.json"
echo '{"gpus": 1, "global_batch": 1, "micro_batch": 1, "sequence": 2048}' >"$folder/s.json"
run synth "$folder/m.json" --strategy "$folder/s.json" -o "$folder/told"
change told two '[{"parallel": {"ep": 2}}]'
grep -q '"ep": 2' "$folder/told.two/synth.json" || complain "the description has no ep: $(cat "$folder/told.two/synth.json")"
no_answer told '[{"parallel": {"tp": 2}}]' 'parallel.tp is 2: .* as many rows as there are tokens'
finish
