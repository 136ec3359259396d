/*
 * The law of served models from made-up rows: whose word counts how much, which
 * types share a factor, and what is noted of the rows.
 */
#include "calibrate/serving/serving_fit.h"

#include "tests/check.h"

#include <stdlib.h>

#define MOST 400

static struct msim_serving_row rows[MOST];
static uint8_t use[MOST];
static struct msim_serving_table table;

static void begin(void)
{
    memset(use, 0, sizeof(use));
    memset(&table, 0, sizeof(table));
    table.rows = rows;
}

/* So many rows of a model, whose step is 1 ms of a piece by its works, and
 * which took `ms`; the engine's host has nothing to do. */
static struct msim_serving_row *add(uint32_t n, uint32_t model,
                                    enum msim_llm_piece piece,
                                    enum msim_quant q, double ms)
{
    struct msim_serving_row row = {
        .model = model, .loop = {1, 2, 1, 0}, .tpot_ms = ms};

    row.rank.s.tp = row.rank.s.dp = row.rank.s.pp = 1;
    row.dense = row.experts = q;
    row.decode.pieces.us[piece][q] = 1000;
    for (uint32_t i = 0; i < n; i++) {
        use[table.n] = 1;
        rows[table.n++] = row;
    }
    return &rows[table.n - n];
}

static double predicted_ms(const struct msim_llm_law *law, uint32_t row)
{
    struct msim_closed_loop_answer a;

    msim_serving_predict(&a, law, &rows[row]);
    return a.tpot_ms;
}

static double fitted_ms(uint32_t row)
{
    struct msim_llm_law law;

    msim_serving_fit(&law, &table, use);
    return predicted_ms(&law, row);
}

#define VECTORS MSIM_LLM_VECTOR_FEW, MSIM_QUANT_BF16

/* 160 rows of a model say 2 ms and weigh as their root, 12.6; three models of
 * 40 say 1 ms and weigh three times 6.3, though they are 120 rows. */
static void test_serving_fit__models_weigh_as_roots(void)
{
    begin();
    add(160, 0, VECTORS, 2);
    for (uint32_t m = 1; m <= 3; m++)
        add(40, m, VECTORS, 1);
    CHECK_REL(fitted_ms(0), 1, 0.05);
    /* the same by GPUs, and by rows that are not used */
    for (uint32_t i = 160; i < 280; i++) {
        rows[i].gpu = rows[i].model;
        rows[i].model = 0;
    }
    CHECK_REL(fitted_ms(0), 1, 0.05);
    for (uint32_t i = 200; i < 280; i++)
        use[i] = 0;
    CHECK_REL(fitted_ms(0), 2, 0.1);
    /* two engines have factors of their own: each its own rows' */
    begin();
    add(100, 0, VECTORS, 2);
    add(100, 0, VECTORS, 1);
    for (uint32_t i = 100; i < 200; i++)
        rows[i].engine = rows[i].rank.s.engine = (enum msim_llm_engine)1;
    CHECK_REL(fitted_ms(0), 2, 0.1);
    CHECK_REL(fitted_ms(199), 1, 0.1);
}

/* Models of a row each weigh as one of forty: thirty of them 4.7, a model of
 * forty rows 6.3. */
static void test_serving_fit__few_rows_weigh_little(void)
{
    begin();
    add(40, 0, VECTORS, 2);
    for (uint32_t m = 1; m <= 30; m++)
        add(1, m, VECTORS, 1);
    CHECK_REL(fitted_ms(0), 2, 0.1);
    for (uint32_t m = 31; m <= 60; m++) /* sixty: 9.5 */
        add(1, m, VECTORS, 1);
    CHECK_REL(fitted_ms(0), 1, 0.05);
}

/* Types with narrow arithmetic share a factor, those that are widened another;
 * few rows of a product have others than many. */
static void test_serving_fit__classes_of_types(void)
{
    static const struct {
        enum msim_quant q;
        double few, many;
    } TYPES[] = {
        {MSIM_QUANT_BF16, 1, 1},          {MSIM_QUANT_FP8, 0.5, 0.7},
        {MSIM_QUANT_FP8_BLOCK, 0.5, 0.7}, {MSIM_QUANT_NVFP4, 0.5, 0.7},
        {MSIM_QUANT_MXFP4, 2, 1.5},       {MSIM_QUANT_INT8, 2, 1.5},
        {MSIM_QUANT_INT4, 2, 1.5},
    };
    enum { N = sizeof(TYPES) / sizeof(*TYPES) };
    struct msim_llm_law law;

    begin();
    for (uint32_t i = 0; i < N; i++) {
        add(20, i, MSIM_LLM_PRODUCT_FEW, TYPES[i].q, TYPES[i].few);
        add(20, i, MSIM_LLM_PRODUCT_MANY, TYPES[i].q, TYPES[i].many);
    }
    msim_serving_fit(&law, &table, use);
    for (uint32_t i = 0; i < N; i++) {
        CHECK_REL(predicted_ms(&law, 40 * i), TYPES[i].few, 0.08);
        CHECK_REL(predicted_ms(&law, 40 * i + 20), TYPES[i].many, 0.08);
    }
    CHECK_REL(law.type[MSIM_QUANT_OWN], 1, 0);
    CHECK_REL(law.type_many[MSIM_QUANT_BF16], 1, 0);
    CHECK_REL(law.type[MSIM_QUANT_NVFP4], law.type[MSIM_QUANT_FP8], 0);
    CHECK_REL(law.type_many[MSIM_QUANT_INT4], law.type_many[MSIM_QUANT_MXFP4],
              0);
    /* what no row has stays alike */
    CHECK_REL(law.factor[0][MSIM_LLM_LAUNCH], law.factor[0][MSIM_LLM_EXCHANGE],
              1e-12);
    CHECK_REL(law.factor[0][MSIM_LLM_LAUNCH], 1, 0.02);
}

/* An engine has a factor of its own of a few pieces; of all others the engines
 * differ by one factor. */
static void test_serving_fit__pieces_of_engines(void)
{
    static const enum msim_llm_piece OWN[] = {
        MSIM_LLM_PRODUCT_FEW, MSIM_LLM_PRODUCT_MANY, MSIM_LLM_ATTENTION_DECODE,
        MSIM_LLM_ALL_REDUCE_FEW};
    struct msim_llm_law law;

    begin();
    for (uint32_t i = 0; i < 4; i++)
        for (uint32_t e = 0; e < 2; e++) {
            struct msim_serving_row *r =
                add(20, 0, OWN[i], MSIM_QUANT_BF16, (e + i) % 2 ? 1.5 : 0.8);

            for (uint32_t k = 0; k < 20; k++)
                r[k].engine = r[k].rank.s.engine = (enum msim_llm_engine)e;
        }
    msim_serving_fit(&law, &table, use);
    for (uint32_t i = 0; i < 8; i++)
        CHECK_REL(predicted_ms(&law, 20 * i), (i % 2 + i / 2) % 2 ? 1.5 : 0.8,
                  0.08);
    CHECK_REL(
        law.factor[0][MSIM_LLM_EXCHANGE] / law.factor[1][MSIM_LLM_EXCHANGE],
        law.factor[0][MSIM_LLM_VECTOR_FEW] / law.factor[1][MSIM_LLM_VECTOR_FEW],
        1e-12);
}

/* The host's constants, from steps and sequences of ranks: 300 us a step, 80 a
 * doubling of ranks, 10 a sequence. */
static void test_serving_fit__host(void)
{
    struct msim_llm_law law;

    begin();
    for (uint32_t i = 0; i < 60; i++) {
        uint32_t tp = 1 << i % 3;
        double seqs = 1 + i / 3 * 3;
        double us = 300 + 80 * log2(tp) + 10 * seqs;
        struct msim_serving_row *r = add(1, 0, VECTORS, us * 1e-3);

        r->rank.s.tp = tp;
        r->decode.pieces.us[MSIM_LLM_VECTOR_FEW][MSIM_QUANT_BF16] = 0;
        r->decode.steps = 1;
        r->decode.seqs = seqs;
    }
    msim_serving_fit(&law, &table, use);
    CHECK_REL(law.host_us[0], 300, 0.1);
    CHECK_REL(law.ranks_us[0], 80, 0.1);
    CHECK_REL(law.sequence_us[0], 10, 0.1);
}

/* Of the rows that are used. */
static void test_serving_fit__notes_what_was_seen(void)
{
    struct msim_llm_law law;

    begin();
    for (uint32_t i = 0; i < 3; i++) {
        add(1, i, VECTORS, 1)->gpu = 2 - i;
        snprintf(table.models[i], sizeof(table.models[i]), "m%u", i);
        snprintf(table.gpus[i], sizeof(table.gpus[i]), "g%u", i);
    }
    table.n_models = table.n_gpus = 3;
    rows[1].dense = MSIM_QUANT_FP8;
    rows[2].experts = MSIM_QUANT_INT4;
    rows[2].engine = (enum msim_llm_engine)1;
    use[1] = 0;
    msim_serving_fit(&law, &table, use);
    CHECK_UINT(law.n_models, 2);
    CHECK_STR(law.models[0], "m0");
    CHECK_STR(law.models[1], "m2");
    CHECK_UINT(law.n_gpus, 2);
    CHECK_STR(law.gpus[0], "g0");
    CHECK_STR(law.gpus[1], "g2");
    CHECK(law.engines[0] && law.engines[1]);
    CHECK(law.types[MSIM_QUANT_BF16] && law.types[MSIM_QUANT_INT4]);
    CHECK(!law.types[MSIM_QUANT_FP8]);
}

int main(void)
{
    RUN(test_serving_fit__models_weigh_as_roots);
    RUN(test_serving_fit__few_rows_weigh_little);
    RUN(test_serving_fit__classes_of_types);
    RUN(test_serving_fit__pieces_of_engines);
    RUN(test_serving_fit__host);
    RUN(test_serving_fit__notes_what_was_seen);
    return check_summary();
}
