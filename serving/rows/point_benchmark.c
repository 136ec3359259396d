/*
 * serving/rows/point_benchmark.c - settings of benchmarks.
 */
#include "core/base/containers.h"
#include "core/base/print.h"
#include "core/base/texts.h"
#include "serving/rows/serve_rows.h"

#include <stdlib.h>
#include <string.h>

static const char *const WORDS[MSIM_POINT_SETTINGS] = {
#define X(name, text) text,
    MSIM_POINT_SETTING_MAP(X)
#undef X
};

struct msim_point_benchmark {
    char shapes[64], engine[16], model[64], platform[64], types[16];
    double tp_below; /* 0: any */
    enum msim_point_setting setting;
    double value; /* of KV a type */
};

/* ---- the table ----------------------------------------------------------- */

#define COLUMNS 8
static const char *const NAMES[COLUMNS] = {"shapes",   "engine", "model",
                                           "platform", "types",  "tp_below",
                                           "setting",  "value"};

struct reader {
    struct msim_point_benchmarks *b;
    const char *path;
    struct msim_csv *csv;
    uint32_t column[COLUMNS];
};

static enum msim_status refuse(const struct reader *r, const char *what,
                               const char *got, const char *want,
                               struct msim_error *err)
{
    return msim_fail(err, MSIM_EFORMAT, r->path, MSIM_OFFSET_NONE,
                     "line %llu: %s is '%s', want %s",
                     (unsigned long long)msim_csv_line(r->csv), what, got,
                     want);
}

static bool number(const char *text, double *out)
{
    return msim_decimal_real(text, strlen(text), out) && *out >= 0 &&
           *out <= 1e9;
}

static enum msim_status read_setting(const struct reader *r,
                                     struct msim_point_benchmark *to,
                                     const char *setting, const char *value,
                                     struct msim_error *err)
{
    int i = 0;

    while (i < MSIM_POINT_SETTINGS && strcmp(setting, WORDS[i]) != 0)
        i++;
    if (i == MSIM_POINT_SETTINGS)
        return refuse(r, "setting", setting,
                      "random_range_ratio, kv_cache_dtype, "
                      "max_num_batched_tokens, gpu_memory_utilization, "
                      "batch_wait_timeout_iters or batch_wait_max_tokens_ratio",
                      err);
    to->setting = (enum msim_point_setting)i;
    if (to->setting == MSIM_POINT_SETTING_KV) {
        enum msim_quant q = msim_quant_parse(value);

        to->value = q;
        return q == MSIM_QUANT_FP8 || q == MSIM_QUANT_BF16
                   ? MSIM_OK
                   : refuse(r, setting, value, "fp8 or bf16", err);
    }
    if (!number(value, &to->value) || to->value <= 0)
        return refuse(r, setting, value, "a number above 0", err);
    return MSIM_OK;
}

static enum msim_status read_row(struct reader *r, char *const *fields,
                                 struct msim_error *err)
{
    struct msim_point_benchmarks *b = r->b;
    struct msim_point_benchmark *to;
    const char *text[COLUMNS];

    MSIM_TRY(msim_grow((void **)&b->of, &b->cap, b->n, sizeof(*b->of)));
    to = &b->of[b->n++];
    memset(to, 0, sizeof(*to));
    for (int i = 0; i < COLUMNS; i++)
        text[i] = fields[r->column[i]];
    snprintf(to->shapes, sizeof(to->shapes), "%s", text[0]);
    snprintf(to->engine, sizeof(to->engine), "%s", text[1]);
    snprintf(to->model, sizeof(to->model), "%s", text[2]);
    snprintf(to->platform, sizeof(to->platform), "%s", text[3]);
    snprintf(to->types, sizeof(to->types), "%s", text[4]);
    if (*text[5] && !number(text[5], &to->tp_below))
        return refuse(r, "tp_below", text[5], "a number", err);
    return read_setting(r, to, text[6], text[7], err);
}

static enum msim_status read_rows(struct reader *r, struct msim_error *err)
{
    for (int i = 0; i < COLUMNS; i++) {
        r->column[i] = msim_csv_find(r->csv, NAMES[i]);
        if (r->column[i] == UINT32_MAX)
            return msim_fail(err, MSIM_EFORMAT, r->path, MSIM_OFFSET_NONE,
                             "no column '%s'", NAMES[i]);
    }
    for (;;) {
        char *const *fields;

        MSIM_TRY(msim_csv_next(r->csv, &fields, err));
        if (!fields)
            return MSIM_OK;
        MSIM_TRY(read_row(r, fields, err));
    }
}

enum msim_status msim_point_benchmarks_read(struct msim_point_benchmarks *b,
                                            const char *path,
                                            struct msim_error *err)
{
    struct reader r = {.b = b, .path = path};
    enum msim_status status;

    *b = (struct msim_point_benchmarks){0};
    MSIM_TRY(msim_csv_open(&r.csv, path, err));
    status = read_rows(&r, err);
    msim_csv_close(r.csv);
    return status;
}

void msim_point_benchmarks_release(struct msim_point_benchmarks *b)
{
    free(b->of);
    *b = (struct msim_point_benchmarks){0};
}

/* ---- settings of a point ------------------------------------------------- */

/* Whether `shape` is one of those that stand in `shapes`, a space between. */
static bool has_shape(const char *shapes, const char *shape)
{
    size_t length = strlen(shape);

    for (const char *at = shapes; (at = strstr(at, shape)); at += length)
        if ((at == shapes || at[-1] == ' ') &&
            (at[length] == ' ' || !at[length]))
            return true;
    return !*shapes;
}

static bool is_of(const char *want, const char *have)
{
    return !*want || strcmp(want, have) == 0;
}

static bool is_about(const struct msim_point_benchmark *b,
                     const struct msim_served_point *p, const char *model,
                     const char *platform)
{
    char shape[48];

    snprintf(shape, sizeof(shape), "%lldx%lld", (long long)p->isl,
             (long long)p->osl);
    return has_shape(b->shapes, shape) &&
           is_of(b->engine, msim_llm_engine_text(p->engine)) &&
           is_of(b->platform, platform) &&
           is_of(b->types, msim_quant_text(p->products)) &&
           strncmp(b->model, model, strlen(b->model)) == 0 &&
           (!(b->tp_below > 0) || (double)p->serve.tp < b->tp_below);
}

static bool is_stated(const struct msim_served_point *p,
                      enum msim_point_setting s)
{
    return (s == MSIM_POINT_SETTING_KV && p->kv != MSIM_QUANT_OWN) ||
           (s == MSIM_POINT_SETTING_RANGE && p->range > 0);
}

static void set(struct msim_served_point *p, enum msim_point_setting s,
                double value)
{
    switch (s) {
    case MSIM_POINT_SETTING_RANGE:
        p->range = value < 1 ? value : 1;
        break;
    case MSIM_POINT_SETTING_KV:
        p->kv = (enum msim_quant)value;
        break;
    case MSIM_POINT_SETTING_TOKENS:
        p->max_num_batched_tokens = (int64_t)value;
        break;
    case MSIM_POINT_SETTING_MEMORY:
        p->gpu_memory_utilization = value < 1 ? value : 1;
        break;
    case MSIM_POINT_SETTING_WAIT_STEPS:
        p->wait_steps = (int64_t)value;
        break;
    case MSIM_POINT_SETTING_WAIT_TOKENS:
        p->wait_tokens = value < 1 ? value : 1;
        break;
    case MSIM_POINT_SETTINGS:
        break;
    }
}

static void note(char *defaults, enum msim_point_setting s, double value)
{
    if (s == MSIM_POINT_SETTING_KV)
        msim_point_note(defaults, "%s %s", WORDS[s],
                        msim_quant_text((enum msim_quant)value));
    else if (s != MSIM_POINT_SETTING_TOKENS && s != MSIM_POINT_SETTING_MEMORY)
        msim_point_note(defaults, "%s %g", WORDS[s], value);
}

void msim_point_benchmarks_apply(const struct msim_point_benchmarks *b,
                                 struct msim_served_point *p, const char *model,
                                 const char *platform, char *defaults)
{
    const struct msim_point_benchmark *last[MSIM_POINT_SETTINGS] = {0};

    for (uint32_t i = 0; i < b->n; i++)
        if (is_about(&b->of[i], p, model, platform) &&
            !is_stated(p, b->of[i].setting))
            last[b->of[i].setting] = &b->of[i];
    for (int s = 0; s < MSIM_POINT_SETTINGS; s++)
        if (last[s]) {
            set(p, (enum msim_point_setting)s, last[s]->value);
            note(defaults, (enum msim_point_setting)s, last[s]->value);
        }
}
