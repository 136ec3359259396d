#!/usr/bin/env bash
# whatif: a recorded step on other stages and copies, beside what is written of
# the job that is trained so.
. "$(dirname "$0")/lib.bash"
in_turn core/rewrite/split core/rewrite/repeat

cat >"$folder/tiny.json" <<'JSON'
{"name": "tiny", "type": "decoder", "tied_embeddings": false, "gated": true, "norm": "rmsnorm",
 "positions": "rope", "bias": false, "layers": 8, "hidden": 1024, "heads": 16, "kv_heads": 4,
 "ffn": 4096, "vocab": 32000}
JSON
write() { # DIR MEMBERS: the traces of such a strategy, without their description
    echo "{$2, \"micro_batch\": 1, \"sequence\": 1024, \"precision\": \"bf16\"}" >"$folder/s.json"
    run synth "$folder/tiny.json" --strategy "$folder/s.json" -o "$folder/$1"
    want_rc 0
    rm -f "$folder/$1/synth.json"
}
figure() { # DIR FIGURE: what predict --json says of it
    "$MYSTIQUE_SIM" --platform h100 --json "$folder/$1" 2>/dev/null |
        grep -oE "\"$2\": (\{\"predicted\": |\{\"peak\": )?[0-9.e+]+" |
        head -1 | grep -oE '[0-9.e+]+$'
}
row() { # NAME COLUMN: of the table
    awk -F, -v name="$1" -v column="$2" '
        NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
        $1 == name || $1 == "\"" name "\"" { print $at[column] }' "$folder/out.csv"
}
close_to() { # WHAT A B SHARE
    awk -v a="$2" -v b="$3" -v s="$4" 'BEGIN { exit !(a > b * (1 - s) && a < b * (1 + s)) }' ||
        complain "$1: $2, want $3 within $4"
}

write one '"gpus": 1, "global_batch": 8'
write two '"gpus": 2, "pp": 2, "global_batch": 8'
write four '"gpus": 4, "pp": 4, "global_batch": 8'
write chunks '"gpus": 2, "pp": 2, "vp": 2, "global_batch": 8'
write gaps '"gpus": 2, "pp": 2, "schedule": "zero-bubble", "global_batch": 8'
write long '"gpus": 2, "pp": 2, "global_batch": 16'
write shares '"gpus": 2, "tp": 2, "global_batch": 8'
write both '"gpus": 4, "tp": 2, "pp": 2, "global_batch": 8'
write late '"gpus": 4, "tp": 2, "pp": 2, "schedule": "zero-bubble", "global_batch": 8'
write copies '"gpus": 4, "pp": 2, "dp": 2, "global_batch": 16'
write parts '"gpus": 4, "pp": 2, "cp": 2, "global_batch": 8'
write pieces '"gpus": 8, "tp": 2, "pp": 2, "cp": 2, "global_batch": 8'
cat >"$folder/p.json" <<'JSON'
{"scenarios": [
  {"name": "none", "changes": [{"parallel": {"tp": 1, "pp": 1, "vp": 1, "dp": 1}}]},
  {"name": "two", "changes": [{"parallel": {"pp": 2}}]},
  {"name": "given", "changes": [{"parallel": {"stages": [4, 4]}}]},
  {"name": "front", "changes": [{"parallel": {"pp": 2, "stages": [6, 2]}}]},
  {"name": "few", "changes": [{"parallel": {"stages": [3, 4]}}]},
  {"name": "four", "changes": [{"parallel": {"pp": 4}}]},
  {"name": "chunks", "changes": [{"parallel": {"pp": 2, "vp": 2}}]},
  {"name": "gaps", "changes": [{"parallel": {"pp": 2, "schedule": "zero-bubble"}}]},
  {"name": "gpipe", "changes": [{"parallel": {"pp": 2, "schedule": "gpipe"}}]},
  {"name": "long", "changes": [{"parallel": {"pp": 2, "micro_batches": 16}}]},
  {"name": "copies", "changes": [{"parallel": {"pp": 2, "dp": 2}}]},
  {"name": "parts", "changes": [{"parallel": {"pp": 2, "cp": 2}}]},
  {"name": "pieces", "changes": [{"parallel": {"tp": 2, "pp": 2, "cp": 2}}]},
  {"name": "shares", "changes": [{"parallel": {"tp": 2}}]},
  {"name": "plain", "changes": [{"parallel": {"tp": 2, "sequence_parallel": false}}]},
  {"name": "both", "changes": [{"parallel": {"tp": 2, "pp": 2}}]},
  {"name": "late", "changes": [{"parallel": {"tp": 2, "pp": 2, "schedule": "zero-bubble"}}]},
  {"name": "heads", "changes": [{"parallel": {"tp": 32}}]},
  {"name": "deep", "changes": [{"parallel": {"pp": 16}}]},
  {"name": "odd", "changes": [{"parallel": {"pp": 2, "vp": 2, "micro_batches": 5}}]}]}
JSON
run whatif --platform h100 --csv "$folder/p.json" "$folder/one" --write "$folder/changed"
want_rc 0
cp "$folder/out" "$folder/out.csv"
[ "$(row none period_us)" = "$(row base period_us)" ] || complain "nothing is changed, and something is"
for name in two four chunks gaps long copies parts pieces; do
    close_to "time of $name" "$(row $name period_us)" "$(figure $name period_us)" 0.01
    close_to "memory of $name" "$(row $name peak_bytes)" "$(figure $name memory_bytes)" 0.005
done
# "world" beside "parallel" is its copies, whatever the order.
for order in '{"parallel": {"pp": 2}}, {"world": 2}' '{"world": 2}, {"parallel": {"pp": 2}}'; do
    echo "{\"scenarios\": [{\"name\": \"copies\", \"changes\": [$order]}]}" >"$folder/world.json"
    run whatif --platform h100 --csv "$folder/world.json" "$folder/one"
    want_rc 0
    grep -qxF "$(grep ^copies, "$folder/out.csv")" "$folder/out" || complain "world is no copies: $out"
done
# Messages of every rank, in order: kinds and sizes.
messages() { # TRACE [GROUP]: one a line; those of the groups called so
    python3 - "$1" "${2:-}" <<'PY'
import json, sys
for node in sorted(json.load(open(sys.argv[1]))["nodes"], key=lambda n: n["id"]):
    told = {a["name"]: a.get("value") for a in node["attrs"]}
    kind = told.get("collective_name", "wait").replace("_", "").replace("base", "")
    if kind != "wait" and str(told.get("pg_name", "")).startswith(sys.argv[2]):
        print(kind, told["in_msg_nelems"], told["out_msg_nelems"])
PY
}
for name in two four chunks gaps long shares both late; do
    for file in "$folder/$name"/rank-*.et.json; do
        rank=$(basename "$file")
        [ "$(messages "$file")" = "$(messages "$folder/changed/$name/$rank")" ] ||
            complain "messages of $name, $rank"
    done
done
# Copies reduce by buckets, and synth layer by layer: of those that share sequences what they exchange.
for name in parts pieces; do
    for file in "$folder/$name"/rank-*.et.json; do
        there=$(messages "$folder/changed/$name/$(basename "$file")" context)
        [ -n "$there" ] && [ "$(messages "$file" context)" = "$there" ] ||
            complain "messages of $name, $file: $there"
    done
done
for name in shares both; do
    close_to "time of $name" "$(row $name period_us)" "$(figure $name period_us)" 0.01
    close_to "memory of $name" "$(row $name peak_bytes)" "$(figure $name memory_bytes)" 0.005
done
# Halves of backward have the nodes and the memory of what is written in halves.
close_to "time of late" "$(row late period_us)" "$(figure late period_us)" 0.012
close_to "memory of late" "$(row late peak_bytes)" "$(figure late memory_bytes)" 0.000001
awk -v a="$(row plain peak_bytes)" -v b="$(row shares peak_bytes)" 'BEGIN { exit !(a > 1.01 * b) }' ||
    complain "sequence parallel holds no less"
grep -q "heads.*parallel.tp is 32: heads of 16" "$folder/out.csv" || complain "no reason for 32 ranks of 16 heads"
# Blocks that are given to stages: as many as by the rule are no other answer; messages cross once.
[ "$(row given period_us)" = "$(row two period_us)" ] || complain "stages as by the rule, and something else comes out"
products() { # SCENARIO RANK: products of matrices in its trace
    grep -o '"name": "aten::mm"' "$folder/changed/$1/rank-$2.et.json" | wc -l
}
heads=$((8 * 3)) # of the last stage: forward and backward of 8 micro batches
each=$(($(products two 0) / 4))
[ "$(products front 0) $(products front 1)" = "$((6 * each)) $((2 * each + heads))" ] ||
    complain "products of given stages: $(products front 0) $(products front 1), of one layer $each"
grep -q "^few.*parallel.stages are 7 blocks of layers in all, but 8 repeat" "$folder/out.csv" ||
    complain "no reason for stages of 7 blocks"
# A description has layers on stages by its rule: stages that are given otherwise have none.
cat >"$folder/g.json" <<'JSON'
{"scenarios": [{"name": "given", "changes": [{"parallel": {"stages": [4, 4]}}]},
               {"name": "front", "changes": [{"parallel": {"stages": [6, 2]}}]}]}
JSON
echo '{"gpus": 1, "global_batch": 8, "micro_batch": 1, "sequence": 1024}' >"$folder/s.json"
run synth "$folder/tiny.json" --strategy "$folder/s.json" -o "$folder/told"
run whatif --platform h100 "$folder/g.json" "$folder/told" --write "$folder/given"
[ -f "$folder/given/given/synth.json" ] || complain "no description of stages as by the rule"
[ ! -f "$folder/given/front/synth.json" ] || complain "a description of stages that none has"
# GPipe keeps all micro batches: as long as 1F1B, and fuller.
close_to "time of gpipe" "$(row gpipe period_us)" "$(row two period_us)" 0.02
awk -v a="$(row gpipe peak_bytes)" -v b="$(row two peak_bytes)" 'BEGIN { exit !(a > 1.2 * b) }' ||
    complain "gpipe holds no more"
grep -q "deep.*pp 16 .* 8 blocks of layers" "$folder/out.csv" || complain "no reason for 16 stages of 8 blocks"
grep -q "odd.*5 micro batches .* no multiple of pp" "$folder/out.csv" || complain "no reason for 5 micro batches"

refuse() { # MEMBERS WANT
    echo "{\"scenarios\": [{\"name\": \"x\", \"changes\": [{\"parallel\": $1}]}]}" >"$folder/x.json"
    run whatif --platform h100 "$folder/x.json" "$folder/one"
    want_rc 3
    want_err "$2"
}
refuse '4' 'parallel'
refuse '{"pp": 0}' 'parallel.pp'
refuse '{"stages": 2}' 'parallel.stages is 2, want an array'
refuse '{"pp": 3, "stages": [4, 4]}' 'parallel.stages is [4,4], want blocks of layers of two stages or more: as many numbers as "pp"'
refuse '{"stages": [8]}' 'parallel.stages is [8]'
refuse '{"vp": 2, "stages": [7, 1]}' 'parallel.stages[1] is 1, want a whole number from 2'
refuse '{"pp": 2, "schedule": "dualpipe"}' 'parallel.schedule'
refuse '{"pp": 2, "schedule": "interleaved"}' 'parallel.schedule'
refuse '{"vp": 2}' 'parallel.vp'
refuse '{"ep": 0}' 'parallel.ep is 0'
refuse '{"cp": 0}' 'parallel.cp is 0'
refuse '{"cp": 4096, "dp": 1000}' 'parallel.cp is 4096, want at most 1,000,000 ranks with those of "dp"'

no_answer() { # DIR CHANGES WANT: a scenario without one says why
    echo "{\"scenarios\": [{\"name\": \"x\", \"changes\": $2}]}" >"$folder/x.json"
    run whatif --platform h100 "$folder/x.json" "$folder/$1"
    want_rc 1
    grep -q "no prediction: $3" "$folder/out" || complain "no reason '$3': $out"
}
# Ranks that were recorded have what they have.
no_answer shares '[{"parallel": {"tp": 2, "sequence_parallel": false}}]' \
    'parallel.sequence_parallel is false, but the recorded 2 tensor parallel ranks share tokens'
no_answer both '[{"parallel": {"tp": 1}}]' 'parallel.tp is less than recorded: the trace is of one stage'
no_answer two '[{"parallel": {"cp": 2}}]' \
    'parallel.cp is 2: the trace is of a job of 2 ranks, of which 0 are tensor parallel'
# Sequences that do not divide, and more ranks than tokens.
no_answer one '[{"parallel": {"cp": 3}}]' 'parallel.cp is 3: sequence of 1024 times 1 / 3 is no whole'
no_answer one '[{"parallel": {"cp": 2048}}]' 'parallel.cp is 2048: sequence of 1024 times'
# Stages that are all there become one rank, and there and back is where it began.
echo '{"scenarios": [{"name": "alone", "changes": [{"parallel": {"pp": 1}}]}]}' >"$folder/back.json"
for name in two four changed/two changed/front changed/gpipe; do
    run whatif --platform h100 --csv "$folder/back.json" "$folder/$name" --write "$folder/joined"
    want_rc 0
    cp "$folder/out" "$folder/out.csv"
    close_to "one rank of $name" "$(row alone period_us)" "$(figure one period_us)" 0.001
    close_to "memory of one rank of $name" "$(row alone peak_bytes)" "$(figure one memory_bytes)" 0.001
    for op in mm _scaled_dot_product_flash_attention_backward nll_loss_forward add_ _to_copy; do
        [ "$(grep -c "\"aten::$op\"" "$folder/joined/alone/rank-0.et.json")" = \
            "$(grep -c "\"aten::$op\"" "$folder/one/rank-0.et.json")" ] || complain "$op of $name as one rank"
    done
    [ -z "$(messages "$folder/joined/alone/rank-0.et.json")" ] || complain "one rank of $name exchanges messages"
done
mkdir "$folder/lone" "$folder/gap"
cp "$folder/two/rank-0.et.json" "$folder/lone"
cp "$folder/four"/rank-[013].et.json "$folder/gap"
no_answer lone '[{"parallel": {"pp": 1}}]' 'parallel.pp is 1: no trace is of the stage of rank 1, which exchanges messages with rank 0'
no_answer gap '[{"parallel": {"pp": 1}}]' 'parallel.pp is 1: 3 traces are there, and none is of the stage behind that of rank 1'
no_answer both '[{"parallel": {"pp": 1}}]' 'parallel.pp is 1: rank 0 exchanges more than messages of stages'
no_answer chunks '[{"parallel": {"pp": 1}}]' 'parallel.pp is 1: backward of micro batch 0 reads what forward of 2 made'
no_answer gaps '[{"parallel": {"pp": 1}}]' 'parallel.pp is 1: between messages a stage has 8 pieces of forward and 15 of backward'

# Fewer tensor parallel ranks are what is written of so many, and there and back is where it began.
write quarters '"gpus": 4, "tp": 4, "global_batch": 8'
no_answer quarters '[{"parallel": {"tp": 3}}]' 'parallel.tp is 3, but the trace is of one of 4 .* a number that divides'
no_answer quarters '[{"parallel": {"tp": 2}}]' 'parallel.tp is less than recorded: .* one head of keys'
for name in shares plain; do
    echo '{"scenarios": [{"name": "alone", "changes": [{"parallel": {"tp": 1}}]}]}' >"$folder/back.json"
    run whatif --platform h100 --csv "$folder/back.json" "$folder/changed/$name"
    cp "$folder/out" "$folder/out.csv"
    close_to "there and back by $name" "$(row alone period_us)" "$(figure one period_us)" 0.000001
done
sed -i 's/"kv_heads": 4/"kv_heads": 8/' "$folder/tiny.json"
rm -r "$folder/quarters" "$folder/shares" "$folder/one"
write quarters '"gpus": 4, "tp": 4, "global_batch": 4'
write shares '"gpus": 2, "tp": 2, "global_batch": 4'
write one '"gpus": 1, "global_batch": 4'
cat >"$folder/fewer.json" <<'JSON'
{"scenarios": [{"name": "half", "changes": [{"parallel": {"tp": 2}}]},
               {"name": "alone", "changes": [{"parallel": {"tp": 1}}]}]}
JSON
run whatif --platform h100 --csv "$folder/fewer.json" "$folder/quarters" --write "$folder/fewer"
want_rc 0
cp "$folder/out" "$folder/out.csv"
for pair in half:shares alone:one; do
    for what in period_us:period_us peak_bytes:memory_bytes; do
        close_to "${what%:*} of ${pair%:*}" "$(row "${pair%:*}" "${what%:*}")" \
            "$(figure "${pair#*:}" "${what#*:}")" 0.000001
        close_to "${what%:*} of ${pair%:*}, written" "$(figure "fewer/${pair%:*}" "${what#*:}")" \
            "$(figure "${pair#*:}" "${what#*:}")" 0.000001
    done
done
[ "$(messages "$folder/shares/rank-0.et.json")" = "$(messages "$folder/fewer/half/rank-0.et.json")" ] ||
    complain "messages of half as many ranks"

# A rank that the scenario makes can be slow, and one that it does not cannot.
echo '{"scenarios": [{"name": "x", "changes": [{"parallel": {"pp": 2}}]},
    {"name": "slow", "changes": [{"parallel": {"pp": 2}}, {"straggler": {"rank": 1, "factor": 1.5}}]},
    {"name": "none", "changes": [{"parallel": {"pp": 2}}, {"straggler": {"rank": 2, "factor": 1.5}}]}]}' >"$folder/slow.json"
run whatif --platform h100 --csv "$folder/slow.json" "$folder/one"
cp "$folder/out" "$folder/out.csv"
awk -v a="$(row slow period_us)" -v b="$(row x period_us)" 'BEGIN { exit !(a > 1.2 * b && a < 1.5 * b) }' ||
    complain "a slow stage: $(row slow period_us) of $(row x period_us)"
grep -q "^none.*no trace is of rank 2" "$folder/out.csv" || complain "no reason for a rank that is none"

# Experts are whole on tensor parallel ranks, which give them their own tokens; sequences are not followed
# through them.
sed -i 's/"vocab": 32000}/"vocab": 32000, "moe": {"experts": 8, "topk": 2, "ffn": 1024}}/' "$folder/tiny.json"
write experts '"gpus": 1, "global_batch": 1'
write spread '"gpus": 2, "tp": 2, "global_batch": 1'
echo '{"scenarios": [{"name": "spread", "changes": [{"parallel": {"tp": 2}}]}]}' >"$folder/x.json"
run whatif --platform h100 --csv "$folder/x.json" "$folder/experts"
cp "$folder/out" "$folder/out.csv"
close_to "time of spread" "$(row spread period_us)" "$(figure spread period_us)" 0.005
close_to "memory of spread" "$(row spread peak_bytes)" "$(figure spread memory_bytes)" 0.000001
no_answer experts '[{"parallel": {"tp": 2, "sequence_parallel": false}}]' \
    'parallel.tp is 2: operator [0-9]*, aten::bmm, multiplies by weights of'
finish
