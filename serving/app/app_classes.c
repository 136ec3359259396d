/*
 * serving/app/app_classes.c - classes of requests, and what was promised them.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "serving/app/app_internal.h"

#define SHARES_OFF 1e-4 /* of a sum of rounded shares */

static void read_prefix(struct msim_app_class *c, struct msim_fields *f)
{
    static const char *const KEYS[] = {"shared_tokens", "groups",
                                       "distinct_prompts", NULL};
    struct msim_fields in = msim_fields_open(f, "prefix");

    if (in.object) {
        msim_fields_only(&in, KEYS);
        c->prefix.shared_tokens = msim_field_int(&in, "shared_tokens", 0, 0);
        c->prefix.groups = msim_field_int(&in, "groups", 1, 1);
        c->prefix.distinct_prompts =
            msim_field_int(&in, "distinct_prompts", 0, 0);
    }
    msim_fields_close(f, &in);
}

static void read_name(struct msim_app *app, struct msim_app_class *c,
                      struct msim_fields *f)
{
    const char *name = msim_field_text(f, "name");

    if (!name || !*name)
        msim_field_refuse(f, "name", "a text");
    else if (msim_app_class_find(app, name) != MSIM_NONE)
        msim_field_refuse(f, "name", "another name than the classes before");
    msim_app_check_name(f, "name", name ? name : "");
    c->name = msim_app_copy(app, f, name ? name : "");
}

static void read_class(struct msim_app *app, struct msim_app_class *c,
                       struct msim_fields *f, bool alone)
{
    static const char *const KEYS[] = {
        "name",          "share",  "priority", "input_tokens",
        "output_tokens", "prefix", NULL};

    msim_fields_only(f, KEYS);
    read_name(app, c, f);
    if (!alone && !msim_field_json(f, "share"))
        msim_field_refuse(f, "share", "a number from 0 to 1");
    c->share = msim_field_between(f, "share", 0, 1, 1);
    c->priority = (int32_t)msim_field_between(f, "priority", 0, 1000, 0);
    (void)msim_field_int(f, "priority", 0, 0);
    c->input_tokens = msim_app_dist(app, f, "input_tokens");
    c->output_tokens = msim_app_dist(app, f, "output_tokens");
    read_prefix(c, f);
}

/* Shares are made to add up to 1 exactly, so that every draw finds a class. */
static void check_shares(struct msim_app *app, struct msim_app_class *c,
                         struct msim_fields *f)
{
    double sum = 0;

    for (uint32_t i = 0; i < app->n_classes; i++)
        sum += c[i].share;
    if (f->status == MSIM_OK && fabs(sum - 1) > SHARES_OFF)
        f->status = msim_fail(f->err, MSIM_EFORMAT, f->file, MSIM_OFFSET_NONE,
                              "classes[].share add up to %.10g, want 1", sum);
    for (uint32_t i = 0; i < app->n_classes && sum > 0; i++)
        c[i].share /= sum;
}

/* Where the file has no classes: one, of everything. */
static void make_class(struct msim_app *app, struct msim_fields *f)
{
    struct msim_app_class *c = msim_app_room(app, f, 1, sizeof(*c));

    if (!c)
        return;
    c->name = "all";
    c->share = 1;
    c->size = msim_app_dist(app, f, "size");
    app->classes = c;
    app->n_classes = 1;
}

static void check_size(struct msim_fields *f, const struct msim_dist *size)
{
    if (size->kind != MSIM_DIST_NONE && fabs(size->mean - 1) > 0.01)
        msim_field_refuse(f, "size", "a distribution whose mean is 1");
}

void msim_app_read_classes(struct msim_app *app, struct msim_fields *f)
{
    const cJSON *list = msim_field_array(f, "classes"), *item;
    uint32_t n = (uint32_t)cJSON_GetArraySize(list);
    struct msim_dist size = msim_app_dist(app, f, "size");
    struct msim_app_class *c;

    check_size(f, &size);
    if (list && (n == 0 || n > MSIM_APP_MOST_CLASSES))
        msim_field_refuse(f, "classes", "an array of 1 to 1000 classes");
    if (!list && f->status == MSIM_OK)
        make_class(app, f);
    if (!list || f->status != MSIM_OK)
        return;
    c = msim_app_room(app, f, n, sizeof(*c));
    app->classes = c;
    cJSON_ArrayForEach(item, list)
    {
        struct msim_fields in =
            msim_fields_open_item(f, "classes", app->n_classes, item);

        if (f->status != MSIM_OK)
            return;
        c->size = size;
        read_class(app, c++, &in, n == 1);
        app->n_classes++;
        msim_fields_close(f, &in);
    }
    check_shares(app, (struct msim_app_class *)app->classes, f);
}

/* ---- promises ------------------------------------------------------------ */

static void read_promised_class(const struct msim_app *app,
                                struct msim_promise *p, struct msim_fields *f)
{
    const char *name = msim_field_text(f, "class");
    const char *names[16];
    uint32_t n = 0;
    char want[256] = "the name of a class";

    p->cls = name ? msim_app_class_find(app, name) : MSIM_CLASS_ALL;
    if (!name || p->cls != MSIM_NONE || strcmp(name, "all") == 0)
        return;
    for (size_t used = 0; n < app->n_classes && n < 16; n++) {
        names[n] = app->classes[n].name;
        used += (size_t)snprintf(want + used, sizeof(want) - used, "%s%.40s",
                                 n ? ", " : "one of classes: ", names[n]);
        if (used >= sizeof(want))
            break;
    }
    msim_field_refuse(f, "class", want);
}

static void read_percentile(struct msim_promise *p, struct msim_fields *f)
{
    char want[96] = "a number from 50 to 99.999";
    const cJSON *item = msim_field_json(f, "percentile");
    double v = cJSON_IsNumber(item) ? item->valuedouble : NAN;

    p->percentile = v;
    if (v >= 50 && v <= 99.999)
        return;
    if (v > 0.5 && v < 1)
        snprintf(want, sizeof(want),
                 "a number from 50 to 99.999: %.6g is meant as %.6g", v,
                 100 * v);
    msim_field_refuse(f, "percentile", want);
}

static void read_promise(const struct msim_app *app, struct msim_promise *p,
                         struct msim_fields *f)
{
#define X(name, text) text,
    static const char *const METRICS[] = {MSIM_PROMISE_METRIC_MAP(X) NULL};
#undef X
    static const char *const KEYS[] = {"class", "metric", "percentile",
                                       "limit_ms", NULL};

    msim_fields_only(f, KEYS);
    read_promised_class(app, p, f);
    p->metric = (enum msim_promise_metric)msim_field_word(f, "metric", METRICS,
                                                          MSIM_PROMISE_E2E);
    read_percentile(p, f);
    if (!msim_field_json(f, "limit_ms"))
        msim_field_refuse(f, "limit_ms", "a number above 0");
    p->limit_ms = msim_field_real(f, "limit_ms", 1);
}

void msim_app_read_promises(struct msim_app *app, struct msim_fields *f)
{
    const cJSON *list = msim_field_array(f, "slo"), *item;
    uint32_t n = (uint32_t)cJSON_GetArraySize(list);
    struct msim_promise *p;

    if (n > MSIM_APP_MOST_PROMISES)
        msim_field_refuse(f, "slo", "at most 10000 promises");
    if (n == 0 || f->status != MSIM_OK)
        return;
    p = msim_app_room(app, f, n, sizeof(*p));
    app->promises = p;
    cJSON_ArrayForEach(item, list)
    {
        struct msim_fields in =
            msim_fields_open_item(f, "slo", app->n_promises, item);

        if (f->status != MSIM_OK)
            return;
        read_promise(app, p++, &in);
        app->n_promises++;
        msim_fields_close(f, &in);
    }
}
