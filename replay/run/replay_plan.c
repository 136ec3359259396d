/*
 * replay/run/replay_plan.c - what is run for a step.
 */
#include "replay/run/replay_plan.h"

#include "core/base/hash.h"
#include "profilers/ask/backend_child.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of the device's memory: the rest is the system's and the libraries'. */
#define USABLE 0.9

struct planning {
    struct msim_replay_plan *p;
    const cJSON *greeting;
    double memory; /* bytes of the device; 0: not known */
    bool warm;
    struct msim_error *err;
};

/* ---- refusals ------------------------------------------------------------ */

/* "operator 'aten::mm' (ET node 12)" */
static void name_op(const struct msim_trace *t, uint32_t op, char *text,
                    size_t size)
{
    const char *name = msim_trace_text(t, t->ops[op].name);

    if (t->has_et && t->ops[op].et_id)
        snprintf(text, size, "operator '%.80s' (ET node %" PRIu32 ")", name,
                 t->ops[op].et_id);
    else
        snprintf(text, size, "operator '%.80s' (number %" PRIu32 ")", name, op);
}

static bool overflows(const struct msim_trace *t, const struct msim_arg *a)
{
    int64_t bytes = msim_dtype_bytes((enum msim_dtype)a->dtype);

    bytes = bytes ? bytes : 1;
    for (uint32_t i = 0; i < a->n; i++) {
        int64_t size = msim_arg_dims(t, a)[i];

        if (size < 0 || __builtin_mul_overflow(bytes, size, &bytes))
            return true;
    }
    return false;
}

static enum msim_status check_block(const struct planning *x, uint32_t op,
                                    uint32_t block)
{
    const struct msim_trace *t = x->p->trace;
    const struct msim_arg_block *b;
    char name[160];

    if (block == MSIM_NONE)
        return MSIM_OK;
    b = &t->blocks[block];
    for (uint32_t i = 0; i < b->count; i++) {
        const struct msim_arg *a = &t->args[b->first + i];

        if (a->kind != MSIM_ARG_TENSOR || !overflows(t, a))
            continue;
        name_op(t, op, name, sizeof(name));
        return msim_fail(x->err, MSIM_EFORMAT, NULL, MSIM_OFFSET_NONE,
                         "%s has a tensor whose bytes no number holds, want "
                         "sizes from 0 whose product is below 2^63",
                         name);
    }
    return MSIM_OK;
}

/* Sizes that experiments cannot have: each is read as a whole number below
 * 1e15. */
static enum msim_status check_memory(const struct planning *x, uint32_t op,
                                     const struct msim_experiment *e)
{
    double bytes = msim_experiment_bytes(e);
    char name[160];

    if (bytes < (x->memory > 0 ? USABLE * x->memory : 1e15))
        return MSIM_OK;
    name_op(x->p->trace, op, name, sizeof(name));
    return msim_fail(x->err, MSIM_ELIMIT, NULL, MSIM_OFFSET_NONE,
                     "%s wants %.3g GB of operands, the device has %.3g GB",
                     name, bytes / 1e9, x->memory / 1e9);
}

/* ---- experiments --------------------------------------------------------- */

static void hash_member(void *ctx, const struct msim_member *m)
{
    uint64_t *hash = ctx;

    *hash = msim_hash_byte(msim_hash_text(*hash, m->key), 0xff);
    if (m->text)
        *hash = msim_hash_byte(msim_hash_text(*hash, m->text), 0xff);
    else
        *hash = msim_hash_bytes(*hash, &m->number, sizeof(m->number));
}

static enum msim_status add_element(struct planning *x,
                                    const struct msim_experiment *e)
{
    struct msim_replay_plan *p = x->p;
    uint64_t hash = MSIM_HASH_START;
    uint32_t *number, *element;
    struct msim_experiment *slot;

    msim_experiment_visit(e, &hash, hash_member);
    MSIM_TRY(msim_idmap_put(&p->seen, hash, p->experiments.n, &number));
    element = msim_vec_add(&p->order, sizeof(*element));
    if (!element)
        return MSIM_ENOMEM;
    *element = *number;
    if (*number < p->experiments.n)
        return MSIM_OK;
    slot = msim_vec_add(&p->experiments, sizeof(*slot));
    if (!slot)
        return MSIM_ENOMEM;
    *slot = *e;
    slot->warm = x->warm;
    return MSIM_OK;
}

static enum msim_status add_work(struct planning *x, struct msim_plan_op *o,
                                 const struct msim_work *w)
{
    struct msim_work_runs runs;

    msim_work_runs_find(&runs, w, x->greeting);
    if (runs.how > o->how) {
        o->how = (uint8_t)runs.how;
        o->why = runs.why;
    }
    for (uint32_t i = 0; i < runs.n; i++) {
        MSIM_TRY(check_memory(x, o->op, &runs.list[i]));
        MSIM_TRY(add_element(x, &runs.list[i]));
    }
    return MSIM_OK;
}

static enum msim_status add_op(struct planning *x, uint32_t op)
{
    struct msim_replay_plan *p = x->p;
    const struct msim_work *works;
    struct msim_plan_op o = {.op = op, .first = p->order.n}, *slot;
    uint32_t n;
    enum msim_opmap_result result = msim_works_of(p->works, op, &works, &n);

    if (result == MSIM_OPMAP_NO_KERNEL)
        return MSIM_OK;
    MSIM_TRY(check_block(x, op, p->trace->ops[op].args));
    MSIM_TRY(check_block(x, op, p->trace->ops[op].outs));
    o.family = n ? (uint8_t)works[0].family : MSIM_FAMILY_BOUND;
    for (uint32_t i = 0; i < n; i++)
        MSIM_TRY(add_work(x, &o, &works[i]));
    o.n = p->order.n - o.first;
    if (n == 0) {
        o.how = MSIM_RUN_NOT;
        o.why = result == MSIM_OPMAP_COMPILED_REGION
                    ? "generated code, which the trace does not hold"
                    : "an unknown operator without tensors";
    }
    slot = msim_vec_add(&p->ops, sizeof(*slot));
    if (!slot)
        return MSIM_ENOMEM;
    *slot = o;
    return MSIM_OK;
}

/* ---- the step ------------------------------------------------------------ */

static enum msim_status plan_step(struct planning *x, uint32_t step,
                                  const struct msim_choice *choice)
{
    struct msim_replay_plan *p = x->p;
    struct msim_vec ops = {0};
    enum msim_status status = msim_step_ops(&ops, p->trace, step, choice);

    p->step = step;
    for (uint32_t i = 0; i < ops.n && status == MSIM_OK; i++)
        status = add_op(x, ((const uint32_t *)ops.data)[i]);
    free(ops.data);
    return status;
}

static enum msim_status want_elements(const struct msim_replay_plan *p,
                                      const struct msim_choice *choice,
                                      struct msim_error *err)
{
    if (p->order.n > 0)
        return MSIM_OK;
    return msim_fail(err, MSIM_EFORMAT, NULL, MSIM_OFFSET_NONE,
                     "found no operator to run%s, want at least one whose "
                     "shapes are recorded (record_shapes=True)",
                     msim_choice_is_all(choice) ? "" : " in what was chosen");
}

static bool is_cpu(const cJSON *device)
{
    const char *kind = msim_json_get_text(device, "kind");

    return kind && strcmp(kind, "cpu") == 0;
}

enum msim_status msim_replay_plan_make(struct msim_replay_plan *p,
                                       const struct msim_trace *trace,
                                       const struct msim_replay_wish *wish,
                                       const cJSON *greeting,
                                       struct msim_error *err)
{
    const cJSON *device = cJSON_GetObjectItemCaseSensitive(greeting, "device");
    struct planning x = {p, greeting,
                         msim_json_get_number(device, "memory_bytes", 0),
                         wish->warm, err};

    *p = (struct msim_replay_plan){.trace = trace, .step = MSIM_NONE};
    MSIM_TRY(msim_works_new(&p->works, trace, NULL,
                            msim_opmap_place_of(trace, is_cpu(device))));
    MSIM_TRY(plan_step(&x, wish->step, &wish->choice));
    return want_elements(p, &wish->choice, err);
}

void msim_replay_plan_release(struct msim_replay_plan *p)
{
    msim_works_free(p->works);
    msim_idmap_release(&p->seen);
    free(p->ops.data);
    free(p->order.data);
    free(p->experiments.data);
    free(p->notes);
    *p = (struct msim_replay_plan){0};
}

/* ---- what the backend refuses -------------------------------------------- */

static bool runs(const struct msim_replay_plan *p, const struct msim_plan_op *o,
                 uint32_t experiment)
{
    for (uint32_t i = 0; i < o->n; i++)
        if (msim_plan_order(p, o->first + i) == experiment)
            return true;
    return false;
}

enum msim_status msim_replay_plan_replace(struct msim_replay_plan *p,
                                          uint32_t experiment, const char *why)
{
    struct msim_experiment *e;
    bool warm;

    if (!p->notes)
        p->notes = calloc(p->experiments.n, sizeof(*p->notes));
    if (!p->notes)
        return MSIM_ENOMEM;
    snprintf(p->notes[experiment], sizeof(*p->notes), "%s", why);
    e = msim_plan_experiment(p, experiment);
    warm = e->warm;
    *e = msim_run_as_bytes(e);
    e->warm = warm;
    for (uint32_t i = 0; i < p->ops.n; i++) {
        struct msim_plan_op *o = msim_plan_op(p, i);

        if (o->how < MSIM_RUN_BYTES && runs(p, o, experiment)) {
            o->how = MSIM_RUN_BYTES;
            o->why = p->notes[experiment];
        }
    }
    return MSIM_OK;
}
