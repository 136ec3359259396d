/*
 * tests/unit/plan/test_memory_ways.c - what is offered is enough, is the
 * smallest change, and holds what it says.
 */
#include "core/base/units.h"
#include "plan/memory/job_memory.h"
#include "tests/check.h"

static const struct msim_described LLAMA = {.layers = 32,
                                            .hidden = 4096,
                                            .heads = 32,
                                            .kv_heads = 8,
                                            .head_dim = 128,
                                            .ffn = 14336,
                                            .vocab = 128256,
                                            .gated = true};

static const struct msim_strategy PLAIN = {.gpus = 8,
                                           .gpus_a_node = 8,
                                           .nodes = 1,
                                           .dp = 8,
                                           .tp = 1,
                                           .pp = 1,
                                           .vp = 1,
                                           .cp = 1,
                                           .ep = 1,
                                           .micro_batch = 2,
                                           .grad_accum = 4,
                                           .global_batch = 64,
                                           .sequence = 4096,
                                           .precision = MSIM_PRECISION_BF16};

static struct msim_memory_ways ways_of(const struct msim_described *m,
                                       const struct msim_strategy *s,
                                       double gib)
{
    struct msim_memory_fit fit = {.constants = msim_memory_constants_start()};
    const struct msim_memory_asked asked = {
        m, s, &fit, {.usable = gib * MSIM_GIB, .link = 3e11}};
    struct msim_memory_ways out;

    for (int c = 0; c < MSIM_MEMORY_CLASSES; c++)
        fit.interval[c] = (struct msim_memory_interval){1, 1};
    msim_memory_ways_find(&out, &asked);
    return out;
}

static struct msim_memory_ways ways_for(const struct msim_strategy *s,
                                        double gib)
{
    return ways_of(&LLAMA, s, gib);
}

/* Every way is of a strategy that completes, and its peak is that strategy's
 * own; so is the capacity kept. */
static void check_ways(const struct msim_memory_ways *w, double gib)
{
    const struct msim_memory_constants c = msim_memory_constants_start();

    for (uint32_t i = 0; i < w->n; i++) {
        const struct msim_strategy *s = &w->ways[i].strategy;

        CHECK_REL(w->ways[i].peak, msim_memory_of(&LLAMA, s, &c).most, 1e-12);
        CHECK(w->ways[i].peak <= gib * MSIM_GIB);
        CHECK_INT(s->gpus, s->dp * s->tp * s->pp * s->cp);
        CHECK_INT(s->global_batch, s->dp * s->grad_accum * s->micro_batch);
        CHECK(!i || w->ways[i].peak >= w->ways[i - 1].peak);
    }
}

/* 8 billion parameters of 20 bytes are 150 GiB: 80 are enough once they are
 * shared, and one change does that. 40 need two: activations are more. */
static void test_memory_ways__smallest_first(void)
{
    struct msim_memory_ways w = ways_for(&PLAIN, 80);
    bool sharded = false;

    CHECK(w.n > 0);
    CHECK_INT(w.changes, 1);
    for (uint32_t i = 0; i < w.n; i++)
        sharded |= !strcmp(w.ways[i].change, "zero 3");
    CHECK(sharded);
    check_ways(&w, 80);
    w = ways_for(&PLAIN, 40);
    CHECK(w.n > 0);
    CHECK(w.changes >= 2);
    check_ways(&w, 40);
}

/* Less memory never finds fewer changes; nothing is offered that is not
 * enough. */
static void test_memory_ways__tighter(void)
{
    uint32_t last = 0;

    for (double gib = 160; gib > 1; gib /= 2) {
        struct msim_memory_ways w = ways_for(&PLAIN, gib);

        check_ways(&w, gib);
        if (!w.n)
            break;
        CHECK(w.changes >= last);
        last = w.changes;
    }
    CHECK(last > 1);
}

/* Layers are split among the GPUs of a node: 8 at most. */
static void test_memory_ways__splits_layers_in_a_node(void)
{
    static const struct {
        int64_t tp;
        bool offered;
    } CASES[] = {{1, true}, {4, true}, {6, false}, {8, false}};
    struct msim_described m = LLAMA;

    m.heads = 48; /* that any of these split, and twice as many */
    m.kv_heads = 48;
    m.hidden = 48 * m.head_dim;
    m.ffn = 48 * 256;
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        struct msim_strategy s = PLAIN;
        bool offered = false;

        s.tp = CASES[i].tp;
        s.dp = 4;
        s.gpus = 4 * s.tp;
        s.global_batch = s.dp * s.grad_accum * s.micro_batch;
        for (double gib = 640; gib > 1; gib *= 0.9) {
            struct msim_memory_ways w = ways_of(&m, &s, gib);

            for (uint32_t k = 0; k < w.n; k++)
                offered |= strstr(w.ways[k].change, "tp ") != NULL;
        }
        CHECK(offered == CASES[i].offered);
    }
}

/* Where nothing is enough the text says how near it comes. */
static void test_memory_ways__nothing(void)
{
    struct msim_memory_ways w = ways_for(&PLAIN, 0.01);
    char text[MSIM_MEMORY_WAYS_TEXT];

    CHECK_INT(w.n, 0);
    CHECK(w.least.peak > 0.01 * MSIM_GIB);
    msim_memory_ways_text(&w, text);
    CHECK(!strncmp(text, "nothing that was tried; least with ", 35));
}

int main(void)
{
    RUN(test_memory_ways__smallest_first);
    RUN(test_memory_ways__tighter);
    RUN(test_memory_ways__splits_layers_in_a_node);
    RUN(test_memory_ways__nothing);
    return check_summary();
}
