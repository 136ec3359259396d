/* serving/llm/llm_price.c and llm.c: works of each kind go to their piece, as
 * estimated; a step is the sum of its parts. */

#include "models/estimate/model.h"
#include "models/platform/platform.h"
#include "plan/describe/describe.h"
#include "serving/llm/llm_internal.h"
#include "tests/check.h"

#include <math.h>

static struct msim_error err;
static struct msim_platform *h100;

/* ---- pieces -------------------------------------------------------------- */

/* 0 up to 64 rows, 1 from 1,024 on; a half where rows are 256, between. */
static void test_llm_price__share_of_many(void)
{
    CHECK_REL(msim_llm_share_of_many(0), 0, 0);
    CHECK_REL(msim_llm_share_of_many(64), 0, 0);
    CHECK_REL(msim_llm_share_of_many(128), 0.25, 1e-12);
    CHECK_REL(msim_llm_share_of_many(256), 0.5, 1e-12);
    CHECK_REL(msim_llm_share_of_many(1024), 1, 1e-12);
    CHECK_REL(msim_llm_share_of_many(1e6), 1, 0);
}

static struct msim_llm_works works;

/* One work of a kind, which two layers do: a product of 100 x 1,024 x 1,024,
 * whatever the kind says; or attention of so many heads of keys. */
static struct msim_work *one(enum msim_llm_kind kind, enum msim_quant type)
{
    memset(&works, 0, sizeof(works));
    works.n = 1;
    works.of[0].kind = kind;
    works.of[0].type = type;
    works.of[0].times = 2;
    works.of[0].work.family = MSIM_FAMILY_GEMM;
    works.of[0].work.dtype = MSIM_DT_BF16;
    works.of[0].work.kernels = 1;
    works.of[0].work.u.gemm.m = 100;
    works.of[0].work.u.gemm.n = works.of[0].work.u.gemm.k = 1024;
    works.of[0].work.u.gemm.batch = 1;
    msim_work_count(&works.of[0].work);
    return &works.of[0].work;
}

static struct msim_llm_pieces priced(double rows, bool prompt)
{
    struct msim_estimate_cache cache = {0};
    struct msim_llm_pieces p = {{{0}}};

    CHECK_INT(msim_llm_price(&p, &works, h100, &cache, rows, prompt, &err),
              MSIM_OK);
    msim_estimate_cache_release(&cache);
    return p;
}

/* `few` and `many` of twice the estimate, in that type, and nothing else but
 * two launches. */
static void check_pieces(const struct msim_llm_pieces *p, int piece,
                         enum msim_quant type, double share, double two_us)
{
    for (int i = 0; i < MSIM_LLM_PIECES; i++)
        for (int q = 0; q < MSIM_QUANTS; q++) {
            double want = 0;

            if (i == MSIM_LLM_LAUNCH && q == MSIM_QUANT_BF16)
                want = 2;
            if (i == piece && q == (int)type)
                want = share < 0 ? two_us : two_us * (1 - share);
            if (share >= 0 && i == piece + 1 && q == (int)type)
                want = two_us * share;
            CHECK_REL(p->us[i][q], want, 1e-12);
        }
}

static double two_us(void)
{
    struct msim_estimate e = {0};

    CHECK_INT(msim_model_predict(h100, &works.of[0].work, false, &e, &err),
              MSIM_OK);
    return 2 * e.us;
}

/* Kinds that have a piece for few rows and behind it one for many. */
static void test_llm_price__kinds(void)
{
    static const struct {
        enum msim_llm_kind kind;
        int piece;
        bool typed, split;
    } ROWS[] = {
        {MSIM_LLM_KIND_PRODUCT, MSIM_LLM_PRODUCT_FEW, true, true},
        {MSIM_LLM_KIND_EXPERT, MSIM_LLM_EXPERT_FEW, true, true},
        {MSIM_LLM_KIND_VECTOR, MSIM_LLM_VECTOR_FEW, false, true},
        {MSIM_LLM_KIND_ALL_REDUCE, MSIM_LLM_ALL_REDUCE_FEW, false, true},
        {MSIM_LLM_KIND_EXCHANGE, MSIM_LLM_EXCHANGE, false, false},
    };

    for (size_t i = 0; i < sizeof(ROWS) / sizeof(*ROWS); i++) {
        struct msim_llm_pieces p;

        (void)one(ROWS[i].kind, MSIM_QUANT_INT8);
        p = priced(128, false);
        check_pieces(&p, ROWS[i].piece,
                     ROWS[i].typed ? MSIM_QUANT_INT8 : MSIM_QUANT_BF16,
                     ROWS[i].split ? 0.25 : -1, two_us());
    }
}

/* Heads with keys of their own, and latent ones, have a piece of their own. */
static void test_llm_price__attention(void)
{
    static const struct {
        int64_t kv_heads, v_dim;
        bool prompt;
        int piece;
    } ROWS[] = {{2, 0, false, MSIM_LLM_ATTENTION_DECODE},
                {8, 0, false, MSIM_LLM_ATTENTION_OTHER},
                {1, 1, false, MSIM_LLM_ATTENTION_OTHER},
                {8, 0, true, MSIM_LLM_ATTENTION_PROMPT},
                {2, 0, true, MSIM_LLM_ATTENTION_PROMPT}};

    for (size_t i = 0; i < sizeof(ROWS) / sizeof(*ROWS); i++) {
        struct msim_work *w = one(MSIM_LLM_KIND_ATTENTION, MSIM_QUANT_FP8);
        struct msim_llm_pieces p;

        memset(w, 0, sizeof(*w));
        w->family = MSIM_FAMILY_ATTENTION;
        w->dtype = MSIM_DT_BF16;
        w->kernels = 1;
        w->u.attention.phase = MSIM_ATTENTION_DECODE;
        w->u.attention.batch = 4;
        w->u.attention.heads = 8;
        w->u.attention.kv_heads = ROWS[i].kv_heads;
        w->u.attention.head_dim = 64;
        w->u.attention.v_dim = ROWS[i].v_dim;
        w->u.attention.q_len = 1;
        w->u.attention.kv_len = 500;
        w->u.attention.kv_dtype = MSIM_DT_BF16;
        msim_work_count(w);
        p = priced(128, ROWS[i].prompt);
        check_pieces(&p, ROWS[i].piece, MSIM_QUANT_BF16, -1, two_us());
    }
}

/* What no layer does takes nothing; pieces add up. */
static void test_llm_price__adds_up(void)
{
    struct msim_estimate_cache cache = {0};
    struct msim_llm_pieces p = {{{0}}};
    double us;

    (void)one(MSIM_LLM_KIND_EXCHANGE, MSIM_QUANT_OWN);
    us = two_us();
    works.of[1] = works.of[0];
    works.of[1].times = 0;
    works.n = 2;
    for (int i = 1; i <= 2; i++) {
        CHECK_INT(msim_llm_price(&p, &works, h100, &cache, 1, false, &err),
                  MSIM_OK);
        CHECK_REL(p.us[MSIM_LLM_EXCHANGE][MSIM_QUANT_BF16], i * us, 1e-12);
        CHECK_REL(p.us[MSIM_LLM_LAUNCH][MSIM_QUANT_BF16], 2 * i, 0);
    }
    (void)one(MSIM_LLM_KIND_PRODUCT, MSIM_QUANT_OWN); /* counts as 16 bits */
    p = priced(64, false);
    CHECK_REL(p.us[MSIM_LLM_PRODUCT_FEW][MSIM_QUANT_BF16], two_us(), 1e-12);
    msim_estimate_cache_release(&cache);
}

/* ---- parts and steps ----------------------------------------------------- */

static struct msim_described model;
static struct msim_llm_law law;

static struct msim_llm *made(int64_t dp, int64_t tp)
{
    struct msim_llm_setup setup = {.model = &model,
                                   .platform = h100,
                                   .law = &law,
                                   .engine = MSIM_LLM_SGLANG,
                                   .dp = dp,
                                   .tp = tp};
    struct msim_llm *m = NULL;

    err = (struct msim_error){0};
    CHECK_INT(msim_llm_new(&m, &setup, &err), MSIM_OK);
    return m;
}

/* A part is the works that step_works.c lists of it, by rows of one rank. */
static void test_llm_price__parts(void)
{
    struct msim_llm *m = made(2, 2);
    const struct msim_llm_rank *r;
    struct msim_estimate_cache cache = {0};

    REQUIRE(m != NULL);
    r = &m->rank;
    for (int part = 0; part < MSIM_LLM_PARTS; part++) {
        struct msim_llm_pieces got, want = {{{0}}};

        if (part == MSIM_LLM_PART_TOKENS)
            msim_llm_token_works(&works, r, 400);
        if (part == MSIM_LLM_PART_EXPERTS)
            msim_llm_expert_works(&works, r, 400);
        if (part == MSIM_LLM_PART_DECODE)
            msim_llm_decode_works(&works, r, 400, 700);
        if (part == MSIM_LLM_PART_CHUNK)
            msim_llm_chunk_works(&works, r, 400, 700);
        if (part == MSIM_LLM_PART_HEAD)
            msim_llm_head_works(&works, r, 400);
        CHECK_INT(msim_llm_price(&want, &works, h100, &cache, 200,
                                 part == MSIM_LLM_PART_CHUNK, &err),
                  MSIM_OK);
        memset(&got, 0xff, sizeof(got));
        CHECK_INT(msim_llm_price_part(&got, r, &cache, (enum msim_llm_part)part,
                                      400, 700, &err),
                  MSIM_OK);
        for (int i = 0; i < MSIM_LLM_PIECES; i++)
            for (int q = 0; q < MSIM_QUANTS; q++)
                CHECK_REL(got.us[i][q], want.us[i][q], 0);
    }
    msim_estimate_cache_release(&cache);
    msim_llm_free(m);
}

static double host_us(const struct msim_llm *m, double steps, double seqs)
{
    return msim_llm_law_host_us(&m->law, &m->rank, steps, seqs);
}

static double part_us(struct msim_llm *m, enum msim_llm_part part, double a,
                      double b)
{
    return msim_llm_table_us(&m->table, part, a, b);
}

/* Three sequences decode, and two chunks, of which one ends its prompt: host,
 * tokens, the tokens that come out, decoding with the mean context, and chunks,
 * which begin once for all. */
static void test_llm__sums_a_step(void)
{
    static const struct msim_llm_chunk CHUNKS[] = {{100, 0, true},
                                                   {50, 200, false}};
    struct msim_llm_step step = {3, 900, CHUNKS, 2, NULL};
    struct msim_llm *m = made(1, 1);
    struct msim_llm_times times;
    double begin, chunks;

    REQUIRE(m != NULL);
    times = msim_llm_times_of(m);
    begin = part_us(m, MSIM_LLM_PART_CHUNK, 1, 0);
    chunks = part_us(m, MSIM_LLM_PART_CHUNK, 100, 0) +
             part_us(m, MSIM_LLM_PART_CHUNK, 50, 200) - begin;
    CHECK_REL(times.step_us(times.ctx, &step),
              host_us(m, 1, 5) + part_us(m, MSIM_LLM_PART_EXPERTS, 153, 0) +
                  part_us(m, MSIM_LLM_PART_TOKENS, 153, 0) +
                  part_us(m, MSIM_LLM_PART_HEAD, 4, 0) +
                  part_us(m, MSIM_LLM_PART_DECODE, 3, 300) + chunks,
              1e-12);
    step = (struct msim_llm_step){.decode_seqs = 2, .decode_context = 10};
    CHECK_REL(times.step_us(times.ctx, &step),
              host_us(m, 1, 2) + part_us(m, MSIM_LLM_PART_EXPERTS, 2, 0) +
                  part_us(m, MSIM_LLM_PART_TOKENS, 2, 0) +
                  part_us(m, MSIM_LLM_PART_HEAD, 2, 0) +
                  part_us(m, MSIM_LLM_PART_DECODE, 2, 5),
              1e-12);
    step = (struct msim_llm_step){0};
    CHECK_REL(times.step_us(times.ctx, &step), 0, 0);
    msim_llm_free(m);
    msim_llm_free(NULL);
}

/* Of two data parallel ranks: chunks side by side, where nothing says who has
 * which; the rank that is asked for as if both had as much. */
static void test_llm__sums_a_step_of_ranks(void)
{
    static const struct msim_llm_chunk CHUNKS[] = {{100, 0, true},
                                                   {100, 0, true}};
    struct msim_llm_step step = {4, 400, CHUNKS, 2, NULL};
    struct msim_llm_step of = {1, 100, CHUNKS, 1, NULL};
    struct msim_llm *m = made(2, 1);
    struct msim_llm_times times;
    double begin, one_us, shared;

    REQUIRE(m != NULL);
    times = msim_llm_times_of(m);
    begin = part_us(m, MSIM_LLM_PART_CHUNK, 1, 0);
    one_us = part_us(m, MSIM_LLM_PART_CHUNK, 100, 0);
    shared = host_us(m, 1, 6) + part_us(m, MSIM_LLM_PART_EXPERTS, 204, 0);
    CHECK_REL(times.step_us(times.ctx, &step),
              shared + part_us(m, MSIM_LLM_PART_TOKENS, 204, 0) +
                  part_us(m, MSIM_LLM_PART_HEAD, 6, 0) +
                  part_us(m, MSIM_LLM_PART_DECODE, 4, 100) + (one_us - begin) +
                  begin,
              1e-12);
    step.n_chunks = 1; /* one of them has it */
    CHECK_REL(times.step_us(times.ctx, &step),
              host_us(m, 1, 5) + part_us(m, MSIM_LLM_PART_EXPERTS, 104, 0) +
                  part_us(m, MSIM_LLM_PART_TOKENS, 104, 0) +
                  part_us(m, MSIM_LLM_PART_HEAD, 5, 0) +
                  part_us(m, MSIM_LLM_PART_DECODE, 4, 100) + one_us,
              1e-12);
    step.n_chunks = 2;
    step.rank = &of;
    CHECK_REL(times.step_us(times.ctx, &step),
              shared + part_us(m, MSIM_LLM_PART_TOKENS, 202, 0) +
                  part_us(m, MSIM_LLM_PART_HEAD, 4, 0) +
                  part_us(m, MSIM_LLM_PART_DECODE, 2, 100) + one_us,
              1e-12);
    of.n_chunks = 2; /* one behind the other */
    CHECK_REL(times.step_us(times.ctx, &step),
              shared + part_us(m, MSIM_LLM_PART_TOKENS, 402, 0) +
                  part_us(m, MSIM_LLM_PART_HEAD, 6, 0) +
                  part_us(m, MSIM_LLM_PART_DECODE, 2, 100) + 2 * one_us - begin,
              1e-12);
    msim_llm_free(m);
}

/* What it was made of, and the law's word on it. */
static void test_llm__says_what_it_is(void)
{
    struct msim_llm *m = made(2, 1);
    const struct msim_llm_memory *memory;
    struct msim_llm_times times;
    bool uses;

    REQUIRE(m != NULL);
    memory = msim_llm_memory_of(m);
    times = msim_llm_times_of(m);
    CHECK(times.ctx == m);
    CHECK_INT(times.kv_tokens, memory->kv_tokens);
    CHECK_INT(times.kv_sequence_tokens, 0);
    CHECK_INT(times.kv_window, memory->kv_window);
    CHECK(memory->kv_tokens > 0);
    for (int f = 0; f < MSIM_LLM_FIGURES; f++)
        CHECK_REL(
            msim_llm_half(m, (enum msim_llm_figure)f),
            msim_llm_law_half(&law, &m->rank, (enum msim_llm_figure)f, &uses),
            0);
    CHECK_INT(msim_llm_uses_rows(m), uses);
    msim_llm_free(m);
}

/* Nothing is made of what cannot be split, or does not fit. */
static void test_llm__refuses(void)
{
    struct msim_llm_setup setup = {.model = &model, .platform = h100, .tp = 3};
    struct msim_llm *m = (struct msim_llm *)&setup;

    err = (struct msim_error){0};
    CHECK_INT(msim_llm_new(&m, &setup, &err), MSIM_EUSAGE);
    CHECK(!m);
    setup.tp = 1;
    setup.gpu_memory_utilization = 0.05;
    err = (struct msim_error){0};
    CHECK_INT(msim_llm_new(&m, &setup, &err), MSIM_ECHECK);
    CHECK(!m);
    CHECK(strstr(err.text, "does not fit") != NULL);
    setup.gpu_memory_utilization = 0; /* of nothing fitted */
    CHECK_INT(msim_llm_new(&m, &setup, &err), MSIM_OK);
    CHECK_REL(m->law.host_us[MSIM_LLM_VLLM], 400, 0);
    CHECK(!msim_llm_uses_rows(m));
    msim_llm_free(m);
}

int main(void)
{
    if (msim_platform_load(&h100, MSIM_DATA, "h100", &err) != MSIM_OK ||
        msim_llm_law_load(&law, MSIM_DATA, &err) != MSIM_OK ||
        msim_described_find(&model, "qwen3-30b-a3b", MSIM_DATA, NULL, &err) !=
            MSIM_OK)
        return 1;
    RUN(test_llm_price__share_of_many);
    RUN(test_llm_price__kinds);
    RUN(test_llm_price__attention);
    RUN(test_llm_price__adds_up);
    RUN(test_llm_price__parts);
    RUN(test_llm__sums_a_step);
    RUN(test_llm__sums_a_step_of_ranks);
    RUN(test_llm__says_what_it_is);
    RUN(test_llm__refuses);
    msim_platform_free(h100);
    return check_summary();
}
