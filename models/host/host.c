/*
 * models/host/host.c - the CPU time of operators and of runtime calls, read
 * from a file.
 *
 * An operator has the figure of its name, else that of its class. Figures are
 * means, since the times of many operators are summed. A host as a whole is
 * faster or slower than the fitted one, so that the interval is one factor down
 * and one up for all operators, and intervals of a sum add up. An entry can
 * have a factor of its own ("within").
 */
#include "models/host/host.h"

#include "core/base/hash.h"
#include "core/base/json.h"
#include "models/host/host_gpu.h"
#include "models/platform/platform.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Mean microseconds of one operator, without its children. */
struct dispatch {
    double self;      /* without its runtime calls */
    double calls;     /* in the runtime calls that it makes itself */
    double low, high; /* factors of the 90 % interval */
    bool own;         /* which are the entry's own */
};

struct entry {
    char *name; /* NULL: free slot */
    size_t length;
    struct dispatch d;
};

struct msim_host {
    char name[64];
    char path[1400];
    struct entry *entries; /* open addressing */
    uint32_t mask;
    struct dispatch classes[MSIM_HOST_CLASSES];
    struct msim_estimate calls[MSIM_HOST_CALL_KINDS];
    struct msim_estimate latency, gap;
    /* From the end of one topmost operator to the next one's start. */
    struct msim_estimate after, after_autograd;
    double low, high;               /* factors of the 90 % interval */
    double repeat_low, repeat_high; /* msim_host_repeat() */
    /* Times of a run that nobody records over those of recorded ones, with the
     * factors of its interval; `gains`: over that, those of backward. */
    double bare, bare_low, bare_high, gains;
    double memory; /* bytes a microsecond of the host's memory; 0: not known */
    struct beside {
        char *platform;
        double bare;
    } * beside; /* hosts of one kind of GPU */
    uint32_t n_beside;
};

/* ---- names -------------------------------------------------------------- */

static uint32_t hash_name(const char *s, size_t n)
{
    uint64_t h = msim_hash_bytes(MSIM_HASH_START, s, n);

    return (uint32_t)(h ^ h >> 32);
}

/* The slot that holds `name`, or the free one where it belongs. */
static struct entry *slot_of(const struct msim_host *h, const char *name,
                             size_t length)
{
    uint32_t i = hash_name(name, length) & h->mask;

    while (h->entries[i].name &&
           (h->entries[i].length != length ||
            memcmp(h->entries[i].name, name, length) != 0))
        i = (i + 1) & h->mask;
    return &h->entries[i];
}

/* ---- reading ------------------------------------------------------------ */

static enum msim_status wrong(const struct msim_host *h, const char *key,
                              const char *want, struct msim_error *err)
{
    return msim_fail(err, MSIM_EFORMAT, h->path, MSIM_OFFSET_NONE,
                     "'%s' is missing or wrong, want %s", key, want);
}

static bool is_time(double us)
{
    return us >= 0 && us < 1e9; /* false for NAN as well */
}

static enum msim_status read_factors(const struct msim_host *h,
                                     const cJSON *json, const char *key,
                                     double *low, double *high,
                                     struct msim_error *err)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(json, key);

    *low = msim_json_get_number(item, "low", NAN);
    *high = msim_json_get_number(item, "high", NAN);
    if (!(*low > 0) || !(*low <= 1) || !(*high >= 1) || !isfinite(*high))
        return wrong(h, key, "factors 0 < low <= 1 <= high", err);
    return MSIM_OK;
}

static enum msim_status read_dispatch(const struct msim_host *h,
                                      struct dispatch *d, const cJSON *json,
                                      const char *key, struct msim_error *err)
{
    d->self = msim_json_get_number(json, "self_us", NAN);
    d->calls = msim_json_get_number(json, "calls_us", NAN);
    if (!is_time(d->self) || !is_time(d->calls))
        return wrong(h, key, "self_us and calls_us of 0 or more", err);
    if (!cJSON_HasObjectItem(json, "within")) {
        d->low = h->low;
        d->high = h->high;
        return MSIM_OK;
    }
    d->high = msim_json_get_number(json, "within", NAN);
    d->low = 1 / d->high;
    d->own = true;
    if (!(d->high >= 1) || !isfinite(d->high))
        return wrong(h, key, "a factor 'within' of 1 or more", err);
    return MSIM_OK;
}

static enum msim_status read_operators(struct msim_host *h, const cJSON *json,
                                       struct msim_error *err)
{
    const cJSON *all = cJSON_GetObjectItemCaseSensitive(json, "operators");
    uint32_t n = (uint32_t)cJSON_GetArraySize(all), size = 16;
    const cJSON *item;

    if (all && !cJSON_IsObject(all))
        return wrong(h, "operators", "an object of operators", err);
    while (size < 2 * n)
        size *= 2;
    h->entries = calloc(size, sizeof(*h->entries));
    if (!h->entries)
        return MSIM_ENOMEM;
    h->mask = size - 1;
    cJSON_ArrayForEach(item, all)
    {
        size_t length = strlen(item->string);
        struct entry *e = slot_of(h, item->string, length);

        if (e->name)
            return wrong(h, item->string, "each operator once", err);
        e->name = strdup(item->string);
        if (!e->name)
            return MSIM_ENOMEM;
        e->length = length;
        MSIM_TRY(read_dispatch(h, &e->d, item, item->string, err));
    }
    return MSIM_OK;
}

static enum msim_status read_classes(struct msim_host *h, const cJSON *json,
                                     struct msim_error *err)
{
    const cJSON *all = cJSON_GetObjectItemCaseSensitive(json, "classes");

    for (int c = 0; c < MSIM_HOST_NOTHING; c++) {
        const char *key = msim_host_class_text((enum msim_host_class)c);

        MSIM_TRY(read_dispatch(h, &h->classes[c],
                               cJSON_GetObjectItemCaseSensitive(all, key), key,
                               err));
    }
    return MSIM_OK;
}

static enum msim_status read_estimate(const struct msim_host *h,
                                      struct msim_estimate *e,
                                      const cJSON *json, const char *key,
                                      struct msim_error *err)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(json, key);

    e->us = msim_json_get_number(item, "us", NAN);
    e->low_us = msim_json_get_number(item, "low_us", NAN);
    e->high_us = msim_json_get_number(item, "high_us", NAN);
    e->source = MSIM_SOURCE_LAW;
    if (!is_time(e->low_us) || !is_time(e->high_us) || !(e->low_us <= e->us) ||
        !(e->us <= e->high_us))
        return wrong(h, key, "low_us <= us <= high_us, each 0 or more", err);
    return MSIM_OK;
}

static enum msim_status read_calls(struct msim_host *h, const cJSON *json,
                                   struct msim_error *err)
{
    const cJSON *all = cJSON_GetObjectItemCaseSensitive(json, "calls");

    for (int k = 0; k < MSIM_HOST_CALL_KINDS; k++)
        MSIM_TRY(read_estimate(h, &h->calls[k], all,
                               msim_host_call_text((enum msim_call_kind)k),
                               err));
    return MSIM_OK;
}

static bool is_factor(double v)
{
    return v > 0 && isfinite(v);
}

static enum msim_status read_beside(struct msim_host *h, const cJSON *json,
                                    struct msim_error *err)
{
    const cJSON *all = cJSON_GetObjectItemCaseSensitive(json, "beside"), *item;

    h->beside = calloc((size_t)cJSON_GetArraySize(all) + 1, sizeof(*h->beside));
    if (!h->beside)
        return MSIM_ENOMEM;
    cJSON_ArrayForEach(item, all)
    {
        struct beside *row = &h->beside[h->n_beside];

        if (!item->string || !cJSON_IsNumber(item) ||
            !is_factor(item->valuedouble))
            return wrong(h, "beside", "factors above 0 by platform", err);
        row->platform = strdup(item->string);
        if (!row->platform)
            return MSIM_ENOMEM;
        row->bare = item->valuedouble;
        h->n_beside++;
    }
    return MSIM_OK;
}

/* A host without "unrecorded" takes as long either way. */
static enum msim_status read_bare(struct msim_host *h, const cJSON *json,
                                  struct msim_error *err)
{
    static const char KEY[] = "unrecorded";
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(json, KEY);

    h->bare = h->gains = 1;
    h->bare_low = h->low;
    h->bare_high = h->high;
    if (!cJSON_HasObjectItem(json, KEY))
        return MSIM_OK;
    h->bare = msim_json_get_number(item, "factor", NAN);
    h->gains = msim_json_get_number(item, "backward", 1);
    if (!is_factor(h->bare) || !is_factor(h->gains))
        return wrong(h, KEY, "'factor' and 'backward' above 0", err);
    MSIM_TRY(read_beside(h, item, err));
    return read_factors(h, json, KEY, &h->bare_low, &h->bare_high, err);
}

static enum msim_status read_memory(struct msim_host *h, const cJSON *json,
                                    struct msim_error *err)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(json, "memory");
    double rate = msim_json_get_number(item, "gb_per_s", NAN);

    if (!cJSON_HasObjectItem(json, "memory"))
        return MSIM_OK;
    if (!is_factor(rate))
        return wrong(h, "memory", "a 'gb_per_s' above 0", err);
    h->memory = rate * 1e3; /* bytes a microsecond */
    return MSIM_OK;
}

static enum msim_status read_rest(struct msim_host *h, const cJSON *json,
                                  struct msim_error *err)
{
    const cJSON *after =
        cJSON_GetObjectItemCaseSensitive(json, "after_topmost");

    MSIM_TRY(read_estimate(h, &h->latency, json, "launch_latency", err));
    MSIM_TRY(read_estimate(h, &h->gap, json, "kernel_gap", err));
    MSIM_TRY(read_bare(h, json, err));
    MSIM_TRY(read_memory(h, json, err));
    if (!cJSON_HasObjectItem(json, "repeat")) { /* as between hosts */
        h->repeat_low = h->low;
        h->repeat_high = h->high;
    } else {
        MSIM_TRY(read_factors(h, json, "repeat", &h->repeat_low,
                              &h->repeat_high, err));
    }
    MSIM_TRY(read_estimate(h, &h->after, after, "operator", err));
    return read_estimate(h, &h->after_autograd, after, "autograd", err);
}

static enum msim_status read_host(struct msim_host *h, const cJSON *json,
                                  struct msim_error *err)
{
    const char *name = msim_json_get_text(json, "name");

    if (!name)
        return wrong(h, "name", "a text", err);
    snprintf(h->name, sizeof(h->name), "%s", name);
    MSIM_TRY(read_factors(h, json, "spread", &h->low, &h->high, err));
    MSIM_TRY(read_operators(h, json, err));
    MSIM_TRY(read_classes(h, json, err));
    MSIM_TRY(read_calls(h, json, err));
    return read_rest(h, json, err);
}

static enum msim_status load_file(struct msim_host **out, const char *path,
                                  struct msim_error *err)
{
    struct msim_host *h = calloc(1, sizeof(*h));
    enum msim_status status;
    struct msim_json_block b = {0};

    if (!h)
        return MSIM_ENOMEM;
    snprintf(h->path, sizeof(h->path), "%s", path);
    status = msim_json_block_read(&b, path, err);
    if (status == MSIM_OK)
        status = msim_json_check_our(b.json, path, "host", err);
    if (status == MSIM_OK)
        status = read_host(h, b.json, err);
    msim_json_block_release(&b);
    if (status != MSIM_OK) {
        msim_host_free(h);
        return status;
    }
    *out = h;
    return MSIM_OK;
}

enum msim_status msim_host_load(struct msim_host **out, const char *data_dir,
                                const char *name, struct msim_error *err)
{
    char path[1400];

    *out = NULL;
    MSIM_TRY(msim_data_path(path, sizeof(path), data_dir, "host", name, err));
    return load_file(out, path, err);
}

void msim_host_free(struct msim_host *h)
{
    if (!h)
        return;
    for (uint32_t i = 0; h->entries && i <= h->mask; i++)
        free(h->entries[i].name);
    for (uint32_t i = 0; i < h->n_beside; i++)
        free(h->beside[i].platform);
    free(h->beside);
    free(h->entries);
    free(h);
}

void msim_host_set_gpu(struct msim_host *h, const char *platform)
{
    size_t length = strcspn(platform, "@"); /* without its stack */

    for (uint32_t i = 0; i < h->n_beside; i++)
        if (strncasecmp(h->beside[i].platform, platform, length) == 0 &&
            !h->beside[i].platform[length])
            h->bare = h->beside[i].bare;
}

/* ---- questions ---------------------------------------------------------- */

const char *msim_host_name(const struct msim_host *h)
{
    return h->name;
}

static struct dispatch find(const struct msim_host *h, enum msim_host_class c,
                            const char *name)
{
    const struct entry *e = slot_of(h, name, msim_host_name_length(name));

    /* users choose the text of a label, which can be an operator's name */
    return c != MSIM_HOST_LABEL && e->name ? e->d : h->classes[c];
}

/* An operator by the name that a GPU's trace has for it, with its calls. */
static struct dispatch find_whole(const struct msim_host *h,
                                  const struct msim_trace *t, uint32_t op,
                                  enum msim_host_class class, bool on_gpu)
{
    struct dispatch d = find(h, class,
                             on_gpu ? msim_host_gpu_name(t, op)
                                    : msim_trace_text(t, t->ops[op].name));

    if (!on_gpu)
        return d;
    for (const char *const *inside = msim_host_gpu_inside(t, op); *inside;
         inside++) {
        struct dispatch more = find(h, MSIM_HOST_LEAF, *inside);

        d.self += more.self;
        d.calls += more.calls;
    }
    return d;
}

/* What no call or pause of the trace holds. */
static double rest_us(const struct msim_host *h, const struct msim_trace *t,
                      uint32_t op, enum msim_host_class class, double calls)
{
    if (msim_host_is_number(t, op))
        return 0;
    if (msim_host_is_topmost(t, op))
        calls += class == MSIM_HOST_ENGINE || class == MSIM_HOST_BACKWARD
                     ? h->after_autograd.us
                     : h->after.us;
    return calls;
}

/* Times of a run that nobody records over those of recorded ones. */
static double unrecorded(const struct msim_host *h, const struct msim_trace *t,
                         uint32_t op)
{
    return h->bare * (msim_host_is_in_backward(t, op) ? h->gains : 1);
}

struct msim_estimate msim_host_dispatch(const struct msim_host *h,
                                        const struct msim_trace *t, uint32_t op,
                                        bool calls)
{
    enum msim_host_class class = msim_host_op_class(t, op);
    struct msim_estimate out = {.source = MSIM_SOURCE_LAW};
    bool recorded = t->has_gpu_events;
    double bytes = recorded ? 0 : msim_host_step_bytes(t, op);
    struct dispatch d;

    if (class == MSIM_HOST_NOTHING || (calls && !msim_host_gpu_calls(t, op)))
        return out;
    d = find_whole(h, t, op, class, calls && !recorded);
    out.us = d.self;
    if (!recorded)
        out.us = unrecorded(h, t, op) *
                 (out.us + rest_us(h, t, op, class,
                                   calls && !(bytes > 0) ? d.calls : 0));
    if (!recorded && h->memory > 0)
        out.us += bytes / h->memory;
    out.low_us = out.us * (recorded || d.own ? d.low : h->bare_low);
    out.high_us = out.us * (recorded || d.own ? d.high : h->bare_high);
    return out;
}

struct msim_estimate msim_host_pause(const struct msim_host *h,
                                     const struct msim_trace *t, uint32_t op)
{
    enum msim_host_class class = msim_host_op_class(t, op);
    struct msim_estimate out = {.source = MSIM_SOURCE_LAW};

    if (class == MSIM_HOST_NOTHING || t->has_gpu_events)
        return out;
    out.us = unrecorded(h, t, op) * rest_us(h, t, op, class, 0);
    out.low_us = out.us * h->bare_low;
    out.high_us = out.us * h->bare_high;
    return out;
}

struct msim_estimate msim_host_call(const struct msim_host *h,
                                    enum msim_call_kind kind)
{
    return h->calls[kind];
}

struct msim_estimate msim_host_kernel_gap(const struct msim_host *h)
{
    return h->gap;
}

struct msim_estimate msim_host_launch_latency(const struct msim_host *h)
{
    return h->latency;
}

double msim_host_speed(const struct msim_host *h)
{
    return h->bare;
}

void msim_host_spread(const struct msim_host *h, double *low, double *high)
{
    *low = h->low;
    *high = h->high;
}

void msim_host_repeat(const struct msim_host *h, double *low, double *high)
{
    *low = h->repeat_low;
    *high = h->repeat_high;
}
