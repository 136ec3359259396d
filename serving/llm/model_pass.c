/*
 * serving/llm/model_pass.c - one pass of a described model over a batch.
 */
#include "serving/llm/model_pass.h"

#include "plan/step/price.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BATCHES 15 /* 1 to 2^14 */
#define LENGTHS 18 /* 1 to 2^17 tokens */

/* Of a program that captures graphs, or compiles: the works begin one after the
 * other, and the host has what is around them. */
#define HOST_US 300

/* Half of the 90 % interval: of sums of single kernels, and of the few recorded
 * passes that correct them. */
#define LAW_HALF      0.5
#define MEASURED_HALF 0.2

struct msim_model_pass {
    struct msim_described m;
    struct msim_pricer pricer;
    double us[BATCHES][LENGTHS]; /* NAN: not priced yet */
    double factor;
    bool is_measured;
};

/* The parts that a pass has: no logits of a decoder, no loss. */
static bool is_run(const struct msim_model_pass *pass,
                   const struct msim_part *part)
{
    return part->kind != MSIM_PART_HEAD || pass->m.encoder;
}

static enum msim_status price(struct msim_model_pass *pass, double batch,
                              double tokens, double *us, struct msim_error *err)
{
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

enum msim_status msim_model_pass_new(struct msim_model_pass **out,
                                     const struct msim_described *m,
                                     const struct msim_platform *p,
                                     struct msim_error *err)
{
    struct msim_model_pass *pass;
    enum msim_status status;
    double us;

    *out = NULL;
    if (m->type == MSIM_MODEL_DLRM || m->linear.layers)
        return msim_fail(err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                         "'%s' is no encoder, vision model or decoder of "
                         "attention alone",
                         m->name);
    pass = calloc(1, sizeof(*pass));
    if (!pass)
        return MSIM_ENOMEM;
    pass->m = *m;
    pass->m.dropout = 0;
    if (m->encoder) /* one vector, or score, of an input */
        pass->m.head = MSIM_MODEL_CLASSIFIER;
    pass->pricer = (struct msim_pricer){.platform = p, .gpus_a_node = 1};
    pass->factor = 1;
    for (int i = 0; i < BATCHES * LENGTHS; i++)
        pass->us[i / LENGTHS][i % LENGTHS] = NAN;
    status = price(pass, 1, 128, &us, err);
    if (status == MSIM_OK)
        *out = pass;
    else
        msim_model_pass_free(pass);
    return status;
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
        price(pass, ldexp(1, i), ldexp(1, j), us, &err) != MSIM_OK)
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
    double along, across, low;
    int i = place(batch, BATCHES, &along);
    int j = place(tokens, LENGTHS, &across);

    low = between(at_point(pass, i, j), at_point(pass, i + 1, j), along);
    if (pass->m.type == MSIM_MODEL_VIT || across <= 0)
        return low * pass->factor;
    return pass->factor * between(low,
                                  between(at_point(pass, i, j + 1),
                                          at_point(pass, i + 1, j + 1), along),
                                  across);
}

void msim_model_pass_measured(struct msim_model_pass *pass, double batch,
                              double tokens, double us)
{
    double law;

    if (!(us > 0))
        return;
    pass->factor = 1;
    law = msim_model_pass_us(pass, batch, tokens);
    pass->factor = us / law;
    pass->is_measured = true;
}

double msim_model_pass_half(const struct msim_model_pass *pass)
{
    return pass->is_measured ? MEASURED_HALF : LAW_HALF;
}
