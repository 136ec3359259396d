/*
 * serving/log/request_log_jsonl.c - request logs of one JSON object a line.
 */
#include "core/base/hash.h"
#include "core/json/fields.h"
#include "serving/log/request_log_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct rows {
    struct msim_request_log *log;
    const char *path;
    bool of_tool; /* lines are results of a load generator */
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

static void read_blocks(const struct rows *rows, struct msim_logged *row,
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
                msim_request_rows_block(rows->log, row, (uint64_t)(int64_t)v);
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

static enum msim_status read_row(void *ctx, const cJSON *json, uint64_t line,
                                 struct msim_error *err)
{
    struct rows *rows = ctx;
    struct msim_logged row = msim_request_rows_empty(rows->log);
    struct msim_fields f = msim_fields_of(json, rows->path, err);
    const char *name;

    snprintf(f.path, sizeof(f.path), "line %llu: ", (unsigned long long)line);
    if (msim_tool_results_are(json)) {
        rows->of_tool = true;
        return msim_tool_results_add(rows->log, json, rows->path, f.path, err);
    }
    row.t_s = read_time(&f);
    row.input_tokens = read_tokens(&f, "input_tokens", "input_length");
    row.output_tokens = read_tokens(&f, "output_tokens", "output_length");
    row.queued_ms = msim_field_between(&f, "queued_ms", 0, INFINITY, NAN);
    row.ttft_ms = msim_field_between(&f, "ttft_ms", 0, INFINITY, NAN);
    row.e2e_ms = msim_field_between(&f, "e2e_ms", 0, INFINITY, NAN);
    row.prefix = read_prefix(&f);
    read_blocks(rows, &row, &f);
    name = msim_field_text(&f, "class");
    if (name && f.status == MSIM_OK)
        f.status = msim_request_rows_class(rows->log, &row, name);
    MSIM_TRY(f.status);
    return msim_request_rows_add(rows->log, &row, rows->path, line, err);
}

enum msim_status msim_request_rows_jsonl(struct msim_request_log *log,
                                         const char *path,
                                         struct msim_error *err)
{
    struct rows rows = {log, path, false};

    MSIM_TRY(msim_json_lines_read(path, read_row, &rows, err));
    return rows.of_tool ? msim_tool_results_end(log) : MSIM_OK;
}
