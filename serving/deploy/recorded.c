/*
 * serving/deploy/recorded.c - recorded passes against the law.
 */
#include "serving/deploy/deploy.h"

#include <math.h>

/* Half of the 90 % interval of a time that few recorded passes correct, beside
 * what they disagree by. Set by hand: no table has recorded passes of a model
 * at several sizes, from which it could be found. */
#define FEW_HALF 0.2

/* So many times the law's, or that part of it, takes no pass of these sizes. */
#define MOST_TIMES 10

enum msim_status msim_recorded_not_told(const char *size,
                                        struct msim_error *err)
{
    return msim_fail(err, MSIM_EFORMAT, NULL, MSIM_OFFSET_NONE,
                     "the trace does not tell its pass's %s: want {\"file\": "
                     "..., \"%s\": N} in place of the file's name",
                     size, size);
}

enum msim_status msim_pass_time_find(struct msim_pass_time *out,
                                     const struct msim_recorder *recorder,
                                     const struct msim_recorded_pass *pass,
                                     const char *platform, double batch,
                                     double tokens, struct msim_error *err)
{
    if (!recorder)
        return msim_fail(err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                         "recorded passes (\"trace\") are read by serve and "
                         "apps alone: leave them out here");
    MSIM_TRY(
        recorder->time(out, recorder->own, pass, platform, batch, tokens, err));
    if (out->batch < 1)
        return msim_recorded_not_told("batch", err);
    if (out->us > 0)
        return MSIM_OK;
    return msim_fail(err, MSIM_EFORMAT, pass->file, MSIM_OFFSET_NONE,
                     "the recorded pass takes no time");
}

/* The logarithm of a pass's time over the law's. */
static enum msim_status log_ratio(double *ratio,
                                  const struct msim_pass_time *is,
                                  const struct msim_recorded_pass *pass,
                                  msim_law_time *law_time, void *law,
                                  struct msim_error *err)
{
    struct msim_error why = {0};
    enum msim_status status;
    double us = 0;

    status = law_time(&us, law, is, &why);
    if (status != MSIM_OK)
        return msim_fail(err, status, pass->file, MSIM_OFFSET_NONE, "%s",
                         *why.text ? why.text : msim_status_text(status));
    *ratio = log(is->us / us);
    if (fabs(*ratio) < log(MOST_TIMES))
        return MSIM_OK;
    return msim_fail(err, MSIM_EFORMAT, pass->file, MSIM_OFFSET_NONE,
                     "the recorded pass takes x %.3g of what the model takes "
                     "for a batch of %lld with %lld tokens each behind %lld: "
                     "it is another's, or its \"batch\", \"tokens\" and "
                     "\"context\" are others",
                     exp(*ratio), (long long)is->batch, (long long)is->tokens,
                     (long long)is->context);
}

enum msim_status msim_recorded_ratio_find(struct msim_recorded_ratio *out,
                                          const struct msim_recorded *r,
                                          const char *platform,
                                          const struct msim_recorder *recorder,
                                          msim_law_time *law_time, void *law,
                                          struct msim_error *err)
{
    double sum = 0, squares = 0, widest = 0, mean, spread = 0;

    *out = (struct msim_recorded_ratio){.factor = 1};
    if (r->n == 0)
        return MSIM_OK;
    for (uint32_t i = 0; i < r->n; i++) {
        struct msim_pass_time is;
        double ratio;

        MSIM_TRY(
            msim_pass_time_find(&is, recorder, &r->of[i], platform, 0, 0, err));
        MSIM_TRY(log_ratio(&ratio, &is, &r->of[i], law_time, law, err));
        sum += ratio;
        squares += ratio * ratio;
        widest = fmax(widest, is.half);
    }
    mean = sum / r->n;
    if (r->n > 1)
        spread = sqrt(fmax(squares - r->n * mean * mean, 0) / (r->n - 1));
    *out = (struct msim_recorded_ratio){
        exp(mean), hypot(hypot(FEW_HALF, widest), MSIM_Z90 * spread), r->n};
    return MSIM_OK;
}
