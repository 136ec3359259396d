/*
 * core/run/scale.c - `--scale SELECT=FACTOR`, parsed and matched.
 */
#include "core/run/scale.h"

#include "core/base/texts.h"
#include "core/work/work.h"

#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GLOB_MAX 256

static const char *const LINKS[] = {
#define X(name, text, what) text,
    MSIM_LINK_MAP(X)
#undef X
};
static const char *const PARTS[] = {
#define X(name, text, what) text,
    MSIM_HOST_PART_MAP(X)
#undef X
};
static const char *const FAMILIES[] = {
#define X(name, text) text,
    MSIM_FAMILY_MAP(X)
#undef X
};

const char *msim_link_text(enum msim_link l)
{
    return LINKS[l];
}

const char *msim_host_part_text(enum msim_host_part p)
{
    return PARTS[p];
}

/* ---- parsing ------------------------------------------------------------- */

/* What may follow a word: nothing, or "@3". */
static bool parse_rank(struct msim_scale *out, const char *text, int length)
{
    out->one_rank =
        length > 1 && text[0] == '@' &&
        msim_decimal_int(text + 1, (size_t)length - 1, &out->rank) &&
        out->rank >= 0;
    return length == 0 || out->one_rank;
}

/* Where the value of a group ends: before "@3". */
static int value_length(struct msim_scale *out, const char *text, int length)
{
    const char *at = memchr(text, '@', (size_t)length);
    int n = at ? (int)(at - text) : length;

    return parse_rank(out, text + n, length - n) ? n : length;
}

static enum msim_status refuse_word(const char *kind, const char *word,
                                    const char *const *words, size_t n,
                                    struct msim_error *err)
{
    const char *near = msim_nearest_word(word, words, n);
    char all[400] = "";
    size_t used = 0;

    if (near)
        return msim_fail(err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                         "cannot scale '%s:%s', want %s:%s, which is near",
                         kind, word, kind, near);
    for (size_t i = 0; i < n; i++)
        used += (size_t)snprintf(all + used, sizeof(all) - used, "%s%s",
                                 i ? ", " : "", words[i]);
    return msim_fail(err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                     "cannot scale '%s:%s', want '%s:' and one of %s", kind,
                     word, kind, all);
}

static enum msim_status parse_word(struct msim_scale *out, const char *kind,
                                   const char *text, int length,
                                   struct msim_error *err)
{
    const char *const *words = out->select == MSIM_SELECT_FAMILY ? FAMILIES
                               : out->select == MSIM_SELECT_LINK ? LINKS
                                                                 : PARTS;
    size_t n = out->select == MSIM_SELECT_FAMILY ? MSIM_FAMILY_COUNT
               : out->select == MSIM_SELECT_LINK ? MSIM_LINK_COUNT
                                                 : MSIM_HOST_PART_COUNT;
    char word[GLOB_MAX];

    snprintf(word, sizeof(word), "%.*s", value_length(out, text, length), text);
    for (size_t i = 0; i < n; i++)
        if (strcmp(words[i], word) == 0) {
            out->group = (int)i;
            return MSIM_OK;
        }
    return refuse_word(kind, word, words, n, err);
}

/* What follows "op:", "family:", ... */
static enum msim_status parse_value(struct msim_scale *out, const char *kind,
                                    const char *text, int length,
                                    struct msim_error *err)
{
    if (!msim_scale_is_pattern(out))
        return parse_word(out, kind, text, length, err);
    out->glob = text;
    out->glob_length = out->select == MSIM_SELECT_STREAM
                           ? value_length(out, text, length)
                           : length;
    return MSIM_OK;
}

static enum msim_status parse_select(struct msim_scale *out, const char *text,
                                     int length, struct msim_error *err)
{
    static const struct {
        const char *name;
        enum msim_select select;
    } VALUES[] = {{"op", MSIM_SELECT_OP},
                  {"host", MSIM_SELECT_HOST_OP},
                  {"family", MSIM_SELECT_FAMILY},
                  {"stream", MSIM_SELECT_STREAM},
                  {"link", MSIM_SELECT_LINK},
                  {"host-part", MSIM_SELECT_HOST_PART}},
      WORDS[] = {
          {"kernels", MSIM_SELECT_KERNELS},
          {"communication", MSIM_SELECT_COMMUNICATION},
          {"copies", MSIM_SELECT_COPIES},
          {"host", MSIM_SELECT_HOST},
      };

    for (size_t i = 0; i < sizeof(WORDS) / sizeof(WORDS[0]); i++) {
        int n = (int)strlen(WORDS[i].name);

        if (length >= n && strncmp(WORDS[i].name, text, (size_t)n) == 0 &&
            parse_rank(out, text + n, length - n)) {
            out->select = WORDS[i].select;
            return MSIM_OK;
        }
    }
    for (size_t i = 0; i < sizeof(VALUES) / sizeof(VALUES[0]); i++) {
        int n = (int)strlen(VALUES[i].name);

        if (length <= n + 1 || length >= GLOB_MAX || text[n] != ':' ||
            strncmp(text, VALUES[i].name, (size_t)n) != 0)
            continue;
        out->select = VALUES[i].select;
        return parse_value(out, VALUES[i].name, text + n + 1, length - n - 1,
                           err);
    }
    return msim_fail(err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                     "cannot scale '%.*s', want " MSIM_SCALE_ACCEPTED, length,
                     text);
}

enum msim_status msim_scale_parse(struct msim_scale *out, const char *text,
                                  struct msim_error *err)
{
    const char *equals = strrchr(text, '=');
    char *end;

    *out = (struct msim_scale){.text = text};
    if (!equals)
        return msim_fail(err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                         "scale is '%s', want SELECT=FACTOR, e.g. kernels=0.5",
                         text);
    MSIM_TRY(parse_select(out, text, (int)(equals - text), err));
    out->factor = strtod(equals + 1, &end);
    if (end == equals + 1 || *end || !isfinite(out->factor) || out->factor < 0)
        return msim_fail(err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                         "factor of '%s' is '%s', want a number >= 0", text,
                         equals + 1);
    return MSIM_OK;
}

const char *msim_scale_wanted(const struct msim_error *err)
{
    static const char WANT[] = ", want ";
    const char *at = strstr(err->text, WANT);

    return at ? at + sizeof(WANT) - 1 : MSIM_SCALE_ACCEPTED;
}

/* ---- matching ------------------------------------------------------------ */

bool msim_scale_is_pattern(const struct msim_scale *s)
{
    return s->select == MSIM_SELECT_OP || s->select == MSIM_SELECT_HOST_OP ||
           s->select == MSIM_SELECT_STREAM;
}

bool msim_scale_is_group(const struct msim_scale *s)
{
    return s->select == MSIM_SELECT_FAMILY || s->select == MSIM_SELECT_LINK ||
           s->select == MSIM_SELECT_HOST_PART;
}

bool msim_scale_matches(const struct msim_scale *s, const char *name)
{
    char glob[GLOB_MAX];

    if (!msim_scale_is_pattern(s))
        return false;
    memcpy(glob, s->glob, (size_t)s->glob_length);
    glob[s->glob_length] = '\0';
    if (strcmp(glob, name) == 0)
        return true;
    for (char *dots = glob; (dots = strstr(dots, "..."));) {
        *dots = '*';
        memmove(dots + 1, dots + 3, strlen(dots + 3) + 1);
    }
    return fnmatch(glob, name, 0) == 0;
}
