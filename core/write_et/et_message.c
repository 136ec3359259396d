/*
 * core/write_et/et_message.c - messages and groups of a trace.
 */
#include "core/write_et/write_et_internal.h"

#include "core/trace/trace_columns.h"

#include <stdlib.h>
#include <string.h>

/* ---- one message ---------------------------------------------------------
 */

static bool has_peer(enum msim_collective c)
{
    return c == MSIM_COLL_BROADCAST || c == MSIM_COLL_REDUCE ||
           c == MSIM_COLL_GATHER || c == MSIM_COLL_SCATTER ||
           c == MSIM_COLL_SEND || c == MSIM_COLL_RECV;
}

/* The name among the operator's arguments; NULL: it says nothing of itself. */
static const char *recorded_name(const struct msim_trace *t,
                                 const struct msim_op *op)
{
    uint32_t n = msim_args_count(t, op->args);

    if (strcmp(msim_trace_text(t, op->name), "record_param_comms") != 0)
        return NULL;
    for (uint32_t i = 0; i < n; i++) {
        const struct msim_arg *a = msim_args_get(t, op->args, i);

        if (a->kind == MSIM_ARG_STR)
            return msim_trace_text(t, (uint32_t)a->v.i);
    }
    return NULL;
}

/* As it was recorded, where that says what it is. */
static const char *name_of(const struct msim_comm *c, const char *recorded)
{
    if (recorded && msim_name_collective(recorded, strlen(recorded)) ==
                        (enum msim_collective)c->collective)
        return recorded;
    return c->collective == MSIM_COLL_UNKNOWN
               ? ""
               : msim_collective_text((enum msim_collective)c->collective);
}

/* First rank and stride of a group; a stride of 0: its ranks have none. */
static void set_ranks(struct msim_et_message *m, const struct msim_trace *t,
                      const struct msim_group *g)
{
    const int32_t *ranks = t->group_ranks + g->first;

    m->group = msim_trace_text(t, g->name);
    m->size = g->size ? g->size : g->count;
    m->stride = 1;
    if (!g->count)
        return;
    m->start = ranks[0];
    m->stride = g->count > 1 ? (int64_t)ranks[1] - ranks[0] : 1;
    for (uint32_t i = 1; i < g->count; i++)
        if ((int64_t)ranks[i] - ranks[i - 1] != m->stride)
            m->stride = 0;
    if (m->stride < 0)
        m->stride = 0;
}

/* The place of rank `rank` of the job in a group. */
static int64_t place_in(const struct msim_trace *t, const struct msim_group *g,
                        int64_t rank)
{
    for (uint32_t i = 0; g && i < g->count; i++)
        if (t->group_ranks[g->first + i] == rank)
            return i;
    return rank > 0 && (!g || !g->count) ? rank : 0;
}

struct msim_et_said msim_et_said_of(const struct msim_et_names *names,
                                    uint32_t op)
{
    const struct msim_trace *t = names->t;
    const struct msim_op *o = &t->ops[op];
    const struct msim_comm *c = &t->comms[o->comm];
    const struct msim_group *g =
        c->group == MSIM_NONE ? NULL : &t->groups[c->group];
    const char *recorded = recorded_name(t, o);
    struct msim_et_said s = {
        .block = {names, o->args, o->ids},
        .message = {.in_elems = c->in_elems, .out_elems = c->out_elems},
        .sequence = c->sequence,
        .alone = !recorded};

    s.message.name = name_of(c, recorded);
    s.message.dtype = msim_et_dtype((enum msim_dtype)c->dtype);
    if (g)
        set_ranks(&s.message, t, g);
    else if (t->world_size > 1) {
        s.message.group = MSIM_ET_ALL_RANKS;
        s.message.size = t->world_size;
        s.message.stride = 1;
    }
    s.place = !has_peer((enum msim_collective)c->collective)
                  ? place_in(t, g, t->rank)
              : c->by_place ? c->peer
                            : place_in(t, g, c->peer);
    return s;
}

/* ---- its arguments -------------------------------------------------------
 */

static void put_values(struct msim_json *j, const struct msim_et_said *s)
{
    const char *group = s->message.group;

    msim_json_integer(j, NULL, s->sequence);
    if (group) {
        msim_json_open(j, NULL, '[', false);
        msim_json_text(j, NULL, group);
        msim_json_text(j, NULL, group);
        msim_json_close(j);
    } else {
        msim_json_integer(j, NULL, 0);
    }
    msim_json_integer(j, NULL, s->place);
    msim_json_text(j, NULL, s->message.name);
    for (int i = 0; i < 2; i++) { /* splits */
        msim_json_open(j, NULL, '[', false);
        msim_json_close(j);
    }
    msim_json_integer(j, NULL, s->message.start);
    msim_json_integer(j, NULL, s->message.stride);
    msim_json_integer(j, NULL, s->message.size);
}

#define SAID 9 /* arguments */

static void put_empty(struct msim_json *j, const struct msim_et_said *s)
{
    for (int i = 0; i < SAID; i++) {
        msim_json_open(j, NULL, '[', false);
        for (int k = 0; i == 1 && s->message.group && k < 2; k++) {
            msim_json_open(j, NULL, '[', false);
            msim_json_close(j);
        }
        msim_json_close(j);
    }
}

static void put_types(struct msim_json *j, const struct msim_et_said *s)
{
    static const char *const TYPES[SAID] = {"Int",
                                            "Tuple[String,String]",
                                            "Int",
                                            "String",
                                            "GenericList[]",
                                            "GenericList[]",
                                            "Int",
                                            "Int",
                                            "Int"};

    for (int i = 0; i < SAID; i++)
        msim_json_text(j, NULL, i == 1 && !s->message.group ? "Int" : TYPES[i]);
}

void msim_et_said_put(struct msim_json *j, const void *of,
                      enum msim_et_column c)
{
    const struct msim_et_said *s = of;

    msim_et_block_put(j, &s->block, c);
    if (!s->alone)
        return;
    if (c == MSIM_ET_VALUES)
        put_values(j, s);
    else if (c == MSIM_ET_TYPES)
        put_types(j, s);
    else
        put_empty(j, s);
}

/* ---- groups --------------------------------------------------------------
 */

static bool lists_groups(const struct msim_trace *t, uint32_t op)
{
    static const char NAME[] = "## process_group:init";

    return !strncmp(msim_trace_text(t, t->ops[op].name), NAME,
                    sizeof(NAME) - 1);
}

/* Does a node of the trace list the group? */
static bool is_listed(const struct msim_trace *t, const char *name)
{
    for (uint32_t i = 0; i < t->n_ops; i++) {
        const struct msim_arg *a =
            lists_groups(t, i) ? msim_args_get(t, t->ops[i].args, 0) : NULL;
        const char *all = a && a->kind == MSIM_ARG_STR
                              ? msim_trace_text(t, (uint32_t)a->v.i)
                              : "";
        size_t n = strlen(name);

        for (const char *at = all; *at && (at = strstr(at, name)) != NULL;
             at += n ? n : 1)
            if (at > all && at[-1] == '"' && at[n] == '"')
                return true;
    }
    return false;
}

static bool names_none(const struct msim_trace *t)
{
    for (uint32_t i = 0; i < t->n_comms; i++)
        if (t->comms[i].group == MSIM_NONE)
            return true;
    return false;
}

static void put_groups(struct msim_json *j, const struct msim_trace *t,
                       uint32_t *n)
{
    bool spans = t->world_size <= 1;

    for (uint32_t i = 0; i < t->n_groups; i++) {
        const struct msim_group *g = &t->groups[i];
        struct msim_et_group as = {.name = msim_trace_text(t, g->name),
                                   .size = g->count,
                                   .ranks = t->group_ranks + g->first};

        spans |= g->size == t->world_size;
        if (!g->count || g->count > MSIM_ET_LISTED || g->completed ||
            is_listed(t, as.name))
            continue;
        msim_et_file_group(j, &as);
        ++*n;
    }
    if ((spans && !(t->world_size > 1 && names_none(t))) ||
        is_listed(t, MSIM_ET_ALL_RANKS))
        return;
    msim_et_file_group(j, &(struct msim_et_group){.name = MSIM_ET_ALL_RANKS,
                                                  .size = t->world_size,
                                                  .whole = true});
    ++*n;
}

enum msim_status msim_et_groups_text(char **text, const struct msim_trace *t)
{
    size_t size;
    struct msim_json j;
    uint32_t n = 0;
    enum msim_status status;
    FILE *out;

    *text = NULL;
    out = open_memstream(text, &size);
    if (!out)
        return MSIM_ENOMEM;
    msim_json_begin(&j, msim_sink_file, out);
    msim_json_open(&j, NULL, '[', false);
    put_groups(&j, t, &n);
    status = msim_json_end(&j);
    if (fclose(out) != 0)
        status = MSIM_ENOMEM;
    if (status == MSIM_OK && n) {
        (*text)[strcspn(*text, "\n")] = '\0';
        return MSIM_OK;
    }
    free(*text);
    *text = NULL;
    return status;
}
