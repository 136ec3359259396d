/*
 * core/lex/json_lexer.c - the tokens of JSON that is plain.
 *
 * A token is taken with the comma or colon before it, so that between tokens
 * there are four places to be in. Nearly all bytes are in strings: those are
 * passed 16 at a time, the others one by one.
 */
#include "core/lex/json_lexer.h"

#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r'); /* yajl takes \v and \f, too */
}

static inline const char *spaces_end(const char *p, const char *end)
{
#ifdef __SSE2__
    const __m128i space = _mm_set1_epi8(' ');

    for (; end - p >= 16; p += 16) {
        const __m128i bytes = _mm_loadu_si128((const void *)p);
        int others = 0xffff ^ _mm_movemask_epi8(_mm_cmpeq_epi8(bytes, space));

        if (others)
            return p + __builtin_ctz((unsigned)others);
    }
#endif
    while (p < end && *p == ' ')
        p++;
    return p;
}

static const char *run_end(const char *p, const char *end)
{
    while (p < end && is_blank(*p))
        p = spaces_end(p + 1, end);
    return p;
}

/* Mostly there is one, or none. */
static inline const char *blanks_end(const char *p, const char *end)
{
    if (p < end && *p == ' ')
        p++;
    return p < end && (unsigned char)*p <= ' ' ? run_end(p, end) : p;
}

/* Before a comma, a colon or a bracket there is mostly none. */
static inline const char *rare_blanks_end(const char *p, const char *end)
{
    return p < end && (unsigned char)*p <= ' ' ? run_end(p, end) : p;
}

static bool is_plain(char c)
{
    return (signed char)c >= ' ' && c != '"' && c != '\\';
}

/* Where text that is plain ends. */
static inline const char *plain_end(const char *p, const char *end)
{
#ifdef __SSE2__
    for (; end - p >= 16; p += 16) {
        const __m128i bytes = _mm_loadu_si128((const void *)p);
        __m128i odd = _mm_cmplt_epi8(bytes, _mm_set1_epi8(' '));
        int mask;

        odd = _mm_or_si128(odd, _mm_cmpeq_epi8(bytes, _mm_set1_epi8('"')));
        odd = _mm_or_si128(odd, _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\')));
        mask = _mm_movemask_epi8(odd);
        if (mask)
            return p + __builtin_ctz((unsigned)mask);
    }
#endif
    while (p < end && is_plain(*p))
        p++;
    return p;
}

static inline enum msim_token take(struct msim_lexer *l, const char *to,
                                   enum msim_lexer_place place,
                                   enum msim_token token)
{
    l->at = to;
    l->place = place;
    return token;
}

static enum msim_lexer_place place_of(bool is_key)
{
    return is_key ? MSIM_LEXER_KEY : MSIM_LEXER_VALUE;
}

/* A string that is not plain at `p`: its end, unless it is a fault, or cut. */
static enum msim_token odd_string(struct msim_lexer *l, const char *p,
                                  bool is_key)
{
    for (; p < l->end; p++) {
        if (*p == '"') {
            l->text = l->at;
            l->len = (size_t)(p + 1 - l->at);
            return is_key ? MSIM_TOKEN_ODD_KEY : MSIM_TOKEN_ODD_STRING;
        }
        if ((unsigned char)*p < ' ')
            return MSIM_TOKEN_ODD;
        if (*p == '\\' && ++p == l->end)
            break;
    }
    return MSIM_TOKEN_CUT;
}

/* `p`: behind the quote that opens it. */
static inline enum msim_token string(struct msim_lexer *l, const char *p,
                                     bool is_key)
{
    const char *to = plain_end(p, l->end);

    if (to == l->end)
        return MSIM_TOKEN_CUT;
    if (*to != '"')
        return odd_string(l, to, is_key);
    l->text = p;
    l->len = (size_t)(to - p);
    return take(l, to + 1, place_of(is_key),
                is_key ? MSIM_TOKEN_KEY : MSIM_TOKEN_STRING);
}

static const char *digits_end(const char *p, const char *end)
{
    while (p < end && *p >= '0' && *p <= '9')
        p++;
    return p;
}

/* Digits that must be: false where there is none, and `*p` is at what is. */
static bool pass_digits(const char **p, const char *end)
{
    const char *from = *p;

    *p = digits_end(from, end);
    return *p > from;
}

static bool pass_number(const char **p, const char *end)
{
    *p += **p == '-';
    if (*p < end && **p == '0')
        ++*p;
    else if (!pass_digits(p, end))
        return false;
    if (*p < end && **p == '.') {
        ++*p;
        if (!pass_digits(p, end))
            return false;
    }
    if (*p < end && (**p == 'e' || **p == 'E')) {
        ++*p;
        *p += *p < end && (**p == '+' || **p == '-');
        return pass_digits(p, end);
    }
    return true;
}

static enum msim_token number(struct msim_lexer *l, const char *from)
{
    const char *p = from;
    bool is_number = pass_number(&p, l->end);

    if (p == l->end) /* it may go on */
        return MSIM_TOKEN_CUT;
    if (!is_number)
        return MSIM_TOKEN_ODD;
    l->text = from;
    l->len = (size_t)(p - from);
    return take(l, p, MSIM_LEXER_VALUE, MSIM_TOKEN_NUMBER);
}

static enum msim_token literal(struct msim_lexer *l, const char *p,
                               const char *word, enum msim_token token)
{
    size_t len = strlen(word);

    if ((size_t)(l->end - p) < len)
        return MSIM_TOKEN_CUT;
    if (memcmp(p, word, len) != 0)
        return MSIM_TOKEN_ODD;
    return take(l, p + len, MSIM_LEXER_VALUE, token);
}

static enum msim_token open_bracket(struct msim_lexer *l, const char *p,
                                    char closes, enum msim_token token)
{
    l->closes[++l->depth] = closes;
    return take(l, p + 1, MSIM_LEXER_BRACKET, token);
}

static enum msim_token close_bracket(struct msim_lexer *l, const char *p)
{
    l->depth--;
    return take(l, p + 1, MSIM_LEXER_VALUE,
                *p == '}' ? MSIM_TOKEN_MAP_END : MSIM_TOKEN_ARRAY_END);
}

static enum msim_token no_string(struct msim_lexer *l, const char *p)
{
    switch (*p) {
    case '{':
        return open_bracket(l, p, '}', MSIM_TOKEN_MAP);
    case '[':
        return open_bracket(l, p, ']', MSIM_TOKEN_ARRAY);
    case 't':
        return literal(l, p, "true", MSIM_TOKEN_TRUE);
    case 'f':
        return literal(l, p, "false", MSIM_TOKEN_FALSE);
    case 'n':
        return literal(l, p, "null", MSIM_TOKEN_NULL);
    default:
        return *p == '-' || (*p >= '0' && *p <= '9') ? number(l, p)
                                                     : MSIM_TOKEN_ODD;
    }
}

/* At `p` is what may not be there: a fault as soon as all of it is. */
static enum msim_token fault(const struct msim_lexer *l, const char *p)
{
    struct msim_lexer wrong = {.at = p, .end = l->end};

    return msim_lexer_next(&wrong) == MSIM_TOKEN_CUT ? MSIM_TOKEN_CUT
                                                     : MSIM_TOKEN_ODD;
}

static inline enum msim_token value(struct msim_lexer *l, const char *p)
{
    if (p == l->end)
        return MSIM_TOKEN_CUT;
    return *p == '"' ? string(l, p + 1, false) : no_string(l, p);
}

static inline enum msim_token key(struct msim_lexer *l, const char *p)
{
    if (p == l->end)
        return MSIM_TOKEN_CUT;
    return *p == '"' ? string(l, p + 1, true) : fault(l, p);
}

/* Inside an object or array, not behind a key. */
static enum msim_token member(struct msim_lexer *l, const char *p)
{
    char closes = l->closes[l->depth];

    if (*p == closes)
        return close_bracket(l, p);
    if (l->place == MSIM_LEXER_VALUE) {
        if (*p != ',')
            return fault(l, p);
        p = blanks_end(p + 1, l->end);
    }
    return closes == '}' ? key(l, p) : value(l, p);
}

enum msim_token msim_lexer_next(struct msim_lexer *l)
{
    const char *p = rare_blanks_end(l->at, l->end);

    if (p == l->end)
        return MSIM_TOKEN_CUT;
    if (l->place == MSIM_LEXER_KEY)
        return *p == ':' ? value(l, blanks_end(p + 1, l->end)) : fault(l, p);
    if (l->depth)
        return member(l, p);
    return l->place == MSIM_LEXER_NOTHING ? value(l, p) : fault(l, p);
}

/* Where a quote or a bracket is. */
static inline const char *mark(const char *p, const char *end)
{
#ifdef __SSE2__
    for (; end - p >= 16; p += 16) {
        const __m128i bytes = _mm_loadu_si128((const void *)p);
        /* makes braces of square brackets */
        const __m128i lower = _mm_or_si128(bytes, _mm_set1_epi8(0x20));
        __m128i is = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('"'));
        int mask;

        is = _mm_or_si128(is, _mm_cmpeq_epi8(lower, _mm_set1_epi8('{')));
        is = _mm_or_si128(is, _mm_cmpeq_epi8(lower, _mm_set1_epi8('}')));
        mask = _mm_movemask_epi8(is);
        if (mask)
            return p + __builtin_ctz((unsigned)mask);
    }
#endif
    while (p < end && *p != '"' && (*p | 0x20) != '{' && (*p | 0x20) != '}')
        p++;
    return p;
}

/* Behind a string, `p` being behind the quote that opens it; or NULL. */
static const char *behind_string(const char *p, const char *end)
{
    const char *quote = memchr(p, '"', (size_t)(end - p));

    return quote && quote[-1] != '\\' ? quote + 1 : NULL;
}

/* Where lines of a member each begin with tabs, as many as those have that the
 * bracket at `p` opens; 0: there are none. */
static size_t tabs_behind(const char *p, const char *end)
{
    const char *from = p + 1;

    if (p == end || *p != '\n')
        return 0;
    while (from < end && *from == '\t')
        from++;
    return from == end ? 0 : (size_t)(from - p - 1);
}

/* Behind the bracket that closes what has its members behind so many tabs: it
 * is the first on a line behind one less. Or NULL. */
static const char *behind_lines(const char *p, const char *end, size_t tabs)
{
    for (; (p = memchr(p, '\n', (size_t)(end - p))); p++) {
        size_t n = tabs;

        if ((size_t)(end - p) <= tabs)
            return NULL;
        if ((p[tabs] | 0x20) != '}')
            continue;
        while (n > 1 && p[n - 1] == '\t')
            n--;
        if (n == 1)
            return p + tabs + 1;
    }
    return NULL;
}

bool msim_lexer_skip(struct msim_lexer *l)
{
    const char *p = l->at;
    size_t tabs = tabs_behind(p, l->end);

    if (tabs) {
        p = behind_lines(p, l->end, tabs);
        if (p)
            msim_lexer_behind(l, p);
        return p != NULL;
    }
    for (uint32_t open = 1; open; open += (*p++ | 0x20) == '{' ? 1 : -1u) {
        while (p && (p = mark(p, l->end)) < l->end && *p == '"')
            p = behind_string(p + 1, l->end);
        if (!p || p == l->end)
            return false;
    }
    msim_lexer_behind(l, p);
    return true;
}

void msim_lexer_behind(struct msim_lexer *l, const char *to)
{
    l->depth--;
    take(l, to, MSIM_LEXER_VALUE, MSIM_TOKEN_MAP_END);
}

void msim_lexer_pass(struct msim_lexer *l, enum msim_token odd)
{
    take(l, l->at + l->len, place_of(odd == MSIM_TOKEN_ODD_KEY), odd);
}
