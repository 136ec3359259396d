/*
 * core/rewrite/step_lists.c - the optimizer's step of a CPU as a GPU runs it.
 *
 * PyTorch's optimizers go through their parameters one by one on a CPU, and by
 * lists of them on a GPU (foreach):
 *
 *     mul_ p1   lerp_ m1 g1   sqrt v1 ...         _foreach_mul_  [p1, p2, p3]
 *     mul_ p2   lerp_ m2 g2   sqrt v2 ...         _foreach_lerp_ [m1, ...] ...
 *     mul_ p3   lerp_ m3 g3   sqrt v3 ...         _foreach_sqrt  [v1, ...]
 *
 * So a stretch of statements that repeats is the statements of one parameter,
 * each on lists. Numbers that the host reads (item) are as many as that
 * optimizer reads on lists; what else has no form on lists stays as often as it
 * was.
 */
#include "core/rewrite/rewrite_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LONGEST 64 /* statements of one parameter */
#define ARGS    8  /* of one of its operators */

/* ---- what PyTorch does on lists ------------------------------------------ */

/* Optimizers of torch.optim that take lists on a GPU unless told otherwise, and
 * how many numbers of a parameter they read then (PyTorch 2.13: its count of
 * steps, mostly twice where it is read once by one). */
static const struct optimizer {
    const char *name;
    uint32_t reads;
} OPTIMIZERS[] = {
    {"ASGD", 0},    {"Adadelta", 0}, {"Adagrad", 1}, {"Adam", 2},
    {"AdamW", 2},   {"Adamax", 1},   {"NAdam", 5},   {"RAdam", 5},
    {"RMSprop", 0}, {"Rprop", 0},    {"SGD", 0},
};

/* Operators with a form on lists, in place or not. */
static const char *const OPERATORS[] = {
    "abs", "add",   "addcdiv", "addcmul", "clamp_max",  "clamp_min", "div",
    "exp", "lerp",  "log",     "maximum", "minimum",    "mul",       "neg",
    "pow", "rsqrt", "sign",    "sqrt",    "reciprocal", "sub",
};

/* Whose step `label` is; NULL: of none of these. */
static const struct optimizer *optimizer_of(const char *label)
{
    static const char STEP[] = "Optimizer.step#", END[] = ".step";
    size_t n;

    if (strncmp(label, STEP, sizeof(STEP) - 1) != 0)
        return NULL;
    label += sizeof(STEP) - 1;
    n = strlen(label);
    if (n < sizeof(END) || strcmp(label + n - sizeof(END) + 1, END) != 0)
        return NULL;
    n -= sizeof(END) - 1;
    for (size_t i = 0; i < sizeof(OPTIMIZERS) / sizeof(*OPTIMIZERS); i++)
        if (strlen(OPTIMIZERS[i].name) == n &&
            strncmp(OPTIMIZERS[i].name, label, n) == 0)
            return &OPTIMIZERS[i];
    return NULL;
}

bool msim_step_takes_lists(const char *label)
{
    return optimizer_of(label) != NULL;
}

/* "aten::_foreach_mul_" of "aten::mul_"; false: it has no such form. */
static bool list_name(const char *name, bool in_place, char *out, size_t size)
{
    static const char ATEN[] = "aten::";
    size_t n;

    if (strncmp(name, ATEN, sizeof(ATEN) - 1) != 0)
        return false;
    name += sizeof(ATEN) - 1;
    n = strlen(name);
    if (n && name[n - 1] == '_') {
        in_place = true;
        n--;
    }
    for (size_t i = 0; i < sizeof(OPERATORS) / sizeof(*OPERATORS); i++)
        if (strlen(OPERATORS[i]) == n && strncmp(OPERATORS[i], name, n) == 0) {
            snprintf(out, size, "aten::_foreach_%s%s", OPERATORS[i],
                     in_place ? "_" : "");
            return true;
        }
    return false;
}

/* ---- stretches that repeat ----------------------------------------------- */

/* Statements [first, first + length x times). */
struct run {
    uint32_t first, length, times;
};

struct listing {
    struct msim_weave *w;
    uint32_t *step;  /* by statement: the label of its optimizer, or NONE */
    struct run *run; /* by statement: that it is in; times 0: none */
    struct msim_draft_tensor *tensors; /* of one operator */
};

static uint32_t name_of(const struct listing *l, uint32_t statement)
{
    return l->w->t->ops[l->w->a.rows[statement].op].name;
}

/* The label of the step of such an optimizer that `statement` is in. */
static uint32_t step_of(const struct listing *l, uint32_t statement)
{
    const struct msim_trace *t = l->w->t;
    uint32_t op = t->ops[l->w->a.rows[statement].op].parent;

    for (; op != MSIM_NONE; op = t->ops[op].parent)
        if (msim_step_takes_lists(msim_trace_text(t, t->ops[op].name)))
            return op;
    return MSIM_NONE;
}

static uint32_t repeats(const struct listing *l, uint32_t first,
                        uint32_t length, uint32_t end)
{
    uint32_t at = first + length;

    while (at < end && name_of(l, at) == name_of(l, at - length))
        at++;
    return (at - first) / length;
}

/* The longest stretch from `first` on that is one repeated; the shortest one
 * of equals. */
static struct run find_run(const struct listing *l, uint32_t first,
                           uint32_t end)
{
    struct run best = {first, 1, 1};

    for (uint32_t n = 1; n <= LONGEST && first + 2 * n <= end; n++) {
        uint32_t times = repeats(l, first, n, end);

        if (times > 1 && n * times > best.length * best.times)
            best = (struct run){first, n, times};
    }
    return best;
}

static void find_runs(struct listing *l)
{
    uint32_t n = l->w->a.n;

    for (uint32_t s = 0; s < n; s++)
        l->step[s] = step_of(l, s);
    for (uint32_t s = 0, end; s < n; s = end) {
        for (end = s; end < n && l->step[end] == l->step[s]; end++)
            ;
        if (l->step[s] == MSIM_NONE)
            continue;
        for (uint32_t at = s; at < end;) {
            struct run r = find_run(l, at, end);

            for (uint32_t last = at + r.length * r.times; at < last; at++)
                if (r.times > 1)
                    l->run[at] = r;
        }
    }
}

/* ---- one operator on lists ----------------------------------------------- */

/* The operator of the k-th parameter. */
static uint32_t op_of(const struct listing *l, const struct run *r,
                      uint32_t place, uint32_t k)
{
    return l->w->a.rows[r->first + k * r->length + place].op;
}

static const struct msim_arg_block *inputs_of(const struct listing *l,
                                              uint32_t op)
{
    const struct msim_trace *t = l->w->t;

    return t->ops[op].args == MSIM_NONE ? NULL : &t->blocks[t->ops[op].args];
}

/* Do all of them have arguments of the same kinds, none of them a list? */
static bool are_alike(const struct listing *l, const struct run *r,
                      uint32_t place)
{
    const struct msim_arg *args = l->w->t->args;
    const struct msim_arg_block *first = inputs_of(l, op_of(l, r, place, 0));

    if (!first || !first->count || first->count > ARGS ||
        args[first->first].kind != MSIM_ARG_TENSOR)
        return false;
    for (uint32_t k = 0; k < r->times; k++) {
        const struct msim_arg_block *b = inputs_of(l, op_of(l, r, place, k));

        if (!b || b->count != first->count)
            return false;
        for (uint32_t i = 0; i < b->count; i++)
            if (args[b->first + i].kind != args[first->first + i].kind ||
                args[b->first + i].kind == MSIM_ARG_LIST)
                return false;
    }
    return true;
}

/* Is argument `i` a number for all of them (a tensor without sizes)? */
static bool is_number(const struct listing *l, const struct run *r,
                      uint32_t place, uint32_t i)
{
    for (uint32_t k = 0; k < r->times; k++) {
        const struct msim_arg_block *b = inputs_of(l, op_of(l, r, place, k));

        if (l->w->t->args[b->first + i].n)
            return false;
    }
    return i > 0;
}

static struct msim_draft_tensor tensor_of(const struct listing *l,
                                          const struct msim_lives_each *e)
{
    return (struct msim_draft_tensor){
        .dtype = e->arg->dtype,
        .device = e->arg->device,
        .n = e->arg->n,
        .storage = e->life == MSIM_NONE ? 0 : l->w->d.storage[e->life],
        .dims = msim_arg_dims(l->w->t, e->arg)};
}

/* Tensor `i` of what each is given, or makes. Returns how many there are. */
static uint32_t take_tensors(const struct listing *l, const struct run *r,
                             uint32_t place, bool made, uint32_t i,
                             struct msim_draft_tensor *to)
{
    for (uint32_t k = 0; k < r->times; k++) {
        uint32_t op = op_of(l, r, place, k);
        const struct msim_lives *lives = &l->w->d.lives;
        struct msim_lives_each e = made ? msim_lives_outputs(lives, l->w->t, op)
                                        : msim_lives_inputs(lives, l->w->t, op);

        for (uint32_t n = 0; n <= i; n++)
            if (!msim_lives_next(&e))
                return 0;
        to[k] = tensor_of(l, &e);
    }
    return r->times;
}

/* The lives of the first tensor that `op` is given, and of the one that it
 * makes. */
static bool lives_of(const struct listing *l, uint32_t op, uint32_t *given,
                     uint32_t *made)
{
    const struct msim_lives *lives = &l->w->d.lives;
    struct msim_lives_each in = msim_lives_inputs(lives, l->w->t, op);
    struct msim_lives_each out = msim_lives_outputs(lives, l->w->t, op);

    if (!msim_lives_next(&in) || !msim_lives_next(&out))
        return false;
    *given = in.life;
    *made = out.life;
    return in.life != MSIM_NONE && out.life != MSIM_NONE && in.life != out.life;
}

/* Is the life a temporary of the step `label`, which `op` is the last to read?
 */
static bool ends_at(const struct listing *l, uint32_t life, uint32_t label,
                    uint32_t op)
{
    const struct msim_lives *lives = &l->w->d.lives;
    const struct msim_life *of = &lives->rows[life];

    return of->born != MSIM_NONE &&
           lives->place[of->born] > lives->place[label] &&
           lives->place[of->last] <
               lives->place[op] + (l->w->t->ops[op].end - op);
}

/*
 * What is made in the step and read last here is written over, as the lists of
 * temporaries of torch.optim are: what comes out has its memory from now on.
 * Most of a list decide, since an address that is used again can look like a
 * later reader.
 */
static bool writes_over(const struct listing *l, const struct run *r,
                        uint32_t place)
{
    uint32_t given, made, n = 0;

    for (uint32_t k = 0; k < r->times; k++) {
        uint32_t op = op_of(l, r, place, k);

        if (!lives_of(l, op, &given, &made))
            return false;
        n += ends_at(l, given, l->step[r->first], op);
    }
    if (2 * n <= r->times)
        return false;
    for (uint32_t k = 0; k < r->times; k++)
        if (lives_of(l, op_of(l, r, place, k), &given, &made))
            l->w->d.storage[made] = l->w->d.storage[given];
    return true;
}

/* Tensors that stand in lists, then numbers, as the first one has them. */
static enum msim_status put_lists(struct listing *l, const struct run *r,
                                  uint32_t place, const char *name,
                                  bool in_place)
{
    const struct msim_arg_block *b = inputs_of(l, op_of(l, r, place, 0));
    struct msim_arg plain[ARGS];
    struct msim_draft_op op = {.name = name,
                               .et_id =
                                   l->w->t->ops[op_of(l, r, place, 0)].et_id,
                               .at = msim_weave_place(l->w, r->first + place),
                               .in = l->tensors,
                               .list = r->times,
                               .plain = plain};
    struct msim_draft_tensor *out;
    uint32_t tensor = 0;

    for (uint32_t i = 0; i < b->count; i++) {
        const struct msim_arg *a = &l->w->t->args[b->first + i];
        bool is_tensor = a->kind == MSIM_ARG_TENSOR;

        if (is_tensor && !is_number(l, r, place, i))
            op.n_in +=
                take_tensors(l, r, place, false, tensor, &l->tensors[op.n_in]);
        else
            plain[op.n_plain++] =
                is_tensor ? (struct msim_arg){.kind = MSIM_ARG_REAL} : *a;
        tensor += is_tensor;
    }
    out = &l->tensors[op.n_in];
    op.out = out;
    op.n_out = in_place ? 0 : take_tensors(l, r, place, true, 0, out);
    return msim_draft_add(&l->w->d, &op, NULL);
}

static bool reads_number(const struct listing *l, const struct run *r,
                         uint32_t place)
{
    uint32_t name = name_of(l, r->first + place);

    return strcmp(msim_trace_text(l->w->t, name), "aten::item") == 0;
}

/* All numbers of a parameter are read where the first one is. */
static enum msim_status put_reads(struct listing *l, const struct run *r,
                                  uint32_t place)
{
    const struct msim_trace *t = l->w->t;
    uint32_t label = t->ops[l->step[r->first]].name, reads;

    for (uint32_t before = 0; before < place; before++)
        if (reads_number(l, r, before))
            return MSIM_OK;
    reads = optimizer_of(msim_trace_text(t, label))->reads;
    for (uint32_t k = 0; k < r->times * reads; k++)
        MSIM_TRY(
            msim_weave_copy(l->w, r->first + k / reads * r->length + place));
    return MSIM_OK;
}

static enum msim_status put_place(struct listing *l, const struct run *r,
                                  uint32_t place)
{
    uint32_t first = op_of(l, r, place, 0);
    const char *own = msim_trace_text(l->w->t, l->w->t->ops[first].name);
    char name[64];

    if (reads_number(l, r, place))
        return put_reads(l, r, place);
    if (list_name(own, false, name, sizeof(name)) && are_alike(l, r, place)) {
        bool in_place = msim_weave_is_in_place(l->w, first);

        if (!in_place && writes_over(l, r, place)) {
            in_place = true;
            (void)list_name(own, true, name, sizeof(name));
        }
        return put_lists(l, r, place, name, in_place);
    }
    for (uint32_t k = 0; k < r->times; k++)
        MSIM_TRY(msim_weave_copy(l->w, r->first + k * r->length + place));
    return MSIM_OK;
}

/* ---- the walk ------------------------------------------------------------ */

static enum msim_status visit(void *ctx, uint32_t s)
{
    struct listing *l = ctx;
    const struct run *r = &l->run[s];

    if (r->times == 0)
        return msim_weave_copy(l->w, s);
    if (s != r->first)
        return MSIM_OK;
    for (uint32_t place = 0; place < r->length; place++)
        MSIM_TRY(put_place(l, r, place));
    return MSIM_OK;
}

enum msim_status msim_stage_lists(struct msim_weave *w,
                                  const struct msim_rewrite *r)
{
    struct listing l = {.w = w};
    size_t n = (size_t)w->a.n + 1;
    enum msim_status status = MSIM_ENOMEM;

    (void)r;
    l.step = malloc(n * sizeof(*l.step));
    l.run = calloc(n, sizeof(*l.run));
    l.tensors = malloc(n * (ARGS + 1) * sizeof(*l.tensors));
    if (l.step && l.run && l.tensors) {
        find_runs(&l);
        status = msim_weave_walk(w, &l, visit);
    }
    free(l.step);
    free(l.run);
    free(l.tensors);
    return status;
}
