/*
 * predict/run_warnings.c - what a reader of a prediction should know.
 */
#include "predict/predict_internal.h"

#include "core/rewrite/rewrite.h"
#include "core/trace/trace_columns.h"
#include "core/work/kernel_fact.h"
#include "core/work/opmap/opmap.h"
#include "models/estimate/model.h"
#include "models/host/host.h"
#include "predict/carry/scaled.h"

#include <math.h>
#include <string.h>

struct warning {
    const struct msim_predict_settings *s;
    const struct msim_target *to;
    const struct msim_graph *g;
    struct msim_job *job;
};

/* Whose times they are. */
static void warn_scaled(const struct warning *w)
{
    char clock[MSIM_CLOCK_TEXT] = "";

    if (w->to->platform)
        msim_clock_text(msim_platform_clock(w->to->platform), clock,
                        sizeof(clock));
    if (w->to->platform && w->to->source && !w->to->correction &&
        !msim_scaled_same(w->to->source, w->to->platform))
        msim_job_warn(w->job,
                      "GPU times were measured on %s and are scaled to %s%s%s; "
                      "launch latencies, gaps and dependencies are those "
                      "of the traced run",
                      msim_platform_name(w->to->source),
                      msim_platform_name(w->to->platform), *clock ? " at " : "",
                      clock);
    if (w->to->correction)
        msim_job_warn(w->job,
                      "GPU times are those of models, corrected by the times "
                      "in '%s'; the job's own GPU times are not used",
                      w->s->source_trace);
}

/* A rank whose GPU has another name than the first one's; NULL: there is none.
 */
static const struct msim_trace *other_gpu(const struct msim_job *job)
{
    uint32_t name = job->ranks[0]->gpu_properties.name;

    for (uint32_t i = 1; i < job->n_ranks && name; i++)
        if (job->ranks[i]->gpu_properties.name &&
            job->ranks[i]->gpu_properties.name != name)
            return job->ranks[i];
    return NULL;
}

static void warn_no_source(struct msim_job *job)
{
    const struct msim_trace *a = job->ranks[0], *b = other_gpu(job);

    if (b)
        msim_job_warn(job,
                      "the ranks ran on GPUs that differ ('%.60s', '%.60s'), "
                      "so their GPU times are not used",
                      msim_trace_text(a, a->gpu_properties.name),
                      msim_trace_text(b, b->gpu_properties.name));
    else
        msim_job_warn(job,
                      "the trace does not say which GPU it ran on, so its GPU "
                      "times are not used; '--source-platform NAME' scales "
                      "them");
}

/* The source is not the GPU that was traced, or its times are not used. */
static void warn_unknown(const struct warning *w)
{
    const struct msim_trace *t = w->to->unknown;

    if (t)
        msim_job_warn(w->job,
                      "the traced GPU, '%s' (%u multiprocessors, %.3g GB), is "
                      "not known: its times are scaled as if it were %s, the "
                      "nearest that is, with as many multiprocessors; "
                      "'--source-platform NAME' names a better one",
                      msim_trace_text(t, t->gpu_properties.name),
                      t->gpu_properties.sms,
                      (double)t->gpu_properties.memory_bytes * 1e-9,
                      msim_platform_name(w->to->source) + strlen("near "));
    if (w->s->costs == MSIM_COSTS_AUTO && w->to->costs == MSIM_COSTS_MODEL &&
        w->s->platform && msim_all_have_gpu_times(w->job))
        warn_no_source(w->job);
}

static void warn_clock(const struct warning *w)
{
    const struct msim_sm_clock *c =
        w->to->platform ? msim_platform_clock(w->to->platform) : NULL;
    char text[MSIM_CLOCK_TEXT];

    if (!c || !(c->ratio > 0))
        return;
    msim_clock_text(c, text, sizeof(text));
    msim_job_warn(w->job,
                  "SM clock %s: work that follows it takes %.3g times as long, "
                  "uncertain by a factor of %.2f more; device memory and links "
                  "keep their rates%s",
                  text, 1 / c->ratio,
                  exp(msim_clock_half_width(c, 1 / c->ratio)),
                  c->ratio > 1.2 ? " (no such GPU runs as fast: a number below "
                                   "10 is a share, 1.41GHz is a clock)"
                                 : "");
}

/* Regions of generated code, the outermost ones. */
static uint32_t compiled_regions(const struct msim_trace *t)
{
    uint32_t n = 0, next = 1;

    for (uint32_t i = 0; i < t->n_ops; i = next) {
        const struct msim_opmap_row *row = msim_opmap_row_of(t, NULL, i);
        bool compiled = row && row->flags & MSIM_OPMAP_COMPILED;

        n += compiled;
        next = compiled ? t->ops[i].end : i + 1;
    }
    return n;
}

/* On a GPU its kernels were recorded; a CPU's are functions that nobody saw. */
static void warn_compiled(const struct warning *w)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < w->job->n_ranks; i++)
        if (w->job->ranks[i]->cpu_only &&
            msim_target_plans(w->to, w->job->ranks[i]))
            n += compiled_regions(w->job->ranks[i]) * msim_job_alike(w->job, i);
    if (n)
        msim_job_warn(w->job,
                      "%u compiled regions were recorded on a CPU, which does "
                      "not show what their generated code did: it takes no "
                      "time here; want a recording without torch.compile",
                      n);
}

/* What makes the traces doubtful; host times of planned ranks are not used. */
static void warn_unexplained(struct msim_job *job, const struct msim_graph *g)
{
    double us = (double)g->copied[MSIM_COPIED_UNEXPLAINED] / MSIM_PS_PER_US;
    bool one = g->n_unexplained == 1, little = us < 100;

    if (g->n_unexplained > 0)
        msim_job_warn(
            job,
            "%u GPU activit%s began later than the traces explain, by %.1f %s "
            "in all; %s keeps its distance from what came before it",
            g->n_unexplained, one ? "y" : "ies", little ? us : us / 1e3,
            little ? "us" : "ms", one ? "it" : "each");
}

static void warn_traces(const struct warning *w)
{
    double slowed = 0;

    for (uint32_t i = 0; i < w->job->n_ranks; i++)
        if (!msim_target_plans(w->to, w->job->ranks[i]))
            slowed = fmax(slowed, msim_host_recording_us(w->job->ranks[i]));
    if (slowed >= MSIM_FACT(NULL, RECORDING_SLOWS_US) && !w->s->host)
        msim_job_warn(w->job,
                      "recording slowed the host: an operator without work "
                      "took %.0f us, want less than %.0f; '--host generic' "
                      "predicts a run without a profiler",
                      slowed, MSIM_FACT(NULL, RECORDING_SLOWS_US));
    msim_warn_queued_idle(w->job, w->g);
    warn_unexplained(w->job, w->g);
}

/* An optimizer's step that goes parameter by parameter; NONE: none does. */
static uint32_t find_single_step(const struct msim_trace *t)
{
    static const char FUSED[] = "aten::_fused_";
    uint32_t step = MSIM_NONE;

    for (uint32_t i = 0; i < t->n_ops; i++) {
        const char *name = msim_trace_text(t, t->ops[i].name);

        if (msim_step_takes_lists(name))
            step = i;
        else if (msim_name_is_list(name) ||
                 strncmp(name, FUSED, sizeof(FUSED) - 1) == 0)
            return MSIM_NONE;
    }
    return step;
}

/* Attention that goes through its products and its softmax one by one. */
static uint32_t find_attention_in_parts(const struct msim_trace *t)
{
    for (uint32_t i = 0; i < t->n_ops; i++)
        if (strcmp(msim_trace_text(t, t->ops[i].name), MSIM_GPU_FORM_MATH) == 0)
            return i;
    return MSIM_NONE;
}

/* What a capture of a CPU has otherwise than a GPU, and could not be changed.
 */
static void warn_captured(const struct warning *w)
{
    static const struct {
        uint32_t (*find)(const struct msim_trace *t);
        const char *how, * or ;
    } FORMS[] = {
        {find_single_step, "parameter by parameter; a GPU takes lists of them",
         ", or the optimizer with foreach=True"},
        {find_attention_in_parts, "in parts; a GPU runs it as one kernel", ""},
    };

    for (size_t f = 0; f < sizeof(FORMS) / sizeof(*FORMS); f++)
        for (uint32_t i = 0; i < w->job->n_ranks; i++) {
            const struct msim_trace *t = w->job->ranks[i];
            uint32_t op = t->cpu_only && msim_target_forms_gpu(w->to)
                              ? FORMS[f].find(t)
                              : MSIM_NONE;

            if (op == MSIM_NONE)
                continue;
            msim_job_warn(w->job,
                          "'%s' was recorded on a CPU, where it goes %s, in "
                          "less time: want an execution trace beside the "
                          "Kineto trace%s",
                          msim_trace_text(t, t->ops[op].name), FORMS[f].how,
                          FORMS[f].or);
            break;
        }
}

/* Traced ranks that stand for others are simulated once: equal work arrives
 * at the same instant, however many do it. */
static void warn_folded(const struct warning *w)
{
    uint32_t traced = msim_job_traced(w->job);

    if (w->s->ranks <= traced)
        return;
    if (w->to->costs != MSIM_COSTS_MEASURED)
        msim_job_warn(w->job,
                      "each of the %u traced ranks stands for %u: collectives "
                      "of all ranks are costed for %u ranks, %u on a node; "
                      "all-gathers and reduce-scatters keep the whole that was "
                      "traced, as sharded parameters do, gathers grow, all "
                      "others keep what each rank sends",
                      traced, w->s->ranks / traced, w->s->ranks,
                      w->to->gpus_a_node);
    else
        msim_job_warn(w->job,
                      "each of the %u traced ranks stands for %u, but "
                      "transfers take as long as in the traces; '--costs "
                      "model' costs them for %u ranks",
                      traced, w->s->ranks / traced, w->s->ranks);
}

/* Transfers whose collective no record gives a size; in all in `*n`. */
static uint32_t count_unsized(const struct msim_graph *g, uint32_t *n)
{
    uint32_t unsized = 0;

    *n = 0;
    for (uint32_t i = 0; i < g->n_tasks; i++) {
        const struct msim_task_ref *ref = &g->refs[i];
        const struct msim_trace *t = g->job->ranks[ref->rank];
        uint32_t comm, alike = msim_job_alike(g->job, ref->rank);

        if (g->kind[i] != MSIM_TASK_COMM || ref->index == MSIM_NONE)
            continue;
        comm = t->gpu[ref->index].comm;
        if (comm == MSIM_NONE ||
            !(t->comms[comm].in_elems | t->comms[comm].out_elems))
            unsized += alike;
        *n += alike;
    }
    return unsized;
}

/* No network and no number of ranks changes what has no size. */
static void warn_no_sizes(const struct warning *w)
{
    bool asked = w->s->network || w->s->nodes || w->s->ranks > w->job->n_ranks;
    uint32_t n, unsized;

    if (!asked || w->to->costs == MSIM_COSTS_MEASURED)
        return;
    unsized = count_unsized(w->g, &n);
    if (unsized)
        msim_job_warn(w->job,
                      "%u of %u transfers have no recorded size, so that "
                      "neither the network nor the number of ranks or nodes "
                      "changes them: want an execution trace, or a recording "
                      "with record_shapes",
                      unsized, n);
}

/* A number that no step has is an index: whose, is said. */
static void warn_iteration(const struct warning *w)
{
    const struct msim_graph *g = w->g;
    int64_t want = w->s->iteration, got = want;

    for (uint32_t i = 0; i < g->n_iterations; i++)
        if (g->iterations[i] == want)
            return;
    if (want >= 0 && want < g->n_iterations)
        got = g->iterations[want];
    if (want >= 0 && got >= 0 && got != want)
        msim_job_warn(w->job,
                      "no step is marked ProfilerStep#%lld: this is "
                      "ProfilerStep#%lld, the one at %lld from 0",
                      (long long)want, (long long)got, (long long)want);
}

void msim_run_warnings_add(const struct msim_predict_settings *s,
                           const struct msim_inputs *in,
                           const struct msim_target *to,
                           const struct msim_graph *g)
{
    const struct warning w = {.s = s, .to = to, .g = g, .job = in->job};

    warn_traces(&w);
    warn_captured(&w);
    warn_compiled(&w);
    warn_scaled(&w);
    warn_unknown(&w);
    warn_clock(&w);
    warn_folded(&w);
    warn_no_sizes(&w);
    warn_iteration(&w);
}

/* ---- types that the platform lacks -------------------------------------- */

void msim_warn_emulated(struct msim_job *job, const struct msim_platform *p,
                        const struct msim_costs *c)
{
    char text[MSIM_EMULATION_TEXT];

    for (int e = MSIM_EMULATED_BF16; e <= MSIM_EMULATED_FP4; e++) {
        enum msim_emulation emulation = (enum msim_emulation)e;

        if (!(c->emulated >> e & 1))
            continue;
        msim_emulation_text(emulation, p, text, sizeof(text));
        msim_job_warn(job, "%s%s, with a wide interval", text,
                      msim_emulation_is_refused(emulation)
                          ? ", and libraries refuse it: its products are "
                            "priced at the rate of the next wider type"
                      : e == MSIM_EMULATED_BF16
                          ? ""
                          : ": priced at the rate of the next wider type");
    }
}

/* ---- more than the peak -------------------------------------------------- */

/* Time that works would take at the peak rate beyond what they are predicted to
 * take: of convolutions, of all else. */
struct excess {
    double convolutions, others;
};

static struct excess excess_of(const struct msim_graph *g,
                               const struct msim_costs *c)
{
    struct excess x = {0};

    for (uint32_t t = 0; t < g->n_tasks; t++) {
        double more =
            msim_job_alike(g->job, g->refs[t].rank) *
            ((double)c->limits[t].tensor + (double)c->limits[t].vector -
             (double)c->mid[t] / MSIM_PS_PER_US);

        if (more > 0 && c->made_by[t] == MSIM_FAMILY_CONV)
            x.convolutions += more;
        else if (more > 0)
            x.others += more;
    }
    return x;
}

/* Of what exceeds the peak, the share that others than convolutions may have:
 * rounding of short kernels. */
#define OTHERS_SHARE 0.01

/* FLOPs above the peak: convolutions may multiply less often than is counted,
 * by Winograd's algorithm; else times are wrong. The figure says nothing. */
static void guard_mfu(struct msim_job *job, const struct msim_graph *g,
                      const struct msim_costs *c, struct msim_prediction *p)
{
    struct excess x = excess_of(g, c);
    bool saved = x.others <= OTHERS_SHARE * x.convolutions;

    if (!saved)
        p->marks |= MSIM_GUARD_BIT(PEAK);
    if (job && saved)
        msim_job_warn(job,
                      "MFU is left out: it is %.1f %%, since convolutions by "
                      "Winograd's algorithm do fewer multiplications than are "
                      "counted",
                      100 * p->mfu);
    else if (job)
        msim_job_warn(job,
                      "MFU is left out: works are predicted to take less than "
                      "they would at the peak rate, by %.3g ms in all",
                      (x.convolutions + x.others) * 1e-3);
    p->mfu = (double)NAN;
}

static msim_guard_marks guard_figure(const struct msim_figure *f)
{
    return isnan(f->predicted)
               ? 0
               : msim_guard_check(f->predicted, f->low, f->high, NAN);
}

void msim_run_guard(struct msim_job *job, const struct msim_graph *g,
                    const struct msim_costs *c, struct msim_prediction *p)
{
    p->marks = c->marks | guard_figure(&p->period.us) |
               guard_figure(&p->iteration_us) | guard_figure(&p->kernel_us);
    if (p->mfu > 1)
        guard_mfu(job, g, c, p);
    if (job && p->marks & MSIM_GUARD_BIT(ORDER))
        msim_job_warn(job, "the interval of a time does not hold the time");
}

static void warn_unsized(struct msim_job *job, const struct msim_costs *c)
{
    if (c->n_unsized)
        msim_job_warn(job,
                      "the size of %u transfer%s, such as '%.80s', is not "
                      "recorded: guessed from what was computed before, and "
                      "not covered",
                      c->n_unsized, c->n_unsized == 1 ? "" : "s", c->unsized);
}

void msim_run_warnings_bounded(struct msim_job *job, const struct msim_costs *c)
{
    uint32_t n = c->n_bounded;

    warn_unsized(job, c);

    for (uint32_t i = 0; i < n && i < MSIM_COST_BOUNDED_MAX; i++)
        msim_job_warn(job,
                      "estimate of '%.80s' bounded, in %u call%s: %s; its law "
                      "or its sizes are off",
                      c->bounded[i].name, c->bounded[i].times,
                      c->bounded[i].times == 1 ? "" : "s",
                      msim_bounded_text(c->bounded[i].why));
    if (n > MSIM_COST_BOUNDED_MAX)
        msim_job_warn(job, "estimates of %u further operators bounded",
                      n - MSIM_COST_BOUNDED_MAX);
}
