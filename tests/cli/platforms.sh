#!/usr/bin/env bash
# platforms: the list, one platform with its provenance, and unknown names.
. "$(dirname "$0")/lib.bash"

run platforms
want_rc 0
want_no_err
for name in a100 a100-40gb a100-pcie-40gb v100 v100-pcie t4 l40s h100 h200 \
    b200; do
    grep -q "^$name " "$folder/out" || complain "no '$name' in the list"
done

run platforms --json
want_rc 0
want_out '"schema": "mystique-sim/platforms/1"'
if command -v python3 >/dev/null; then
    python3 - "$folder/out" <<'PYTHON' || complain "not as it should be"
import json, sys

listed = json.load(open(sys.argv[1]))["platforms"]
names = [p["name"] for p in listed]
assert names == sorted(names) and len(names) >= 10, names
assert all(p["aliases"] and p["memory_bytes"] > 5e9 for p in listed)
PYTHON
fi

run platforms a100
want_rc 0
want_out "NVIDIA A100-SXM4-80GB"
want_out "Data sheet"
want_out "Sources"
grep -Eq '^  gemm +[0-9]+ +[0-9]+ +[0-9.]+ ' "$folder/out" ||
    complain "no errors of products in the summary"
[[ $out != *"bandwidth_efficiency"* ]] || complain "constants are shown"
run platforms a100 --constants
want_out "bandwidth_efficiency 0."
# A page is at most 100 columns wide, the list too.
for name in h100 b200 rtx-pro-6000 a40 mi300x ""; do
    run platforms $name
    awk 'length > 100 { n++ } END { exit n > 0 }' "$folder/out" ||
        complain "lines of more than 100 columns: $name"
done
run platforms a100
run platforms "nvidia h100 80gb hbm3" --json
want_rc 0
want_out '"schema":'
want_out '"mystique-sim/platform/1"'
want_out '"error_held_back"'
want_out '"families"'
[[ $out != *'"splits"'* ]] || complain "the trees are shown"

# A GPU without rows of its own says whose answer for it, and how good they
# are; a file of a dozen numbers is one, with what its generation has.
run platforms b300
want_rc 0
want_out "inherited"
sed -n '/^Inherited/,/^Sources/p' "$folder/out" >"$folder/inherited"
grep -Eq '^  vllm +[0-9.]+ +x +1\.[0-9.-]+ +b200 +.*half' "$folder/inherited" ||
    complain "b300 inherits no products of b200"
run platforms b300 --json
want_rc 0
want_out '"inherited"'
want_out '"error_left_out"'
cat >"$folder/next.json" <<'JSON'
{"name": "next", "generation": "blackwell", "data_sheet": {
  "fp32_flops": 9e13, "fp16_flops": 3e15, "sms": 160, "memory_bytes": 3e11,
  "l2_bytes": 1.5e8, "memory_bandwidth": 1e13}}
JSON
run platforms "$folder/next.json"
want_rc 0
grep -Eq ' x [0-9.-]+ +(b200|gb200) ' "$folder/out" ||
    complain "no kin: $out"
want_out "Not in the file, so taken from b200"
want_out "the file names no source"
printf 'm,n,k,dtype\n4096,4096,4096,half\n' >"$folder/one.csv"
run op --platform "$folder/next.json" "$folder/one.csv"
want_rc 0
grep -Eq ',half,[0-9.]+,[0-9.]+,[0-9.]+,gemm$' "$folder/out" ||
    complain "a new GPU has no prediction: $out"

# A figure that a file gives is one that a GPU can have; 0 of a rate says that
# there is no unit for the type.
figure() { # NAME VALUE
    sed "s|\"sms\"|\"$1\": $2, &|" "$folder/next.json" >"$folder/figure.json"
    run op --platform "$folder/figure.json" "$folder/one.csv"
}
for wrong in "fp8_flops -1" 'fp4_flops "x"' "boost_clock 1e30" "boost_clock 0" \
    "power_limit -5" "dies 0" "trace_factor 0.1" "kernel_floor_us 0" \
    "link_bandwidth 1e30" "bf16_flops -1" "usable_memory_bytes {}"; do
    # shellcheck disable=SC2086 # a name and a value
    figure $wrong
    want_rc 3
    want_err "'${wrong% *}' is missing or wrong, want a number from"
done
figure fp8_flops 0
want_rc 0

run platforms no-such-gpu
want_no_out
want_err "'no-such-gpu', known are: a10, a100"
[[ $err != *"did you mean"* ]] || complain "a hint that is none: $err"
[ "$rc" -eq 2 ] || [ "$rc" -eq 3 ] || complain "exit code $rc"
# A mistyped name is answered as --platform answers it.
run platforms h1000
want_rc 2
want_no_out
want_err "unknown platform 'h1000', did you mean 'h100'?"
hinted=$err
run --platform h1000 absent.json
[ "$err" = "$hinted" ] || complain "not as 'platforms h1000': $err"
echo '{"name": 1}' >"$folder/broken.json"
run platforms "$folder/broken.json"
want_rc 3
want_err "broken.json"

finish
