/*
 * tests/unit/core/job/test_job_groups.c - process groups across ranks.
 */
#include "core/job/job.h"
#include "tests/check.h"

#include <stdlib.h>

#define RANKS 6
#define MOST  4

struct rank {
    struct msim_trace t;
    struct msim_group groups[MOST];
    struct msim_comm comms[MOST];
};

static struct rank ranks[RANKS];
static struct msim_trace *traces[RANKS], ets[RANKS];
static struct msim_job job;

/* `n` ranks, of whose groups nothing is known. */
static void make(uint32_t n)
{
    memset(ranks, 0, sizeof(ranks));
    memset(ets, 0, sizeof(ets));
    memset(&job, 0, sizeof(job));
    msim_arena_init(&job.arena);
    CHECK_INT(msim_strtab_new(&job.strings), MSIM_OK);
    job.ranks = traces;
    job.n_ranks = n;
    for (uint32_t r = 0; r < n; r++) {
        traces[r] = &ranks[r].t;
        ranks[r].t = (struct msim_trace){.strings = job.strings,
                                         .groups = ranks[r].groups,
                                         .comms = ranks[r].comms,
                                         .rank = r,
                                         .has_times = true,
                                         .has_gpu_events = true};
    }
}

static void release(void)
{
    for (uint32_t r = 0; r < job.n_ranks; r++)
        free(ranks[r].t.group_ranks);
    free(job.warnings);
    msim_arena_release(&job.arena);
    msim_strtab_free(job.strings);
}

/* A group of every rank that calls it once, if `called`. */
static void add_group(uint32_t r, const char *name, uint32_t size, bool called)
{
    struct msim_trace *t = traces[r];
    uint32_t i = t->n_groups++;

    t->groups[i] = (struct msim_group){.size = size};
    CHECK_INT(
        msim_strtab_add(job.strings, name, strlen(name), &t->groups[i].name),
        MSIM_OK);
    if (called)
        t->comms[t->n_comms++] = (struct msim_comm){
            .collective = MSIM_COLL_ALL_REDUCE, .group = i, .peer = -1};
}

/* Its list, which "0 1 2" may be. */
static void list(uint32_t r, uint32_t group, const char *text)
{
    struct msim_trace *t = traces[r];
    struct msim_group *g = &t->groups[group];

    if (!t->group_ranks)
        t->group_ranks = calloc(64, sizeof(*t->group_ranks));
    t->cap_group_ranks = 64;
    g->first = t->n_group_ranks;
    for (; t->group_ranks && *text; text++)
        if (*text != ' ') {
            t->group_ranks[t->n_group_ranks++] = *text - '0';
            g->count++;
        }
}

static void name_groups(void)
{
    CHECK_INT(msim_job_name_groups(&job), MSIM_OK);
}

static void check_group(uint32_t r, uint32_t group, const char *name,
                        uint32_t size, const char *want)
{
    const struct msim_trace *t = traces[r];
    const struct msim_group *g = &t->groups[group];
    char text[64] = "";
    size_t used = 0;

    for (uint32_t i = 0; i < g->count; i++)
        used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%d",
                                 i ? " " : "", t->group_ranks[g->first + i]);
    CHECK_STR(msim_trace_text(t, g->name), name);
    CHECK_UINT(g->size, size);
    CHECK_STR(text, want);
}

static uint64_t noted(uint32_t r, enum msim_import_kind kind)
{
    return traces[r]->import.rows[kind].n;
}

static void check_warned(uint32_t n, const char *last)
{
    CHECK_UINT(job.n_warnings, n);
    if (n && job.n_warnings == n)
        CHECK_STR(job.warnings[n - 1], last);
}

/* ---- names --------------------------------------------------------------- */

/* An address, nine digits and more, is another one in each process: groups are
 * counted in their order. */
static void test_job_groups__addresses(void)
{
    make(2);
    add_group(0, "123456789", 4, false);
    add_group(0, "12345678", 4, false);
    add_group(0, "94200000000001", 4, false);
    add_group(0, "12345678x9", 4, false);
    add_group(1, "987654321", 4, false);
    name_groups();
    check_group(0, 0, "pg 0", 4, "");
    check_group(0, 1, "12345678", 4, "");
    check_group(0, 2, "pg 1", 4, "");
    check_group(0, 3, "12345678x9", 4, "");
    check_group(1, 0, "pg 0", 4, "");
    CHECK_UINT(noted(0, MSIM_IMPORT_GROUP_NAME), 2);
    CHECK_UINT(noted(1, MSIM_IMPORT_GROUP_NAME), 1);
    release();
}

static void test_job_groups__addresses_of_both(void)
{
    struct msim_group groups[1] = {{.size = 4}};

    make(1);
    add_group(0, "123456789", 4, false);
    groups[0].name = traces[0]->groups[0].name;
    ets[0] = (struct msim_trace){
        .strings = job.strings, .groups = groups, .n_groups = 1};
    traces[0]->et = &ets[0];
    name_groups();
    CHECK_STR(msim_strtab_text(job.strings, groups[0].name), "pg 0");
    CHECK_UINT(ets[0].import.rows[MSIM_IMPORT_GROUP_NAME].n, 1);
    traces[0]->et = NULL;
    release();
}

/* ---- sizes --------------------------------------------------------------- */

/* One group of unknown size spans the job: as it says, or as files are. */
static void check_single(uint32_t world, uint32_t size)
{
    make(3);
    for (uint32_t r = 0; r < 3; r++) {
        add_group(r, "0", 0, true);
        traces[r]->world_size = world;
    }
    name_groups();
    check_group(2, 0, "0", size, "");
    CHECK_UINT(traces[2]->world_size, size);
    CHECK_UINT(noted(2, MSIM_IMPORT_GROUP_SIZE), 1);
    check_warned(0, NULL);
    release();
}

static void test_job_groups__single(void)
{
    check_single(0, 3);
    check_single(8, 8);
}

/* Of several nothing follows, and it is said once; a message is no reason. */
static void test_job_groups__several_unsized(void)
{
    make(2);
    for (uint32_t r = 0; r < 2; r++) {
        add_group(r, "0", 0, true);
        add_group(r, "1", 0, true);
        traces[r]->comms[0].collective = MSIM_COLL_SEND;
    }
    name_groups();
    check_group(1, 0, "0", 0, "");
    CHECK_UINT(traces[1]->world_size, 0);
    CHECK_UINT(noted(1, MSIM_IMPORT_GROUP_SIZE), 0);
    check_warned(1, "no file says which ranks are in process group '1': its "
                    "collectives are taken to be of all ranks");
    release();
}

/* A job is as large as its largest group, and as its files; what cannot be is
 * no size. */
static void check_world(uint32_t a, uint32_t b, uint32_t want)
{
    make(4);
    add_group(0, "0", a, false);
    add_group(0, "1", b, false);
    name_groups();
    CHECK_UINT(traces[0]->world_size, want);
    release();
}

static void test_job_groups__world(void)
{
    check_world(8, 16, 16);
    check_world(16, 8, 16);
    check_world(2, 3, 4);
    check_world(5, (1u << 24) + 1, 5);
    check_world(5, 1u << 24, 1u << 24);
    check_world(0, 0, 0);
    make(1);
    add_group(0, "0", 8, false);
    traces[0]->world_size = 4; /* as the file says */
    name_groups();
    CHECK_UINT(traces[0]->world_size, 4);
    release();
}

/* What was generated is all of its job: a group is of those that name it. */
static void test_job_groups__generated(void)
{
    make(4);
    for (uint32_t r = 0; r < 4; r++) {
        traces[r]->has_times = false;
        add_group(r, r % 2 ? "odd" : "even", 0, true);
        add_group(r, "known", 7, false);
    }
    traces[2]->rank = -1;
    name_groups();
    CHECK_UINT(traces[0]->world_size, 4);
    check_group(0, 0, "even", 2, "0");
    check_group(1, 0, "odd", 2, "1 3");
    check_group(3, 0, "odd", 2, "1 3");
    check_group(3, 1, "known", 7, "");
    CHECK_UINT(noted(3, MSIM_IMPORT_GROUP_CALLERS), 1);
    release();
    make(1); /* without kernels it is an execution trace */
    traces[0]->has_times = traces[0]->has_gpu_events = false;
    add_group(0, "a", 0, false);
    add_group(0, "b", 0, false);
    name_groups();
    check_group(0, 0, "a", 0, "");
    CHECK_UINT(noted(0, MSIM_IMPORT_GROUP_CALLERS), 0);
    release();
}

/* ---- lists that were completed ------------------------------------------- */

/* Rank 3 calls a group that is taken to go on as "0 1 2": all who took it so
 * are wrong. Of another list, or another name, they are not. */
static void test_job_groups__wrong_lists(void)
{
    make(5);
    for (uint32_t r = 0; r < 5; r++) {
        add_group(r, r == 2 ? "x" : "0", 3, true);
        list(r, 0, r == 1 ? "0 1 4" : "0 1 2");
        traces[r]->groups[0].completed = r != 4;
    }
    name_groups();
    check_group(0, 0, "0", 3, "");
    check_group(1, 0, "0", 3, "0 1 4");
    check_group(2, 0, "x", 3, "0 1 2");
    check_group(3, 0, "0", 3, "");
    check_group(4, 0, "0", 3, "0 1 2"); /* as recorded */
    CHECK_UINT(noted(0, MSIM_IMPORT_GROUP_RANKS), 0);
    CHECK_UINT(noted(1, MSIM_IMPORT_GROUP_RANKS), 1);
    CHECK_UINT(noted(4, MSIM_IMPORT_GROUP_RANKS), 0);
    CHECK(!traces[0]->groups[0].completed && traces[1]->groups[0].completed);
    release();
}

/* Who does not call it, or has no number, tells nothing. */
static void test_job_groups__completed(void)
{
    make(4);
    for (uint32_t r = 0; r < 4; r++) {
        add_group(r, "0", 3, r != 3);
        list(r, 0, "0 1 2");
        traces[r]->groups[0].completed = true;
    }
    name_groups();
    for (uint32_t r = 0; r < 4; r++)
        check_group(r, 0, "0", 3, "0 1 2");
    release();
    make(2);
    add_group(0, "0", 3, true);
    list(0, 0, "0 1 2");
    traces[0]->groups[0].completed = true;
    traces[0]->rank = -1;
    name_groups();
    check_group(0, 0, "0", 3, "0 1 2");
    release();
}

/* ---- groups of a part of the job ----------------------------------------- */

/* More ranks call it than it has: it is one of several, of neighbours each. It
 * is said once, and of each collective. */
static void check_parts(uint32_t callers, uint32_t size, uint32_t world,
                        const char *last, const char *warning)
{
    make(callers);
    for (uint32_t r = 0; r < callers; r++) {
        add_group(r, "tp", size, true);
        traces[r]->world_size = world;
    }
    name_groups();
    check_group(callers - 1, 0, "tp", size, last);
    check_group(0, 0, "tp", size, !*last ? "" : size == 2 ? "0 1" : "0 1 2 3");
    check_warned(warning != NULL, warning);
    for (uint32_t r = 0; r < callers; r++)
        CHECK_UINT(noted(r, MSIM_IMPORT_NEIGHBOURS), warning != NULL);
    release();
}

static void test_job_groups__neighbours(void)
{
    check_parts(4, 2, 4, "2 3",
                "process group 'tp' is 2 of 4 ranks, and no file says which: "
                "taken as neighbours");
    check_parts(6, 4, 6, "4 5", /* the last is as large as there are ranks */
                "process group 'tp' is 4 of 6 ranks, and no file says which: "
                "taken as neighbours");
    check_parts(3, 3, 4, "",
                "process group 'tp' is 3 of 4 ranks, and no file says which: "
                "taken as neighbours");
    check_parts(4, 4, 4, "", NULL); /* all of it */
    check_parts(4, 1, 4, "", NULL);
}

/* A list, a message, and a rank without a number are left as they are. */
static void test_job_groups__left_alone(void)
{
    make(4);
    for (uint32_t r = 0; r < 4; r++) {
        add_group(r, "tp", 2, true);
        traces[r]->world_size = 4;
        traces[r]->comms[0].collective = MSIM_COLL_RECV;
    }
    list(0, 0, "0 3");
    traces[1]->rank = -1;
    name_groups();
    check_warned(0, NULL);
    check_group(0, 0, "tp", 2, "0 3");
    check_group(1, 0, "tp", 2, "");
    check_group(2, 0, "tp", 2, "2 3");
    release();
}

int main(void)
{
    RUN(test_job_groups__addresses);
    RUN(test_job_groups__addresses_of_both);
    RUN(test_job_groups__single);
    RUN(test_job_groups__several_unsized);
    RUN(test_job_groups__world);
    RUN(test_job_groups__generated);
    RUN(test_job_groups__wrong_lists);
    RUN(test_job_groups__completed);
    RUN(test_job_groups__neighbours);
    RUN(test_job_groups__left_alone);
    return check_summary();
}
