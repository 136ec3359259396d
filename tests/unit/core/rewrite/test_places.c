/*
 * tests/unit/core/rewrite/test_places.c - layers on stages and chunks of a
 * pipeline, and what goes from one place to the next.
 */
#include "core/rewrite/split/split.h"

#include "tests/unit/core/rewrite/made_layers.h"

static struct layered l;
static struct msim_job *job;
static struct msim_weave w;
static struct msim_places p;
static struct msim_error err;

static enum msim_status find(uint32_t stages, uint32_t chunks,
                             const uint32_t *blocks)
{
    made_layers(&l, 4, false);
    err = (struct msim_error){0};
    p = (struct msim_places){0};
    job = made_nodes(l.nodes, l.n);
    if (!CHECK(job != NULL) ||
        !CHECK(msim_weave_open(&w, job->ranks[0], job->strings, &err) ==
               MSIM_OK))
        return MSIM_ENOMEM;
    return msim_places_find(&p, &w, stages, chunks, blocks);
}

static void done(void)
{
    msim_places_release(&p);
    msim_weave_close(&w);
    msim_job_free(job);
}

/* Two statements of each layer in forward and the loss; the loss and three of
 * each layer in backward; a step of four. */
static void test_places__statements(void)
{
    static const uint32_t uneven[] = {3, 1};
    static const struct {
        uint32_t stages, chunks;
        const uint32_t *blocks;
        const char *want;
        uint32_t crossings;
    } cases[] = {
        {1, 1, NULL, "000000000 0000000000000 ----", 0},
        {2, 1, NULL, "000011111 1111111000000 ----", 2},
        {2, 1, uneven, "000000111 1111000000000 ----", 2},
        /* two, two, and room for the loss (core/pipeline/pipeline_split.c) */
        {3, 1, NULL, "000011112 2111111000000 ----", 4},
        {2, 2, NULL, "001122333 3333222111000 ----", 6},
        {4, 1, NULL, "001122333 3333222111000 ----", 6},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct spelled got = {"", 0};

        REQUIRE(find(cases[i].stages, cases[i].chunks, cases[i].blocks) ==
                MSIM_OK);
        CHECK_UINT(p.n, cases[i].stages * cases[i].chunks);
        for (uint32_t s = 0; s < w.a.n; s++) {
            spell(&got, s == 9 || s == 22 ? " " : "");
            spell(&got, p.of[s] == MSIM_NONE ? "-" : "%u", p.of[s]);
        }
        CHECK_STR(got.text, cases[i].want);
        CHECK_UINT(p.n_crossings, cases[i].crossings);
        done();
    }
}

/* The result of the second layer goes up, the gradient for it comes down, as
 * large as what reads it. */
static void test_places__crossings(void)
{
    REQUIRE(find(2, 1, NULL) == MSIM_OK);
    REQUIRE(p.n_crossings == 2);
    for (uint32_t i = 0; i < 2; i++) {
        const struct msim_crossing *x = &p.crossings[i];

        CHECK_INT(x->back, i);
        CHECK_UINT(x->pass, 0);
        CHECK_UINT(x->from, i);
        CHECK_UINT(x->to, !i);
        CHECK_UINT(x->n_dims, 1);
        CHECK_INT(w.t->dims[x->dims], 4000);
        CHECK_INT(x->dtype, MSIM_DT_F32);
        CHECK_INT(x->device, MSIM_DEV_GPU);
        CHECK_INT(msim_crossing_leaves(x, 0), !i);
        CHECK_INT(msim_crossing_leaves(x, 1), i);
    }
    done();
}

/* A place runs its own statements of a pass. */
static void test_places__mark(void)
{
    uint8_t in[64];

    REQUIRE(find(2, 1, NULL) == MSIM_OK);
    REQUIRE(w.a.n <= sizeof(in));
    for (uint32_t place = 0; place < 2; place++) {
        memset(in, 7, sizeof(in));
        msim_places_mark(&p, place, 0, in);
        for (uint32_t s = 0; s < 22; s++)
            CHECK_INT(in[s], p.of[s] == place);
        CHECK_INT(in[22], 7); /* the step is of no pass */
    }
    done();
}

static void test_places__reasons(void)
{
    static const uint32_t few[] = {2, 1}, many[] = {3, 2};
    static const struct {
        uint32_t stages, chunks;
        const uint32_t *blocks;
        const char *why;
    } cases[] = {
        {5, 1, NULL,
         "parallel: pp 5 with vp 1 are 5 places of layers, but 4 blocks of "
         "layers repeat in the forward pass of the trace; want at most so many "
         "places"},
        {2, 3, NULL,
         "parallel: pp 2 with vp 3 are 6 places of layers, but 4 blocks of "
         "layers repeat in the forward pass of the trace; want at most so many "
         "places"},
        {2, 1, few,
         "parallel.stages are 3 blocks of layers in all, but 4 repeat in the "
         "forward pass of the trace; want each of these on one stage"},
        {2, 1, many,
         "parallel.stages are 5 blocks of layers in all, but 4 repeat in the "
         "forward pass of the trace; want each of these on one stage"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        CHECK_INT(find(cases[i].stages, cases[i].chunks, cases[i].blocks),
                  MSIM_EUSAGE);
        CHECK_STR(err.text, cases[i].why);
        done();
    }
}

int main(void)
{
    RUN(test_places__statements);
    RUN(test_places__crossings);
    RUN(test_places__mark);
    RUN(test_places__reasons);
    return check_summary();
}
