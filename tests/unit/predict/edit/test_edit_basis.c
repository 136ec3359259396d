/*
 * predict/edit/edit_basis.c: edits one after the other, whatever their order in
 * the file, on a basis that borrows what they leave.
 */
#include "predict/edit/edit.h"

#include "tests/unit/predict/made_steps.h"

/* A step of 230 us: 10 of host, 5 to the kernel, 200 of it, 5 to the end of the
 * wait and 10 of host. */
static const struct step STEP = {.before = 10, .kernel = 200, .after = 10};

static struct made_run r;

static struct msim_edit edit_of(enum msim_edit_kind kind, const char *text,
                                const char *select, double us)
{
    struct msim_edit e = {
        .kind = kind, .text = text, .selects = true, .chosen = select};

    CHECK_INT(msim_scale_parse(&e.select, select, NULL), MSIM_OK);
    e.us = us;
    return e;
}

/* The period, us; -1 where it is refused. */
static double period(struct msim_edit *edits, uint32_t n, bool *borrows,
                     struct msim_error *err)
{
    struct msim_prediction_run run;
    struct msim_basis *b;
    double us = -1;

    *err = (struct msim_error){0};
    if (msim_basis_edited(&b, r.run.basis, edits, n, &r.s, &r.in, &r.to, err) !=
        MSIM_OK) {
        CHECK(b == NULL);
        return -1;
    }
    CHECK(b->borrows_memory);
    CHECK_INT(b->n_warnings, r.run.basis->n_warnings);
    CHECK(b->plans[0] == r.run.basis->plans[0]);
    *borrows = b->borrows_graph;
    CHECK_INT(b->graph == r.run.basis->graph, *borrows);
    CHECK_INT(b->groups == r.run.basis->groups, *borrows);
    if (CHECK_INT(msim_predict_from(&run, b, &r.s, &r.in, &r.to, NULL, NULL),
                  MSIM_OK))
        us = run.prediction->period.us.predicted;
    msim_prediction_run_release(&run);
    msim_basis_free(b);
    return us;
}

/* Times alone leave the graph; what is inserted makes one, and another edit one
 * of that. 230 - 200 + 50, and 30 behind it, twice. */
static void test_edit_basis__makes_a_graph_where_it_must(void)
{
    struct msim_edit replace = edit_of(MSIM_EDIT_REPLACE, "r", "kernels=1", 50);
    struct msim_edit insert =
        edit_of(MSIM_EDIT_INSERT, "i", "op:aten::mm=1", 30);
    struct msim_error err;
    bool borrows = false;

    CHECK_REL(period(NULL, 0, &borrows, &err), 230, 1e-9);
    CHECK(borrows);
    CHECK_REL(period(&replace, 1, &borrows, &err), 80, 1e-9);
    CHECK(borrows);
    CHECK_REL(period(&insert, 1, &borrows, &err), 260, 1e-9);
    CHECK(!borrows);
    CHECK_REL(period((struct msim_edit[]){insert, replace}, 2, &borrows, &err),
              110, 1e-9);
    /* the second is beside what was there, and behind what was inserted */
    CHECK_REL(period((struct msim_edit[]){insert, insert, replace}, 3, &borrows,
                     &err),
              140, 1e-9);
}

/* Kinds in their order, and of one kind by their texts: what is replaced last
 * stays. */
static void test_edit_basis__puts_edits_in_order(void)
{
    struct msim_edit a = edit_of(MSIM_EDIT_REPLACE, "a", "kernels=1", 50);
    struct msim_edit b = edit_of(MSIM_EDIT_REPLACE, "b", "kernels=1", 70);
    struct msim_edit insert =
        edit_of(MSIM_EDIT_INSERT, "0", "op:aten::mm=1", 30);
    struct msim_error err;
    bool borrows;

    CHECK_REL(period((struct msim_edit[]){a, b}, 2, &borrows, &err), 100, 1e-9);
    CHECK_REL(period((struct msim_edit[]){b, a}, 2, &borrows, &err), 100, 1e-9);
    /* what is inserted is not replaced, whose text is behind */
    CHECK_REL(period((struct msim_edit[]){insert, b}, 2, &borrows, &err), 130,
              1e-9);
}

/* The first that is refused ends it. */
static void test_edit_basis__refuses(void)
{
    struct msim_edit good = edit_of(MSIM_EDIT_INSERT, "0", "kernels=1", 30);
    struct msim_edit bad =
        edit_of(MSIM_EDIT_OVERLAP, "1", "communication=1", 0);
    struct msim_edit other = edit_of(MSIM_EDIT_STRAGGLE, "2", "kernels=1", 0);
    struct msim_error err;
    bool borrows;

    CHECK_REL(period((struct msim_edit[]){other, bad, good}, 3, &borrows, &err),
              -1, 0);
    CHECK_STR(err.text, "'communication=1' selects nothing");
    bad.selects = false;
    CHECK_REL(period(&bad, 1, &borrows, &err), -1, 0);
    CHECK_STR(err.text, "the job has no communication to overlap");
}

int main(void)
{
    if (run_steps(&r, &STEP, MSIM_DATA)) {
        RUN(test_edit_basis__makes_a_graph_where_it_must);
        RUN(test_edit_basis__puts_edits_in_order);
        RUN(test_edit_basis__refuses);
    }
    run_free(&r);
    return check_summary();
}
