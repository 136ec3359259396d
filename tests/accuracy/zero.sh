#!/usr/bin/env bash
# Every real trace without any GPU work: no wait is left, and an iteration
# takes what its threads take by themselves, to the integer.
. "$(dirname "$0")/lib.bash"

dependencies zero
