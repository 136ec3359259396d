/*
 * models/estimate/model.c - the list of models, and what holds for all of them:
 * times of a user's table, limits, explanations.
 */
#include "models/estimate/model.h"

#include "core/base/print.h"
#include "core/work/kernel_fact.h"
#include "models/estimate/model_internal.h"
#include "models/law/law.h"
#include "models/platform/platform.h"
#include "models/platform/platform_data.h"

#include <math.h>
#include <string.h>

extern const struct msim_model MSIM_MODEL_GEMM;
extern const struct msim_model MSIM_MODEL_ATTENTION;
extern const struct msim_model MSIM_MODEL_CONV;
extern const struct msim_model MSIM_MODEL_VECTOR;
extern const struct msim_model MSIM_MODEL_MOE;
extern const struct msim_model MSIM_MODEL_COLLECTIVE;
extern const struct msim_model MSIM_MODEL_DISPATCH;
extern const struct msim_model MSIM_MODEL_BOUND;

static const struct msim_model *const MODELS[] = {
    &MSIM_MODEL_GEMM,   &MSIM_MODEL_ATTENTION,  &MSIM_MODEL_CONV,
    &MSIM_MODEL_MOE,    &MSIM_MODEL_COLLECTIVE, &MSIM_MODEL_DISPATCH,
    &MSIM_MODEL_VECTOR, /* which has to look at fits for it */
    &MSIM_MODEL_BOUND,
};

static const struct msim_model *find(const struct msim_platform *p,
                                     const struct msim_work *w)
{
    size_t i = 0;

    while (!MODELS[i]->covers(p, w)) /* the last one covers all */
        i++;
    return MODELS[i];
}

/* Sizes of a broken trace; one that somebody makes larger may have them. */
static void limit(const struct msim_work *w, struct msim_estimate *e)
{
    double longest = MSIM_FACT(NULL, BOUND_LONGEST_US);

    if (w->asked || (e->us < longest && e->high_us < 100 * longest))
        return;
    *e = (struct msim_estimate){.us = longest,
                                .low_us = longest / 100,
                                .high_us = 100 * longest,
                                .source = MSIM_SOURCE_BOUND,
                                .family = e->family};
}

/* The time that a user's table gives. */
static void by_user(const struct msim_work *w, struct msim_estimate *out)
{
    *out = (struct msim_estimate){.us = w->user.us,
                                  .low_us = w->user.us,
                                  .high_us = w->user.us,
                                  .source = MSIM_SOURCE_TABLE,
                                  .family = w->family};
}

static void widen(double down, double up, struct msim_estimate *e)
{
    e->low_us = e->us * exp(-hypot(log(e->us / e->low_us), log(down)));
    e->high_us = e->us * exp(hypot(log(e->high_us / e->us), log(up)));
}

/* A time of the nearest kind of kernel, unless it is a bound already. */
static void by_nearest(const struct msim_work *w, struct msim_estimate *e)
{
    if (!w->nearest || e->source >= MSIM_SOURCE_NEAREST)
        return;
    widen(MSIM_FACT(NULL, NEAREST_DOWN), MSIM_FACT(NULL, NEAREST_UP), e);
    e->source = MSIM_SOURCE_NEAREST;
}

static bool is_bare(const struct msim_work *w)
{
    return !w->framework || strcmp(w->framework, "pytorch") == 0;
}

static void multiply(double times, struct msim_estimate *e)
{
    e->us *= times;
    e->low_us *= times;
    e->high_us *= times;
    e->start_us *= times;
}

/* What was timed is no answer at another clock than the usual one, nor of one
 * of a pair, whose ratio wants laws on both sides. */
static bool is_timed(const struct msim_platform *p, const struct msim_work *w,
                     struct msim_estimate *out)
{
    double clock = msim_platform_clock_ratio(p);

    return !p->paired && !(clock < 1) && !(clock > 1) &&
           msim_timed_rows_ask(&p->timed, p->is_host, w, out);
}

static enum msim_status by_law(const struct msim_platform *p,
                               const struct msim_work *w, bool strict,
                               struct msim_estimate *out,
                               struct msim_error *err)
{
    const struct msim_model *m;
    enum msim_status status;

    if (is_timed(p, w, out))
        return MSIM_OK;
    m = find(p, w);
    *out = (struct msim_estimate){0};
    if (m == &MSIM_MODEL_BOUND && strict)
        return msim_fail(err, MSIM_ENOMODEL, NULL, MSIM_OFFSET_NONE,
                         "no model covers %s '%s' on '%s'",
                         msim_family_text(w->family), msim_work_variant(w),
                         msim_platform_name(p));
    if (w->nearest && strict)
        return msim_fail(err, MSIM_ENOMODEL, NULL, MSIM_OFFSET_NONE,
                         "no law knows the kernels of %s '%s', want one of "
                         "their own",
                         msim_family_text(w->family), msim_work_variant(w));
    status = m->predict(p, w, out);
    /* a platform without constants for the law has a bound */
    if (status == MSIM_ENOMODEL && !strict)
        status = MSIM_MODEL_BOUND.predict(p, w, out);
    if (status == MSIM_ENOMODEL)
        return msim_fail(err, status, NULL, MSIM_OFFSET_NONE,
                         "platform '%s' has no constants for %s '%s'",
                         msim_platform_name(p), msim_family_text(w->family),
                         msim_work_variant(w));
    return status;
}

/* What traces of the machine say; they hold no collective's own time. */
static void by_evidence(const struct msim_platform *p,
                        const struct msim_work *w, struct msim_estimate *e)
{
    char kind[MSIM_EVIDENCE_KIND];

    if (!(p->evidence.clock > 0) || w->family == MSIM_FAMILY_COLLECTIVE ||
        w->family == MSIM_FAMILY_DISPATCH || e->source >= MSIM_SOURCE_BOUND)
        return;
    msim_law_kind(w, p->is_host, kind, sizeof(kind));
    msim_evidence_apply(&p->evidence, kind, e);
}

/* Kernels of recurrent layers are launched one by one, each for one step. */
static void by_launches(const struct msim_work *w, struct msim_estimate *e)
{
    double step = MSIM_FACT(NULL, RNN_STEP_US);

    if (w->repeats > 1 && e->us < step)
        multiply(step / e->us, e);
}

/*
 * The factor of whole programs for a work that takes `us` by its law. What they
 * do is bound by arithmetic: products that take less than the law says are no
 * faster than device memory, at the rate of a product with a vector, gives what
 * the cache does not hold.
 */
static double program_factor(const struct msim_platform *p,
                             const struct msim_work *w, double us)
{
    double factor = msim_program_factor(&p->programs, w);
    double bytes = w->bytes_read + w->bytes_written;
    double least =
        bytes * 1e6 / (p->sheet.bandwidth * MSIM_FACT(NULL, GEMV_BANDWIDTH));

    if (factor >= 1 || w->family != MSIM_FAMILY_GEMM ||
        bytes <= p->sheet.l2_bytes)
        return factor;
    return fmin(fmax(factor, least / us), 1);
}

/* A type that the GPU lacks is priced as what computes it, `as`. */
static enum msim_status by_model(const struct msim_platform *p,
                                 const struct msim_work *w,
                                 const struct msim_work *as, bool strict,
                                 struct msim_estimate *out,
                                 struct msim_error *err)
{
    MSIM_TRY(by_law(p, as, strict, out, err));
    if (!p->is_host)
        by_launches(w, out);
    if (is_bare(w) && !p->is_host)
        multiply(program_factor(p, w, out->us), out);
    if (is_bare(w))
        by_evidence(p, w, out);
    return MSIM_OK;
}

enum msim_status msim_model_predict(const struct msim_platform *p,
                                    const struct msim_work *w, bool strict,
                                    struct msim_estimate *out,
                                    struct msim_error *err)
{
    const enum msim_emulation emulation = msim_emulation_of(p, w);
    const struct msim_work as = msim_emulated_work(emulation, w);

    if (w->user.us > 0) {
        by_user(w, out);
    } else {
        MSIM_TRY(by_model(p, w, &as, strict, out, err));
        msim_emulated_widen(emulation, out);
    }
    by_nearest(w, out);
    msim_plausible_bound(p, &as, out);
    if (w->user.interval_factor > 1)
        widen(w->user.interval_factor, w->user.interval_factor, out);
    /* runs that follow each other deviate alike */
    multiply(msim_work_repeats(w), out);
    limit(w, out);
    return MSIM_OK;
}

void msim_model_explain(const struct msim_platform *p,
                        const struct msim_work *w, FILE *out)
{
    enum msim_emulation emulation = msim_emulation_of(p, w);
    const struct msim_work as = msim_emulated_work(emulation, w);
    const struct msim_model *m = find(p, &as);
    struct msim_estimate e = {0};
    struct msim_error ignored;
    char text[MSIM_EMULATION_TEXT];
    char kind[MSIM_EVIDENCE_KIND];

    if (w->user.origin)
        msim_print(out, "by %s, with an interval wider by a factor of %.2f, ",
                   w->user.origin, w->user.interval_factor);
    if (w->user.us > 0) {
        fprintf(out, "which says the time: %.4g us\n", w->user.us);
        return;
    }
    msim_print(out, "model: %s on %s\n",
               m == &MSIM_MODEL_BOUND ? "bound" : msim_family_text(w->family),
               msim_platform_name(p));
    if (emulation != MSIM_EMULATED_NO) {
        msim_emulation_text(emulation, p, text, sizeof(text));
        msim_print(out, "emulated: %s\n", text);
    }
    msim_law_kind(&as, p->is_host, kind, sizeof(kind));
    if (*kind)
        msim_print(out, "kind: %s\n", kind);
    m->explain(p, &as, out);
    if (is_timed(p, &as, &e))
        msim_print(out, "timed: exactly this, %.4g us, on this machine\n",
                   e.us);
    if (msim_model_predict(p, w, false, &e, &ignored) == MSIM_OK)
        msim_print(out, "predicted: %.4g us, 90 %%: %.4g to %.4g us (%s)\n",
                   e.us, e.low_us, e.high_us, msim_source_text(e.source));
    if (is_bare(w) && !p->is_host && msim_program_factor(&p->programs, w) != 1)
        fprintf(out, "whole programs: %.3g times as long\n",
                msim_program_factor(&p->programs, w));
    if (e.source == MSIM_SOURCE_NEAREST)
        msim_print(out,
                   "nearest: no law knows its kernel; that of %s is taken, "
                   "by bytes\n",
                   msim_family_text(e.family));
    if (w->repeats > 1)
        fprintf(out, "runs: %u, one after the other\n", w->repeats);
    if (e.bounded)
        msim_print(out, "bounded: %s\n", msim_bounded_text(e.bounded));
}
