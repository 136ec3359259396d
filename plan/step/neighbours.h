/*
 * plan/step/neighbours.h - what measured jobs like this one took beyond the
 * step law.
 *
 * Rows of the same kind (platform, ZeRO, tensor parallel ranks, stages) whose
 * sizes are near: the mean of their logarithms measured / predicted, weighted
 * by a Gaussian of the distance between the logarithms of hidden size, layers,
 * sequence, micro batch, data parallel ranks and micro batches (Nadaraya 1964,
 * Watson 1964), drawn towards 0 where few are near. A job unlike all rows keeps
 * the law's time.
 *
 * Rows in another format of products (16 bits, fp8, ...) count, too, a little
 * farther away: most of what is left over is the program's, not the format's,
 * and so what a format brings stays what its products bring. What is computed
 * again is the law's: rows of every way count alike, so that a job that
 * computes more takes no less, whichever of both ways was measured.
 */
#ifndef MSIM_PLAN_STEP_NEIGHBOURS_H
#define MSIM_PLAN_STEP_NEIGHBOURS_H
#include "plan/step/terms.h"

#define MSIM_NEIGHBOUR_SIZES 6

struct msim_neighbour {
    uint32_t kind; /* a hash of what must be the same */
    /* Of a job: likewise with the other ways to compute again; of a row 0. */
    uint32_t others[MSIM_RECOMPUTE_COUNT - 1];
    uint32_t format;                  /* of products: enum msim_precision */
    float size[MSIM_NEIGHBOUR_SIZES]; /* natural logarithms */
    float residual;                   /* log(measured / law) */
};

/* Kind and sizes of a job; its residual is 0. */
struct msim_neighbour msim_neighbour_of(const struct msim_terms *t);

/* The logarithm to add to the law's. `rows` are sorted by
 * msim_neighbour_order(); `skip` (may be NULL) is left out. */
double msim_neighbour_correction(const struct msim_neighbour *of,
                                 const struct msim_neighbour *rows, uint32_t n,
                                 const struct msim_neighbour *skip);

/* How much rows say of the job: a row of the same sizes counts as 1, others by
 * their distance. 0: a job unlike all rows. */
double msim_neighbour_evidence(const struct msim_neighbour *of,
                               const struct msim_neighbour *rows, uint32_t n,
                               const struct msim_neighbour *skip);

/* For qsort(): by kind, then by all else. */
int msim_neighbour_order(const void *a, const void *b);

#endif
