/*
 * tests/unit/core/read/kineto/test_kineto_split.c - files into which several
 * processes were merged.
 */
#include "tests/unit/made_job.h"

/* Of one process: two steps of 1 ms, each with `n` kernels of `dur` us. */
struct process {
    int pid, device, first_id, n, dur;
};

static void add_op(struct made *m, const struct process *p, int at)
{
    made_event(m, "cpu_op", "aten::mm", p->pid, p->pid, at, 15);
    made_add(m, "}},");
}

static void add_launch(struct made *m, const struct process *p, int at, int id)
{
    made_event(m, "cuda_runtime", "cudaLaunchKernel", p->pid, p->pid, at + 5,
               5);
    made_add(m, "\"correlation\":%d}},", id);
}

static void add_kernel(struct made *m, const struct process *p, int at, int id)
{
    char name[16];

    snprintf(name, sizeof(name), "of %d", p->pid);
    m->device = p->device;
    made_kernel(m, 7, name, at, p->dur, id);
}

static void add_mark(struct made *m, const struct process *p, int step)
{
    char name[32];

    snprintf(name, sizeof(name), "ProfilerStep#%d", step);
    made_event(m, "user_annotation", name, p->pid, p->pid, 1000 * step, 999);
    made_add(m, "}},");
}

/* Host events and kernels of a step: as bits, to put them in any order. */
#define HOST    1
#define KERNELS 2

static void add_step(struct made *m, const struct process *p, int step,
                     int what)
{
    if (what & HOST)
        add_mark(m, p, step);
    for (int i = 0; i < p->n; i++) {
        int at = 1000 * step + 10 + 20 * i;
        int id = p->first_id + (step - 1) * p->n + i;

        if (what & HOST)
            add_op(m, p, at);
        if (what & HOST)
            add_launch(m, p, at, id);
        if (what & KERNELS)
            add_kernel(m, p, 1000 * step + 100 + i * p->dur, id);
    }
}

/* One process behind the other. */
static struct made one_by_one(const struct process *p, int n)
{
    struct made m = made_trace(-1, n);

    for (int i = 0; i < n; i++)
        for (int step = 1; step <= 2; step++)
            add_step(&m, &p[i], step, HOST | KERNELS);
    return m;
}

/* In the order of time, kernels last. */
static struct made by_time(const struct process *p, int n)
{
    struct made m = made_trace(-1, n);

    for (int step = 1; step <= 2; step++) {
        for (int i = 0; i < n; i++)
            add_step(&m, &p[i], step, HOST);
        for (int i = 0; i < n; i++)
            add_step(&m, &p[i], step, KERNELS);
    }
    return m;
}

/* Is each rank one process: its own operators, calls, kernels and steps? */
static void check_split(struct made m, const struct process *p, uint32_t n)
{
    struct made_job j;
    char name[16];

    REQUIRE(made_load(&j, &m, 1));
    CHECK(made_warned(&j, "processes were merged into it: each is a rank"));
    REQUIRE(j.job->n_ranks == n);
    for (uint32_t r = 0; r < n; r++) {
        const struct msim_trace *t = j.job->ranks[r];

        CHECK_INT(t->rank, r);
        CHECK_UINT(j.job->files[r].further, r > 0);
        CHECK_UINT(t->n_steps, 2);
        CHECK_UINT(t->n_threads, 1);
        CHECK_INT(t->threads[0].pid, p[r].pid);
        CHECK_UINT(t->n_calls, 2 * p[r].n);
        CHECK_UINT(t->n_gpu, 2 * p[r].n);
        CHECK_UINT(t->unlinked_gpu, 0);
        snprintf(name, sizeof(name), "of %d", p[r].pid);
        for (uint32_t i = 0; i < t->n_gpu; i++)
            CHECK_STR(msim_trace_text(t, t->gpu[i].name), name);
    }
    made_unload(&j);
}

/* Ids start again in each; so do devices, where a process sees one only. */
static void test_kineto_split__one_by_one(void)
{
    static const struct process own[] = {
        {1000, 0, 101, 3, 100}, {2000, 1, 101, 3, 150}, {3000, 2, 101, 2, 50}};
    static const struct process same[] = {{1000, 0, 101, 3, 100},
                                          {2000, 0, 101, 3, 150}};
    static const struct process turned[] = {{2000, 1, 101, 3, 100},
                                            {1000, 0, 101, 3, 150}};

    check_split(one_by_one(own, 3), own, 3);
    check_split(one_by_one(same, 2), same, 2);
    check_split(one_by_one(turned, 2), turned, 2);
}

/* By ids where those are unique, else by devices. */
static void test_kineto_split__by_time(void)
{
    static const struct process ids[] = {{1000, 0, 101, 3, 100},
                                         {2000, 0, 201, 3, 150}};
    static const struct process devices[] = {{1000, 0, 101, 3, 100},
                                             {2000, 1, 101, 3, 150}};

    check_split(by_time(ids, 2), ids, 2);
    check_split(by_time(devices, 2), devices, 2);
}

/* Equal ids on one device: nothing says whose a kernel is. */
static void test_kineto_split__unsure(void)
{
    static const struct process p[] = {{1000, 0, 101, 3, 100},
                                       {2000, 0, 101, 3, 150}};
    struct made m = by_time(p, 2);
    char *text = made_text(&m);
    struct msim_load_options opt = {.threads = 1};
    struct msim_error err = {0};
    struct msim_job *job;

    CHECK_INT(
        msim_job_load_memory(&job, "m.json", text, strlen(text), &opt, &err),
        MSIM_EFORMAT);
    CHECK(strstr(err.text, "2 processes were merged into this file") != NULL);
    free(text);
    made_free(&m);
}

/* A process that loads data is no rank, nor a part of one. */
static void test_kineto_split__loader(void)
{
    static const struct process p = {1000, 0, 101, 3, 100};
    struct made m = one_by_one(&p, 1);
    struct made_job j;

    made_event(&m, "cpu_op", "aten::stack", 4711, 1, 1200, 10);
    made_add(&m, "}},");
    made_event(&m, "cuda_runtime", "cudaGetDeviceCount", 4711, 1, 1220, 1);
    made_add(&m, "\"correlation\":999}},");
    REQUIRE(made_load(&j, &m, 1));
    CHECK_UINT(j.job->n_ranks, 1);
    CHECK_UINT(j.job->ranks[0]->n_threads, 1);
    CHECK_UINT(j.job->ranks[0]->import.rows[MSIM_IMPORT_BYSTANDER].n, 2);
    CHECK_UINT(j.job->n_warnings, 1);
    made_unload(&j);
}

/* Without a GPU, by steps. */
static void test_kineto_split__cpu(void)
{
    static const struct process p[] = {{1000, 0, 1, 2, 1}, {2000, 0, 1, 3, 1}};
    struct made m = made_trace(-1, 2);
    struct made_job j;

    for (int i = 0; i < 2; i++) {
        add_mark(&m, &p[i], 1);
        for (int k = 0; k < p[i].n; k++)
            add_op(&m, &p[i], 1010 + 20 * k);
    }
    REQUIRE(made_load(&j, &m, 1));
    REQUIRE(j.job->n_ranks == 2);
    CHECK_UINT(j.job->files[0].ops, 2);
    CHECK_UINT(j.job->files[1].ops, 3);
    CHECK_UINT(j.job->ranks[0]->n_steps, 1);
    made_unload(&j);
}

int main(void)
{
    RUN(test_kineto_split__one_by_one);
    RUN(test_kineto_split__by_time);
    RUN(test_kineto_split__unsure);
    RUN(test_kineto_split__loader);
    RUN(test_kineto_split__cpu);
    return check_summary();
}
