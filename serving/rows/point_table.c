/*
 * serving/rows/point_table.c - reading a table of served points.
 */
#include "core/base/containers.h"
#include "models/platform/platform.h"
#include "plan/describe/describe.h"
#include "serving/rows/serve_rows.h"

#include <stdlib.h>
#include <string.h>

struct reader {
    struct msim_point_table *t;
    struct msim_csv *csv;
    struct msim_point_columns columns;
    struct msim_strtab *names;
    struct msim_idmap model, platform; /* numbers of names to those of t */
    const char *models, *data_dir;
    char folder[1024]; /* of models, where none is given */
};

/* --- what names stand for --- */

static void read_model(const struct reader *r, struct msim_point_model *m)
{
    struct msim_error why = {0};
    char path[1024];
    enum msim_status status =
        msim_model_name_find(path, sizeof(path), r->models, r->data_dir,
                             m->name, MSIM_MODEL_REST_ANY, &why);

    if (status == MSIM_OK)
        status = msim_described_read(&m->described, path, &why);
    if (status != MSIM_OK)
        msim_point_note(m->reason, "model '%s': %s", m->name, why.text);
}

static void read_platform(const struct reader *r, struct msim_point_platform *p)
{
    struct msim_error why = {0};

    if (msim_platform_load(&p->platform, r->data_dir, p->name, &why) != MSIM_OK)
        msim_point_note(p->reason, "platform '%s': %s", p->name, why.text);
}

/* Where the map has `name`, which is `fresh` where it is new. */
static enum msim_status number_of(struct reader *r, struct msim_idmap *map,
                                  const char *name, uint32_t fresh,
                                  uint32_t *number)
{
    uint32_t id, *at;

    MSIM_TRY(msim_strtab_add(r->names, name, strlen(name), &id));
    MSIM_TRY(msim_idmap_put(map, id, fresh, &at));
    *number = *at;
    return MSIM_OK;
}

static enum msim_status model_of(struct reader *r, const char *name,
                                 const struct msim_point_model **out)
{
    struct msim_point_table *t = r->t;
    struct msim_point_model *m;
    uint32_t i;

    MSIM_TRY(number_of(r, &r->model, name, t->n_models, &i));
    if (i == t->n_models) {
        MSIM_TRY(msim_grow((void **)&t->models, &t->cap_models, t->n_models,
                           sizeof(*t->models)));
        m = msim_arena_alloc(&t->arena, sizeof(*m));
        if (!m)
            return MSIM_ENOMEM;
        m->name = name;
        read_model(r, m);
        t->models[t->n_models++] = m;
    }
    *out = t->models[i];
    return MSIM_OK;
}

static enum msim_status platform_of(struct reader *r, const char *name,
                                    const struct msim_point_platform **out)
{
    struct msim_point_table *t = r->t;
    struct msim_point_platform *p;
    uint32_t i;

    MSIM_TRY(number_of(r, &r->platform, name, t->n_platforms, &i));
    if (i == t->n_platforms) {
        MSIM_TRY(msim_grow((void **)&t->platforms, &t->cap_platforms,
                           t->n_platforms, sizeof(*t->platforms)));
        p = msim_arena_alloc(&t->arena, sizeof(*p));
        if (!p)
            return MSIM_ENOMEM;
        p->name = name;
        t->platforms[t->n_platforms++] = p;
        read_platform(r, p);
    }
    *out = t->platforms[i];
    return MSIM_OK;
}

/* --- rows --- */

static char *copy_text(struct msim_arena *arena, const char *text)
{
    size_t n = strlen(text) + 1;
    char *copy = msim_arena_alloc(arena, n);

    return copy ? memcpy(copy, text, n) : NULL;
}

static enum msim_status copy_fields(struct msim_point_table *t,
                                    const char *(*field)(const void *,
                                                         uint32_t),
                                    const void *of, char *const **out)
{
    char **copies = msim_arena_alloc(&t->arena, t->columns * sizeof(char *));

    for (uint32_t i = 0; copies && i < t->columns; i++) {
        copies[i] = copy_text(&t->arena, field(of, i));
        if (!copies[i])
            return MSIM_ENOMEM;
    }
    *out = copies;
    return copies ? MSIM_OK : MSIM_ENOMEM;
}

static const char *header_field(const void *csv, uint32_t i)
{
    return msim_csv_header(csv, i);
}

static const char *row_field(const void *fields, uint32_t i)
{
    return ((char *const *)fields)[i];
}

static void settle(const struct msim_point_table *t, struct msim_point_row *row)
{
    msim_point_benchmarks_apply(
        &t->benchmarks, &row->point, row->model->described.name,
        msim_platform_name(row->platform->platform), row->answer.defaults);
    msim_served_point_settle(&row->point, row->answer.defaults);
}

static enum msim_status add_row(struct reader *r, char *const *fields)
{
    struct msim_point_table *t = r->t;
    struct msim_point_row *row;
    const char *why;

    MSIM_TRY(msim_grow((void **)&t->rows, &t->cap, t->n, sizeof(*t->rows)));
    row = &t->rows[t->n];
    memset(row, 0, sizeof(*row));
    MSIM_TRY(copy_fields(t, row_field, fields, &row->fields));
    t->n++;
    if (!msim_served_point_read(&row->point, &r->columns, row->fields,
                                row->answer.defaults, row->answer.reason))
        return MSIM_OK;
    MSIM_TRY(model_of(r, row->point.model, &row->model));
    MSIM_TRY(platform_of(r, row->point.platform, &row->platform));
    why = row->model->reason[0] ? row->model->reason : row->platform->reason;
    if (why[0])
        msim_point_note(row->answer.reason, "%s", why);
    else
        settle(t, row);
    return MSIM_OK;
}

static enum msim_status read_rows(struct reader *r, const char *path,
                                  struct msim_error *err)
{
    char *const *fields;

    MSIM_TRY(msim_csv_open(&r->csv, path, err));
    MSIM_TRY(msim_point_columns_find(&r->columns, r->csv, path, err));
    r->t->columns = msim_csv_columns(r->csv);
    MSIM_TRY(copy_fields(r->t, header_field, r->csv, &r->t->header));
    for (;;) {
        MSIM_TRY(msim_csv_next(r->csv, &fields, err));
        if (!fields)
            return MSIM_OK;
        MSIM_TRY(add_row(r, fields));
    }
}

/* --- order --- */

static int compare_sides(const struct msim_point_side *a,
                         const struct msim_point_side *b)
{
    const int64_t x[] = {a->tp, a->pp, a->dp, a->moe_tp, a->ep};
    const int64_t y[] = {b->tp, b->pp, b->dp, b->moe_tp, b->ep};

    for (int i = 0; i < 5; i++)
        if (x[i] != y[i])
            return MSIM_ORDER(x[i], y[i]);
    return 0;
}

static int compare_texts(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) : (a != NULL) - (b != NULL);
}

int msim_point_row_compare(const struct msim_point_row *a,
                           const struct msim_point_row *b)
{
    const struct msim_served_point *p = &a->point, *q = &b->point;
    int d = compare_texts(p->model, q->model);

    if (!d)
        d = compare_texts(p->platform, q->platform);
    if (!d)
        d = (int)p->engine - (int)q->engine;
    if (!d)
        d = (int)p->products - (int)q->products;
    if (!d)
        d = (int)p->experts - (int)q->experts;
    if (!d)
        d = (int)p->kv - (int)q->kv;
    if (!d)
        d = MSIM_ORDER(p->max_num_batched_tokens, q->max_num_batched_tokens);
    if (!d)
        d = compare_sides(&p->serve, &q->serve);
    return d ? d : compare_sides(&p->decode, &q->decode);
}

static int compare_in(const void *x, const void *y, void *rows)
{
    const struct msim_point_row *of = rows;
    uint32_t i = *(const uint32_t *)x, j = *(const uint32_t *)y;
    int d = msim_point_row_compare(&of[i], &of[j]);

    return d ? d : MSIM_ORDER(i, j);
}

static enum msim_status sort_rows(struct msim_point_table *t)
{
    t->order = malloc((t->n + (size_t)1) * sizeof(*t->order));
    if (!t->order)
        return MSIM_ENOMEM;
    for (uint32_t i = 0; i < t->n; i++)
        t->order[i] = i;
    qsort_r(t->order, t->n, sizeof(*t->order), compare_in, t->rows);
    return MSIM_OK;
}

enum msim_status msim_point_table_read(struct msim_point_table *t,
                                       const char *path, const char *models,
                                       const char *data_dir,
                                       struct msim_error *err)
{
    struct reader r = {.t = t, .models = models, .data_dir = data_dir};
    enum msim_status status;
    char settings[1100];

    *t = (struct msim_point_table){0};
    msim_arena_init(&t->arena);
    if (!models) {
        snprintf(r.folder, sizeof(r.folder), "%s/models", data_dir);
        r.models = r.folder;
    }
    t->law = malloc(sizeof(*t->law));
    if (!t->law)
        return MSIM_ENOMEM;
    MSIM_TRY(msim_llm_law_load(t->law, data_dir, err));
    snprintf(settings, sizeof(settings), "%s/laws/benchmarks.csv", data_dir);
    MSIM_TRY(msim_point_benchmarks_read(&t->benchmarks, settings, err));
    status = msim_strtab_new(&r.names);
    if (status == MSIM_OK)
        status = read_rows(&r, path, err);
    msim_csv_close(r.csv);
    msim_strtab_free(r.names);
    msim_idmap_release(&r.model);
    msim_idmap_release(&r.platform);
    return status == MSIM_OK ? sort_rows(t) : status;
}

void msim_point_table_release(struct msim_point_table *t)
{
    for (uint32_t i = 0; i < t->n_platforms; i++)
        msim_platform_free(t->platforms[i]->platform);
    free(t->platforms);
    free(t->models);
    free(t->rows);
    free(t->order);
    free(t->law);
    msim_point_benchmarks_release(&t->benchmarks);
    msim_arena_release(&t->arena);
}
