/*
 * serving/apps/app_sweep.c - SWEEP.json, and its points as changes of APP.json.
 *
 * A point is the application's own file with other members, so that what is
 * swept means what it means there, and is refused as it is there.
 */
#include "serving/apps/app_sweep.h"

#include "core/json/fields.h"

#include <string.h>

#define MOST_ITEMS 10000

#define X(name, text) text,
static const char *const AXES[] = {MSIM_APP_SWEEP_AXIS_MAP(X)};
#undef X

static bool is_item(enum msim_app_sweep_axis axis, const cJSON *item)
{
    switch (axis) {
    case MSIM_APP_SWEEP_SCHEDULER:
        return cJSON_IsObject(item);
    case MSIM_APP_SWEEP_PLATFORM:
        return cJSON_IsString(item);
    case MSIM_APP_SWEEP_REPLICAS:
        return cJSON_IsNumber(item) && item->valuedouble >= 1 &&
               item->valuedouble <= 1e6 &&
               item->valuedouble == (double)(int)item->valuedouble;
    default:
        return cJSON_IsNumber(item) && item->valuedouble > 0 &&
               item->valuedouble <= 1e9;
    }
}

static void read_axis(struct msim_app_sweep *s, struct msim_fields *f,
                      enum msim_app_sweep_axis axis)
{
    static const char *const WANT[] = {
        "members of batching (\"max_num_seqs\": 64)",
        "the name or file of a platform",
        "requests a second, above 0 and at most 1e9",
        "a whole number from 1 to 1000000"};
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(f->object, AXES[axis]);
    uint32_t n = 0;
    const cJSON *item;

    if (!list)
        return;
    if (!cJSON_IsArray(list) || !list->child) {
        msim_field_refuse(f, AXES[axis], "a list of at least one");
        return;
    }
    cJSON_ArrayForEach(item, list)
    {
        if (!is_item(axis, item))
            msim_field_refuse_item(f, AXES[axis], n, WANT[axis]);
        n++;
    }
    if (n > MOST_ITEMS)
        msim_field_refuse(f, AXES[axis], "at most 10000 of them");
    s->axes[axis] = list;
    s->n[axis] = n;
}

/* Numbers from 0 by platform. */
static const cJSON *read_by_platform(struct msim_fields *f, const char *key)
{
    const cJSON *o = cJSON_GetObjectItemCaseSensitive(f->object, key), *item;

    if (!o)
        return NULL;
    if (!cJSON_IsObject(o)) {
        msim_field_refuse(f, key, "{\"h100\": 2.5}");
        return NULL;
    }
    cJSON_ArrayForEach(item, o)
    {
        if (!cJSON_IsNumber(item) || !(item->valuedouble >= 0) ||
            item->valuedouble > 1e9)
            msim_field_refuse(f, key, "numbers from 0, by platform");
    }
    return o;
}

enum msim_status msim_app_sweep_read(struct msim_app_sweep *s, const char *path,
                                     struct msim_error *err)
{
    static const char *const KEYS[] = {"schema",  "scheduler", "platform",
                                       "rate",    "replicas",  "price_per_hour",
                                       "power_w", NULL};
    struct msim_fields f;

    memset(s, 0, sizeof(*s));
    for (int a = 0; a < MSIM_APP_SWEEP_AXES; a++)
        s->n[a] = 1;
    if (!path)
        return MSIM_OK;
    MSIM_TRY(msim_json_read(&s->json, path, err));
    f = msim_fields_of(cJSON_IsObject(s->json) ? s->json : NULL, path, err);
    if (!f.object)
        f.status = msim_fail(err, MSIM_EFORMAT, path, MSIM_OFFSET_NONE,
                             "this is not a JSON object, want lists of what is "
                             "swept ({\"rate\": [10, 20]})");
    msim_fields_only(&f, KEYS);
    for (int a = 0; a < MSIM_APP_SWEEP_AXES; a++)
        read_axis(s, &f, a);
    s->price_per_hour = read_by_platform(&f, "price_per_hour");
    s->power_w = read_by_platform(&f, "power_w");
    if (f.status != MSIM_OK)
        msim_app_sweep_release(s);
    return f.status;
}

void msim_app_sweep_release(struct msim_app_sweep *s)
{
    cJSON_Delete(s->json);
    memset(s, 0, sizeof(*s));
}

uint64_t msim_app_sweep_points(const struct msim_app_sweep *s)
{
    uint64_t n = 1;

    for (int a = 0; a < MSIM_APP_SWEEP_AXES; a++)
        n *= s->n[a];
    return n;
}

const cJSON *msim_app_sweep_item(const struct msim_app_sweep *s, uint64_t i,
                                 enum msim_app_sweep_axis axis, uint32_t *which)
{
    uint32_t at;

    for (int a = MSIM_APP_SWEEP_AXES - 1; a > (int)axis; a--)
        i /= s->n[a];
    at = (uint32_t)(i % s->n[axis]);
    if (which)
        *which = at;
    return s->axes[axis] ? cJSON_GetArrayItem(s->axes[axis], (int)at) : NULL;
}

/* ---- a point ------------------------------------------------------------- */

/* In place of what the object has under that name; false: ENOMEM. */
static bool put(cJSON *object, const char *key, const cJSON *value)
{
    cJSON *copy = cJSON_Duplicate(value, true);

    if (!copy)
        return false;
    cJSON_DeleteItemFromObjectCaseSensitive(object, key);
    if (cJSON_AddItemToObject(object, key, copy))
        return true;
    cJSON_Delete(copy);
    return false;
}

/* The object that `object` has under that name, made where it is not. */
static cJSON *inner(cJSON *object, const char *key)
{
    cJSON *o = cJSON_GetObjectItemCaseSensitive(object, key);

    return o ? o : cJSON_AddObjectToObject(object, key);
}

static bool is_kind(const cJSON *stage, const char *kind)
{
    const cJSON *k = cJSON_GetObjectItemCaseSensitive(stage, "kind");

    return cJSON_IsString(k) && strcmp(k->valuestring, kind) == 0;
}

/* What a GPU of the new platform costs (or draws): what the sweep says, else
 * what the application says of its own. */
static bool put_rate(cJSON *stage, const char *key, const cJSON *by_platform,
                     const char *platform, bool *guessed)
{
    const cJSON *known =
        cJSON_GetObjectItemCaseSensitive(by_platform, platform);
    const cJSON *own = cJSON_GetObjectItemCaseSensitive(stage, "platform");

    if (known)
        return put(stage, key, known);
    if (cJSON_GetObjectItemCaseSensitive(stage, key) && cJSON_IsString(own) &&
        strcmp(own->valuestring, platform) != 0)
        *guessed = true;
    return true;
}

static bool put_platform(const struct msim_app_sweep *s, cJSON *stage,
                         const cJSON *platform, bool *guessed)
{
    const char *name = platform->valuestring;

    return put_rate(stage, "price_per_hour", s->price_per_hour, name,
                    guessed) &&
           put_rate(stage, "power_w", s->power_w, name, guessed) &&
           put(stage, "platform", platform);
}

static bool put_scheduler(cJSON *stage, const cJSON *members)
{
    cJSON *batching = inner(stage, "batching");
    const cJSON *item;

    if (!batching)
        return false;
    cJSON_ArrayForEach(item, members)
    {
        if (!put(batching, item->string, item))
            return false;
    }
    return true;
}

static bool put_stage(const struct msim_app_sweep *s, uint64_t i, cJSON *stage,
                      bool *guessed)
{
    bool llm = is_kind(stage, "llm");
    const cJSON *scheduler =
        msim_app_sweep_item(s, i, MSIM_APP_SWEEP_SCHEDULER, NULL);
    const cJSON *platform =
        msim_app_sweep_item(s, i, MSIM_APP_SWEEP_PLATFORM, NULL);
    const cJSON *replicas =
        msim_app_sweep_item(s, i, MSIM_APP_SWEEP_REPLICAS, NULL);

    if (!llm && !is_kind(stage, "model"))
        return true;
    return (!platform || put_platform(s, stage, platform, guessed)) &&
           (!scheduler || !llm || put_scheduler(stage, scheduler)) &&
           (!replicas || put(stage, "replicas", replicas));
}

cJSON *msim_app_sweep_apply(const struct msim_app_sweep *s, uint64_t i,
                            const cJSON *app, bool *guessed)
{
    const cJSON *rate = msim_app_sweep_item(s, i, MSIM_APP_SWEEP_RATE, NULL);
    cJSON *copy = cJSON_Duplicate(app, true);
    cJSON *arrivals = inner(copy, "arrivals"), *stage;
    cJSON *stages = cJSON_GetObjectItemCaseSensitive(copy, "stages");
    bool fine = arrivals && (!rate || put(arrivals, "rate", rate));

    *guessed = false;
    cJSON_ArrayForEach(stage, stages)
    {
        fine = fine && put_stage(s, i, stage, guessed);
    }
    if (fine)
        return copy;
    cJSON_Delete(copy);
    return NULL;
}
