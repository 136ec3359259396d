#!/usr/bin/env bash
# scripts/accuracy/accuracy_charts.py: pictures from rows as msim-fit --rows writes them,
# and words where a file is something else.
. "$(dirname "$0")/lib.bash"

if ! command -v python3 >/dev/null || ! command -v gnuplot >/dev/null; then
    echo "no python3 or no gnuplot: skipped"
    exit 77
fi
charts=${SOURCE_DIR:?the source folder}/scripts/accuracy/accuracy_charts.py
last=accuracy_charts.py

# Forty products 10 % too long, all inside their intervals; forty transfers
# between nodes, which have a chart of their own.
{
    echo "platform,table_gpu,family,framework,cell,fold,flops,bytes,"\
"measured_us,predicted_us,low_us,high_us"
    for i in $(seq 40); do
        echo "p,G,gemm,s,half,0,${i}e9,1e6,$i,$i.1,0.5,99"
        echo "p,G,collective_sizes,nccl,IB/nodes,2,0,${i}e6,$i,$i,$i,$i"
    done
} | gzip >"$folder/rows.csv.gz"

# size_of FILE: its width and height, of a PNG.
size_of() {
    python3 -c 'import struct, sys
head = open(sys.argv[1], "rb").read(24)
assert head[:8] == b"\x89PNG\r\n\x1a\n", head
print(*struct.unpack(">II", head[16:]))' "$1"
}

python3 "$charts" --rows "$folder/rows.csv.gz" --out "$folder/png" \
    --format png >"$folder/said" || complain "exit code $?"
for name in gemm collective-nodes; do
    [ "$(size_of "$folder/png/$name.png")" = "1100 500" ] ||
        complain "$name.png is no picture of 1100 by 500"
done
for name in traces fits; do
    size_of "$folder/png/$name.png" >/dev/null || complain "no $name.png"
done
[ ! -e "$folder/png/moe.png" ] || complain "a chart of rows that are not there"
grep -q "gemm.png: [0-9]* kB" "$folder/said" || complain "says nothing"

grep -q '^gemm,1,40,' "$folder/png/drawn.csv" || complain "not told what is drawn"
python3 "$charts" --check --out "$folder/png" >"$folder/said" 2>&1 &&
    complain "charts of made-up rows are taken for those of op.csv"
grep -q '^gemm: drawn with a mean error of ' "$folder/said" ||
    complain "not told which chart is of another fit"

python3 "$charts" --rows "$folder/rows.csv.gz" --out "$folder/svg" \
    --format svg >/dev/null || complain "exit code $?"
grep -q "Matrix products, whole shapes held out" "$folder/svg/gemm.svg" ||
    complain "no title"
grep -q "40 rows in 1 fits" "$folder/svg/gemm.svg" || complain "no subtitle"

echo "no rows" | gzip >"$folder/other.csv.gz"
for bad in other.csv.gz said missing.csv.gz; do
    if python3 "$charts" --rows "$folder/$bad" --out "$folder/bad" \
        2>"$folder/err"; then
        complain "'$bad' is taken for rows"
    fi
    grep -q "^accuracy_charts.py: .*$bad" "$folder/err" ||
        complain "no words about '$bad': $(cat "$folder/err")"
done

finish
