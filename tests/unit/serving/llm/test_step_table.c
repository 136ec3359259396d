/* Tables of step times: as exact as they claim to be. */
#include "models/platform/platform.h"
#include "plan/describe/describe.h"
#include "serving/llm/llm_internal.h"
#include "tests/check.h"

#include <math.h>
#include <stdlib.h>

static struct msim_error err;
static struct msim_described model;
static struct msim_platform *h100;
static struct msim_llm_rank rank;
static struct msim_llm_law law;

static void make(const char *name, int64_t tp)
{
    struct msim_llm_setup setup = {.model = &model, .tp = tp};

    REQUIRE(msim_described_find(&model, name, MSIM_DATA, NULL, &err) ==
            MSIM_OK);
    if (!h100)
        REQUIRE(msim_platform_load(&h100, MSIM_DATA, "h100", &err) == MSIM_OK);
    setup.platform = h100;
    msim_llm_law_init(&law);
    REQUIRE(msim_llm_rank_init(&rank, &setup, &err) == MSIM_OK);
}

static double exactly(enum msim_llm_part part, double a, double b)
{
    struct msim_estimate_cache cache = {0};
    struct msim_llm_pieces pieces;
    double us = 0;

    if (msim_llm_price_part(&pieces, &rank, &cache, part, a, b, &err) ==
        MSIM_OK)
        us = msim_llm_law_us(&law, rank.s.engine, &pieces);
    msim_estimate_cache_release(&cache);
    return us;
}

static void test_step_table__is_exact_at_its_points(void)
{
    struct msim_llm_table t;

    make("llama3-8b", 1);
    REQUIRE(msim_llm_table_init(&t, &rank, &law) == MSIM_OK);
    for (uint32_t i = 1; i < 120; i += 7) {
        double n = msim_llm_grid_tokens(i);

        CHECK_REL(msim_llm_table_us(&t, MSIM_LLM_PART_TOKENS, n, 0),
                  exactly(MSIM_LLM_PART_TOKENS, n, 0), 1e-12);
        CHECK_REL(
            msim_llm_table_us(&t, MSIM_LLM_PART_DECODE, n,
                              msim_llm_grid_context(1 + i % 20)),
            exactly(MSIM_LLM_PART_DECODE, n, msim_llm_grid_context(1 + i % 20)),
            1e-12);
    }
    CHECK(t.status == MSIM_OK);
    msim_llm_table_release(&t);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

#define DRAWS 300

/* Uniform in 0..1 (Knuth's MMIX). */
static double draw(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) / 9007199254740992.0;
}

/* Errors between the points: their median, and what 19 in 20 keep. */
static void errors_of(enum msim_llm_part part, double most, double *median,
                      double *most_of)
{
    struct msim_llm_table t;
    uint64_t state = 7;
    double e[DRAWS];

    REQUIRE(msim_llm_table_init(&t, &rank, &law) == MSIM_OK);
    for (int i = 0; i < DRAWS; i++) {
        double a = floor(exp(log(most) * draw(&state)));
        double b = floor(exp(log(30000) * draw(&state)));
        double want = exactly(part, a, b);

        e[i] = fabs(msim_llm_table_us(&t, part, a, b) / want - 1);
    }
    qsort(e, DRAWS, sizeof(*e), by_value);
    *median = e[DRAWS / 2];
    *most_of = e[DRAWS * 19 / 20];
    msim_llm_table_release(&t);
}

static void test_step_table__is_near_between_them(void)
{
    static const struct {
        const char *model;
        enum msim_llm_part part;
        double most;
    } CASES[] = {{"llama3-8b", MSIM_LLM_PART_TOKENS, 8192},
                 {"llama3-8b", MSIM_LLM_PART_DECODE, 512},
                 {"llama3-8b", MSIM_LLM_PART_CHUNK, 8192},
                 {"llama3-8b", MSIM_LLM_PART_HEAD, 512},
                 {"qwen3-30b-a3b", MSIM_LLM_PART_TOKENS, 8192},
                 {"qwen3-30b-a3b", MSIM_LLM_PART_EXPERTS, 8192},
                 {"deepseek-v3", MSIM_LLM_PART_DECODE, 512}};

    for (size_t i = 0; i < sizeof(CASES) / sizeof(*CASES); i++) {
        double median, largest;

        make(CASES[i].model, 2);
        errors_of(CASES[i].part, CASES[i].most, &median, &largest);
        printf("%s, part %d: %.2f %% in the middle, %.1f %% of 19 in 20\n",
               CASES[i].model, (int)CASES[i].part, 100 * median, 100 * largest);
        CHECK(median < MSIM_LLM_TABLE_MIDDLE);
        CHECK(largest < (CASES[i].part == MSIM_LLM_PART_DECODE
                             ? MSIM_LLM_TABLE_DECODE
                             : MSIM_LLM_TABLE_MOST));
    }
}

/* Pieces of a step's attention are told apart: groups of heads, heads with keys
 * of their own, prompts; kernels are counted, 1 us each. */
static void test_step_table__pieces_of_attention(void)
{
    struct msim_estimate_cache cache = {0};
    struct msim_llm_pieces p;

    make("llama3-8b", 1);
    CHECK(msim_llm_price_part(&p, &rank, &cache, MSIM_LLM_PART_DECODE, 4, 999,
                              &err) == MSIM_OK);
    CHECK(p.us[MSIM_LLM_ATTENTION_DECODE][MSIM_QUANT_BF16] > 0);
    CHECK(p.us[MSIM_LLM_ATTENTION_OTHER][MSIM_QUANT_BF16] == 0);
    CHECK(p.us[MSIM_LLM_LAUNCH][MSIM_QUANT_BF16] == 32);
    CHECK(msim_llm_price_part(&p, &rank, &cache, MSIM_LLM_PART_CHUNK, 99, 0,
                              &err) == MSIM_OK);
    CHECK(p.us[MSIM_LLM_ATTENTION_PROMPT][MSIM_QUANT_BF16] > 0);
    rank.kv_heads = rank.heads;
    CHECK(msim_llm_price_part(&p, &rank, &cache, MSIM_LLM_PART_DECODE, 4, 999,
                              &err) == MSIM_OK);
    CHECK(p.us[MSIM_LLM_ATTENTION_DECODE][MSIM_QUANT_BF16] == 0);
    CHECK(p.us[MSIM_LLM_ATTENTION_OTHER][MSIM_QUANT_BF16] > 0);
    msim_estimate_cache_release(&cache);
}

/* More of anything takes no less, and nothing takes nothing. */
static void test_step_table__steps_grow(void)
{
    struct msim_llm_setup setup = {.model = &model};
    struct msim_llm_step step = {0};
    struct msim_llm_chunk chunk = {.tokens = 512, .last = true};
    struct msim_llm_times times;
    struct msim_llm *m;
    double last = 0;

    make("llama3-8b", 1);
    setup.platform = h100;
    REQUIRE(msim_llm_new(&m, &setup, &err) == MSIM_OK);
    times = msim_llm_times_of(m);
    CHECK(times.step_us(times.ctx, &step) == 0);
    CHECK(times.kv_tokens > 0);
    for (step.decode_seqs = 1; step.decode_seqs <= 256; step.decode_seqs *= 2) {
        double us;

        step.decode_context = (uint64_t)step.decode_seqs * 1000;
        us = times.step_us(times.ctx, &step);
        CHECK(us > last);
        last = us;
    }
    step.chunks = &chunk;
    step.n_chunks = 1;
    CHECK(times.step_us(times.ctx, &step) > last);
    msim_llm_free(m);
}

int main(void)
{
    RUN(test_step_table__is_exact_at_its_points);
    RUN(test_step_table__is_near_between_them);
    RUN(test_step_table__pieces_of_attention);
    RUN(test_step_table__steps_grow);
    msim_platform_free(h100);
    return check_summary();
}
