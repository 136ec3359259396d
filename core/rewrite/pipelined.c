/*
 * core/rewrite/pipelined.c - a recorded step as one stage of a pipeline runs
 * it.
 *
 * The micro batches of a step are the recorded passes up to an optimizer's
 * step, or so many times the last of them. Each goes through the places of the
 * stage (split/split.h) in the order of the schedule (core/pipeline), with
 * memory of its own:
 *
 *     recorded         F0 F1 F2 F3 B3 B2 B1 B0 step       four blocks
 *     stage 0 of 2     F0 F1 send  F0 F1 send  recv B1 B0  ...  step of 0, 1
 *     stage 1 of 2     recv F2 F3 B3 B2 send  ...  step of 2, 3
 *
 * Gradients are summed over micro batches as accumulate.c has it. What the
 * optimizer does with lists it does with those of the stage (split/split.h).
 *
 * One stage is a job whose recorded ranks stand once more for each data
 * parallel rank.
 */
#include "core/pipeline/pipeline_schedule.h"
#include "core/rewrite/rewrite_internal.h"
#include "core/rewrite/split/split.h"
#include "core/rewrite/weave/draft.h"
#include "core/trace/trace_columns.h"

#include <stdlib.h>
#include <string.h>

enum { AHEAD, BEHIND };

/* With another stage, one way. */
struct link {
    uint32_t group;
    int32_t place; /* the other's in the group */
    int64_t calls;
};

struct piping {
    struct msim_weave *w;
    const struct msim_split *how;
    struct msim_rank_layout layout;
    struct msim_pipeline shape;
    struct msim_places places;
    struct msim_owners owners;
    struct msim_pipeline_schedule schedule; /* of the step at hand */
    struct link links[2][2];                /* by end, then way */
    uint8_t *half;                          /* by operator */
    uint8_t *in;       /* by chunk and statement: the stage runs it */
    uint32_t *local;   /* by life: its number among those of its pass, NONE: it
                          is not made in one */
    uint32_t *pass;    /* by such a life: which */
    uint32_t *locals;  /* by pass: how many */
    uint32_t *first;   /* by life: the storage that a gradient stays in */
    uint32_t *base;    /* by micro batch: the storage of its life 0 */
    uint8_t *label;    /* by operator: a label that every pass has anew */
    uint32_t *turn_of; /* by such a label: the turn that it was opened in */
    uint32_t turn;
    struct msim_draft_place outer; /* where messages stand */
    uint32_t begin, end;           /* passes of the step at hand */
    uint32_t *start; /* by pass: its first statement behind the mark of its
                        step; what is before runs once */
};

/* ---- where steps begin ---------------------------------------------------
 */

/* The mark of the step that statement `s` is in, or NONE. */
static uint32_t mark_of(const struct msim_weave *w, uint32_t s)
{
    uint32_t op = w->a.rows[s].op;

    while ((op = w->t->ops[op].parent) != MSIM_NONE)
        if (msim_weave_begins(w, op, "ProfilerStep#"))
            return op;
    return MSIM_NONE;
}

/* A forward pass ends in the step that it is of. */
static void find_starts(struct piping *c)
{
    const struct msim_weave *w = c->w;

    for (uint32_t p = 0; p < w->a.n_passes; p++) {
        uint32_t s = w->a.passes[p].backward, first = w->a.passes[p].forward;
        uint32_t mark = s > first ? mark_of(w, s - 1) : MSIM_NONE;

        while (s > first && mark_of(w, s - 1) == mark)
            s--;
        c->start[p] = s;
    }
}

/* Does every micro batch run statement `s`? */
static bool is_in_pass(const struct piping *c, uint32_t s)
{
    const struct msim_anatomy_statement *row = &c->w->a.rows[s];

    return row->pass != MSIM_NONE && row->role <= MSIM_ANATOMY_BACKWARD &&
           s >= c->start[row->pass];
}

static bool is_of_optimizer(const struct msim_weave *w, uint32_t from,
                            uint32_t to)
{
    for (uint32_t s = from; s < to; s++)
        if (w->a.rows[s].role == MSIM_ANATOMY_OPTIMIZER)
            return true;
    return false;
}

/* Does pass `p` begin a step? */
static bool begins_step(const struct piping *c, uint32_t p)
{
    const struct msim_weave *w = c->w;

    return p == 0 || mark_of(w, c->start[p]) != mark_of(w, c->start[p - 1]) ||
           is_of_optimizer(w, w->a.passes[p - 1].tail, c->start[p]);
}

/* ---- labels --------------------------------------------------------------
 */

/* Does all that is below label `op` belong to forward, or to backward, of one
 * pass? A label of steps holds more than it has. */
static bool is_of_pass(const struct msim_weave *w, uint32_t op)
{
    uint32_t first = MSIM_NONE;

    if (msim_weave_begins(w, op, "ProfilerStep#"))
        return false;
    for (uint32_t i = op + 1; i < w->t->ops[op].end; i++) {
        uint32_t s = w->a.statement[i];

        if (s == MSIM_NONE)
            continue;
        if (first == MSIM_NONE)
            first = s;
        if (w->a.rows[s].pass == MSIM_NONE ||
            w->a.rows[s].pass != w->a.rows[first].pass ||
            w->a.rows[s].role != w->a.rows[first].role ||
            w->a.rows[s].role > MSIM_ANATOMY_BACKWARD)
            return false;
    }
    return first != MSIM_NONE;
}

static void find_labels(struct piping *c)
{
    const struct msim_weave *w = c->w;

    for (uint32_t i = 0; i < w->t->n_ops; i++) {
        uint32_t parent = w->t->ops[i].parent;

        if (msim_op_topmost(w->t, i) != MSIM_NONE)
            continue;
        c->label[i] =
            is_of_pass(w, i) || (parent != MSIM_NONE && c->label[parent]);
    }
}

static enum msim_status open_labels(struct piping *c, uint32_t op)
{
    struct msim_draft *d = &c->w->d;
    uint32_t parent = c->w->t->ops[op].parent;

    if (parent == MSIM_NONE || !c->label[parent] ||
        c->turn_of[parent] == c->turn)
        return MSIM_OK;
    MSIM_TRY(open_labels(c, parent));
    c->turn_of[parent] = c->turn;
    return msim_draft_copy(
        d, parent,
        &(struct msim_draft_how){.at = msim_draft_own_place(d, parent)});
}

/* ---- memory of micro batches ---------------------------------------------
 */

/* The statement of a pass that operator `op` is in, or NONE. */
static uint32_t statement_of(const struct piping *c, uint32_t op)
{
    const struct msim_weave *w = c->w;
    uint32_t top = op == MSIM_NONE ? MSIM_NONE : msim_op_topmost(w->t, op);
    uint32_t s = top == MSIM_NONE ? MSIM_NONE : w->a.statement[top];

    return s != MSIM_NONE && is_in_pass(c, s) ? s : MSIM_NONE;
}

static uint32_t pass_of(const struct piping *c, uint32_t s)
{
    return s == MSIM_NONE ? MSIM_NONE : c->w->a.rows[s].pass;
}

/* Made in a pass; or memory that no operator was seen to take, and that
 * backward of one pass alone names. */
static uint32_t pass_of_life(const struct piping *c, uint32_t life)
{
    const struct msim_weave *w = c->w;
    const struct msim_life *l = &w->d.lives.rows[life];
    uint32_t first = statement_of(c, l->first);

    if (l->born != MSIM_NONE)
        return pass_of(c, statement_of(c, l->born));
    return w->kind[life] == MSIM_LIFE_OTHER && first != MSIM_NONE &&
                   w->a.rows[first].role == MSIM_ANATOMY_BACKWARD &&
                   pass_of(c, first) == pass_of(c, statement_of(c, l->last))
               ? pass_of(c, first)
               : MSIM_NONE;
}

static void find_locals(struct piping *c)
{
    for (uint32_t i = 0; i < c->w->d.lives.n; i++) {
        uint32_t pass = pass_of_life(c, i);

        c->first[i] = c->w->d.storage[i];
        c->local[i] = pass == MSIM_NONE ? MSIM_NONE : c->locals[pass]++;
        c->pass[i] = pass;
    }
}

/* The recorded pass that micro batch `batch` is like. */
static uint32_t like(const struct piping *c, uint32_t batch)
{
    uint32_t n = c->end - c->begin;

    return c->begin + (batch < n ? batch : n - 1);
}

/* From now on copies are of that micro batch. */
static void put_batch(struct piping *c, uint32_t batch)
{
    struct msim_weave *w = c->w;
    uint32_t pass = like(c, batch);

    for (uint32_t i = 0; i < w->d.lives.n; i++)
        if (c->pass[i] == pass)
            w->d.storage[i] = w->kind[i] == MSIM_LIFE_GRADIENT && batch == 0
                                  ? c->first[i]
                                  : c->base[batch] + c->local[i];
    msim_tied_put(&c->places, pass, batch);
}

static void put_back(struct piping *c)
{
    for (uint32_t i = 0; i < c->w->d.lives.n; i++)
        if (c->w->kind[i] == MSIM_LIFE_GRADIENT)
            c->w->d.storage[i] = c->first[i];
}

/* ---- passes --------------------------------------------------------------
 */

/* The operators of statement `s` that are of one half. */
static enum msim_status copy_half(struct piping *c, uint32_t s, uint8_t half)
{
    struct msim_weave *w = c->w;

    for (uint32_t i = w->a.rows[s].op; i < msim_anatomy_end(&w->a, s); i++)
        if (c->half[i] & half)
            MSIM_TRY(
                msim_draft_copy(&w->d, i,
                                &(struct msim_draft_how){
                                    .at = msim_draft_own_place(&w->d, i)}));
    return MSIM_OK;
}

static bool has_half(const struct piping *c, uint32_t s, uint8_t half)
{
    return c->half[c->w->a.rows[s].op] & half;
}

static enum msim_status run_statement(struct piping *c, uint32_t s,
                                      uint32_t batch, uint8_t half)
{
    struct msim_weave *w = c->w;

    if (!has_half(c, s, half) || msim_tied_leaves_out(&c->places, s))
        return MSIM_OK;
    MSIM_TRY(open_labels(c, w->a.rows[s].op));
    if (batch && w->gradient[s] != MSIM_NONE && msim_weave_makes_gradient(w, s))
        return msim_weave_add_up(w, s, c->first[w->gradient[s]]);
    MSIM_TRY(copy_half(c, s, half));
    return half & MSIM_HALF_WEIGHTS ? msim_tied_add(&c->places, s, batch)
                                    : MSIM_OK;
}

static enum msim_status run_turn(struct piping *c, const struct msim_turn *t)
{
    const struct msim_anatomy_pass *p = &c->w->a.passes[like(c, t->batch)];
    const uint8_t *in = c->in + (size_t)t->chunk * c->w->a.n;
    uint32_t s = t->back ? p->backward : c->start[like(c, t->batch)];
    uint32_t end = t->back ? p->tail : p->backward;
    uint8_t half = !c->shape.split                ? MSIM_HALF_BOTH
                   : t->kind == MSIM_TURN_WEIGHTS ? MSIM_HALF_WEIGHTS
                                                  : MSIM_HALF_INPUTS;

    c->turn++;
    for (; s < end; s++)
        if (in[s])
            MSIM_TRY(
                run_statement(c, s, t->batch, t->back ? half : MSIM_HALF_BOTH));
    return MSIM_OK;
}

/* ---- messages ------------------------------------------------------------
 */

static enum msim_status message(struct piping *c, struct link *link, bool send,
                                const struct msim_crossing *x)
{
    struct msim_draft *d = &c->w->d;
    const int64_t *dims = &c->w->t->dims[x->dims];
    struct msim_draft_tensor what = {.dtype = x->dtype,
                                     .device = x->device,
                                     .n = x->n_dims,
                                     .storage = d->storage[x->life],
                                     .dims = dims};
    struct msim_comm comm = {.in_elems = 1,
                             .sequence = link->calls++,
                             .peer = link->place,
                             .group = link->group,
                             .op = MSIM_NONE,
                             .collective =
                                 send ? MSIM_COLL_SEND : MSIM_COLL_RECV,
                             .dtype = x->dtype,
                             .by_place = true};
    struct msim_draft_op op = {
        .name = "aten::empty", .at = c->outer, .out = &what, .n_out = 1};

    for (uint32_t i = 0; i < x->n_dims; i++)
        comm.in_elems *= (uint64_t)dims[i];
    comm.out_elems = comm.in_elems;
    if (!send)
        MSIM_TRY(msim_draft_add(d, &op, NULL));
    op = (struct msim_draft_op){
        .at = c->outer, .in = &what, .n_in = 1, .comm = &comm};
    MSIM_TRY(msim_emit_recorded(d, op, send ? "nccl:send" : "nccl:recv"));
    if (send)
        return MSIM_OK;
    d->group = link->group;
    MSIM_TRY(msim_emit_recorded_wait(d, c->outer, comm.sequence));
    d->group = MSIM_NONE;
    return MSIM_OK;
}

static enum msim_status transfer(struct piping *c, const struct msim_turn *t)
{
    bool send = t->kind == MSIM_TURN_SEND;
    struct link *link = &c->links[send != t->back ? AHEAD : BEHIND][t->back];
    uint32_t from = t->chunk * c->layout.stages + c->layout.stage;

    if (!send)
        from = t->back ? from + 1 : from - 1;
    for (uint32_t i = 0; i < c->places.n_crossings; i++) {
        const struct msim_crossing *x = &c->places.crossings[i];

        if (x->pass == like(c, t->batch) && x->back == t->back &&
            msim_crossing_leaves(x, from))
            MSIM_TRY(message(c, link, send, x));
    }
    return MSIM_OK;
}

static enum msim_status find_links(struct piping *c)
{
    static const char *const KINDS[2][2] = {
        {"pipeline forward", "pipeline backward"},
        {"pipeline forward around", "pipeline backward around"}};
    uint32_t n = c->layout.stages, stage = c->layout.stage;

    for (int end = AHEAD; end <= BEHIND; end++)
        for (int way = 0; way < 2; way++) {
            bool around = end == AHEAD ? stage + 1 == n : stage == 0;
            uint32_t other = (stage + (end == AHEAD ? 1 : n - 1)) % n;

            if (n > 1 && (!around || c->shape.chunks > 1))
                MSIM_TRY(msim_rank_groups_pair(
                    c->w, &c->layout, KINDS[around][way], other,
                    &c->links[end][way].group, &c->links[end][way].place));
        }
    return MSIM_OK;
}

/* ---- a step --------------------------------------------------------------
 */

static uint32_t batches_of(const struct piping *c)
{
    return c->how->micro_batches ? c->how->micro_batches : c->end - c->begin;
}

static enum msim_status check_batches(const struct piping *c, uint32_t n)
{
    if (c->shape.chunks == 1 || n % c->shape.stages == 0)
        return MSIM_OK;
    return msim_weave_refuse(c->w,
                             "parallel: %u micro batches with vp %u are no "
                             "multiple of pp, which is %u",
                             n, c->shape.chunks, c->shape.stages);
}

/* Where messages stand: outside of all that passes have anew. */
static void find_outer(struct piping *c)
{
    const struct msim_weave *w = c->w;
    uint32_t op = w->a.rows[c->start[c->begin]].op;
    uint32_t parent = w->t->ops[op].parent;

    while (parent != MSIM_NONE && c->label[parent])
        parent = w->t->ops[parent].parent;
    c->outer = (struct msim_draft_place){
        parent == MSIM_NONE ? MSIM_NONE : w->d.placed[parent],
        w->t->ops[op].thread};
}

static enum msim_status run_turns(struct piping *c)
{
    bool trains =
        c->w->a.passes[c->begin].tail > c->w->a.passes[c->begin].backward;

    for (uint32_t i = 0; i < c->schedule.n; i++) {
        const struct msim_turn *t = &c->schedule.turns[i];

        if (t->back && !trains)
            continue;
        put_batch(c, t->batch);
        MSIM_TRY(t->kind == MSIM_TURN_SEND || t->kind == MSIM_TURN_RECEIVE
                     ? transfer(c, t)
                     : run_turn(c, t));
    }
    put_back(c);
    return msim_tied_reduce(&c->places, &c->layout, c->outer);
}

static enum msim_status run_step(struct piping *c)
{
    uint32_t n = batches_of(c);
    enum msim_status status;

    MSIM_TRY(check_batches(c, n));
    find_outer(c);
    c->shape.batches = n;
    c->base = malloc(((size_t)n + 1) * sizeof(*c->base));
    if (!c->base)
        return MSIM_ENOMEM;
    for (uint32_t i = 0; i < n; i++)
        c->base[i] = msim_draft_fresh_run(&c->w->d, c->locals[like(c, i)]);
    status =
        msim_pipeline_schedule_make(&c->schedule, &c->shape, c->layout.stage);
    if (status == MSIM_OK)
        status = run_turns(c);
    msim_pipeline_schedule_release(&c->schedule);
    free(c->base);
    return status;
}

/* ---- all steps -----------------------------------------------------------
 */

static enum msim_status visit(void *ctx, uint32_t s)
{
    struct piping *c = ctx;
    uint32_t pass = c->w->a.rows[s].pass;

    if (!is_in_pass(c, s))
        return msim_owners_copy(&c->owners, s, c->layout.stages,
                                c->layout.stage);
    if (s != c->start[pass] || !begins_step(c, pass))
        return MSIM_OK;
    c->begin = pass;
    c->end = pass + 1;
    while (c->end < c->w->a.n_passes && !begins_step(c, c->end))
        c->end++;
    return run_step(c);
}

static enum msim_status walk(struct piping *c)
{
    struct msim_weave *w = c->w;

    for (uint32_t k = 0; k < w->t->n_ops; k++) {
        uint32_t op = w->a.order[k], top = msim_op_topmost(w->t, op);

        if (top == op)
            MSIM_TRY(visit(c, w->a.statement[op]));
        else if (top == MSIM_NONE && !c->label[op])
            MSIM_TRY(
                msim_draft_copy(&w->d, op,
                                &(struct msim_draft_how){
                                    .at = msim_draft_own_place(&w->d, op)}));
    }
    return MSIM_OK;
}

/* ---- from beginning to end -----------------------------------------------
 */

static void mark(struct piping *c)
{
    for (uint32_t chunk = 0; chunk < c->shape.chunks; chunk++)
        for (uint32_t p = 0; p < c->w->a.n_passes; p++)
            msim_places_mark(&c->places,
                             chunk * c->layout.stages + c->layout.stage, p,
                             c->in + (size_t)chunk * c->w->a.n);
}

static enum msim_status take_memory(struct piping *c)
{
    size_t ops = (size_t)c->w->t->n_ops + 1;
    size_t lives = (size_t)c->w->d.lives.n + 1;

    c->half = malloc(ops);
    c->in = calloc((size_t)c->shape.chunks * c->w->a.n + 1, 1);
    c->local = malloc(lives * sizeof(*c->local));
    c->pass = malloc(lives * sizeof(*c->pass));
    c->first = malloc(lives * sizeof(*c->first));
    c->locals = calloc((size_t)c->w->a.n_passes + 1, sizeof(*c->locals));
    c->start = calloc((size_t)c->w->a.n_passes + 1, sizeof(*c->start));
    c->label = calloc(ops, 1);
    c->turn_of = calloc(ops, sizeof(*c->turn_of));
    return c->half && c->in && c->local && c->pass && c->first && c->locals &&
                   c->start && c->label && c->turn_of
               ? MSIM_OK
               : MSIM_ENOMEM;
}

static enum msim_status open(struct piping *c, const struct msim_rewrite *r)
{
    if ((c->how->pp > 1 || c->how->micro_batches) && msim_has_messages(c->w->t))
        return msim_weave_refuse(
            c->w, "parallel: the trace is of one stage of a pipeline already "
                  "(it sends and receives); want one of all layers");
    if (r->shard > MSIM_SHARD_ZERO1)
        return msim_weave_refuse(
            c->w, "parallel: stages whose copies share out parameters are not "
                  "known; want \"shard\": \"ddp\" or \"zero1\"");
    MSIM_TRY(take_memory(c));
    MSIM_TRY(msim_places_find(&c->places, c->w, c->layout.stages,
                              c->shape.chunks, c->how->blocks));
    MSIM_TRY(msim_tied_find(&c->places));
    MSIM_TRY(msim_tied_begin(&c->places, &c->layout));
    MSIM_TRY(msim_owners_find(&c->owners, &c->places));
    MSIM_TRY(msim_halves_find(c->w, c->half));
    MSIM_TRY(msim_rank_groups_begin(c->w, &c->layout));
    MSIM_TRY(find_links(c));
    find_starts(c);
    find_labels(c);
    find_locals(c);
    mark(c);
    return MSIM_OK;
}

static void release(struct piping *c)
{
    msim_places_release(&c->places);
    msim_owners_release(&c->owners);
    free(c->half);
    free(c->in);
    free(c->local);
    free(c->pass);
    free(c->first);
    free(c->locals);
    free(c->start);
    free(c->label);
    free(c->turn_of);
}

static uint32_t at_least_one(uint32_t n)
{
    return n ? n : 1;
}

enum msim_status msim_stage_pipeline(struct msim_weave *w,
                                     const struct msim_rewrite *r)
{
    const struct msim_split *how = &r->parallel;
    struct piping c = {.w = w,
                       .how = how,
                       .layout = {at_least_one(how->recorded),
                                  at_least_one(how->dp) * at_least_one(how->cp),
                                  at_least_one(how->pp), how->stage},
                       .shape = {.stages = at_least_one(how->pp),
                                 .chunks = at_least_one(how->vp),
                                 .split = how->order == MSIM_TURNS_ZERO_BUBBLE,
                                 .gpipe = how->order == MSIM_TURNS_GPIPE}};
    enum msim_status status = open(&c, r);

    if (status == MSIM_OK)
        status = walk(&c);
    if (status == MSIM_OK)
        status = msim_rank_groups_end(w, &c.layout);
    release(&c);
    return status;
}
