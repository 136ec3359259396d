/*
 * tests/unit/core/graph/rules/test_graph_messages.c - which messages of a rank
 * run behind each other.
 *
 * A call is "s1" or "r1", a message to or from rank 1 of the group that all are
 * of; "S1" and "R1" are of another group, "a" is a collective, "b" a batch
 * whose other end is not recorded, "x" a message that no operator has.
 */
#include "core/graph/rules/graph_rules.h"

#include "tests/check.h"

#include <stdlib.h>

#define MOST 12 /* calls of a rank */

struct rank {
    struct msim_trace t;
    struct msim_op ops[MOST];
    struct msim_comm comms[MOST + 1];
};

static struct msim_group groups[2] = {{.size = 4}, {.size = 4}};

/* Calls lie in the order of the text; with `back` they began in the opposite
 * one, which is what counts. */
static void make(struct rank *r, int64_t number, const char *calls, bool back)
{
    uint32_t n = 0;

    memset(r, 0, sizeof(*r));
    for (const char *at = calls; *at; at += *at == ' ') {
        struct msim_comm *c = &r->comms[n];
        char what = *at++;

        *c = (struct msim_comm){.op = what == 'x' ? MSIM_NONE : n,
                                .peer = -1,
                                .sequence = -1,
                                .group = what == 'S' || what == 'R'};
        c->collective = what == 's' || what == 'S' || what == 'x'
                            ? MSIM_COLL_SEND
                        : what == 'a' ? MSIM_COLL_ALL_REDUCE
                                      : MSIM_COLL_RECV;
        if (*at >= '0' && *at <= '9')
            c->peer = *at++ - '0';
        r->ops[n].et_id = back ? 100 - n : 1 + n;
        n++;
    }
    /* What is no call of the rank lies behind the last one. */
    r->comms[n] = (struct msim_comm){.peer = 1, .collective = MSIM_COLL_SEND};
    r->t = (struct msim_trace){.rank = number,
                               .world_size = 4,
                               .ops = r->ops,
                               .n_ops = n,
                               .comms = r->comms,
                               .n_comms = n,
                               .groups = groups,
                               .n_groups = 2};
}

/* Behind which call each one of rank 0 runs, "-": behind none. */
static void check_order(const char *const calls[3], bool back, const char *want)
{
    static struct rank ranks[3];
    struct msim_trace *traces[4] = {NULL};
    struct msim_job job = {.ranks = traces};
    uint32_t behind[MOST + 1];
    char got[8 * MOST] = "";
    size_t len = 0;

    for (uint32_t i = 0; i < 3 && calls[i]; i++) {
        make(&ranks[i], i, calls[i], back);
        traces[job.n_ranks++] = &ranks[i].t;
    }
    memset(behind, 0xab, sizeof(behind));
    CHECK_INT(msim_graph_message_order(&job, 0, behind), MSIM_OK);
    CHECK_UINT(behind[traces[0]->n_comms], 0xabababab);
    for (uint32_t i = 0; i < traces[0]->n_comms; i++)
        len += (size_t)snprintf(got + len, sizeof(got) - len,
                                behind[i] == MSIM_NONE ? "%s-" : "%s%u",
                                i ? " " : "", behind[i]);
    CHECK_STR(got, want);
}

static void test_graph_messages__order(void)
{
    static const struct {
        const char *calls[3], *want;
        bool back;
    } cases[] = {
        /* one way behind each other, and pairs side by side */
        {{"s1 s1 s1", "r0 r0 r0"}, "- 0 1", false},
        {{"s1 s2 s1 s2", "r0 r0", "r0 r0"}, "- - 0 1", false},
        {{"s1 s1 s1", "r0 r0 r0"}, "1 2 -", true},
        /* both send first, or both receive first: at once */
        {{"s1 r1", "s0 r0"}, "- -", false},
        {{"r1 s1", "r0 s0"}, "- -", false},
        /* ... the second of which come behind the first on both */
        {{"s1 r1 s1 r1", "s0 r0 s0 r0"}, "- - 1 1", false},
        /* one sends first, the other receives first: calls of their own */
        {{"s1 r1", "r0 s0"}, "- 0", false},
        {{"r1 s1 r1 s1", "s0 r0 s0 r0"}, "- 0 1 2", false},
        {{"s1 r1", "r0 s0"}, "1 -", true},
        /* the last one before decides, which is the other rank's last, too */
        {{"s1 s1 r1", "r0 s0 r0"}, "- 0 -", false},
        {{"s1 s1 r1", "r0 r0 s0"}, "- 0 1", false},
        /* of another group: nothing of the pair */
        {{"s1 R1", "r0 S0"}, "- -", false},
        {{"S1 R1", "R0 S0"}, "- 0", false},
        /* the other one lacks a message, or is not there */
        {{"s1 r1", "r0"}, "- -", false},
        {{"r1 s1", "r0"}, "- -", false},
        {{"s1 r1 s1"}, "- - 0", false},
        /* what is no message, or of no operator, stands behind nothing */
        {{"a s1 b s1 x1 s1", "r0 r0 r0"}, "- - - 1 - 3", false},
        {{"a", "a"}, "-", false},
        {{"", ""}, "", false},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        check_order(cases[i].calls, cases[i].back, cases[i].want);
}

/* Two calls of one moment are in the order in which they are recorded. */
static void test_graph_messages__at_once(void)
{
    static struct rank r;
    struct msim_trace *traces[] = {&r.t};
    struct msim_job job = {.ranks = traces, .n_ranks = 1};
    uint32_t behind[MOST];

    make(&r, 0, "s1 s1 s1", false);
    for (uint32_t i = 0; i < 3; i++)
        r.ops[i].et_id = 7;
    CHECK_INT(msim_graph_message_order(&job, 0, behind), MSIM_OK);
    CHECK_UINT(behind[0], MSIM_NONE);
    CHECK_UINT(behind[1], 0);
    CHECK_UINT(behind[2], 1);
}

int main(void)
{
    RUN(test_graph_messages__order);
    RUN(test_graph_messages__at_once);
    return check_summary();
}
