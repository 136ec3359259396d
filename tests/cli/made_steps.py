"""Steps of one kernel each, and what else tests of made recordings are made of."""
import itertools
from made_run import *

A100 = [{"id": 0, "name": "NVIDIA A100-SXM4-80GB", "totalGlobalMem": 85 * 10 ** 9,
         "computeMajor": 8, "computeMinor": 0, "numSms": 108}]
number = itertools.count(1)


def launch(name, ts, start, us, kernel_name, stream=7, about={}, **where):
    """An operator of 30 whose kernel begins at `start`."""
    n = next(number)
    return [op(name, ts, 30, [[64, 64]] * 2, **where),
            call("cudaLaunchKernel", ts + 5, 10, n, **where),
            kernel(kernel_name, start, us, n, stream=stream, **about)]


def step(ts, number, us=100):
    """A step of 1000: a kernel, for which the host waits."""
    return [mark(number, ts, 1000), *launch("aten::mm", ts + 10, ts + 30, us, "gemm"),
            call("cudaDeviceSynchronize", ts + 100, us)]


def steps(first=1, n=3):
    """Kernels of 100, 110, 120."""
    return sum((step(1000 * i, first + i, 100 + 10 * i) for i in range(n)), [])


def save(path, events, **top):
    write_kineto(path, events, deviceProperties=A100, **top)
