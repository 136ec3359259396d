#!/usr/bin/env bash
# Steps that `parallel` makes of a described one, beside what synth writes of the
# same strategies, against the committed table.
# scripts/accuracy/parallel_described.py --out tests/accuracy/parallel.csv renews it.
. "$(dirname "$0")/lib.bash"
in_turn core/rewrite plan/synth

exec python3 "$source_dir/scripts/accuracy/parallel_described.py" \
    "${MYSTIQUE_SIM:?the program}" --check
