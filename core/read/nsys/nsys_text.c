/*
 * core/read/nsys/nsys_text.c - what texts of Nsight Systems say.
 */
#include "core/read/nsys/nsys_text.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* The first of the members behind an operator's name. */
static const char *first_member(const char *text)
{
    static const char *const MEMBERS[] = {
        ", seq = ", ", op_id = ", ", sizes = "};
    const char *first = NULL;

    for (size_t i = 0; i < sizeof(MEMBERS) / sizeof(MEMBERS[0]); i++) {
        const char *at = strstr(text, MEMBERS[i]);

        if (at && (!first || at < first))
            first = at;
    }
    return first;
}

/* Bytes of a list of lists of numbers, or 0. */
static size_t sizes_length(const char *text)
{
    int depth = 0;

    for (size_t i = 0; text[i]; i++) {
        if (!strchr("[]0123456789, ", text[i]))
            return 0;
        depth += (text[i] == '[') - (text[i] == ']');
        if (depth > 2)
            return 0;
        if (depth == 0)
            return text[0] == '[' ? i + 1 : 0;
    }
    return 0;
}

bool msim_nsys_op_find(struct msim_nsys_op *out, const char *text)
{
    const char *first = first_member(text), *sizes;

    *out = (struct msim_nsys_op){0};
    if (!first || first == text)
        return false;
    out->name = (size_t)(first - text);
    sizes = strstr(first, "sizes = ");
    if (!sizes)
        return true;
    out->n_sizes = sizes_length(sizes + 8);
    out->sizes = out->n_sizes ? sizes + 8 : NULL;
    return true;
}

long long msim_nsys_step(const char *text, int *word)
{
    static const char *const WORDS[] = {
        "ProfilerStep", "train_step",    "training_step",
        "train step",   "training step", "iteration",
        "step",         "iter",          "batch"};

    for (int i = 0; i < (int)(sizeof(WORDS) / sizeof(WORDS[0])); i++) {
        size_t n = strlen(WORDS[i]);
        const char *number = text + n;
        char *end;
        long long step;

        if (strncasecmp(text, WORDS[i], n) != 0)
            continue;
        number += strspn(number, " _#:=-");
        if (*number < '0' || *number > '9' || strlen(number) > 15)
            continue;
        step = strtoll(number, &end, 10);
        if (*end)
            continue;
        *word = i;
        return step;
    }
    return -1;
}

size_t msim_nsys_call(const char *name)
{
    const char *version = strrchr(name, '_');

    if (version && version[1] == 'v' && version[2] &&
        version[2 + strspn(version + 2, "0123456789")] == '\0')
        return (size_t)(version - name);
    return strlen(name);
}
