/*
 * core/graph/occupancy.c - how much of a GPU a kernel fills, and for how long.
 */
#include "core/graph/contention.h"

#include <math.h>

/*
 * CUDA C++ Programming Guide 12.9, section "Compute Capabilities", table
 * "Technical Specifications per Compute Capability": threads, blocks, 32-bit
 * registers and bytes of shared memory of an SM. Reserved: shared memory that
 * the system takes for itself in every block (8.0 and later: 1 KiB, same
 * guide). Units: in which shared memory is given out (CUDA occupancy
 * calculator).
 */
struct sm {
    uint32_t major, minor;
    uint32_t threads, blocks, registers, shared, reserved, shared_unit;
};

static const struct sm SMS[] = {
    {5, 2, 2048, 32, 65536, 98304, 0, 256},
    {6, 0, 2048, 32, 65536, 65536, 0, 256},
    {6, 1, 2048, 32, 65536, 98304, 0, 256},
    {7, 0, 2048, 32, 65536, 98304, 0, 256},
    {7, 5, 1024, 16, 65536, 65536, 0, 256},
    {8, 0, 2048, 32, 65536, 167936, 1024, 128},
    {8, 6, 1536, 16, 65536, 102400, 1024, 128},
    {8, 9, 1536, 24, 65536, 102400, 1024, 128},
    {9, 0, 2048, 32, 65536, 233472, 1024, 128},
    {10, 0, 2048, 32, 65536, 233472, 1024, 128},
    {10, 3, 2048, 32, 65536, 233472, 1024, 128},
    {12, 0, 1536, 24, 65536, 102400, 1024, 128},
};

#define WARP          32
#define PARTITIONS    4   /* of an SM, each with a quarter of its registers */
#define REGISTER_UNIT 256 /* in which a warp is given registers */

static const struct sm *find(const struct msim_gpu_properties *gpu)
{
    for (size_t i = 0; i < sizeof(SMS) / sizeof(SMS[0]); i++)
        if (SMS[i].major == gpu->cc_major && SMS[i].minor == gpu->cc_minor)
            return &SMS[i];
    return NULL;
}

static uint64_t round_up(uint64_t n, uint64_t unit)
{
    return (n + unit - 1) / unit * unit;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Warps whose registers fit into an SM: each lives in one partition. */
static uint64_t warps_by_registers(const struct sm *sm, uint32_t registers)
{
    uint64_t warp = round_up((uint64_t)registers * WARP, REGISTER_UNIT);

    return sm->registers / PARTITIONS / warp * PARTITIONS;
}

uint32_t msim_occupancy_blocks(const struct msim_gpu_properties *gpu,
                               const struct msim_launch_config *config)
{
    const struct sm *sm = find(gpu);
    uint64_t threads =
        (uint64_t)config->block[0] * config->block[1] * config->block[2];
    uint64_t warps = (threads + WARP - 1) / WARP, shared, blocks;

    if (!sm || !threads || threads > sm->threads)
        return 0;
    blocks = least(sm->blocks, sm->threads / (warps * WARP));
    if (config->registers)
        blocks =
            least(blocks, warps_by_registers(sm, config->registers) / warps);
    shared = round_up((uint64_t)config->shared_bytes + sm->reserved,
                      sm->shared_unit);
    if (shared)
        blocks = least(blocks, sm->shared / shared);
    return (uint32_t)blocks;
}

uint32_t msim_occupancy_threads(const struct msim_gpu_properties *gpu)
{
    const struct sm *sm = find(gpu);

    return sm ? sm->threads : 0;
}

static double product(const uint32_t of[3])
{
    return (double)of[0] * of[1] * of[2];
}

struct msim_residency
msim_occupancy_residency(const struct msim_gpu_properties *gpu,
                         const struct msim_launch_config *config)
{
    return (struct msim_residency){
        .blocks = (float)product(config->grid),
        .threads = (float)product(config->block),
        .resident = (float)msim_occupancy_blocks(gpu, config),
    };
}

/* Blocks that are dealt to SMs, one after the other, and stay. */
static struct msim_filling fill(const struct msim_residency *r, double blocks,
                                double sms, double threads)
{
    double warps = ceil((double)r->threads / WARP) * WARP;

    return (struct msim_filling){
        .share = 1,
        .sms = fmin(1, blocks / sms),
        .threads = threads > 0 && r->resident > 0
                       ? fmin(1, blocks * warps / (sms * threads))
                       : (double)NAN,
    };
}

struct msim_holding msim_occupancy_holding(const struct msim_residency *r,
                                           double sms, double threads)
{
    double blocks = (double)r->blocks, at_once = (double)r->resident * sms;
    double waves = at_once > 0 ? ceil(blocks / at_once) : 1;
    struct msim_holding h = {.n = 1};

    if (!(blocks > 0) || !(sms > 0))
        return (struct msim_holding){0};
    h.of[0] = fill(r, waves > 1 ? at_once : blocks, sms, threads);
    if (waves <= 1 || waves * at_once <= blocks)
        return h;
    h.n = 2;
    h.of[0].share = (waves - 1) / waves;
    h.of[1] = fill(r, blocks - (waves - 1) * at_once, sms, threads);
    h.of[1].share = 1 / waves;
    return h;
}

double msim_occupancy_tail(const struct msim_trace *t, uint32_t gpu_event)
{
    const struct msim_gpu *e = &t->gpu[gpu_event];
    const struct msim_launch_config *c;
    uint64_t grid, resident;

    if (e->kind != MSIM_GPU_KERNEL || e->config == MSIM_NONE)
        return 1;
    c = &t->configs[e->config];
    grid = (uint64_t)c->grid[0] * c->grid[1] * c->grid[2];
    resident = (uint64_t)msim_occupancy_blocks(&t->gpu_properties, c) *
               t->gpu_properties.sms;
    if (!resident || grid < resident)
        return 1;
    if (grid == resident) /* all blocks end at once: no room before */
        return 0;
    return 1 / (double)((grid + resident - 1) / resident);
}
