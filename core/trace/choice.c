/*
 * core/trace/choice.c - which part of a traced run is asked for.
 */
#include "core/trace/trace_steps.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

const char *const MSIM_CHOICE_KINDS[] = {"all", "compute", "communication",
                                         "copies", NULL};

bool msim_choice_is_all(const struct msim_choice *c)
{
    return !c->subtree && !c->ops && !c->exclude && !c->from && !c->to &&
           c->kind == MSIM_CHOICE_ALL;
}

enum msim_status msim_choice_parse_range(struct msim_choice *c,
                                         const char *value,
                                         struct msim_error *err)
{
    char *end;
    unsigned long long from = strtoull(value, &end, 10), to = 0;

    if (end == value || strncmp(end, "..", 2) != 0 || end[2] < '0' ||
        end[2] > '9')
        end = NULL;
    else
        to = strtoull(end + 2, &end, 10);
    if (!end || *end || from > to || to == 0 || to >= MSIM_NONE)
        return msim_fail(err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                         "option '--range' is '%s', want two ids of ET nodes, "
                         "the smaller one first, such as 120..480",
                         value);
    c->from = (uint32_t)from;
    c->to = (uint32_t)to;
    return MSIM_OK;
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

static bool in_range(const struct msim_choice *c, uint32_t id)
{
    return id >= c->from && (!c->to || id <= c->to);
}

bool msim_choice_has(const struct msim_choice *c, const struct msim_trace *t,
                     uint32_t i)
{
    if (!in_range(c, t->ops[i].et_id))
        return false;
    if (c->kind != MSIM_CHOICE_ALL && c->kind != kind_of(t, i))
        return false;
    if (c->ops && fnmatch(c->ops, name_of(t, i), 0) != 0)
        return false;
    if (c->exclude && fnmatch(c->exclude, name_of(t, i), 0) == 0)
        return false;
    return !c->subtree || in_subtree(t, i, c->subtree);
}

/* ---- with all that is nested ---------------------------------------------
 */

/* Marks that follow from a name alone. */
static uint8_t marks_of_name(const struct msim_choice *c, const char *name)
{
    uint8_t marks = 0;

    if (c->subtree && fnmatch(c->subtree, name, 0) == 0)
        marks |= MSIM_MARK_SUBTREE;
    if (c->ops && fnmatch(c->ops, name, 0) == 0)
        marks |= MSIM_MARK_OPS;
    if (c->exclude && fnmatch(c->exclude, name, 0) == 0)
        marks |= MSIM_MARK_EXCLUDE;
    return marks;
}

static uint8_t mark_of_kind(const struct msim_trace *t, uint32_t i)
{
    static const uint8_t MARK[] = {
        [MSIM_CHOICE_COMMUNICATION] = MSIM_MARK_COMMUNICATION,
        [MSIM_CHOICE_COPIES] = MSIM_MARK_COPIES,
    };

    return MARK[kind_of(t, i)];
}

/* A label encloses operators, and is none. */
static uint8_t own_marks(const struct msim_choice *c,
                         const struct msim_trace *t, uint32_t i, uint8_t named)
{
    const struct msim_op *op = &t->ops[i];

    if (op->kind != MSIM_OP_OPERATOR)
        return named & (uint8_t)~MSIM_MARK_OPS;
    if (op->et_id && in_range(c, op->et_id))
        named |= MSIM_MARK_RANGE;
    return named | mark_of_kind(t, i);
}

/* Parents come first. A name is matched once. */
static void mark(uint8_t *marks, uint8_t *of_name, const struct msim_choice *c,
                 const struct msim_trace *t)
{
    static const uint8_t ASKED = 128;

    for (uint32_t i = 0; i < t->n_ops; i++) {
        const struct msim_op *op = &t->ops[i];
        uint8_t *named = &of_name[op->name];

        if (!*named)
            *named = ASKED | marks_of_name(c, name_of(t, i));
        marks[i] = own_marks(c, t, i, *named & (uint8_t)~ASKED);
        if (op->parent != MSIM_NONE)
            marks[i] |= marks[op->parent];
    }
}

enum msim_status msim_choice_marks(uint8_t **marks, const struct msim_choice *c,
                                   const struct msim_trace *t)
{
    uint8_t *of_name = calloc((size_t)msim_strtab_count(t->strings) + 1, 1);

    *marks = malloc((size_t)t->n_ops + 1);
    if (!of_name || !*marks) {
        free(of_name);
        free(*marks);
        *marks = NULL;
        return MSIM_ENOMEM;
    }
    mark(*marks, of_name, c, t);
    free(of_name);
    return MSIM_OK;
}

enum msim_choice_kind msim_choice_kind_of(uint8_t marks)
{
    if (marks & MSIM_MARK_COMMUNICATION)
        return MSIM_CHOICE_COMMUNICATION;
    return marks & MSIM_MARK_COPIES ? MSIM_CHOICE_COPIES : MSIM_CHOICE_COMPUTE;
}

bool msim_choice_takes(const struct msim_choice *c, uint8_t marks,
                       enum msim_choice_kind kind)
{
    uint8_t want = (uint8_t)((c->subtree ? MSIM_MARK_SUBTREE : 0) |
                             (c->ops ? MSIM_MARK_OPS : 0) |
                             (c->from || c->to ? MSIM_MARK_RANGE : 0));

    if (c->kind != MSIM_CHOICE_ALL && c->kind != kind)
        return false;
    return (marks & want) == want && !(marks & MSIM_MARK_EXCLUDE);
}
