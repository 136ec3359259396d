/*
 * plan/traced/traced_points.c - predicting points of a traced step.
 */
#include "plan/traced/traced_points.h"

#include "core/base/units.h"
#include "plan/written/written_job.h"
#include "predict/pipeline.h"
#include "predict/rows/trace_rows.h"
#include "predict/scenario/scenario.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const STEP_PARTS[] = {"compute", "communication", "copies",
                                         "host",    "idle",          NULL};
static const char *const MEMORY_PARTS[] = {
    "parameters", "gradients",   "optimizer state",
    "inputs",     "activations", "communication buffers",
    "workspace",  NULL};
_Static_assert(sizeof(MEMORY_PARTS) / sizeof(*MEMORY_PARTS) ==
                   MSIM_HELD_COUNT + 1,
               "all that is held has a name");

/* One thread: traces of its own, and the point that it was asked for last. */
struct asking {
    const struct msim_traced_points *of;
    struct msim_platform *const *platforms;
    struct msim_predict_settings settings; /* of the base */
    struct msim_written_job written;       /* that the traces were written of */
    struct msim_inputs in;
    struct msim_target to;
    struct msim_scenarios all; /* of one row: the point */
    struct msim_scenario_alone alone;
};

/* The traces of a described job are predicted as they are everywhere: by what
 * is known of it. */
static enum msim_status find_written(struct asking *a, struct msim_error *err)
{
    a->settings = a->of->settings;
    return msim_written_job_let_know(&a->written, &a->settings,
                                     a->settings.data, err);
}

/* The job itself, on each GPU: changed ones keep what that says. A GPU that
 * cannot run it says so where a point is asked for. */
static enum msim_status learn_written(struct asking *a)
{
    const struct msim_spec *spec = a->of->spec;

    for (uint32_t i = 0; a->settings.described && i < spec->n_platforms; i++) {
        const struct msim_spec_platform *on = &spec->platforms[i];
        struct msim_predict_settings s = a->settings;
        struct msim_basis *basis = NULL;
        struct msim_target to = {0};
        struct msim_error why = {0};
        enum msim_status status;

        s.platform = on->name;
        s.network = *on->network ? on->network : NULL;
        s.host = NULL;
        s.rewrite = (struct msim_rewrite){0};
        status = msim_target_load(&to, &s, &why);
        if (status == MSIM_OK)
            status = msim_target_choose(&to, &s, &a->in, &why);
        if (status == MSIM_OK)
            status = msim_basis_new(&basis, &s, &a->in, &to, &why);
        msim_basis_free(basis);
        msim_target_release(&to);
        if (status == MSIM_ENOMEM)
            return status;
    }
    return MSIM_OK;
}

static enum msim_status begin(void **thread, void *own,
                              struct msim_platform *const *platforms,
                              struct msim_error *err)
{
    struct asking *a = calloc(1, sizeof(*a));

    *thread = a;
    if (!a)
        return MSIM_ENOMEM;
    a->of = own;
    a->platforms = platforms;
    msim_arena_init(&a->all.arena);
    MSIM_TRY(find_written(a, err));
    MSIM_TRY(msim_predict_load(&a->in, &a->to, &a->settings, err));
    return learn_written(a);
}

static void drop_point(struct asking *a)
{
    msim_scenario_alone_end(&a->alone);
    msim_scenarios_release(&a->all);
    msim_arena_init(&a->all.arena);
}

static void end(void *thread)
{
    struct asking *a = thread;

    if (!a)
        return;
    drop_point(a);
    msim_arena_release(&a->all.arena);
    msim_target_release(&a->to);
    msim_inputs_release(&a->in);
    msim_written_job_release(&a->written);
    free(a);
}

/* ---- what follows from what ---------------------------------------------- */

/* GPUs that hold one copy of the model, of a rank as it was recorded. */
static int64_t parts_of(const struct msim_strategy *s)
{
    return s->tp * s->pp;
}

/* GPUs that a job of several ranks can have: as many as were recorded; or,
 * where it answers requests, several such jobs side by side. */
static bool has_gpus(const struct msim_traced_points *of,
                     const struct msim_plan_point *p, char why[MSIM_PLAN_WHY])
{
    int64_t gpus = p->strategy.gpus, ranks = of->about.ranks;
    int64_t parts = parts_of(&p->strategy);

    if (of->about.serves ? gpus % ranks == 0
        : ranks == 1     ? gpus % parts == 0
                         : gpus == ranks * parts)
        return true;
    if (gpus % parts) {
        snprintf(why, MSIM_PLAN_WHY,
                 "gpus %" PRId64 " cannot be split by tp x pp, %" PRId64, gpus,
                 parts);
        return false;
    }
    snprintf(why, MSIM_PLAN_WHY,
             "the trace is of a job of %" PRId64 " ranks already: want gpus "
             "%" PRId64 "%s, or the trace of one rank that works alone",
             ranks, ranks, of->about.serves ? ", or a multiple" : "");
    return false;
}

/* Ranks that have samples of their own: those of a job that answers requests
 * share each batch. */
static int64_t batches_of(const struct msim_traced_points *of,
                          const struct msim_strategy *s)
{
    return s->gpus / (of->about.serves ? of->about.ranks : parts_of(s));
}

static bool complete_batch(const struct msim_traced_points *of,
                           struct msim_strategy *s, char why[MSIM_PLAN_WHY])
{
    int64_t whole = of->spec->global_batch;
    int64_t once = batches_of(of, s) * s->micro_batch;

    if (whole && whole % once != 0) {
        snprintf(why, MSIM_PLAN_WHY,
                 "global_batch %" PRId64 " cannot be split by gpus x "
                 "micro_batch",
                 whole);
        return false;
    }
    if (whole && s->grad_accum && s->grad_accum * once != whole) {
        snprintf(why, MSIM_PLAN_WHY,
                 "gpus x micro_batch x grad_accum is not global_batch, "
                 "%" PRId64,
                 whole);
        return false;
    }
    if (!s->grad_accum)
        s->grad_accum = whole ? whole / once : of->about.passes;
    s->global_batch = once * s->grad_accum;
    return true;
}

/* Is nothing shared but what was recorded? Then ways to share count once. */
static bool is_as_recorded(const struct msim_traced_points *of,
                           const struct msim_plan_point *p)
{
    return of->about.serves || of->about.ranks > 1 ||
           p->strategy.gpus == parts_of(&p->strategy);
}

static bool complete(const struct msim_traced_points *of,
                     struct msim_plan_point *p, char why[MSIM_PLAN_WHY])
{
    const struct msim_spec_dimension *shard = msim_spec_dimension_at(true, 0);
    struct msim_strategy *s = &p->strategy;

    if (!has_gpus(of, p, why))
        return false;
    if (is_as_recorded(of, p) &&
        msim_plan_point_value(p, shard) != of->spec->values[0].v[0]) {
        snprintf(why, MSIM_PLAN_WHY,
                 "%s: it is looked at once, not for every \"shard\"",
                 of->about.ranks > 1 ? "ranks share what they shared when they "
                                       "were recorded"
                 : s->gpus > 1       ? "one copy of the model shares nothing"
                                     : "one GPU shares nothing");
        return false;
    }
    s->dp = is_as_recorded(of, p) ? 1 : s->gpus / parts_of(s);
    if (!s->micro_batch)
        s->micro_batch = of->about.batch;
    /* Frames of one video, say, are no batch, though they stand in its place.
     */
    if (of->about.batch == 1 && s->micro_batch != 1) {
        snprintf(why, MSIM_PLAN_WHY,
                 "the recorded batch is 1, which cannot be told from other "
                 "sizes: want a trace of 2 samples or more");
        return false;
    }
    return complete_batch(of, s, why);
}

/* ---- the point as a row -------------------------------------------------- */

#define VALUE 32

/* Values as a table of jobs has them; what is as traced stays empty. */
static void fill_fields(const struct msim_traced_points *of,
                        const struct msim_plan_point *p,
                        struct msim_trace_job *job,
                        char values[MSIM_TRACE_COLUMNS][VALUE])
{
    const struct {
        enum msim_trace_column column;
        int place;
    } COLUMNS[] = {
        {MSIM_TRACE_COLUMN_strategy, MSIM_SPEC_SHARD},
        {MSIM_TRACE_COLUMN_recompute, MSIM_GIVEN_recompute},
        {MSIM_TRACE_COLUMN_precision, MSIM_SPEC_DTYPE},
        {MSIM_TRACE_COLUMN_offload, MSIM_GIVEN_offload},
        {MSIM_TRACE_COLUMN_optimizer_bits, MSIM_SPEC_BITS},
        {MSIM_TRACE_COLUMN_optimizer_in_backward,
         MSIM_GIVEN_optimizer_in_backward},
        {MSIM_TRACE_COLUMN_tp, MSIM_GIVEN_tp},
        {MSIM_TRACE_COLUMN_pp, MSIM_GIVEN_pp},
        {MSIM_TRACE_COLUMN_layers, MSIM_SPEC_LAYERS},
        {MSIM_TRACE_COLUMN_hidden, MSIM_SPEC_HIDDEN},
    };
    const struct msim_spec_dimension *d;
    bool alone = is_as_recorded(of, p);

    memset(values, 0, MSIM_TRACE_COLUMNS * sizeof(values[0]));
    for (uint32_t c = 0; c < MSIM_TRACE_COLUMNS; c++)
        job->field[c] = values[c];
    for (uint32_t i = 0; (d = msim_spec_dimension_at(true, i)); i++)
        for (size_t k = 0; k < sizeof(COLUMNS) / sizeof(*COLUMNS); k++) {
            int64_t v = msim_plan_point_value(p, d);

            if (d->place == COLUMNS[k].place &&
                (v != 0 || d->place == MSIM_SPEC_SHARD))
                msim_spec_value_text(d, v, values[COLUMNS[k].column], VALUE);
        }
    if (alone)
        snprintf(values[MSIM_TRACE_COLUMN_strategy], VALUE, "single");
    snprintf(values[MSIM_TRACE_COLUMN_gpus], VALUE, "%" PRId64,
             alone ? parts_of(&p->strategy) : p->strategy.gpus);
    if (p->strategy.grad_accum != of->about.passes)
        snprintf(values[MSIM_TRACE_COLUMN_grad_accum], VALUE, "%" PRId64,
                 p->strategy.grad_accum);
    if (p->strategy.micro_batch != of->about.batch)
        snprintf(values[MSIM_TRACE_COLUMN_micro_batch], VALUE, "%" PRId64,
                 p->strategy.micro_batch);
}

/* A batch that no operator says. */
static void change_batch(const struct msim_traced_points *of, int64_t to,
                         struct msim_scenario_row *row)
{
    row->settings.reshape.axes[row->settings.reshape.n_axes++] =
        (struct msim_axis){.from = of->about.batch, .to = to};
}

static enum msim_status read_point(struct asking *a,
                                   const struct msim_plan_point *p)
{
    const struct msim_spec_platform *on = &a->of->spec->platforms[p->platform];
    struct msim_change_reader to = {.all = &a->all};
    char values[MSIM_TRACE_COLUMNS][VALUE];
    struct msim_trace_job job = {.defaults = ""};
    bool own_batch = a->of->spec->traced_batch &&
                     p->strategy.micro_batch != a->of->about.batch;

    MSIM_TRY(msim_change_rows(&to, 1, &a->settings));
    MSIM_TRY(msim_change_begin(&to, 0, "point"));
    fill_fields(a->of, p, &job, values);
    job.field[MSIM_TRACE_COLUMN_platform] = on->name;
    if (own_batch)
        job.field[MSIM_TRACE_COLUMN_micro_batch] = "";
    msim_trace_job_read(&job, &to);
    if (own_batch)
        change_batch(a->of, p->strategy.micro_batch, to.row);
    if (*on->network)
        to.row->settings.network = on->network;
    to.row->arena = &a->all.arena;
    return MSIM_OK;
}

/* ---- answers ------------------------------------------------------------- */

static bool is_no(enum msim_status status, const struct msim_error *err,
                  char why[MSIM_PLAN_WHY])
{
    if (status == MSIM_OK)
        return false;
    snprintf(why, MSIM_PLAN_WHY, "%.250s",
             *err->text ? err->text : msim_status_text(status));
    return true;
}

static bool split(void *thread, struct msim_plan_point *p,
                  char why[MSIM_PLAN_WHY])
{
    struct asking *a = thread;
    struct msim_error err = {0};

    drop_point(a);
    if (!complete(a->of, p, why) || is_no(read_point(a, p), &err, why))
        return false;
    if (*a->all.rows[0].reason) {
        snprintf(why, MSIM_PLAN_WHY, "%.250s", a->all.rows[0].reason);
        return false;
    }
    return !is_no(
        msim_scenario_alone_begin(&a->alone, &a->all.rows[0], &a->in, &err),
        &err, why);
}

/* What ran on a GPU fits where there is as much memory: one rank's batch as
 * recorded or less, in the same types. */
static bool ran(const struct asking *a, const struct msim_plan_point *p)
{
    const struct msim_plan_traced *was = &a->of->about;
    const struct msim_platform *on = a->platforms[p->platform];

    return was->memory > 0 && msim_platform_usable_bytes(on) >= was->memory &&
           is_as_recorded(a->of, p) && p->strategy.micro_batch <= was->batch &&
           p->strategy.grad_accum <= was->passes &&
           p->traced[MSIM_SPEC_DTYPE - MSIM_GIVEN_COUNT] == 0;
}

static bool memory(void *thread, struct msim_plan_point *p,
                   char why[MSIM_PLAN_WHY])
{
    struct asking *a = thread;
    struct msim_held_most held;
    struct msim_error err = {0};

    if (is_no(msim_scenario_alone_memory(&a->alone, a->platforms[p->platform],
                                         &held, &err),
              &err, why))
        return false;
    p->beside = held.beside;
    p->room_gib -= msim_beside_bytes(&p->beside) / MSIM_GIB;
    p->peak_gib = held.peak / MSIM_GIB;
    p->low_gib = held.low / MSIM_GIB;
    p->high_gib = held.high / MSIM_GIB;
    for (int i = 0; i < MSIM_HELD_COUNT; i++)
        p->part_gib[i] = held.by[i] / MSIM_GIB;
    p->ran = isnan(held.peak) && ran(a, p);
    p->fits = p->ran ? MSIM_FITS_YES : MSIM_FITS_EDGE;
    if (!isnan(held.peak))
        p->fits = msim_memory_fits(held.low, held.reserved_high,
                                   p->room_gib * MSIM_GIB);
    if (held.reserved > p->room_gib * MSIM_GIB)
        p->fits = MSIM_FITS_NO; /* not expected to, as predict says */
    return true;
}

static bool step(void *thread, struct msim_plan_point *p,
                 char why[MSIM_PLAN_WHY])
{
    struct asking *a = thread;
    const struct msim_scenario_row *row = &a->all.rows[0];
    const struct msim_breakdown *b = &row->breakdown;
    struct msim_error err = {0};

    if (is_no(msim_scenario_alone_run(&a->alone, &err), &err, why))
        return false;
    p->us = row->period.predicted;
    p->low_us = row->period.low;
    p->high_us = row->period.high;
    p->mfu = row->mfu;
    p->marks = row->marks;
    p->correction = 1;
    memcpy(p->part_us,
           (const double[MSIM_PLAN_PARTS]){b->compute, b->communication,
                                           b->memory_copy, b->host, b->idle},
           sizeof(p->part_us));
    p->exchange = (struct msim_plan_exchange){row->transfer_us,
                                              b->communication, NAN, NAN};
    if (p->us > 0)
        return true;
    snprintf(why, MSIM_PLAN_WHY, "the trace has no work that takes time");
    return false;
}

/* Changes that a trace allows are found beside its figures. */
static void ways(void *thread, const struct msim_plan_point *p,
                 struct msim_plan_ways *out)
{
    struct asking *a = thread;
    const struct msim_memory_note *m = &a->all.rows[0].memory;
    struct msim_error err = {0};
    size_t used = 0;

    *out = (struct msim_plan_ways){.n = 0};
    if (msim_scenario_alone_run(&a->alone, &err) != MSIM_OK)
        return;
    for (uint32_t i = 0; i < m->n_ways && out->n < MSIM_PLAN_WAYS; i++) {
        struct msim_plan_way *w = &out->way[out->n];

        if (!m->ways[i].is_enough ||
            !(m->ways[i].peak <= p->room_gib * MSIM_GIB))
            continue;
        *w = (struct msim_plan_way){.peak = m->ways[i].peak,
                                    .fits = MSIM_FITS_YES};
        snprintf(w->change, sizeof(w->change), "%s", m->ways[i].change);
        if (used < sizeof(out->text))
            used += (size_t)snprintf(out->text + used, sizeof(out->text) - used,
                                     "%s%s (%.1f GiB)", out->n ? "; " : "",
                                     w->change, w->peak / MSIM_GIB);
        out->n++;
    }
}

struct msim_plan_predictor msim_traced_predictor(struct msim_traced_points *of)
{
    return (struct msim_plan_predictor){.own = of,
                                        .block = 1,
                                        .says_why = true,
                                        .step_parts = STEP_PARTS,
                                        .memory_parts = MEMORY_PARTS,
                                        .begin = begin,
                                        .end = end,
                                        .split = split,
                                        .memory = memory,
                                        .step = step,
                                        .ways = ways};
}
