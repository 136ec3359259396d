/*
 * predict/edit/edit_fuse.c: which kernels become one, and what it takes.
 */
#include "predict/edit/edit_internal.h"

#include "tests/check.h"
#include "tests/unit/made_remake.h"

static struct made_remake m;
static char text[64];

enum { RELU, ADD, DRAW, SMALL, MM, COPY, OPS };

/* A kernel of one of these operators in a chain. */
struct step {
    int op;
    msim_ps mid;
    uint32_t lane, window;
};

static void ops(void)
{
    (void)build_op(&m.b, 0, "aten::relu", "f32[1024]", "f32[1024]");
    (void)build_op(&m.b, 0, "aten::add", "f32[1024] f32[1024]", "f32[1024]");
    (void)build_op(&m.b, 0, "aten::normal_", "f32[1024] 0. 1.", "f32[1024]");
    (void)build_op(&m.b, 0, "aten::relu", "f32[512]", "f32[512]");
    (void)build_op(&m.b, 0, "aten::mm", "f32[32,32] f32[32,32]", "f32[32,32]");
    (void)build_op(&m.b, 0, "aten::copy_", "f32[1024] f32[1024]", "f32[1024]");
}

/* A rank without GPU events: kernels by their operators. */
static void steps(const struct step *s, uint32_t n)
{
    remake_new(&m, 1);
    ops();
    for (uint32_t i = 0; i < n; i++) {
        uint32_t t = remake_task(&m, MSIM_TASK_KERNEL, s[i].lane, s[i].mid);

        m.refs[t].op = (uint32_t)s[i].op;
        m.window[t] = s[i].window;
        m.source[t] = (uint8_t)(1 + i);
        m.made_by[t] = (uint8_t)(5 + i);
        m.flops[t] = (float)(1 << i);
        m.limits[t] = (struct msim_limits){1, 2, 30, (float)(i + 1)};
    }
    m.edit.fuse = MSIM_FUSE_POINTWISE;
}

/* How many are gone of those that `steps` made, or -1: nothing fits. */
static int gone(void)
{
    enum msim_status status = remake_begin(&m);
    int n = 0;

    CHECK_INT(status, MSIM_OK);
    status = status == MSIM_OK ? msim_edit_fuse(&m.d) : status;
    if (status != MSIM_OK) {
        CHECK_STR(m.err.text,
                  "no two kernels that could be fused follow each other");
        return -1;
    }
    for (uint32_t t = 0; t < m.g.n_tasks; t++)
        n += m.d.costs->removed[t];
    return n;
}

/* relu reads one and writes one, add reads two. The ends lose a tensor each and
 * add two of its three: 100 / 2 + 300 / 3 + 100 / 2. */
static void test_edit_fuse__takes_what_is_left(void)
{
    static const struct step CHAIN[] = {
        {RELU, 100, 1, 0}, {ADD, 300, 1, 0}, {RELU, 100, 1, 0}};

    steps(CHAIN, 3);
    if (CHECK_INT(gone(), 2)) {
        const struct msim_costs *c = m.d.costs;

        CHECK_INT(c->mid[0], 200);
        CHECK_INT(c->low[0], 100);
        CHECK_INT(c->high[0], 300);
        CHECK_INT(c->mid[1] + c->mid[2], 0);
        CHECK_INT(c->source[0], 1);
        CHECK_INT(c->made_by[0], 5);
        CHECK_REL(c->flops[0], 7, 0);
        CHECK_REL(c->limits[0].tensor, 3, 0);
        CHECK_REL(c->limits[0].vector, 6, 0);
        CHECK_REL(c->limits[0].memory, 15 + 10 + 15, 1e-6);
        CHECK_REL(c->limits[0].latency, 3, 0); /* of one kernel */
        CHECK_STR(msim_strtab_text(m.b.strings, m.d.overlay.name[0]),
                  "fused(relu, add)");
    }
    remake_done(&m);
}

/* A draw reads nothing, so that nothing is left of it; but what is fused takes
 * no less than its shortest part, and the interval has it inside. */
static void test_edit_fuse__takes_no_less_than_one(void)
{
    static const struct step CHAIN[] = {{DRAW, 100, 1, 0}, {RELU, 100, 1, 0}};

    steps(CHAIN, 2);
    m.low[1] = 400; /* half of it is more than the whole takes */
    m.high[1] = 10;
    if (CHECK_INT(gone(), 1)) {
        CHECK_INT(m.d.costs->mid[0], 100);
        CHECK_INT(m.d.costs->low[0], 100);
        CHECK_INT(m.d.costs->high[0], 100);
    }
    remake_done(&m);
}

/* Chains end where the stream, the iteration or the size is another, or where
 * something else is between; what follows may be one by itself. */
static void test_edit_fuse__ends_chains(void)
{
    static const struct {
        struct step step[4];
        int gone;
    } CASE[] = {
        {{{RELU, 9, 1, 0}, {RELU, 9, 1, 0}, {ADD, 9, 1, 0}, {DRAW, 9, 1, 0}},
         3},
        {{{RELU, 9, 1, 0}, {RELU, 9, 1, 0}, {ADD, 9, 2, 0}, {DRAW, 9, 2, 0}},
         2},
        {{{RELU, 9, 1, 0}, {RELU, 9, 1, 0}, {ADD, 9, 1, 1}, {DRAW, 9, 1, 1}},
         2},
        {{{RELU, 9, 1, 0}, {RELU, 9, 1, 0}, {MM, 9, 1, 0}, {RELU, 9, 1, 0}}, 1},
        {{{SMALL, 9, 1, 0}, {RELU, 9, 1, 0}, {RELU, 9, 1, 0}, {SMALL, 9, 1, 0}},
         1},
        {{{RELU, 9, 1, 0}, {RELU, 9, 2, 0}, {RELU, 9, 1, 0}, {RELU, 9, 2, 0}},
         -1},
        {{{RELU, 9, 1, 0}, {SMALL, 9, 1, 0}, {RELU, 9, 1, 0}, {MM, 9, 1, 0}},
         -1},
    };

    for (size_t i = 0; i < sizeof(CASE) / sizeof(*CASE); i++) {
        steps(CASE[i].step, 4);
        CHECK_INT(gone(), CASE[i].gone);
        remake_done(&m);
    }
}

/* What waits for more than its stream and its launch begins a chain. */
static void test_edit_fuse__holds_what_waits(void)
{
    static const struct step CHAIN[] = {
        {RELU, 9, 1, 0}, {RELU, 9, 1, 0}, {RELU, 9, 1, 0}};

    for (int kind = 0; kind < MSIM_EDGE_KINDS; kind++) {
        bool free = kind == MSIM_EDGE_STREAM || kind == MSIM_EDGE_LAUNCH ||
                    kind == MSIM_EDGE_PROGRAM;

        steps(CHAIN, 3);
        (void)remake_task(&m, MSIM_TASK_HOST, 0, 5);
        remake_edge(&m, 0, 1, MSIM_EDGE_STREAM, 0);
        remake_edge(&m, 3, 2, (enum msim_edge_kind)kind, 0);
        CHECK_INT(gone(), free ? 2 : 1);
        remake_done(&m);
    }
}

/* Copies, kernels that are gone, and works of that number that an operator has
 * not: none fits, and all of them end a chain. */
static void test_edit_fuse__passes_over_others(void)
{
    static const struct step CHAIN[] = {
        {RELU, 9, 1, 0}, {RELU, 9, 1, 0}, {RELU, 9, 1, 0}, {RELU, 9, 1, 0}};

    for (int what = 0; what < 4; what++) {
        steps(CHAIN, 4);
        if (what == 0)
            m.kind[1] = MSIM_TASK_COPY;
        else if (what == 1)
            m.removed[1] = 1;
        else if (what == 2)
            m.refs[1].work = 1;
        else
            m.refs[1].op = MSIM_NONE;
        CHECK_INT(gone(), what == 1 ? 2 : 1); /* the one that was gone */
        CHECK_INT(m.d.costs->mid[2], 9);
        CHECK_INT(m.d.costs->removed[3], 1);
        remake_done(&m);
    }
    /* work of the host is not looked at, wherever it stands */
    steps(CHAIN, 4);
    m.kind[1] = MSIM_TASK_HOST;
    CHECK_INT(gone(), 2);
    remake_done(&m);
}

/* Of what is selected all neighbours, of any size; a product's time is not its
 * traffic, and it keeps it. */
static void test_edit_fuse__takes_a_selection(void)
{
    static const struct step CHAIN[] = {{MM, 100, 1, 0},
                                        {SMALL, 100, 1, 0},
                                        {RELU, 100, 2, 0},
                                        {COPY, 100, 2, 0}};

    steps(CHAIN, 4);
    m.edit.fuse = MSIM_FUSE_SELECT;
    remake_select(&m, "stream:7", text);
    if (CHECK_INT(gone(), 1)) {
        CHECK_INT(m.d.costs->mid[0], 150);
        CHECK_INT(m.d.costs->mid[2], 100);
    }
    remake_done(&m);
    steps(CHAIN, 3);
    remake_select(&m, "stream:8", text);
    CHECK_INT(gone(), -1);
    remake_done(&m);
}

/* ---- with GPU events ----------------------------------------------------- */

#define POINTWISE                                                              \
    "void at::native::vectorized_elementwise_kernel<4, "                       \
    "at::native::CUDAFunctor_add<float>, at::detail::Array<char*, 3> >"

/* By the kernels' names and launches: an add reads two and writes one. Ranks
 * are told apart, and elements are those of the launch. */
static void test_edit_fuse__reads_launches(void)
{
    remake_new(&m, 2);
    ops();
    m.b.t.has_gpu_events = true;
    for (uint32_t i = 0; i < 5; i++) {
        (void)build_kernel(&m.b, ADD,
                           i == 3 ? "ampere_sgemm_128x64_nn" : POINTWISE,
                           i == 2 ? 32 : 64, 128);
        m.refs[remake_task(&m, MSIM_TASK_KERNEL, 1, 300)].index = i;
    }
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t t = remake_task(&m, MSIM_TASK_KERNEL, 2, 600);

        m.refs[t].index = i;
        m.refs[t].rank = 1;
    }
    m.edit.fuse = MSIM_FUSE_POINTWISE;
    CHECK_INT(gone(), 2);
    CHECK_INT(m.d.costs->mid[0], 300 * 2 / 3 + 300 * 2 / 3);
    CHECK_INT(m.d.costs->removed[1], 1);
    CHECK_INT(m.d.costs->mid[5], 800);
    CHECK_INT(m.d.costs->removed[6], 1);
    remake_done(&m);
}

int main(void)
{
    RUN(test_edit_fuse__takes_what_is_left);
    RUN(test_edit_fuse__takes_no_less_than_one);
    RUN(test_edit_fuse__ends_chains);
    RUN(test_edit_fuse__holds_what_waits);
    RUN(test_edit_fuse__passes_over_others);
    RUN(test_edit_fuse__takes_a_selection);
    RUN(test_edit_fuse__reads_launches);
    return check_summary();
}
