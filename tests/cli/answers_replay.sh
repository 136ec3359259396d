#!/usr/bin/env bash
# Traces as programs, as a fleet, side by side, as another format; every word.
. "$(dirname "$0")/answers.bash"

for trace in resnet bert dlrm llama-block; do
    answer "info_$trace" info "$data/traces/$trace" --json
    answer "info_${trace}_text" info "$data/traces/$trace"
    for form in '' --no-loops --direct; do
        # shellcheck disable=SC2086
        run generate "$data/traces/$trace" --json $form
        mkdir -p "$folder/$trace"
        cp "$folder/out" "$folder/$trace/program$form.json"
    done
    run generate "$data/traces/$trace" -o "$folder/$trace/bench"
    want_rc 0
    run convert "$data/traces/$trace" -o "$folder/$trace/chakra.et"
    want_rc 0
    sums "program_$trace" "$folder/$trace"
done
run generate "$data/traces/dlrm-ddp-2ranks" -o "$folder/ranks"
want_rc 0
sums program_ranks "$folder/ranks"
answer generate generate "$data/traces/gpt2" -o "$folder/gpt2"

answer select_csv select --csv -k 3 "$data/traces"/[bgrv]*
answer select select -k 3 "$data/traces"/[bgrv]*
answer select_json select --json -k 2 "$data/traces"/[bgrv]*
answer compare compare --platform a100,h100 "$data/traces/vit" "$data/traces/vit"
answer compare_json compare --json "$data/traces/bert" "$data/traces/vit"
printf 'job,weight\n%s/traces/bert,3\n%s/traces/vit,1\n' "$data" "$data" >"$folder/weights.csv"
answer select_weights select -k 1 --weight "$folder/weights.csv" "$data/traces/bert" "$data/traces/vit"
answer validate_text validate --platform a100 "$data/traces/gpt2" "$data/traces/gpt2"
answer validate validate --csv --platform a100 "$data/traces/resnet" "$data/traces/resnet"
answer validate_json validate --json --platform a100 "$data/traces/vit" "$data/traces/vit"
# Past a limit, in numbers.
answer validate_past validate --max-error 1 --platform a100 "$data/traces/vit" "$data/traces/vit"
answer validate_replay_past validate --max-error 1 "$data/traces/vit" "$data/traces/bert"
finish
