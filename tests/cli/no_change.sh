#!/usr/bin/env bash
# A change that asks for what is so already is none: the scenario has the figures
# of the base to the last digit, and the ratio 1 with no width.
. "$(dirname "$0")/lib.bash"

same() { # ARGUMENT... -- CHANGE...: each alone changes nothing
    local arguments=()
    while [ "$1" != -- ]; do
        arguments+=("$1")
        shift
    done
    shift
    {
        echo '{"scenarios": ['
        printf '{"name": "base", "changes": [%s]},\n' "$@" | sed '$ s/,$//'
        echo ']}'
    } >"$folder/same.json"
    run whatif --csv "$folder/same.json" "${arguments[@]}"
    want_rc 0
    [ "$(wc -l <"$folder/out")" -eq $(($# + 2)) ] || complain "not $# scenarios: $out"
    [ "$(tail -n +2 "$folder/out" | sort -u | wc -l)" -eq 1 ] || {
        base=$(sed -n 2p "$folder/out")
        tail -n +3 "$folder/out" | paste -d '\t' - <(printf '%s\n' "$@") |
            while IFS=$'\t' read -r row change; do
                [ "$row" = "$base" ] || echo "$change: ${row:0:120}, base ${base:0:80}" >&2
            done
        complain "what is so already changes the job"
    }
}

echo '{"gpus": 8, "zero": 1, "micro_batch": 1, "global_batch": 8, "sequence": 1024, "precision": "bf16"}' >"$folder/s.json"
run synth mpt-1b --strategy "$folder/s.json" -o "$folder/ranks"
same "$folder/ranks" --platform h100 -- '{"dtype": "bf16"}' '{"dtype": "fp16"}' '{"dtype": "tf32"}' '{"gpu": "h100"}' \
    '{"ranks": 8}' '{"nodes": 1}' '{"world": 1}' '{"world": 8}' '{"batch": {"from": 1, "to": 1}}' '{"batch": 1}' \
    '{"sequence": {"from": 1024, "to": 1024}}' '{"accumulate": 1}' '{"clock": "1.0"}' '{"host": "generic"}' \
    '{"straggler": {"rank": 0, "factor": 1}}' '{"speedup": {"select": "kernels", "factor": 1}}' \
    '{"scale": {"select": "host", "factor": 1}}' '{"optimizer_bits": 32}' '{"optimizer_in_backward": false}'
same mpt-1b --strategy "$folder/s.json" --platform h100 -- '{"dtype": "bf16"}' '{"gpu": "h100"}' '{"world": 8}' \
    '{"batch": {"global": 8}}' '{"batch": {"micro": 1}}' '{"sequence": 1024}' '{"shard": "zero1"}' '{"accumulate": 1}' \
    '{"straggler": {"factor": 1}}' '{"offload": "none"}' '{"recompute": "none"}' '{"quantise_comms": 16}' \
    '{"parallel": {"tp": 1, "pp": 1, "vp": 1, "cp": 1, "ep": 1, "dp": 8, "schedule": "1f1b"}}' \
    '{"master_weights": true}' '{"optimizer_bits": 32}' '{"optimizer_in_backward": false}' '{"chunked_loss": 1}' \
    '{"speedup": {"select": "kernels", "factor": 1}}' '{"scale": {"select": "host", "factor": 1}}'
same mpt-1b --strategy "$folder/s.json" --platform h100 --network ethernet-100 -- \
    '{"network": "ethernet-100"}' '{"gpu": "h100"}'

# What the description says of a GPU without units of a type, its traces say, too.
for precision in fp8 mxfp8 amp_fp8; do
    echo "{\"gpus\": 1, \"micro_batch\": 1, \"global_batch\": 1, \"sequence\": 512, \"precision\": \"$precision\"}" >"$folder/s.json"
    run synth mpt-125m --strategy "$folder/s.json" -o "$folder/narrow"
    echo '{"scenarios": [{"name": "a", "changes": [{"gpu": "a100"}]}]}' >"$folder/gpu.json"
    run whatif "$folder/gpu.json" mpt-125m --strategy "$folder/s.json" --platform a100
    said="$rc $err"
    run --platform a100 "$folder/narrow"
    [ "$rc $err" = "$said" ] || complain "the traces: $rc $err; the description: $said"
    want_err "fp8 is not supported on a100"
    run whatif "$folder/gpu.json" "$folder/narrow" --platform h100
    want_out "no prediction: fp8 is not supported on a100"
done

# In fp32 there is something to change.
same "$MSIM_DATA/traces/resnet" --platform h100 -- '{"accumulate": 1}' '{"gpu": "h100"}' '{"ranks": 1}' '{"world": 1}'
echo '{"scenarios": [{"name": "base", "changes": [{"dtype": "bf16"}]}]}' >"$folder/bf16.json"
run whatif --csv "$folder/bf16.json" "$MSIM_DATA/traces/resnet" --platform h100
want_rc 0
[ "$(tail -n +2 "$folder/out" | sort -u | wc -l)" -eq 2 ] || complain "fp32 is not changed: $out"
finish
