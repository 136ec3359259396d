/*
 * serving/log/json_lines.c - lines of a stream, each an object.
 */
#include "serving/log/request_log.h"

#include "core/base/containers.h"
#include "core/base/files.h"
#include "core/stream/input.h"

#include <stdlib.h>
#include <string.h>

struct lines {
    const char *path;
    struct msim_vec text; /* of the line that has begun */
    uint64_t line;        /* its number, from 1 */
    msim_json_line *each;
    void *ctx;
    struct msim_error *err;
};

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
        status = l->each(l->ctx, json, l->line, l->err);
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

enum msim_status msim_json_lines_read(const char *path, msim_json_line *each,
                                      void *ctx, struct msim_error *err)
{
    struct lines l = {.path = path, .each = each, .ctx = ctx, .err = err};
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
