#!/usr/bin/env python3
"""A run really made: the same training with quantised all-to-alls.

    scripts/accuracy/quantised.py --traces FOLDER [--binary build/mystique-sim]

A TorchRec pipeline was recorded on four V100 with messages of fp32 and, again,
with its fp16 codec. The first recording is changed by `quantise_comms`, with
nothing known of the second. Compared are, of an iteration: which kernels run
and how often, the time of the kernels that the codec adds and of all kernels,
that of the all-to-alls, and the mean iteration.

A kernel's name is compared by the functor in it where the trace has no kernel
of that template: the rest of a name differs between versions of PyTorch.

Fails where a kernel's number differs, where the mean iteration is off by more
than 8 % (two unquantised runs differ by as much), or the kernels by 5 %.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

BASE, REAL = "torchrec-4xv100", "torchrec-4xv100-quantised-comms"
FUNCTORS = ("launch_clamp_scalar", "compare_scalar_kernel<float>",
            "logical_and_kernel_cuda", "where_kernel_impl",
            "FillFunctor<float>")
STEP, KERNELS = 8, 5  # %


def functor(name):
    for part in FUNCTORS:
        if part in name:
            return part
    if "direct_copy_kernel_cuda" in name and "unrolled" in name:
        return "cast from " + ("half" if "Half" in name else
                               "float" if "float" in name else "another")
    return name


def whatif(binary, trace, changes):
    with tempfile.NamedTemporaryFile("w", suffix=".json") as f:
        json.dump({"scenarios": [{"name": "x", "changes": changes}]}, f)
        f.flush()
        out = subprocess.run(
            [binary, "whatif", "--kernels", "--json", f.name, trace],
            check=True, capture_output=True, text=True).stdout
    return json.loads(out)


def by_functor(row):
    found = {}
    for k in row["kernels"]:
        at = found.setdefault(functor(k["name"]), [0, 0])
        at[0] += k["calls"]
        at[1] += k["predicted_us"]
    return found


def all_to_all(kernels):
    return sum(us for name, (_, us) in kernels.items() if "SendRecv" in name)


def line(what, base, got, want):
    error = 100 * (got / want - 1)
    print(f"{what}: base {base / 1000:.2f} ms, predicted {got / 1000:.2f}, "
          f"measured {want / 1000:.2f}: {error:+.1f} %")
    return abs(error)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--traces", type=pathlib.Path, required=True)
    parser.add_argument("--binary", type=pathlib.Path,
                        default=pathlib.Path("build/mystique-sim"))
    args = parser.parse_args()
    folder = args.traces / "traces"
    changed = whatif(args.binary, folder / BASE, [{"quantise_comms": "fp16"}])
    real = whatif(args.binary, folder / REAL, [])["base"]
    base, got = changed["base"], changed["scenarios"][0]
    of_base, of_got, of_real = map(by_functor, (base, got, real))
    wrong = [f"{of_got.get(n, [0])[0]:g} for {of_real.get(n, [0])[0]:g} of {n}"
             for n in sorted(of_got.keys() | of_real.keys())
             if abs(of_got.get(n, [0])[0] - of_real.get(n, [0])[0]) > 1e-9]
    added = [n for n in of_got
             if of_got[n][0] > of_base.get(n, [0])[0]]
    print(f"{len(of_got)} names of kernels, {len(wrong)} with another number"
          + "".join(f"\n  {w}" for w in wrong))
    line("kernels of the codec", 0,
         sum(of_got[n][1] - of_base.get(n, [0, 0])[1] for n in added),
         sum(of_real[n][1] - of_base.get(n, [0, 0])[1] for n in added
             if n in of_real))
    line("all-to-alls", *map(all_to_all, (of_base, of_got, of_real)))
    kernels = line("kernels", *(r["kernel_us"]["predicted"]
                                for r in (base, got, real)))
    step = line("iteration", *(r["iteration_us"]["predicted"]
                               for r in (base, got, real)))
    ok = not wrong and step <= STEP and kernels <= KERNELS
    print("ok" if ok else "FAIL")
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main())
