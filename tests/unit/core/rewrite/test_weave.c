/*
 * tests/unit/core/rewrite/test_weave.c - what the lives of a recorded step are
 * for, and whether it can be spread over ranks.
 */
#include "core/rewrite/weave/weave.h"

#include "tests/unit/core/rewrite/made_passes.h"

static struct msim_job *job;
static struct msim_weave w;
static struct msim_error err;

static bool open(size_t nodes)
{
    err = (struct msim_error){0};
    job = made_step(nodes);
    return CHECK(job != NULL) &&
           CHECK(msim_weave_open(&w, job->ranks[0], job->strings, &err) ==
                 MSIM_OK);
}

static void done(void)
{
    msim_weave_close(&w);
    msim_job_free(job);
}

/* By their first names: parameters 1 and 2, gradients 33 and 35, states 4 to 7;
 * the input and results are neither. */
static void test_weave__kinds(void)
{
    static const struct {
        uint32_t storage;
        uint8_t kind;
    } cases[] = {{1, MSIM_LIFE_PARAMETER}, {2, MSIM_LIFE_PARAMETER},
                 {33, MSIM_LIFE_GRADIENT}, {35, MSIM_LIFE_GRADIENT},
                 {4, MSIM_LIFE_STATE},     {7, MSIM_LIFE_STATE},
                 {3, MSIM_LIFE_OTHER},     {20, MSIM_LIFE_OTHER},
                 {32, MSIM_LIFE_OTHER}};
    const struct msim_trace *t;
    uint32_t kept = 0;

    REQUIRE(open(N_MADE));
    t = job->ranks[0];
    for (size_t c = 0; c < sizeof(cases) / sizeof(*cases); c++)
        for (uint32_t i = 0; i < t->n_tensor_ids; i++)
            if (t->tensor_ids[i].storage == cases[c].storage)
                CHECK_INT(w.kind[w.d.lives.of[i]], cases[c].kind);
    for (uint32_t s = 0; s < w.a.n; s++) {
        struct msim_weave_given g;
        bool keeps = w.gradient[s] != MSIM_NONE;

        CHECK_INT(msim_weave_find_given(&w, s, &g), keeps);
        if (!keeps)
            continue;
        kept++;
        CHECK_UINT(g.life, w.gradient[s]);
        CHECK_UINT(g.op, g.accumulate);
        CHECK_UINT(g.arg->n, 1);
        CHECK(msim_weave_makes_gradient(&w, s));
        CHECK_INT(w.a.rows[s].role, MSIM_ANATOMY_BACKWARD);
    }
    CHECK_UINT(kept, 2);
    done();
}

static void test_weave__names(void)
{
    uint32_t linear, step;

    REQUIRE(open(N_MADE));
    linear = find_op(w.t, "aten::linear", 0);
    step = find_op(w.t, "aten::addcdiv_", 1);
    CHECK(msim_weave_begins(&w, linear, "aten::l"));
    CHECK(!msim_weave_begins(&w, linear, "linear"));
    CHECK(msim_weave_contains(&w, linear, "linear"));
    CHECK(!msim_weave_contains(&w, linear, "relu"));
    CHECK(!msim_weave_is_in_place(&w, linear));
    CHECK(msim_weave_is_in_place(&w, step));
    CHECK(msim_weave_is_step(&w, w.a.statement[step]));
    CHECK(!msim_weave_is_step(&w, w.a.statement[linear]));
    done();
}

/* The second micro batch's AccumulateGrad keeps what that pass made. */
static void test_weave__passes(void)
{
    uint32_t n = 0;

    err = (struct msim_error){0};
    job = made_passes("pps");
    REQUIRE(job != NULL);
    REQUIRE(msim_weave_open(&w, job->ranks[0], job->strings, &err) == MSIM_OK);
    CHECK_UINT(w.a.n_passes, 2);
    for (uint32_t s = 0; s < w.a.n; s++)
        if (w.gradient[s] != MSIM_NONE)
            CHECK_UINT(w.a.rows[s].pass, n++);
    CHECK_UINT(n, 2);
    done();
}

static void test_weave__spread(void)
{
    static const char several[] =
        "the trace is of a job of several ranks already; want the trace of one "
        "that is trained alone";
    static const struct {
        uint32_t world, ranks, comms;
        const char *why;
    } cases[] = {
        {4, 1, 0, ""},
        {4, 0, 0, ""},
        {4, 2, 0, several},
        {4, 1, 1, several},
        {0, 1, 0,
         "how many ranks share is not said; want {\"world\": 8} beside "
         "\"shard\""},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        REQUIRE(open(N_MADE));
        job->ranks[0]->world_size = cases[i].ranks;
        job->ranks[0]->n_comms = cases[i].comms;
        CHECK_INT(msim_weave_spread(&w, cases[i].world),
                  *cases[i].why ? MSIM_EUSAGE : MSIM_OK);
        CHECK_STR(err.text, cases[i].why);
        if (!*cases[i].why)
            CHECK_UINT(w.d.out->world_size, 4);
        CHECK_UINT(w.d.group, MSIM_NONE);
        job->ranks[0]->n_comms = 0;
        done();
    }
}

/* Data parallel ranks that a change has made before: the last group of them. */
static void test_weave__spread_again(void)
{
    static const char *const names[] = {MSIM_WEAVE_DATA_GROUP " 0",
                                        MSIM_WEAVE_DATA_GROUP " 4", "other"};
    struct msim_group groups[3] = {{0}};

    REQUIRE(open(N_MADE));
    for (int i = 0; i < 3; i++)
        CHECK_INT(msim_strtab_add(job->strings, names[i], strlen(names[i]),
                                  &groups[i].name),
                  MSIM_OK);
    {
        struct msim_trace t = *job->ranks[0];

        t.groups = groups;
        t.n_groups = 3;
        t.world_size = 8;
        w.t = &t;
        CHECK_INT(msim_weave_spread(&w, 0), MSIM_OK);
        CHECK_UINT(w.d.group, 1);
        t.n_groups = 1;
        CHECK_INT(msim_weave_spread(&w, 0), MSIM_OK);
        CHECK_UINT(w.d.group, 0);
        w.t = job->ranks[0];
    }
    done();
}

int main(void)
{
    RUN(test_weave__kinds);
    RUN(test_weave__names);
    RUN(test_weave__passes);
    RUN(test_weave__spread);
    RUN(test_weave__spread_again);
    return check_summary();
}
