"""What a GPU does while steps run, by NVML alone, which comes with its driver.

    gpu = meter.Gpu.of(torch.cuda.get_device_properties("cuda"))
    figures = meter.metered(gpu, step, torch.cuda.synchronize, seconds=2)

`metered` takes steps in a row, waits for the device after every sixteenth (those
of CUDA graphs are queued in no time), and returns

    seconds, steps             from the first step's begin to the last one's end
    joules, power_w            energy by the device's own counter; over seconds
    sm_mhz, memory_mhz         clocks, mean of ten readings a second
    celsius                    the last reading
    slowed                     reasons for a lower clock that were ever given,
                               the bits of NVML's nvmlClocksEventReasons
    sm_util, sm_occupancy      share of the time in which a multiprocessor had
                               work, and of the threads that it has room for
    tensor_util, dram_util     share of the time in which tensor cores worked,
                               and of the memory's bandwidth

What the device does not tell is None: all but the first two without NVML, the
last four before Hopper, or in less than a tenth of a second.
"""

import ctypes
import statistics
import threading
import time

QUEUED = 16 # steps, before the device is waited for: a queue has no end
EVERY_S = 0.1 # between readings; what NVML wants between two samples, too
OK, CLOCK_SM, CLOCK_MEMORY, TEMPERATURE_GPU = 0, 1, 2, 0 # of nvml.h
GPM = {"sm_util": 2, "sm_occupancy": 3, "tensor_util": 5, "dram_util": 10}


class Metric(ctypes.Structure): # nvmlGpmMetric_t
    _fields_ = [("id", ctypes.c_uint), ("error", ctypes.c_int),
                ("value", ctypes.c_double), ("names", ctypes.c_char_p * 3)]


class Metrics(ctypes.Structure): # nvmlGpmMetricsGet_t, version 1
    _fields_ = [("version", ctypes.c_uint), ("count", ctypes.c_uint),
                ("first", ctypes.c_void_p), ("last", ctypes.c_void_p),
                ("metrics", Metric * 1024)] # more than any header has


class Support(ctypes.Structure): # nvmlGpmSupport_t, version 1
    _fields_ = [("version", ctypes.c_uint), ("yes", ctypes.c_uint)]


class Gpu:
    """One of NVML's; without it, or without NVML, all answers are None."""

    def __init__(self, uuid=None, bus_id=None):
        self.handle = ctypes.c_void_p()
        try:
            self.library = ctypes.CDLL("libnvidia-ml.so.1")
        except OSError:
            self.library = None
        self.is_there = self.call("nvmlInit_v2") and (
            self.is_found("nvmlDeviceGetHandleByUUID", uuid) or
            self.is_found("nvmlDeviceGetHandleByPciBusId_v2", bus_id))

    @classmethod
    def of(cls, properties):
        """The one of PyTorch's device properties: CUDA may number GPUs in
        another order, and hide some."""
        uuid, bus_id = getattr(properties, "uuid", None), None
        if hasattr(properties, "pci_bus_id"):
            bus_id = (f"{properties.pci_domain_id:08x}:"
                      f"{properties.pci_bus_id:02x}:"
                      f"{properties.pci_device_id:02x}.0")
        return cls(uuid and f"GPU-{uuid}", bus_id)

    def is_found(self, call, name):
        return bool(name) and self.call(call, name.encode(),
                                        ctypes.byref(self.handle))

    def call(self, name, *arguments):
        """Whether there is such a function, and it went well."""
        function = getattr(self.library, name, None)
        return function is not None and function(*arguments) == OK

    def ask(self, name, kind, *which):
        value = kind()
        there = self.is_there and self.call(name, self.handle, *which,
                                            ctypes.byref(value))
        return value.value if there else None

    def clock_mhz(self, which):
        return self.ask("nvmlDeviceGetClockInfo", ctypes.c_uint, which)

    def max_clock_mhz(self, which):
        return self.ask("nvmlDeviceGetMaxClockInfo", ctypes.c_uint, which)

    def celsius(self):
        return self.ask("nvmlDeviceGetTemperature", ctypes.c_uint,
                        TEMPERATURE_GPU)

    def slowed(self):
        bits = self.ask("nvmlDeviceGetCurrentClocksEventReasons",
                        ctypes.c_ulonglong)
        return bits if bits is not None else self.ask( # before 12.2
            "nvmlDeviceGetCurrentClocksThrottleReasons", ctypes.c_ulonglong)

    def joules(self):
        """Since the driver was loaded."""
        mj = self.ask("nvmlDeviceGetTotalEnergyConsumption",
                      ctypes.c_ulonglong)
        return mj and mj / 1e3

    def driver(self):
        text = ctypes.create_string_buffer(80)
        return text.value.decode() if self.is_there and self.call(
            "nvmlSystemGetDriverVersion", text, len(text)) else None

    def about(self):
        limit_mw = self.ask("nvmlDeviceGetEnforcedPowerLimit", ctypes.c_uint)
        return {"driver": self.driver(),
                "max_sm_mhz": self.max_clock_mhz(CLOCK_SM),
                "max_memory_mhz": self.max_clock_mhz(CLOCK_MEMORY),
                "power_limit_w": limit_mw and limit_mw / 1e3}

    # ---- GPM: counters of the whole device, Hopper and later ---------------

    def has_counters(self):
        support = Support(version=1)
        return self.is_there and self.call(
            "nvmlGpmQueryDeviceSupport", self.handle, ctypes.byref(support)
        ) and support.yes == 1

    def counters(self):
        """A sample of them, or None."""
        sample = ctypes.c_void_p()
        if not self.has_counters() or not self.call("nvmlGpmSampleAlloc",
                                                    ctypes.byref(sample)):
            return None
        return sample if self.call("nvmlGpmSampleGet", self.handle, sample) \
            else None

    def between(self, first, last):
        """Shares by name, of the time between two samples."""
        found = Metrics(version=1, count=len(GPM), first=first, last=last)
        for metric, number in zip(found.metrics, GPM.values()):
            metric.id = number
        if not first or not last or not self.call("nvmlGpmMetricsGet",
                                                  ctypes.byref(found)):
            return dict.fromkeys(GPM)
        return {name: metric.value / 100 if metric.error == OK else None
                for name, metric in zip(GPM, found.metrics)}


class Watch(threading.Thread):
    """Reads clocks, ten times a second, beside the steps."""

    def __init__(self, gpu):
        super().__init__(daemon=True)
        self.gpu = gpu
        self.ended = threading.Event()
        self.sm, self.memory, self.slowed = [], [], []

    def run(self):
        while not self.ended.wait(EVERY_S):
            self.sm.append(self.gpu.clock_mhz(CLOCK_SM))
            self.memory.append(self.gpu.clock_mhz(CLOCK_MEMORY))
            self.slowed.append(self.gpu.slowed())

    def end(self):
        self.ended.set()
        self.join()
        slowed = [bits for bits in self.slowed if bits is not None]
        together = 0
        for bits in slowed:
            together |= bits
        return {"sm_mhz": mean(self.sm), "memory_mhz": mean(self.memory),
                "celsius": self.gpu.celsius(),
                "slowed": together if slowed else None}


def mean(readings):
    there = [r for r in readings if r is not None]
    return statistics.fmean(there) if there else None


def metered(gpu, step, wait, seconds):
    wait()
    watch = Watch(gpu)
    watch.start()
    try:
        first, joules, begin = gpu.counters(), gpu.joules(), time.perf_counter()
        steps, took = 0, 0
        while steps == 0 or took < seconds:
            step()
            steps += 1
            if steps % QUEUED == 0:
                wait()
            took = time.perf_counter() - begin
        wait()
        took = time.perf_counter() - begin
        last, used = gpu.counters(), gpu.joules()
    finally:
        clocks = watch.end()
    used = None if joules is None or used is None else used - joules
    return {"seconds": took, "steps": steps, "joules": used,
            "power_w": used and used / took, **clocks,
            **gpu.between(first, last if took >= EVERY_S else None)}
