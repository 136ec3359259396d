/*
 * tests/unit/core/chakra/test_chakra_nodes.c - nodes and what they depend on,
 * and the nodes of a rank without times.
 */
#include "core/chakra/write_chakra_internal.h"

#include "tests/unit/loaded.h"

static const struct msim_chakra_out_node *
node_at(const struct msim_chakra_nodes *p, uint32_t i)
{
    return (const struct msim_chakra_out_node *)p->nodes.data + i;
}

/* "NODE" or "NODE+lag in ns", one after the other. */
static void check_deps(const struct msim_chakra_nodes *p, uint32_t i,
                       const char *want)
{
    const struct msim_chakra_out_node *n = node_at(p, i);
    const struct msim_chakra_dep *dep = p->deps.data;
    struct spelled got = {"", 0};

    for (uint32_t k = n->deps; k < n->deps + n->n_deps; k++) {
        spell(&got, "%s%u", k > n->deps ? " " : "", dep[k].node);
        if (dep[k].lag_ns)
            spell(&got, "%+d", dep[k].lag_ns);
    }
    CHECK_STR(got.text, want);
}

static void add(struct msim_chakra_nodes *p, uint32_t want)
{
    uint32_t index = MSIM_NONE;

    CHECK_INT(msim_chakra_nodes_add(p, MSIM_CHAKRA_CALL_EVENT, 7, 8, &index),
              MSIM_OK);
    CHECK_UINT(index, want);
}

static void depend(struct msim_chakra_nodes *p, uint32_t node, msim_ps lag)
{
    CHECK_INT(msim_chakra_nodes_depend(p, node, lag), MSIM_OK);
}

static void test_chakra_nodes__depend(void)
{
    struct msim_chakra_nodes p = {0};
    const msim_ps most = (msim_ps)INT32_MAX * 1000,
                  least = (msim_ps)INT32_MIN * 1000;

    add(&p, 0);
    CHECK_INT(node_at(&p, 0)->row, 7);
    CHECK_INT(node_at(&p, 0)->own, 8);
    CHECK_INT(node_at(&p, 0)->event, MSIM_CHAKRA_CALL_EVENT);
    CHECK_INT(node_at(&p, 0)->not_before, MSIM_TIME_NONE);
    CHECK_UINT(node_at(&p, 0)->op, MSIM_NONE);
    CHECK_UINT(node_at(&p, 0)->ctrl, MSIM_NONE);
    add(&p, 1);
    depend(&p, 0, 2999); /* whole nanoseconds */
    add(&p, 2);
    depend(&p, 1, 999); /* none */
    depend(&p, 0, -2000);
    CHECK_UINT(p.delays, 2);
    CHECK_INT(p.delayed, 0); /* 2 - 2 ns */
    depend(&p, 0, 3000);     /* twice is once, with the longer lag */
    depend(&p, 0, 1000);
    add(&p, 3);
    depend(&p, 0, most + 1000);
    depend(&p, 1, least - 1000);
    depend(&p, 2, 5000);
    depend(&p, 2, 1000);
    check_deps(&p, 0, "");
    check_deps(&p, 1, "0+2");
    check_deps(&p, 2, "1 0+3");
    check_deps(&p, 3, "0+2147483647 1-2147483648 2+5");
    CHECK_UINT(p.delays, 5);
    CHECK_INT(p.delayed, (INT32_MAX + (int64_t)INT32_MIN + 5) * 1000);
    msim_chakra_nodes_release(&p);
    CHECK_UINT(p.nodes.n, 0);
}

/* ---- without times ------------------------------------------------------- */

enum { MOST = 12 };

/* An operator is a letter: "l" a label, "r" a root, "m" a product, "b" one that
 * moves bytes, "f" one of flops alone, "c" a collective, "w" a wait for it, "o"
 * one without work. */
struct made {
    struct msim_trace t;
    struct msim_op ops[MOST];
    struct msim_comm comms[MOST];
    struct msim_chakra_work works[MOST];
};

static void make(struct made *m, const char *text)
{
    *m = (struct made){.t = {.ops = m->ops, .comms = m->comms}};
    for (uint32_t i = 0; text[i]; i++) {
        char c = text[i];

        m->ops[i] = msim_op_empty();
        m->ops[i].et_id = 10 + i;
        m->ops[i].parent = i ? 0 : MSIM_NONE;
        m->ops[i].kind = c == 'l'   ? MSIM_OP_ANNOTATION
                         : c == 'r' ? MSIM_OP_ROOT
                                    : MSIM_OP_OPERATOR;
        m->works[i].bytes = c == 'm' || c == 'b' ? 1 : 0;
        m->works[i].flops = c == 'm' || c == 'f' ? 1 : 0;
        if (c == 'c' || c == 'w') {
            m->ops[i].comm = m->t.n_comms;
            m->comms[m->t.n_comms++].collective =
                c == 'w' ? MSIM_COLL_WAIT : MSIM_COLL_ALL_REDUCE;
        }
        m->t.n_ops++;
    }
}

/* A node is "event(row)": what it depends on; of what is made the operator
 * stands for the row, and the call before it. */
static void check_nodes(const struct msim_chakra_nodes *p, const char *want)
{
    struct spelled got = {"", 0};
    const struct msim_chakra_dep *dep = p->deps.data;

    for (uint32_t i = 0; i < p->nodes.n; i++) {
        const struct msim_chakra_out_node *n = node_at(p, i);

        spell(&got, "%s%c", i ? " " : "",
              *msim_chakra_event_text((enum msim_chakra_event)n->event));
        CHECK_INT(n->own, 0);
        if (n->row != MSIM_NONE)
            spell(&got, "%u", n->row);
        if (n->op != MSIM_NONE)
            spell(&got, "/%u", n->op);
        if (n->ctrl != MSIM_NONE)
            spell(&got, "^%u", n->ctrl);
        for (uint32_t k = 0; k < n->n_deps; k++)
            spell(&got, "%c%u", k ? ',' : ':', dep[n->deps + k].node);
    }
    CHECK_STR(got.text, want);
}

static void check_shapes(struct made *m, bool works, const char *want)
{
    struct msim_chakra_nodes p = {0};

    CHECK_INT(msim_chakra_nodes_shapes(&p, &m->t, works ? m->works : NULL),
              MSIM_OK);
    CHECK(p.trace == &m->t);
    check_nodes(&p, want);
    msim_chakra_nodes_release(&p);
}

/*
 * Operators one behind the other (o, a, r: operator, annotation, root). What is
 * made (m) stands below its operator, behind what ran before on its stream; a
 * collective behind the kernel before it, and a kernel behind a collective that
 * was waited for.
 */
static void test_chakra_nodes__shapes(void)
{
    static const struct {
        const char *ops, *want;
    } cases[] = {
        {"", ""},
        {"rlo", "r0 a1^0:0 o2^0:1"},
        {"rmbf", "r0 o1^0:0 m/1^1:1 o2^0:1 m/2^3:3,2 o3^0:3 m/3^5:5,4"},
        {"rcc", "r0 o1^0:0 m0/1^1:1 o2^0:1 m1/2^3:3,2"},
        {"rmc", "r0 o1^0:0 m/1^1:1 o2^0:1 m0/2^3:3,2"},
        {"rcm", "r0 o1^0:0 m0/1^1:1 o2^0:1 m/2^3:3"},
        {"rcwmm", "r0 o1^0:0 m0/1^1:1 o2^0:1 o3^0:3 m/3^4:4,2 o4^0:4 "
                  "m/4^6:6,5"},
        {"rcwom", "r0 o1^0:0 m0/1^1:1 o2^0:1 o3^0:3 o4^0:4 m/4^5:5,2"},
        {"rwcm", "r0 o1^0:0 o2^0:1 m0/2^2:2 o3^0:2 m/3^4:4"},
    };
    struct made m;

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        make(&m, cases[i].ops);
        /* Rows of waits count as messages, too. */
        if (!strcmp(cases[i].ops, "rwcm")) {
            m.ops[1].comm = 1;
            m.ops[2].comm = 0;
            m.comms[0].collective = MSIM_COLL_ALL_REDUCE;
            m.comms[1].collective = MSIM_COLL_WAIT;
        }
        check_shapes(&m, true, cases[i].want);
    }
    make(&m, "rm");
    check_shapes(&m, false, "r0 o1^0:0");
}

/* Nodes come by their ids in the execution trace, whatever the thread; those
 * of one id as they lie there. */
static void test_chakra_nodes__order(void)
{
    static const uint32_t ids[] = {10, 70, 50, 30, 20, 50, 60, 40};
    struct made m;

    make(&m, "rooooooo");
    for (uint32_t i = 0; i < 8; i++)
        m.ops[i].et_id = ids[i];
    check_shapes(&m, true,
                 "r0 o4^0:0 o3^0:1 o7^0:2 o2^0:3 o5^0:4 o6^0:5 o1^0:6");
}

int main(void)
{
    RUN(test_chakra_nodes__depend);
    RUN(test_chakra_nodes__shapes);
    RUN(test_chakra_nodes__order);
    return check_summary();
}
