/*
 * core/read/chakra/chakra_values.c - attributes by value, and the metadata of
 * a file.
 */
#include "core/read/chakra/read_chakra_internal.h"

#include "core/base/containers.h"
#include "core/read/et/read_et.h"

#include <chakra.pb-c.h>
#include <string.h>

typedef ChakraProtoMsg__AttributeProto attribute;

/* ---- values of attributes ----------------------------------------------- */

/* A whole number of any type; false for all else. */
bool msim_chakra_value_number(const attribute *a, int64_t *value)
{
    switch (a->value_case) {
#define X(TYPE, field)                                                         \
    case CHAKRA_PROTO_MSG__ATTRIBUTE_PROTO__VALUE_##TYPE##_VAL:                \
        *value = (int64_t)a->field;                                            \
        return true;
        X(INT32, int32_val)
        X(INT64, int64_val)
        X(UINT32, uint32_val)
        X(UINT64, uint64_val)
        X(SINT32, sint32_val)
        X(SINT64, sint64_val)
        X(FIXED32, fixed32_val)
        X(FIXED64, fixed64_val)
        X(SFIXED32, sfixed32_val)
        X(SFIXED64, sfixed64_val)
        X(BOOL, bool_val)
#undef X
    default:
        return false;
    }
}

const char *msim_chakra_value_text(const attribute *a)
{
    return a->value_case ==
                       CHAKRA_PROTO_MSG__ATTRIBUTE_PROTO__VALUE_STRING_VAL &&
                   a->string_val
               ? a->string_val
               : NULL;
}

const ChakraProtoMsg__Int64List *msim_chakra_value_list(const attribute *a)
{
    return a->value_case == CHAKRA_PROTO_MSG__ATTRIBUTE_PROTO__VALUE_INT64_LIST
               ? a->int64_list
               : NULL;
}

/* ---- the metadata ------------------------------------------------------- */

static enum msim_status keep_text(struct msim_reader *r, const char *text,
                                  uint32_t *id)
{
    return msim_strtab_add(r->strings, text, strlen(text), id);
}

/* Threads of a file of ours: process and number, one after the other. */
static enum msim_status take_threads(struct msim_reader *r, const attribute *a)
{
    const ChakraProtoMsg__Int64List *l = msim_chakra_value_list(a);
    struct msim_trace *t = r->trace;
    uint32_t *slot;

    for (size_t i = 0; l && i + 1 < l->n_values; i += 2) {
        MSIM_TRY(msim_grow((void **)&t->threads, &t->cap_threads, t->n_threads,
                           sizeof(*t->threads)));
        MSIM_TRY(msim_idmap_put(&msim_et_of(r)->threads,
                                (uint64_t)l->values[i + 1], t->n_threads,
                                &slot));
        t->threads[t->n_threads++] =
            (struct msim_thread){.pid = l->values[i], .tid = l->values[i + 1]};
    }
    return MSIM_OK;
}

/* Their names, in the same order; after the threads. */
static enum msim_status take_names(struct msim_reader *r, const attribute *a)
{
    struct msim_trace *t = r->trace;

    if (a->value_case != CHAKRA_PROTO_MSG__ATTRIBUTE_PROTO__VALUE_STRING_LIST ||
        !a->string_list)
        return MSIM_OK;
    for (size_t i = 0; i < a->string_list->n_values && i < t->n_threads; i++)
        MSIM_TRY(keep_text(r, a->string_list->values[i], &t->threads[i].name));
    return MSIM_OK;
}

/* Streams of a file of ours: device and number, one after the other. */
static enum msim_status take_streams(struct msim_reader *r, const attribute *a)
{
    const ChakraProtoMsg__Int64List *l = msim_chakra_value_list(a);
    struct msim_trace *t = r->trace;
    uint32_t *slot;

    for (size_t i = 0; l && i + 1 < l->n_values; i += 2) {
        MSIM_TRY(msim_grow((void **)&t->streams, &t->cap_streams, t->n_streams,
                           sizeof(*t->streams)));
        MSIM_TRY(msim_idmap_put(&msim_chakra_of(r)->streams,
                                msim_idmap_pair(l->values[i], l->values[i + 1]),
                                t->n_streams, &slot));
        if (*slot == t->n_streams)
            t->streams[t->n_streams++] = (struct msim_stream){
                .device = l->values[i], .id = l->values[i + 1]};
    }
    return MSIM_OK;
}

static uint32_t small(int64_t n)
{
    return n > 0 && n < UINT32_MAX ? (uint32_t)n : 0;
}

/* Whole numbers of a file of ours. */
static void take_number(struct msim_reader *r, const char *name, int64_t n)
{
    struct msim_gpu_properties *g = &r->trace->gpu_properties;

    if (!strcmp(name, "rank"))
        r->out->rank = n >= 0 ? n : -1;
    else if (!strcmp(name, "world_size"))
        r->trace->world_size = small(n);
    else if (!strcmp(name, "has_et"))
        msim_chakra_of(r)->has_et = n != 0;
    else if (!strcmp(name, "gpu_memory_bytes"))
        g->memory_bytes = n > 0 ? (uint64_t)n : 0;
    else if (!strcmp(name, "gpu_sms"))
        g->sms = small(n);
    else if (!strcmp(name, "gpu_cc_major"))
        g->cc_major = small(n);
    else if (!strcmp(name, "gpu_cc_minor"))
        g->cc_minor = small(n);
}

static enum msim_status take_ours(struct msim_reader *r, const attribute *a)
{
    const char *text = msim_chakra_value_text(a);
    int64_t n;

    if (msim_chakra_value_number(a, &n))
        take_number(r, a->name, n);
    else if (!strcmp(a->name, "threads"))
        return take_threads(r, a);
    else if (!strcmp(a->name, "thread_names"))
        return take_names(r, a);
    else if (!strcmp(a->name, "streams"))
        return take_streams(r, a);
    else if (text && !strcmp(a->name, "host"))
        return keep_text(r, text, &r->trace->host);
    else if (text && !strcmp(a->name, "gpu_name"))
        return keep_text(r, text, &r->trace->gpu_properties.name);
    else if (text && !strcmp(a->name, "process_groups"))
        return msim_group_parse_list(r, text, strlen(text));
    return MSIM_OK;
}

/* What any writer may state: its process groups, in PyTorch's form. */
static enum msim_status take_any(struct msim_reader *r, const attribute *a)
{
    const char *text = msim_chakra_value_text(a);

    if (!text || (strcmp(a->name, "process_groups") != 0 &&
                  strcmp(a->name, "pg_config") != 0))
        return MSIM_OK;
    return msim_group_parse_list(r, text, strlen(text));
}

/* The version is the schema of the ET that the file was made of, if it is
 * there. */
enum msim_status msim_chakra_metadata(struct msim_reader *r,
                                      const ChakraProtoMsg__GlobalMetadata *m)
{
    struct msim_chakra *c = msim_chakra_of(r);

    MSIM_TRY(keep_text(r, m->version, &r->out->version));
    for (size_t i = 0; i < m->n_attr; i++) {
        const attribute *a = m->attr[i];

        if (!strcmp(a->name, "schema") && msim_chakra_value_text(a) &&
            !m->version[0])
            MSIM_TRY(keep_text(r, msim_chakra_value_text(a), &r->out->version));
        c->ours |= !strcmp(a->name, MSIM_CHAKRA_WRITER_ATTR);
    }
    for (size_t i = 0; i < m->n_attr; i++)
        MSIM_TRY(c->ours ? take_ours(r, m->attr[i]) : take_any(r, m->attr[i]));
    return MSIM_OK;
}
