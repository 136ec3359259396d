/*
 * replay/emit/text.c - text that grows.
 */
#include "replay/emit/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void msim_text_bytes(struct msim_text *t, const char *bytes, size_t n)
{
    struct msim_text_piece piece;

    if (t->status == MSIM_OK)
        t->status = msim_vec_text(&t->bytes, bytes, n, &piece);
}

void msim_text_add(struct msim_text *t, const char *fmt, ...)
{
    char text[1024];
    va_list args;
    int n;

    va_start(args, fmt);
    n = vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    if (n < 0 || (size_t)n >= sizeof(text)) {
        if (t->status == MSIM_OK)
            t->status = MSIM_ELIMIT;
        return;
    }
    msim_text_bytes(t, text, (size_t)n);
}

const char *msim_text_get(struct msim_text *t)
{
    if (t->status != MSIM_OK || !t->bytes.data)
        return "";
    ((char *)t->bytes.data)[t->bytes.n] = '\0';
    return t->bytes.data;
}
