/*
 * models/estimate/dispatch.c - dispatch and combine of tokens by
 * models/law/dispatch_law.c.
 */
#include "core/work/kernel_fact.h"
#include "models/estimate/model.h"
#include "models/law/law.h"
#include "models/platform/fit.h"
#include "models/platform/platform_data.h"

#include <math.h>
#include <stack_rows.h>
#include <string.h>

static bool dispatch_covers(const struct msim_platform *p,
                            const struct msim_work *w)
{
    (void)p;
    return w->family == MSIM_FAMILY_DISPATCH && w->u.dispatch.tokens > 0 &&
           w->u.dispatch.hidden > 0 && w->u.dispatch.topk > 0 &&
           w->u.dispatch.experts > 0;
}

static bool dispatch_pick(const struct msim_platform *p,
                          const struct msim_work *w, struct msim_pick *out)
{
    static const char *const PREFER[] = {MSIM_STACKS_DISPATCH};
    char key[MSIM_FIT_KEY];
    const char *const keys[] = {key, NULL};

    MSIM_LAW_DISPATCH.key(w, key, sizeof(key));
    return msim_fit_pick(p, &MSIM_LAW_DISPATCH, w->framework, PREFER, keys,
                         out);
}

/* Without a fit: the constants that fits start from. */
static void from_data_sheet(const struct msim_platform *p,
                            const struct msim_work *w,
                            struct msim_estimate *out)
{
    const struct msim_law *law = &MSIM_LAW_DISPATCH;
    double params[MSIM_LAW_PARAMS];

    for (size_t i = 0; i < law->n_params; i++)
        params[i] = law->params[i].start;
    out->us = law->time_us(&p->sheet, w, params);
    out->source = MSIM_SOURCE_LAW;
    msim_interval_set(out, 0, 0, MSIM_FACT(NULL, DISPATCH_UNFITTED_LOG_SD));
}

static enum msim_status dispatch_predict(const struct msim_platform *p,
                                         const struct msim_work *w,
                                         struct msim_estimate *out)
{
    struct msim_adjust adjust = {.factor = 1};
    struct msim_pick pick;

    if (dispatch_pick(p, w, &pick)) {
        adjust.log_sd =
            MSIM_FACT(NULL, DISPATCH_RANKS_LOG_SD) *
                fabs(log2(msim_dispatch_ranks(w) /
                          MSIM_FACT(NULL, DISPATCH_RANKS))) +
            (pick.platform != p ? MSIM_FACT(NULL, DISPATCH_OTHER_GPU_LOG_SD)
                                : 0);
        msim_fit_estimate(p, &pick, w, &adjust, out);
    } else {
        from_data_sheet(p, w, out);
    }
    out->family = MSIM_FAMILY_COLLECTIVE;
    return MSIM_OK;
}

static void dispatch_explain(const struct msim_platform *p,
                             const struct msim_work *w, FILE *out)
{
    struct msim_pick pick;

    fprintf(out,
            "law: t0 + experts + norm(elements / SMs, wire / link)\n"
            "inputs: %lld tokens of %lld to %lld of %lld experts on %lld "
            "ranks, %.4g messages a token, %.4g SMs\n",
            (long long)w->u.dispatch.tokens, (long long)w->u.dispatch.hidden,
            (long long)w->u.dispatch.topk, (long long)w->u.dispatch.experts,
            (long long)w->u.dispatch.ranks, msim_dispatch_messages(w),
            msim_dispatch_sms(&p->sheet, w));
    if (dispatch_pick(p, w, &pick))
        msim_fit_explain(p, &pick, w, out);
    else
        fprintf(out,
                "rows: none; typical constants on the data sheet's %.4g "
                "GB/s\n",
                p->sheet.link * 1e-9);
}

double msim_dispatch_places(int64_t chosen, int64_t all, int64_t places)
{
    struct msim_work w;

    memset(&w, 0, sizeof(w));
    w.u.dispatch.topk = chosen;
    w.u.dispatch.experts = all;
    w.u.dispatch.ranks = places;
    return msim_dispatch_messages(&w);
}

double msim_dispatch_share(const struct msim_platform *p)
{
    struct msim_work w;

    memset(&w, 0, sizeof(w));
    return msim_dispatch_sms(&p->sheet, &w) / fmax(p->sheet.sms, 1);
}

const struct msim_model MSIM_MODEL_DISPATCH = {
    "dispatch", dispatch_covers, dispatch_predict, dispatch_explain};
