/*
 * replay/program/composite.c - operators of PyTorch that are made of others.
 */
#include "replay/program/program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int compare(const void *key, const void *entry)
{
    return strcmp(key, *(const char *const *)entry);
}

static bool listed(const char *name)
{
    return bsearch(name, msim_composite_ops, msim_n_composite_ops,
                   sizeof(*msim_composite_ops), compare);
}

bool msim_composite(const char *name, const char *overload)
{
    char text[160];

    if (strncmp(name, "aten::", 6) != 0)
        return false;
    if (listed(name + 6))
        return true;
    snprintf(text, sizeof(text), "%s.%s", name + 6, overload);
    return listed(text);
}
