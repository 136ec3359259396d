/*
 * predict/edit/edit_quantise.c - collectives whose messages are sent in another
 * type, with the kernels that convert them.
 *
 * What converts is what TorchRec's codecs call (torchrec.distributed,
 * QCommsConfig; fbgemm_gpu.quantize_comm):
 *
 *     fp16, bf16   encode: clamp to the type's range, cast; decode: cast
 *     int8         encode, decode: one kernel each, rows of 8-bit numbers with
 *                  a scale and an offset of 4 bytes
 *
 * Encoding runs on the stream that made the message, decoding before the first
 * kernel that waits for it. Forward and backward messages have a type each.
 * Where the collective is a function of its own to autograd (All2All_Pooled_Req
 * and the like) both passes encode and decode. Where it is a functional
 * collective (c10d_functional), autograd records the codec, too: the backward
 * pass then runs the gradients of cast (a cast) and clamp (two comparisons,
 * their conjunction, a zero, a choice), and sends what the forward type says.
 *
 * Gradients that DDP reduces are not converted by TorchRec; a selection of
 * all-reduces does as PyTorch's fp16_compress_hook: cast and divide before,
 * copy back behind.
 */
#include "core/work/kernel/infer.h"
#include "models/estimate/model.h"
#include "predict/edit/edit_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum step {
    CLAMP,
    TO,   /* fp32 to the type */
    FROM, /* and back */
    GE,
    LE,
    AND,
    ZERO,
    WHERE,
    DIVIDE,
    ROWS_TO, /* rows of 8-bit numbers */
    ROWS_FROM,
    STEPS
};

/*
 * The operator that a step calls; a part of the name of its kernel, by which
 * the trace's own name of it is found, and what it is called where the trace
 * has none.
 */
static const struct {
    const char *op, *part, *also, *name;
} STEP[STEPS] = {
    [CLAMP] = {"aten::clamp", "launch_clamp_scalar", "",
               "vectorized_elementwise_kernel<launch_clamp_scalar>"},
    [TO] = {"aten::copy_", "direct_copy_kernel_cuda", "unrolled_elementwise",
            "unrolled_elementwise_kernel<direct_copy_kernel_cuda, float>"},
    [FROM] = {"aten::copy_", "", "",
              "unrolled_elementwise_kernel<direct_copy_kernel_cuda, %s>"},
    [GE] = {"aten::ge", "compare_scalar_kernel<float>", "",
            "vectorized_elementwise_kernel<compare_scalar_kernel<float>>"},
    [LE] = {"aten::le", "compare_scalar_kernel<float>", "",
            "vectorized_elementwise_kernel<compare_scalar_kernel<float>>"},
    [AND] = {"aten::logical_and", "logical_and_kernel_cuda", "bool, bool, bool",
             "vectorized_elementwise_kernel<logical_and_kernel_cuda>"},
    [ZERO] = {"aten::fill_", "FillFunctor<float>", "",
              "vectorized_elementwise_kernel<FillFunctor<float>>"},
    [WHERE] = {"aten::where", "where_kernel_impl", "",
               "elementwise_kernel<where_kernel_impl>"},
    [DIVIDE] = {"aten::div_", "", "",
                "vectorized_elementwise_kernel<MulFunctor, %s>"},
    [ROWS_TO] = {"aten::copy_", "_float_to_fused8bitrowwise_cuda_kernel", "",
                 "_float_to_fused8bitrowwise_cuda_kernel<float>"},
    [ROWS_FROM] = {"aten::copy_", "_fused8bitrowwise_to_float_cuda_kernel", "",
                   "_fused8bitrowwise_to_float_cuda_kernel<float>"},
};

/* One transfer. */
struct message {
    uint32_t transfer, rank;
    const struct msim_trace *t;
    uint32_t comm; /* of the trace, or NONE */
    uint8_t collective;
    bool backward, functional;
    enum msim_dtype type;
    double elems; /* of what is converted; 0: not known */
};

struct quantising {
    struct msim_remake *d;
    struct msim_infer *infer; /* of each rank; t NULL: not made yet */
    uint32_t n;               /* messages that were changed */
};

/* ---- which collectives --------------------------------------------------- */

static uint32_t comm_of(const struct msim_remake *d, uint32_t task)
{
    const struct msim_task_ref *ref = &d->g->refs[task];
    const struct msim_trace *t = d->ranks[ref->rank];

    if (ref->index != MSIM_NONE)
        return t->gpu[ref->index].comm;
    return ref->op == MSIM_NONE ? MSIM_NONE : t->ops[ref->op].comm;
}

static bool is_backward(const struct msim_trace *t, uint32_t op)
{
    for (; op != MSIM_NONE; op = t->ops[op].parent)
        if (t->ops[op].scope == 1 || t->ops[op].fw_thread != MSIM_NONE ||
            strstr(msim_trace_text(t, t->ops[op].name), "autograd::engine"))
            return true;
    return false;
}

static bool is_in(const struct msim_trace *t, uint32_t op, const char *name)
{
    for (; op != MSIM_NONE; op = t->ops[op].parent)
        if (strstr(msim_trace_text(t, t->ops[op].name), name))
            return true;
    return false;
}

/* Keys and lengths of features are whole numbers. TorchRec labels their
 * exchange, which tells it where no type is recorded. */
static bool is_of_numbers(const struct msim_trace *t, uint32_t op,
                          uint32_t comm)
{
    switch (comm == MSIM_NONE ? MSIM_DT_UNKNOWN
                              : (enum msim_dtype)t->comms[comm].dtype) {
    case MSIM_DT_F32:
        return true;
    case MSIM_DT_UNKNOWN:
        return !is_in(t, op, "kjt");
    default:
        return false;
    }
}

/* Without a selection what TorchRec's codecs are for. */
static bool is_taken(const struct msim_remake *d, uint32_t task, uint8_t kind)
{
    if (d->edit->selects)
        return d->selected[task] && kind != MSIM_COLL_BARRIER;
    return kind == MSIM_COLL_ALL_TO_ALL;
}

static bool find_message(const struct msim_remake *d, uint32_t task,
                         struct message *m)
{
    const struct msim_task_ref *ref = &d->g->refs[task];
    uint32_t op = ref->op;

    memset(m, 0, sizeof(*m));
    if (d->g->kind[task] != MSIM_TASK_COMM || d->costs->removed[task])
        return false;
    m->transfer = task;
    m->rank = ref->rank;
    m->t = d->ranks[ref->rank];
    m->comm = comm_of(d, task);
    if (m->comm == MSIM_NONE)
        return false;
    m->collective = m->t->comms[m->comm].collective;
    if (op == MSIM_NONE)
        op = m->t->comms[m->comm].op;
    m->backward = is_backward(m->t, op);
    m->functional = is_in(m->t, op, "c10d_functional");
    m->type =
        m->backward && !m->functional ? d->edit->backward : d->edit->forward;
    return m->type && is_taken(d, task, m->collective) &&
           is_of_numbers(m->t, op, m->comm);
}

/* ---- sizes --------------------------------------------------------------- */

static enum msim_status need_infer(struct quantising *q, uint32_t rank)
{
    struct msim_infer *l = &q->infer[rank];

    return l->t ? MSIM_OK : msim_infer_init(l, q->d->ranks[rank]);
}

/* Elements of a message: recorded, else those that the kernel before wrote. */
static enum msim_status find_elems(struct quantising *q, struct message *m,
                                   struct msim_work *w)
{
    const struct msim_comm *c = &m->t->comms[m->comm];
    uint32_t gpu = q->d->g->refs[m->transfer].index;
    double log_sd;

    *w = msim_comm_work(m->t, m->comm);
    if (!w->u.coll.bytes && gpu != MSIM_NONE) {
        MSIM_TRY(need_infer(q, m->rank));
        msim_infer_comm(&q->infer[m->rank], gpu, w, &log_sd);
    }
    m->elems = c->in_elems ? (double)c->in_elems : (double)w->u.coll.bytes / 4;
    return MSIM_OK;
}

/* ---- the transfer -------------------------------------------------------- */

/* Bytes over those of fp32. */
static double share_of(enum msim_dtype type)
{
    /* Rows are of unknown length; one of 128, TorchRec's usual dimension, has
     * 8 bytes more. */
    return type == MSIM_DT_I8 ? 0.25 * (1 + 8.0 / 128)
                              : msim_dtype_bytes(type) / 4.0;
}

/*
 * By the models of both sizes where the size is known, else by the bytes. The
 * whole is at least its latency, which the models know.
 */
static enum msim_status shrink(struct quantising *q, const struct message *m,
                               const struct msim_work *w)
{
    struct msim_remake *d = q->d;
    struct msim_costs *c = d->costs;
    struct msim_work to = *w;
    struct msim_cost_added was, is;
    double ratio = share_of(m->type);

    to.dtype = m->type;
    to.u.coll.bytes = (uint64_t)((double)w->u.coll.bytes * ratio);
    if (w->u.coll.bytes) {
        MSIM_TRY(msim_price_work(d, w, &was));
        MSIM_TRY(msim_price_work(d, &to, &is));
        ratio = was.mid > 0 ? (double)is.mid / (double)was.mid : ratio;
    }
    c->mid[m->transfer] = (msim_ps)((double)c->mid[m->transfer] * ratio + 0.5);
    c->low[m->transfer] = (msim_ps)((double)c->low[m->transfer] * ratio + 0.5);
    c->high[m->transfer] =
        (msim_ps)((double)c->high[m->transfer] * ratio + 0.5);
    return MSIM_OK;
}

/* ---- kernels ------------------------------------------------------------- */

static struct msim_edit_tensor flat(double elems, enum msim_dtype dtype)
{
    struct msim_edit_tensor t = {.n = 1, .dtype = dtype};

    t.sizes[0] = elems >= 1 ? msim_whole(elems) : 1;
    return t;
}

static struct msim_edit_op op_of(enum step step, const struct message *m)
{
    struct msim_edit_op op = {.name = STEP[step].op, .n = 1};

    op.tensors[0] = flat(m->elems, MSIM_DT_F32);
    switch (step) {
    case TO:
    case ROWS_TO:
        op.tensors[0] = flat(m->elems, m->type);
        op.tensors[1] = flat(m->elems, MSIM_DT_F32);
        op.n = 2;
        break;
    case FROM:
    case ROWS_FROM:
        op.tensors[1] = flat(m->elems, m->type);
        op.n = 2;
        break;
    case AND:
        op.tensors[0] = op.tensors[1] = flat(m->elems, MSIM_DT_BOOL);
        op.n = 2;
        break;
    case ZERO:
        op.tensors[0] = flat(1, MSIM_DT_F32);
        break;
    case WHERE:
        op.tensors[1] = op.tensors[0];
        op.tensors[0] = flat(m->elems, MSIM_DT_BOOL);
        op.tensors[2] = flat(1, MSIM_DT_F32);
        op.n = 3;
        break;
    case DIVIDE:
        op.tensors[0] = flat(m->elems, m->type);
        break;
    default:
        break;
    }
    return op;
}

static const char *cpp_of(enum msim_dtype type)
{
    return type == MSIM_DT_F16 ? "c10::Half" : "c10::BFloat16";
}

/* The trace's own name of such a kernel, else ours. */
static uint32_t name_of(struct msim_remake *d, enum step step,
                        const struct message *m)
{
    const struct msim_strtab *strings = d->g->job->strings;
    char text[128];

    for (uint32_t i = 0; *STEP[step].part && i < m->t->n_gpu; i++) {
        const char *name = msim_strtab_text(strings, m->t->gpu[i].name);

        if (strstr(name, STEP[step].part) && strstr(name, STEP[step].also) &&
            (step != TO || strstr(name, "(float)")))
            return m->t->gpu[i].name;
    }
    if (strchr(STEP[step].name, '%'))
        snprintf(text, sizeof(text), STEP[step].name, cpp_of(m->type));
    else
        snprintf(text, sizeof(text), "%s", STEP[step].name);
    return msim_remake_name(d, text);
}

static enum msim_status put(struct msim_remake *d, const struct message *m,
                            enum step step, uint32_t at, bool before,
                            uint32_t *id)
{
    struct msim_remake_kernel k = {.at = at, .before = before};
    struct msim_edit_op op = op_of(step, m);

    k.op = d->g->refs[m->transfer].op;
    k.host = d->host_ps[m->rank];
    k.name = name_of(d, step, m);
    MSIM_TRY(msim_price_op(d, &op, &k.cost));
    return msim_remake_insert(d, &k, id);
}

/* ---- where --------------------------------------------------------------- */

/* The activity that made the message: whose end the collective waits for, else
 * the last on the rank's main stream that the same thread launched before. */
static uint32_t maker_of(const struct msim_remake *d, uint32_t transfer)
{
    uint32_t begin = msim_remake_begin(d, transfer), host, best = MSIM_NONE;
    msim_ps lag;

    for (uint32_t i = d->cause_begin[begin]; i < d->cause_begin[begin + 1];
         i++) {
        uint32_t from = d->causes[i].from;

        if (msim_remake_is_gpu(d, from) &&
            d->g->lane[from] != d->g->lane[begin] &&
            d->g->refs[from].rank == d->g->refs[begin].rank &&
            d->g->lane[from] == d->main_lane[d->g->refs[begin].rank])
            best = from;
    }
    host = msim_remake_launcher(d, transfer, &lag);
    if (best != MSIM_NONE || host == MSIM_NONE)
        return best;
    for (uint32_t t = host; t-- > 0 && d->g->lane[t] == d->g->lane[host];)
        for (uint32_t e = d->g->edge_begin[t]; e < d->g->edge_begin[t + 1]; e++)
            if (msim_edge_kind_of(d->g->edge_kind[e]) == MSIM_EDGE_LAUNCH &&
                d->g->lane[d->g->edges[e].to] ==
                    d->main_lane[d->g->refs[begin].rank])
                return d->g->edges[e].to;
    return MSIM_NONE;
}

/* The first activity of another stream that waits for it, or NONE. */
static uint32_t taker_of(const struct msim_remake *d, uint32_t transfer)
{
    const struct msim_graph *g = d->g;
    uint32_t best = MSIM_NONE, first = MSIM_NONE;
    msim_ps lag;

    for (uint32_t e = g->edge_begin[transfer]; e < g->edge_begin[transfer + 1];
         e++) {
        uint32_t to = g->edges[e].to, host;

        if (!msim_remake_is_gpu(d, to) || g->kind[to] == MSIM_TASK_COMM ||
            g->lane[to] == g->lane[transfer] ||
            g->refs[to].rank != g->refs[transfer].rank)
            continue;
        host = msim_remake_launcher(d, to, &lag);
        if (best == MSIM_NONE || host < first) {
            best = to;
            first = host;
        }
    }
    return best;
}

/* What runs before and behind a transfer; the end is STEPS. */
static void steps_of(const struct message *m, enum step encode[4],
                     enum step decode[8])
{
    static const enum step CAST[] = {CLAMP, TO, STEPS}, BACK[] = {FROM, STEPS},
                           GRADIENT[] = {TO, STEPS}, ROWS[] = {ROWS_TO, STEPS},
                           ROWS_BACK[] = {ROWS_FROM, STEPS},
                           HOOK[] = {TO, DIVIDE, STEPS},
                           CHAIN[] = {FROM, GE, LE, AND, ZERO, WHERE, STEPS};
    const enum step *a = CAST, *b = BACK;

    if (m->type == MSIM_DT_I8) {
        a = ROWS;
        b = ROWS_BACK;
    } else if (m->collective == MSIM_COLL_ALL_REDUCE) {
        a = HOOK;
    } else if (m->functional && m->backward) {
        a = GRADIENT;
        b = CHAIN;
    }
    for (int i = 0; (encode[i] = a[i]) != STEPS;)
        i++;
    for (int i = 0; (decode[i] = b[i]) != STEPS;)
        i++;
}

static enum msim_status convert(struct msim_remake *d, const struct message *m)
{
    uint32_t maker = maker_of(d, m->transfer), taker = taker_of(d, m->transfer);
    enum step encode[4], decode[8];
    uint32_t id;

    steps_of(m, encode, decode);
    for (int i = 0; encode[i] != STEPS; i++) {
        MSIM_TRY(put(d, m, encode[i], maker == MSIM_NONE ? m->transfer : maker,
                     maker == MSIM_NONE, &id));
        if (encode[i + 1] == STEPS && maker != MSIM_NONE)
            MSIM_TRY(msim_overlay_tie(&d->overlay, id,
                                      msim_remake_begin(d, m->transfer),
                                      MSIM_EDGE_INPUT, 0));
    }
    for (int i = 0; decode[i] != STEPS; i++)
        MSIM_TRY(put(d, m, decode[i], taker == MSIM_NONE ? m->transfer : taker,
                     taker != MSIM_NONE, &id));
    return MSIM_OK;
}

/* ---- all of them --------------------------------------------------------- */

static enum msim_status quantise(struct quantising *q, uint32_t task)
{
    struct message m;
    struct msim_work w;

    if (!find_message(q->d, task, &m))
        return MSIM_OK;
    q->n++;
    MSIM_TRY(find_elems(q, &m, &w));
    MSIM_TRY(shrink(q, &m, &w));
    return convert(q->d, &m);
}

enum msim_status msim_edit_quantise(struct msim_remake *d)
{
    const struct msim_job *job = d->g->job;
    struct quantising q = {.d = d};
    enum msim_status status = MSIM_OK;

    q.infer = calloc((size_t)job->n_ranks + 1, sizeof(*q.infer));
    if (!q.infer)
        return MSIM_ENOMEM;
    for (uint32_t t = 0; t < d->g->n_tasks && status == MSIM_OK; t++)
        status = quantise(&q, t);
    for (uint32_t r = 0; r < job->n_ranks; r++)
        msim_infer_release(&q.infer[r]);
    free(q.infer);
    if (status == MSIM_OK && !q.n)
        status = msim_remake_refuse(
            d, "no %s of the job sends fp32; want another \"select\"",
            d->edit->selects ? "selected collective" : "all-to-all");
    return status;
}
