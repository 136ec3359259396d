/*
 * core/sizes/tokens.c - which sizes count the tokens of all samples in a row.
 */
#include "core/sizes/sizes_internal.h"

/* Are classes `a` and `b` samples and the tokens of each? */
static bool are_tokens(const struct msim_sizes *s, uint32_t a, uint32_t b)
{
    return s->classes[a].role == MSIM_SIZE_BATCH &&
           s->classes[b].role == MSIM_SIZE_SEQUENCE;
}

void msim_size_name_tokens(struct msim_sizes *s)
{
    for (uint32_t i = 0; i < s->n_ties; i++) {
        const struct msim_size_tie *tie = &s->ties[i];
        const uint32_t *terms = s->terms + tie->first;
        bool left = tie->n_left == 2 && tie->n_right == 1;
        const uint32_t *two = terms + (left ? 0 : 1);
        struct msim_size_class *one;

        if (tie->sum || (!left && (tie->n_left != 1 || tie->n_right != 2)))
            continue;
        one = &s->classes[terms[left ? 2 : 0]];
        if (one->role != MSIM_SIZE_NONE ||
            !(are_tokens(s, two[0], two[1]) || are_tokens(s, two[1], two[0])))
            continue;
        one->role = MSIM_SIZE_TOKENS;
        one->op = tie->op;
    }
}
