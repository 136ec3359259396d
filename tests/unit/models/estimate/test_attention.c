/*
 * Attention that is not fused, as a stack of before says.
 */
#include "models/estimate/model.h"
#include "models/platform/platform.h"
#include "tests/check.h"

#include <math.h>
#include <stdlib.h>

static struct msim_platform *now, *before;

static double us(const struct msim_platform *p, const struct msim_work *w)
{
    struct msim_estimate e = {0};
    struct msim_error err = {0};

    CHECK_INT(msim_model_predict(p, w, false, &e, &err), MSIM_OK);
    CHECK_INT(e.family, MSIM_FAMILY_ATTENTION);
    CHECK(e.low_us > 0 && e.low_us < e.us && e.us < e.high_us);
    return e.us;
}

/* 32 sequences of 512, 12 heads of 64: 101 million scores. */
static struct msim_work attention(enum msim_dtype dtype)
{
    return (struct msim_work){.family = MSIM_FAMILY_ATTENTION,
                              .dtype = dtype,
                              .u.attention = {.phase = MSIM_ATTENTION_ENCODER,
                                              .batch = 32,
                                              .heads = 12,
                                              .kv_heads = 12,
                                              .q_len = 512,
                                              .kv_len = 512,
                                              .head_dim = 64,
                                              .kv_dtype = dtype}};
}

static bool explains(const struct msim_platform *p, const struct msim_work *w,
                     const char *want)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    bool found;

    CHECK(out);
    if (!out)
        return false;
    msim_model_explain(p, w, out);
    fclose(out);
    found = strstr(text, want) != NULL;
    free(text);
    return found;
}

/* The scores go through memory eight times, as 16 bytes in all: the first
 * product writes 2, the softmax reads 2 and writes 4, the cast reads 4 and
 * writes 2, the second product reads 2. */
static void test_attention__scores_go_through_memory(void)
{
    struct msim_work w = attention(MSIM_DT_F16);
    double scores = 32 * 12 * 512.0 * 512;
    double best_us = 16 * scores / 2.039e12 * 1e6;

    CHECK(us(before, &w) > best_us && us(before, &w) < 2 * best_us);
    CHECK(us(now, &w) < 0.5 * best_us);
}

/* In fp32 nothing is cast; a gradient has each product twice. */
static void test_attention__parts(void)
{
    struct msim_work half = attention(MSIM_DT_F16);
    struct msim_work full = attention(MSIM_DT_F32);
    double forward = us(before, &half);

    CHECK(explains(before, &half, "part 4 of 4, 1 times: gemm"));
    CHECK(explains(before, &full, "part 3 of 3, 1 times: gemm"));
    CHECK(!explains(now, &half, "part 1"));
    half.u.attention.backward = true;
    CHECK(explains(before, &half, "part 4 of 4, 2 times: gemm"));
    CHECK(us(before, &half) > 1.5 * forward && us(before, &half) < 3 * forward);
}

/* A causal mask hides scores that products compute all the same. */
static void test_attention__computes_what_a_mask_hides(void)
{
    struct msim_work w = attention(MSIM_DT_F16);
    double all = us(before, &w);

    w.u.attention.phase = MSIM_ATTENTION_PREFILL;
    CHECK_REL(us(before, &w), all, 1e-12);
}

/* Rows of tables name the stack that ran them. */
static void test_attention__of_another_stack(void)
{
    struct msim_work w = attention(MSIM_DT_F16);

    w.framework = "vllm";
    CHECK_REL(us(before, &w), us(now, &w), 1e-12);
}

/* vLLM's rows of decoding have 8 heads of keys at most, SGLang's 64. */
static void test_attention__decodes_heads_as_sequences(void)
{
    struct msim_work w = {.family = MSIM_FAMILY_ATTENTION,
                          .dtype = MSIM_DT_BF16,
                          .framework = "vllm",
                          .u.attention = {.phase = MSIM_ATTENTION_DECODE,
                                          .batch = 32,
                                          .heads = 64,
                                          .kv_heads = 32,
                                          .q_len = 1,
                                          .kv_len = 700,
                                          .head_dim = 128,
                                          .kv_dtype = MSIM_DT_BF16}};
    struct msim_work folded = w, prompts = w;
    struct msim_platform *h100;

    REQUIRE(msim_platform_load(&h100, MSIM_DATA, "h100", NULL) == MSIM_OK);
    folded.u.attention.batch = 128;
    folded.u.attention.heads = 16;
    folded.u.attention.kv_heads = 8;
    CHECK_REL(us(h100, &w), us(h100, &folded), 1e-12);
    CHECK(explains(h100, &w, "taken as 128 sequences with 16 over 8\n"));
    CHECK(!explains(h100, &folded, "taken as"));
    prompts.u.attention.phase = MSIM_ATTENTION_PREFILL;
    CHECK(!explains(h100, &prompts, "taken as"));
    w.framework = "sglang";
    CHECK(!explains(h100, &w, "taken as"));
    /* no parts: heads that no number divides, sizes of a broken trace */
    w.framework = "vllm";
    w.u.attention.kv_heads = 48;
    CHECK(!explains(h100, &w, "taken as"));
    w.u.attention.heads = w.u.attention.kv_heads = INT64_C(1) << 40;
    CHECK(!explains(h100, &w, "taken as"));
    msim_platform_free(h100);
}

/* An A100 has rows of vLLM's masked attention, which say too much of unmasked,
 * and so has an RTX 4090, by LLMServingSim; an H100 has rows of both, and
 * SGLang's say none too much. */
static void test_attention__unmasked_by_masked_rows(void)
{
    static const char SAYS[] =
        "times: 0.787, since the rows are of masked attention\n";
    struct msim_platform *h100, *rtx4090;
    struct msim_work w = attention(MSIM_DT_F16), masked = w;
    double bare = us(now, &w);

    REQUIRE(msim_platform_load(&h100, MSIM_DATA, "h100", NULL) == MSIM_OK);
    REQUIRE(msim_platform_load(&rtx4090, MSIM_DATA, "rtx-4090", NULL) ==
            MSIM_OK);
    masked.u.attention.phase = MSIM_ATTENTION_PREFILL;
    CHECK(explains(now, &w, SAYS));
    CHECK(!explains(now, &masked, "times: "));
    CHECK(!explains(h100, &w, "times: "));
    CHECK(explains(rtx4090, &w, SAYS));
    CHECK(!explains(rtx4090, &masked, "times: "));
    w.framework = "sglang";
    CHECK(!explains(now, &w, "times: "));
    /* pair by pair it would be twice the masked one's, less what starts */
    CHECK(bare > us(now, &masked) && bare < 0.85 * 2 * us(now, &masked));
    msim_platform_free(h100);
    msim_platform_free(rtx4090);
}

/* Sizes of a broken trace, whose products no whole number holds. */
static void test_attention__survives_any_size(void)
{
    struct msim_work w = attention(MSIM_DT_F16);
    struct msim_estimate e = {0};
    struct msim_error err = {0};

    w.u.attention.batch = w.u.attention.heads = INT64_MAX / 2;
    w.u.attention.q_len = w.u.attention.kv_len = INT64_MAX / 2;
    CHECK_INT(msim_model_predict(before, &w, false, &e, &err), MSIM_OK);
    CHECK(e.us > 0 && isfinite(e.us) && isfinite(e.high_us));
}

int main(void)
{
    if (msim_platform_load(&now, MSIM_DATA, "a100", NULL) != MSIM_OK ||
        msim_platform_load(&before, MSIM_DATA, "a100@pytorch-1.13", NULL) !=
            MSIM_OK) {
        fprintf(stderr, "platform 'a100' cannot be loaded\n");
        return 1;
    }
    RUN(test_attention__scores_go_through_memory);
    RUN(test_attention__parts);
    RUN(test_attention__computes_what_a_mask_hides);
    RUN(test_attention__of_another_stack);
    RUN(test_attention__decodes_heads_as_sequences);
    RUN(test_attention__unmasked_by_masked_rows);
    RUN(test_attention__survives_any_size);
    msim_platform_free(now);
    msim_platform_free(before);
    return check_summary();
}
