#!/usr/bin/env bash
# What a recording says that cannot be, or that another part of it gainsays. It is
# dropped and counted, said, or refused; no answer is made of it in silence. Times
# are microseconds.
. "$(dirname "$0")/made.bash"
cd "$folder" || exit 1

# ---- copies without their bytes ------------------------------------------------
# The tensors of the operator tell them. Where none do it is a guess, not covered.
make <<'PYTHON'
from made_steps import *


def copy(name, args, inside=True, cat="gpu_memcpy", kind="Memcpy HtoD (Pinned -> Device)"):
    n = next(number)
    moved = event(cat, kind, 30, 500, 0, 7, device=0, stream=7, correlation=n)
    moved["args"].update(args)
    by = "cudaMemsetAsync" if cat == "gpu_memset" else "cudaMemcpyAsync"
    save(f"copy/{name}.json", [
        mark(1, 0, 1000), *([op("aten::copy_", 10, 30, [[1024, 1024]] * 2)] if inside else []),
        call(by, 15, 10, n), moved, call("cudaDeviceSynchronize", 100, 500)])


copy("bytes", {"bytes": 4 * 2 ** 20})
copy("none", {})
copy("negative", {"bytes": -1})
copy("alone", {}, inside=False)
copy("set", {}, False, "gpu_memset", "Memset (Device)")
PYTHON
for costs in scaled model; do
    run --json --platform h100 --costs $costs copy/bytes.json
    bytes=$(grep -m1 '"memory_copy"' out)
    for name in none negative; do
        run --json --strict --platform h100 --costs $costs copy/$name.json
        want_rc 0
        [ "$(grep -m1 '"memory_copy"' out)" = "$bytes" ] || complain "tensors tell the bytes: $bytes"
    done
    for name in alone set; do
        run --json --platform h100 --costs $costs copy/$name.json
        want_rc 0
        want_out '"coverage": {"ops": 0, "device_time": 0}'
        run --strict --platform h100 --costs $costs copy/$name.json
        want_rc 3
        want_err "no model covers copy 'Mem"
    done
done
finish
