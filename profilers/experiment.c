/*
 * profilers/experiment.c - read an experiment from its line, and check it.
 *
 * A reader fills in words and sizes and refuses wrong ones.
 * msim_experiment_complete() turns words into enums and sizes into a counted
 * work; a calibration, which makes experiments itself, uses it alone.
 */
#include "profilers/experiment.h"

#include "core/work/work.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const LATENCY[] = {
#define X(name, text, what) text,
    MSIM_LATENCY_MAP(X)
#undef X
};

static const char *const COPY_WAY[] = {
#define X(name, text) text,
    MSIM_COPY_WAY_MAP(X)
#undef X
};

const char *msim_latency_text(enum msim_latency l)
{
    return LATENCY[l];
}

const char *msim_copy_way_text(enum msim_copy_way c)
{
    return COPY_WAY[c];
}

const char *msim_experiment_dtype(const struct msim_experiment *e)
{
    return e->tf32 ? "tf32" : msim_dtype_text(e->dtype);
}

/* ---- words --------------------------------------------------------------- */

/* Which of `n` words `text` is, `n` where it is none. */
static size_t word(const char *text, const char *const *words, size_t n)
{
    size_t i = 0;

    while (i < n && (!text || strcmp(words[i], text) != 0))
        i++;
    return i;
}

static bool is(const char *text, const char *word)
{
    return text && strcmp(text, word) == 0;
}

/* Weights are not packed here: of dtypes that say more than their size tf32
 * alone is known. */
static enum msim_dtype dtype_of(const char *text)
{
    const char *variant = NULL;
    enum msim_dtype dtype =
        text ? msim_dtype_parse(text, &variant) : MSIM_DT_UNKNOWN;

    return !variant || is(variant, "tf32") ? dtype : MSIM_DT_UNKNOWN;
}

static enum msim_collective collective_of(const char *text)
{
    return text ? msim_collective_parse(text) : MSIM_COLL_UNKNOWN;
}

/* The forward pass where none is said; false for no known word. */
static bool find_pass(const char *text, enum msim_conv_pass *pass)
{
    *pass = MSIM_CONV_FORWARD;
    return !text || msim_conv_pass_parse(text, pass);
}

static bool is_pass(const char *text)
{
    enum msim_conv_pass pass;

    return find_pass(text, &pass);
}

/* Only products and convolutions are rounded to tf32. */
static void set_dtype(struct msim_experiment *e)
{
    bool plain = !e->dtype_word && (e->table == MSIM_TABLE_CONV ||
                                    e->table == MSIM_TABLE_COLLECTIVE);

    e->tf32 = is(e->dtype_word, "tf32");
    e->dtype = plain ? MSIM_DT_F32 : dtype_of(e->dtype_word);
    e->work.dtype =
        plain && e->table == MSIM_TABLE_COLLECTIVE ? MSIM_DT_UNKNOWN : e->dtype;
    e->work.variant = e->tf32 ? "tf32" : NULL;
}

static void set_phase(struct msim_experiment *e)
{
    e->work.family = MSIM_FAMILY_ATTENTION;
    e->work.u.attention.kv_dtype = e->dtype;
    e->work.u.attention.phase = is(e->op, "prefill")  ? MSIM_ATTENTION_PREFILL
                                : is(e->op, "decode") ? MSIM_ATTENTION_DECODE
                                                      : MSIM_ATTENTION_ENCODER;
}

/* Enums of the table's words. */
static void set_words(struct msim_experiment *e)
{
    set_dtype(e);
    e->work.kernels = 1;
    switch (e->table) {
    case MSIM_TABLE_GEMM:
        e->work.family = MSIM_FAMILY_GEMM;
        break;
    case MSIM_TABLE_ATTENTION:
        set_phase(e);
        break;
    case MSIM_TABLE_VECTOR:
        e->u.vector.op = msim_vector_op_parse(e->op);
        break;
    case MSIM_TABLE_CONV:
        e->work.family = MSIM_FAMILY_CONV;
        (void)find_pass(e->op, &e->work.u.conv.pass);
        break;
    case MSIM_TABLE_COLLECTIVE:
        e->work.family = MSIM_FAMILY_COLLECTIVE;
        e->work.u.coll.collective = collective_of(e->op);
        break;
    case MSIM_TABLE_COPY:
        e->u.copy.op =
            (enum msim_copy_way)word(e->op, COPY_WAY, MSIM_COPY_WAY_COUNT);
        break;
    case MSIM_TABLE_LATENCY:
        e->u.latency =
            (enum msim_latency)word(e->op, LATENCY, MSIM_LATENCY_COUNT);
        break;
    default:
        break;
    }
}

/* ---- sizes --------------------------------------------------------------- */

static bool all_positive(const int64_t *sizes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (sizes[i] < 1)
            return false;
    return true;
}

static bool count_gemm(struct msim_experiment *e)
{
    const int64_t sizes[] = {e->work.u.gemm.m, e->work.u.gemm.n,
                             e->work.u.gemm.k, e->work.u.gemm.batch};

    return all_positive(sizes, 4) && e->dtype != MSIM_DT_UNKNOWN;
}

static bool count_attention(struct msim_experiment *e)
{
    const int64_t sizes[] = {
        e->work.u.attention.batch,    e->work.u.attention.heads,
        e->work.u.attention.kv_heads, e->work.u.attention.q_len,
        e->work.u.attention.kv_len,   e->work.u.attention.head_dim};
    bool known = is(e->op, "prefill") || is(e->op, "decode") ||
                 (e->op && strncmp(e->op, "encoder", 7) == 0);

    return all_positive(sizes, 6) && known && !e->tf32 &&
           e->dtype != MSIM_DT_UNKNOWN;
}

static bool count_conv(struct msim_experiment *e)
{
    const int64_t sizes[] = {
        e->work.u.conv.n, e->work.u.conv.c,        e->work.u.conv.h,
        e->work.u.conv.w, e->work.u.conv.k,        e->work.u.conv.r,
        e->work.u.conv.s, e->work.u.conv.stride_h, e->work.u.conv.groups};

    e->work.u.conv.dilation_h = e->work.u.conv.dilation_w = 1;
    if (!all_positive(sizes, 9) || e->dtype == MSIM_DT_UNKNOWN ||
        !is_pass(e->op))
        return false;
    msim_conv_output(&e->work, &e->u.conv.out_h, &e->u.conv.out_w);
    return true;
}

static bool count_vector(struct msim_experiment *e)
{
    double bytes = e->u.vector.bytes;

    if (!e->op || e->tf32 || e->dtype == MSIM_DT_UNKNOWN ||
        e->work.u.vector.cols < 1 || !(bytes >= 0 && floor(bytes) == bytes))
        return false;
    msim_vector_name_count(&e->work, e->op, bytes,
                           (double)e->u.vector.table_rows);
    return true;
}

static bool count_collective(struct msim_experiment *e)
{
    return e->work.u.coll.collective != MSIM_COLL_UNKNOWN && !e->tf32 &&
           (!e->dtype_word || e->dtype != MSIM_DT_UNKNOWN) &&
           e->work.u.coll.ranks >= 1 && e->work.u.coll.nodes >= 1;
}

static void count(struct msim_experiment *e)
{
    static bool (*const COUNT[MSIM_TABLE_COUNT])(struct msim_experiment *) = {
        [MSIM_TABLE_GEMM] = count_gemm,
        [MSIM_TABLE_ATTENTION] = count_attention,
        [MSIM_TABLE_VECTOR] = count_vector,
        [MSIM_TABLE_CONV] = count_conv,
        [MSIM_TABLE_COLLECTIVE] = count_collective,
    };

    e->is_work =
        e->table < MSIM_TABLE_COUNT && COUNT[e->table] && COUNT[e->table](e);
    if (e->is_work && e->table != MSIM_TABLE_VECTOR &&
        e->table != MSIM_TABLE_COLLECTIVE)
        msim_work_count(&e->work);
}

void msim_experiment_complete(struct msim_experiment *e)
{
    set_words(e);
    count(e);
}

/* ---- one line ------------------------------------------------------------ */

struct line {
    const cJSON *o;
    struct msim_error *err;
    enum msim_status status; /* the first failure */
    bool any;                /* words need not be ours */
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
    refuse(l, "'%s' is %s, want a whole number from %lld%s", key,
           item ? "something else" : "missing", (long long)least,
           v >= 1e15 ? " to below 1e15" : "");
    return least > 0 ? least : 1;
}

/* A word that led to nothing. */
static void want(struct line *l, bool known, const char *key)
{
    const char *t = text(l, key);

    if (!known)
        refuse(l, "'%s' is '%.40s', which is not known", key, t ? t : "");
}

static bool yes(struct line *l, const char *key, const char *const words[2],
                bool missing)
{
    size_t i = word(text(l, key), words, 2);

    if (!text(l, key))
        return missing;
    want(l, i < 2, key);
    return i == 1;
}

/* ---- the tables ---------------------------------------------------------- */

static void want_dtype(struct line *l, const struct msim_experiment *e)
{
    want(l, e->dtype != MSIM_DT_UNKNOWN, "dtype");
}

static void read_gemm(struct line *l, struct msim_experiment *e)
{
    const char *layout = text(l, "layout") ? text(l, "layout") : "NT";

    want_dtype(l, e);
    e->work.u.gemm.m = number(l, "m", 1, 0);
    e->work.u.gemm.n = number(l, "n", 1, 0);
    e->work.u.gemm.k = number(l, "k", 1, 0);
    e->work.u.gemm.batch = number(l, "batch", 1, 1);
    if (strspn(layout, "NT") != 2 || strlen(layout) != 2)
        refuse(l, "'layout' is '%.40s', want NN, NT, TN or TT", layout);
    e->work.u.gemm.a_transposed = layout[0] == 'T';
    e->work.u.gemm.b_transposed = layout[0] && layout[1] == 'T';
}

static void read_attention(struct line *l, struct msim_experiment *e)
{
    want_dtype(l, e);
    if (!e->op)
        refuse(l, "'phase' is missing, want prefill, decode or encoder");
    e->work.u.attention.batch = number(l, "batch", 1, 0);
    e->work.u.attention.heads = number(l, "heads", 1, 0);
    e->work.u.attention.kv_heads =
        number(l, "kv_heads", 1, e->work.u.attention.heads);
    e->work.u.attention.q_len = number(l, "q_len", 1, 0);
    e->work.u.attention.kv_len = number(l, "kv_len", 1, 0);
    e->work.u.attention.head_dim = number(l, "head_dim", 1, 0);
    e->work.u.attention.window = number(l, "window", 0, 0);
}

/* "1000x18x128": how many elements, and the last size. */
static void read_shape(struct line *l, struct msim_work *w)
{
    const char *shape = text(l, "shape");
    double elems = 1, last = 1;
    char *end = NULL;

    w->u.vector.elems = w->u.vector.rows = w->u.vector.cols = 1;
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
    w->u.vector.elems = (int64_t)elems;
    w->u.vector.cols = (int64_t)last;
    w->u.vector.rows = w->u.vector.elems / w->u.vector.cols;
}

static void read_vector(struct line *l, struct msim_experiment *e)
{
    want_dtype(l, e);
    want(l, e->u.vector.op < MSIM_VOP_COUNT || l->any, "op");
    read_shape(l, &e->work);
    e->u.vector.bytes = msim_json_get_number(l->o, "bytes", 0);
    if (cJSON_HasObjectItem(l->o, "table_rows"))
        e->u.vector.table_rows = number(l, "table_rows", 1, 0);
}

static void read_conv(struct line *l, struct msim_experiment *e)
{
    struct msim_work *w = &e->work;

    want_dtype(l, e);
    want(l, is_pass(e->op), "op");
    w->u.conv.n = number(l, "n", 1, 0);
    w->u.conv.c = number(l, "c", 1, 0);
    w->u.conv.h = number(l, "h", 1, 0);
    w->u.conv.w = number(l, "w", 1, 0);
    w->u.conv.k = number(l, "k", 1, 0);
    w->u.conv.r = number(l, "r", 1, 0);
    w->u.conv.s = number(l, "s", 1, 0);
    w->u.conv.stride_h = w->u.conv.stride_w = number(l, "stride", 1, 1);
    w->u.conv.pad_h = w->u.conv.pad_w = number(l, "pad", 0, 0);
    w->u.conv.groups = number(l, "groups", 1, 1);
    if (w->u.conv.h + 2 * w->u.conv.pad_h < w->u.conv.r ||
        w->u.conv.w + 2 * w->u.conv.pad_w < w->u.conv.s)
        refuse(l, "the filter is larger than the padded picture");
    if (w->u.conv.c % w->u.conv.groups || w->u.conv.k % w->u.conv.groups)
        refuse(l, "%lld groups do not divide the channels",
               (long long)w->u.conv.groups);
}

static void read_collective(struct line *l, struct msim_experiment *e)
{
    want_dtype(l, e);
    want(l, e->work.u.coll.collective != MSIM_COLL_UNKNOWN, "collective");
    e->work.u.coll.bytes = (uint64_t)number(l, "bytes", 0, -1);
    e->work.u.coll.ranks = (uint32_t)number(l, "ranks", 1, 0);
    e->work.u.coll.nodes = (uint32_t)number(l, "nodes", 1, 1);
    e->work.u.coll.interconnect = text(l, "interconnect");
    e->work.u.coll.algorithm = text(l, "algorithm");
    e->work.u.coll.setting = text(l, "setting");
}

static void read_copy(struct line *l, struct msim_experiment *e)
{
    static const char *const MEMORY[] = {"pinned", "pageable"};

    want(l, e->u.copy.op < MSIM_COPY_WAY_COUNT || l->any, "op");
    e->u.copy.bytes = (uint64_t)number(l, "bytes", 1, 0);
    e->u.copy.pageable = yes(l, "memory", MEMORY, false);
}

static void read_latency(struct line *l, struct msim_experiment *e)
{
    want(l, e->u.latency < MSIM_LATENCY_COUNT || l->any, "op");
}

static void read_table(struct line *l, struct msim_experiment *e)
{
    static void (*const READ[MSIM_TABLE_COUNT])(struct line *,
                                                struct msim_experiment *) = {
        [MSIM_TABLE_GEMM] = read_gemm,
        [MSIM_TABLE_ATTENTION] = read_attention,
        [MSIM_TABLE_VECTOR] = read_vector,
        [MSIM_TABLE_CONV] = read_conv,
        [MSIM_TABLE_COLLECTIVE] = read_collective,
        [MSIM_TABLE_COPY] = read_copy,
        [MSIM_TABLE_LATENCY] = read_latency,
    };
    static const char *const CACHE[] = {"cold", "warm"};
    bool known = e->table < MSIM_TABLE_COUNT && READ[e->table];

    want(l, known, "table");
    if (!known)
        return;
    e->warm = yes(l, "cache", CACHE, false);
    e->concurrent = cJSON_GetObjectItemCaseSensitive(l->o, "beside");
    if (e->concurrent && !cJSON_IsObject(e->concurrent))
        refuse(l, "'beside' is something else, want an experiment");
    READ[e->table](l, e);
}

static void read(struct line *l, struct msim_experiment *e)
{
    *e = (struct msim_experiment){
        .table = msim_table_parse(text(l, "table")),
        .dtype_word = text(l, "dtype"),
    };
    e->op = text(l, e->table == MSIM_TABLE_COLLECTIVE  ? "collective"
                    : e->table == MSIM_TABLE_ATTENTION ? "phase"
                                                       : "op");
    set_words(e);
    read_table(l, e);
    count(e);
    e->is_work &= l->status == MSIM_OK;
}

enum msim_status msim_experiment_read(struct msim_experiment *out,
                                      const cJSON *line, struct msim_error *err)
{
    struct line l = {.o = line, .err = err, .status = MSIM_OK};

    read(&l, out);
    return l.status;
}

void msim_experiment_read_any(struct msim_experiment *out, const cJSON *line)
{
    struct line l = {.o = line, .status = MSIM_OK, .any = true};

    read(&l, out);
}
