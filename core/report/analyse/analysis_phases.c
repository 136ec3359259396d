/*
 * core/report/analyse/analysis_phases.c - forward, backward, optimizer; and the
 * regions that the job itself marks (torch.profiler.record_function).
 *
 * An operator is in the phase that the names around it say, from the outside
 * in: what an optimizer's mark encloses is the optimizer's, what autograd
 * evaluates (or a mark of that name) is backward, also where it computes a
 * forward pass again. Else it is backward on a thread of autograd, forward
 * where a mark says so, or, without a mark of the whole pass, where autograd
 * gave it a sequence number; and other work where nothing is known. A kernel
 * belongs to the operator that launched it, and what has no operator to what
 * came before it on its thread.
 */
#include "core/base/containers.h"
#include "core/report/analyse/analysis_internal.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum phase { UNKNOWN, FORWARD, BACKWARD, OPTIMIZER, OTHER, PHASES };

/* The innermost mark of a region around an operator, itself included, or NONE;
 * and the time of tasks in the mark. */
struct spent {
    uint32_t mark;
    msim_ps gpu, host; /* whole: they are summed in any order */
};

struct phases {
    const struct msim_findings *f;
    const struct msim_graph *g;
    const struct msim_trace *t;
    uint32_t rank;
    bool marked;               /* a mark says where the forward pass is */
    uint8_t *of_op;            /* one an op: phase */
    uint8_t *of_thread;        /* one a thread: BACKWARD or UNKNOWN */
    uint8_t *name_says;        /* one a string: phase + 1; 0: not looked at */
    uint32_t *region_of;       /* one a string: region, NONE: it names none */
    struct msim_strtab *names; /* of regions: a region is a number here */
    struct msim_region_row *regions; /* one a name */
    struct spent *spent;             /* one an op */
    struct msim_windows windows, steps;
    double gpu[PHASES], host[PHASES];
};

/* ---- what names say ------------------------------------------------------ */

static bool contains(const char *name, const char *word)
{
    size_t n = strlen(word);

    for (; *name; name++) {
        size_t i = 0;

        while (i < n && tolower((unsigned char)name[i]) == word[i])
            i++;
        if (i == n)
            return true;
    }
    return false;
}

/* Marks are names that people choose; operators have names of their own, which
 * say little ("aten::_embedding_bag_backward" may be called from anywhere). */
static enum phase phase_of_name(const char *name, bool mark)
{
    static const char BACKWARD_OP[] = "autograd::engine::evaluate_function";

    if (strncmp(name, BACKWARD_OP, sizeof(BACKWARD_OP) - 1) == 0)
        return BACKWARD;
    if (contains(name, mark ? "optimizer" : "optimizer.step") ||
        (mark && contains(name, "zero_grad")))
        return OPTIMIZER;
    if (mark && contains(name, "backward"))
        return BACKWARD;
    return mark && contains(name, "forward") ? FORWARD : UNKNOWN;
}

/* "## forward ##", but not the forward of one module ("DDP.forward"). */
static bool marks_pass(const char *name)
{
    char letters[16];
    size_t n = 0;

    for (; *name && n + 1 < sizeof(letters); name++)
        if (isalpha((unsigned char)*name))
            letters[n++] = (char)tolower((unsigned char)*name);
    letters[n] = '\0';
    return strcmp(letters, "forward") == 0 ||
           strcmp(letters, "forwardpass") == 0;
}

static enum phase said_by(const struct phases *a, const struct msim_op *op)
{
    uint8_t *known = &a->name_says[op->name];

    if (!*known)
        *known = (uint8_t)(1 + phase_of_name(msim_trace_text(a->t, op->name),
                                             op->kind == MSIM_OP_ANNOTATION));
    if (op->scope == 1 && *known == 1 + UNKNOWN)
        return BACKWARD;
    return (enum phase)(*known - 1);
}

/* The phase of an operator inside `outer`. */
static enum phase inside(enum phase outer, enum phase own)
{
    if (own == OPTIMIZER || outer == UNKNOWN || outer == OTHER)
        return own == UNKNOWN ? outer : own;
    return own == BACKWARD && outer == FORWARD ? own : outer;
}

static void find_threads(struct phases *a)
{
    const struct msim_trace *t = a->t;

    for (uint32_t i = 0; i < t->n_ops && !a->marked; i++)
        a->marked = t->ops[i].kind == MSIM_OP_ANNOTATION &&
                    said_by(a, &t->ops[i]) == FORWARD &&
                    marks_pass(msim_trace_text(t, t->ops[i].name));
    for (uint32_t i = 0; i < t->n_ops; i++)
        if (t->ops[i].thread < t->n_threads &&
            said_by(a, &t->ops[i]) == BACKWARD &&
            t->ops[i].kind == MSIM_OP_OPERATOR)
            a->of_thread[t->ops[i].thread] = BACKWARD;
    for (uint32_t i = 0; i < t->n_steps; i++) /* it does more than that */
        if (t->ops[t->steps[i].op].thread < t->n_threads)
            a->of_thread[t->ops[t->steps[i].op].thread] = UNKNOWN;
}

/* Parents come before their children. False: nothing is backward. */
static bool find_ops(struct phases *a)
{
    const struct msim_trace *t = a->t;
    bool trains = false;

    for (uint32_t i = 0; i < t->n_ops; i++) {
        const struct msim_op *op = &t->ops[i];
        enum phase outer = op->parent == MSIM_NONE
                               ? UNKNOWN
                               : (enum phase)a->of_op[op->parent];
        enum phase own = said_by(a, op);

        if (own == UNKNOWN && outer == UNKNOWN && op->seq >= 0 && !a->marked &&
            a->of_thread[op->thread] == UNKNOWN)
            own = FORWARD;
        a->of_op[i] = (uint8_t)inside(outer, own);
        trains |= a->of_op[i] == BACKWARD;
    }
    return trains;
}

/* ---- regions ------------------------------------------------------------- */

/* Labels of collectives repeat the operator around them, and steps are the
 * iterations. */
static bool is_region(const struct msim_trace *t, uint32_t op)
{
    const char *name = msim_trace_text(t, t->ops[op].name);

    return t->ops[op].kind == MSIM_OP_ANNOTATION && name[0] &&
           strncmp(name, "ProfilerStep#", 13) != 0 &&
           strncmp(name, "nccl:", 5) != 0 && strncmp(name, "gloo:", 5) != 0;
}

/* "layer#12" is a call of "layer". */
static size_t plain_length(const char *name)
{
    size_t n = strlen(name), digits = n;

    while (digits > 0 && isdigit((unsigned char)name[digits - 1]))
        digits--;
    return digits > 1 && digits < n && name[digits - 1] == '#' ? digits - 1 : n;
}

/* Parents come before their children. */
static enum msim_status find_regions(struct phases *a)
{
    const struct msim_trace *t = a->t;

    MSIM_TRY(msim_strtab_new(&a->names));
    for (uint32_t i = 0; i < t->n_ops; i++) {
        const struct msim_op *op = &t->ops[i];
        const char *name = msim_trace_text(t, op->name);

        a->spent[i].mark =
            op->parent == MSIM_NONE ? MSIM_NONE : a->spent[op->parent].mark;
        if (!is_region(t, i))
            continue;
        a->spent[i].mark = i;
        if (a->region_of[op->name] == MSIM_NONE)
            MSIM_TRY(msim_strtab_add(a->names, name, plain_length(name),
                                     &a->region_of[op->name]));
    }
    a->regions = calloc(msim_strtab_count(a->names), sizeof(*a->regions));
    return a->regions ? MSIM_OK : MSIM_ENOMEM;
}

static void spend(struct phases *a, uint32_t op, msim_ps gpu, msim_ps host)
{
    uint32_t mark = op == MSIM_NONE ? MSIM_NONE : a->spent[op].mark;

    if (mark == MSIM_NONE)
        return;
    a->spent[mark].gpu += gpu;
    a->spent[mark].host += host;
}

/* What a mark encloses is in the marks around it, too. */
static void spend_outwards(struct phases *a)
{
    for (uint32_t i = a->t->n_ops; i-- > 0;) {
        uint32_t parent = a->t->ops[i].parent;

        if (a->spent[i].mark == i)
            spend(a, parent, a->spent[i].gpu, a->spent[i].host);
    }
}

/* A region that is nested in itself has the time of its outermost mark. */
static enum msim_status sum_regions(struct phases *a)
{
    uint32_t *over = calloc(msim_strtab_count(a->names), sizeof(*over));

    if (!over)
        return MSIM_ENOMEM;
    spend_outwards(a);
    for (uint32_t i = 0; i < a->t->n_ops; i++) {
        uint32_t r = a->region_of[a->t->ops[i].name];

        if (a->spent[i].mark != i || i < over[r])
            continue;
        over[r] = a->t->ops[i].end;
        a->regions[r].gpu_us += msim_us(a->spent[i].gpu);
        a->regions[r].host_us += msim_us(a->spent[i].host);
    }
    free(over);
    return MSIM_OK;
}

/* ---- tasks --------------------------------------------------------------- */

/* The last operator that began on the thread before the task was launched. */
static uint32_t op_before(const struct phases *a, uint32_t task,
                          uint32_t *thread)
{
    const struct msim_trace *t = a->t;
    uint32_t index = a->g->refs[task].index, call, lo, hi;

    *thread = MSIM_NONE;
    if (index == MSIM_NONE || a->g->kind[task] < MSIM_TASK_KERNEL)
        return MSIM_NONE;
    call = t->gpu[index].call;
    if (call == MSIM_NONE)
        return MSIM_NONE;
    *thread = t->calls[call].thread;
    lo = t->threads[*thread].op_begin;
    hi = t->threads[*thread].op_end;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;

        if (t->ops[mid].start <= t->calls[call].start)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo > t->threads[*thread].op_begin ? lo - 1 : MSIM_NONE;
}

static enum phase phase_of(const struct phases *a, uint32_t task, uint32_t op)
{
    uint32_t thread = op == MSIM_NONE ? MSIM_NONE : a->t->ops[op].thread;
    enum phase phase = op == MSIM_NONE ? UNKNOWN : (enum phase)a->of_op[op];

    if (op == MSIM_NONE)
        op = op_before(a, task, &thread);
    if (phase == UNKNOWN && thread != MSIM_NONE &&
        a->of_thread[thread] == BACKWARD)
        return BACKWARD;
    if (phase == UNKNOWN && op != MSIM_NONE)
        phase = (enum phase)a->of_op[op];
    return phase == UNKNOWN ? OTHER : phase;
}

static void add_tasks(struct phases *a, uint32_t main_lane)
{
    const struct msim_graph *g = a->g;
    uint32_t lane = MSIM_NONE;
    enum phase before = OTHER;

    for (uint32_t t = 0; t < g->n_tasks; t++) {
        msim_ps dur = a->f->o->mid.dur[t];
        double us = msim_us(dur);
        uint32_t op;

        if (g->refs[t].rank != a->rank || g->kind[t] == MSIM_TASK_JOIN)
            continue;
        op = msim_graph_around(g, t);
        if (g->kind[t] >= MSIM_TASK_KERNEL) {
            if (!msim_window_selected(g, g->window[t], a->f->iteration))
                continue;
            a->gpu[phase_of(a, t, op)] += us;
            spend(a, op, dur, 0);
            continue;
        }
        if (g->lane[t] != lane)
            before = OTHER;
        lane = g->lane[t];
        if (op != MSIM_NONE)
            before = phase_of(a, t, op);
        if ((g->kind[t] == MSIM_TASK_GAP && lane != main_lane) || us <= 0 ||
            msim_windows_at(&a->windows, a->rank, a->f->o->mid.start[t]) ==
                MSIM_NONE)
            continue;
        a->host[before] += us;
        spend(a, op, 0, dur);
    }
}

/* Did it begin in an iteration? Without marks or times all do. */
static bool in_step(const struct phases *a, uint32_t op)
{
    return !a->steps.n ||
           msim_windows_at(&a->steps, 0, a->t->ops[op].start) != MSIM_NONE;
}

static enum msim_status place_steps(struct phases *a)
{
    const struct msim_trace *t = a->t;

    MSIM_TRY(msim_windows_init(&a->steps, t->n_steps, 1));
    for (uint32_t i = 0; i < t->n_steps && t->has_times; i++)
        msim_windows_add(&a->steps, 0, i, t->steps[i].start,
                         t->steps[i].start + t->steps[i].dur);
    msim_windows_place(&a->steps);
    return MSIM_OK;
}

static void count_calls(struct phases *a)
{
    for (uint32_t i = 0; i < a->t->n_ops; i++)
        if (a->spent[i].mark == i && in_step(a, i))
            a->regions[a->region_of[a->t->ops[i].name]].calls++;
}

/* ---- the whole ----------------------------------------------------------- */

static int by_time(const void *a, const void *b)
{
    const struct msim_region_row *x = a, *y = b;

    if (x->gpu_us != y->gpu_us)
        return MSIM_ORDER(y->gpu_us, x->gpu_us);
    if (x->host_us != y->host_us)
        return MSIM_ORDER(y->host_us, x->host_us);
    return strcmp(x->name, y->name);
}

static const char *copy_of(struct msim_arena *arena, const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = msim_arena_alloc(arena, size);

    return copy ? memcpy(copy, text, size) : NULL;
}

static enum msim_status write_rows(struct phases *a, bool trains)
{
    static const char *const NAMES[] = {"", "forward", "backward", "optimizer",
                                        "other"};
    struct msim_prediction *p = a->f->p;
    uint32_t n_regions = msim_strtab_count(a->names);
    double n = msim_findings_windows(a->f, a->rank);

    p->phases = msim_arena_alloc(&p->arena, PHASES * sizeof(*p->phases));
    p->regions = msim_arena_alloc(&p->arena, n_regions * sizeof(*p->regions));
    if (!p->phases || !p->regions)
        return MSIM_ENOMEM;
    for (int i = FORWARD; i < PHASES && trains; i++)
        p->phases[p->n_phases++] = (struct msim_region_row){
            .name = NAMES[i],
            .calls = 1,
            .gpu_us = a->gpu[i] / n,
            .host_us = a->host[i] / n,
        };
    for (uint32_t i = 0; i < n_regions; i++) {
        struct msim_region_row r = a->regions[i];

        /* Of all iterations, whichever are selected. */
        r.calls /= a->g->n_iterations ? a->g->n_iterations : 1;
        r.gpu_us /= n;
        r.host_us /= n;
        if (!(r.gpu_us > 0 || r.host_us > 0))
            continue;
        r.name = copy_of(&p->arena, msim_strtab_text(a->names, i));
        if (!r.name)
            return MSIM_ENOMEM;
        p->regions[p->n_regions++] = r;
    }
    if (p->n_regions)
        qsort(p->regions, p->n_regions, sizeof(*p->regions), by_time);
    return MSIM_OK;
}

static enum msim_status take_memory(struct phases *a)
{
    size_t strings = (size_t)msim_strtab_count(a->g->job->strings) + 1;

    a->of_op = calloc((size_t)a->t->n_ops + 1, 1);
    a->of_thread = calloc((size_t)a->t->n_threads + 1, 1);
    a->name_says = calloc(strings, 1);
    a->region_of = malloc(strings * sizeof(*a->region_of));
    a->spent = calloc((size_t)a->t->n_ops + 1, sizeof(*a->spent));
    if (!a->of_op || !a->of_thread || !a->name_says || !a->region_of ||
        !a->spent)
        return MSIM_ENOMEM;
    memset(a->region_of, 0xff, strings * sizeof(*a->region_of));
    MSIM_TRY(msim_findings_place(&a->windows, a->f, a->rank));
    return place_steps(a);
}

static enum msim_status find_all(struct phases *a)
{
    uint32_t *main_lanes = msim_main_lanes(a->g);
    enum msim_status status = main_lanes ? take_memory(a) : MSIM_ENOMEM;
    bool trains = false;

    if (status == MSIM_OK)
        status = find_regions(a);
    if (status == MSIM_OK) {
        find_threads(a);
        trains = find_ops(a);
        add_tasks(a, main_lanes[a->rank]);
        count_calls(a);
        status = sum_regions(a);
    }
    if (status == MSIM_OK)
        status = write_rows(a, trains);
    free(main_lanes);
    return status;
}

enum msim_status msim_analyse_phases(const struct msim_findings *f,
                                     uint32_t rank)
{
    struct phases a = {
        .f = f, .g = f->g, .t = f->g->job->ranks[rank], .rank = rank};
    enum msim_status status = find_all(&a);

    free(a.of_op);
    free(a.of_thread);
    free(a.name_says);
    free(a.region_of);
    free(a.regions);
    free(a.spent);
    msim_strtab_free(a.names);
    msim_windows_release(&a.windows);
    msim_windows_release(&a.steps);
    return status;
}
