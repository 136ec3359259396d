/*
 * models/estimate/attention.c - attention by models/law/attention_law.c.
 */
#include "core/base/print.h"
#include "core/base/texts.h"
#include "core/work/kernel_fact.h"
#include "models/estimate/model.h"
#include "models/estimate/model_internal.h"
#include "models/law/law.h"
#include "models/platform/fit.h"
#include "models/platform/platform_data.h"

#include <math.h>
#include <stack_rows.h>

static bool attention_covers(const struct msim_platform *p,
                             const struct msim_work *w)
{
    (void)p;
    return w->family == MSIM_FAMILY_ATTENTION && w->u.attention.batch > 0 &&
           w->u.attention.heads > 0 && w->u.attention.kv_heads > 0 &&
           w->u.attention.q_len > 0 && w->u.attention.kv_len > 0 &&
           (double)w->u.attention.head_dim > 0;
}

/* Another phase stands in where a phase has no fit: prefill and encoder differ
 * in the mask only, which the number of pairs accounts for. */
static bool attention_pick(const struct msim_platform *p,
                           const struct msim_work *w, struct msim_pick *out)
{
    static const char *const PREFER[] = {MSIM_STACKS_ATTENTION};
    static const char *const KEYS[][4] = {
        [MSIM_ATTENTION_PREFILL] = {"prefill", "encoder", NULL},
        [MSIM_ATTENTION_DECODE] = {"decode", "prefill", NULL},
        [MSIM_ATTENTION_ENCODER] = {"encoder", "prefill", NULL},
    };

    return msim_fit_pick(p, &MSIM_LAW_ATTENTION, w->framework, PREFER,
                         KEYS[w->u.attention.phase], out);
}

/* Parts, of equally many heads each, in which no part has more heads of keys
 * than rows of the fit had; 1 where there are none. */
static int64_t head_parts(const struct msim_work *w, const struct msim_fit *fit)
{
    double most = fit->range_high[MSIM_ATTENTION_SIZE_KV_HEADS];
    int64_t keys = w->u.attention.kv_heads;

    /* sizes of a broken trace may be any */
    if (w->u.attention.heads % keys || keys > INT16_MAX ||
        w->u.attention.batch > INT32_MAX)
        return 1;
    for (int64_t parts = 1; parts <= keys; parts++)
        if (keys % parts == 0 && log((double)(keys / parts)) < most + 1e-3)
            return parts;
    return 1;
}

/*
 * Kernels that decode have blocks of their own for every head of keys of every
 * sequence, so that heads beyond those of a stack's rows (vLLM's end at 8) are
 * as sequences: 32 sequences of 32 heads as 128 of 8.
 */
static void fold_heads(struct msim_work *w, const struct msim_fit *fit)
{
    int64_t parts = 1;

    if (w->u.attention.phase == MSIM_ATTENTION_DECODE)
        parts = head_parts(w, fit);
    w->u.attention.batch *= parts;
    w->u.attention.heads /= parts;
    w->u.attention.kv_heads /= parts;
}

/* Heads that flash kernels do not take. */
static bool is_large(const struct msim_platform *p, const struct msim_work *w)
{
    return !p->is_host && !w->framework && w->u.attention.q_len > 1 &&
           (double)w->u.attention.head_dim > MSIM_FACT(NULL, FLASH_HEAD);
}

/* LLMServingSim times the layers of vLLM (data/laws/kernels.csv). */
static bool is_vllm(const char *framework)
{
    return msim_same_text(framework, "vllm") ||
           msim_same_text(framework, "LLMServingSim");
}

/* Rows of masked attention stand in for unmasked: this stack's have more. */
static double unmasked(const struct msim_work *w, const struct msim_pick *pick)
{
    return w->u.attention.phase == MSIM_ATTENTION_ENCODER &&
                   msim_same_text(pick->fit->key, "prefill") &&
                   is_vllm(pick->fit->framework)
               ? exp(-MSIM_FACT(NULL, ATTENTION_UNMASKED))
               : 1;
}

static enum msim_status attention_predict(const struct msim_platform *p,
                                          const struct msim_work *w,
                                          struct msim_estimate *out)
{
    struct msim_work work = *w;
    struct msim_pick pick;
    struct msim_adjust adjust = {.factor = 1};

    if (msim_attention_is_in_parts(p, w))
        return msim_attention_parts(p, w, out);
    if (!attention_pick(p, w, &pick))
        return MSIM_ENOMODEL;
    fold_heads(&work, pick.fit);
    msim_work_count(&work);
    adjust.factor = unmasked(&work, &pick);
    /* a fit of this very GPU has its stack's own start */
    if (pick.platform != p)
        adjust.least_us = p->sheet.attention_us;
    /* the flops of a backward pass, 2.5 times as many, are counted */
    if (w->u.attention.backward) {
        adjust.factor /= MSIM_FACT(NULL, ATTENTION_BACKWARD_RATE);
        adjust.log_sd = MSIM_FACT(NULL, ATTENTION_BACKWARD_LOG_SD);
    }
    if (is_large(p, w)) {
        adjust.factor *= MSIM_FACT(NULL, LARGE_HEAD_FACTOR);
        adjust.log_sd += MSIM_FACT(NULL, LARGE_HEAD_LOG_SD);
    }
    msim_fit_estimate(p, &pick, &work, &adjust, out);
    return MSIM_OK;
}

static void attention_explain(const struct msim_platform *p,
                              const struct msim_work *w, FILE *out)
{
    struct msim_work work = *w;
    struct msim_pick pick;

    if (msim_attention_is_in_parts(p, w)) {
        msim_attention_parts_explain(p, w, out);
        return;
    }
    msim_print(
        out,
        "law: t0 + norm(flops / rate, bytes / bandwidth, key steps)%s\n"
        "inputs: %s, batch %lld, heads %lld over %lld, queries %lld, "
        "keys %lld, head size %lld, %s\n",
        w->u.attention.backward ? ", backward: 2.5 times the flops at 0.75 "
                                  "of the rate"
                                : "",
        msim_attention_phase_text(w), (long long)w->u.attention.batch,
        (long long)w->u.attention.heads, (long long)w->u.attention.kv_heads,
        (long long)w->u.attention.q_len, (long long)w->u.attention.kv_len,
        (long long)w->u.attention.head_dim, msim_dtype_text(w->dtype));
    if (is_large(p, w))
        fprintf(out, "times: %g, for heads beyond %.0f\n",
                MSIM_FACT(NULL, LARGE_HEAD_FACTOR),
                MSIM_FACT(NULL, FLASH_HEAD));
    if (!attention_pick(p, w, &pick))
        return;
    fold_heads(&work, pick.fit);
    if (work.u.attention.batch != w->u.attention.batch)
        msim_print(out,
                   "heads: more than rows have, taken as %lld sequences with "
                   "%lld over %lld\n",
                   (long long)work.u.attention.batch,
                   (long long)work.u.attention.heads,
                   (long long)work.u.attention.kv_heads);
    msim_work_count(&work);
    if (unmasked(w, &pick) < 1)
        fprintf(out, "times: %.3g, since the rows are of masked attention\n",
                unmasked(w, &pick));
    msim_fit_explain(p, &pick, &work, out);
}

const struct msim_model MSIM_MODEL_ATTENTION = {
    "attention", attention_covers, attention_predict, attention_explain};
