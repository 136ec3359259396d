/*
 * profilers/cpu/cpu_no_dnnl.c - oneDNN's cases where it was not found: each is
 * refused.
 */
#include "profilers/cpu/cpu.h"

const char *msim_cpu_dnnl_version(void)
{
    return NULL;
}

const char *const *msim_cpu_conv_kinds(void)
{
    static const char *const KINDS[] = {NULL};

    return KINDS;
}

bool msim_cpu_has_bfloat16(struct msim_cpu *cpu)
{
    (void)cpu;
    return false;
}

bool msim_cpu_has_rows(enum msim_vector_op op)
{
    (void)op;
    return false;
}

static enum msim_status none(struct msim_error *err)
{
    return msim_fail(err, MSIM_ENOMODEL, NULL, MSIM_OFFSET_NONE,
                     "not here: built without oneDNN");
}

enum msim_status msim_cpu_conv(struct msim_cpu *cpu,
                               const struct msim_experiment *e,
                               struct msim_case *out, struct msim_error *err)
{
    (void)cpu;
    (void)e;
    (void)out;
    return none(err);
}

enum msim_status msim_cpu_matmul(struct msim_cpu *cpu,
                                 const struct msim_experiment *e,
                                 struct msim_case *out, struct msim_error *err)
{
    (void)cpu;
    (void)e;
    (void)out;
    return none(err);
}

enum msim_status msim_cpu_rows(struct msim_cpu *cpu,
                               const struct msim_experiment *e,
                               struct msim_case *out, struct msim_error *err)
{
    (void)cpu;
    (void)e;
    (void)out;
    return none(err);
}
