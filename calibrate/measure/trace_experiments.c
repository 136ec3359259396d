/*
 * calibrate/measure/trace_experiments.c - the shapes of a trace as experiments.
 */
#include "calibrate/measure/trace_experiments.h"

#include "core/base/arena.h"
#include "core/base/vec.h"
#include "core/job/job.h"
#include "core/work/opmap/opmap.h"
#include "models/platform/fit.h"
#include "profilers/experiment.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Further than a plan goes: what a job really runs is worth it. */
#define LONGER 10.0

/* ---- a work as an experiment --------------------------------------------- */

static const char *dtype_of(const struct msim_work *w)
{
    return strcmp(msim_work_variant(w), "tf32") == 0
               ? "tf32"
               : msim_dtype_text(w->dtype);
}

static void add_number(cJSON *o, const char *key, int64_t v)
{
    cJSON_AddNumberToObject(o, key, (double)v);
}

static bool gemm_of(cJSON *o, const struct msim_work *w)
{
    char layout[3] = {w->u.gemm.a_transposed ? 'T' : 'N',
                      w->u.gemm.b_transposed ? 'T' : 'N', '\0'};

    cJSON_AddStringToObject(o, "dtype", dtype_of(w));
    add_number(o, "m", w->u.gemm.m);
    add_number(o, "n", w->u.gemm.n);
    add_number(o, "k", w->u.gemm.k);
    add_number(o, "batch", w->u.gemm.batch);
    cJSON_AddStringToObject(o, "layout", layout);
    return true;
}

static bool conv_of(cJSON *o, const struct msim_work *w)
{
    static const char *const OPS[] = {
        [MSIM_CONV_FORWARD] = "conv2d_fwd",
        [MSIM_CONV_BACKWARD_DATA] = "conv2d_bwd_data",
        [MSIM_CONV_BACKWARD_WEIGHT] = "conv2d_bwd_weight",
    };

    cJSON_AddStringToObject(o, "op", OPS[w->u.conv.pass]);
    cJSON_AddStringToObject(o, "dtype", dtype_of(w));
    add_number(o, "n", w->u.conv.n);
    add_number(o, "c", w->u.conv.c);
    add_number(o, "h", w->u.conv.h);
    add_number(o, "w", w->u.conv.w);
    add_number(o, "k", w->u.conv.k);
    add_number(o, "r", w->u.conv.r);
    add_number(o, "s", w->u.conv.s);
    add_number(o, "stride", w->u.conv.stride_h);
    add_number(o, "pad", w->u.conv.pad_h);
    add_number(o, "groups", w->u.conv.groups > 0 ? w->u.conv.groups : 1);
    return !w->u.conv.transposed && w->u.conv.stride_h == w->u.conv.stride_w &&
           w->u.conv.pad_h == w->u.conv.pad_w && w->u.conv.dilation_h <= 1 &&
           w->u.conv.dilation_w <= 1;
}

static bool attention_of(cJSON *o, const struct msim_work *w)
{
    static const char *const PHASES[] = {
        [MSIM_ATTENTION_PREFILL] = "prefill",
        [MSIM_ATTENTION_DECODE] = "decode",
        [MSIM_ATTENTION_ENCODER] = "encoder",
    };

    cJSON_AddStringToObject(o, "phase", PHASES[w->u.attention.phase]);
    cJSON_AddStringToObject(o, "dtype", dtype_of(w));
    add_number(o, "batch", w->u.attention.batch);
    add_number(o, "heads", w->u.attention.heads);
    add_number(o, "kv_heads", w->u.attention.kv_heads);
    add_number(o, "q_len", w->u.attention.q_len);
    add_number(o, "kv_len", w->u.attention.kv_len);
    add_number(o, "head_dim", w->u.attention.head_dim);
    return !w->u.attention.backward && w->u.attention.window == 0;
}

/* The name as tables have it, NULL where none has. */
static const char *own_name(const char *variant)
{
    static const char *const NAMES[] = {
#define X(name, text, kind) text,
        MSIM_VECTOR_MAP(X)
#undef X
    };

    for (size_t i = 0; i < sizeof(NAMES) / sizeof(*NAMES); i++)
        if (strcmp(NAMES[i], variant) == 0)
            return NAMES[i];
    return NULL;
}

/* The operator of a table that is this one, or of its sort: `law` says whether
 * what is changed in place is another. */
static const char *vector_name(const struct msim_work *w,
                               const struct msim_law *law)
{
    double whole = (double)w->u.vector.elems * msim_dtype_bytes(w->dtype);
    char key[MSIM_FIT_KEY];
    const char *name;

    law->key(w, key, sizeof(key));
    name = own_name(key);
    if (!name)
        name = own_name(msim_work_variant(w));
    if (name)
        return name;
    switch (w->family) {
    case MSIM_FAMILY_REDUCTION:
        return "sum";
    case MSIM_FAMILY_SOFTMAX:
        return "softmax";
    case MSIM_FAMILY_NORM:
        return "layer_norm";
    case MSIM_FAMILY_EMBEDDING:
        return "index_select";
    case MSIM_FAMILY_COPY:
        return "copy";
    default:
        return w->bytes_read > 1.5 * whole ? "add" : "relu";
    }
}

/* Of look-ups works have what is fetched in rows of a thousand. */
static bool has_table(const struct msim_work *w)
{
    return w->u.vector.table_rows >= 1 && w->u.vector.row_bytes > 0;
}

static bool vector_of(cJSON *o, const struct msim_work *w,
                      const struct msim_law *law)
{
    const char *name = vector_name(w, law);
    int64_t cols = w->u.vector.cols, rows = w->u.vector.rows;
    char shape[48];

    if (has_table(w)) {
        rows = (int64_t)w->u.vector.lookups;
        cols = (int64_t)(w->u.vector.row_bytes / msim_dtype_bytes(w->dtype));
    }
    if (cols < 1 || rows < 1) {
        rows = 1;
        cols = w->u.vector.elems;
    }
    snprintf(shape, sizeof(shape), "%lldx%lld", (long long)rows,
             (long long)cols);
    cJSON_AddStringToObject(o, "op", name);
    cJSON_AddStringToObject(o, "dtype", dtype_of(w));
    cJSON_AddStringToObject(o, "shape", shape);
    if (has_table(w))
        add_number(o, "table_rows", (int64_t)w->u.vector.table_rows);
    if (strcmp(name, "sum") == 0 || strcmp(name, "dropout") == 0)
        cJSON_AddNumberToObject(o, "bytes", w->bytes_read + w->bytes_written);
    return cols >= 1;
}

/* NULL: collectives and the rest depend on more than a shape. */
static const char *table_of(const struct msim_work *w)
{
    switch (w->family) {
    case MSIM_FAMILY_GEMM:
        return "gemm";
    case MSIM_FAMILY_CONV:
        return "conv";
    case MSIM_FAMILY_ATTENTION:
        return "attention";
    case MSIM_FAMILY_POINTWISE:
    case MSIM_FAMILY_REDUCTION:
    case MSIM_FAMILY_SOFTMAX:
    case MSIM_FAMILY_NORM:
    case MSIM_FAMILY_EMBEDDING:
    case MSIM_FAMILY_COPY:
        return "vector";
    default:
        return NULL;
    }
}

static bool fill(cJSON *o, const struct msim_work *w, bool on_cpu)
{
    switch (w->family) {
    case MSIM_FAMILY_GEMM:
        return gemm_of(o, w);
    case MSIM_FAMILY_CONV:
        return conv_of(o, w);
    case MSIM_FAMILY_ATTENTION:
        return attention_of(o, w);
    default:
        return vector_of(o, w, msim_law_of(w->family, on_cpu));
    }
}

cJSON *msim_cal_of_work(const struct msim_work *w, bool on_cpu)
{
    const char *table = table_of(w);
    cJSON *o = table ? cJSON_CreateObject() : NULL;

    if (o && cJSON_AddStringToObject(o, "table", table) && fill(o, w, on_cpu))
        return o;
    cJSON_Delete(o);
    return NULL;
}

/* ---- a trace ------------------------------------------------------------- */

struct shape {
    cJSON *experiment; /* owned until it is handed out */
    uint64_t hash;
    double us; /* of all calls, guessed */
};

struct shapes {
    struct shape *list;
    uint32_t n, capacity;
};

/* `experiment` is taken. */
static enum msim_status add_shape(struct shapes *s, cJSON *experiment)
{
    static const struct msim_cal_guess GUESS = {1e13, 1e12, 3};
    uint64_t hash = msim_cal_hash(experiment, "");
    double us = msim_cal_expected_us(experiment, &GUESS);
    enum msim_status status;

    for (uint32_t i = 0; i < s->n; i++) {
        if (s->list[i].hash != hash)
            continue;
        s->list[i].us += us;
        cJSON_Delete(experiment);
        return MSIM_OK;
    }
    status = msim_grow((void **)&s->list, &s->capacity, s->n, sizeof(*s->list));
    if (status == MSIM_OK)
        s->list[s->n++] = (struct shape){experiment, hash, us};
    else
        cJSON_Delete(experiment);
    return status;
}

static enum msim_status add_trace(struct shapes *s, const struct msim_trace *t,
                                  bool on_cpu)
{
    enum msim_opmap_place place = msim_opmap_place_of(t, on_cpu);
    struct msim_work works[MSIM_OPMAP_MAX];
    uint32_t n;

    for (uint32_t i = 0; i < t->n_ops; i++) {
        if (msim_opmap(t, NULL, i, -1, place, works, &n) != MSIM_OPMAP_WORKS)
            continue;
        for (uint32_t k = 0; k < n; k++) {
            cJSON *e = msim_cal_of_work(&works[k], on_cpu);

            if (e)
                MSIM_TRY(add_shape(s, e));
        }
    }
    return MSIM_OK;
}

static int by_time(const void *pa, const void *pb)
{
    const struct shape *a = pa, *b = pb;

    if (a->us < b->us || a->us > b->us)
        return a->us > b->us ? -1 : 1;
    return (a->hash > b->hash) - (a->hash < b->hash);
}

/* All into an array, in order; what is left over is let go. */
static cJSON *hand_out(struct shapes *s)
{
    cJSON *all = cJSON_CreateArray();

    if (s->n > 0)
        qsort(s->list, s->n, sizeof(*s->list), by_time);
    for (uint32_t i = 0; i < s->n; i++)
        if (!all || !cJSON_AddItemToArray(all, s->list[i].experiment))
            cJSON_Delete(s->list[i].experiment);
    free(s->list);
    return all;
}

enum msim_status msim_cal_trace_shapes(cJSON **out, const char *path,
                                       struct msim_error *err)
{
    static const struct msim_load_options OPTIONS = {.threads = 1};
    struct shapes shapes = {0};
    struct msim_job *job;
    enum msim_status status;

    *out = NULL;
    MSIM_TRY(msim_job_load(&job, &path, 1, &OPTIONS, err));
    status = MSIM_OK;
    for (uint32_t r = 0; r < job->n_ranks && status == MSIM_OK; r++) {
        status = add_trace(&shapes, job->ranks[r], false);
        if (status == MSIM_OK && job->ranks[r]->cpu_only)
            status = add_trace(&shapes, job->ranks[r], true);
    }
    msim_job_free(job);
    *out = hand_out(&shapes);
    if (*out && status == MSIM_OK)
        return MSIM_OK;
    cJSON_Delete(*out);
    *out = NULL;
    return status == MSIM_OK ? MSIM_ENOMEM : status;
}

/* ---- which of them can be asked ------------------------------------------ */

static bool is_kind(const struct msim_cal_kind *k, const cJSON *experiment)
{
    static const char *const FIRST[] = {"op", "phase"};
    const char *dtype = msim_json_get_text(experiment, "dtype");
    const char *table = msim_json_get_text(experiment, "table");
    char kind[sizeof(k->kind) + 8];

    if (!table || !dtype || strcmp(k->table, table) != 0)
        return false;
    if (strcmp(k->kind, dtype) == 0)
        return true;
    for (size_t i = 0; i < 2; i++) {
        const char *first = msim_json_get_text(experiment, FIRST[i]);

        snprintf(kind, sizeof(kind), "%.40s:%.12s", first ? first : "", dtype);
        if (strcmp(k->kind, kind) == 0)
            return true;
    }
    return false;
}

bool msim_cal_space_offers(const struct msim_cal_space *s,
                           const cJSON *experiment)
{
    if (msim_cal_bytes(experiment) > s->bytes_most ||
        msim_cal_expected_us(experiment, &s->guess) > LONGER * s->longest_us)
        return false;
    for (uint32_t i = 0; i < s->n; i++)
        if (is_kind(&s->kinds[i], experiment))
            return true;
    return false;
}
