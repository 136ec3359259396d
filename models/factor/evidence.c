/*
 * models/factor/evidence.c - reading and applying what traces say.
 */
#include "models/factor/evidence.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Beyond these a factor is a mistake. */
#define LEAST 0.05
#define MOST  20

static bool is_factor(const cJSON *item)
{
    return cJSON_IsNumber(item) && item->valuedouble >= LEAST &&
           item->valuedouble <= MOST;
}

/* The pair [start, rate, ...]. */
static bool read_pair(struct msim_level *out, const cJSON *pair)
{
    const cJSON *start = cJSON_GetArrayItem(pair, 0);
    const cJSON *rate = cJSON_GetArrayItem(pair, 1);

    if (!is_factor(start) || !is_factor(rate))
        return false;
    *out = (struct msim_level){log(start->valuedouble), log(rate->valuedouble)};
    return true;
}

static enum msim_status wrong(const char *file, const char *member,
                              struct msim_error *err)
{
    return msim_fail(err, MSIM_EFORMAT, file, MSIM_OFFSET_NONE,
                     "'evidence.%s' is missing or wrong, want factors of start "
                     "and rate from 0.05 to 20",
                     member);
}

static int by_text(const void *a, const void *b)
{
    const struct msim_evidence_kind *x = a, *y = b;

    return strcmp(x->text, y->text);
}

static enum msim_status read_kinds(struct msim_evidence *e, const cJSON *kinds,
                                   const char *file, struct msim_error *err)
{
    const cJSON *kind;

    e->kinds = calloc((size_t)cJSON_GetArraySize(kinds) + 1, sizeof(*e->kinds));
    if (!e->kinds)
        return MSIM_ENOMEM;
    cJSON_ArrayForEach(kind, kinds)
    {
        struct msim_evidence_kind *k = &e->kinds[e->n];

        if (!read_pair(&k->factors, kind) ||
            strlen(kind->string) >= sizeof(k->text))
            return wrong(file, "kinds", err);
        snprintf(k->text, sizeof(k->text), "%s", kind->string);
        e->n++;
    }
    qsort(e->kinds, e->n, sizeof(*e->kinds), by_text);
    return MSIM_OK;
}

static enum msim_status read_families(struct msim_evidence *e,
                                      const cJSON *families,
                                      const struct msim_level *all,
                                      const char *file, struct msim_error *err)
{
    for (int f = 0; f < MSIM_FAMILY_COUNT; f++) {
        const cJSON *pair = cJSON_GetObjectItemCaseSensitive(
            families, msim_family_text((enum msim_family)f));

        e->families[f] = *all;
        if (pair && !read_pair(&e->families[f], pair))
            return wrong(file, "families", err);
    }
    return MSIM_OK;
}

enum msim_status msim_evidence_read(struct msim_evidence *e, const cJSON *json,
                                    const char *file, struct msim_error *err)
{
    struct msim_level all;

    *e = (struct msim_evidence){0};
    if (!json)
        return MSIM_OK;
    e->clock = msim_json_get_number(json, "clock", 1);
    if (!(e->clock > 0.05 && e->clock <= 2))
        return msim_fail(err, MSIM_EFORMAT, file, MSIM_OFFSET_NONE,
                         "'evidence.clock' is %g, want a share of the usual "
                         "clock",
                         e->clock);
    if (!read_pair(&all, cJSON_GetObjectItemCaseSensitive(json, "all")))
        return wrong(file, "all", err);
    MSIM_TRY(read_families(e,
                           cJSON_GetObjectItemCaseSensitive(json, "families"),
                           &all, file, err));
    return read_kinds(e, cJSON_GetObjectItemCaseSensitive(json, "kinds"), file,
                      err);
}

void msim_evidence_release(struct msim_evidence *e)
{
    free(e->kinds);
    *e = (struct msim_evidence){0};
}

void msim_evidence_apply(const struct msim_evidence *e, const char *kind,
                         struct msim_estimate *estimate)
{
    struct msim_evidence_kind wanted;
    const struct msim_evidence_kind *found;
    double start, us;

    snprintf(wanted.text, sizeof(wanted.text), "%s", kind);
    found = bsearch(&wanted, e->kinds, e->n, sizeof(*e->kinds), by_text);
    us = msim_level_apply(found ? &found->factors
                                : &e->families[estimate->family],
                          estimate->us, estimate->start_us, &start);
    if (!(estimate->us > 0))
        return;
    estimate->low_us *= us / estimate->us;
    estimate->high_us *= us / estimate->us;
    estimate->us = us;
    estimate->start_us = start;
}
