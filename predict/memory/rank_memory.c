/*
 * predict/memory/rank_memory.c - the memory of the ranks of a job.
 */
#include "predict/memory/rank_memory.h"

#include "core/memory/life_memory.h"
#include "core/work/kernel_fact.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* GPUs of other makers than NVIDIA have none. */
static bool has_cublas(const char *generation)
{
    static const char *const others[] = {"cdna", "vega", "xe", NULL};

    for (const char *const *o = others; *o; o++)
        if (!strncmp(generation, *o, strlen(*o)))
            return false;
    return true;
}

/* On a CPU nothing is rounded or kept. */
static struct msim_memory_options
options_for(const struct msim_trace *t, const struct msim_platform *platform)
{
    const char *generation = platform ? msim_platform_generation(platform) : "";
    bool host = platform ? msim_platform_is_host(platform) : t->cpu_only;
    bool hopper = platform ? !strcmp(generation, "hopper")
                           : t->gpu_properties.cc_major == 9;

    if (host)
        return (struct msim_memory_options){0};
    return (struct msim_memory_options){
        .caching = true,
        .workspace = !has_cublas(generation) ? 0
                     : hopper                ? MSIM_MEMORY_WORKSPACE_HOPPER
                                             : MSIM_MEMORY_WORKSPACE,
    };
}

static enum msim_status line_of(struct msim_held_rank *out,
                                const struct msim_trace *t,
                                const struct msim_platform *platform)
{
    struct msim_memory_options o = options_for(t, platform);
    struct msim_memory_picture picture;
    enum msim_status status = msim_memory_picture_find(&picture, t, &o);

    if (status == MSIM_OK)
        status = msim_memory_line_find(&out->peak, &out->line, &picture, &o);
    for (uint32_t i = 0; status == MSIM_OK && i < out->line.n; i++) {
        uint32_t at = out->line.points[i].at;

        out->ops[i] = at < picture.end ? picture.order[at] : MSIM_NONE;
    }
    msim_memory_picture_release(&picture);
    out->known = true;
    return status;
}

enum msim_status msim_trace_memory(struct msim_memory_peak *peak,
                                   const struct msim_trace *t,
                                   const struct msim_platform *platform)
{
    struct msim_memory_options o = options_for(t, platform);
    struct msim_memory_picture picture;
    enum msim_status status = msim_memory_picture_find(&picture, t, &o);

    if (status == MSIM_OK)
        status = msim_memory_peak_find(peak, &picture, &o);
    msim_memory_picture_release(&picture);
    return status;
}

double msim_rank_needs(const struct msim_held_rank *r)
{
    return (double)r->peak.reserved + msim_beside_bytes(&r->beside);
}

enum msim_status msim_rank_memory_find(struct msim_rank_memory *out,
                                       struct msim_trace *const *ranks,
                                       uint32_t n,
                                       const struct msim_platform *platform)
{
    *out = (struct msim_rank_memory){
        .n = n,
        .most = MSIM_NONE,
        .capacity = platform ? msim_platform_usable_bytes(platform) : NAN,
        .low = MSIM_FACT(NULL, PEAK_MEMORY_LOW),
        .high = MSIM_FACT(NULL, PEAK_MEMORY_HIGH),
        .reserved_high = MSIM_FACT(NULL, PEAK_MEMORY_HIGH)};
    out->ranks = calloc((size_t)n + 1, sizeof(*out->ranks));
    if (!out->ranks)
        return MSIM_ENOMEM;
    for (uint32_t i = 0; i < n; i++) {
        struct msim_held_rank *r = &out->ranks[i];

        /* A trace of nodes alone, such as Chakra's, says nothing of it. */
        if (ranks[i]->has_et && ranks[i]->n_tensor_ids)
            MSIM_TRY(line_of(r, ranks[i], platform));
        r->beside = msim_rank_beside(ranks[i], platform);
        if (r->known &&
            (out->most == MSIM_NONE ||
             msim_rank_needs(r) > msim_rank_needs(&out->ranks[out->most])))
            out->most = i;
    }
    /* Of a rank with several GPUs the memory of all of them is counted, and
     * all of them hold it. */
    if (out->most != MSIM_NONE)
        out->capacity *= msim_trace_gpus(ranks[out->most]);
    return MSIM_OK;
}

void msim_rank_memory_release(struct msim_rank_memory *m)
{
    free(m->ranks);
    *m = (struct msim_rank_memory){.most = MSIM_NONE};
}

static uint64_t times(uint64_t bytes, double factor)
{
    return (uint64_t)((double)bytes * factor);
}

void msim_rank_memory_scale_peak(const struct msim_rank_memory *m,
                                 struct msim_memory_peak *peak)
{
    if (!m->as_measured)
        return;
    peak->allocated = times(peak->allocated, m->factor);
    peak->reserved = peak->allocated;
    for (int k = 0; k < MSIM_HELD_COUNT; k++)
        peak->by[k] = times(peak->by[k], m->factor);
}

void msim_rank_memory_scale(struct msim_rank_memory *m, double factor,
                            double low, double high)
{
    m->as_measured = true;
    m->factor = factor;
    m->low = low;
    m->high = m->reserved_high = high;
    for (uint32_t i = 0; i < m->n; i++) {
        struct msim_held_rank *r = &m->ranks[i];

        msim_rank_memory_scale_peak(m, &r->peak);
        for (uint32_t p = 0; p < r->line.n; p++) {
            struct msim_memory_point *at = &r->line.points[p];

            at->reserved = times(at->reserved, factor);
            if (at->reserved > r->peak.reserved)
                at->reserved = r->peak.reserved;
            for (int k = 0; k < MSIM_HELD_COUNT; k++)
                at->by[k] = times(at->by[k], factor);
        }
    }
}

/* ---- as recorded --------------------------------------------------------- */

/* The steps of `t` that count; all of a trace without steps. */
static enum msim_status recorded_of(const struct msim_trace *t,
                                    const struct msim_graph *g,
                                    uint32_t iteration,
                                    struct msim_arena *arena,
                                    struct msim_recorded_list *out)
{
    struct msim_time_range *ranges;
    enum msim_status status;
    uint32_t n = 0;

    *out = (struct msim_recorded_list){0};
    if (!t->n_memory) /* nor, it may be, times */
        return MSIM_OK;
    ranges = malloc(((size_t)t->n_steps + 1) * sizeof(*ranges));
    if (!ranges)
        return MSIM_ENOMEM;
    for (uint32_t i = 0; i < t->n_steps; i++)
        if (iteration == UINT32_MAX ||
            t->steps[i].number == g->iterations[iteration])
            ranges[n++] = (struct msim_time_range){
                t->steps[i].start, t->steps[i].start + t->steps[i].dur};
    if (!t->n_steps)
        ranges[n++] = MSIM_TIME_RANGE_ALL;
    status = msim_recorded_memory_find(t, ranges, n, arena, out);
    free(ranges);
    return status;
}

enum msim_status msim_rank_memory_recorded(const struct msim_graph *g,
                                           uint32_t iteration,
                                           struct msim_prediction *p)
{
    struct msim_memory_note *most = &p->memory;
    bool predicted = most->peak > 0;
    uint32_t k = 0;

    for (uint32_t i = 0; i < g->job->n_ranks; i++) {
        const struct msim_trace *t = g->job->ranks[i];
        struct msim_recorded_list list;

        MSIM_TRY(recorded_of(t, g, iteration, &p->arena, &list));
        if (predicted
                ? t->rank == most->rank
                : msim_recorded_memory_sum(&list).allocated >
                      msim_recorded_memory_sum(&most->recorded).allocated) {
            most->recorded = list;
            most->rank = t->rank;
        }
        if (k < p->n_ranks_detail && t->rank == p->ranks_detail[k].rank)
            p->ranks_detail[k++].memory.recorded = list;
    }
    return MSIM_OK;
}

/* ---- into a prediction --------------------------------------------------- */

bool msim_rank_memory_most(const struct msim_rank_memory *m,
                           struct msim_held_most *out)
{
    const struct msim_memory_peak *peak;

    if (m->most == MSIM_NONE)
        return false;
    peak = &m->ranks[m->most].peak;
    out->peak = (double)peak->allocated;
    out->low = m->low * out->peak;
    out->high = m->high * out->peak;
    out->reserved = (double)peak->reserved;
    out->reserved_high = m->reserved_high * out->reserved;
    out->beside = m->ranks[m->most].beside;
    for (int i = 0; i < MSIM_HELD_COUNT; i++)
        out->by[i] = (double)peak->by[i];
    return true;
}

/* Bytes by what they are for. */
static struct msim_named_bytes *parts(struct msim_arena *arena,
                                      const uint64_t by[MSIM_HELD_COUNT])
{
    struct msim_named_bytes *out =
        msim_arena_alloc(arena, MSIM_HELD_COUNT * sizeof(*out));

    for (int i = 0; out && i < MSIM_HELD_COUNT; i++)
        out[i] = (struct msim_named_bytes){msim_held_text((enum msim_held)i),
                                           (double)by[i]};
    return out;
}

/* It is sure where the upper end of what is reserved fits, and out of question
 * where the lower end of what tensors hold does not: the allocator gives back
 * what it does not use before it fails. */
static void note_fits(const struct msim_rank_memory *m,
                      const struct msim_held_rank *r,
                      struct msim_memory_note *note)
{
    double beside = msim_beside_bytes(&r->beside);

    note->context = r->beside.context;
    note->nccl = r->beside.nccl;
    note->needed = msim_rank_needs(r);
    if (note->capacity > 0)
        note->fits = msim_fits_text(msim_memory_fits(
            note->low + beside, m->reserved_high * note->reserved + beside,
            note->capacity));
}

static enum msim_status note_peak(const struct msim_rank_memory *m,
                                  const struct msim_held_rank *r,
                                  struct msim_memory_note *note,
                                  struct msim_arena *arena)
{
    note->by = parts(arena, r->peak.by);
    if (!note->by)
        return MSIM_ENOMEM;
    note->n_by = MSIM_HELD_COUNT;
    note->peak = (double)r->peak.allocated;
    note->low = m->low * note->peak;
    note->high = m->high * note->peak;
    note->reserved = (double)r->peak.reserved;
    note_fits(m, r, note);
    return MSIM_OK;
}

/* When the host comes to each operator of a rank, in a run; where no task says
 * so, INT64_MIN. */
static msim_ps *op_times(const struct msim_graph *g, const msim_ps *start,
                         uint32_t rank)
{
    uint32_t n = g->job->ranks[rank]->n_ops;
    msim_ps *at = malloc(((size_t)n + 1) * sizeof(*at));

    for (uint32_t i = 0; at && i < n; i++)
        at[i] = INT64_MIN;
    for (uint32_t t = 0; at && t < g->n_tasks; t++)
        if (g->refs[t].rank == rank && g->kind[t] <= MSIM_TASK_GAP)
            for (uint32_t i = g->refs[t].index; i < g->refs[t].op_end && i < n;
                 i++)
                at[i] = start[t];
    return at;
}

/* The end of a run, on a rank. */
static msim_ps run_end(const struct msim_graph *g, const msim_ps *start,
                       uint32_t rank)
{
    msim_ps last = 0;

    for (uint32_t t = 0; t < g->n_tasks; t++)
        if (g->refs[t].rank == rank && start[t] > last)
            last = start[t];
    return last;
}

static enum msim_status note_line(const struct msim_held_rank *r, uint32_t rank,
                                  const struct msim_graph *g,
                                  const msim_ps *start,
                                  struct msim_memory_note *note,
                                  struct msim_arena *arena)
{
    const struct msim_trace *t = g->job->ranks[rank];
    msim_ps *at = op_times(g, start, rank), now = 0;

    note->points =
        msim_arena_alloc(arena, (r->line.n + 1) * sizeof(*note->points));
    if (!note->points || !at) {
        free(at);
        return MSIM_ENOMEM;
    }
    for (uint32_t i = 0; i < r->line.n; i++) {
        const struct msim_memory_point *p = &r->line.points[i];
        uint32_t op = r->ops[i] < t->n_ops ? r->ops[i] : MSIM_NONE;
        msim_ps when = op == MSIM_NONE ? run_end(g, start, rank) : at[op];

        now = when > now ? when : now; /* threads overlap */
        note->points[note->n_points++] = (struct msim_memory_note_point){
            .at = now,
            .op = op == MSIM_NONE ? NULL : msim_trace_text(t, t->ops[op].name),
            .reserved = (double)p->reserved,
            .by = parts(arena, p->by)};
        if (!note->points[i].by)
            break;
    }
    free(at);
    return note->n_points == r->line.n ? MSIM_OK : MSIM_ENOMEM;
}

static enum msim_status note_rank(const struct msim_rank_memory *m, uint32_t i,
                                  const struct msim_graph *g,
                                  const msim_ps *start,
                                  struct msim_memory_note *note,
                                  struct msim_arena *arena)
{
    const struct msim_held_rank *r = &m->ranks[i];

    *note = MSIM_MEMORY_NOT_KNOWN;
    note->capacity = m->capacity;
    if (!r->known)
        return MSIM_OK;
    note->rank = g->job->ranks[i]->rank;
    MSIM_TRY(note_peak(m, r, note, arena));
    return start ? note_line(r, i, g, start, note, arena) : MSIM_OK;
}

enum msim_status msim_rank_memory_note(const struct msim_rank_memory *m,
                                       const struct msim_graph *g,
                                       const msim_ps *start,
                                       struct msim_prediction *p)
{
    uint32_t k = 0;

    p->memory = MSIM_MEMORY_NOT_KNOWN;
    if (m->most != MSIM_NONE)
        MSIM_TRY(note_rank(m, m->most, g, start, &p->memory, &p->arena));
    /* Ranks without an iteration have no row. */
    for (uint32_t i = 0; start && i < m->n && k < p->n_ranks_detail; i++)
        if (g->job->ranks[i]->rank == p->ranks_detail[k].rank)
            MSIM_TRY(note_rank(m, i, g, start, &p->ranks_detail[k++].memory,
                               &p->arena));
    return MSIM_OK;
}
