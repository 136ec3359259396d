#!/usr/bin/env bash
# calibrate --from: a platform file from traces that are there.
. "$(dirname "$0")/lib.bash"

# Products of half precision with ROWS x 1024 by 1024 x 1024, as a table and as
# a trace of an A100 on which each takes FACTOR times what the models say.
table() { # ROWS...: a table of such products
    echo "gpu,framework,op,dtype,m,n,k,batch"
    for rows in "$@"; do echo "a100,pytorch,linear,half,$rows,1024,1024,1"; done
}
times() { # ROWS...: what models of $platform say, a line each
    table "$@" >"$folder/rows.csv"
    run op --platform "$platform" "$folder/rows.csv"
    want_rc 0
    tail -n +2 "$folder/out" | cut -d, -f9
}
trace() { # FACTOR ROWS...: that trace
    local factor=$1
    shift
    times "$@" >"$folder/times"
    printf '%s\n' "$@" | paste - "$folder/times" | awk -v factor="$factor" '
        BEGIN {
            printf "{\"schemaVersion\":1,\"deviceProperties\":[{\"id\":0,\"name\":\"NVIDIA A100-SXM4-80GB\",\"totalGlobalMem\":85000000000,\"computeMajor\":8,\"computeMinor\":0,\"numSms\":108}],\"traceEvents\":["
        }
        {
            n++
            printf "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::mm\",\"pid\":1,\"tid\":1,\"ts\":%.3f,\"dur\":10,\"args\":{\"Input Dims\":[[%d,1024],[1024,1024]],\"Input type\":[\"c10::Half\",\"c10::Half\"]}},", at, $1
            printf "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\",\"pid\":1,\"tid\":1,\"ts\":%.3f,\"dur\":2,\"args\":{\"correlation\":%d}},", at + 2, n
            printf "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"gemm\",\"pid\":0,\"tid\":7,\"ts\":%.3f,\"dur\":%.3f,\"args\":{\"correlation\":%d,\"device\":0,\"stream\":7}},", at + 10, factor * $2, n
            at += factor * $2 + 20
        }
        END { printf "{\"ph\":\"M\",\"name\":\"end\"}]}" }'
}

platform=a100
trace 0.8 64 256 1024 4096 16384 65536 131072 >"$folder/a.json"
trace 0.8 128 512 2048 8192 32768 262144 >"$folder/b.json"

run calibrate --from "$folder/a.json" "$folder/b.json" --out "$folder/mine.json"
want_rc 0
want_no_err
want_out "by a100, as learned from all traces"
want_out "written: $folder/mine.json"
[[ $out =~ mean\ error:\ 2[45]\.[0-9]\ %\ by\ a100,\ ([0-9.]+)\ %\ learned,\ ([0-9.]+)\ %\ held\ out ]] ||
    complain "0.8 times as long is not predicted 25 % too long: $out"
# Six rows stand against one more of the models as they are: at most a seventh of
# the logarithm of 0.8 is left, 3.3 %.
awk -v e="${BASH_REMATCH[2]:-99}" 'BEGIN { exit !(e < 3.3) }' ||
    complain "held out ${BASH_REMATCH[2]:-nothing} %, want less than 3.3"

run calibrate --from "$folder/a.json" "$folder/b.json" --out "$folder/mine.json" --json
want_rc 0
want_out '"base": "a100"'
[[ $out =~ \"error_base\":\ 0\.2[45] ]] || complain "JSON has another error: $out"

# Shapes that were in no trace take 0.8 times as long, too: no lower clock does
# that, so that it is the factors.
times 768 12288 98304 >"$folder/before"
platform=$folder/mine.json
times 768 12288 98304 | paste "$folder/before" - | awk '
    { r = $2 / $1; if (r < 0.77 || r > 0.83) { print; bad = 1 } }
    END { exit bad }' || complain "other shapes are not 0.8 times as long"

# A trace of that GPU is of this machine: its times are taken as they are.
run --platform "$folder/mine.json" --json "$folder/a.json"
want_rc 0
want_out '"costs": "measured"'
run platforms "$folder/mine.json"
want_rc 0
want_out "learned from these traces"
want_out "a.json"

# What cannot be learned from, and what users mistype.
run calibrate --from "$MSIM_DATA/traces/gpt2" --out "$folder/no.json"
want_rc 3
want_err "no trace has kernels of operators with shapes"
[ ! -e "$folder/no.json" ] || complain "a file is written nevertheless"
sed 's/NVIDIA A100-SXM4-80GB/NVIDIA H100 80GB HBM3/; s/numSms":108/numSms":132/' \
    "$folder/b.json" >"$folder/h100.json"
run calibrate --from "$folder/a.json" "$folder/h100.json" --out "$folder/no.json"
want_rc 2
want_err "ran on h100, and traces before it on a100"
run calibrate --from "$folder/a.json" --budget 3 --out "$folder/no.json"
want_rc 2
want_err "--budget is of no use with --from"
run calibrate "$folder/a.json" --out "$folder/no.json"
want_rc 2
want_err "calibrate takes no operand without --from"
run calibrate --from "$folder/a.json"
want_rc 2
want_err "--out is missing"
finish
