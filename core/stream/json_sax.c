/*
 * core/stream/json_sax.c - a lexer and yajl behind the interface of json_sax.h.
 *
 * The lexer takes what is plain, at a fifth of yajl's cost. What is odd to it
 * yajl is asked about, after a few brackets that bring it to the same place: it
 * unescapes, checks UTF-8, and finds the words for a fault. Here are added:
 * skipping, bounds on depth and on the length of a string, and the offset of
 * what went wrong.
 */
#include "core/stream/json_sax.h"

#include "core/base/containers.h"
#include "core/lex/json_lexer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yajl/yajl_parse.h>

_Static_assert(MSIM_LEXER_MAX_DEPTH > MSIM_SAX_MAX_DEPTH,
               "the bracket that is too many still has a place");

/* Bytes of a piece that are put behind a cut token, at least: most are shorter.
 */
#define PASSED 256

/*
 * Skipping: while `skip` is not 0, nothing inside the container of that depth
 * is reported; its end is if `report_end`.
 */
struct msim_sax {
    struct msim_sax_handler handler;
    void *ctx;
    struct msim_lexer lexer;
    const char *piece;    /* the text at hand, or NULL */
    uint64_t offset;      /* of the piece, or of what is behind all */
    struct msim_vec kept; /* what comes before the next piece: a cut token */
    size_t enough;        /* how long that has to be to look at it again */
    yajl_handle yajl;     /* NULL: all was plain */
    yajl_callbacks hears; /* what yajl calls */
    bool asking;
    uint32_t depth, skip;
    bool report_end;
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

    if (s->skip || !s->handler.key)
        return 1;
    result = s->handler.key(s->ctx, (const char *)text, len);
    s->skip_value = result == MSIM_SAX_SKIP;
    return went(s, result);
}

static int on_begin(struct msim_sax *s, int (*report)(void *))
{
    int result = 0;

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

    *out = s;
    if (!s)
        return MSIM_ENOMEM;
    s->handler = *handler;
    s->ctx = ctx;
    return MSIM_OK;
}

void msim_sax_use(struct msim_sax *s, const struct msim_sax_handler *handler)
{
    s->handler = *handler;
}

static void drop_yajl(struct msim_sax *s)
{
    if (s->yajl)
        yajl_free(s->yajl);
    s->yajl = NULL;
}

void msim_sax_free(struct msim_sax *s)
{
    if (!s)
        return;
    drop_yajl(s);
    free(s->kept.data);
    free(s);
}

/* ---- what is odd -------------------------------------------------------- */

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

/* A yajl that is where the lexer is, as far as what comes next matters: in an
 * object, an array or neither. Nobody is told of its way there. */
static enum msim_status call_yajl(struct msim_sax *s)
{
    static const char *const in_map[] = {
        [MSIM_LEXER_BRACKET] = "{",
        [MSIM_LEXER_KEY] = "{\"\"",
        [MSIM_LEXER_VALUE] = "{\"\":0 ",
    };
    static const char *const in_array[] = {
        [MSIM_LEXER_BRACKET] = "[",
        [MSIM_LEXER_VALUE] = "[0 ",
    };
    static const char *const in_none[] = {
        [MSIM_LEXER_NOTHING] = "",
        [MSIM_LEXER_VALUE] = "0 ",
    };
    const struct msim_lexer *l = &s->lexer;
    char closes = l->closes[l->depth];
    const char *way = closes == '}'   ? in_map[l->place]
                      : closes == ']' ? in_array[l->place]
                                      : in_none[l->place];

    s->hears = (yajl_callbacks){0};
    s->yajl = yajl_alloc(&s->hears, NULL, s);
    if (!s->yajl)
        return s->failed = MSIM_ENOMEM;
    (void)yajl_parse(s->yajl, (const unsigned char *)way, strlen(way));
    s->hears = callbacks;
    return MSIM_OK;
}

/* Yajl reads the next `len` bytes, in place of the lexer. */
static enum msim_status ask(struct msim_sax *s, size_t len)
{
    const char *text = s->lexer.at, *to = text + len;
    yajl_status status;

    MSIM_TRY(call_yajl(s));
    s->asking = true;
    status = yajl_parse(s->yajl, (const unsigned char *)text, len);
    s->asking = false;
    if (status != yajl_status_ok)
        to = text + yajl_get_bytes_consumed(s->yajl);
    if (status == yajl_status_error && to > s->piece)
        to--; /* yajl has read what it does not like */
    s->lexer.at = to;
    return failure(s, status, to < text + len ? to : NULL);
}

/* ---- what is plain ------------------------------------------------------ */

/* Of an object that its handler may read itself. */
static int on_object(struct msim_sax *s)
{
    struct msim_lexer *l = &s->lexer;
    size_t taken = 0;

    if (!s->handler.whole || s->skip || s->skip_value)
        return on_map_begin(s);
    if (!went(s, s->handler.whole(s->ctx, l->at, (size_t)(l->end - l->at),
                                  &taken)))
        return 0;
    if (!taken)
        return on_map_begin(s);
    msim_lexer_behind(l, l->at + taken);
    return 1;
}

static int tell(struct msim_sax *s, enum msim_token token)
{
    const struct msim_lexer *l = &s->lexer;

    switch (token) {
    case MSIM_TOKEN_KEY:
        return on_key(s, (const unsigned char *)l->text, l->len);
    case MSIM_TOKEN_STRING:
        return on_string(s, (const unsigned char *)l->text, l->len);
    case MSIM_TOKEN_NUMBER:
        return on_number(s, l->text, l->len);
    case MSIM_TOKEN_MAP:
        return on_object(s);
    case MSIM_TOKEN_MAP_END:
        return on_map_end(s);
    case MSIM_TOKEN_ARRAY:
        return on_array_begin(s);
    case MSIM_TOKEN_ARRAY_END:
        return on_array_end(s);
    case MSIM_TOKEN_NULL:
        return on_null(s);
    default:
        return on_boolean(s, token == MSIM_TOKEN_TRUE);
    }
}

/* A key or string that yajl is to decode, or a fault that it has words for. */
static enum msim_status take_odd(struct msim_sax *s, enum msim_token token)
{
    struct msim_lexer *l = &s->lexer;
    const char *from = l->at;
    bool fault = token == MSIM_TOKEN_ODD;

    MSIM_TRY(ask(s, fault ? (size_t)(l->end - from) : l->len));
    if (fault) /* yajl finds it, too */
        return s->failed = MSIM_ESYNTAX;
    drop_yajl(s);
    l->at = from;
    msim_lexer_pass(l, token);
    return MSIM_OK;
}

/* Until what is left is the beginning of a token at most. */
static enum msim_status take_tokens(struct msim_sax *s)
{
    for (;;) {
        enum msim_token token;

        while ((token = msim_lexer_next(&s->lexer)) > MSIM_TOKEN_ODD_STRING)
            if (!tell(s, token))
                return s->failed = (enum msim_status)s->stop;
        if (token == MSIM_TOKEN_CUT)
            return MSIM_OK;
        MSIM_TRY(take_odd(s, token));
    }
}

/* What the piece at hand has left comes before the next one. */
static enum msim_status keep_rest(struct msim_sax *s)
{
    const struct msim_lexer *l = &s->lexer;
    size_t len = (size_t)(l->end - l->at);
    struct msim_text_piece piece;

    s->enough = 2 * len < MSIM_SAX_MAX_STRING ? 2 * len : MSIM_SAX_MAX_STRING;
    if (s->piece == s->kept.data) {
        if (len)
            memmove(s->kept.data, l->at, len);
        s->kept.n = (uint32_t)len;
        return MSIM_OK;
    }
    return s->failed = msim_vec_text(&s->kept, l->at, len, &piece);
}

static enum msim_status parse(struct msim_sax *s, const char *bytes, size_t len)
{
    enum msim_status status;

    s->piece = s->lexer.at = bytes;
    s->lexer.end = bytes + len;
    status = take_tokens(s);
    s->offset += (uint64_t)(s->lexer.at - bytes);
    if (status == MSIM_OK)
        status = keep_rest(s);
    s->piece = NULL;
    return status;
}

static enum msim_status parse_kept(struct msim_sax *s)
{
    return s->kept.n ? parse(s, s->kept.data, s->kept.n) : MSIM_OK;
}

static enum msim_status check_length(struct msim_sax *s)
{
    if (s->kept.n <= MSIM_SAX_MAX_STRING)
        return MSIM_OK;
    snprintf(s->message, sizeof(s->message),
             "found a string of more than %u MiB, want %u at most: is its "
             "closing quote missing?",
             MSIM_SAX_MAX_STRING >> 20, MSIM_SAX_MAX_STRING >> 20);
    return s->failed = MSIM_ELIMIT;
}

/*
 * What is kept, with as much of the next piece as it takes to go on behind it.
 * A string that is cut is looked at again from its beginning. So that is not
 * done before twice as much of it is there: in all at most at twice the string.
 */
static enum msim_status pass_kept(struct msim_sax *s, const char **bytes,
                                  size_t *len)
{
    while (s->kept.n && *len) {
        size_t more = s->enough > s->kept.n ? s->enough - s->kept.n : 0;
        struct msim_text_piece piece;

        more = more < PASSED ? PASSED : more;
        more = more < *len ? more : *len;
        s->failed = msim_vec_text(&s->kept, *bytes, more, &piece);
        MSIM_TRY(s->failed);
        *bytes += more;
        *len -= more;
        if (s->kept.n < s->enough)
            return MSIM_OK;
        MSIM_TRY(parse_kept(s));
        if (s->kept.n > more)
            continue;
        *bytes -= s->kept.n;
        *len += s->kept.n;
        s->kept.n = 0;
        return MSIM_OK;
    }
    return MSIM_OK;
}

enum msim_status msim_sax_feed(struct msim_sax *s, const char *bytes,
                               size_t len)
{
    if (s->failed)
        return s->failed;
    MSIM_TRY(check_length(s));
    MSIM_TRY(pass_kept(s, &bytes, &len));
    return len ? parse(s, bytes, len) : MSIM_OK;
}

/* What is left then is cut, unless it is a number or blank: yajl knows. */
enum msim_status msim_sax_end(struct msim_sax *s)
{
    if (s->failed)
        return s->failed;
    MSIM_TRY(parse_kept(s));
    s->lexer.at = s->piece = s->kept.data;
    MSIM_TRY(ask(s, s->kept.n));
    if (yajl_complete_parse(s->yajl) == yajl_status_ok)
        return MSIM_OK;
    s->failed = s->stop ? (enum msim_status)s->stop : MSIM_ETRUNCATED;
    if (!s->stop)
        snprintf(s->message, sizeof(s->message),
                 "found the end inside %u open brackets, want what closes them",
                 s->depth);
    return s->failed;
}

void msim_sax_resume(struct msim_sax *s, uint64_t at)
{
    drop_yajl(s);
    *s = (struct msim_sax){
        .ctx = s->ctx,
        .handler = s->handler,
        .kept = {.data = s->kept.data, .cap = s->kept.cap},
        .offset = at,
        .depth = 2,
        .lexer = {.place = MSIM_LEXER_BRACKET,
                  .depth = 2,
                  .closes = {0, '}', ']'}},
    };
}

uint64_t msim_sax_offset(const struct msim_sax *s)
{
    uint64_t taken = s->piece ? (uint64_t)(s->lexer.at - s->piece) : 0;

    return s->offset + taken +
           (s->asking ? yajl_get_bytes_consumed(s->yajl) : 0);
}

const char *msim_sax_since(const struct msim_sax *s, uint64_t at, size_t *len)
{
    const char *from;

    if (!s->piece || at <= s->offset || s->asking)
        return NULL;
    from = s->piece + (at - s->offset);
    *len = (size_t)(s->lexer.at - from);
    return from;
}

uint64_t msim_sax_fed(const struct msim_sax *s)
{
    return s->offset + s->kept.n;
}

const char *msim_sax_message(const struct msim_sax *s)
{
    return s->message;
}
