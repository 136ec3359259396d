/*
 * core/base/print.c - printf that knows ours from theirs.
 *
 * The format is walked once. Numbers are left to snprintf(), one conversion at
 * a time; texts go to the language.
 */
#include "core/base/print.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define NUMBER                                                                 \
    512 /* bytes of any number: the longest double has 309 digits              \
         */

/* ---- characters ---------------------------------------------------------- */

unsigned msim_utf8_length(const char *text)
{
    const unsigned char *s = (const unsigned char *)text;
    unsigned char low = 0x80, high = 0xbf; /* of the second byte */
    unsigned n;

    if (s[0] < 0x80)
        return 1;
    if (s[0] < 0xc2 || s[0] > 0xf4)
        return 0;
    n = s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
    if (s[0] == 0xe0)
        low = 0xa0;
    else if (s[0] == 0xed)
        high = 0x9f;
    else if (s[0] == 0xf0)
        low = 0x90;
    else if (s[0] == 0xf4)
        high = 0x8f;
    if (s[1] < low || s[1] > high)
        return 0;
    /* The final NUL is no continuation byte, so this never runs past it. */
    for (unsigned i = 2; i < n; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    return n;
}

unsigned msim_character_length(const char *s)
{
    unsigned n = msim_utf8_length(s);

    return n ? n : 1;
}

uint32_t msim_utf8_code(const char *s, unsigned n)
{
    static const unsigned char FIRST[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    uint32_t code = (unsigned char)s[0] & FIRST[n];

    for (unsigned i = 1; i < n; i++)
        code = code << 6 | ((unsigned char)s[i] & 0x3f);
    return code;
}

static bool is_hidden(uint32_t code)
{
    static const uint32_t HIDDEN[][2] = {
        {0, 0x1f},          {0x7f, 0x9f},     /* C0, DEL and C1 */
        {0x61c, 0x61c},     {0x200e, 0x200f}, /* marks of direction */
        {0x2028, 0x202e},   {0x2066, 0x2069}, /* ends of lines, directions */
        {0x200b, 0x200b},   {0x2060, 0x2064}, /* no width, and no letter */
        {0xfeff, 0xfeff},   {0xfff9, 0xfffb},
        {0xfffe, 0xffff},   /* byte order, notes, none */
        {0xe0000, 0xe007f}, /* tags */
    };

    for (size_t i = 0; i < sizeof(HIDDEN) / sizeof(*HIDDEN); i++)
        if (code >= HIDDEN[i][0] && code <= HIDDEN[i][1])
            return true;
    return false;
}

unsigned msim_printable_length(const char *s)
{
    unsigned n;

    if (*s >= ' ' && *s <= '~')
        return 1;
    n = msim_utf8_length(s);
    return n && !is_hidden(msim_utf8_code(s, n)) ? n : 0;
}

void msim_print_clean(const struct msim_printer *p, const char *text, size_t n,
                      const char *(*instead)(char c))
{
    const char *end = text + n, *plain = text;

    while (text < end) {
        unsigned len = msim_printable_length(text);
        const char *by = instead && (*text & 0x80) == 0 ? instead(*text) : NULL;

        if (len && !by) {
            text += len;
            continue;
        }
        p->bytes(p->ctx, plain, (size_t)(text - plain));
        p->bytes(p->ctx, by ? by : "?", by ? strlen(by) : 1);
        text += msim_character_length(text);
        plain = text;
    }
    p->bytes(p->ctx, plain, (size_t)(end - plain));
}

/* ---- texts --------------------------------------------------------------- */

/* At most `most` bytes of `text`, in whole characters; their number. */
static size_t measure(const char *text, size_t most, int *characters)
{
    size_t n = 0;

    for (*characters = 0; n < most && text[n]; (*characters)++) {
        unsigned len = msim_character_length(text + n);

        if (n + len > most)
            break;
        n += len;
    }
    return n;
}

static void pad(const struct msim_printer *p, int n)
{
    for (; n > 0; n--)
        p->bytes(p->ctx, " ", 1);
}

static int put_text(const struct msim_printer *p, const char *text, int width,
                    int precision)
{
    int characters, room = abs(width);
    size_t n = measure(text, precision < 0 ? SIZE_MAX : (size_t)precision,
                       &characters);

    if (width > 0)
        pad(p, width - characters);
    p->text(p, text, n);
    if (width < 0)
        pad(p, -width - characters);
    return characters > room ? characters : room;
}

/* ---- conversions --------------------------------------------------------- */

/* One conversion: `%-8.3lld`. */
struct conversion {
    char flags[8], size[3], kind;
    int width, precision; /* width below 0: flush left; precision -1: none */
};

static int read_number(const char **fmt, va_list *args)
{
    int v = 0;

    if (**fmt == '*') {
        ++*fmt;
        return va_arg(*args, int);
    }
    while (**fmt >= '0' && **fmt <= '9')
        v = 10 * v + *(*fmt)++ - '0';
    return v;
}

/* What `fmt` has of `set`, as a text. */
static void read_set(const char **fmt, const char *set, char *to, size_t size)
{
    size_t n = strspn(*fmt, set);

    snprintf(to, size, "%.*s", (int)n, *fmt);
    *fmt += n;
}

static struct conversion read_conversion(const char **fmt, va_list *args)
{
    struct conversion c = {.precision = -1};

    read_set(fmt, "-+ #0", c.flags, sizeof(c.flags));
    c.width = read_number(fmt, args);
    if (strchr(c.flags, '-'))
        c.width = -abs(c.width);
    if (**fmt == '.') {
        ++*fmt;
        c.precision = read_number(fmt, args);
    }
    read_set(fmt, "hljzt", c.size, sizeof(c.size));
    c.kind = **fmt;
    *fmt += c.kind != '\0';
    return c;
}

static int put_number(const struct msim_printer *p, const char *text, int n)
{
    size_t size = n < 0 ? 0 : n < NUMBER ? (size_t)n : NUMBER - 1;

    p->bytes(p->ctx, text, size);
    return (int)size;
}

static int put_integer(const struct msim_printer *p, const struct conversion *c,
                       const char *spec, va_list *args)
{
    bool is_signed = c->kind == 'd' || c->kind == 'i';
    char text[NUMBER];
    intmax_t v;

    switch (c->size[0]) {
    case 'l':
        v = c->size[1] ? va_arg(*args, long long) : va_arg(*args, long);
        break;
    case 'j':
        v = va_arg(*args, intmax_t);
        break;
    case 'z':
    case 't':
        v = va_arg(*args, ptrdiff_t);
        break;
    default:
        v = is_signed ? va_arg(*args, int) : (intmax_t)va_arg(*args, unsigned);
    }
    return put_number(
        p, text, snprintf(text, sizeof(text), spec, c->width, c->precision, v));
}

static int put_conversion(const struct msim_printer *p,
                          const struct conversion *c, va_list *args)
{
    char spec[24], text[NUMBER], letter[2] = "";
    const char *given;

    snprintf(spec, sizeof(spec), "%%%s*.*%s%c", c->flags,
             strchr("diouxX", c->kind) ? "j" : "", c->kind);
    switch (c->kind) {
    case 's':
        given = va_arg(*args, const char *);
        return put_text(p, given ? given : "", c->width, c->precision);
    case 'c':
        letter[0] = (char)va_arg(*args, int);
        return put_text(p, letter, c->width, -1);
    case 'd':
    case 'i':
    case 'o':
    case 'u':
    case 'x':
    case 'X':
        return put_integer(p, c, spec, args);
    default: /* the compiler has checked the format: a double */
        return put_number(p, text,
                          snprintf(text, sizeof(text), spec, c->width,
                                   c->precision, va_arg(*args, double)));
    }
}

int msim_vprint(const struct msim_printer *p, const char *fmt, va_list args)
{
    va_list rest;
    int written = 0;

    va_copy(rest, args);
    while (*fmt) {
        size_t ours = strcspn(fmt, "%");
        struct conversion c;

        p->bytes(p->ctx, fmt, ours);
        written += (int)ours;
        fmt += ours;
        if (!*fmt)
            break;
        fmt++;
        if (*fmt == '%') {
            p->bytes(p->ctx, fmt++, 1);
            written++;
            continue;
        }
        c = read_conversion(&fmt, &rest);
        written += put_conversion(p, &c, &rest);
    }
    va_end(rest);
    return written;
}

/* ---- plain text ---------------------------------------------------------- */

void msim_print_to_file(void *ctx, const char *bytes, size_t n)
{
    fwrite(bytes, 1, n, ctx);
}

static void plain_text(const struct msim_printer *p, const char *text, size_t n)
{
    msim_print_clean(p, text, n, NULL);
}

int msim_print(FILE *out, const char *fmt, ...)
{
    const struct msim_printer p = {out, msim_print_to_file, plain_text};
    va_list args;
    int written;

    va_start(args, fmt);
    written = msim_vprint(&p, fmt, args);
    va_end(args);
    return written;
}

void msim_print_title(FILE *out, const char *fmt, ...)
{
    const struct msim_printer p = {out, msim_print_to_file, plain_text};
    va_list args;

    putc('\n', out);
    va_start(args, fmt);
    (void)msim_vprint(&p, fmt, args);
    va_end(args);
    putc('\n', out);
}

struct memory {
    char *text;
    size_t used, size;
};

static void to_memory(void *ctx, const char *bytes, size_t n)
{
    struct memory *m = ctx;
    size_t room = m->size - m->used - 1;

    if (n > room) {
        n = room;
        while (n && (bytes[n] & 0xc0) == 0x80)
            n--;
        m->size = m->used + n + 1; /* nothing behind a gap */
    }
    memcpy(m->text + m->used, bytes, n);
    m->used += n;
}

void msim_vprint_text(char *text, size_t size, const char *fmt, va_list args)
{
    struct memory m = {text, 0, size};

    (void)msim_vprint(&(struct msim_printer){&m, to_memory, plain_text}, fmt,
                      args);
    text[m.used] = '\0';
}

void msim_text_append(char *text, size_t size, const char *fmt, ...)
{
    size_t used = strlen(text);
    va_list args;

    va_start(args, fmt);
    msim_vprint_text(text + used, size - used, fmt, args);
    va_end(args);
}
