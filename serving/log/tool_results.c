/*
 * serving/log/tool_results.c - results of load generators.
 */
#include "serving/log/request_log_internal.h"

#include "core/base/containers.h"
#include "core/json/fields.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct tool {
    struct msim_request_log *log;
    const char *path, *where;
    struct msim_error *err;
};

static struct msim_fields fields_of(const struct tool *t, const cJSON *json,
                                    const char *name, uint32_t index)
{
    struct msim_fields f = msim_fields_of(json, t->path, t->err);

    if (name)
        snprintf(f.path, sizeof(f.path), "%.40s%.40s[%u].", t->where, name,
                 index);
    else
        snprintf(f.path, sizeof(f.path), "%.40s", t->where);
    return f;
}

static double seconds_of(struct msim_fields *f, const char *key)
{
    if (!msim_field_json(f, key))
        msim_field_refuse(f, key, "seconds of a clock");
    return msim_field_between(f, key, -1e15, 1e15, 0);
}

static uint32_t tokens_of(struct msim_fields *f, const char *key)
{
    int64_t n = msim_field_int(f, key, 0, -1);

    return n < 0 ? 0 : n < 1 ? 1 : n < 1000000000 ? (uint32_t)n : 1000000000;
}

static enum msim_status add(const struct tool *t, const struct msim_fields *f,
                            const struct msim_logged *row)
{
    struct msim_request_log *log = t->log;
    struct msim_logged *added;

    MSIM_TRY(f->status);
    MSIM_TRY(
        msim_grow((void **)&log->rows, &log->cap, log->n, sizeof(*log->rows)));
    added = &log->rows[log->n++];
    *added = *row;
    if (!(row->ttft_ms >= 0)) /* of clocks that go back */
        added->ttft_ms = NAN;
    if (!(row->e2e_ms >= 0))
        added->e2e_ms = NAN;
    return MSIM_OK;
}

/* ---- vllm bench serve ---------------------------------------------------- */

/* Item `i` of an array of numbers; NAN where there is none. */
static double number_at(const cJSON **item)
{
    double v = cJSON_IsNumber(*item) ? (*item)->valuedouble : NAN;

    if (*item)
        *item = (*item)->next;
    return v;
}

static double sum_of(const cJSON *list)
{
    const cJSON *item;
    double sum = 0;

    cJSON_ArrayForEach(item, list) sum += item->valuedouble;
    return sum;
}

static uint32_t count_of(double n)
{
    return n >= 1 && n < 1e9 ? (uint32_t)n : n >= 0 ? 1 : 0;
}

static enum msim_status add_vllm(const struct tool *t, const cJSON *json)
{
    struct msim_fields f = fields_of(t, json, NULL, 0);
    const cJSON *starts = msim_field_array(&f, "start_times");
    const cJSON *inputs = msim_field_array(&f, "input_lens");
    const cJSON *outputs = msim_field_array(&f, "output_lens");
    const cJSON *ttfts = msim_field_array(&f, "ttfts");
    const cJSON *itls = msim_field_array(&f, "itls");
    const cJSON *errors = msim_field_array(&f, "errors");
    const cJSON *start, *input = inputs ? inputs->child : NULL;
    const cJSON *output = outputs ? outputs->child : NULL;
    const cJSON *ttft = ttfts ? ttfts->child : NULL;
    const cJSON *itl = itls ? itls->child : NULL;
    const cJSON *error = errors ? errors->child : NULL;

    if (!starts)
        msim_field_refuse(&f, "start_times",
                          "when requests were sent: --save-detailed of a vLLM "
                          "that writes it");
    cJSON_ArrayForEach(start, starts)
    {
        struct msim_logged row = msim_request_rows_empty(t->log);
        const char *text = cJSON_GetStringValue(error);

        row.t_s = cJSON_IsNumber(start) ? start->valuedouble : NAN;
        row.input_tokens = count_of(number_at(&input));
        row.output_tokens = count_of(number_at(&output));
        row.ttft_ms = 1000 * number_at(&ttft);
        row.e2e_ms = row.ttft_ms + 1000 * sum_of(itl);
        if (!itl)
            row.e2e_ms = NAN;
        if (text && *text)
            row.ttft_ms = row.e2e_ms = NAN;
        itl = itl ? itl->next : NULL;
        error = error ? error->next : NULL;
        if (isnan(row.t_s))
            msim_field_refuse(&f, "start_times", "numbers");
        MSIM_TRY(add(t, &f, &row));
    }
    return f.status;
}

/* ---- GuideLLM ------------------------------------------------------------ */

static enum msim_status add_guidellm(const struct tool *t, const cJSON *json,
                                     uint32_t index)
{
    struct msim_fields f = fields_of(t, json, "requests", index);
    struct msim_logged row = msim_request_rows_empty(t->log);
    bool old = !msim_field_json(&f, "request_start_time");

    row.t_s = seconds_of(&f, old ? "start_time" : "request_start_time");
    row.input_tokens = tokens_of(&f, "prompt_tokens");
    row.output_tokens = tokens_of(&f, "output_tokens");
    row.ttft_ms =
        msim_field_between(&f, "time_to_first_token_ms", 0, 1e12, NAN);
    row.e2e_ms = 1000 * msim_field_between(&f, "request_latency", 0, 1e9, NAN);
    return add(t, &f, &row);
}

/* Those that succeeded, and others, which have no latencies that mean one. */
static enum msim_status add_guidellm_run(const struct tool *t,
                                         const cJSON *benchmark)
{
    const cJSON *all = cJSON_GetObjectItemCaseSensitive(benchmark, "requests");
    const cJSON *group, *request;

    cJSON_ArrayForEach(group, all)
    {
        uint32_t index = 0;
        bool done = group->string && strcmp(group->string, "successful") == 0;

        if (!cJSON_IsArray(group) ||
            (group->string && strcmp(group->string, "total") == 0))
            continue;
        cJSON_ArrayForEach(request, group)
        {
            uint32_t n = t->log->n;

            MSIM_TRY(add_guidellm(t, request, index++));
            if (!done)
                t->log->rows[n].ttft_ms = t->log->rows[n].e2e_ms = NAN;
        }
    }
    return MSIM_OK;
}

/* ---- AIPerf -------------------------------------------------------------- */

/* {"value": 12.5, "unit": "ms"} */
static double metric(struct msim_fields *metrics, const char *key)
{
    struct msim_fields in = msim_fields_open(metrics, key);
    double v = msim_field_between(&in, "value", 0, 1e12, NAN);
    const char *unit = msim_field_text(&in, "unit");

    msim_fields_close(metrics, &in);
    return unit && strcmp(unit, "s") == 0    ? 1e3 * v
           : unit && strcmp(unit, "us") == 0 ? v / 1e3
           : unit && strcmp(unit, "ns") == 0 ? v / 1e6
                                             : v;
}

/* Of a clock that began in 1970: within 256 ns in a double. */
static double nanoseconds_of(struct msim_fields *f)
{
    if (!msim_field_json(f, "request_start_ns"))
        msim_field_refuse(f, "request_start_ns", "nanoseconds of a clock");
    return msim_field_between(f, "request_start_ns", 0, 1e19, 0);
}

static enum msim_status add_aiperf(const struct tool *t, const cJSON *json)
{
    struct msim_fields f = fields_of(t, json, NULL, 0), about, metrics;
    struct msim_logged row = msim_request_rows_empty(t->log);

    about = msim_fields_open(&f, "metadata");
    row.t_s = 1e-9 * nanoseconds_of(&about);
    msim_fields_close(&f, &about);
    metrics = msim_fields_open(&f, "metrics");
    row.input_tokens = count_of(metric(&metrics, "input_sequence_length"));
    row.output_tokens = count_of(metric(&metrics, "output_sequence_length"));
    row.ttft_ms = metric(&metrics, "time_to_first_token");
    row.e2e_ms = metric(&metrics, "request_latency");
    msim_fields_close(&f, &metrics);
    return add(t, &f, &row);
}

/* ---- inference-perf ------------------------------------------------------ */

/* Where this version has them: of the answer, or in the request's own object.
 */
static void read_info(struct msim_fields *info, struct msim_logged *row,
                      double start)
{
    struct msim_fields request = msim_fields_open(info, "request_metrics");
    struct msim_fields text = msim_fields_open(&request, "text");
    struct msim_fields answer = msim_fields_open(info, "response_metrics");
    struct msim_fields *from = answer.object ? &answer : info;
    const cJSON *times = msim_field_array(from, "output_token_times");

    if (!times)
        times = msim_field_array(from, "chunk_times");
    row->input_tokens = tokens_of(
        msim_field_json(info, "input_tokens") ? info : &text, "input_tokens");
    row->output_tokens = tokens_of(from, "output_tokens");
    if (times && cJSON_IsNumber(times->child))
        row->ttft_ms = 1000 * (times->child->valuedouble - start);
    msim_fields_close(&request, &text);
    msim_fields_close(info, &request);
    msim_fields_close(info, &answer);
}

static enum msim_status add_inference_perf(const struct tool *t,
                                           const cJSON *json, uint32_t index)
{
    struct msim_fields f = fields_of(t, json, "", index), info;
    struct msim_logged row = msim_request_rows_empty(t->log);

    row.t_s = seconds_of(&f, "start_time");
    row.e2e_ms = 1000 * (seconds_of(&f, "end_time") - row.t_s);
    info = msim_fields_open(&f, "info");
    read_info(&info, &row, row.t_s);
    msim_fields_close(&f, &info);
    if (msim_field_json(&f, "error"))
        row.ttft_ms = row.e2e_ms = NAN;
    return add(t, &f, &row);
}

/* ---- all of them --------------------------------------------------------- */

static bool has(const cJSON *object, const char *key)
{
    return cJSON_GetObjectItemCaseSensitive(object, key) != NULL;
}

bool msim_tool_results_are(const cJSON *object)
{
    return has(object, "input_lens") || has(object, "benchmarks") ||
           (has(object, "metadata") && has(object, "metrics"));
}

enum msim_status msim_tool_results_add(struct msim_request_log *log,
                                       const cJSON *json, const char *path,
                                       const char *where,
                                       struct msim_error *err)
{
    struct tool t = {log, path, where, err};
    const cJSON *runs = cJSON_GetObjectItemCaseSensitive(json, "benchmarks");
    const cJSON *item;
    uint32_t index = 0;

    if (has(json, "input_lens"))
        return add_vllm(&t, json);
    if (has(json, "metadata") && has(json, "metrics"))
        return add_aiperf(&t, json);
    cJSON_ArrayForEach(item, runs) MSIM_TRY(add_guidellm_run(&t, item));
    if (cJSON_IsArray(json))
        cJSON_ArrayForEach(item, json)
            MSIM_TRY(add_inference_perf(&t, item, index++));
    return MSIM_OK;
}

static bool is_before(const void *ctx, uint32_t a, uint32_t b)
{
    const struct msim_request_log *log = ctx;

    return log->rows[a].t_s < log->rows[b].t_s;
}

enum msim_status msim_tool_results_end(struct msim_request_log *log)
{
    double first;

    if (log->n == 0)
        return MSIM_OK;
    MSIM_TRY(
        msim_sort_rows(log->rows, log->n, sizeof(*log->rows), is_before, log));
    first = log->rows[0].t_s;
    for (uint32_t i = 0; i < log->n; i++)
        log->rows[i].t_s -= first;
    return MSIM_OK;
}

enum msim_status msim_tool_results_read(struct msim_request_log *log,
                                        const char *path,
                                        struct msim_error *err)
{
    enum msim_status status;
    cJSON *json;

    MSIM_TRY(msim_json_read(&json, path, err));
    if (cJSON_IsArray(json) || msim_tool_results_are(json))
        status = msim_tool_results_add(log, json, path, "", err);
    else
        status = msim_fail(err, MSIM_EFORMAT, path, MSIM_OFFSET_NONE,
                           "not a log of requests: want csv, JSON lines, or "
                           "results of vllm bench serve, GuideLLM, AIPerf or "
                           "inference-perf");
    cJSON_Delete(json);
    return status == MSIM_OK ? msim_tool_results_end(log) : status;
}
