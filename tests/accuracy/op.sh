#!/usr/bin/env bash
# How good `op` is on rows held back by whole shapes: fits everything again,
# from the tables in the folder of measurements, and compares with the
# committed files. This is the command that regenerates tests/accuracy/op.csv,
# data/platforms/*.json, and the tables and charts of README.md and docs/accuracy
# (with "update" as its argument).
#
# Floors, mean error over cells on held-back rows: gemm 7.5 %, attention 9 %,
# conv 20 %, vector 4.5 %, moe 18 %, dispatch 20 %, collectives inside a node
# with whole rank counts held back 13.5 %, with sizes at known rank counts 5 %,
# with the whole GPU held back 25 %; between nodes 25 %, 9 %, and with the whole
# cluster held back 50 %. What comes out may differ by rounding between C
# libraries, so the means are compared, not the bytes.
#
# Collectives have a line for each way of holding back: collective (numbers of
# ranks), collective_sizes, collective_cluster (all of a cluster) and
# collective_gpu (all of a GPU). Between nodes the lower quartile over logs is
# judged, of logs that data/platforms names and calls misconfigured too.
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
    "$fit" --rows "$folder/rows.csv.gz" "$MSIM_TRACES/opdata" \
        "$platforms/src/datasheets.json" "$platforms" "$committed"
    "$source_dir/scripts/accuracy/accuracy_readme.py"
    "$source_dir/scripts/accuracy/accuracy_charts.py" --rows "$folder/rows.csv.gz"
    exit
fi
# CI fits the tables of a minute or two again; the other three take eleven.
only=()
if [ "${MSIM_FUZZ_SHARE:-1}" != 1 ]; then
    only=(--only conv --only expert_dispatch --only moe --only vector)
    cp "$platforms"/*.json "$committed" "$folder"
fi
"$fit" "${only[@]}" "$MSIM_TRACES/opdata" "$platforms/src/datasheets.json" \
    "$folder" "$folder/op.csv"

# family: cells, mean of the means, of the law's alone, mean coverage and width
# of the intervals, their score over the error. Layers of experts and dispatch
# are fitted by kernel; a cell here is a GPU, stack and type of them all. A cell
# of collectives is a GPU, stack and link.
summary() { # REPORT
    awk -F, 'NR > 1 {
            family = $3 ~ /^collective/ && $5 ~ /nodes/ ? $3 "_nodes" : $3
            split($5, kind, "/")
            cell = family "," (family == "moe" ? $2 "," $4 "," kind[1] : \
                               family ~ /^collective/ ? \
                                   $2 "," $4 "," kind[1] : \
                               family == "dispatch" ? $2 "," $4 : NR)
            rows[cell] += $6; e[cell] += $6 * $10; law[cell] += $6 * $9
            inside[cell] += $6 * $14; wide[cell] += $6 * $15
            score[cell] += $6 * $16
        }
        END {
            for (c in rows) {
                split(c, of, ",")
                f = of[1]
                n[f]++; me[f] += e[c] / rows[c]; ml[f] += law[c] / rows[c]
                mi[f] += inside[c] / rows[c]; mw[f] += wide[c] / rows[c]
                ms[f] += score[c] / rows[c]
            }
            for (f in n)
                printf "%s %d %.2f %.2f %.1f %.2f %.2f\n", f, n[f],
                    me[f] / n[f], ml[f] / n[f], mi[f] / n[f], mw[f] / n[f],
                    ms[f] / n[f]
        }' "$1" | sort
}

if command -v python3 >/dev/null; then
    python3 "$source_dir/scripts/accuracy/accuracy_charts.py" --check
fi
echo "family cells mean% law-alone% inside% high/low score/error (rows held back)"
summary "$folder/op.csv" | tee "$folder/now"
summary "$committed" >"$folder/then"
paste -d' ' "$folder/now" "$folder/then" | awk '
    BEGIN {
        floor["gemm"] = 7.5; floor["attention"] = 9; floor["conv"] = 20
        floor["vector"] = 4.5; floor["collective"] = 13.5
        floor["collective_sizes"] = 5; floor["collective_gpu"] = 25
        floor["collective_nodes"] = 25; floor["collective_sizes_nodes"] = 9
        floor["collective_cluster_nodes"] = 50
        floor["moe"] = 18; floor["dispatch"] = 20
    }
    $1 in floor && $3 > floor[$1] {
        print "above the floor of " floor[$1] " %: " $1 " " $3; bad = 1
    }
    $1 != $8 || $2 != $9 || $3 - $10 > 0.5 || $10 - $3 > 0.5 {
        print "not as committed in op.csv: " $0; bad = 1
    }
    END { exit bad }'
