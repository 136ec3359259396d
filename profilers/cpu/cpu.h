/*
 * profilers/cpu/cpu.h - the CPU backend: what its cases share.
 *
 * Products go to OpenBLAS, those of bfloat16, convolutions, softmax and layer
 * norm to oneDNN, all else to loops of its own; all use all cores. Not
 * thread-safe: one experiment after the other.
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

/* Let each case work on so many threads, from now on; at first all cores do. */
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
 * What oneDNN does: cpu_no_dnnl.c has these where there is none. Products of
 * bfloat16; softmax, log_softmax and ln in fp32.
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
