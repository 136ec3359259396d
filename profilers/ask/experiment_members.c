/*
 * profilers/ask/experiment_members.c - the members of an experiment's line.
 */
#include "profilers/ask/backend_child.h"

#include <stdio.h>

struct visitor {
    void (*visit)(void *ctx, const struct msim_member *m);
    void *ctx;
};

static void add_text(const struct visitor *v, const char *key, const char *text)
{
    const struct msim_member m = {.key = key, .text = text};

    if (text)
        v->visit(v->ctx, &m);
}

static void add_number(const struct visitor *v, const char *key, double number)
{
    const struct msim_member m = {.key = key, .number = number};

    v->visit(v->ctx, &m);
}

struct size {
    const char *key;
    int64_t value;
};

static void add_sizes(const struct visitor *v, const struct size *sizes,
                      size_t n)
{
    for (size_t i = 0; i < n; i++)
        add_number(v, sizes[i].key, (double)sizes[i].value);
}

#define ADD_SIZES(v, sizes)                                                    \
    add_sizes(v, sizes, sizeof(sizes) / sizeof(*(sizes)))

static void visit_gemm(const struct visitor *v, const struct msim_work *w)
{
    static const char *const LAYOUTS[2][2] = {{"NN", "NT"}, {"TN", "TT"}};
    const struct size sizes[] = {{"m", w->u.gemm.m},
                                 {"n", w->u.gemm.n},
                                 {"k", w->u.gemm.k},
                                 {"batch", w->u.gemm.batch}};

    ADD_SIZES(v, sizes);
    add_text(v, "layout",
             LAYOUTS[w->u.gemm.a_transposed][w->u.gemm.b_transposed]);
}

static void visit_conv(const struct visitor *v, const struct msim_work *w)
{
    const struct size sizes[] = {
        {"n", w->u.conv.n},       {"c", w->u.conv.c},
        {"h", w->u.conv.h},       {"w", w->u.conv.w},
        {"k", w->u.conv.k},       {"r", w->u.conv.r},
        {"s", w->u.conv.s},       {"stride", w->u.conv.stride_h},
        {"pad", w->u.conv.pad_h}, {"groups", w->u.conv.groups}};

    ADD_SIZES(v, sizes);
}

static void visit_attention(const struct visitor *v, const struct msim_work *w)
{
    const struct size sizes[] = {{"batch", w->u.attention.batch},
                                 {"heads", w->u.attention.heads},
                                 {"kv_heads", w->u.attention.kv_heads},
                                 {"q_len", w->u.attention.q_len},
                                 {"kv_len", w->u.attention.kv_len},
                                 {"head_dim", w->u.attention.head_dim}};

    ADD_SIZES(v, sizes);
    if (w->u.attention.window > 0)
        add_number(v, "window", (double)w->u.attention.window);
}

static void visit_vector(const struct visitor *v,
                         const struct msim_experiment *e)
{
    char shape[48];

    snprintf(shape, sizeof(shape), "%lldx%lld",
             (long long)e->work.u.vector.rows,
             (long long)e->work.u.vector.cols);
    add_text(v, "shape", shape);
    if (e->u.vector.table_rows > 0)
        add_number(v, "table_rows", (double)e->u.vector.table_rows);
    if (e->u.vector.bytes > 0)
        add_number(v, "bytes", e->u.vector.bytes);
}

static void visit_collective(const struct visitor *v, const struct msim_work *w)
{
    add_number(v, "ranks", w->u.coll.ranks);
    add_number(v, "nodes", w->u.coll.nodes);
    add_text(v, "interconnect", w->u.coll.interconnect);
    add_number(v, "bytes", (double)w->u.coll.bytes);
}

static void visit_copy(const struct visitor *v, const struct msim_experiment *e)
{
    add_text(v, "memory", e->u.copy.pageable ? "pageable" : NULL);
    add_number(v, "bytes", (double)e->u.copy.bytes);
}

static void visit_sizes(const struct visitor *v,
                        const struct msim_experiment *e)
{
    switch (e->table) {
    case MSIM_TABLE_GEMM:
        visit_gemm(v, &e->work);
        break;
    case MSIM_TABLE_CONV:
        visit_conv(v, &e->work);
        break;
    case MSIM_TABLE_ATTENTION:
        visit_attention(v, &e->work);
        break;
    case MSIM_TABLE_VECTOR:
        visit_vector(v, e);
        break;
    case MSIM_TABLE_COLLECTIVE:
        visit_collective(v, &e->work);
        break;
    case MSIM_TABLE_COPY:
        visit_copy(v, e);
        break;
    default:
        break;
    }
}

void msim_experiment_visit(const struct msim_experiment *e, void *ctx,
                           void (*visit)(void *ctx,
                                         const struct msim_member *m))
{
    const struct visitor v = {visit, ctx};

    add_text(&v, "table", msim_table_text(e->table));
    add_text(&v,
             e->table == MSIM_TABLE_COLLECTIVE  ? "collective"
             : e->table == MSIM_TABLE_ATTENTION ? "phase"
                                                : "op",
             e->op);
    add_text(&v, "dtype", e->dtype_word);
    visit_sizes(&v, e);
    add_text(&v, "cache", e->warm ? "warm" : NULL);
}

static void write_member(void *ctx, const struct msim_member *m)
{
    if (m->text)
        cJSON_AddStringToObject(ctx, m->key, m->text);
    else
        cJSON_AddNumberToObject(ctx, m->key, m->number);
}

cJSON *msim_experiment_json(const struct msim_experiment *e)
{
    cJSON *o = cJSON_CreateObject();

    if (o)
        msim_experiment_visit(e, o, write_member);
    return o;
}
