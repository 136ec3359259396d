/*
 * A push parser over pieces of text.
 *
 * Why our own: traces are inflated and parsed at once, so parsing must keep
 * up with inflating, about 1 GB/s. yajl, which did this job first, gives
 * 0.4 GB/s with callbacks that do nothing. What costs time in traces is blank
 * space, keys and short strings; json_scan.h goes through those sixteen bytes
 * at a time, and there is no copy unless a string has escapes.
 *
 * What a piece cuts off in the middle of a token is carried over: the token
 * is completed in a buffer of its own, and parsing goes on in the new piece
 * right behind it.
 */
#include "core/json_sax.h"

#include "core/json_memo.h"
#include "core/json_raw.h"
#include "core/json_token.h"

enum state {
    VALUE,        /* a value must follow */
    VALUE_OR_END, /* after '[' */
    KEY_OR_END,   /* after '{' */
    KEY,          /* after ',' in an object */
    COLON,
    AFTER, /* a value is complete; ',' or the end of its container */
    DONE,
};

enum { IN_ARRAY, IN_MAP };

struct msim_sax {
    struct msim_sax_handler handler;
    void *ctx;
    enum state state;
    enum msim_status status; /* of the first failure */
    uint32_t depth;
    uint32_t silent; /* depth of the container that is not reported, or 0 */
    bool hide_end;   /* nor is that container's own end */
    bool skip_value; /* the next value is not reported */
    bool raw_value;  /* the next value is reported as text */
    uint64_t before; /* bytes of the pieces before this one */
    uint64_t offset;
    char *carry; /* the beginning of a token, then what completes it */
    size_t carry_len, carry_cap;
    struct msim_json_text text;
    struct msim_json_raw raw;
    uint8_t inside[MSIM_SAX_MAX_DEPTH + 1]; /* by depth: map or array */
    struct msim_json_memos memos;
};

enum msim_status msim_sax_new(struct msim_sax **out,
                              const struct msim_sax_handler *handler, void *ctx)
{
    struct msim_sax *s = calloc(1, sizeof *s);

    *out = s;
    if (!s)
        return MSIM_ENOMEM;
    s->handler = *handler;
    s->ctx = ctx;
    s->state = VALUE;
    s->memos.n = 1;
    return MSIM_OK;
}

void msim_sax_use(struct msim_sax *s, const struct msim_sax_handler *handler)
{
    s->handler = *handler;
    msim_json_memos_untag(&s->memos);
    msim_json_raw_forget(&s->raw);
}

void msim_sax_reset(struct msim_sax *s)
{
    s->state = VALUE;
    s->status = MSIM_OK;
    s->depth = s->silent = 0;
    s->hide_end = s->skip_value = s->raw_value = false;
    s->text.final = false;
    s->raw.on = false;
    s->carry_len = 0;
    s->before = s->offset = 0;
}

void msim_sax_free(struct msim_sax *s)
{
    if (!s)
        return;
    free(s->carry);
    free(s->text.clean);
    msim_json_raw_release(&s->raw);
    free(s);
}

/* ---- failures ----------------------------------------------------------- */

static const char *wanted(const struct msim_sax *s)
{
    switch (s->state) {
    case VALUE:
        return "a value";
    case VALUE_OR_END:
        return "a value or ']'";
    case KEY_OR_END:
        return "a key or '}'";
    case KEY:
        return "a key";
    case COLON:
        return "':'";
    case AFTER:
        return s->inside[s->depth] == IN_MAP ? "',' or '}'" : "',' or ']'";
    case DONE:
        break;
    }
    return "the end of the file";
}

/* ---- reports */

/* A scalar was reported: SKIP means the rest of what it is in. */
static inline int after_scalar(struct msim_sax *s, int result)
{
    if (result == MSIM_SAX_SKIP) {
        s->silent = s->depth;
        s->hide_end = false;
        return 0;
    }
    return result;
}

/* Whether the value that begins is to be reported. */
static inline bool heard(struct msim_sax *s)
{
    bool skip = s->skip_value;

    s->skip_value = s->raw_value = false;
    return !skip && !s->silent;
}

static inline int scalar_done(struct msim_sax *s, struct msim_json_range *r,
                              int result);

/* An array or object that is wanted as text begins; true if it is over. */
static bool begin_raw(struct msim_sax *s, struct msim_json_range *r,
                      int *result)
{
    struct msim_json_raw_slot *slot;

    s->raw_value = false;
    slot = msim_json_raw_begin(&s->raw, r);
    if (!slot) {
        s->skip_value = true; /* goes through it without reports */
        return false;
    }
    *result = s->handler.raw(s->ctx, slot->text, slot->len, &slot->tag);
    *result = scalar_done(s, r, *result);
    return true;
}

/* The end of such a text, behind which r->p is. */
static int end_raw(struct msim_sax *s, struct msim_json_range *r)
{
    const char *text;
    uint32_t *tag;
    size_t len;

    if (msim_json_raw_end(&s->raw, r->p, &text, &len, &tag))
        return MSIM_ENOMEM;
    return s->handler.raw(s->ctx, text, len, tag);
}

static inline int begin(struct msim_sax *s, struct msim_json_range *r,
                        uint8_t kind)
{
    int (*report)(void *) =
        kind == IN_MAP ? s->handler.map_begin : s->handler.array_begin;
    bool reported;
    int result = 0;

    if (s->raw_value && !s->silent) {
        struct msim_json_range at = *r;
        bool over = begin_raw(s, &at, &result);

        *r = at;
        if (over)
            return result;
    }
    reported = heard(s);
    if (s->depth == MSIM_SAX_MAX_DEPTH)
        return msim_json_fail(&s->text, MSIM_ELIMIT, "nested too deep");
    r->p++;
    s->inside[++s->depth] = kind;
    s->memos.last[s->depth] = 0;
    s->state = kind == IN_MAP ? KEY_OR_END : VALUE_OR_END;
    if (reported && report)
        result = report(s->ctx);
    if (!s->silent && (!reported || result == MSIM_SAX_SKIP)) {
        s->silent = s->depth;
        s->hide_end = true;
        return 0;
    }
    return result;
}

static inline int end_of(struct msim_sax *s, struct msim_json_range *r,
                         uint8_t kind)
{
    int (*report)(void *) =
        kind == IN_MAP ? s->handler.map_end : s->handler.array_end;
    bool reported = !s->silent, raw = false;
    int result = 0;

    if (s->depth == 0 || s->inside[s->depth] != kind)
        return msim_json_fail_found(&s->text, r->p, wanted(s));
    if (s->silent == s->depth) {
        reported = !s->hide_end;
        raw = s->raw.on;
        s->silent = 0;
    }
    r->p++;
    s->depth--;
    s->state = s->depth ? AFTER : DONE;
    if (raw)
        result = end_raw(s, r);
    if (reported && report)
        result = report(s->ctx);
    return after_scalar(s, result);
}

/* A scalar is over. Nearly always a comma follows, so it is taken at once. */
static inline int scalar_done(struct msim_sax *s, struct msim_json_range *r,
                              int result)
{
    if (s->depth && r->p < r->end && *r->p == ',') {
        r->p++;
        s->state = s->inside[s->depth] == IN_MAP ? KEY : VALUE;
    } else {
        s->state = s->depth ? AFTER : DONE;
    }
    return result ? after_scalar(s, result) : 0;
}

static inline int literal(struct msim_sax *s, struct msim_json_range *r)
{
    char c = *r->p;
    struct msim_json_range slow = *r;
    int result = msim_json_word(&s->text, &slow,
                                c == 't'   ? "true"
                                : c == 'f' ? "false"
                                           : "null");

    *r = slow;

    if (result)
        return result;
    if (!heard(s))
        return scalar_done(s, r, 0);
    if (c == 'n')
        result = s->handler.null ? s->handler.null(s->ctx) : 0;
    else
        result = s->handler.boolean ? s->handler.boolean(s->ctx, c == 't') : 0;
    return scalar_done(s, r, result);
}

static inline int value(struct msim_sax *s, struct msim_json_range *r)
{
    const char *text;
    size_t len;
    int result;

    switch (*r->p) {
    case '"':
        result = msim_json_string(&s->text, r, &text, &len);
        if (result)
            return result;
        if (heard(s) && s->handler.string)
            result = s->handler.string(s->ctx, text, len);
        return scalar_done(s, r, result);
    case '{':
        return begin(s, r, IN_MAP);
    case '[':
        return begin(s, r, IN_ARRAY);
    case 't':
    case 'f':
    case 'n':
        return literal(s, r);
    case '-':
    case '0' ... '9':
        result = msim_json_number(&s->text, r, &text, &len);
        if (result)
            return result;
        if (heard(s) && s->handler.number)
            result = s->handler.number(s->ctx, text, len);
        return scalar_done(s, r, result);
    default:
        return msim_json_fail_found(&s->text, r->p, wanted(s));
    }
}

/* ---- keys --------------------------------------------------------------- */

static inline int report_key(struct msim_sax *s, const char *text, size_t len,
                             uint8_t *tag)
{
    int result;

    if (s->silent || !s->handler.key)
        return 0;
    result = s->handler.key(s->ctx, text, len, tag);
    if (result == MSIM_SAX_SKIP || result == MSIM_SAX_RAW) {
        s->skip_value = result == MSIM_SAX_SKIP;
        s->raw_value = result == MSIM_SAX_RAW;
        return 0;
    }
    return result;
}

/* Take the next key if it is one of those guessed. */
static inline bool guess_key(struct msim_sax *s, struct msim_json_range *r,
                             int *result)
{
    struct msim_json_memo *m =
        msim_json_memos_guess(&s->memos, s->depth, r->p, r->end);

    if (!m)
        return false;
    s->state = VALUE;
    r->p += m->len;
    *result = report_key(s, m->text + m->name_at, m->name_len, &m->tag);
    return true;
}

/* A key that was not guessed; `from` is before the blanks in front of it. */
static int new_key(struct msim_sax *s, struct msim_json_range *r,
                   const char *from)
{
    const char *text, *name = r->p + 1;
    uint16_t before = s->memos.last[s->depth];
    uint8_t tag = 0;
    size_t len;
    int result;

    if (*r->p != '"')
        return msim_json_fail_found(&s->text, r->p, wanted(s));
    result = msim_json_string(&s->text, r, &text, &len);
    if (result)
        return result;
    s->state = COLON;
    result = report_key(s, text, len, &tag);
    if (result)
        return result;
    s->memos.last[s->depth] = 0;
    if (r->p == r->end || *r->p != ':')
        return 0;
    r->p = msim_json_skip_space(r->p + 1, r->end);
    s->state = VALUE;
    if (r->p < r->end && text == name)
        msim_json_memos_keep(&s->memos, s->depth, before, from, name, len,
                             (size_t)(r->p - from), tag);
    return 0;
}

static inline int key(struct msim_sax *s, struct msim_json_range *r,
                      const char *from)
{
    struct msim_json_range slow = *r;
    int result = new_key(s, &slow, from);

    *r = slow;
    return result;
}

/* One token, at r->p, which is not blank; `from` is before the blanks. */
static inline int step(struct msim_sax *s, struct msim_json_range *r,
                       const char *from)
{
    switch (s->state) {
    case VALUE_OR_END:
        if (*r->p == ']')
            return end_of(s, r, IN_ARRAY);
        return value(s, r);
    case VALUE:
        return value(s, r);
    case KEY_OR_END:
        if (*r->p == '}')
            return end_of(s, r, IN_MAP);
        return key(s, r, from);
    case KEY:
        return key(s, r, from);
    case COLON:
        if (*r->p != ':')
            break;
        r->p++;
        s->state = VALUE;
        return 0;
    case AFTER:
        if (*r->p == ',') {
            r->p++;
            s->state = s->inside[s->depth] == IN_MAP ? KEY : VALUE;
            return 0;
        }
        if (*r->p == '}')
            return end_of(s, r, IN_MAP);
        if (*r->p == ']')
            return end_of(s, r, IN_ARRAY);
        break;
    case DONE:
        break;
    }
    return msim_json_fail_found(&s->text, r->p, wanted(s));
}

/*
 * Tokens until `range->p` reaches `until`; MSIM_JSON_NEED_MORE where one is
 * cut. The place is kept in a local (and copied for calls that are not
 * inlined), so that it stays in registers.
 */
static int run(struct msim_sax *s, struct msim_json_range *range,
               const char *until)
{
    struct msim_json_range r = *range;
    const char *from;
    int result = 0;

    while (result == 0) {
        from = r.p;
        if ((s->state == KEY || s->state == KEY_OR_END) && from < until &&
            guess_key(s, &r, &result))
            continue;
        r.p = msim_json_skip_space(from, r.end);
        if (r.p >= until)
            break;
        result = step(s, &r, from);
    }
    *range = r;
    return result;
}

/* ---- pieces */

static enum msim_status fail_at(struct msim_sax *s, int result, uint64_t offset)
{
    s->status = (enum msim_status)result;
    s->offset = offset;
    return s->status;
}

/*
 * Complete the token that the pieces before began, with as little of this
 * piece as it takes; `*used` says how much. The carry is empty then, unless
 * the piece was not enough.
 */
static int finish_carry(struct msim_sax *s, const char *bytes, size_t len,
                        size_t *used)
{
    size_t old = s->carry_len, more = 64;

    while (s->carry_len) {
        struct msim_json_range r;
        int result;

        more = more * 4 < len ? more * 4 : len;
        if (old + more > MSIM_SAX_MAX_TOKEN)
            return msim_json_fail(&s->text, MSIM_ELIMIT,
                                  "one string is too long");
        if (msim_json_room(&s->carry, &s->carry_cap, old + more))
            return MSIM_ENOMEM;
        if (more)
            memcpy(s->carry + old, bytes, more);
        r = (struct msim_json_range){s->carry, s->carry + old + more};
        result = run(s, &r, s->carry + old);
        if (result == MSIM_JSON_NEED_MORE && more < len)
            continue;
        *used = more;
        if (result == MSIM_JSON_NEED_MORE) {
            s->carry_len = old + more;
            return 0;
        }
        /* Where it stopped, as a place in the piece (or before it). */
        s->offset = s->before + (uint64_t)(r.p - s->carry) - old;
        s->carry_len = 0;
        *used = r.p - s->carry > (ptrdiff_t)old ? (size_t)(r.p - s->carry) - old
                                                : 0;
        return result;
    }
    return 0;
}

enum msim_status msim_sax_feed(struct msim_sax *s, const char *bytes,
                               size_t len)
{
    struct msim_json_range r = {bytes, bytes + len};
    size_t used = 0;
    int result;

    if (s->status != MSIM_OK)
        return s->status;
    s->raw.from = bytes;
    result = finish_carry(s, bytes, len, &used);
    if (result)
        return fail_at(s, result, s->offset);
    if (s->carry_len == 0) {
        /* Without blanks a key looks alike wherever a piece begins. */
        r.p = msim_json_skip_space(r.p + used, r.end);
        result = run(s, &r, r.end);
    }
    if (s->raw.on && (result == 0 || result == MSIM_JSON_NEED_MORE)) {
        if (s->raw.kept_len > MSIM_SAX_MAX_TOKEN)
            return fail_at(
                s,
                msim_json_fail(&s->text, MSIM_ELIMIT, "one list is too long"),
                s->before);
        if (msim_json_raw_keep(&s->raw, r.end))
            return fail_at(s, MSIM_ENOMEM, s->before);
    }
    if (result == MSIM_JSON_NEED_MORE) {
        s->carry_len = (size_t)(r.end - r.p);
        if (msim_json_room(&s->carry, &s->carry_cap, s->carry_len))
            return fail_at(s, MSIM_ENOMEM, s->before);
        memcpy(s->carry, r.p, s->carry_len);
    } else if (result) {
        return fail_at(s, result, s->before + (uint64_t)(r.p - bytes));
    }
    s->before += len;
    s->offset = s->before;
    return MSIM_OK;
}

enum msim_status msim_sax_end(struct msim_sax *s)
{
    size_t used;
    int result;

    if (s->status != MSIM_OK)
        return s->status;
    s->text.final = true;
    result = finish_carry(s, "", 0, &used); /* a number may end here */
    if (result)
        return fail_at(s, result, s->offset);
    if (s->carry_len || s->state != DONE) {
        snprintf(s->text.message, sizeof s->text.message,
                 "found the end, want %s",
                 s->carry_len ? "the rest of a token" : wanted(s));
        return fail_at(s, MSIM_ETRUNCATED, s->before);
    }
    return MSIM_OK;
}

uint64_t msim_sax_offset(const struct msim_sax *s)
{
    return s->offset;
}

const char *msim_sax_message(const struct msim_sax *s)
{
    return s->text.message;
}
