/*
 * profilers/cpu/cpu_backend.c - the CPU backend's table of functions.
 */
#include "profilers/cpu/cpu.h"

#include <cblas.h>
#include <stdlib.h>
#include <string.h>

static void close_cpu(void *self)
{
    struct msim_cpu *cpu = self;

    msim_operands_release(&cpu->operands);
    free(cpu);
}

void msim_cpu_set_threads(uint32_t threads)
{
    openblas_set_num_threads((int)threads);
    msim_contention_threads(threads);
}

static enum msim_status open_cpu(void **self, struct msim_error *err)
{
    struct msim_cpu *cpu = calloc(1, sizeof(*cpu));

    (void)err;
    if (!cpu)
        return MSIM_ENOMEM;
    msim_cpu_device_find(&cpu->device);
    msim_operands_init(&cpu->operands, cpu->device.cache_bytes);
    msim_cpu_set_threads(cpu->device.cores);
    *self = cpu;
    return MSIM_OK;
}

static void write_list(struct msim_json *out, const char *table,
                       const char *const *kinds)
{
    msim_json_open(out, table, '[', false);
    for (; *kinds; kinds++)
        msim_json_text(out, NULL, *kinds);
    msim_json_close(out);
}

static void describe_cpu(void *self, struct msim_json *out)
{
    static const char *const COPY[] = {"d2d", NULL};
    static const char *const LATENCY[] = {"call", "wake", NULL};
    const char *const *conv = msim_cpu_conv_kinds();
    const char *const gemm[] = {
        "fp32", "fp64", msim_cpu_has_bfloat16(self) ? "bfloat16" : NULL, NULL};
    const struct msim_cpu *cpu = self;
    const char *name;
    char kind[64];

    msim_cpu_device_write(&cpu->device, out);
    msim_json_open(out, "libraries", '{', false);
    msim_json_text(out, "OpenBLAS", openblas_get_config());
    if (msim_cpu_dnnl_version())
        msim_json_text(out, "oneDNN", msim_cpu_dnnl_version());
    msim_json_close(out);
    msim_json_open(out, "tables", '{', false);
    write_list(out, "gemm", gemm);
    if (*conv)
        write_list(out, "conv", conv);
    msim_json_open(out, "vector", '[', false);
    for (uint32_t i = 0; (name = msim_cpu_vector_name(i)); i++) {
        snprintf(kind, sizeof(kind), "%s:fp32", name);
        msim_json_text(out, NULL, kind);
    }
    msim_json_close(out);
    write_list(out, "copy", COPY);
    write_list(out, "latency", LATENCY);
    msim_json_close(out);
    msim_json_open(out, "left_out", '{', false);
    msim_json_text(out, "attention", "no library here has it as one operator");
    if (!*conv)
        msim_json_text(out, "conv", "built without oneDNN");
    msim_json_text(out, "collective", "mystique-prof-mpi times these");
    msim_json_close(out);
}

static enum msim_status prepare_cpu(void *self, const cJSON *experiment,
                                    struct msim_case *out,
                                    struct msim_error *err)
{
    static enum msim_status (*const PREPARE[MSIM_TABLE_COUNT])(
        struct msim_cpu *, const struct msim_experiment *, struct msim_case *,
        struct msim_error *) = {
        [MSIM_TABLE_GEMM] = msim_cpu_gemm,
        [MSIM_TABLE_CONV] = msim_cpu_conv,
        [MSIM_TABLE_VECTOR] = msim_cpu_vector,
        [MSIM_TABLE_COPY] = msim_cpu_copy,
        [MSIM_TABLE_LATENCY] = msim_cpu_latency,
    };
    struct msim_experiment e;
    enum msim_status status;

    MSIM_TRY(msim_experiment_read(&e, experiment, err));
    if (e.concurrent)
        return msim_fail(err, MSIM_ENOMODEL, NULL, MSIM_OFFSET_NONE,
                         "mystique-prof-mpi times what runs beside a "
                         "collective");
    if (!PREPARE[e.table])
        return msim_fail(err, MSIM_ENOMODEL, NULL, MSIM_OFFSET_NONE,
                         "no table '%s' here", msim_table_text(e.table));
    *out = (struct msim_case){0};
    status = PREPARE[e.table](self, &e, out, err);
    if (status != MSIM_OK && out->release)
        out->release(out->state);
    return status;
}

static enum msim_status check_cpu(const cJSON *experiment, double *bytes,
                                  struct msim_error *err)
{
    struct msim_experiment e;

    MSIM_TRY(msim_experiment_read(&e, experiment, err));
    *bytes = msim_experiment_bytes(&e);
    return MSIM_OK;
}

static void state_cpu(void *self, struct msim_json *out)
{
    double mhz = msim_cpu_clock_mhz();

    (void)self;
    if (mhz > 0)
        msim_json_number(out, "clock_mhz", mhz);
}

const struct msim_backend MSIM_BACKEND_CPU = {
    .name = "cpu",
    .open = open_cpu,
    .close = close_cpu,
    .describe = describe_cpu,
    .prepare = prepare_cpu,
    .state = state_cpu,
    .check = check_cpu,
};
