/*
 * predict/explain.c - which law, which inputs, which rows.
 */
#include "predict/explain.h"

#include "core/report/write/report_format.h"
#include "core/work/estimate.h"
#include "core/work/kernel/infer.h"
#include "core/work/kernel/op_kernels.h"
#include "core/work/opmap/opmap.h"
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
    struct msim_op_kernels launched; /* kernels by op */
    struct msim_infer launches;      /* works inferred from kernels */
    bool *named;                     /* strings that are the name asked for */
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
    for (uint32_t j = x->launched.begin[i]; j < x->launched.begin[i + 1]; j++) {
        struct msim_work work;
        double log_sd;

        if (msim_infer_work(&x->launches, x->launched.gpu[j], &work, &log_sd))
            add_work(x, x->t->ops[i].name, &work, log_sd);
    }
}

static void add_op(struct explaining *x, uint32_t i)
{
    struct msim_work works[MSIM_OPMAP_MAX];
    bool events = x->t->has_gpu_events;
    bool on_cpu = msim_target_is_host(x->to);
    uint32_t n = 0, launched = x->launched.begin[i + 1] - x->launched.begin[i];
    enum msim_opmap_result r;

    memset(works, 0, sizeof(works));
    if (events && !launched && x->t->ops[i].comm == MSIM_NONE)
        return;
    r = msim_opmap(x->t, i, events ? (int)launched : -1,
                   msim_opmap_place_of(x->t, on_cpu), works, &n);
    if (msim_infer_decides(&x->launches, &x->launched, i, r, works, n)) {
        add_launches(x, i);
        return;
    }
    for (uint32_t w = 0; w < n; w++) {
        if (works[w].family == MSIM_FAMILY_COLLECTIVE)
            msim_comm_place(&works[w], x->t, x->t->ops[i].comm,
                            x->to->gpus_a_node);
        add_work(x, x->t->ops[i].name, &works[w], 0);
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
    fprintf(out, "%s on %s%s%s: %u calls, %u distinct shapes\n", x->asked,
            msim_platform_name(x->to->platform), *clock ? " at " : "", clock,
            x->calls, x->n);
    for (uint32_t i = 0; i < x->n; i++) {
        const char *name =
            msim_strtab_text(x->in->job->strings, x->seen[i].name);

        fprintf(out, "\n%u x ", x->seen[i].calls);
        if (strcmp(name, x->asked))
            fprintf(out, "%s, ", name);
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
    MSIM_TRY(msim_op_kernels_init(&x->launched, x->t));
    MSIM_TRY(msim_infer_init(&x->launches, x->t));
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
    msim_op_kernels_release(&x->launched);
    msim_infer_release(&x->launches);
    free(x->named);
    free(x);
    return status;
}
