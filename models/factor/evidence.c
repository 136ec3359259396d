/*
 * models/factor/evidence.c - reading and applying what traces say.
 */
#include "models/factor/levels.h"

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

/* The member `member` of the evidence, by text; without it there are none. */
static enum msim_status read_kinds(struct msim_evidence_kind **out, uint32_t *n,
                                   const cJSON *json, const char *member,
                                   const char *file, struct msim_error *err)
{
    const cJSON *kinds = cJSON_GetObjectItemCaseSensitive(json, member), *kind;

    *n = 0;
    *out = calloc((size_t)cJSON_GetArraySize(kinds) + 1, sizeof(**out));
    if (!*out)
        return MSIM_ENOMEM;
    cJSON_ArrayForEach(kind, kinds)
    {
        struct msim_evidence_kind *k = &(*out)[*n];

        if (!kind->string || !read_pair(&k->factors, kind) ||
            strlen(kind->string) >= sizeof(k->text))
            return wrong(file, member, err);
        snprintf(k->text, sizeof(k->text), "%s", kind->string);
        ++*n;
    }
    qsort(*out, *n, sizeof(**out), by_text);
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
    MSIM_TRY(read_kinds(&e->kin, &e->n_kin, json, "kin", file, err));
    return read_kinds(&e->kinds, &e->n, json, "kinds", file, err);
}

void msim_evidence_release(struct msim_evidence *e)
{
    free(e->kinds);
    free(e->kin);
    *e = (struct msim_evidence){0};
}

size_t msim_evidence_kin(const char *kind)
{
    return strcspn(kind, ",");
}

/* The factors of the first `length` bytes of `kind`, or NULL. */
static const struct msim_level *find(const struct msim_evidence_kind *kinds,
                                     uint32_t n, const char *kind,
                                     size_t length)
{
    struct msim_evidence_kind wanted;
    const struct msim_evidence_kind *found;

    snprintf(wanted.text, sizeof(wanted.text), "%.*s", (int)length, kind);
    found = bsearch(&wanted, kinds, n, sizeof(*kinds), by_text);
    return found ? &found->factors : NULL;
}

void msim_evidence_apply(const struct msim_evidence *e, const char *kind,
                         struct msim_estimate *estimate)
{
    const struct msim_level *x = find(e->kinds, e->n, kind, strlen(kind));
    double start, us;

    if (!x)
        x = find(e->kin, e->n_kin, kind, msim_evidence_kin(kind));
    if (!x)
        x = &e->families[estimate->family];
    us = msim_level_apply(x, estimate->us, estimate->start_us, &start);
    if (!(estimate->us > 0))
        return;
    estimate->low_us *= us / estimate->us;
    estimate->high_us *= us / estimate->us;
    estimate->us = us;
    estimate->start_us = start;
}
