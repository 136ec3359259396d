/*
 * calibrate/fit/kriging_fit.c - corrections by kriging, for fits of few rows.
 */
#include "calibrate/fit/kriging_fit.h"

#include "calibrate/stat/kriging_solve.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FOLDS  5
#define ROUNDS 3   /* of weighting */
#define FAR    0.5 /* rows that are missed by more get more noise */

/* Length scales: of sizes in e-folds; shorter for kinds (a stride, a transposed
 * operand) and for what a library chooses by (full tiles, alignment). */
static const struct {
    const struct msim_law *law;
    const char *feature;
    double length_scale;
} FEATURES[] = {
    {&MSIM_LAW_GEMM, "log_m", 2},
    {&MSIM_LAW_GEMM, "log_n", 2},
    {&MSIM_LAW_GEMM, "log_k", 2},
    {&MSIM_LAW_GEMM, "tail_128x128", 1},
    {&MSIM_LAW_GEMM, "waste_128x128", 1},
    {&MSIM_LAW_GEMM, "log_gcd_m_256", 3},
    {&MSIM_LAW_GEMM, "log_gcd_n_1024", 4},
    {&MSIM_LAW_GEMM, "log_gcd_k_1024", 4},
    {&MSIM_LAW_GEMM, "a_transposed", 1},
    {&MSIM_LAW_GEMM, "b_transposed", 1},
    {&MSIM_LAW_CONV, "log_n", 3},
    {&MSIM_LAW_CONV, "log_c", 2},
    {&MSIM_LAW_CONV, "log_hw", 2},
    {&MSIM_LAW_CONV, "log_k", 2},
    {&MSIM_LAW_CONV, "log_rs", 1},
    {&MSIM_LAW_CONV, "stride", 0.5},
    {&MSIM_LAW_CONV, "pad", 1.5},
};
#define N_FEATURES (sizeof(FEATURES) / sizeof(*FEATURES))

/* Tried: the noise over the variance of what is fitted, and a factor for all
 * length scales. */
static const double NOISES[] = {0.02, 0.06, 0.2};
static const double STRETCHES[] = {0.7, 1.2, 2};

struct fit {
    const double *y;
    const uint64_t *group;
    uint32_t n;
    struct msim_kriging shape; /* length scales; rows as they are */
    double *noise;             /* of each row, over the common one */
    uint32_t *held;
    double *missed, *variance;
};

bool msim_kriging_suits(const struct msim_law *law)
{
    for (size_t i = 0; i < N_FEATURES; i++)
        if (FEATURES[i].law == law)
            return true;
    return false;
}

static void choose_features(struct msim_kriging *m, const struct msim_law *law)
{
    for (size_t i = 0; i < N_FEATURES; i++) {
        uint32_t f = 0;

        if (FEATURES[i].law != law)
            continue;
        while (f < law->n_features &&
               strcmp(law->features[f], FEATURES[i].feature) != 0)
            f++;
        if (f == law->n_features)
            continue;
        m->features[m->n_features] = f;
        m->length_scale[m->n_features++] = FEATURES[i].length_scale;
    }
}

static double correlation(const struct msim_kriging *m, uint32_t a, uint32_t b,
                          double stretch)
{
    double sum = 0;

    for (uint32_t f = 0; f < m->n_features; f++) {
        double d = (m->rows[(size_t)a * m->n_features + f] -
                    m->rows[(size_t)b * m->n_features + f]) /
                   (m->length_scale[f] * stretch);

        sum += d * d;
    }
    return msim_kriging_correlation(sum);
}

static enum msim_status solve(const struct fit *f, double noise, double stretch,
                              struct msim_kriging_solve *out)
{
    double *k = malloc((size_t)f->n * f->n * sizeof(*k));

    for (uint32_t i = 0; k && i < f->n; i++) {
        for (uint32_t j = 0; j < i; j++)
            k[(size_t)i * f->n + j] = correlation(&f->shape, i, j, stretch);
        k[(size_t)i * f->n + i] = 1 + noise * f->noise[i];
    }
    return msim_kriging_solve_init(out, k, f->y, f->n);
}

/* Solve, and add noise to rows that are missed by far. A row's miss is its
 * noise times its weight. */
static enum msim_status solve_robustly(struct fit *f, double noise,
                                       double stretch,
                                       struct msim_kriging_solve *out)
{
    for (uint32_t i = 0; i < f->n; i++)
        f->noise[i] = 1;
    for (int round = 1; round < ROUNDS; round++) {
        MSIM_TRY(solve(f, noise, stretch, out));
        for (uint32_t i = 0; i < f->n; i++) {
            double missed = noise * f->noise[i] * out->weights[i];

            f->noise[i] = fmax(1, fabs(missed) / FAR);
        }
        msim_kriging_solve_release(out);
    }
    return solve(f, noise, stretch, out);
}

/* The mean error on rows whose whole group is held out. */
static enum msim_status try_one(struct fit *f, double noise, double stretch,
                                double *error)
{
    struct msim_kriging_solve g;
    enum msim_status status;

    *error = 0;
    MSIM_TRY(solve_robustly(f, noise, stretch, &g));
    status = MSIM_OK;
    for (uint32_t fold = 0; status == MSIM_OK && fold < FOLDS; fold++) {
        uint32_t m = 0, number = 0;

        for (uint32_t i = 0; i < f->n; i++) {
            number += i > 0 && f->group[i] != f->group[i - 1];
            if (number % FOLDS == fold)
                f->held[m++] = i;
        }
        if (m == 0 || m == f->n)
            continue;
        status =
            msim_kriging_solve_without(&g, f->held, m, f->missed, f->variance);
        for (uint32_t i = 0; i < m; i++)
            *error += fabs(f->missed[i]) / f->n;
    }
    msim_kriging_solve_release(&g);
    return status;
}

static enum msim_status choose(struct fit *f, double *noise, double *stretch)
{
    double least = INFINITY;

    for (size_t a = 0; a < sizeof(NOISES) / sizeof(*NOISES); a++) {
        for (size_t b = 0; b < sizeof(STRETCHES) / sizeof(*STRETCHES); b++) {
            double error;

            MSIM_TRY(try_one(f, NOISES[a], STRETCHES[b], &error));
            if (error < least) {
                least = error;
                *noise = NOISES[a];
                *stretch = STRETCHES[b];
            }
        }
    }
    return MSIM_OK;
}

/* ---- writing ------------------------------------------------------------- */

static enum msim_status add_text(cJSON *o, const char *key, const double *v,
                                 size_t n)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    enum msim_status status = MSIM_OK;

    if (!out)
        return MSIM_ENOMEM;
    for (size_t i = 0; i < n; i++)
        fprintf(out, i ? " %.5g" : "%.5g", v[i]);
    if (fclose(out) != 0 || !cJSON_AddStringToObject(o, key, text))
        status = MSIM_ENOMEM;
    free(text);
    return status;
}

static enum msim_status write_fit(cJSON *o, const struct fit *f,
                                  const struct msim_law *law, double noise,
                                  double stretch, const double *weights)
{
    const struct msim_kriging *m = &f->shape;
    cJSON *reach = cJSON_AddObjectToObject(o, "reach");
    double low = 0, high = 0;

    for (uint32_t i = 0; i < m->n_features; i++)
        if (!cJSON_AddNumberToObject(reach, law->features[m->features[i]],
                                     round(1e6 * m->length_scale[i] * stretch) /
                                         1e6))
            return MSIM_ENOMEM;
    for (uint32_t i = 0; i < f->n; i++) {
        low = fmin(low, f->y[i]);
        high = fmax(high, f->y[i]);
    }
    if (!cJSON_AddNumberToObject(o, "noise", noise) ||
        !cJSON_AddNumberToObject(o, "low", round(1e6 * low) / 1e6) ||
        !cJSON_AddNumberToObject(o, "high", round(1e6 * high) / 1e6))
        return MSIM_ENOMEM;
    MSIM_TRY(add_text(o, "rows", m->rows, (size_t)f->n * m->n_features));
    return add_text(o, "weights", weights, f->n);
}

static enum msim_status make(cJSON **out, struct fit *f,
                             const struct msim_law *law)
{
    double noise = NOISES[0], stretch = STRETCHES[0];
    struct msim_kriging_solve g;
    enum msim_status status;

    MSIM_TRY(choose(f, &noise, &stretch));
    MSIM_TRY(solve_robustly(f, noise, stretch, &g));
    *out = cJSON_CreateObject();
    status =
        *out ? write_fit(*out, f, law, noise, stretch, g.weights) : MSIM_ENOMEM;
    msim_kriging_solve_release(&g);
    if (status != MSIM_OK) {
        cJSON_Delete(*out);
        *out = NULL;
    }
    return status;
}

enum msim_status msim_kriging_fit(cJSON **out, const struct msim_law *law,
                                  const double *x, const double *y,
                                  const uint64_t *group, uint32_t n)
{
    struct fit f = {.y = y, .group = group, .n = n};
    struct msim_kriging *m = &f.shape;
    enum msim_status status = MSIM_ENOMEM;

    *out = NULL;
    choose_features(m, law);
    m->rows = malloc((size_t)n * m->n_features * sizeof(*m->rows));
    f.noise = malloc(n * sizeof(*f.noise));
    f.held = malloc(n * sizeof(*f.held));
    f.missed = malloc(n * sizeof(*f.missed));
    f.variance = malloc(n * sizeof(*f.variance));
    if (m->rows && f.noise && f.held && f.missed && f.variance) {
        for (uint32_t i = 0; i < n; i++)
            for (uint32_t k = 0; k < m->n_features; k++)
                m->rows[(size_t)i * m->n_features + k] =
                    x[(size_t)i * law->n_features + m->features[k]];
        status = make(out, &f, law);
    }
    free(m->rows);
    free(f.noise);
    free(f.held);
    free(f.missed);
    free(f.variance);
    return status;
}
