/*
 * serving/llm/llm_rank.c: the most of each size of a model and of a setup, what
 * can be split by what, defaults, and types of weights.
 */
#include "models/platform/platform.h"
#include "plan/describe/describe.h"
#include "serving/llm/llm.h"
#include "tests/check.h"

#include <stddef.h>
#include <string.h>

static struct msim_error err;
static struct msim_described model;
static struct msim_platform *platforms[2]; /* with units for 8 bits, without */

static struct msim_llm_setup setup_of(const char *name)
{
    CHECK(msim_described_find(&model, name, MSIM_DATA, NULL, &err) == MSIM_OK);
    for (int i = 0; i < 2; i++)
        if (!platforms[i])
            CHECK(msim_platform_load(&platforms[i], MSIM_DATA,
                                     i ? "a100" : "h100", &err) == MSIM_OK);
    return (struct msim_llm_setup){.model = &model, .platform = platforms[0]};
}

/* "" where it is taken. */
static const char *said(const struct msim_llm_setup *setup)
{
    struct msim_llm_rank r;

    err = (struct msim_error){0};
    return msim_llm_rank_init(&r, setup, &err) == MSIM_OK ? "" : err.text;
}

static void test_llm_rank__sizes_of_a_model(void)
{
    static const struct {
        size_t at;
        int64_t most;
        const char *what;
    } SIZES[] = {
#define X(member, most, what)                                                  \
    {offsetof(struct msim_described, member), most, what},
        X(layers, 100000, "layers") X(hidden, 10000000, "hidden size")
            X(heads, 1000000, "heads") X(kv_heads, 1000000, "heads of keys") X(
                head_dim, 1000000, "numbers of a head") X(ffn, 100000000,
                                                          "feed-forward size")
                X(vocab, 1000000000, "words") X(window, 1000000000, "window") X(
                    mla.q_rank, 1000000,
                    "rank of queries") X(mla.kv_rank, 1000000, "rank of keys")
                    X(mla.nope_dim, 1000000, "numbers of a latent head") X(
                        mla.rope_dim, 1000000, "numbers of a latent head")
                        X(mla.v_dim, 1000000, "numbers of a latent head") X(
                            moe.experts, 1000000,
                            "experts") X(moe.topk, 1000000, "experts a token")
                            X(moe.ffn, 100000000, "size of an expert") X(
                                moe.shared_experts, 1000000,
                                "shared experts") X(linear.key_heads, 1000000,
                                                    "heads of linear attention")
                                X(linear.value_heads, 1000000,
                                  "heads of linear attention")
                                    X(linear.key_dim, 1000000,
                                      "numbers of a linear head")
                                        X(linear.value_dim, 1000000,
                                          "numbers of a linear head")
                                            X(linear.conv, 1000000,
                                              "taps of a convolution")
                                                X(index.heads, 1000000,
                                                  "heads that choose keys")
                                                    X(index.dim, 1000000,
                                                      "numbers of a narrow key")
                                                        X(index.topk,
                                                          1000000000,
                                                          "chosen keys")
#undef X
    };

    for (size_t i = 0; i < sizeof(SIZES) / sizeof(*SIZES); i++) {
        struct msim_llm_setup setup = setup_of("llama3-8b");
        int64_t v = SIZES[i].most;
        char want[128];

        model.window_every = 1;
        memcpy((char *)&model + SIZES[i].at, &v, sizeof(v));
        CHECK_STR(said(&setup), "");
        v++;
        memcpy((char *)&model + SIZES[i].at, &v, sizeof(v));
        snprintf(want, sizeof(want), "has %lld %s, want at most %lld",
                 (long long)v, SIZES[i].what, (long long)SIZES[i].most);
        if (!strstr(said(&setup), want))
            CHECK_STR(err.text, want);
    }
}

static void test_llm_rank__sizes_of_a_setup(void)
{
    struct msim_llm_setup setup = setup_of("llama3-8b");

    setup.dp = 100000;
    setup.block_size = 1000000;
    setup.max_num_batched_tokens = 1000000000;
    CHECK_STR(said(&setup), "");
    setup.max_num_batched_tokens++;
    CHECK(strstr(said(&setup), "max_num_batched_tokens is 1000000001, want"));
    setup.max_num_batched_tokens = 0;
    setup.block_size++;
    CHECK(strstr(said(&setup), "block_size is 1000001, want at most 1000000"));
    setup.block_size = 0;
    setup.dp++;
    CHECK(strstr(said(&setup), "dp is 100001, want at most 100000"));
    setup.dp = 0;
    setup.tp = 100001;
    CHECK(strstr(said(&setup), "tp is 100001, want at most 100000"));
    setup.tp = 0;
    setup.pp = 100001;
    CHECK(strstr(said(&setup), "pp is 100001, want at most 100000"));
    setup.pp = 0;
    setup.ep = 100001;
    CHECK(strstr(said(&setup), "ep is 100001, want at most 100000"));
    setup.ep = 0;
    setup.moe_tp = 100001;
    CHECK(strstr(said(&setup), "moe_tp is 100001, want at most 100000"));
}

/* Llama 8B has 32 heads, 8 of keys, 32 layers. */
static void test_llm_rank__what_splits(void)
{
    struct msim_llm_setup setup = setup_of("llama3-8b");

    setup.tp = 16; /* each head of keys on two ranks */
    setup.pp = 32;
    CHECK_STR(said(&setup), "");
    setup.pp = 33;
    CHECK(strstr(said(&setup), "pp is 33, want at most the model's 32 layers"));
    setup.pp = 1;
    setup.tp = 3;
    CHECK(strstr(said(&setup), "tp is 3, want a divisor of the model's 32 h"));
    setup.tp = 4;
    model.kv_heads = 6;
    CHECK(
        strstr(said(&setup), "want a divisor of the model's 6 heads of keys"));
    model.mla.kv_rank = 64; /* one for all heads */
    CHECK_STR(said(&setup), "");
    model.moe.experts = 6;
    setup.ep = 4;
    CHECK(strstr(said(&setup), "ep is 4, want a divisor of the model's 6 exp"));
    model.moe.experts = 8;
    CHECK_STR(said(&setup), "");
    model.type = MSIM_MODEL_ENCODER;
    CHECK(strstr(said(&setup), "want a decoder"));
}

static struct msim_llm_rank rank_of(const struct msim_llm_setup *setup)
{
    struct msim_llm_rank r;

    CHECK(msim_llm_rank_init(&r, setup, &err) == MSIM_OK);
    return r;
}

static void test_llm_rank__defaults(void)
{
    struct msim_llm_setup setup = setup_of("llama3-8b");
    struct msim_llm_rank r = rank_of(&setup);

    CHECK_INT(r.s.tp, 1);
    CHECK_INT(r.s.moe_tp, 1);
    CHECK_INT(r.s.block_size, 16);
    CHECK_INT(r.s.max_num_batched_tokens, 8192);
    CHECK_REL(r.s.gpu_memory_utilization, 0.9, 0);
    CHECK_INT(r.heads, 32);
    CHECK_INT(r.kv_heads, 8);
    CHECK_REL(r.full_layers, 32, 0);
    CHECK_REL(r.dense_layers, 32, 0);
    setup.tp = 16;
    setup.dp = 4;
    setup.ep = 8;
    setup.gpu_memory_utilization = 0.5;
    r = rank_of(&setup);
    CHECK_INT(r.s.moe_tp, 8);
    CHECK_INT(r.heads, 2);
    CHECK_INT(r.kv_heads, 1);
    CHECK_REL(r.s.gpu_memory_utilization, 0.5, 0);
}

/* Layers by their attention: a window every so often, or so many; states. */
static void test_llm_rank__layers(void)
{
    struct msim_llm_setup setup = setup_of("llama3-8b");
    struct msim_llm_rank r;

    model.window = 512;
    model.window_every = 4;
    r = rank_of(&setup);
    CHECK_REL(r.window_layers, 8, 0);
    CHECK_REL(r.full_layers, 24, 0);
    model.window_layers = 20;
    model.linear.layers = 2;
    r = rank_of(&setup);
    CHECK_REL(r.window_layers, 20, 0);
    CHECK_REL(r.linear_layers, 2, 0);
    CHECK_REL(r.full_layers, 10, 0);
}

/* The type that the layers of attention run in. */
static enum msim_quant run_in(struct msim_llm_setup setup, enum msim_quant word,
                              int platform)
{
    setup.products = word;
    setup.platform = platforms[platform];
    return rank_of(&setup).attention;
}

static void test_llm_rank__types(void)
{
    struct msim_llm_setup setup = setup_of("llama3-8b");

    CHECK_INT(run_in(setup, MSIM_QUANT_OWN, 0), MSIM_QUANT_BF16);
    CHECK_INT(run_in(setup, MSIM_QUANT_FP8, 0), MSIM_QUANT_FP8);
    CHECK_INT(run_in(setup, MSIM_QUANT_FP8, 1), MSIM_QUANT_INT8);
    CHECK_INT(run_in(setup, MSIM_QUANT_NVFP4, 0), MSIM_QUANT_INT4);
    model.moe.experts = 8;
    CHECK_INT(run_in(setup, MSIM_QUANT_FP8, 0), MSIM_QUANT_FP8_BLOCK);
    CHECK_INT(run_in(setup, MSIM_QUANT_FP8_BLOCK, 1), MSIM_QUANT_INT8);
}

/* What the model's files have, of all layers or of those that they name. */
static void test_llm_rank__stored_types(void)
{
    struct msim_llm_setup setup = setup_of("llama3-8b");
    struct msim_llm_rank r;

    model.stored.bits = 8;
    model.stored.floating = true;
    model.stored.attention = true;
    r = rank_of(&setup);
    CHECK_INT(r.attention, MSIM_QUANT_FP8);
    CHECK_INT(r.dense, MSIM_QUANT_BF16);
    CHECK_INT(r.shared, MSIM_QUANT_BF16);
    model.stored.block = 128;
    CHECK_INT(rank_of(&setup).attention, MSIM_QUANT_FP8_BLOCK);
    model.stored.activation_bits = 16;
    CHECK_INT(rank_of(&setup).attention, MSIM_QUANT_INT8);
    model.stored.activation_bits = 8;
    model.stored.floating = false;
    CHECK_INT(rank_of(&setup).attention, MSIM_QUANT_INT8);
    model.stored.bits = 4;
    CHECK_INT(rank_of(&setup).attention, MSIM_QUANT_INT4);
    model.stored.floating = true;
    CHECK_INT(rank_of(&setup).attention, MSIM_QUANT_INT4); /* no units */
    model.stored.activation_bits = 16;
    CHECK_INT(rank_of(&setup).attention, MSIM_QUANT_MXFP4);
    CHECK_INT(run_in(setup, MSIM_QUANT_FP8, 0), MSIM_QUANT_MXFP4);
}

/* TensorRT-LLM's cache goes with its weights. */
static void test_llm_rank__cache(void)
{
    struct msim_llm_setup setup = setup_of("llama3-8b");

    setup.products = MSIM_QUANT_FP8;
    CHECK_REL(rank_of(&setup).kv_bytes, 2, 0);
    setup.engine = MSIM_LLM_TRTLLM;
    CHECK_REL(rank_of(&setup).kv_bytes, 1, 0);
    setup.kv = MSIM_QUANT_BF16;
    CHECK_REL(rank_of(&setup).kv_bytes, 2, 0);
    setup.kv = MSIM_QUANT_FP8;
    setup.engine = MSIM_LLM_VLLM;
    CHECK_REL(rank_of(&setup).kv_bytes, 1, 0);
    setup.kv = MSIM_QUANT_OWN;
    setup.engine = MSIM_LLM_TRTLLM;
    setup.products = MSIM_QUANT_BF16;
    CHECK_REL(rank_of(&setup).kv_bytes, 2, 0);
}

int main(void)
{
    RUN(test_llm_rank__sizes_of_a_model);
    RUN(test_llm_rank__sizes_of_a_setup);
    RUN(test_llm_rank__what_splits);
    RUN(test_llm_rank__defaults);
    RUN(test_llm_rank__layers);
    RUN(test_llm_rank__types);
    RUN(test_llm_rank__stored_types);
    RUN(test_llm_rank__cache);
    for (int i = 0; i < 2; i++)
        msim_platform_free(platforms[i]);
    return check_summary();
}
