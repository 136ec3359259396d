#!/usr/bin/env bash
# Every sample in data/traces predicts, with everything in it covered or
# listed, twice the same; kernels cost the same with and without the Kineto
# half, since model costs read shapes alone.
. "$(dirname "$0")/lib.bash"

field() { # NAME: the object or number of that top-level field
    sed -nE "s/^[[:space:]]*\"$1\": ?(\{[^}]*\}|[^,]*),?\$/\1/p" \
        "$folder/out" | head -n 1
}

n=0
for sample in "${SOURCE_DIR:?the source folder}"/data/traces/*/; do
    n=$((n + 1))
    run --platform a100 --json "$sample"
    want_rc 0
    want_out '"schema": "mystique-sim/prediction/1"'
    kernels=$(field kernel_us)
    [[ $kernels == *'"predicted": '[1-9]* ]] ||
        complain "kernel_us is '$kernels', want a time"
    first=$(cksum <"$folder/out")

    run --platform a100 --json "$sample"
    [ "$(cksum <"$folder/out")" = "$first" ] || complain "not the same bytes"

    run --platform a100 --json "$sample/et"
    want_rc 0
    # gloo's labels end on its own threads, which takes operators of the ET
    # out of their place (data/traces/README.md): its tree is not Kineto's.
    [[ $sample == */dlrm-ddp-2ranks/ ]] ||
        [ "$(field kernel_us)" = "$kernels" ] ||
        complain "kernel_us is '$(field kernel_us)', with Kineto '$kernels'"
done
[ "$n" -ge 7 ] || complain "$n samples, want 7"

finish
