/*
 * core/fold/fold.c - the ranks of a job, as long as all of them are equal.
 */
#include "core/fold/fold.h"

#include <stdlib.h>

uint32_t msim_fold_kind_of(struct msim_rank_fold *f, struct msim_trace *t)
{
    if (!msim_trace_is_any_rank(t) ||
        (f->n && !msim_traces_equal(f->kinds[0].trace, t)))
        return MSIM_NONE;
    for (uint32_t i = 0; i < f->n; i++)
        if (msim_traces_listed_alike(f->kinds[i].trace, t))
            return i;
    if (f->n == MSIM_FOLD_KINDS)
        return MSIM_NONE;
    f->kinds[f->n] = (struct msim_fold_kind){t, t->import};
    return f->n++;
}

#define ROWS (MSIM_IMPORT_KINDS + MSIM_IMPORT_NAMES)

enum msim_status msim_fold_records_new(struct msim_fold_records **out,
                                       const struct msim_import_log *log)
{
    struct msim_fold_records *r;
    uint32_t n = 0;

    for (uint32_t i = 0; i < ROWS; i++)
        n += log->rows[i].n != 0;
    *out = r = malloc(sizeof(*r) + n * sizeof(r->rows[0]));
    if (!r)
        return MSIM_ENOMEM;
    *r = (struct msim_fold_records){log->records, log->read, 0};
    for (uint32_t i = 0; i < ROWS; i++)
        if (log->rows[i].n)
            r->rows[r->n++] = (struct msim_fold_count){i, log->rows[i]};
    return MSIM_OK;
}

struct msim_import_log msim_fold_as_read(const struct msim_fold_records *r)
{
    struct msim_import_log log = {r->records, r->read, {{0}}};

    for (uint32_t i = 0; i < r->n; i++)
        log.rows[r->rows[i].row] = r->rows[i].count;
    return log;
}

struct msim_import_log msim_fold_log(const struct msim_fold_kind *kind,
                                     const struct msim_fold_records *as_read)
{
    struct msim_import_log log = msim_fold_as_read(as_read);

    for (int k = 0; k < MSIM_IMPORT_KINDS; k++)
        msim_import_add(&log, (enum msim_import_kind)k,
                        kind->trace->import.rows[k].n - kind->log.rows[k].n);
    return log;
}
