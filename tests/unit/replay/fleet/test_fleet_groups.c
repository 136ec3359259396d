/*
 * tests/unit/replay/fleet/test_fleet_groups.c - which files are one job.
 */
#include "replay/fleet/fleet.h"
#include "tests/check.h"

#include <stdlib.h>

#define MOST 12

/* Kineto traces without ranks in themselves, unless their path ends in .et:
 * then an execution trace. Leaders are looked up by path, since files get
 * sorted. */
struct made_files {
    struct msim_fleet_file all[MOST];
    uint32_t n;
    struct msim_arena arena;
};

static struct msim_fleet_file *add(struct made_files *m, const char *path,
                                   bool et)
{
    struct msim_fleet_file *f = &m->all[m->n++];

    *f = (struct msim_fleet_file){.path = path, .et = et, .rank = -1};
    return f;
}

static void add_ranked(struct made_files *m, const char *path, int64_t rank,
                       uint32_t world)
{
    struct msim_fleet_file *f = add(m, path, false);

    f->rank = rank;
    f->world = world;
}

static void group(struct made_files *m)
{
    msim_arena_init(&m->arena);
    CHECK_INT(msim_fleet_group(&m->arena, m->all, m->n), MSIM_OK);
}

static uint32_t find(const struct made_files *m, const char *path)
{
    for (uint32_t i = 0; i < m->n; i++)
        if (!strcmp(m->all[i].path, path))
            return i;
    CHECK(!"no such file");
    return 0;
}

/* The name of the job that a file is part of; "" of none. */
static const char *job_of(struct made_files *m, const char *path)
{
    uint32_t i = find(m, path);

    if (m->all[i].twin != MSIM_NONE)
        return "";
    return msim_fleet_job_name(&m->arena, m->all, m->n, m->all[i].leader);
}

static void test_groups__ranks_and_halves(void)
{
    struct made_files m = {.n = 0};

    const char *name = "f/dlrm/kineto/rank-*.json.gz";

    add(&m, "f/dlrm/kineto/rank-1.json.gz", false);
    add(&m, "f/dlrm/kineto/rank-10.json.gz", false);
    add(&m, "f/dlrm/kineto/rank-0.json.gz", false);
    add(&m, "f/dlrm/et/rank-0.json", true);
    add(&m, "f/dlrm/et/rank-1.json", true);
    add(&m, "f/dlrm/et-linked/rank-0.json", true);
    add(&m, "f/bert/kineto/rank-0.json", false);
    add(&m, "f/bert/kineto/rank-1.json", false);
    add(&m, "f/bert/et/rank-0.json", true);
    add(&m, "f/bert-large/rank-0.json", false);
    add(&m, "f/top.json", false);
    group(&m);
    CHECK_STR(job_of(&m, "f/dlrm/kineto/rank-0.json.gz"), name);
    CHECK_STR(job_of(&m, "f/dlrm/kineto/rank-10.json.gz"), name);
    CHECK_STR(job_of(&m, "f/dlrm/et/rank-1.json"), name);
    CHECK_STR(job_of(&m, "f/dlrm/et-linked/rank-0.json"), "f/dlrm/et-linked");
    CHECK_STR(job_of(&m, "f/bert/kineto/rank-0.json"), "f/bert");
    CHECK_STR(job_of(&m, "f/bert/et/rank-0.json"), "f/bert");
    CHECK_STR(job_of(&m, "f/bert-large/rank-0.json"), "f/bert-large");
    CHECK_STR(job_of(&m, "f/top.json"), "f/top.json");
    msim_arena_release(&m.arena);
}

static void test_groups__loose_files(void)
{
    struct made_files m = {.n = 0};

    add(&m, "f/batch-2.json", false);
    add(&m, "f/batch-8.json", false);
    add(&m, "f/two.0.et", false);
    add(&m, "f/two.1.et", false);
    add(&m, "alone.json", false);
    group(&m);
    CHECK_STR(job_of(&m, "f/batch-2.json"), "f/batch-2.json");
    CHECK_STR(job_of(&m, "f/batch-8.json"), "f/batch-8.json");
    CHECK_STR(job_of(&m, "f/two.0.et"), "f/two.*.et");
    CHECK_STR(job_of(&m, "f/two.1.et"), "f/two.*.et");
    CHECK_STR(job_of(&m, "alone.json"), "alone.json");
    msim_arena_release(&m.arena);
}

/* Halves with the same names, the only ones of a folder, and others. */
static void test_groups__pairs(void)
{
    struct made_files m = {.n = 0};

    add(&m, "a/kineto/batch-2.json", false);
    add(&m, "a/kineto/batch-8.json", false);
    add(&m, "a/et/batch-8.json", true);
    add(&m, "b/kineto.json", false);
    add(&m, "b/observer.json", true);
    add(&m, "c/kineto/rank-0.json", false);
    add(&m, "c/et/schema-1.json", true);
    add(&m, "c/et/schema-2.json", true);
    group(&m);
    CHECK_STR(job_of(&m, "a/et/batch-8.json"), "a/kineto/batch-8.json");
    CHECK_STR(job_of(&m, "a/kineto/batch-2.json"), "a/kineto/batch-2.json");
    CHECK_STR(job_of(&m, "b/observer.json"), "b");
    CHECK_STR(job_of(&m, "b/kineto.json"), "b");
    CHECK_STR(job_of(&m, "c/kineto/rank-0.json"), "c/kineto/rank-0.json");
    CHECK_STR(job_of(&m, "c/et/schema-2.json"), "c/et/schema-2.json");
    msim_arena_release(&m.arena);
}

/* Ranks that only the files know. */
static void test_groups__worlds(void)
{
    struct made_files m = {.n = 0};

    add_ranked(&m, "a/host-x.1.pt.trace.json", 1, 2);
    add_ranked(&m, "a/host-y.7.pt.trace.json", 0, 2);
    add_ranked(&m, "b/x.json", 0, 8);
    add_ranked(&m, "b/y.json", 0, 8);
    add_ranked(&m, "c/x.json", 0, 8);
    add_ranked(&m, "c/y.json", 1, 4);
    add_ranked(&m, "d/x.json", 0, 1);
    add_ranked(&m, "d/y.json", 1, 1);
    group(&m);
    CHECK_STR(job_of(&m, "a/host-x.1.pt.trace.json"), "a");
    CHECK_STR(job_of(&m, "a/host-y.7.pt.trace.json"), "a");
    CHECK_STR(job_of(&m, "b/x.json"), "b/x.json");
    CHECK_STR(job_of(&m, "c/y.json"), "c/y.json");
    CHECK_STR(job_of(&m, "d/y.json"), "d/y.json");
    msim_arena_release(&m.arena);
}

static void test_groups__twins_and_named(void)
{
    struct made_files m = {.n = 0};

    add(&m, "a/rank-0.json", false);
    add(&m, "a/rank-0.json.gz", false);
    add(&m, "a/rank-1.json", false);
    add(&m, "b/rank-0.json", false)->named = true;
    add(&m, "b/rank-1.json", false)->named = true;
    add(&m, "c/rank-0.json", false)->named = true;
    group(&m);
    CHECK_STR(job_of(&m, "a/rank-0.json"), "a/rank-*.json");
    CHECK_STR(job_of(&m, "a/rank-0.json.gz"), "");
    CHECK_STR(job_of(&m, "b/rank-1.json"), "b/rank-*.json");
    CHECK_STR(job_of(&m, "c/rank-0.json"), "c/rank-0.json");
    msim_arena_release(&m.arena);
}

/* Numbers that are no ranks keep files apart; places of an engine are ranks. */
static void test_groups__plausible_ranks(void)
{
    struct made_files m = {.n = 0};

    add(&m, "f/step.100.json", false);
    add(&m, "f/step.200.json", false);
    add(&m, "f/9-TP-0-PP-0.json", false);
    add(&m, "f/9-TP-0-PP-1.json", false);
    add(&m, "f/llama-tp4-x.0.json", false);
    add(&m, "f/llama-tp4-x.1.json", false);
    add(&m, "f/llama-tp8-x.0.json", false);
    add(&m, "f/llama-tp8-x.1.json", false);
    group(&m);
    CHECK_STR(job_of(&m, "f/step.100.json"), "f/step.100.json");
    CHECK_STR(job_of(&m, "f/step.200.json"), "f/step.200.json");
    CHECK_STR(job_of(&m, "f/9-TP-0-PP-1.json"), "f/9-TP-0-PP-*.json");
    CHECK_STR(job_of(&m, "f/llama-tp4-x.1.json"), "f/llama-tp4-x.*.json");
    CHECK_STR(job_of(&m, "f/llama-tp8-x.1.json"), "f/llama-tp8-x.*.json");
    msim_arena_release(&m.arena);
}

int main(void)
{
    RUN(test_groups__ranks_and_halves);
    RUN(test_groups__loose_files);
    RUN(test_groups__pairs);
    RUN(test_groups__worlds);
    RUN(test_groups__twins_and_named);
    RUN(test_groups__plausible_ranks);
    return check_summary();
}
