"""Every case of kernel_cases.py as a GPU would run it, without one.

    cases_on_meta.py SOURCE_DIR ROUND OUT.json.gz

writes an execution trace in which each case is a range of its name, and prints
the names.
"""

import sys

source, number, out = sys.argv[1:]
sys.path[:0] = [f"{source}/profilers/torch", f"{source}/scripts/capture"]

import torch  # noqa: E402
import kernel_cases  # noqa: E402
import meta_capture  # noqa: E402
import meta_gpu  # noqa: E402
from torch.profiler import record_function  # noqa: E402


class Tensors:
    def __call__(self, shape, dtype):
        return torch.empty(shape, dtype=dtype)

    def ids(self, shape, below):
        return torch.zeros(shape, dtype=torch.int64)


class Cases:
    def __init__(self):
        self.calls = {}
        for case in kernel_cases.CASES:
            if case.gpu:
                continue
            with meta_gpu.MetaGpu.building():
                self.calls[case.name] = case.make(
                    kernel_cases.Point(case, int(number), Tensors()))

    def step(self):
        for name, call in self.calls.items():
            with record_function(name):
                call()


with torch.no_grad(), meta_gpu.MetaGpu():
    cases = Cases()
    meta_capture.record(cases, 1, out)
print("\n".join(cases.calls))
