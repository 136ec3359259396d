/*
 * core/trace/trace.c - one rank's trace as columns: what ran, where, when, on
 * what.
 */
#include "core/trace/trace.h"

#include <stdlib.h>

_Static_assert(sizeof(struct msim_op) == 80, "a trace has millions of them");

uint32_t msim_dtype_bytes(enum msim_dtype t)
{
    switch (t) {
#define X(name, bytes, text)                                                   \
    case MSIM_DT_##name:                                                       \
        return bytes;
        MSIM_DTYPE_MAP(X)
#undef X
    }
    return 0;
}

const char *msim_dtype_text(enum msim_dtype t)
{
    switch (t) {
#define X(name, bytes, text)                                                   \
    case MSIM_DT_##name:                                                       \
        return text;
        MSIM_DTYPE_MAP(X)
#undef X
    }
    return "unknown";
}

const char *msim_collective_text(enum msim_collective c)
{
    switch (c) {
    case MSIM_COLL_UNKNOWN:
        break;
    case MSIM_COLL_ALL_REDUCE:
        return "all_reduce";
    case MSIM_COLL_REDUCE:
        return "reduce";
    case MSIM_COLL_ALL_GATHER:
        return "all_gather";
    case MSIM_COLL_GATHER:
        return "gather";
    case MSIM_COLL_SCATTER:
        return "scatter";
    case MSIM_COLL_BROADCAST:
        return "broadcast";
    case MSIM_COLL_ALL_TO_ALL:
        return "all_to_all";
    case MSIM_COLL_REDUCE_SCATTER:
        return "reduce_scatter";
    case MSIM_COLL_BARRIER:
        return "barrier";
    case MSIM_COLL_SEND:
        return "send";
    case MSIM_COLL_RECV:
        return "recv";
    case MSIM_COLL_WAIT:
        return "wait";
    }
    return "unknown";
}

void msim_trace_release(struct msim_trace *t)
{
#define X(field, type) free(t->field);
    MSIM_TRACE_COLUMNS(X)
#undef X
    free(t->source);
    msim_trace_free(t->et);
    *t = (struct msim_trace){0};
}

void msim_trace_free(struct msim_trace *t)
{
    if (t)
        msim_trace_release(t);
    free(t);
}

static void renumber_args(struct msim_trace *t, const uint32_t *number)
{
    for (uint32_t i = 0; i < t->n_args; i++)
        if (t->args[i].kind == MSIM_ARG_STR)
            t->args[i].v.i = number[t->args[i].v.i];
}

static void renumber_log(struct msim_import_log *log, const uint32_t *number)
{
    for (uint32_t i = 0; i < MSIM_IMPORT_KINDS + MSIM_IMPORT_NAMES; i++) {
        log->rows[i].name = number[log->rows[i].name];
        log->rows[i].example = number[log->rows[i].example];
    }
}

void msim_trace_renumber(struct msim_trace *t,
                         const struct msim_strtab *strings,
                         const uint32_t *number)
{
#define X(column, text)                                                        \
    for (uint32_t i = 0; i < t->n_##column; i++)                               \
        t->column[i].text = number[t->column[i].text];
    X(ops, name)
    X(ops, schema)
    X(calls, name)
    X(gpu, name)
    X(threads, name)
    X(groups, name)
#undef X
    renumber_args(t, number);
    renumber_log(&t->import, number);
    t->host = number[t->host];
    t->gpu_properties.name = number[t->gpu_properties.name];
    t->strings = strings;
}

uint32_t msim_args_count(const struct msim_trace *t, uint32_t block)
{
    const struct msim_arg *a, *end;
    uint32_t n = 0;

    if (block == MSIM_NONE || t->blocks[block].count == 0)
        return 0;
    a = t->args + t->blocks[block].first;
    end = a + t->blocks[block].count;
    for (; a < end; a = msim_arg_next(a))
        n++;
    return n;
}

const struct msim_arg *msim_args_get(const struct msim_trace *t, uint32_t block,
                                     uint32_t i)
{
    const struct msim_arg *a, *end;

    if (block == MSIM_NONE || t->blocks[block].count == 0)
        return NULL;
    a = t->args + t->blocks[block].first;
    end = a + t->blocks[block].count;
    for (; a < end; a = msim_arg_next(a))
        if (i-- == 0)
            return a;
    return NULL;
}

/* Elements of the sizes whose strides are below `stride`: how far apart two
 * neighbours are where no element is left out. */
static int64_t inside(const int64_t *dims, const int64_t *strides,
                      uint32_t rank, int64_t stride)
{
    double elems = 1;

    for (uint32_t i = 0; i < rank; i++)
        if (dims[i] > 1 && strides[i] < stride)
            elems *= (double)dims[i];
    return msim_whole(elems);
}

enum msim_layout msim_layout_of(const int64_t *dims, const int64_t *strides,
                                uint32_t rank)
{
    int64_t before = INT64_MAX;
    bool turned = false;

    for (uint32_t i = 0; i < rank; i++) {
        if (dims[i] <= 1)
            continue;
        if (strides[i] != inside(dims, strides, rank, strides[i]))
            return MSIM_LAYOUT_GAPS;
        turned |= strides[i] > before;
        before = strides[i];
    }
    return turned ? MSIM_LAYOUT_TURNED : MSIM_LAYOUT_PLAIN;
}

uint64_t msim_arg_elems(const struct msim_trace *t, const struct msim_arg *a)
{
    const int64_t *dims;
    uint64_t n = 1;
    uint32_t i;

    if (a->kind != MSIM_ARG_TENSOR)
        return 0;
    dims = msim_arg_dims(t, a);
    for (i = 0; i < a->n; i++) {
        uint64_t d = dims[i] > 0 ? (uint64_t)dims[i] : 0;

        if (d && n > UINT64_MAX / d)
            return UINT64_MAX;
        n *= d;
    }
    return n;
}
