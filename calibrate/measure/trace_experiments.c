/*
 * calibrate/measure/trace_experiments.c - the shapes of a trace as experiments.
 */
#include "calibrate/measure/experiment_space.h"

#include "core/base/containers.h"
#include "core/job/job.h"
#include "core/work/opmap/opmap.h"
#include "core/work/work.h"
#include "models/platform/fit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Further than a design goes: what a job really runs is worth it. */
#define LONGER 10.0

/* ---- a work as an experiment --------------------------------------------- */

static const char *dtype_of(const struct msim_work *w)
{
    return strcmp(msim_work_variant(w), "tf32") == 0
               ? "tf32"
               : msim_dtype_text(w->dtype);
}

static bool conv_of(struct msim_experiment *e, const struct msim_work *w)
{
    e->op = msim_conv_pass_text(w->u.conv.pass);
    e->work.u.conv = w->u.conv;
    if (e->work.u.conv.groups < 1)
        e->work.u.conv.groups = 1;
    e->work.u.conv.channels_last = false;
    return !w->u.conv.transposed && w->u.conv.stride_h == w->u.conv.stride_w &&
           w->u.conv.pad_h == w->u.conv.pad_w && w->u.conv.dilation_h <= 1 &&
           w->u.conv.dilation_w <= 1;
}

static bool attention_of(struct msim_experiment *e, const struct msim_work *w)
{
    static const char *const PHASES[] = {
        [MSIM_ATTENTION_PREFILL] = "prefill",
        [MSIM_ATTENTION_DECODE] = "decode",
        [MSIM_ATTENTION_ENCODER] = "encoder",
    };

    e->op = PHASES[w->u.attention.phase];
    e->work.u.attention = w->u.attention;
    return !w->u.attention.backward && w->u.attention.window == 0;
}

/* The name as tables have it, NULL where none has. */
static const char *own_name(const char *variant)
{
    return msim_vector_op_text(msim_vector_op_parse(variant));
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

/* A backend would clear a table of its own choice. */
static bool clears_unknown(const struct msim_experiment *e)
{
    enum msim_vector_op op = msim_vector_op_parse(e->op);

    return op < MSIM_VOP_COUNT &&
           msim_vector_op_kind(op) == MSIM_VECTOR_SCATTER &&
           e->u.vector.table_rows < 1;
}

static bool vector_of(struct msim_experiment *e, const struct msim_work *w,
                      const struct msim_law *law)
{
    int64_t cols, rows;

    msim_work_rows(w, &rows, &cols);
    if (msim_work_has_table(w))
        e->u.vector.table_rows = (int64_t)w->u.vector.table_rows;
    e->op = vector_name(w, law);
    e->work.u.vector.rows = rows;
    e->work.u.vector.cols = cols;
    e->work.u.vector.elems = rows * cols;
    if (strcmp(e->op, "sum") == 0 || strcmp(e->op, "dropout") == 0)
        e->u.vector.bytes = w->bytes_read + w->bytes_written;
    return cols >= 1 && !clears_unknown(e);
}

/* MSIM_TABLE_COUNT: collectives and the rest depend on more than a shape. */
static enum msim_table table_of(const struct msim_work *w)
{
    switch (w->family) {
    case MSIM_FAMILY_GEMM:
        return MSIM_TABLE_GEMM;
    case MSIM_FAMILY_CONV:
        return MSIM_TABLE_CONV;
    case MSIM_FAMILY_ATTENTION:
        return MSIM_TABLE_ATTENTION;
    case MSIM_FAMILY_POINTWISE:
    case MSIM_FAMILY_REDUCTION:
    case MSIM_FAMILY_SOFTMAX:
    case MSIM_FAMILY_NORM:
    case MSIM_FAMILY_EMBEDDING:
    case MSIM_FAMILY_COPY:
        return MSIM_TABLE_VECTOR;
    default:
        return MSIM_TABLE_COUNT;
    }
}

static bool fill(struct msim_experiment *e, const struct msim_work *w,
                 bool on_cpu)
{
    e->dtype_word = dtype_of(w);
    switch (e->table) {
    case MSIM_TABLE_GEMM:
        e->work.u.gemm = w->u.gemm;
        return true;
    case MSIM_TABLE_CONV:
        return conv_of(e, w);
    case MSIM_TABLE_ATTENTION:
        return attention_of(e, w);
    case MSIM_TABLE_VECTOR:
        return vector_of(e, w, msim_law_of(w->family, on_cpu));
    default:
        return false;
    }
}

bool msim_cal_of_work(struct msim_cal_experiment *out,
                      const struct msim_work *w, bool on_cpu)
{
    *out = (struct msim_cal_experiment){.timed.table = table_of(w)};
    if (!fill(&out->timed, w, on_cpu))
        return false;
    msim_experiment_complete(&out->timed);
    return true;
}

/* ---- a trace ------------------------------------------------------------- */

struct shape {
    struct msim_cal_experiment experiment;
    uint64_t hash;
    double us; /* of all calls, guessed */
};

struct shapes {
    struct shape *list; /* owned */
    uint32_t n, capacity;
};

static enum msim_status add_shape(struct shapes *s,
                                  const struct msim_cal_experiment *e)
{
    static const struct msim_cal_guess GUESS = {1e13, 1e12, 3};
    uint64_t hash = msim_cal_hash(e, "");
    double us = msim_cal_expected_us(e, &GUESS);

    for (uint32_t i = 0; i < s->n; i++) {
        if (s->list[i].hash != hash)
            continue;
        s->list[i].us += us;
        return MSIM_OK;
    }
    MSIM_TRY(
        msim_grow((void **)&s->list, &s->capacity, s->n, sizeof(*s->list)));
    s->list[s->n++] = (struct shape){*e, hash, us};
    return MSIM_OK;
}

static enum msim_status add_trace(struct shapes *s, const struct msim_trace *t,
                                  bool on_cpu)
{
    enum msim_opmap_place place = msim_opmap_place_of(t, on_cpu);
    struct msim_work works[MSIM_OPMAP_MAX];
    struct msim_cal_experiment e;
    uint32_t n;

    for (uint32_t i = 0; i < t->n_ops; i++) {
        if (msim_opmap(t, NULL, i, -1, place, works, &n) != MSIM_OPMAP_WORKS)
            continue;
        for (uint32_t k = 0; k < n; k++)
            if (msim_cal_of_work(&e, &works[k], on_cpu))
                MSIM_TRY(add_shape(s, &e));
    }
    return MSIM_OK;
}

static int by_time(const void *pa, const void *pb)
{
    const struct shape *a = pa, *b = pb;

    if (a->us < b->us || a->us > b->us)
        return MSIM_ORDER(b->us, a->us);
    return MSIM_ORDER(a->hash, b->hash);
}

static enum msim_status add_job(struct shapes *s, const struct msim_job *job)
{
    for (uint32_t r = 0; r < job->n_ranks; r++) {
        MSIM_TRY(add_trace(s, job->ranks[r], false));
        if (job->ranks[r]->cpu_only)
            MSIM_TRY(add_trace(s, job->ranks[r], true));
    }
    return MSIM_OK;
}

static enum msim_status sort_out(struct msim_cal_shapes *out, struct shapes *s)
{
    if (s->n > 0)
        qsort(s->list, s->n, sizeof(*s->list), by_time);
    out->list = malloc(((size_t)s->n + 1) * sizeof(*out->list));
    if (!out->list)
        return MSIM_ENOMEM;
    for (out->n = 0; out->n < s->n; out->n++)
        out->list[out->n] = s->list[out->n].experiment;
    return MSIM_OK;
}

enum msim_status msim_cal_trace_shapes(struct msim_cal_shapes *out,
                                       const char *path, struct msim_error *err)
{
    static const struct msim_load_options OPTIONS = {.threads = 1};
    struct shapes shapes = {0};
    struct msim_job *job;
    enum msim_status status;

    *out = (struct msim_cal_shapes){.n = 0};
    MSIM_TRY(msim_job_load(&job, &path, 1, &OPTIONS, err));
    status = add_job(&shapes, job);
    msim_job_free(job);
    if (status == MSIM_OK)
        status = sort_out(out, &shapes);
    free(shapes.list);
    return status;
}

void msim_cal_shapes_release(struct msim_cal_shapes *s)
{
    free(s->list);
    *s = (struct msim_cal_shapes){.n = 0};
}

/* ---- which of them can be asked ------------------------------------------ */

bool msim_cal_space_offers(const struct msim_cal_space *s,
                           const struct msim_cal_experiment *e)
{
    return msim_experiment_bytes(&e->timed) <= s->bytes_most &&
           msim_cal_expected_us(e, &s->guess) <= LONGER * s->longest_us &&
           msim_cal_space_kind(s, &e->timed) < s->n;
}
