/*
 * core/rewrite/split/whole.c - stages as one rank.
 *
 * A run is what a stage does of one micro batch one way, between two messages.
 * The k-th one forward is of micro batch k, and so is the k-th one back, which
 * is checked by what it reads.
 */
#include "core/rewrite/split/split.h"

#include "core/rewrite/split/split_internal.h"
#include "core/rewrite/weave/draft.h"
#include "core/trace/trace_columns.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* What a statement is. */
enum part { BEFORE, FORWARD, BACKWARD, BEHIND, LEFT_OUT };

struct stage {
    const struct msim_trace *t;
    uint32_t first, end;    /* operators of all stages' trace */
    uint32_t begin, behind; /* statements */
    uint32_t runs[BEHIND];  /* how many, FORWARD and BACKWARD */
    uint32_t next[BEHIND];  /* the statement behind the last run that was put */
};

struct joining {
    struct msim_error *err;
    struct stage *stages; /* in order */
    uint32_t n;
    const struct msim_trace **ts;
    uint32_t *firsts;
    struct msim_trace *all;
    struct msim_weave w;
    struct msim_merged m;
    uint8_t *part;    /* by statement: enum part */
    uint32_t *run;    /* by statement: which one of its stage and way */
    uint8_t *message; /* by life: it is received */
    uint8_t *holds;   /* by operator: what is below that label */
    uint32_t *list;   /* statements of a region, stage after stage */
};

/* Why they are no one rank. Returns EUSAGE. */
MSIM_PRINTF(2, 3)
static enum msim_status refuse(struct joining *c, const char *fmt, ...)
{
    char text[256];
    va_list args;

    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    return msim_fail(c->err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                     "parallel.pp is 1: %s", text);
}

/* ---- stages in order -----------------------------------------------------
 */

/* The stage of rank `rank`, or NONE. */
static uint32_t stage_of(const struct joining *c, int64_t rank)
{
    for (uint32_t k = 0; k < c->n; k++)
        if (c->stages[k].t->rank == rank)
            return k;
    return MSIM_NONE;
}

/* The rank that the first message of `t` comes from, -1: it sends first. */
static int64_t before(const struct msim_trace *t)
{
    struct msim_message m;

    for (uint32_t i = 0; i < t->n_comms; i++)
        if (msim_message_of(t, &t->comms[i], &m))
            return m.to == t->rank ? m.from : -1;
    return -1;
}

uint32_t msim_whole_stages(const struct msim_trace *const *ts, uint32_t n)
{
    int64_t last = -1;

    for (uint32_t k = 0; k < n; k++) {
        uint32_t i = 0;

        while (i < n && (before(ts[i]) != last || !msim_has_messages(ts[i])))
            i++;
        if (i == n)
            return k;
        last = ts[i]->rank;
    }
    return n;
}

static enum msim_status order_stages(struct joining *c)
{
    for (uint32_t k = 0; k < c->n; k++) {
        uint32_t i = k;

        while (i < c->n &&
               before(c->stages[i].t) != (k ? c->stages[k - 1].t->rank : -1))
            i++;
        if (i == c->n && !k)
            return refuse(c,
                          "none of %u traces begins with a message to another "
                          "stage; want those of all stages",
                          c->n);
        if (i == c->n)
            return refuse(c,
                          "%u traces are there, and none is of the stage "
                          "behind that of rank %lld; want those of all stages",
                          c->n, (long long)c->stages[k - 1].t->rank);
        if (i != k) {
            struct stage x = c->stages[i];

            c->stages[i] = c->stages[k];
            c->stages[k] = x;
        }
    }
    return MSIM_OK;
}

/* Messages go to neighbours that are there, and nothing else is exchanged. */
static enum msim_status check_comms(struct joining *c, uint32_t k)
{
    const struct msim_trace *t = c->stages[k].t;

    for (uint32_t i = 0; i < t->n_comms; i++) {
        struct msim_message m;
        uint32_t other;

        if (t->comms[i].collective == MSIM_COLL_WAIT)
            continue;
        if (!msim_message_of(t, &t->comms[i], &m))
            return refuse(c,
                          "rank %lld exchanges more than messages of stages "
                          "(tensor parallel ranks, copies, or a table that "
                          "two stages share); want stages of one rank each",
                          (long long)t->rank);
        other = stage_of(c, m.to == t->rank ? m.from : m.to);
        if (other == MSIM_NONE)
            return refuse(c,
                          "no trace is of the stage of rank %lld, which "
                          "exchanges messages with rank %lld; want those of "
                          "all stages",
                          (long long)(m.to == t->rank ? m.from : m.to),
                          (long long)t->rank);
        if (other + 1 != k && other != k + 1)
            return refuse(c,
                          "ranks %lld and %lld exchange messages around the "
                          "pipeline, as stages of several chunks (vp) do; "
                          "want one chunk each",
                          (long long)m.from, (long long)m.to);
    }
    return MSIM_OK;
}

static enum msim_status find_stages(struct joining *c,
                                    const struct msim_trace *const *ts)
{
    for (uint32_t k = 0; k < c->n; k++)
        c->stages[k].t = ts[k];
    MSIM_TRY(order_stages(c));
    for (uint32_t k = 0; k < c->n; k++) {
        MSIM_TRY(check_comms(c, k));
        c->ts[k] = c->stages[k].t;
    }
    return MSIM_OK;
}

/* ---- statements to runs --------------------------------------------------
 */

static uint32_t comm_of(const struct joining *c, uint32_t op)
{
    return c->all->ops[op].comm;
}

/* The tensor of a message. */
static uint32_t life_of(const struct joining *c, uint32_t op)
{
    struct msim_lives_each e = msim_lives_inputs(&c->w.d.lives, c->all, op);

    return msim_lives_next(&e) ? e.life : MSIM_NONE;
}

/* Labels that have messages, backward, or a product that is not backward. */
#define HOLDS_MESSAGE  1
#define HOLDS_BACKWARD 2
#define HOLDS_PRODUCT  4

static void mark_messages(struct joining *c)
{
    for (uint32_t i = 0; i < c->all->n_comms; i++) {
        const struct msim_comm *m = &c->all->comms[i];
        uint32_t life = m->op == MSIM_NONE || !msim_is_message(m->collective)
                            ? MSIM_NONE
                            : life_of(c, m->op);

        if (life != MSIM_NONE && m->collective == MSIM_COLL_RECV)
            c->message[life] = 1;
        for (uint32_t op = m->op; op != MSIM_NONE; op = c->all->ops[op].parent)
            c->holds[op] |= HOLDS_MESSAGE;
    }
}

/* Messages, and what makes room for one; groups are listed no more. */
static bool is_left_out(const struct joining *c, uint32_t s)
{
    const struct msim_weave *w = &c->w;
    uint32_t first = w->a.rows[s].op;
    struct msim_lives_each e = msim_lives_outputs(&w->d.lives, c->all, first);

    if (msim_weave_begins(w, first, "## process_group:init"))
        return true;
    for (uint32_t i = first; i < msim_anatomy_end(&w->a, s); i++)
        if (comm_of(c, i) != MSIM_NONE)
            return true;
    return msim_weave_begins(w, first, "aten::empty") && msim_lives_next(&e) &&
           e.life != MSIM_NONE && c->message[e.life];
}

static bool is_in_step(const struct joining *c, uint32_t s)
{
    uint32_t op = c->w.a.rows[s].op;

    while ((op = c->all->ops[op].parent) != MSIM_NONE)
        if (msim_weave_begins(&c->w, op, "ProfilerStep#"))
            return true;
    return false;
}

static bool has_product(const struct joining *c, uint32_t s)
{
    const struct msim_anatomy *a = &c->w.a;

    for (uint32_t i = a->rows[s].op; i < msim_anatomy_end(a, s); i++)
        if (msim_places_is_product(&c->w, i))
            return true;
    return false;
}

/* Does autograd run it? */
static bool is_backward(const struct joining *c, uint32_t s)
{
    const struct msim_anatomy *a = &c->w.a;

    for (uint32_t i = a->rows[s].op; i < msim_anatomy_end(a, s); i++)
        if (c->all->ops[i].scope == 1)
            return true;
    return msim_weave_begins(&c->w, a->rows[s].op, MSIM_EMIT_BACKWARD);
}

static void mark_labels(struct joining *c)
{
    const struct msim_anatomy *a = &c->w.a;

    for (uint32_t s = 0; s < a->n; s++) {
        uint32_t label = c->all->ops[a->rows[s].op].parent;

        if (label == MSIM_NONE)
            continue;
        if (is_backward(c, s))
            c->holds[label] |= HOLDS_BACKWARD;
        else if (has_product(c, s))
            c->holds[label] |= HOLDS_PRODUCT;
    }
}

/* Gradients are summed before and behind what autograd runs: the label around
 * all of backward tells. */
static enum part part_of(const struct joining *c, uint32_t s)
{
    uint32_t label = c->all->ops[c->w.a.rows[s].op].parent;

    return is_backward(c, s) ||
                   (label != MSIM_NONE && c->holds[label] == HOLDS_BACKWARD)
               ? BACKWARD
               : FORWARD;
}

/* Statements are in the order of stages, and of these in that of entry. */
static void find_statements(struct joining *c, struct stage *x)
{
    const struct msim_anatomy *a = &c->w.a;

    while (x->begin < a->n && a->rows[x->begin].op < x->first)
        x->begin++;
    x->behind = x->begin;
    while (x->behind < a->n && a->rows[x->behind].op < x->end)
        x->behind++;
    x->next[FORWARD] = x->next[BACKWARD] = x->begin;
}

/* Passes are from the mark of a step to the end of the last backward one. */
static void find_ends(const struct joining *c, const struct stage *x,
                      uint32_t *from, uint32_t *to)
{
    *from = *to = x->begin;
    for (uint32_t s = x->behind; s-- > x->begin;)
        if (is_in_step(c, s))
            *from = s;
    for (uint32_t s = x->begin; s < x->behind; s++)
        if (!is_left_out(c, s) && part_of(c, s) == BACKWARD)
            *to = s + 1;
    while (*from < *to && c->w.a.rows[*from].role == MSIM_ANATOMY_OPTIMIZER)
        ++*from; /* gradients are cleared */
}

static void find_runs(struct joining *c, struct stage *x)
{
    uint32_t from, to;
    bool apart = true;
    enum part last = BEFORE;

    find_statements(c, x);
    find_ends(c, x, &from, &to);
    for (uint32_t s = x->begin; s < x->behind; s++) {
        if (is_left_out(c, s)) {
            c->part[s] = LEFT_OUT;
            apart = true;
            continue;
        }
        c->part[s] = (uint8_t)(s < from ? BEFORE
                               : s < to ? part_of(c, s)
                                        : BEHIND);
        if (s < from || s >= to)
            continue;
        if (apart || c->part[s] != last)
            x->runs[c->part[s]]++;
        apart = false;
        last = c->part[s];
        c->run[s] = x->runs[last] - 1;
    }
}

/* Backward of a micro batch reads what forward of the same made. */
static enum msim_status check_runs(struct joining *c, const struct stage *x)
{
    const struct msim_weave *w = &c->w;

    if (x->runs[FORWARD] != x->runs[BACKWARD] ||
        x->runs[FORWARD] != c->stages[0].runs[FORWARD])
        return refuse(c,
                      "between messages a stage has %u pieces of forward "
                      "and %u of backward; want one of each a micro batch "
                      "(1f1b, gpipe)",
                      x->runs[FORWARD], x->runs[BACKWARD]);
    for (uint32_t s = x->begin; s < x->behind; s++)
        for (uint32_t i = w->a.rows[s].op;
             c->part[s] == BACKWARD && i < msim_anatomy_end(&w->a, s); i++) {
            struct msim_lives_each e = msim_lives_inputs(&w->d.lives, w->t, i);

            while (msim_lives_next(&e)) {
                uint32_t born = e.life == MSIM_NONE
                                    ? MSIM_NONE
                                    : w->d.lives.rows[e.life].born;
                uint32_t top =
                    born == MSIM_NONE ? MSIM_NONE : msim_op_topmost(w->t, born);
                uint32_t maker =
                    top == MSIM_NONE ? MSIM_NONE : w->a.statement[top];

                if (maker != MSIM_NONE && c->part[maker] == FORWARD &&
                    c->run[maker] != c->run[s])
                    return refuse(c,
                                  "backward of micro batch %u reads what "
                                  "forward of %u made; want them in order",
                                  c->run[s], c->run[maker]);
            }
        }
    return MSIM_OK;
}

/* ---- messages ------------------------------------------------------------
 */

/* The next message between stages k and k + 1 that goes up, or down, at or
 * after `i`, as stage `at` of both records it; NONE. */
static uint32_t next_message(const struct joining *c, uint32_t at,
                             enum msim_collective way, int64_t other,
                             uint32_t *i)
{
    const struct stage *x = &c->stages[at];
    struct msim_message m;

    for (; *i < x->t->n_comms; ++*i) {
        const struct msim_comm *comm = &x->t->comms[*i];

        if (comm->collective != way || comm->op == MSIM_NONE ||
            !msim_message_of(x->t, comm, &m) ||
            (way == MSIM_COLL_SEND ? m.to : m.from) != other)
            continue;
        return x->first + x->t->comms[(*i)++].op;
    }
    return MSIM_NONE;
}

/* What stage `to` receives is what stage `from` sends. */
static enum msim_status tie(struct joining *c, uint32_t from, uint32_t to)
{
    uint32_t i = 0, j = 0, *storage = c->w.d.storage;

    for (;;) {
        uint32_t sent =
            next_message(c, from, MSIM_COLL_SEND, c->stages[to].t->rank, &i);
        uint32_t given =
            next_message(c, to, MSIM_COLL_RECV, c->stages[from].t->rank, &j);

        if (sent == MSIM_NONE && given == MSIM_NONE)
            return MSIM_OK;
        if (sent == MSIM_NONE || given == MSIM_NONE ||
            life_of(c, sent) == MSIM_NONE || life_of(c, given) == MSIM_NONE)
            return refuse(c,
                          "messages from rank %lld to rank %lld are not those "
                          "that it receives, or have no ids of tensors",
                          (long long)c->stages[from].t->rank,
                          (long long)c->stages[to].t->rank);
        storage[life_of(c, given)] = storage[life_of(c, sent)];
    }
}

static enum msim_status tie_all(struct joining *c)
{
    for (uint32_t k = 0; k + 1 < c->n; k++)
        MSIM_TRY(tie(c, k, k + 1));
    for (uint32_t k = c->n - 1; k > 0; k--)
        MSIM_TRY(tie(c, k, k - 1));
    return MSIM_OK;
}

/* ---- the step ------------------------------------------------------------
 */

static enum msim_status put_run(struct joining *c, struct stage *x,
                                enum part part, uint32_t run)
{
    uint32_t *s = &x->next[part];

    for (; *s < x->behind && (c->part[*s] != part || c->run[*s] <= run); ++*s)
        if (c->part[*s] == part)
            MSIM_TRY(msim_merged_copy(&c->m, *s));
    return MSIM_OK;
}

/* What all stages do before their passes, or behind them: side by side where
 * they have as many statements. */
static enum msim_status put_region(struct joining *c, enum part part)
{
    uint32_t n = 0, first = 0;
    bool even = true;

    for (uint32_t k = 0; k < c->n; k++) {
        uint32_t begin = n;

        for (uint32_t s = c->stages[k].begin; s < c->stages[k].behind; s++)
            if (c->part[s] == part)
                c->list[n++] = s;
        if (k == 0)
            first = n;
        even &= n - begin == first;
    }
    return msim_merged_region(&c->m, c->list, even ? first : n,
                              even ? c->n : 1);
}

static enum msim_status put_all(struct joining *c)
{
    MSIM_TRY(put_region(c, BEFORE));
    for (uint32_t b = 0; b < c->stages[0].runs[FORWARD]; b++) {
        msim_merged_anew(&c->m);
        for (uint32_t k = 0; k < c->n; k++)
            MSIM_TRY(put_run(c, &c->stages[k], FORWARD, b));
        for (uint32_t k = c->n; k-- > 0;)
            MSIM_TRY(put_run(c, &c->stages[k], BACKWARD, b));
    }
    return put_region(c, BEHIND);
}

/* ---- from beginning to end -----------------------------------------------
 */

static enum msim_status take_memory(struct joining *c)
{
    size_t n = (size_t)c->w.a.n + 1;

    c->part = calloc(n, 1);
    c->run = calloc(n, sizeof(*c->run));
    c->list = calloc(n, sizeof(*c->list));
    c->message = calloc((size_t)c->w.d.lives.n + 1, 1);
    c->holds = calloc((size_t)c->all->n_ops + 1, 1);
    return c->part && c->run && c->list && c->message && c->holds ? MSIM_OK
                                                                  : MSIM_ENOMEM;
}

static enum msim_status join(struct joining *c,
                             const struct msim_trace *const *ts,
                             struct msim_strtab *strings,
                             struct msim_trace **out)
{
    MSIM_TRY(find_stages(c, ts));
    MSIM_TRY(msim_lined_up_new(&c->all, c->firsts, c->ts, c->n));
    MSIM_TRY(msim_weave_open(&c->w, c->all, strings, c->err));
    MSIM_TRY(take_memory(c));
    mark_messages(c);
    mark_labels(c);
    for (uint32_t k = 0; k < c->n; k++) {
        c->stages[k].first = c->firsts[k];
        c->stages[k].end = c->firsts[k + 1];
        find_runs(c, &c->stages[k]);
    }
    for (uint32_t k = 0; k < c->n; k++)
        MSIM_TRY(check_runs(c, &c->stages[k]));
    MSIM_TRY(tie_all(c));
    MSIM_TRY(msim_merged_open(&c->m, &c->w, c->n));
    MSIM_TRY(put_all(c));
    return msim_weave_finish(&c->w, out);
}

enum msim_status msim_whole_new(struct msim_trace **out,
                                const struct msim_trace *const *ts, uint32_t n,
                                struct msim_strtab *strings,
                                struct msim_error *err)
{
    struct joining c = {.err = err,
                        .n = n,
                        .stages = calloc((size_t)n + 1, sizeof(*c.stages)),
                        .ts = calloc((size_t)n + 1, sizeof(*c.ts)),
                        .firsts = calloc((size_t)n + 1, sizeof(*c.firsts))};
    enum msim_status status =
        c.stages && c.ts && c.firsts ? join(&c, ts, strings, out) : MSIM_ENOMEM;

    if (status != MSIM_OK)
        *out = NULL;
    msim_merged_close(&c.m);
    msim_weave_close(&c.w);
    msim_trace_free(c.all);
    free(c.part);
    free(c.run);
    free(c.list);
    free(c.message);
    free(c.holds);
    free(c.stages);
    free(c.ts);
    free(c.firsts);
    return status;
}
