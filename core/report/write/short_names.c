/*
 * core/report/write/short_names.c - names that stay apart when shortened.
 *
 * A group of names that read the same shares a beginning. The window of the
 * next try starts with the word in which the beginning ends, so that each try
 * shows a difference or moves on to a later one.
 */
#include "core/report/write/report_internal.h"

#include <assert.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DOTS       "..."
#define FULL_BYTES 4096
#define TRIES      8  /* windows, each behind the one before */
#define WORD_MAX   24 /* of a word that a window may begin with */

void msim_short_names_add(struct msim_short_names *s, const char *name)
{
    if (!name || s->n == MSIM_SHORT_NAMES)
        return;
    for (uint32_t i = 0; i < s->n; i++)
        if (strcmp(s->of[i].name, name) == 0)
            return;
    s->of[s->n++].name = name;
}

/* ---- one name ------------------------------------------------------------ */

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || (c & 0x80);
}

/* The begin of the word around `at`, or `at` where the word is too long. */
static size_t word_begin(const char *name, size_t at)
{
    size_t begin = at;

    while (begin > 0 && at - begin < WORD_MAX && is_word(name[begin - 1]))
        begin--;
    if (begin > 0 && is_word(name[begin - 1]))
        begin = at;
    while (begin > 0 && (name[begin] & 0xc0) == 0x80) /* inside a character */
        begin--;
    return begin;
}

/* The head of a name, dots, and the name from `from` on. */
static void show_window(struct msim_shortened *out, const char *full,
                        size_t from, unsigned columns)
{
    char head[MSIM_SHORT_BYTES], tail[MSIM_SHORT_BYTES];
    unsigned keep = (columns - 2 * 3) / 3, used;
    size_t rest = strlen(full + from);

    if (rest + 3 + keep < columns) /* room for more of the head */
        keep = columns - 3 - (unsigned)rest;

    if (from <= keep + 3) { /* the window reaches the head */
        keep = 0;
        head[0] = '\0';
        from = 0;
    } else {
        while (keep > 0 && (full[keep] & 0xc0) == 0x80)
            keep--;
        memcpy(head, full, keep);
        memcpy(head + keep, DOTS, sizeof(DOTS));
    }
    used = keep ? keep + 3 : 0;
    if (strlen(full + from) <= columns - used) {
        snprintf(tail, sizeof(tail), "%s", full + from);
    } else {
        size_t n = columns - used - 3;

        while (n > 0 && (full[from + n] & 0xc0) == 0x80)
            n--;
        snprintf(tail, sizeof(tail), "%.*s" DOTS, (int)n, full + from);
    }
    out->columns = msim_format_name(out->text, sizeof(out->text), head,
                                    MSIM_SHORT_COLUMNS);
    out->columns += msim_format_name(out->text + strlen(out->text),
                                     sizeof(out->text) - strlen(out->text),
                                     tail, MSIM_SHORT_COLUMNS);
}

/* ---- groups that read the same ------------------------------------------- */

struct fitting {
    struct msim_short_names *s;
    char (*full)[FULL_BYTES]; /* one a name */
    unsigned columns;
};

static int by_text(const void *a, const void *b)
{
    const struct msim_shortened *x = *(struct msim_shortened *const *)a;
    const struct msim_shortened *y = *(struct msim_shortened *const *)b;
    int order = strcmp(x->text, y->text);

    return order ? order : strcmp(x->name, y->name);
}

/* The names, those that read the same together. */
static void sort_names(const struct fitting *f, struct msim_shortened **sorted)
{
    for (uint32_t i = 0; i < f->s->n; i++)
        sorted[i] = &f->s->of[i];
    if (f->s->n)
        qsort(sorted, f->s->n, sizeof(*sorted), by_text);
}

static uint32_t group_end(struct msim_shortened *const *sorted, uint32_t n,
                          uint32_t begin)
{
    uint32_t end = begin + 1;

    while (end < n && strcmp(sorted[begin]->text, sorted[end]->text) == 0)
        end++;
    return end;
}

static char *full_of(const struct fitting *f, const struct msim_shortened *x)
{
    return f->full[x - f->s->of];
}

static size_t common_head(const struct fitting *f,
                          struct msim_shortened *const *group, uint32_t n)
{
    const char *first = full_of(f, group[0]);
    size_t common = strlen(first);

    for (uint32_t i = 1; i < n; i++) {
        const char *other = full_of(f, group[i]);
        size_t k = 0;

        while (k < common && first[k] == other[k])
            k++;
        common = k;
    }
    return common;
}

/* Show where the names of a group part. */
static void part(const struct fitting *f, struct msim_shortened *const *group,
                 uint32_t n)
{
    size_t from = common_head(f, group, n);

    if (!full_of(f, group[0])[from]) {
        /* They differ in what was left out as saying little. */
        for (uint32_t i = 0; i < n; i++)
            msim_format_name(full_of(f, group[i]), FULL_BYTES, group[i]->name,
                             FULL_BYTES);
        from = common_head(f, group, n);
    }
    for (uint32_t i = 0; i < n; i++)
        show_window(group[i], full_of(f, group[i]),
                    word_begin(full_of(f, group[i]), from), f->columns);
}

static bool part_groups(const struct fitting *f)
{
    struct msim_shortened *sorted[MSIM_SHORT_NAMES];
    bool parted = false;

    sort_names(f, sorted);
    for (uint32_t i = 0, end; i < f->s->n; i = end) {
        end = group_end(sorted, f->s->n, i);
        if (end - i > 1) {
            part(f, &sorted[i], end - i);
            parted = true;
        }
    }
    return parted;
}

/* The last resort: "name #2". */
static void number_groups(const struct fitting *f)
{
    struct msim_shortened *sorted[MSIM_SHORT_NAMES];
    char cut[MSIM_SHORT_BYTES];

    sort_names(f, sorted);
    for (uint32_t i = 0, end; i < f->s->n; i = end) {
        end = group_end(sorted, f->s->n, i);
        for (uint32_t k = i + 1; k < end; k++) {
            unsigned used = msim_format_name(cut, sizeof(cut), sorted[k]->text,
                                             f->columns - 4);
            int more = snprintf(sorted[k]->text, MSIM_SHORT_BYTES, "%.380s #%u",
                                cut, (k - i + 1) % 100);

            sorted[k]->columns = used + (unsigned)(more - (int)strlen(cut));
        }
    }
}

void msim_short_names_fit(struct msim_short_names *s, unsigned columns)
{
    struct fitting f = {.s = s, .columns = columns};

    assert(columns >= 12 && columns <= MSIM_SHORT_COLUMNS);
    f.full = malloc(((size_t)s->n + 1) * sizeof(*f.full));
    for (uint32_t i = 0; i < s->n; i++) {
        s->of[i].columns = msim_format_op(s->of[i].text, sizeof(s->of[i].text),
                                          s->of[i].name, columns);
        if (f.full)
            msim_format_op(f.full[i], FULL_BYTES, s->of[i].name, FULL_BYTES);
    }
    for (int i = 0; f.full && i < TRIES && part_groups(&f); i++)
        continue;
    number_groups(&f);
    free(f.full);
}

const char *msim_short_name(struct msim_short_names *s, const char *name,
                            unsigned columns, unsigned *used)
{
    for (uint32_t i = 0; i < s->n; i++)
        if (strcmp(s->of[i].name, name) == 0) {
            *used = s->of[i].columns;
            return s->of[i].text;
        }
    *used = msim_format_op(s->spare, sizeof(s->spare), name, columns);
    return s->spare;
}

unsigned msim_short_names_widest(const struct msim_short_names *s)
{
    unsigned widest = 0;

    for (uint32_t i = 0; i < s->n; i++)
        widest = s->of[i].columns > widest ? s->of[i].columns : widest;
    return widest;
}
