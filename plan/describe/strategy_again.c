/*
 * plan/describe/strategy_again.c - what backward computes again.
 */
#include "plan/describe/strategy.h"

#include <stdio.h>

enum msim_again msim_again_of(const struct msim_strategy *s)
{
    static const enum msim_again OF[] = {
#define X(name, text, again) MSIM_AGAIN_##again,
        MSIM_RECOMPUTE_MAP(X)
#undef X
    };

    return OF[s->recompute];
}

bool msim_again_most(struct msim_strategy *s, char *text, size_t size)
{
    char word[32];

    if (msim_again_of(s) == MSIM_AGAIN_LAYERS)
        return false;
    s->recompute = MSIM_RECOMPUTE_FULL;
    msim_strategy_text(s, MSIM_GIVEN_recompute, word, sizeof(word));
    if (text)
        snprintf(text, size, "%s %s", msim_given_text(MSIM_GIVEN_recompute),
                 word);
    return true;
}

void msim_again_set_nothing(struct msim_strategy *s)
{
    s->recompute = MSIM_RECOMPUTE_NONE;
}

/* Megatron-LM's runs on several nodes recomputed whole layers (Narayanan et
 * al., "Efficient Large-Scale Language Model Training on GPU Clusters", 2021):
 * attention in parts keeps more than a GPU has. */
void msim_again_set_usual(struct msim_strategy *s)
{
    s->recompute =
        s->unfused && s->nodes > 1 ? MSIM_RECOMPUTE_FULL : MSIM_RECOMPUTE_NONE;
}
