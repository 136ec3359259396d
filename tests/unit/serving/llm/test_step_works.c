/* Works of a step of an LLM engine: bytes and FLOPs, worked by hand. */
#include "models/platform/platform.h"
#include "plan/describe/describe.h"
#include "serving/llm/llm.h"
#include "serving/llm/llm_law.h"
#include "tests/check.h"

#include <math.h>

static struct msim_error err;
static struct msim_described model;
static struct msim_platform *h100;

static struct msim_llm_rank rank_of(const char *name,
                                    struct msim_llm_setup setup)
{
    struct msim_llm_rank r = {0};

    err = (struct msim_error){0};
    CHECK(msim_described_find(&model, name, MSIM_DATA, NULL, &err) == MSIM_OK);
    if (!h100)
        CHECK(msim_platform_load(&h100, MSIM_DATA, "h100", &err) == MSIM_OK);
    setup.model = &model;
    setup.platform = h100;
    CHECK(msim_llm_rank_init(&r, &setup, &err) == MSIM_OK);
    return r;
}

/* FLOPs of all works of a kind, and the bytes that they read. */
static double flops_of(const struct msim_llm_works *w, enum msim_llm_kind kind)
{
    double sum = 0;

    for (uint32_t i = 0; i < w->n; i++)
        if (w->of[i].kind == kind)
            sum += w->of[i].times * w->of[i].work.flops;
    return sum;
}

static double read_of(const struct msim_llm_works *w, enum msim_llm_kind kind)
{
    double sum = 0;

    for (uint32_t i = 0; i < w->n; i++)
        if (w->of[i].kind == kind)
            sum += w->of[i].times * w->of[i].work.bytes_read;
    return sum;
}

static double collective_bytes(const struct msim_llm_works *w, double *count)
{
    double sum = 0;

    *count = 0;
    for (uint32_t i = 0; i < w->n; i++)
        if (w->of[i].kind == MSIM_LLM_KIND_ALL_REDUCE) {
            sum += w->of[i].times * (double)w->of[i].work.u.coll.bytes;
            *count += w->of[i].times;
        }
    return sum;
}

/*
 * Llama-3.1-8B: of a layer 4096 x (4096 + 2 x 1024) for queries, keys and
 * values, 4096 x 4096 behind them, 3 x 4096 x 14336: 218,103,808 weights.
 */
#define LAYER 218103808.0
#define HEAD  525336576.0 /* 4096 x 128256 */

static void test_step_works__decode_of_llama_8b(void)
{
    struct msim_llm_rank r = rank_of("llama3-8b", (struct msim_llm_setup){0});
    struct msim_llm_works w;

    msim_llm_token_works(&w, &r, 4);
    CHECK_REL(flops_of(&w, MSIM_LLM_KIND_PRODUCT), 2 * 4 * 32 * LAYER, 1e-12);
    CHECK_REL(w.weights, 2 * 32 * LAYER, 1e-12);
    /* weights, and four rows of each product's input */
    CHECK_REL(read_of(&w, MSIM_LLM_KIND_PRODUCT),
              2 * 32 * (LAYER + 4 * (4096 + 4096 + 4096 + 14336)), 1e-12);
    msim_llm_head_works(&w, &r, 4);
    CHECK_REL(flops_of(&w, MSIM_LLM_KIND_PRODUCT), 2 * 4 * HEAD, 1e-12);
    /* 1,000 keys and values of 8 heads of 128 in 16 bits, in 32 layers, of 4
     * sequences, beside the queries of 32 heads */
    msim_llm_decode_works(&w, &r, 4, 999);
    CHECK_REL(read_of(&w, MSIM_LLM_KIND_ATTENTION),
              32.0 * 4 * (1000 * 2 * 8 * 128 * 2 + 32 * 128 * 2), 1e-12);
    CHECK_REL(flops_of(&w, MSIM_LLM_KIND_ATTENTION),
              32.0 * 4 * 1000 * 32 * 128 * 4, 1e-12);
}

static void test_step_works__cache_in_8_bits_is_half(void)
{
    struct msim_llm_rank r = rank_of("llama3-8b", (struct msim_llm_setup){0});
    struct msim_llm_works wide, narrow;

    msim_llm_decode_works(&wide, &r, 1, 100000);
    r = rank_of("llama3-8b", (struct msim_llm_setup){.kv = MSIM_QUANT_FP8});
    msim_llm_decode_works(&narrow, &r, 1, 100000);
    CHECK_REL(read_of(&narrow, MSIM_LLM_KIND_ATTENTION) /
                  read_of(&wide, MSIM_LLM_KIND_ATTENTION),
              0.5, 1e-4);
}

/* Two sums a layer of 5 x 4096 numbers of 16 bits. */
static void test_step_works__tensor_parallel(void)
{
    struct msim_llm_rank r =
        rank_of("llama3-8b", (struct msim_llm_setup){.tp = 2});
    struct msim_llm_works w;
    double count;

    msim_llm_token_works(&w, &r, 5);
    CHECK_REL(collective_bytes(&w, &count), 2 * 32 * 5 * 4096 * 2, 1e-12);
    CHECK(count == 64);
    CHECK_REL(w.weights, 32 * LAYER, 1e-12);
    CHECK_INT(r.heads, 16);
    CHECK_INT(r.kv_heads, 4);
}

/* A chunk of 100 on 50: query i sees 50 + i keys. */
static void test_step_works__chunks_on_context(void)
{
    struct msim_llm_rank r = rank_of("llama3-8b", (struct msim_llm_setup){0});
    struct msim_llm_works w;

    msim_llm_chunk_works(&w, &r, 100, 50);
    CHECK_REL(flops_of(&w, MSIM_LLM_KIND_ATTENTION),
              32 * (100.0 * 50 + 100.0 * 101 / 2) * 32 * 128 * 4, 1e-12);
}

/* Of 128 experts 8 tokens with 8 each reach 128 (1 - exp(-64 / 128)). */
static void test_step_works__experts_that_a_batch_touches(void)
{
    struct msim_llm_rank r =
        rank_of("qwen3-30b-a3b", (struct msim_llm_setup){.tp = 2, .ep = 2});
    struct msim_llm_works w;

    msim_llm_expert_works(&w, &r, 8);
    REQUIRE(w.n == 1);
    CHECK_INT(w.of[0].work.u.moe.routing.ep, 2);
    CHECK_INT(w.of[0].work.u.moe.tp, 1);
    CHECK_REL(w.of[0].work.u.moe.load.active, 64 * (1 - exp(-0.5)), 0.15);
    /* half of the experts: 48 layers x 64 x 3 x 2048 x 768 */
    CHECK_REL(w.weights, 2.0 * 48 * 64 * 3 * 2048 * 768, 1e-12);
}

/* A latent of 512 and a key of 64, whatever the heads, in 61 layers. */
static void test_step_works__latent_cache(void)
{
    struct msim_llm_rank r =
        rank_of("deepseek-v3",
                (struct msim_llm_setup){.tp = 16, .products = MSIM_QUANT_FP8});
    struct msim_llm_memory m;
    struct msim_llm_works w;

    REQUIRE(msim_llm_memory_make(&m, &r, &err) == MSIM_OK);
    CHECK_REL(m.kv_token, 61 * 576 * 2, 1e-12);
    msim_llm_decode_works(&w, &r, 1, 9999);
    /* keys are read once, values are a part of them */
    CHECK_REL(read_of(&w, MSIM_LLM_KIND_ATTENTION), 61 * 10000.0 * 576 * 2,
              0.01);
    CHECK(r.experts == MSIM_QUANT_FP8_BLOCK);
}

static void test_step_works__memory_of_llama_8b(void)
{
    struct msim_llm_rank r = rank_of("llama3-8b", (struct msim_llm_setup){0});
    struct msim_llm_memory m;

    REQUIRE(msim_llm_memory_make(&m, &r, &err) == MSIM_OK);
    CHECK_REL(m.kv_token, 131072, 1e-12);
    CHECK_REL(m.weights, 8.03e9 * 2, 0.001);
    CHECK(m.kv_tokens % 16 == 0);
    CHECK_REL((double)m.kv_tokens * m.kv_token,
              m.usable - m.weights - m.workspace, 1e-4);
}

/* A GiB of context, and the logits of 256 sequences in 16 and in 32 bits. */
static void test_step_works__room_beside_tensors(void)
{
    struct msim_llm_rank bare =
        rank_of("llama3-8b", (struct msim_llm_setup){0});
    struct msim_llm_rank r =
        rank_of("llama3-8b", (struct msim_llm_setup){.context_gib = 1,
                                                     .profiled_seqs = 256});
    struct msim_llm_memory m, none;

    REQUIRE(msim_llm_memory_make(&none, &bare, &err) == MSIM_OK);
    REQUIRE(msim_llm_memory_make(&m, &r, &err) == MSIM_OK);
    CHECK_REL(m.workspace - none.workspace,
              1073741824.0 + 256.0 * 128256 * (2 + 4), 1e-9);
}

/* TensorRT-LLM's share is of what weights and workspace leave of all. */
static void test_step_works__share_of_the_rest(void)
{
    struct msim_llm_rank r = rank_of(
        "llama3-8b", (struct msim_llm_setup){.gpu_memory_utilization = 0.5,
                                             .share_is_of_rest = true});
    struct msim_llm_memory m;

    REQUIRE(msim_llm_memory_make(&m, &r, &err) == MSIM_OK);
    CHECK(m.usable == m.has);
    CHECK_REL((double)m.kv_tokens * m.kv_token,
              0.5 * (m.has - m.weights - m.workspace), 1e-4);
}

/* gpt-oss: every other layer of 36 sees 128 tokens, with one head of 64 for
 * keys and values each on one of 8 ranks. */
static void test_step_works__windows_are_of_a_sequence(void)
{
    struct msim_llm_rank r =
        rank_of("gpt-oss-120b", (struct msim_llm_setup){.tp = 8});
    struct msim_llm_memory m;

    REQUIRE(msim_llm_memory_make(&m, &r, &err) == MSIM_OK);
    CHECK_REL(m.kv_token, 18 * 2 * 64 * 2, 1e-12);
    CHECK_REL(m.kv_sequence, 128 * m.kv_token, 1e-12);
    CHECK_INT(msim_llm_memory_sequence_tokens(&m), 128);
    CHECK_INT(m.kv_window, 128);
}

static void test_step_works__does_not_fit(void)
{
    struct msim_llm_rank r = rank_of("llama3-70b", (struct msim_llm_setup){0});
    struct msim_llm_memory m;

    CHECK(msim_llm_memory_make(&m, &r, &err) == MSIM_ECHECK);
    CHECK(strstr(err.text, "GiB") && strstr(err.text, "has 71.2 GiB"));
}

static void test_step_works__refuses_splits(void)
{
    struct msim_llm_setup setup = {.tp = 3};
    struct msim_llm_rank r = rank_of("llama3-8b", (struct msim_llm_setup){0});

    setup.model = &model;
    setup.platform = h100;
    CHECK(msim_llm_rank_init(&r, &setup, &err) == MSIM_EUSAGE);
    CHECK_STR(err.text, "tp is 3, want a divisor of the model's 32 heads");
    err = (struct msim_error){0};
    model.layers = 1000000000000;
    CHECK(msim_llm_rank_init(&r, &setup, &err) == MSIM_EUSAGE);
    CHECK(strstr(err.text, "1000000000000 layers, want at most 100000"));
}

int main(void)
{
    RUN(test_step_works__decode_of_llama_8b);
    RUN(test_step_works__cache_in_8_bits_is_half);
    RUN(test_step_works__tensor_parallel);
    RUN(test_step_works__chunks_on_context);
    RUN(test_step_works__experts_that_a_batch_touches);
    RUN(test_step_works__latent_cache);
    RUN(test_step_works__memory_of_llama_8b);
    RUN(test_step_works__room_beside_tensors);
    RUN(test_step_works__share_of_the_rest);
    RUN(test_step_works__windows_are_of_a_sequence);
    RUN(test_step_works__does_not_fit);
    RUN(test_step_works__refuses_splits);
    msim_platform_free(h100);
    return check_summary();
}
