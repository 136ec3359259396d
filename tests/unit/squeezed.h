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
static inline char *squeezed(char *json)
{
    char *to = json;

    for (const char *from = json; *from; from++) {
        if (*from == '\n')
            from += strspn(from, "\n ") - 1;
        else
            *to++ = *from == '"' ? '\'' : *from;
    }
    *to = '\0';
    return json;
}

#endif
