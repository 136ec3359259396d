/*
 * cli/platform_hint.c - what the name of an unknown platform looks like.
 */
#include "cli/platform_hint.h"

#include "cli/message.h"
#include "core/base/nearest.h"
#include "models/platform/platform_find.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#define NAME 64 /* bytes of a platform's name that are compared */

/* As the name of a file is found: in upper or lower case. */
static bool is_known(const char *name, const char *const *names, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (strcasecmp(names[i], name) == 0)
            return true;
    return false;
}

static void hint(const char *name, const char *const *names, uint32_t n)
{
    const char *near =
        is_known(name, names, n) ? NULL : msim_nearest_word(name, names, n);

    if (near)
        msim_message("unknown platform '%s', did you mean '%s'?", name, near);
}

void msim_platform_hint(const char *data, const char *list)
{
    struct msim_arena arena;
    const char *const *names;
    char name[NAME];
    uint32_t n;

    msim_arena_init(&arena);
    if (msim_platform_list(&arena, data, &names, &n, NULL) != MSIM_OK)
        n = 0;
    for (const char *at = list; n && at; at = strchr(at, ',')) {
        at += *at == ',';
        snprintf(name, sizeof(name), "%.*s", (int)strcspn(at, ","), at);
        hint(name, names, n);
    }
    msim_arena_release(&arena);
}
