/*
 * plan/step/step_law.c on made-up terms, counted by hand: 4 layers of 100 us
 * forward and 200 back, an embedding of 10, a head of 30 us, 3 micro batches.
 */
#include "models/platform/platform.h"
#include "plan/describe/strategy.h"
#include "plan/step/step_law.h"
#include "tests/check.h"

#include <math.h>

#define TIGHT 1e-9

static struct msim_terms terms(void)
{
    struct msim_terms t = {.first_layers = 4,
                           .middle_layers = 4,
                           .last_layers = 4,
                           .layers = 4,
                           .pp = 1,
                           .vp = 1,
                           .micro_batches = 3,
                           .dp = 1,
                           .tp = 1,
                           .ep = 1};

    t.at[MSIM_PLACE_LAYER].us[MSIM_PART_OP_LINEAR][MSIM_PASS_FORWARD] = 100;
    t.at[MSIM_PLACE_LAYER].us[MSIM_PART_OP_LINEAR][MSIM_PASS_BACKWARD] = 200;
    t.at[MSIM_PLACE_EMBEDDING].us[MSIM_PART_OP_EMBEDDING][MSIM_PASS_FORWARD] =
        10;
    t.at[MSIM_PLACE_HEAD].us[MSIM_PART_OP_LOSS][MSIM_PASS_FORWARD] = 30;
    return t;
}

/* Each factor 1, nothing hidden, a host that takes no time. */
static struct msim_step_constants plain(void)
{
    struct msim_step_constants c;
    double ones[MSIM_STEP_CONSTANTS];

    for (size_t i = 0; i < MSIM_STEP_CONSTANTS; i++)
        ones[i] = 1;
    memcpy(&c, ones, sizeof(c));
    c.hidden = c.hidden_waits = c.hidden_shard = 0;
    c.host_layer_us = c.host_expert_us = 0;
    c.host_comm_us = c.host_wait = c.gap_us = c.fixed_us = 0;
    return c;
}

static void check_us(const struct msim_terms *t,
                     const struct msim_step_constants *c, double want)
{
    struct msim_step_parts p;

    CHECK_REL(msim_step_us(t, c, &p), want, TIGHT);
    CHECK_REL(p.compute + p.host + p.tp + p.cp + p.ep + p.copies + p.bubble +
                  p.gradients + p.optimizer,
              want, TIGHT);
}

static void test_step__one_stage(void)
{
    struct msim_step_constants c = plain();
    struct msim_terms t = terms();

    check_us(&t, &c, 3 * (4 * 300 + 10 + 30));
    c.linear = 1.5;
    c.vector = 2;
    c.loss = 3;
    check_us(&t, &c, 3 * (4 * 450 + 20 + 90));
    t.add_us = 5;
    t.optimizer_us = 7;
    c.add = 2;
    c.optimizer = 3;
    c.fixed_us = 11;
    check_us(&t, &c, 3 * (4 * 450 + 20 + 90 + 10) + 21 + 11);
    t.updates_in_backward = true;
    check_us(&t, &c, 3 * (4 * 450 + 20 + 90 + 10) + 21);
    t.narrow = true; /* the same factor: kernels alone say what it brings */
    check_us(&t, &c, 3 * (4 * 450 + 20 + 90 + 10) + 21);
    c.linear_late = 2;
    t.late = true;
    check_us(&t, &c, 3 * (4 * 600 + 20 + 90 + 10) + 21);
}

/* A pass forward again, or what selective recomputation repeats. */
static void test_step__recomputes(void)
{
    struct msim_step_constants c = plain();
    struct msim_terms t = terms();

    t.at[MSIM_PLACE_LAYER].again_us = 20;
    check_us(&t, &c, 3 * (4 * 300 + 40));
    t.again = MSIM_AGAIN_OPERATORS;
    check_us(&t, &c, 3 * (4 * 320 + 40));
    t.again = MSIM_AGAIN_LAYERS;
    check_us(&t, &c, 3 * (4 * 400 + 40));
}

/* A host of 9000 us a layer sets the pace: more with each doubling of ranks, a
 * third more where forward runs again. */
static void test_step__waits_for_the_host(void)
{
    struct msim_step_constants c = plain();
    struct msim_terms t = terms();
    struct msim_step_parts p;

    c.host_layer_us = 9000;
    check_us(&t, &c, 3 * (4 * 9000 + 40));
    (void)msim_step_us(&t, &c, &p);
    CHECK_REL(p.host, 3 * 4 * (9000 - 300), TIGHT);
    t.again = MSIM_AGAIN_LAYERS;
    check_us(&t, &c, 3 * (4 * 12000 + 40));
    t.again = MSIM_AGAIN_NOTHING;
    t.tp = 4;
    c.host_wait = 0.5;
    check_us(&t, &c, 3 * (4 * 18000 + 40));
    t.tp = 1;
    c.host_comm_us = 100;
    t.at[MSIM_PLACE_LAYER].comms[MSIM_PASS_FORWARD] = 2;
    t.at[MSIM_PLACE_LAYER].comms[MSIM_PASS_BACKWARD] = 4;
    check_us(&t, &c, 3 * (4 * 9600 + 40));
    c.host_expert_us = 1000;
    check_us(&t, &c, 3 * (4 * 9600 + 40));
    t.at[MSIM_PLACE_LAYER].us[MSIM_PART_OP_EXPERT][MSIM_PASS_FORWARD] = 1;
    check_us(&t, &c, 3 * (4 * 10600 + 40));
}

/* Collectives of layers, by group, near or far. */
static void test_step__sends_in_layers(void)
{
    struct msim_step_constants c = plain();
    struct msim_terms t = terms();
    struct msim_priced *layer = &t.at[MSIM_PLACE_LAYER];
    struct msim_step_parts p;

    c.tp_near = 2;
    c.tp_far = 3;
    c.cp = 5;
    c.ep = 7;
    layer->comm_us[MSIM_PART_GROUP_TP][MSIM_PASS_FORWARD] = 10;
    layer->comm_us[MSIM_PART_GROUP_CP][MSIM_PASS_BACKWARD] = 20;
    layer->comm_us[MSIM_PART_GROUP_EP][MSIM_PASS_FORWARD] = 1;
    check_us(&t, &c, 3 * (4 * (300 + 20 + 100 + 7) + 40));
    t.tp_far = true;
    check_us(&t, &c, 3 * (4 * (300 + 30 + 100 + 7) + 40));
    (void)msim_step_us(&t, &c, &p);
    CHECK_REL(p.tp, 12 * 30, TIGHT);
    CHECK_REL(p.cp, 12 * 100, TIGHT);
    CHECK_REL(p.ep, 12 * 7, TIGHT);
    t.again = MSIM_AGAIN_LAYERS; /* forward's once more */
    check_us(&t, &c, 3 * (4 * (400 + 60 + 100 + 14) + 40));
}

/* Tokens that go to experts beside another micro batch, of 3: of 300 us of
 * computing a fifth of the SMs leaves 375 behind an exchange of that length. */
static void test_step__exchanges_beside_computing(void)
{
    struct msim_step_constants c = plain();
    struct msim_terms t = terms();
    double *us =
        &t.at[MSIM_PLACE_LAYER].comm_us[MSIM_PART_GROUP_EP][MSIM_PASS_FORWARD];

    *us = 150;
    check_us(&t, &c, 3 * (4 * (300 + 150) + 40));
    t.dispatch_share = 0.2;
    check_us(&t, &c, 3 * (4 * (300 + 150 - 100 + 20) + 40));
    *us = 500;
    check_us(&t, &c, 3 * (4 * (300 + 500 - 250 + 50) + 40));
    t.micro_batches = 1;
    check_us(&t, &c, 4 * (300 + 500) + 40);
}

/* Two stages of two layers: the last has 630 us, both 1240; the busiest waits
 * for the rest, less with chunks, a third of it without bubbles. */
static void test_step__in_stages(void)
{
    struct msim_step_constants c = plain();
    struct msim_terms t = terms();
    struct msim_step_parts p;

    t.pp = 2;
    t.first_layers = t.middle_layers = t.last_layers = 2;
    check_us(&t, &c, 3 * 630 + 610);
    (void)msim_step_us(&t, &c, &p);
    CHECK_REL(p.bubble, 610, TIGHT);
    t.zero_bubble = true;
    check_us(&t, &c, 3 * 630 + 610.0 / 3);
    t.zero_bubble = false;
    t.vp = 2;
    check_us(&t, &c, 3 * 630 + 305);
    /* Twice a boundary; chunks are sent beside compute. */
    t.p2p_us = 5;
    c.p2p = 2;
    check_us(&t, &c, 3 * 630 + (610 + 2 * 10.0 * 2 * 2) / 2);
    t.vp = 1;
    check_us(&t, &c, 3 * 650 + (1240 + 2 * 10.0 * 2) - 650);
    /* Gradients are added up on every stage. */
    t.p2p_us = 0;
    t.add_us = 4;
    check_us(&t, &c, 3 * 634 + (1240 + 8) - 634);
    /* Layers are whole: of 5 the first stage has 3. */
    t.add_us = 0;
    t.layers = 5;
    t.first_layers = 3;
    check_us(&t, &c, 3 * 910 + 630);
}

static void set_stages(struct msim_terms *t, double first, double middle,
                       double last)
{
    t->pp = 3;
    t->first_layers = first;
    t->middle_layers = middle;
    t->last_layers = last;
}

/* Whichever stage is fullest sets the pace: the middle may have a layer more,
 * the first has the embedding, the last the head. */
static void test_step__fullest_stage(void)
{
    struct msim_step_constants c = plain();
    struct msim_terms t = terms();

    t.layers = 4;
    set_stages(&t, 1, 2, 1);
    check_us(&t, &c, 3 * 600 + 1240 - 600);
    set_stages(&t, 2, 1, 1);
    check_us(&t, &c, 3 * 610 + 1240 - 610);
    set_stages(&t, 1, 1, 2);
    check_us(&t, &c, 3 * 630 + 1240 - 630);
}

/* Gradients: hidden by a share of backward, but for a tenth; once a step, or
 * after each micro batch; in halves with ZeRO, of which the second is hidden by
 * a share of forward, or waits for the optimizer. */
static void test_step__exchanges_gradients(void)
{
    struct msim_step_constants c = plain();
    struct msim_terms t = terms();
    double busy = 3 * (4 * 300 + 40);

    t.sum_us = 1000;
    t.scatter_us = 300;
    t.gather_us = 400;
    c.dp_near = 2;
    c.dp_far = 3;
    check_us(&t, &c, busy); /* alone */
    t.dp = 2;
    check_us(&t, &c, busy + 2000);
    t.dp_far = true;
    check_us(&t, &c, busy + 3000);
    t.waits_for_weights = true; /* such a program has a factor of its own */
    c.dp_far_waits = 4;
    check_us(&t, &c, busy + 4000);
    t.waits_for_weights = false;
    t.dp_far = false;
    t.zero = 1;
    check_us(&t, &c, busy + 1400);
    c.hidden = 0.5; /* of 4 x 200 and 4 x 100 */
    check_us(&t, &c, busy + 200 + 600);
    t.waits_for_weights = true;
    check_us(&t, &c, busy + 1400);
    c.hidden_waits = 0.5;
    check_us(&t, &c, busy + 1000);
    t.waits_for_weights = false;
    c.hidden = 100;
    check_us(&t, &c, busy + 140);
    t.unfused = true;
    check_us(&t, &c, busy + 1400);
    t.unfused = false;
    t.zero = 0;
    t.pp = 2;
    t.first_layers = t.middle_layers = t.last_layers = 2;
    check_us(&t, &c, 3 * 630 + 610 + 200);
    t.exchanges_each = true;
    check_us(&t, &c, 3 * 630 + 610 + 3 * 2000);
    t.exchanges_each = false;
    t.zero = 2;
    check_us(&t, &c, 3 * 630 + 610 + 140);
}

/* What nothing hides of the exchange. */
static double exposed(const struct msim_terms *t,
                      const struct msim_step_constants *c)
{
    struct msim_step_parts p;

    (void)msim_step_us(t, c, &p);
    return p.gradients;
}

/* In pieces gradients of all but the first are whole while pp micro batches
 * still go back, each a piece at a time: of 4 stages with 4 pieces a tenth of
 * 1/4 + 3/4 x 4 = 3.25 backward passes hides them, without pieces of one; and
 * as much of forward the weights. With 3 micro batches no more than those go
 * back. */
static void test_step__pieces_hide_gradients(void)
{
    struct msim_step_constants c = plain();
    struct msim_terms t = terms();

    t.dp = 2;
    t.pp = 4;
    t.zero = 1;
    t.micro_batches = 8;
    t.scatter_us = t.gather_us = 5000;
    c.hidden = 0.1;
    CHECK_REL(exposed(&t, &c), 10000 - 0.1 * 4 * 300, TIGHT);
    t.vp = 4;
    CHECK_REL(exposed(&t, &c), 10000 - 0.1 * 4 * 300 * 3.25, TIGHT);
    t.micro_batches = 3;
    CHECK_REL(exposed(&t, &c), 10000 - 0.1 * 4 * 300 * 2.5, TIGHT);
}

/* Without rows of the network the greater of both factors counts. */
static void test_step__falls_short_once(void)
{
    struct msim_step_constants c = plain();
    struct msim_terms t = terms();

    t.dp = 2;
    t.zero = 1;
    t.dp_far = true;
    t.scatter_us = t.gather_us = 5000;
    c.dp_far = 3;
    t.network_shortfall = 1;
    CHECK_REL(exposed(&t, &c), 30000, TIGHT);
    t.network_shortfall = 2;
    CHECK_REL(exposed(&t, &c), 15000, TIGHT);
    t.network_shortfall = 4;
    CHECK_REL(exposed(&t, &c), 10000, TIGHT);
}

/* Gradients go to shards in each layer and micro batch, weights come from them
 * twice with ZeRO 3, with ZeRO 2 once a step. Layers hide all but one. */
static void test_step__gathers_shards(void)
{
    struct msim_step_constants c = plain();
    struct msim_terms t = terms();
    double busy = 3 * (4 * 300 + 40);

    t.dp = 2;
    t.exchanges_each = true;
    t.layer_gather_us = 20;
    t.layer_scatter_us = 30;
    t.gather_us = 900;
    t.zero = 2;
    c.hidden = t.waits_for_weights = true; /* so that nothing hides them */
    check_us(&t, &c, busy + 3 * 4 * 30 + 30 + 900);
    t.zero = 3;
    check_us(&t, &c, busy + 3 * 4 * 70 + 50);
    c.dp_near = 2;
    check_us(&t, &c, busy + 3 * 4 * 140 + 100);
    c.hidden_shard = 0.1; /* of 4 x 300 */
    check_us(&t, &c, busy + 3 * (4 * 140 - 120) + 100);
    c.hidden_shard = 1;
    check_us(&t, &c, busy + 100);
}

/* Copies over the host link: what is longer than the pass beside it, and what
 * they take of device memory. Then the host updates what came down. */
static void test_step__offloads(void)
{
    struct msim_step_constants c = plain();
    struct msim_terms t = terms();
    struct msim_step_parts p;
    double busy = 3 * (4 * 300 + 40);

    t.copy_us[MSIM_PASS_FORWARD] = 90;
    t.copy_us[MSIM_PASS_BACKWARD] = 190;
    check_us(&t, &c, busy);
    t.copied_us = 3;
    check_us(&t, &c, busy + 12 * 3);
    t.copy_us[MSIM_PASS_FORWARD] = 150;
    t.copy_us[MSIM_PASS_BACKWARD] = 225;
    check_us(&t, &c, busy + 12 * (3 + 50 + 25));
    (void)msim_step_us(&t, &c, &p);
    CHECK_REL(p.copies, 12 * 78, TIGHT);
    t = terms();
    t.host_update_us = 500;
    t.host_down_us = 700;
    check_us(&t, &c, busy + 500); /* 4 x 200 of backward hide it */
    t.host_down_us = 900;
    check_us(&t, &c, busy + 500 + 100);
}

/* An operator of 100 us in 2 kernels, with gaps of 50 at most: 2 x 50 / 2. */
static void test_step__has_gaps(void)
{
    struct msim_step_constants c = plain();
    struct msim_terms t = terms();

    c.gap_us = 50;
    t.at[MSIM_PLACE_LAYER].kernels[MSIM_PART_OP_LINEAR][MSIM_PASS_FORWARD] = 2;
    check_us(&t, &c, 3 * (4 * 300 + 40));
    t.unfused = true;
    check_us(&t, &c, 3 * (4 * 350 + 40));
}

/* What rows of one program say of the kernels that its own code calls is said
 * of no other: makers', FlashAttention 1, FlashAttention 2. */
static void test_terms__attention_by_its_kernels(void)
{
    static const struct {
        const char *platform;
        enum msim_attention_stack stack[3];
    } ROWS[] = {
        {"a100",
         {MSIM_ATTENTION_OWN, MSIM_ATTENTION_USUAL, MSIM_ATTENTION_OWN}},
        {"h200",
         {MSIM_ATTENTION_OWN, MSIM_ATTENTION_LATE, MSIM_ATTENTION_LATE}},
        {"b200", {MSIM_ATTENTION_OWN, MSIM_ATTENTION_OWN, MSIM_ATTENTION_OWN}}};
    static const struct msim_described model = {.layers = 2,
                                                .hidden = 512,
                                                .heads = 8,
                                                .kv_heads = 8,
                                                .head_dim = 64,
                                                .ffn = 2048,
                                                .vocab = 1024};
    const struct msim_strategy s = {.gpus = 1,
                                    .nodes = 1,
                                    .gpus_a_node = 8,
                                    .dp = 1,
                                    .tp = 1,
                                    .pp = 1,
                                    .vp = 1,
                                    .cp = 1,
                                    .ep = 1,
                                    .micro_batch = 1,
                                    .grad_accum = 1,
                                    .global_batch = 1,
                                    .sequence = 512,
                                    .precision = MSIM_PRECISION_BF16};
    struct msim_error err;

    for (size_t i = 0; i < sizeof(ROWS) / sizeof(*ROWS); i++) {
        struct msim_pricer on = {0};
        struct msim_platform *platform;

        REQUIRE(msim_platform_load(&platform, MSIM_DATA, ROWS[i].platform,
                                   &err) == MSIM_OK);
        on.platform = platform;
        for (int k = 0; k < 3; k++) {
            struct msim_described m = model;
            struct msim_terms made;

            m.attention = (enum msim_attention_kernel)k;
            CHECK_INT(msim_terms_make(&made, &on, &m, &s, &err), MSIM_OK);
            CHECK_INT(made.attention, ROWS[i].stack[k]);
        }
        msim_pricer_release(&on);
        msim_platform_free(platform);
    }
}

/* Gradients of experts are summed over those ranks that have the same, which
 * tensor parallel ones are where experts are whole: with one data parallel rank
 * nothing else is summed. */
static void test_terms__gradients_of_experts(void)
{
    static const struct msim_described model = {
        .layers = 2,
        .hidden = 512,
        .heads = 8,
        .kv_heads = 8,
        .head_dim = 64,
        .vocab = 1024,
        .gated = true,
        .moe = {.experts = 8, .topk = 2, .ffn = 1024}};
    static const struct {
        int64_t ep, etp, ranks, apart;
    } CASES[] = {{1, 4, 1, 4}, {1, 1, 4, 1}, {2, 1, 2, 2}, {4, 1, 1, 4}};
    struct msim_strategy s = {.gpus = 4,
                              .nodes = 1,
                              .gpus_a_node = 2,
                              .dp = 1,
                              .tp = 4,
                              .pp = 1,
                              .vp = 1,
                              .cp = 1,
                              .micro_batch = 1,
                              .grad_accum = 1,
                              .global_batch = 1,
                              .sequence = 512,
                              .precision = MSIM_PRECISION_BF16};
    struct msim_pricer on = {0};
    struct msim_platform *platform;
    struct msim_error err;

    REQUIRE(msim_platform_load(&platform, MSIM_DATA, "h100", &err) == MSIM_OK);
    on.platform = platform;
    on.gpus_a_node = s.gpus_a_node;
    for (size_t i = 0; i < sizeof(CASES) / sizeof(*CASES); i++) {
        double bytes = msim_gradient_bytes(&s) * 2 * 8 * 3 * 512 * 1024 /
                       (double)(CASES[i].ep * CASES[i].etp);
        double want, each;
        struct msim_terms made;

        s.ep = CASES[i].ep;
        s.etp = CASES[i].etp;
        for (s.zero = 0; s.zero < 4; s.zero += 3) {
            CHECK_INT(msim_terms_make(&made, &on, &model, &s, &err), MSIM_OK);
            CHECK_INT(msim_price_collective(&want, &on, MSIM_COLL_ALL_REDUCE,
                                            bytes, CASES[i].ranks,
                                            CASES[i].apart, &err),
                      MSIM_OK);
            CHECK_REL(made.sum_us, want, TIGHT);
            CHECK_INT(msim_price_collective(&each, &on, MSIM_COLL_ALL_GATHER,
                                            bytes / 2, CASES[i].ranks,
                                            CASES[i].apart, &err),
                      MSIM_OK);
            CHECK_REL(made.layer_gather_us, each, TIGHT);
            CHECK((want > 0) == (CASES[i].ranks > 1));
        }
    }
    /* Shards of experts come from the ranks that have the same, one a node,
     * beside those of all else, which come from all 8. */
    s.gpus = s.dp = 8;
    s.tp = s.etp = 1;
    s.gpus_a_node = on.gpus_a_node = s.ep = 4;
    s.nodes = 2;
    for (s.zero = 2; s.zero < 4; s.zero++) {
        double experts = 2.0 * 2 * 3 * 512 * 1024, dense, alone;
        struct msim_terms made;

        CHECK_INT(msim_terms_make(&made, &on, &model, &s, &err), MSIM_OK);
        CHECK_INT(msim_price_collective(&alone, &on, MSIM_COLL_ALL_GATHER,
                                        experts, 2, 4, &err),
                  MSIM_OK);
        CHECK_INT(msim_price_collective(&dense, &on, MSIM_COLL_ALL_GATHER,
                                        2.0 * 4 * 512 * 512, 8, 1, &err),
                  MSIM_OK);
        CHECK_REL(made.layer_gather_us, alone + dense, 0.1); /* and norms */
    }
    msim_pricer_release(&on);
    msim_platform_free(platform);
}

/* In flight is all, hidden or not; what waits is of exchanges that are half as
 * long, and twice. */
static void check_exchange(const struct msim_terms *t,
                           const struct msim_step_constants *c,
                           double in_flight, double low, double high)
{
    struct msim_step_exchange e = msim_step_exchange_of(t, c, 2);

    CHECK_REL(e.in_flight, in_flight, TIGHT);
    CHECK_REL(e.waits_low, low, TIGHT);
    CHECK_REL(e.waits_high, high, TIGHT);
}

static void test_step__exchange_before_overlap(void)
{
    struct msim_step_constants c = plain();
    struct msim_terms t = terms();

    t.sum_us = 600;
    check_exchange(&t, &c, 0, 0, 0); /* one rank */
    t.dp = 4;
    check_exchange(&t, &c, 600, 300, 1200);
    c.hidden = 1; /* beside 800 us of backward; a tenth always waits */
    check_exchange(&t, &c, 600, 30, 400);
    t.exchanges_each = true;
    check_exchange(&t, &c, 1800, 900, 3600);
    t.unfused = true; /* once, after the last */
    check_exchange(&t, &c, 600, 300, 1200);
    t.zero = 1;
    t.scatter_us = 100;
    t.gather_us = 50;
    check_exchange(&t, &c, 150, 75, 300);
    t.zero = 3;
    t.layer_gather_us = 50;
    t.layer_scatter_us = 40;
    c.hidden_shard = 0.5; /* of 1200 us, of 560 a micro batch; 90 wait alone */
    check_exchange(&t, &c, 1680, 45, 3 * 520 + 180);
    t.zero = 2; /* weights once a step, beside 400 us of forward */
    check_exchange(&t, &c, 530, 20 + 2.5, 80 + 10);
}

int main(void)
{
    RUN(test_step__exchange_before_overlap);
    RUN(test_terms__attention_by_its_kernels);
    RUN(test_terms__gradients_of_experts);
    RUN(test_step__one_stage);
    RUN(test_step__recomputes);
    RUN(test_step__waits_for_the_host);
    RUN(test_step__sends_in_layers);
    RUN(test_step__exchanges_beside_computing);
    RUN(test_step__in_stages);
    RUN(test_step__fullest_stage);
    RUN(test_step__exchanges_gradients);
    RUN(test_step__pieces_hide_gradients);
    RUN(test_step__falls_short_once);
    RUN(test_step__gathers_shards);
    RUN(test_step__offloads);
    RUN(test_step__has_gaps);
    return check_summary();
}
