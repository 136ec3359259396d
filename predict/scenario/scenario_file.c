/*
 * predict/scenario/scenario_file.c - reading scenarios.
 */
#include "core/json/fields.h"
#include "predict/scenario/scenario.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SCALES_MOST 64 /* of one scenario */
#define AXIS_MOST   1000000000

static const char *const CHANGES[] = {
    "scale",   "speedup", "remove",    "gpu",        "network",   "host",
    "nodes",   "ranks",   "clock",     "batch",      "power_cap", "dtype",
    "reshape", "loader",  "straggler", "cuda_graph", NULL};

/* What reading one scenario shares. */
struct reader {
    struct msim_scenarios *all;
    struct msim_scenario_row *row;
    struct msim_fields *f; /* of the change */
};

static const char *copy_text(struct msim_arena *arena, const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = msim_arena_alloc(arena, size);

    return copy ? memcpy(copy, text, size) : NULL;
}

/* ---- changes ------------------------------------------------------------- */

static void add_scale(struct reader *r, struct msim_fields *in,
                      const char *select, double factor)
{
    struct msim_scenario_row *row = r->row;
    struct msim_error why = {0};
    char text[512];
    const char *kept;

    snprintf(text, sizeof(text), "%.400s=%.17g", select, factor);
    kept = copy_text(&r->all->arena, text);
    if (!kept || row->settings.n_scales == SCALES_MOST) {
        msim_field_refuse(in, "select", "at most 64 changes a scenario");
        return;
    }
    if (msim_scale_parse(&row->scales[row->settings.n_scales], kept, &why) ==
        MSIM_OK)
        row->settings.n_scales++;
    else
        msim_field_refuse(in, "select",
                          "kernels, communication, copies, host, op:GLOB or "
                          "host:GLOB");
}

static void read_scale(struct reader *r, const char *key)
{
    static const char *const WITH[] = {"select", "factor", NULL};
    static const char *const WITHOUT[] = {"select", NULL};
    bool remove = strcmp(key, "remove") == 0;
    struct msim_fields in = msim_fields_open(r->f, key);
    const char *select;
    double factor = 0;

    if (!in.object)
        msim_field_refuse(r->f, key, "an object with \"select\"");
    msim_fields_only(&in, remove ? WITHOUT : WITH);
    select = msim_field_text(&in, "select");
    if (!select)
        msim_field_refuse(&in, "select",
                          "kernels, communication, copies, host, op:GLOB or "
                          "host:GLOB");
    if (!remove) {
        factor = msim_field_real(&in, "factor", 0);
        if (!(factor > 0))
            msim_field_refuse(&in, "factor", "a number above 0");
    }
    if (strcmp(key, "speedup") == 0 && factor > 0)
        factor = 1 / factor;
    if (select && in.status == MSIM_OK)
        add_scale(r, &in, select, factor);
    msim_fields_close(r->f, &in);
}

static const char *read_name(struct reader *r, const char *key)
{
    const char *text = msim_field_text(r->f, key);
    const char *kept = text && *text ? copy_text(&r->all->arena, text) : NULL;

    if (!kept)
        msim_field_refuse(r->f, key, "a name, or a file");
    r->row->other_target = true;
    return kept;
}

static void read_clock(struct reader *r, const char *key)
{
    const char *text = read_name(r, key);
    struct msim_clock_wish *wish = &r->row->settings.clock;
    struct msim_error why = {0};
    bool cap = strcmp(key, "power_cap") == 0;

    if (text && (cap ? msim_power_cap_parse(wish, text, &why)
                     : msim_clock_parse(wish, text, &why)) != MSIM_OK)
        msim_field_refuse(r->f, key,
                          cap ? "watts, as \"300\""
                              : "megahertz or a share, as \"1100\" or \"0.8\"");
}

static uint32_t read_count(struct reader *r, const char *key)
{
    int64_t n = msim_field_int(r->f, key, 1, 1);

    r->row->other_target = true;
    if (n > 10000000)
        msim_field_refuse(r->f, key, "at most 10,000,000");
    return n > 10000000 ? 1 : (uint32_t)n;
}

/* The object that a change is. */
static struct msim_fields open_change(struct reader *r, const char *key,
                                      const char *want)
{
    if (!cJSON_IsObject(cJSON_GetObjectItemCaseSensitive(r->f->object, key)))
        msim_field_refuse(r->f, key, want);
    return msim_fields_open(r->f, key);
}

/* Data loading of a step takes so long; the factor follows from the base's. */
static void read_loader(struct reader *r)
{
    static const char *const KEYS[] = {"milliseconds", NULL};
    struct msim_fields in = open_change(r, "loader", "{\"milliseconds\": 2}");

    msim_fields_only(&in, KEYS);
    r->row->loader_ms = msim_field_real(&in, "milliseconds", 0);
    if (!(r->row->loader_ms > 0))
        msim_field_refuse(&in, "milliseconds", "a number above 0");
    if (in.status == MSIM_OK)
        add_scale(r, &in, MSIM_SCENARIO_LOADER, 1);
    msim_fields_close(r->f, &in);
}

/* One rank's GPU and host are slower. */
static void read_straggler(struct reader *r)
{
    static const char *const KEYS[] = {"rank", "factor", NULL};
    static const char *const OF[] = {"kernels", "copies", "host", NULL};
    struct msim_fields in =
        open_change(r, "straggler", "{\"rank\": 3, \"factor\": 1.2}");
    int64_t rank;
    double factor;

    msim_fields_only(&in, KEYS);
    rank = msim_field_int(&in, "rank", 0, MSIM_FIELD_WANTED);
    factor = msim_field_real(&in, "factor", 0);
    if (!(factor > 0))
        msim_field_refuse(&in, "factor", "a number above 0");
    for (const char *const *of = OF; *of && in.status == MSIM_OK; of++) {
        char select[64];

        snprintf(select, sizeof(select), "%s@%lld", *of, (long long)rank);
        add_scale(r, &in, select, factor);
    }
    msim_fields_close(r->f, &in);
}

/* Work is launched as one: the host's time between launches is gone. */
static void read_cuda_graph(struct reader *r)
{
    const cJSON *item =
        cJSON_GetObjectItemCaseSensitive(r->f->object, "cuda_graph");
    char select[300];

    if (cJSON_IsTrue(item))
        add_scale(r, r->f, "host", 0);
    else if (cJSON_IsString(item) && *item->valuestring) {
        snprintf(select, sizeof(select), "host:%.250s", item->valuestring);
        add_scale(r, r->f, select, 0);
    } else
        msim_field_refuse(r->f, "cuda_graph",
                          "true, or the operators that are in it, such as "
                          "\"forward*\"");
}

/* A size, or from which to which. */
static void read_axis(struct reader *r, const char *key, bool every)
{
    static const char *const KEYS[] = {"from", "to", NULL};
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(r->f->object, key);
    struct msim_reshape *reshape = &r->row->settings.reshape;
    struct msim_axis axis = {.every = every};
    struct msim_fields in;

    if (cJSON_IsNumber(item) && !every) {
        axis.to = msim_field_int(r->f, key, 1, 1);
    } else if (!cJSON_IsObject(item)) {
        msim_field_refuse(r->f, key,
                          every ? "{\"from\": 512, \"to\": 1024}"
                                : "a number, or {\"from\": 8, \"to\": 64}");
    } else {
        in = msim_fields_open(r->f, key);
        msim_fields_only(&in, KEYS);
        axis.from =
            msim_field_int(&in, "from", 1, every ? MSIM_FIELD_WANTED : 0);
        axis.to = msim_field_int(&in, "to", 1, MSIM_FIELD_WANTED);
        msim_fields_close(r->f, &in);
    }
    if (axis.to > AXIS_MOST || axis.from > AXIS_MOST)
        msim_field_refuse(r->f, key, "sizes of at most 1,000,000,000");
    if (reshape->n_axes == MSIM_RESHAPE_AXES)
        msim_field_refuse(r->f, key, "at most 16 such changes a scenario");
    else if (axis.from != axis.to)
        reshape->axes[reshape->n_axes++] = axis;
    r->row->other_target |= reshape->n_axes > 0;
}

static void read_dtype(struct reader *r)
{
    const char *text = msim_field_text(r->f, "dtype");
    enum msim_dtype *dtype = &r->row->settings.reshape.dtype;

    r->row->other_target = true;
    if (text && !strcmp(text, "bf16"))
        *dtype = MSIM_DT_BF16;
    else if (text && !strcmp(text, "fp16"))
        *dtype = MSIM_DT_F16;
    else
        msim_field_refuse(r->f, "dtype", "\"bf16\" or \"fp16\"");
}

static void read_change(struct reader *r)
{
    const char *key = r->f->object->child ? r->f->object->child->string : "";
    struct msim_predict_settings *s = &r->row->settings;

    msim_fields_only(r->f, CHANGES);
    if (r->f->status != MSIM_OK)
        return;
    if (cJSON_GetArraySize(r->f->object) != 1)
        r->f->status =
            msim_fail(r->f->err, MSIM_EFORMAT, r->f->file, MSIM_OFFSET_NONE,
                      "%s has %d members, want one change", r->f->path,
                      cJSON_GetArraySize(r->f->object));
    else if (strcmp(key, "gpu") == 0)
        s->platform = read_name(r, key);
    else if (strcmp(key, "network") == 0)
        s->network = read_name(r, key);
    else if (strcmp(key, "host") == 0)
        s->host = read_name(r, key);
    else if (strcmp(key, "nodes") == 0)
        s->nodes = read_count(r, key);
    else if (strcmp(key, "ranks") == 0)
        s->ranks = read_count(r, key);
    else if (strcmp(key, "batch") == 0)
        read_axis(r, key, false);
    else if (strcmp(key, "reshape") == 0)
        read_axis(r, key, true);
    else if (strcmp(key, "loader") == 0)
        read_loader(r);
    else if (strcmp(key, "straggler") == 0)
        read_straggler(r);
    else if (strcmp(key, "cuda_graph") == 0)
        read_cuda_graph(r);
    else if (strcmp(key, "dtype") == 0)
        read_dtype(r);
    else if (strcmp(key, "clock") == 0 || strcmp(key, "power_cap") == 0)
        read_clock(r, key);
    else
        read_scale(r, key);
}

/* ---- scenarios ----------------------------------------------------------- */

/* Factors are applied in one order, so that the order in the file does not
 * matter to the last picosecond. */
static int by_text(const void *a, const void *b)
{
    const struct msim_scale *x = a, *y = b;

    return strcmp(x->text, y->text);
}

/* Likewise sizes: the batch before all others. */
static int by_axis(const void *a, const void *b)
{
    const struct msim_axis *x = a, *y = b;

    if (x->every != y->every)
        return x->every ? 1 : -1;
    return (x->from > y->from) - (x->from < y->from);
}

static void read_changes(struct reader *r, struct msim_fields *f,
                         uint32_t index)
{
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(f->object, "changes");
    const cJSON *item;
    uint32_t n = 0;

    if (!cJSON_IsArray(list)) {
        msim_field_refuse(f, "changes", "an array of changes");
        return;
    }
    cJSON_ArrayForEach(item, list)
    {
        struct msim_fields in =
            msim_fields_of(cJSON_IsObject(item) ? item : NULL, f->file, f->err);

        snprintf(in.path, sizeof(in.path), "scenarios[%u].changes[%u].", index,
                 n++);
        in.status = f->status;
        r->f = &in;
        if (in.object)
            read_change(r);
        else
            msim_field_refuse(f, "changes", "an array of objects");
        msim_fields_close(f, &in);
    }
    qsort(r->row->scales, r->row->settings.n_scales, sizeof(*r->row->scales),
          by_text);
    qsort(r->row->settings.reshape.axes, r->row->settings.reshape.n_axes,
          sizeof(struct msim_axis), by_axis);
}

static enum msim_status read_scenario(struct msim_scenarios *out,
                                      const cJSON *item, uint32_t index,
                                      struct msim_fields *file)
{
    static const char *const KEYS[] = {"name", "changes", NULL};
    struct reader r = {.all = out, .row = &out->rows[index]};
    struct msim_fields f = msim_fields_of(cJSON_IsObject(item) ? item : NULL,
                                          file->file, file->err);
    const char *name;

    snprintf(f.path, sizeof(f.path), "scenarios[%u].", index);
    r.row->settings = out->base.settings;
    r.row->scales = calloc(SCALES_MOST, sizeof(*r.row->scales));
    if (!r.row->scales)
        return MSIM_ENOMEM;
    r.row->settings.scales = r.row->scales;
    r.row->settings.n_scales = 0;
    msim_fields_only(&f, KEYS);
    name = msim_field_text(&f, "name");
    if (!name || !*name)
        msim_field_refuse(&f, "name", "a text");
    if (f.status == MSIM_OK) {
        r.row->name = copy_text(&out->arena, name);
        read_changes(&r, &f, index);
    }
    return f.status;
}

static enum msim_status read_all(struct msim_scenarios *out,
                                 struct msim_fields *f)
{
    static const char *const KEYS[] = {"scenarios", NULL};
    const cJSON *list =
        cJSON_GetObjectItemCaseSensitive(f->object, "scenarios");
    const cJSON *item;
    int n = cJSON_GetArraySize(list);

    msim_fields_only(f, KEYS);
    if (!cJSON_IsArray(list) || n == 0)
        msim_field_refuse(f, "scenarios",
                          "an array of {\"name\": ..., \"changes\": [...]}");
    if (f->status != MSIM_OK)
        return f->status;
    out->rows = calloc((size_t)n, sizeof(*out->rows));
    if (!out->rows)
        return MSIM_ENOMEM;
    cJSON_ArrayForEach(item, list)
        MSIM_TRY(read_scenario(out, item, out->n++, f));
    return MSIM_OK;
}

enum msim_status msim_scenarios_read(struct msim_scenarios *out,
                                     const char *path,
                                     const struct msim_predict_settings *s,
                                     struct msim_error *err)
{
    enum msim_status status;
    struct msim_fields f;
    cJSON *json;

    *out = (struct msim_scenarios){.base = {.name = "base", .settings = *s}};
    out->base.settings.totals_only = true;
    msim_arena_init(&out->arena);
    MSIM_TRY(msim_json_read(&json, path, err));
    f = msim_fields_of(cJSON_IsObject(json) ? json : NULL, path, err);
    status = f.object
                 ? read_all(out, &f)
                 : msim_fail(err, MSIM_EFORMAT, path, MSIM_OFFSET_NONE,
                             "this is not a JSON object, want {\"scenarios\": "
                             "[...]}");
    cJSON_Delete(json);
    return status;
}

void msim_scenarios_release(struct msim_scenarios *s)
{
    for (uint32_t i = 0; i < s->n; i++)
        free(s->rows[i].scales);
    free(s->rows);
    msim_arena_release(&s->arena);
    s->rows = NULL;
    s->n = 0;
}
