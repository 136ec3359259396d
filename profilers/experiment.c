/*
 * profilers/experiment.c - what an experiment's line asks for, checked.
 */
#include "profilers/experiment.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const TIMED[] = {
#define X(name, text) text,
    MSIM_TIMED_MAP(X)
#undef X
};

static const struct {
    const char *text;
    enum msim_vector_kind kind;
} VECTOR[] = {
#define X(name, text, kind) {text, MSIM_VECTOR_##kind},
    MSIM_VECTOR_MAP(X)
#undef X
};

static const char *const LATENCY[] = {
#define X(name, text, what) text,
    MSIM_LATENCY_MAP(X)
#undef X
};

static const char *const COPIED[] = {
#define X(name, text) text,
    MSIM_COPY_WAY_MAP(X)
#undef X
};

const char *msim_timed_text(enum msim_timed t)
{
    return TIMED[t];
}

const char *msim_vector_op_text(enum msim_vector_op op)
{
    return VECTOR[op].text;
}

enum msim_vector_kind msim_vector_op_kind(enum msim_vector_op op)
{
    return VECTOR[op].kind;
}

const char *msim_latency_text(enum msim_latency l)
{
    return LATENCY[l];
}

const char *msim_copy_way_text(enum msim_copy_way c)
{
    return COPIED[c];
}

const char *msim_experiment_dtype(const struct msim_experiment *e)
{
    return e->tf32 ? "tf32" : msim_dtype_text(e->dtype);
}

/* ---- one line -------------------------------------------------------- */

struct line {
    const cJSON *o;
    struct msim_error *err;
    enum msim_status status; /* the first failure */
};

MSIM_PRINTF(2, 3)
static void refuse(struct line *l, const char *fmt, ...)
{
    char text[256];
    va_list ap;

    if (l->status != MSIM_OK)
        return;
    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    l->status =
        msim_fail(l->err, MSIM_EFORMAT, NULL, MSIM_OFFSET_NONE, "%s", text);
}

/* The text of a member, or NULL where it is absent or empty. */
static const char *text(const struct line *l, const char *key)
{
    const char *t = msim_json_get_text(l->o, key);

    return t && *t ? t : NULL;
}

/* The number of a member, from `least` on; `missing` where it is absent, which
 * is refused where that is less. */
static int64_t number(struct line *l, const char *key, int64_t least,
                      int64_t missing)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(l->o, key);
    double v;

    if (!item && missing >= least)
        return missing;
    v = cJSON_IsNumber(item) ? item->valuedouble : (double)least - 1;
    if (v >= (double)least && v < 1e15 && floor(v) == v)
        return (int64_t)v;
    refuse(l, "'%s' is %s, want a whole number from %lld", key,
           item ? "something else" : "missing", (long long)least);
    return least > 0 ? least : 1;
}

/* Which of `n` words a member is; 0 after a refusal. `stride` is from one
 * word's pointer to the next. */
static size_t word(struct line *l, const char *key, const char *const *words,
                   size_t stride, size_t n)
{
    const char *t = text(l, key);

    for (size_t i = 0; t && i < n; i++)
        if (strcmp(*(const char *const *)((const char *)words + i * stride),
                   t) == 0)
            return i;
    refuse(l, "'%s' is '%.40s', which is not known", key, t ? t : "");
    return 0;
}

static bool yes(struct line *l, const char *key, const char *const words[2],
                bool missing)
{
    return text(l, key) ? word(l, key, words, sizeof(*words), 2) == 1 : missing;
}

static void read_dtype(struct line *l, struct msim_experiment *e,
                       const char *missing)
{
    static const struct {
        const char *text;
        enum msim_dtype dtype;
    } WORDS[] = {
        {"fp64", MSIM_DT_F64},      {"double", MSIM_DT_F64},
        {"float64", MSIM_DT_F64},   {"fp32", MSIM_DT_F32},
        {"float", MSIM_DT_F32},     {"float32", MSIM_DT_F32},
        {"tf32", MSIM_DT_F32},      {"fp16", MSIM_DT_F16},
        {"half", MSIM_DT_F16},      {"float16", MSIM_DT_F16},
        {"bfloat16", MSIM_DT_BF16}, {"bf16", MSIM_DT_BF16},
        {"fp8", MSIM_DT_F8},        {"int8", MSIM_DT_I8},
        {"uint8", MSIM_DT_U8},      {"int32", MSIM_DT_I32},
        {"int64", MSIM_DT_I64},
    };
    const char *t = text(l, "dtype") ? text(l, "dtype") : missing;

    for (size_t i = 0; t && i < sizeof(WORDS) / sizeof(*WORDS); i++) {
        if (strcmp(WORDS[i].text, t) != 0)
            continue;
        e->dtype = WORDS[i].dtype;
        e->tf32 = strcmp(t, "tf32") == 0;
        return;
    }
    refuse(l, "'dtype' is '%.40s', which is not known", t ? t : "");
}

/* ---- the tables ------------------------------------------------------ */

static void read_gemm(struct line *l, struct msim_experiment *e)
{
    const char *layout = text(l, "layout") ? text(l, "layout") : "NT";

    read_dtype(l, e, NULL);
    e->u.gemm.m = number(l, "m", 1, 0);
    e->u.gemm.n = number(l, "n", 1, 0);
    e->u.gemm.k = number(l, "k", 1, 0);
    e->u.gemm.batch = number(l, "batch", 1, 1);
    if (strspn(layout, "NT") != 2 || strlen(layout) != 2)
        refuse(l, "'layout' is '%.40s', want NN, NT, TN or TT", layout);
    e->u.gemm.a_transposed = layout[0] == 'T';
    e->u.gemm.b_transposed = layout[0] && layout[1] == 'T';
}

static void read_attention(struct line *l, struct msim_experiment *e)
{
    read_dtype(l, e, NULL);
    e->u.attention.phase = text(l, "phase");
    if (!e->u.attention.phase)
        refuse(l, "'phase' is missing, want prefill, decode or encoder");
    e->u.attention.batch = number(l, "batch", 1, 0);
    e->u.attention.heads = number(l, "heads", 1, 0);
    e->u.attention.kv_heads = number(l, "kv_heads", 1, e->u.attention.heads);
    e->u.attention.q_len = number(l, "q_len", 1, 0);
    e->u.attention.kv_len = number(l, "kv_len", 1, 0);
    e->u.attention.head_dim = number(l, "head_dim", 1, 0);
    e->u.attention.window = number(l, "window", 0, 0);
}

/* "1000x18x128": how many elements, and the last size. */
static void read_shape(struct line *l, struct msim_experiment *e)
{
    const char *shape = text(l, "shape");
    double elems = 1, last = 1;
    char *end = NULL;

    e->u.vector.elems = e->u.vector.rows = e->u.vector.cols = 1;
    if (!shape) {
        refuse(l, "'shape' is missing, want sizes such as 1000x512");
        return;
    }
    for (const char *at = shape; at; at = *end ? end + 1 : NULL) {
        last = strtod(at, &end);
        elems *= last;
        if (end == at || (*end && *end != 'x') || !(last >= 1) ||
            !(elems < 1e15) || floor(last) != last) {
            refuse(l, "'shape' is '%.40s', want sizes such as 1000x512", shape);
            return;
        }
    }
    e->u.vector.elems = (int64_t)elems;
    e->u.vector.cols = (int64_t)last;
    e->u.vector.rows = e->u.vector.elems / e->u.vector.cols;
}

static void read_vector(struct line *l, struct msim_experiment *e)
{
    read_dtype(l, e, NULL);
    e->u.vector.op = (enum msim_vector_op)word(
        l, "op", &VECTOR[0].text, sizeof(VECTOR[0]), MSIM_VOP_COUNT);
    read_shape(l, e);
    e->u.vector.table_rows = number(l, "table_rows", 1, 65536);
}

static void read_conv(struct line *l, struct msim_experiment *e)
{
    static const char *const WAYS[] = {"conv2d_fwd", "conv2d_bwd_data",
                                       "conv2d_bwd_weight"};

    read_dtype(l, e, "fp32");
    e->u.conv.way = MSIM_CONV_WAY_FORWARD;
    if (text(l, "op"))
        e->u.conv.way =
            (enum msim_conv_way)word(l, "op", WAYS, sizeof(*WAYS), 3);
    e->u.conv.n = number(l, "n", 1, 0);
    e->u.conv.c = number(l, "c", 1, 0);
    e->u.conv.h = number(l, "h", 1, 0);
    e->u.conv.w = number(l, "w", 1, 0);
    e->u.conv.k = number(l, "k", 1, 0);
    e->u.conv.r = number(l, "r", 1, 0);
    e->u.conv.s = number(l, "s", 1, 0);
    e->u.conv.stride = number(l, "stride", 1, 1);
    e->u.conv.pad = number(l, "pad", 0, 0);
    e->u.conv.groups = number(l, "groups", 1, 1);
    if (e->u.conv.h + 2 * e->u.conv.pad < e->u.conv.r ||
        e->u.conv.w + 2 * e->u.conv.pad < e->u.conv.s)
        refuse(l, "the filter is larger than the padded picture");
    if (e->u.conv.c % e->u.conv.groups || e->u.conv.k % e->u.conv.groups)
        refuse(l, "%lld groups do not divide the channels",
               (long long)e->u.conv.groups);
    e->u.conv.out_h =
        (e->u.conv.h + 2 * e->u.conv.pad - e->u.conv.r) / e->u.conv.stride + 1;
    e->u.conv.out_w =
        (e->u.conv.w + 2 * e->u.conv.pad - e->u.conv.s) / e->u.conv.stride + 1;
}

static enum msim_collective read_what(struct line *l)
{
    static const struct {
        const char *text;
        enum msim_collective collective;
    } WORDS[] = {
        {"all_reduce", MSIM_COLL_ALL_REDUCE},
        {"all_gather", MSIM_COLL_ALL_GATHER},
        {"reduce_scatter", MSIM_COLL_REDUCE_SCATTER},
        {"alltoall", MSIM_COLL_ALL_TO_ALL},
        {"all_to_all", MSIM_COLL_ALL_TO_ALL},
        {"broadcast", MSIM_COLL_BROADCAST},
        {"reduce", MSIM_COLL_REDUCE},
        {"gather", MSIM_COLL_GATHER},
        {"scatter", MSIM_COLL_SCATTER},
        {"send_recv", MSIM_COLL_SEND},
        {"sendrecv", MSIM_COLL_SEND},
        {"barrier", MSIM_COLL_BARRIER},
    };

    return WORDS[word(l, "collective", &WORDS[0].text, sizeof(WORDS[0]),
                      sizeof(WORDS) / sizeof(*WORDS))]
        .collective;
}

static void read_collective(struct line *l, struct msim_experiment *e)
{
    read_dtype(l, e, "fp32");
    e->u.collective.collective = read_what(l);
    e->u.collective.bytes = (uint64_t)number(l, "bytes", 0, -1);
    e->u.collective.ranks = number(l, "ranks", 1, 0);
    e->u.collective.nodes = number(l, "nodes", 1, 1);
}

static void read_copy(struct line *l, struct msim_experiment *e)
{
    static const char *const MEMORY[] = {"pinned", "pageable"};

    e->u.copy.op = (enum msim_copy_way)word(l, "op", COPIED, sizeof(*COPIED),
                                            MSIM_COPY_WAY_COUNT);
    e->u.copy.bytes = (uint64_t)number(l, "bytes", 1, 0);
    e->u.copy.pageable = yes(l, "memory", MEMORY, false);
}

static void read_latency(struct line *l, struct msim_experiment *e)
{
    e->u.latency = (enum msim_latency)word(l, "op", LATENCY, sizeof(*LATENCY),
                                           MSIM_LATENCY_COUNT);
}

enum msim_status msim_experiment_read(struct msim_experiment *out,
                                      const cJSON *line, struct msim_error *err)
{
    static void (*const READ[])(struct line *, struct msim_experiment *) = {
        [MSIM_TIMED_GEMM] = read_gemm,
        [MSIM_TIMED_ATTENTION] = read_attention,
        [MSIM_TIMED_VECTOR] = read_vector,
        [MSIM_TIMED_CONV] = read_conv,
        [MSIM_TIMED_COLLECTIVE] = read_collective,
        [MSIM_TIMED_COPY] = read_copy,
        [MSIM_TIMED_LATENCY] = read_latency,
    };
    static const char *const CACHE[] = {"cold", "warm"};
    struct line l = {.o = line, .err = err, .status = MSIM_OK};

    *out = (struct msim_experiment){0};
    out->table = (enum msim_timed)word(&l, "table", TIMED, sizeof(*TIMED),
                                       MSIM_TIMED_COUNT);
    MSIM_TRY(l.status);
    out->warm = yes(&l, "cache", CACHE, false);
    out->concurrent = cJSON_GetObjectItemCaseSensitive(line, "beside");
    if (out->concurrent && !cJSON_IsObject(out->concurrent))
        refuse(&l, "'beside' is something else, want an experiment");
    READ[out->table](&l, out);
    return l.status;
}

/* ---- sizes ----------------------------------------------------------- */

void msim_collective_elems(enum msim_collective c, uint64_t bytes,
                           int64_t ranks, uint32_t elem_bytes, uint64_t *in,
                           uint64_t *out)
{
    uint64_t whole = bytes / elem_bytes, share;

    share = whole / (uint64_t)ranks ? whole / (uint64_t)ranks : 1;
    *in = *out = whole ? whole : 1;
    if (c == MSIM_COLL_ALL_GATHER) {
        *in = share;
        *out = share * (uint64_t)ranks;
    } else if (c == MSIM_COLL_REDUCE_SCATTER) {
        *in = share * (uint64_t)ranks;
        *out = share;
    } else if (c == MSIM_COLL_ALL_TO_ALL) {
        *in = *out = share * (uint64_t)ranks;
    }
}

static double vector_bytes(const struct msim_experiment *e)
{
    double each = msim_dtype_bytes(e->dtype);
    double elems = (double)e->u.vector.elems;

    switch (VECTOR[e->u.vector.op].kind) {
    case MSIM_VECTOR_MADE:
    case MSIM_VECTOR_CHANGED:
        return elems * each;
    case MSIM_VECTOR_BINARY:
        return 3 * elems * each;
    case MSIM_VECTOR_DROPOUT:
        return 2 * elems * each + elems;
    case MSIM_VECTOR_REDUCE:
        return (elems + (double)e->u.vector.rows) * each;
    case MSIM_VECTOR_NORM:
        return 2 * (elems + (double)e->u.vector.cols) * each;
    case MSIM_VECTOR_NORM_BACKWARD:
        return (3 * elems + 4 * (double)e->u.vector.cols) * each;
    case MSIM_VECTOR_BATCH_NORM:
        return 2 * elems * each + 4 * (double)e->u.vector.rows * 4;
    case MSIM_VECTOR_BATCH_NORM_BACKWARD:
        return 3 * elems * each + 7 * (double)e->u.vector.rows * 4;
    case MSIM_VECTOR_GATHER:
    case MSIM_VECTOR_SCATTER:
        return (elems +
                (double)e->u.vector.table_rows * (double)e->u.vector.cols) *
                   each +
               8 * (double)e->u.vector.rows;
    default:
        return 2 * elems * each;
    }
}

static double conv_bytes(const struct msim_experiment *e)
{
    double n = (double)e->u.conv.n, c = (double)e->u.conv.c;
    double k = (double)e->u.conv.k;

    return msim_dtype_bytes(e->dtype) *
           (n * c * (double)e->u.conv.h * (double)e->u.conv.w +
            n * k * (double)e->u.conv.out_h * (double)e->u.conv.out_w +
            k * c / (double)e->u.conv.groups * (double)e->u.conv.r *
                (double)e->u.conv.s);
}

static double gemm_bytes(const struct msim_experiment *e)
{
    double m = (double)e->u.gemm.m, n = (double)e->u.gemm.n;
    double k = (double)e->u.gemm.k, each = msim_dtype_bytes(e->dtype);
    double result = each;

    if (e->dtype == MSIM_DT_I8)
        result = 4;
    else if (e->dtype == MSIM_DT_F8)
        result = 2;
    return (double)e->u.gemm.batch * ((m * k + k * n) * each + m * n * result);
}

static double attention_bytes(const struct msim_experiment *e)
{
    double queries =
        (double)e->u.attention.heads * (double)e->u.attention.q_len;
    double keys =
        (double)e->u.attention.kv_heads * (double)e->u.attention.kv_len;

    return 2 * (queries + keys) * (double)e->u.attention.batch *
           (double)e->u.attention.head_dim * msim_dtype_bytes(e->dtype);
}

static double collective_bytes(const struct msim_experiment *e)
{
    uint32_t each = msim_dtype_bytes(e->dtype);
    uint64_t in, out;

    msim_collective_elems(e->u.collective.collective, e->u.collective.bytes,
                          e->u.collective.ranks, each, &in, &out);
    return ((double)in + (double)out) * each;
}

double msim_experiment_bytes(const struct msim_experiment *e)
{
    switch (e->table) {
    case MSIM_TIMED_GEMM:
        return gemm_bytes(e);
    case MSIM_TIMED_ATTENTION:
        return attention_bytes(e);
    case MSIM_TIMED_VECTOR:
        return vector_bytes(e);
    case MSIM_TIMED_CONV:
        return conv_bytes(e);
    case MSIM_TIMED_COLLECTIVE:
        return collective_bytes(e);
    case MSIM_TIMED_COPY:
        return (e->u.copy.op == MSIM_COPY_WAY_D2D ? 2 : 1) *
               (double)e->u.copy.bytes;
    default:
        return 0;
    }
}
