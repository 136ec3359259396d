#!/usr/bin/env bash
# What programs fit to tables of operators: platform files, all GPUs' laws, reports and
# rows held back; every number, of some rows of some GPUs.
. "$(dirname "$0")/answers.bash"
[ -x "$programs/msim-fit" ] || { echo "no msim-fit, which needs XGBoost (libxgboost-dev): skipped"; exit 77; }
[ -n "${MSIM_TRACES:-}" ] || { echo "no folder of measurements (CMake variable MSIM_TRACES): skipped"; exit 77; }

some() { # TABLE MOST COLUMNS KINDS: of each kind (GPU, and these columns) as many rows
    gzip -cd "$MSIM_TRACES/opdata/$1.csv.gz" | awk -F, -v most="$2" -v columns="$3" -v kinds="^($4)\$" '
        BEGIN { n = split(columns, column, " ") }
        NR == 1 { print; next }
        {
            kind = $2
            for (i = 1; i <= n; i++)
                kind = kind " " $column[i]
        }
        kind ~ kinds && seen[kind]++ % 3 == 2 && kept[kind]++ < most' | gzip >"$folder/tables/$1.csv.gz"
}
mkdir "$folder/tables"
large='(H100|A100)-SXM-80GB'
some gemm 60 "3 8" "$large (vidur fp16|sglang bfloat16)|T4 DeepBench fp16|(V100-PCIE-32GB|T4) NeuSight fp32"
some attention 45 "3 5 8" "($large|H200-SXM-141GB) vllm bfloat16 (decode|prefill)"
some vector 50 "3 5" "$large vidur (rope|emb)|(T4|V100-PCIE-32GB) NeuSight softmax"
some collective 30 "3 8 11" "($large|H200-SXM-141GB) .*(all_reduce|sendrecv) .*"
some conv 60 "3 4" "(V100-PCIE-32GB|T4) NeuSight conv2d_fwd|P100 DeepBench .*"
some moe 60 "3 5 6" "$large (vllm|sglang) .*triton.* bfloat16"
some expert_dispatch 50 "4 6" "(H100-SXM-80GB|H200-SXM-141GB) sglang .*normal.*"

sheets=$data/platforms/src/datasheets.json platforms=$folder/platforms
mkdir "$platforms"
fit tables msim-fit --rows "$folder/rows.csv.gz" "$folder/tables" "$sheets" "$platforms" "$folder/made/report.csv"
gzip -cd "$folder/rows.csv.gz" >"$platforms/rows.csv"
sums fit_tables_files "$platforms"
# Of two tables alone: the same, as all else stays.
cp "$committed/fit_tables.txt" "$folder/made/report.csv"
fit tables msim-fit --only conv --only moe --collectives "$data/laws/collectives.json" "$folder/tables" "$sheets" "$platforms" \
    "$folder/made/report.csv"
sums fit_tables_files "$platforms"

fit shared msim-fit-shared "$folder/tables" "$data" "$folder/made/common.json" "$folder/made/left.csv"
finish
