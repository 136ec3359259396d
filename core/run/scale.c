/*
 * core/run/scale.c - `--scale SELECT=FACTOR`, parsed and matched.
 */
#include "core/run/scale.h"

#include "core/base/decimal.h"

#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define GLOB_MAX 256

/* What may follow a word: nothing, or "@3". */
static bool parse_rank(struct msim_scale *out, const char *text, int length)
{
    out->one_rank =
        length > 1 && text[0] == '@' &&
        msim_decimal_int(text + 1, (size_t)length - 1, &out->rank) &&
        out->rank >= 0;
    return length == 0 || out->one_rank;
}

static enum msim_status parse_select(struct msim_scale *out, const char *text,
                                     int length, struct msim_error *err)
{
    static const struct {
        const char *name;
        enum msim_select select;
    } GLOBS[] = {{"op:", MSIM_SELECT_OP}, {"host:", MSIM_SELECT_HOST_OP}},
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
    for (size_t i = 0; i < sizeof(GLOBS) / sizeof(GLOBS[0]); i++) {
        int n = (int)strlen(GLOBS[i].name);

        if (length <= n || length >= GLOB_MAX ||
            strncmp(text, GLOBS[i].name, (size_t)n))
            continue;
        out->select = GLOBS[i].select;
        out->glob = text + n;
        out->glob_length = length - n;
        return MSIM_OK;
    }
    return msim_fail(err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                     "cannot scale '%.*s', want kernels, communication, "
                     "copies, host, op:GLOB or host:GLOB",
                     length, text);
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

bool msim_scale_matches(const struct msim_scale *s, const char *name)
{
    char glob[GLOB_MAX];

    if (s->select != MSIM_SELECT_OP && s->select != MSIM_SELECT_HOST_OP)
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
