#!/usr/bin/env bash
# scripts/capture/meter.py with a made-up NVML of two GPUs: figures are those of
# the GPU that is asked for, and null where it does not tell. Needs no PyTorch.
set -euo pipefail

out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

# Two GPUs, of 100 and of 200 W. Without NEW, as a driver and a GPU were before
# energy was counted, and before Hopper.
cat >"$out/nvml.c" <<'C'
#include <string.h>
#include <time.h>

struct gpu { unsigned long long watts; } gpus[2] = {{100}, {200}};
int init;

static unsigned long long now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000ull + t.tv_nsec / 1000000;
}

static int give(void **to, int is_one, int is_two)
{
    *to = is_one ? &gpus[0] : is_two ? &gpus[1] : NULL;
    return init && *to ? 0 : 6;
}

int nvmlInit_v2(void) { init = 1; return 0; }
int nvmlDeviceGetHandleByUUID(const char *s, void **to)
{
    return give(to, !strcmp(s, "GPU-one"), !strcmp(s, "GPU-two"));
}
int nvmlDeviceGetHandleByPciBusId_v2(const char *s, void **to)
{
    return give(to, !strcmp(s, "00000000:1b:00.0"),
                !strcmp(s, "0000000a:9c:01.0"));
}
int nvmlSystemGetDriverVersion(char *s, unsigned n)
{
    return n < 80 ? 7 : (strcpy(s, "580.1"), 0);
}
int nvmlDeviceGetClockInfo(struct gpu *g, int which, unsigned *mhz)
{
    *mhz = which == 1 ? 10 * g->watts : which == 2 ? 2619 : 0;
    return 0;
}
int nvmlDeviceGetMaxClockInfo(struct gpu *g, int which, unsigned *mhz)
{
    return nvmlDeviceGetClockInfo(g, which, mhz);
}
int nvmlDeviceGetTemperature(struct gpu *g, int which, unsigned *c)
{
    *c = g->watts / 4;
    return which;
}
int nvmlDeviceGetCurrentClocksThrottleReasons(void *g, unsigned long long *r)
{
    static unsigned long long n = 1;

    (void)g;
    *r = n; /* 1 and 2 in turn */
    n = 3 - n;
    return 0;
}
#ifdef NEW
int nvmlDeviceGetEnforcedPowerLimit(void *g, unsigned *mw)
{
    (void)g;
    *mw = 700000;
    return 0;
}
int nvmlDeviceGetTotalEnergyConsumption(struct gpu *g, unsigned long long *mj)
{
    *mj = now_ms() * g->watts;
    return 0;
}

struct support { unsigned version, yes; };
int nvmlGpmQueryDeviceSupport(void *g, struct support *s)
{
    (void)g;
    s->yes = s->version == 1;
    return 0;
}
struct sample { unsigned long long watts, at; } samples[64];
int nvmlGpmSampleAlloc(struct sample **s)
{
    static int n;

    *s = &samples[n++ % 64];
    return 0;
}
int nvmlGpmSampleGet(struct gpu *g, struct sample *s)
{
    *s = (struct sample){g->watts, now_ms()};
    return 0;
}
struct get {
    unsigned version, n;
    struct sample *sample1, *sample2;
    struct {
        unsigned id;
        int error;
        double value;
        struct { char *short_name, *long_name, *unit; } info;
    } metrics[98];
};
int nvmlGpmMetricsGet(struct get *g)
{
    if (g->version != 1 || g->sample2->at < g->sample1->at)
        return 2;
    for (unsigned i = 0; i < g->n; i++) {
        g->metrics[i].value = g->metrics[i].id * g->sample2->watts / 20.0;
        g->metrics[i].error = g->metrics[i].id == 5 ? 3 : 0; /* not supported */
    }
    return 0;
}
#endif
C
for kind in new old; do
    mkdir "$out/$kind"
    options=()
    [ $kind = old ] || options=(-DNEW)
    "${CC:-cc}" -shared -fPIC "${options[@]}" -o "$out/$kind/libnvidia-ml.so.1" \
        "$out/nvml.c"
done
mkdir "$out/none"
echo "no library" >"$out/none/libnvidia-ml.so.1"

for kind in new old none; do
    LD_LIBRARY_PATH=$out/$kind PYTHONDONTWRITEBYTECODE=1 \
        "${PYTHON:-python3}" - "${SOURCE_DIR:?the source folder}" $kind <<'PYTHON'
import sys, time
from types import SimpleNamespace

source, kind = sys.argv[1:]
sys.path.insert(0, f"{source}/scripts/capture")
import meter

waits = []


def figures(gpu, seconds=0.35):
    return meter.metered(gpu, lambda: time.sleep(0.01),
                         lambda: waits.append(1), seconds)


def near(found, wanted):
    assert abs(found - wanted) <= 0.1 * wanted, f"{found}, want {wanted}"


two = meter.Gpu.of(SimpleNamespace(uuid="two", name="the second"))
found = figures(two)
assert found["seconds"] >= 0.35 and 1 <= found["steps"] <= 35, found
# before, after, and as often as a queue could grow long
assert len(waits) == 2 + found["steps"] // 16, "waits for each step, or never"
if kind == "none":
    assert set(found.values()) == {found["seconds"], found["steps"], None}
    assert set(two.about().values()) == {None}
    sys.exit()

assert found["sm_mhz"] == 2000 and found["memory_mhz"] == 2619, found
assert found["celsius"] == 50 and found["slowed"] == 3, found
about = {"driver": "580.1", "max_sm_mhz": 2000, "max_memory_mhz": 2619,
         "power_limit_w": 700}
if kind == "new":
    near(found["power_w"], 200)
    near(found["joules"], 200 * found["seconds"])
    assert [found[name] for name in meter.GPM] == [0.2, 0.3, None, 1], found
    short = figures(two, 0)
    assert short["steps"] == 1 and short["sm_util"] is None, short
else:
    about["power_limit_w"] = None
    assert all(found[name] is None for name in ("joules", "power_w",
                                                *meter.GPM)), found
assert two.about() == about, two.about()

# By its place on the bus, where a UUID is not known; and none of these.
by_bus = meter.Gpu.of(SimpleNamespace(uuid="three", pci_domain_id=10,
                                      pci_bus_id=0x9c, pci_device_id=1))
assert by_bus.about() == about
one = meter.Gpu.of(SimpleNamespace(pci_domain_id=0, pci_bus_id=0x1b,
                                   pci_device_id=0))
assert one.clock_mhz(meter.CLOCK_SM) == 1000
for other in meter.Gpu.of(SimpleNamespace()), meter.Gpu("GPU-four", "1:2:3.0"):
    assert set(other.about().values()) == {None}, other.about()
    assert figures(other, 0)["sm_mhz"] is None


# A step that fails leaves no thread behind.
def fails():
    raise ValueError


try:
    meter.metered(two, fails, lambda: None, 1)
except ValueError:
    pass
time.sleep(0.01)
assert meter.threading.active_count() == 1
PYTHON
done
echo "meter: ok"
