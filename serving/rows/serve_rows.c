/*
 * serving/rows/serve_rows.c - tables of served models.
 *
 * Rows are sorted by what is served and how it is split, so that one served
 * model answers all that are alike; threads take one such group at a time. An
 * answer depends on its row alone, so the same bytes come out of any number of
 * threads.
 */
#include "serving/rows/serve_rows.h"
#include "serving/rows/point_table.h"

#include <pthread.h>
#include <stdlib.h>

struct pool {
    struct msim_point_table *table;
    pthread_mutex_t lock; /* guards the next two */
    uint32_t next;        /* of table->order */
    enum msim_status status;
};

/* The next rows that are served alike: table->order[*first] .. before *end. */
static bool take_group(struct pool *pool, uint32_t *first, uint32_t *end)
{
    const struct msim_point_table *t = pool->table;
    bool more;

    pthread_mutex_lock(&pool->lock);
    *first = *end = pool->next;
    while (*end < t->n && msim_point_row_compare(&t->rows[t->order[*first]],
                                                 &t->rows[t->order[*end]]) == 0)
        ++*end;
    pool->next = *end;
    more = *end > *first && pool->status == MSIM_OK;
    pthread_mutex_unlock(&pool->lock);
    return more;
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

static void *work(void *ctx)
{
    struct msim_point_shelf shelf = {0};
    struct pool *pool = ctx;
    uint32_t first, end;

    while (take_group(pool, &first, &end)) {
        enum msim_status status = MSIM_OK;

        for (; first < end && status == MSIM_OK; first++)
            status = answer_row(pool->table,
                                &pool->table->rows[pool->table->order[first]],
                                &shelf);
        if (status == MSIM_OK)
            continue;
        pthread_mutex_lock(&pool->lock);
        pool->status = status;
        pthread_mutex_unlock(&pool->lock);
    }
    msim_point_shelf_release(&shelf);
    return NULL;
}

#define THREADS_MOST 64

static enum msim_status answer_all(struct msim_point_table *t, uint32_t threads)
{
    struct pool pool = {.table = t, .status = MSIM_OK};
    pthread_t helpers[THREADS_MOST];
    uint32_t n = 0;

    pthread_mutex_init(&pool.lock, NULL);
    /* A thread that cannot be had leaves its share to the others. */
    while (n + 1 < threads && n < THREADS_MOST &&
           pthread_create(&helpers[n], NULL, work, &pool) == 0)
        n++;
    work(&pool);
    while (n > 0)
        pthread_join(helpers[--n], NULL);
    pthread_mutex_destroy(&pool.lock);
    return pool.status;
}

enum msim_status msim_serve_rows(const struct msim_serve_rows_wish *wish,
                                 FILE *out, struct msim_error *err)
{
    struct msim_point_table t;
    enum msim_status status = msim_point_table_read(
        &t, wish->path, wish->models, wish->data_dir, err);

    if (status == MSIM_OK)
        status = answer_all(&t, wish->threads);
    if (status == MSIM_OK) {
        if (wish->csv)
            msim_point_table_csv(&t, out);
        else
            msim_point_table_text(&t, out);
    }
    msim_point_table_release(&t);
    if (status != MSIM_OK)
        return msim_fail(err, status, wish->path, MSIM_OFFSET_NONE, "%s",
                         msim_status_text(status));
    return MSIM_OK;
}
