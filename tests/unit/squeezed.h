/*
 * tests/unit/squeezed.h - JSON as tests write it down: on one line, ' for ".
 *
 *     char text[] = "{\n  \"a\": 1\n}\n";
 *
 *     squeezed(text); // "{'a': 1}"
 */
#ifndef MSIM_TESTS_UNIT_SQUEEZED_H
#define MSIM_TESTS_UNIT_SQUEEZED_H
#include <string.h>

/* Without breaks of lines and the blanks behind them, in place. */
static inline char *squeezed(char *text)
{
    char *to = text;

    for (const char *c = text; *c; c++) {
        if (*c == '\n')
            c += strspn(c, "\n ") - 1;
        else
            *to++ = *c == '"' ? '\'' : *c;
    }
    *to = '\0';
    return text;
}

#endif
