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
want_out "data sheet"
want_out "held"
run platforms "nvidia h100 80gb hbm3" --json
want_rc 0
want_out '"schema":'
want_out '"mystique-sim/platform/1"'
want_out '"error_held_back"'
[[ $out != *'"splits"'* ]] || complain "the trees are shown"

run platforms no-such-gpu
want_no_out
want_err "'no-such-gpu', known are: a100"
[ "$rc" -eq 2 ] || [ "$rc" -eq 3 ] || complain "exit code $rc"
echo '{"name": 1}' >"$folder/broken.json"
run platforms "$folder/broken.json"
want_rc 3
want_err "broken.json"

finish
