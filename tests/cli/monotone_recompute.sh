#!/usr/bin/env bash
# Whoever computes layers again takes no less, also where measured jobs of one
# way and not of the other correct the law: 200 random jobs, three ways each, on
# GPUs with many measured jobs; no answer has a mark for it.
. "$(dirname "$0")/lib.bash"

python3 - "$folder/rows.csv" <<'PY'
import csv, random, sys
rng = random.Random(1)
columns = ["gpus", "tp", "pp", "zero", "micro_batch", "global_batch", "sequence", "precision"]
with open(sys.argv[1], "w", newline="", encoding="utf-8") as f:
    out = csv.writer(f)
    out.writerow(["model", "platform", *columns, "recompute"])
    for _ in range(200):
        gpus = 2 ** rng.randint(0, 10)
        tp = min(rng.choice([1, 1, 2, 4, 8]), gpus)
        pp = min(rng.choice([1, 1, 2, 4]), gpus // tp)
        micro = rng.choice([1, 2, 4])
        batch = rng.choice([1, 2, 4]) * (pp if pp > 1 else 1) * micro * (gpus // tp // pp)
        model = rng.choice(["llama3-8b", "mpt-1b", "mpt-7b", "nanotron-1b", "nanotron-8b", "nanotron-80b", "llama3.2-3b"])
        job = [model, rng.choice(["h100", "h100", "a100"]), gpus, tp, pp, rng.choice([0, 1] if pp > 1 else [0, 1, 2, 3]),
               micro, batch, rng.choice([1024, 2048, 4096]), "bf16"]
        for recompute in ("none", "selective", "full"):
            out.writerow([*job, recompute])
PY
run validate --rows "$folder/rows.csv" --csv
want_rc 0
python3 - "$folder/out" <<'PY' || complain "computing again takes less"
import csv, sys
rows = list(csv.DictReader(open(sys.argv[1], encoding="utf-8")))
assert len(rows) == 600
wrong = asked = 0
for k in range(0, 600, 3):
    jobs = rows[k:k + 3]
    if any(r["reason"] for r in jobs):
        continue
    none, some, full = (float(r["predicted_ms"]) for r in jobs)
    asked += 1
    if not none <= some * 1.001 <= full * 1.002 or any("recompute" in r["guards"] for r in jobs):
        wrong += 1
        print(none, some, full, jobs[0])
assert asked > 150 and not wrong, (asked, wrong)
PY
finish
