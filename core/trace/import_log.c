/*
 * core/trace/import_log.c - the words for what became of a record.
 */
#include "core/trace/import_log.h"

#include <stdio.h>
#include <string.h>

const char *msim_import_fate_text(enum msim_import_fate f)
{
    static const char *const TEXTS[] = {
#define X(name, text) text,
        MSIM_IMPORT_FATE_MAP(X)
#undef X
    };

    return TEXTS[f];
}

const struct msim_import_kind_info *
msim_import_about(enum msim_import_kind kind)
{
    static const struct msim_import_kind_info KINDS[] = {
#define X(name, word, fate, warned, what, said)                                \
    {word, what, said, MSIM_IMPORT_##fate, warned},
        MSIM_IMPORT_MAP(X)
#undef X
    };

    return &KINDS[kind];
}

/* Of "{is|are}", at its brace, what `n` records take; `*end` is behind it. */
static size_t word_of(const char *brace, uint64_t n, const char **word,
                      const char **end)
{
    size_t all = strcspn(brace + 1, "}"), one = strcspn(brace + 1, "|}");
    bool bar = one < all;

    *end = brace + 1 + all + 1;
    *word = brace + 1 + (n != 1 && bar ? one + 1 : 0);
    if (n == 1)
        return bar ? one : 0;
    return bar ? all - one - 1 : all;
}

void msim_import_words(char *text, size_t size, const char *pattern, uint64_t n,
                       const char *name)
{
    size_t used = 0;

    text[0] = '\0';
    while (*pattern && used + 1 < size) {
        const char *word = pattern, *end = pattern + strcspn(pattern, "{*");
        size_t length = (size_t)(end - pattern);

        if (*pattern == '{') {
            length = word_of(pattern, n, &word, &end);
        } else if (*pattern == '*') {
            word = name;
            length = strlen(name);
            end = pattern + 1;
        }
        used += (size_t)snprintf(text + used, size - used, "%.*s", (int)length,
                                 word);
        pattern = end;
    }
}

struct msim_import_count *msim_import_add_name(struct msim_import_log *log,
                                               enum msim_import_kind kind,
                                               uint32_t name)
{
    struct msim_import_count *c = &log->rows[MSIM_IMPORT_KINDS];
    struct msim_import_count *end = c + MSIM_IMPORT_NAMES;

    while (c < end && c->n && (c->kind != kind || c->name != name))
        c++;
    if (c == end)
        return msim_import_add(log, kind, 1);
    c->kind = (uint8_t)kind;
    c->name = name;
    c->n++;
    return c;
}
