#!/usr/bin/env bash
# profilers/torch/gpu_timer.py on a made-up GPU: neither what the host takes to
# launch nor lines of the cache that have to be written back are part of a time,
# nor a clock that was low. Needs no PyTorch.
set -euo pipefail

PYTHONDONTWRITEBYTECODE=1 "${PYTHON:-python3}" - \
    "${SOURCE_DIR:?the source folder}" <<'PYTHON'
import sys

for folder in "profilers/torch", "tests/kernels":
    sys.path.insert(0, f"{sys.argv[1]}/{folder}")
import gpu_timer
import made_up_gpu
from made_up_gpu import CACHE, FULL_MHZ


def made_up():
    cuda = made_up_gpu.Cuda()
    return cuda, gpu_timer.Gpu(cuda, made_up_gpu.Junk(cuda), cuda.now)


def near(found, wanted, within=0.02):
    assert abs(found - wanted) <= within * wanted, f"{found}, want {wanted}"


# The clock was low, and is full when something is timed; after a pause, too.
cuda, gpu = made_up()
near(gpu_timer.Timer(gpu)(lambda: cuda.kernel(10)), 10)
near(gpu.mhz, FULL_MHZ)
begin = cuda.host
near(gpu_timer.Timer(gpu)(lambda: cuda.kernel(10)), 10)
assert cuda.host - begin < 2000, "woke a GPU that was awake"
cuda.host += 1e6
near(gpu_timer.Timer(gpu)(lambda: cuda.kernel(10)), 10)

# The host takes twenty times as long as the device; at first for longer still.
cuda, gpu = made_up()
timer, calls = gpu_timer.Timer(gpu), []


def slow_host():
    calls.append(cuda.host)
    cuda.kernel(10, host_us=200 if len(calls) > 1 else 1e5)


for _ in range(5):
    near(timer(slow_host), 10)
assert len(calls) == 2 + 5 and not timer.uncovered
assert calls[-1] - calls[-2] < 1000, "sleeps as long as the first call took"

# The thread is interrupted in one call: run again, and not for ever.
timer, calls = gpu_timer.Timer(gpu), []


def interrupted():
    calls.append(cuda.host)
    cuda.kernel(10, host_us=2000 if len(calls) == 5 else 20)


for _ in range(8):
    near(timer(interrupted), 10)
assert len(calls) > 2 + 8 and not timer.uncovered
assert calls[-1] - calls[-2] < 1000, "sleeps as long as an interruption"

# A call that takes longer from now on is given longer.
timer, calls = gpu_timer.Timer(gpu), []


def slower():
    calls.append(1)
    cuda.kernel(10, host_us=20 if len(calls) < 5 else 500)


for _ in range(8):
    near(timer(slower), 10)
assert not timer.uncovered

# Lines that others wrote are not written back by what is timed.
timer = gpu_timer.Timer(gpu)


def writer():
    cuda.kernel(10, reads=CACHE, writes=CACHE)


for _ in range(5):
    near(timer(writer), 10)
assert cuda.dirty == CACHE

# Warm: nothing is read in between.
timer = gpu_timer.Timer(gpu, warm=True)
near(timer(lambda: cuda.kernel(10)), 10)
gpu.flush = None
near(timer(lambda: cuda.kernel(10)), 10)

# A call that waits for the device cannot be covered: said, and not slept for.
cuda, gpu = made_up()
timer = gpu_timer.Timer(gpu)


def waits():
    cuda.kernel(10)
    cuda.synchronize()
    cuda.host += 50


for _ in range(20):
    us = timer(waits)
assert 10 < us < 100 and timer.uncovered == 20, (us, timer.uncovered)
begin = cuda.host
timer(waits)
assert cuda.host - begin < 500, "sleeps in vain"
PYTHON
echo "gpu_timer: ok"
