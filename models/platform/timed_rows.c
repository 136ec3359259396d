/*
 * models/platform/timed_rows.c - operators that were timed, by their shapes.
 */
#include "models/platform/platform_data.h"

#include "core/base/containers.h"
#include "core/base/hash.h"
#include "core/base/texts.h"
#include "core/json/fields.h"
#include "core/work/kernel_fact.h"
#include "core/work/work.h"
#include "models/platform/fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    SIZES = sizeof(((struct msim_work_shape *)NULL)->sizes) / sizeof(int64_t)
};

/* What a row answers. */
struct question {
    char law[24], key[MSIM_FIT_KEY], dtype[16];
    struct msim_work_shape shape;
};

struct msim_timed_row {
    struct question of; /* texts end in zeros, so that bytes compare */
    char framework[24];
    double bytes, us, low_us, high_us;
};

static double bytes_of(const struct msim_work *w)
{
    return fmax(w->bytes_read + w->bytes_written, 1);
}

static bool ask(struct question *q, const struct msim_work *w, bool host)
{
    const struct msim_law *law = msim_law_of(w->family, host);

    memset(q, 0, sizeof(*q));
    if (!law || !msim_work_shape_of(w, &q->shape))
        return false;
    snprintf(q->law, sizeof(q->law), "%s", law->name);
    snprintf(q->dtype, sizeof(q->dtype), "%s", msim_dtype_text(w->dtype));
    law->key(w, q->key, sizeof(q->key));
    /* what is behind the end of a text */
    memset(q->key + strlen(q->key), 0, sizeof(q->key) - strlen(q->key));
    return true;
}

/* ---- the file ------------------------------------------------------------ */

static cJSON *sizes_json(const struct msim_work_shape *shape)
{
    cJSON *list = cJSON_CreateArray();
    int n = SIZES;

    while (n > 0 && shape->sizes[n - 1] == 0)
        n--;
    for (int i = 0; list && i < n; i++)
        cJSON_AddItemToArray(list, cJSON_CreateNumber((double)shape->sizes[i]));
    return list;
}

cJSON *msim_timed_row_new(const struct msim_work *w, bool host)
{
    struct question q;
    cJSON *o = ask(&q, w, host) ? cJSON_CreateObject() : NULL;

    if (!o)
        return NULL;
    cJSON_AddStringToObject(o, "law", q.law);
    cJSON_AddStringToObject(o, "framework", w->framework ? w->framework : "");
    cJSON_AddStringToObject(o, "key", q.key);
    cJSON_AddStringToObject(o, "dtype", q.dtype);
    cJSON_AddItemToObject(o, "sizes", sizes_json(&q.shape));
    return o;
}

static bool read_text(char *to, size_t size, struct msim_fields *f,
                      const char *key)
{
    const char *text = msim_field_text(f, key);

    if (!text || strlen(text) >= size) {
        msim_field_refuse(f, key, "a short text");
        return false;
    }
    memcpy(to, text, strlen(text));
    return true;
}

static void read_sizes(struct msim_work_shape *shape, struct msim_fields *f)
{
    const cJSON *list = msim_field_array(f, "sizes"), *size;
    int n = 0;

    cJSON_ArrayForEach(size, list)
    {
        bool fits = n < SIZES && cJSON_IsNumber(size) &&
                    size->valuedouble >= 0 && size->valuedouble < 1e18;

        if (!fits) {
            msim_field_refuse(f, "sizes", "few whole numbers from 0");
            return;
        }
        shape->sizes[n++] = (int64_t)size->valuedouble;
    }
}

static enum msim_status read_row(struct msim_timed_row *r,
                                 struct msim_fields *f)
{
    if (!read_text(r->of.law, sizeof(r->of.law), f, "law") ||
        !read_text(r->of.key, sizeof(r->of.key), f, "key") ||
        !read_text(r->of.dtype, sizeof(r->of.dtype), f, "dtype") ||
        !read_text(r->framework, sizeof(r->framework), f, "framework"))
        return f->status;
    read_sizes(&r->of.shape, f);
    r->bytes = fmax(msim_field_between(f, "bytes", 0, INFINITY, 0), 1);
    r->us = msim_field_real(f, "us", NAN);
    r->low_us = msim_field_between(f, "low_us", 0, r->us, r->us);
    r->high_us = msim_field_between(f, "high_us", r->us, INFINITY, r->us);
    if (!(r->us > 0) || !(r->low_us > 0))
        msim_field_refuse(f, r->us > 0 ? "low_us" : "us", "a time above 0");
    return f->status;
}

/* Rows of one question: PyTorch's own first. */
static int by_question(const void *pa, const void *pb)
{
    const struct msim_timed_row *a = pa, *b = pb;
    int c = memcmp(&a->of, &b->of, sizeof(a->of));

    if (c == 0)
        c = MSIM_ORDER(strcmp(a->framework, "torch") != 0,
                       strcmp(b->framework, "torch") != 0);
    if (c == 0)
        c = strcmp(a->framework, b->framework);
    return c ? c : MSIM_ORDER(a->us, b->us);
}

enum msim_status msim_timed_rows_read(struct msim_timed_rows *out,
                                      const cJSON *platform, const char *file,
                                      struct msim_error *err)
{
    struct msim_fields f = msim_fields_of(platform, file, err);
    const cJSON *list = msim_field_array(&f, "timed"), *item;

    *out = (struct msim_timed_rows){.n = 0};
    if (!list || f.status != MSIM_OK)
        return f.status;
    out->list =
        calloc((size_t)cJSON_GetArraySize(list) + 1, sizeof(*out->list));
    if (!out->list)
        return MSIM_ENOMEM;
    cJSON_ArrayForEach(item, list)
    {
        struct msim_fields one =
            msim_fields_open_item(&f, "timed", out->n, item);

        (void)read_row(&out->list[out->n], &one);
        msim_fields_close(&f, &one);
        if (f.status != MSIM_OK) {
            msim_timed_rows_release(out);
            return f.status;
        }
        out->n++;
    }
    qsort(out->list, out->n, sizeof(*out->list), by_question);
    return MSIM_OK;
}

void msim_timed_rows_release(struct msim_timed_rows *rows)
{
    free(rows->list);
    *rows = (struct msim_timed_rows){.n = 0};
}

/* ---- answers ------------------------------------------------------------- */

/* The first row that is not before `q`. */
static uint32_t first_of(const struct msim_timed_rows *rows,
                         const struct question *q)
{
    uint32_t low = 0, high = rows->n;

    while (low < high) {
        uint32_t mid = low + (high - low) / 2;

        if (memcmp(&rows->list[mid].of, q, sizeof(*q)) < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

/* Works of one shape whose bytes differ have operands that are broadcast. */
static bool answers(const struct msim_timed_row *r, const struct msim_work *w)
{
    bool bare = !w->framework || strcmp(w->framework, "pytorch") == 0;

    return (bare || msim_same_text(w->framework, r->framework)) &&
           fabs(log(bytes_of(w) / r->bytes)) <
               MSIM_FACT(NULL, TIMED_SAME_BYTES);
}

bool msim_timed_rows_ask(const struct msim_timed_rows *rows, bool host,
                         const struct msim_work *w, struct msim_estimate *out)
{
    struct question q;

    if (!rows->n || !ask(&q, w, host))
        return false;
    for (uint32_t i = first_of(rows, &q); i < rows->n; i++) {
        const struct msim_timed_row *r = &rows->list[i];

        if (memcmp(&r->of, &q, sizeof(q)) != 0)
            return false;
        if (!answers(r, w))
            continue;
        *out = (struct msim_estimate){.us = r->us,
                                      .low_us = r->low_us,
                                      .high_us = r->high_us,
                                      .source = MSIM_SOURCE_TABLE,
                                      .family = w->family};
        return true;
    }
    return false;
}
