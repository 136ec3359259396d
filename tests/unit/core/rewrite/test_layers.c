/*
 * core/rewrite/layers.c - a step with more or fewer layers than the recorded
 * one: what its operators name, and when it is refused.
 */
#include "tests/unit/core/rewrite/trained_step.h"

#define LAYERS_MOST 8
#define NODES_A     12 /* of one layer */

/* Storages of layer i, from 0. */
#define WEIGHT   (100 + i)
#define STATE    (120 + i)
#define PRODUCT  (200 + i)
#define RESULT   (300 + i) /* the input of the next */
#define GRAD_OUT (401 + i)
#define GRAD_MID (420 + i)
#define GRAD     (440 + i)

/* The nodes of a step of several layers, and their texts. */
struct layered {
    struct made_node nodes[NODES_A * LAYERS_MOST + 8];
    char texts[2 * NODES_A * LAYERS_MOST + 16][256];
    size_t n, n_texts;
};

MSIM_PRINTF(2, 3)
static const char *text(struct layered *l, const char *fmt, ...)
{
    char *to = l->texts[l->n_texts++];
    va_list args;

    va_start(args, fmt);
    vsnprintf(to, sizeof(l->texts[0]), fmt, args);
    va_end(args);
    return to;
}

static void add(struct layered *l, unsigned parent, const char *name, int scope,
                int seq, const char *in, const char *out)
{
    l->nodes[l->n] = (struct made_node){
        (unsigned)l->n + 10, parent, name, scope, seq, in, out};
    l->n++;
}

/* Input of layer i: the step's (3), or what the layer before made. */
static unsigned given(unsigned i)
{
    return i ? 300 + i - 1 : 3;
}

static void add_forward(struct layered *l, unsigned i)
{
    add(l, 0, "aten::linear", 0, (int)(2 * i + 1),
        text(l, "%u:4000 %u:4000", given(i), WEIGHT),
        text(l, "%u:4000", PRODUCT));
    add(l, 0, "aten::relu", 0, (int)(2 * i + 2), text(l, "%u:4000", PRODUCT),
        text(l, "%u:4000", RESULT));
}

static void add_backward(struct layered *l, unsigned i)
{
    unsigned at = (unsigned)l->n + 10;

    add(l, 0, "autograd::engine::evaluate_function: R", 0, -1, "", "");
    add(l, at, "ReluBackward", 1, (int)(2 * i + 2), "", "");
    add(l, at + 1, "aten::threshold_backward", 0, -1,
        text(l, "%u:4000 %u:4000", GRAD_OUT, RESULT),
        text(l, "%u:4000", GRAD_MID));
    add(l, 0, "autograd::engine::evaluate_function: L", 0, -1, "", "");
    add(l, at + 3, "LinearBackward", 1, (int)(2 * i + 1), "", "");
    add(l, at + 4, "aten::linear_backward", 0, -1,
        text(l, "%u:4000 %u:4000 %u:4000", GRAD_MID, given(i), WEIGHT),
        text(l, "%u:4000 %u:4000", GRAD_OUT - 1, GRAD));
    add(l, 0, "autograd::engine::evaluate_function: A", 0, -1, "", "");
    add(l, at + 6, "torch::autograd::AccumulateGrad", 1, -1,
        text(l, "%u:4000", GRAD), "");
    add(l, at + 7, "aten::detach", 0, -1, text(l, "%u:4000", GRAD),
        text(l, "%u:4000", GRAD));
}

static void list(char *to, size_t size, unsigned n, unsigned first)
{
    size_t used = (size_t)snprintf(to, size, "[");

    for (unsigned i = 0; i < n; i++)
        used += (size_t)snprintf(to + used, size - used, "%s%u:4000",
                                 i ? " " : "", first + i);
    snprintf(to + used, size - used, "]");
}

/* `n` layers, a loss, and a step: one operator a parameter, or on lists. */
static void make(struct layered *l, unsigned n, bool lists)
{
    char p[128], g[128], m[128], d[128];
    unsigned at;

    l->n = l->n_texts = 0;
    for (unsigned i = 0; i < n; i++)
        add_forward(l, i);
    add(l, 0, "aten::mse_loss", 0, (int)(2 * n + 1),
        text(l, "%u:4000", given(n)), "24:1");
    at = (unsigned)l->n + 10;
    add(l, 0, "autograd::engine::evaluate_function: L", 0, -1, "", "");
    add(l, at, "LossBackward", 1, (int)(2 * n + 1), "", "");
    add(l, at + 1, "aten::mse_loss_backward", 0, -1,
        text(l, "24:1 %u:4000", given(n)), text(l, "%u:4000", 400 + n));
    for (unsigned i = n; i-- > 0;)
        add_backward(l, i);
    at = (unsigned)l->n + 10;
    add(l, 0, "Optimizer.step#Adam.step", 7, -1, "", "");
    for (unsigned i = 0; i < n && !lists; i++)
        add(l, at, "aten::addcdiv_", 0, -1,
            text(l, "%u:4000 %u:4000 %u:4000", WEIGHT, GRAD, STATE), "");
    if (lists) {
        list(p, sizeof(p), n, 100);
        list(g, sizeof(g), n, 440);
        list(m, sizeof(m), n, 120);
        list(d, sizeof(d), n, 140);
        add(l, at, "aten::_foreach_mul_", 0, -1, text(l, "%s", m), "");
        add(l, at, "aten::_foreach_sqrt", 0, -1, text(l, "%s", m),
            text(l, "%s", d));
        add(l, at, "aten::_foreach_addcdiv_", 0, -1,
            text(l, "%s %s %s", p, g, d), "");
    }
}

/* `from` layers made `to`. */
static bool change(struct made_changed *m, unsigned from, uint32_t to,
                   bool lists)
{
    const struct msim_rewrite r = {.layers = to};
    static struct layered l;

    make(&l, from, lists);
    return change_nodes(m, l.nodes, l.n, &r);
}

/* Is the changed trace, operator by operator and life by life, that of a step
 * of `n` layers? Lives by their first names. */
static void check_is(const struct made_changed *m, unsigned n, bool lists)
{
    static struct layered l;
    struct msim_lives lives;
    struct msim_job *job;
    const struct msim_trace *t;

    make(&l, n, lists);
    job = made_nodes(l.nodes, l.n);
    REQUIRE(job != NULL);
    t = job->ranks[0];
    REQUIRE(msim_lives_find(&lives, t) == MSIM_OK);
    CHECK_UINT(m->t->n_ops, t->n_ops);
    CHECK_UINT(m->lives.n, lives.n);
    CHECK_UINT(m->t->n_tensor_ids, t->n_tensor_ids);
    for (uint32_t i = 0; i < t->n_ops && i < m->t->n_ops; i++) {
        CHECK_STR(msim_trace_text(m->t, m->t->ops[i].name),
                  msim_trace_text(t, t->ops[i].name));
        CHECK_INT(m->t->ops[i].seq, t->ops[i].seq);
    }
    for (uint32_t i = 0; i < lives.n && i < m->lives.n; i++) {
        CHECK_UINT(m->lives.rows[i].born, lives.rows[i].born);
        CHECK_UINT(m->lives.rows[i].first, lives.rows[i].first);
        CHECK_UINT(m->lives.rows[i].last, lives.rows[i].last);
    }
    for (uint32_t i = 0; i < t->n_tensor_ids && i < m->t->n_tensor_ids; i++)
        CHECK_UINT(m->lives.of[i], lives.of[i]);
    msim_lives_release(&lives);
    msim_job_free(job);
}

/* Three layers made six, and two, are what six and two layers record; the step
 * goes through its parameters one by one, or has lists of them. */
static void test_layers__more_and_fewer(void)
{
    for (int lists = 0; lists < 2; lists++) {
        struct made_changed m;

        REQUIRE(change(&m, 3, 6, lists));
        check_is(&m, 6, lists);
        done_step(&m);
        REQUIRE(change(&m, 6, 2, lists));
        check_is(&m, 2, lists);
        done_step(&m);
        REQUIRE(change(&m, 4, 4, lists));
        check_is(&m, 4, lists);
        done_step(&m);
    }
}

/* Changes of several repetitions are made one after the other. */
static void test_layers__one_after_the_other(void)
{
    const struct msim_rewrite r = {.layers = 4,
                                   .layers_block = "blocks",
                                   .more_layers = {{5, "blocks"}, {0, "other"}},
                                   .n_more_layers = 2};
    const struct msim_rewrite later = {.more_layers = {{5, "blocks"}},
                                       .n_more_layers = 1};
    static struct layered l;
    struct made_changed m;

    make(&l, 3, true);
    CHECK(!msim_rewrite_is_none(&later));
    REQUIRE(change_nodes(&m, l.nodes, l.n, &r));
    check_is(&m, 5, true);
    done_step(&m);
    REQUIRE(change_nodes(&m, l.nodes, l.n, &later));
    check_is(&m, 5, true);
    done_step(&m);
}

/* The count is told beforehand, and what is not there is refused. */
static void test_layers__reasons(void)
{
    static struct layered l;
    struct msim_error err = {0};
    struct msim_trace *out;
    struct msim_job *job;
    struct msim_rewrite r = {.layers = 4, .layers_block = "encoder"};
    uint32_t n;

    make(&l, 3, true);
    job = made_nodes(l.nodes, l.n);
    REQUIRE(job != NULL);
    CHECK_INT(
        msim_rewrite_count_layers(&n, job->ranks[0], job->strings, "", &err),
        MSIM_OK);
    CHECK_UINT(n, 3);
    CHECK_INT(msim_rewritten_new(&out, job->ranks[0], job->strings, &r, &err),
              MSIM_EUSAGE);
    CHECK_STR(err.text,
              "no block \"encoder\" in the trace; it has \"blocks\" (3)");
    msim_job_free(job);
    /* One layer repeats nothing. */
    make(&l, 1, true);
    job = made_nodes(l.nodes, l.n);
    REQUIRE(job != NULL);
    err = (struct msim_error){0};
    *r.layers_block = 0;
    CHECK_INT(msim_rewritten_new(&out, job->ranks[0], job->strings, &r, &err),
              MSIM_EUSAGE);
    CHECK_STR(err.text, "no block of layers repeats in the forward pass of the "
                        "trace (3 operators), so that none can be repeated");
    msim_job_free(job);
}

int main(void)
{
    RUN(test_layers__more_and_fewer);
    RUN(test_layers__one_after_the_other);
    RUN(test_layers__reasons);
    return check_summary();
}
