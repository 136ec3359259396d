#include "cli/explain.h"

#include "models/opmap.h"

#include <stdlib.h>
#include <string.h>

/* Distinct works are shown up to this many: enough for any one layer type. */
#define SHOWN_MAX 20

struct seen {
    struct msim_work work;
    uint32_t calls;
};

struct explaining {
    const struct msim_session *s;
    const struct msim_trace *t;
    uint32_t *launched; /* kernels by op */
    struct seen seen[SHOWN_MAX];
    uint32_t n, more, calls;
};

static enum msim_status count_launched(struct explaining *x)
{
    x->launched = calloc((size_t)x->t->n_ops + 1, sizeof *x->launched);
    if (!x->launched)
        return MSIM_ENOMEM;
    for (uint32_t i = 0; i < x->t->n_gpu; i++)
        if (x->t->gpu[i].kind == MSIM_GPU_KERNEL &&
            x->t->gpu[i].op != MSIM_NONE)
            x->launched[x->t->gpu[i].op]++;
    return MSIM_OK;
}

static void add_work(struct explaining *x, const struct msim_work *w)
{
    for (uint32_t i = 0; i < x->n; i++)
        if (!memcmp(&x->seen[i].work, w, sizeof *w)) {
            x->seen[i].calls++;
            return;
        }
    if (x->n == SHOWN_MAX) {
        x->more++;
        return;
    }
    x->seen[x->n].work = *w;
    x->seen[x->n++].calls = 1;
}

static void add_op(struct explaining *x, uint32_t i)
{
    struct msim_work works[MSIM_OPMAP_MAX];
    bool events = x->t->has_gpu_events;
    uint32_t n = 0;

    x->calls++;
    memset(works, 0, sizeof works);
    if (events && !x->launched[i] && x->t->ops[i].comm == MSIM_NONE)
        return;
    (void)msim_opmap(x->t, i, events ? (int)x->launched[i] : -1, x->t->cpu_only,
                     works, &n);
    for (uint32_t w = 0; w < n; w++) {
        if (works[w].family == MSIM_FAMILY_COLLECTIVE)
            msim_comm_place(&works[w], x->t, x->t->ops[i].comm,
                            msim_session_gpus_a_node(x->s));
        add_work(x, &works[w]);
    }
}

static enum msim_status nothing(const struct explaining *x,
                                struct msim_error *err)
{
    const char *name = x->s->o->explain;

    if (!x->calls)
        return msim_fail(err, MSIM_EUNKNOWN, x->s->o->paths[0],
                         MSIM_OFFSET_NONE,
                         "no operator '%s' in the trace; want a name as the "
                         "report or '--csv' shows it",
                         name);
    return msim_fail(err, MSIM_EUNKNOWN, x->s->o->paths[0], MSIM_OFFSET_NONE,
                     "operator '%s' launches no kernel of its own in %u calls; "
                     "want one of those that it calls",
                     name, x->calls);
}

static void show(const struct explaining *x, FILE *out)
{
    fprintf(out, "%s on %s: %u calls, %u distinct shapes\n", x->s->o->explain,
            msim_platform_name(x->s->platform), x->calls, x->n);
    for (uint32_t i = 0; i < x->n; i++) {
        fprintf(out, "\n%u x ", x->seen[i].calls);
        msim_model_explain(x->s->platform, &x->seen[i].work, out);
    }
    if (x->more)
        fprintf(out, "\nand %u calls of other shapes\n", x->more);
}

static enum msim_status explain(struct explaining *x, FILE *out,
                                struct msim_error *err)
{
    uint32_t name = msim_strtab_find(x->s->job->strings, x->s->o->explain);

    MSIM_TRY(count_launched(x));
    for (uint32_t i = 0; i < x->t->n_ops && name != UINT32_MAX; i++)
        if (x->t->ops[i].name == name)
            add_op(x, i);
    if (!x->n)
        return nothing(x, err);
    show(x, out);
    return MSIM_OK;
}

enum msim_status msim_explain(struct msim_session *s, FILE *out,
                              struct msim_error *err)
{
    struct explaining *x = calloc(1, sizeof *x);
    enum msim_status st;

    if (!x)
        return MSIM_ENOMEM;
    x->s = s;
    x->t = s->job->ranks[0]; /* ranks of a job run the same operators */
    st = s->platform
             ? explain(x, out, err)
             : msim_fail(err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                         "'--explain' is about models; want a '--platform'");
    free(x->launched);
    free(x);
    return st;
}
