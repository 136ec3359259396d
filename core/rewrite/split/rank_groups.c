/*
 * core/rewrite/split/rank_groups.c - ranks and groups of a job that is spread.
 */
#include "core/rewrite/split/split.h"

#include "core/base/containers.h"
#include "core/trace/trace_columns.h"

#include <stdio.h>
#include <string.h>

static int64_t rank_of(const struct msim_weave *w,
                       const struct msim_rank_layout *l, uint32_t stage)
{
    int64_t rank = w->t->rank < 0 ? 0 : w->t->rank;

    return rank + (int64_t)stage * l->recorded * l->dp;
}

static int32_t moved_by(const struct msim_rank_layout *l)
{
    return (int32_t)(l->stage * l->recorded * l->dp);
}

/* ---- groups --------------------------------------------------------------
 */

/* What lists no ranks is of its own on each stage: of all recorded ones, or of
 * another name. */
static enum msim_status name_group(struct msim_weave *w,
                                   const struct msim_rank_layout *l,
                                   struct msim_group *g)
{
    struct msim_trace *o = w->d.out;
    char name[96];

    if (g->size == l->recorded && g->size <= MSIM_DRAFT_LISTED) {
        g->first = o->n_group_ranks;
        g->count = g->size;
        for (uint32_t i = 0; i < g->size; i++) {
            MSIM_TRY(msim_grow((void **)&o->group_ranks, &o->cap_group_ranks,
                               o->n_group_ranks, sizeof(*o->group_ranks)));
            o->group_ranks[o->n_group_ranks++] = (int32_t)i + moved_by(l);
        }
        return MSIM_OK;
    }
    snprintf(name, sizeof(name), "%.64s of stage %u",
             msim_trace_text(w->t, g->name), l->stage);
    return msim_strtab_add(w->d.strings, name, strlen(name), &g->name);
}

enum msim_status msim_rank_groups_begin(struct msim_weave *w,
                                        const struct msim_rank_layout *l)
{
    struct msim_trace *o = w->d.out;
    uint32_t listed = o->n_group_ranks, n = o->n_groups, data;
    char name[64];

    for (uint32_t i = 0; i < listed; i++)
        o->group_ranks[i] += moved_by(l);
    for (uint32_t i = 0; i < n; i++)
        if (!o->groups[i].count)
            MSIM_TRY(name_group(w, l, &o->groups[i]));
    o->rank = rank_of(w, l, l->stage);
    o->world_size = l->recorded * l->dp * l->stages;
    if (l->dp == 1)
        return MSIM_OK;
    snprintf(name, sizeof(name), MSIM_WEAVE_DATA_GROUP " %lld",
             (long long)o->rank);
    return msim_draft_add_group(&w->d, name, l->dp, o->rank, l->recorded,
                                &data);
}

enum msim_status msim_rank_groups_end(struct msim_weave *w,
                                      const struct msim_rank_layout *l)
{
    struct msim_trace *o = w->d.out;
    uint32_t all = MSIM_NONE;
    char name[64];

    for (uint32_t i = 0; i < o->n_comms; i++) {
        struct msim_comm *c = &o->comms[i];

        if (c->peer >= 0 && !c->by_place)
            c->peer += moved_by(l);
        if (c->group != MSIM_NONE || c->collective == MSIM_COLL_WAIT ||
            msim_is_message(c->collective))
            continue;
        if (all == MSIM_NONE) {
            snprintf(name, sizeof(name), "recorded ranks of stage %u",
                     l->stage);
            MSIM_TRY(msim_draft_add_group(&w->d, name, l->recorded, moved_by(l),
                                          1, &all));
        }
        c->group = all;
    }
    return MSIM_OK;
}

enum msim_status msim_rank_groups_pair(struct msim_weave *w,
                                       const struct msim_rank_layout *l,
                                       const char *kind, uint32_t stage,
                                       uint32_t *group, int32_t *place)
{
    int64_t own = w->d.out->rank, other = rank_of(w, l, stage);
    int64_t first = own < other ? own : other;
    char name[64];

    *place = own == first;
    snprintf(name, sizeof(name), "%s %lld", kind, (long long)first);
    return msim_draft_add_group(&w->d, name, 2, first,
                                own < other ? other - own : own - other, group);
}
