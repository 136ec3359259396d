/*
 * plan/step/neighbours.c - rows like a job.
 */
#include "plan/step/step_law.h"

#include "core/base/containers.h"

#include <math.h>
#include <string.h>

#define WIDTH 0.45 /* of the Gaussian: a factor of 1.6 in one size */
#define DRAWN 0.3  /* weight of a row that says 0 */
#define FAR   4.0  /* widths at which rows no longer count */
#define OTHER                                                                  \
    1.5 /* widths between formats of products: a third of a weight             \
         */

/* FNV-1a of words. */
static uint32_t hash(const uint32_t *words, size_t n)
{
    uint32_t h = 2166136261u;

    for (size_t i = 0; i < n; i++)
        h = (h ^ words[i]) * 16777619u;
    return h;
}

struct msim_neighbour msim_neighbour_of(const struct msim_terms *t)
{
    uint32_t words[] = {t->platform,     t->unfused,
                        t->again_word,   t->zero < 2 ? 1 : (uint32_t)t->zero,
                        (uint32_t)t->tp, (uint32_t)t->pp,
                        (uint32_t)t->ep};
    const double sizes[MSIM_NEIGHBOUR_SIZES] = {t->hidden,   t->layers,
                                                t->sequence, t->micro_batch,
                                                t->dp,       t->micro_batches};
    struct msim_neighbour out = {
        .kind = hash(words, sizeof(words) / sizeof(words[0])),
        .format = t->format};

    for (int i = 0; i < MSIM_NEIGHBOUR_SIZES; i++)
        out.size[i] = (float)log(sizes[i]);
    for (int i = 1; i < MSIM_RECOMPUTE_COUNT; i++) {
        words[2] = (t->again_word + (uint32_t)i) % MSIM_RECOMPUTE_COUNT;
        out.others[i - 1] = hash(words, sizeof(words) / sizeof(words[0]));
    }
    return out;
}

int msim_neighbour_order(const void *a, const void *b)
{
    const struct msim_neighbour *x = a, *y = b;

    if (x->kind != y->kind)
        return MSIM_ORDER(x->kind, y->kind);
    return memcmp(x, y, sizeof(*x));
}

/* The first row that is not below `kind`. */
static uint32_t first_of(uint32_t kind, const struct msim_neighbour *rows,
                         uint32_t n)
{
    uint32_t low = 0, high = n;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (rows[middle].kind < kind)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The sum of weights of rows of that kind that are near; residuals by them are
 * added to `*sum`. */
static double near_rows(const struct msim_neighbour *of, uint32_t kind,
                        const struct msim_neighbour *rows, uint32_t n,
                        const struct msim_neighbour *skip, double *sum)
{
    double weights = 0;

    for (uint32_t i = first_of(kind, rows, n); i < n && rows[i].kind == kind;
         i++) {
        double square = of->format == rows[i].format ? 0 : OTHER * OTHER;

        for (int k = 0; k < MSIM_NEIGHBOUR_SIZES; k++) {
            double apart = (of->size[k] - rows[i].size[k]) / WIDTH;

            square += apart * apart;
        }
        if (&rows[i] == skip || square > FAR * FAR)
            continue;
        weights += exp(-square / 2);
        *sum += exp(-square / 2) * rows[i].residual;
    }
    return weights;
}

double msim_neighbour_correction(const struct msim_neighbour *of,
                                 const struct msim_neighbour *rows, uint32_t n,
                                 const struct msim_neighbour *skip)
{
    double sum = 0, weights = near_rows(of, of->kind, rows, n, skip, &sum);

    for (int i = 0; i < MSIM_RECOMPUTE_COUNT - 1; i++)
        weights += near_rows(of, of->others[i], rows, n, skip, &sum);
    return sum / (weights + DRAWN);
}

double msim_neighbour_evidence(const struct msim_neighbour *of,
                               const struct msim_neighbour *rows, uint32_t n,
                               const struct msim_neighbour *skip)
{
    double sum = 0;

    return near_rows(of, of->kind, rows, n, skip, &sum);
}
