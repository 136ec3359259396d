/*
 * core/stream/json_sax.c - yajl behind the interface of json_sax.h.
 *
 * yajl is packaged, streams and checks UTF-8. Here are added: skipping, bounds
 * on depth and on the length of a string, and the offset of what went wrong.
 */
#include "core/stream/json_sax.h"

#include "core/base/vec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yajl/yajl_parse.h>

/*
 * Skipping: while `skip` is not 0, nothing inside the container of that depth
 * is reported; its end is if `report_end`.
 */
struct msim_sax {
    struct msim_sax_handler handler;
    void *ctx;
    yajl_handle yajl;
    uint64_t offset; /* of the piece at hand, or of what is behind all */
    bool parsing;
    uint32_t depth, skip;
    bool report_end;
    bool heard;              /* the piece at hand brought an event */
    uint64_t quiet;          /* bytes since the last piece that did */
    struct msim_vec kept;    /* bytes that yajl has not seen yet */
    bool skip_value;         /* the value of the key just reported is skipped */
    enum msim_status failed; /* after a failure every call fails alike */
    int stop;                /* why a callback stopped */
    char message[256];
};

static int went(struct msim_sax *s, int result)
{
    if (result < 0)
        s->stop = result;
    return result >= 0;
}

/* After a scalar: the rest of what it is in is skipped. */
static int went_scalar(struct msim_sax *s, int result)
{
    if (result == MSIM_SAX_SKIP && s->depth) {
        s->skip = s->depth;
        s->report_end = true;
    }
    return went(s, result);
}

/* True where a scalar is not to be reported. */
static bool skipped(struct msim_sax *s)
{
    bool once = s->skip_value;

    s->heard = true;
    s->skip_value = false;
    return once || s->skip;
}

static int on_null(void *p)
{
    struct msim_sax *s = p;

    if (skipped(s) || !s->handler.null)
        return 1;
    return went_scalar(s, s->handler.null(s->ctx));
}

static int on_boolean(void *p, int value)
{
    struct msim_sax *s = p;

    if (skipped(s) || !s->handler.boolean)
        return 1;
    return went_scalar(s, s->handler.boolean(s->ctx, value != 0));
}

static int on_number(void *p, const char *text, size_t len)
{
    struct msim_sax *s = p;

    if (skipped(s) || !s->handler.number)
        return 1;
    return went_scalar(s, s->handler.number(s->ctx, text, len));
}

static int on_string(void *p, const unsigned char *text, size_t len)
{
    struct msim_sax *s = p;

    if (skipped(s) || !s->handler.string)
        return 1;
    return went_scalar(s, s->handler.string(s->ctx, (const char *)text, len));
}

static int on_key(void *p, const unsigned char *text, size_t len)
{
    struct msim_sax *s = p;
    int result;

    s->heard = true;
    if (s->skip || !s->handler.key)
        return 1;
    result = s->handler.key(s->ctx, (const char *)text, len);
    s->skip_value = result == MSIM_SAX_SKIP;
    return went(s, result);
}

static int on_begin(struct msim_sax *s, int (*report)(void *))
{
    int result = 0;

    s->heard = true;
    if (++s->depth > MSIM_SAX_MAX_DEPTH) {
        snprintf(s->message, sizeof(s->message),
                 "found values inside each other %u deep, want %u at most",
                 s->depth, MSIM_SAX_MAX_DEPTH);
        s->stop = MSIM_ELIMIT;
        return 0;
    }
    if (s->skip)
        return 1;
    if (s->skip_value)
        result = MSIM_SAX_SKIP;
    else if (report)
        result = report(s->ctx);
    s->skip_value = false;
    if (result == MSIM_SAX_SKIP) {
        s->skip = s->depth;
        s->report_end = false;
    }
    return went(s, result);
}

static int on_end(struct msim_sax *s, int (*report)(void *))
{
    bool reported = !s->skip || (s->skip == s->depth && s->report_end);

    s->heard = true;
    if (s->skip == s->depth)
        s->skip = 0;
    s->depth--;
    return reported && report ? went(s, report(s->ctx)) : 1;
}

static int on_map_begin(void *p)
{
    struct msim_sax *s = p;

    return on_begin(s, s->handler.map_begin);
}

static int on_map_end(void *p)
{
    struct msim_sax *s = p;

    return on_end(s, s->handler.map_end);
}

static int on_array_begin(void *p)
{
    struct msim_sax *s = p;

    return on_begin(s, s->handler.array_begin);
}

static int on_array_end(void *p)
{
    struct msim_sax *s = p;

    return on_end(s, s->handler.array_end);
}

static const yajl_callbacks callbacks = {
    .yajl_null = on_null,
    .yajl_boolean = on_boolean,
    .yajl_number = on_number,
    .yajl_string = on_string,
    .yajl_start_map = on_map_begin,
    .yajl_map_key = on_key,
    .yajl_end_map = on_map_end,
    .yajl_start_array = on_array_begin,
    .yajl_end_array = on_array_end,
};

enum msim_status msim_sax_new(struct msim_sax **out,
                              const struct msim_sax_handler *handler, void *ctx)
{
    struct msim_sax *s = calloc(1, sizeof(*s));

    *out = NULL;
    if (!s)
        return MSIM_ENOMEM;
    s->handler = *handler;
    s->ctx = ctx;
    s->yajl = yajl_alloc(&callbacks, NULL, s);
    if (!s->yajl) {
        free(s);
        return MSIM_ENOMEM;
    }
    *out = s;
    return MSIM_OK;
}

void msim_sax_use(struct msim_sax *s, const struct msim_sax_handler *handler)
{
    s->handler = *handler;
}

void msim_sax_free(struct msim_sax *s)
{
    if (!s)
        return;
    yajl_free(s->yajl);
    free(s->kept.data);
    free(s);
}

/* yajl's sentence on one line, without "parse error: ", and what is there. */
static void keep_message(struct msim_sax *s, const char *at)
{
    unsigned char *text = yajl_get_error(s->yajl, 0, NULL, 0);
    const char *from = text ? (const char *)text : "";
    const char *colon = strstr(from, ": ");
    int len;

    from = colon ? colon + 2 : from;
    len = (int)strcspn(from, ".\n");
    if (!at)
        snprintf(s->message, sizeof(s->message), "want JSON: %.*s", len, from);
    else if (*at > ' ' && *at <= '~')
        snprintf(s->message, sizeof(s->message), "found '%c', want JSON: %.*s",
                 *at, len, from);
    else
        snprintf(s->message, sizeof(s->message),
                 "found byte 0x%02x, want JSON: %.*s", (unsigned char)*at, len,
                 from);
    if (text)
        yajl_free_error(s->yajl, text);
}

static enum msim_status failure(struct msim_sax *s, yajl_status status,
                                const char *at)
{
    if (status == yajl_status_ok)
        return MSIM_OK;
    if (status == yajl_status_client_canceled)
        return s->failed = (enum msim_status)s->stop;
    keep_message(s, at);
    return s->failed = MSIM_ESYNTAX;
}

static enum msim_status check_length(struct msim_sax *s)
{
    if (s->quiet + s->kept.n <= MSIM_SAX_MAX_STRING)
        return MSIM_OK;
    snprintf(s->message, sizeof(s->message),
             "found a string of more than %u MiB, want %u at most: is its "
             "closing quote missing?",
             MSIM_SAX_MAX_STRING >> 20, MSIM_SAX_MAX_STRING >> 20);
    return s->failed = MSIM_ELIMIT;
}

/* A piece without an event is all of one token, or blank. */
static enum msim_status parse(struct msim_sax *s, const char *bytes, size_t len)
{
    yajl_status status;
    size_t used = len;

    s->parsing = true;
    status = yajl_parse(s->yajl, (const unsigned char *)bytes, len);
    s->parsing = false;
    if (status != yajl_status_ok)
        used = yajl_get_bytes_consumed(s->yajl);
    if (status == yajl_status_error && used)
        used--; /* yajl has read what it does not like */
    s->offset += used;
    MSIM_TRY(failure(s, status, used < len ? bytes + used : NULL));
    s->quiet = s->heard ? 0 : s->quiet + len;
    s->heard = false;
    return MSIM_OK;
}

static enum msim_status parse_kept(struct msim_sax *s)
{
    size_t len = s->kept.n;

    s->kept.n = 0;
    return len ? parse(s, s->kept.data, len) : MSIM_OK;
}

/*
 * yajl looks at a string that is cut again from its beginning with every piece.
 * So it gets no piece of one that is shorter than what it has seen of it: then
 * it looks at most at twice the string in all.
 */
enum msim_status msim_sax_feed(struct msim_sax *s, const char *bytes,
                               size_t len)
{
    struct msim_text_piece piece;

    if (s->failed)
        return s->failed;
    if (len >= s->quiet && !s->kept.n) {
        MSIM_TRY(parse(s, bytes, len));
        return check_length(s);
    }
    s->failed = msim_vec_text(&s->kept, bytes, len, &piece);
    MSIM_TRY(s->failed);
    if (s->kept.n >= s->quiet)
        MSIM_TRY(parse_kept(s));
    return check_length(s);
}

enum msim_status msim_sax_end(struct msim_sax *s)
{
    if (s->failed)
        return s->failed;
    MSIM_TRY(parse_kept(s));
    if (yajl_complete_parse(s->yajl) == yajl_status_ok)
        return MSIM_OK;
    s->failed = s->stop ? (enum msim_status)s->stop : MSIM_ETRUNCATED;
    if (!s->stop)
        snprintf(s->message, sizeof(s->message),
                 "found the end inside %u open brackets, want what closes them",
                 s->depth);
    return s->failed;
}

enum msim_status msim_sax_resume(struct msim_sax *s, uint64_t at)
{
    const struct msim_sax_handler handler = s->handler;
    const char *text = "{\"\":[";
    yajl_handle yajl = yajl_alloc(&callbacks, NULL, s);
    yajl_status status;

    if (!yajl)
        return MSIM_ENOMEM;
    yajl_free(s->yajl);
    s->kept.n = 0;
    *s = (struct msim_sax){
        .ctx = s->ctx, .yajl = yajl, .offset = at, .kept = s->kept};
    status = yajl_parse(yajl, (const unsigned char *)text, strlen(text));
    s->handler = handler;
    return failure(s, status, NULL);
}

uint64_t msim_sax_offset(const struct msim_sax *s)
{
    return s->offset + (s->parsing ? yajl_get_bytes_consumed(s->yajl) : 0);
}

uint64_t msim_sax_fed(const struct msim_sax *s)
{
    return s->offset + s->kept.n;
}

const char *msim_sax_message(const struct msim_sax *s)
{
    return s->message;
}
