/* Recorded passes against a law, by a recorder that is made up. */
#include "serving/deploy/deploy.h"

#include "models/platform/platform.h"
#include "plan/describe/describe.h"
#include "serving/llm/llm.h"
#include "serving/llm/llm_law.h"
#include "tests/check.h"

#include <math.h>
#include <stdlib.h>

static struct msim_error err;

/* ---- ratios -------------------------------------------------------------- */

/* The name of a pass is its time in us; its batch is what it says. */
static enum msim_status by_name(struct msim_pass_time *out, void *own,
                                const struct msim_recorded_pass *pass,
                                const char *platform, double batch,
                                double tokens, struct msim_error *e)
{
    (void)own;
    (void)platform;
    (void)batch;
    (void)tokens;
    (void)e;
    *out = (struct msim_pass_time){strtod(pass->file, NULL), 0.1, pass->batch,
                                   pass->tokens, pass->context};
    return MSIM_OK;
}

static const struct msim_recorder RECORDER = {NULL, by_name};

static enum msim_status ten_a_sample(double *us, void *law,
                                     const struct msim_pass_time *of,
                                     struct msim_error *e)
{
    (void)law;
    (void)e;
    *us = 10 * (double)of->batch;
    return MSIM_OK;
}

static enum msim_status ratio(struct msim_recorded_ratio *out,
                              const struct msim_recorded_pass *of, uint32_t n,
                              const struct msim_recorder *recorder)
{
    const struct msim_recorded r = {of, n};

    err = (struct msim_error){0};
    return msim_recorded_ratio_find(out, &r, "a100", recorder, ten_a_sample,
                                    NULL, &err);
}

/* 20 us of 10 and 80 of 40 are twice the law; 80 of 10 beside them is 8 times:
 * the mean of 2 and 8 is 4, as geometry has it. */
static void test_recorded__the_geometric_mean(void)
{
    static const struct msim_recorded_pass of[] = {{"20", 1, 1, 0},
                                                   {"80", 4, 1, 0}},
                                           apart[] = {{"20", 1, 1, 0},
                                                      {"80", 1, 1, 0}};
    struct msim_recorded_ratio r, wide;

    CHECK_INT(ratio(&r, of, 2, &RECORDER), MSIM_OK);
    CHECK_REL(r.factor, 2, 1e-12);
    CHECK_REL(r.half, hypot(0.2, 0.1), 1e-12);
    CHECK_INT(r.n, 2);
    CHECK_INT(ratio(&wide, apart, 2, &RECORDER), MSIM_OK);
    CHECK_REL(wide.factor, 4, 1e-12);
    /* log 2 and log 8 are log 4 apart, a deviation of log 4 / sqrt 2 */
    CHECK_REL(wide.half, hypot(r.half, 1.645 * log(4) / sqrt(2)), 1e-9);
}

static void test_recorded__none_changes_nothing(void)
{
    struct msim_recorded_ratio r;

    CHECK_INT(ratio(&r, NULL, 0, NULL), MSIM_OK);
    CHECK(r.factor == 1 && r.n == 0);
}

static void test_recorded__what_is_no_such_pass(void)
{
    static const struct msim_recorded_pass far[] = {{"101", 1, 1, 0}},
                                           near[] = {{"99", 1, 1, 0}},
                                           short_[] = {{"0.99", 1, 1, 0}},
                                           no_time[] = {{"0", 1, 1, 0}},
                                           no_batch[] = {{"20", 0, 1, 0}};
    struct msim_recorded_ratio r;

    CHECK_INT(ratio(&r, far, 1, &RECORDER), MSIM_EFORMAT);
    CHECK(strstr(err.text, "x 10.1 of what the model takes for a batch of 1 "
                           "with 1 tokens each behind 0"));
    CHECK_STR(err.file, "101");
    CHECK_INT(ratio(&r, near, 1, &RECORDER), MSIM_OK);
    CHECK_INT(ratio(&r, short_, 1, &RECORDER), MSIM_EFORMAT);
    CHECK_INT(ratio(&r, no_time, 1, &RECORDER), MSIM_EFORMAT);
    CHECK_INT(ratio(&r, no_batch, 1, &RECORDER), MSIM_EFORMAT);
    CHECK(strstr(err.text, "does not tell its pass's batch"));
    CHECK_INT(ratio(&r, near, 1, NULL), MSIM_EUSAGE);
}

/* ---- intervals ----------------------------------------------------------- */

static void test_recorded__how_sure_a_stage_is(void)
{
    struct msim_recorded_law r = {{1, 0.3, 1}, {1, 0.2, 1}};

    CHECK(msim_recorded_half(&r, 0.9) == 0.3);
    r.decode = (struct msim_recorded_ratio){.factor = 1};
    CHECK(msim_recorded_half(&r, 0.9) == 0.9); /* half of it is the law's */
    CHECK(msim_recorded_half(&r, 0.1) == 0.3);
}

/* ---- steps --------------------------------------------------------------- */

static struct msim_platform *h100;
static struct msim_described model;
static struct msim_llm_law law;

static struct msim_llm *llm_of(double prompts, double decoding)
{
    struct msim_llm_setup setup = {.model = &model,
                                   .platform = h100,
                                   .law = &law,
                                   .prompt_factor = prompts,
                                   .decode_factor = decoding};
    struct msim_llm *m = NULL;

    CHECK_INT(msim_llm_new(&m, &setup, &err), MSIM_OK);
    return m;
}

static double step_us(struct msim_llm *m, uint32_t seqs, uint32_t tokens)
{
    struct msim_llm_times t = msim_llm_times_of(m);
    struct msim_llm_chunk chunk = {tokens, 0, true};
    struct msim_llm_step step = {seqs, 1000 * (uint64_t)seqs, &chunk,
                                 tokens > 0, NULL};

    return t.step_us(t.ctx, &step);
}

/* Prompts take twice, decoding three times; what prompts add to a step that
 * decodes is theirs. */
static void test_recorded__steps_of_both_kinds(void)
{
    struct msim_llm *one = llm_of(0, 0), *m = llm_of(2, 3), *two = llm_of(2, 2);
    double prompt, decode, mixed;

    if (CHECK(one && m && two)) {
        prompt = step_us(one, 0, 700);
        decode = step_us(one, 16, 0);
        mixed = step_us(one, 16, 700);
        CHECK(prompt > 0 && decode > 0 && mixed > prompt);
        CHECK_REL(step_us(m, 0, 700), 2 * prompt, 1e-12);
        CHECK_REL(step_us(m, 16, 0), 3 * decode, 1e-12);
        CHECK_REL(step_us(m, 16, 700), 3 * decode + 2 * (mixed - decode),
                  1e-12);
        CHECK_REL(step_us(two, 16, 700), 2 * mixed, 1e-12);
    }
    msim_llm_free(one);
    msim_llm_free(m);
    msim_llm_free(two);
}

/* A recorded step that took so long has that time afterwards. */
static void test_recorded__a_step_takes_what_was_recorded(void)
{
    static const struct msim_recorded_pass prompt = {"90000", 2, 700, 0},
                                           token = {"30000", 16, 1, 1000},
                                           long_token = {"30000", 16, 2, 1000},
                                           odd = {"30000", 16, 1, -1};
    struct msim_stage s = {.prefill = {&prompt, 1}, .decode = {&token, 1}};
    struct msim_llm *m = llm_of(1, 1), *after;
    struct msim_recorded_ratio prefill, decode;

    CHECK_INT(
        msim_recorded_steps(&prefill, &s, false, "h100", &RECORDER, m, &err),
        MSIM_OK);
    CHECK_INT(
        msim_recorded_steps(&decode, &s, true, "h100", &RECORDER, m, &err),
        MSIM_OK);
    after = llm_of(prefill.factor, decode.factor);
    CHECK_REL(step_us(after, 16, 0), 30000, 1e-9);
    s.decode.of = &long_token;
    err = (struct msim_error){0};
    CHECK_INT(
        msim_recorded_steps(&decode, &s, true, "h100", &RECORDER, m, &err),
        MSIM_EFORMAT);
    CHECK(strstr(err.text, "has 2 tokens a sample"));
    err = (struct msim_error){0};
    s.decode.of = &odd;
    CHECK_INT(
        msim_recorded_steps(&decode, &s, true, "h100", &RECORDER, m, &err),
        MSIM_EFORMAT);
    CHECK(strstr(err.text, "context"));
    msim_llm_free(after);
    msim_llm_free(m);
}

int main(void)
{
    if (msim_platform_load(&h100, MSIM_DATA, "h100", &err) != MSIM_OK ||
        msim_llm_law_load(&law, MSIM_DATA, &err) != MSIM_OK ||
        msim_described_find(&model, "llama3-8b", MSIM_DATA, NULL, &err) !=
            MSIM_OK)
        return 1;
    RUN(test_recorded__the_geometric_mean);
    RUN(test_recorded__none_changes_nothing);
    RUN(test_recorded__what_is_no_such_pass);
    RUN(test_recorded__how_sure_a_stage_is);
    RUN(test_recorded__steps_of_both_kinds);
    RUN(test_recorded__a_step_takes_what_was_recorded);
    msim_platform_free(h100);
    return check_summary();
}
