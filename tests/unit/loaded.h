/*
 * tests/unit/loaded.h - a job out of a text in the test, and temporary
 * folders of files, for the tests of the loader.
 */
#ifndef MSIM_TESTS_LOADED_H
#define MSIM_TESTS_LOADED_H
#include "core/job.h"

#include "tests/check.h"
#include "tests/trace_checks.h"

#include <stdlib.h>
#include <unistd.h>

/* Load a text; NULL (and `*err` says why) where that fails. */
static inline struct msim_job *load_text(const char *text, bool salvage,
                                         struct msim_error *err)
{
    struct msim_load_options opt = {.salvage = salvage, .threads = 1};
    struct msim_job *job = NULL;
    const char *broken;

    memset(err, 0, sizeof *err);
    if (msim_job_load_memory(&job, "text", text, strlen(text), &opt, err) !=
        MSIM_OK)
        return NULL;
    broken = job_broken(job);
    CHECK_STR(broken ? broken : "", "");
    return job;
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

/* The argument list of an operator in words: "f32[2,3] 1 [4 5] true". */
static inline void spell_args(const struct msim_trace *t, uint32_t block,
                              char *to, size_t size)
{
    static const char *const devices[] = {"", "@cpu", "@gpu"};
    size_t len = 0;
    uint32_t i, k;

    *to = '\0';
    if (block == MSIM_NONE)
        return;
    for (i = 0; i < t->blocks[block].count && len < size - 64; i++) {
        const struct msim_arg *a = &t->args[t->blocks[block].first + i];

        len += (size_t)sprintf(to + len, "%s", i ? " " : "");
        switch (a->kind) {
        case MSIM_ARG_TENSOR:
            len += (size_t)sprintf(to + len, "%s[", msim_dtype_text(a->dtype));
            for (k = 0; k < a->n; k++)
                len += (size_t)sprintf(to + len, "%s%lld", k ? "," : "",
                                       (long long)msim_arg_dims(t, a)[k]);
            len += (size_t)sprintf(to + len, "]%s", devices[a->device]);
            break;
        case MSIM_ARG_INT:
            len += (size_t)sprintf(to + len, "%lld", (long long)a->v.i);
            break;
        case MSIM_ARG_REAL:
            len += (size_t)sprintf(to + len, "%gr", a->v.f);
            break;
        case MSIM_ARG_BOOL:
            len += (size_t)sprintf(to + len, a->v.i ? "true" : "false");
            break;
        case MSIM_ARG_STR:
            len += (size_t)snprintf(to + len, 40, "'%s'",
                                    msim_trace_text(t, (uint32_t)a->v.i));
            break;
        case MSIM_ARG_LIST:
            len +=
                (size_t)sprintf(to + len, "L%u:%lld", a->n, (long long)a->v.i);
            break;
        default:
            len += (size_t)sprintf(to + len, "-");
            break;
        }
    }
}

#define CHECK_ARGS(trace, block, want)                                         \
    do {                                                                       \
        char spelled_[1024];                                                   \
        spell_args((trace), (block), spelled_, sizeof spelled_);               \
        CHECK_STR(spelled_, (want));                                           \
    } while (0)

#endif
