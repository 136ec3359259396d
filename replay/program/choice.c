/*
 * replay/program/choice.c - which part of a traced run is to be run again.
 */
#include "replay/program/choice.h"

#include <fnmatch.h>
#include <string.h>

bool msim_choice_is_all(const struct msim_choice *c)
{
    return !c->subtree && !c->ops && !c->exclude && !c->from && !c->to &&
           c->kind == MSIM_CHOICE_ALL;
}

static const char *name_of(const struct msim_trace *t, uint32_t i)
{
    return msim_trace_text(t, t->ops[i].name);
}

static bool is_copy(const char *name)
{
    static const char *const copies[] = {"aten::copy_",      "aten::to",
                                         "aten::_to_copy",   "aten::clone",
                                         "aten::contiguous", NULL};

    for (const char *const *p = copies; *p; p++)
        if (!strcmp(name, *p))
            return true;
    return false;
}

static uint8_t kind_of(const struct msim_trace *t, uint32_t i)
{
    if (t->ops[i].comm != MSIM_NONE || !strncmp(name_of(t, i), "c10d::", 6))
        return MSIM_CHOICE_COMMUNICATION;
    return is_copy(name_of(t, i)) ? MSIM_CHOICE_COPIES : MSIM_CHOICE_COMPUTE;
}

static bool in_subtree(const struct msim_trace *t, uint32_t i, const char *name)
{
    for (; i != MSIM_NONE; i = t->ops[i].parent)
        if (fnmatch(name, name_of(t, i), 0) == 0)
            return true;
    return false;
}

bool msim_choice_has(const struct msim_choice *c, const struct msim_trace *t,
                     uint32_t i)
{
    uint32_t id = t->ops[i].et_id;

    if (id < c->from || (c->to && id > c->to))
        return false;
    if (c->kind != MSIM_CHOICE_ALL && c->kind != kind_of(t, i))
        return false;
    if (c->ops && fnmatch(c->ops, name_of(t, i), 0) != 0)
        return false;
    if (c->exclude && fnmatch(c->exclude, name_of(t, i), 0) == 0)
        return false;
    return !c->subtree || in_subtree(t, i, c->subtree);
}
