/*
 * predict/scenario/change_graph.c - changes of the simulated graph: work that
 * is inserted, replaced, fused, untied, sent in another type (predict/edit).
 */
#include "predict/scenario/scenario.h"

#include "core/work/work.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct msim_edit *msim_change_edit(struct msim_change_reader *r,
                                   const char *key, enum msim_edit_kind kind)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(r->f->object, key);
    char *text = cJSON_PrintUnformatted(item);
    const char *kept = text ? msim_change_text(r, text) : NULL;
    struct msim_edit *e;

    cJSON_free(text);
    if (!kept || r->row->n_edits == MSIM_CHANGE_EDITS) {
        msim_field_refuse(r->f, key, "at most 32 such changes a scenario");
        return NULL;
    }
    e = &r->row->edits[r->row->n_edits++];
    *e = (struct msim_edit){.kind = kind, .text = kept};
    return e;
}

/* The member `key` of `in`, a selection. */
static void read_select(struct msim_change_reader *r, struct msim_fields *in,
                        const char *key, struct msim_edit *e)
{
    const char *text = msim_field_text(in, key), *kept;
    struct msim_error why = {0};
    char scale[512];

    if (!text) {
        msim_field_refuse(in, key, MSIM_SCALE_ACCEPTED);
        return;
    }
    snprintf(scale, sizeof(scale), "%.400s=1", text);
    kept = msim_change_text(r, scale);
    e->chosen = msim_change_text(r, text);
    if (kept && e->chosen &&
        msim_scale_parse(&e->select, kept, &why) == MSIM_OK)
        e->selects = true;
    else
        msim_field_refuse(in, key, msim_scale_wanted(&why));
}

/* A number from 0; `missing` where it is absent. */
static double read_time(struct msim_fields *in, const char *key, double missing)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(in->object, key);

    if (!item)
        return missing;
    if (cJSON_IsNumber(item) && item->valuedouble >= 0 &&
        isfinite(item->valuedouble))
        return item->valuedouble;
    msim_field_refuse(in, key, "a number from 0");
    return missing;
}

static enum msim_dtype dtype_of(const char *text)
{
    const char *variant = NULL;
    enum msim_dtype t =
        text ? msim_dtype_parse(text, &variant) : MSIM_DT_UNKNOWN;

    return variant ? MSIM_DT_UNKNOWN : t;
}

/* ---- an operator --------------------------------------------------------- */

#define WANT_SIZES "sizes of up to 8 tensors, such as [[1024, 512], [512, 256]]"

static bool read_tensor(const cJSON *list, struct msim_edit_tensor *t)
{
    const cJSON *size;

    if (!cJSON_IsArray(list) || cJSON_GetArraySize(list) > MSIM_EDIT_DIMS)
        return false;
    cJSON_ArrayForEach(size, list)
    {
        double n = cJSON_IsNumber(size) ? size->valuedouble : -1;

        if (!(n >= 0 && n <= 1e12) || n != floor(n))
            return false;
        t->sizes[t->n++] = (int64_t)n;
    }
    return true;
}

static void read_op(struct msim_change_reader *r, struct msim_fields *in,
                    struct msim_edit_op *op)
{
    const cJSON *sizes = cJSON_GetObjectItemCaseSensitive(in->object, "sizes");
    const char *name = msim_field_text(in, "operator");
    const char *word = msim_field_text(in, "dtype");
    enum msim_dtype dtype = word ? dtype_of(word) : MSIM_DT_F32;
    const cJSON *list;

    op->name = name && *name ? msim_change_text(r, name) : NULL;
    if (!op->name)
        msim_field_refuse(in, "operator", "a name, such as \"aten::mm\"");
    if (!dtype)
        msim_field_refuse(in, "dtype", "a type, such as \"fp32\" or \"bf16\"");
    if (!cJSON_IsArray(sizes) || !cJSON_GetArraySize(sizes) ||
        cJSON_GetArraySize(sizes) > MSIM_EDIT_TENSORS) {
        msim_field_refuse(in, "sizes", WANT_SIZES);
        return;
    }
    cJSON_ArrayForEach(list, sizes)
    {
        op->tensors[op->n].dtype = dtype;
        if (!read_tensor(list, &op->tensors[op->n++])) {
            msim_field_refuse(in, "sizes", WANT_SIZES);
            return;
        }
    }
}

/* What the work takes: microseconds, or an operator. */
static void read_work(struct msim_change_reader *r, struct msim_fields *in,
                      struct msim_edit *e)
{
    bool op = cJSON_HasObjectItem(in->object, "operator");

    e->us = read_time(in, "microseconds", -1);
    if (op && e->us >= 0)
        msim_field_refuse(in, "microseconds",
                          "either that or \"operator\" with \"sizes\"");
    else if (op)
        read_op(r, in, &e->op);
    else if (!(e->us >= 0))
        msim_field_refuse(in, "microseconds",
                          "a number from 0, or \"operator\" with \"sizes\"");
}

/* ---- insert, replace ----------------------------------------------------- */

static void read_on(struct msim_fields *in, struct msim_edit *e)
{
    const char *text = msim_field_text(in, "on");
    char *end;

    if (!text || !strcmp(text, "same stream"))
        return;
    if (!strcmp(text, "new stream")) {
        e->on = MSIM_ON_NEW;
        return;
    }
    e->on = MSIM_ON_STREAM;
    if (!strncmp(text, "stream:", 7) && text[7]) {
        e->stream = strtoll(text + 7, &end, 10);
        if (!*end)
            return;
    }
    msim_field_refuse(in, "on",
                      "\"same stream\", \"new stream\" or \"stream:NUMBER\"");
}

void msim_change_read_insert(struct msim_change_reader *r, const char *key)
{
    static const char *const KEYS[] = {
        "after", "before", "microseconds",      "operator", "sizes",
        "dtype", "on",     "host_microseconds", NULL};
    struct msim_edit *e = msim_change_edit(r, key, MSIM_EDIT_INSERT);
    struct msim_fields in = msim_change_open(
        r, key, "{\"after\": \"op:aten::mm\", \"microseconds\": 10}");

    msim_fields_only(&in, KEYS);
    if (e && in.status == MSIM_OK) {
        e->before = cJSON_HasObjectItem(in.object, "before");
        if (e->before && cJSON_HasObjectItem(in.object, "after"))
            msim_field_refuse(&in, "before", "either that or \"after\"");
        else
            read_select(r, &in, e->before ? "before" : "after", e);
        read_work(r, &in, e);
        e->host_us = read_time(&in, "host_microseconds", 0);
        read_on(&in, e);
        if (!e->before || e->on == MSIM_ON_SAME)
            msim_fields_close(r->f, &in);
        else {
            msim_field_refuse(&in, "on", "\"after\" on another stream");
            msim_fields_close(r->f, &in);
        }
        return;
    }
    msim_fields_close(r->f, &in);
}

void msim_change_read_replace(struct msim_change_reader *r, const char *key)
{
    static const char *const KEYS[] = {"select", "microseconds", "operator",
                                       "sizes",  "dtype",        NULL};
    struct msim_edit *e = msim_change_edit(r, key, MSIM_EDIT_REPLACE);
    struct msim_fields in = msim_change_open(
        r, key, "{\"select\": \"op:aten::mm\", \"microseconds\": 10}");

    msim_fields_only(&in, KEYS);
    if (e && in.status == MSIM_OK) {
        read_select(r, &in, "select", e);
        read_work(r, &in, e);
    }
    msim_fields_close(r->f, &in);
}

/* ---- fuse, overlap ------------------------------------------------------- */

void msim_change_read_fuse(struct msim_change_reader *r, const char *key)
{
    static const char *const WORDS[] = {"pointwise", "attention", "optimizer"};
    static const char *const KEYS[] = {"select", NULL};
    static const char WANT[] = "\"pointwise\", \"attention\", \"optimizer\" or "
                               "{\"select\": \"op:GLOB\"}";
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(r->f->object, key);
    struct msim_edit *e = msim_change_edit(r, key, MSIM_EDIT_FUSE);
    struct msim_fields in;

    if (!e)
        return;
    if (cJSON_IsObject(item)) {
        in = msim_fields_open(r->f, key);
        msim_fields_only(&in, KEYS);
        read_select(r, &in, "select", e);
        msim_fields_close(r->f, &in);
        return;
    }
    for (size_t i = 0; i < sizeof(WORDS) / sizeof(WORDS[0]); i++)
        if (cJSON_IsString(item) && !strcmp(item->valuestring, WORDS[i])) {
            e->fuse = (enum msim_fuse)(MSIM_FUSE_POINTWISE + i);
            return;
        }
    msim_field_refuse(r->f, key, WANT);
}

void msim_change_read_overlap(struct msim_change_reader *r, const char *key)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(r->f->object, key);
    struct msim_edit *e = msim_change_edit(r, key, MSIM_EDIT_OVERLAP);

    if (!e || cJSON_IsTrue(item))
        return;
    if (cJSON_IsString(item))
        read_select(r, r->f, key, e);
    else
        msim_field_refuse(r->f, key, "true, or a selection of communication");
}

/* ---- quantise_comms ------------------------------------------------------ */

static enum msim_dtype read_type(struct msim_fields *in, const char *key)
{
    const char *text = msim_field_text(in, key);
    enum msim_dtype t = dtype_of(text);

    if (t == MSIM_DT_F16 || t == MSIM_DT_BF16 || t == MSIM_DT_I8)
        return t;
    if (text)
        msim_field_refuse(in, key, "\"fp16\", \"bf16\" or \"int8\"");
    return MSIM_DT_UNKNOWN;
}

void msim_change_read_quantise_comms(struct msim_change_reader *r,
                                     const char *key)
{
    static const char *const KEYS[] = {"forward", "backward", "select", NULL};
    static const char WANT[] = "\"fp16\", \"bf16\", \"int8\" or {\"forward\": "
                               "\"fp16\", \"backward\": \"bf16\"}";
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(r->f->object, key);
    struct msim_edit *e = msim_change_edit(r, key, MSIM_EDIT_QUANTISE);
    struct msim_fields in;

    if (!e)
        return;
    if (cJSON_IsString(item)) {
        e->forward = e->backward = read_type(r->f, key);
        return;
    }
    in = msim_change_open(r, key, WANT);
    msim_fields_only(&in, KEYS);
    e->forward = read_type(&in, "forward");
    e->backward = read_type(&in, "backward");
    if (cJSON_HasObjectItem(in.object, "select"))
        read_select(r, &in, "select", e);
    if (in.object && !e->forward && !e->backward)
        msim_field_refuse(r->f, key, WANT);
    msim_fields_close(r->f, &in);
}
