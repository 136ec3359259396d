#!/usr/bin/env bash
# data/hosts/generic.json is what msim-fit-host makes of the real traces, and
# hosts, and programs run again, that are left out of the fit lie inside the
# interval nearly as often as it claims.
set -euo pipefail

if [ -z "$MSIM_TRACES" ]; then
    echo "skip: no real traces (set the CMake variable MSIM_TRACES)"
    exit 77
fi

out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

"$BUILD_DIR/msim-fit-host" "$MSIM_DATA/hosts/src/generic.json" \
    "$MSIM_TRACES/traces" "$out/generic.json" | tee "$out/report"

cmp "$out/generic.json" "$MSIM_DATA/hosts/generic.json" || {
    echo "'data/hosts/generic.json' is not what the fit makes of the traces"
    exit 1
}

# Of hosts that are fitted on: 80 % at least inside, for operators alone and
# with their calls and pauses; 7 hosts cannot show more of a 90 % interval.
awk '$2 == "yes" { n++; inside += $7 == "yes"; whole += $9 == "yes" }
     END {
         printf "inside: %d, with calls and pauses: %d, of %d hosts\n",
                inside, whole, n
         exit !(n >= 4 && inside >= 0.8 * n && whole >= 0.8 * n)
     }' "$out/report"

# Of programs recorded more than once: 80 % of pairs inside, programs alike.
awk '$1 == "run" && $3 == "recordings" { on = 1; next }
     $1 == "factor:" { on = 0 }
     on && $2 > 1 { n++; inside += $9 }
     END {
         printf "run again: %.0f %% inside, of %d programs\n", inside / n, n
         exit !(n >= 4 && inside >= 80 * n)
     }' "$out/report"
