/* Rows like a job: what counts, and how much. */
#include "plan/step/neighbours.h"
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
    return check_summary();
}
