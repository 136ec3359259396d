/*
 * plan/rows/job_marks.c - rows of a table that cannot be as predicted.
 */
#include "plan/rows/job_marks.h"

#include "core/base/hash.h"
#include "plan/describe/strategy.h"

#include <stdlib.h>
#include <string.h>

#define BLOCK 1024

/* All but the strategy: model and GPU. */
static uint64_t rest_of(const struct msim_described *model,
                        const struct msim_platform *on)
{
    const int64_t sizes[] = {model->layers, model->hidden, model->heads,
                             model->vocab};
    uint64_t h = msim_hash_text(MSIM_HASH_START, model->name);

    h = msim_hash_bytes(h, sizes, sizeof(sizes));
    return msim_hash_bytes(h, &on, sizeof(on));
}

enum msim_status msim_job_marks_add(struct msim_job_marks *m, char *text,
                                    const struct msim_job_row *row,
                                    const struct msim_job_priced *priced,
                                    const struct msim_step_estimate *e)
{
    struct msim_job_marked *to;

    if (!m->rows)
        m->rows = calloc(BLOCK + 1, sizeof(*m->rows));
    if (!m->rows) {
        free(text);
        return MSIM_ENOMEM;
    }
    to = &m->rows[m->n++];
    *to = (struct msim_job_marked){.text = text};
    if (priced) {
        to->predicted = true;
        to->strategy = row->strategy;
        to->rest = rest_of(row->model, priced->on);
        to->us = e->us;
        to->measured = e->near;
        to->marks =
            msim_guard_check(e->us, e->low_us, e->high_us,
                             msim_step_mfu(e, priced->on, &row->strategy));
    }
    return m->n > BLOCK ? msim_job_marks_flush(m) : MSIM_OK;
}

/* Hold those that were predicted against each other. */
static enum msim_status compare(struct msim_job_marks *m)
{
    struct msim_strategy_answer *a = malloc((m->n + 1) * sizeof(*a));
    msim_guard_marks *marks = calloc(m->n + 1, sizeof(*marks));
    enum msim_status status = a && marks ? MSIM_OK : MSIM_ENOMEM;
    uint32_t n = 0;

    for (uint32_t i = 0; status == MSIM_OK && i < m->n; i++)
        if (m->rows[i].predicted)
            a[n++] =
                (struct msim_strategy_answer){.strategy = &m->rows[i].strategy,
                                              .rest = m->rows[i].rest,
                                              .us = m->rows[i].us,
                                              .measured = m->rows[i].measured};
    if (status == MSIM_OK)
        status = msim_strategy_guard(a, n, marks);
    n = 0;
    for (uint32_t i = 0; status == MSIM_OK && i < m->n; i++)
        if (m->rows[i].predicted)
            m->rows[i].marks |= marks[n++];
    free(a);
    free(marks);
    return status;
}

static void write_row(struct msim_job_marks *m, struct msim_job_marked *row)
{
    char words[MSIM_GUARD_WORDS];

    if (row->predicted)
        msim_guard_add(&m->count, row->marks);
    if (m->out) {
        msim_guard_words(row->marks, words);
        fwrite(row->text, 1, strlen(row->text), m->out); /* cells */
        msim_csv_add(m->out, words);
        putc('\n', m->out);
    }
    free(row->text);
    row->text = NULL;
}

enum msim_status msim_job_marks_flush(struct msim_job_marks *m)
{
    MSIM_TRY(compare(m));
    for (uint32_t i = m->before; i < m->n; i++)
        write_row(m, &m->rows[i]);
    if (m->n)
        m->rows[0] = m->rows[m->n - 1];
    m->n = m->before = m->n ? 1 : 0;
    return MSIM_OK;
}

void msim_job_marks_release(struct msim_job_marks *m)
{
    for (uint32_t i = m->before; i < m->n; i++)
        free(m->rows[i].text);
    free(m->rows);
}
