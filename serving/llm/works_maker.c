/*
 * serving/llm/works_maker.c - one work of a step, with its sizes.
 */
#include "serving/llm/llm_internal.h"

#include "core/work/work.h"

#include <math.h>
#include <string.h>

static int64_t whole(double v)
{
    return msim_whole(fmax(ceil(v), 1));
}

struct msim_work *msim_llm_add(struct msim_llm_maker *k,
                               enum msim_llm_kind kind)
{
    struct msim_llm_works *w = k->w;
    struct msim_llm_work *of =
        &w->of[w->n < MSIM_LLM_WORKS ? w->n++ : w->n - 1];

    memset(of, 0, sizeof(*of)); /* works are compared by their bytes */
    of->kind = kind;
    of->times = k->layers;
    of->work.dtype = MSIM_DT_BF16;
    of->work.kernels = 1;
    of->work.asked = true;
    of->work.framework = k->r->framework;
    return &of->work;
}

void msim_llm_add_product(struct msim_llm_maker *k, enum msim_quant type,
                          double rows, double in, double out, double batch)
{
    struct msim_work *w = msim_llm_add(k, MSIM_LLM_KIND_PRODUCT);

    k->w->of[k->w->n - 1].type = type;
    w->family = MSIM_FAMILY_GEMM;
    if (type == MSIM_QUANT_MXFP4)
        type = MSIM_QUANT_INT4; /* products of that type have no rows */
    if (type != MSIM_QUANT_BF16)
        w->dtype = msim_dtype_parse(msim_quant_text(type), &w->variant);
    w->u.gemm.m = whole(rows);
    w->u.gemm.n = whole(out);
    w->u.gemm.k = whole(in);
    w->u.gemm.batch = whole(batch);
    msim_work_count(w);
    k->w->weights += k->layers * in * out * batch * msim_quant_bytes(type);
}

void msim_llm_add_vector(struct msim_llm_maker *k, enum msim_family family,
                         const char *variant, double rows, double cols,
                         double read, double written)
{
    struct msim_work *w = msim_llm_add(k, MSIM_LLM_KIND_VECTOR);

    w->family = family;
    w->variant = variant;
    w->framework = NULL; /* rows of bare kernels */
    w->u.vector.elems = whole(rows * cols);
    w->u.vector.rows = whole(rows);
    w->u.vector.cols = whole(cols);
    w->bytes_read = 2 * read;
    w->bytes_written = 2 * written;
}

/* All-reduces of few bytes are the engine's own, in graphs of CUDA. */
static const char *const ALL_REDUCES[MSIM_LLM_ENGINES] = {
    [MSIM_LLM_VLLM] = "vLLM_custom_graph",
    [MSIM_LLM_SGLANG] = "SGLang_CustomAllReduce_graph",
    [MSIM_LLM_TRTLLM] = "trtllm",
};
/* Beyond so many bytes engines call NCCL (vLLM's custom_all_reduce.py: 8 MiB).
 */
#define OWN_BYTES (8 << 20)

void msim_llm_add_collective(struct msim_llm_maker *k, enum msim_llm_kind kind,
                             enum msim_collective c, double bytes,
                             int64_t ranks)
{
    struct msim_work *w;

    if (ranks < 2)
        return;
    w = msim_llm_add(k, kind);
    w->family = MSIM_FAMILY_COLLECTIVE;
    w->u.coll.collective = c;
    w->u.coll.bytes = (uint64_t)msim_whole(fmax(bytes, 1));
    w->u.coll.ranks = (uint32_t)ranks;
    w->u.coll.nodes =
        (uint32_t)((ranks + k->r->gpus_a_node - 1) / k->r->gpus_a_node);
    w->framework = NULL;
    if (c == MSIM_COLL_ALL_REDUCE && bytes <= OWN_BYTES &&
        w->u.coll.nodes == 1) {
        w->framework = k->r->framework;
        w->u.coll.algorithm = ALL_REDUCES[k->r->s.engine];
    }
}
