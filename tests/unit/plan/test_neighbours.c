/* Rows like a job: what counts, and how much. */
#include "plan/step/step_law.h"
#include "tests/check.h"

#include <stdlib.h>

static struct msim_terms job(double hidden, double layers, double tp)
{
    return (struct msim_terms){.platform = 7,
                               .hidden = hidden,
                               .layers = layers,
                               .sequence = 1024,
                               .micro_batch = 1,
                               .dp = 2,
                               .micro_batches = 8,
                               .tp = tp,
                               .pp = 1,
                               .ep = 1};
}

static struct msim_neighbour row(double hidden, double layers, double tp,
                                 double residual)
{
    struct msim_terms t = job(hidden, layers, tp);
    struct msim_neighbour out = msim_neighbour_of(&t);

    out.residual = (float)residual;
    return out;
}

static double correct(const struct msim_neighbour *rows, uint32_t n,
                      const struct msim_neighbour *skip)
{
    struct msim_terms t = job(2048, 16, 2);
    struct msim_neighbour of = msim_neighbour_of(&t);

    return msim_neighbour_correction(&of, rows, n, skip);
}

static void test_neighbours__count_by_distance(void)
{
    struct msim_neighbour same = row(2048, 16, 2, 0.3);
    struct msim_neighbour near = row(2048, 20, 2, 0.3);
    struct msim_neighbour far = row(8192, 16, 2, 0.3);
    double here = correct(&same, 1, NULL), beside = correct(&near, 1, NULL);

    CHECK(here > 0.2 && here < 0.3);
    CHECK(beside > 0.15 && beside < here);
    CHECK(fabs(correct(&far, 1, NULL)) < 0.01);
    CHECK(correct(&same, 1, &same) == 0);
    CHECK(correct(NULL, 0, NULL) == 0);
}

/* Two rows of the same sizes count as 2, others by their distance, those of
 * another kind not. */
static void test_neighbours__are_evidence(void)
{
    struct msim_neighbour rows[] = {row(2048, 16, 2, 0.3),
                                    row(2048, 16, 2, -0.3)};
    struct msim_neighbour far = row(8192, 16, 2, 0.3);
    struct msim_neighbour other = row(2048, 16, 4, 0.3);
    struct msim_neighbour of = row(2048, 16, 2, 0);

    qsort(rows, 2, sizeof(rows[0]), msim_neighbour_order);
    CHECK_REL(msim_neighbour_evidence(&of, rows, 2, NULL), 2, 1e-6);
    CHECK_REL(msim_neighbour_evidence(&of, rows, 2, &rows[1]), 1, 1e-6);
    CHECK(msim_neighbour_evidence(&of, &far, 1, NULL) < 0.01);
    CHECK(msim_neighbour_evidence(&of, &other, 1, NULL) == 0);
}

/* A row in another format says a third of what one of its own says, and less
 * where own ones are there: what 8 bits bring stays what their products bring.
 */
static void test_neighbours__of_another_format(void)
{
    struct msim_neighbour rows[] = {row(2048, 16, 2, 0.3),
                                    row(2048, 16, 2, -0.3)};
    struct msim_neighbour of = rows[0];
    double with;

    rows[1].format = of.format + 1;
    CHECK_REL(msim_neighbour_evidence(&of, &rows[1], 1, NULL), exp(-1.125),
              1e-6);
    CHECK(msim_neighbour_correction(&of, &rows[1], 1, NULL) < -0.1);
    qsort(rows, 2, sizeof(rows[0]), msim_neighbour_order);
    with = msim_neighbour_correction(&of, rows, 2, NULL);
    CHECK(with > 0.1 && with < 0.2);
}

/* By the kind of program, the first that fits, and whether a row is near. */
static void test_neighbours__choose_the_class(void)
{
    struct msim_terms t = job(2048, 16, 2);

    CHECK_INT(msim_step_class_by(&t, 1), MSIM_STEP_CLASS_USUAL);
    CHECK_INT(msim_step_class_by(&t, 0), MSIM_STEP_CLASS_USUAL_FAR);
    t.pp = 4;
    CHECK_INT(msim_step_class_by(&t, 1), MSIM_STEP_CLASS_STAGED);
    t.zero = 3;
    CHECK_INT(msim_step_class_by(&t, 1), MSIM_STEP_CLASS_SHARDED);
    t.narrow = true;
    CHECK_INT(msim_step_class_by(&t, 0), MSIM_STEP_CLASS_NARROW_FAR);
    t.unfused = true;
    CHECK_INT(msim_step_class_by(&t, 1), MSIM_STEP_CLASS_UNFUSED);
    t.at[MSIM_PLACE_LAYER].us[MSIM_PART_OP_EXPERT][MSIM_PASS_FORWARD] = 1;
    CHECK_INT(msim_step_class_by(&t, 0), MSIM_STEP_CLASS_EXPERTS_FAR);
}

static void test_neighbours__are_of_one_kind(void)
{
    struct msim_neighbour rows[] = {
        row(2048, 16, 1, 0.5), row(2048, 16, 2, 0.1), row(2048, 16, 4, -0.5)};
    double of;

    qsort(rows, 3, sizeof(rows[0]), msim_neighbour_order);
    of = correct(rows, 3, NULL);
    CHECK(of > 0.05 && of < 0.1);
}

int main(void)
{
    RUN(test_neighbours__count_by_distance);
    RUN(test_neighbours__are_of_one_kind);
    RUN(test_neighbours__are_evidence);
    RUN(test_neighbours__of_another_format);
    RUN(test_neighbours__choose_the_class);
    return check_summary();
}
