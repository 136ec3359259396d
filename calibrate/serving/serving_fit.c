/*
 * calibrate/serving/serving_fit.c - the constants of the law of served models.
 */
#include "calibrate/serving/serving_fit.h"

#include "calibrate/steps/steps_fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Pieces that an engine has a factor of its own for. */
static const enum msim_llm_piece OWN[] = {
    MSIM_LLM_PRODUCT_FEW, MSIM_LLM_PRODUCT_MANY, MSIM_LLM_ATTENTION_DECODE,
    MSIM_LLM_ALL_REDUCE_FEW};
#define OWNS ((int)(sizeof(OWN) / sizeof(*OWN)))

/* Types that share a factor, since no table has rows of all: those with narrow
 * arithmetic, and those that are widened to 16 bits. 0: 16 bits. */
#define CLASSES 2

static int class_of(enum msim_quant q)
{
    switch (q) {
    case MSIM_QUANT_FP8:
    case MSIM_QUANT_FP8_BLOCK:
    case MSIM_QUANT_NVFP4:
        return 1;
    case MSIM_QUANT_MXFP4:
    case MSIM_QUANT_INT8:
    case MSIM_QUANT_INT4:
        return 2;
    case MSIM_QUANT_OWN:
    case MSIM_QUANT_BF16:
    case MSIM_QUANTS:
        break;
    }
    return 0;
}

/* Where each constant stands. */
enum {
    AT_PIECES,
    AT_TYPES = AT_PIECES + MSIM_LLM_PIECES,
    AT_MANY = AT_TYPES + CLASSES,
    AT_ENGINES = AT_MANY + CLASSES
};
enum { OF_HOST, OF_SEQUENCE, OF_RANKS, OF_ALL, OF_WAVE, OF_ARRIVAL, OF_OWN };
#define AN_ENGINE (OF_OWN + OWNS)
#define CONSTANTS (AT_ENGINES + MSIM_LLM_ENGINES * AN_ENGINE)

_Static_assert(CONSTANTS <= 64, "as many as a search takes");

static double *engine_at(double *at, int e)
{
    return at + AT_ENGINES + e * AN_ENGINE;
}

/* Where a search begins, and what no row can tell stays. */
static void begin(double *at)
{
    struct msim_llm_law none;

    msim_llm_law_init(&none);
    for (int i = 0; i < CONSTANTS; i++)
        at[i] = 1;
    for (int e = 0; e < MSIM_LLM_ENGINES; e++) {
        double *of = engine_at(at, e);

        of[OF_HOST] = none.host_us[e];
        of[OF_SEQUENCE] = none.sequence_us[e];
        of[OF_RANKS] = none.ranks_us[e];
        of[OF_WAVE] = 0.3;
        of[OF_ARRIVAL] = none.arrival_us[e];
    }
}

static void law_of(struct msim_llm_law *law, const double *at)
{
    for (int q = 0; q < MSIM_QUANTS; q++) {
        int class = class_of((enum msim_quant)q);

        law->type[q] = class ? at[AT_TYPES + class - 1] : 1;
        law->type_many[q] = class ? at[AT_MANY + class - 1] : 1;
    }
    for (int e = 0; e < MSIM_LLM_ENGINES; e++) {
        const double *of = at + AT_ENGINES + e * AN_ENGINE;

        law->host_us[e] = of[OF_HOST];
        law->sequence_us[e] = of[OF_SEQUENCE];
        law->ranks_us[e] = of[OF_RANKS];
        law->first_wave[e] = fmin(of[OF_WAVE], 1);
        law->arrival_us[e] = of[OF_ARRIVAL];
        for (int p = 0; p < MSIM_LLM_PIECES; p++)
            law->factor[e][p] = at[AT_PIECES + p] * of[OF_ALL];
        for (int i = 0; i < OWNS; i++)
            law->factor[e][OWN[i]] *= of[OF_OWN + i];
    }
}

static double sum_us(const struct msim_llm_law *law,
                     const struct msim_llm_rank *r,
                     const struct msim_serving_sum *s)
{
    return msim_llm_law_host_us(law, r, s->steps, s->seqs) +
           msim_llm_law_us(law, r->s.engine, &s->pieces);
}

void msim_serving_predict(struct msim_closed_loop_answer *out,
                          const struct msim_llm_law *law,
                          const struct msim_serving_row *row)
{
    msim_loop_figures(out, law, row->engine, &row->loop, (double)row->rank.s.dp,
                      sum_us(law, &row->rank, &row->prefill),
                      sum_us(law, &row->rank, &row->decode));
}

/* ---- the search ---------------------------------------------------------- */

struct fit {
    const struct msim_serving_table *t;
    struct msim_llm_law law;
};

/* TPOT of all rows, then TTFT of all. */
static void residuals(double *out, const double *at, void *context)
{
    struct fit *f = context;

    law_of(&f->law, at);
    for (uint32_t i = 0; i < f->t->n; i++) {
        const struct msim_serving_row *row = &f->t->rows[i];
        struct msim_closed_loop_answer a;

        msim_serving_predict(&a, &f->law, row);
        out[i] = row->tpot_ms > 0 ? log(row->tpot_ms / a.tpot_ms) : 0;
        out[f->t->n + i] = row->ttft_ms > 0 ? log(row->ttft_ms / a.ttft_ms) : 0;
    }
}

/* TTFT depends on how many requests a benchmark sent, which no row says. */
#define TTFT_WEIGHT 0.25
#define MOST        1.5
/* Of 0.005, 0.008, 0.012 and 0.03: TPOT of models and GPUs that are held out is
 * best with the third, runs of other sources (scripts/accuracy/serving_rows.py)
 * with the first two. */
#define RIDGE 0.008

/* Fewer rows than these of a model on a GPU under an engine weigh no more each
 * than those of so many. */
#define ALIKE 40

/* A model on a GPU under an engine weighs as the root of its rows; all together
 * weigh 1. */
static void set_weights(double *weight, const struct msim_serving_table *t,
                        const uint8_t *use)
{
    double groups = 0;

    for (uint32_t i = 0; i < t->n; i++) {
        double alike = 0;

        for (uint32_t k = 0; k < t->n; k++)
            alike += use[k] && t->rows[k].model == t->rows[i].model &&
                     t->rows[k].gpu == t->rows[i].gpu &&
                     t->rows[k].engine == t->rows[i].engine;
        weight[i] = use[i] ? 1 / sqrt(fmax(alike, ALIKE)) : 0;
        groups += weight[i];
    }
    for (uint32_t i = 0; i < t->n; i++) {
        weight[i] /= fmax(groups, 1e-9);
        weight[t->n + i] = weight[i] * TTFT_WEIGHT;
    }
}

static void note_seen(struct msim_llm_law *law,
                      const struct msim_serving_table *t, const uint8_t *use)
{
    for (uint32_t m = 0; m < t->n_models; m++)
        for (uint32_t i = 0; i < t->n; i++)
            if (use[i] && t->rows[i].model == m) {
                memcpy(law->models[law->n_models++], t->models[m],
                       sizeof(t->models[m]));
                break;
            }
    for (uint32_t g = 0; g < t->n_gpus; g++)
        for (uint32_t i = 0; i < t->n; i++)
            if (use[i] && t->rows[i].gpu == g) {
                memcpy(law->gpus[law->n_gpus++], t->gpus[g],
                       sizeof(t->gpus[g]));
                break;
            }
    for (uint32_t i = 0; i < t->n; i++)
        if (use[i]) {
            law->engines[t->rows[i].engine] = true;
            law->types[t->rows[i].dense] = true;
            law->types[t->rows[i].experts] = true;
        }
}

void msim_serving_fit(struct msim_llm_law *law,
                      const struct msim_serving_table *t, const uint8_t *use)
{
    double *weight = calloc(2 * (size_t)t->n + 1, sizeof(*weight));
    struct fit *f = malloc(sizeof(*f));
    double at[CONSTANTS];

    msim_llm_law_init(law);
    if (weight && f) {
        f->t = t;
        begin(at);
        set_weights(weight, t, use);
        msim_search_run(&(struct msim_search){.at = at,
                                              .n = CONSTANTS,
                                              .weight = weight,
                                              .rows = 2 * t->n,
                                              .most = MOST,
                                              .ridge = RIDGE,
                                              .residuals = residuals,
                                              .context = f});
        law_of(law, at);
        note_seen(law, t, use);
    }
    free(weight);
    free(f);
}
