/*
 * core/base/join_text.h - texts one behind the other, as snprintf() with "%s%s"
 * writes them and several times as fast: keys of fits are made for every row of
 * a table.
 */
#ifndef MSIM_CORE_BASE_JOIN_TEXT_H
#define MSIM_CORE_BASE_JOIN_TEXT_H
#include <stddef.h>

/* All `parts`, ended by NULL, into `out`, which has room for `size` bytes, 1 at
 * least; what does not fit is cut. */
static inline void msim_join_parts(char *out, size_t size,
                                   const char *const *parts)
{
    char *end = out + size - 1;

    for (; *parts; parts++)
        for (const char *c = *parts; *c && out < end; c++)
            *out++ = *c;
    *out = '\0';
}

#define MSIM_JOIN_TEXT(out, size, ...)                                         \
    msim_join_parts(out, size, (const char *const[]){__VA_ARGS__, NULL})

#endif
