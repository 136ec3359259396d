#!/usr/bin/env bash
# training.sh FOLDER [OUT]: fit the constants of the step law to the measured
# training jobs of FOLDER (jobs/, opdata/), and write them with the errors of
# rows that fits saw and did not see, and with how many jobs they call fitting into
# their GPUs. Without OUT the shipped files are written: data/laws/steps.json,
# tests/accuracy/training.csv and fits.csv.
#
# Which program a source ran, over which network, is in frameworks.csv beside
# this file: the tables of jobs do not say it.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
traces=${1:?the folder that holds jobs/ and opdata/}
laws=${2:-$root/data/laws}
errors=${2:-$root/tests/accuracy}
tables=$(mktemp -d)
trap 'rm -rf "$tables"' EXIT

ln -s "$(realpath -- "$traces")/jobs/models" "$tables/models"
python3 "$root/scripts/accuracy/with_framework.py" \
    "$traces/jobs/training_jobs.csv.gz" >"$tables/training_jobs.csv"
python3 "$root/scripts/accuracy/with_framework.py" \
    "$traces/opdata/training_steps.csv.gz" training_steps \
    >"$tables/training_steps.csv"
"${MSIM_FIT_STEPS:-$root/build/msim-fit-steps}" "$root/data" \
    "$tables/training_jobs.csv" \
    "$tables/training_steps.csv" \
    --out "$laws/steps.json" --errors "$errors/training.csv" \
    --fits "$errors/fits.csv"
