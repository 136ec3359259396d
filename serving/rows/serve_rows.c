/*
 * serving/rows/serve_rows.c - tables of served models.
 *
 * Rows are sorted by what is served and how it is split, so that one served
 * model answers all that are alike; threads take one such group at a time. An
 * answer depends on its row alone, so the same bytes come out of any number of
 * threads.
 */
#include "serving/rows/serve_rows.h"

#include "core/guard/guard.h"
#include "core/turns/turns.h"

/* The row at a place of the order. */
static struct msim_point_row *row_at(const struct msim_point_table *t,
                                     uint32_t place)
{
    return &t->rows[t->order[place]];
}

static bool are_alike(const struct msim_point_table *t, uint32_t a, uint32_t b)
{
    return msim_point_row_compare(row_at(t, a), row_at(t, b)) == 0;
}

static enum msim_status answer_row(const struct msim_point_table *t,
                                   struct msim_point_row *row,
                                   struct msim_point_shelf *shelf)
{
    struct msim_point_world world = {
        t->law, row->model ? &row->model->described : NULL,
        row->platform ? row->platform->platform : NULL};

    if (row->answer.reason[0])
        return MSIM_OK;
    return msim_point_answer_make(&row->answer, &row->point, &world, shelf);
}

/* All of a group by whose turn its first is. */
static enum msim_status answer_group(const struct msim_point_table *t,
                                     uint32_t first,
                                     struct msim_point_shelf *shelf)
{
    if (first > 0 && are_alike(t, first - 1, first))
        return MSIM_OK;
    for (uint32_t i = first; i < t->n && are_alike(t, first, i); i++)
        MSIM_TRY(answer_row(t, row_at(t, i), shelf));
    return MSIM_OK;
}

static enum msim_status work(struct msim_turns *turns, void *ctx,
                             struct msim_error *err)
{
    struct msim_point_shelf shelf = {0};
    enum msim_status status = MSIM_OK;
    uint32_t i;

    (void)err;
    while (status == MSIM_OK && msim_turns_next(turns, &i))
        status = answer_group(ctx, i, &shelf);
    msim_point_shelf_release(&shelf);
    return status;
}

enum msim_status msim_serve_rows(const struct msim_serve_rows_wish *wish,
                                 FILE *out, struct msim_error *err)
{
    struct msim_point_table t;
    uint64_t answers = 0, asked = 0;
    enum msim_status status = msim_point_table_read(
        &t, wish->path, wish->models, wish->data_dir, err);

    if (status == MSIM_OK)
        status = msim_turns_run(t.n, wish->threads, work, &t, NULL);
    if (status == MSIM_OK) {
        if (wish->csv)
            msim_point_table_csv(&t, out);
        else
            msim_point_table_text(&t, out);
        for (uint32_t i = 0; i < t.n; i++)
            answers += t.rows[i].answer.answered;
        asked = t.n;
    }
    msim_point_table_release(&t);
    if (status != MSIM_OK)
        return msim_fail(err, status, wish->path, MSIM_OFFSET_NONE, "%s",
                         msim_status_text(status));
    return msim_guard_some(answers, asked, "rows", err);
}
