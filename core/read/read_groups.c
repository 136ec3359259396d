/*
 * core/read/read_groups.c - process groups as files define them: pg_config of
 * Kineto's distributedInfo, and the list inside the string of an ET's `##
 * process_group:init ##`.
 */
#include "core/base/containers.h"
#include "core/base/texts.h"
#include "core/read/reader.h"

#include <stdlib.h>
#include <string.h>

enum msim_status msim_group_get(struct msim_reader *r, uint32_t name,
                                uint32_t *group)
{
    struct msim_trace *t = r->trace;
    uint32_t *slot;

    MSIM_TRY(msim_grow((void **)&t->groups, &t->cap_groups, t->n_groups,
                       sizeof(*t->groups)));
    MSIM_TRY(msim_idmap_put(&r->group_names, name, t->n_groups, &slot));
    *group = *slot;
    if (*group == t->n_groups)
        t->groups[t->n_groups++] = (struct msim_group){.name = name};
    return MSIM_OK;
}

/* A new name for a group: a pointer of schema 1.0.2. */
static enum msim_status add_alias(struct msim_reader *r, uint32_t alias,
                                  uint32_t group)
{
    uint32_t *slot;

    return alias ? msim_idmap_put(&r->group_names, alias, group, &slot)
                 : MSIM_OK;
}

static enum msim_status add_ranks(struct msim_trace *t, struct msim_group *g,
                                  const int32_t *ranks, uint32_t n)
{
    uint32_t i;

    g->first = t->n_group_ranks;
    for (i = 0; i < n; i++) {
        MSIM_TRY(msim_grow((void **)&t->group_ranks, &t->cap_group_ranks,
                           t->n_group_ranks, sizeof(*t->group_ranks)));
        t->group_ranks[t->n_group_ranks++] = ranks ? ranks[i] : (int32_t)i;
    }
    g->count = n;
    return MSIM_OK;
}

static int add_rank(struct msim_group_spec *spec, int64_t rank)
{
    int32_t *slot = msim_vec_add(&spec->ranks, sizeof(*slot));

    if (!slot)
        return MSIM_ENOMEM;
    *slot = rank < 0 || rank > INT32_MAX ? -1 : (int32_t)rank;
    return 0;
}

/* ---- lists that were cut ------------------------------------------------ */

/* After how many ranks the distances between them repeat: one for ranks at one
 * distance. 0: they do not, as far as the list goes. */
static uint32_t period_of(const int32_t *ranks, uint32_t n)
{
    for (uint32_t p = 1; 2 * p < n; p++) {
        uint32_t i = p + 1;

        while (i < n &&
               ranks[i] - ranks[i - 1] == ranks[i - p] - ranks[i - p - 1])
            i++;
        if (i == n)
            return p;
    }
    return 0;
}

/* Do the first ranks lie as `stride` says? */
static bool has_stride(const struct msim_group_spec *spec)
{
    const int32_t *ranks = spec->ranks.data;

    for (uint32_t i = 0; i < spec->ranks.n; i++)
        if (ranks[i] != spec->start + (int64_t)i * spec->stride)
            return false;
    return spec->stride > 0;
}

/* Add what a cut list lacks of `size` ranks; none is left where they do not lie
 * regularly, or would not be ranks of the job. */
static void complete(struct msim_group_spec *spec, uint32_t size,
                     uint32_t world)
{
    uint32_t n = spec->ranks.n, p = period_of(spec->ranks.data, n);
    bool stride = has_stride(spec), irregular = spec->stride < 0 && p == 1;
    int64_t last = -1;

    for (uint32_t i = n; i < size && (stride || (p && !irregular)); i++) {
        const int32_t *ranks = spec->ranks.data;

        last = stride ? spec->start + (int64_t)i * spec->stride
                      : 2LL * ranks[i - p] - ranks[i - 2 * p];
        if (last < 0 || last > INT32_MAX || add_rank(spec, last))
            break;
    }
    if (spec->ranks.n != size || (world && last >= world))
        spec->ranks.n = 0;
}

/* Without a list, start and stride say all; the size is bounded, since a wild
 * one would take all memory. */
static bool is_partial(const struct msim_group_spec *spec, uint32_t size)
{
    return size <= 1u << 20 &&
           (spec->cut || (!spec->listed && spec->stride > 0));
}

/* Is the list that `spec` has, or the beginning of one, the group's? */
static bool may_be(const struct msim_trace *t, const struct msim_group *g,
                   const struct msim_group_spec *spec)
{
    uint32_t n = spec->ranks.n;

    if (!n || !g->count)
        return true;
    return (n == g->count || (spec->cut && n < g->count)) &&
           !memcmp(spec->ranks.data, &t->group_ranks[g->first],
                   n * sizeof(*t->group_ranks));
}

/* The group of that name and list: some programs give groups of different ranks
 * one name. */
static enum msim_status find_group(struct msim_reader *r,
                                   const struct msim_group_spec *spec,
                                   uint32_t *group)
{
    struct msim_trace *t = r->trace;

    MSIM_TRY(msim_group_get(r, spec->name, group));
    if (may_be(t, &t->groups[*group], spec))
        return MSIM_OK;
    for (*group = 0; *group < t->n_groups; ++*group)
        if (t->groups[*group].name == spec->name &&
            may_be(t, &t->groups[*group], spec))
            return MSIM_OK;
    MSIM_TRY(msim_grow((void **)&t->groups, &t->cap_groups, t->n_groups,
                       sizeof(*t->groups)));
    t->groups[t->n_groups++] = (struct msim_group){.name = spec->name};
    return MSIM_OK;
}

enum msim_status msim_group_define(struct msim_reader *r,
                                   struct msim_group_spec *spec,
                                   uint32_t *group)
{
    struct msim_trace *t = r->trace;
    struct msim_group *g;

    MSIM_TRY(find_group(r, spec, group));
    MSIM_TRY(add_alias(r, spec->alias, *group));
    g = &t->groups[*group];
    if (g->size == 0)
        g->size = spec->size || spec->cut ? spec->size : spec->ranks.n;
    if (g->count)
        return MSIM_OK;
    if (is_partial(spec, g->size)) {
        complete(spec, g->size, t->world_size);
        g->completed = spec->ranks.n != 0;
    }
    if (spec->ranks.n)
        return add_ranks(t, g, spec->ranks.data, spec->ranks.n);
    /* An empty list means all ranks, if it can. */
    if (spec->listed && spec->size >= t->world_size && spec->size &&
        spec->size <= 1u << 20)
        return add_ranks(t, g, NULL, spec->size);
    return MSIM_OK;
}

void msim_group_spec_reset(struct msim_group_spec *spec)
{
    spec->name = spec->alias = spec->size = 0;
    spec->start = spec->stride = 0;
    spec->listed = spec->cut = false;
    spec->ranks.n = 0;
}

int msim_group_parse_ranks(struct msim_group_spec *spec, const char *s,
                           size_t len)
{
    const char *dots = memmem(s, len, "..", 2), *end = dots ? dots : s + len;

    spec->ranks.n = 0;
    spec->cut = dots != NULL;
    spec->listed = !spec->cut;
    while (s < end) {
        const char *from = s;
        int64_t rank;

        while (s < end && *s >= '0' && *s <= '9')
            s++;
        if (s == from) {
            s++;
            continue;
        }
        if (msim_decimal_int(from, (size_t)(s - from), &rank) &&
            add_rank(spec, rank))
            return MSIM_ENOMEM;
    }
    return 0;
}

int msim_group_spec_number(struct msim_reader *r, struct msim_group_spec *spec,
                           uint8_t key, const char *s, size_t len)
{
    int64_t n;

    if (key == MSIM_GKEY_BACKEND_ID)
        return msim_read_string(r, s, len, &spec->alias);
    if (key == MSIM_GKEY_NAME)
        return msim_read_string(r, s, len, &spec->name);
    if (!msim_decimal_int(s, len, &n) || n < 0)
        return 0;
    if (key == MSIM_GKEY_SIZE)
        spec->size = n < UINT32_MAX ? (uint32_t)n : 0;
    else if (key == MSIM_GKEY_RANKS)
        return add_rank(spec, n);
    return 0;
}

int msim_group_spec_string(struct msim_reader *r, struct msim_group_spec *spec,
                           uint8_t key, const char *s, size_t len)
{
    if (key == MSIM_GKEY_NAME)
        return msim_read_string(r, s, len, &spec->name);
    if (key == MSIM_GKEY_RANKS)
        return msim_group_parse_ranks(spec, s, len);
    return 0;
}

/* ---- a list of groups inside a string ----------------------------------- */

struct list_parse {
    struct msim_reader *r;
    struct msim_keyset keys;
    struct msim_group_spec spec;
    uint8_t key;
    bool inside;
};

static int list_key(void *p, const char *s, size_t len)
{
    struct list_parse *l = p;

    l->key = msim_keyset_find(&l->keys, s, len);
    return l->key ? 0 : MSIM_SAX_SKIP;
}

static int list_number(void *p, const char *s, size_t len)
{
    struct list_parse *l = p;

    return l->inside ? msim_group_spec_number(l->r, &l->spec, l->key, s, len)
                     : 0;
}

static int list_string(void *p, const char *s, size_t len)
{
    struct list_parse *l = p;

    return l->inside ? msim_group_spec_string(l->r, &l->spec, l->key, s, len)
                     : 0;
}

static int list_map_begin(void *p)
{
    struct list_parse *l = p;

    if (l->inside)
        return MSIM_SAX_SKIP;
    l->inside = true;
    l->key = 0;
    msim_group_spec_reset(&l->spec);
    return 0;
}

static int list_map_end(void *p)
{
    struct list_parse *l = p;
    uint32_t group;

    l->inside = false;
    return msim_group_define(l->r, &l->spec, &group);
}

static int list_array_begin(void *p)
{
    struct list_parse *l = p;

    if (l->inside && l->key == MSIM_GKEY_RANKS)
        l->spec.listed = true;
    return 0;
}

enum msim_status msim_group_parse_list(struct msim_reader *r, const char *s,
                                       size_t len)
{
    static const struct msim_keyword words[] = {MSIM_GROUP_KEYS, {NULL, 0}};
    static const struct msim_sax_handler handler = {
        .number = list_number,
        .string = list_string,
        .key = list_key,
        .map_begin = list_map_begin,
        .map_end = list_map_end,
        .array_begin = list_array_begin,
    };
    struct list_parse l = {.r = r};
    struct msim_sax *sax;
    enum msim_status status;

    msim_keyset_init(&l.keys, words);
    MSIM_TRY(msim_sax_new(&sax, &handler, &l));
    status = msim_sax_feed(sax, s, len);
    msim_sax_free(sax);
    free(l.spec.ranks.data);
    /* The writer may cut the string: the groups before the cut count. */
    return status == MSIM_ENOMEM ? status : MSIM_OK;
}
