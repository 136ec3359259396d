/*
 * core/lives/lives.c - which tensors of an execution trace are one piece of
 * memory, and for how long.
 *
 * An operator's inputs are looked up twice, when it begins and when it returns,
 * and its outputs once; so time is linear in tensors. Whether an output is on
 * the life of an input is a stamp on the life, since lists of thousands of
 * tensors must not be compared in pairs.
 */
#include "core/lives/lives.h"

#include "core/base/containers.h"

#include <stdlib.h>
#include <string.h>

struct walk {
    const struct msim_trace *t;
    struct msim_lives *out;
    struct msim_idmap storages; /* storage -> the life that it has now */
    uint32_t *stamps, cap;      /* by life: an input of this op, plus one */
    bool once;  /* no two operators share tensors, as those of several
                   iterations do */
    bool moved; /* a tensor is on another life than at first */
};

/* A tensor that operator `op` names. */
struct named {
    uint32_t op, id;
    const struct msim_arg *arg;
};

/* ---- sizes -------------------------------------------------------------- */

static uint64_t add(uint64_t a, uint64_t b)
{
    uint64_t sum;

    return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

static uint64_t multiply(uint64_t a, uint64_t b)
{
    uint64_t product;

    return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

static bool has_strides(const struct msim_trace *t, const struct named *x)
{
    return t->n_tensor_strides && t->tensor_strides[x->id] != MSIM_NONE;
}

/* One past the furthest element of a tensor with elements. */
static uint64_t reach(const struct msim_trace *t, const struct named *x)
{
    const int64_t offset = t->tensor_ids[x->id].offset;
    const int64_t *dims = msim_arg_dims(t, x->arg), *strides;
    uint64_t end = offset > 0 ? (uint64_t)offset : 0;

    if (!has_strides(t, x))
        return add(end, msim_arg_elems(t, x->arg));
    strides = t->dims + t->tensor_strides[x->id];
    for (uint32_t i = 0; i < x->arg->n; i++)
        end = add(end, multiply((uint64_t)dims[i] - 1,
                                strides[i] > 0 ? (uint64_t)strides[i] : 0));
    return add(end, 1);
}

/* ---- lives -------------------------------------------------------------- */

static uint64_t key_of(const struct msim_tensor_id *id)
{
    return id->storage ? id->storage : (uint64_t)1 << 32 | id->tensor;
}

/* A new life, which the storage of `x` has from now on. */
static enum msim_status begin(struct walk *w, const struct named *x,
                              uint32_t born)
{
    struct msim_lives *l = w->out;
    uint32_t *life;

    MSIM_TRY(msim_grow((void **)&l->rows, &l->cap, l->n, sizeof(*l->rows)));
    MSIM_TRY(msim_grow((void **)&w->stamps, &w->cap, l->n, sizeof(*w->stamps)));
    MSIM_TRY(msim_idmap_put(&w->storages, key_of(&w->t->tensor_ids[x->id]),
                            l->n, &life));
    w->stamps[l->n] = 0;
    l->rows[l->n] =
        (struct msim_life){.born = born, .first = x->op, .last = x->op};
    *life = l->n++;
    return MSIM_OK;
}

/*
 * A view with gaps may have more elements than its memory (a bias expanded to
 * the rows that it is added to), or reach further than they go: without its
 * strides it counts where nothing else says how large the memory is.
 */
static void grow_life(const struct walk *w, const struct named *x,
                      struct msim_life *row)
{
    uint64_t bytes = multiply(reach(w->t, x),
                              msim_dtype_bytes((enum msim_dtype)x->arg->dtype));
    bool guess = x->arg->layout == MSIM_LAYOUT_GAPS && !has_strides(w->t, x);

    if (guess && row->bytes && !row->guessed)
        return;
    if (!guess && row->guessed)
        row->bytes = 0;
    row->guessed = guess;
    if (bytes > row->bytes)
        row->bytes = bytes;
}

/* `x` is on the life that its storage has now. */
static void join(struct walk *w, const struct named *x, uint32_t life)
{
    struct msim_life *row = &w->out->rows[life];

    w->out->of[x->id] = life;
    if (w->out->place[x->op] < w->out->place[row->first])
        row->first = x->op;
    if (w->out->place[x->op] > w->out->place[row->last])
        row->last = x->op;
    grow_life(w, x, row);
    if (row->device == MSIM_DEV_UNKNOWN)
        row->device = x->arg->device;
}

static uint32_t current(const struct walk *w, const struct named *x)
{
    return msim_idmap_get(&w->storages, key_of(&w->t->tensor_ids[x->id]));
}

static enum msim_status enter_input(struct walk *w, const struct named *x)
{
    uint32_t life = current(w, x);

    if (life == MSIM_NONE) {
        MSIM_TRY(begin(w, x, MSIM_NONE));
        life = current(w, x);
    }
    join(w, x, life);
    return MSIM_OK;
}

static enum msim_status stamp_input(struct walk *w, const struct named *x)
{
    w->stamps[w->out->of[x->id]] = x->op + 1;
    return MSIM_OK;
}

/* ---- what is named before it comes out -----------------------------------
 */

/* Tensors of a block of `op` on `life` and in the storage of `x` are on life
 * `to`. */
static void move_tensors(struct walk *w, const struct named *x, uint32_t life,
                         uint32_t to, uint32_t block, uint32_t ids)
{
    const struct msim_trace *t = w->t;

    if (block == MSIM_NONE || ids == MSIM_NONE)
        return;
    for (uint32_t i = 0; i < t->blocks[block].count; i++) {
        if (t->args[t->blocks[block].first + i].kind != MSIM_ARG_TENSOR)
            continue;
        if (w->out->of[ids] == life &&
            key_of(&t->tensor_ids[ids]) == key_of(&t->tensor_ids[x->id])) {
            w->out->of[ids] = to;
            w->moved = true;
        }
        ids++;
    }
}

static uint32_t count_tensors(const struct msim_trace *t, uint32_t block,
                              uint32_t ids)
{
    uint32_t n = 0;

    for (uint32_t i = 0;
         block != MSIM_NONE && ids != MSIM_NONE && i < t->blocks[block].count;
         i++)
        n += t->args[t->blocks[block].first + i].kind == MSIM_ARG_TENSOR;
    return n;
}

static bool names_each_once(const struct msim_trace *t)
{
    uint64_t n = 0;

    for (uint32_t i = 0; i < t->n_ops; i++)
        n += count_tensors(t, t->ops[i].args, t->ops[i].ids) +
             count_tensors(t, t->ops[i].outs, t->ops[i].out_ids);
    return n <= t->n_tensor_ids;
}

static bool is_given_tensors(const struct msim_trace *t, uint32_t op)
{
    return count_tensors(t, t->ops[op].args, t->ops[op].ids) > 0;
}

/*
 * Operators below that of `x` may name its result, which no operator was seen
 * to make, before it comes out (resolve_conj of a product on a CPU). What was
 * not given to it was made in it: that is the new life, not the one that the
 * storage had before.
 */
static void move_inside(struct walk *w, const struct named *x, uint32_t life)
{
    const struct msim_op *ops = w->t->ops;
    uint32_t to = current(w, x);

    if (life == MSIM_NONE || !w->once || !is_given_tensors(w->t, x->op))
        return;
    for (uint32_t i = x->op + 1; i < ops[x->op].end; i++) {
        move_tensors(w, x, life, to, ops[i].args, ops[i].ids);
        move_tensors(w, x, life, to, ops[i].outs, ops[i].out_ids);
    }
}

static enum msim_status leave_output(struct walk *w, const struct named *x)
{
    uint32_t life = current(w, x);
    uint32_t born = life == MSIM_NONE ? MSIM_NONE : w->out->rows[life].born;
    bool inside =
        born != MSIM_NONE && born >= x->op && born < w->t->ops[x->op].end;

    if (life == MSIM_NONE || (!inside && w->stamps[life] != x->op + 1)) {
        MSIM_TRY(begin(w, x, x->op));
        move_inside(w, x, life);
    }
    join(w, x, current(w, x));
    return MSIM_OK;
}

/* ---- operators ---------------------------------------------------------- */

/* Call `visit` for every tensor with elements of a block of `op`. */
static enum msim_status
each_tensor(struct walk *w, uint32_t op, uint32_t block, uint32_t ids,
            enum msim_status (*visit)(struct walk *, const struct named *))
{
    const struct msim_trace *t = w->t;
    const struct msim_arg_block *b;
    struct named x = {op, ids, NULL};

    if (block == MSIM_NONE || ids == MSIM_NONE)
        return MSIM_OK;
    b = &t->blocks[block];
    for (uint32_t i = 0; i < b->count; i++) {
        x.arg = &t->args[b->first + i];
        if (x.arg->kind != MSIM_ARG_TENSOR)
            continue;
        if (msim_arg_elems(t, x.arg))
            MSIM_TRY(visit(w, &x));
        x.id++;
    }
    return MSIM_OK;
}

static enum msim_status enter(struct walk *w, uint32_t i)
{
    const struct msim_op *op = &w->t->ops[i];

    return each_tensor(w, i, op->args, op->ids, enter_input);
}

static enum msim_status leave(struct walk *w, uint32_t i)
{
    const struct msim_op *op = &w->t->ops[i];

    /* A collective writes what its caller holds, and makes nothing. */
    if (op->comm != MSIM_NONE)
        return each_tensor(w, i, op->outs, op->out_ids, enter_input);
    MSIM_TRY(each_tensor(w, i, op->args, op->ids, stamp_input));
    return each_tensor(w, i, op->outs, op->out_ids, leave_output);
}

/* Each operator returns when the last one below it has begun and returned. */
static enum msim_status walk_ops(struct walk *w, const uint32_t *order)
{
    const struct msim_op *ops = w->t->ops;

    for (uint32_t i = 0; i < w->t->n_ops; i++) {
        uint32_t op = order[i], last = op;

        MSIM_TRY(enter(w, op));
        for (; op != MSIM_NONE && ops[op].end == last + 1; op = ops[op].parent)
            MSIM_TRY(leave(w, op));
    }
    return MSIM_OK;
}

/* ---- lives once more -----------------------------------------------------
 */

/* Lives that nobody is on any more go. */
static void drop_empty(struct msim_lives *l, uint32_t *to, uint32_t n_ids)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < l->n; i++)
        if (l->rows[i].first != MSIM_NONE) {
            l->rows[n] = l->rows[i];
            to[i] = n++;
        }
    l->n = n;
    for (uint32_t i = 0; i < n_ids; i++)
        if (l->of[i] != MSIM_NONE)
            l->of[i] = to[l->of[i]];
}

static enum msim_status name_again(struct walk *w, const struct named *x)
{
    struct msim_life *row;

    if (w->out->of[x->id] == MSIM_NONE)
        return MSIM_OK;
    row = &w->out->rows[w->out->of[x->id]];
    if (row->first == MSIM_NONE)
        row->first = row->last = x->op;
    join(w, x, w->out->of[x->id]);
    return MSIM_OK;
}

/* Firsts, lasts and bytes of all, since some have lost a tensor. */
static enum msim_status count_again(struct walk *w)
{
    const struct msim_trace *t = w->t;
    uint32_t *to = malloc(((size_t)w->out->n + 1) * sizeof(*to));

    if (!to)
        return MSIM_ENOMEM;
    for (uint32_t i = 0; i < w->out->n; i++)
        w->out->rows[i] = (struct msim_life){.born = w->out->rows[i].born,
                                             .first = MSIM_NONE,
                                             .device = w->out->rows[i].device};
    for (uint32_t i = 0; i < t->n_ops; i++) {
        const struct msim_op *o = &t->ops[i];

        (void)each_tensor(w, i, o->args, o->ids, name_again);
        (void)each_tensor(w, i, o->outs, o->out_ids, name_again);
    }
    drop_empty(w->out, to, t->n_tensor_ids);
    free(to);
    return MSIM_OK;
}

/* ---- what a gather fills ------------------------------------------------- */

/*
 * Memory that a gather fills, and of which nothing was read before, begins with
 * what names it first: PyTorch's FSDP takes it and gives it back where no
 * operator shows it. Before the gather it is cut into the ranks' pieces.
 */
struct filled {
    uint32_t place; /* of the first gather, NONE: none fills it */
    bool read;      /* before that */
};

static bool is_gather(const struct msim_trace *t, uint32_t op)
{
    const char *name = msim_trace_text(t, t->ops[op].name);

    return strncmp(name, "c10d::", 6) == 0 && strstr(name, "allgather");
}

/* A view of one life, which reads nothing. */
static bool is_view(const struct msim_lives *l, const struct msim_trace *t,
                    uint32_t op, uint32_t life)
{
    const char *name = msim_trace_text(t, t->ops[op].name);
    struct msim_lives_each out = msim_lives_outputs(l, t, op);
    bool is = false;

    while (msim_lives_next(&out)) {
        if (out.life != life)
            return false;
        is = true;
    }
    return is && name[strlen(name) - 1] != '_';
}

/* Of both that a gather is given the larger is what it fills, in one piece or
 * in those of all ranks. */
static uint32_t filled_by(const struct msim_lives *l,
                          const struct msim_trace *t, uint32_t op)
{
    struct msim_lives_each e = msim_lives_inputs(l, t, op);
    uint32_t lives[2] = {MSIM_NONE, MSIM_NONE};
    uint64_t elems[2] = {0, 0};

    while (msim_lives_next(&e)) {
        int which = lives[0] != MSIM_NONE && lives[0] != e.life;

        lives[which] = e.life;
        elems[which] += msim_arg_elems(t, e.arg);
    }
    return elems[0] == elems[1] ? MSIM_NONE : lives[elems[1] > elems[0]];
}

static void note_gather(const struct msim_lives *l, const struct msim_trace *t,
                        uint32_t op, struct filled *filled)
{
    uint32_t life = is_gather(t, op) ? filled_by(l, t, op) : MSIM_NONE;

    if (life != MSIM_NONE && l->place[op] < filled[life].place)
        filled[life].place = l->place[op];
}

static void note_reads(const struct msim_lives *l, const struct msim_trace *t,
                       uint32_t op, struct filled *filled)
{
    struct msim_lives_each e = msim_lives_inputs(l, t, op);

    while (msim_lives_next(&e))
        if (e.life != MSIM_NONE && l->place[op] < filled[e.life].place &&
            !is_view(l, t, op, e.life))
            filled[e.life].read = true;
}

static enum msim_status begin_filled(struct msim_lives *l,
                                     const struct msim_trace *t)
{
    struct filled *filled = calloc((size_t)l->n + 1, sizeof(*filled));

    if (!filled)
        return MSIM_ENOMEM;
    for (uint32_t i = 0; i < l->n; i++)
        filled[i].place = MSIM_NONE;
    for (uint32_t i = 0; i < t->n_ops; i++)
        note_gather(l, t, i, filled);
    for (uint32_t i = 0; i < t->n_ops; i++)
        note_reads(l, t, i, filled);
    for (uint32_t i = 0; i < l->n; i++)
        if (l->rows[i].born == MSIM_NONE && filled[i].place != MSIM_NONE &&
            !filled[i].read)
            l->rows[i].born = l->rows[i].first;
    free(filled);
    return MSIM_OK;
}

/* ---- the order of entry ------------------------------------------------- */

static bool earlier(const void *ctx, uint32_t a, uint32_t b)
{
    const int64_t *when = ctx;

    return when[a] < when[b];
}

/*
 * When each operator began, in any unit. It never falls along a thread, so that
 * a stable sort by it keeps sub-trees in preorder, even those of a broken file
 * whose node ids do not rise.
 */
static void entries(const struct msim_trace *t, int64_t *when)
{
    for (uint32_t i = 0; i < t->n_ops; i++) {
        const struct msim_op *op = &t->ops[i];

        when[i] = t->has_times ? op->start : (int64_t)op->et_id;
        if (i && op[-1].thread == op->thread && when[i] < when[i - 1])
            when[i] = when[i - 1];
    }
}

static enum msim_status walk_sorted(struct walk *w, int64_t *when,
                                    uint32_t *order)
{
    uint32_t n = w->t->n_ops;

    entries(w->t, when);
    for (uint32_t i = 0; i < n; i++)
        order[i] = i;
    msim_sort_index(order, w->out->place, n, earlier, when);
    for (uint32_t i = 0; i < n; i++)
        w->out->place[order[i]] = i;
    return walk_ops(w, order);
}

static enum msim_status walk_trace(struct walk *w)
{
    size_t n = (size_t)w->t->n_ops + 1;
    int64_t *when = calloc(n, sizeof(*when));
    uint32_t *order = malloc(n * sizeof(*order));
    enum msim_status status = MSIM_ENOMEM;

    w->out->place = malloc(n * sizeof(*w->out->place));
    if (when && order && w->out->place)
        status = walk_sorted(w, when, order);
    free(when);
    free(order);
    return status;
}

enum msim_status msim_lives_find(struct msim_lives *out,
                                 const struct msim_trace *t)
{
    struct walk w = {.t = t, .out = out};
    size_t n = (size_t)t->n_tensor_ids + 1;
    enum msim_status status = MSIM_ENOMEM;

    *out = (struct msim_lives){.of = malloc(n * sizeof(*out->of))};
    w.once = names_each_once(t);
    if (out->of) {
        memset(out->of, 0xff, n * sizeof(*out->of));
        status = walk_trace(&w);
    }
    if (status == MSIM_OK && w.moved)
        status = count_again(&w);
    if (status == MSIM_OK && t->n_comms)
        status = begin_filled(out, t);
    msim_idmap_release(&w.storages);
    free(w.stamps);
    if (status != MSIM_OK)
        msim_lives_release(out);
    return status;
}

void msim_lives_release(struct msim_lives *l)
{
    free(l->of);
    free(l->place);
    free(l->rows);
    *l = (struct msim_lives){0};
}

/* ---- the tensors of a list ---------------------------------------------- */

static struct msim_lives_each each_of(const struct msim_lives *l,
                                      const struct msim_trace *t,
                                      uint32_t block, uint32_t ids)
{
    struct msim_lives_each e = {.l = l, .id = ids};

    if (block == MSIM_NONE || ids == MSIM_NONE)
        return e;
    e.next = t->args + t->blocks[block].first;
    e.end = e.next + t->blocks[block].count;
    return e;
}

struct msim_lives_each msim_lives_inputs(const struct msim_lives *l,
                                         const struct msim_trace *t,
                                         uint32_t op)
{
    return each_of(l, t, t->ops[op].args, t->ops[op].ids);
}

struct msim_lives_each msim_lives_outputs(const struct msim_lives *l,
                                          const struct msim_trace *t,
                                          uint32_t op)
{
    return each_of(l, t, t->ops[op].outs, t->ops[op].out_ids);
}

bool msim_lives_next(struct msim_lives_each *e)
{
    while (e->next != e->end) {
        e->arg = e->next++;
        if (e->arg->kind != MSIM_ARG_TENSOR)
            continue;
        e->life = e->l->of[e->id++];
        return true;
    }
    return false;
}
