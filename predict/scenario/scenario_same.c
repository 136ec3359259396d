/*
 * predict/scenario/scenario_same.c - changes that change nothing.
 */
#include "predict/scenario/scenario_internal.h"

#include "core/rewrite/rewrite.h"
#include "core/rewrite/split/experts.h"
#include "core/rewrite/split/split.h"
#include "core/trace/trace_columns.h"

/* Is a product, a convolution or attention of the job in 32 bits? */
static enum msim_status multiplies_wide(bool *wide,
                                        const struct msim_inputs *in,
                                        const struct msim_target *to,
                                        struct msim_error *err)
{
    const struct msim_reshape none = {0};
    struct msim_asked asked = {0};
    enum msim_status status = msim_asked_views(&asked, in, &none, err);

    *wide = false;
    if (status == MSIM_OK)
        status = msim_asked_works(&asked, in, msim_target_is_host(to));
    for (uint32_t r = 0; status == MSIM_OK && r < asked.n; r++)
        for (uint32_t i = 0; i < asked.works[r]->n_works; i++) {
            const struct msim_work *w = &asked.works[r]->works[i];

            *wide |=
                w->dtype == MSIM_DT_F32 && (w->family == MSIM_FAMILY_GEMM ||
                                            w->family == MSIM_FAMILY_CONV ||
                                            w->family == MSIM_FAMILY_ATTENTION);
        }
    msim_asked_release(&asked);
    return status;
}

/* As many layers as there are, are none. A stage has some of them: those of all
 * are counted once they are one rank. */
static enum msim_status drop_repeat(uint32_t *to, const char *block,
                                    const struct msim_job *job,
                                    struct msim_error *err)
{
    uint32_t n;

    if (!*to || !job->n_ranks)
        return MSIM_OK;
    MSIM_TRY(
        msim_rewrite_count_layers(&n, job->ranks[0], job->strings, block, err));
    if (*to == n)
        *to = 0;
    return MSIM_OK;
}

static enum msim_status drop_layers(struct msim_rewrite *r,
                                    const struct msim_job *job,
                                    struct msim_error *err)
{
    if (r->parallel.whole)
        return MSIM_OK;
    MSIM_TRY(drop_repeat(&r->layers, r->layers_block, job, err));
    for (uint32_t i = 0; i < r->n_more_layers; i++)
        MSIM_TRY(drop_repeat(&r->more_layers[i].to, r->more_layers[i].block,
                             job, err));
    return MSIM_OK;
}

/* As many micro batches as are recorded are none; in stages they are put into
 * another order. */
static enum msim_status drop_micro_batches(struct msim_rewrite *r,
                                           const struct msim_job *job,
                                           struct msim_error *err)
{
    struct msim_split *p = &r->parallel;
    bool spread = p->tp > 1 || p->pp > 1 || p->cp > 1 || p->dp > 1 || p->ep > 1;
    enum msim_status status;
    uint32_t n;

    if ((!p->micro_batches || spread) && !r->accumulate)
        return MSIM_OK;
    if (!job->n_ranks)
        return MSIM_OK;
    status = msim_rewrite_count_passes(&n, job->ranks[0], job->strings, err);
    if (status != MSIM_OK && status != MSIM_EUSAGE)
        return status;
    if (status == MSIM_EUSAGE) /* of which no step can be made: it is one */
        n = 1;
    if (p->micro_batches == n && !spread)
        p->micro_batches = 0;
    if (r->accumulate == n)
        r->accumulate = 0;
    return MSIM_OK;
}

/* The fewest copies, each on all ranks that share sequences, on which experts
 * are spread; 0: no copies. */
static uint32_t copies_of_experts(const struct msim_split *p)
{
    uint64_t cp = p->cp ? p->cp : 1, dp = 1;

    if (p->etp == 1 && p->tp > 1) /* tensor parallel ranks have others, too */
        cp *= p->tp;

    while (dp * cp % p->ep)
        dp++;
    return dp > 1 ? (uint32_t)dp : 0;
}

/* "world" is the copies of a rank's shares and stages; those of one that is
 * trained alone and whole are it alone: they can share parameters. */
static void name_copies(struct msim_rewrite *r, const struct msim_job *job)
{
    struct msim_split *p = &r->parallel;

    if (p->ep > 1 && !p->dp && !r->world)
        r->world = copies_of_experts(p); /* each with tokens of its own */
    if (!p->dp &&
        (p->ep > 1 || p->tp > 1 || p->pp > 1 || p->cp > 1 || p->micro_batches))
        p->dp = r->world;
    if (r->shard > MSIM_SHARD_ZERO1 && p->ep <= 1 && p->tp <= 1 && p->pp <= 1 &&
        p->cp <= 1 && !p->micro_batches && msim_job_world(job) <= 1)
        p->dp = 0; /* "world" has the number, too */
}

/* One stage of a recorded pipeline's, or as many as there are, in the order in
 * which they are. */
static void settle_stages(struct msim_split *p, const struct msim_job *job)
{
    uint32_t stages = msim_whole_stages(
        (const struct msim_trace *const *)job->ranks, job->n_ranks);

    p->whole = stages && p->pp == 1;
    if (p->pp == stages && p->vp <= 1 && !p->blocks &&
        p->order == MSIM_TURNS_1F1B)
        p->pp = 0;
}

/* Copies of the recorded shares, which reduce gradients: as many as there are.
 */
static void settle_copies(struct msim_rewrite *r, const struct msim_job *job)
{
    struct msim_split *p = &r->parallel;
    const struct msim_trace *t = job->n_ranks ? job->ranks[0] : NULL;
    bool rows;
    uint32_t ranks = t ? msim_shares_recorded_ranks(t, &rows) : 0;

    if (!t || p->dp <= 1 || r->shard || msim_has_messages(t) ||
        msim_shares_recorded_copies(t) != p->dp ||
        msim_job_world(job) != p->dp * (ranks ? ranks : 1))
        return;
    p->dp = r->world = 0;
}

/* Of as many tensor parallel ranks as are recorded, or fewer. */
static void settle_shares(struct msim_split *p, const struct msim_job *job)
{
    bool rows;
    uint32_t ranks =
        job->n_ranks ? msim_shares_recorded_ranks(job->ranks[0], &rows) : 0;

    if (!p->tp || !ranks || ranks < p->tp)
        return;
    p->joins = ranks / p->tp;
    p->tp = 0;
}

/* Experts on as many ranks as are recorded, or on fewer. */
static enum msim_status settle_experts(struct msim_split *p,
                                       const struct msim_job *job,
                                       struct msim_error *err)
{
    uint32_t ranks;

    if (!p->ep || !job->n_ranks)
        return MSIM_OK;
    MSIM_TRY(msim_experts_recorded_ranks(&ranks, job->ranks[0]));
    if (!ranks || ranks < p->ep)
        return MSIM_OK;
    if (ranks % p->ep)
        return msim_fail(err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                         "parallel.ep is %u, but experts of the trace are on "
                         "%u ranks; want a number that divides these",
                         p->ep, ranks);
    p->experts_join = ranks / p->ep;
    p->ep = 0;
    return MSIM_OK;
}

/* A model of other sizes fills DDP's buckets otherwise. */
static enum msim_status settle_buckets(struct msim_predict_settings *s,
                                       const struct msim_job *job,
                                       struct msim_error *err)
{
    struct msim_trace *view;
    enum msim_status status;

    if (!s->reshape.n_sizes || !job->n_ranks)
        return MSIM_OK;
    MSIM_TRY(msim_reshaped_new(&view, job->ranks[0], &s->reshape, err));
    status = msim_rewrite_settle_buckets(&s->rewrite, job->ranks[0], view,
                                         job->strings);
    msim_reshaped_free(view);
    return status;
}

enum msim_status msim_scenario_drop_same(struct msim_scenario_row *row,
                                         const struct msim_inputs *in,
                                         const struct msim_target *to,
                                         struct msim_error *err)
{
    struct msim_predict_settings *s = &row->settings;
    bool wide;

    if (s->ranks == msim_job_world(in->job))
        s->ranks = 0;
    if (in->job->n_ranks)
        MSIM_TRY(msim_tensor_check_recorded(in->job->ranks[0],
                                            &s->rewrite.parallel, err));
    settle_stages(&s->rewrite.parallel, in->job);
    MSIM_TRY(settle_experts(&s->rewrite.parallel, in->job, err));
    settle_copies(&s->rewrite, in->job);
    settle_shares(&s->rewrite.parallel, in->job);
    if (s->rewrite.world == msim_job_world(in->job) && !s->rewrite.shard &&
        !s->rewrite.parallel.dp)
        s->rewrite.world = 0;
    MSIM_TRY(drop_layers(&s->rewrite, in->job, err));
    MSIM_TRY(drop_micro_batches(&s->rewrite, in->job, err));
    name_copies(&s->rewrite, in->job);
    MSIM_TRY(settle_buckets(s, in->job, err));
    if (!s->reshape.dtype)
        return MSIM_OK;
    MSIM_TRY(multiplies_wide(&wide, in, to, err));
    if (!wide)
        s->reshape.dtype = MSIM_DT_UNKNOWN;
    return MSIM_OK;
}
