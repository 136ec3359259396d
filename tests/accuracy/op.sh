#!/usr/bin/env bash
# How good `op` is on rows held back by whole shapes: fits everything again,
# from the tables in the folder of measurements, and compares with the
# committed files. This is the command that regenerates tests/accuracy/op.csv
# and data/platforms/*.json (with "update" as its argument).
#
# Floors, mean error over cells on held-back rows: gemm 15 %, attention 25 %,
# vector 15 %, collective inside a node 20 %. What comes out may differ by
# rounding between C libraries, so the means are compared, not the bytes.
set -euo pipefail

if [ -z "${MSIM_TRACES:-}" ]; then
    echo "no folder of measurements (CMake variable MSIM_TRACES): skipped"
    exit 77
fi
if [ "${MSIM_SANITIZE:-0}" = 1 ]; then
    echo "takes too long under the sanitizers: skipped"
    exit 77
fi
source_dir=${SOURCE_DIR:?the source folder}
fit=${BUILD_DIR:?the build folder}/msim-fit
if [ ! -x "$fit" ]; then
    echo "no msim-fit, which needs XGBoost (libxgboost-dev): skipped"
    exit 77
fi
platforms=$source_dir/data/platforms
committed=$source_dir/tests/accuracy/op.csv
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

if [ "${1:-}" = update ]; then
    "$fit" "$MSIM_TRACES/opdata" "$platforms/src/datasheets.json" \
        "$platforms" "$committed"
    exit
fi
"$fit" "$MSIM_TRACES/opdata" "$platforms/src/datasheets.json" "$folder" \
    "$folder/op.csv"

# family: cells, mean of the means, mean coverage of the intervals
summary() { # REPORT
    awk -F, 'NR > 1 {
            family = $3 == "collective" && $5 ~ /nodes/ ? "between_nodes" : $3
            n[family]++; e[family] += $10; law[family] += $9
            inside[family] += $14; wide[family] += $15
        }
        END {
            for (f in n)
                printf "%s %d %.2f %.2f %.1f %.2f\n", f, n[f], e[f] / n[f],
                    law[f] / n[f], inside[f] / n[f], wide[f] / n[f]
        }' "$1" | sort
}

echo "family cells mean% law-alone% inside% high/low (rows held back)"
summary "$folder/op.csv" | tee "$folder/now"
summary "$committed" >"$folder/then"
paste -d' ' "$folder/now" "$folder/then" | awk '
    BEGIN {
        floor["gemm"] = 15; floor["attention"] = 25
        floor["vector"] = 15; floor["collective"] = 20
    }
    $1 in floor && $3 > floor[$1] {
        print "above the floor of " floor[$1] " %: " $1 " " $3; bad = 1
    }
    $1 != $7 || $2 != $8 || $3 - $9 > 0.5 || $9 - $3 > 0.5 {
        print "not as committed in op.csv: " $0; bad = 1
    }
    END { exit bad }'
