/*
 * replay/emit/text.c - text of a Python program that grows.
 */
#include "replay/emit/emit_python_internal.h"

#include "core/base/print.h"

#include <stdlib.h>
#include <string.h>

void msim_text_bytes(struct msim_text *t, const char *ours, size_t n)
{
    struct msim_text_piece piece;

    if (t->status == MSIM_OK)
        t->status = msim_vec_text(&t->bytes, ours, n, &piece);
}

void msim_text_put(struct msim_text *t, const char *ours)
{
    msim_text_bytes(t, ours, strlen(ours));
}

static void to_text(void *ctx, const char *bytes, size_t n)
{
    msim_text_bytes(ctx, bytes, n);
}

/* What is no plain ASCII is escaped: so no source is cut at a line end that
 * only Python sees, and none shows another text than it has. */
static void put_string(const struct msim_printer *p, const char *text, size_t n)
{
    const char *end = text + n;
    char escape[16];

    p->bytes(p->ctx, "'", 1);
    for (; text < end; text += msim_character_length(text)) {
        unsigned len = msim_utf8_length(text);
        uint32_t code = len ? msim_utf8_code(text, len) : 0xfffd;

        if (code == '\'' || code == '\\')
            snprintf(escape, sizeof(escape), "\\%c", (int)code);
        else if (code >= ' ' && code <= '~')
            snprintf(escape, sizeof(escape), "%c", (int)code);
        else if (code < 0x100)
            snprintf(escape, sizeof(escape), "\\x%02x", code);
        else
            snprintf(escape, sizeof(escape),
                     code < 0x10000 ? "\\u%04x" : "\\U%08x", code);
        p->bytes(p->ctx, escape, strlen(escape));
    }
    p->bytes(p->ctx, "'", 1);
}

void msim_text_add(struct msim_text *t, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    (void)msim_vprint(&(struct msim_printer){t, to_text, put_string}, fmt,
                      args);
    va_end(args);
}

void msim_text_word(struct msim_text *t, const char *word, size_t n)
{
    static const char LETTERS[] = "abcdefghijklmnopqrstuvwxyz"
                                  "ABCDEFGHIJKLMNOPQRSTUVWXYZ_.0123456789";

    if (t->status == MSIM_OK && strspn(word, LETTERS) < n)
        t->status = MSIM_EINTERNAL;
    msim_text_bytes(t, word, n);
}

void msim_text_take(struct msim_text *t, struct msim_text *more)
{
    msim_text_bytes(t, msim_text_get(more), more->bytes.n);
    if (more->status != MSIM_OK && t->status == MSIM_OK)
        t->status = more->status;
    free(more->bytes.data);
    *more = (struct msim_text){.status = MSIM_OK};
}

const char *msim_text_get(struct msim_text *t)
{
    if (t->status != MSIM_OK || !t->bytes.data)
        return "";
    ((char *)t->bytes.data)[t->bytes.n] = '\0';
    return t->bytes.data;
}
