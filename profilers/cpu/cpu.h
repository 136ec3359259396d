/*
 * profilers/cpu/cpu.h - the CPU backend: what its cases share.
 *
 * Products are OpenBLAS's; products of bfloat16, convolutions, softmax and
 * layer norm are oneDNN's; the rest are loops of our own. All use all cores.
 * Not thread-safe: one experiment at a time.
 */
#ifndef MSIM_PROFILERS_CPU_CPU_H
#define MSIM_PROFILERS_CPU_CPU_H
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

/* Set the threads of every case from now on; all cores at first. */
void msim_cpu_set_threads(uint32_t threads);

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

/*
 * oneDNN's cases: products of bfloat16; softmax, log_softmax and layer norm in
 * fp32. Built without oneDNN, cpu_no_dnnl.c refuses them.
 */
const char *msim_cpu_dnnl_version(void); /* NULL: there is none */
MSIM_MUST_CHECK
enum msim_status msim_cpu_matmul(struct msim_cpu *cpu,
                                 const struct msim_experiment *e,
                                 struct msim_case *out, struct msim_error *err);
MSIM_MUST_CHECK
enum msim_status msim_cpu_rows(struct msim_cpu *cpu,
                               const struct msim_experiment *e,
                               struct msim_case *out, struct msim_error *err);

/* Whether msim_cpu_matmul() can multiply on this processor. */
bool msim_cpu_has_bfloat16(struct msim_cpu *cpu);
/* Whether msim_cpu_rows() knows an operator. */
bool msim_cpu_has_rows(enum msim_vector_op op);
/* The passes that msim_cpu_conv() knows ("conv2d_fwd:fp32"), ended by NULL. */
const char *const *msim_cpu_conv_kinds(void);

/* The vector operators that msim_cpu_vector() knows, one a call from 0; NULL
 * after the last. */
const char *msim_cpu_vector_name(uint32_t i);

/* Added to a variance before its root is divided by; PyTorch's default. */
#define MSIM_NORM_EPSILON 1e-5f

#endif
