#!/usr/bin/env bash
# Every real trace simulated from its own kernel times: how far steps and
# starts of kernels are from the measured ones, and kernels twice as long.
. "$(dirname "$0")/lib.bash"

dependencies steps
dependencies double
