#!/usr/bin/env bash
# The laws, held by what they predict: some hundred works (tests/works/*.csv, a
# file for each kind of table) on six platforms whose fits differ, against the
# committed tests/works/predicted/*.csv, a file for each platform. Every printed
# digit must be the same. A change that is meant to move predictions regenerates
# them, and its commit says which rows moved and why:
#
#     MYSTIQUE_SIM=build/mystique-sim bash tests/cli/works.sh update
. "$(dirname "$0")/lib.bash"

works=$(cd "$(dirname "$0")/../works" && pwd)
committed=$works/predicted
platforms='a100 h100 v100 t4 l40s mi300x'

# Each row without its inputs: table, its name, time, low, high and model.
predict() { # PLATFORM TABLE
    local inputs
    inputs=$(head -1 "$works/$2.csv" | tr -cd , | wc -c)
    run op --platform "$1" "$works/$2.csv"
    want_rc 0
    sed 1d "$folder/out" | awk -F, -v table="$2" -v inputs="$inputs" '{
        row = table "," $1
        for (i = inputs + 2; i <= NF; i++)
            row = row "," $i
        print row
    }'
}

predict_all() { # PLATFORM
    echo "table,work,predicted_us,low_us,high_us,model"
    for table in "$works"/*.csv; do
        predict "$1" "$(basename "$table" .csv)"
    done
}

for platform in $platforms; do
    predict_all "$platform" >"$folder/$platform.csv"
    if [ "${1:-}" = update ]; then
        mkdir -p "$committed"
        cp "$folder/$platform.csv" "$committed/$platform.csv"
        continue
    fi
    cmp -s "$folder/$platform.csv" "$committed/$platform.csv" && continue
    complain "tests/works/predicted/$platform.csv says else"
    diff "$committed/$platform.csv" "$folder/$platform.csv" >"$folder/moved"
    echo "on $platform $(grep -c '^>' "$folder/moved") predictions moved" \
        "(<: committed, >: now):" >&2
    grep '^[<>]' "$folder/moved" | sort -k2 -t' ' -s | head -20 >&2
done
[ ! -s "$complaints" ] || echo "where that was meant: MYSTIQUE_SIM=$sim bash tests/cli/works.sh update" >&2

finish
