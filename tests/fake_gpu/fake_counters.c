/*
 * tests/fake_gpu/fake_counters.c - CUPTI's hardware counters on the made-up
 * GPU: what its work moved and computed between push and pop.
 *
 * Calls out of order are refused, as is a count while activities are recorded.
 */
#include "profilers/cuda/cupti/cupti_range.h"
#include "tests/fake_gpu/fake.h"

#include <string.h>

#define PASSES  3
#define CALL_NS 20000

/* Metrics that a GH100 has, of those that are asked for, and what they are:
 * each weight of profilers/counters.c is undone. */
static const struct {
    const char *name;
    enum { OTHER, READ, WRITTEN, L2, FP64, FP32, TENSOR } what;
    double part;
} METRICS[] = {
    {"dram__bytes_read", READ, 1},
    {"dram__bytes_write", WRITTEN, 1},
    {"dram__throughput", OTHER, 0},
    {"lts__t_bytes", L2, 1},
    {"sm__sass_thread_inst_executed_op_dadd_pred_on", OTHER, 0},
    {"sm__sass_thread_inst_executed_op_dmul_pred_on", OTHER, 0},
    {"sm__sass_thread_inst_executed_op_dfma_pred_on", FP64, 0.5},
    {"sm__sass_thread_inst_executed_op_fadd_pred_on", OTHER, 0},
    {"sm__sass_thread_inst_executed_op_fmul_pred_on", OTHER, 0},
    {"sm__sass_thread_inst_executed_op_ffma_pred_on", FP32, 0.5},
    {"sm__sass_thread_inst_executed_op_hadd_pred_on", OTHER, 0},
    {"sm__sass_thread_inst_executed_op_hmul_pred_on", OTHER, 0},
    {"sm__sass_thread_inst_executed_op_hfma_pred_on", OTHER, 0},
    {"sm__inst_executed_pipe_tensor", OTHER, 0},
    {"sm__ops_path_tensor_src_fp16_dst_fp32", TENSOR, 1},
    {"sm__ops_path_tensor_src_int8", OTHER, 0},
};
#define N_METRICS (sizeof(METRICS) / sizeof(*METRICS))

static struct {
    enum { OFF, ENABLED, READY, STARTED, PUSHED, POPPED } state;
    int passes; /* that were run */
    struct fake_figures before, counted;
    char handle;
} counters;

#define CALL(state_wanted)                                                     \
    do {                                                                       \
        if (!fake_call(__func__, CALL_NS))                                     \
            return CUPTI_ERROR_UNKNOWN;                                        \
        if (!(state_wanted))                                                   \
            return CUPTI_ERROR_INVALID_OPERATION;                              \
    } while (0)

#define ALWAYS true

/* These are found by name alone (cupti_range.h has no prototypes). */
#define X(function, type, last) CUptiResult function(struct type *p);
MSIM_CUPTI_RANGE_MAP(X)
#undef X

/* ---- what a chip has ----------------------------------------------------- */

CUptiResult cuptiProfilerInitialize(struct cupti_begin *p)
{
    (void)p;
    CALL(ALWAYS);
    return CUPTI_SUCCESS;
}

CUptiResult cuptiDeviceGetChipName(struct cupti_chip_name *p)
{
    CALL(ALWAYS);
    p->name = "GH100";
    return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerDeviceSupported(struct cupti_supported *p)
{
    CALL(ALWAYS);
    p->supported = p->architecture = p->sli = p->virtual_gpu = p->confidential =
        CUPTI_CAN;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerGetCounterAvailability(struct cupti_available *p)
{
    CALL(p->context);
    if (p->image)
        memset(p->image, 1, p->image_size);
    p->image_size = 64;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerHostInitialize(struct cupti_host_open *p)
{
    CALL(ALWAYS);
    if (strcmp(p->chip, "GH100") != 0)
        return CUPTI_ERROR_INVALID_PARAMETER;
    p->host = &counters.handle;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerHostDeinitialize(struct cupti_host_close *p)
{
    CALL(p->host == &counters.handle);
    return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerHostGetBaseMetrics(struct cupti_host_list *p)
{
    static const char *names[N_METRICS];

    CALL(p->host);
    for (size_t i = 0; i < N_METRICS; i++)
        names[i] = METRICS[i].name;
    p->names = names;
    p->n = N_METRICS;
    return CUPTI_SUCCESS;
}

/* "NAME.sum"; N_METRICS where it is none. */
static size_t find(const char *name)
{
    size_t i = 0;

    while (i < N_METRICS &&
           (strncmp(name, METRICS[i].name, strlen(METRICS[i].name)) != 0 ||
            strcmp(name + strlen(METRICS[i].name), ".sum") != 0))
        i++;
    return i;
}

CUptiResult cuptiProfilerHostConfigAddMetrics(struct cupti_host_add *p)
{
    CALL(p->host);
    for (size_t i = 0; i < p->n; i++)
        if (find(p->names[i]) == N_METRICS)
            return CUPTI_ERROR_INVALID_PARAMETER;
    return CUPTI_SUCCESS;
}

CUptiResult
cuptiProfilerHostGetConfigImageSize(struct cupti_host_config_size *p)
{
    CALL(p->host);
    p->config_size = 64;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerHostGetConfigImage(struct cupti_host_config *p)
{
    CALL(p->host && p->config && p->config_size == 64);
    memset(p->config, 2, p->config_size);
    return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerHostGetNumOfPasses(struct cupti_host_passes *p)
{
    CALL(p->config && p->config[0] == 2);
    p->n = PASSES;
    return CUPTI_SUCCESS;
}

static double value_of(size_t i)
{
    const struct fake_figures *c = &counters.counted;

    switch (METRICS[i].what) {
    case READ:
        return c->read;
    case WRITTEN:
        return c->written;
    case L2:
        return c->read + c->written;
    case FP64:
        return METRICS[i].part * c->flops[FAKE_FLOPS_FP64];
    case FP32:
        return METRICS[i].part * c->flops[FAKE_FLOPS_FP32];
    case TENSOR:
        return c->flops[FAKE_FLOPS_TENSOR];
    default:
        return 0;
    }
}

CUptiResult cuptiProfilerHostEvaluateToGpuValues(struct cupti_host_evaluate *p)
{
    CALL(p->host && p->data && p->data[0] == 4);
    for (size_t i = 0; i < p->n; i++)
        p->values[i] = value_of(find(p->names[i]));
    return CUPTI_SUCCESS;
}

/* ---- ranges -------------------------------------------------------------- */

CUptiResult cuptiRangeProfilerEnable(struct cupti_range_enable *p)
{
    CALL(counters.state == OFF && p->context && !fake_cupti_is_recording());
    counters.state = ENABLED;
    p->profiler = &counters.handle;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiRangeProfilerDisable(struct cupti_range_plain *p)
{
    CALL(p->profiler && counters.state != OFF);
    counters.state = OFF;
    return CUPTI_SUCCESS;
}

CUptiResult
cuptiRangeProfilerGetCounterDataSize(struct cupti_range_data_size *p)
{
    CALL(p->profiler && p->ranges == 1 && p->nodes == 1);
    p->data_size = 64;
    return CUPTI_SUCCESS;
}

CUptiResult
cuptiRangeProfilerCounterDataImageInitialize(struct cupti_range_data *p)
{
    CALL(p->profiler && p->data_size == 64);
    memset(p->data, 3, p->data_size);
    return CUPTI_SUCCESS;
}

static uint8_t *image; /* that gets what is decoded */

CUptiResult cuptiRangeProfilerSetConfig(struct cupti_range_config *p)
{
    CALL(counters.state == ENABLED && p->data && p->data[0] == 3 &&
         p->config[0] == 2 && p->range == CUPTI_RANGE_BY_USER &&
         p->replay == CUPTI_REPLAY_BY_USER && p->ranges == 1);
    image = p->data;
    counters.state = READY;
    counters.passes = 0;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiRangeProfilerStart(struct cupti_range_plain *p)
{
    CALL(p->profiler && counters.state == READY);
    counters.state = STARTED;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiRangeProfilerPushRange(struct cupti_range_push *p)
{
    CALL(p->profiler && p->name && counters.state == STARTED);
    counters.before = fake_figures(0);
    counters.state = PUSHED;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiRangeProfilerPopRange(struct cupti_range_plain *p)
{
    struct fake_figures now = fake_figures(0), *c = &counters.counted;

    CALL(p->profiler && counters.state == PUSHED);
    c->read = now.read - counters.before.read;
    c->written = now.written - counters.before.written;
    for (int i = 0; i < 4; i++)
        c->flops[i] = now.flops[i] - counters.before.flops[i];
    counters.state = POPPED;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiRangeProfilerStop(struct cupti_range_stop *p)
{
    CALL(p->profiler && counters.state == POPPED);
    counters.state = READY;
    p->all = ++counters.passes >= PASSES;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiRangeProfilerDecodeData(struct cupti_range_decode *p)
{
    CALL(p->profiler && counters.passes >= PASSES);
    image[0] = 4;
    p->dropped = 0;
    return CUPTI_SUCCESS;
}
