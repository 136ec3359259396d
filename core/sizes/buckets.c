/*
 * core/sizes/buckets.c - messages that are gradients one behind the other,
 * although no tensor shows it.
 *
 * A bucket's views are often made before the step is recorded. Its gradients
 * are those that were added up last before it is sent, or that follow those of
 * the bucket before, and their elements are as many as its own:
 *
 *     accumulated  [64, 16]  [64]  [16, 64]  [16]
 *     bucket       [2128] = 64 x 16 + 64 + 16 x 64 + 16
 */
#include "core/base/containers.h"
#include "core/sizes/sizes_internal.h"

#include <stdlib.h>
#include <string.h>

static enum msim_status note(struct msim_size_gradient **rows, uint32_t *cap,
                             uint32_t *n, uint32_t op, uint32_t value)
{
    MSIM_TRY(msim_grow((void **)rows, cap, *n, sizeof(**rows)));
    (*rows)[(*n)++] = (struct msim_size_gradient){op, value};
    return MSIM_OK;
}

/* Is the operator, or what it is in, one that adds a gradient up? */
static bool adds_up(const struct msim_size_call *c)
{
    const struct msim_op *op = c->op;
    const char *parent =
        op->parent == MSIM_NONE
            ? ""
            : msim_trace_text(c->t, c->t->ops[op->parent].name);

    return !strcmp(c->name, "torch::autograd::AccumulateGrad") ||
           !strcmp(parent, "torch::autograd::AccumulateGrad");
}

static bool is_message(const char *name)
{
    return !strcmp(name, "record_param_comms") || !strncmp(name, "c10d::", 6) ||
           !strncmp(name, "_c10d_functional::", 18);
}

enum msim_status msim_size_note_bucket(struct msim_size_learning *l,
                                       const struct msim_size_call *c)
{
    const struct msim_size_gradient *last =
        l->n_gradients ? &l->gradients[l->n_gradients - 1] : NULL;

    if (!c->n_in || c->in[0].value == MSIM_NONE)
        return MSIM_OK;
    if (adds_up(c)) {
        /* a node and the operators in it name one gradient */
        bool again = last && c->t->ops[last->op].end > l->op;
        bool sibling = last && c->op->parent != MSIM_NONE &&
                       c->t->ops[last->op].parent == c->op->parent &&
                       strcmp(c->name, "torch::autograd::AccumulateGrad") != 0;

        if (again || sibling)
            return MSIM_OK;
        return note(&l->gradients, &l->cap_gradients, &l->n_gradients, l->op,
                    c->in[0].value);
    }
    if (!is_message(c->name))
        return MSIM_OK;
    for (uint32_t i = 0; i < c->n_in; i++)
        if (c->in[i].n == 1 && c->in[i].value != MSIM_NONE)
            MSIM_TRY(note(&l->buckets, &l->cap_buckets, &l->n_buckets, l->op,
                          c->in[i].value));
    return MSIM_OK;
}

/* How many gradients from `from` on are as many elements as `want`; 0: none
 * are. */
static uint32_t run_from(const struct msim_size_learning *l, uint32_t from,
                         uint64_t want)
{
    uint64_t sum = 0;

    for (uint32_t i = from; i < l->n_gradients; i++) {
        sum += l->values[l->gradients[i].value].elems;
        if (sum == want)
            return i + 1 - from;
        if (sum > want)
            break;
    }
    return 0;
}

/* The run that ended last before the operator. */
static uint32_t run_before(const struct msim_size_learning *l, uint32_t op,
                           uint64_t want, uint32_t *from)
{
    uint32_t end = l->n_gradients;

    while (end && l->gradients[end - 1].op > op)
        end--;
    for (; end; end--) {
        uint64_t sum = 0;

        for (uint32_t i = end; i-- && sum < want;) {
            sum += l->values[l->gradients[i].value].elems;
            if (sum == want) {
                *from = i;
                return end - i;
            }
        }
    }
    return 0;
}

static enum msim_status tie_run(struct msim_size_learning *l,
                                const struct msim_size_gradient *bucket,
                                uint32_t from, uint32_t n)
{
    uint32_t *places = malloc((size_t)n * sizeof(*places));
    enum msim_status status = places ? MSIM_OK : MSIM_ENOMEM;

    l->op = bucket->op;
    for (uint32_t i = 0; i < n && status == MSIM_OK; i++)
        status = msim_size_count(l, &l->values[l->gradients[from + i].value],
                                 &places[i]);
    if (status == MSIM_OK)
        status = msim_size_tie_sum(l, l->values[bucket->value].at, places, n);
    free(places);
    return status;
}

/* Is the bucket's size the sum or the product of others already? */
static bool is_tied(struct msim_size_learning *l, uint32_t place)
{
    uint32_t c = msim_size_root(l, place);

    for (uint32_t i = 0; i < l->s->n_ties && c != MSIM_NONE; i++) {
        const struct msim_size_tie *tie = &l->s->ties[i];

        if (tie->sum && l->s->terms[tie->first] == c)
            return true;
    }
    return false;
}

enum msim_status msim_size_tie_buckets(struct msim_size_learning *l)
{
    uint32_t next = 0;

    for (uint32_t i = 0; i < l->n_buckets; i++) {
        const struct msim_size_gradient *b = &l->buckets[i];
        uint64_t want = l->values[b->value].elems;
        uint32_t from = next, n;

        if (want < 2 || is_tied(l, l->values[b->value].at))
            continue;
        n = run_from(l, from, want);
        if (!n)
            n = run_before(l, b->op, want, &from);
        if (!n)
            continue;
        next = from + n;
        MSIM_TRY(tie_run(l, b, from, n));
    }
    return MSIM_OK;
}
