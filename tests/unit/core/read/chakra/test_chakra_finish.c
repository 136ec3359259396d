/*
 * tests/unit/core/read/chakra/test_chakra_finish.c - times, launches and waits
 * of files that lack some of them.
 */
#include "tests/unit/loaded.h"
#include "tests/unit/made_chakra.h"

#define US ((msim_ps)MSIM_PS_PER_US)

/* A node with up to three attributes that are numbers, up to the first NULL. */
struct more {
    const char *name;
    int64_t number;
};

static void add(struct made *m, struct made_node d, const struct more *more)
{
    struct made n = {.n = 0};

    made_node_message(&n, &d);
    for (; more && more->name; more++)
        made_attr(&n, 10, more->name, 9, more->number, NULL);
    made_message(m, &n);
}

/* Calls of a name; the start of the first, -1 without one. */
static uint32_t calls_of(const struct msim_trace *t, const char *name,
                         msim_ps *first)
{
    uint32_t n = 0;

    *first = -1;
    for (uint32_t i = 0; i < t->n_calls; i++)
        if (!strcmp(msim_trace_text(t, t->calls[i].name), name)) {
            if (!n++)
                *first = t->calls[i].start;
        }
    return n;
}

/* ---- starts -------------------------------------------------------------- */

#define START(us) ((const struct more[]){{"start_ns", (us)*1000LL}, {0}})

/* What has no start follows what it depends on; the first of all is 0. */
static void test_chakra_finish__starts(void)
{
    struct made m = {.n = 0};
    struct msim_error err;
    struct msim_job *job;
    const struct msim_trace *t;
    msim_ps first;

    made_metadata(&m);
    add(&m,
        (struct made_node){.id = 3, .name = "late", .micros = 4, .deps = {1}},
        NULL);
    add(&m, (struct made_node){.id = 9, .name = "alone", .micros = 1}, NULL);
    add(&m, (struct made_node){.id = 1, .name = "first", .micros = 20},
        START(1000));
    add(&m,
        (struct made_node){.id = 2,
                           .name = "gemm",
                           .parent = 1,
                           .micros = 9,
                           .gpu = true,
                           .stream = 7},
        START(1050));
    add(&m,
        (struct made_node){
            .id = 4, .name = "Memcpy DtoH", .micros = 2, .gpu = true},
        START(1070));
    job = made_load(&m, false, &err);
    REQUIRE(job != NULL);
    t = job->ranks[0];
    REQUIRE(t->n_ops == 3 && t->n_topmost == 3 && t->n_gpu == 2);
    CHECK_UINT(t->import.rows[MSIM_IMPORT_LAID_OUT].n, 2);
    CHECK(t->has_times && t->has_et);
    CHECK_INT(t->ops[0].start, 0);
    CHECK_INT(t->ops[0].dur, 20 * US);
    CHECK_INT(t->ops[1].start, 0);
    CHECK_INT(t->ops[2].start, 20 * US);
    CHECK_INT(t->ops[2].dur, 4 * US);
    CHECK_UINT(t->topmost[1], 0);
    CHECK_UINT(t->topmost[2], 2);
    for (uint32_t i = 0; i < 2; i++) {
        bool copy = t->gpu[i].kind == MSIM_GPU_MEMCPY;

        CHECK_INT(t->gpu[i].start, (copy ? 70 : 50) * US);
        CHECK_INT(t->gpu[i].dur, (copy ? 2 : 9) * US);
        CHECK_UINT(t->gpu[i].op, copy ? MSIM_NONE : 0);
    }
    /* At the last instant of its caller's work; of no caller, no launch. */
    CHECK_UINT(t->n_calls, 1);
    CHECK_UINT(calls_of(t, "cudaLaunchKernel", &first), 1);
    CHECK_INT(first, 20 * US - 1);
    CHECK_INT(t->calls[0].dur, 0);
    CHECK_UINT(t->unlinked_gpu, 1);
    msim_job_free(job);
}

/* ---- launches ------------------------------------------------------------ */

/* Who launched what: the caller; else what was last of the CPU that it depends
 * on. By what it is: a kernel, a copy, a memset. */
static void test_chakra_finish__launches(void)
{
    struct made m = {.n = 0};
    struct msim_error err;
    struct msim_job *job;
    const struct msim_trace *t;
    msim_ps first;

    made_metadata(&m);
    add(&m, (struct made_node){.id = 1, .name = "a", .micros = 10}, START(1));
    add(&m, (struct made_node){.id = 2, .name = "b", .micros = 10}, START(21));
    add(&m,
        (struct made_node){.id = 3,
                           .name = "gemm",
                           .micros = 1,
                           .deps = {2, 1},
                           .gpu = true,
                           .stream = 7},
        START(40));
    add(&m,
        (struct made_node){.id = 4,
                           .name = "Memcpy HtoD",
                           .parent = 1,
                           .micros = 1,
                           .deps = {2},
                           .gpu = true,
                           .stream = 7},
        START(50));
    add(&m,
        (struct made_node){.id = 5,
                           .name = "Memset",
                           .parent = 2,
                           .micros = 1,
                           .gpu = true,
                           .stream = 7},
        START(25)); /* before its caller's work is done */
    job = made_load(&m, false, &err);
    REQUIRE(job != NULL);
    t = job->ranks[0];
    CHECK_UINT(t->n_calls, 3);
    CHECK_UINT(calls_of(t, "cudaLaunchKernel", &first), 1);
    CHECK_INT(first, 30 * US - 1);
    CHECK_UINT(calls_of(t, "cudaMemcpyAsync", &first), 1);
    CHECK_INT(first, 10 * US - 1);
    CHECK_UINT(calls_of(t, "cudaMemsetAsync", &first), 1);
    CHECK_INT(first, 24 * US);
    REQUIRE(t->n_gpu == 3);
    CHECK_UINT(t->gpu[0].op, 1); /* the memset of b */
    CHECK_UINT(t->gpu[1].op, 1);
    CHECK_UINT(t->gpu[2].op, 0);
    CHECK_UINT(t->unlinked_gpu, 0);
    msim_job_free(job);
}

/* ---- work in place of times ---------------------------------------------- */

/*
 * A sum on one stream, sent on another, and a sum that waits for that: laid out
 * at 2 ps each, at 0, 2 and 4, behind 2 ps a node in which all is launched:
 * launches at 0, 2 and 4, an event behind the first two.
 */
static void test_chakra_finish__stated_work(void)
{
    static const struct more SUM[] = {
        {"num_ops", 100}, {"tensor_size", 7}, {0}};
    struct made m = {.n = 0};
    struct msim_error err;
    struct msim_job *job;
    const struct msim_trace *t;
    msim_ps first;

    made_metadata(&m);
    add(&m, (struct made_node){.id = 1, .name = "x", .gpu = true}, SUM);
    add(&m,
        (struct made_node){.id = 2,
                           .name = "y",
                           .type = 7,
                           .parent = 1, /* waits for it: it is no caller */
                           .gpu = true,
                           .stream = 1,
                           .comm_size = 64},
        NULL);
    add(&m,
        (struct made_node){.id = 3, .name = "z", .deps = {1, 2}, .gpu = true},
        SUM);
    job = made_load(&m, false, &err);
    REQUIRE(job != NULL);
    t = job->ranks[0];
    REQUIRE(t->n_gpu == 3);
    CHECK(!t->has_times);
    CHECK_UINT(t->import.rows[MSIM_IMPORT_LAID_OUT].n, 3);
    for (uint32_t i = 0; i < 3; i++) {
        const struct msim_gpu *g = &t->gpu[i];
        char name = *msim_trace_text(t, g->name);

        CHECK_INT(g->start, 6 + 2 * (name - 'x'));
        CHECK_INT(g->dur, 2);
        CHECK(g->call != MSIM_NONE);
        if (name == 'y') {
            CHECK_UINT(g->stated, 0); /* its collective says it */
            continue;
        }
        REQUIRE(g->stated >= 1 && g->stated <= t->n_stated);
        CHECK_REL(t->stated[g->stated - 1].flops, 100, 0);
        CHECK_REL(t->stated[g->stated - 1].bytes, 7, 0);
        CHECK_INT(t->stated[g->stated - 1].dur, 0);
    }
    CHECK_UINT(t->n_calls, 7);
    CHECK_UINT(calls_of(t, "cudaLaunchKernel", &first), 3);
    CHECK_INT(first, 0);
    CHECK_UINT(calls_of(t, "cudaEventRecord", &first), 2);
    CHECK_INT(first, 1);
    CHECK_UINT(calls_of(t, "cudaStreamWaitEvent", &first), 2);
    CHECK_INT(first, 2);
    CHECK_UINT(t->n_syncs, 2);
    msim_job_free(job);
}

/* One of anything is work: an operation, a byte read, a byte sent. */
static void test_chakra_finish__little_work(void)
{
    static const struct more ONE[3][2] = {
        {{"num_ops", 1}}, {{"tensor_size", 1}}, {{"comm_size", 1}}};
    static const uint64_t TYPES[] = {4, 2, 7};

    for (int i = 0; i < 3; i++) {
        struct made m = {.n = 0};
        struct msim_error err;
        struct msim_job *job;

        made_metadata(&m);
        add(&m,
            (struct made_node){
                .id = 1, .name = "x", .type = TYPES[i], .gpu = true},
            ONE[i]);
        job = made_load(&m, false, &err);
        REQUIRE(job != NULL);
        CHECK_UINT(job->ranks[0]->n_gpu, 1);
        CHECK_UINT(job->ranks[0]->n_stated, i < 2);
        msim_job_free(job);
    }
}

/* With times, what is stated of the work is not needed. */
static void test_chakra_finish__stated_and_timed(void)
{
    static const struct more SUM[] = {
        {"num_ops", 100}, {"start_ns", 5000}, {0}};
    struct made m = {.n = 0};
    struct msim_error err;
    struct msim_job *job;

    made_metadata(&m);
    add(&m, (struct made_node){.id = 1, .name = "x", .gpu = true, .micros = 3},
        SUM);
    job = made_load(&m, false, &err);
    REQUIRE(job && job->ranks[0]->n_gpu == 1);
    CHECK(job->ranks[0]->has_times);
    CHECK_UINT(job->ranks[0]->n_stated, 0);
    CHECK_UINT(job->ranks[0]->gpu[0].stated, 0);
    CHECK_INT(job->ranks[0]->gpu[0].dur, 3 * US);
    CHECK_UINT(job->ranks[0]->import.rows[MSIM_IMPORT_LAID_OUT].n, 0);
    msim_job_free(job);
}

/* ---- steps --------------------------------------------------------------- */

/*
 * Two steps of a laid-out run: the last one with work lasts until the GPU's has
 * ended, in a call that waits for the device; a step of nothing does not count.
 */
static void test_chakra_finish__last_step(void)
{
    struct made m = {.n = 0};
    struct msim_error err;
    struct msim_job *job;
    const struct msim_trace *t;
    msim_ps first;

    made_metadata(&m);
    for (uint64_t k = 0; k < 3; k++) {
        char name[24];
        const struct more scope[] = {{"scope", 7}, {0}};

        snprintf(name, sizeof(name), "ProfilerStep#%d", (int)k);
        add(&m,
            (struct made_node){
                .id = 10 * k + 1, .name = name, .micros = k < 2 ? 5 : 0},
            scope);
        if (k < 2)
            add(&m,
                (struct made_node){.id = 10 * k + 2,
                                   .name = "gemm",
                                   .parent = 10 * k + 1,
                                   .micros = 40,
                                   .gpu = true,
                                   .stream = 7},
                NULL);
    }
    job = made_load(&m, false, &err);
    REQUIRE(job != NULL);
    t = job->ranks[0];
    REQUIRE(t->n_steps >= 1);
    CHECK_INT(t->steps[0].dur, 5 * US);
    /* Kernels from 5 to 85: the third step begins at 10 and has none. */
    CHECK_UINT(calls_of(t, "cudaDeviceSynchronize", &first), 1);
    CHECK_INT(first, 10 * US + 2);
    CHECK_INT(t->steps[t->n_steps - 1].start + t->steps[t->n_steps - 1].dur,
              85 * US);
    msim_job_free(job);
}

int main(void)
{
    RUN(test_chakra_finish__starts);
    RUN(test_chakra_finish__launches);
    RUN(test_chakra_finish__stated_work);
    RUN(test_chakra_finish__little_work);
    RUN(test_chakra_finish__stated_and_timed);
    RUN(test_chakra_finish__last_step);
    return check_summary();
}
