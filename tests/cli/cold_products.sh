#!/usr/bin/env bash
# Weights that the L2 cache does not hold come from device memory: on no platform
# does a thin product of a bare kernel beat the bandwidth of the data sheet by
# what it holds beyond the cache, whatever whole programs teach of wide ones.
. "$(dirname "$0")/lib.bash"

python3 - "${SOURCE_DIR:?the source folder}" "$folder" <<'EOF'
import json
import pathlib
import sys

source, folder = map(pathlib.Path, sys.argv[1:])
for path in sorted((source / "data/platforms").glob("*.json")):
    sheet = json.loads(path.read_text(encoding="utf-8")).get("data_sheet", {})
    known = {k: sheet.get(k, {}).get("value") if isinstance(sheet.get(k), dict)
             else sheet.get(k) for k in ("l2_bytes", "memory_bandwidth")}
    if not all(known.values()):
        continue
    side = int((known["l2_bytes"] * 1.3 / 2) ** 0.5) // 64 * 64 + 64
    rows = [f"{m},{side * a},{side * b},bf16" for m in (1, 2, 8, 16)
            for a, b in ((1, 1), (2, 1), (1, 4))]
    (folder / f"{path.stem}.csv").write_text("m,n,k,dtype\n" + "\n".join(rows) + "\n")
EOF
mapfile -t known < <(cd "$folder" && ls ./*.csv)
[ "${#known[@]}" -gt 40 ] || complain "only ${#known[@]} platforms have a cache and a bandwidth"

for file in "${known[@]}"; do
    name=$(basename "$file" .csv)
    run op --platform "$name" "$folder/$file"
    want_rc 0
    python3 - "$SOURCE_DIR/data/platforms/$name.json" "$folder/out" <<'EOF' ||
import csv
import json
import sys

with open(sys.argv[1], encoding="utf-8") as f:
    bandwidth = json.load(f)["data_sheet"]["memory_bandwidth"]
bandwidth = bandwidth["value"] if isinstance(bandwidth, dict) else bandwidth
fast = False
with open(sys.argv[2], encoding="utf-8") as f:
    for r in csv.DictReader(f):
        m, n, k = (int(r[c]) for c in "mnk")
        rate = 2 * n * k / float(r["predicted_us"]) * 1e6
        if rate > bandwidth:
            print(f"{m} x {n} x {k}: {rate / bandwidth:.2f} of the bandwidth", file=sys.stderr)
            fast = True
sys.exit(fast)
EOF
        complain "$name reads weights faster than its memory"
done

finish
