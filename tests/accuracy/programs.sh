#!/usr/bin/env bash
# Whole programs that others timed: the factors and spreads of
# data/laws/programs.json are what their times give, errors on programs held out
# are as low as promised, and as many of these are inside intervals found
# without them.
# To make the factors again, for instance after a law has changed:
#
#     scripts/accuracy/programs.py --kernels FOLDER --list tests/accuracy/programs.csv
#     MSIM_TIMM=TIMM MSIM_UPDATE_GOLDEN=1 \
#         ctest --test-dir build -R accuracy.programs
#
# Factors of two GPUs rest on models of timm, too (timm_fit.csv), of which there
# are no given traces. TIMM is a folder of them, which this makes (the models are
# those of the column 'group'):
#
#     scripts/accuracy/timm_models.py --kernels FOLDER --keep TIMM --record \
#         --tables '^infer' --models '^(MODEL|MODEL...)$'
#
# Without it their factors are not compared, nor how wide intervals are, which
# follows from all programs together.
. "$(dirname "$0")/lib.bash"

kernels=$MSIM_TRACES/kernels
if [ ! -d "$kernels" ]; then
    echo "no folder of programs '$kernels': skipped"
    exit 77
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

accuracy=$source_dir/tests/accuracy
committed=$source_dir/data/laws/programs.json
cp "$accuracy/programs.csv" "$folder/list.csv"
ln -s "$kernels/et" "$folder/et"
if [ -d "${MSIM_TIMM:-}" ]; then
    ln -s "$MSIM_TIMM" "$folder/timm"
    tail -n +2 "$accuracy/timm_fit.csv" >> "$folder/list.csv"
fi
"${BUILD_DIR:?the build folder}/msim-fit-factors" "$folder/list.csv" \
    "$folder" "$source_dir/data" "$folder/programs.json"
if [ -n "${MSIM_UPDATE_GOLDEN:-}" ]; then
    : "${MSIM_TIMM:?the folder of traces of timm}"
    cp "$folder/programs.json" "$committed"
fi
python3 - "$committed" "$folder/programs.json" "$accuracy/timm_fit.csv" \
    "${MSIM_TIMM:-}" <<'EOF'
import csv
import json
import sys

# Mean error on programs held out, in percent.
FLOORS = {"h100": 14, "h100-pcie": 15, "l40s": 13, "l4": 14, "a100": 18,
          "a100-40gb": 15, "a10g": 16, "a10": 12, "rtx-a6000": 14, "b200": 20,
          "t4": 20, "mi250": 18, "rtx-3090-ti": 15, "rtx-3090": 15,
          "rtx-4090": 13, "rtx-5090": 12}
committed, now = (json.load(open(p))["platforms"] for p in sys.argv[1:3])
# Of these a part of the lines is missing.
partial = set() if sys.argv[4] else \
    {r["platform"] for r in csv.DictReader(open(sys.argv[3]))}
bad = [f"{name}: held out {100 * now[name]['error_held_out']:.1f} %, "
       f"want {floor} at most" for name, floor in FLOORS.items()
       if 100 * now[name]["error_held_out"] > floor]
# Per cent inside, of GPUs with so many programs at least, and of fewer.
INSIDE = {50: (85, 95), 0: (80, 100)}
SCORE = 1.45
for name, p in now.items():
    least, most = INSIDE[50 if p["programs"] >= 50 else 0]
    if not least <= 100 * p["inside"] <= most:
        bad.append(f"{name}: {100 * p['inside']:.1f} % inside, want {least} to "
                   f"{most}")
score = sum(p["times"] * p["score"] for p in now.values()) / \
    sum(p["times"] for p in now.values())
if score > SCORE:
    bad.append(f"mean interval score {score:.2f}, want {SCORE} at most")
for name, p in committed.items():
    # a kink of the score may lie on either side
    if not partial and abs(now[name]["shared"] - p["shared"]) > 0.02:
        bad.append(f"{name} shared: committed {p['shared']}, now "
                   f"{now[name]['shared']}")
    for kind, was in ({} if name in partial else p["time"]).items():
        # rounding differs between C libraries
        if abs(now[name]["time"].get(kind, 0) / was - 1) > 0.02:
            bad.append(f"{name} {kind}: committed {was}, now "
                       f"{now[name]['time'].get(kind)}")
if bad:
    sys.exit("\n".join(bad))
EOF
