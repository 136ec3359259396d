/*
 * calibrate/measure/experiment_space.c - the experiments that there are.
 */
#include "calibrate/measure/experiment_space.h"

#include "profilers/experiment.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define MEMORY_SHARE  8   /* of the device's memory, at most */
#define BYTES_MAX     1e9 /* of any device's */
#define TABLE_NUMBERS 16777216.0
#define TIMER_US      1 /* what is shorter says more of the clock */

struct axis {
    const char *name;
    double low, high;
};

/* Weights have 64 rows and columns at least, or hardly any time is spent on
 * them; one row of inputs is usual. Libraries jump most where a side is a few
 * numbers, which would take all that can be timed. Channels likewise. */
static const struct axis GEMM[] = {
    {"m", 1, 16384}, {"n", 64, 16384}, {"k", 64, 16384}, {"batch", 1, 64}};
static const struct axis CONV[] = {
    {"n", 1, 64}, {"c", 16, 1024}, {"h", 7, 256}, {"k", 16, 1024}};
static const struct axis ATTENTION[] = {
    {"batch", 1, 64}, {"heads", 1, 64}, {"kv_len", 16, 8192}};
static const struct axis VECTOR[] = {{"rows", 1, 1 << 20},
                                     {"cols", 16, 1 << 16}};
/* Channels, and what each has in a batch of maps. */
static const struct axis CHANNELS[] = {{"rows", 8, 4096},
                                       {"cols", 16, 1 << 20}};
static const struct axis BYTES[] = {{"bytes", 4096, 1 << 28}};

#define ROWS(axes, more) axes, sizeof(axes) / sizeof(*(axes)), more

/* How often each table is asked: products and their like have more sizes, and
 * jump more, than what moves bytes. */
static const struct {
    const char *table;
    const struct axis *sizes;
    uint32_t n_sizes, choices; /* coordinates of either sort */
    uint32_t weight;
} TABLES[] = {
    {"gemm", ROWS(GEMM, 2), 12},          {"conv", ROWS(CONV, 3), 8},
    {"attention", ROWS(ATTENTION, 2), 8}, {"vector", ROWS(VECTOR, 0), 1},
    {"collective", ROWS(BYTES, 0), 4},    {"copy", ROWS(BYTES, 0), 1},
    {"latency", NULL, 0, 0, 1},           {"dispatch", NULL, 0, 0, 1},
};
#define N_TABLES (sizeof(TABLES) / sizeof(*TABLES))

static size_t table_of(const char *name)
{
    size_t i = 0;

    while (i < N_TABLES && strcmp(TABLES[i].table, name) != 0)
        i++;
    return i;
}

/* What models seldom compute in is asked less often. */
static uint32_t rarity(const struct msim_cal_kind *k)
{
    return strstr(k->kind, "fp64")                             ? 3
           : strstr(k->kind, "fp8") || strstr(k->kind, "int8") ? 2
                                                               : 1;
}

static void add_kinds(struct msim_cal_space *s, const cJSON *table)
{
    size_t t = table_of(table->string);
    const cJSON *kind;

    cJSON_ArrayForEach(kind, table)
    {
        struct msim_cal_kind *k = &s->kinds[s->n];

        if (t == N_TABLES || !cJSON_IsString(kind) || s->n == MSIM_CAL_KINDS)
            continue;
        snprintf(k->table, sizeof(k->table), "%s", table->string);
        snprintf(k->kind, sizeof(k->kind), "%s", kind->valuestring);
        k->sizes = TABLES[t].n_sizes;
        k->axes = TABLES[t].n_sizes + TABLES[t].choices;
        k->weight = TABLES[t].weight;
        k->weight = (k->weight + rarity(k) - 1) / rarity(k);
        s->n++;
    }
}

/* All kinds of `tables`, which may be NULL, or no object: then none. */
static void read_space(struct msim_cal_space *s, const cJSON *greeting,
                       const cJSON *tables, double longest_us)
{
    const cJSON *device = cJSON_GetObjectItemCaseSensitive(greeting, "device");
    const char *link = msim_json_get_text(greeting, "interconnect");
    const cJSON *table;

    memset(s, 0, sizeof(*s));
    s->guess = msim_cal_guess_of(device);
    s->bytes_most =
        fmin(msim_json_get_number(device, "memory_bytes", 1e10) / MEMORY_SHARE,
             BYTES_MAX);
    s->longest_us = longest_us;
    s->ranks = (uint32_t)msim_json_get_number(greeting, "ranks", 1);
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

/* "add:fp32" into its two words; "fp32" has but the second. */
static void split_kind(const struct msim_cal_kind *kind, cJSON *o,
                       const char *first)
{
    const char *colon = strchr(kind->kind, ':');
    char word[sizeof(kind->kind)];

    if (colon) {
        snprintf(word, sizeof(word), "%.*s", (int)(colon - kind->kind),
                 kind->kind);
        cJSON_AddStringToObject(o, first, word);
    }
    cJSON_AddStringToObject(o, "dtype", colon ? colon + 1 : kind->kind);
}

static void add_sizes(cJSON *o, const struct axis *axes, uint32_t n,
                      const double *u)
{
    for (uint32_t i = 0; i < n; i++)
        cJSON_AddNumberToObject(o, axes[i].name, size_at(&axes[i], u[i]));
}

/* Matrix units take 8-bit numbers in whole vectors of 16, k innermost. */
static bool is_packed(const struct msim_cal_kind *kind)
{
    return strcmp(kind->kind, "fp8") == 0 || strcmp(kind->kind, "int8") == 0;
}

/* Half of the products are single ones; the rest are batches. */
static void gemm_point(cJSON *o, const struct msim_cal_kind *kind,
                       const double *u)
{
    static const char *const LAYOUTS[] = {"NN", "NT", "TN"};
    double batch = u[4] < 0.7 ? 1 : size_at(&GEMM[3], u[3]);

    split_kind(kind, o, "op");
    for (int i = 0; i < 3; i++) {
        double size = size_at(&GEMM[i], u[i]);

        cJSON_AddNumberToObject(o, GEMM[i].name,
                                is_packed(kind) ? ceil(size / 16) * 16 : size);
    }
    cJSON_AddNumberToObject(o, "batch", batch);
    cJSON_AddStringToObject(o, "layout",
                            is_packed(kind) ? "NT" : LAYOUTS[choice(u[5], 3)]);
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
    bool data = strncmp(kind->kind, "conv2d_bwd_data", 15) == 0;

    return u[6] < 0.05 && !data ? 3 : channels_at(&CONV[1], u[1]);
}

static void conv_point(cJSON *o, const struct msim_cal_kind *kind,
                       const double *u)
{
    static const double FILTERS[] = {1, 1, 3, 3, 3, 5, 7};
    double filter = FILTERS[choice(u[4], 7)];
    double h = fmax(size_at(&CONV[2], u[2]), filter);

    split_kind(kind, o, "op");
    cJSON_AddNumberToObject(o, "n", size_at(&CONV[0], u[0]));
    cJSON_AddNumberToObject(o, "c", channels_in(kind, u));
    cJSON_AddNumberToObject(o, "h", h);
    cJSON_AddNumberToObject(o, "w", h);
    cJSON_AddNumberToObject(o, "k", channels_at(&CONV[3], u[3]));
    cJSON_AddNumberToObject(o, "r", filter);
    cJSON_AddNumberToObject(o, "s", filter);
    cJSON_AddNumberToObject(o, "stride", u[5] < 0.7 ? 1 : 2);
    cJSON_AddNumberToObject(o, "pad", floor(filter / 2));
    cJSON_AddNumberToObject(o, "groups", 1);
}

static void attention_point(cJSON *o, const struct msim_cal_kind *kind,
                            const double *u)
{
    static const double HEAD_DIMS[] = {64, 128, 64, 96};
    double heads = size_at(&ATTENTION[1], u[1]);
    double keys = size_at(&ATTENTION[2], u[2]);
    bool shared = u[3] > 0.75 && fmod(heads, 4) < 0.5; /* keys among heads */
    bool decode = strncmp(kind->kind, "decode", 6) == 0;

    split_kind(kind, o, "phase");
    cJSON_AddNumberToObject(o, "batch", size_at(&ATTENTION[0], u[0]));
    cJSON_AddNumberToObject(o, "heads", heads);
    cJSON_AddNumberToObject(o, "kv_heads", shared ? heads / 4 : heads);
    cJSON_AddNumberToObject(o, "q_len", decode ? 1 : keys);
    cJSON_AddNumberToObject(o, "kv_len", keys);
    cJSON_AddNumberToObject(o, "head_dim", HEAD_DIMS[choice(u[4], 4)]);
}

/* Reductions write less than their shape says, dropouts more. */
static void vector_point(cJSON *o, const struct msim_cal_kind *kind,
                         const double *u)
{
    bool channels = strncmp(kind->kind, "batch_norm", 10) == 0;
    const struct axis *axes = channels ? CHANNELS : VECTOR;
    double rows = size_at(&axes[0], u[0]);
    double cols = size_at(&axes[1], u[1]);
    struct msim_experiment e;
    char shape[48];

    split_kind(kind, o, "op");
    snprintf(shape, sizeof(shape), "%.0fx%.0f", rows, cols);
    cJSON_AddStringToObject(o, "shape", shape);
    if (msim_experiment_read(&e, o, NULL) != MSIM_OK)
        return;
    switch (msim_vector_op_kind(e.u.vector.op)) {
    case MSIM_VECTOR_GATHER: /* a table of at most 64 MiB */
    case MSIM_VECTOR_SCATTER:
        cJSON_AddNumberToObject(
            o, "table_rows", fmin(fmax(floor(TABLE_NUMBERS / cols), 1), 65536));
        break;
    case MSIM_VECTOR_REDUCE:
    case MSIM_VECTOR_DROPOUT:
        cJSON_AddNumberToObject(o, "bytes", msim_experiment_bytes(&e));
        break;
    default:
        break;
    }
}

static void collective_point(cJSON *o, const struct msim_cal_space *s,
                             const struct msim_cal_kind *kind, const double *u)
{
    const char *colon = strchr(kind->kind, ':');
    int n = colon ? (int)(colon - kind->kind) : (int)strlen(kind->kind);
    char word[sizeof(kind->kind)];

    snprintf(word, sizeof(word), "%.*s", n, kind->kind);
    cJSON_AddStringToObject(o, "collective", word);
    if (colon)
        cJSON_AddStringToObject(o, "dtype", colon + 1);
    cJSON_AddNumberToObject(o, "ranks", s->ranks);
    cJSON_AddNumberToObject(o, "nodes", 1);
    if (s->interconnect[0])
        cJSON_AddStringToObject(o, "interconnect", s->interconnect);
    add_sizes(o, BYTES, 1, u);
}

/* "d2d", "h2d:pageable", and what has no size: "launch", "aten::mm". */
static void copy_point(cJSON *o, const struct msim_cal_kind *kind,
                       const double *u)
{
    const char *colon = kind->axes ? strchr(kind->kind, ':') : NULL;
    int n = colon ? (int)(colon - kind->kind) : (int)strlen(kind->kind);
    char word[sizeof(kind->kind)];

    snprintf(word, sizeof(word), "%.*s", n, kind->kind);
    cJSON_AddStringToObject(o, "op", word);
    if (colon)
        cJSON_AddStringToObject(o, "memory", colon + 1);
    if (kind->axes)
        add_sizes(o, BYTES, 1, u);
}

static void fill(cJSON *o, const struct msim_cal_space *s,
                 const struct msim_cal_kind *kind, const double *u)
{
    cJSON_AddStringToObject(o, "table", kind->table);
    if (strcmp(kind->table, "gemm") == 0) {
        gemm_point(o, kind, u);
    } else if (strcmp(kind->table, "conv") == 0) {
        conv_point(o, kind, u);
    } else if (strcmp(kind->table, "attention") == 0) {
        attention_point(o, kind, u);
    } else if (strcmp(kind->table, "vector") == 0) {
        vector_point(o, kind, u);
    } else if (strcmp(kind->table, "collective") == 0) {
        collective_point(o, s, kind, u);
    } else {
        copy_point(o, kind, u);
    }
}

static bool is_within(const struct msim_cal_space *s,
                      const struct msim_cal_kind *kind, const cJSON *o)
{
    double us = msim_cal_expected_us(o, &s->guess);
    /* Memory shows its rate only past the caches, which may be large. */
    double longest =
        strcmp(kind->table, "copy") == 0 ? 8 * s->longest_us : s->longest_us;

    if (kind->axes == 0)
        return true;
    return msim_cal_bytes(o) <= s->bytes_most && us <= longest &&
           us - s->guess.floor_us >= TIMER_US;
}

cJSON *msim_cal_space_point(const struct msim_cal_space *s,
                            const struct msim_cal_kind *kind, const double *u)
{
    cJSON *o = cJSON_CreateObject();

    if (!o)
        return NULL;
    fill(o, s, kind, u);
    if (is_within(s, kind, o))
        return o;
    cJSON_Delete(o);
    return NULL;
}
