/*
 * predict/scenario/scenario_file.c - scenarios of a traced job from their file.
 */
#include "core/base/containers.h"
#include "predict/scenario/list/scenario_list.h"
#include "predict/scenario/scenario_internal.h"

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
    return MSIM_ORDER(x->from, y->from);
}

enum msim_status msim_change_rows(struct msim_change_reader *r, uint32_t n,
                                  const struct msim_predict_settings *s)
{
    r->all->base = (struct msim_scenario_row){.name = "base", .settings = *s};
    r->all->base.settings.totals_only = true;
    r->all->rows = calloc((size_t)n + 1, sizeof(*r->all->rows));
    return r->all->rows ? MSIM_OK : MSIM_ENOMEM;
}

enum msim_status msim_change_begin(struct msim_change_reader *r, uint32_t index,
                                   const char *name)
{
    struct msim_scenario_row *row = &r->all->rows[index];

    r->row = row;
    r->seen = 0;
    r->all->n = index + 1;
    row->settings = r->all->base.settings;
    row->scales = calloc(MSIM_CHANGE_SCALES, sizeof(*row->scales));
    row->edits = calloc(MSIM_CHANGE_EDITS, sizeof(*row->edits));
    row->settings.scales = row->scales;
    row->settings.n_scales = 0;
    row->name = msim_change_text(r, name);
    return row->scales && row->edits && row->name ? MSIM_OK : MSIM_ENOMEM;
}

void msim_change_end(struct msim_change_reader *r)
{
    struct msim_predict_settings *s = &r->row->settings;

    qsort(r->row->scales, s->n_scales, sizeof(*r->row->scales), by_text);
    qsort(s->reshape.axes, s->reshape.n_axes, sizeof(struct msim_axis),
          by_axis);
}

/* ---- from a file --------------------------------------------------------- */

struct file_reader {
    struct msim_change_reader to;
    const struct msim_predict_settings *settings;
};

static enum msim_status take_count(void *ctx, uint32_t n)
{
    struct file_reader *r = ctx;

    return msim_change_rows(&r->to, n, r->settings);
}

static enum msim_status begin_row(void *ctx, uint32_t index, const char *name)
{
    struct file_reader *r = ctx;

    return msim_change_begin(&r->to, index, name);
}

static void take_change(void *ctx, struct msim_fields *f, const char *key)
{
    struct file_reader *r = ctx;

    r->to.f = f;
    msim_scenario_guard_note(r->to.row, f, key);
    msim_change_read(&r->to, key);
}

static void end_row(void *ctx)
{
    struct file_reader *r = ctx;

    msim_change_end(&r->to);
}

enum msim_status msim_scenarios_read(struct msim_scenarios *out,
                                     const struct msim_scenario_source *from,
                                     const struct msim_predict_settings *s,
                                     struct msim_error *err)
{
    struct file_reader into = {{.all = out}, s};
    struct msim_scenario_reader reader = {
        &into, msim_change_names, take_count, begin_row, take_change, end_row};

    *out = (struct msim_scenarios){.from_file = true};
    msim_arena_init(&out->arena);
    return msim_scenario_list_read(&reader, from, &out->grid, err);
}

void msim_scenarios_release(struct msim_scenarios *s)
{
    for (uint32_t i = 0; i < s->n; i++) {
        free(s->rows[i].scales);
        free(s->rows[i].edits);
    }
    free(s->rows);
    msim_arena_release(&s->arena);
    msim_shelf_release(&s->shelf);
    msim_scenario_grid_release(&s->grid);
    s->rows = NULL;
    s->n = 0;
}
