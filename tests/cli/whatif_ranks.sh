#!/usr/bin/env bash
# whatif: what ranks a trace is of already, and what of a job may be said twice.
. "$(dirname "$0")/lib.bash"

cat >"$folder/tiny.json" <<'JSON'
{"name": "tiny", "type": "decoder", "tied_embeddings": false, "gated": true, "norm": "rmsnorm",
 "positions": "rope", "bias": false, "layers": 4, "hidden": 256, "heads": 8, "kv_heads": 4,
 "ffn": 1024, "vocab": 4000}
JSON
write() { # DIR MEMBERS: the traces of such a strategy
    echo "{$2, \"micro_batch\": 1, \"sequence\": 128, \"precision\": \"bf16\"}" >"$folder/s.json"
    run synth "$folder/tiny.json" --strategy "$folder/s.json" -o "$folder/$1"
    want_rc 0
}
row() { # NAME COLUMN: of the table
    awk -F, -v name="$1" -v column="$2" '
        NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
        $1 == name { print $at[column] }' "$folder/out.csv"
}
ask() { # DIR CHANGES...: scenarios "1", "2", ... of such changes, in out.csv
    local dir=$1 n=0 list=
    shift
    for changes in "$@"; do
        n=$((n + 1))
        list+="${list:+, }{\"name\": \"$n\", \"changes\": [$changes]}"
    done
    echo "{\"scenarios\": [$list]}" >"$folder/p.json"
    run whatif --platform h100 --csv "$folder/p.json" "$folder/$dir"
    cp "$folder/out" "$folder/out.csv"
}
refused() { # NAME TEXT
    [ -z "$(row "$1" period_us)" ] || complain "scenario $1 has an answer: $(row "$1" period_us)"
    grep -q "^$1,.*$2" "$folder/out.csv" || complain "no reason '$2' for $1: $(cat "$folder/out.csv")"
}
as_base() { # NAME
    [ "$(row "$1" period_us)" = "$(row base period_us)" ] || complain "$1 is a change: $(cat "$folder/out.csv")"
}

# As many tensor parallel ranks as there are is no change; copies, which share
# nothing, and copies of such ranks are not that.
write both '"gpus": 4, "tp": 2, "dp": 2, "global_batch": 2'
ask both '{"parallel": {"tp": 2}}' '{"parallel": {"tp": 4}}'
want_rc 0
as_base 1
refused 2 "parallel.tp is 4, but the trace is of a job of 4 ranks"
write copies '"gpus": 2, "dp": 2, "global_batch": 2'
ask copies '{"parallel": {"tp": 2}}'
refused 1 "parallel.tp is 2, but the trace is of a job of 2 ranks"
write units '"gpus": 2, "dp": 2, "zero": 3, "global_batch": 2'
ask units '{"parallel": {"tp": 2}}'
refused 1 "parallel.tp is 2, but the trace is of a job of 2 ranks"

# A stage has some of the layers, and exchanges with those that have the others.
write stage '"gpus": 2, "pp": 2, "global_batch": 4'
ask stage '{"parallel": {"pp": 4}}' '{"parallel": {"micro_batches": 2}}' '{"parallel": {"dp": 2}}'
refused 1 "the trace is of one stage of a pipeline already"
refused 2 "the trace is of one stage of a pipeline already"
[ -n "$(row 3 period_us)" ] || complain "no copies of stages"

# Copies of one rank share parameters by either name.
write one '"gpus": 1, "global_batch": 1'
ask one '{"parallel": {"dp": 2}}, {"shard": "fsdp"}' '{"world": 2}, {"shard": "fsdp"}' \
    '{"parallel": {"dp": 2, "pp": 2}}, {"shard": "fsdp"}'
[ -n "$(row 1 period_us)" ] || complain "no FSDP of copies: $(cat "$folder/out.csv")"
[ "$(row 1 period_us)" = "$(row 2 period_us)" ] || complain "dp and world differ: $(cat "$folder/out.csv")"
refused 3 "stages whose copies share out parameters"

# Layers that are repeated have sizes that are followed as those of the trace,
# squares (projections of 256 x 256) among them.
ask one '{"layers": 6}, {"parallel": {"tp": 2}}' '{"layers": 6}, {"parallel": {"tp": 4, "pp": 2, "micro_batches": 2}}'
[ -n "$(row 1 period_us)" ] || complain "more layers are not shared: $(cat "$folder/out.csv")"
[ -n "$(row 2 period_us)" ] || complain "more layers are not shared and cut: $(cat "$folder/out.csv")"

# Options that would say nothing are refused.
run whatif --sensitivity --kernels --platform h100 "$folder/one"
want_rc 2
want_err '--kernels lists what scenarios change'
run whatif --kernels --platform h100 "$folder/p.json" "$folder/tiny.json"
want_rc 2
want_err '--kernels is of a traced job'

# What one scenario says twice it says alike; numbers are not cut to 32 bits.
declined() { # CHANGES TEXT
    ask copies "$1"
    want_rc 3
    grep -qF "$2" "$folder/err" || complain "no '$2' for $1: $(cat "$folder/err")"
}
declined '{"hidden": 128}, {"hidden": 512}' 'changes[1].hidden is 512, want each size once'
declined '{"hidden": {"from": 256, "to": 128}}, {"hidden": 512}' 'changes[1].hidden is 512, want each size once'
declined '{"parallel": {"pp": 2}}, {"parallel": {"tp": 2}}' 'changes[1].parallel is {"tp":2}, want one such'
declined '{"recompute": "full"}, {"recompute": {"every": 2}}' 'changes[1].recompute is {"every":2}, want one such'
declined '{"nodes": 2}, {"gpu": "a100"}, {"nodes": 4}' 'changes[2].nodes is 4, want one such'
declined '{"parallel": {"dp": 2}}, {"world": 4}' 'world is 4, want as many as "dp"'
declined '{"world": 4}, {"parallel": {"dp": 2}}' 'parallel.dp is 2, want as many as "world"'
declined '{"accumulate": 4}, {"parallel": {"micro_batches": 2}}' 'micro_batches is 2, want as many as "accumulate"'
declined '{"parallel": {"micro_batches": 2}}, {"accumulate": 4}' 'accumulate is 4, want as many as "parallel"'
declined '{"parallel": {"dp": 4294967298}}' 'dp is 4294967298, want at most 1,000,000'
declined '{"recompute": {"every": 4294967298}}' 'every is 4294967298, want at most 10,000'

# Likewise of a described model, whose "parallel" has the names of a trace's.
declined_of_model() { # CHANGES TEXT
    echo "{\"scenarios\": [{\"name\": \"x\", \"changes\": [$1]}]}" >"$folder/p.json"
    run whatif --platform h100 --csv "$folder/p.json" "$folder/tiny.json"
    want_rc 3
    grep -qF "$2" "$folder/err" || complain "no '$2' for $1: $(cat "$folder/err")"
}
declined_of_model '{"hidden": 128}, {"hidden": 512}' 'changes[1].hidden is 512, want each size once'
declined_of_model '{"layers": 2}, {"layers": 6}' 'changes[1].layers is 6, want the number of layers once'
declined_of_model '{"parallel": {"sequence_parallel": false}}' 'sequence_parallel is false, want true'
echo '{"gpus": 2, "micro_batch": 1, "sequence": 128, "precision": "bf16"}' >"$folder/s.json"
echo '{"scenarios": [{"name": "x", "changes": [{"parallel": {"tp": 2, "sequence_parallel": true}}]},
  {"name": "y", "changes": [{"parallel": {"tp": 2}}, {"hidden": 512}, {"layers": 2}]}]}' >"$folder/p.json"
run whatif --platform h100 --csv "$folder/p.json" "$folder/tiny.json" --strategy "$folder/s.json"
want_rc 0
finish
