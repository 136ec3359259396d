/*
 * profilers/cpu/cpu_dnnl.h - an operation of oneDNN as a case.
 *
 * Tensors have the user's layout, as PyTorch's have. Where the library wants
 * another layout, the reorders to it and back are part of the time. A case
 * names the user's tensors and the primitive:
 *
 *     d = msim_dnnl_begin(cpu, e, out);
 *     if (!d)
 *         return MSIM_ENOMEM;
 *     msim_dnnl_tensor(d, DNNL_ARG_SRC, MSIM_OPERAND_F32, &from);
 *     msim_dnnl_tensor(d, DNNL_ARG_DST, MSIM_OPERAND_OUT, &to);
 *     if (msim_dnnl_ok(d, dnnl_..._desc_init(&desc, ...)))
 *         msim_dnnl_ok(d, dnnl_primitive_desc_create(&p, &desc, ...));
 *     return msim_dnnl_end(d, p, err);
 */
#ifndef MSIM_PROFILERS_CPU_CPU_DNNL_H
#define MSIM_PROFILERS_CPU_CPU_DNNL_H
#include "profilers/cpu/cpu.h"

#include <dnnl.h>

#define MSIM_DNNL_TENSORS 4

/* What is read or written: as the user holds it, and as the library wants it,
 * which may be the same. */
struct msim_dnnl_tensor {
    int argument; /* what oneDNN calls it */
    enum msim_operand_kind of;
    dnnl_memory_desc_t plain;
    dnnl_memory_t user, own;
    dnnl_primitive_t reorder; /* from the one read to the one written; NULL:
                                 they are the same */
};

struct msim_dnnl {
    struct msim_cpu *cpu;
    bool warm;
    dnnl_status_t status; /* the first failure */
    dnnl_engine_t engine;
    dnnl_stream_t stream;
    dnnl_primitive_t primitive;
    struct msim_dnnl_tensor tensors[MSIM_DNNL_TENSORS];
    int n;
};

/* Whether all calls succeeded so far. Check every call of the library with it,
 * and make no further call after a failure. */
bool msim_dnnl_ok(struct msim_dnnl *d, dnnl_status_t next);

/* Begin an experiment's case, `*out`, which owns what is returned; NULL where
 * memory runs out. */
struct msim_dnnl *msim_dnnl_begin(struct msim_cpu *cpu,
                                  const struct msim_experiment *e,
                                  struct msim_case *out);

/* The next tensor; a result is of MSIM_OPERAND_OUT. MSIM_DNNL_TENSORS at most.
 */
void msim_dnnl_tensor(struct msim_dnnl *d, int argument,
                      enum msim_operand_kind of,
                      const dnnl_memory_desc_t *plain);

/*
 * Make the primitive that `p` describes, which is taken and may be NULL after a
 * failure, and room for operands. ENOMODEL where the library has no such
 * operation for this processor, EINTERNAL where it fails.
 */
MSIM_MUST_CHECK
enum msim_status msim_dnnl_end(struct msim_dnnl *d, dnnl_primitive_desc_t p,
                               struct msim_error *err);

#endif
