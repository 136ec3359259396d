/*
 * core/read/et/read_et.c - the nodes of an execution trace, schemas 1.0.1 to
 * 1.1.1. The keys decide what a node has, never the version: 1.0.1 is flat
 * (inputs, input_shapes, ...), later ones are nested (inputs.values,
 * inputs.shapes, ...) with attributes in a list.
 *
 * Types come after the values that they explain, so a node's lists are kept as
 * tokens until it ends. Nodes are written when an operator returns: children
 * come first, and the tree is built at the end (et_tree.c).
 */
#include "core/read/et/read_et.h"

#include "core/base/containers.h"
#include "core/base/texts.h"
#include "core/trace/trace_columns.h"

#include <stdlib.h>
#include <string.h>

enum key {
    E_OTHER,
    E_ID,
    E_NAME,
    E_PARENT,
    E_RF_ID,
    E_SEQ,
    E_SCOPE,
    E_TID,
    E_FW_TID,
    E_FW_PARENT,
    E_INPUTS,
    E_INPUT_SHAPES,
    E_INPUT_TYPES,
    E_OUTPUTS,
    E_OUTPUT_SHAPES,
    E_OUTPUT_TYPES,
    E_VALUES,
    E_SHAPES,
    E_TYPES,
    E_ATTRS,
    E_VALUE,
    E_STRIDES,
    E_SCHEMA,
    E_RANGES,
};

/* Words of details come first: without details they are words like any other,
 * which are skipped. */
static const struct msim_keyword words[] = {
    {"op_schema", E_SCHEMA},
    {"tensor_range", E_RANGES},
#define DETAIL_WORDS 2
    {"id", E_ID},
    {"name", E_NAME},
    {"parent", E_PARENT},
    {"ctrl_deps", E_PARENT},
    {"rf_id", E_RF_ID},
    {"seq_id", E_SEQ},
    {"scope", E_SCOPE},
    {"tid", E_TID},
    {"fw_tid", E_FW_TID},
    {"fw_parent", E_FW_PARENT},
    {"inputs", E_INPUTS},
    {"input_shapes", E_INPUT_SHAPES},
    {"input_types", E_INPUT_TYPES},
    {"outputs", E_OUTPUTS},
    {"output_shapes", E_OUTPUT_SHAPES},
    {"output_types", E_OUTPUT_TYPES},
    {"values", E_VALUES},
    {"shapes", E_SHAPES},
    {"types", E_TYPES},
    {"strides", E_STRIDES},
    {"attrs", E_ATTRS},
    {"value", E_VALUE},
    {NULL, 0},
};

/* ---- one node ----------------------------------------------------------- */

static void values_reset(struct msim_et_values *v)
{
    v->values.n = v->shapes.n = v->strides.n = v->types.n = 0;
}

void msim_et_begin(struct msim_et *e)
{
    e->node = (struct msim_et_node){.seq = -1};
    values_reset(&e->in);
    values_reset(&e->out);
    e->text.n = 0;
    e->inputs.n = 0;
    e->alike.texts.spots.n = 0;
    e->alike.odd = false;
    e->list = NULL;
    e->nested = 0;
    e->key = e->sub_key = E_OTHER;
    e->depth = 1;
}

/* The list that key `k` of `v` fills. */
static void choose_list(struct msim_et *e, struct msim_et_values *v, uint8_t k)
{
    e->list_is_types = k == E_TYPES;
    e->list = k == E_VALUES    ? &v->values
              : k == E_SHAPES  ? &v->shapes
              : k == E_TYPES   ? &v->types
              : k == E_STRIDES ? &v->strides
                               : NULL;
    if (e->list)
        e->list->n = 0; /* of a key that comes twice, the last one counts */
}

static int et_key(void *p, const char *s, size_t len)
{
    struct msim_reader *r = p;
    struct msim_et *e = msim_et_of(r);
    uint8_t key = msim_keyset_find(&e->keys, s, len);

    if (e->depth == 1)
        e->key = key;
    else
        e->sub_key = key;
    return key ? 0 : MSIM_SAX_SKIP;
}

/* Where a text of the node at hand is, if it lies there as it is read. */
static uint32_t from(const struct msim_et *e, const char *s)
{
    return (uint32_t)((uintptr_t)s - (uintptr_t)e->alike.node);
}

static int add_token(struct msim_reader *r, uint32_t kind, const char *s,
                     size_t len)
{
    struct msim_et *e = msim_et_of(r);
    struct msim_et_token *tok;
    struct msim_text_piece piece = {0, 0}, *type;

    if (s)
        MSIM_TRY(msim_vec_text(&e->text, s, len, &piece));
    if (e->list_is_types) {
        if (kind != MSIM_ETOK_STRING)
            return 0;
        type = msim_vec_add(e->list, sizeof(*type));
        if (!type)
            return MSIM_ENOMEM;
        *type = piece;
        return 0;
    }
    tok = msim_vec_add(e->list, sizeof(*tok));
    if (!tok)
        return MSIM_ENOMEM;
    *tok = (struct msim_et_token){kind, from(e, s), piece};
    return 0;
}

/* A number that is another one in each node. */
static int note_number(struct msim_et *e, uint8_t key, uint32_t at, size_t len)
{
    switch (key) {
    case E_ID:
        return msim_et_alike_note(&e->alike, MSIM_ET_SPOT_ID, 0, at, len);
    case E_PARENT:
        return msim_et_alike_note(&e->alike, MSIM_ET_SPOT_PARENT, 0, at, len);
    case E_RF_ID:
        return msim_et_alike_note(&e->alike, MSIM_ET_SPOT_RF_ID, 0, at, len);
    case E_SEQ:
        return msim_et_alike_note(&e->alike, MSIM_ET_SPOT_SEQ, 0, at, len);
    case E_FW_PARENT:
        return msim_et_alike_note(&e->alike, MSIM_ET_SPOT_OTHER, 0, at, len);
    default:
        return 0;
    }
}

/* A whole number of the node itself or of an attribute. */
static void set_number(struct msim_et_node *n, uint8_t key, const char *s,
                       size_t len)
{
    int64_t v = 0;
    double big;

    if (!msim_decimal_int(s, len, &v)) {
        /* uint64 handles of some writers do not fit in int64. */
        if (!msim_decimal_real(s, len, &big) || !(big >= 0) || big >= 1.8e19)
            return;
        v = (int64_t)(uint64_t)big;
    }
    switch (key) {
    case E_ID:
        n->id = (uint64_t)v;
        n->has_id = true;
        break;
    case E_PARENT:
        n->parent = (uint64_t)v;
        n->has_parent = true;
        break;
    case E_RF_ID:
        n->rf_id = (uint64_t)v;
        break;
    case E_SEQ:
        n->seq = v;
        break;
    case E_SCOPE:
        n->scope = v;
        break;
    case E_TID:
        n->tid = v;
        break;
    case E_FW_TID:
        n->fw_tid = v;
        break;
    default:
        break;
    }
}

static int et_number(void *p, const char *s, size_t len)
{
    struct msim_reader *r = p;
    struct msim_et *e = msim_et_of(r);

    if (e->list)
        return add_token(r, MSIM_ETOK_NUMBER, s, len);
    if (e->depth == 1) {
        set_number(&e->node, e->key, s, len);
        return note_number(e, e->key, from(e, s), len);
    }
    if (e->depth == 3 && e->sub_key == E_VALUE) {
        e->attr_from = from(e, s);
        return msim_vec_text(&e->text, s, len, &e->attr_value);
    }
    return 0;
}

static int et_string(void *p, const char *s, size_t len)
{
    struct msim_reader *r = p;
    struct msim_et *e = msim_et_of(r);

    if (e->list)
        return add_token(r, MSIM_ETOK_STRING, s, len);
    if (e->depth == 1 && e->key == E_NAME) {
        e->node.has_name = true;
        return msim_read_string(r, s, len, &e->node.name);
    }
    if (e->depth == 1 && e->key == E_SCHEMA)
        return msim_read_string(r, s, len, &e->node.schema);
    if (e->depth == 3 && e->sub_key == E_NAME)
        return msim_vec_text(&e->text, s, len, &e->attr_name);
    if (e->depth == 3 && e->sub_key == E_VALUE) {
        e->attr_from = MSIM_NONE;
        return msim_vec_text(&e->text, s, len, &e->attr_value);
    }
    return 0;
}

static int et_boolean(void *p, bool value)
{
    struct msim_reader *r = p;

    return msim_et_of(r)->list ? add_token(r, MSIM_ETOK_BOOL, "1", value) : 0;
}

static int et_null(void *p)
{
    struct msim_reader *r = p;

    return msim_et_of(r)->list ? add_token(r, MSIM_ETOK_NULL, NULL, 0) : 0;
}

static int et_whole(void *p, const char *text, size_t len, size_t *taken)
{
    struct msim_reader *r = p;

    return msim_et_of(r)->depth ? 0 : msim_et_alike_take(r, text, len, taken);
}

static int et_map_begin(void *p)
{
    struct msim_reader *r = p;
    struct msim_et *e = msim_et_of(r);

    if (e->list)
        return MSIM_SAX_SKIP;
    if (e->depth == 0) {
        msim_et_begin(e);
        return 0;
    }
    if (e->depth == 1 && (e->key == E_INPUTS || e->key == E_OUTPUTS)) {
        e->depth = 2;
        e->sub_key = E_OTHER;
        return 0;
    }
    if (e->depth == 2 && e->key == E_ATTRS) {
        e->depth = 3;
        e->sub_key = E_OTHER;
        e->attr_name = e->attr_value = (struct msim_text_piece){0, 0};
        e->attr_from = MSIM_NONE;
        return 0;
    }
    return MSIM_SAX_SKIP;
}

/* An attribute is complete: {"name": ..., "type": ..., "value": ...}. */
static int attr_end(struct msim_reader *r)
{
    struct msim_et *e = msim_et_of(r);
    const char *text = e->text.data ? e->text.data : "";
    const char *name = text + e->attr_name.at, *value = text + e->attr_value.at;
    uint8_t key = msim_keyset_find(&e->keys, name, e->attr_name.len);

    if (key >= E_RF_ID && key <= E_FW_PARENT) {
        set_number(&e->node, key, value, e->attr_value.len);
        return e->attr_from == MSIM_NONE
                   ? 0
                   : note_number(e, key, e->attr_from, e->attr_value.len);
    }
    if (key == E_SCHEMA)
        return msim_read_string(r, value, e->attr_value.len, &e->node.schema);
    if (key == E_RANGES) {
        e->node.ranges = e->attr_value;
        return 0;
    }
    return msim_et_comm_attr(r, name, e->attr_name.len, value,
                             e->attr_value.len);
}

static int et_map_end(void *p)
{
    struct msim_reader *r = p;
    struct msim_et *e = msim_et_of(r);

    if (e->depth == 3) {
        e->depth = 2;
        return attr_end(r);
    }
    if (e->depth == 2) {
        e->depth = 1;
        e->key = E_OTHER;
        return 0;
    }
    e->depth = 0;
    return msim_et_node_end(r);
}

/* Which list starts here, if one does. */
static void list_begin(struct msim_et *e)
{
    if (e->depth == 2) {
        choose_list(e, e->key == E_INPUTS ? &e->in : &e->out, e->sub_key);
        return;
    }
    if (e->key >= E_INPUTS && e->key <= E_INPUT_TYPES)
        choose_list(e, &e->in, (uint8_t)(E_VALUES + (e->key - E_INPUTS)));
    else if (e->key >= E_OUTPUTS && e->key <= E_OUTPUT_TYPES)
        choose_list(e, &e->out, (uint8_t)(E_VALUES + (e->key - E_OUTPUTS)));
}

static int et_array_begin(void *p)
{
    struct msim_reader *r = p;
    struct msim_et *e = msim_et_of(r);

    if (e->list) {
        e->nested++;
        return add_token(r, MSIM_ETOK_OPEN, NULL, 0);
    }
    if (e->depth == 0 || e->depth > 2)
        return MSIM_SAX_SKIP;
    if (e->depth == 1 && e->key == E_ATTRS) {
        e->depth = 2;
        return 0;
    }
    list_begin(e);
    return e->list ? 0 : MSIM_SAX_SKIP;
}

static int et_array_end(void *p)
{
    struct msim_reader *r = p;
    struct msim_et *e = msim_et_of(r);

    if (e->list) {
        if (e->nested) {
            e->nested--;
            return add_token(r, MSIM_ETOK_CLOSE, NULL, 0);
        }
        e->list = NULL;
        return 0;
    }
    if (e->depth == 2 && e->key == E_ATTRS) {
        e->depth = 1;
        e->key = E_OTHER;
        return 0;
    }
    msim_read_records_end(r);
    return 0;
}

static const struct msim_sax_handler handler = {
    .null = et_null,
    .boolean = et_boolean,
    .number = et_number,
    .string = et_string,
    .key = et_key,
    .whole = et_whole,
    .map_begin = et_map_begin,
    .map_end = et_map_end,
    .array_begin = et_array_begin,
    .array_end = et_array_end,
};

void msim_et_init(struct msim_et *e, bool details)
{
    e->details = details;
    msim_et_alike_init(&e->alike);
    msim_keyset_init(&e->keys, details ? words : words + DETAIL_WORDS);
}

void msim_et_release(struct msim_et *e)
{
    struct msim_et_values *sides[2] = {&e->in, &e->out};

    for (int i = 0; i < 2; i++) {
        free(sides[i]->values.data);
        free(sides[i]->shapes.data);
        free(sides[i]->strides.data);
        free(sides[i]->types.data);
    }
    free(e->text.data);
    free(e->args.data);
    free(e->dims.data);
    free(e->inputs.data);
    free(e->links.data);
    msim_idmap_release(&e->threads);
    msim_et_alike_release(&e->alike);
}

static enum msim_status et_begin(struct msim_reader *r)
{
    struct msim_et *e = calloc(1, sizeof(*e));

    if (!e)
        return MSIM_ENOMEM;
    msim_et_init(e, r->details);
    r->state = e;
    return MSIM_OK;
}

static void et_forget(void *state)
{
    struct msim_et *e = state;

    e->depth = e->nested = 0;
    e->list = NULL;
    msim_et_alike_forget(&e->alike);
}

static void et_free(void *state)
{
    if (!state)
        return;
    msim_et_release(state);
    free(state);
}

enum msim_status msim_et_finish(struct msim_reader *r)
{
    struct msim_trace *t = r->trace;

    t->has_et = true;
    t->gpus = (uint32_t)__builtin_popcountll(msim_et_of(r)->gpus);
    MSIM_TRY(msim_et_tree(r));
    MSIM_TRY(msim_order_topmost(t));
    msim_order_thread_ranges(t);
    MSIM_TRY(msim_order_comms(t));
    return msim_order_steps(t);
}

const struct msim_read_format msim_et_format = {
    .id = MSIM_FORMAT_ET,
    .records = "nodes",
    .begin = et_begin,
    .handler = &handler,
    .forget = et_forget,
    .finish = msim_et_finish,
    .free = et_free,
};
