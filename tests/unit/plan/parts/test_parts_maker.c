/* plan/parts/parts_maker.c, parts_weights.c and parts_ends.c: operators of one
 * layer, of the embedding and of the head, number by number. 128 tokens of a
 * hidden size of 64, of which this rank has 32 where sequences are split. */
#include "plan/parts/parts_maker.h"
#include "tests/check.h"

static struct msim_described model;
static struct msim_strategy strategy;
static struct msim_part part;
static struct msim_parts_maker k;

static void begin(enum msim_part_kind kind)
{
    model = (struct msim_described){.hidden = 64, .vocab = 1000};
    strategy = (struct msim_strategy){.tp = 4,
                                      .pp = 1,
                                      .grad_accum = 2,
                                      .sequence = 256,
                                      .precision = MSIM_PRECISION_BF16};
    part = (struct msim_part){.kind = kind};
    k = (struct msim_parts_maker){.m = &model,
                                  .s = &strategy,
                                  .part = &part,
                                  .dtype = MSIM_DT_BF16,
                                  .tokens = 128,
                                  .seq_tokens = 32,
                                  .each = 2};
}

static void check_vector(uint32_t i, enum msim_part_op_kind kind,
                         const char *name, enum msim_pass pass,
                         enum msim_family family, const char *variant,
                         int64_t elems, double read, double written)
{
    const struct msim_part_op *op = &part.ops[i];

    REQUIRE(i < part.n_ops);
    CHECK_INT(op->kind, kind);
    CHECK_STR(op->name, name);
    CHECK_INT(op->pass, pass);
    CHECK_INT(op->work.family, family);
    CHECK_STR(op->work.variant, variant);
    CHECK_INT(op->work.kernels, 1);
    CHECK_INT(op->work.u.vector.elems, elems);
    CHECK_REL(op->work.bytes_read, read, 1e-15);
    CHECK_REL(op->work.bytes_written, written, 1e-15);
}

static void check_product(uint32_t i, const char *name, enum msim_pass pass,
                          int64_t m, int64_t n, int64_t kk)
{
    const struct msim_part_op *op = &part.ops[i];

    REQUIRE(i < part.n_ops);
    CHECK_INT(op->kind, MSIM_PART_OP_LINEAR);
    CHECK_STR(op->name, name);
    CHECK_INT(op->pass, pass);
    CHECK_INT(op->work.family, MSIM_FAMILY_GEMM);
    CHECK_INT(op->work.u.gemm.m, m);
    CHECK_INT(op->work.u.gemm.n, n);
    CHECK_INT(op->work.u.gemm.k, kk);
    CHECK_INT(op->work.u.gemm.batch, 1);
    CHECK_REL(op->work.flops, 2.0 * (double)(m * n * kk), 0);
}

static void check_comm(uint32_t i, enum msim_collective c, enum msim_pass pass,
                       double bytes, double count)
{
    const struct msim_part_comm *of = &part.comms[i];

    REQUIRE(i < part.n_comms);
    CHECK_INT(of->collective, c);
    CHECK_INT(of->group, MSIM_PART_GROUP_TP);
    CHECK_INT(of->pass, pass);
    CHECK_REL(of->bytes, bytes, 0);
    CHECK_REL(of->count, count, 0);
}

/* ---- one operator -------------------------------------------------------- */

/* A full part keeps its first operators; the last one is replaced. */
static void test_parts_maker__has_an_end(void)
{
    begin(MSIM_PART_DENSE);
    for (int i = 0; i < MSIM_PART_OPS; i++)
        (void)msim_parts_add(&k, MSIM_PART_OP_NORM, "one", MSIM_PASS_FORWARD);
    CHECK_INT(part.n_ops, MSIM_PART_OPS);
    CHECK(msim_parts_add(&k, MSIM_PART_OP_LOSS, "last", MSIM_PASS_BACKWARD) ==
          &part.ops[MSIM_PART_OPS - 1].work);
    CHECK_INT(part.n_ops, MSIM_PART_OPS);
    CHECK_STR(part.ops[MSIM_PART_OPS - 1].name, "last");
    CHECK_STR(part.ops[MSIM_PART_OPS - 2].name, "one");
    CHECK_INT(part.ops[0].work.dtype, MSIM_DT_BF16);
}

static void test_parts_maker__vectors(void)
{
    begin(MSIM_PART_DENSE);
    msim_parts_vector(&k, MSIM_PART_OP_LOSS, "x", MSIM_PASS_BACKWARD,
                      MSIM_FAMILY_SOFTMAX, "softmax", 0, 3, 5);
    check_vector(0, MSIM_PART_OP_LOSS, "x", MSIM_PASS_BACKWARD,
                 MSIM_FAMILY_SOFTMAX, "softmax", 1, 3, 5);
    msim_parts_pointwise(&k, "sum", MSIM_PASS_FORWARD, "mul", 10, 3, 1);
    check_vector(1, MSIM_PART_OP_POINTWISE, "sum", MSIM_PASS_FORWARD,
                 MSIM_FAMILY_POINTWISE, "mul", 10, 60, 20);
    CHECK_INT(part.ops[1].work.u.vector.rows, 1);
    CHECK_INT(part.ops[1].work.u.vector.cols, 10);
    msim_parts_dropout(&k); /* 32 x 64, with a mask of bytes */
    check_vector(2, MSIM_PART_OP_POINTWISE, "dropout", MSIM_PASS_FORWARD,
                 MSIM_FAMILY_POINTWISE, "mul", 2048, 8192, 4096);
    check_vector(3, MSIM_PART_OP_POINTWISE, "dropout", MSIM_PASS_BACKWARD,
                 MSIM_FAMILY_POINTWISE, "mul", 2048, 8192, 4096);
    CHECK_INT(part.n_ops, 4);
    CHECK_REL(part.saved, 2048, 0);
}

static void test_parts_maker__products(void)
{
    begin(MSIM_PART_DENSE);
    k.linear_variant = "tf32";
    msim_parts_product(&k, "up", MSIM_PASS_FORWARD, 0, 0.5, -1);
    check_product(0, "up", MSIM_PASS_FORWARD, 1, 1, 1);
    CHECK_INT(part.ops[0].work.dtype, MSIM_DT_BF16);
    CHECK_STR(part.ops[0].work.variant, "tf32");
    k.narrow = true;
    strategy.precision = MSIM_PRECISION_MXFP8;
    msim_parts_product(&k, "up", MSIM_PASS_BACKWARD, 3, 5, 7);
    check_product(1, "up", MSIM_PASS_BACKWARD, 3, 5, 7);
    CHECK_INT(part.ops[1].work.dtype, MSIM_DT_F8);
    CHECK_STR(part.ops[1].work.variant, "tf32");
    strategy.precision = MSIM_PRECISION_NVFP4;
    msim_parts_product(&k, "up", MSIM_PASS_BACKWARD, 3, 5, 7);
    CHECK_STR(part.ops[2].work.variant, "nvfp4");
}

/* All of: a narrow precision, a layer, not its router, sixteens. */
static void test_parts_maker__is_narrow(void)
{
    for (int kind = 0; kind < MSIM_PART_COUNT; kind++) {
        begin((enum msim_part_kind)kind);
        strategy.precision = MSIM_PRECISION_FP8;
        CHECK_INT(msim_parts_is_narrow(&k, "up", 16, 32, 48),
                  kind == MSIM_PART_DENSE || kind == MSIM_PART_EXPERTS);
        CHECK(!msim_parts_is_narrow(&k, "router", 16, 32, 48));
        CHECK(!msim_parts_is_narrow(&k, "up", 17, 32, 48));
        CHECK(!msim_parts_is_narrow(&k, "up", 16, 33, 48));
        CHECK(!msim_parts_is_narrow(&k, "up", 16, 32, 49));
        strategy.precision = MSIM_PRECISION_BF16;
        CHECK(!msim_parts_is_narrow(&k, "up", 16, 32, 48));
    }
}

static void check_cast(uint32_t i, enum msim_pass pass, int64_t elems,
                       double read, double written)
{
    check_vector(i, MSIM_PART_OP_QUANTISE, "up", pass, MSIM_FAMILY_POINTWISE,
                 "mul", elems, read * (double)elems, written * (double)elems);
}

/* Weights are cast once for two micro batches, or for each where they are
 * gathered for each. */
static void test_parts_maker__casts(void)
{
    begin(MSIM_PART_DENSE);
    msim_parts_casts(&k, "up", 100, 60, 80);
    CHECK_INT(part.n_ops, 0); /* 16 bits */
    k.narrow = true;
    strategy.precision = MSIM_PRECISION_FP8;
    msim_parts_casts(&k, "up", 100, 60, 80);
    CHECK_INT(part.n_ops, 6);
    check_cast(0, MSIM_PASS_FORWARD, 100, 2, 1);
    check_cast(1, MSIM_PASS_FORWARD, 30, 2, 1);
    check_cast(2, MSIM_PASS_BACKWARD, 80, 2, 1);
    check_cast(3, MSIM_PASS_BACKWARD, 30, 1, 1);
    check_cast(4, MSIM_PASS_BACKWARD, 80, 1, 1);
    check_cast(5, MSIM_PASS_BACKWARD, 100, 1, 1);
    part.n_ops = 0;
    strategy.zero = 3;
    strategy.precision = MSIM_PRECISION_NVFP4;
    msim_parts_casts(&k, "up", 100, 60, 80);
    CHECK_INT(part.n_ops, 7);
    check_cast(1, MSIM_PASS_FORWARD, 60, 2, 0.5);
    check_cast(2, MSIM_PASS_BACKWARD, 80, 2, 0.5);
    check_cast(3, MSIM_PASS_BACKWARD, 60, 2, 0.5);
    check_cast(4, MSIM_PASS_BACKWARD, 60, 0.5, 0.5);
}

static void test_parts_maker__collectives(void)
{
    double bytes = 128 * 64 * 2;

    begin(MSIM_PART_DENSE);
    strategy.tp = 1;
    msim_parts_tensor_parallel(&k);
    CHECK_INT(part.n_comms, 0);
    strategy.tp = 2;
    msim_parts_tensor_parallel(&k);
    CHECK_INT(part.n_comms, 4);
    check_comm(0, MSIM_COLL_ALL_GATHER, MSIM_PASS_FORWARD, bytes, 1);
    check_comm(1, MSIM_COLL_REDUCE_SCATTER, MSIM_PASS_FORWARD, bytes, 1);
    check_comm(2, MSIM_COLL_ALL_GATHER, MSIM_PASS_BACKWARD, bytes, 2);
    check_comm(3, MSIM_COLL_REDUCE_SCATTER, MSIM_PASS_BACKWARD, bytes, 1);
    part.n_comms = 0;
    strategy.unfused = true;
    msim_parts_tensor_parallel(&k);
    CHECK_INT(part.n_comms, 2);
    check_comm(0, MSIM_COLL_ALL_REDUCE, MSIM_PASS_FORWARD, bytes, 1);
    check_comm(1, MSIM_COLL_ALL_REDUCE, MSIM_PASS_BACKWARD, bytes, 1);
    msim_parts_comm(&k, MSIM_COLL_SEND, MSIM_PART_GROUP_TP, MSIM_PASS_FORWARD,
                    5, 0); /* not once */
    CHECK_INT(part.n_comms, 2);
    for (int i = 0; i < MSIM_PART_COMMS; i++)
        msim_parts_comm(&k, MSIM_COLL_SEND, MSIM_PART_GROUP_TP,
                        MSIM_PASS_FORWARD, 5, 0.5);
    CHECK_INT(part.n_comms, MSIM_PART_COMMS);
}

/* ---- weights ------------------------------------------------------------- */

/* 128 rows, 64 -> 96: the product, the input's gradient, the weight's. Inputs
 * of the hidden size are kept in shards, a quarter of the rows. */
static void test_parts_weights__linear(void)
{
    begin(MSIM_PART_DENSE);
    msim_parts_linear(&k, "up", 128, 64, 96);
    CHECK_INT(part.n_ops, 3);
    check_product(0, "up", MSIM_PASS_FORWARD, 128, 96, 64);
    check_product(1, "up", MSIM_PASS_BACKWARD, 128, 64, 96);
    check_product(2, "up", MSIM_PASS_BACKWARD, 96, 64, 128);
    CHECK_REL(part.parameters, 64 * 96, 0);
    CHECK_REL(part.saved, 128 * 64 * 2, 0);
    CHECK_REL(part.delayed, 128 * (64 + 96) * 2, 0);
    CHECK_REL(part.gathered, (128 - 32) * 64 * 2, 0);
    begin(MSIM_PART_DENSE);
    model.bias = true;
    msim_parts_linear(&k, "down", 128, 96, 64);
    CHECK_REL(part.parameters, 64 * 96 + 64, 0);
    CHECK_REL(part.gathered, 0, 0);
    /* in 8 bits the input is kept in a byte, behind six casts */
    begin(MSIM_PART_DENSE);
    strategy.precision = MSIM_PRECISION_FP8;
    msim_parts_linear(&k, "up", 128, 64, 96);
    CHECK_INT(part.n_ops, 9);
    check_cast(0, MSIM_PASS_FORWARD, 128 * 64, 2, 1);
    check_cast(1, MSIM_PASS_FORWARD, 64 * 96 / 2, 2, 1);
    check_cast(2, MSIM_PASS_BACKWARD, 128 * 96, 2, 1);
    CHECK_INT(part.ops[6].work.dtype, MSIM_DT_F8);
    CHECK_REL(part.saved, 128 * 64, 0);
    CHECK_REL(part.delayed, 128 * (64 + 96 * 2), 0);
    CHECK_REL(part.gathered, (128 - 32) * 64, 0);
    msim_parts_linear(&k, "up", 130, 64, 96); /* not in sixteens */
    CHECK_INT(part.ops[9].work.dtype, MSIM_DT_BF16);
}

static void test_parts_weights__norm(void)
{
    begin(MSIM_PART_DENSE);
    msim_parts_norm(&k, "norm", 32, 64);
    CHECK_INT(part.n_ops, 2);
    check_vector(0, MSIM_PART_OP_NORM, "norm", MSIM_PASS_FORWARD,
                 MSIM_FAMILY_NORM, "rms_norm", 2048, 4096, 4096);
    check_vector(1, MSIM_PART_OP_NORM, "norm", MSIM_PASS_BACKWARD,
                 MSIM_FAMILY_NORM, "rms_norm_backward", 2048, 8192, 4096);
    CHECK_INT(part.ops[0].work.u.vector.rows, 32);
    CHECK_INT(part.ops[0].work.u.vector.cols, 64);
    CHECK_REL(part.parameters, 64, 0);
    CHECK_REL(part.saved, 4096, 0);
    begin(MSIM_PART_DENSE);
    model.layernorm = true;
    msim_parts_norm(&k, "norm", 0.1, 4);
    check_vector(0, MSIM_PART_OP_NORM, "norm", MSIM_PASS_FORWARD,
                 MSIM_FAMILY_NORM, "layer_norm", 1, 0.8, 0.8);
    CHECK_STR(part.ops[1].work.variant, "layer_norm_backward");
    CHECK_INT(part.ops[0].work.u.vector.rows, 1);
    CHECK_REL(part.parameters, 8, 0);
    begin(MSIM_PART_DENSE); /* operator by operator there is more */
    strategy.technique.compile = MSIM_STATED_NO;
    msim_parts_norm(&k, "norm", 32, 64);
    CHECK_INT(part.n_ops, 4);
    CHECK_INT(part.ops[2].kind, MSIM_PART_OP_PLAIN);
    CHECK_INT(part.ops[2].work.u.vector.elems, 2048);
}

/* ---- ends ---------------------------------------------------------------- */

/* A quarter of 1,000 words a rank; positions of 256 tokens are whole. */
static void test_parts_ends__embedding(void)
{
    begin(MSIM_PART_EMBEDDING);
    msim_parts_embedding(&k);
    CHECK_INT(part.n_ops, 2);
    check_vector(0, MSIM_PART_OP_EMBEDDING, "embedding", MSIM_PASS_FORWARD,
                 MSIM_FAMILY_EMBEDDING, "embedding", 2048, 4096, 4096);
    check_vector(1, MSIM_PART_OP_EMBEDDING, "embedding", MSIM_PASS_BACKWARD,
                 MSIM_FAMILY_POINTWISE, "add", 2048, 8192, 4096);
    CHECK_REL(part.parameters, 250 * 64, 0);
    begin(MSIM_PART_EMBEDDING);
    model.positions = MSIM_POSITIONS_LEARNED;
    strategy.technique.lora_rank = 8;
    msim_parts_embedding(&k);
    CHECK_INT(part.n_ops, 1);
    CHECK_REL(part.parameters, 250 * 64 + 256 * 64, 0);
}

static void check_loss(uint32_t i, const char *name, enum msim_pass pass,
                       double read, double written)
{
    check_vector(i, MSIM_PART_OP_LOSS, name, pass, MSIM_FAMILY_POINTWISE, "add",
                 1000, read, written);
}

static void test_parts_ends__loss(void)
{
    begin(MSIM_PART_HEAD);
    msim_parts_loss(&k, 1000);
    CHECK_INT(part.n_ops, 4);
    check_loss(0, "to_float", MSIM_PASS_FORWARD, 2000, 4000);
    check_loss(1, "log_softmax", MSIM_PASS_FORWARD, 8000, 4000);
    check_loss(2, "log_softmax", MSIM_PASS_BACKWARD, 4000, 4000);
    check_loss(3, "to_half", MSIM_PASS_BACKWARD, 4000, 2000);
    CHECK_REL(part.saved, 4000, 0);
    CHECK_REL(part.working, 6000, 0);
    CHECK_REL(part.loss, 0, 0);
    begin(MSIM_PART_HEAD);
    strategy.unfused = true;
    msim_parts_loss(&k, 1000);
    check_loss(1, "log_softmax", MSIM_PASS_FORWARD, 20000, 12000);
    begin(MSIM_PART_HEAD); /* what is stated is another file's */
    strategy.technique.loss_chunks = 2;
    msim_parts_loss(&k, 1000);
    CHECK_INT(part.n_ops, 2);
    CHECK_REL(part.working, 0, 0);
}

/* A norm of this rank's tokens, a gather, logits of all, the loss; the table is
 * the embedding's where it is tied and on the same rank. */
static void test_parts_ends__head(void)
{
    begin(MSIM_PART_HEAD);
    msim_parts_head(&k);
    CHECK_INT(part.n_ops, 9);
    CHECK_STR(part.ops[0].name, "last_norm");
    CHECK_INT(part.ops[0].work.u.vector.rows, 32);
    CHECK_INT(part.ops[0].work.u.vector.cols, 64);
    CHECK_INT(part.n_comms, 4);
    check_product(2, "logits", MSIM_PASS_FORWARD, 128, 250, 64);
    CHECK_STR(part.ops[5].name, "to_float");
    CHECK_INT(part.ops[5].work.u.vector.elems, 128 * 250);
    CHECK_REL(part.parameters, 64 + 64 * 250, 0);
    begin(MSIM_PART_HEAD);
    model.tied = true;
    msim_parts_head(&k);
    CHECK_REL(part.parameters, 64, 0);
    begin(MSIM_PART_HEAD);
    model.tied = true;
    strategy.pp = 2;
    msim_parts_head(&k);
    CHECK_REL(part.parameters, 64 + 64 * 250, 0);
}

int main(void)
{
    RUN(test_parts_maker__has_an_end);
    RUN(test_parts_maker__vectors);
    RUN(test_parts_maker__products);
    RUN(test_parts_maker__is_narrow);
    RUN(test_parts_maker__casts);
    RUN(test_parts_maker__collectives);
    RUN(test_parts_weights__linear);
    RUN(test_parts_weights__norm);
    RUN(test_parts_ends__embedding);
    RUN(test_parts_ends__loss);
    RUN(test_parts_ends__head);
    return check_summary();
}
