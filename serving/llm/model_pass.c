/*
 * serving/llm/model_pass.c - one pass of a described model over a batch.
 */
#include "serving/llm/llm_law.h"

#include "plan/step/step_law.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BATCHES 15 /* 1 to 2^14 */
#define LENGTHS 18 /* 1 to 2^17 tokens */

/* Of a program that captures graphs, or compiles: the works begin one after the
 * other, and the host has what is around them. */
#define HOST_US 300

struct msim_model_pass {
    struct msim_described m; /* of a described model */
    struct msim_pricer pricer;
    msim_pass_price *price;
    void *ctx;
    bool has_tokens;
    double us[BATCHES][LENGTHS]; /* NAN: not priced yet */
    double factor;
};

/* The parts that a pass has: no logits of a decoder, no loss. */
static bool is_run(const struct msim_model_pass *pass,
                   const struct msim_part *part)
{
    return part->kind != MSIM_PART_HEAD || pass->m.encoder;
}

static enum msim_status price_described(double *us, void *ctx, double batch,
                                        double tokens, struct msim_error *err)
{
    struct msim_model_pass *pass = ctx;
    struct msim_strategy s = {.gpus = 1,
                              .nodes = 1,
                              .tp = 1,
                              .pp = 1,
                              .vp = 1,
                              .cp = 1,
                              .ep = 1,
                              .dp = 1,
                              .grad_accum = 1,
                              .precision = MSIM_PRECISION_BF16,
                              .micro_batch = (int64_t)batch,
                              .sequence = (int64_t)tokens};
    struct msim_parts *parts = malloc(sizeof(*parts));
    enum msim_status status = parts ? MSIM_OK : MSIM_ENOMEM;

    *us = HOST_US;
    s.sequence = msim_described_sequence(&pass->m, s.sequence);
    if (parts)
        msim_parts_make(parts, &pass->m, &s);
    for (uint32_t i = 0; status == MSIM_OK && i < parts->n; i++) {
        struct msim_priced priced;

        if (!is_run(pass, &parts->part[i]))
            continue;
        status = msim_price_part(&priced, &pass->pricer, parts, &parts->part[i],
                                 &s, err);
        for (int k = 0; status == MSIM_OK && k < MSIM_PART_OP_COUNT; k++)
            if (k != MSIM_PART_OP_LOSS)
                *us += parts->part[i].layers * priced.us[k][MSIM_PASS_FORWARD];
    }
    free(parts);
    return status;
}

/* One that is priced so, with nothing priced yet; NULL: no memory. */
static struct msim_model_pass *pass_new(msim_pass_price *price, void *ctx,
                                        bool has_tokens)
{
    struct msim_model_pass *pass = calloc(1, sizeof(*pass));

    if (!pass)
        return NULL;
    pass->price = price;
    pass->ctx = ctx ? ctx : pass;
    pass->has_tokens = has_tokens;
    pass->factor = 1;
    for (int i = 0; i < BATCHES * LENGTHS; i++)
        pass->us[i / LENGTHS][i % LENGTHS] = NAN;
    return pass;
}

/* What cannot be priced is found here. */
static enum msim_status try_pass(struct msim_model_pass **out,
                                 struct msim_model_pass *pass, double tokens,
                                 struct msim_error *err)
{
    double us;
    enum msim_status status =
        pass ? pass->price(&us, pass->ctx, 1, tokens, err) : MSIM_ENOMEM;

    *out = status == MSIM_OK ? pass : NULL;
    if (status != MSIM_OK)
        msim_model_pass_free(pass);
    return status;
}

enum msim_status msim_model_pass_of(struct msim_model_pass **out,
                                    msim_pass_price *price, void *ctx,
                                    double tokens, struct msim_error *err)
{
    return try_pass(out, pass_new(price, ctx, tokens > 0),
                    exp2(ceil(log2(fmax(tokens, 1)))), err);
}

enum msim_status msim_model_pass_new(struct msim_model_pass **out,
                                     const struct msim_described *m,
                                     const struct msim_platform *p,
                                     struct msim_error *err)
{
    struct msim_model_pass *pass;

    *out = NULL;
    if (m->type == MSIM_MODEL_DLRM || m->linear.layers)
        return msim_fail(err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                         "'%s' is no encoder, vision model or decoder of "
                         "attention alone",
                         m->name);
    pass = pass_new(price_described, NULL, m->type != MSIM_MODEL_VIT);
    if (!pass)
        return MSIM_ENOMEM;
    pass->m = *m;
    pass->m.dropout = 0;
    if (m->encoder) /* one vector, or score, of an input */
        pass->m.head = MSIM_MODEL_CLASSIFIER;
    pass->pricer = (struct msim_pricer){.platform = p, .gpus_a_node = 1};
    return try_pass(out, pass, 128, err);
}

void msim_model_pass_free(struct msim_model_pass *pass)
{
    if (!pass)
        return;
    msim_pricer_release(&pass->pricer);
    free(pass);
}

/* A point that cannot be priced, which sizes cannot bring about, is the host's
 * time alone. */
static double at_point(struct msim_model_pass *pass, int i, int j)
{
    struct msim_error err = {0};
    double *us = &pass->us[i][j];

    if (isnan(*us) &&
        pass->price(us, pass->ctx, ldexp(1, i), ldexp(1, j), &err) != MSIM_OK)
        *us = HOST_US;
    return *us;
}

/* Between which powers of two, as the lower one and a share. */
static int place(double v, int most, double *share)
{
    double at = fmin(log2(fmax(v, 1)), most - 1);
    int low = (int)fmin(floor(at), most - 2);

    *share = at - low;
    return low;
}

static double between(double a, double b, double share)
{
    return exp(log(a) + share * (log(b) - log(a)));
}

double msim_model_pass_us(struct msim_model_pass *pass, double batch,
                          double tokens)
{
    double along, across = 0, low;
    int i = place(batch, BATCHES, &along);
    int j = pass->has_tokens ? place(tokens, LENGTHS, &across) : 0;

    low = between(at_point(pass, i, j), at_point(pass, i + 1, j), along);
    if (across <= 0)
        return low * pass->factor;
    return pass->factor * between(low,
                                  between(at_point(pass, i, j + 1),
                                          at_point(pass, i + 1, j + 1), along),
                                  across);
}

bool msim_model_pass_has_tokens(const struct msim_model_pass *pass)
{
    return pass->has_tokens;
}

void msim_model_pass_correct(struct msim_model_pass *pass, double factor)
{
    pass->factor *= factor;
}
