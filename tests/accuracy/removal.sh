#!/usr/bin/env bash
# What every dependency rule is worth on the real traces, against the
# committed table. scripts/accuracy/dependencies.py removal --out
# tests/accuracy/removal.csv regenerates it.
. "$(dirname "$0")/lib.bash"
in_turn

dependencies removal --check
