/* plan/describe/described.c: figures of models of few numbers, parameter by
 * parameter. */
#include "plan/describe/describe.h"
#include "tests/check.h"

/* Three layers of 10, 4 heads of 3, 2 of keys, a network of 7, 50 words. */
static struct msim_described small(void)
{
    return (struct msim_described){.type = MSIM_MODEL_DECODER,
                                   .layers = 3,
                                   .hidden = 10,
                                   .heads = 4,
                                   .kv_heads = 2,
                                   .head_dim = 3,
                                   .ffn = 7,
                                   .vocab = 50};
}

static void check(const struct msim_described *m, double want)
{
    CHECK_REL(msim_described_parameters(m), want, 1e-15);
}

static void test_described__decoders(void)
{
    struct msim_described m = small();
    double attention = 10 * 3 * (2 * 4 + 2 * 2), norms = 20;

    check(&m, 3 * (attention + norms + 2 * 70) + 2 * 500 + 10);
    m.tied = true;
    check(&m, 3 * (attention + norms + 2 * 70) + 500 + 10);
    m.gated = true;
    check(&m, 3 * (attention + norms + 3 * 70) + 500 + 10);
    /* one dense layer, two with 6 experts of 5, a shared one and a router */
    m.moe.experts = 6;
    m.moe.ffn = 5;
    m.moe.shared_experts = 1;
    m.moe.dense_layers = 1;
    CHECK_INT(msim_described_moe_layers(&m), 2);
    check(&m, 3 * (attention + norms) + 3 * 70 + 2 * (7 * 3 * 10 * 5 + 10 * 6) +
                  500 + 10);
    m.moe.experts = 0;
    CHECK_INT(msim_described_moe_layers(&m), 0);
}

/* Queries by a rank of 4, or at once; keys and values by one of 5. */
static void test_described__latent_attention(void)
{
    struct msim_described m = small();
    double others = 3 * (20 + 2 * 70) + 2 * 500 + 10;
    double keys = 10 * (5 + 2) + 5 * 4 * (3 + 6) + 4 * 6 * 10;

    m.mla.kv_rank = 5;
    m.mla.nope_dim = 3;
    m.mla.rope_dim = 2;
    m.mla.v_dim = 6;
    check(&m, others + 3 * (10 * 4 * 5 + keys));
    m.mla.q_rank = 4;
    check(&m, others + 3 * ((10 + 4 * 5) * 4 + keys));
}

/* Queries, keys and values 10 x 3 x 8, what is behind them, the network; two
 * norms; tables of words, kinds and positions; and what is trained. */
static void test_described__encoders(void)
{
    struct msim_described m = small();
    double layer = 10 * 24 + 12 * 10 + 70 + 70 + 2 * 10;

    m.type = MSIM_MODEL_ENCODER;
    m.encoder = true;
    m.token_types = 2;
    m.max_positions = 30;
    check(&m, 10 * 52 + 3 * layer + 10 + 500); /* positions are turned */
    m.positions = MSIM_POSITIONS_LEARNED;
    check(&m, 10 * 82 + 3 * layer + 10 + 500);
    m.tied = true;
    check(&m, 10 * 82 + 3 * layer + 10);
    m.head = MSIM_MODEL_MLM;
    check(&m, 10 * 82 + 3 * layer + 10 + 100 + 10);
    m.post_norm = true; /* a norm of the input instead of the last one */
    check(&m, 10 * 82 + 10 + 3 * layer + 100 + 10);
    m.head = MSIM_MODEL_PRETRAINING;
    m.classes = 2;
    check(&m, 10 * 82 + 10 + 3 * layer + 100 + 10 + 20);
    m.pooler = true;
    check(&m, 10 * 82 + 10 + 3 * layer + 100 + 10 + 20 + 100);
    m.head = MSIM_MODEL_CLASSIFIER;
    check(&m, 10 * 82 + 10 + 3 * layer + 20 + 100);
    m.bias = true; /* a number for each output */
    check(&m,
          10 * 82 + 10 + 3 * (layer + 24 + 10 + 7 + 10) + 20 + 2 + 100 + 10);
    m.bias = m.pooler = false;
    m.qk_norm = m.gated = true;
    check(&m, 10 * 82 + 10 + 3 * (layer + 3 + 70) + 20);
    m.layernorm = true; /* a bias for each weight */
    check(&m, 10 * 82 + 20 + 3 * (layer + 6 + 70 + 20) + 20);
}

/* Patches of 4 x 4 x 3, a class, and a position for each of 3 x 3 and it. */
static void test_described__images(void)
{
    struct msim_described m = small();
    double layer = 10 * 24 + 12 * 10 + 70 + 70 + 2 * 10;

    m.type = MSIM_MODEL_VIT;
    m.encoder = true;
    m.head = MSIM_MODEL_CLASSIFIER;
    m.classes = 9;
    m.image.size = 12;
    m.image.patch = 4;
    m.image.channels = 3;
    CHECK_INT(msim_described_image_tokens(&m), 10);
    CHECK_INT(msim_described_sequence(&m, 7), 10);
    check(&m, (3 * 16 + 2) * 10 + 10 * 10 + 3 * layer + 10 + 90);
    m.image.patch = 0; /* not stated: a pixel */
    CHECK_INT(msim_described_image_tokens(&m), 145);
}

static void test_described__sequences(void)
{
    struct msim_described m = small();

    m.max_positions = 30;
    CHECK_INT(msim_described_sequence(&m, 31), 31);
    m.positions = MSIM_POSITIONS_LEARNED;
    CHECK_INT(msim_described_sequence(&m, 31), 30);
    CHECK_INT(msim_described_sequence(&m, 29), 29);
    m.max_positions = 0;
    CHECK_INT(msim_described_sequence(&m, 31), 31);
    CHECK_INT(msim_described_usual_sequence(&m, 31), 31);
    m.context = 30;
    CHECK_INT(msim_described_sequence(&m, 31), 31);
    CHECK_INT(msim_described_usual_sequence(&m, 31), 30);
    CHECK_INT(msim_described_usual_sequence(&m, 29), 29);
}

/* Two kinds of tables, 2 of 100 rows and 3 of 7; vectors of 4; networks from 5
 * to 6 to 4, and from the products of 6 vectors to 8 to 1. */
static void test_described__dlrm(void)
{
    struct msim_described m = {.type = MSIM_MODEL_DLRM};

    m.dlrm.dim = 4;
    m.dlrm.dense = 5;
    m.dlrm.n_kinds = 2;
    m.dlrm.tables[0].rows = 100;
    m.dlrm.tables[0].count = 2;
    m.dlrm.tables[1].rows = 7;
    m.dlrm.tables[1].count = 3;
    m.dlrm.n_bottom = m.dlrm.n_top = 2;
    m.dlrm.bottom[0] = 6;
    m.dlrm.bottom[1] = 4;
    m.dlrm.top[0] = 8;
    m.dlrm.top[1] = 1;
    CHECK_INT(msim_described_tables(&m), 5);
    CHECK_INT(msim_described_interactions(&m), 4 + 6 * 5 / 2);
    check(&m, (200 + 21) * 4 + (6 * 6 + 7 * 4) + (20 * 8 + 9));
}

static void test_described__types(void)
{
    static const char *const WORDS[] = {"decoder", "encoder", "vit", "dlrm"};

    for (int i = 0; i < MSIM_MODEL_TYPES; i++)
        CHECK_STR(msim_model_type_text((enum msim_model_type)i), WORDS[i]);
}

/* Layers that see a window: every n-th, or so many, evenly. */
static void test_described__windows(void)
{
    struct msim_described m = {.layers = 34};

    CHECK_INT(msim_described_windowed(&m, 0, 34), 0);
    m.window = 64;
    m.window_every = 2;
    CHECK_INT(msim_described_windowed(&m, 0, 34), 17);
    CHECK_INT(msim_described_windowed(&m, 0, 1), 1);
    CHECK_INT(msim_described_windowed(&m, 1, 2), 0);
    CHECK_INT(msim_described_windowed(&m, 3, 34), 15);
    m.window_every = 1;
    CHECK_INT(msim_described_windowed(&m, 0, 34), 34);
    m.window_layers = 29;
    CHECK_INT(msim_described_windowed(&m, 0, 34), 29);
    CHECK_INT(msim_described_windowed(&m, 0, 1), 0);
    CHECK_INT(msim_described_windowed(&m, 0, 17), 14);
    CHECK_INT(msim_described_windowed(&m, 17, 34), 15);
}

int main(void)
{
    RUN(test_described__decoders);
    RUN(test_described__latent_attention);
    RUN(test_described__windows);
    RUN(test_described__encoders);
    RUN(test_described__images);
    RUN(test_described__sequences);
    RUN(test_described__dlrm);
    RUN(test_described__types);
    return check_summary();
}
