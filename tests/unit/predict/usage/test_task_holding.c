/*
 * predict/usage/task_holding.c: what tasks keep on the SMs, by their launch, by
 * their work, and where kernels of an operator have equal parts.
 */
#include "predict/usage/task_holding.h"

#include "predict/usage/work_grid.h"
#include "tests/unit/made_remake.h"

#include <math.h>

static const struct msim_gpu_properties A100 = {
    .sms = 108, .cc_major = 8, .cc_minor = 0};

static struct made_remake m;
static struct msim_works **works;
static struct msim_holding *held;
static struct msim_holding_ask ask;

/* The job of `m`, with the works of its operators. */
static bool begin(void)
{
    CHECK_INT(remake_begin(&m), MSIM_OK);
    ask = (struct msim_holding_ask){.g = &m.g, .gpu = A100};
    if (!CHECK_INT(
            msim_works_new_ranks(&works, m.ranks, m.job.n_ranks, NULL, false),
            MSIM_OK))
        return false;
    ask.works = works;
    return true;
}

static void find(void)
{
    CHECK_INT(msim_task_holding_new(&held, &ask, NULL), MSIM_OK);
}

static void done(void)
{
    free(held);
    held = NULL;
    msim_works_free_ranks(works, m.job.n_ranks);
    remake_done(&m);
}

static void check_held(uint32_t task, struct msim_residency r)
{
    struct msim_holding want =
        msim_occupancy_holding(&r, 108, msim_occupancy_threads(&A100));

    CHECK_INT(held[task].n, want.n);
    for (uint32_t i = 0; i < want.n; i++) {
        CHECK_REL(held[task].of[i].share, want.of[i].share, 1e-6);
        CHECK_REL(held[task].of[i].sms, want.of[i].sms, 1e-6);
        CHECK_REL(held[task].of[i].threads, want.of[i].threads, 1e-6);
    }
}

/* A kernel by its launch; copies, the host and meetings hold nothing. */
static void test_holding__of_launches(void)
{
    static const enum msim_task_kind KIND[] = {MSIM_TASK_KERNEL, MSIM_TASK_COMM,
                                               MSIM_TASK_COPY, MSIM_TASK_HOST,
                                               MSIM_TASK_JOIN};

    remake_new(&m, 1);
    (void)build_op(&m.b, 0, "aten::relu", "f32[4096]", "f32[4096]");
    for (uint32_t i = 0; i < 5; i++) {
        (void)build_kernel(&m.b, 0, "k", 150 + i, 256);
        m.refs[remake_task(&m, KIND[i], 1, 10)] =
            (struct msim_task_ref){.index = i, .op = 0};
    }
    if (begin()) {
        find();
        for (uint32_t i = 0; i < 5; i++) {
            struct msim_residency r = {0};

            if (i < 2)
                r = msim_occupancy_residency(&A100, &m.b.configs[i]);
            check_held(i, r);
            CHECK_INT(held[i].n > 0, i < 2);
        }
    }
    done();
}

/* With other sizes the grid grows as that of the operator's works does: twice
 * the numbers, twice the blocks. */
static void test_holding__grows_with_sizes(void)
{
    struct msim_residency r;
    struct msim_works **traced;
    const struct msim_work *w;
    double now, then;
    uint32_t n;

    remake_new(&m, 1);
    (void)build_op(&m.b, 0, "aten::relu", "f32[4194304]", "f32[4194304]");
    (void)build_kernel(&m.b, 0, "k", 100, 256);
    m.refs[remake_task(&m, MSIM_TASK_KERNEL, 1, 10)] =
        (struct msim_task_ref){.index = 0, .op = 0};
    if (begin()) {
        traced = works;
        m.b.dims[0] *= 2; /* input and output are those of the views */
        m.b.dims[1] *= 2;
        REQUIRE(msim_works_new_ranks(&works, m.ranks, 1, NULL, false) ==
                MSIM_OK);
        ask.works = works;
        ask.traced = traced;
        (void)msim_works_of(works[0], 0, &w, &n);
        now = (double)msim_work_grid(&A100, w).blocks;
        (void)msim_works_of(traced[0], 0, &w, &n);
        then = (double)msim_work_grid(&A100, w).blocks;
        CHECK_REL(now / then, 2, 1e-3);
        find();
        r = msim_occupancy_residency(&A100, &m.b.configs[0]);
        r.blocks *= (float)(now / then);
        check_held(0, r);
        free(held);
        m.refs[0].op = MSIM_NONE; /* of no operator it stays */
        find();
        check_held(0, msim_occupancy_residency(&A100, &m.b.configs[0]));
        msim_works_free_ranks(traced, 1);
    }
    done();
}

/* Without a launch by the work of that number, or the last; without an
 * operator, or a work of it, nothing. */
static void test_holding__of_works(void)
{
    static const struct {
        uint32_t op;
        uint16_t work;
        int want; /* work of nonzero, -1: none */
    } CASE[] = {
        {0, 0, 0}, {0, 1, 1}, {0, 2, 1}, {MSIM_NONE, 0, -1}, {1, 0, -1}};
    const uint32_t cases = sizeof(CASE) / sizeof(*CASE);

    remake_new(&m, 1);
    (void)build_op(&m.b, 0, "aten::nonzero", "f32[640,1280]", NULL);
    (void)build_op(&m.b, 0, "aten::view", "f32[64]", NULL);
    for (uint32_t i = 0; i < cases; i++)
        m.refs[remake_task(&m, MSIM_TASK_KERNEL, 1, 10)] =
            (struct msim_task_ref){
                .index = MSIM_NONE, .op = CASE[i].op, .work = CASE[i].work};
    if (begin()) {
        const struct msim_work *w;
        uint32_t n;

        find();
        (void)msim_works_of(works[0], 0, &w, &n);
        REQUIRE(n == 2);
        for (uint32_t i = 0; i < cases; i++)
            check_held(i, CASE[i].want < 0
                              ? (struct msim_residency){0}
                              : msim_work_grid(&A100, &w[CASE[i].want]));
        CHECK(held[0].n > 0);
    }
    done();
}

/* A block that no SM of that GPU holds: by the work. */
static void test_holding__of_what_does_not_fit(void)
{
    remake_new(&m, 1);
    (void)build_op(&m.b, 0, "aten::relu", "f32[4194304]", "f32[4194304]");
    build_kernel(&m.b, 0, "k", 100, 256);
    m.b.configs[0].shared_bytes = 1 << 30;
    m.refs[remake_task(&m, MSIM_TASK_KERNEL, 1, 10)] =
        (struct msim_task_ref){.index = 0, .op = 0};
    if (begin()) {
        const struct msim_work *w;
        uint32_t n;

        CHECK_REL(msim_occupancy_residency(&A100, &m.b.configs[0]).resident, 0,
                  0);
        (void)msim_works_of(works[0], 0, &w, &n);
        find();
        check_held(0, msim_work_grid(&A100, w));
    }
    done();
}

/* A kernel that is not in the trace: 8 bytes an element of its traffic. */
static void test_holding__of_added_kernels(void)
{
    struct msim_limits limits[2] = {{.memory = 10}, {.memory = 0}};
    uint32_t names[2] = {1, 1};
    struct msim_work w = {.family = MSIM_FAMILY_POINTWISE};

    remake_new(&m, 1);
    (void)remake_task(&m, MSIM_TASK_KERNEL, 1, 10);
    (void)remake_task(&m, MSIM_TASK_KERNEL, 1, 10);
    m.g.own_name = names;
    if (begin()) {
        ask.bandwidth = 2e12;
        find();
        CHECK_INT(held[0].n, 0); /* its traffic is not known */
        free(held);
        ask.limits = limits;
        find();
        w.u.vector.elems = (int64_t)(10e-6 * 2e12 / 8);
        check_held(0, msim_work_grid(&A100, &w));
        CHECK_INT(held[1].n, 0);
    }
    done();
}

/* ---- equal parts --------------------------------------------------------- */

#define POINTWISE                                                              \
    "void at::native::vectorized_elementwise_kernel<4, "                       \
    "at::native::CUDAFunctor_add<float>, at::detail::Array<char*, 3> >"

/* Two kernels of one operator, one of them nine times as large, to which models
 * give equal parts: both hold what they do on average, by what each takes by
 * itself. Parts that differ are known, and stay. */
static void test_holding__mixes_equal_parts(void)
{
    struct msim_platform *p = NULL;
    struct msim_holding alone[2];

    REQUIRE(msim_platform_load(&p, MSIM_DATA, "a100", NULL) == MSIM_OK);
    for (int same = 1; same >= 0; same--) {
        msim_ps dur[2] = {1000000, same ? 1000000 : 2000000};

        remake_new(&m, 1);
        m.b.t.has_gpu_events = true;
        (void)build_op(&m.b, 0, "aten::thing", "", NULL);
        (void)build_kernel(&m.b, 0, POINTWISE, 40, 128);
        (void)build_kernel(&m.b, 0, POINTWISE, 4000, 128);
        for (uint32_t i = 0; i < 2; i++)
            m.refs[remake_task(&m, MSIM_TASK_KERNEL, 1, 10)] =
                (struct msim_task_ref){.index = i, .op = 0};
        if (begin()) {
            find();
            memcpy(alone, held, sizeof(alone));
            free(held);
            ask.platform = p;
            ask.dur = dur;
            find();
            if (same) {
                double few = alone[0].of[0].sms, all = alone[1].of[0].sms;

                CHECK_INT(held[0].n, 1);
                CHECK_REL(held[0].of[0].share, 1, 0);
                CHECK(!memcmp(&held[0], &held[1], sizeof(held[0])));
                CHECK(few < all && held[0].of[0].sms > few &&
                      held[0].of[0].sms <= all);
                /* the larger one takes most of the time */
                CHECK(held[0].of[0].sms > (few + all) / 2);
            } else {
                check_held(0, msim_occupancy_residency(&A100, &m.b.configs[0]));
                check_held(1, msim_occupancy_residency(&A100, &m.b.configs[1]));
            }
        }
        done();
    }
    msim_platform_free(p);
}

int main(void)
{
    RUN(test_holding__of_launches);
    RUN(test_holding__grows_with_sizes);
    RUN(test_holding__of_works);
    RUN(test_holding__of_what_does_not_fit);
    RUN(test_holding__of_added_kernels);
    RUN(test_holding__mixes_equal_parts);
    return check_summary();
}
