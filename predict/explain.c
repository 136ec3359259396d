/*
 * predict/explain.c - which law, which inputs, which rows.
 */
#include "predict/explain.h"

#include "core/base/print.h"
#include "core/report/write/report_format.h"
#include "core/work/estimate.h"
#include "core/work/kernel/infer.h"
#include "core/work/opmap/works.h"
#include "models/estimate/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Most distinct works that are shown: enough for any one type of layer. */
#define SHOWN_MAX 20

struct seen {
    struct msim_work work;
    uint32_t name; /* of the operator that asks for it */
    uint32_t calls;
    double log_sd; /* of its sizes, where they are inferred; 0: recorded */
};

struct explaining {
    const struct msim_inputs *in;
    const struct msim_target *to;
    const char *asked; /* the operator */
    const char *path;  /* of the traces, for errors */
    const struct msim_trace *t;
    struct msim_works *works;
    struct msim_infer infer; /* works inferred from kernels */
    bool *named;             /* strings that are the name asked for */
    struct seen seen[SHOWN_MAX];
    uint32_t n, more, calls;
};

/* Reports show the name of a backward node without the engine's prefix; both
 * names are accepted. */
static enum msim_status find_name(struct explaining *x)
{
    const struct msim_strtab *strings = x->in->job->strings;
    uint32_t n = msim_strtab_count(strings);
    char shown[1024];

    x->named = calloc((size_t)n + 1, sizeof(*x->named));
    if (!x->named)
        return MSIM_ENOMEM;
    for (uint32_t i = 0; i < n; i++) {
        const char *name = msim_strtab_text(strings, i);

        msim_format_op(shown, sizeof(shown), name, sizeof(shown) - 1);
        x->named[i] = !strcmp(name, x->asked) || !strcmp(shown, x->asked);
    }
    return MSIM_OK;
}

static void add_work(struct explaining *x, uint32_t name,
                     const struct msim_work *w, double log_sd)
{
    for (uint32_t i = 0; i < x->n; i++)
        if (x->seen[i].name == name &&
            !memcmp(&x->seen[i].work, w, sizeof(*w))) {
            x->seen[i].calls++;
            return;
        }
    if (x->n == SHOWN_MAX) {
        x->more++;
        return;
    }
    x->seen[x->n++] =
        (struct seen){.work = *w, .name = name, .calls = 1, .log_sd = log_sd};
}

/* Works inferred from the kernels of op `i`. */
static void add_launches(struct explaining *x, uint32_t i)
{
    const struct msim_op_kernels *l = &x->works->kernels;

    for (uint32_t j = l->begin[i]; j < l->begin[i + 1]; j++) {
        struct msim_work work;
        double log_sd;

        if (msim_infer_work(&x->infer, l->gpu[j], &work, &log_sd))
            add_work(x, x->t->ops[i].name, &work, log_sd);
    }
}

static void add_op(struct explaining *x, uint32_t i)
{
    const struct msim_work *works;
    uint32_t n;
    enum msim_opmap_result r = msim_works_of(x->works, i, &works, &n);

    if (msim_infer_decides(&x->infer, &x->works->kernels, i, r, works, n)) {
        add_launches(x, i);
        return;
    }
    for (uint32_t k = 0; k < n; k++) {
        struct msim_work w = works[k];

        if (w.family == MSIM_FAMILY_COLLECTIVE)
            msim_comm_place(&w, x->t, x->t->ops[i].comm, x->to->gpus_a_node);
        add_work(x, x->t->ops[i].name, &w, 0);
    }
}

static enum msim_status nothing(const struct explaining *x,
                                struct msim_error *err)
{
    if (!x->calls)
        return msim_fail(err, MSIM_EUNKNOWN, x->path, MSIM_OFFSET_NONE,
                         "no operator '%s' in the trace; want a name as the "
                         "report or '--csv' shows it",
                         x->asked);
    return msim_fail(err, MSIM_EUNKNOWN, x->path, MSIM_OFFSET_NONE,
                     "operator '%s' launches no kernel in %u calls, nor does "
                     "any that it calls",
                     x->asked, x->calls);
}

static void show(const struct explaining *x, FILE *out)
{
    char clock[MSIM_CLOCK_TEXT];

    msim_clock_text(msim_platform_clock(x->to->platform), clock, sizeof(clock));
    msim_print(out, "%s on %s%s%s: %u calls, %u distinct shapes\n", x->asked,
               msim_platform_name(x->to->platform), *clock ? " at " : "", clock,
               x->calls, x->n);
    for (uint32_t i = 0; i < x->n; i++) {
        const char *name =
            msim_strtab_text(x->in->job->strings, x->seen[i].name);

        fprintf(out, "\n%u x ", x->seen[i].calls);
        if (strcmp(name, x->asked))
            msim_print(out, "%s, ", name);
        msim_model_explain(x->to->platform, &x->seen[i].work, out);
        if (x->seen[i].log_sd > 0)
            fprintf(out,
                    "sizes: not recorded, but inferred from names, launches "
                    "and neighbours, within a factor of %.2g in 90 %%; the "
                    "interval is wider by that\n",
                    exp(MSIM_Z90 * x->seen[i].log_sd));
    }
    if (x->more)
        fprintf(out, "\nand %u calls of other shapes\n", x->more);
}

static enum msim_status explain(struct explaining *x, FILE *out,
                                struct msim_error *err)
{
    const struct msim_op *ops = x->t->ops;
    uint32_t end = 0; /* of the sub-tree of the last operator so named */

    MSIM_TRY(find_name(x));
    MSIM_TRY(
        msim_works_new(&x->works, x->t, x->in->ops[0],
                       msim_opmap_place_of(x->t, msim_target_is_host(x->to))));
    MSIM_TRY(msim_infer_init(&x->infer, x->t));
    for (uint32_t i = 0; i < x->t->n_ops; i++) {
        if (x->named[ops[i].name] && i >= end) {
            x->calls++;
            end = ops[i].end;
        }
        if (i < end)
            add_op(x, i);
    }
    if (!x->n)
        return nothing(x, err);
    show(x, out);
    return MSIM_OK;
}

enum msim_status msim_explain(const char *op,
                              const struct msim_predict_settings *s,
                              const struct msim_inputs *in,
                              const struct msim_target *to, FILE *out,
                              struct msim_error *err)
{
    struct explaining *x;
    enum msim_status status;

    if (!to->platform)
        return msim_fail(err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                         "'--explain' is about models; want a '--platform'");
    x = calloc(1, sizeof(*x));
    if (!x)
        return MSIM_ENOMEM;
    x->in = in;
    x->to = to;
    x->asked = op;
    x->path = s->paths[0];
    x->t = in->job->ranks[0]; /* ranks of a job run the same operators */
    status = explain(x, out, err);
    msim_works_free(x->works);
    msim_infer_release(&x->infer);
    free(x->named);
    free(x);
    return status;
}
