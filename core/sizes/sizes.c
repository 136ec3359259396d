/*
 * core/sizes/sizes.c - what is known of sizes.
 */
#include "core/sizes/sizes.h"

#include <stdlib.h>

const char *msim_size_role_text(enum msim_size_role r)
{
    static const char *const TEXTS[] = {
#define X(name, text) text,
        MSIM_SIZE_ROLE_MAP(X)
#undef X
    };

    return TEXTS[r];
}

void msim_sizes_release(struct msim_sizes *s)
{
    msim_lives_release(&s->lives);
    free(s->of_id);
    free(s->places);
    free(s->classes);
    free(s->ties);
    free(s->terms);
    *s = (struct msim_sizes){0};
}
