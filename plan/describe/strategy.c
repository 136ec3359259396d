/*
 * plan/describe/strategy.c - strategies: their members, and reading them.
 */
#include "plan/describe/strategy.h"

#include "core/base/json.h"
#include "core/base/texts.h"
#include "core/json/fields.h"

#include <stdio.h>
#include <string.h>

static const char *const GIVEN[] = {
#define X(name, missing) #name,
    MSIM_STRATEGY_MAP(X)
#undef X
#define X(name, values) #name,
        MSIM_STRATEGY_WORD_MAP(X)
#undef X
#define X(name, accepted) #name,
            MSIM_TECHNIQUE_MAP(X)
#undef X
};

static const char *const PRECISIONS[] = {
#define X(name, text) text,
    MSIM_PRECISION_MAP(X)
#undef X
};

static const char *const RECOMPUTES[] = {
#define X(name, text, again) text,
    MSIM_RECOMPUTE_MAP(X)
#undef X
};

static const char *const OFFLOADS[] = {"none", "activations", "optimizer",
                                       "weights"};

static const char *const OPTIMIZERS[] = {
#define X(name, text) text,
    MSIM_OPTIMIZER_MAP(X)
#undef X
        NULL};

static const char *const TABLE_OPTIMIZERS[] = {
#define X(name, text) text,
    MSIM_TABLE_OPTIMIZER_MAP(X)
#undef X
        NULL};

bool msim_precision_is_full(enum msim_precision p)
{
    return p == MSIM_PRECISION_FP32 || p == MSIM_PRECISION_TF32;
}

bool msim_precision_is_narrow(enum msim_precision p)
{
    return p >= MSIM_PRECISION_AMP_FP8;
}

const char *msim_optimizer_text(enum msim_optimizer o)
{
    return OPTIMIZERS[o];
}

const char *msim_given_text(enum msim_given g)
{
    return GIVEN[g];
}

static int64_t *member(struct msim_strategy *s, enum msim_given g)
{
    switch (g) {
#define X(name, missing)                                                       \
    case MSIM_GIVEN_##name:                                                    \
        return &s->name;
        MSIM_STRATEGY_MAP(X)
#undef X
    default:
        return NULL;
    }
}

/* The words of a member, and how many; NULL: it is none of words. */
static const char *const *words_of(enum msim_given g, int *n)
{
    switch (g) {
#define X(name, values)                                                        \
    case MSIM_GIVEN_##name:                                                    \
        *n = MSIM_##values##_COUNT;                                            \
        return values##S;
        MSIM_STRATEGY_WORD_MAP(X)
#undef X
    default:
        return NULL;
    }
}

/* The index of a member's word; `to` (may be NULL) is what it is set to. */
static int64_t word_at(struct msim_strategy *s, enum msim_given g,
                       const int64_t *to)
{
    switch (g) {
#define X(name, values)                                                        \
    case MSIM_GIVEN_##name:                                                    \
        s->name = to ? (enum msim_##name) * to : s->name;                      \
        return (int64_t)s->name;
        MSIM_STRATEGY_WORD_MAP(X)
#undef X
    default:
        return 0;
    }
}

static int word_index(const char *text, const char *const *words, int n)
{
    for (int i = 0; i < n; i++)
        if (strcmp(words[i], text) == 0)
            return i;
    return -1;
}

/* Find `text` among the words; the index, or -1 with a reason. */
static int set_word(enum msim_given g, const char *text,
                    const char *const *words, int n, char *reason, size_t size)
{
    int found = word_index(text, words, n);
    size_t used;

    if (found >= 0)
        return found;
    used = (size_t)snprintf(reason, size, "%s is '%.20s', want one of",
                            GIVEN[g], text);
    for (int i = 0; i < n && used < size; i++)
        used += (size_t)snprintf(reason + used, size - used, " %s",
                                 *words[i] ? words[i] : "(empty)");
    return -1;
}

static const char *set_number(struct msim_strategy *s, enum msim_given g,
                              const char *text, char *reason, size_t size)
{
    int64_t least = g == MSIM_GIVEN_zero ? 0 : 1, v;
    int64_t most = g == MSIM_GIVEN_zero ? 3 : 1000000000;

    if (!msim_decimal_int(text, msim_whole_length(text), &v) || v < least ||
        v > most) {
        snprintf(reason, size,
                 "%s is '%.20s', want a whole number from %lld to %lld",
                 GIVEN[g], text, (long long)least, (long long)most);
        return reason;
    }
    *member(s, g) = v;
    return NULL;
}

static enum msim_technique technique_of(enum msim_given g)
{
    return (enum msim_technique)((int)g - (int)MSIM_GIVEN_COUNT +
                                 (int)MSIM_TECHNIQUE_COUNT);
}

const char *msim_strategy_set(struct msim_strategy *s, enum msim_given g,
                              const char *text, uint64_t *given, char *reason,
                              size_t size)
{
    const char *const *words;
    int n, i;

    if (!*text)
        return NULL;
    words = words_of(g, &n);
    if (member(s, g)) {
        if (set_number(s, g, text, reason, size))
            return reason;
    } else if (words) {
        i = set_word(g, text, words, n, reason, size);
        if (i < 0)
            return reason;
        msim_strategy_put(s, g, i);
    } else if (msim_technique_set(&s->technique, technique_of(g), text, reason,
                                  size)) {
        return reason;
    }
    *given |= 1ULL << g;
    return NULL;
}

/* ---- members by their place ---------------------------------------------- */

int64_t msim_strategy_value(const struct msim_strategy *s, enum msim_given g)
{
    struct msim_strategy copy = *s;
    int n;

    if (member(&copy, g))
        return *member(&copy, g);
    return words_of(g, &n)
               ? word_at(&copy, g, NULL)
               : msim_technique_value(&s->technique, technique_of(g));
}

void msim_strategy_put(struct msim_strategy *s, enum msim_given g, int64_t v)
{
    int n;

    if (member(s, g))
        *member(s, g) = v;
    else if (words_of(g, &n))
        (void)word_at(s, g, &v);
    else
        msim_technique_put(&s->technique, technique_of(g), v);
}

void msim_strategy_value_text(enum msim_given g, int64_t v, char *text,
                              size_t size)
{
    struct msim_strategy none = {0};
    int n;

    if (member(&none, g))
        snprintf(text, size, "%lld", (long long)v);
    else if (words_of(g, &n))
        snprintf(text, size, "%s", words_of(g, &n)[v]);
    else
        msim_technique_value_text(technique_of(g), v, text, size);
}

void msim_strategy_text(const struct msim_strategy *s, enum msim_given g,
                        char *text, size_t size)
{
    msim_strategy_value_text(g, msim_strategy_value(s, g), text, size);
}

void msim_strategy_json(struct msim_json *j, const struct msim_strategy *s)
{
    char text[64];

    for (int g = 0; g < MSIM_GIVEN_ALWAYS; g++) {
        struct msim_strategy copy = *s;
        const int64_t *number = member(&copy, (enum msim_given)g);

        msim_strategy_text(s, (enum msim_given)g, text, sizeof(text));
        if (number)
            msim_json_integer(j, GIVEN[g], *number);
        else
            msim_json_text(j, GIVEN[g], text);
    }
}

/* ---- reading ------------------------------------------------------------- */

const char *msim_strategy_read_item(struct msim_strategy *s, uint64_t *given,
                                    enum msim_given g, const cJSON *item,
                                    char *reason, size_t size)
{
    char text[64];
    const char *want;

    if (cJSON_IsNumber(item))
        msim_number_text(text, item->valuedouble);
    else if (cJSON_IsBool(item))
        snprintf(text, sizeof(text), "%s", cJSON_IsTrue(item) ? "yes" : "no");
    else
        snprintf(text, sizeof(text), "%.60s",
                 cJSON_IsString(item) && *item->valuestring ? item->valuestring
                                                            : "?");
    if (!msim_strategy_set(s, g, text, given, reason, size))
        return NULL;
    want = strstr(reason, "want ");
    return want ? want + 5 : reason;
}

void msim_strategy_read_member(struct msim_strategy *s, uint64_t *given,
                               enum msim_given g, struct msim_fields *f,
                               const char *key)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(f->object, key);
    char reason[256];
    const char *want =
        msim_strategy_read_item(s, given, g, item, reason, sizeof(reason));

    if (want)
        msim_field_refuse(f, key, want);
}

enum msim_status msim_strategy_parse(struct msim_strategy *s, uint64_t *given,
                                     const cJSON *object, const char *file,
                                     struct msim_error *err)
{
    const char *known[MSIM_GIVEN_COUNT + 3] = {NULL};
    struct msim_fields f =
        msim_fields_of(cJSON_IsObject(object) ? object : NULL, file, err);

    if (!f.object)
        return msim_fail(err, MSIM_EFORMAT, file, MSIM_OFFSET_NONE,
                         "this is not a JSON object, want "
                         "{\"gpus\": 8, \"tp\": 2}");
    memcpy(known, GIVEN, sizeof(GIVEN));
    known[MSIM_GIVEN_COUNT] = "optimizer";
    known[MSIM_GIVEN_COUNT + 1] = "table_optimizer";
    msim_fields_only(&f, known);
    s->optimizer = (enum msim_optimizer)msim_field_word(
        &f, "optimizer", OPTIMIZERS, MSIM_OPTIMIZER_ADAMW);
    s->table_optimizer = (enum msim_table_optimizer)msim_field_word(
        &f, "table_optimizer", TABLE_OPTIMIZERS,
        MSIM_TABLE_OPTIMIZER_ROWWISE_ADAGRAD);
    for (int g = 0; g < MSIM_GIVEN_COUNT; g++)
        if (cJSON_HasObjectItem(f.object, GIVEN[g]))
            msim_strategy_read_member(s, given, (enum msim_given)g, &f,
                                      GIVEN[g]);
    return f.status;
}

enum msim_status msim_strategy_read(struct msim_strategy *s, uint64_t *given,
                                    const char *path, struct msim_error *err)
{
    enum msim_status status;
    cJSON *json;

    MSIM_TRY(msim_json_read(&json, path, err));
    status = msim_strategy_parse(s, given, json, path, err);
    cJSON_Delete(json);
    return status;
}
