/* plan/step/price.c and terms_technique.c: a price is the estimate of the work
 * that stands for it, which is made here a second time, member by member. */
#include "models/estimate/model.h"
#include "models/platform/platform.h"
#include "plan/step/step_law.h"
#include "tests/check.h"

#include <math.h>

static struct msim_error err;
static struct msim_platform *h100, *a100, *v100;
static struct msim_pricer pricer; /* of h100, 8 GPUs a node */

static struct msim_estimate estimate(const struct msim_platform *on,
                                     const struct msim_work *w)
{
    struct msim_estimate e = {0};

    CHECK_INT(msim_model_predict(on, w, false, &e, &err), MSIM_OK);
    return e;
}

static struct msim_work work(enum msim_family family, enum msim_dtype dtype)
{
    struct msim_work w;

    memset(&w, 0, sizeof(w));
    w.family = family;
    w.dtype = dtype;
    w.kernels = 1;
    w.asked = true;
    return w;
}

static struct msim_work collective(enum msim_collective c, uint64_t bytes,
                                   uint32_t ranks, uint32_t nodes)
{
    struct msim_work w = work(MSIM_FAMILY_COLLECTIVE, MSIM_DT_BF16);

    w.u.coll.collective = c;
    w.u.coll.bytes = bytes;
    w.u.coll.ranks = ranks;
    w.u.coll.nodes = nodes;
    w.u.coll.as_fitted = true;
    return w;
}

static double collective_us(enum msim_collective c, uint64_t bytes,
                            uint32_t ranks, uint32_t nodes)
{
    struct msim_work w = collective(c, bytes, ranks, nodes);

    return estimate(h100, &w).us;
}

static double bytes_us(const struct msim_platform *on, int64_t elems,
                       double read, double written)
{
    struct msim_work w = work(MSIM_FAMILY_POINTWISE, MSIM_DT_F32);

    w.variant = "add";
    w.u.vector.elems = elems;
    w.u.vector.rows = 1;
    w.u.vector.cols = elems;
    w.bytes_read = read;
    w.bytes_written = written;
    return estimate(on, &w).us;
}

static double copy_us(enum msim_copy_kind kind, int64_t bytes)
{
    struct msim_work w = work(MSIM_FAMILY_COPY, MSIM_DT_BF16);

    w.u.vector.copy = kind;
    w.u.vector.elems = bytes / 2;
    w.u.vector.rows = 1;
    w.u.vector.cols = bytes / 2;
    w.bytes_read = w.bytes_written = (double)bytes;
    return estimate(h100, &w).us;
}

/* ---- one work ------------------------------------------------------------ */

/* A description is asked for, whether or not the work says so. */
static void test_price__of_a_description(void)
{
    struct msim_work w = work(MSIM_FAMILY_POINTWISE, MSIM_DT_F32);
    double us = 7;

    w.variant = "add";
    w.u.vector.elems = w.u.vector.cols = 1000000;
    w.u.vector.rows = 1;
    w.bytes_read = w.bytes_written = 3e12; /* beyond any GPU's memory */
    w.asked = false;
    CHECK_INT(msim_price_described(&us, &pricer, &w, &err), MSIM_OK);
    w.asked = true;
    CHECK_REL(us, estimate(h100, &w).us, 0);
}

/* 8 bits on a GPU without units for them. */
static void test_price__refuses_types(void)
{
    struct msim_pricer p = {.platform = a100, .gpus_a_node = 8};
    struct msim_work w = work(MSIM_FAMILY_GEMM, MSIM_DT_F8);
    double us = 7;

    w.u.gemm.m = w.u.gemm.n = w.u.gemm.k = 4096;
    w.u.gemm.batch = 1;
    msim_work_count(&w);
    err = (struct msim_error){0};
    CHECK_INT(msim_price_described(&us, &p, &w, &err), MSIM_ENOMODEL);
    CHECK_STR(err.text, "fp8 is not supported on a100");
    CHECK_REL(us, 0, 0);
    msim_pricer_release(&p);
}

static double priced(enum msim_collective c, double bytes, int64_t ranks,
                     int64_t stride)
{
    double us = 7;

    CHECK_INT(
        msim_price_collective(&us, &pricer, c, bytes, ranks, stride, &err),
        MSIM_OK);
    return us;
}

/* Nodes of 8: ranks that are 4 apart are 2 a node, those 16 apart 1. */
static void test_price__collectives(void)
{
    const enum msim_collective ALL = MSIM_COLL_ALL_REDUCE;

    CHECK_REL(priced(ALL, 1e6, 1, 1), 0, 0);
    CHECK_REL(priced(ALL, 0, 8, 1), 0, 0);
    CHECK_REL(priced(ALL, -1, 8, 1), 0, 0);
    CHECK_REL(priced(ALL, 0.5, 8, 1), collective_us(ALL, 1, 8, 1), 0);
    CHECK_REL(priced(ALL, 1e6, 2, 1), collective_us(ALL, 1000000, 2, 1), 0);
    CHECK_REL(priced(ALL, 1e6, 8, 1), collective_us(ALL, 1000000, 8, 1), 0);
    CHECK_REL(priced(ALL, 1e6, 9, 1), collective_us(ALL, 1000000, 9, 2), 0);
    CHECK_REL(priced(ALL, 1e6, 16, 0), collective_us(ALL, 1000000, 16, 2), 0);
    CHECK_REL(priced(ALL, 1e6, 4, 4), collective_us(ALL, 1000000, 4, 2), 0);
    CHECK_REL(priced(ALL, 1e6, 4, 16), collective_us(ALL, 1000000, 4, 4), 0);
    CHECK_REL(priced(MSIM_COLL_ALL_GATHER, 1e6, 8, 1),
              collective_us(MSIM_COLL_ALL_GATHER, 1000000, 8, 1), 0);
}

static void test_price__network(void)
{
    struct msim_work w = collective(MSIM_COLL_ALL_REDUCE, 1000000, 16, 2);
    struct msim_estimate e = estimate(h100, &w);
    double half = 7, shortfall = 7;

    CHECK_INT(msim_price_network(&half, &shortfall, &pricer, 1e6, 16, 1, &err),
              MSIM_OK);
    CHECK(half > 0);
    CHECK_REL(half, log(e.high_us / e.low_us) / 2, 1e-12);
    CHECK_REL(shortfall, msim_collective_shortfall(h100, &w), 0);
    /* two ranks of two nodes are joined by it, too */
    CHECK_INT(msim_price_network(&half, &shortfall, &pricer, 1e6, 2, 8, &err),
              MSIM_OK);
    CHECK(half > 0);
    for (int i = 0; i < 3; i++) { /* one node, one rank, nothing to send */
        half = shortfall = 7;
        CHECK_INT(msim_price_network(&half, &shortfall, &pricer,
                                     i == 2 ? 0 : 1e6, i == 1 ? 1 : 8,
                                     i == 0 ? 1 : 8, &err),
                  MSIM_OK);
        CHECK_REL(half, 0, 0);
        CHECK_REL(shortfall, 1, 0);
    }
}

static void test_price__bytes(void)
{
    double us = 7;

    CHECK_INT(msim_price_bytes(&us, &pricer, 1e6, 3e6, 5e6, &err), MSIM_OK);
    CHECK_REL(us, bytes_us(h100, 1000000, 3e6, 5e6), 0);
    CHECK_INT(msim_price_bytes(&us, &pricer, 0, 3, 5, &err), MSIM_OK);
    CHECK_REL(us, bytes_us(h100, 1, 3, 5), 0);
}

/* ---- a part -------------------------------------------------------------- */

static struct msim_part part;
static struct msim_parts parts;

static void add_op(enum msim_part_op_kind kind, enum msim_pass pass,
                   int64_t rows, bool selective)
{
    struct msim_part_op *op = &part.ops[part.n_ops++];

    op->kind = kind;
    op->pass = pass;
    op->selective = selective;
    op->work = work(MSIM_FAMILY_GEMM, MSIM_DT_BF16);
    op->work.u.gemm.m = rows;
    op->work.u.gemm.n = op->work.u.gemm.k = 1024;
    op->work.u.gemm.batch = 1;
    msim_work_count(&op->work);
}

/* Two products forward, of which one is done again, one backward. */
static void test_price__operators_of_a_part(void)
{
    struct msim_strategy s = {.tp = 1, .cp = 1, .ep = 1};
    struct msim_priced out;
    double us[3];

    part = (struct msim_part){0};
    add_op(MSIM_PART_OP_LINEAR, MSIM_PASS_FORWARD, 1000, false);
    add_op(MSIM_PART_OP_LINEAR, MSIM_PASS_FORWARD, 5000, true);
    add_op(MSIM_PART_OP_NORM, MSIM_PASS_BACKWARD, 9000, false);
    add_op(MSIM_PART_OP_NORM, MSIM_PASS_FORWARD, 9000, false);
    part.n_ops--; /* not one of them */
    for (int i = 0; i < 3; i++)
        us[i] = estimate(h100, &part.ops[i].work).us;
    memset(&out, 0xff, sizeof(out));
    REQUIRE(msim_price_part(&out, &pricer, &parts, &part, &s, &err) == MSIM_OK);
    CHECK_REL(out.us[MSIM_PART_OP_LINEAR][MSIM_PASS_FORWARD], us[0] + us[1],
              1e-15);
    CHECK_REL(out.us[MSIM_PART_OP_NORM][MSIM_PASS_BACKWARD], us[2], 0);
    CHECK_REL(out.us[MSIM_PART_OP_NORM][MSIM_PASS_FORWARD], 0, 0);
    CHECK_REL(out.kernels[MSIM_PART_OP_LINEAR][MSIM_PASS_FORWARD], 2, 0);
    CHECK_REL(out.kernels[MSIM_PART_OP_NORM][MSIM_PASS_BACKWARD], 1, 0);
    CHECK_REL(out.again_us, us[1], 0);
    CHECK_REL(out.comms[MSIM_PASS_FORWARD], 0, 0);
}

static void add_comm(enum msim_part_group group, enum msim_pass pass,
                     enum msim_collective c, double count)
{
    part.comms[part.n_comms++] =
        (struct msim_part_comm){c, group, pass, 1e6, count};
}

/* Tensor parallel ranks are neighbours; those of contexts are as far apart as
 * there are tensor parallel ones. */
static void test_price__collectives_of_a_part(void)
{
    struct msim_strategy s = {.tp = 4, .cp = 3, .ep = 1};
    struct msim_priced out;
    double tp = collective_us(MSIM_COLL_ALL_GATHER, 1000000, 4, 1);

    part = (struct msim_part){0};
    add_comm(MSIM_PART_GROUP_TP, MSIM_PASS_FORWARD, MSIM_COLL_ALL_GATHER, 2);
    add_comm(MSIM_PART_GROUP_TP, MSIM_PASS_FORWARD, MSIM_COLL_ALL_GATHER, 1);
    add_comm(MSIM_PART_GROUP_CP, MSIM_PASS_BACKWARD, MSIM_COLL_ALL_REDUCE, 5);
    add_comm(MSIM_PART_GROUP_TP, MSIM_PASS_FORWARD, MSIM_COLL_ALL_GATHER, 9);
    part.n_comms--; /* not one of them */
    REQUIRE(msim_price_part(&out, &pricer, &parts, &part, &s, &err) == MSIM_OK);
    CHECK_REL(out.comm_us[MSIM_PART_GROUP_TP][MSIM_PASS_FORWARD], 3 * tp,
              1e-15);
    CHECK_REL(out.comm_us[MSIM_PART_GROUP_CP][MSIM_PASS_BACKWARD],
              5 * collective_us(MSIM_COLL_ALL_REDUCE, 1000000, 3, 2), 1e-15);
    CHECK_REL(out.comms[MSIM_PASS_FORWARD], 3, 0);
    CHECK_REL(out.comms[MSIM_PASS_BACKWARD], 5, 0);
}

/* Both ways of a library's dispatch. */
static double dispatch_us(int64_t tokens, int64_t ranks)
{
    struct msim_work w = work(MSIM_FAMILY_DISPATCH, MSIM_DT_BF16);
    double there;

    w.u.dispatch.tokens = tokens;
    w.u.dispatch.hidden = 2048;
    w.u.dispatch.topk = 8;
    w.u.dispatch.experts = 64;
    w.u.dispatch.ranks = ranks;
    there = estimate(h100, &w).us;
    w.u.dispatch.combine = true;
    return there + estimate(h100, &w).us;
}

static int64_t groups, topk_groups; /* of the experts of the next exchange */

static double exchange_of(int64_t ep, double bytes, double count, int64_t bits,
                          double tokens)
{
    struct msim_strategy s = {.tp = 1, .cp = 1, .ep = ep};
    struct msim_priced out;

    s.technique.dispatch_bits = bits;
    parts = (struct msim_parts){
        .hidden = 2048, .topk = 8, .experts = 64, .seq_tokens = tokens};
    parts.groups = groups;
    parts.topk_groups = topk_groups;
    part = (struct msim_part){0};
    add_comm(MSIM_PART_GROUP_EP, MSIM_PASS_FORWARD, MSIM_COLL_ALL_TO_ALL,
             count);
    part.comms[0].bytes = bytes;
    CHECK_INT(msim_price_part(&out, &pricer, &parts, &part, &s, &err), MSIM_OK);
    CHECK_REL(out.comms[MSIM_PASS_FORWARD], count, 0);
    return out.comm_us[MSIM_PART_GROUP_EP][MSIM_PASS_FORWARD];
}

static double exchange(double bytes, double count, int64_t bits, double tokens)
{
    return exchange_of(8, bytes, count, bits, tokens);
}

/* The faster of a library, there and back, and of an all-to-all each way; in 8
 * bits an all-to-all has 3 of 4 bytes, and tokens are cast before. */
static void test_price__exchanges(void)
{
    const enum msim_collective ALL = MSIM_COLL_ALL_TO_ALL;
    double cast = bytes_us(h100, 4096 * 2048, 2 * 4096 * 2048, 4096 * 2048);

    CHECK_REL(exchange(1e9, 2, 16, 4096), dispatch_us(4096, 8), 1e-15);
    CHECK_REL(exchange(1e4, 2, 16, 4096), 2 * collective_us(ALL, 10000, 8, 1),
              1e-15);
    CHECK_REL(exchange(1e4, 2, 8, 4096),
              2 * collective_us(ALL, 7500, 8, 1) + cast, 1e-15);
    CHECK_REL(exchange(1e9, 2, 8, 4096), dispatch_us(4096, 8), 1e-15);
    CHECK_REL(exchange(1e9, 2, 16, 0), dispatch_us(1, 8), 1e-15);
    cast = bytes_us(h100, 2048, 2 * 2048, 2048); /* of a token at least */
    CHECK_REL(exchange(4, 1, 8, 0), collective_us(ALL, 3, 8, 1) + cast, 1e-15);
}

/* Between nodes a token goes once to each node that has one of its experts: of
 * the 8 copies that an all-to-all sends, to 2 (1 - C(32, 8) / C(64, 8)) of 2
 * nodes. No faster than the cards, and never faster than inside of a node. */
static void test_price__exchanges_between_nodes(void)
{
    const enum msim_collective ALL = MSIM_COLL_ALL_TO_ALL;
    const double CARD = 50e9, NODES = 2 * (1 - 10518300.0 / 4426165368.0);
    double bytes = 8.0 * 4096 * 2048 * 2;
    double us = exchange_of(16, bytes, 2, 16, 4096);
    uint64_t sent = (uint64_t)llround(bytes * NODES / 8);

    CHECK_REL(us, 2 * collective_us(ALL, sent, 16, 2), 1e-6);
    CHECK(us > 2 * 1e6 * bytes / 8 * (NODES - 1) / CARD);
    CHECK(us > dispatch_us(4096, 16));
    /* out in 8 bits, and back in 16 */
    CHECK_REL(exchange_of(16, bytes, 2, 8, 4096),
              collective_us(ALL, sent / 2, 16, 2) +
                  collective_us(ALL, sent, 16, 2),
              1e-6);
}

/* Experts of 1 of 8 groups are all on one of 4 nodes. */
static void test_price__exchanges_of_groups(void)
{
    const enum msim_collective ALL = MSIM_COLL_ALL_TO_ALL;
    double bytes = 8.0 * 4096 * 2048 * 2, us;

    groups = 8;
    topk_groups = 1;
    us = exchange_of(32, bytes, 2, 16, 4096);
    CHECK_REL(us, 2 * collective_us(ALL, (uint64_t)bytes / 8, 32, 4), 1e-6);
    topk_groups = 8; /* all: as without groups */
    us = exchange_of(32, bytes, 2, 16, 4096);
    groups = topk_groups = 0;
    CHECK_REL(us, exchange_of(32, bytes, 2, 16, 4096), 1e-6);
}

/* ---- the optimizer ------------------------------------------------------- */

static struct msim_terms optimizer(const struct msim_platform *on,
                                   struct msim_strategy s, bool each)
{
    struct msim_stage_held held = {
        .dense = 9e6, .experts = 9e6, .trained = 3e6, .trained_experts = 1e6};
    struct msim_pricer p = {.platform = on, .gpus_a_node = 8};
    struct msim_terms t = {.exchanges_each = each};

    CHECK_INT(msim_terms_optimizer(&t, &p, &held, 1e6, &s, &err), MSIM_OK);
    msim_pricer_release(&p);
    return t;
}

/* 32-bit weights and two states are read and written, gradients read, 16-bit
 * weights written: 16 and 14 bytes of a parameter that the rank has; 16-bit
 * gradients of all parameters are added to 32-bit ones. */
static void test_price__optimizer(void)
{
    struct msim_strategy s = {.precision = MSIM_PRECISION_BF16};
    struct msim_terms t = optimizer(h100, s, false);

    CHECK_REL(t.optimizer_us, bytes_us(h100, 1000000, 16e6, 14e6), 0);
    CHECK_REL(t.add_us, bytes_us(h100, 4000000, 24e6, 16e6), 0);
    t = optimizer(h100, s, true); /* all stay, but with ZeRO 2 */
    CHECK_REL(t.add_us, bytes_us(h100, 4000000, 24e6, 16e6), 0);
    s.zero = 2;
    t = optimizer(h100, s, true);
    CHECK_REL(t.add_us, bytes_us(h100, 1000000, 6e6, 4e6), 0);
    t = optimizer(h100, s, false);
    CHECK_REL(t.add_us, bytes_us(h100, 4000000, 24e6, 16e6), 0);
    s.technique.optimizer_bits = 16;
    t = optimizer(h100, s, false);
    CHECK_REL(t.optimizer_us, bytes_us(h100, 1000000, 12e6, 10e6), 0);
}

/* One fused kernel on numbers of the weights' type: 2 bytes of a weight, of a
 * gradient and of each state; gradients are added where there are more. */
static void test_price__optimizer_of_weights_alone(void)
{
    struct msim_strategy s = {.precision = MSIM_PRECISION_BF16,
                              .grad_accum = 1};
    struct msim_terms t;

    s.technique.master_weights = MSIM_STATED_NO;
    t = optimizer(h100, s, false);
    CHECK_REL(t.optimizer_us, bytes_us(h100, 1000000, 8e6, 6e6), 0);
    CHECK_REL(t.add_us, 0, 0);
    s.grad_accum = 2;
    t = optimizer(h100, s, false);
    CHECK_REL(t.add_us, bytes_us(h100, 4000000, 16e6, 8e6), 0);
    s.technique.optimizer_bits = 32;
    t = optimizer(h100, s, false);
    CHECK_REL(t.optimizer_us, bytes_us(h100, 1000000, 12e6, 10e6), 0);
}

/* 8 bits: 18 look-ups of 3.5 cycles a warp of 32. H100: 132 multiprocessors
 * with 128 lanes; A100: 108 with 64; two FLOPs a cycle of a lane. */
static void test_price__optimizer_of_tables(void)
{
    struct msim_strategy s = {.precision = MSIM_PRECISION_BF16};
    const struct msim_platform *const ON[] = {h100, a100, v100};
    const double LANES[] = {128, 64, 64};

    s.technique.optimizer_bits = 8;
    for (int i = 0; i < 3; i++) {
        struct msim_terms t = optimizer(ON[i], s, false);
        /* cycles of all lanes of the GPU a second */
        double cycles =
            msim_platform_peak_flops(ON[i], MSIM_DT_F32, NULL) / 2 / LANES[i];
        double want = 1e6 * 18 * 3.5 / 32 / cycles * 1e6;

        CHECK_REL(t.optimizer_us,
                  fmax(want, bytes_us(ON[i], 1000000, 10e6, 8e6)), 1e-12);
    }
    CHECK(optimizer(a100, s, false).optimizer_us >
          bytes_us(a100, 1000000, 10e6, 8e6));
}

/* Narrow, and wide again, of 16 bits. */
static void test_price__narrow_messages(void)
{
    double us = 7;

    CHECK_INT(msim_terms_narrow(&us, &pricer, 1e6, 4, &err), MSIM_OK);
    CHECK_REL(us,
              bytes_us(h100, 1000000, 2e6, 5e5) +
                  bytes_us(h100, 1000000, 5e5, 2e6),
              1e-15);
    CHECK_INT(msim_terms_narrow(&us, &pricer, 1, 8, &err), MSIM_OK);
    CHECK(us > 0);
    for (int i = 0; i < 4; i++) {
        us = 7;
        CHECK_INT(msim_terms_narrow(&us, &pricer, i == 3 ? 0.5 : 1e6,
                                    i == 0   ? 0
                                    : i == 1 ? 16
                                    : i == 2 ? 32
                                             : 8,
                                    &err),
                  MSIM_OK);
        CHECK_REL(us, 0, 0);
    }
}

/* ---- the host link ------------------------------------------------------- */

/* Two kinds of layers, 3 and 1 of 4, and an embedding, which stays. */
static struct msim_terms offload(struct msim_strategy s, double layers)
{
    struct msim_stage_held held = {.dense = 6e6, .experts = 2e6};
    struct msim_terms t = {.layers = layers, .pp = 2, .optimizer_us = 5};

    parts = (struct msim_parts){.n = 3};
    parts.part[0] = (struct msim_part){
        .kind = MSIM_PART_EMBEDDING, .layers = 1, .saved = 7e7, .input = 7e7};
    parts.part[1] = (struct msim_part){.kind = MSIM_PART_DENSE,
                                       .layers = 3,
                                       .saved = 8e6,
                                       .saved_selective = 2e6,
                                       .input = 1e6};
    parts.part[2] = (struct msim_part){.kind = MSIM_PART_EXPERTS,
                                       .layers = 1,
                                       .saved = 4e6,
                                       .saved_selective = 1e6,
                                       .input = 3e6};
    CHECK_INT(msim_terms_offload(&t, &pricer, &parts, &held, 4e6, &s, &err),
              MSIM_OK);
    return t;
}

static void check_copies(const struct msim_terms *t, int64_t bytes)
{
    CHECK_REL(t->copy_us[MSIM_PASS_FORWARD], copy_us(MSIM_COPY_D2H, bytes), 0);
    CHECK_REL(t->copy_us[MSIM_PASS_BACKWARD], copy_us(MSIM_COPY_H2D, bytes), 0);
    CHECK_REL(t->copied_us,
              2.0 * (double)bytes / msim_platform_bandwidth(h100) * 1e6, 1e-12);
}

/* What the mean layer keeps: all, its input, or all but what is made again. */
static void test_price__offloads_activations(void)
{
    struct msim_strategy s = {.offload = MSIM_OFFLOAD_ACTIVATIONS};
    struct msim_terms t = offload(s, 4);

    check_copies(&t, 3 * 8000000 / 4 + 4000000 / 4);
    CHECK_REL(t.optimizer_us, 5, 0);
    s.recompute = MSIM_RECOMPUTE_FULL;
    t = offload(s, 4);
    check_copies(&t, 3 * 1000000 / 4 + 3000000 / 4);
    s.recompute = MSIM_RECOMPUTE_SELECTIVE;
    t = offload(s, 4);
    check_copies(&t, 3 * 6000000 / 4 + 3000000 / 4);
    s.offload = MSIM_OFFLOAD_NONE;
    t = offload(s, 4);
    CHECK_REL(t.copied_us, 0, 0);
    CHECK_REL(t.optimizer_us, 5, 0);
}

/* The host reads and writes 28 bytes a parameter at 51.2 GB/s: 4 x 4 and 3 x 4;
 * with states of 8 or 16 bits 16 or 20. 16-bit gradients come down, weights go
 * back beside the update. */
static void test_price__offloads_the_optimizer(void)
{
    struct msim_strategy s = {.offload = MSIM_OFFLOAD_OPTIMIZER};
    struct msim_terms t = offload(s, 4);

    CHECK_REL(t.host_down_us, copy_us(MSIM_COPY_D2H, 8000000), 0);
    CHECK_REL(t.host_update_us, 28 * 4e6 / 51.2e9 * 1e6, 1e-12);
    CHECK(t.host_update_us > copy_us(MSIM_COPY_H2D, 8000000));
    CHECK_REL(t.optimizer_us, 0, 0);
    CHECK_REL(t.copied_us, 0, 0);
    s.technique.optimizer_bits = 8;
    t = offload(s, 4);
    CHECK_REL(t.host_update_us, 16 * 4e6 / 51.2e9 * 1e6, 1e-12);
    s.technique.optimizer_bits = 0;
    s.technique.master_weights = MSIM_STATED_NO;
    t = offload(s, 4);
    CHECK_REL(t.host_update_us, 20 * 4e6 / 51.2e9 * 1e6, 1e-12);
}

/* A layer's weights for each pass, 2 layers a stage; with ZeRO 3 a shard. */
static void test_price__offloads_weights(void)
{
    struct msim_strategy s = {.offload = MSIM_OFFLOAD_WEIGHTS,
                              .tp = 1,
                              .ep = 1,
                              .dp = 4,
                              .cp = 2,
                              .zero = 2};
    struct msim_terms t = offload(s, 4);

    check_copies(&t, 2 * 8000000 / 2);
    CHECK_REL(t.host_down_us, copy_us(MSIM_COPY_D2H, 8000000), 0);
    CHECK_REL(t.host_update_us, 28 * 4e6 / 51.2e9 * 1e6, 1e-12);
    CHECK_REL(t.optimizer_us, 0, 0);
    s.zero = 3;
    t = offload(s, 4);
    check_copies(&t, 2 * 8000000 / 2 / 8);
}

int main(void)
{
    if (msim_platform_load(&h100, MSIM_DATA, "h100", &err) != MSIM_OK ||
        msim_platform_load(&a100, MSIM_DATA, "a100", &err) != MSIM_OK ||
        msim_platform_load(&v100, MSIM_DATA, "v100", &err) != MSIM_OK)
        return 1;
    pricer = (struct msim_pricer){.platform = h100, .gpus_a_node = 8};
    RUN(test_price__of_a_description);
    RUN(test_price__refuses_types);
    RUN(test_price__collectives);
    RUN(test_price__network);
    RUN(test_price__bytes);
    RUN(test_price__operators_of_a_part);
    RUN(test_price__collectives_of_a_part);
    RUN(test_price__exchanges);
    RUN(test_price__exchanges_between_nodes);
    RUN(test_price__exchanges_of_groups);
    RUN(test_price__optimizer);
    RUN(test_price__optimizer_of_weights_alone);
    RUN(test_price__optimizer_of_tables);
    RUN(test_price__narrow_messages);
    RUN(test_price__offloads_activations);
    RUN(test_price__offloads_the_optimizer);
    RUN(test_price__offloads_weights);
    msim_pricer_release(&pricer);
    msim_platform_free(h100);
    msim_platform_free(a100);
    msim_platform_free(v100);
    return check_summary();
}
