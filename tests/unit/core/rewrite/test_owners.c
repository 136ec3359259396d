/*
 * tests/unit/core/rewrite/test_owners.c - of which place the tensors of an
 * optimizer's step are, and what of its lists a stage runs.
 */
#include "core/rewrite/split/split.h"

#include "tests/unit/core/rewrite/trained_step.h"

/* Three places with a layer each. Parameters 1, 2 and 6 are of one place, 4 of
 * the first and the last, 5 of all; sizes tell them apart. */
static const struct made_node NODES[] = {
    {10, 0, "aten::linear", 0, 1, "3:7 1:10 4:40 5:50", "20:7"},
    {11, 0, "aten::linear", 0, 2, "20:7 2:20 5:50", "21:7"},
    {12, 0, "aten::linear", 0, 3, "21:7 6:60 4:40 5:50", "22:7"},
    {20, 0, "autograd::engine::evaluate_function: L", 0, -1, "", ""},
    {21, 20, "LinearBackward", 1, 3, "", ""},
    {22, 21, "aten::mm", 0, -1, "22:7", "36:60 34:40 35:50"},
    {23, 0, "autograd::engine::evaluate_function: A", 0, -1, "", ""},
    {24, 23, "torch::autograd::AccumulateGrad", 1, -1, "36:60", ""},
    {30, 0, "autograd::engine::evaluate_function: L", 0, -1, "", ""},
    {31, 30, "LinearBackward", 1, 2, "", ""},
    {32, 31, "aten::mm", 0, -1, "22:7", "32:20"},
    {33, 0, "autograd::engine::evaluate_function: A", 0, -1, "", ""},
    {34, 33, "torch::autograd::AccumulateGrad", 1, -1, "32:20", ""},
    {40, 0, "autograd::engine::evaluate_function: L", 0, -1, "", ""},
    {41, 40, "LinearBackward", 1, 1, "", ""},
    {42, 41, "aten::mm", 0, -1, "22:7", "31:10"},
    {43, 0, "autograd::engine::evaluate_function: A", 0, -1, "", ""},
    {44, 43, "torch::autograd::AccumulateGrad", 1, -1, "31:10", ""},
    {45, 0, "autograd::engine::evaluate_function: A", 0, -1, "", ""},
    {46, 45, "torch::autograd::AccumulateGrad", 1, -1, "34:40", ""},
    {90, 0, "Optimizer.step#Adam.step", 7, -1, "", ""},
    {91, 90, "aten::_foreach_neg", 0, -1, "[51:10 52:20 54:40 55:50 56:60]",
     "[61:10 62:20 64:40 65:50 66:60]"},
    {92, 90, "aten::_foreach_add_", 0, -1,
     "[1:10 2:20 4:40 5:50 6:60] [51:10 52:20 54:40 55:50 56:60] 70:1", ""},
    {93, 90, "aten::mul_", 0, -1, "1:10 71:10", ""},
    {94, 90, "aten::add_", 0, -1, "72:1", ""},
    {95, 90, "aten::addcdiv_", 0, -1, "2:20 73:20 72:1", ""},
    {96, 90, "aten::_foreach_div_", 0, -1, "[81:10 82:20] [36:60 32:20]", ""},
    {97, 90, "aten::add_", 0, -1, "74:1", ""},
    {98, 90, "aten::_foreach_lerp_", 0, -1, "", ""},
    {99, 98, "aten::_foreach_mul_", 0, -1, "[1:10]", ""},
    {100, 98, "aten::_foreach_sub_", 0, -1, "[2:20]", ""},
    {101, 98, "aten::_foreach_add_", 0, -1, "[2:20]", ""},
};
#define N_NODES (sizeof(NODES) / sizeof(*NODES))

static struct msim_job *job;
static struct msim_weave w;
static struct msim_places p;
static struct msim_owners o;
static uint32_t place[N_NODES];
static struct msim_tied tied;

static uint32_t life_of(uint32_t storage)
{
    const struct msim_trace *t = job->ranks[0];

    for (uint32_t i = 0; i < t->n_tensor_ids; i++)
        if (t->tensor_ids[i].storage == storage)
            return w.d.lives.of[i];
    CHECK_UINT(storage, 0);
    return 0;
}

/* The statement of the node that is numbered so. */
static uint32_t statement_of(uint32_t node)
{
    for (uint32_t s = 0; s < w.a.n; s++)
        if (w.t->ops[w.a.rows[s].op].et_id == node)
            return s;
    CHECK_UINT(node, 0);
    return 0;
}

static bool open(void)
{
    struct msim_error err = {0};

    job = made_nodes(NODES, N_NODES);
    if (!CHECK(job != NULL) ||
        !CHECK(msim_weave_open(&w, job->ranks[0], job->strings, &err) ==
               MSIM_OK))
        return false;
    memset(place, 0xff, sizeof(place));
    for (uint32_t s = 0; s < w.a.n; s++) {
        uint32_t node = w.t->ops[w.a.rows[s].op].et_id;

        if (node < 90) /* backward comes from behind */
            place[s] = node < 20 ? node - 10 : node < 30 ? 2 : node < 40;
    }
    tied = (struct msim_tied){.gradient = life_of(34), .from = 2};
    p = (struct msim_places){
        .w = &w, .n = 3, .of = place, .tied = &tied, .n_tied = 1};
    return CHECK(msim_owners_find(&o, &p) == MSIM_OK);
}

static void done(void)
{
    msim_owners_release(&o);
    msim_weave_close(&w);
    msim_job_free(job);
}

/* "0", "0+2" for a pair, "all", or "-" */
static void spell_owner(struct spelled *to, uint32_t owner)
{
    if (owner == MSIM_NONE)
        spell(to, " -");
    else if (owner == MSIM_OWNED_BY_ALL)
        spell(to, " all");
    else if (owner >= MSIM_OWNED_BY_PAIRS)
        spell(to, " %u+%u", o.pairs[owner - MSIM_OWNED_BY_PAIRS][0],
              o.pairs[owner - MSIM_OWNED_BY_PAIRS][1]);
    else
        spell(to, " %u", owner);
}

/* Parameters and gradients, then states beside them, and what the step makes of
 * those, though it does so before; numbers are everybody's. */
static void test_owners__lives(void)
{
    static const struct {
        uint32_t storages[5];
        const char *want;
    } cases[] = {
        {{1, 2, 4, 5, 6}, " 0 1 0+2 all 2"},
        {{31, 32, 34, 36, 36}, " 0 1 0+2 2 2"},
        {{51, 52, 54, 55, 56}, " 0 1 0+2 all 2"},
        {{61, 62, 64, 65, 66}, " 0 1 0+2 all 2"},
        {{71, 73, 70, 72, 74}, " 0 1 - - -"},
        {{81, 82, 81, 82, 81}, " 2 1 2 1 2"},
    };

    REQUIRE(open());
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct spelled got = {"", 0};

        for (int k = 0; k < 5; k++)
            spell_owner(&got, o.of[life_of(cases[i].storages[k])]);
        CHECK_STR(got.text, cases[i].want);
    }
    CHECK_UINT(o.n_pairs, 2); /* 5 was of the first two, before the third */
    done();
}

/* A number is of the statement behind it; with lists it is of all. */
static void test_owners__statements(void)
{
    static const uint32_t nodes[] = {91, 92, 93, 94, 95, 96, 97, 10, 22},
                          want[] = {MSIM_NONE, MSIM_NONE, 0,
                                    1,         1,         MSIM_NONE,
                                    MSIM_NONE, MSIM_NONE, MSIM_NONE};

    REQUIRE(open());
    for (size_t i = 0; i < 8; i++)
        CHECK_UINT(o.statement[statement_of(nodes[i])], want[i]);
    done();
}

/* Lists of what is the stage's own; place 2 of two stages is of the first. */
static void test_owners__copies(void)
{
#define G(n) "fp32[" #n "]@gpu"
    static const struct {
        uint32_t node, stages, stage;
        const char *want; /* arguments; NULL: no copy */
    } cases[] = {
        {91, 3, 0, "L3:3 " G(10) " " G(40) " " G(50)},
        {91, 3, 1, "L2:2 " G(20) " " G(50)},
        {91, 3, 2, "L3:3 " G(40) " " G(50) " " G(60)},
        {91, 2, 0, "L4:4 " G(10) " " G(40) " " G(50) " " G(60)},
        {91, 2, 1, "L2:2 " G(20) " " G(50)},
        {92, 3, 1, "L2:2 " G(20) " " G(50) " L2:2 " G(20) " " G(50) " " G(1)},
        {93, 3, 0, G(10) " " G(10)},
        {93, 3, 1, NULL},
        {94, 3, 1, G(1)},
        {94, 3, 2, NULL},
        {95, 3, 1, G(20) " " G(20) " " G(1)},
        {95, 3, 0, NULL},
        {96, 3, 0, NULL},
        {96, 3, 1, "L1:1 " G(20) " L1:1 " G(20)},
        {96, 3, 2, "L1:1 " G(10) " L1:1 " G(60)},
        {97, 3, 2, G(1)},
    };

    REQUIRE(open());
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        uint32_t n = w.d.out->n_ops;

        CHECK_INT(msim_owners_copy(&o, statement_of(cases[i].node),
                                   cases[i].stages, cases[i].stage),
                  MSIM_OK);
        if (!CHECK_UINT(w.d.out->n_ops, n + (cases[i].want != NULL)))
            fprintf(stderr, "case %zu\n", i);
        else if (cases[i].want)
            CHECK_ARGS(w.d.out, w.d.out->ops[n].args, cases[i].want);
    }
    done();
}

/* What is below is copied, each where it is its own. */
static void test_owners__copies_below(void)
{
    static const uint32_t copies[] = {2, 3, 1};

    REQUIRE(open());
    for (uint32_t stage = 0; stage < 3; stage++) {
        uint32_t n = w.d.out->n_ops;

        CHECK_INT(msim_owners_copy(&o, statement_of(98), 3, stage), MSIM_OK);
        CHECK_UINT(w.d.out->n_ops, n + copies[stage]);
    }
    done();
}

int main(void)
{
    RUN(test_owners__lives);
    RUN(test_owners__statements);
    RUN(test_owners__copies);
    RUN(test_owners__copies_below);
    return check_summary();
}
