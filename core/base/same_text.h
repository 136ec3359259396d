/*
 * core/base/same_text.h - whether two texts are equal, where they mostly are
 * not: words of a few letters, compared for every row of a table.
 */
#ifndef MSIM_CORE_BASE_SAME_TEXT_H
#define MSIM_CORE_BASE_SAME_TEXT_H
#include <stdbool.h>
#include <string.h>

static inline bool msim_same_text(const char *a, const char *b)
{
    return *a == *b && (!*a || (a[1] == b[1] && strcmp(a, b) == 0));
}

#endif
