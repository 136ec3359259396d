/*
 * plan/written/written_change.c - changes of traces as those of the job that
 * they were written of.
 *
 * What is not told here is not guessed: a change that no description has makes
 * a job of which no measured one is known.
 */
#include "plan/written/written_job.h"

#include "core/rewrite/rewrite.h"
#include "plan/describe/strategy.h"

struct making {
    struct msim_written_is *out;
    struct msim_job_model *sizes;
    const struct msim_strategy *whole;  /* the job's, complete */
    const struct msim_described *model; /* the job's */
    const struct msim_step_change *by;
    bool is;
};

static void set(struct making *k, enum msim_given g, int64_t v)
{
    msim_strategy_put(&k->out->strategy, g, v);
    k->out->given |= 1ULL << g;
}

static void forget(struct making *k, enum msim_given g)
{
    k->out->given &= ~(1ULL << g);
}

/* ---- sizes --------------------------------------------------------------- */

/* A description has one of each. */
static void put_size(int64_t *from, int64_t *to,
                     const struct msim_model_size *size, int64_t ranks,
                     bool *is)
{
    *is &= !*to && !__builtin_mul_overflow(size->to, ranks, to) &&
           !__builtin_mul_overflow(size->from, ranks, from);
}

static void change_size(struct making *k, const struct msim_model_size *size)
{
    struct msim_job_model *to = k->sizes;
    int64_t ranks = k->whole->tp;

    if (size->role == MSIM_SIZE_HIDDEN)
        put_size(&to->hidden.from, &to->hidden.to, size, 1, &k->is);
    else if (size->role == MSIM_SIZE_HEADS)
        put_size(&to->heads.from, &to->heads.to, size, ranks, &k->is);
    else if (size->role == MSIM_SIZE_FFN)
        put_size(&to->ffn.from, &to->ffn.to, size, ranks, &k->is);
    else if (size->role == MSIM_SIZE_VOCAB)
        put_size(&to->vocab.from, &to->vocab.to, size, ranks, &k->is);
    else
        k->is = false;
}

static void change_axis(struct making *k, const struct msim_axis *axis)
{
    const struct msim_strategy *s = k->whole;

    if (!axis->every && (!axis->from || axis->from == s->micro_batch))
        set(k, MSIM_GIVEN_micro_batch, axis->to);
    else if (axis->every && axis->from == s->sequence &&
             s->sequence != s->micro_batch)
        set(k, MSIM_GIVEN_sequence, axis->to);
    else
        k->is = false;
}

/* A repetition may be some of the layers: those behind dense ones. */
static enum msim_status change_layers(struct making *k, struct msim_error *err)
{
    const struct msim_rewrite *r = k->by->rewrite;
    uint32_t n;

    if (!r->layers)
        return MSIM_OK;
    k->is &= !r->n_more_layers;
    MSIM_TRY(msim_rewrite_count_layers(&n, k->by->ranks[0], k->by->strings,
                                       r->layers_block, err));
    k->sizes->layers = k->model->layers + (int64_t)r->layers - n;
    k->is &= k->sizes->layers > 0;
    return MSIM_OK;
}

/* ---- how it is trained --------------------------------------------------- */

static int64_t zero_of(enum msim_shard shard)
{
    return shard == MSIM_SHARD_ZERO1                                  ? 1
           : shard == MSIM_SHARD_ZERO2 || shard == MSIM_SHARD_GRAD_OP ? 2
           : shard == MSIM_SHARD_FULL                                 ? 3
                                                                      : 0;
}

/* Copies are of all ranks that there are: the job had none before. */
static void change_copies(struct making *k)
{
    const struct msim_rewrite *r = k->by->rewrite;

    if (r->shard) {
        set(k, MSIM_GIVEN_zero, zero_of(r->shard));
        k->is &= !r->mixed && !r->bucket_mib && !r->bucket_views;
    }
    if (r->world <= 1)
        return;
    k->is &= k->whole->dp == 1;
    set(k, MSIM_GIVEN_dp, r->world);
}

static void change_order(struct making *k, const struct msim_split *p)
{
    static const int64_t WORDS[] = {
        [MSIM_TURNS_1F1B] = MSIM_SCHEDULE_1F1B,
        [MSIM_TURNS_INTERLEAVED] = MSIM_SCHEDULE_INTERLEAVED,
        [MSIM_TURNS_ZERO_BUBBLE] = MSIM_SCHEDULE_ZERO_BUBBLE};

    if (p->order == MSIM_TURNS_GPIPE)
        k->is = false;
    else if (p->order != MSIM_TURNS_1F1B)
        set(k, MSIM_GIVEN_schedule, WORDS[p->order]);
}

/* Descriptions have layers on stages by a rule. */
static bool is_by_rule(const struct making *k, const struct msim_split *p)
{
    struct msim_described m = *k->model;
    struct msim_strategy s = *k->whole;

    if (k->sizes->layers)
        m.layers = k->sizes->layers;
    s.pp = p->pp;
    s.vp = p->vp > 1 ? p->vp : 1;
    for (uint32_t i = 0; p->blocks && i < p->pp; i++)
        if (p->blocks[i] != msim_stage_layers(&m, &s, i))
            return false;
    return true;
}

/* What the job says of its experts is of its own tensor parallel ranks. */
static void change_experts(struct making *k, const struct msim_split *p)
{
    bool said = k->out->given >> MSIM_GIVEN_etp & 1;

    if (p->etp || (said && p->tp > 1))
        set(k, MSIM_GIVEN_etp, msim_split_expert_shares(p));
    else if (said && p->joins > 1 && k->whole->etp > 1)
        set(k, MSIM_GIVEN_etp, k->whole->tp / p->joins);
}

static void change_split(struct making *k)
{
    const struct msim_rewrite *r = k->by->rewrite;
    const struct msim_split *p = &r->parallel;
    uint32_t passes = p->micro_batches ? p->micro_batches : r->accumulate;

    if (p->tp > 1) {
        k->is &= p->rows && k->whole->tp == 1;
        set(k, MSIM_GIVEN_tp, p->tp);
    }
    if (p->joins > 1)
        set(k, MSIM_GIVEN_tp, k->whole->tp / p->joins);
    if (p->cp > 1)
        set(k, MSIM_GIVEN_cp, p->cp);
    if (p->ep > 1)
        set(k, MSIM_GIVEN_ep, p->ep);
    change_experts(k, p);
    if (p->pp > 1) {
        k->is &= k->whole->pp == 1 && is_by_rule(k, p);
        set(k, MSIM_GIVEN_pp, p->pp);
        change_order(k, p);
    }
    if (p->vp > 1)
        set(k, MSIM_GIVEN_vp, p->vp);
    if (passes)
        set(k, MSIM_GIVEN_grad_accum, passes);
}

static void change_memory(struct making *k)
{
    const struct msim_rewrite *r = k->by->rewrite;

    if (r->recompute_every)
        set(k, MSIM_GIVEN_recompute, MSIM_RECOMPUTE_FULL);
    if (r->offload_activations || r->offload_states)
        set(k, MSIM_GIVEN_offload,
            r->offload_states ? MSIM_OFFLOAD_OPTIMIZER
                              : MSIM_OFFLOAD_ACTIVATIONS);
    if (r->optimizer_8bit)
        set(k, MSIM_GIVEN_optimizer_bits, 8);
    if (r->in_backward)
        set(k, MSIM_GIVEN_optimizer_in_backward, MSIM_STATED_YES);
    k->is &= r->recompute_every <= 1 && !*r->recompute_ops && !r->autocast &&
             !r->fp8 && !(r->offload_activations && r->offload_states);
}

/* What follows from others is not stated any more: every rank keeps its own
 * batch, and every node its GPUs. */
static void settle(struct making *k)
{
    const struct msim_strategy *was = k->whole;
    struct msim_strategy *s = &k->out->strategy;
    uint64_t given = k->out->given;
    int64_t gpus = 1;

#define PARTS(name) (given >> MSIM_GIVEN_##name & 1 ? s->name : was->name)
    gpus = PARTS(tp) * PARTS(pp) * PARTS(cp);
    set(k, MSIM_GIVEN_dp, PARTS(dp));
    set(k, MSIM_GIVEN_micro_batch, PARTS(micro_batch));
    set(k, MSIM_GIVEN_grad_accum, PARTS(grad_accum));
#undef PARTS
    gpus *= s->dp;
    forget(k, MSIM_GIVEN_gpus);
    forget(k, MSIM_GIVEN_global_batch);
    if (given >> MSIM_GIVEN_nodes & 1)
        set(k, MSIM_GIVEN_nodes,
            (gpus + was->gpus_a_node - 1) / was->gpus_a_node);
}

/* ---- all of it ----------------------------------------------------------- */

static enum msim_status change(struct making *k, struct msim_error *err)
{
    const struct msim_reshape *to = k->by->reshape;
    char why[256];

    for (uint32_t i = 0; i < to->n_sizes; i++)
        change_size(k, &to->sizes[i]);
    for (uint32_t i = 0; i < to->n_axes; i++)
        change_axis(k, &to->axes[i]);
    k->is &= !to->dtype && !to->tf32;
    if (k->by->rewrite) {
        MSIM_TRY(change_layers(k, err));
        change_copies(k);
        change_split(k);
        change_memory(k);
    }
    settle(k);
    k->is &= msim_job_model_make(&k->out->model, k->model, k->sizes, why,
                                 sizeof(why));
    return MSIM_OK;
}

enum msim_status msim_written_change_make(struct msim_written_is *out,
                                          struct msim_job_model *sizes,
                                          bool *is,
                                          const struct msim_written_is *job,
                                          const struct msim_step_change *by,
                                          struct msim_error *err)
{
    struct msim_strategy whole = job->strategy;
    struct making k = {out, sizes, &whole, &job->model, by, true};
    char text[512], why[256];
    enum msim_status status;

    *out = *job;
    *sizes = (struct msim_job_model){.layers = 0};
    *is = !msim_strategy_complete(&whole, job->given, &job->model,
                                  MSIM_WRITTEN_NODE, text, sizeof(text), why,
                                  sizeof(why));
    if (!*is)
        return MSIM_OK;
    status = change(&k, err);
    *is = status == MSIM_OK && k.is;
    return status;
}
