/*
 * profilers/cpu/cpu_no_conv.c - in the place of cpu_conv.c where there is no
 * oneDNN.
 */
#include "profilers/cpu/cpu.h"

const char *const *msim_cpu_conv_kinds(void)
{
    static const char *const KINDS[] = {NULL};

    return KINDS;
}

const char *msim_cpu_conv_version(void)
{
    return "none";
}

enum msim_status msim_cpu_conv(struct msim_cpu *cpu,
                               const struct msim_experiment *e,
                               struct msim_case *out, struct msim_error *err)
{
    (void)cpu;
    (void)e;
    (void)out;
    return msim_fail(err, MSIM_ENOMODEL, NULL, MSIM_OFFSET_NONE,
                     "no table 'conv' here: built without oneDNN");
}
