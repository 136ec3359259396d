/*
 * core/rewrite/rewrite.c - changes one after the other.
 */

#include "core/rewrite/repeat/reducer.h"
#include "core/rewrite/rewrite_internal.h"
#include "core/rewrite/split/experts.h"
#include "core/rewrite/split/split.h"
#include "core/rewrite/weave/weave.h"

#include <string.h>

/* A change of sizes, too, from a trace to another. */
typedef enum msim_status whole_fn(struct msim_trace **out,
                                  const struct msim_trace *t,
                                  struct msim_strtab *strings,
                                  const struct msim_rewrite *r,
                                  struct msim_error *err);

static enum msim_status join_ranks(struct msim_trace **out,
                                   const struct msim_trace *t,
                                   struct msim_strtab *strings,
                                   const struct msim_rewrite *r,
                                   struct msim_error *err)
{
    return msim_joined_new(out, t, strings, r->parallel.joins, err);
}

static enum msim_status share_out(struct msim_trace **out,
                                  const struct msim_trace *t,
                                  struct msim_strtab *strings,
                                  const struct msim_rewrite *r,
                                  struct msim_error *err)
{
    return msim_tensor_split_new(out, t, strings, &r->parallel, err);
}

static enum msim_status share_sequence(struct msim_trace **out,
                                       const struct msim_trace *t,
                                       struct msim_strtab *strings,
                                       const struct msim_rewrite *r,
                                       struct msim_error *err)
{
    return msim_context_shorten_new(out, t, strings, r->parallel.cp, err);
}

static enum msim_status join_experts(struct msim_trace **out,
                                     const struct msim_trace *t,
                                     struct msim_strtab *strings,
                                     const struct msim_rewrite *r,
                                     struct msim_error *err)
{
    return msim_experts_joined_new(out, t, strings, r->parallel.experts_join,
                                   err);
}

static enum msim_status spread_experts(struct msim_trace **out,
                                       const struct msim_trace *t,
                                       struct msim_strtab *strings,
                                       const struct msim_rewrite *r,
                                       struct msim_error *err)
{
    const struct msim_split *p = &r->parallel;
    const struct msim_experts_how how = {.ranks = p->ep > 1 ? p->ep : 1,
                                         .dp = p->dp ? p->dp : 1,
                                         .cp = p->cp ? p->cp : 1,
                                         .tp = p->tp,
                                         .shares = msim_split_expert_shares(p),
                                         .said = p->etp > 0};

    return msim_experts_spread_new(out, t, strings, &how, err);
}

/* Buckets that other sizes fill otherwise. */
static enum msim_status refill(struct msim_trace **out,
                               const struct msim_trace *t,
                               struct msim_strtab *strings,
                               const struct msim_rewrite *r,
                               struct msim_error *err)
{
    struct msim_bucket_caps caps = {r->bucket_first, r->bucket_others};
    struct msim_trace *apart;
    enum msim_status status;

    *out = NULL;
    MSIM_TRY(msim_reducer_apart(&apart, t, strings, &caps, err));
    if (!apart)
        return msim_fail(err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                         "buckets of gradients (DDP) cannot be filled anew "
                         "with these sizes");
    status = msim_reducer_together(out, apart, strings, &caps, err);
    msim_trace_free(apart);
    return status;
}

static enum msim_status exchange_keys(struct msim_weave *w,
                                      const struct msim_rewrite *r)
{
    const struct msim_split *p = &r->parallel;

    return msim_context_exchange(w, p->cp, p->recorded ? p->recorded : 1);
}

/* One change, and whether it is asked for. */
struct stage {
    msim_stage_fn *run; /* NULL: `whole` does it */
    bool asked;
    bool of_forward; /* a trace of a forward pass alone will do */
    whole_fn *whole;
};

#define N_STAGES 19

/* Have tensor parallel ranks whole experts, which some of them may share? */
static bool has_whole_experts(const struct msim_split *p)
{
    return p->tp > 1 && msim_split_expert_shares(p) == 1;
}

/* ZeRO 1 is DDP whose optimizer is shared out. */
static bool is_ddp(const struct msim_rewrite *r)
{
    return r->parallel.experts_join > 1 || r->shard == MSIM_SHARD_DDP ||
           r->shard == MSIM_SHARD_ZERO1 ||
           ((msim_rewrite_copies(r) > 1 || has_whole_experts(&r->parallel)) &&
            r->shard == MSIM_SHARD_NONE);
}

static bool is_split(const struct msim_split *p)
{
    return p->pp > 1 || p->cp > 1 || p->dp > 1 || p->micro_batches;
}

static bool repeats(const struct msim_rewrite *r)
{
    bool any = r->layers > 0;

    for (uint32_t i = 0; i < r->n_more_layers; i++)
        any |= r->more_layers[i].to > 0;
    return any;
}

static void list(struct stage *stages, const struct msim_rewrite *r)
{
    const struct stage all[N_STAGES] = {
        {NULL, r->parallel.experts_join > 1, true, join_experts},
        {NULL, r->parallel.joins > 1, true, join_ranks},
        {msim_stage_repeat, repeats(r), true, NULL},
        {NULL, r->bucket_first > 0 && !repeats(r), true, refill},
        {NULL, r->parallel.cp > 1, true, share_sequence},
        {NULL, r->parallel.tp > 1, true, share_out},
        {exchange_keys, r->parallel.cp > 1, true, NULL},
        {NULL, r->parallel.ep > 1 || r->parallel.tp > 1, true, spread_experts},
        {msim_stage_mixed, r->autocast || r->mixed, false, NULL},
        {msim_stage_fp8, r->fp8, false, NULL},
        {msim_stage_recompute, r->recompute_every > 0, false, NULL},
        {msim_stage_offload_activations, r->offload_activations, false, NULL},
        {msim_stage_accumulate, r->accumulate || r->anew, false, NULL},
        {msim_stage_pipeline, is_split(&r->parallel), true, NULL},
        {msim_stage_ddp, is_ddp(r),
         r->parallel.dp > 1 || r->parallel.cp > 1 ||
             r->parallel.experts_join > 1 || has_whole_experts(&r->parallel),
         NULL},
        {msim_stage_shard, r->shard > MSIM_SHARD_ZERO1, false, NULL},
        {msim_stage_optimizer_bits, r->optimizer_8bit, false, NULL},
        {msim_stage_offload, r->offload_states && r->shard <= MSIM_SHARD_ZERO1,
         false, NULL},
        {msim_stage_in_backward, r->in_backward, false, NULL},
    };

    memcpy(stages, all, sizeof(all));
}

bool msim_rewrite_is_none(const struct msim_rewrite *r)
{
    struct stage stages[N_STAGES];

    list(stages, r);
    for (int i = 0; i < N_STAGES; i++)
        if (stages[i].asked)
            return false;
    return !r->parallel.whole;
}

uint32_t msim_rewrite_stages(const struct msim_rewrite *r)
{
    return r->parallel.pp > 1 ? r->parallel.pp : 1;
}

static enum msim_status run(struct msim_trace **out, const struct msim_trace *t,
                            struct msim_strtab *strings,
                            const struct stage *stage,
                            const struct msim_rewrite *r,
                            struct msim_error *err)
{
    struct msim_weave w;
    enum msim_status status;

    if (!stage->run)
        return stage->whole(out, t, strings, r, err);
    status = stage->of_forward ? msim_weave_open_forward(&w, t, strings, err)
                               : msim_weave_open(&w, t, strings, err);
    if (status == MSIM_OK)
        status = stage->run(&w, r);
    if (status == MSIM_OK)
        status = msim_weave_finish(&w, out);
    msim_weave_close(&w);
    return status;
}

/* Repetition after repetition. */
static enum msim_status
run_each(struct msim_trace **out, const struct msim_trace *t,
         struct msim_strtab *strings, const struct stage *stage,
         const struct msim_rewrite *r, struct msim_error *err)
{
    struct msim_rewrite one = *r;
    struct msim_trace *last = NULL, *next = NULL;

    *out = NULL;
    for (uint32_t i = 0; i <= r->n_more_layers; i++) {
        enum msim_status status;

        if (i) {
            one.layers = r->more_layers[i - 1].to;
            memcpy(one.layers_block, r->more_layers[i - 1].block,
                   sizeof(one.layers_block));
        }
        if (!one.layers)
            continue;
        status = run(&next, last ? last : t, strings, stage, &one, err);
        msim_trace_free(last);
        MSIM_TRY(status);
        last = next;
    }
    *out = last;
    return MSIM_OK;
}

/* With DDP's buckets apart meanwhile, where there are some. */
static enum msim_status
run_repeats(struct msim_trace **out, const struct msim_trace *t,
            struct msim_strtab *strings, const struct stage *stage,
            const struct msim_rewrite *r, struct msim_error *err)
{
    struct msim_bucket_caps caps = {r->bucket_first, r->bucket_others};
    struct msim_trace *apart, *made = NULL;
    enum msim_status status;

    *out = NULL;
    MSIM_TRY(msim_reducer_apart(&apart, t, strings, &caps, err));
    if (!apart)
        return run_each(out, t, strings, stage, r, err);
    status = run_each(&made, apart, strings, stage, r, err);
    if (status == MSIM_OK)
        status = msim_reducer_together(out, made, strings, &caps, err);
    msim_trace_free(apart);
    msim_trace_free(made);
    return status;
}

/* What of stages [first, end) is asked for, one after the other; `*out` is NULL
 * where nothing is. */
static enum msim_status
run_all(struct msim_trace **out, const struct msim_trace *t,
        struct msim_strtab *strings, const struct stage *first,
        const struct stage *end, const struct msim_rewrite *r,
        struct msim_error *err)
{
    struct msim_trace *last = NULL, *next;

    *out = NULL;
    for (const struct stage *s = first; s < end; s++) {
        enum msim_status status;

        if (!s->asked)
            continue;
        status = (s->run == msim_stage_repeat ? run_repeats : run)(
            &next, last ? last : t, strings, s, r, err);
        if (status == MSIM_OK && !next)
            continue; /* it changes nothing */
        msim_trace_free(last);
        MSIM_TRY(status);
        last = next;
    }
    *out = last;
    return MSIM_OK;
}

enum msim_status msim_rewritten_new(struct msim_trace **out,
                                    const struct msim_trace *t,
                                    struct msim_strtab *strings,
                                    const struct msim_rewrite *r,
                                    struct msim_error *err)
{
    struct stage stages[N_STAGES];

    list(stages, r);
    return run_all(out, t, strings, stages, stages + N_STAGES, r, err);
}

enum msim_status msim_rewritten_stages_new(struct msim_trace **out,
                                           const struct msim_trace *t,
                                           struct msim_strtab *strings,
                                           const struct msim_rewrite *r,
                                           struct msim_error *err)
{
    struct stage stages[N_STAGES], *cut = stages;
    struct msim_rewrite one = *r;
    struct msim_trace *whole;
    enum msim_status status;
    uint32_t n = msim_rewrite_stages(r);

    list(stages, r);
    memset(out, 0, n * sizeof(*out));
    while (n > 1 && cut->run != msim_stage_pipeline)
        cut++;
    status = run_all(&whole, t, strings, stages, cut, r, err);
    for (uint32_t i = 0; i < n && status == MSIM_OK; i++) {
        one.parallel.stage = i;
        status = run_all(&out[i], whole ? whole : t, strings, cut,
                         stages + N_STAGES, &one, err);
    }
    msim_trace_free(whole);
    for (uint32_t i = 0; i < n && status != MSIM_OK; i++) {
        msim_trace_free(out[i]);
        out[i] = NULL;
    }
    return status;
}

/* Passes of every step, where all have as many. */
static uint32_t count_passes(const struct msim_anatomy *a)
{
    uint32_t each = 0, since = 0;

    for (uint32_t p = 1; p <= a->n_passes; p++) {
        since++;
        if (!msim_anatomy_steps_before(a, p))
            continue;
        if (each && each != since)
            return 0;
        each = since;
        since = 0;
    }
    return since ? 0 : each;
}

enum msim_status msim_rewrite_count_passes(uint32_t *out,
                                           const struct msim_trace *t,
                                           struct msim_strtab *strings,
                                           struct msim_error *err)
{
    struct msim_weave w;
    enum msim_status status = msim_weave_open_forward(&w, t, strings, err);

    *out = status == MSIM_OK ? count_passes(&w.a) : 0;
    msim_weave_close(&w);
    return status;
}

enum msim_status msim_rewrite_count_layers(uint32_t *out,
                                           const struct msim_trace *t,
                                           struct msim_strtab *strings,
                                           const char *block,
                                           struct msim_error *err)
{
    const struct msim_repeat *row = NULL;
    struct msim_repeats all = {0};
    struct msim_weave w;
    enum msim_status status = msim_weave_open_forward(&w, t, strings, err);

    *out = 0;
    if (status == MSIM_OK)
        status = msim_repeats_find(&all, &w);
    if (status == MSIM_OK)
        status = msim_repeats_choose(&row, &all, &w, block);
    if (row)
        *out = row->n;
    msim_repeats_release(&all);
    msim_weave_close(&w);
    return status;
}

enum msim_status msim_rewrite_settle_buckets(struct msim_rewrite *r,
                                             const struct msim_trace *t,
                                             const struct msim_trace *view,
                                             struct msim_strtab *strings)
{
    struct msim_bucket_caps caps;
    bool differ;

    MSIM_TRY(msim_reducer_differ(&differ, &caps, t, view, strings));
    if (!differ && !repeats(r))
        return MSIM_OK;
    r->bucket_first = caps.first;
    r->bucket_others = caps.others;
    return MSIM_OK;
}

static bool has_fused(const char *name)
{
    return strcmp(name, MSIM_GPU_FORM_MATH) == 0 ||
           strcmp(name, MSIM_GPU_FORM_DROPOUT) == 0;
}

static bool has(const struct msim_trace *t, bool (*is)(const char *name))
{
    for (uint32_t i = 0; i < t->n_ops; i++)
        if (is(msim_trace_text(t, t->ops[i].name)))
            return true;
    return false;
}

bool msim_gpu_form_is_other(const struct msim_trace *t)
{
    return has(t, has_fused);
}

enum msim_status msim_gpu_form_new(struct msim_trace **out,
                                   const struct msim_trace *t,
                                   struct msim_strtab *strings)
{
    const struct stage stages[] = {
        {msim_stage_gpu, has(t, has_fused), false, NULL},
        {msim_stage_lists, has(t, msim_step_takes_lists), false, NULL}};

    *out = NULL;
    if (!t->cpu_only || !t->has_et || !t->n_tensor_ids)
        return MSIM_OK;
    for (size_t i = 0; i < sizeof(stages) / sizeof(*stages); i++) {
        const struct msim_rewrite none = {0};
        struct msim_trace *last = *out, *next = NULL;
        enum msim_status status =
            stages[i].asked
                ? run(&next, last ? last : t, strings, &stages[i], &none, NULL)
                : MSIM_OK;

        if (!next) {
            /* an inference: nothing is kept for backward */
            if (status == MSIM_OK || status == MSIM_EUSAGE)
                continue;
            msim_trace_free(last);
            *out = NULL;
            return status;
        }
        msim_trace_free(last);
        *out = next;
    }
    return MSIM_OK;
}
