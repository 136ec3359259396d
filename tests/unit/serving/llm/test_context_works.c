/* serving/llm/context_works.c: sizes of the works of attention, for each kind
 * of layer, of sequences that decode and of chunks of prompts. */
#include "serving/llm/llm_law.h"
#include "tests/check.h"

static struct msim_described model;

/* Four layers; 8 heads of 64 on this rank, 4 of keys. */
static struct msim_llm_rank rank_of(void)
{
    model = (struct msim_described){
        .layers = 4, .hidden = 512, .head_dim = 64, .window = 100};
    return (struct msim_llm_rank){.s = {.tp = 1, .pp = 1, .dp = 1},
                                  .m = &model,
                                  .framework = "vllm",
                                  .attention = MSIM_QUANT_FP8,
                                  .heads = 8,
                                  .kv_heads = 4,
                                  .full_layers = 4,
                                  .kv_bytes = 2};
}

static void check_attention(const struct msim_llm_works *w, uint32_t i,
                            double times, int64_t batch, int64_t queries,
                            int64_t keys, int64_t window)
{
    const struct msim_work *of = &w->of[i].work;

    REQUIRE(i < w->n);
    CHECK_INT(w->of[i].kind, MSIM_LLM_KIND_ATTENTION);
    CHECK_REL(w->of[i].times, times, 0);
    CHECK_INT(of->family, MSIM_FAMILY_ATTENTION);
    CHECK_INT(of->u.attention.batch, batch);
    CHECK_INT(of->u.attention.q_len, queries);
    CHECK_INT(of->u.attention.kv_len, keys);
    CHECK_INT(of->u.attention.window, window);
    CHECK(of->flops > 0 && of->bytes_read > 0); /* counted */
}

static void check_heads(const struct msim_llm_works *w, uint32_t i,
                        int64_t heads, int64_t kv_heads, int64_t dim,
                        int64_t v_dim)
{
    const struct msim_work *of = &w->of[i].work;

    REQUIRE(i < w->n);
    CHECK_INT(of->u.attention.heads, heads);
    CHECK_INT(of->u.attention.kv_heads, kv_heads);
    CHECK_INT(of->u.attention.head_dim, dim);
    CHECK_INT(of->u.attention.v_dim, v_dim);
}

static void check_product(const struct msim_llm_works *w, uint32_t i,
                          enum msim_quant type, int64_t m, int64_t k, int64_t n,
                          int64_t batch)
{
    const struct msim_work *of = &w->of[i].work;

    REQUIRE(i < w->n);
    CHECK_INT(w->of[i].kind, MSIM_LLM_KIND_PRODUCT);
    CHECK_INT(w->of[i].type, type);
    CHECK_INT(of->u.gemm.m, m);
    CHECK_INT(of->u.gemm.k, k);
    CHECK_INT(of->u.gemm.n, n);
    CHECK_INT(of->u.gemm.batch, batch);
}

/* 24 sequences on 2 ranks of 3 stages each: 4 a batch. A token sees those
 * before it and itself. */
static void test_context_works__decoding(void)
{
    struct msim_llm_rank r = rank_of();
    struct msim_llm_works w;

    r.s.pp = 3;
    r.s.dp = 2;
    msim_llm_decode_works(&w, &r, 24, 999);
    CHECK_INT(w.n, 1);
    CHECK_REL(w.weights, 0, 0);
    check_attention(&w, 0, 4, 4, 1, 1000, 0);
    check_heads(&w, 0, 8, 4, 64, 0);
    CHECK_INT(w.of[0].work.u.attention.phase, MSIM_ATTENTION_DECODE);
    CHECK_INT(w.of[0].work.u.attention.kv_dtype, MSIM_DT_BF16);
    r.s.kv = MSIM_QUANT_FP8;
    msim_llm_decode_works(&w, &r, 25, 999.5); /* rounded up */
    check_attention(&w, 0, 4, 5, 1, 1001, 0);
    CHECK_INT(w.of[0].work.u.attention.kv_dtype, MSIM_DT_F8);
    msim_llm_decode_works(&w, &r, 0, 0);
    check_attention(&w, 0, 4, 1, 1, 1, 0);
}

static void test_context_works__chunks(void)
{
    struct msim_llm_rank r = rank_of();
    struct msim_llm_works w;

    r.s.pp = 3;
    msim_llm_chunk_works(&w, &r, 128, 300);
    CHECK_INT(w.n, 1);
    check_attention(&w, 0, 4, 1, 128, 428, 0);
    CHECK_INT(w.of[0].work.u.attention.phase, MSIM_ATTENTION_PREFILL);
    msim_llm_chunk_works(&w, &r, 0, -5);
    check_attention(&w, 0, 4, 1, 1, 1, 0);
}

/* Two of the four layers see 100 keys: all that decoding reads; of a prompt
 * each query sees so many. */
static void test_context_works__windows(void)
{
    struct msim_llm_rank r = rank_of();
    struct msim_llm_works w;

    r.full_layers = 2;
    r.window_layers = 1;
    msim_llm_decode_works(&w, &r, 3, 999);
    CHECK_INT(w.n, 2);
    check_attention(&w, 0, 2, 3, 1, 1000, 0);
    check_attention(&w, 1, 1, 3, 1, 100, 0);
    msim_llm_decode_works(&w, &r, 3, 49);
    check_attention(&w, 1, 1, 3, 1, 50, 0);
    msim_llm_chunk_works(&w, &r, 128, 300);
    CHECK_INT(w.n, 2);
    check_attention(&w, 0, 2, 1, 128, 428, 0);
    check_attention(&w, 1, 1, 1, 128, 428, 100);
    r.full_layers = 0;
    msim_llm_decode_works(&w, &r, 3, 999);
    CHECK_INT(w.n, 1);
}

static struct msim_llm_rank latent_rank(void)
{
    struct msim_llm_rank r = rank_of();

    model.mla.kv_rank = 96;
    model.mla.rope_dim = 16;
    model.mla.nope_dim = 32;
    model.mla.v_dim = 40;
    return r;
}

/* Decoding: queries into the latent space, all heads read one key, and back. A
 * prompt: keys and values of all heads are made first. */
static void test_context_works__latent(void)
{
    struct msim_llm_rank r = latent_rank();
    struct msim_llm_works w;

    msim_llm_decode_works(&w, &r, 3, 999);
    CHECK_INT(w.n, 3);
    check_product(&w, 0, MSIM_QUANT_BF16, 3, 32, 96, 8);
    check_attention(&w, 1, 4, 3, 1, 1000, 0);
    check_heads(&w, 1, 8, 1, 112, 96);
    check_product(&w, 2, MSIM_QUANT_BF16, 3, 96, 40, 8);
    msim_llm_chunk_works(&w, &r, 128, 300);
    CHECK_INT(w.n, 2);
    check_product(&w, 0, MSIM_QUANT_FP8, 428, 96, 8 * 72, 1);
    check_attention(&w, 1, 4, 1, 128, 428, 0);
    check_heads(&w, 1, 8, 8, 48, 40);
}

/* Two heads of narrow keys, 24 numbers in 8 bits, choose 256 keys of those that
 * are there. */
static void test_context_works__chosen_keys(void)
{
    struct msim_llm_rank r = latent_rank();
    struct msim_llm_works w;

    model.index.heads = 2;
    model.index.dim = 24;
    model.index.topk = 256;
    msim_llm_decode_works(&w, &r, 3, 999);
    CHECK_INT(w.n, 5);
    check_attention(&w, 0, 4, 3, 1, 1000, 0);
    check_heads(&w, 0, 2, 1, 24, 0);
    CHECK_INT(w.of[0].work.u.attention.kv_dtype, MSIM_DT_F8);
    CHECK_INT(w.of[1].kind, MSIM_LLM_KIND_VECTOR);
    CHECK_INT(w.of[1].work.family, MSIM_FAMILY_REDUCTION);
    CHECK_STR(w.of[1].work.variant, "max");
    CHECK_INT(w.of[1].work.u.vector.rows, 3);
    CHECK_INT(w.of[1].work.u.vector.cols, 1000);
    CHECK_REL(w.of[1].work.bytes_read, 2 * 2 * 3 * 1000, 0);
    CHECK_REL(w.of[1].work.bytes_written, 2 * 3 * 256, 0);
    check_attention(&w, 3, 4, 3, 1, 256, 0);
    CHECK_INT(w.of[3].work.u.attention.kv_dtype, MSIM_DT_BF16);
    msim_llm_decode_works(&w, &r, 3, 255); /* there are no more */
    check_attention(&w, 3, 4, 3, 1, 256, 0);
    msim_llm_decode_works(&w, &r, 3, 254);
    check_attention(&w, 3, 4, 3, 1, 255, 0);
    /* queries of a prompt see as many of all keys, by the latent way */
    msim_llm_chunk_works(&w, &r, 128, 300);
    CHECK_INT(w.n, 5);
    CHECK_INT(w.of[1].work.u.vector.rows, 128);
    check_product(&w, 2, MSIM_QUANT_BF16, 128, 32, 96, 8);
    check_attention(&w, 3, 4, 1, 128, 428, 256);
    msim_llm_chunk_works(&w, &r, 128, 128); /* not beyond what it chooses */
    check_attention(&w, 3, 4, 1, 128, 256, 0);
    msim_llm_chunk_works(&w, &r, 128, 129);
    check_attention(&w, 3, 4, 1, 128, 257, 256);
}

/* States of 6 heads of 16 x 32 on 2 ranks, in 32 bits: read and written for
 * each token, or for each 64 of a prompt, of which the last may be fewer. */
static void test_context_works__states(void)
{
    struct msim_llm_rank r = rank_of();
    struct msim_llm_works w;

    r.s.tp = 2;
    r.full_layers = 1;
    r.linear_layers = 3;
    model.linear.value_heads = 6;
    model.linear.key_dim = 16;
    model.linear.value_dim = 32;
    msim_llm_decode_works(&w, &r, 5, 999);
    CHECK_INT(w.n, 2);
    CHECK_REL(w.of[1].times, 3, 0);
    CHECK_INT(w.of[1].kind, MSIM_LLM_KIND_VECTOR);
    CHECK_INT(w.of[1].work.family, MSIM_FAMILY_POINTWISE);
    CHECK_STR(w.of[1].work.variant, "mul");
    CHECK_INT(w.of[1].work.u.vector.rows, 5 * 3);
    CHECK_INT(w.of[1].work.u.vector.cols, 16 * 32);
    CHECK_REL(w.of[1].work.bytes_read, 5 * 3 * 16 * 32 * 4, 0);
    CHECK_REL(w.of[1].work.bytes_written, 5 * 3 * 16 * 32 * 4, 0);
    msim_llm_chunk_works(&w, &r, 129, 0);
    CHECK_INT(w.n, 3);
    CHECK_INT(w.of[1].work.u.vector.rows, 3 * 3);
    CHECK_REL(w.of[1].work.bytes_read, 3 * 3 * 16 * 32 * 4, 0);
    check_product(&w, 2, MSIM_QUANT_BF16, 64, 2 * 16 + 64, 32, 9);
    CHECK_REL(w.of[2].times, 3, 0);
    r.s.tp = 12; /* a head at least */
    r.full_layers = 0;
    msim_llm_decode_works(&w, &r, 5, 999);
    CHECK_INT(w.n, 1);
    CHECK_INT(w.of[0].work.u.vector.rows, 5);
}

int main(void)
{
    RUN(test_context_works__decoding);
    RUN(test_context_works__chunks);
    RUN(test_context_works__windows);
    RUN(test_context_works__latent);
    RUN(test_context_works__chosen_keys);
    RUN(test_context_works__states);
    return check_summary();
}
