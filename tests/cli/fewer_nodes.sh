#!/usr/bin/env bash
# Collectives over nodes of a GPU whose file has rows of several machines: a
# group that nobody ran takes no more than one that was measured over more nodes,
# with as many GPUs on each, and no less than one over fewer; a group that one
# of the machines ran is that machine's.
. "$(dirname "$0")/lib.bash"

python3 - "$folder/rows.csv" <<'EOF'
import sys

with open(sys.argv[1], "w", encoding="utf-8") as f:
    f.write("collective,interconnect,ranks,nodes,bytes,dtype\n")
    for power in range(24, 34):
        for what in ("all_reduce", "all_gather", "reduce_scatter"):
            for inside in (1, 2, 4, 8):
                for nodes in (2, 3, 4, 5, 8, 10):
                    f.write(f"{what},,{inside * nodes},{nodes},{2 ** power},fp32\n")
        f.write(f"all_reduce,NVLink4+IB-NDR,16,2,{2 ** power},fp32\n")
EOF

run op --platform h100 "$folder/rows.csv"
want_rc 0
python3 - "$folder/out" >"$folder/wrong" <<'EOF'
import csv
import sys

with open(sys.argv[1], encoding="utf-8") as f:
    rows = list(csv.DictReader(f))
us, named = {}, {}
for r in rows:
    at = r["collective"], int(r["bytes"]), int(r["ranks"]) // int(r["nodes"]), int(r["nodes"])
    (named if r["interconnect"] else us)[at] = float(r["predicted_us"])
for (what, size, inside, nodes), took in us.items():
    if took > us[what, size, inside, 10] * 1.0001 and 2 ** 28 <= size <= 2 ** 32:
        print(f"{what} of {size} over {nodes} nodes of {inside}: {took} us, over 10 "
              f"{us[what, size, inside, 10]}")
    if (what, size, inside, nodes) in named and took != named[what, size, inside, nodes]:
        print(f"{what} of {size} over {nodes} nodes of {inside}: {took} us, where it ran "
              f"{named[what, size, inside, nodes]}")
if len(named) != 10:
    print("no row of a link by its name")
EOF
cat "$folder/wrong" >&2
[ ! -s "$folder/wrong" ] || complain "groups over fewer nodes take longer"

finish
