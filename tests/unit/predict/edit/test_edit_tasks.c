/*
 * predict/edit/edit_tasks.c: work that is replaced or inserted, and ranks of
 * differing speed.
 */
#include "predict/edit/edit_internal.h"

#include "tests/check.h"
#include "tests/unit/made_remake.h"

#include <math.h>

static struct made_remake m;
static char text[64];
static struct msim_platform *platform;

static const struct msim_edit_op RELU = {
    .name = "aten::relu",
    .tensors = {{.n = 1, .sizes = {4096}, .dtype = MSIM_DT_F32}},
    .n = 1};

static uint32_t of_op(uint32_t op, enum msim_task_kind kind, uint32_t lane)
{
    uint32_t t = remake_task(&m, kind, lane, 100);

    m.refs[t].op = op;
    return t;
}

/* Two calls of aten::a, of two kernels and one, on stream 7 and another
 * operator's kernel between them; one of aten::a on stream 8. The host's tasks,
 * 0 to 4, launch one each. */
static void two_calls(const char *select)
{
    static const struct {
        uint32_t op, lane;
    } KERNEL[] = {{0, 1}, {0, 1}, {1, 1}, {2, 1}, {2, 2}};

    remake_new(&m, 1);
    build_op(&m.b, 0, "aten::a", "", NULL);
    build_op(&m.b, 0, "aten::b", "", NULL);
    build_op(&m.b, 0, "aten::a", "", NULL);
    for (uint32_t i = 0; i < 5; i++)
        (void)of_op(KERNEL[i].op, MSIM_TASK_HOST, 0);
    for (uint32_t i = 0; i < 5; i++)
        remake_edge(&m, i,
                    of_op(KERNEL[i].op, MSIM_TASK_KERNEL, KERNEL[i].lane),
                    MSIM_EDGE_LAUNCH, 1000 + i);
    remake_select(&m, select, text);
}

/* The first of a call takes all of the time, the others and their launches
 * none; of a class each takes it. */
static void test_edit_tasks__replaces(void)
{
    static const msim_ps WANT[2][10] = {
        {100, 0, 100, 100, 100, 7000000, 0, 100, 7000000, 7000000},
        {100, 100, 100, 100, 100, 7000000, 7000000, 7000000, 7000000, 7000000}};

    for (int i = 0; i < 2; i++) {
        two_calls(i ? "kernels" : "op:aten::a");
        m.edit.us = 7;
        if (CHECK_INT(remake_begin(&m), MSIM_OK)) {
            CHECK_INT(msim_edit_replace(&m.d), MSIM_OK);
            for (uint32_t t = 0; t < 10; t++)
                CHECK_INT(m.d.costs->mid[t], WANT[i][t]);
            CHECK_INT(m.d.costs->removed[6], i == 0);
            CHECK_INT(m.d.costs->removed[5], 0);
        }
        remake_done(&m);
    }
}

/* A given time may be the host's, an operator's not; nor is anything inserted
 * beside the host's work. */
static void test_edit_tasks__wants_the_gpu(void)
{
    for (int i = 0; i < 3; i++) {
        two_calls("host");
        m.edit.us = 7;
        if (i == 1)
            m.edit.op = RELU;
        m.to.platform = platform;
        if (CHECK_INT(remake_begin(&m), MSIM_OK)) {
            CHECK_INT(i == 2 ? msim_edit_insert(&m.d) : msim_edit_replace(&m.d),
                      i ? MSIM_EUSAGE : MSIM_OK);
            CHECK_INT(m.d.costs->mid[0], i ? 100 : 7000000);
            CHECK_STR(m.err.text,
                      i == 2   ? "'host' selects work of the host, want work "
                                 "of the GPU to insert beside"
                      : i == 1 ? "'host' selects work of the host, want work "
                                 "of the GPU to replace"
                               : "");
        }
        remake_done(&m);
    }
}

/* Beside each call: before its first or behind its last kernel, on its stream,
 * with a launch that takes the host what is said. */
static void test_edit_tasks__inserts(void)
{
    static const uint32_t AT[2][3] = {{6, 8, 9}, {5, 8, 9}};

    for (int before = 0; before < 2; before++) {
        two_calls("op:aten::a");
        m.edit.us = 7;
        m.edit.host_us = 2;
        m.edit.before = before;
        if (CHECK_INT(remake_begin(&m), MSIM_OK)) {
            CHECK_INT(msim_edit_insert(&m.d), MSIM_OK);
            REQUIRE(m.d.overlay.n_tasks == 6 && m.d.n_added == 6);
            for (uint32_t i = 0; i < 3; i++) {
                const struct msim_overlay_task *t = &m.d.overlay.tasks[2 * i];

                CHECK_INT(t->at, AT[before][i]);
                CHECK_INT(t->place,
                          before ? MSIM_OVERLAY_BEFORE : MSIM_OVERLAY_AFTER);
                CHECK_INT(t->lane, i == 2 ? 2 : 1);
                CHECK_UINT(t->op, MSIM_NONE);
                CHECK_STR(msim_strtab_text(m.b.strings, t->name), "inserted");
                CHECK_INT(m.d.added[2 * i].mid, 7000000);
                CHECK_INT(m.d.added[2 * i + 1].mid, 2000000);
                CHECK_INT(
                    remake_tied(&m, 11 + 2 * i, 10 + 2 * i, MSIM_EDGE_LAUNCH),
                    995 + AT[before][i]);
            }
        }
        remake_done(&m);
    }
}

/* An operator by its own name takes what the models say, and of the host what a
 * launch takes there: the median is of what comes before each, 100. */
static void test_edit_tasks__inserts_operators(void)
{
    two_calls("op:aten::b");
    m.to.platform = platform;
    m.edit.op = RELU;
    m.edit.us = m.edit.host_us = 7;
    if (CHECK_INT(remake_begin(&m), MSIM_OK)) {
        CHECK_INT(msim_edit_insert(&m.d), MSIM_OK);
        REQUIRE(m.d.n_added == 2);
        CHECK_STR(msim_strtab_text(m.b.strings, m.d.overlay.tasks[0].name),
                  "aten::relu");
        CHECK_INT(m.d.added[0].made_by, MSIM_FAMILY_POINTWISE);
        CHECK(m.d.added[0].mid > 0 && m.d.added[0].mid != 7000000);
        CHECK_INT(m.d.added[1].mid, 100);
    }
    remake_done(&m);
}

/* ---- on another stream --------------------------------------------------- */

/* Inserted behind kernels at[0..n] of stream 7, in the order of stream 8. */
static void test_edit_tasks__inserts_on_a_new_stream(void)
{
    two_calls("op:aten::a");
    m.edit.us = 7;
    m.edit.on = MSIM_ON_NEW;
    if (CHECK_INT(remake_begin(&m), MSIM_OK)) {
        CHECK_INT(msim_edit_insert(&m.d), MSIM_OK);
        REQUIRE(m.d.overlay.n_tasks == 3);
        /* one new stream for each that is walked */
        CHECK_INT(m.d.overlay.n_lanes, 2);
        for (uint32_t i = 0; i < 3; i++) {
            CHECK_INT(m.d.overlay.tasks[i].place, MSIM_OVERLAY_BESIDE);
            CHECK_INT(m.d.overlay.tasks[i].lane,
                      REMAKE_LANES + (i == 2 ? 1 : 0));
        }
        CHECK_INT(m.d.overlay.n_edges, 4);
        CHECK_INT(remake_tied(&m, 6, 10, MSIM_EDGE_EVENT), 0);
        CHECK_INT(remake_tied(&m, 8, 11, MSIM_EDGE_EVENT), 0);
        CHECK_INT(remake_tied(&m, 9, 12, MSIM_EDGE_EVENT), 0);
        CHECK_INT(remake_tied(&m, 10, 11, MSIM_EDGE_PROGRAM), 0);
    }
    remake_done(&m);
}

/*
 * On stream 8, of two kernels p and q and a collective, beside stream 7:
 *
 *     7   [a 0..10]  [a 20..30]  [a 40..50]
 *     8   [p 5..8]   [q 30..33]                [join, transfer 60..61]
 *
 * p began before the first ended, q just when the second did: what is inserted
 * there is behind it, and ahead of the next one, whose start is its arrival's.
 */
static void timed(void)
{
    static const struct {
        enum msim_task_kind kind;
        uint32_t lane;
        msim_ps start, end;
    } TASK[] = {{MSIM_TASK_KERNEL, 1, 0, 10},  {MSIM_TASK_KERNEL, 1, 20, 30},
                {MSIM_TASK_KERNEL, 1, 40, 50}, {MSIM_TASK_KERNEL, 2, 5, 8},
                {MSIM_TASK_KERNEL, 2, 30, 33}, {MSIM_TASK_JOIN, 2, 0, 0},
                {MSIM_TASK_COMM, 2, 60, 61}};
    const char *names[] = {"aten::a", "aten::b"};

    remake_new(&m, 1);
    for (uint32_t i = 0; i < 5; i++)
        (void)build_op(&m.b, 0, names[i > 2], "", NULL);
    for (uint32_t i = 0; i < 7; i++) {
        uint32_t t = remake_task(&m, TASK[i].kind, TASK[i].lane, 1);

        m.refs[t].op = i < 5 ? i : MSIM_NONE;
        if (TASK[i].kind == MSIM_TASK_JOIN)
            continue;
        m.refs[t].index = m.b.t.n_gpu;
        m.b.gpu[m.b.t.n_gpu++] = (struct msim_gpu){
            .start = TASK[i].start, .dur = TASK[i].end - TASK[i].start};
    }
    m.edit.us = 7;
    m.edit.on = MSIM_ON_STREAM;
    m.edit.stream = 8;
}

static void test_edit_tasks__inserts_in_the_order_of_a_stream(void)
{
    static const struct {
        uint32_t from, to;
        enum msim_edge_kind kind;
    } TIE[] = {
        {0, 7, MSIM_EDGE_EVENT},   {1, 8, MSIM_EDGE_EVENT},
        {2, 9, MSIM_EDGE_EVENT},   {3, 7, MSIM_EDGE_PROGRAM},
        {4, 8, MSIM_EDGE_PROGRAM}, {4, 9, MSIM_EDGE_PROGRAM},
        {7, 8, MSIM_EDGE_PROGRAM}, {8, 9, MSIM_EDGE_PROGRAM},
        {7, 4, MSIM_EDGE_PROGRAM}, {8, 5, MSIM_EDGE_PROGRAM},
        {9, 5, MSIM_EDGE_PROGRAM},
    };
    const uint32_t n = sizeof(TIE) / sizeof(*TIE);

    timed();
    remake_select(&m, "op:aten::a", text);
    if (CHECK_INT(remake_begin(&m), MSIM_OK)) {
        CHECK_INT(msim_edit_insert(&m.d), MSIM_OK);
        CHECK_INT(m.d.overlay.n_tasks, 3);
        CHECK_INT(m.d.overlay.n_edges, n);
        for (uint32_t i = 0; i < n; i++)
            CHECK_INT(remake_tied(&m, TIE[i].from, TIE[i].to, TIE[i].kind), 0);
        for (uint32_t i = 0; i < m.d.overlay.n_tasks; i++)
            CHECK_INT(m.d.overlay.tasks[i].lane, 2);
    }
    remake_done(&m);
}

/* Work of that very stream has it as on its own. */
static void test_edit_tasks__inserts_on_its_own_stream(void)
{
    timed();
    m.edit.stream = 7;
    remake_select(&m, "op:aten::a", text);
    if (CHECK_INT(remake_begin(&m), MSIM_OK)) {
        CHECK_INT(msim_edit_insert(&m.d), MSIM_OK);
        CHECK_INT(m.d.overlay.n_tasks, 3);
        CHECK_INT(m.d.overlay.n_edges, 0);
        CHECK_INT(m.d.overlay.tasks[0].place, MSIM_OVERLAY_AFTER);
    }
    remake_done(&m);
}

/* Without GPU events what launched an activity says when it came. */
static void test_edit_tasks__inserts_in_the_order_of_launches(void)
{
    remake_new(&m, 1);
    (void)build_op(&m.b, 0, "aten::a", "", NULL);
    for (uint32_t i = 0; i < 3; i++) /* of stream 8, 7, 8 */
        (void)remake_task(&m, MSIM_TASK_HOST, 0, 1);
    for (uint32_t i = 0; i < 3; i++)
        remake_edge(&m, i, remake_task(&m, MSIM_TASK_KERNEL, i == 1 ? 1 : 2, 1),
                    MSIM_EDGE_LAUNCH, 0);
    m.refs[4].op = 0;
    m.refs[3].op = m.refs[5].op = MSIM_NONE;
    m.edit.us = 7;
    m.edit.on = MSIM_ON_STREAM;
    m.edit.stream = 8;
    remake_select(&m, "stream:7", text);
    if (CHECK_INT(remake_begin(&m), MSIM_OK)) {
        CHECK_INT(msim_edit_insert(&m.d), MSIM_OK);
        CHECK_INT(m.d.overlay.n_edges, 3);
        CHECK_INT(remake_tied(&m, 4, 6, MSIM_EDGE_EVENT), 0);
        CHECK_INT(remake_tied(&m, 3, 6, MSIM_EDGE_PROGRAM), 0);
        CHECK_INT(remake_tied(&m, 6, 5, MSIM_EDGE_PROGRAM), 0);
    }
    remake_done(&m);
}

static void test_edit_tasks__knows_no_such_stream(void)
{
    for (int rank = -1; rank < 2; rank++) {
        timed();
        m.b.t.rank = rank;
        m.edit.stream = rank ? 99 : 6; /* the thread's place is no stream's */
        if (!rank)
            m.lanes[0].index = 0;
        remake_select(&m, "op:aten::a", text);
        if (CHECK_INT(remake_begin(&m), MSIM_OK)) {
            CHECK_INT(msim_edit_insert(&m.d), MSIM_EUSAGE);
            CHECK_STR(m.err.text, rank < 0    ? "the trace has no stream 99"
                                  : rank == 0 ? "rank 0 has no stream 6"
                                              : "rank 1 has no stream 99");
        }
        remake_done(&m);
    }
}

/* ---- straggle ------------------------------------------------------------ */

/* Of each rank one factor, exp(sigma * z), on all but communication. Over many
 * ranks z has the mean 0 and the variance 1, and another seed is another draw.
 */
static double factor_of(int64_t rank, uint64_t seed, double sigma)
{
    double factor = 0;

    remake_new(&m, 2);
    m.b.t.rank = rank;
    for (int kind = MSIM_TASK_HOST; kind <= MSIM_TASK_JOIN; kind++)
        (void)remake_task(&m, (enum msim_task_kind)kind, 1, 1000000000);
    m.edit.sigma = sigma;
    m.edit.seed = seed;
    if (CHECK_INT(remake_begin(&m), MSIM_OK)) {
        CHECK_INT(msim_edit_straggle(&m.d), MSIM_OK);
        factor = (double)m.d.costs->mid[0] / 1e9;
        for (int kind = MSIM_TASK_HOST; kind <= MSIM_TASK_JOIN; kind++) {
            bool stays = kind == MSIM_TASK_COMM || kind == MSIM_TASK_JOIN;

            double by = stays ? 1 : factor;

            CHECK_REL((double)m.d.costs->mid[kind], by * 1e9, 1e-7);
            CHECK_REL((double)m.d.costs->low[kind], by * 5e8, 1e-7);
            CHECK_REL((double)m.d.costs->high[kind], by * 1.5e9, 1e-7);
        }
    }
    remake_done(&m);
    return factor;
}

static void test_edit_tasks__straggles(void)
{
    double sum = 0, squares = 0;
    const int n = 1000;

    for (int rank = 0; rank < n; rank++) {
        double z = log(factor_of(rank, 7, 0.5)) / 0.5;

        sum += z;
        squares += z * z;
    }
    CHECK(fabs(sum / n) < 3 / sqrt(n));
    CHECK(fabs(squares / n - 1) < 3 * sqrt(2.0 / n));
    CHECK_REL(factor_of(3, 7, 0), 1, 0);
    CHECK(fabs(factor_of(3, 7, 0.1) - factor_of(3, 8, 0.1)) > 1e-6);
    CHECK_REL(factor_of(3, 7, 0.2), pow(factor_of(3, 7, 0.1), 2), 1e-8);
}

/*
 * splitmix64 from seed ^ rank * 0xd1342543de82ef95, whose first two numbers are
 * the ones that Steele et al. publish for the seed 0: 0xe220a8397b1dcdaf and
 * 0x6e789e6aa1b965f4. Of their upper 53 bits Box and Muller make the deviate.
 */
static void test_edit_tasks__draws_by_splitmix(void)
{
    double u = ((double)(0xe220a8397b1dcdafu >> 11) + 1) / 9007199254740993.0;
    double v = (double)(0x6e789e6aa1b965f4u >> 11) / 9007199254740992.0;
    double z = sqrt(-2 * log(u)) * cos(2 * 3.14159265358979323846 * v);

    CHECK_REL(log(factor_of(0, 0, 1)), z, 1e-8);
}

static void test_edit_tasks__straggles_not_alone(void)
{
    remake_new(&m, 1);
    (void)remake_task(&m, MSIM_TASK_KERNEL, 1, 10);
    if (CHECK_INT(remake_begin(&m), MSIM_OK)) {
        CHECK_INT(msim_edit_straggle(&m.d), MSIM_EUSAGE);
        CHECK_STR(m.err.text,
                  "the traces are of one rank, which no other is compared "
                  "with; want those of all ranks, or a rank and a factor");
    }
    remake_done(&m);
}

int main(void)
{
    if (!CHECK_INT(msim_platform_load(&platform, MSIM_DATA, "a100", NULL),
                   MSIM_OK))
        return check_summary();
    RUN(test_edit_tasks__replaces);
    RUN(test_edit_tasks__wants_the_gpu);
    RUN(test_edit_tasks__inserts);
    RUN(test_edit_tasks__inserts_operators);
    RUN(test_edit_tasks__inserts_on_a_new_stream);
    RUN(test_edit_tasks__inserts_in_the_order_of_a_stream);
    RUN(test_edit_tasks__inserts_on_its_own_stream);
    RUN(test_edit_tasks__inserts_in_the_order_of_launches);
    RUN(test_edit_tasks__knows_no_such_stream);
    RUN(test_edit_tasks__straggles);
    RUN(test_edit_tasks__draws_by_splitmix);
    RUN(test_edit_tasks__straggles_not_alone);
    msim_platform_free(platform);
    return check_summary();
}
