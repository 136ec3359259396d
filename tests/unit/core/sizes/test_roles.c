/*
 * Names of sizes, by what operators mean: a few operators each, and which sizes
 * they name, in the order in which sizes come up.
 */
#include "core/sizes/sizes.h"

#include "tests/unit/core/rewrite/trained_step.h"

#define NODES 12

static void hold(const struct made_node *nodes, const char *want)
{
    struct spelled got = {"", 0};
    struct msim_error err = {0};
    struct msim_sizes s;
    struct msim_job *job;
    size_t n = 0;

    while (n < NODES && nodes[n].name)
        n++;
    job = made_nodes(nodes, n);
    REQUIRE(job != NULL);
    CHECK_INT(msim_sizes_learn(&s, job->ranks[0], &err), MSIM_OK);
    for (uint32_t c = 0; c < s.n_classes; c++) {
        const struct msim_size_class *k = &s.classes[c];

        if (k->role)
            spell(&got, "%s%lld %s", got.len ? ", " : "", (long long)k->size,
                  msim_size_role_text((enum msim_size_role)k->role));
        if (k->also)
            spell(&got, " and %s",
                  msim_size_role_text((enum msim_size_role)k->also));
    }
    CHECK_STR(got.text, want);
    msim_sizes_release(&s);
    msim_job_free(job);
}

/* Heads before tokens, or behind them; heads of keys apart. */
static void test_roles__attention(void)
{
    static const struct made_node SDPA[NODES] = {
        {1, 0, "aten::_scaled_dot_product_efficient_attention", 0, -1,
         "1:2x6x4x8 2:2x3x5x8 3:2x3x5x7", "4:2x6x4x7"}};
    static const struct made_node FLASH[NODES] = {
        {1, 0, "aten::_flash_attention_forward", 0, -1,
         "1:2x4x6x8 2:2x5x3x8 3:2x5x3x8", "4:2x4x6x8"}};
    static const struct made_node FLAT[NODES] = {
        {1, 0, "aten::_flash_attention_forward", 0, -1,
         "1:9x6x8 2:9x3x8 3:9x3x8", "4:9x6x8"}};
    static const struct made_node BACKWARD[NODES] = {
        {1, 0, "aten::_scaled_dot_product_flash_attention_backward", 0, -1,
         "1:2x6x4x8 2:2x6x4x8 3:2x3x5x8 4:2x3x5x8", "5:2x6x4x8"}};

    hold(SDPA, "2 batch, 6 heads, 4 sequence, 8 head size, 3 kv_heads, "
               "5 sequence, 7 head size");
    hold(FLASH, "2 batch, 4 sequence, 6 heads, 8 head size, 5 sequence, "
                "3 kv_heads");
    hold(FLAT, "");
    hold(BACKWARD, "");
}

/* Of products: the scores say which sizes are heads and tokens; queries and
 * keys have a head's size inside, values outside. */
static void test_roles__attention_of_products(void)
{
    static const struct made_node SCORES[NODES] = {
        {1, 0, "aten::matmul", 0, -1, "1:2x6x4x8 2:2x6x8x5", "3:2x6x4x5"},
        {2, 0, "aten::softmax", 0, -1, "3:2x6x4x5", "4:2x6x4x5"}};
    static const struct made_node VALUES[NODES] = {
        {1, 0, "aten::_softmax", 0, -1, "3:2x6x4x5", "4:2x6x4x5"},
        {2, 0, "aten::matmul", 0, -1, "4:2x6x4x5 5:2x6x5x8", "6:2x6x4x8"}};
    static const struct made_node OF_THREE[NODES] = {
        {1, 0, "aten::softmax", 0, -1, "3:6x4x5", "4:6x4x5"}};
    static const struct made_node NO_SCORES[NODES] = {
        {1, 0, "aten::matmul", 0, -1, "1:2x6x4x8 2:2x6x8x5", "3:2x6x4x5"}};

    hold(SCORES, "2 batch, 6 heads, 4 sequence, 8 head size, 5 sequence");
    hold(VALUES, "2 batch, 6 heads, 4 sequence, 5 sequence, 8 head size");
    hold(OF_THREE, "");
    hold(NO_SCORES, "");
}

/* The width is what the largest table has, where nothing is normalised; rows of
 * the largest, or of the one that a loss tells apart, are words. */
static void test_roles__tables(void)
{
    static const struct made_node ONE[NODES] = {
        {1, 0, "aten::embedding", 0, -1, "1:100x8 2:2x4", "3:2x4x8"}};
    static const struct made_node ROW[NODES] = {
        {1, 0, "aten::embedding", 0, -1, "1:100x8 2:7", "3:7x8"}};
    static const struct made_node TWO[NODES] = {
        {1, 0, "aten::embedding", 0, -1, "1:50x16 2:7", "3:7x16"},
        {2, 0, "aten::embedding", 0, -1, "4:100x8 5:3", "6:3x8"},
        {3, 0, "aten::embedding", 0, -1, "7:60x8 8:5", "9:5x8"}};
    /* a table of one number a row says nothing */
    static const struct made_node BIAS[NODES] = {
        {1, 0, "aten::embedding", 0, -1, "1:50x16 2:7", "3:7x16"},
        {2, 0, "aten::embedding", 0, -1, "4:100x1 5:7", "6:7x1"}};
    static const struct made_node LOSS[NODES] = {
        {1, 0, "aten::embedding", 0, -1, "1:50x8 2:7", "3:7x8"},
        {2, 0, "aten::embedding", 0, -1, "4:100x8 5:7", "6:7x8"},
        {3, 0, "aten::nll_loss_forward", 0, -1, "7:9x50 8:9", "9:1"}};
    static const struct made_node LOG[NODES] = {
        {1, 0, "aten::embedding", 0, -1, "1:50x8 2:7", "3:7x8"},
        {2, 0, "aten::embedding", 0, -1, "4:100x8 5:7", "6:7x8"},
        {3, 0, "aten::_log_softmax", 0, -1, "7:3x9x50", "8:3x9x50"}};
    static const struct made_node OTHER[NODES] = {
        {1, 0, "aten::embedding", 0, -1, "1:50x8 2:7", "3:7x8"},
        {2, 0, "aten::nll_loss", 0, -1, "7:9x51 8:9", "9:1"}};

    hold(ONE, "100 vocab, 8 hidden, 2 batch, 4 sequence");
    hold(ROW, "100 vocab, 8 hidden, 7 tokens");
    hold(TWO, "7 tokens, 100 vocab, 8 hidden, 3 tokens, 8 hidden, 5 tokens");
    hold(BIAS, "16 hidden, 7 tokens, 100 vocab, 7 tokens");
    hold(LOSS, "50 vocab, 8 hidden, 7 tokens, 8 hidden, 7 tokens, 50 vocab");
    hold(LOG, "50 vocab, 8 hidden, 7 tokens, 8 hidden, 7 tokens, 50 vocab");
    hold(OTHER, "50 vocab, 8 hidden, 7 tokens");
}

/* What is normalised most often, of equals the first; others as wide are named
 * with it. The size of a head is none. */
static void test_roles__norms(void)
{
    static const struct made_node OFTEN[NODES] = {
        {1, 0, "aten::native_layer_norm", 0, -1, "1:3x16", "2:3x16"},
        {2, 0, "aten::rms_norm", 0, -1, "3:5x8", "4:5x8"},
        {3, 0, "aten::_fused_rms_norm", 0, -1, "4:5x8", "5:5x8"}};
    static const struct made_node EQUAL[NODES] = {
        {1, 0, "aten::native_layer_norm", 0, -1, "1:3x16", "2:3x16"},
        {2, 0, "aten::rms_norm", 0, -1, "3:5x8", "4:5x8"}};
    static const struct made_node AS_WIDE[NODES] = {
        {1, 0, "aten::native_layer_norm", 0, -1, "1:3x16", "2:3x16"},
        {2, 0, "aten::rms_norm", 0, -1, "3:5x16", "4:5x16"},
        {3, 0, "aten::embedding", 0, -1, "6:100x16 7:9", "8:9x16"},
        {4, 0, "aten::embedding", 0, -1, "16:200x4 17:9", "18:9x4"}};
    static const struct made_node HEAD[NODES] = {
        {1, 0, "aten::_scaled_dot_product_efficient_attention", 0, -1,
         "1:2x6x4x8 2:2x6x4x8 3:2x6x4x8", "4:2x6x4x8"},
        {2, 0, "aten::rms_norm", 0, -1, "1:2x6x4x8", "5:2x6x4x8"},
        {3, 0, "aten::rms_norm", 0, -1, "5:2x6x4x8", "6:2x6x4x8"},
        {4, 0, "aten::rms_norm", 0, -1, "7:5x48", "8:5x48"}};

    hold(OFTEN, "8 hidden");
    hold(EQUAL, "16 hidden");
    hold(AS_WIDE, "16 hidden, 16 hidden, 16 hidden, 9 tokens, 200 vocab, "
                  "9 tokens");
    hold(HEAD, "2 batch, 6 heads, 4 sequence, 8 head size, 4 sequence, "
               "48 hidden");
}

/* From the width, activated, and back to it; or onward to something else. */
static void test_roles__layers(void)
{
    static const struct made_node MLP[NODES] = {
        {1, 0, "aten::rms_norm", 0, -1, "1:5x8", "2:5x8"},
        {2, 0, "aten::linear", 0, -1, "2:5x8 3:24x8", "4:5x24"},
        {3, 0, "aten::silu", 0, -1, "4:5x24", "5:5x24"},
        {4, 0, "aten::linear", 0, -1, "5:5x24 6:8x24", "7:5x8"},
        {5, 0, "aten::add", 0, -1, "1:5x8 7:5x8", "8:5x8"}};
    static const struct made_node OF_MM[NODES] = {
        {1, 0, "aten::rms_norm", 0, -1, "1:5x8", "2:5x8"},
        {2, 0, "aten::mm", 0, -1, "2:5x8 3:8x24", "4:5x24"},
        {3, 0, "aten::gelu", 0, -1, "4:5x24", "5:5x24"},
        {4, 0, "aten::addmm", 0, -1, "9:8 5:5x24 6:24x8", "7:5x8"},
        {5, 0, "aten::add", 0, -1, "1:5x8 7:5x8", "8:5x8"}};
    static const struct made_node POOLER[NODES] = {
        {1, 0, "aten::rms_norm", 0, -1, "1:5x8", "2:5x8"},
        {2, 0, "aten::linear", 0, -1, "2:5x8 3:16x8", "4:5x16"},
        {3, 0, "aten::tanh", 0, -1, "4:5x16", "5:5x16"},
        {4, 0, "aten::linear", 0, -1, "5:5x16 6:3x16", "7:5x3"}};
    static const struct made_node TWO[NODES] = {
        {1, 0, "aten::rms_norm", 0, -1, "1:5x8", "2:5x8"},
        {2, 0, "aten::linear", 0, -1, "2:5x8 3:2x8", "4:5x2"},
        {3, 0, "aten::tanh", 0, -1, "4:5x2", "5:5x2"},
        {4, 0, "aten::linear", 0, -1, "5:5x2 6:3x2", "7:5x3"}};
    static const struct made_node AT_ONCE[NODES] = {
        {1, 0, "aten::linear", 0, -1, "1:5x8 3:16x8", "4:5x16"},
        {2, 0, "aten::tanh", 0, -1, "4:5x16", "5:5x16"},
        {3, 0, "aten::linear", 0, -1, "5:5x16 6:3x16", "7:5x3"},
        {4, 0, "aten::rms_norm", 0, -1, "1:5x8", "2:5x8"}};
    struct made_node other[NODES];

    hold(AT_ONCE, "8 hidden, 16 inner");
    hold(MLP, "8 hidden, 24 ffn");
    hold(OF_MM, "8 hidden, 24 ffn");
    memcpy(other, OF_MM, sizeof(other));
    other[1].name = other[3].name = "aten::_scaled_mm";
    other[3].in = "5:5x24 6:24x8";
    hold(other, "8 hidden, 24 ffn");
    hold(POOLER, "8 hidden, 16 inner");
    hold(TWO, "8 hidden, 2 inner");
    /* not activated */
    memcpy(other, MLP, sizeof(other));
    other[2].name = "aten::dropout";
    hold(other, "8 hidden");
    /* in a backward pass, by its name and by its scope */
    memcpy(other, MLP, sizeof(other));
    other[3] = (struct made_node){4, 0, "LinearBackward0", 0, -1, "", ""};
    other[4] = (struct made_node){
        5, 4, "aten::linear", 0, -1, "5:5x24 6:8x24", "7:5x8"};
    hold(other, "8 hidden");
    other[3].name = "Linear";
    hold(other, "8 hidden, 24 inner");
    other[3].scope = 1;
    hold(other, "8 hidden");
    /* right behind another one */
    other[3] = (struct made_node){4, 0, "MulBackward0", 0, -1, "", ""};
    other[5] = other[4];
    other[5].id = 6;
    other[5].parent = 5;
    other[4] = (struct made_node){5, 0, "LinearBackward0", 0, -1, "", ""};
    hold(other, "8 hidden");
    /* no multiple, and nothing onward */
    memcpy(other, POOLER, sizeof(other));
    other[1] = (struct made_node){
        2, 0, "aten::linear", 0, -1, "2:5x8 3:12x8", "4:5x12"};
    other[2] =
        (struct made_node){3, 0, "aten::tanh", 0, -1, "4:5x12", "5:5x12"};
    other[3] = (struct made_node){
        4, 0, "aten::linear", 0, -1, "5:5x12 6:3x12", "7:5x3"};
    hold(other, "8 hidden");
    memcpy(other, POOLER, sizeof(other));
    other[3] = (struct made_node){0};
    hold(other, "8 hidden");
}

/* Where neither norms nor tables say the width, the size does that most layers
 * take and give; what one makes and another takes is its multiple. */
static void test_roles__layers_alone(void)
{
    static const struct made_node MLP[NODES] = {
        {1, 0, "aten::linear", 0, -1, "1:5x3 2:8x3", "3:5x8"},
        {2, 0, "aten::linear", 0, -1, "3:5x8 4:8x8", "5:5x8"},
        {3, 0, "aten::linear", 0, -1, "5:5x8 6:16x8", "7:5x16"},
        {4, 0, "aten::linear", 0, -1, "7:5x16 8:6x16", "9:5x6"},
        {5, 0, "aten::linear", 0, -1, "9:5x6 10:1x6", "11:5x1"}};
    /* as many of 16 as of 8, and more of it */
    static const struct made_node TWO[NODES] = {
        {1, 0, "aten::linear", 0, -1, "1:5x16 2:16x16", "3:5x16"},
        {2, 0, "aten::linear", 0, -1, "3:5x16 4:8x16", "5:5x8"},
        {3, 0, "aten::linear", 0, -1, "5:5x8 6:8x8", "7:5x8"},
        {4, 0, "aten::linear", 0, -1, "7:5x8 8:16x8", "9:5x16"},
        {5, 0, "aten::linear", 0, -1, "9:5x16 10:16x16", "11:5x16"},
        {6, 0, "aten::linear", 0, -1, "11:5x16 12:3x16", "13:5x3"}};
    static const struct made_node LOOKED_UP[NODES] = {
        {1, 0, "aten::linear", 0, -1, "1:5x3 2:8x3", "3:5x8"},
        {2, 0, "aten::linear", 0, -1, "3:5x8 4:4x8", "5:5x4"},
        {3, 0, "aten::relu", 0, -1, "5:5x4", "6:5x4"},
        {4, 0, "aten::embedding_bag", 0, -1, "7:100x4 8:9", "9:5x4"},
        {5, 0, "aten::add", 0, -1, "6:5x4 9:5x4", "10:5x4"},
        {6, 0, "aten::linear", 0, -1, "10:5x4 11:8x4", "12:5x8"},
        {7, 0, "aten::linear", 0, -1, "12:5x8 13:8x8", "14:5x8"},
        {8, 0, "aten::linear", 0, -1, "14:5x8 15:1x8", "16:5x1"}};
    static const struct made_node PICTURES[NODES] = {
        {1, 0, "aten::conv2d", 0, -1, "1:2x3x9x9 2:4x3x3x3", "3:2x4x7x7"},
        {2, 0, "aten::conv2d", 0, -1, "3:2x4x7x7 4:4x4x3x3", "5:2x4x5x5"},
        {3, 0, "aten::conv2d", 0, -1, "5:2x4x5x5 6:8x4x3x3", "7:2x8x3x3"},
        {4, 0, "aten::conv_transpose2d", 0, -1, "7:2x8x3x3 8:8x4x3x3",
         "9:2x4x5x5"},
        {5, 0, "aten::view", 0, -1, "9:2x4x5x5", "9:2x100"},
        {6, 0, "aten::linear", 0, -1, "9:2x100 10:6x100", "11:2x6"}};
    struct made_node other[NODES];

    hold(MLP, "8 hidden, 8 hidden, 16 inner");
    hold(LOOKED_UP, "8 hidden, 8 hidden, 8 hidden");
    hold(PICTURES, "4 hidden, 4 hidden, 8 inner, 4 hidden");
    hold(TWO, "16 hidden, 8 inner, 8 inner, 16 hidden, 16 hidden");
    memcpy(other, TWO, sizeof(other));
    other[4] = (struct made_node){
        5, 0, "aten::linear", 0, -1, "9:5x16 10:3x16", "11:5x3"};
    other[5] = (struct made_node){0};
    hold(other, "16 inner, 8 hidden, 8 hidden, 16 inner");
    /* no layer gives what it takes */
    memcpy(other, MLP, sizeof(other));
    other[1].name = "aten::dropout";
    hold(other, "");
    /* going back */
    memcpy(other, MLP, sizeof(other));
    for (int i = 1; i < 5; i++)
        other[i].scope = 1;
    hold(other, "");
}

/* Each of them activates; the first size of a convolution is a batch. */
static void test_roles__operators_by_name(void)
{
    static const char *const ACTIVATIONS[] = {
        "aten::gelu",       "aten::silu",  "aten::silu_",     "aten::relu",
        "aten::relu_",      "aten::tanh",  "aten::elu",       "aten::mish",
        "aten::leaky_relu", "aten::gelu_", "aten::hardswish", "aten::sigmoid",
        "aten::softplus"};
    static const struct made_node CONV[NODES] = {
        {1, 0, "aten::convolution", 0, -1, "1:8x3x9x9 2:6x3x2x2", "3:8x6x8x8"}};
    static const struct made_node BACK[NODES] = {
        {1, 0, "aten::convolution_backward", 0, -1,
         "3:8x6x8x8 1:8x3x9x9 2:6x3x2x2", "4:8x3x9x9"}};
    struct made_node nodes[NODES] = {
        {1, 0, "aten::rms_norm", 0, -1, "1:5x8", "2:5x8"},
        {2, 0, "aten::linear", 0, -1, "2:5x8 3:24x8", "4:5x24"},
        {3, 0, NULL, 0, -1, "4:5x24", "5:5x24"},
        {4, 0, "aten::linear", 0, -1, "5:5x24 6:8x24", "7:5x8"},
        {5, 0, "aten::add", 0, -1, "1:5x8 7:5x8", "8:5x8"}};

    for (size_t i = 0; i < sizeof(ACTIVATIONS) / sizeof(*ACTIVATIONS); i++) {
        nodes[2].name = ACTIVATIONS[i];
        hold(nodes, "8 hidden, 24 ffn");
    }
    hold(CONV, "8 batch");
    hold(BACK, "");
}

/* The first role stays, and another one is kept beside it; one head alone is as
 * wide as the model, which is no doubt. */
static void test_roles__two_at_once(void)
{
    static const struct made_node BOTH[NODES] = {
        {1, 0, "aten::mm", 0, -1, "6:4x4 6:4x4", "8:4x4"},
        {2, 0, "aten::view", 0, -1, "6:4x4", "6:1x4x4x1"},
        {3, 0, "aten::add", 0, -1, "3:2x4x4x5 6:1x4x4x1", "9:2x4x4x5"},
        {4, 0, "aten::_scaled_dot_product_efficient_attention", 0, -1,
         "9:2x4x4x5 10:2x4x4x5 11:2x4x4x5", "12:2x4x4x5"}};
    static const struct made_node NAMED[NODES] = {
        {1, 0, "aten::embedding", 0, -1, "1:100x8 2:7", "3:7x8"},
        {2, 0, "aten::view", 0, -1, "3:7x8", "3:7x8x1x1"},
        {3, 0, "aten::convolution", 0, -1, "3:7x8x1x1 5:6x8x1x1", "6:7x6x1x1"}};
    static const struct made_node ONE_HEAD[NODES] = {
        {1, 0, "aten::embedding", 0, -1, "1:100x8 2:2x4", "3:2x4x8"},
        {2, 0, "aten::view", 0, -1, "3:2x4x8", "3:2x1x4x8"},
        {3, 0, "aten::_scaled_dot_product_efficient_attention", 0, -1,
         "3:2x1x4x8 3:2x1x4x8 3:2x1x4x8", "4:2x1x4x8"}};

    hold(NAMED, "100 vocab, 8 hidden, 7 tokens");
    hold(BOTH, "4 heads and sequence, 2 batch, 5 head size, 4 sequence");
    hold(ONE_HEAD, "100 vocab, 8 hidden, 2 batch, 4 sequence");
}

/* Without ids of tensors nothing is known. */
static void test_roles__refused(void)
{
    struct msim_trace t = {.has_et = true};
    struct msim_error err = {0};
    struct msim_sizes s;

    CHECK_INT(msim_sizes_learn(&s, &t, &err), MSIM_EUSAGE);
    CHECK_STR(err.text, "the trace has no ids of tensors, by which sizes are "
                        "followed; want an execution trace, or one beside the "
                        "Kineto trace");
    msim_sizes_release(&s);
    t.has_et = false;
    t.n_tensor_ids = 1;
    CHECK_INT(msim_sizes_learn(&s, &t, NULL), MSIM_EUSAGE);
    msim_sizes_release(&s);
}

int main(void)
{
    RUN(test_roles__attention);
    RUN(test_roles__attention_of_products);
    RUN(test_roles__tables);
    RUN(test_roles__norms);
    RUN(test_roles__layers);
    RUN(test_roles__layers_alone);
    RUN(test_roles__operators_by_name);
    RUN(test_roles__two_at_once);
    RUN(test_roles__refused);
    return check_summary();
}
