/*
 * core/rewrite/layers.c - a step with more or fewer layers than the recorded
 * one: what its operators name, and when it is refused.
 */
#include "tests/unit/core/rewrite/made_layers.h"

static unsigned per; /* gradients in a bucket; 0: there are none */
static bool strays, outside, shares;

static void make(struct layered *l, unsigned n, bool lists)
{
    if (shares)
        made_shares(l, n);
    else
        made_layers(l, n, lists);
}

/* `from` layers made `to`. */
static bool change(struct made_changed *m, unsigned from, uint32_t to,
                   bool lists)
{
    const struct msim_rewrite r = {.layers = to};
    static struct layered l;

    l.per = per;
    l.strays = strays;
    l.outside = outside;
    make(&l, from, lists);
    return change_nodes(m, l.nodes, l.n, &r);
}

/* What operator `i` of both is given: numbers, and sizes of tensors. */
static void check_given(const struct msim_trace *a, const struct msim_trace *b,
                        uint32_t i)
{
    uint32_t x = a->ops[i].args, y = b->ops[i].args;

    if (!CHECK_INT(x == MSIM_NONE, y == MSIM_NONE) || x == MSIM_NONE ||
        !CHECK_UINT(a->blocks[x].count, b->blocks[y].count))
        return;
    for (uint32_t k = 0; k < b->blocks[y].count; k++) {
        const struct msim_arg *m = &a->args[a->blocks[x].first + k];
        const struct msim_arg *n = &b->args[b->blocks[y].first + k];

        CHECK_INT(m->kind, n->kind);
        if (n->kind == MSIM_ARG_INT)
            CHECK_INT(m->v.i, n->v.i);
        if (n->kind == MSIM_ARG_TENSOR)
            CHECK_UINT(msim_arg_elems(a, m), msim_arg_elems(b, n));
    }
}

/* Is the changed trace, operator by operator and life by life, that of a step
 * of `n` layers? Lives by their first names. */
static void check_is(const struct made_changed *m, unsigned n, bool lists)
{
    static struct layered l;
    struct msim_lives lives;
    struct msim_job *job;
    const struct msim_trace *t;

    l.per = per;
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
        check_given(m->t, t, i);
    }
    for (uint32_t i = 0; i < lives.n && i < m->lives.n; i++) {
        CHECK_UINT(m->lives.rows[i].born, lives.rows[i].born);
        CHECK_UINT(m->lives.rows[i].first, lives.rows[i].first);
        CHECK_UINT(m->lives.rows[i].last, lives.rows[i].last);
    }
    for (uint32_t i = 0; i < t->n_tensor_ids && i < m->t->n_tensor_ids; i++) {
        CHECK_UINT(m->lives.of[i], lives.of[i]);
        CHECK_INT(m->t->tensor_ids[i].offset, t->tensor_ids[i].offset);
    }
    CHECK_UINT(m->t->n_comms, t->n_comms);
    for (uint32_t i = 0; i < t->n_comms && i < m->t->n_comms; i++)
        CHECK_UINT(m->t->comms[i].in_elems, t->comms[i].in_elems);
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

/* Gradients of two layers are sent together: buckets are filled anew, as large
 * as they were, also where the backend's thread is seen to send elsewhere. */
static void test_layers__buckets(void)
{
    static const unsigned PAIRS[][2] = {{4, 7}, {7, 4}, {5, 6}, {6, 3}, {8, 8}};

    for (per = 2; per < 4; per++)
        for (int i = 0; i < 40; i++) {
            const unsigned *of = PAIRS[i / 8];
            struct made_changed m;

            strays = i & 2;
            outside = i & 4;
            REQUIRE(change(&m, of[0], of[1], i & 1));
            check_is(&m, of[1], i & 1);
            done_step(&m);
        }
    per = 0;
    strays = outside = false;
}

/* Buckets of another size are filled anew where that is asked for: where other
 * sizes of the model would, or layers change as well. */
static void test_layers__refilled(void)
{
    struct msim_rewrite r = {.bucket_first = 40000, .bucket_others = 40000};
    static struct layered l;
    struct made_changed m;
    struct msim_job *two, *three;

    l.per = 2;
    made_layers(&l, 7, true);
    CHECK(!msim_rewrite_is_none(&r));
    REQUIRE(change_nodes(&m, l.nodes, l.n, &r));
    per = 3;
    check_is(&m, 7, true);
    per = 0;
    done_step(&m);
    two = made_nodes(l.nodes, l.n);
    l.per = 3;
    made_layers(&l, 7, true);
    three = made_nodes(l.nodes, l.n);
    REQUIRE(two && three);
    for (int i = 0; i < 3; i++) {
        r = (struct msim_rewrite){.layers = i == 1 ? 4 : 0};
        CHECK_INT(msim_rewrite_settle_buckets(
                      &r, two->ranks[0],
                      i == 2 ? three->ranks[0] : two->ranks[0], two->strings),
                  MSIM_OK);
        CHECK_INT(r.bucket_first, i ? 31457 : 0);
        CHECK_INT(r.bucket_others, r.bucket_first);
    }
    msim_job_free(two);
    msim_job_free(three);
}

/* Of shares sizes say which layer they are of, and so does what stands beside
 * them: counts, which are as large for all. */
static void test_layers__shares(void)
{
    shares = true;
    for (unsigned to = 3; to < 8; to++) {
        struct made_changed m;

        REQUIRE(change(&m, 5, to, true));
        check_is(&m, to, true);
        done_step(&m);
    }
    shares = false;
}

/* A hook that works on whole buckets is not known; messages keep their order.
 */
static void test_layers__other_buckets(void)
{
    const struct msim_rewrite r = {.layers = 6};
    static struct layered l;
    struct msim_error err = {0};
    struct msim_trace *out;
    struct msim_job *job;

    l.per = 2;
    made_layers(&l, 4, true);
    job = made_nodes(l.nodes, l.n);
    REQUIRE(job != NULL);
    for (uint32_t i = 0; i < job->ranks[0]->n_comms; i++)
        job->ranks[0]->comms[i].sequence = 7 + i;
    CHECK_INT(msim_rewritten_new(&out, job->ranks[0], job->strings, &r, &err),
              MSIM_OK);
    REQUIRE(out != NULL);
    for (uint32_t i = 0; i < out->n_comms; i++)
        CHECK_INT(out->comms[i].sequence, 7 + i);
    msim_trace_free(out);
    msim_job_free(job);
    for (size_t i = 0; i < l.n; i++)
        if (strcmp(l.nodes[i].name, "aten::copy_") == 0)
            l.nodes[i].in = "500:8000";
    job = made_nodes(l.nodes, l.n);
    REQUIRE(job != NULL);
    CHECK_INT(msim_rewritten_new(&out, job->ranks[0], job->strings, &r, &err),
              MSIM_EUSAGE);
    CHECK(strstr(err.text, "in one bucket (DDP)"));
    msim_job_free(job);
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

    made_layers(&l, 3, true);
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

    made_layers(&l, 3, true);
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
    made_layers(&l, 1, true);
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
    RUN(test_layers__buckets);
    RUN(test_layers__other_buckets);
    RUN(test_layers__refilled);
    RUN(test_layers__shares);
    RUN(test_layers__one_after_the_other);
    RUN(test_layers__reasons);
    return check_summary();
}
