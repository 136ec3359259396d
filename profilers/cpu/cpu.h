/*
 * profilers/cpu/cpu.h - the CPU backend: what its cases share.
 *
 * Products go to OpenBLAS, convolutions to oneDNN, all else to loops of its
 * own; all use all cores. Not thread-safe: one experiment after the other.
 */
#ifndef MSIM_PROFILERS_CPU_H
#define MSIM_PROFILERS_CPU_H
#include "profilers/backend.h"
#include "profilers/cpu/cpu_device.h"
#include "profilers/cpu/cpu_operands.h"
#include "profilers/cpu/cpu_share.h"
#include "profilers/experiment.h"

struct msim_cpu {
    struct msim_cpu_device device;
    struct msim_operands operands;
};

extern const struct msim_backend MSIM_BACKEND_CPU;

/* A case of each table, as msim_backend.prepare() has it. */
MSIM_MUST_CHECK
enum msim_status msim_cpu_gemm(struct msim_cpu *cpu,
                               const struct msim_experiment *e,
                               struct msim_case *out, struct msim_error *err);
MSIM_MUST_CHECK
enum msim_status msim_cpu_conv(struct msim_cpu *cpu,
                               const struct msim_experiment *e,
                               struct msim_case *out, struct msim_error *err);
MSIM_MUST_CHECK
enum msim_status msim_cpu_vector(struct msim_cpu *cpu,
                                 const struct msim_experiment *e,
                                 struct msim_case *out, struct msim_error *err);
MSIM_MUST_CHECK
enum msim_status msim_cpu_copy(struct msim_cpu *cpu,
                               const struct msim_experiment *e,
                               struct msim_case *out, struct msim_error *err);
MSIM_MUST_CHECK
enum msim_status msim_cpu_latency(struct msim_cpu *cpu,
                                  const struct msim_experiment *e,
                                  struct msim_case *out,
                                  struct msim_error *err);

/* The passes that msim_cpu_conv() knows ("conv2d_fwd:fp32"), ended by NULL;
 * none where there is no oneDNN (cpu_no_conv.c). */
const char *const *msim_cpu_conv_kinds(void);
/* Of oneDNN, where it has any. */
const char *msim_cpu_conv_version(void);

/* The vector operators that msim_cpu_vector() knows, one a call from 0; NULL
 * after the last. */
const char *msim_cpu_vector_name(uint32_t i);

/* Microseconds since some moment. */
double msim_cpu_now_us(void);

#endif
