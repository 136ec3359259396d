/* plan/parts/parts_tuned.c: what techniques add, by bytes an element as the
 * file counts them. 128 tokens, a hidden size of 64, 1,000 words. */
#include "plan/parts/parts_maker.h"
#include "tests/check.h"

static struct msim_described model;
static struct msim_strategy strategy;
static struct msim_part part;
static struct msim_parts_maker k;

static void begin(void)
{
    model = (struct msim_described){.hidden = 64, .vocab = 1000};
    strategy = (struct msim_strategy){
        .tp = 4, .pp = 1, .grad_accum = 2, .precision = MSIM_PRECISION_BF16};
    part = (struct msim_part){.kind = MSIM_PART_DENSE};
    k = (struct msim_parts_maker){.m = &model,
                                  .s = &strategy,
                                  .part = &part,
                                  .dtype = MSIM_DT_BF16,
                                  .tokens = 128,
                                  .seq_tokens = 32,
                                  .each = 2};
}

static void check_vector(uint32_t i, enum msim_part_op_kind kind,
                         const char *name, enum msim_pass pass, int64_t elems,
                         double read, double written)
{
    const struct msim_part_op *op = &part.ops[i];

    REQUIRE(i < part.n_ops);
    CHECK_INT(op->kind, kind);
    CHECK_STR(op->name, name);
    CHECK_INT(op->pass, pass);
    CHECK_INT(op->work.family, MSIM_FAMILY_POINTWISE);
    CHECK_STR(op->work.variant, "add");
    CHECK_INT(op->work.u.vector.elems, elems);
    CHECK_REL(op->work.bytes_read, read * (double)elems, 1e-15);
    CHECK_REL(op->work.bytes_written, written * (double)elems, 1e-15);
}

static void check_plain(uint32_t i, const char *name, enum msim_pass pass,
                        int64_t elems, double read, double written)
{
    check_vector(i, MSIM_PART_OP_PLAIN, name, pass, elems, read, written);
}

static void check_product(uint32_t i, enum msim_pass pass, int64_t m, int64_t n,
                          int64_t kk)
{
    const struct msim_part_op *op = &part.ops[i];

    REQUIRE(i < part.n_ops);
    CHECK_INT(op->kind, MSIM_PART_OP_LINEAR);
    CHECK_INT(op->pass, pass);
    CHECK_INT(op->work.u.gemm.m, m);
    CHECK_INT(op->work.u.gemm.n, n);
    CHECK_INT(op->work.u.gemm.k, kk);
}

/* ---- adapters ------------------------------------------------------------ */

/* 64 -> 96 with adapters of rank 8 of three matrices: 24 narrow columns. Only
 * those are trained and have gradients of weights; they keep the input and what
 * A makes of it. */
static void test_parts_tuned__adapter(void)
{
    begin();
    strategy.technique.lora_rank = 8;
    msim_parts_adapted(&k, "qkv", 128, 64, 96);
    CHECK_INT(part.n_ops, 10);
    check_product(0, MSIM_PASS_FORWARD, 128, 96, 64);
    check_product(1, MSIM_PASS_BACKWARD, 128, 64, 96);
    check_product(2, MSIM_PASS_FORWARD, 128, 24, 64);
    check_product(3, MSIM_PASS_FORWARD, 128, 96, 8);
    check_plain(4, "qkv", MSIM_PASS_FORWARD, 128 * 96, 4, 2);
    check_product(5, MSIM_PASS_BACKWARD, 128, 8, 96);
    check_product(6, MSIM_PASS_BACKWARD, 96, 8, 128);
    check_product(7, MSIM_PASS_BACKWARD, 128, 64, 24);
    check_product(8, MSIM_PASS_BACKWARD, 24, 64, 128);
    check_plain(9, "qkv", MSIM_PASS_BACKWARD, 128 * 64, 4, 2);
    CHECK_REL(part.adapters, 24 * 64 + 8 * 96, 0);
    CHECK_REL(part.parameters, 64 * 96 + 24 * 64 + 8 * 96, 0);
    CHECK_REL(part.saved, 128 * (64 + 24) * 2, 0);
    CHECK_REL(part.narrow, 0, 0);
    begin(); /* operator by operator a scale and a sum */
    strategy.technique.lora_rank = 8;
    strategy.technique.compile = MSIM_STATED_NO;
    model.bias = true;
    msim_parts_adapted(&k, "qkv", 128, 64, 96);
    check_plain(4, "qkv", MSIM_PASS_FORWARD, 128 * 96, 6, 4);
    CHECK_REL(part.parameters, 64 * 96 + 96 + 24 * 64 + 8 * 96, 0);
}

/* Adapters of how many matrices there are of a layer: 0, 1, 2 or 3. */
static double matrices(const char *name, int64_t targets, bool gated)
{
    begin();
    model.gated = gated;
    strategy.technique.lora_rank = 8;
    strategy.technique.lora_targets = targets;
    msim_parts_adapted(&k, name, 128, 64, 96);
    return part.adapters > 0 ? (part.adapters - 8 * 96) / (8 * 64) : 0;
}

static void test_parts_tuned__targets(void)
{
    static const struct {
        const char *name;
        double all, attention, mlp, gated;
    } ROWS[] = {
        {"qkv", 3, 3, 0, 3},       {"attention_out", 1, 1, 0, 1},
        {"up", 1, 0, 1, 2},        {"down", 1, 0, 1, 1},
        {"shared_up", 1, 0, 1, 2}, {"shared_down", 1, 0, 1, 1},
        {"backup", 1, 1, 0, 1},    {"router", 0, 0, 0, 0},
        {"logits", 0, 0, 0, 0},
    };

    for (size_t i = 0; i < sizeof(ROWS) / sizeof(*ROWS); i++) {
        CHECK_REL(matrices(ROWS[i].name, MSIM_LORA_UNSTATED, false),
                  ROWS[i].all, 0);
        CHECK_REL(matrices(ROWS[i].name, MSIM_LORA_ALL, false), ROWS[i].all, 0);
        CHECK_REL(matrices(ROWS[i].name, MSIM_LORA_ATTENTION, false),
                  ROWS[i].attention, 0);
        CHECK_REL(matrices(ROWS[i].name, MSIM_LORA_MLP, false), ROWS[i].mlp, 0);
        CHECK_REL(matrices(ROWS[i].name, MSIM_LORA_ALL, true), ROWS[i].gated,
                  0);
    }
}

/* Weights in 4 bits are widened before each product: half a byte read, two
 * written, and 12 more each way by way of indices and a copy. */
static void test_parts_tuned__narrow_weights(void)
{
    begin();
    strategy.technique.lora_rank = 8;
    strategy.technique.base_bits = 4;
    msim_parts_adapted(&k, "down", 128, 64, 96);
    CHECK_INT(part.n_ops, 12);
    check_plain(0, "down", MSIM_PASS_FORWARD, 64 * 96, 0.5, 2);
    check_plain(1, "down", MSIM_PASS_BACKWARD, 64 * 96, 0.5, 2);
    CHECK_REL(part.narrow, 64 * 96, 0);
    begin();
    strategy.technique.lora_rank = 8;
    strategy.technique.base_bits = 8;
    strategy.technique.compile = MSIM_STATED_NO;
    msim_parts_adapted(&k, "down", 128, 64, 96);
    check_plain(0, "down", MSIM_PASS_FORWARD, 64 * 96, 13, 14);
    for (int i = 0; i < 3; i++) { /* 16 bits, not stated, the head */
        begin();
        strategy.technique.lora_rank = 8;
        strategy.technique.base_bits = i == 0 ? 16 : i == 1 ? 0 : 4;
        msim_parts_adapted(&k, i == 2 ? "logits" : "down", 128, 64, 96);
        CHECK_INT(part.ops[0].kind, MSIM_PART_OP_LINEAR);
        CHECK_REL(part.narrow, 0, 0);
    }
}

/* ---- operator by operator ------------------------------------------------ */

static void all_plain(double elems)
{
    msim_parts_plain_norm(&k, "norm", elems);
    msim_parts_plain_rope(&k, elems);
    msim_parts_plain_activation(&k, elems);
    msim_parts_plain_sums(&k, elems);
}

static void test_parts_tuned__one_by_one(void)
{
    begin();
    all_plain(100);
    strategy.technique.compile = MSIM_STATED_YES;
    all_plain(100);
    CHECK_INT(part.n_ops, 0); /* fused, or not stated */
    strategy.technique.compile = MSIM_STATED_NO;
    model.gated = true;
    all_plain(100);
    CHECK_INT(part.n_ops, 7);
    check_plain(0, "norm", MSIM_PASS_FORWARD, 100, 18, 14);
    check_plain(1, "norm", MSIM_PASS_BACKWARD, 100, 54, 32);
    check_plain(2, "rope", MSIM_PASS_FORWARD, 100, 24, 20);
    check_plain(3, "rope", MSIM_PASS_BACKWARD, 100, 54, 54);
    check_plain(4, "activation", MSIM_PASS_FORWARD, 100, 2, 2);
    check_plain(5, "activation", MSIM_PASS_BACKWARD, 100, 6, 2);
    check_plain(6, "gradients", MSIM_PASS_BACKWARD, 150, 4, 2);
    CHECK_REL(part.saved, 400 + 200, 0);
    begin(); /* layer norm, and no gate: one kernel each way */
    strategy.technique.compile = MSIM_STATED_NO;
    model.layernorm = true;
    all_plain(100);
    CHECK_INT(part.n_ops, 3);
    CHECK_REL(part.saved, 0, 0);
}

static void test_parts_tuned__repeats_keys(void)
{
    begin();
    msim_parts_repeat(&k, 100);
    CHECK_INT(part.n_ops, 0);
    strategy.technique.compile = MSIM_STATED_YES;
    msim_parts_repeat(&k, 0);
    CHECK_INT(part.n_ops, 0);
    msim_parts_repeat(&k, 100);
    CHECK_INT(part.n_ops, 2);
    check_plain(0, "repeat", MSIM_PASS_FORWARD, 100, 0, 2);
    check_plain(1, "repeat", MSIM_PASS_BACKWARD, 100, 2, 0);
    CHECK_REL(part.saved, 200, 0);
    strategy.technique.compile = MSIM_STATED_NO;
    msim_parts_repeat(&k, 1);
    CHECK_INT(part.n_ops, 4);
}

/* ---- the loss ------------------------------------------------------------ */

static void check_loss(uint32_t i, const char *name, enum msim_pass pass,
                       double read, double written)
{
    check_vector(i, MSIM_PART_OP_LOSS, name, pass, 9000000, read, written);
}

static bool loss_of(int64_t compile, int64_t chunks)
{
    begin();
    strategy.technique.compile = compile;
    strategy.technique.loss_chunks = chunks;
    return msim_parts_tuned_loss(&k, 9e6);
}

static void test_parts_tuned__loss(void)
{
    CHECK(!loss_of(0, 0));
    CHECK(!loss_of(0, 1));
    CHECK_INT(part.n_ops, 0);
    CHECK(loss_of(MSIM_STATED_NO, 0));
    CHECK_INT(part.n_ops, 4);
    check_loss(0, "to_float", MSIM_PASS_FORWARD, 2, 4);
    check_loss(1, "log_softmax", MSIM_PASS_FORWARD, 12, 4);
    check_loss(2, "log_softmax", MSIM_PASS_BACKWARD, 16, 8);
    check_loss(3, "to_half", MSIM_PASS_BACKWARD, 4, 2);
    CHECK_REL(part.saved, 9e6 * 4, 0);
    CHECK_REL(part.loss, 9e6 * 12, 0);
    CHECK(loss_of(MSIM_STATED_YES, 1));
    CHECK_INT(part.n_ops, 4);
    check_loss(0, "to_float", MSIM_PASS_FORWARD, 2, 4);
    check_loss(1, "log_softmax", MSIM_PASS_FORWARD, 8, 0);
    check_loss(2, "log_softmax", MSIM_PASS_BACKWARD, 4, 4);
    check_loss(3, "to_half", MSIM_PASS_BACKWARD, 4, 2);
    CHECK_REL(part.loss, 9e6 * 8, 0);
}

/* In 4 chunks: 16-bit logits and, operator by operator, 8 bytes of a chunk's
 * log_softmax and 4 of its own; compiled, two bytes of the chunk at hand. */
static void test_parts_tuned__loss_in_chunks(void)
{
    CHECK(loss_of(MSIM_STATED_NO, 4));
    CHECK_INT(part.n_ops, 4);
    CHECK_REL(part.saved, 9e6 * 2, 0);
    CHECK_REL(part.loss, 9e6 * (2 + 4 + 2), 0);
    CHECK(loss_of(0, 2));
    CHECK_INT(part.n_ops, 2);
    check_loss(0, "log_softmax", MSIM_PASS_FORWARD, 4, 0);
    check_loss(1, "log_softmax", MSIM_PASS_BACKWARD, 2, 2);
    CHECK_REL(part.saved, 9e6 * 2, 0);
    CHECK_REL(part.loss, 9e6 * 2 * 1.5, 0);
}

/* A loss on few logits: the head's own gradients are more, of 16 bits a logit
 * and a table of 64 x 250, two with chunks, none where the table is frozen. */
static void test_parts_tuned__loss_of_few(void)
{
    for (int i = 0; i < 3; i++) {
        begin();
        strategy.technique.compile = MSIM_STATED_YES;
        strategy.technique.loss_chunks = i == 1 ? 2 : 0;
        strategy.technique.lora_rank = i == 2 ? 8 : 0;
        CHECK(msim_parts_tuned_loss(&k, 10));
        CHECK_REL(part.loss,
                  i == 0   ? 20 + 64 * 250 * 2
                  : i == 1 ? 20 + 2 * 64 * 250 * 2
                           : 80,
                  0);
    }
}

int main(void)
{
    RUN(test_parts_tuned__adapter);
    RUN(test_parts_tuned__targets);
    RUN(test_parts_tuned__narrow_weights);
    RUN(test_parts_tuned__one_by_one);
    RUN(test_parts_tuned__repeats_keys);
    RUN(test_parts_tuned__loss);
    RUN(test_parts_tuned__loss_in_chunks);
    RUN(test_parts_tuned__loss_of_few);
    return check_summary();
}
