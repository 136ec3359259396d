"""Record an execution trace of a job on the meta device, and clean it.

What PyTorch's observer writes of tensors of meta_gpu.py differs from a GPU's in
two ways, and both are put right here: a node of its own stands for the entry of
each operator into Python ('PythonDispatchMode', since PyTorch 2.9), and tensors
say 'meta' where C++ is asked.
"""

import gzip
import io
import os
import re
import tempfile

from torch.profiler import ExecutionTraceObserver, record_function

NODE = re.compile(r'"id": (\d+), "name": "((?:[^"\\]|\\.)*)", '
                  r'"ctrl_deps": (\d+)')
ENTRY = {"PythonDispatchMode", "PythonSubclass"}


def entries(path):
    """id -> parent of each node that only enters Python."""
    found = {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            if '"name": "Python' in line:
                node = NODE.search(line)
                if node and node.group(2) in ENTRY:
                    found[node.group(1)] = node.group(3)
    return found


def kept(file, gone):
    """Lines of a trace without the nodes that are gone; those below them move
    up to what was above."""
    def adopted(node):
        to = node.group(3)
        while to in gone:
            to = gone[to]
        return f'"id": {node.group(1)}, "name": "{node.group(2)}", ' \
               f'"ctrl_deps": {to}'

    begun, skipped = None, False
    for line in file:
        if line.startswith("      {"):
            begun = line
        elif begun:
            skipped = NODE.search(line).group(1) in gone
            if not skipped:
                yield begun
                yield NODE.sub(adopted, line)
            begun = None
        elif not skipped:
            yield line
        elif line.startswith("      }"):
            skipped = False


def clean(source, target):
    """Copy a trace without its entries, on the device that it stands for."""
    gone = entries(source)
    os.makedirs(os.path.dirname(os.path.abspath(target)), exist_ok=True)
    with open(source, encoding="utf-8") as plain, open(target, "wb") as raw, \
            gzip.GzipFile("", "wb", 4, raw, mtime=0) as packed, \
            io.BufferedWriter(packed, 1 << 20) as out:
        for line in kept(plain, gone):
            out.write(line.replace('"meta"', '"cuda:0"').encode())


def record(job, steps, target):
    """Write the trace of `steps` steps; one before them is not recorded."""
    job.step()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "et.json")
        os.environ.pop(
            "ENABLE_PYTORCH_EXECUTION_TRACE_SAVE_INTEGRAL_TENSOR_RANGE", None)
        observer = ExecutionTraceObserver()
        observer.register_callback(path)
        observer.start()
        try:
            for n in range(steps):
                with record_function(f"ProfilerStep#{n}"):
                    job.step()
        finally:
            observer.stop()
            observer.unregister_callback()
        clean(path, target)
