/*
 * tests/unit/loaded.h - a job out of a text in the test, and temporary
 * folders of files, for the tests of the loader.
 */
#ifndef MSIM_TESTS_UNIT_LOADED_H
#define MSIM_TESTS_UNIT_LOADED_H
#include "core/job/job.h"

#include "tests/check.h"
#include "tests/trace_checks.h"

#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

/* Load a text; NULL (and `*err` says why) where that fails. */
static inline struct msim_job *load_text_as(const char *text,
                                            struct msim_load_options opt,
                                            struct msim_error *err)
{
    struct msim_job *job = NULL;
    const char *broken;

    opt.threads = 1;
    memset(err, 0, sizeof(*err));
    if (msim_job_load_memory(&job, "text", text, strlen(text), &opt, err) !=
        MSIM_OK)
        return NULL;
    broken = job_broken(job);
    CHECK_STR(broken ? broken : "", "");
    return job;
}

static inline struct msim_job *load_text(const char *text, bool salvage,
                                         struct msim_error *err)
{
    return load_text_as(text, (struct msim_load_options){.salvage = salvage},
                        err);
}

/* The operator called `name`, the n-th from 0, or MSIM_NONE. */
static inline uint32_t find_op(const struct msim_trace *t, const char *name,
                               uint32_t n)
{
    uint32_t i;

    for (i = 0; i < t->n_ops; i++)
        if (!strcmp(msim_trace_text(t, t->ops[i].name), name) && n-- == 0)
            return i;
    return MSIM_NONE;
}

struct spelled {
    char text[4096];
    size_t len;
};

MSIM_PRINTF(2, 3)
static inline void spell(struct spelled *to, const char *fmt, ...)
{
    va_list ap;
    int n;

    va_start(ap, fmt);
    n = vsnprintf(to->text + to->len, sizeof(to->text) - to->len, fmt, ap);
    va_end(ap);
    to->len += n > 0 ? (size_t)n : 0;
    if (to->len >= sizeof(to->text))
        to->len = sizeof(to->text) - 1;
}

static inline void spell_arg(const struct msim_trace *t,
                             const struct msim_arg *a, struct spelled *to)
{
    static const char *const devices[] = {"", "@cpu", "@gpu", "@host"};
    uint32_t k;

    switch (a->kind) {
    case MSIM_ARG_TENSOR:
        spell(to, "%s[", msim_dtype_text(a->dtype));
        for (k = 0; k < a->n; k++)
            spell(to, "%s%" PRId64, k ? "," : "", msim_arg_dims(t, a)[k]);
        spell(to, "]%s", devices[a->device]);
        break;
    case MSIM_ARG_INT:
        spell(to, "%" PRId64, a->v.i);
        break;
    case MSIM_ARG_REAL:
        spell(to, "%gr", a->v.f);
        break;
    case MSIM_ARG_BOOL:
        spell(to, "%s", a->v.i ? "true" : "false");
        break;
    case MSIM_ARG_STR:
        spell(to, "'%s'", msim_trace_text(t, (uint32_t)a->v.i));
        break;
    case MSIM_ARG_LIST:
        spell(to, "L%u:%" PRId64, a->n, a->v.i);
        break;
    default:
        spell(to, "-");
        break;
    }
}

/* The argument list of an operator in words: "fp32[2,3]@gpu 1 L2:2 4 5". */
static inline void spell_args(const struct msim_trace *t, uint32_t block,
                              struct spelled *to)
{
    uint32_t i;

    memset(to, 0, sizeof(*to));
    for (i = 0; block != MSIM_NONE && i < t->blocks[block].count; i++) {
        spell(to, "%s", i ? " " : "");
        spell_arg(t, &t->args[t->blocks[block].first + i], to);
    }
}

#define CHECK_ARGS(trace, block, want)                                         \
    do {                                                                       \
        struct spelled spelled_;                                               \
        spell_args((trace), (block), &spelled_);                               \
        CHECK_STR(spelled_.text, (want));                                      \
    } while (0)

#endif
