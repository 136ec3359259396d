/*
 * predict/explain.c - which law, which inputs, which rows.
 */
#include "predict/pipeline.h"

#include "core/base/json.h"
#include "core/base/print.h"
#include "core/report/write/report.h"
#include "core/work/estimate.h"
#include "core/work/kernel/infer.h"
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

static void show_text(const struct explaining *x, FILE *out)
{
    char clock[MSIM_CLOCK_TEXT];

    msim_clock_text(msim_platform_clock(x->to->platform), clock, sizeof(clock));
    msim_print(out, "%s on %s%s%s: %u calls, %u distinct shapes\n", x->asked,
               msim_platform_name(x->to->platform), *clock ? " at " : "", clock,
               x->calls, x->n);
    for (uint32_t i = 0; i < x->n; i++) {
        const char *name =
            msim_strtab_text(x->in->job->strings, x->seen[i].name);

        bool own = strcmp(name, x->asked) != 0;

        msim_print(out, "\n%u x %s%s", x->seen[i].calls, own ? name : "",
                   own ? ", " : "");
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

/* What is said of a work, "what: text" a line, as records. */
static enum msim_status put_because(struct msim_json *j,
                                    const struct explaining *x,
                                    const struct msim_work *w)
{
    char *text = NULL, *line, *end, *colon;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    if (!out)
        return MSIM_ENOMEM;
    msim_model_explain(x->to->platform, w, out);
    if (fclose(out) != 0) {
        free(text);
        return MSIM_ENOMEM;
    }
    msim_json_open(j, "because", '[', true);
    for (line = text; (end = strchr(line, '\n')); line = end + 1) {
        *end = '\0';
        colon = strstr(line, ": ");
        if (colon)
            *colon = '\0';
        msim_json_open(j, NULL, '{', false);
        msim_json_text(j, "what", colon ? line : NULL);
        msim_json_text(j, "text", colon ? colon + 2 : line);
        msim_json_close(j);
    }
    msim_json_close(j);
    free(text);
    return MSIM_OK;
}

static enum msim_status put_work(struct msim_json *j,
                                 const struct explaining *x,
                                 const struct seen *seen)
{
    const struct msim_work *w = &seen->work;
    struct msim_estimate e;
    bool known =
        msim_model_predict(x->to->platform, w, false, &e, NULL) == MSIM_OK;

    msim_json_open(j, NULL, '{', true);
    msim_json_text(j, "operator",
                   msim_strtab_text(x->in->job->strings, seen->name));
    msim_json_unsigned(j, "calls", seen->calls);
    msim_json_text(j, "model", known ? msim_family_text(e.family) : NULL);
    msim_json_text(j, "source", known ? msim_source_text(e.source) : NULL);
    msim_json_number(j, "predicted_us", known ? e.us : (double)NAN);
    msim_json_number(j, "low_us", known ? e.low_us : (double)NAN);
    msim_json_number(j, "high_us", known ? e.high_us : (double)NAN);
    msim_json_number(j, "flops", w->flops);
    msim_json_number(j, "bytes", w->bytes_read + w->bytes_written);
    msim_json_number(j, "sizes_within",
                     seen->log_sd > 0 ? exp(MSIM_Z90 * seen->log_sd) : 1);
    MSIM_TRY(put_because(j, x, w));
    msim_json_close(j);
    return MSIM_OK;
}

static enum msim_status show_json(const struct explaining *x, FILE *out)
{
    char clock[MSIM_CLOCK_TEXT];
    struct msim_json j;

    msim_clock_text(msim_platform_clock(x->to->platform), clock, sizeof(clock));
    msim_json_document(&j, msim_sink_file, out, "mystique-sim/explanation/1");
    msim_json_text(&j, "platform", msim_platform_name(x->to->platform));
    msim_json_text(&j, "clock", *clock ? clock : NULL);
    msim_json_text(&j, "asked", x->asked);
    msim_json_unsigned(&j, "calls", x->calls);
    msim_json_open(&j, "works", '[', true);
    for (uint32_t i = 0; i < x->n; i++)
        MSIM_TRY(put_work(&j, x, &x->seen[i]));
    msim_json_close(&j);
    msim_json_unsigned(&j, "calls_of_other_shapes", x->more);
    return msim_json_end(&j);
}

static enum msim_status explain(struct explaining *x, bool json, FILE *out,
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
    if (json)
        return show_json(x, out);
    show_text(x, out);
    return MSIM_OK;
}

enum msim_status msim_explain(const char *op,
                              const struct msim_predict_settings *s,
                              const struct msim_inputs *in,
                              const struct msim_target *to, bool json,
                              FILE *out, struct msim_error *err)
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
    status = explain(x, json, out, err);
    msim_works_free(x->works);
    msim_infer_release(&x->infer);
    free(x->named);
    free(x);
    return status;
}
