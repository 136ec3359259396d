/*
 * tests/unit/loaded_kineto.h - jobs out of the traces that made_kineto.h
 * writes, and what was counted of their events.
 */
#ifndef MSIM_TESTS_UNIT_LOADED_KINETO_H
#define MSIM_TESTS_UNIT_LOADED_KINETO_H
#include "tests/unit/loaded.h"
#include "tests/unit/made_kineto.h"

/* The job of one trace, which is freed; NULL (and `*err` says why) where that
 * fails. */
static inline struct msim_job *load_made_as(struct made *m,
                                            struct msim_error *err)
{
    char *text = made_text(m);
    struct msim_job *job = load_text(text, false, err);

    made_free(m);
    free(text);
    return job;
}

static inline struct msim_job *load_made(struct made *m)
{
    struct msim_error err;

    return load_made_as(m, &err);
}

static inline bool warned(const struct msim_job *job, const char *text)
{
    for (uint32_t i = 0; i < job->n_warnings; i++)
        if (strstr(job->warnings[i], text))
            return true;
    return false;
}

/* The row of a kind of records, of those with `name` where that is given; NULL:
 * there is none. */
static inline const struct msim_import_count *
counted(const struct msim_trace *t, enum msim_import_kind kind,
        const char *name)
{
    size_t i = name ? MSIM_IMPORT_KINDS : 0;

    for (; i < sizeof(t->import.rows) / sizeof(*t->import.rows); i++) {
        const struct msim_import_count *c = &t->import.rows[i];

        if (c->n && c->kind == kind &&
            (!name || !strcmp(msim_trace_text(t, c->name), name)))
            return c;
    }
    return NULL;
}

static inline uint64_t count_of(const struct msim_trace *t,
                                enum msim_import_kind kind, const char *name)
{
    const struct msim_import_count *c = counted(t, kind, name);

    return c ? c->n : 0;
}

#endif
