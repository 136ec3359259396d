/*
 * tests/unit/core/graph/contention/test_contention_fit.c - the figures of a
 * device from its trace, and what each task would have taken alone.
 *
 * Times are microseconds, and copies count in MiB.
 */
#include "core/graph/contention/graph_contention_internal.h"

#include "tests/unit/loaded.h"

#define MOST 300
#define US   ((msim_ps)MSIM_PS_PER_US)
#define MIB  1048576.0

static struct msim_gpu gpu[MOST];
static struct msim_task_ref refs[MOST];
static struct msim_demand demands[MOST];
static struct msim_interval_ps ran[MOST];
static struct msim_shared_device devices[2];
static struct msim_trace trace = {.gpu = gpu};
static struct msim_trace *ranks[] = {&trace};
static struct msim_job job = {.ranks = ranks, .n_ranks = 1};
static struct msim_graph g = {.refs = refs, .job = &job};
static struct msim_graph_options opt;
static struct msim_graph_builder builder = {.g = &g, .job = &job, .opt = &opt};
static struct msim_sharing sharing;
static struct msim_contention_builder b = {
    .b = &builder, .s = &sharing, .ran = ran};

static void begin(void)
{
    sharing = (struct msim_sharing){
        .rules = (1u << MSIM_CONTENTION_RULES) - 1,
        .demands = demands,
        .devices = devices,
        .n_devices = 2,
    };
    for (int i = 0; i < 2; i++)
        devices[i] = (struct msim_shared_device){.host_link = {9, {0.25, 0.75}},
                                                 .slowdown = 1.25,
                                                 .engines = {1, 1}};
    opt = (struct msim_graph_options){0};
}

/* In ps, so that limits can be met. */
static struct msim_gpu *add_ps(enum msim_demand_kind kind, msim_ps from,
                               msim_ps to)
{
    uint32_t d = sharing.n_demands++;

    gpu[d] = (struct msim_gpu){.start = from, .dur = to - from};
    refs[d] = (struct msim_task_ref){.index = d};
    demands[d] = (struct msim_demand){
        .alone = 1, .task = d, .device = 1, .kind = (uint8_t)kind};
    ran[d] = (struct msim_interval_ps){from, to};
    return &gpu[d];
}

static struct msim_gpu *add(enum msim_demand_kind kind, int from, int to)
{
    return add_ps(kind, from * US, to * US);
}

static void add_copy(enum msim_demand_kind kind, int from, int to, double mib)
{
    add(kind, from, to)->bytes = (uint64_t)(mib * MIB);
}

/* Figures of a rule: "s1.5 of 20"; f fitted, a assumed, g given, p physical. */
static void check_figures(enum msim_contention_rule rule, const char *want)
{
    struct spelled got = {"", 0};

    CHECK_INT(msim_contention_fit(&b, 0, 77, 1, 0, sharing.n_demands), MSIM_OK);
    for (uint32_t i = 0; i < sharing.n_figures; i++) {
        const struct msim_contention_figure *f = &sharing.figures[i];

        CHECK_INT(f->device, 77);
        if (f->rule == rule)
            spell(&got, "%s%c%.4g of %u", got.len ? ", " : "",
                  "pfag"[f->source], f -> value, f -> evidence);
    }
    CHECK_STR(got.text, want);
    free(sharing.figures);
    sharing.figures = NULL;
    sharing.n_figures = sharing.cap_figures = 0;
}

/* ---- slowdown ------------------------------------------------------------ */

/* A collective until 1000, and kernels of 10 alone behind it. */
static void add_alone(int n)
{
    add(MSIM_DEMAND_TRANSFER, 0, 1000);
    for (int i = 0; i < n; i++)
        add(MSIM_DEMAND_KERNEL, 2000 + 20 * i, 2010 + 20 * i);
}

static void add_beside(int n, int us)
{
    for (int i = 0; i < n; i++)
        add(MSIM_DEMAND_KERNEL, 40 * i, 40 * i + us);
}

static void check_slowdown(const char *want, double slowdown)
{
    check_figures(MSIM_CONTENTION_SLOWDOWN, want);
    CHECK_REL(devices[1].slowdown, slowdown, 1e-12);
    CHECK_REL(devices[0].slowdown, 1.25, 0);
}

static void test_contention_fit__slowdown(void)
{
    static const struct {
        int alone, beside, us;
        double given;
        const char *want;
        double slowdown;
    } cases[] = {
        {3, 20, 15, 0, "f1.5 of 20", 1.5},
        {3, 20, 15, 3, "f1.5 of 20", 1.5},
        {3, 19, 15, 0, "a1.25 of 19", 1.25},
        {3, 19, 15, 1.3, "g1.3 of 19", 1.3},
        {3, 19, 15, 0.5, "g1 of 19", 1},
        {2, 20, 15, 0, "a1.25 of 0", 1.25},
        {4, 20, 10, 0, "f1 of 20", 1},
        {0, 0, 0, 0, "a1.25 of 0", 1.25},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        begin();
        opt.slowdown = cases[i].given;
        add_alone(cases[i].alone);
        add_beside(cases[i].beside, cases[i].us);
        check_slowdown(cases[i].want, cases[i].slowdown);
    }
    begin(); /* in the middle of two, and never below 1 */
    add_alone(3);
    add_beside(10, 12);
    add_beside(10, 16);
    check_slowdown("f1.4 of 20", 1.4);
    begin();
    add_alone(0);
    add_beside(20, 10);
    for (int i = 0; i < 3; i++)
        add(MSIM_DEMAND_KERNEL, 2000 + 20 * i, 2015 + 20 * i);
    check_slowdown("f1 of 20", 1);
}

/* Each kind of a collective counts; without one there is no figure. */
static void test_contention_fit__collectives(void)
{
    static const enum msim_demand_kind kinds[] = {
        MSIM_DEMAND_ARRIVE, MSIM_DEMAND_TRANSFER, MSIM_DEMAND_SEND,
        MSIM_DEMAND_RECEIVE};

    for (int i = 0; i < 4; i++) {
        begin();
        add_alone(3);
        demands[0].kind = (uint8_t)kinds[i];
        add(MSIM_DEMAND_TRANSFER, 5000, 5001);
        add_beside(20, 15);
        check_slowdown("f1.5 of 20", 1.5);
    }
    begin();
    add_alone(3);
    demands[0].kind = MSIM_DEMAND_TO_HOST;
    add_beside(20, 15);
    check_slowdown("", 1.25);
    begin(); /* of another device, or at an unknown time */
    add_alone(3);
    demands[0].device = 0;
    add_beside(20, 15);
    check_slowdown("", 1.25);
    begin();
    add_alone(3);
    ran[0].begin = MSIM_TIME_NONE;
    add_beside(20, 15);
    check_slowdown("a1.25 of 0", 1.25);
}

/* One more launch of 20, which is one or is not. */
static void test_contention_fit__launches(void)
{
    static const struct {
        msim_ps from, to; /* in ns */
        uint32_t name, config;
        const char *want;
    } cases[] = {
        {900000, 915000, 0, 0, "f1.5 of 20"},
        {900000, 909999, 0, 0, "a1.25 of 19"},
        {900000, 910000, 0, 0, "f1.5 of 20"},
        {900000, 915000, 1, 0, "a1.25 of 19"},
        {900000, 915000, 0, 1, "a1.25 of 19"},
        {900000, 915000, 0, MSIM_NONE, "a1.25 of 19"},
        {981000, 1001000, 0, 0, "f1.5 of 20"}, /* 95 % */
        {980999, 1001000, 0, 0, "f1.5 of 20"},
        {980000, 1001100, 0, 0, "a1.25 of 19"}, /* less */
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct msim_gpu *e;

        begin();
        add_alone(3);
        add_beside(19, 15);
        e = add_ps(MSIM_DEMAND_KERNEL, cases[i].from * 1000,
                   cases[i].to * 1000);
        e->name = cases[i].name;
        e->config = cases[i].config;
        check_figures(MSIM_CONTENTION_SLOWDOWN, cases[i].want);
    }
    /* a twentieth beside the collective is still alone */
    for (int more = 0; more < 2; more++) {
        begin();
        add_alone(2);
        add_beside(20, 15);
        add_ps(MSIM_DEMAND_KERNEL, 999500 * 1000ll - more * 1000,
               1009500 * 1000ll - more * 1000);
        check_figures(MSIM_CONTENTION_SLOWDOWN,
                      more ? "a1.25 of 0" : "f1.5 of 20");
    }
}

/* ---- copies -------------------------------------------------------------- */

static void check_link(const char *want, double capacity, double to_device)
{
    check_figures(MSIM_CONTENTION_HOST_LINK, want);
    CHECK_REL(devices[1].host_link.capacity, capacity, 1e-6);
    CHECK_REL(devices[1].host_link.weight[0], to_device, 1e-6);
    CHECK_REL(devices[1].host_link.weight[1], 1 - to_device, 1e-6);
}

/* So many of each way at once, at half and at four fifths of the rate that so
 * many of each have alone. */
static void add_copies(int both, int alone, double mib)
{
    for (int i = 0; i < both; i++) {
        add_copy(MSIM_DEMAND_TO_DEVICE, 1000 * i, 1000 * i + 200, mib);
        add_copy(MSIM_DEMAND_TO_HOST, 1000 * i, 1000 * i + 200, 1.6 * mib);
    }
    for (int i = 0; i < alone; i++) {
        add_copy(MSIM_DEMAND_TO_DEVICE, 9000 + 1000 * i, 9100 + 1000 * i, mib);
        add_copy(MSIM_DEMAND_TO_HOST, 9500 + 1000 * i, 9600 + 1000 * i, mib);
    }
}

static void test_contention_fit__link(void)
{
    begin();
    add_copies(3, 3, 1);
    check_link("f0.5 of 6, f0.8 of 6", 1.3, 0.5 / 1.3);
    /* Few at once show nothing, nor do small ones; where those of one way alone
     * are small, the others are held against all bytes. */
    begin();
    add_copies(2, 3, 1);
    check_link("", 9, 0.25);
    begin();
    add_copies(3, 3, 0.99);
    check_figures(MSIM_CONTENTION_HOST_LINK, "f0.6154 of 3, a13.5 of 3");
    begin();
    add_copies(3, 3, 0.6);
    check_link("", 9, 0.25);
}

/* One pipe: bytes of both ways over the time that both ran. */
static void test_contention_fit__one_pipe(void)
{
    begin();
    add_copies(3, 2, 10);
    /* 26 MiB in 200 us are 136.3 GB/s, 16 of them to the host */
    check_link("f0.6154 of 3, a136.3 of 3", 1, 10. / 26);
    begin(); /* more of them to the device: those decide */
    for (int i = 0; i < 3; i++) {
        add_copy(MSIM_DEMAND_TO_HOST, 1000 * i, 1000 * i + 200, 10);
        add_copy(MSIM_DEMAND_TO_DEVICE, 1000 * i, 1000 * i + 100, 10);
        add_copy(MSIM_DEMAND_TO_DEVICE, 1000 * i + 100, 1000 * i + 200, 10);
    }
    check_link("f0.3333 of 6, a157.3 of 6", 1, 2. / 3);
}

/* Most at once of a way, without six at both ends. */
static void test_contention_fit__engines(void)
{
    static const struct {
        int at[3][2];
        const char *want;
    } cases[] = {
        {{{0, 100}, {50, 150}, {0, 0}}, "p2 of 2"},
        {{{0, 100}, {88, 188}, {0, 0}}, "p1 of 2"},
        {{{0, 100}, {87, 187}, {0, 0}}, "p2 of 2"},
        {{{0, 100}, {40, 140}, {80, 180}}, "p3 of 3"},
        {{{0, 100}, {100, 200}, {200, 300}}, "p1 of 3"},
        /* of a short one the middle counts */
        {{{0, 100}, {50, 52}, {0, 0}}, "p2 of 2"},
        {{{0, 100}, {90, 100}, {0, 0}}, "p1 of 2"},
        {{{0, 100}, {82, 94}, {0, 0}}, "p2 of 2"},
        {{{0, 12}, {5, 9}, {0, 0}}, "p1 of 2"},
        {{{0, 13}, {6, 8}, {0, 0}}, "p1 of 2"},
    };

    for (size_t i = 0; i < 2 * sizeof(cases) / sizeof(*cases); i++) {
        size_t c = i / 2, side = i % 2;

        begin();
        for (int k = 0; k < 3 && cases[c].at[k][1]; k++)
            add(side ? MSIM_DEMAND_TO_HOST : MSIM_DEMAND_TO_DEVICE,
                cases[c].at[k][0], cases[c].at[k][1]);
        check_figures(MSIM_CONTENTION_COPY_ENGINE, cases[c].want);
        CHECK_UINT(devices[1].engines[side], cases[c].want[1] - '0');
        CHECK_UINT(devices[1].engines[!side], 1);
    }
    begin(); /* as a GPU has queues, and no more */
    for (int i = 0; i < MSIM_RESIDENT_MOST + 1; i++)
        add(MSIM_DEMAND_TO_HOST, 0, 100);
    check_figures(MSIM_CONTENTION_COPY_ENGINE, "p128 of 129");
}

/* ---- alone --------------------------------------------------------------- */

/* Beside the transfer for half of its time, at half the rate: 75 of 100. What
 * has no time, or is elsewhere, is as it was. */
static void test_contention_trace__alone(void)
{
    static const double want[] = {0.75, 1, 0.5, 1, 1, 1, 0.5};

    begin();
    devices[1].slowdown = 2;
    add(MSIM_DEMAND_KERNEL, 0, 100);
    add(MSIM_DEMAND_TRANSFER, 50, 250);
    add(MSIM_DEMAND_KERNEL, 110, 140);
    add(MSIM_DEMAND_KERNEL, 250, 300);
    add(MSIM_DEMAND_KERNEL, 120, 120);
    add(MSIM_DEMAND_KERNEL, 60, 90);
    demands[5].device = 0;
    add(MSIM_DEMAND_KERNEL, 50, 250);
    add(MSIM_DEMAND_KERNEL, 60, 90);
    ran[7].begin = MSIM_TIME_NONE;
    demands[7].alone = 7;
    CHECK_INT(msim_contention_alone(&b), MSIM_OK);
    for (uint32_t i = 0; i < 7; i++)
        CHECK_REL(demands[i].alone, want[i], 1e-12);
    CHECK_REL(demands[7].alone, 7, 0);
}

int main(void)
{
    RUN(test_contention_fit__slowdown);
    RUN(test_contention_fit__collectives);
    RUN(test_contention_fit__launches);
    RUN(test_contention_fit__link);
    RUN(test_contention_fit__one_pipe);
    RUN(test_contention_fit__engines);
    RUN(test_contention_trace__alone);
    return check_summary();
}
