/*
 * plan/describe/technique.c - techniques from texts.
 */
#include "plan/describe/strategy.h"

#include "core/base/texts.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *name, *accepted;
    size_t offset;
} TECHNIQUES[] = {
#define X(name, accepted)                                                      \
    {#name, accepted, offsetof(struct msim_techniques, name)},
    MSIM_TECHNIQUE_MAP(X)
#undef X
};

/* The place of `text` among words with a blank between, from 1; 0: nowhere. */
static int64_t place_of(const char *text, const char *words)
{
    size_t n = msim_whole_length(text);
    int64_t place = 1;

    for (const char *at = words; n > 0; place++) {
        const char *end = strchr(at, ' ');
        size_t length = end ? (size_t)(end - at) : strlen(at);

        if (length == n && strncmp(at, text, n) == 0)
            return place;
        if (!end)
            break;
        at = end + 1;
    }
    return 0;
}

/* A number of a range "1..8", of a list "8 16", or the place of a word; 0:
 * it is none of them. */
static int64_t value_of(const char *text, const char *accepted)
{
    const char *dots = strstr(accepted, "..");
    int64_t v, most, place;

    if (dots) {
        if (!msim_decimal_int(text, msim_whole_length(text), &v) ||
            !msim_decimal_int(dots + 2, strlen(dots + 2), &most))
            return 0;
        return v >= 1 && v <= most ? v : 0;
    }
    place = place_of(text, accepted);
    if (place && msim_decimal_int(text, msim_whole_length(text), &v))
        return v;
    return place;
}

void msim_technique_put(struct msim_techniques *t, enum msim_technique k,
                        int64_t value)
{
    memcpy((char *)t + TECHNIQUES[k].offset, &value, sizeof(value));
}

const char *msim_technique_set(struct msim_techniques *t, enum msim_technique k,
                               const char *text, char *reason, size_t size)
{
    const char *accepted = TECHNIQUES[k].accepted;
    bool range = strstr(accepted, "..") != NULL;
    int64_t v = value_of(text, accepted);

    if (v == 0) {
        snprintf(reason, size, "%s is '%.20s', want %s %s", TECHNIQUES[k].name,
                 text, range ? "a whole number," : "one of", accepted);
        return reason;
    }
    msim_technique_put(t, k, v);
    return NULL;
}

int64_t msim_technique_value(const struct msim_techniques *t,
                             enum msim_technique k)
{
    int64_t v;

    memcpy(&v, (const char *)t + TECHNIQUES[k].offset, sizeof(v));
    return v;
}

/* Are values places of words, not numbers? */
static bool has_words(const char *accepted)
{
    int64_t v;

    return !strstr(accepted, "..") &&
           !msim_decimal_int(accepted, strcspn(accepted, " "), &v);
}

void msim_technique_value_text(enum msim_technique k, int64_t value, char *text,
                               size_t size)
{
    const char *at = TECHNIQUES[k].accepted;

    if (value == 0) {
        snprintf(text, size, "%s", "");
    } else if (!has_words(at)) {
        snprintf(text, size, "%lld", (long long)value);
    } else {
        for (int64_t i = 1; i < value && strchr(at, ' '); i++)
            at = strchr(at, ' ') + 1;
        snprintf(text, size, "%.*s", (int)strcspn(at, " "), at);
    }
}

const char *msim_techniques_first(const struct msim_techniques *t)
{
    for (int k = 0; k < MSIM_TECHNIQUE_COUNT; k++)
        if (msim_technique_value(t, (enum msim_technique)k))
            return TECHNIQUES[k].name;
    return NULL;
}
