/*
 * calibrate/measure/experiment_space.c - the space of experiments.
 */
#include "calibrate/measure/experiment_space.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define MEMORY_SHARE  8   /* of the device's memory, at most */
#define BYTES_MAX     1e9 /* of any device's */
#define TABLE_NUMBERS 16777216.0
#define TIMER_US      1 /* shorter runs measure the clock */

struct axis {
    double low, high;
};

/* Weights have 64 rows and columns at least: smaller ones take hardly any time
 * of a model, and there libraries jump so much that they would take the whole
 * budget. Inputs of one row are usual. The same holds for
 * channels. */
static const struct axis GEMM[] = {
    {1, 16384}, {64, 16384}, {64, 16384}, {1, 64}};
static const struct axis CONV[] = {{1, 64}, {16, 1024}, {7, 256}, {16, 1024}};
static const struct axis ATTENTION[] = {{1, 64}, {1, 64}, {16, 8192}};
static const struct axis VECTOR[] = {{1, 1 << 20}, {16, 1 << 16}};
/* Channels, and what each has in a batch of maps. */
static const struct axis CHANNELS[] = {{8, 4096}, {16, 1 << 20}};
static const struct axis BYTES[] = {{4096, 1 << 28}};

#define ROWS(axes, more) axes, sizeof(axes) / sizeof(*(axes)), more

/* Products, convolutions and attention get more points than what moves bytes:
 * they have more sizes, and their times jump more. */
static const struct {
    enum msim_table table;
    const struct axis *sizes;
    uint32_t n_sizes, choices; /* coordinates of either sort */
    uint32_t weight;
} TABLES[] = {
    {MSIM_TABLE_GEMM, ROWS(GEMM, 2), 12},
    {MSIM_TABLE_CONV, ROWS(CONV, 3), 8},
    {MSIM_TABLE_ATTENTION, ROWS(ATTENTION, 2), 8},
    {MSIM_TABLE_VECTOR, ROWS(VECTOR, 0), 1},
    {MSIM_TABLE_COLLECTIVE, ROWS(BYTES, 0), 4},
    {MSIM_TABLE_COPY, ROWS(BYTES, 0), 1},
    {MSIM_TABLE_LATENCY, NULL, 0, 0, 1},
    {MSIM_TABLE_DISPATCH, NULL, 0, 0, 1},
};
#define N_TABLES (sizeof(TABLES) / sizeof(*TABLES))

static size_t table_of(enum msim_table table)
{
    size_t i = 0;

    while (i < N_TABLES && TABLES[i].table != table)
        i++;
    return i;
}

/* Dtypes that models seldom compute in get fewer points. */
static uint32_t rarity(const struct msim_cal_kind *k)
{
    return strstr(k->kind, "fp64")                             ? 3
           : strstr(k->kind, "fp8") || strstr(k->kind, "int8") ? 2
                                                               : 1;
}

/* "add:fp32" into its two words; "fp32" has but a dtype, "d2d" but an
 * operation, and what has no sizes is one word whatever stands in it. */
static void split_kind(struct msim_cal_kind *k, const char *text)
{
    const char *colon = k->axes ? strchr(text, ':') : NULL;
    bool is_copy = k->table == MSIM_TABLE_COPY;
    bool has_op =
        colon || !k->axes || is_copy || k->table == MSIM_TABLE_COLLECTIVE;
    int n = colon ? (int)(colon - text) : (int)strlen(text);

    if (has_op)
        snprintf(k->op, sizeof(k->op), "%.*s", n, text);
    if (is_copy)
        k->pageable = colon && strcmp(colon + 1, "pageable") == 0;
    else if (colon || !has_op)
        snprintf(k->dtype, sizeof(k->dtype), "%s", colon ? colon + 1 : text);
}

static void add_kinds(struct msim_cal_space *s, const cJSON *table)
{
    size_t t = table_of(msim_table_parse(table->string));
    const cJSON *kind;

    if (t < N_TABLES && TABLES[t].table == MSIM_TABLE_COLLECTIVE &&
        s->ranks < 2)
        return; /* with nobody */
    cJSON_ArrayForEach(kind, table)
    {
        struct msim_cal_kind *k = &s->kinds[s->n];

        if (t == N_TABLES || !cJSON_IsString(kind) || s->n == MSIM_CAL_KINDS)
            continue;
        k->table = TABLES[t].table;
        snprintf(k->kind, sizeof(k->kind), "%s", kind->valuestring);
        k->sizes = TABLES[t].n_sizes;
        k->axes = TABLES[t].n_sizes + TABLES[t].choices;
        k->weight = TABLES[t].weight;
        k->weight = (k->weight + rarity(k) - 1) / rarity(k);
        split_kind(k, kind->valuestring);
        s->n++;
    }
}

/* Past the last cache, on a GPU well past it, since a copy tells of memory
 * there alone; half of the memory that may be taken. */
static double copy_most(const cJSON *device, double memory)
{
    double caches = msim_cal_is_cpu(device) ? 2.5 : 1.25 * MSIM_CAL_PAST_CACHE;
    double past = caches * msim_json_get_number(device, "l2_bytes", 0);

    return fmin(fmax(BYTES->high, past), memory / MEMORY_SHARE / 2);
}

/* All kinds of `tables`, which may be NULL, or no object: then none. */
static void read_space(struct msim_cal_space *s, const cJSON *greeting,
                       const cJSON *tables, double longest_us)
{
    const cJSON *device = cJSON_GetObjectItemCaseSensitive(greeting, "device");
    const char *link = msim_json_get_text(greeting, "interconnect");
    double memory = msim_json_get_number(device, "memory_bytes", 1e10);
    const cJSON *table;

    memset(s, 0, sizeof(*s));
    s->guess = msim_cal_guess_of(device);
    s->bytes_most = fmin(memory / MEMORY_SHARE, BYTES_MAX);
    s->copy_most = copy_most(device, memory);
    s->longest_us = longest_us;
    s->ranks = (uint32_t)msim_json_get_count(greeting, "ranks", UINT32_MAX, 1);
    snprintf(s->interconnect, sizeof(s->interconnect), "%s", link ? link : "");
    cJSON_ArrayForEach(table, tables) add_kinds(s, table);
}

enum msim_status msim_cal_space_read(struct msim_cal_space *s,
                                     const cJSON *greeting, double longest_us,
                                     struct msim_error *err)
{
    const cJSON *device = cJSON_GetObjectItemCaseSensitive(greeting, "device");
    const cJSON *tables = cJSON_GetObjectItemCaseSensitive(greeting, "tables");

    if (!cJSON_IsObject(device) || !cJSON_IsObject(tables))
        return msim_fail(err, MSIM_EFORMAT, NULL, MSIM_OFFSET_NONE,
                         "the backend's greeting has no 'device' or 'tables'");
    read_space(s, greeting, tables, longest_us);
    return MSIM_OK;
}

void msim_cal_space_concurrent(struct msim_cal_space *s, const cJSON *greeting,
                               double longest_us)
{
    read_space(s, greeting,
               cJSON_GetObjectItemCaseSensitive(greeting, "beside"),
               longest_us);
}

/* ---- the kind of an experiment --------------------------------------------
 */

/* A kind without such a word has them all. */
static bool has_word(const char *own, const char *word)
{
    return !own[0] || (word && strcmp(own, word) == 0);
}

uint32_t msim_cal_space_kind(const struct msim_cal_space *s,
                             const struct msim_experiment *e)
{
    bool pageable = e->table == MSIM_TABLE_COPY && e->u.copy.pageable;
    uint32_t i = 0;

    while (i < s->n &&
           (s->kinds[i].table != e->table || s->kinds[i].pageable != pageable ||
            !has_word(s->kinds[i].op, e->op) ||
            !has_word(s->kinds[i].dtype, e->dtype_word)))
        i++;
    return i;
}

/* ---- a point as an experiment -------------------------------------------- */

/* A size at `u` between the limits, of which eight an octave are taken. */
static double size_at(const struct axis *a, double u)
{
    double v = a->low * pow(a->high / a->low, u);
    double step = exp2(floor(log2(v)) - 3);

    return fmin(fmax(round(v / fmax(step, 1)) * fmax(step, 1), a->low),
                a->high);
}

static uint32_t choice(double u, uint32_t n)
{
    uint32_t i = (uint32_t)(u * n);

    return i < n ? i : n - 1;
}

/* Matrix units take 8-bit numbers in whole vectors of 16, k innermost. */
static bool is_packed(const struct msim_cal_kind *kind)
{
    return strcmp(kind->kind, "fp8") == 0 || strcmp(kind->kind, "int8") == 0;
}

/* Half of the products are single ones; the rest are batches. */
static void gemm_point(struct msim_work *w, const struct msim_cal_kind *kind,
                       const double *u)
{
    bool packed = is_packed(kind);
    uint32_t layout = packed ? 1 : choice(u[5], 3); /* NN, NT, TN */
    double sizes[3];

    for (int i = 0; i < 3; i++) {
        sizes[i] = size_at(&GEMM[i], u[i]);
        if (packed)
            sizes[i] = ceil(sizes[i] / 16) * 16;
    }
    w->u.gemm.m = (int64_t)sizes[0];
    w->u.gemm.n = (int64_t)sizes[1];
    w->u.gemm.k = (int64_t)sizes[2];
    w->u.gemm.batch = u[4] < 0.7 ? 1 : (int64_t)size_at(&GEMM[3], u[3]);
    w->u.gemm.a_transposed = layout == 2;
    w->u.gemm.b_transposed = layout == 1;
}

/* Models have channels in vectors of 8, and libraries fill them up to that. */
static double channels_at(const struct axis *a, double u)
{
    return round(size_at(a, u) / 8) * 8;
}

/* Pictures of three channels are the first layer of many models, behind which
 * nobody wants a gradient. */
static double channels_in(const struct msim_cal_kind *kind, const double *u)
{
    bool data = strcmp(kind->op, "conv2d_bwd_data") == 0;

    return u[6] < 0.05 && !data ? 3 : channels_at(&CONV[1], u[1]);
}

static void conv_point(struct msim_work *w, const struct msim_cal_kind *kind,
                       const double *u)
{
    static const int64_t FILTERS[] = {1, 1, 3, 3, 3, 5, 7};
    int64_t filter = FILTERS[choice(u[4], 7)];

    w->u.conv.n = (int64_t)size_at(&CONV[0], u[0]);
    w->u.conv.c = (int64_t)channels_in(kind, u);
    w->u.conv.h = (int64_t)fmax(size_at(&CONV[2], u[2]), (double)filter);
    w->u.conv.w = w->u.conv.h;
    w->u.conv.k = (int64_t)channels_at(&CONV[3], u[3]);
    w->u.conv.r = w->u.conv.s = filter;
    w->u.conv.stride_h = w->u.conv.stride_w = u[5] < 0.7 ? 1 : 2;
    w->u.conv.pad_h = w->u.conv.pad_w = filter / 2;
    w->u.conv.groups = 1;
}

static void attention_point(struct msim_work *w,
                            const struct msim_cal_kind *kind, const double *u)
{
    static const int64_t HEAD_DIMS[] = {64, 128, 64, 96};
    int64_t heads = (int64_t)size_at(&ATTENTION[1], u[1]);
    int64_t keys = (int64_t)size_at(&ATTENTION[2], u[2]);
    bool shared = u[3] > 0.75 && heads % 4 == 0; /* keys among heads */
    bool decode = strncmp(kind->op, "decode", 6) == 0;

    w->u.attention.batch = (int64_t)size_at(&ATTENTION[0], u[0]);
    w->u.attention.heads = heads;
    w->u.attention.kv_heads = shared ? heads / 4 : heads;
    w->u.attention.q_len = decode ? 1 : keys;
    w->u.attention.kv_len = keys;
    w->u.attention.head_dim = HEAD_DIMS[choice(u[4], 4)];
}

/* Reductions write less than their shape says, dropouts more. */
static void vector_point(struct msim_experiment *e,
                         const struct msim_cal_kind *kind, const double *u)
{
    bool channels = strncmp(kind->op, "batch_norm", 10) == 0;
    const struct axis *axes = channels ? CHANNELS : VECTOR;
    double rows = size_at(&axes[0], u[0]);
    double cols = size_at(&axes[1], u[1]);

    e->work.u.vector.rows = (int64_t)rows;
    e->work.u.vector.cols = (int64_t)cols;
    e->work.u.vector.elems = (int64_t)(rows * cols);
    msim_experiment_complete(e); /* finds the operator */
    if (e->u.vector.op == MSIM_VOP_COUNT)
        return;
    switch (msim_vector_op_kind(e->u.vector.op)) {
    case MSIM_VECTOR_GATHER: /* a table of at most 64 MiB */
    case MSIM_VECTOR_SCATTER:
        e->u.vector.table_rows =
            (int64_t)fmin(fmax(floor(TABLE_NUMBERS / cols), 1), 65536);
        break;
    case MSIM_VECTOR_REDUCE:
    case MSIM_VECTOR_DROPOUT:
        e->u.vector.bytes = msim_experiment_bytes(e);
        break;
    default:
        break;
    }
}

static void collective_point(struct msim_work *w,
                             const struct msim_cal_space *s, const double *u)
{
    w->u.coll.ranks = s->ranks;
    w->u.coll.nodes = 1;
    w->u.coll.interconnect = s->interconnect[0] ? s->interconnect : NULL;
    w->u.coll.bytes = (uint64_t)size_at(BYTES, u[0]);
}

static void fill(struct msim_experiment *e, const struct msim_cal_space *s,
                 const struct msim_cal_kind *kind, const double *u)
{
    const struct axis copied = {BYTES->low, s->copy_most};

    e->table = kind->table;
    e->op = kind->op[0] ? kind->op : NULL;
    e->dtype_word = kind->dtype[0] ? kind->dtype : NULL;
    switch (kind->table) {
    case MSIM_TABLE_GEMM:
        gemm_point(&e->work, kind, u);
        break;
    case MSIM_TABLE_CONV:
        conv_point(&e->work, kind, u);
        break;
    case MSIM_TABLE_ATTENTION:
        attention_point(&e->work, kind, u);
        break;
    case MSIM_TABLE_VECTOR:
        vector_point(e, kind, u);
        break;
    case MSIM_TABLE_COLLECTIVE:
        collective_point(&e->work, s, u);
        break;
    case MSIM_TABLE_COPY:
        e->u.copy.pageable = kind->pageable;
        e->u.copy.bytes = (uint64_t)size_at(&copied, u[0]);
        break;
    default:
        break;
    }
    msim_experiment_complete(e);
}

static bool is_within(const struct msim_cal_space *s,
                      const struct msim_cal_kind *kind,
                      const struct msim_cal_experiment *e)
{
    double us = msim_cal_expected_us(e, &s->guess);
    /* Memory shows its rate only past the caches, which may be large. */
    bool copies = kind->table == MSIM_TABLE_COPY;
    double longest = copies ? 8 * s->longest_us : s->longest_us;
    double most =
        copies ? fmax(s->bytes_most, 2 * s->copy_most) : s->bytes_most;

    if (kind->axes == 0)
        return true;
    return msim_experiment_bytes(&e->timed) <= most && us <= longest &&
           us - s->guess.floor_us >= TIMER_US;
}

bool msim_cal_space_point(const struct msim_cal_space *s,
                          const struct msim_cal_kind *kind, const double *u,
                          struct msim_cal_experiment *out)
{
    *out = (struct msim_cal_experiment){.is_pair = false};
    fill(&out->timed, s, kind, u);
    return is_within(s, kind, out);
}
