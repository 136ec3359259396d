/*
 * serving/log/request_log_jsonl.c - request logs of one JSON object a line.
 */
#include "core/base/files_read.h"
#include "core/base/hash.h"
#include "core/json/fields.h"
#include "core/stream/input.h"
#include "serving/log/request_rows.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct lines {
    struct msim_request_log *log;
    const char *path;
    struct msim_vec text; /* of the line that has begun */
    uint64_t line;        /* its number, from 1 */
    struct msim_error *err;
};

/* The member under one of its names, which may be NULL. */
static const char *named(const struct msim_fields *f, const char *a,
                         const char *b)
{
    return b && !msim_field_json(f, a) ? b : a;
}

static uint32_t read_tokens(struct msim_fields *f, const char *a, const char *b)
{
    const char *key = named(f, a, b);
    int64_t n = msim_field_int(f, key, 0, -1);

    if (n > 1000000000)
        msim_field_refuse(f, key, "at most 1000000000");
    return n < 0 ? 0 : n < 1 ? 1 : (uint32_t)n;
}

static double read_time(struct msim_fields *f)
{
    bool ms = !msim_field_json(f, "t_s");
    const char *key = named(f, "t_s", "timestamp");
    const cJSON *item = msim_field_json(f, key);

    if (!cJSON_IsNumber(item))
        msim_field_refuse(f, ms && item ? key : "t_s", "seconds from 0");
    return cJSON_IsNumber(item) ? item->valuedouble / (ms ? 1000 : 1) : 0;
}

static void read_blocks(struct lines *l, struct msim_logged *row,
                        struct msim_fields *f)
{
    const char *key = named(f, "blocks", "hash_ids");
    const cJSON *list = msim_field_array(f, key), *item;

    cJSON_ArrayForEach(item, list)
    {
        double v = cJSON_IsNumber(item) ? item->valuedouble : NAN;

        if (v != floor(v) || fabs(v) > 1e15) {
            msim_field_refuse_item(f, key, row->n_blocks, "a whole number");
            return;
        }
        if (f->status == MSIM_OK)
            f->status =
                msim_request_rows_block(l->log, row, (uint64_t)(int64_t)v);
    }
}

/* A text or a number. */
static uint64_t read_prefix(struct msim_fields *f)
{
    const cJSON *item = msim_field_json(f, "prefix_id");
    char *text = item ? cJSON_PrintUnformatted(item) : NULL;
    uint64_t hash =
        text ? msim_hash_mix(msim_hash_text(MSIM_HASH_START, text), 0) : 0;

    if (item && !cJSON_IsNumber(item) && !cJSON_IsString(item))
        msim_field_refuse(f, "prefix_id", "a text or a number");
    free(text);
    return hash;
}

static enum msim_status read_row(struct lines *l, const cJSON *json)
{
    struct msim_logged row = msim_request_rows_empty(l->log);
    struct msim_fields f = msim_fields_of(json, l->path, l->err);
    const char *name;

    snprintf(f.path, sizeof(f.path),
             "line %llu: ", (unsigned long long)l->line);
    row.t_s = read_time(&f);
    row.input_tokens = read_tokens(&f, "input_tokens", "input_length");
    row.output_tokens = read_tokens(&f, "output_tokens", "output_length");
    row.queued_ms = msim_field_between(&f, "queued_ms", 0, INFINITY, NAN);
    row.ttft_ms = msim_field_between(&f, "ttft_ms", 0, INFINITY, NAN);
    row.e2e_ms = msim_field_between(&f, "e2e_ms", 0, INFINITY, NAN);
    row.prefix = read_prefix(&f);
    read_blocks(l, &row, &f);
    name = msim_field_text(&f, "class");
    if (name && f.status == MSIM_OK)
        f.status = msim_request_rows_class(l->log, &row, name);
    MSIM_TRY(f.status);
    return msim_request_rows_add(l->log, &row, l->path, l->line, l->err);
}

static enum msim_status end_line(struct lines *l)
{
    const char *text = l->text.data;
    uint32_t n = l->text.n;
    enum msim_status status;
    cJSON *json;

    l->line++;
    l->text.n = 0;
    while (n && strchr(" \t\r", text[n - 1]))
        n--;
    if (n == 0)
        return MSIM_OK;
    status = msim_json_parse(&json, text, n, NULL);
    if (status == MSIM_OK && cJSON_IsObject(json))
        status = read_row(l, json);
    else if (status != MSIM_ENOMEM)
        status = msim_fail(l->err, MSIM_ESYNTAX, l->path, MSIM_OFFSET_NONE,
                           "line %llu: not a JSON object",
                           (unsigned long long)l->line);
    cJSON_Delete(json);
    return status;
}

static enum msim_status take(struct lines *l, const char *bytes, size_t n)
{
    while (n) {
        const char *end = memchr(bytes, '\n', n);
        size_t part = end ? (size_t)(end - bytes) : n;
        struct msim_text_piece piece;

        MSIM_TRY(msim_vec_text(&l->text, bytes, part, &piece));
        if (end) {
            MSIM_TRY(end_line(l));
            part++;
        }
        bytes += part;
        n -= part;
    }
    return MSIM_OK;
}

enum msim_status msim_request_rows_jsonl(struct msim_request_log *log,
                                         const char *path,
                                         struct msim_error *err)
{
    struct lines l = {.log = log, .path = path, .err = err};
    enum msim_status status;
    struct msim_input *in;
    const char *bytes;
    size_t n;

    MSIM_TRY(msim_files_read_note(path, err));
    MSIM_TRY(msim_input_open(&in, path, false, err));
    do {
        status = msim_input_next(in, &bytes, &n, err);
        if (status == MSIM_OK)
            status = n ? take(&l, bytes, n) : end_line(&l);
    } while (status == MSIM_OK && n);
    msim_input_close(in);
    free(l.text.data);
    return status;
}
