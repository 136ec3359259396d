/*
 * calibrate/measure/cal_experiment.c - experiments as JSON, as hashes and as
 * text.
 *
 * One function lists an experiment's members; what writes, hashes and describes
 * them visits that list, so that the three agree.
 */
#include "calibrate/measure/cal_experiment.h"

#include "core/base/hash.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- members ------------------------------------------------------------- */

/* A text, or a number where that is NULL. */
struct member {
    const char *key, *text;
    double number;
};

struct visitor {
    void (*visit)(void *ctx, const struct member *m);
    void *ctx;
};

static void add_text(const struct visitor *v, const char *key, const char *text)
{
    const struct member m = {.key = key, .text = text};

    if (text)
        v->visit(v->ctx, &m);
}

static void add_number(const struct visitor *v, const char *key, double number)
{
    const struct member m = {.key = key, .number = number};

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

static void visit_members(const struct msim_experiment *e, void *ctx,
                          void (*visit)(void *ctx, const struct member *m))
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

/* ---- JSON ---------------------------------------------------------------- */

void msim_cal_experiment_read(struct msim_cal_experiment *out,
                              const cJSON *line)
{
    *out = (struct msim_cal_experiment){.is_pair = false};
    msim_experiment_read_any(&out->timed, line);
    out->is_pair = out->timed.concurrent != NULL;
    if (out->is_pair)
        msim_experiment_read_any(&out->concurrent, out->timed.concurrent);
}

static void write_member(void *ctx, const struct member *m)
{
    if (m->text)
        cJSON_AddStringToObject(ctx, m->key, m->text);
    else
        cJSON_AddNumberToObject(ctx, m->key, m->number);
}

cJSON *msim_cal_experiment_json(const struct msim_cal_experiment *e)
{
    cJSON *o = cJSON_CreateObject();
    cJSON *beside = e->is_pair && o ? cJSON_CreateObject() : NULL;

    if (o)
        visit_members(&e->timed, o, write_member);
    if (beside) {
        visit_members(&e->concurrent, beside, write_member);
        cJSON_AddItemToObject(o, "beside", beside);
    }
    return o;
}

const struct msim_work *msim_cal_work(const struct msim_cal_experiment *e)
{
    return e->timed.is_work && !e->is_pair ? &e->timed.work : NULL;
}

/* ---- hashes -------------------------------------------------------------- */

/* The end of a text counts, too. */
static uint64_t mix(uint64_t h, const char *text)
{
    return msim_hash_byte(msim_hash_text(h, text), 0xff);
}

/* The order of members does not matter: their hashes are added. */
static void hash_member(void *ctx, const struct member *m)
{
    uint64_t *sum = ctx;
    char number[32];

    if (!m->text)
        snprintf(number, sizeof(number), "%.15g", m->number);
    *sum += mix(mix(MSIM_HASH_START, m->key), m->text ? m->text : number);
}

/* What runs beside it is an experiment by itself. */
static void hash_concurrent(uint64_t *sum, uint64_t concurrent)
{
    char text[32];
    const struct member m = {.key = "beside", .text = text};

    snprintf(text, sizeof(text), "%016llx", (unsigned long long)concurrent);
    hash_member(sum, &m);
}

static uint64_t hash_one(const struct msim_experiment *e, const char *backend)
{
    uint64_t sum = mix(MSIM_HASH_START, backend);

    visit_members(e, &sum, hash_member);
    return sum;
}

uint64_t msim_cal_hash(const struct msim_cal_experiment *e, const char *backend)
{
    uint64_t sum = hash_one(&e->timed, backend);

    if (e->is_pair)
        hash_concurrent(&sum, hash_one(&e->concurrent, ""));
    return sum;
}

/* Members that are no part of what is timed. */
static bool is_extra(const char *name)
{
    return strcmp(name, "id") == 0 || strcmp(name, "policy") == 0 ||
           strcmp(name, "raw") == 0 || strcmp(name, "counters") == 0;
}

uint64_t msim_cal_hash_json(const cJSON *experiment, const char *backend)
{
    uint64_t sum = mix(MSIM_HASH_START, backend);
    const cJSON *item;

    cJSON_ArrayForEach(item, experiment)
    {
        const struct member m = {
            item->string, cJSON_IsString(item) ? item->valuestring : NULL,
            item->valuedouble};

        if (is_extra(item->string))
            continue;
        if (cJSON_IsObject(item))
            hash_concurrent(&sum, msim_cal_hash_json(item, ""));
        else
            hash_member(&sum, &m);
    }
    return sum;
}

/* ---- text ---------------------------------------------------------------- */

struct text {
    char *bytes;
    size_t used, size; /* used >= size: it was cut */
};

MSIM_PRINTF(2, 3)
static void append(struct text *t, const char *fmt, ...)
{
    va_list args;

    if (t->used >= t->size)
        return;
    va_start(args, fmt);
    t->used +=
        (size_t)vsnprintf(t->bytes + t->used, t->size - t->used, fmt, args);
    va_end(args);
}

static void describe_member(void *ctx, const struct member *m)
{
    struct text *t = ctx;

    append(t, "%s", t->used ? " " : "");
    if (m->text)
        append(t, "%s", m->text);
    else
        append(t, "%s %.15g", m->key, m->number);
}

void msim_cal_describe(const struct msim_cal_experiment *e, char *text,
                       size_t size)
{
    struct text t = {.bytes = text, .size = size};
    char beside[128] = "";
    struct text other = {.bytes = beside, .size = sizeof(beside)};

    text[0] = '\0';
    visit_members(&e->timed, &t, describe_member);
    if (!e->is_pair)
        return;
    visit_members(&e->concurrent, &other, describe_member);
    append(&t, " beside %s", beside);
}

/* ---- how long it may take ------------------------------------------------ */

bool msim_cal_is_cpu(const cJSON *device)
{
    const char *kind = msim_json_get_text(device, "kind");

    return kind && strcmp(kind, "cpu") == 0;
}

/* Per core and multiprocessor: vector units of 16 lanes at 2 GHz that reach
 * two thirds; a GPU of the last ten years. Right to a factor of a few, which is
 * what a design needs. */
struct msim_cal_guess msim_cal_guess_of(const cJSON *device)
{
    double sms = fmax(msim_json_get_number(device, "sms", 1), 1);

    if (msim_cal_is_cpu(device))
        return (struct msim_cal_guess){40e9 * sms, 10e9, 1};
    return (struct msim_cal_guess){100e9 * sms, 10e9 * sms, 4};
}

/* Fractions of the fp32 rate: what does not run in plain vector units runs no
 * slower. */
static double rate_share(enum msim_dtype dtype)
{
    return dtype == MSIM_DT_F64 ? 0.5 : msim_dtype_bytes(dtype) < 4 ? 4 : 1;
}

/* What is read and written by an experiment that is no work. */
static double moved_bytes(const struct msim_experiment *e)
{
    switch (e->table) {
    case MSIM_TABLE_COLLECTIVE:
        return 2 * (double)e->work.u.coll.bytes;
    case MSIM_TABLE_COPY:
        return 2 * (double)e->u.copy.bytes;
    case MSIM_TABLE_VECTOR:
        return 2 * e->u.vector.bytes;
    default:
        return 0;
    }
}

double msim_cal_expected_us(const struct msim_cal_experiment *e,
                            const struct msim_cal_guess *g)
{
    const struct msim_work *w = msim_cal_work(e);
    bool counts = w && e->timed.table != MSIM_TABLE_COLLECTIVE;
    double flops = counts ? w->flops / (g->flops * rate_share(w->dtype)) : 0;
    double bytes =
        counts ? w->bytes_read + w->bytes_written : moved_bytes(&e->timed);

    return g->floor_us + fmax(flops, bytes / g->bandwidth) * 1e6;
}
