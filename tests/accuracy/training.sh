#!/usr/bin/env bash
# Steps of measured training jobs: errors of what fits of the step law saw and
# did not see are as committed. A change that is meant to move them makes both
# files again, and its commit says why:
#
#     scripts/accuracy/training.sh FOLDER
#
# A search for constants ends a little elsewhere on another CPU, so errors may
# differ by half a point, and a few jobs may be called otherwise.
. "$(dirname "$0")/lib.bash"
in_turn

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
MSIM_FIT_STEPS=${BUILD_DIR:?}/msim-fit-steps \
    "$source_dir/scripts/accuracy/training.sh" "$MSIM_TRACES" "$folder"
python3 - "$folder/training.csv" "$source_dir/tests/accuracy/training.csv" \
    "$folder/fits.csv" "$source_dir/tests/accuracy/fits.csv" <<'PY'
import csv
import sys

new, old = ({(row["figure"], row["source"], row["split"]): row for row in csv.DictReader(open(path))}
            for path in sys.argv[1:3])
bad = new.keys() ^ old.keys()
for key in new.keys() & old.keys():
    for column in ("mean", "median"):
        if abs(float(new[key][column]) - float(old[key][column])) > 0.5:
            bad.add((*key, column, new[key][column], old[key][column]))
new, old = ({(row["source"], row["split"], row["jobs"]): row for row in csv.DictReader(open(path))}
            for path in sys.argv[3:])
bad |= new.keys() ^ old.keys()
for key in new.keys() & old.keys():
    for column in ("yes", "edge", "no", "refused"):
        if abs(int(new[key][column]) - int(old[key][column])) > 5:
            bad.add((*key, column, new[key][column], old[key][column]))
for line in sorted(map(str, bad)):
    print("not as committed:", line)
sys.exit(bool(bad))
PY
