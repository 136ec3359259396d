/*
 * predict/scenario/scenario_run.c - predicting scenarios.
 */
#include "core/base/texts.h"
#include "core/report/write/report.h"
#include "core/run/engine.h"
#include "core/turns/turns.h"
#include "models/estimate/model.h"
#include "predict/edit/edit.h"
#include "predict/scenario/scenario_internal.h"
#include "predict/whatif/whatif.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

/* What the peak is made of and what would make it fit, where somebody will
 * read it: the prediction goes. */
static enum msim_status keep_memory(struct msim_scenario_row *row,
                                    const struct msim_memory_note *m)
{
    struct msim_named_bytes *by;

    row->memory = *m;
    row->memory.points = NULL;
    row->memory.n_points = 0;
    by = msim_arena_alloc(row->arena, ((size_t)m->n_by + 1) * sizeof(*by));
    row->memory.ways = msim_arena_alloc(
        row->arena, ((size_t)m->n_ways + 1) * sizeof(*row->memory.ways));
    row->memory.by = by;
    row->memory.recorded.of = msim_arena_alloc(
        row->arena, ((size_t)m->recorded.n + 1) * sizeof(*m->recorded.of));
    if (!by || !row->memory.ways || !row->memory.recorded.of)
        return MSIM_ENOMEM;
    for (uint32_t i = 0; i < m->recorded.n; i++)
        row->memory.recorded.of[i] = m->recorded.of[i];
    for (uint32_t i = 0; i < m->n_by; i++)
        by[i] = m->by[i];
    for (uint32_t i = 0; i < m->n_ways; i++) {
        size_t size = strlen(m->ways[i].change) + 1;
        char *text = msim_arena_alloc(row->arena, size);

        if (!text)
            return MSIM_ENOMEM;
        row->memory.ways[i] = m->ways[i];
        row->memory.ways[i].change = memcpy(text, m->ways[i].change, size);
    }
    return MSIM_OK;
}

/* Kernels by name outlive the prediction that they are of, and its job. */
static enum msim_status keep_kernels(struct msim_scenario_row *row,
                                     const struct msim_prediction *p)
{
    size_t bytes = ((size_t)p->n_kernels + 1) * sizeof(*row->kernels_by);

    if (!row->settings.kernels)
        return MSIM_OK;
    row->kernels_by = msim_arena_alloc(row->arena, bytes);
    if (!row->kernels_by)
        return MSIM_ENOMEM;
    for (uint32_t i = 0; i < p->n_kernels; i++) {
        size_t size = strlen(p->kernels[i].name) + 1;
        char *name = msim_arena_alloc(row->arena, size);

        if (!name)
            return MSIM_ENOMEM;
        row->kernels_by[i] = p->kernels[i];
        row->kernels_by[i].name = memcpy(name, p->kernels[i].name, size);
    }
    row->n_kernels_by = p->n_kernels;
    return MSIM_OK;
}

static enum msim_status take_figures(struct msim_scenario_row *row,
                                     const struct msim_prediction *p)
{
    row->period = p->period.us;
    row->iteration = p->iteration_us;
    row->kernels = p->kernel_us;
    row->transfer_us = p->transfer_us;
    row->wait_us = p->wait_us;
    row->mfu = p->mfu;
    row->marks = p->marks;
    row->breakdown = p->breakdown_us;
    row->step = p->step;
    msim_usage_means(p, row->usage);
    MSIM_TRY(keep_kernels(row, p));
    return keep_memory(row, &p->memory);
}

static struct msim_ratio_side side_of(const struct msim_prediction_run *run)
{
    return (struct msim_ratio_side){.outcome = &run->outcome,
                                    .costs = run->costs,
                                    .iteration = run->iteration,
                                    .exact = run->exact,
                                    .period_us =
                                        run->prediction->period.us.predicted};
}

/* The base's inputs as a GPU runs them: those of the first scenario that wants
 * them. */
struct formed {
    struct msim_inputs in;
    struct msim_job job;
};

/* The job as it is: what scenarios start from and are compared with. */
struct base {
    const struct msim_target *to;
    const char *host; /* as its settings have it */
    bool one_host;    /* for other GPUs, too */
    struct msim_prediction_run run;
    struct msim_deviating *deviating; /* from its prediction on */
    struct formed *formed;
};

/* The factor of data loading, by how long it takes in the base. */
static enum msim_status set_loader(struct msim_scenario_row *row,
                                   const struct msim_prediction_run *base)
{
    uint32_t steps = base->graph->n_iterations ? base->graph->n_iterations : 1;
    msim_ps time;

    for (uint32_t i = 0; i < row->settings.n_scales && row->loader_ms > 0;
         i++) {
        struct msim_scale *s = &row->scales[i];

        if (strncmp(s->text, MSIM_SCENARIO_LOADER,
                    strlen(MSIM_SCENARIO_LOADER)))
            continue;
        MSIM_TRY(msim_scale_time(&time, s, base->basis->costs, base->graph));
        if (time > 0)
            s->factor =
                row->loader_ms * 1e3 * MSIM_PS_PER_US * steps / (double)time;
    }
    return MSIM_OK;
}

/* The basis with the row's edits; `*own` is NULL where it has none. */
static enum msim_status
edited(struct msim_basis **own, struct msim_scenario_row *row,
       const struct msim_basis *basis, const struct msim_predict_settings *s,
       const struct msim_inputs *in, const struct msim_target *to,
       struct msim_error *err)
{
    *own = NULL;
    if (!row->n_edits)
        return MSIM_OK;
    return msim_basis_edited(own, basis, row->edits, row->n_edits, s, in, to,
                             err);
}

/* A change of durations, or of the graph: the base's, with an overlay. */
static enum msim_status run_scaled(struct msim_scenario_row *row,
                                   const struct base *base,
                                   const struct msim_inputs *in,
                                   const struct msim_target *to,
                                   struct msim_error *err)
{
    struct msim_prediction_run run = {0};
    const struct msim_basis *basis = base->run.basis;
    struct msim_ratio_side side;
    struct msim_basis *own;
    enum msim_status status =
        edited(&own, row, basis, &row->settings, in, to, err);

    if (status == MSIM_OK)
        status = msim_predict_from(&run, own ? own : basis, &row->settings, in,
                                   to, base->run.outcome.states, err);
    if (status == MSIM_OK)
        status = take_figures(row, run.prediction);
    if (status == MSIM_OK) {
        side = side_of(&run);
        status = msim_ratio_find(base->deviating, &side, &row->ratio, err);
    }
    msim_prediction_run_release(&run);
    msim_basis_free(own);
    return status;
}

/* What the scenario asks for and the GPU has no units for is no scenario. What
 * a trace has is priced, with a warning. */
static enum msim_status check_types(const struct msim_scenario_row *row,
                                    const struct msim_basis *basis,
                                    const struct msim_target *to,
                                    struct msim_error *err)
{
    char text[MSIM_EMULATION_TEXT];

    if (!row->settings.rewrite.fp8 ||
        !(basis->costs->emulated & 1u << MSIM_EMULATED_FP8))
        return MSIM_OK;
    msim_emulation_text(MSIM_EMULATED_FP8, to->platform, text, sizeof(text));
    return msim_fail(err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE, "%s", text);
}

/* Both on one GPU have its laws, whose deviations they share, whatever else is
 * changed; laws of two GPUs deviate apart. */
static enum msim_status set_ratio(struct msim_scenario_row *row,
                                  const struct base *base,
                                  const struct msim_prediction_run *run,
                                  const struct msim_target *to,
                                  struct msim_error *err)
{
    const struct msim_ratio_side side = side_of(run);
    const struct msim_ratio_side *from = msim_deviating_side(base->deviating);
    struct msim_ratio_parts parts[2];

    if (to->platform && base->to->platform &&
        strcmp(msim_platform_name(to->platform),
               msim_platform_name(base->to->platform)) == 0)
        return msim_ratio_find(base->deviating, &side, &row->ratio, err);
    MSIM_TRY(msim_ratio_parts_find(
        &parts[0], from, base->run.prediction->period.us.predicted, err));
    MSIM_TRY(
        msim_ratio_parts_find(&parts[1], &side, row->period.predicted, err));
    row->ratio = msim_ratio_of_gpus(&parts[0], &parts[1],
                                    msim_target_is_one_host(base->to, to));
    return MSIM_OK;
}

/* Iterations count as in the base, where both have as many. */
static const uint8_t *states_of(const struct base *base,
                                const struct msim_basis *basis)
{
    return base && base->run.graph->n_iterations == basis->graph->n_iterations
               ? base->run.outcome.states
               : NULL;
}

/* Another GPU stands beside the host of the base, unless a scenario names one.
 */
static const char *gpu_of_host(const struct msim_predict_settings *s,
                               const struct base *base)
{
    return base && base->one_host && base->to->platform && s->host == base->host
               ? msim_platform_name(base->to->platform)
               : s->host_gpu;
}

/* A target and a graph of its own; beside `base`, unless that is NULL. */
static enum msim_status run_on(struct msim_scenario_row *row,
                               const struct msim_predict_settings *settings,
                               const struct base *base,
                               const struct msim_inputs *in,
                               struct msim_error *err)
{
    struct msim_prediction_run run = {0};
    struct msim_basis *basis = NULL, *own = NULL;
    struct msim_predict_settings at = *settings;
    const struct msim_predict_settings *s = &at;
    struct msim_target to;
    enum msim_status status = msim_target_load(&to, s, err);

    at.host_gpu = gpu_of_host(settings, base);
    if (status == MSIM_OK)
        status = msim_target_choose(&to, s, in, err);
    if (status == MSIM_OK)
        status = msim_basis_new(&basis, s, in, &to, err);
    if (status == MSIM_OK && in->origin)
        status = msim_select_check(s, in, basis->costs, basis->graph, err);
    if (status == MSIM_OK)
        status = check_types(row, basis, &to, err);
    if (status == MSIM_OK)
        status = edited(&own, row, basis, s, in, &to, err);
    if (status == MSIM_OK)
        status = msim_predict_from(&run, own ? own : basis, s, in, &to,
                                   states_of(base, basis), err);
    if (status == MSIM_OK)
        status = take_figures(row, run.prediction);
    if (status == MSIM_OK && base)
        status = set_ratio(row, base, &run, &to, err);
    if (status == MSIM_OK && base)
        msim_ratio_widen(&row->ratio, base->run.basis->factor.us,
                         run.basis->factor.us);
    msim_prediction_run_release(&run);
    msim_basis_free(own);
    msim_basis_free(basis);
    msim_target_release(&to);
    return status;
}

enum msim_status msim_scenario_run_alone(struct msim_scenario_row *row,
                                         const struct msim_predict_settings *s,
                                         const struct msim_inputs *in,
                                         struct msim_error *err)
{
    return run_on(row, s, NULL, in, err);
}

/* The inputs of a scenario: on a GPU, other than a base on the CPU that it was
 * captured on, they have the form of one, as for `predict --platform`. */
static enum msim_status place(const struct msim_inputs **in,
                              const struct base *base,
                              const struct msim_scenario_row *row,
                              struct msim_error *err)
{
    enum msim_status status;
    struct msim_target to;
    bool forms = false;

    if (!msim_inputs_are_captured(*in))
        return MSIM_OK;
    status = msim_target_load(&to, &row->settings, err);
    if (status == MSIM_OK)
        status = msim_target_choose(&to, &row->settings, *in, err);
    if (status == MSIM_OK)
        forms = msim_target_forms_gpu(&to);
    msim_target_release(&to);
    if (status != MSIM_OK || !forms)
        return status;
    if (!base->formed->in.job)
        status = msim_inputs_formed(&base->formed->in, &base->formed->job, *in);
    if (status != MSIM_OK) { /* no scenario takes a part of them */
        msim_inputs_formed_release(&base->formed->in);
        return status;
    }
    *in = &base->formed->in;
    return MSIM_OK;
}

/* Another machine, other sizes, another way to train. */
static enum msim_status run_elsewhere(struct msim_scenario_row *row,
                                      const struct base *base,
                                      const struct msim_inputs *in,
                                      struct msim_error *err)
{
    struct msim_scenario_inputs x;
    enum msim_status status;

    MSIM_TRY(place(&in, base, row, err));
    if (in->job->n_ranks) /* ranks of one job have the same sizes */
        MSIM_TRY(msim_reshape_doubt(row->doubt, in->job->ranks[0],
                                    &row->settings.reshape, err));
    if (msim_rewrite_is_none(&row->settings.rewrite))
        return run_on(row, &row->settings, base, in, err);
    status = msim_scenario_inputs_new(&x, in, &row->settings, err);
    if (status == MSIM_OK)
        status = run_on(row, &x.settings, base, &x.in, err);
    msim_scenario_inputs_release(&x);
    return status;
}

/* All scenarios are of one job: a reason names other files alone. */
static void say_reason(struct msim_scenario_row *row, enum msim_status status,
                       struct msim_error *why)
{
    char text[sizeof(why->file) + sizeof(why->text)];

    for (uint32_t i = 0; i < row->settings.n_paths; i++)
        if (strcmp(why->file, row->settings.paths[i]) == 0)
            why->file[0] = '\0';
    msim_error_sentence(text, sizeof(text), status, why);
    msim_cut_text(row->reason, sizeof(row->reason), text);
}

static void run_one(struct msim_scenario_row *row, const struct base *base,
                    const struct msim_inputs *in, const struct msim_target *to)
{
    struct msim_error why = {0};
    enum msim_status status = MSIM_OK;

    if (*row->reason) /* the file asks for what no trace can answer */
        return;
    /* What selects nothing is a scenario without an answer; ranks of another
     * step are selected where that is there. */
    if (msim_rewrite_is_none(&row->settings.rewrite))
        status = msim_select_check(&row->settings, in, base->run.basis->costs,
                                   base->run.graph, &why);
    if (status == MSIM_OK)
        status = msim_scenario_drop_same(row, in, to, &why);
    if (status == MSIM_OK)
        status = set_loader(row, &base->run);
    if (status == MSIM_OK)
        status = row->other_target ? run_elsewhere(row, base, in, &why)
                                   : run_scaled(row, base, in, to, &why);
    if (status != MSIM_OK)
        say_reason(row, status, &why);
}

/* ---- changes of durations alone, by threads ------------------------------ */

struct durations {
    struct msim_scenarios *all;
    const struct base *base;
    const struct msim_inputs *in;
    const struct msim_target *to;
    pthread_mutex_t lock; /* guards all->arena */
};

/* Nothing is loaded, built or remembered for it: bases are only read. */
static bool is_of_durations(const struct msim_scenario_row *row)
{
    return !*row->reason && !row->other_target && !row->n_edits;
}

static void take_rows(struct durations *k, struct msim_turns *t,
                      const struct base *base, struct msim_arena *arena)
{
    uint32_t i;

    while (msim_turns_next(t, &i)) {
        struct msim_scenario_row *row = &k->all->rows[i];

        if (!is_of_durations(row))
            continue;
        row->arena = arena;
        run_one(row, base, k->in, k->to);
        row->arena = &k->all->arena;
    }
}

/* What the base takes while one thing deviates, and what rows keep, are a
 * worker's own meanwhile. */
static enum msim_status run_durations(struct msim_turns *t, void *ctx,
                                      struct msim_error *err)
{
    struct durations *k = ctx;
    struct base own = *k->base;
    const struct msim_ratio_side side = side_of(&own.run);
    struct msim_arena arena;

    (void)err;
    MSIM_TRY(msim_deviating_new(&own.deviating, &side, NULL));
    msim_arena_init(&arena);
    take_rows(k, t, &own, &arena);
    msim_deviating_free(own.deviating);
    pthread_mutex_lock(&k->lock);
    msim_arena_absorb(&k->all->arena, &arena);
    pthread_mutex_unlock(&k->lock);
    return MSIM_OK;
}

static enum msim_status run_all_durations(struct msim_scenarios *s,
                                          const struct base *base,
                                          const struct msim_inputs *in,
                                          const struct msim_target *to,
                                          struct msim_error *err)
{
    struct durations k = {.all = s, .base = base, .in = in, .to = to};
    struct msim_basis *basis = base->run.own_basis;
    struct msim_course *course;
    enum msim_status status;

    MSIM_TRY(msim_course_new(&course, basis->graph));
    basis->course = course;
    pthread_mutex_init(&k.lock, NULL);
    status = msim_turns_run(s->n, s->base.settings.load.threads, run_durations,
                            &k, err);
    pthread_mutex_destroy(&k.lock);
    basis->course = NULL;
    msim_course_free(course);
    return status;
}

/* ---- all of them --------------------------------------------------------- */

/* What the runs of a row must know. */
static void settle(struct msim_scenarios *all, struct msim_scenario_row *row)
{
    row->arena = &all->arena;
    row->settings.kernels = all->kernels;
    row->settings.shelf = &all->shelf;
    for (uint32_t k = 0; k < row->n_edits; k++)
        row->settings.groups |=
            row->edits[k].selects && msim_scale_is_group(&row->edits[k].select);
    for (uint32_t k = 0; k < row->settings.n_scales; k++)
        all->base.settings.groups |= msim_scale_is_group(&row->scales[k]);
    all->base.settings.groups |= row->settings.groups;
}

static enum msim_status predict_base(struct base *base,
                                     struct msim_scenario_row *row,
                                     const struct msim_inputs *in,
                                     const struct msim_target *to,
                                     struct msim_error *err)
{
    struct msim_ratio_side side;

    MSIM_TRY(msim_predict(&base->run, &row->settings, in, to, err));
    row->ratio = (struct msim_figure){1, 1, 1, NAN};
    MSIM_TRY(take_figures(row, base->run.prediction));
    side = side_of(&base->run);
    return msim_deviating_new(&base->deviating, &side, NULL);
}

/* The traced batch; 0: not known. */
static int64_t batch_of(const struct msim_inputs *in)
{
    return in->job->n_ranks ? msim_axis_batch_of(in->job->ranks[0]) : 0;
}

enum msim_status msim_scenarios_run(struct msim_scenarios *s,
                                    const struct msim_inputs *in,
                                    const struct msim_target *to,
                                    struct msim_error *err)
{
    struct formed formed = {0};
    struct base base = {.to = to,
                        .host = s->base.settings.host,
                        .one_host = !s->own_hosts,
                        .formed = &formed};
    enum msim_status status;

    s->shelf.job = in->job;
    s->files = in->job->files;
    s->n_files = in->job->n_files;
    settle(s, &s->base);
    for (uint32_t i = 0; i < s->n; i++)
        settle(s, &s->rows[i]);
    status = predict_base(&base, &s->base, in, to, err);
    for (uint32_t i = 0; i < s->n && status == MSIM_OK; i++)
        if (!is_of_durations(&s->rows[i]))
            run_one(&s->rows[i], &base, in, to);
    if (status == MSIM_OK)
        status = run_all_durations(s, &base, in, to, err);
    if (status == MSIM_OK)
        status = msim_scenarios_guard(s, batch_of(in));
    msim_deviating_free(base.deviating);
    msim_prediction_run_release(&base.run);
    msim_inputs_formed_release(&formed.in);
    return status;
}
