/*
 * The three lists of an operator's inputs, kept as text.
 *
 * A million operators have some hundreds of different lists, so a text is
 * given a number, and three numbers that came before have their block
 * already. Only texts that are new are parsed, into dims, types_in and
 * values, out of which kineto_args.c makes arguments.
 */
#include "core/decimal.h"
#include "core/kineto.h"

#include <string.h>

/* Beyond these a file is one of its kind; memory stays small all the same. */
#define MAX_TEXTS      (1u << 20)
#define MAX_TEXT_BYTES (16u << 20)

/* ---- parsing one text --------------------------------------------------- */

static int add_dim(struct msim_kineto *k, int64_t value)
{
    int64_t *d = msim_scratch_add(&k->dims, sizeof *d);

    if (!d)
        return MSIM_ENOMEM;
    *d = value;
    return 0;
}

static int dims_number(void *p, const char *s, size_t len)
{
    struct msim_kineto *k = p;
    int64_t n;

    return k->list_depth
               ? add_dim(k, msim_decimal_int(s, len, &n) && n > 0 ? n : 0)
               : 0;
}

static int dims_begin(void *p)
{
    struct msim_kineto *k = p;

    return k->list_depth++ ? add_dim(k, MSIM_KDIMS_OPEN) : 0;
}

static int dims_end(void *p)
{
    struct msim_kineto *k = p;

    return --k->list_depth ? add_dim(k, MSIM_KDIMS_CLOSE) : 0;
}

static int types_string(void *p, const char *s, size_t len)
{
    struct msim_kineto *k = p;
    uint8_t *type = msim_scratch_add(&k->types_in, sizeof *type);

    if (!type)
        return MSIM_ENOMEM;
    *type = msim_kineto_type(k, s, len);
    return 0;
}

static int values_string(void *p, const char *s, size_t len)
{
    struct msim_kineto *k = p;
    struct msim_piece *piece = msim_scratch_add(&k->values, sizeof *piece);

    if (!piece)
        return MSIM_ENOMEM;
    return msim_scratch_text(&k->text, s, len, piece);
}

/* Types and values are flat; what is deeper is not looked at. */
static int flat_begin(void *p)
{
    struct msim_kineto *k = p;

    if (k->list_depth)
        return MSIM_SAX_SKIP;
    k->list_depth = 1;
    return 0;
}

static int skip_map(void *p)
{
    (void)p;
    return MSIM_SAX_SKIP;
}

static const struct msim_sax_handler handlers[MSIM_KLISTS] = {
    [MSIM_KLIST_DIMS] = {.number = dims_number,
                         .map_begin = skip_map,
                         .array_begin = dims_begin,
                         .array_end = dims_end},
    [MSIM_KLIST_TYPES] = {.string = types_string,
                          .map_begin = skip_map,
                          .array_begin = flat_begin},
    [MSIM_KLIST_VALUES] = {.string = values_string,
                           .map_begin = skip_map,
                           .array_begin = flat_begin},
};

static enum msim_status parse_list(struct msim_reader *r, uint32_t which,
                                   const char *text, size_t len)
{
    struct msim_kineto *k = r->kineto;

    if (!k->list_sax)
        MSIM_TRY(msim_sax_new(&k->list_sax, &handlers[which], k));
    msim_sax_reset(k->list_sax);
    msim_sax_use(k->list_sax, &handlers[which]);
    k->list_depth = 0;
    return msim_sax_feed(k->list_sax, text, len);
}

/* ---- texts and their numbers -------------------------------------------- */

int msim_kineto_list(struct msim_reader *r, uint32_t which, const char *text,
                     size_t len, uint32_t *tag)
{
    struct msim_kineto *k = r->kineto;
    uint32_t before = msim_strtab_count(k->list_texts), id;

    k->ev.have |= MSIM_KHAVE_ARGS;
    if (tag && *tag) {
        k->list_id[which] = *tag;
        return 0;
    }
    if (before >= MAX_TEXTS || k->list_bytes >= MAX_TEXT_BYTES)
        return msim_scratch_text(&k->list_text, text, len, &k->list_at[which]);
    MSIM_TRY(msim_strtab_add(k->list_texts, text, len, &id));
    if (id == before)
        k->list_bytes += len;
    k->list_id[which] = id + 1;
    if (tag)
        *tag = id + 1;
    return 0;
}

static enum msim_status parse_lists(struct msim_reader *r)
{
    struct msim_kineto *k = r->kineto;
    uint32_t i;

    k->dims.n = k->types_in.n = k->values.n = k->text.n = 0;
    for (i = 0; i < MSIM_KLISTS; i++) {
        const char *text = NULL;
        size_t len = k->list_at[i].len;

        if (k->list_id[i]) {
            text = msim_strtab_text(k->list_texts, k->list_id[i] - 1);
            len = strlen(text);
        } else if (len) {
            text = (const char *)k->list_text.data + k->list_at[i].at;
        }
        if (text)
            MSIM_TRY(parse_list(r, i, text, len));
    }
    return MSIM_OK;
}

enum msim_status msim_kineto_args(struct msim_reader *r, uint32_t *block)
{
    struct msim_kineto *k = r->kineto;
    const uint32_t *id = k->list_id;
    uint64_t key = id[0] | (uint64_t)id[1] << 21 | (uint64_t)id[2] << 42;
    uint32_t *slot;

    if (k->list_text.n == 0) {
        *block = msim_idmap_get(&k->list_args, key);
        if (*block != MSIM_NONE)
            return MSIM_OK;
    }
    MSIM_TRY(parse_lists(r));
    MSIM_TRY(msim_kineto_build_block(r, block));
    if (k->list_text.n)
        return MSIM_OK;
    return msim_idmap_put(&k->list_args, key, *block, &slot);
}
