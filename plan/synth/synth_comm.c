/*
 * plan/synth/synth_comm.c - collectives inside a layer, and of tables and
 * losses that tensor parallel ranks share.
 */
#include "plan/synth/synth_internal.h"

#include <string.h>

static const struct msim_part_comm *comm_of(const struct msim_synth_walk *w,
                                            enum msim_part_group g,
                                            enum msim_pass pass,
                                            enum msim_collective c)
{
    const struct msim_part *p = w->l->part;

    for (uint32_t i = 0; i < p->n_comms; i++)
        if (p->comms[i].group == g && p->comms[i].pass == pass &&
            p->comms[i].collective == c)
            return &p->comms[i];
    return NULL;
}

const char *msim_synth_dtype_text(enum msim_dtype t)
{
    switch (t) {
    case MSIM_DT_F32:
        return "Float";
    case MSIM_DT_F16:
        return "Half";
    case MSIM_DT_I64:
        return "Long";
    case MSIM_DT_I32:
        return "Int";
    default:
        return "BFloat16";
    }
}

void msim_synth_wait(struct msim_synth *y, const struct msim_synth_group *g,
                     int64_t call)
{
    struct msim_etw_tensor none =
        msim_etw_new(y->e, MSIM_DT_F32, 1, (int64_t)0);
    struct msim_etw_comm c = {.name = "wait",
                              .dtype = "Float",
                              .group = g->name,
                              .size = g->size,
                              .start = g->start,
                              .stride = g->stride,
                              .sequence = call};

    msim_etw_collective(y->e, &c, &none, &none,
                        (y->rank - g->start) / g->stride);
}

/* From `in` elements to `out`; the struct msim_etw_tensor that it wrote. */
static struct msim_etw_tensor exchange(const struct msim_synth_walk *w,
                                       const char *name, enum msim_part_group g,
                                       const struct msim_etw_tensor *of,
                                       uint64_t in_elems, int64_t rows,
                                       int64_t cols)
{
    struct msim_synth_group *group = &w->y->groups[g];
    struct msim_etw_tensor out = msim_synth_empty(w, w->y->dtype, rows, cols);
    struct msim_etw_comm c = {.name = name,
                              .dtype = msim_synth_dtype_text(w->y->dtype),
                              .group = group->name,
                              .in_elems = in_elems,
                              .out_elems = msim_etw_elems(&out),
                              .size = group->size,
                              .start = group->start,
                              .stride = group->stride,
                              .sequence = group->calls++};

    msim_etw_collective(w->y->e, &c, of, &out,
                        (w->y->rank - group->start) / group->stride);
    msim_synth_wait(w->y, group, c.sequence);
    return out;
}

/* Autograd's function around what tensor parallel ranks exchange; it is closed
 * with msim_etw_close(). */
static void hold(struct msim_synth_walk *w, bool gathers, enum msim_pass pass)
{
#define BACK   "autograd::engine::evaluate_function: "
#define GATHER "TensorParallelGather"
#define REDUCE "TensorParallelReduce"
    static const char *const NAMES[MSIM_PASS_COUNT][2] = {
        [MSIM_PASS_FORWARD] = {REDUCE, GATHER},
        [MSIM_PASS_BACKWARD] = {BACK REDUCE, BACK GATHER}};
#undef BACK
#undef GATHER
#undef REDUCE

    msim_etw_open(w->y->e, NAMES[pass][gathers], "", NULL, 0);
}

/* Whole sequences out of each rank's rows of `t`. */
bool msim_synth_gather(struct msim_synth_walk *w, enum msim_pass pass,
                       struct msim_etw_tensor *t)
{
    int64_t tp = w->y->s->tp;

    if (!comm_of(w, MSIM_PART_GROUP_TP, pass, MSIM_COLL_ALL_GATHER))
        return false;
    hold(w, true, pass);
    *t = exchange(w, "_allgather_base", MSIM_PART_GROUP_TP, t,
                  msim_etw_elems(t), t->dims[0] * tp, t->dims[1]);
    msim_etw_close(w->y->e, NULL, 0);
    return true;
}

/* Each rank's rows of the sum; or the sum, where sequences are whole. */
void msim_synth_reduce(struct msim_synth_walk *w, enum msim_pass pass,
                       struct msim_etw_tensor *t)
{
    int64_t tp = w->y->s->tp;
    bool scatter =
        comm_of(w, MSIM_PART_GROUP_TP, pass, MSIM_COLL_REDUCE_SCATTER);

    if (!scatter && !comm_of(w, MSIM_PART_GROUP_TP, pass, MSIM_COLL_ALL_REDUCE))
        return;
    hold(w, false, pass);
    *t = exchange(w, scatter ? "_reduce_scatter_base" : "allreduce",
                  MSIM_PART_GROUP_TP, t, msim_etw_elems(t),
                  scatter ? t->dims[0] / tp : t->dims[0], t->dims[1]);
    msim_etw_close(w->y->e, NULL, 0);
}

/* Rows of a table of which each rank has a part, from all of them; backward has
 * the gradients of all rows again. As Megatron-LM's VocabParallelEmbedding. */
void msim_synth_sum_rows(struct msim_synth_walk *w, struct msim_etw_tensor *t)
{
    int64_t tp = w->y->s->tp;
    bool whole = w->y->s->unfused;

    hold(w, false, MSIM_PASS_FORWARD);
    *t = exchange(w, whole ? "allreduce" : "_reduce_scatter_base",
                  MSIM_PART_GROUP_TP, t, msim_etw_elems(t),
                  whole ? t->dims[0] : t->dims[0] / tp, t->dims[1]);
    msim_etw_close(w->y->e, NULL, 0);
}

void msim_synth_all_rows(struct msim_synth_walk *w, struct msim_etw_tensor *t)
{
    if (w->y->s->unfused)
        return;
    hold(w, true, MSIM_PASS_BACKWARD);
    *t = exchange(w, "_allgather_base", MSIM_PART_GROUP_TP, t,
                  msim_etw_elems(t), t->dims[0] * w->y->s->tp, t->dims[1]);
    msim_etw_close(w->y->e, NULL, 0);
}

/* `times` sums of one number a row, in 32 bits. */
void msim_synth_sum_numbers(struct msim_synth_walk *w, int64_t rows, int times)
{
    struct msim_synth_group *group = &w->y->groups[MSIM_PART_GROUP_TP];
    struct msim_etw_tensor x =
        msim_etw_new(w->y->e, MSIM_DT_F32, 2, rows, (int64_t)1);

    hold(w, false, MSIM_PASS_FORWARD);
    msim_synth_write_empty(w->y->e, &x);
    for (int i = 0; i < times; i++) {
        struct msim_etw_comm c = {.name = "allreduce",
                                  .dtype = msim_synth_dtype_text(MSIM_DT_F32),
                                  .group = group->name,
                                  .in_elems = (uint64_t)rows,
                                  .out_elems = (uint64_t)rows,
                                  .size = group->size,
                                  .start = group->start,
                                  .stride = group->stride,
                                  .sequence = group->calls++};

        msim_etw_collective(w->y->e, &c, &x, &x,
                            (w->y->rank - group->start) / group->stride);
        msim_synth_wait(w->y, group, c.sequence);
    }
    msim_etw_close(w->y->e, NULL, 0);
}

/* Keys and values of the whole context group. */
void msim_synth_context(struct msim_synth_walk *w, enum msim_pass pass)
{
    const struct msim_part_comm *c =
        comm_of(w, MSIM_PART_GROUP_CP, pass, MSIM_COLL_ALL_GATHER);
    int64_t cp = w->y->s->cp, rows;
    struct msim_etw_tensor part;

    if (!c)
        return;
    rows = (int64_t)(c->bytes / msim_dtype_bytes(w->y->dtype)) / cp;
    part = msim_synth_empty(w, w->y->dtype, rows, 1);
    exchange(w, "_allgather_base", MSIM_PART_GROUP_CP, &part, (uint64_t)rows,
             rows * cp, 1);
    if (pass == MSIM_PASS_BACKWARD) {
        part = msim_synth_empty(w, w->y->dtype, rows * cp, 1);
        exchange(w, "_reduce_scatter_base", MSIM_PART_GROUP_CP, &part,
                 (uint64_t)(rows * cp), rows, 1);
    }
}

/* Rows of all ranks that share their experts: of tokens before they are copied
 * (`exchanged` no), or of what an all-to-all sent each. `rows` of them in all.
 */
void msim_synth_expert_rows(struct msim_synth_walk *w, enum msim_pass pass,
                            bool exchanged, int64_t rows)
{
    int64_t tp = w->y->s->tp;

    if (msim_expert_shares(w->y->s) == 1 || exchanged != (w->y->s->ep > 1))
        return;
    w->cur = msim_synth_given(w, rows / tp, w->y->m->hidden);
    (void)msim_synth_gather(w, pass, &w->cur);
}

/* Back: each rank's rows of the sum of what all of them made. */
void msim_synth_expert_sum(struct msim_synth_walk *w, enum msim_pass pass,
                           bool exchanged, int64_t rows)
{
    if (msim_expert_shares(w->y->s) == 1 || exchanged != (w->y->s->ep > 1))
        return;
    w->cur = msim_synth_given(w, rows, w->y->m->hidden);
    msim_synth_reduce(w, pass, &w->cur);
}

/* Tokens to the ranks of their experts, or back. */
void msim_synth_dispatch(struct msim_synth_walk *w, enum msim_pass pass)
{
    if (comm_of(w, MSIM_PART_GROUP_EP, pass, MSIM_COLL_ALL_TO_ALL))
        w->cur =
            exchange(w, "all_to_allv", MSIM_PART_GROUP_EP, &w->cur,
                     msim_etw_elems(&w->cur), w->cur.dims[0], w->cur.dims[1]);
}

static bool named(const struct msim_part_op *op, const char *a, const char *b,
                  const char *c, const char *d)
{
    return !strcmp(op->name, a) || !strcmp(op->name, b) ||
           !strcmp(op->name, c) || !strcmp(op->name, d);
}

/* Does this layer's input come from all struct msim_etw_tensor parallel ranks?
 */
bool msim_synth_takes_whole(const struct msim_part_op *op)
{
    return named(op, "qkv", "q_down", "up", "logits") ||
           named(op, "q", "shared_up", "q", "q");
}

bool msim_synth_makes_sum(const struct msim_part_op *op)
{
    return named(op, "out", "down", "shared_down", "down");
}
