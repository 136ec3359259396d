/*
 * calibrate/measure/cal_experiment.c - experiments as JSON, as hashes and as
 * text, by the list of their members (profilers/ask/backend_child.h).
 */
#include "calibrate/measure/experiment_space.h"

#include "core/base/hash.h"
#include "profilers/ask/backend_child.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

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

cJSON *msim_cal_experiment_json(const struct msim_cal_experiment *e)
{
    cJSON *o = msim_experiment_json(&e->timed);
    cJSON *beside =
        e->is_pair && o ? msim_experiment_json(&e->concurrent) : NULL;

    if (beside)
        cJSON_AddItemToObject(o, "beside", beside);
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

/* The order of members does not matter: their hashes are added. FNV-1a of
 * texts that end in different digits differ by little, and so do their
 * sums: each is stirred first, or m 11, n 12 would be m 12, n 11. */
static void hash_member(void *ctx, const struct msim_member *m)
{
    uint64_t *sum = ctx;
    uint64_t key = mix(MSIM_HASH_START, m->key);
    char number[32];

    if (!m->text)
        snprintf(number, sizeof(number), "%.15g", m->number);
    *sum += msim_hash_mix(key, mix(key, m->text ? m->text : number));
}

/* What runs beside it is an experiment by itself. */
static void hash_concurrent(uint64_t *sum, uint64_t concurrent)
{
    char text[32];
    const struct msim_member m = {.key = "beside", .text = text};

    snprintf(text, sizeof(text), "%016llx", (unsigned long long)concurrent);
    hash_member(sum, &m);
}

static uint64_t hash_of_backend(const char *backend)
{
    return msim_hash_mix(MSIM_HASH_START, mix(MSIM_HASH_START, backend));
}

static uint64_t hash_one(const struct msim_experiment *e, const char *backend)
{
    uint64_t sum = hash_of_backend(backend);

    msim_experiment_visit(e, &sum, hash_member);
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
           strcmp(name, "raw") == 0 || strcmp(name, "counters") == 0 ||
           strcmp(name, "sustained") == 0;
}

uint64_t msim_cal_hash_json(const cJSON *experiment, const char *backend)
{
    uint64_t sum = hash_of_backend(backend);
    const cJSON *item;

    cJSON_ArrayForEach(item, experiment)
    {
        const struct msim_member m = {
            item->string, cJSON_IsString(item) ? item->valuestring : NULL,
            item->valuedouble};

        if (!item->string || is_extra(item->string))
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

static void describe_member(void *ctx, const struct msim_member *m)
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
    msim_experiment_visit(&e->timed, &t, describe_member);
    if (!e->is_pair)
        return;
    msim_experiment_visit(&e->concurrent, &other, describe_member);
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
