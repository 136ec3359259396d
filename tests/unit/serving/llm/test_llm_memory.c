/* serving/llm/llm_memory.c: what a served model holds on a GPU, byte by byte,
 * of models of few numbers. */
#include "serving/llm/llm.h"

#include "models/platform/platform.h"
#include "tests/check.h"

#include <math.h>

#define GIB 1073741824.0

static struct msim_error err;
static struct msim_platform *h100;

/* Four layers, 8 heads of 64, 4 of keys, a network of 2,048. */
static struct msim_described small(void)
{
    return (struct msim_described){.name = "small",
                                   .type = MSIM_MODEL_DECODER,
                                   .gated = true,
                                   .layers = 4,
                                   .hidden = 512,
                                   .heads = 8,
                                   .kv_heads = 4,
                                   .head_dim = 64,
                                   .ffn = 2048,
                                   .vocab = 1000};
}

static struct msim_llm_memory memory_of(const struct msim_described *m,
                                        struct msim_llm_setup setup)
{
    struct msim_llm_memory out = {0};
    struct msim_llm_rank r;

    setup.model = m;
    setup.platform = h100;
    err = (struct msim_error){0};
    CHECK(msim_llm_rank_init(&r, &setup, &err) == MSIM_OK);
    CHECK(msim_llm_memory_make(&out, &r, &err) == MSIM_OK);
    return out;
}

/* Of a layer: queries, keys and values 512 x (512 + 2 x 256), what is behind
 * them 512 x 512, the network 3 x 512 x 2,048; two norms of 512. All in 16
 * bits. */
#define LAYER (2.0 * (512 * 1024 + 512 * 512 + 3 * 512 * 2048))
#define NORMS (2.0 * 2 * 512)
#define TABLE (2.0 * 1000 * 512)

static void test_llm_memory__weights(void)
{
    struct msim_described m = small();
    struct msim_llm_setup split = {.tp = 2};

    CHECK_REL(memory_of(&m, (struct msim_llm_setup){0}).weights,
              4 * (LAYER + NORMS) + 2 * TABLE, 1e-12);
    m.tied = true;
    CHECK_REL(memory_of(&m, (struct msim_llm_setup){0}).weights,
              4 * (LAYER + NORMS) + TABLE, 1e-12);
    m.tied = false;
    CHECK_REL(memory_of(&m, split).weights,
              4 * (LAYER / 2 + NORMS) + 2 * TABLE / 2, 1e-12);
    /* of three stages one has two layers; and one table, or the other */
    CHECK_REL(memory_of(&m, (struct msim_llm_setup){.pp = 3}).weights,
              2 * (LAYER + NORMS) + TABLE, 1e-12);
}

/* Experts: 8 of 3 x 512 x 256; a router's 512 x 8 numbers stay whole. */
static void test_llm_memory__weights_of_experts(void)
{
    struct msim_described m = small();
    double dense = 2.0 * (512 * 1024 + 512 * 512), got, less;

    m.ffn = 0;
    m.moe.experts = 8;
    m.moe.topk = 2;
    m.moe.ffn = 256;
    got = memory_of(&m, (struct msim_llm_setup){0}).weights;
    CHECK_REL(got - 4 * (dense + NORMS) - 2 * TABLE,
              4 * 2.0 * (8 * 3 * 512 * 256 + 512 * 8), 1e-9);
    less = memory_of(&m, (struct msim_llm_setup){.dp = 2, .ep = 2}).weights;
    CHECK_REL(got - less, 4 * 2.0 * 4 * 3 * 512 * 256, 1e-9);
}

/* A latent of 64 and 32 turned numbers; its products are kept as decoding reads
 * them, too: 64 x 8 x (48 + 80) numbers a layer. */
static void test_llm_memory__latent(void)
{
    struct msim_described m = small(), wide;
    struct msim_llm_memory got;
    double others;

    m.mla.kv_rank = 64;
    m.mla.rope_dim = 32;
    m.mla.nope_dim = 48;
    m.mla.v_dim = 80;
    got = memory_of(&m, (struct msim_llm_setup){0});
    CHECK_REL(got.kv_token, 4 * (64 + 32) * 2, 1e-12);
    /* queries of 8 x 80 and the latent 96; 8 x 80 back; the network */
    others = 2.0 * (512 * (8 * 80 + 96) + 8 * 80 * 512 + 3 * 512 * 2048);
    CHECK_REL(got.weights,
              4 * (others + NORMS + 2.0 * 64 * 8 * (48 + 80)) + 2 * TABLE,
              1e-12);
    /* on two ranks each has half of the heads */
    wide = m;
    got = memory_of(&wide, (struct msim_llm_setup){.tp = 2});
    others = 2.0 * (512 * (4 * 80 + 96) + 4 * 80 * 512 + 3 * 512 * 1024);
    CHECK_REL(got.weights,
              4 * (others + NORMS + 2.0 * 64 * 4 * (48 + 80)) + TABLE, 1e-12);
    /* chosen keys: 24 numbers in 8 bits and a scale */
    m.index.topk = 128;
    m.index.heads = 2;
    m.index.dim = 24;
    CHECK_REL(memory_of(&m, (struct msim_llm_setup){0}).kv_token,
              4 * ((64 + 32) * 2 + 28), 1e-12);
}

static void test_llm_memory__cache(void)
{
    struct msim_described m = small();
    struct msim_llm_memory got = memory_of(&m, (struct msim_llm_setup){0});

    CHECK_REL(got.kv_token, 4 * 2 * 4 * 64 * 2, 0);
    CHECK_REL(got.kv_sequence, 0, 0);
    CHECK_INT(got.kv_window, 0);
    CHECK_INT(msim_llm_memory_sequence_tokens(&got), 0);
    got = memory_of(&m, (struct msim_llm_setup){.tp = 2, .pp = 3});
    CHECK_REL(got.kv_token, 2 * 2 * 2 * 64 * 2, 0);
    got = memory_of(&m, (struct msim_llm_setup){.kv = MSIM_QUANT_FP8});
    CHECK_REL(got.kv_token, 4 * 2 * 4 * 64, 0);
}

/* Every second layer sees 100 tokens; or all: then a token is kept until it
 * leaves, and nothing is a sequence's alone. */
static void test_llm_memory__windows(void)
{
    struct msim_described m = small();
    struct msim_llm_memory got;

    m.window = 100;
    m.window_every = 2;
    got = memory_of(&m, (struct msim_llm_setup){0});
    CHECK_REL(got.kv_token, 2 * 2 * 4 * 64 * 2, 0);
    CHECK_REL(got.kv_sequence, 100 * 2 * 2 * 4 * 64 * 2, 0);
    CHECK_INT(got.kv_window, 100);
    CHECK_INT(msim_llm_memory_sequence_tokens(&got), 100);
    got = memory_of(&m, (struct msim_llm_setup){.pp = 2});
    CHECK_REL(got.kv_sequence, 100 * 2 * 4 * 64 * 2, 0);
    m.window_every = 5; /* of four layers the first */
    got = memory_of(&m, (struct msim_llm_setup){0});
    CHECK_REL(got.kv_token, 3 * 2 * 4 * 64 * 2, 0);
    CHECK_INT(got.kv_window, 100);
    m.window_every = 1;
    got = memory_of(&m, (struct msim_llm_setup){0});
    CHECK_REL(got.kv_token, 4 * 2 * 4 * 64 * 2, 0);
    CHECK_REL(got.kv_sequence, 0, 0);
    CHECK_INT(got.kv_window, 0);
}

/* Three of four layers keep a state of 4 heads of 16 x 32 in 32 bits, and of
 * the last 3 tokens what is mixed, 2 x 2 x 16 + 4 x 32 numbers. */
static void test_llm_memory__states(void)
{
    struct msim_described m = small();
    double state = 4 * 16 * 32 * 4, mixed = (2 * 2 * 16 + 4 * 32) * 3 * 2;
    struct msim_llm_memory got;

    m.linear.layers = 3;
    m.linear.key_heads = 2;
    m.linear.value_heads = 4;
    m.linear.key_dim = 16;
    m.linear.value_dim = 32;
    m.linear.conv = 3;
    got = memory_of(&m, (struct msim_llm_setup){0});
    CHECK_REL(got.kv_token, 2 * 4 * 64 * 2, 0);
    CHECK_REL(got.kv_sequence, 3 * (state + mixed), 1e-12);
    /* 28,032 bytes are 27.4 tokens of 1,024 */
    CHECK_INT(msim_llm_memory_sequence_tokens(&got), 28);
    got = memory_of(&m, (struct msim_llm_setup){.tp = 2, .pp = 2});
    CHECK_REL(got.kv_sequence, 2 * (state + mixed) / 2, 1e-12);
    /* nothing but states: a token takes a byte, and no room of another */
    m.linear.layers = 4;
    got = memory_of(&m, (struct msim_llm_setup){0});
    CHECK_REL(got.kv_token, 1, 0);
    CHECK_INT(msim_llm_memory_sequence_tokens(&got), 0);
}

/* 8,192 tokens of the step, 4 x 512 numbers each and those of the network. */
static void test_llm_memory__workspace(void)
{
    struct msim_described m = small();
    struct msim_llm_setup setup = {.max_num_batched_tokens = 100};

    CHECK_REL(memory_of(&m, (struct msim_llm_setup){0}).workspace,
              2.0 * 8192 * (4 * 512 + 3 * 2048), 1e-12);
    CHECK_REL(memory_of(&m, setup).workspace, 2.0 * 100 * (4 * 512 + 3 * 2048),
              1e-12);
    setup.profiled_seqs = 10;
    setup.context_gib = 0.5;
    setup.tp = 2;
    CHECK_REL(memory_of(&m, setup).workspace,
              2.0 * 100 * (4 * 512 + 3 * 1024) + 10 * 1000 * 6 + 0.5 * GIB,
              1e-12);
    /* the wider of dense layers and those of experts: 2 of 3 x 256 and what
     * they give back, one shared */
    setup = (struct msim_llm_setup){.max_num_batched_tokens = 100};
    m.moe.experts = 8;
    m.moe.topk = 2;
    m.moe.ffn = 256;
    m.moe.shared_experts = 1;
    m.moe.dense_layers = 1;
    CHECK_REL(memory_of(&m, setup).workspace, 2.0 * 100 * (4 * 512 + 3 * 2048),
              1e-12);
    m.moe.dense_layers = 0;
    CHECK_REL(memory_of(&m, setup).workspace,
              2.0 * 100 * (4 * 512 + 2 * (3 * 256 + 512) + 3 * 256), 1e-12);
    setup.tp = 4;
    setup.ep = 2;
    CHECK_REL(memory_of(&m, setup).workspace,
              2.0 * 100 * (4 * 512 + 2 * (3 * 128 + 256) + 3 * 64), 1e-12);
}

/* The share of the GPU, or of what is left beside weights and workspace, in
 * whole blocks, of each rank's cache. */
static void test_llm_memory__room(void)
{
    struct msim_described m = small();
    struct msim_llm_memory got =
        memory_of(&m, (struct msim_llm_setup){.dp = 2, .block_size = 64});
    double block = 64 * got.kv_token, left;

    CHECK_REL(got.has, msim_platform_usable_bytes(h100), 0);
    CHECK_REL(got.usable, 0.9 * got.has, 1e-15);
    left = got.usable - got.weights - got.workspace;
    CHECK_REL((double)got.kv_tokens, floor(left / block) * 64 * 2, 0);
    got = memory_of(&m, (struct msim_llm_setup){.share_is_of_rest = true,
                                                .gpu_memory_utilization = 0.4});
    CHECK_REL(got.usable, got.has, 0);
    left = 0.4 * (got.has - got.weights - got.workspace);
    CHECK_REL((double)got.kv_tokens, floor(left / (16 * got.kv_token)) * 16, 0);
}

/* Whether there is room for a block goes by the share: 1 % of it is taken by
 * weights and workspace, and a block of `size` tokens. */
static enum msim_status with_block(const struct msim_described *m, int64_t size)
{
    struct msim_llm_setup setup = {.model = m,
                                   .platform = h100,
                                   .gpu_memory_utilization = 0.01,
                                   .max_num_batched_tokens = 100,
                                   .block_size = size};
    struct msim_llm_memory out;
    struct msim_llm_rank r;

    err = (struct msim_error){0};
    CHECK(msim_llm_rank_init(&r, &setup, &err) == MSIM_OK);
    return msim_llm_memory_make(&out, &r, &err);
}

static void test_llm_memory__no_room(void)
{
    struct msim_described m = small();
    double usable = 0.01 * msim_platform_usable_bytes(h100);
    double held =
        4 * (LAYER + NORMS) + 2 * TABLE + 2.0 * 100 * (4 * 512 + 3 * 2048);
    int64_t most = (int64_t)floor((usable - held) / (4 * 2 * 4 * 64 * 2));
    char want[512];

    CHECK_INT(with_block(&m, most), MSIM_OK);
    CHECK_INT(with_block(&m, most + 1), MSIM_ECHECK);
    m.vocab = 10000000; /* two tables of 9.5 GiB */
    held += 2 * (2.0 * 10000000 * 512 - TABLE);
    CHECK_INT(with_block(&m, 100000), MSIM_ECHECK);
    snprintf(want, sizeof(want),
             "'small' does not fit: a GPU needs %.1f GiB (%.1f of weights, "
             "%.1f of workspace and a block of the cache), and has %.1f GiB of "
             "%.1f",
             (held + 4096.0 * 100000) / GIB,
             (held - 2.0 * 100 * (4 * 512 + 3 * 2048)) / GIB,
             (2.0 * 100 * (4 * 512 + 3 * 2048) + 4096.0 * 100000) / GIB,
             usable / GIB, usable * 100 / GIB);
    CHECK_STR(err.text, want);
}

int main(void)
{
    if (msim_platform_load(&h100, MSIM_DATA, "h100", &err) != MSIM_OK)
        return 1;
    RUN(test_llm_memory__weights);
    RUN(test_llm_memory__weights_of_experts);
    RUN(test_llm_memory__latent);
    RUN(test_llm_memory__cache);
    RUN(test_llm_memory__windows);
    RUN(test_llm_memory__states);
    RUN(test_llm_memory__workspace);
    RUN(test_llm_memory__room);
    RUN(test_llm_memory__no_room);
    msim_platform_free(h100);
    return check_summary();
}
