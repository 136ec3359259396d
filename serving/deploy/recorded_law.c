/*
 * serving/deploy/recorded_law.c - recorded passes against the law of a model.
 */
#include "serving/deploy/deploy.h"

#include "serving/llm/llm.h"
#include "serving/llm/llm_law.h"

#include <math.h>
#include <stdlib.h>

#define MOST_SAMPLES 65536

/* What is more is no step, and does not fit its numbers. */
static enum msim_status check_size(const struct msim_pass_time *of,
                                   struct msim_error *err)
{
    if (of->batch <= MOST_SAMPLES && of->tokens <= UINT32_MAX &&
        of->context <= UINT32_MAX)
        return MSIM_OK;
    return msim_fail(err, MSIM_EFORMAT, NULL, MSIM_OFFSET_NONE,
                     "a batch of %lld with %lld tokens each behind %lld is no "
                     "step of an engine",
                     (long long)of->batch, (long long)of->tokens,
                     (long long)of->context);
}

static enum msim_status prompts_us(double *us, void *llm,
                                   const struct msim_pass_time *of,
                                   struct msim_error *err)
{
    struct msim_llm_times t = msim_llm_times_of(llm);
    struct msim_llm_step step = {.n_chunks = (uint32_t)of->batch};
    uint32_t context = of->context > 0 ? (uint32_t)of->context : 0;
    struct msim_llm_chunk *chunks;

    if (of->tokens < 1)
        return msim_recorded_not_told("tokens", err);
    MSIM_TRY(check_size(of, err));
    chunks = malloc(step.n_chunks * sizeof(*chunks));
    if (!chunks)
        return MSIM_ENOMEM;
    for (uint32_t i = 0; i < step.n_chunks; i++)
        chunks[i] =
            (struct msim_llm_chunk){(uint32_t)of->tokens, context, true};
    step.chunks = chunks;
    *us = t.step_us(t.ctx, &step);
    free(chunks);
    return MSIM_OK;
}

static enum msim_status decoding_us(double *us, void *llm,
                                    const struct msim_pass_time *of,
                                    struct msim_error *err)
{
    struct msim_llm_times t = msim_llm_times_of(llm);
    struct msim_llm_step step = {.decode_seqs = (uint32_t)of->batch};

    if (of->tokens > 1)
        return msim_fail(err, MSIM_EFORMAT, NULL, MSIM_OFFSET_NONE,
                         "the pass has %lld tokens a sample: a step of "
                         "decoding has one",
                         (long long)of->tokens);
    if (of->context < 0)
        return msim_recorded_not_told("context", err);
    MSIM_TRY(check_size(of, err));
    step.decode_context = (uint64_t)(of->batch * of->context);
    *us = t.step_us(t.ctx, &step);
    return MSIM_OK;
}

static enum msim_status pass_us(double *us, void *pass,
                                const struct msim_pass_time *of,
                                struct msim_error *err)
{
    if (of->tokens < 1 && msim_model_pass_has_tokens(pass))
        return msim_recorded_not_told("tokens", err);
    *us = msim_model_pass_us(pass, (double)of->batch, (double)of->tokens);
    return MSIM_OK;
}

enum msim_status msim_recorded_steps(struct msim_recorded_ratio *out,
                                     const struct msim_stage *s, bool decoding,
                                     const char *platform,
                                     const struct msim_recorder *recorder,
                                     struct msim_llm *llm,
                                     struct msim_error *err)
{
    return msim_recorded_ratio_find(
        out, decoding ? &s->decode : &s->prefill, platform, recorder,
        decoding ? decoding_us : prompts_us, llm, err);
}

enum msim_status msim_recorded_passes(struct msim_recorded_ratio *out,
                                      const struct msim_stage *s,
                                      const struct msim_recorder *recorder,
                                      struct msim_model_pass *pass,
                                      struct msim_error *err)
{
    return msim_recorded_ratio_find(out, &s->prefill, s->platform, recorder,
                                    pass_us, pass, err);
}

double msim_recorded_half(const struct msim_recorded_law *r, double half)
{
    double of = fmax(r->prefill.half, r->decode.half);

    return r->prefill.n && r->decode.n ? of : fmax(of, half);
}
