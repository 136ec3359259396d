/*
 * core/rewrite/split/merged.c - statements of several stages as one.
 */
#include "core/rewrite/split/split_internal.h"

#include "core/base/containers.h"

#include <stdlib.h>

enum msim_status msim_merged_open(struct msim_merged *m, struct msim_weave *w,
                                  uint32_t stages)
{
    m->w = w;
    m->at = calloc((size_t)stages + 1, sizeof(*m->at));
    m->id = calloc((size_t)stages + 1, sizeof(*m->id));
    return m->at && m->id ? MSIM_OK : MSIM_ENOMEM;
}

void msim_merged_close(struct msim_merged *m)
{
    free(m->at);
    free(m->id);
    free(m->parts);
    *m = (struct msim_merged){0};
}

/* ---- labels --------------------------------------------------------------
 */

void msim_merged_anew(struct msim_merged *m)
{
    for (uint32_t i = m->n_open; i-- > 0;)
        if (msim_weave_begins(m->w, m->open[i].op, "ProfilerStep#")) {
            m->n_open = i + 1;
            return;
        }
}

/* Where the copy of `op` stands: in labels called as those around it are. */
static enum msim_status open_labels(struct msim_merged *m, uint32_t op,
                                    struct msim_draft_place *at)
{
    const struct msim_op *ops = m->w->t->ops;
    uint32_t chain[MSIM_MERGED_LABELS], n = 0, i = 0;

    for (uint32_t p = ops[op].parent; p != MSIM_NONE; p = ops[p].parent) {
        if (n == MSIM_MERGED_LABELS)
            return MSIM_ELIMIT;
        chain[n++] = p;
    }
    while (i < n && i < m->n_open &&
           ops[chain[n - 1 - i]].name == ops[m->open[i].op].name)
        i++;
    *at = (struct msim_draft_place){i ? m->open[i - 1].out : MSIM_NONE,
                                    ops[op].thread};
    for (; i < n; i++) {
        uint32_t label = chain[n - 1 - i];

        MSIM_TRY(msim_draft_copy(&m->w->d, label,
                                 &(struct msim_draft_how){.at = *at}));
        m->open[i].op = label;
        m->open[i].out = at->parent = m->w->d.placed[label];
    }
    m->n_open = n;
    return MSIM_OK;
}

enum msim_status msim_merged_copy(struct msim_merged *m, uint32_t s)
{
    struct msim_draft_how how = {0};

    MSIM_TRY(open_labels(m, m->w->a.rows[s].op, &how.at));
    return msim_weave_copy_as(m->w, s, &how);
}

/* ---- lists ---------------------------------------------------------------
 */

static bool is_tensors(const struct msim_trace *t, uint32_t arg, uint32_t end)
{
    return t->args[arg].kind == MSIM_ARG_LIST && arg + 1 < end &&
           t->args[arg].n && t->args[arg].v.i == (int64_t)t->args[arg].n &&
           t->args[arg + 1].kind == MSIM_ARG_TENSOR;
}

static enum msim_status add(struct msim_merged *m, uint32_t arg, uint32_t id,
                            int64_t count)
{
    MSIM_TRY(msim_grow((void **)&m->parts, &m->cap_parts, m->n_parts,
                       sizeof(*m->parts)));
    m->parts[m->n_parts++] =
        (struct msim_draft_part){.arg = arg, .id = id, .count = count};
    return MSIM_OK;
}

/* An argument of stage k, which is the next of its own. */
static enum msim_status add_next(struct msim_merged *m, uint32_t k, bool keep)
{
    const struct msim_arg *a = &m->w->t->args[m->at[k]];
    bool tensor = a->kind == MSIM_ARG_TENSOR;

    if (keep)
        MSIM_TRY(add(m, m->at[k], tensor ? m->id[k] : MSIM_NONE, 0));
    if (tensor && m->id[k] != MSIM_NONE)
        m->id[k]++;
    m->at[k]++;
    return MSIM_OK;
}

/* A list, of all stages. */
static enum msim_status add_list(struct msim_merged *m, uint32_t stages)
{
    const struct msim_trace *t = m->w->t;
    int64_t count = 0;

    for (uint32_t k = 0; k < stages; k++)
        count += t->args[m->at[k]].n;
    MSIM_TRY(add(m, m->at[0], MSIM_NONE, count));
    for (uint32_t k = 0; k < stages; k++) {
        uint32_t n = t->args[m->at[k]++].n;

        for (uint32_t i = 0; i < n; i++)
            MSIM_TRY(add_next(m, k, true));
    }
    return MSIM_OK;
}

static uint32_t block_of(const struct msim_op *op, bool out)
{
    return out ? op->outs : op->args;
}

/* One side of operator `i` of each of the statements at `tops`. */
static enum msim_status add_side(struct msim_merged *m, const uint32_t *list,
                                 uint32_t n, uint32_t stages, uint32_t i,
                                 bool out)
{
    const struct msim_trace *t = m->w->t;
    uint32_t end = 0, block;

    for (uint32_t k = 0; k < stages; k++) {
        const struct msim_op *op = &t->ops[m->w->a.rows[list[k * n]].op + i];

        block = block_of(op, out);
        if (block == MSIM_NONE)
            return MSIM_OK;
        m->at[k] = t->blocks[block].first;
        m->id[k] = out ? op->out_ids : op->ids;
        if (k == 0)
            end = t->blocks[block].first + t->blocks[block].count;
    }
    while (m->at[0] < end) {
        if (is_tensors(t, m->at[0], end)) {
            MSIM_TRY(add_list(m, stages));
            continue;
        }
        for (uint32_t k = stages; k-- > 0;)
            MSIM_TRY(add_next(m, k, k == 0));
    }
    return MSIM_OK;
}

/* ---- which are one -------------------------------------------------------
 */

/* Have both operators as many arguments, and lists of tensors at the same
 * places? `*lists` is set where they have any. */
static bool is_alike(const struct msim_trace *t, uint32_t a, uint32_t b,
                     bool out, bool *lists)
{
    uint32_t x = block_of(&t->ops[a], out), y = block_of(&t->ops[b], out);
    uint32_t i, j, i_end, j_end;

    if (x == MSIM_NONE || y == MSIM_NONE)
        return x == y;
    i = t->blocks[x].first;
    j = t->blocks[y].first;
    i_end = i + t->blocks[x].count;
    j_end = j + t->blocks[y].count;
    while (i < i_end && j < j_end) {
        bool list = is_tensors(t, i, i_end);

        if (list != is_tensors(t, j, j_end) ||
            t->args[i].kind != t->args[j].kind)
            return false;
        *lists |= list;
        i += 1 + (list ? t->args[i].n : 0);
        j += 1 + (list ? t->args[j].n : 0);
    }
    return i == i_end && j == j_end;
}

/* Is what each stage does in the statement the same on lists of its own? */
static bool is_one(const struct msim_merged *m, const uint32_t *list,
                   uint32_t n, uint32_t stages)
{
    const struct msim_weave *w = m->w;
    uint32_t top = w->a.rows[list[0]].op;
    uint32_t size = msim_anatomy_end(&w->a, list[0]) - top;
    bool lists = false;

    for (uint32_t k = 1; k < stages; k++) {
        uint32_t other = w->a.rows[list[k * n]].op;

        if (msim_anatomy_end(&w->a, list[k * n]) - other != size)
            return false;
        for (uint32_t i = 0; i < size; i++)
            if (w->t->ops[top + i].name != w->t->ops[other + i].name ||
                !is_alike(w->t, top + i, other + i, false, &lists) ||
                !is_alike(w->t, top + i, other + i, true, &lists))
                return false;
    }
    return lists;
}

static enum msim_status put_one(struct msim_merged *m, const uint32_t *list,
                                uint32_t n, uint32_t stages)
{
    struct msim_weave *w = m->w;
    uint32_t top = w->a.rows[list[0]].op;
    struct msim_draft_how how = {0};

    MSIM_TRY(open_labels(m, top, &how.at));
    for (uint32_t i = top; i < msim_anatomy_end(&w->a, list[0]); i++) {
        struct msim_draft_parts p = {0};

        m->n_parts = 0;
        MSIM_TRY(add_side(m, list, n, stages, i - top, false));
        p.n_in = m->n_parts;
        MSIM_TRY(add_side(m, list, n, stages, i - top, true));
        p.n_out = m->n_parts - p.n_in;
        p.in = m->parts;
        p.out = m->parts + p.n_in;
        if (i != top)
            how.at.parent = w->d.placed[w->t->ops[i].parent];
        MSIM_TRY(msim_draft_copy_parts(&w->d, i, &how, &p));
    }
    return MSIM_OK;
}

enum msim_status msim_merged_region(struct msim_merged *m, const uint32_t *list,
                                    uint32_t n, uint32_t stages)
{
    bool one = stages > 1;

    for (uint32_t i = 0; i < n; i++)
        one = one && is_one(m, list + i, n, stages);
    for (uint32_t i = 0; one && i < n; i++)
        MSIM_TRY(put_one(m, list + i, n, stages));
    for (uint32_t i = 0; !one && i < n * stages; i++)
        MSIM_TRY(msim_merged_copy(m, list[i]));
    return MSIM_OK;
}
