#!/usr/bin/env bash
# info --csv: a row for each operator, label, call and activity of a GPU; and, where
# pyarrow and DuckDB are there, that Parquet files made of it (scripts/fleet) give the
# figures of info and select.
. "$(dirname "$0")/lib.bash"

source=${SOURCE_DIR:?the source folder}
event() { # CAT NAME PID TID TS DUR ARGS
    printf '{"ph": "X", "cat": "%s", "name": "%s", "pid": %s, "tid": %s, "ts": %s,
        "dur": %s, "args": {%s}}' "$@"
}
gpu='"device": 1, "stream": 7, "correlation":'
printf '{"distributedInfo": {"rank": 3, "world_size": 4}, "traceEvents": [%s]}' "$(
    event user_annotation "ProfilerStep#1" 9 9 100 60 ""
    for one in "cpu_op,aten::mm,9,9,101,20," "cpu_op,aten::mul,9,9,130,9," \
        "cuda_runtime,cudaLaunchKernel,9,9,105,2,\"correlation\": 1" \
        "cuda_runtime,cudaMemcpyAsync,9,9,132,2,\"correlation\": 2" \
        "kernel,=cmd(a),0,7,110,5,$gpu 1" \
        "gpu_memcpy,Memcpy HtoD,0,7,140.5,1,$gpu 2~ \"bytes\": 64"; do
        IFS=, read -r cat name pid tid ts dur args <<<"$one"
        echo ,
        event "$cat" "$name" "$pid" "$tid" "$ts" "$dur" "${args/\~/,}"
    done
)" >"$folder/trace.json"
run info --csv "$folder/trace.json"
want_rc 0
cat >"$folder/want" <<'CSV'
rank,kind,name,family,operator,start_ps,duration_ps,device,stream,process,thread,bytes
3,label,ProfilerStep#1,,,0,60000000,,,9,9,
3,operator,aten::mm,gemm,,1000000,20000000,,,9,9,
3,operator,aten::mul,pointwise,,30000000,9000000,,,9,9,
3,call,cudaLaunchKernel,,,5000000,2000000,,,9,9,
3,call,cudaMemcpyAsync,,,32000000,2000000,,,9,9,
3,kernel,'=cmd(a),gemm,aten::mm,10000000,5000000,1,7,,,
3,copy,Memcpy HtoD,copy,aten::mul,40500000,1000000,1,7,,,64
CSV
diff "$folder/out" "$folder/want" >&2 || complain "other rows"
usage_error "got both --csv and --json" info --csv --json x

# An execution trace has no times.
run info --csv "$source/data/traces/bert/et"
want_rc 0
want_out "0,operator,aten::embedding,embedding,,,,,,"
# All ranks, one after the other.
run info --csv "$source/data/traces/dlrm-ddp-2ranks"
want_rc 0
[ "$(cut -d, -f1 "$folder/out" | uniq | xargs)" = "rank 0 1" ] ||
    complain "other ranks"

if python3 -c 'import pyarrow, duckdb' 2>/dev/null; then
    export MYSTIQUE_SIM=$sim
    real=${MSIM_TRACES:+$MSIM_TRACES/traces/ranking-a100}
    # shellcheck disable=SC2086 # none where there are no real ones
    python3 "$source/scripts/fleet/check_parquet.py" "$folder/trace.json" \
        "$source/data/traces" $real || complain "DuckDB says else"
    python3 "$source/scripts/fleet/to_parquet.py" "$folder/columns" \
        "$folder/trace.json" >"$folder/out" || complain "no Parquet"
    python3 - "$folder/columns" <<'PYTHON' || complain "other columns"
import sys, pyarrow.parquet
table = pyarrow.parquet.read_table(sys.argv[1] + "/trace.json.parquet").to_pylist()
assert table[5]["name"] == "=cmd(a)" and table[5]["stream"] == 7, table[5]
assert table[0]["bytes"] is None and table[6]["bytes"] == 64, table
PYTHON
else
    echo "no pyarrow, or no DuckDB: Parquet is skipped"
fi

finish
