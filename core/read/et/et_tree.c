/*
 * core/read/et/et_tree.c - from nodes in file order to a forest in preorder.
 *
 * Files have children before their parents; the forest is sorted by thread,
 * then by node id, which counts entries.
 *
 * Parents may come in any order and may even form a loop in a broken file. So
 * the tree is walked from its roots over child lists; a node that the walk does
 * not reach hangs on a cycle, which is reported with its nodes.
 */
#include "core/base/containers.h"
#include "core/read/et/read_et.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct tree {
    struct msim_reader *r;
    struct msim_trace *t;
    const struct msim_et_link *links;
    uint32_t *parent;       /* row of the parent, or NONE */
    uint32_t *order;        /* rows by (thread, id) */
    uint32_t *first, *next; /* children of a row in order of id */
    uint32_t *place;        /* row -> number in preorder, or NONE */
};

static enum msim_status order_rows(struct tree *x)
{
    uint32_t n = x->t->n_ops;
    uint64_t *keys = malloc(((size_t)n + 1) * sizeof(*keys));
    enum msim_status status;

    if (!keys)
        return MSIM_ENOMEM;
    for (uint32_t i = 0; i < n; i++) {
        x->order[i] = i;
        keys[i] = (uint64_t)x->t->ops[i].thread << 32 | x->t->ops[i].et_id;
    }
    status = msim_sort_by_keys(x->order, n, keys);
    free(keys);
    return status;
}

static int fail_double(struct tree *x, uint32_t id)
{
    return msim_read_problem(
        x->r, MSIM_EFORMAT, "two nodes have the id %u: '%.80s' is the second",
        id, msim_trace_text(x->t, msim_et_of(x->r)->node.name));
}

/* Rows of all parents; thread roots and orphans have none. */
static enum msim_status find_parents(struct tree *x)
{
    struct msim_idmap rows = {0};
    enum msim_status status = MSIM_OK;
    uint32_t i, *slot;

    for (i = 0; i < x->t->n_ops && status == MSIM_OK; i++) {
        status = msim_idmap_put(&rows, x->links[i].id, i, &slot);
        if (status == MSIM_OK && *slot != i) {
            msim_et_of(x->r)->node.name = x->t->ops[i].name;
            status = (enum msim_status)fail_double(x, x->t->ops[i].et_id);
        }
    }
    for (i = 0; i < x->t->n_ops && status == MSIM_OK; i++) {
        x->parent[i] = MSIM_NONE;
        if (x->t->ops[i].kind == MSIM_OP_ROOT || !x->links[i].has_parent)
            continue;
        x->parent[i] = msim_idmap_get(&rows, x->links[i].parent);
        if (x->parent[i] == MSIM_NONE)
            msim_import_add(&x->t->import, MSIM_IMPORT_ORPHAN, 1);
        /* A sub-tree is a range within one thread. */
        else if (x->t->ops[x->parent[i]].thread != x->t->ops[i].thread)
            x->parent[i] = MSIM_NONE;
    }
    msim_idmap_release(&rows);
    return status;
}

static bool is_gloo_label(const struct tree *x, uint32_t row)
{
    return !strncmp(msim_trace_text(x->t, x->t->ops[row].name), "gloo:", 5);
}

/* Is the observer's stack of open nodes known to be wrong? */
static bool is_misplaced(const struct tree *x)
{
    bool wrong = x->t->import.rows[MSIM_IMPORT_ORPHAN].n > 0;

    for (uint32_t i = 0; i < x->t->n_ops && !wrong; i++)
        wrong = is_gloo_label(x, i);
    return wrong;
}

/* Does some node stand before the one that it is in, and that began before it?
 * Roots tell nothing. */
static bool is_inside_first(const struct tree *x)
{
    const struct msim_op *ops = x->t->ops;

    for (uint32_t i = 0; i < x->t->n_ops; i++) {
        uint32_t p = x->parent[i];

        if (p != MSIM_NONE && p > i && ops[p].kind != MSIM_OP_ROOT &&
            ops[p].et_id < ops[i].et_id)
            return true;
    }
    return false;
}

/*
 * Do the nodes stand in the order in which they ended? Tools sort and shuffle
 * them. By id, which is the order of beginning: of a node that ended before
 * another began, none that began later has ended before it. A file that is
 * turned around has none that ended before another began.
 */
static bool is_as_ended(const struct tree *x)
{
    uint32_t *open = x->first, n_open = 0, ended = MSIM_NONE;
    bool ends = false;

    for (uint32_t i = 0; i < x->t->n_ops; i++) {
        uint32_t row = x->order[i];

        if (i > 0 &&
            x->t->ops[row].thread != x->t->ops[x->order[i - 1]].thread) {
            n_open = 0;
            ended = MSIM_NONE;
        }
        if (x->t->ops[row].kind == MSIM_OP_ROOT || is_gloo_label(x, row))
            continue;
        if (ended != MSIM_NONE && row < ended)
            return false;
        while (n_open > 0 && open[n_open - 1] < row) {
            ended = open[--n_open]; /* rises from pop to pop */
            ends = true;
        }
        open[n_open++] = row;
    }
    return ends && is_inside_first(x);
}

/*
 * gloo ends its labels on threads of its own, and the observer then takes
 * another node off the stack of open ones: later parents of that thread are too
 * far up, or have ended. An operator that throws is never written and stays on
 * that stack, as where activation checkpointing has computed again what it
 * needs: later parents are too deep. Rows say what was open, since a node is
 * written when it ends: a node lies in all that began before it and end behind
 * it. Labels of gloo hold nothing. `x->first` has the open rows for a while.
 */
static void mend_parents(struct tree *x)
{
    uint32_t *open = x->first, n_open = 0, root = MSIM_NONE;
    const struct msim_op *ops = x->t->ops;

    for (uint32_t i = 0; i < x->t->n_ops; i++) {
        uint32_t row = x->order[i];

        if (i > 0 && ops[row].thread != ops[x->order[i - 1]].thread) {
            n_open = 0;
            root = MSIM_NONE;
        }
        if (ops[row].kind == MSIM_OP_ROOT) { /* written when it begins */
            root = row;
            continue;
        }
        while (n_open > 0 && open[n_open - 1] < row)
            n_open--;
        if (x->links[row].has_parent)
            x->parent[row] = n_open > 0 ? open[n_open - 1] : root;
        if (!is_gloo_label(x, row))
            open[n_open++] = row;
    }
}

static void list_children(struct tree *x)
{
    uint32_t i, n = x->t->n_ops;

    for (i = 0; i < n; i++)
        x->first[i] = x->next[i] = x->place[i] = MSIM_NONE;
    for (i = n; i-- > 0;) { /* backwards: heads end up in order */
        uint32_t row = x->order[i], p = x->parent[row];

        if (p == MSIM_NONE)
            continue;
        x->next[row] = x->first[p];
        x->first[p] = row;
    }
}

/* Walk one tree from `root`; `at` is the next number in preorder. */
static uint32_t walk(struct tree *x, uint32_t root, uint32_t at)
{
    uint32_t row = root;

    for (;;) {
        x->place[row] = at++;
        if (x->first[row] != MSIM_NONE) {
            row = x->first[row];
            continue;
        }
        while (row != root && x->next[row] == MSIM_NONE) {
            x->t->ops[row].end = at;
            row = x->parent[row];
        }
        x->t->ops[row].end = at;
        if (row == root)
            return at;
        row = x->next[row];
    }
}

/* Some row was not reached: follow its parents until one comes twice. */
static int fail_cycle(struct tree *x)
{
    char text[320];
    size_t len = 0;
    uint32_t row = 0, i, n = x->t->n_ops, start;

    while (x->place[row] != MSIM_NONE)
        row++;
    for (i = 0; i < n; i++)
        row = x->parent[row]; /* surely on the cycle now */
    start = row;
    for (i = 0; i < 6; i++) {
        len += (size_t)snprintf(text + len, sizeof(text) - len,
                                "%u '%.30s' -> ", x->t->ops[row].et_id,
                                msim_trace_text(x->t, x->t->ops[row].name));
        row = x->parent[row];
        if (row == start)
            break;
    }
    return msim_read_problem(
        x->r, MSIM_ECYCLE, "the parents of nodes form a cycle: %s%s%u", text,
        row == start ? "" : "... -> ", x->t->ops[start].et_id);
}

static enum msim_status number_rows(struct tree *x)
{
    uint32_t i, n = x->t->n_ops, at = 0;

    for (i = 0; i < n; i++)
        if (x->parent[x->order[i]] == MSIM_NONE)
            at = walk(x, x->order[i], at);
    return at == n ? MSIM_OK : (enum msim_status)fail_cycle(x);
}

/* Move rows to their places, and replace rows and thread ids by numbers. */
static enum msim_status move_rows(struct tree *x)
{
    struct msim_trace *t = x->t;
    struct msim_op *ops;
    uint32_t i;

    if (t->n_ops == 0)
        return MSIM_OK;
    ops = malloc((size_t)t->n_ops * sizeof(*ops));
    if (!ops)
        return MSIM_ENOMEM;
    for (i = 0; i < t->n_ops; i++) {
        struct msim_op *op = &ops[x->place[i]];

        *op = t->ops[i];
        op->parent =
            x->parent[i] == MSIM_NONE ? MSIM_NONE : x->place[x->parent[i]];
        if (x->links[i].fw_tid > 0)
            op->fw_thread = msim_idmap_get(&msim_et_of(x->r)->threads,
                                           (uint64_t)x->links[i].fw_tid);
    }
    free(t->ops);
    t->ops = ops;
    t->cap_ops = t->n_ops;
    return MSIM_OK;
}

static enum msim_status build(struct tree *x)
{
    MSIM_TRY(find_parents(x));
    MSIM_TRY(order_rows(x));
    if (is_misplaced(x) && is_as_ended(x))
        mend_parents(x);
    list_children(x);
    MSIM_TRY(number_rows(x));
    return move_rows(x);
}

enum msim_status msim_et_tree(struct msim_reader *r)
{
    struct tree x = {.r = r, .t = r->trace, .links = msim_et_of(r)->links.data};
    size_t n = (size_t)r->trace->n_ops + 1;
    uint32_t *memory = malloc(n * 5 * sizeof(*memory));
    enum msim_status status;

    if (!memory)
        return MSIM_ENOMEM;
    x.parent = memory;
    x.order = memory + n;
    x.first = memory + n * 2;
    x.next = memory + n * 3;
    x.place = memory + n * 4;
    status = build(&x);
    free(memory);
    return status;
}
