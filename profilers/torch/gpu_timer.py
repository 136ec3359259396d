"""Times of calls on a GPU that hold nothing of the host's.

A run is, on one stream: read a buffer of twice the L2 cache, so that nothing of
the operands is left there, and nothing that would be written back while the
call runs; sleep on the device until everything is queued; the call, between two
events. If the device began before all of it was queued, it is run again.

PyTorch comes as an argument, so that something else can stand in for it where
there is no GPU.
"""

import time

# As in profilers/cuda/cuda_timer.c: beyond twice what the host takes, since a
# thread may be interrupted; and how often a run that began early is run again.
COVER_US, COVER_MAX_US = 20, 20000
AGAIN = 3
# As in profilers/cuda/cuda_base.c: a clock that fell while nothing ran rises
# under work, in steps of some milliseconds.
WAKE_S, WAKE_STEPS, STEADY = 5e-3, 60, 3
STILL_HIGH, RISEN = 0.97, 1.01
JUNK_LEAST = 64 << 20  # bytes
L2_BYTES = 40 << 20  # where the device does not say
CYCLES = 1000000  # some 500 us, of which the events' own are less than 1 %


def l2_bytes(properties):
    return getattr(properties, "L2_cache_size", 0) or L2_BYTES


def current(torch):
    """The GPU that PyTorch runs on."""
    cache = l2_bytes(torch.cuda.get_device_properties("cuda"))
    return Gpu(torch.cuda, torch.zeros(max(2 * cache, JUNK_LEAST) // 4,
                                       device="cuda"))


class Gpu:
    """Its clock, and a buffer `junk` that takes the place of all else in its
    caches."""

    def __init__(self, cuda, junk, now=time.perf_counter):
        self.cuda = cuda
        self.junk = junk
        self.now = now
        self.begin, self.end = (cuda.Event(enable_timing=True)
                                for _ in range(2))
        self.mhz = 0  # the highest clock seen, at which no sleep is too short
        self.awake_mhz = 0

    def flush(self):
        self.junk.sum()

    def elapsed_us(self):
        self.end.synchronize()
        return self.begin.elapsed_time(self.end) * 1e3

    def clock_mhz(self):
        self.flush()
        self.begin.record()
        self.cuda._sleep(CYCLES)
        self.end.record()
        mhz = CYCLES / self.elapsed_us()
        self.mhz = max(self.mhz, mhz)
        return mhz

    def work(self):
        """All multiprocessors, for some milliseconds."""
        until = self.now() + WAKE_S
        while self.now() < until:
            self.flush()

    def wake(self):
        """Work until the clock stops rising, unless it is still up."""
        if self.awake_mhz and \
                self.clock_mhz() >= STILL_HIGH * self.awake_mhz:
            return
        best, steady = 0, 0
        for _ in range(WAKE_STEPS):
            self.work()
            mhz = self.clock_mhz()
            steady = 0 if mhz > RISEN * best else steady + 1
            best = max(best, mhz)
            if steady == STEADY:
                break
        self.awake_mhz = best


class Timer:
    """Of one experiment's calls: the microseconds of each."""

    def __init__(self, gpu, warm=False):
        self.gpu = gpu
        self.warm = warm
        self.cover_us = None  # not known yet; 0: the call waits for the device
        self.uncovered = 0  # times that may hold some of the host's

    def call_us(self, call):
        """What the host takes."""
        begin = self.gpu.now()
        call()
        return (self.gpu.now() - begin) * 1e6

    def cover(self, host_us):
        self.cover_us = min(2 * host_us + COVER_US, COVER_MAX_US)

    def first(self, call):
        """Twice, as it loads code, which may take long enough for the clock to
        fall."""
        for _ in range(2):
            self.cover(self.call_us(call))
            self.gpu.cuda.synchronize()
        self.gpu.wake()

    def run(self, call):
        """Its time, and whether all was queued before it began."""
        gpu = self.gpu
        if not self.warm:
            gpu.flush()
        if self.cover_us:
            gpu.cuda._sleep(int(self.cover_us * gpu.mhz))
        gpu.begin.record()
        host_us = self.call_us(call)
        gpu.end.record()
        is_covered = not gpu.begin.query()
        if self.cover_us: # a call that is late is given twice the time
            self.cover(host_us if is_covered else self.cover_us)
        return gpu.elapsed_us(), is_covered

    def __call__(self, call):
        if self.cover_us is None:
            self.first(call)
        us, is_covered = self.run(call)
        for _ in range(AGAIN):
            if is_covered or not self.cover_us:
                break
            us, is_covered = self.run(call)
        if not is_covered:
            self.cover_us = 0
            self.uncovered += 1
        return us
