/*
 * replay/run/work_runs.c - what a backend runs for a work.
 */
#include "replay/run/replay_plan.h"

#include "core/work/work.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A routine whose traffic differs by more from the work's is another one. */
#define SAME_BYTES 0.1

const char *msim_run_how_text(enum msim_run_how h)
{
    static const char *const WORDS[] = {
#define X(name, text, what) text,
        MSIM_RUN_HOW_MAP(X)
#undef X
    };

    return WORDS[h];
}

/* ---- what is offered ----------------------------------------------------- */

static bool offers(const cJSON *greeting, enum msim_table table,
                   const char *kind)
{
    const cJSON *tables = cJSON_GetObjectItemCaseSensitive(greeting, "tables");
    const cJSON *kinds =
        cJSON_GetObjectItemCaseSensitive(tables, msim_table_text(table));
    const cJSON *item;

    cJSON_ArrayForEach(item, kinds)
    {
        if (cJSON_IsString(item) && strcmp(item->valuestring, kind) == 0)
            return true;
    }
    return false;
}

/* The kind of an experiment: "fp32" of a product, else "add:fp32". */
static bool is_offered(const cJSON *greeting, const struct msim_experiment *e)
{
    char kind[128];

    if (e->table == MSIM_TABLE_GEMM)
        return offers(greeting, e->table, e->dtype_word);
    if (e->table == MSIM_TABLE_COPY)
        return offers(greeting, e->table, e->op);
    snprintf(kind, sizeof(kind), "%.48s:%s", e->op ? e->op : "", e->dtype_word);
    return offers(greeting, e->table, kind);
}

/* ---- bytes --------------------------------------------------------------- */

static struct msim_experiment copy_of(double bytes)
{
    struct msim_experiment e = {.table = MSIM_TABLE_COPY,
                                .op = msim_copy_way_text(MSIM_COPY_WAY_D2D)};

    e.u.copy.op = MSIM_COPY_WAY_D2D;
    e.u.copy.bytes = (uint64_t)fmax(ceil(bytes / 2), 1);
    msim_experiment_complete(&e);
    return e;
}

struct msim_experiment msim_run_as_bytes(const struct msim_experiment *e)
{
    double bytes = e->work.bytes_read + e->work.bytes_written;

    return copy_of(bytes > 0 ? bytes : msim_experiment_bytes(e));
}

static void as_bytes(struct msim_work_runs *out, const struct msim_work *w,
                     const char *why)
{
    *out = (struct msim_work_runs){.n = 1, .how = MSIM_RUN_BYTES, .why = why};
    out->list[0] = copy_of(w->bytes_read + w->bytes_written);
}

/* ---- products ------------------------------------------------------------ */

static const char *word_of(const struct msim_work *w, const cJSON *greeting)
{
    /* A device without tf32 computes in plain fp32. */
    if (strcmp(msim_work_variant(w), "tf32") == 0 &&
        offers(greeting, MSIM_TABLE_GEMM, "tf32"))
        return "tf32";
    return msim_dtype_text(w->dtype);
}

static bool add_product(struct msim_work_runs *out, const struct msim_work *w,
                        const cJSON *greeting, const int64_t sizes[4],
                        bool b_transposed)
{
    struct msim_experiment *e = &out->list[out->n];

    *e = (struct msim_experiment){.table = MSIM_TABLE_GEMM,
                                  .dtype_word = word_of(w, greeting)};
    e->work.u.gemm.batch = sizes[0];
    e->work.u.gemm.m = sizes[1];
    e->work.u.gemm.n = sizes[2];
    e->work.u.gemm.k = sizes[3];
    e->work.u.gemm.b_transposed = b_transposed;
    msim_experiment_complete(e);
    out->n++;
    return e->is_work && is_offered(greeting, e);
}

static void gemm_runs(struct msim_work_runs *out, const struct msim_work *w,
                      const cJSON *greeting)
{
    const int64_t sizes[] = {w->u.gemm.batch, w->u.gemm.m, w->u.gemm.n,
                             w->u.gemm.k};

    if (add_product(out, w, greeting, sizes, w->u.gemm.b_transposed)) {
        out->list[0].work.u.gemm.a_transposed = w->u.gemm.a_transposed;
        return;
    }
    as_bytes(out, w, "no products of that type");
}

static void conv_runs(struct msim_work_runs *out, const struct msim_work *w,
                      const cJSON *greeting)
{
    struct msim_experiment *e = &out->list[0];
    int64_t groups = w->u.conv.groups > 0 ? w->u.conv.groups : 1;
    int64_t n = w->u.conv.k / groups;
    int64_t k = w->u.conv.c / groups * w->u.conv.r * w->u.conv.s;
    double m = n > 0 && k > 0
                   ? w->flops / (2 * (double)groups * (double)n * (double)k)
                   : 0;
    const int64_t sizes[] = {groups, (int64_t)fmax(m, 1), n, k};

    *e = (struct msim_experiment){.table = MSIM_TABLE_CONV,
                                  .op = msim_conv_pass_text(w->u.conv.pass),
                                  .dtype_word = word_of(w, greeting)};
    e->work.u.conv = w->u.conv;
    e->work.u.conv.groups = groups;
    msim_experiment_complete(e);
    out->n = 1;
    if (!w->u.conv.transposed && w->u.conv.stride_h == w->u.conv.stride_w &&
        w->u.conv.pad_h == w->u.conv.pad_w && w->u.conv.dilation_h <= 1 &&
        w->u.conv.dilation_w <= 1 && e->is_work && is_offered(greeting, e))
        return;
    *out = (struct msim_work_runs){
        .how = MSIM_RUN_PARTS, .why = "no such convolution: a product instead"};
    if (!add_product(out, w, greeting, sizes, true))
        as_bytes(out, w, "no such convolution, and no products of that type");
}

/* ---- vector operators ---------------------------------------------------- */

static bool add_vector(struct msim_work_runs *out, const cJSON *greeting,
                       const char *op, const char *dtype, int64_t rows,
                       int64_t cols)
{
    struct msim_experiment *e = &out->list[out->n];

    *e = (struct msim_experiment){
        .table = MSIM_TABLE_VECTOR, .op = op, .dtype_word = dtype};
    e->work.u.vector.rows = rows;
    e->work.u.vector.cols = cols;
    e->work.u.vector.elems = rows * cols;
    msim_experiment_complete(e);
    out->n++;
    return e->is_work && is_offered(greeting, e);
}

static void find_rows(const struct msim_work *w, int64_t *rows, int64_t *cols)
{
    *rows = w->u.vector.rows;
    *cols = w->u.vector.cols;
    if (w->u.vector.table_rows >= 1 && w->u.vector.row_bytes > 0) {
        *rows = (int64_t)w->u.vector.lookups;
        *cols = (int64_t)(w->u.vector.row_bytes / msim_dtype_bytes(w->dtype));
    }
    if (*rows < 1 || *cols < 1) {
        *rows = 1;
        *cols = w->u.vector.elems;
    }
}

static bool same_bytes(const struct msim_work *a, const struct msim_work *b)
{
    double x = a->bytes_read + a->bytes_written;
    double y = b->bytes_read + b->bytes_written;

    return fabs(x - y) <= SAME_BYTES * fmax(x, y);
}

/* A routine of that name, or of that name in place. */
static bool vector_runs(struct msim_work_runs *out, const struct msim_work *w,
                        const cJSON *greeting)
{
    char changed[64];
    const char *names[] = {
        NULL, msim_vector_op_text(msim_vector_op_parse(msim_work_variant(w)))};
    int64_t rows, cols;

    snprintf(changed, sizeof(changed), "%.60s_", msim_work_variant(w));
    if (w->in_place)
        names[0] = msim_vector_op_text(msim_vector_op_parse(changed));
    find_rows(w, &rows, &cols);
    for (int i = 0; i < 2; i++) {
        struct msim_experiment *e = &out->list[0];

        out->n = 0;
        if (!names[i] || cols < 1 ||
            !add_vector(out, greeting, names[i], msim_dtype_text(w->dtype),
                        rows, cols))
            continue;
        e->u.vector.table_rows = (int64_t)w->u.vector.table_rows;
        msim_experiment_complete(e);
        if (e->u.vector.table_rows > 0 || same_bytes(&e->work, w))
            return true;
    }
    return false;
}

static const char *way_of(const struct msim_work *w)
{
    switch (w->u.vector.copy) {
    case MSIM_COPY_H2D:
        return msim_copy_way_text(MSIM_COPY_WAY_H2D);
    case MSIM_COPY_D2H:
        return msim_copy_way_text(MSIM_COPY_WAY_D2H);
    default:
        return msim_copy_way_text(MSIM_COPY_WAY_D2D);
    }
}

/* What is read is written, in the same order; from host to device where the
 * backend has both. */
static bool copy_runs(struct msim_work_runs *out, const struct msim_work *w,
                      const cJSON *greeting)
{
    double bytes = fmax(w->bytes_read, w->bytes_written);
    struct msim_experiment e = {.table = MSIM_TABLE_COPY, .op = way_of(w)};

    if (w->u.vector.strided || strcmp(msim_work_variant(w), "fill") == 0)
        return false;
    if (strcmp(e.op, "d2d") == 0 || !is_offered(greeting, &e)) {
        if (w->bytes_read != w->bytes_written && strcmp(e.op, "d2d") == 0)
            return false;
        out->list[0] = copy_of(2 * bytes);
    } else {
        e.u.copy.bytes = (uint64_t)fmax(bytes, 1);
        e.u.copy.pageable = w->u.vector.pageable;
        msim_experiment_complete(&e);
        out->list[0] = e;
    }
    out->n = 1;
    return true;
}

/* ---- attention ----------------------------------------------------------- */

/* Rows of the scores, whose type may have no routine. */
static bool add_rows(struct msim_work_runs *out, const struct msim_work *w,
                     const cJSON *greeting, const char *op, double tensors,
                     int64_t rows, int64_t cols)
{
    double bytes =
        tensors * (double)rows * (double)cols * msim_dtype_bytes(w->dtype);

    if (!add_vector(out, greeting, op, msim_dtype_text(w->dtype), rows, cols))
        out->list[out->n - 1] = copy_of(bytes);
    return true;
}

struct scores {
    int64_t batch, queries, keys, size; /* keys: that a query sees, mean */
};

/* The scores, their softmax, and the values weighted by them. */
static bool forward(struct msim_work_runs *out, const struct msim_work *w,
                    const cJSON *greeting, const struct scores *s)
{
    const int64_t score[] = {s->batch, s->queries, s->keys, s->size};
    const int64_t value[] = {s->batch, s->queries, s->size, s->keys};

    return add_product(out, w, greeting, score, true) &&
           add_rows(out, w, greeting, "softmax", 2, s->batch * s->queries,
                    s->keys) &&
           add_product(out, w, greeting, value, false);
}

/* The scores once more, and the gradients of values, weights, queries and keys
 * (Dao, 2023, section 3.1). */
static bool backward(struct msim_work_runs *out, const struct msim_work *w,
                     const cJSON *greeting, const struct scores *s)
{
    const int64_t score[] = {s->batch, s->queries, s->keys, s->size};
    const int64_t to_keys[] = {s->batch, s->keys, s->size, s->queries};
    const int64_t to_queries[] = {s->batch, s->queries, s->size, s->keys};
    int64_t rows = s->batch * s->queries;

    return add_product(out, w, greeting, score, true) &&
           add_rows(out, w, greeting, "softmax", 2, rows, s->keys) &&
           add_product(out, w, greeting, to_keys, false) &&
           add_product(out, w, greeting, score, true) &&
           add_rows(out, w, greeting, "mul", 3, rows, s->keys) &&
           add_product(out, w, greeting, to_queries, false) &&
           add_product(out, w, greeting, to_keys, false);
}

static void attention_runs(struct msim_work_runs *out,
                           const struct msim_work *w, const cJSON *greeting)
{
    struct scores s = {w->u.attention.batch * w->u.attention.heads,
                       w->u.attention.q_len, 1, w->u.attention.head_dim};
    bool done;

    if (s.queries > 0)
        s.keys =
            (int64_t)fmax(msim_attention_pairs(w) / (double)s.queries + 0.5, 1);
    *out = (struct msim_work_runs){.how = MSIM_RUN_PARTS,
                                   .why = "attention is no single routine"};
    done = w->u.attention.backward ? backward(out, w, greeting, &s)
                                   : forward(out, w, greeting, &s);
    if (!done)
        as_bytes(out, w, "attention, whose parts are missing for that type");
}

/* ---- all families -------------------------------------------------------- */

void msim_work_runs_find(struct msim_work_runs *out, const struct msim_work *w,
                         const cJSON *greeting)
{
    *out = (struct msim_work_runs){.how = MSIM_RUN_NATIVE};
    switch (w->family) {
    case MSIM_FAMILY_GEMM:
        gemm_runs(out, w, greeting);
        return;
    case MSIM_FAMILY_CONV:
        conv_runs(out, w, greeting);
        return;
    case MSIM_FAMILY_ATTENTION:
        attention_runs(out, w, greeting);
        return;
    case MSIM_FAMILY_COLLECTIVE:
    case MSIM_FAMILY_DISPATCH:
        *out = (struct msim_work_runs){
            .how = MSIM_RUN_NOT, .why = "one rank alone has no collectives"};
        return;
    case MSIM_FAMILY_COPY:
        if (!copy_runs(out, w, greeting))
            as_bytes(out, w, "a fill, or a copy in another order");
        return;
    case MSIM_FAMILY_MOE:
    case MSIM_FAMILY_OPTIMIZER:
    case MSIM_FAMILY_BOUND:
        as_bytes(out, w, "no routine for that operator");
        return;
    default:
        if (!vector_runs(out, w, greeting))
            as_bytes(out, w, "no routine for that operator and type");
    }
}
