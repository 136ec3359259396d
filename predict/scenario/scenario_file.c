/*
 * predict/scenario/scenario_file.c - scenarios of a traced job from their file.
 */
#include "predict/scenario/change_kinds.h"
#include "predict/scenario/scenario_list.h"

#include <stdlib.h>
#include <string.h>

/* Factors are applied in one order, so that the order in the file does not
 * matter to the last picosecond. */
static int by_text(const void *a, const void *b)
{
    const struct msim_scale *x = a, *y = b;

    return strcmp(x->text, y->text);
}

/* Likewise sizes: the batch before all others. */
static int by_axis(const void *a, const void *b)
{
    const struct msim_axis *x = a, *y = b;

    if (x->every != y->every)
        return x->every ? 1 : -1;
    return (x->from > y->from) - (x->from < y->from);
}

static enum msim_status take_count(void *ctx, uint32_t n)
{
    struct msim_change_reader *r = ctx;

    r->all->rows = calloc(n, sizeof(*r->all->rows));
    return r->all->rows ? MSIM_OK : MSIM_ENOMEM;
}

static enum msim_status begin_row(void *ctx, uint32_t index, const char *name)
{
    struct msim_change_reader *r = ctx;
    struct msim_scenario_row *row = &r->all->rows[index];

    r->row = row;
    r->all->n = index + 1;
    row->settings = r->all->base.settings;
    row->scales = calloc(MSIM_CHANGE_SCALES, sizeof(*row->scales));
    row->edits = calloc(MSIM_CHANGE_EDITS, sizeof(*row->edits));
    row->settings.scales = row->scales;
    row->settings.n_scales = 0;
    row->name = msim_change_text(r, name);
    return row->scales && row->edits && row->name ? MSIM_OK : MSIM_ENOMEM;
}

static void take_change(void *ctx, struct msim_fields *f, const char *key)
{
    struct msim_change_reader *r = ctx;

    r->f = f;
    msim_change_read(r, key);
}

static void end_row(void *ctx)
{
    struct msim_change_reader *r = ctx;
    struct msim_predict_settings *s = &r->row->settings;

    qsort(r->row->scales, s->n_scales, sizeof(*r->row->scales), by_text);
    qsort(s->reshape.axes, s->reshape.n_axes, sizeof(struct msim_axis),
          by_axis);
}

enum msim_status msim_scenarios_read(struct msim_scenarios *out,
                                     const char *path,
                                     const struct msim_predict_settings *s,
                                     struct msim_error *err)
{
    struct msim_change_reader into = {.all = out};
    struct msim_scenario_reader reader = {
        &into, msim_change_names, take_count, begin_row, take_change, end_row};

    *out = (struct msim_scenarios){.base = {.name = "base", .settings = *s}};
    out->base.settings.totals_only = true;
    msim_arena_init(&out->arena);
    return msim_scenario_list_read(&reader, path, err);
}

void msim_scenarios_release(struct msim_scenarios *s)
{
    for (uint32_t i = 0; i < s->n; i++) {
        free(s->rows[i].scales);
        free(s->rows[i].edits);
    }
    free(s->rows);
    msim_arena_release(&s->arena);
    s->rows = NULL;
    s->n = 0;
}
