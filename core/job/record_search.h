/*
 * core/job/record_search.h - where the record behind a broken one begins.
 *
 * Records are objects in a list: "}, {\"" ends one and begins the next. Of a
 * node the same signs stand between its attributes; those are no nodes, which
 * shows when they end.
 */
#ifndef MSIM_CORE_JOB_RECORD_SEARCH_H
#define MSIM_CORE_JOB_RECORD_SEARCH_H
#include <stdbool.h>
#include <stddef.h>

/* All zero: nothing is seen yet. */
struct msim_record_search {
    unsigned seen; /* of the signs */
    bool found;
};

/* Behind the quote of the first key of a record in `bytes`, or their end: then
 * the search goes on in the next piece. */
static inline const char *msim_record_find(struct msim_record_search *s,
                                           const char *bytes, size_t len)
{
    static const char SIGNS[] = "},{\"";
    const char *end = bytes + len;

    for (; bytes < end && !s->found; bytes++) {
        char c = *bytes;

        if (c == SIGNS[s->seen])
            s->found = !SIGNS[++s->seen];
        else if (c != ' ' && c != '\n' && c != '\t' && c != '\r')
            s->seen = c == SIGNS[0];
    }
    return bytes;
}

#endif
