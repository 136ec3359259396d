/*
 * calibrate/machine/interval_width.c - choose what to time next.
 */
#include "calibrate/machine/machine_internal.h"

#include "models/platform/fit.h"
#include "models/platform/platform_data.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CANDIDATES 40  /* of a kind */
#define UNKNOWN    3.0 /* width where nothing is known: a factor of 20 */
#define NEAR       0.7 /* a point less e-folds away is partly known */
#define AGAIN      0.93

struct msim_cal_widths {
    struct msim_platform platform; /* its fits are owned */
};

/* The fits of a platform's tree. */
static enum msim_status read_fits(struct msim_platform *p, const cJSON *json,
                                  struct msim_error *err)
{
    const cJSON *fits = cJSON_GetObjectItemCaseSensitive(json, "cells");
    const char *kind = msim_json_get_text(json, "kind");
    const cJSON *fit;

    p->is_host = kind && strcmp(kind, "cpu") == 0;
    MSIM_TRY(msim_data_sheet_read(
        &p->sheet, cJSON_GetObjectItemCaseSensitive(json, "data_sheet"), NULL,
        "the fit", err));
    p->fits = calloc((size_t)cJSON_GetArraySize(fits) + 1, sizeof(*p->fits));
    if (!p->fits)
        return MSIM_ENOMEM;
    cJSON_ArrayForEach(fit, fits)
    {
        MSIM_TRY(msim_fit_read(&p->fits[p->n_fits], fit, MSIM_TREES_READ,
                               "the fit", err));
        p->n_fits++;
    }
    return MSIM_OK;
}

/* Numbers of the tree are partly raw text (msim_number_add()), which only a
 * parser turns into numbers. */
static cJSON *read_back(const cJSON *platform)
{
    char *text = cJSON_PrintUnformatted(platform);
    cJSON *json = text ? cJSON_Parse(text) : NULL;

    cJSON_free(text);
    return json;
}

enum msim_status msim_cal_widths_new(struct msim_cal_widths **out,
                                     const cJSON *platform,
                                     struct msim_error *err)
{
    struct msim_cal_widths *w = calloc(1, sizeof(*w));
    cJSON *json = read_back(platform);
    enum msim_status status =
        w && json ? read_fits(&w->platform, json, err) : MSIM_ENOMEM;

    cJSON_Delete(json);
    if (status != MSIM_OK) {
        msim_cal_widths_free(w);
        w = NULL;
    }
    *out = w;
    return status;
}

void msim_cal_widths_free(struct msim_cal_widths *w)
{
    if (!w)
        return;
    for (uint32_t i = 0; i < w->platform.n_fits; i++)
        msim_fit_release(&w->platform.fits[i]);
    free(w->platform.fits);
    free(w);
}

static const struct msim_fit *find_fit(const struct msim_cal_widths *w,
                                       const struct msim_law *law,
                                       const char *framework, const char *key)
{
    for (uint32_t i = 0; i < w->platform.n_fits; i++) {
        const struct msim_fit *c = &w->platform.fits[i];

        if (c->law == law && strcmp(c->framework, framework) == 0 &&
            strcmp(c->key, key) == 0)
            return c;
    }
    return NULL;
}

/* The work of an experiment as this backend has it, and its law; NULL: none. */
static const struct msim_law *work_of(struct msim_work *w,
                                      const struct msim_platform *p,
                                      const struct msim_cal_experiment *e,
                                      const char *backend)
{
    const struct msim_work *own = msim_cal_work(e);

    if (!own)
        return NULL;
    *w = *own;
    w->framework = backend;
    return msim_law_of(w->family, p->is_host);
}

double msim_cal_width(const struct msim_cal_widths *w,
                      const struct msim_cal_experiment *e, const char *backend)
{
    struct msim_pick pick = {.platform = &w->platform, .trees = true};
    struct msim_estimate estimate;
    struct msim_work work;
    const struct msim_law *law = work_of(&work, &w->platform, e, backend);
    char key[MSIM_FIT_KEY];

    if (!law)
        return NAN;
    law->key(&work, key, sizeof(key));
    pick.fit = find_fit(w, law, backend, key);
    if (!pick.fit)
        return INFINITY;
    msim_fit_estimate(&w->platform, &pick, &work, NULL, &estimate);
    return log(estimate.high_us / estimate.low_us);
}

/* ---- how new a point is -------------------------------------------------- */

/* Where a work is: the logarithms of its sizes, by its law. */
struct place {
    const struct msim_law *law;
    char key[MSIM_FIT_KEY];
    double x[MSIM_LAW_FEATURES];
};

static bool place_of(struct place *p, const struct msim_platform *platform,
                     const struct msim_cal_experiment *e, const char *backend)
{
    struct msim_work work;

    p->law = work_of(&work, platform, e, backend);
    if (!p->law)
        return false;
    p->law->key(&work, p->key, sizeof(p->key));
    p->law->describe(&platform->sheet, &work, p->x);
    return true;
}

/* The largest distance of any size, in e-folds. */
static double distance(const struct place *a, const struct place *b)
{
    double most = 0;

    if (a->law != b->law || strcmp(a->key, b->key) != 0)
        return INFINITY;
    for (uint32_t i = 0; i < a->law->n_sizes; i++)
        most = fmax(most, fabs(a->x[i] - b->x[i]));
    return most;
}

static double novelty(const struct place *at, const struct place *timed,
                      uint32_t n)
{
    double nearest = INFINITY;

    for (uint32_t i = 0; i < n; i++)
        nearest = fmin(nearest, distance(at, &timed[i]));
    return fmin(nearest / NEAR, 1);
}

/* ---- choosing ------------------------------------------------------------ */

struct candidate {
    struct msim_cal_experiment experiment;
    uint32_t kind;
    double score;
    bool chosen;
};

struct search {
    const struct msim_cal_widths *w;
    const struct msim_cal_journal *j;
    const char *backend;
    struct place *timed; /* owned */
    uint32_t n_timed;
    struct candidate *list; /* owned */
    uint32_t n;
    double sum; /* of widths */
    uint32_t counted;
};

static void add_candidate(struct search *s, const struct msim_cal_experiment *e,
                          uint32_t kind)
{
    double width = msim_cal_width(s->w, e, s->backend);
    struct place at;

    if (isnan(width) || !place_of(&at, &s->w->platform, e, s->backend) ||
        msim_cal_journal_find(s->j, msim_cal_hash(e, s->backend)))
        return;
    if (isfinite(width)) {
        s->sum += width;
        s->counted++;
    }
    s->list[s->n++] = (struct candidate){
        .experiment = *e,
        .kind = kind,
        .score = fmin(width, UNKNOWN) * novelty(&at, s->timed, s->n_timed)};
}

static void find_timed(struct search *s)
{
    for (uint32_t i = 0; i < s->j->n; i++)
        if (strcmp(s->j->entries[i].backend, s->backend) == 0)
            s->n_timed += place_of(&s->timed[s->n_timed], &s->w->platform,
                                   &s->j->entries[i].experiment, s->backend);
}

/* The candidate with the highest score times the weight of its kind; NULL: none
 * is left. */
static struct candidate *best_of(struct search *s, const double *counts)
{
    struct candidate *best = NULL;
    double most = 0;

    for (uint32_t i = 0; i < s->n; i++) {
        struct candidate *c = &s->list[i];

        if (!c->chosen && c->score * counts[c->kind] > most) {
            most = c->score * counts[c->kind];
            best = c;
        }
    }
    return best;
}

static uint32_t choose(struct search *s, const struct msim_cal_space *space,
                       struct msim_cal_experiment *out, uint32_t n)
{
    double counts[MSIM_CAL_KINDS];
    uint32_t chosen = 0;
    struct candidate *c;

    for (uint32_t i = 0; i < MSIM_CAL_KINDS; i++)
        counts[i] = space->kinds[i].weight;
    while (chosen < n && (c = best_of(s, counts))) {
        out[chosen++] = c->experiment;
        c->chosen = true;
        counts[c->kind] *= AGAIN;
    }
    return chosen;
}

uint32_t msim_cal_widest(const struct msim_cal_widths *w,
                         const struct msim_cal_design *design,
                         const struct msim_cal_space *space,
                         const struct msim_cal_journal *j, const char *backend,
                         uint64_t *random, struct msim_cal_experiment *out,
                         uint32_t n, double *mean)
{
    struct search s = {.w = w, .j = j, .backend = backend};

    *mean = INFINITY;
    s.timed = malloc(((size_t)j->n + 1) * sizeof(*s.timed));
    s.list = malloc(((size_t)space->n * CANDIDATES + 1) * sizeof(*s.list));
    if (s.timed && s.list) {
        find_timed(&s);
        for (uint32_t i = 0; i < space->n * CANDIDATES; i++) {
            struct msim_cal_experiment e;

            if (msim_cal_design_draw(design, i / CANDIDATES,
                                     msim_cal_design_uniform, random, &e))
                add_candidate(&s, &e, i / CANDIDATES);
        }
        n = choose(&s, space, out, n);
        if (s.counted)
            *mean = s.sum / s.counted;
    } else {
        n = 0;
    }
    free(s.timed);
    free(s.list);
    return n;
}
