/*
 * profilers/cpu/cpu_copy.c - copies in memory, and latencies.
 */
#include "profilers/cpu/cpu.h"

#include <stdlib.h>
#include <string.h>

#define COPY_GRAIN (1 << 17) /* bytes a thread is woken for */
#define CALLS      1000      /* of what is too short for the clock */

struct copy {
    struct msim_cpu *cpu;
    size_t bytes;
    bool warm;
    const char *from;
    char *to;
};

static void copy_range(void *ctx, int64_t from, int64_t to)
{
    const struct copy *c = ctx;

    memcpy(c->to + from, c->from + from, (size_t)(to - from));
}

static enum msim_status time_copy(void *state, double *us,
                                  struct msim_error *err)
{
    struct copy *c = state;
    double begin;

    (void)err;
    msim_operands_begin(&c->cpu->operands, c->warm);
    c->from = msim_operands_take(&c->cpu->operands, MSIM_OPERAND_F32, c->bytes);
    c->to = msim_operands_take(&c->cpu->operands, MSIM_OPERAND_OUT, c->bytes);
    begin = msim_cpu_now_us();
    msim_contention(copy_range, c, (int64_t)c->bytes, COPY_GRAIN);
    *us = msim_cpu_now_us() - begin;
    return MSIM_OK;
}

enum msim_status msim_cpu_copy(struct msim_cpu *cpu,
                               const struct msim_experiment *e,
                               struct msim_case *out, struct msim_error *err)
{
    struct copy *c;

    if (e->u.copy.op != MSIM_COPY_WAY_D2D)
        return msim_fail(err, MSIM_ENOMODEL, NULL, MSIM_OFFSET_NONE,
                         "no copy '%s' here, want d2d: host and device are one",
                         msim_copy_way_text(e->u.copy.op));
    c = calloc(1, sizeof(*c));
    if (!c)
        return MSIM_ENOMEM;
    *out = (struct msim_case){.state = c, .time = time_copy, .release = free};
    c->cpu = cpu;
    c->bytes = (size_t)e->u.copy.bytes;
    c->warm = e->warm;
    MSIM_TRY(msim_operands_reserve(&cpu->operands, MSIM_OPERAND_F32, c->bytes));
    return msim_operands_reserve(&cpu->operands, MSIM_OPERAND_OUT, c->bytes);
}

/* ---- latencies ----------------------------------------------------------- */

static void do_nothing(void *ctx, int64_t from, int64_t to)
{
    (void)ctx;
    (void)from;
    (void)to;
}

/* Through a pointer that the compiler cannot see through. */
static enum msim_status time_call(void *state, double *us,
                                  struct msim_error *err)
{
    msim_range_fn *volatile call = do_nothing;
    double begin = msim_cpu_now_us();

    (void)err;
    for (int i = 0; i < CALLS; i++)
        call(state, 0, 0);
    *us = (msim_cpu_now_us() - begin) / CALLS;
    return MSIM_OK;
}

static enum msim_status time_wake(void *state, double *us,
                                  struct msim_error *err)
{
    struct msim_cpu *cpu = state;
    double begin = msim_cpu_now_us();

    (void)err;
    msim_contention(do_nothing, cpu, cpu->device.cores, 1);
    *us = msim_cpu_now_us() - begin;
    return MSIM_OK;
}

enum msim_status msim_cpu_latency(struct msim_cpu *cpu,
                                  const struct msim_experiment *e,
                                  struct msim_case *out, struct msim_error *err)
{
    *out = (struct msim_case){.state = cpu};
    if (e->u.latency == MSIM_LATENCY_CALL)
        out->time = time_call;
    else if (e->u.latency == MSIM_LATENCY_WAKE)
        out->time = time_wake;
    else
        return msim_fail(err, MSIM_ENOMODEL, NULL, MSIM_OFFSET_NONE,
                         "no latency '%s' here, want call or wake",
                         msim_latency_text(e->u.latency));
    return MSIM_OK;
}
