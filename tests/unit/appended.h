/*
 * tests/unit/appended.h - texts that grow in an array.
 *
 *     char text[64] = "a";
 *
 *     APPEND(text, ",%d", 7); // "a,7", cut where it has no room
 */
#ifndef MSIM_TESTS_UNIT_APPENDED_H
#define MSIM_TESTS_UNIT_APPENDED_H
#include "core/base/status.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

MSIM_PRINTF(3, 4)
static inline void append(char *text, size_t size, const char *fmt, ...)
{
    size_t used = strlen(text);
    va_list ap;

    va_start(ap, fmt);
    (void)vsnprintf(text + used, size - used, fmt, ap);
    va_end(ap);
}

/* `text` is an array, not a pointer to one. */
#define APPEND(text, ...) append((text), sizeof(text), __VA_ARGS__)

#endif
