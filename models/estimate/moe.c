/*
 * models/estimate/moe.c - layers of experts by models/law/moe_law.c.
 */
#include "core/base/print.h"
#include "core/base/texts.h"
#include "core/work/kernel_fact.h"
#include "models/estimate/model.h"
#include "models/law/law.h"
#include "models/platform/fit.h"
#include "models/platform/platform_data.h"

#include <math.h>
#include <stack_rows.h>
#include <string.h>

static bool moe_covers(const struct msim_platform *p, const struct msim_work *w)
{
    const struct msim_moe_routing *r = &w->u.moe.routing;

    (void)p;
    return w->family == MSIM_FAMILY_MOE && r->tokens > 0 && r->topk > 0 &&
           r->experts > 0 && w->u.moe.hidden > 0 && w->u.moe.inter > 0;
}

/* The types that stand in for the work's type, this type first. The data
 * sheet's rate of the wanted type still counts. */
static const char *const *types_for(const struct msim_work *w)
{
    static const char *const LIKE[][6] = {
        {"bfloat16"},
        {"fp8", "fp8_block", "bfloat16"},
        {"fp8_block", "fp8", "bfloat16"},
        {"nvfp4", "w4a8_mxfp4_mxfp8", "fp8", "bfloat16"},
        {"w4a8_mxfp4_mxfp8", "nvfp4", "fp8", "bfloat16"},
        {"w4a16_mxfp4", "int4_wo", "bfloat16"},
        {"int4_wo", "w4a16_mxfp4", "bfloat16"},
        {"int8_wo", "int4_wo", "bfloat16"},
        {"sq", "fp8", "bfloat16"},
    };

    for (size_t i = 0; i < sizeof(LIKE) / sizeof(*LIKE); i++)
        if (strcmp(LIKE[i][0], msim_moe_type(w)) == 0)
            return LIKE[i];
    return LIKE[0];
}

/* What identifies the work's model: logarithms of hidden size, experts, experts
 * a token, the first features of the law. */
static void model_of(const struct msim_work *w, double x[MSIM_MOE_NAMES])
{
    const struct msim_moe_routing *r = &w->u.moe.routing;

    x[0] = log((double)w->u.moe.hidden);
    x[1] = log((double)r->experts);
    x[2] = log((double)r->topk);
}

/* How far a model is from those that a fit saw: the sum of what is beyond their
 * ranges. */
static double model_distance(const struct msim_fit *c, const double *x)
{
    double sum = 0;

    for (int i = 0; i < MSIM_MOE_NAMES; i++)
        sum += fmax(fmax(c->range_low[i] - x[i], x[i] - c->range_high[i]), 0);
    return sum;
}

/* Ranges have five digits. */
#define SAME_DISTANCE 1e-3

static bool is_better(const struct msim_fit *c, const struct msim_fit *than,
                      const double *x)
{
    double a = model_distance(c, x), b = model_distance(than, x);

    return fabs(a - b) > SAME_DISTANCE ? a < b : c->rows > than->rows;
}

static const char *const PREFER[] = {MSIM_STACKS_MOE};
/* Stacks that are asked for kernels: the work's own, and these. */
#define PREFERRED (sizeof(PREFER) / sizeof(*PREFER))

/* The rank of a stack among those that are asked: the work's own first. */
static uint32_t rank_of(const struct msim_fit *c, const struct msim_work *w)
{
    uint32_t i = 0;

    if (w->framework && strcmp(c->framework, w->framework) == 0)
        return 0;
    while (PREFER[i] && !msim_same_text(PREFER[i], c->framework))
        i++;
    return i + 1;
}

/*
 * The kernels that stacks run for the nearest models in a type, of those the
 * ones with most rows; of the first stack that has any. NULL: none has. A stack
 * chooses kernels by the model: MXFP4 experts of gpt-oss by Triton's, of others
 * by Marlin's.
 */
static const char *most_used(const struct msim_platform *p, const char *type,
                             const struct msim_work *w, const double *x)
{
    const struct msim_fit *best[PREFERRED + 1] = {NULL};
    size_t n = strlen(type);
    uint32_t first = 0;

    for (uint32_t i = 0; i < p->n_fits; i++) {
        const struct msim_fit *c = &p->fits[i];
        uint32_t rank;

        if (c->law != &MSIM_LAW_MOE || *c->key != *type ||
            strncmp(c->key, type, n) != 0 || c->key[n] != '/')
            continue;
        rank = rank_of(c, w);
        c = msim_fit_whole(c);
        if (c && (!best[rank] || is_better(c, best[rank], x)))
            best[rank] = c;
    }
    while (first < PREFERRED && !best[first])
        first++;
    return first < PREFERRED ? best[first]->key + n + 1 : NULL;
}

/* For works that do not tell their kernels: those that a framework chose for
 * such models on this GPU, or on the first platform that stands in for it. */
static const char *usual_kernels(const struct msim_platform *p,
                                 const struct msim_work *w)
{
    const char *found = NULL;
    double x[MSIM_MOE_NAMES];

    model_of(w, x);
    for (; p && !found; p = p->next)
        found = most_used(p, msim_moe_type(w), w, x);
    return found;
}

#define KEYS_MAX 32

/* Pick among fits of other kernels, and of similar types. */
static bool pick_other(const struct msim_platform *p, const struct msim_work *w,
                       const char *key, struct msim_pick *out)
{
    static const char *const KERNELS[] = {"triton", "cutlass", "trtllm-gen",
                                          "marlin", "any"};
    char text[KEYS_MAX][48];
    const char *keys[KEYS_MAX + 2] = {key};
    size_t n = 0;

    for (const char *const *type = types_for(w); *type; type++)
        for (size_t i = 0; i < sizeof(KERNELS) / sizeof(*KERNELS); i++)
            if (n < KEYS_MAX)
                MSIM_JOIN_TEXT(text[n++], sizeof(text[0]), *type, "/",
                               KERNELS[i]);
    for (size_t i = 0; i < n; i++)
        keys[i + 1] = text[i];
    return msim_fit_pick(p, &MSIM_LAW_MOE, w->framework, PREFER, keys, out);
}

static bool moe_pick(const struct msim_platform *p, const struct msim_work *w,
                     struct msim_pick *out)
{
    const char *kernels = msim_moe_kernels(w);
    char key[MSIM_FIT_KEY];
    const char *const keys[] = {key, NULL};

    if (!kernels)
        kernels = usual_kernels(p, w);
    MSIM_JOIN_TEXT(key, sizeof(key), msim_moe_type(w), "/",
                   kernels ? kernels : "any");
    return msim_fit_pick(p, &MSIM_LAW_MOE, w->framework, PREFER, keys, out) ||
           pick_other(p, w, key, out);
}

/* A fit has rows of one model or two, and the work is of another one. */
static bool is_other_model(const struct msim_fit *c, const struct msim_work *w)
{
    double x[MSIM_MOE_NAMES];
    bool known = true;

    if (!c->models)
        return false;
    model_of(w, x);
    /* both ends of a range are of these models; ranges have five digits */
    for (int i = 0; i < MSIM_MOE_NAMES; i++)
        known = known && (fabs(x[i] - c->range_low[i]) < 1e-3 ||
                          fabs(x[i] - c->range_high[i]) < 1e-3);
    return !known;
}

static enum msim_status moe_predict(const struct msim_platform *p,
                                    const struct msim_work *w,
                                    struct msim_estimate *out)
{
    struct msim_adjust adjust = {.factor = 1};
    struct msim_work work = *w;
    struct msim_pick pick;

    if (!moe_pick(p, w, &pick))
        return MSIM_ENOMODEL;
    if (!(work.u.moe.load.pairs > 0)) /* a row of a table is counted */
        msim_work_count(&work);
    if (is_other_model(pick.fit, &work))
        adjust.log_sd = MSIM_FACT(NULL, EXPERTS_OTHER_MODEL_LOG_SD);
    msim_fit_estimate(p, &pick, &work, &adjust, out);
    return MSIM_OK;
}

static const char *routing_text(const struct msim_moe_routing *r)
{
    static const char *const TEXT[] = {
        [MSIM_ROUTING_RANDOM] = "at random",
        [MSIM_ROUTING_EVEN] = "evenly",
        [MSIM_ROUTING_POWER_LAW] = "by a power law",
    };

    return TEXT[r->kind];
}

static void moe_explain(const struct msim_platform *p,
                        const struct msim_work *w, FILE *out)
{
    struct msim_work work = *w;
    const struct msim_moe_load *load = &work.u.moe.load;
    struct msim_pick pick;

    msim_work_count(&work);
    msim_print(
        out,
        "law: t0 + norm(flops / rate, bytes / bandwidth) + passes over all "
        "pairs + a part for each expert\n"
        "inputs: %lld tokens to %lld of %lld experts %s, hidden %lld, "
        "inter %lld over %lld, %lld ranks, %s\n"
        "busiest rank: %.4g pairs, %.4g of %.4g experts active, %.4g pairs "
        "on the busiest\n",
        (long long)w->u.moe.routing.tokens, (long long)w->u.moe.routing.topk,
        (long long)w->u.moe.routing.experts, routing_text(&w->u.moe.routing),
        (long long)w->u.moe.hidden, (long long)w->u.moe.inter,
        (long long)msim_moe_tp(w), (long long)w->u.moe.routing.ep,
        msim_moe_type(w), load->pairs, load->active, load->local, load->most);
    if (moe_pick(p, w, &pick))
        msim_fit_explain(p, &pick, &work, out);
}

const struct msim_model MSIM_MODEL_MOE = {"moe", moe_covers, moe_predict,
                                          moe_explain};
