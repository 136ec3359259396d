/* Parts, prices and the step law: sizes that published formulas tell, and laws
 * that hold whatever the constants are. */
#include "models/platform/platform.h"
#include "plan/describe/strategy.h"
#include "plan/memory/job_memory.h"
#include "plan/step/step_law.h"
#include "tests/check.h"

#include <math.h>

static struct msim_error err;
static struct msim_platform *h100;
static struct msim_pricer pricer;

static const struct msim_described LLAMA = {.layers = 32,
                                            .hidden = 4096,
                                            .heads = 32,
                                            .kv_heads = 8,
                                            .head_dim = 128,
                                            .ffn = 14336,
                                            .vocab = 128256,
                                            .gated = true};

static struct msim_strategy strategy(int64_t dp, int64_t tp, int64_t pp,
                                     int64_t micro_batches)
{
    return (struct msim_strategy){.gpus = dp * tp * pp,
                                  .nodes = (dp * tp * pp + 7) / 8,
                                  .gpus_a_node = 8,
                                  .dp = dp,
                                  .tp = tp,
                                  .pp = pp,
                                  .vp = 1,
                                  .cp = 1,
                                  .ep = 1,
                                  .micro_batch = 1,
                                  .grad_accum = micro_batches,
                                  .global_batch = dp * micro_batches,
                                  .sequence = 4096,
                                  .zero = 1,
                                  .precision = MSIM_PRECISION_BF16};
}

static struct msim_terms terms_of(const struct msim_strategy *s)
{
    struct msim_terms t;

    CHECK_INT(msim_terms_make(&t, &pricer, &LLAMA, s, &err), MSIM_OK);
    return t;
}

static double step(const struct msim_strategy *s,
                   const struct msim_step_constants *c)
{
    struct msim_terms t = terms_of(s);

    return msim_step_us(&t, c, NULL);
}

/* FLOPs of the parts of one micro batch. */
static double flops(const struct msim_parts *p)
{
    double sum = 0;

    for (uint32_t i = 0; i < p->n; i++)
        for (uint32_t k = 0; k < p->part[i].n_ops; k++)
            sum += p->part[i].ops[k].work.flops * p->part[i].layers;
    return sum;
}

static double parameters(const struct msim_parts *p)
{
    double sum = 0;

    for (uint32_t i = 0; i < p->n; i++)
        sum += p->part[i].layers *
               (p->part[i].parameters + p->part[i].expert_parameters);
    return sum;
}

/* 6 FLOPs a parameter and token, but for the embedding's table, and 6 x layers
 * x sequence x hidden a token for causal attention, whose backward pass
 * computes the scores again (3.5 products for 2). */
static void test_parts__have_the_known_flops(void)
{
    struct msim_strategy s = strategy(1, 1, 1, 1);
    struct msim_parts p;
    double tokens = 4096, table = 128256.0 * 4096;
    double products, attention;

    msim_parts_make(&p, &LLAMA, &s);
    CHECK(fabs(parameters(&p) / msim_described_parameters(&LLAMA) - 1) < 1e-3);
    products = 6 * tokens * (msim_described_parameters(&LLAMA) - table);
    attention = 3.5 * 2 * 32 * tokens * tokens * 4096;
    CHECK(fabs(flops(&p) / (products + attention) - 1) < 0.01);
}

static void test_parts__split_over_tensor_parallel_ranks(void)
{
    struct msim_strategy one = strategy(1, 1, 1, 1),
                         four = strategy(1, 4, 1, 1);
    struct msim_parts a, b;

    msim_parts_make(&a, &LLAMA, &one);
    msim_parts_make(&b, &LLAMA, &four);
    CHECK(fabs(flops(&a) / flops(&b) / 4 - 1) < 0.01);
    CHECK(fabs(parameters(&a) / parameters(&b) / 4 - 1) < 0.01);
    CHECK_INT(a.part[1].n_comms, 0);
    /* Gathers and scatters each way of two halves. */
    CHECK_INT(b.part[1].n_comms, 8);
}

static uint32_t narrow_products(const struct msim_part *p)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < p->n_ops; i++)
        n += p->ops[i].work.family == MSIM_FAMILY_GEMM &&
             p->ops[i].work.dtype == MSIM_DT_F8;
    return n;
}

static uint32_t count(const struct msim_part *p, enum msim_part_op_kind kind)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < p->n_ops; i++)
        n += p->ops[i].kind == kind;
    return n;
}

/* Three products of each of a block's four linear layers, and six casts: of
 * three matrices, each in both orders. Heads stay, and so do routers, and
 * layers of sizes that are not in sixteens. Gathered weights are cast once
 * more. */
static void test_parts__in_8_bits(void)
{
    struct msim_strategy s = strategy(8, 1, 1, 1);
    struct msim_described experts = LLAMA;
    const struct msim_part *dense;
    struct msim_parts p;

    s.precision = MSIM_PRECISION_FP8;
    msim_parts_make(&p, &LLAMA, &s);
    dense = msim_parts_find(&p, MSIM_PART_DENSE);
    CHECK_UINT(narrow_products(dense), 12);
    CHECK_UINT(count(dense, MSIM_PART_OP_QUANTISE), 24);
    CHECK_UINT(narrow_products(msim_parts_find(&p, MSIM_PART_HEAD)), 0);
    s.zero = 3;
    msim_parts_make(&p, &LLAMA, &s);
    dense = msim_parts_find(&p, MSIM_PART_DENSE);
    CHECK_UINT(count(dense, MSIM_PART_OP_QUANTISE), 28);
    s.sequence = 4095;
    msim_parts_make(&p, &LLAMA, &s);
    CHECK_UINT(narrow_products(msim_parts_find(&p, MSIM_PART_DENSE)), 0);
    s.sequence = 4096;
    experts.moe.experts = 16;
    experts.moe.topk = 2;
    experts.moe.ffn = 1024;
    msim_parts_make(&p, &experts, &s);
    /* qkv and out, two products of experts; none of the router. */
    CHECK_UINT(narrow_products(msim_parts_find(&p, MSIM_PART_EXPERTS)), 12);
}

/* us of a layer's products, forward and backward. */
static double products_us(const struct msim_terms *t)
{
    const struct msim_priced *p = &t->at[MSIM_PLACE_LAYER];

    return p->us[MSIM_PART_OP_LINEAR][0] + p->us[MSIM_PART_OP_LINEAR][1];
}

/* What 8 bits bring to a job is not more than what its own products bring
 * (Amdahl), whatever the split and the rows that correct it. */
static void test_law__gains_what_products_gain(void)
{
    struct msim_step_fit fit;

    CHECK_INT(msim_steps_read(&fit, NULL, MSIM_DATA, NULL, &err), MSIM_OK);
    for (int i = 0; i < 12; i++) {
        struct msim_strategy s = strategy(8, i & 1 ? 4 : 1, i & 2 ? 4 : 1, 8);
        double us[2], products[2];

        s.zero = i < 4 ? 0 : i < 8 ? 1 : 3;
        if (s.zero == 3 && s.pp > 1)
            continue;
        for (int narrow = 0; narrow < 2; narrow++) {
            struct msim_terms t;

            s.precision = narrow ? MSIM_PRECISION_FP8 : MSIM_PRECISION_BF16;
            t = terms_of(&s);
            us[narrow] = msim_step_predict(&t, &fit).us;
            products[narrow] = products_us(&t);
        }
        CHECK(us[0] / us[1] < products[0] / products[1]);
    }
    msim_step_fit_release(&fit);
}

/* By the law alone and on one stage, no fit of the file lets a step gain more
 * than what its products gain: 32 layers of 4 micro batches, times the factor
 * of products. */
static void test_law__favours_no_type(void)
{
    static const char *const WITHOUT[] = {"", "llm-foundry", "megatron-bridge",
                                          "nanotron", "training_steps"};

    for (int i = 0; i < 5; i++) {
        struct msim_strategy s = strategy(8, 1, 1, 4);
        struct msim_step_fit fit;
        double us[2], products[2];

        REQUIRE(msim_steps_read(&fit, NULL, MSIM_DATA, WITHOUT[i], &err) ==
                MSIM_OK);
        for (int narrow = 0; narrow < 2; narrow++) {
            struct msim_terms t;

            s.precision = narrow ? MSIM_PRECISION_FP8 : MSIM_PRECISION_BF16;
            t = terms_of(&s);
            us[narrow] = msim_step_us(&t, &fit.constants, NULL);
            products[narrow] = products_us(&t);
        }
        CHECK(us[0] > us[1]);
        CHECK(us[0] - us[1] <=
              4 * 32 * fit.constants.linear * (products[0] - products[1]));
        msim_step_fit_release(&fit);
    }
}

static void test_law__keeps_bounds(void)
{
    struct msim_step_constants c = msim_step_constants_start();
    struct msim_strategy eight = strategy(8, 1, 1, 8);
    struct msim_strategy sixteen = strategy(8, 1, 1, 16);
    struct msim_strategy staged = strategy(1, 1, 4, 8);
    struct msim_strategy more = strategy(1, 1, 4, 32);
    struct msim_terms t = terms_of(&eight);
    double a, b, share;

    /* No faster than the GPU's peak. */
    CHECK(msim_step_us(&t, &c, NULL) >
          t.flops / msim_platform_peak_flops(h100, MSIM_DT_BF16, NULL) * 1e6);
    /* Twice the micro batches take at most twice as long, and nearly so. */
    a = step(&eight, &c);
    b = step(&sixteen, &c);
    CHECK(b > 1.9 * a && b <= 2 * a);
    /* Stages wait for (stages - 1) of (micro batches + stages - 1) steps. */
    a = step(&staged, &c) - c.fixed_us;
    b = step(&more, &c) - c.fixed_us;
    share = b / a;
    CHECK(share > 32.0 / 8 * 0.7 && share < 35.0 / 11 * 1.1);
}

static void test_law__sums_its_parts(void)
{
    static const int64_t SPLITS[][3] = {{8, 1, 1}, {2, 4, 1}, {2, 2, 4}};
    struct msim_step_constants c = msim_step_constants_start();

    for (size_t i = 0; i < 3; i++) {
        struct msim_strategy s =
            strategy(SPLITS[i][0], SPLITS[i][1], SPLITS[i][2], 8);
        struct msim_terms t = terms_of(&s);
        struct msim_step_parts p;
        double us = msim_step_us(&t, &c, &p);
        double sum = p.compute + p.host + p.tp + p.cp + p.ep + p.bubble +
                     p.gradients + p.optimizer;

        CHECK(fabs(sum / us - 1) < 1e-9);
        CHECK(p.compute > 0 && p.tp >= 0 && p.bubble >= 0);
    }
}

/* A larger constant never makes a step shorter, but for those that say how
 * much is hidden. */
static void test_law__rises_with_its_constants(void)
{
    struct msim_strategy s = strategy(2, 2, 4, 8);
    struct msim_terms t = terms_of(&s);
    struct msim_step_constants c = msim_step_constants_start();
    double values[MSIM_STEP_CONSTANTS], base = msim_step_us(&t, &c, NULL);

    for (uint32_t i = 0; i < MSIM_STEP_CONSTANTS; i++) {
        struct msim_step_constants more;

        if (strncmp(msim_step_constant_text(i), "hidden", 6) == 0)
            continue;
        memcpy(values, &c, sizeof(values));
        values[i] *= 1.5;
        memcpy(&more, values, sizeof(more));
        CHECK(msim_step_us(&t, &more, NULL) >= base);
    }
}

static void test_law__recomputes_forward(void)
{
    struct msim_strategy s = strategy(8, 1, 1, 8);
    struct msim_step_constants c = msim_step_constants_start();
    double without = step(&s, &c), with;

    s.recompute = MSIM_RECOMPUTE_FULL;
    with = step(&s, &c);
    /* A third of the layers' work again. */
    CHECK(with / without > 1.2 && with / without < 1.34);
}

/* Time of gaps in a step of 32 layers: what a gap of 100 us adds. */
static double gaps_of(int64_t micro_batch)
{
    struct msim_strategy s = strategy(1, 1, 1, 1);
    struct msim_step_constants c = msim_step_constants_start();
    double with;

    s.micro_batch = micro_batch;
    s.unfused = true;
    c.host_layer_us = 1; /* the GPU sets the pace */
    c.gap_us = 100;
    with = step(&s, &c);
    c.gap_us = 0;
    return with - step(&s, &c);
}

/* A kind of n operators of t us in all has gaps of n x 100 / (1 + t / n / 100)
 * us: some, at most 100 us each, and fewer the longer they take. */
static void test_gaps__shrink_as_operators_grow(void)
{
    struct msim_strategy s = strategy(1, 1, 1, 1);
    struct msim_terms t;
    double kernels = 0;

    s.unfused = true;
    t = terms_of(&s);
    for (int k = 0; k < MSIM_PART_OP_COUNT; k++)
        kernels += t.at[MSIM_PLACE_LAYER].kernels[k][MSIM_PASS_FORWARD] +
                   t.at[MSIM_PLACE_LAYER].kernels[k][MSIM_PASS_BACKWARD];
    CHECK(kernels > 20);
    CHECK(gaps_of(1) > 0 && gaps_of(1) < 32 * kernels * 100);
    CHECK(gaps_of(8) > 0 && gaps_of(8) < gaps_of(1));
}

/* Unfused programs sum gradients after the last backward, so that nothing is
 * hidden, with stages as without; fused ones hide some. */
static void test_gradients__of_unfused_programs_wait(void)
{
    struct msim_step_constants c = msim_step_constants_start();

    c.hidden = 1;
    for (int64_t pp = 1; pp <= 2; pp++) {
        struct msim_strategy s = strategy(8, 1, pp, 4);
        struct msim_step_parts parts;
        struct msim_terms t;

        s.zero = 0;
        s.unfused = true;
        t = terms_of(&s);
        (void)msim_step_us(&t, &c, &parts);
        CHECK_REL(parts.gradients, (t.dp_far ? c.dp_far : c.dp_near) * t.sum_us,
                  1e-9);
    }
}

static void test_fit__is_read_by_source(void)
{
    struct msim_step_fit all, without;

    REQUIRE(msim_steps_read(&all, NULL, MSIM_DATA, NULL, &err) == MSIM_OK);
    REQUIRE(msim_steps_read(&without, NULL, MSIM_DATA, "nanotron", &err) ==
            MSIM_OK);
    CHECK(msim_step_fit_uses(&all, "nanotron"));
    CHECK(!msim_step_fit_uses(&without, "nanotron"));
    msim_step_fit_release(&all);
    msim_step_fit_release(&without);
    CHECK_INT(msim_steps_read(&all, NULL, MSIM_DATA, "nanotrom", &err),
              MSIM_EUNKNOWN);
    CHECK(strstr(err.text, "nanotron") != NULL);
}

/* A step lies inside the interval of its kind of program, and is what its parts
 * are together. */
static void test_predict__has_an_interval(void)
{
    static const int64_t SPLITS[][3] = {{8, 1, 1}, {2, 4, 1}, {2, 2, 4}};
    struct msim_step_fit fit;

    REQUIRE(msim_steps_read(&fit, NULL, MSIM_DATA, NULL, &err) == MSIM_OK);
    for (int i = 0; i < MSIM_STEP_CLASSES; i++)
        CHECK(fit.low[i] > 1 && fit.high[i] > 1);
    for (int i = 0; i < MSIM_STEP_CLASSES; i++) {
        fit.low[i] = 1.25;
        fit.high[i] = 1.5;
    }
    for (size_t i = 0; i < 3; i++) {
        struct msim_strategy s =
            strategy(SPLITS[i][0], SPLITS[i][1], SPLITS[i][2], 8);
        struct msim_terms t = terms_of(&s);
        struct msim_step_estimate e = msim_step_predict(&t, &fit);
        const struct msim_step_parts *p = &e.parts;

        CHECK_REL(e.low_us, e.us / 1.25, 1e-12);
        CHECK_REL(e.high_us, e.us * 1.5, 1e-12);
        CHECK_REL(p->compute + p->host + p->tp + p->cp + p->ep + p->bubble +
                      p->gradients + p->optimizer,
                  e.us, 1e-9);
    }
    msim_step_fit_release(&fit);
}

/* Unlike all rows: the widest of what it is. Of 8 bits, 2; sharded, 3 up
 * and 1.5 down; in stages, 1.1. Near one: of its class, the first. */
static void test_predict__widest_of_what_it_is(void)
{
    struct msim_step_fit fit;
    struct msim_strategy s = strategy(2, 4, 1, 8);
    struct msim_terms t = terms_of(&s);
    struct msim_step_estimate e;

    REQUIRE(msim_steps_read(&fit, NULL, MSIM_DATA, NULL, &err) == MSIM_OK);
    fit.n_rows = 0;
    for (int i = 0; i < MSIM_STEP_CLASSES; i++)
        fit.low[i] = fit.high[i] = 9;
    fit.low[MSIM_STEP_CLASS_NARROW_FAR] = fit.high[MSIM_STEP_CLASS_NARROW_FAR] =
        2;
    fit.low[MSIM_STEP_CLASS_SHARDED_FAR] = 1.5;
    fit.high[MSIM_STEP_CLASS_SHARDED_FAR] = 3;
    fit.low[MSIM_STEP_CLASS_STAGED_FAR] = fit.high[MSIM_STEP_CLASS_STAGED_FAR] =
        1.1;
    t.unfused = false;
    t.narrow = true;
    t.zero = 2;
    t.pp = 2;
    e = msim_step_predict(&t, &fit);
    CHECK(e.us > 0);
    CHECK_REL(e.low_us, e.us / 2, 1e-12);
    CHECK_REL(e.high_us, e.us * 3, 1e-12);
    msim_step_fit_release(&fit);
}

/* Pipelines without ZeRO exchange gradients once a step; nanotron after each
 * of 8 micro batches, by the same collective. */
static void test_terms__exchange_by_program(void)
{
    struct msim_strategy once = strategy(2, 1, 2, 8), each = once;
    struct msim_step_constants c = msim_step_constants_start();
    struct msim_terms t;
    struct msim_step_parts p;

    once.zero = each.zero = 0;
    msim_framework_default(&each, "nanotron");
    c.dp_near = 1;
    t = terms_of(&once);
    (void)msim_step_us(&t, &c, &p);
    CHECK(p.gradients > 0 && p.gradients <= t.sum_us);
    t = terms_of(&each);
    (void)msim_step_us(&t, &c, &p);
    CHECK_REL(p.gradients, 8 * t.sum_us, 1e-9);
}

/* Unlike all rows: the network between nodes may be off, and the share of the
 * step that waits for it. Inside a node, or near a row, nothing is added. */
static void test_predict__network_widens(void)
{
    struct msim_strategy far = strategy(64, 1, 1, 1),
                         near = strategy(8, 1, 1, 1);
    struct msim_terms t = terms_of(&far);
    struct msim_step_fit fit;
    struct msim_step_estimate e;
    double share;

    CHECK(t.network_log > 0.05);
    CHECK_REL(terms_of(&near).network_log, 0, 1e-12);
    REQUIRE(msim_steps_read(&fit, NULL, MSIM_DATA, NULL, &err) == MSIM_OK);
    for (int i = 0; i < MSIM_STEP_CLASSES; i++)
        fit.low[i] = fit.high[i] = exp(0.3);
    t.network_log = 2;
    t.scatter_us *= 20; /* more than a pass hides */
    e = msim_step_predict(&t, &fit);
    if (e.near)
        CHECK_REL(e.high_us, e.us * exp(0.3), 1e-9);
    fit.n_rows = 0;
    e = msim_step_predict(&t, &fit);
    share = e.parts.gradients / e.us;
    CHECK(share > 0.05 && !e.near);
    CHECK_REL(log(e.high_us / e.us), hypot(0.3, 2 * share), 1e-9);
    CHECK_REL(log(e.us / e.low_us), hypot(0.3, 2 * share), 1e-9);
    msim_step_fit_release(&fit);
}

/* ZeRO deals the states to both data parallel ranks: each steps on half of 2
 * billion parameters, whose memory takes all of the time. */
static void test_optimizer__steps_on_its_share(void)
{
    struct msim_strategy s = strategy(2, 4, 1, 8);
    double all, share;

    s.zero = 0;
    all = terms_of(&s).optimizer_us;
    s.zero = 1;
    share = terms_of(&s).optimizer_us;
    CHECK_REL(share, all / 2, 0.02);
}

/* Of a GPU without others; weights, 2 and 12 bytes of states and gradients that
 * are read and written for each. */
static double optimizer_of(double parameters)
{
    double us = 0;

    CHECK_INT(msim_price_bytes(&us, &pricer, parameters, 16 * parameters,
                               14 * parameters, &err),
              MSIM_OK);
    return us;
}

/* The fullest of two stages has half of the layers and the embedding; of one,
 * the head, too. */
static void test_optimizer__steps_on_its_stage(void)
{
    double table = 128256.0 * 4096 / 8, all, layers;
    struct msim_strategy s = strategy(1, 8, 1, 8);

    s.zero = 0;
    all = msim_described_parameters(&LLAMA) / 8;
    layers = all - 2 * table;
    CHECK_REL(terms_of(&s).optimizer_us, optimizer_of(all), 1e-3);
    s = strategy(1, 8, 2, 8);
    s.zero = 0;
    CHECK_REL(terms_of(&s).optimizer_us, optimizer_of(layers / 2 + table),
              1e-3);
}

/* Each of four tensor parallel ranks gathers and scatters a layer's activations
 * of 4096 tokens in 16 bits, twice a pass, and gathers twice more in backward.
 */
static void test_parts__send_activations(void)
{
    struct msim_strategy s = strategy(1, 4, 1, 1);
    double bytes = 4096.0 * 4096 * 2, gathers = 0, scatters = 0;
    struct msim_parts p;

    msim_parts_make(&p, &LLAMA, &s);
    for (uint32_t i = 0; i < p.part[1].n_comms; i++) {
        const struct msim_part_comm *c = &p.part[1].comms[i];

        CHECK_REL(c->bytes, bytes, 1e-12);
        CHECK_INT(c->group, MSIM_PART_GROUP_TP);
        if (c->collective == MSIM_COLL_ALL_GATHER)
            gathers += c->count;
        else
            scatters += c->count;
    }
    CHECK_REL(gathers, 2 + 4, 1e-12);
    CHECK_REL(scatters, 2 + 2, 1e-12);
}

/* What is more than the GPU's memory takes its law's time, too. */
static void test_price__grows_beyond_memory(void)
{
    double some, more;

    CHECK_INT(msim_price_bytes(&some, &pricer, 1e9, 16e9, 14e9, &err), MSIM_OK);
    CHECK_INT(msim_price_bytes(&more, &pricer, 1e11, 16e11, 14e11, &err),
              MSIM_OK);
    CHECK_REL(more, 100 * some, 0.05);
}

int main(void)
{
    if (msim_platform_load(&h100, MSIM_DATA, "h100", &err) != MSIM_OK)
        return 1;
    pricer.platform = h100;
    RUN(test_parts__have_the_known_flops);
    RUN(test_parts__split_over_tensor_parallel_ranks);
    RUN(test_parts__in_8_bits);
    RUN(test_law__gains_what_products_gain);
    RUN(test_law__favours_no_type);
    RUN(test_law__keeps_bounds);
    RUN(test_law__sums_its_parts);
    RUN(test_law__rises_with_its_constants);
    RUN(test_law__recomputes_forward);
    RUN(test_gaps__shrink_as_operators_grow);
    RUN(test_gradients__of_unfused_programs_wait);
    RUN(test_fit__is_read_by_source);
    RUN(test_predict__has_an_interval);
    RUN(test_predict__widest_of_what_it_is);
    RUN(test_predict__network_widens);
    RUN(test_terms__exchange_by_program);
    RUN(test_optimizer__steps_on_its_share);
    RUN(test_optimizer__steps_on_its_stage);
    RUN(test_parts__send_activations);
    RUN(test_price__grows_beyond_memory);
    msim_pricer_release(&pricer);
    msim_platform_free(h100);
    return check_summary();
}
