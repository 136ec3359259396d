/*
 * core/work/rules/opmap_rules.c - rules and flags by their words.
 */
#include "core/work/rules/opmap_rules.h"

#include "core/base/texts.h"

#include <string.h>

#define X(name, word) word,
static const char *const ATTENTION[] = {MSIM_ATTENTION_MAP(X)};
static const char *const CONV[] = {MSIM_CONV_MAP(X)};
static const char *const NORM[] = {MSIM_NORM_MAP(X)};
static const char *const RESAMPLE[] = {MSIM_RESAMPLE_MAP(X)};
#undef X

#define WORDS_NUMBER    NULL, 0
#define WORDS_OF(of)    of, sizeof(of) / sizeof(of[0])
#define WORDS_ATTENTION WORDS_OF(ATTENTION)
#define WORDS_CONV      WORDS_OF(CONV)
#define WORDS_NORM      WORDS_OF(NORM)
#define WORDS_RESAMPLE  WORDS_OF(RESAMPLE)

static const struct msim_named_rule RULES[] = {
#define X(word, group, args, columns)                                          \
    {#word, msim_rule_##word, MSIM_GROUP_##group, WORDS_##args, columns},
    MSIM_RULE_MAP(X)
#undef X
};
#define N_RULES (sizeof(RULES) / sizeof(RULES[0]))

const struct msim_named_rule *msim_rule_named(const char *word,
                                              const char **near)
{
    const char *words[N_RULES];

    for (size_t i = 0; i < N_RULES; i++) {
        words[i] = RULES[i].word;
        if (strcmp(words[i], word) == 0)
            return &RULES[i];
    }
    if (near)
        *near = msim_nearest_word(word, words, N_RULES);
    return NULL;
}

enum msim_opmap_flag msim_flag_named(const char *word, size_t len)
{
    static const struct {
        const char *word;
        enum msim_opmap_flag flag;
    } FLAGS[] = {
#define X(name, word, bit) {word, MSIM_OPMAP_##name},
        MSIM_FLAG_MAP(X)
#undef X
    };

    for (size_t i = 0; i < sizeof(FLAGS) / sizeof(FLAGS[0]); i++)
        if (strlen(FLAGS[i].word) == len &&
            memcmp(FLAGS[i].word, word, len) == 0)
            return FLAGS[i].flag;
    return (enum msim_opmap_flag)0;
}
