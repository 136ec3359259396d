"""A GPU that is made up, behind the functions of torch.cuda that time it.

It has one stream, a clock that is counted and not waited for, and a cache: what
one kernel has written another one has to write back to memory. Its clock rises
while it works, by 3 MHz a millisecond, and falls after twenty of them without
any.
"""

LAUNCH_US, CACHE = 5, 50e6  # bytes
FULL_MHZ, IDLE_MHZ = 1980, 345
BYTES_PER_US = 3e6


class Cuda:
    def __init__(self):
        self.host = self.free = 0  # microseconds
        self.mhz, self.dirty = IDLE_MHZ, 0

    def now(self):
        self.host += 0.1
        return self.host * 1e-6

    def launch(self, us, host_us=LAUNCH_US):
        """`us` at the full clock."""
        self.host += host_us
        start = max(self.host, self.free)
        if start - self.free > 20000:
            self.mhz = IDLE_MHZ
        us *= FULL_MHZ / self.mhz
        self.free = start + us
        self.mhz = min(FULL_MHZ, self.mhz + us * 3e-3)

    def kernel(self, us, reads=0, writes=0, host_us=LAUNCH_US):
        evicted = min(self.dirty, reads + writes)
        self.launch(us + evicted / BYTES_PER_US, host_us)
        self.dirty = min(self.dirty - evicted + writes, CACHE)

    def _sleep(self, cycles):
        self.launch(cycles / FULL_MHZ)

    def synchronize(self):
        self.host = max(self.host, self.free)

    def Event(self, enable_timing):
        assert enable_timing
        return Event(self)


class Event:
    def __init__(self, gpu):
        self.gpu = gpu

    def record(self):
        self.gpu.launch(0, 1)
        self.at = self.gpu.free

    def query(self):
        return self.at <= self.gpu.host

    def synchronize(self):
        self.gpu.host = max(self.gpu.host, self.at)

    def elapsed_time(self, end):
        return (end.at - self.at) * 1e-3


class Junk:
    """A tensor of twice the cache."""

    def __init__(self, gpu):
        self.gpu = gpu

    def sum(self):
        self.gpu.kernel(35, reads=2 * CACHE, host_us=15)

    def zero_(self):
        self.gpu.kernel(35, writes=2 * CACHE, host_us=5)
