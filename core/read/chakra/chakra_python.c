/*
 * core/read/chakra/chakra_python.c - lists as Python prints them.
 *
 * Chakra keeps the inputs and outputs of a node so: [[5, 1, 0, 8, 4, 'cuda:0'],
 * True, '<None>', 1e-05]. They become the same tokens as the JSON of an
 * execution trace, so that both are understood in one place (et_args.c). Tuples
 * count as lists. No recursion: brackets are counted.
 */
#include "core/read/chakra/read_chakra_internal.h"
#include "core/read/et/read_et.h"

#include <string.h>

struct scan {
    struct msim_reader *r;
    const char *s;
    struct msim_vec *list;
    bool types; /* only strings, as pieces */
    uint32_t depth;
};

static int add(struct scan *x, uint32_t kind, struct msim_text_piece text)
{
    struct msim_et_token *token;
    struct msim_text_piece *piece;

    if (x->types) {
        if (kind != MSIM_ETOK_STRING || x->depth != 1)
            return 0;
        piece = msim_vec_add(x->list, sizeof(*piece));
        if (!piece)
            return MSIM_ENOMEM;
        *piece = text;
        return 0;
    }
    token = msim_vec_add(x->list, sizeof(*token));
    if (!token)
        return MSIM_ENOMEM;
    *token = (struct msim_et_token){.kind = kind, .text = text};
    return 0;
}

static int hex(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Write a code point as UTF-8; returns how many bytes. */
static size_t encode(uint32_t code, char out[4])
{
    size_t n = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    static const unsigned char LEAD[] = {0, 0xc0, 0xe0, 0xf0};

    for (size_t i = n; i-- > 1; code >>= 6)
        out[i] = (char)(0x80 | (code & 0x3f));
    out[0] = (char)(LEAD[n - 1] | code);
    return n;
}

/* The character that a backslash and what follows mean; advances past it. */
static size_t unescape(const char **s, char out[4])
{
    static const char FROM[] = "nrtabfv", TO[] = "\n\r\t\a\b\f\v";
    char c = *++*s;
    const char *known = c ? strchr(FROM, c) : NULL;
    int digits = c == 'x' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
    uint32_t code = 0;

    if (c)
        ++*s;
    if (!digits) {
        out[0] = known ? TO[known - FROM] : c;
        return c != '\0';
    }
    for (; digits > 0 && hex(**s) >= 0; digits--)
        code = code << 4 | (uint32_t)hex(*(*s)++);
    return code && code <= 0x10ffff ? encode(code, out) : 0;
}

/* A quoted text; false where it does not end. */
static bool scan_string(struct scan *x, int *result)
{
    struct msim_vec *text = &msim_et_of(x->r)->text;
    struct msim_text_piece whole = {text->n, 0}, part;
    char quote = *x->s++, bytes[4];

    while (*x->s && *x->s != quote) {
        size_t n = strcspn(x->s, "\\'\"");
        const char *from = x->s;

        if (n == 0 && *x->s == '\\') {
            n = unescape(&x->s, bytes);
            from = bytes;
        } else {
            n += n == 0; /* the other kind of quote */
            x->s += n;
        }
        *result = msim_vec_text(text, from, n, &part);
        if (*result)
            return false;
    }
    if (!*x->s)
        return false;
    x->s++;
    whole.len = text->n - whole.at;
    *result = add(x, MSIM_ETOK_STRING, whole);
    return *result == 0;
}

/* A number, or True, False, None, nan, inf: one word. */
static bool scan_word(struct scan *x, int *result)
{
    struct msim_text_piece piece;
    size_t n = strcspn(x->s, " ,[]()'\"\t\n\r");
    const char *s = x->s;
    uint32_t kind = MSIM_ETOK_NUMBER;

    if (n == 0)
        return false;
    x->s += n;
    *result = msim_vec_text(&msim_et_of(x->r)->text, s, n, &piece);
    if (*result)
        return false;
    if ((n == 4 && !memcmp(s, "True", 4)) ||
        (n == 5 && !memcmp(s, "False", 5))) {
        kind = MSIM_ETOK_BOOL;
        piece.len = n == 4;
    } else if (n == 4 && !memcmp(s, "None", 4)) {
        kind = MSIM_ETOK_NULL;
    } else if (hex(*s) < 0 && *s != '-' && *s != '+' && *s != '.') {
        kind = MSIM_ETOK_STRING; /* nan, inf */
    }
    *result = add(x, kind, piece);
    return *result == 0;
}

/* One token; false at the end, well-formed or not. */
static bool scan_one(struct scan *x, int *result)
{
    const struct msim_text_piece none = {0, 0};

    x->s += strspn(x->s, " ,\t\n\r");
    switch (*x->s) {
    case '\0':
        return false;
    case '[':
    case '(':
        x->s++;
        /* The outermost pair is the list itself. */
        if (x->depth++ > 0)
            *result = add(x, MSIM_ETOK_OPEN, none);
        return *result == 0;
    case ']':
    case ')':
        x->s++;
        if (x->depth <= 1)
            return false;
        x->depth--;
        *result = add(x, MSIM_ETOK_CLOSE, none);
        return *result == 0;
    case '\'':
    case '"':
        return x->depth && scan_string(x, result);
    default:
        return x->depth && scan_word(x, result);
    }
}

static int scan_all(struct scan *x)
{
    const struct msim_text_piece none = {0, 0};
    int result = 0;

    x->list->n = 0;
    while (scan_one(x, &result))
        continue;
    /* Lists that a cut left open. */
    while (result == 0 && x->depth > 1) {
        x->depth--;
        result = add(x, MSIM_ETOK_CLOSE, none);
    }
    return result;
}

int msim_chakra_tokens(struct msim_reader *r, const char *text,
                       struct msim_vec *list)
{
    struct scan x = {.r = r, .s = text, .list = list};

    return scan_all(&x);
}

int msim_chakra_types(struct msim_reader *r, const char *text,
                      struct msim_vec *list)
{
    struct scan x = {.r = r, .s = text, .list = list, .types = true};

    return scan_all(&x);
}
