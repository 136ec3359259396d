/*
 * calibrate/rows/samples.c - tables of measured times in memory.
 */
#include "calibrate/rows/samples.h"

#include "core/base/containers.h"
#include "core/base/hash.h"

#include <stdlib.h>
#include <string.h>

enum msim_status msim_samples_init(struct msim_samples *s)
{
    memset(s, 0, sizeof(*s));
    msim_arena_init(&s->arena);
    return msim_strtab_new(&s->texts);
}

void msim_samples_release(struct msim_samples *s)
{
    msim_strtab_free(s->texts);
    msim_arena_release(&s->arena);
    free(s->rows);
}

static enum msim_status keep_text(struct msim_samples *s, const char **text)
{
    uint32_t id;

    if (!*text)
        return MSIM_OK;
    MSIM_TRY(msim_strtab_add(s->texts, *text, strlen(*text), &id));
    *text = msim_strtab_text(s->texts, id);
    return MSIM_OK;
}

static uint64_t group_of(const struct msim_work *w)
{
    int64_t v[8] = {0};

    switch (w->family) {
    case MSIM_FAMILY_GEMM:
        v[0] = w->u.gemm.n;
        v[1] = w->u.gemm.k;
        v[2] = w->u.gemm.batch;
        break;
    case MSIM_FAMILY_ATTENTION:
        v[0] = w->u.attention.heads;
        v[1] = w->u.attention.kv_heads;
        v[2] = w->u.attention.head_dim;
        break;
    case MSIM_FAMILY_CONV:
        v[0] = w->u.conv.c;
        v[1] = w->u.conv.k;
        v[2] = w->u.conv.h;
        v[3] = w->u.conv.r * 64 + w->u.conv.s;
        break;
    case MSIM_FAMILY_MOE:
        v[0] = w->u.moe.hidden;
        v[1] = w->u.moe.inter;
        v[2] = w->u.moe.routing.topk;
        v[3] = w->u.moe.routing.experts;
        break;
    case MSIM_FAMILY_DISPATCH:
        v[0] = w->u.dispatch.hidden;
        v[1] = w->u.dispatch.topk;
        v[2] = w->u.dispatch.experts;
        break;
    case MSIM_FAMILY_COLLECTIVE:
        v[0] = w->u.coll.collective;
        v[1] = w->u.coll.ranks;
        v[2] = w->u.coll.nodes;
        break;
    default:
        v[0] = w->u.vector.rows;
        v[1] = w->u.vector.cols;
        break;
    }
    return msim_hash_bytes(MSIM_HASH_START, v, sizeof(v));
}

static enum msim_status keep_texts(struct msim_samples *s, struct msim_work *w)
{
    MSIM_TRY(keep_text(s, &w->framework));
    MSIM_TRY(keep_text(s, &w->source));
    MSIM_TRY(keep_text(s, &w->variant));
    MSIM_TRY(keep_text(s, &w->version));
    if (w->family == MSIM_FAMILY_MOE)
        MSIM_TRY(keep_text(s, &w->backend));
    else
        w->backend = NULL;
    if (w->family == MSIM_FAMILY_COLLECTIVE) {
        MSIM_TRY(keep_text(s, &w->u.coll.interconnect));
        MSIM_TRY(keep_text(s, &w->u.coll.algorithm));
        MSIM_TRY(keep_text(s, &w->u.coll.setting));
    }
    return MSIM_OK;
}

enum msim_status msim_samples_add_work(struct msim_samples *s,
                                       const struct msim_work *w,
                                       const char *gpu, double us)
{
    struct msim_sample *r;
    char key[72];

    MSIM_TRY(
        msim_grow((void **)&s->rows, &s->capacity, s->n, sizeof(*s->rows)));
    r = &s->rows[s->n];
    memset(r, 0, sizeof(*r));
    r->work = *w;
    r->us = us;
    r->gpu = gpu;
    r->law = msim_law_of(w->family, s->host);
    if (!r->law)
        return MSIM_OK;
    MSIM_TRY(keep_texts(s, &r->work));
    r->framework = r->work.framework ? r->work.framework : "";
    r->law->key(w, key, sizeof(key));
    r->key = key;
    MSIM_TRY(keep_text(s, &r->key));
    MSIM_TRY(keep_text(s, &r->gpu));
    r->group = group_of(w);
    s->n++;
    return MSIM_OK;
}

static enum msim_status add_rows(struct msim_samples *s, struct msim_csv *csv,
                                 struct msim_error *err)
{
    struct msim_row_map map;
    uint32_t gpu = msim_csv_find(csv, "gpu");
    uint32_t time = msim_csv_find(csv, "time_us");
    char *const *fields;
    char reason[128];
    struct msim_work w;

    MSIM_TRY(msim_row_map_init(&map, csv, err));
    if (gpu == UINT32_MAX || time == UINT32_MAX)
        return msim_fail(err, MSIM_EFORMAT, NULL, MSIM_OFFSET_NONE,
                         "a table to fit on wants columns gpu and time_us");
    for (;;) {
        double us;

        MSIM_TRY(msim_csv_next(csv, &fields, err));
        if (!fields)
            return MSIM_OK;
        us = strtod(fields[time], NULL);
        if (us > 0 && !msim_row_work(&map, fields, &w, reason, sizeof(reason)))
            MSIM_TRY(msim_samples_add_work(s, &w, fields[gpu], us));
    }
}

enum msim_status msim_samples_add(struct msim_samples *s, const char *path,
                                  struct msim_error *err)
{
    struct msim_csv *csv;
    enum msim_status status = msim_csv_open(&csv, path, err);

    if (status != MSIM_OK)
        return status;
    status = add_rows(s, csv, err);
    msim_csv_close(csv);
    if (status != MSIM_OK)
        (void)msim_fail(err, status, path, MSIM_OFFSET_NONE, "%s",
                        msim_status_text(status));
    return status;
}

static int compare_sizes(const struct msim_work *a, const struct msim_work *b)
{
    return memcmp(&a->u, &b->u, sizeof(a->u));
}

static int by_fit(const void *pa, const void *pb)
{
    const struct msim_sample *a = pa;
    const struct msim_sample *b = pb;
    int c = strcmp(a->law->name, b->law->name);

    if (c == 0)
        c = strcmp(a->gpu, b->gpu);
    if (c == 0)
        c = strcmp(a->framework, b->framework);
    if (c == 0)
        c = strcmp(a->key, b->key);
    if (c == 0)
        c = MSIM_ORDER(a->group, b->group);
    if (c == 0 && a->law != &MSIM_LAW_COLLECTIVE)
        c = compare_sizes(&a->work, &b->work);
    if (c == 0)
        c = MSIM_ORDER(a->us, b->us);
    return c;
}

#define MODELS_MIN 3

bool msim_sample_same_fit(const struct msim_sample *a,
                          const struct msim_sample *b)
{
    return a->law == b->law && strcmp(a->gpu, b->gpu) == 0 &&
           strcmp(a->framework, b->framework) == 0 &&
           strcmp(a->key, b->key) == 0;
}

/* A group becomes the layers of one model, split over ranks in one way. */
static void split_group(struct msim_sample *r, uint32_t models)
{
    const int64_t v[2] = {r->work.u.moe.tp, r->work.u.moe.routing.ep};

    r->group = msim_hash_bytes(r->group, v, sizeof(v));
    r->models = models;
}

/* Layers of experts of one or two models make one or two groups, too few to
 * hold any out: their groups are made smaller. */
static void split_groups(struct msim_samples *s)
{
    uint32_t end;

    for (uint32_t begin = 0; begin < s->n; begin = end) {
        uint32_t models = 1;

        for (end = begin + 1;
             end < s->n && msim_sample_same_fit(&s->rows[begin], &s->rows[end]);
             end++)
            models += s->rows[end].group != s->rows[end - 1].group;
        if (s->rows[begin].law != &MSIM_LAW_MOE || models >= MODELS_MIN)
            continue;
        for (uint32_t i = begin; i < end; i++)
            split_group(&s->rows[i], models);
    }
}

void msim_samples_sort(struct msim_samples *s)
{
    qsort(s->rows, s->n, sizeof(*s->rows), by_fit);
    split_groups(s);
    qsort(s->rows, s->n, sizeof(*s->rows), by_fit);
}
