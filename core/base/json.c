/*
 * core/base/json.c - small JSON files as a tree.
 */
#include "core/base/json.h"

#include "core/base/files_read.h"
#include "core/base/json_out.h"
#include "core/base/print.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define JSON_LIMIT (64u << 20)

/* The whole of `f`, NUL-terminated, in `*text` (owned by the caller). */
static enum msim_status read_all(FILE *f, char **text, size_t *length)
{
    size_t size = 1 << 16;
    size_t used = 0;
    char *data = malloc(size);

    while (data) {
        size_t n = fread(data + used, 1, size - used - 1, f);

        used += n;
        if (n == 0 || used > JSON_LIMIT)
            break;
        if (used + 1 == size) {
            char *more = realloc(data, size *= 2);

            if (!more)
                free(data);
            data = more;
        }
    }
    if (!data)
        return MSIM_ENOMEM;
    data[used] = '\0';
    *text = data;
    *length = used;
    if (ferror(f))
        return MSIM_EIO;
    return used > JSON_LIMIT ? MSIM_ELIMIT : MSIM_OK;
}

/* cJSON says of both that there is no tree; malloc() leaves what it lacks in
 * errno, where nothing else in between puts that. */
enum msim_status msim_json_parse(cJSON **out, const char *text, size_t n,
                                 size_t *at)
{
    const char *end = NULL;

    errno = 0;
    *out = cJSON_ParseWithLengthOpts(text, n, &end, 0);
    if (!*out && errno == ENOMEM)
        return MSIM_ENOMEM;
    while (*out && end < text + n && isspace((unsigned char)*end))
        end++;
    if (at)
        *at = end ? (size_t)(end - text) : 0;
    if (*out && end == text + n)
        return MSIM_OK;
    cJSON_Delete(*out);
    *out = NULL;
    return MSIM_ESYNTAX;
}

enum msim_status msim_json_read(cJSON **out, const char *path,
                                struct msim_error *err)
{
    enum msim_status status;
    char *text = NULL;
    size_t length = 0, at = 0;
    FILE *f = fopen(path, "rb");

    *out = NULL;
    if (!f)
        return msim_fail(err, MSIM_EIO, path, MSIM_OFFSET_NONE,
                         "cannot be opened: %s", strerror(errno));
    status = msim_files_read_note(path, err);
    if (status == MSIM_OK)
        status = read_all(f, &text, &length);
    if (status == MSIM_OK)
        status = msim_json_parse(out, text, length, &at);
    if (status == MSIM_ESYNTAX)
        (void)msim_fail(err, status, path, at, "not well-formed JSON");
    else if (status != MSIM_OK)
        (void)msim_fail(err, status, path, MSIM_OFFSET_NONE, "%s",
                        msim_status_text(status));
    free(text);
    fclose(f);
    return status;
}

const char *msim_json_get_text(const cJSON *o, const char *key)
{
    return cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(o, key));
}

bool msim_json_get_true(const cJSON *o, const char *key)
{
    return cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(o, key));
}

double msim_json_get_number(const cJSON *o, const char *key, double missing)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(o, key);

    if (cJSON_IsObject(item))
        item = cJSON_GetObjectItemCaseSensitive(item, "value");
    return cJSON_IsNumber(item) ? item->valuedouble : missing;
}

bool msim_json_get_up_to(const cJSON *o, const char *key, double most,
                         double *out)
{
    *out = msim_json_get_number(o, key, NAN);
    return *out >= 0 && *out <= most;
}

enum msim_status msim_json_show(const cJSON *json, FILE *out)
{
    char *text = cJSON_Print(json), escape[16];

    if (!text)
        return MSIM_ENOMEM;
    for (const char *s = text; *s;) {
        unsigned n = *s == '\n' || *s == '\t' ? 1 : msim_printable_length(s);
        const char *from = n ? s : escape;

        s += n ? n : msim_json_escape(escape, s);
        fwrite(from, 1, n ? n : strlen(escape), out);
    }
    cJSON_free(text);
    putc('\n', out);
    return MSIM_OK;
}
