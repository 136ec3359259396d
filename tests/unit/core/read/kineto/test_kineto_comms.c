/*
 * tests/unit/core/read/kineto/test_kineto_comms.c - collectives and their
 * groups, as an event says them.
 */
#include "tests/unit/loaded_kineto.h"

#define LENGTH(list) (sizeof(list) / sizeof(*(list)))

/* A collective kernel of a rank that says `args`. */
static struct msim_job *load_comm(int rank, int world, const char *args)
{
    struct made m = made_trace(rank, world);

    made_op(&m, 1, "anchor", 0, 100);
    made_event(&m, "kernel", "ncclDevKernel", 0, 7, 10, 5);
    made_add(&m, "\"device\":0,\"stream\":7,%s}},", args);
    return load_made(&m);
}

/* Whom a rank sends to, or else where it comes from. */
static void test_kineto_comms__peers(void)
{
    static const struct {
        const char *args;
        int collective, peer;
    } ROWS[] = {
        {"\"send\",\"Src Rank\":3,\"Dst Rank\":4", MSIM_COLL_SEND, 4},
        {"\"send\",\"Src Rank\":3,\"Dst Rank\":0", MSIM_COLL_SEND, 0},
        {"\"send\",\"Src Rank\":3,\"Dst Rank\":-1", MSIM_COLL_SEND, 3},
        {"\"send\",\"Src Rank\":3", MSIM_COLL_SEND, 3},
        {"\"recv\",\"Src Rank\":3,\"Dst Rank\":4", MSIM_COLL_RECV, 3},
        {"\"recv\",\"Src Rank\":0", MSIM_COLL_RECV, 0},
        {"\"recv\",\"Src Rank\":2147483647", MSIM_COLL_RECV, INT32_MAX},
        {"\"recv\",\"Src Rank\":2147483648", MSIM_COLL_RECV, -1},
        {"\"allreduce\",\"Src Rank\":-7", MSIM_COLL_ALL_REDUCE, -1},
        {"\"allreduce\"", MSIM_COLL_ALL_REDUCE, -1},
    };

    for (size_t i = 0; i < LENGTH(ROWS); i++) {
        struct msim_job *job;
        const struct msim_comm *c;
        char args[96];

        snprintf(args, sizeof(args), "\"Collective name\":%s", ROWS[i].args);
        job = load_comm(0, 0, args);
        REQUIRE(job && job->ranks[0]->n_comms == 1);
        c = job->ranks[0]->comms;
        CHECK_INT(job->ranks[0]->gpu[0].kind, MSIM_GPU_COMM);
        CHECK_UINT(job->ranks[0]->gpu[0].comm, 0);
        CHECK_INT(c->collective, ROWS[i].collective);
        CHECK_INT(c->peer, ROWS[i].peer);
        CHECK_UINT(c->group, MSIM_NONE);
        CHECK_INT(c->sequence, -1);
        msim_job_free(job);
    }
}

static void test_kineto_comms__sizes(void)
{
    struct msim_job *job =
        load_comm(0, 0,
                  "\"Collective name\":\"allreduce\",\"In msg nelems\":1,"
                  "\"Out msg nelems\":-2,\"Seq\":0,\"dtype\":\"Half\"");
    const struct msim_comm *c;

    REQUIRE(job && job->ranks[0]->n_comms == 1);
    c = job->ranks[0]->comms;
    CHECK_UINT(c->in_elems, 1);
    CHECK_UINT(c->out_elems, 0);
    CHECK_INT(c->sequence, 0);
    CHECK_INT(c->dtype, MSIM_DT_F16);
    msim_job_free(job);
    job = load_comm(0, 0,
                    "\"Collective name\":\"allreduce\",\"In msg nelems\":-1,"
                    "\"Out msg nelems\":1");
    REQUIRE(job && job->ranks[0]->n_comms == 1);
    c = job->ranks[0]->comms;
    CHECK_UINT(c->in_elems, 0);
    CHECK_UINT(c->out_elems, 1);
    CHECK_INT(c->dtype, MSIM_DT_UNKNOWN);
    msim_job_free(job);
}

/*
 * The group that a call names, and its ranks: those of its list, those that a
 * start and a stride give, those that follow from the begin of a list that was
 * cut, or all where the list is empty and the size that of the job. The rank
 * that calls is the first of them.
 */
static void test_kineto_comms__groups(void)
{
#define NAMED "\"Process Group Name\":\"g\","
#define SIZE  "\"Group size\":"
#define RANKS ",\"Process Group Ranks\":"
#define LAID(start, stride)                                                    \
    ",\"Global rank start\":" start ",\"Global rank stride\":" stride
    static const struct {
        int world;
        const char *args, *name;
        uint32_t size;
        const char *ranks;
    } ROWS[] = {
        {0, "\"Group size\":0", NULL, 0, ""},
        {0, SIZE "1", "1 ranks", 1, ""},
        {0, SIZE "3", "3 ranks", 3, ""},
        {0, NAMED SIZE "3", "g", 3, ""},
        {0, NAMED SIZE "4294967294", "g", UINT32_MAX - 1, ""},
        /* none, or none that can be: it spans the job, which is one rank */
        {0, NAMED SIZE "4294967295", "g", 1, ""},
        {0, NAMED SIZE "0", "g", 1, ""},
        {0, "\"Process Group Name\":7," SIZE "2", "7", 2, ""},
        {0, "\"Process Group ID\":\"p\"," SIZE "2", "p", 2, ""},
        {0, NAMED SIZE "3" RANKS "[4,0,9]", "g", 3, "4 0 9"},
        {0, NAMED SIZE "3" RANKS "\"[4, 0, 9]\"", "g", 3, "4 0 9"},
        {0, NAMED SIZE "0" RANKS "[5,6]", "g", 2, "5 6"},
        {0, NAMED SIZE "2" RANKS "[5,2147483648]", "g", 2, "5 -1"},
        {0, NAMED SIZE "2" RANKS "[2147483647,5]", "g", 2, "2147483647 5"},
        /* an empty list: all ranks, if there are so many */
        {4, NAMED SIZE "8" RANKS "[]", "g", 8, ""},
        {4, NAMED SIZE "1", "g", 1, ""},
        {4, NAMED SIZE "4" RANKS "[]", "g", 4, "0 1 2 3"},
        {4, NAMED SIZE "2" RANKS "[]", "g", 2, ""},
        {4, NAMED SIZE "4" RANKS "[]" LAID("0", "1"), "g", 4, "0 1 2 3"},
        {4, NAMED SIZE "2" RANKS "[]" LAID("0", "1"), "g", 2, ""},
        /* laid out */
        {8, NAMED SIZE "3" LAID("1", "2"), "g", 3, "1 3 5"},
        {8, NAMED SIZE "3" LAID("1", "3"), "g", 3, "1 4 7"},
        {8, NAMED SIZE "3" LAID("2", "3"), "g", 3, ""}, /* 8 is none */
        {8, NAMED SIZE "3" LAID("1", "0"), "g", 3, ""},
        {8, NAMED SIZE "3" LAID("1", "-1"), "g", 3, ""},
        {0, NAMED SIZE "2" LAID("0", "2147483647"), "g", 2, "0 2147483647"},
        {0, NAMED SIZE "2" LAID("1", "2147483647"), "g", 2, ""},
        {0, NAMED SIZE "2" LAID("-1", "2"), "g", 2, ""},
        /* cut: distances repeat after one rank, after two, after three */
        {0, NAMED SIZE "6" RANKS "\"[0, 2, 4...]\"", "g", 6, "0 2 4 6 8 10"},
        {0, NAMED SIZE "6" RANKS "\"[0, 2, 4...]\"" LAID("0", "0"), "g", 6,
         "0 2 4 6 8 10"},
        {0, NAMED SIZE "7" RANKS "\"[0, 1, 4, 5, 8, ...]\"", "g", 7,
         "0 1 4 5 8 9 12"},
        {0, NAMED SIZE "8" RANKS "\"[0,1,2,8,9,10,16...]\"", "g", 8,
         "0 1 2 8 9 10 16 17"},
        {0, NAMED SIZE "6" RANKS "\"[0, 2...]\"", "g", 6, ""},
        {0, NAMED SIZE "6" RANKS "\"[0, 1, 5, 6...]\"", "g", 6, ""},
        {0, NAMED SIZE "4" RANKS "\"[4, 2, 0...]\"", "g", 4, ""},
        {8, NAMED SIZE "4" RANKS "\"[1, 3, 5...]\"", "g", 4, "1 3 5 7"},
        {7, NAMED SIZE "4" RANKS "\"[1, 3, 5...]\"", "g", 4, ""},
        {0, NAMED SIZE "4" RANKS "\"[1, 3...]\"" LAID("1", "2"), "g", 4,
         "1 3 5 7"},
        {0, NAMED SIZE "4" RANKS "\"[1, 2...]\"" LAID("1", "2"), "g", 4, ""},
        {0, NAMED SIZE "4" RANKS "\"[0, 1, 2...]\"" LAID("0", "-1"), "g", 4,
         ""}, /* the writer says that they are not regular */
    };

    for (size_t i = 0; i < LENGTH(ROWS); i++) {
        struct msim_job *job;
        const struct msim_trace *t;
        const struct msim_group *g;
        struct spelled ranks = {.len = 0};
        char args[256];

        snprintf(args, sizeof(args), "\"Collective name\":\"allreduce\",%s",
                 ROWS[i].args);
        job = load_comm((int)strtol(ROWS[i].ranks, NULL, 10), ROWS[i].world,
                        args);
        REQUIRE(job && job->ranks[0]->n_comms == 1);
        t = job->ranks[0];
        g = t->groups;
        CHECK_UINT(t->n_groups, ROWS[i].name != NULL);
        CHECK_UINT(t->comms[0].group, ROWS[i].name ? 0 : MSIM_NONE);
        if (!ROWS[i].name) {
            msim_job_free(job);
            continue;
        }
        CHECK_STR(msim_trace_text(t, g->name), ROWS[i].name);
        for (uint32_t k = 0; k < g->count; k++)
            spell(&ranks, "%s%d", k ? " " : "", t->group_ranks[g->first + k]);
        if (!CHECK_STR(ranks.text, ROWS[i].ranks) ||
            !CHECK_UINT(g->size, ROWS[i].size))
            fprintf(stderr, "    of '%s'\n", ROWS[i].args);
        msim_job_free(job);
    }
}

/* Groups of one name and other ranks are others; the begin of a list is that
 * of the group that begins so. */
static void test_kineto_comms__groups_of_one_name(void)
{
    static const struct {
        const char *ranks;
        uint32_t group;
    } ROWS[] = {{"[0, 1, 5]", 0}, {"[2, 3, 7]", 1}, {"[0, 1, 5]", 0},
                {"[2, 3...]", 1}, {"[2, 3, 7]", 1}, {"[0, 1, 6]", 2},
                {"[0, 1]", 3},    {"[2, 3]", 4},    {"[0...]", 0}};
    struct made m = made_trace(0, 8);
    struct msim_job *job;
    const struct msim_trace *t;

    made_op(&m, 1, "anchor", 0, 100);
    for (size_t i = 0; i < LENGTH(ROWS); i++) {
        made_event(&m, "kernel", "ncclDevKernel", 0, 7, 10 * (int)i, 5);
        made_add(&m,
                 "\"Collective name\":\"allreduce\",\"Process Group Name\":"
                 "\"g\",\"Process Group Ranks\":\"%s\"}},",
                 ROWS[i].ranks);
    }
    job = load_made(&m);
    REQUIRE(job && job->ranks[0]->n_comms == LENGTH(ROWS));
    t = job->ranks[0];
    CHECK_UINT(t->n_groups, 5);
    for (size_t i = 0; i < LENGTH(ROWS); i++)
        CHECK_UINT(t->comms[t->gpu[i].comm].group, ROWS[i].group);
    msim_job_free(job);
}

int main(void)
{
    RUN(test_kineto_comms__peers);
    RUN(test_kineto_comms__sizes);
    RUN(test_kineto_comms__groups);
    RUN(test_kineto_comms__groups_of_one_name);
    return check_summary();
}
