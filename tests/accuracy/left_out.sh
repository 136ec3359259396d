#!/usr/bin/env bash
# How good predictions are for a GPU that nobody has measured: every GPU with
# rows in the tables is left out, and predicted from its data sheet, the cells
# of its generation and the laws common to all GPUs, these fitted without its
# generation; then its generation is left out, too. This is the command that
# regenerates tests/accuracy/left_out.csv, data/laws/common.json and the table
# in docs/accuracy (with "update" as its argument).
#
# Floors, mean error over the cells that a GPU of the same generation has: gemm
# 17 %, attention 17 %, vector 13 %, collective 17 %. Collectives that the host
# launches one by one ("eager") say more of hosts than of GPUs and have no
# floor. What comes out may differ by rounding between C libraries, so the means
# are compared, not the bytes.
set -euo pipefail
. "$(dirname "$0")/../turn.bash"
[ -n "${1:-}" ] || in_turn

if [ -z "${MSIM_TRACES:-}" ]; then
    echo "no folder of measurements (CMake variable MSIM_TRACES): skipped"
    exit 77
fi
if [ "${MSIM_SANITIZE:-0}" = 1 ]; then
    echo "takes too long under the sanitizers: skipped"
    exit 77
fi
source_dir=${SOURCE_DIR:?the source folder}
fit=${BUILD_DIR:?the build folder}/msim-fit-shared
if [ ! -x "$fit" ]; then
    echo "no msim-fit-shared, which needs XGBoost (libxgboost-dev): skipped"
    exit 77
fi
data=$source_dir/data
committed=$source_dir/tests/accuracy/left_out.csv
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

if [ "${1:-}" = update ]; then
    "$fit" "$MSIM_TRACES/opdata" "$data" "$data/laws/common.json" "$committed"
    "$source_dir/scripts/accuracy/accuracy_readme.py"
    exit
fi
"$fit" "$MSIM_TRACES/opdata" "$data" "$folder/common.json" "$folder/now.csv"

# family, what is left out: cells, mean of the means, mean coverage of the
# intervals. Of GPUs left out those cells count that their generation answers
# for.
summary() { # REPORT
    awk -F, 'NR > 1 && ($2 == "its generation" || $7 == "yes") {
            if ($5 ~ /_eager$/)
                $3 = "eager-" $3
            family = $3 " " ($2 == "the GPU" ? "GPU" : "generation")
            n[family]++; e[family] += $9; inside[family] += $14
            wide[family] += $15
        }
        END {
            for (f in n)
                printf "%s %d %.2f %.1f %.2f\n", f, n[f], e[f] / n[f],
                    inside[f] / n[f], wide[f] / n[f]
        }' "$1" | sort
}

echo "family left-out cells mean% inside% high/low"
summary "$folder/now.csv" | tee "$folder/now"
summary "$committed" >"$folder/then"
paste -d' ' "$folder/now" "$folder/then" | awk '
    BEGIN {
        floor["gemm"] = 17; floor["attention"] = 17
        floor["vector"] = 13; floor["collective"] = 17
    }
    $2 == "GPU" && $1 in floor && $4 > floor[$1] {
        print "above the floor of " floor[$1] " %: " $1 " " $4; bad = 1
    }
    $1 != $7 || $2 != $8 || $3 != $9 || $4 - $10 > 1 || $10 - $4 > 1 {
        print "not as committed in left_out.csv: " $0; bad = 1
    }
    END { exit bad }'
