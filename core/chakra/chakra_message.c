/*
 * core/chakra/chakra_message.c - nodes as Chakra messages.
 */
#include "core/chakra/write_chakra_internal.h"

#include "core/base/containers.h"
#include "core/base/json.h"
#include "core/base/print.h"

#include <stdlib.h>
#include <string.h>

/* The format version, as other writers have it. */
#define VERSION "0.0.4"

struct msim_chakra_messages {
    struct msim_chakra_builder b;
    struct msim_file *file;
    uint64_t count;
    bool defined; /* the trace itself defines its groups */
    struct msim_vec deps, lags, data, text, groups; /* of the message */
};

/* ---- messages ----------------------------------------------------------- */

/* Text that protobuf accepts: bytes that are not UTF-8 become '?'. */
static enum msim_status clean(struct msim_vec *to, const char *s, char **text)
{
    struct msim_text_piece piece;

    to->n = 0;
    while (*s) {
        unsigned n = msim_utf8_length(s);

        MSIM_TRY(msim_vec_text(to, n ? s : "?", n ? n : 1, &piece));
        s += n ? n : 1;
    }
    MSIM_TRY(msim_vec_text(to, "", 0, &piece));
    *text = to->data;
    (*text)[to->n] = '\0';
    return MSIM_OK;
}

static enum msim_status send(struct msim_chakra_messages *m,
                             const ProtobufCMessage *message)
{
    size_t size = protobuf_c_message_get_packed_size(message), v = size, n = 0;
    char head[10];

    if (size > UINT32_MAX / 4)
        return MSIM_ELIMIT;
    while (m->data.cap < size)
        MSIM_TRY(msim_grow(&m->data.data, &m->data.cap, m->data.cap, 1));
    do {
        head[n++] = (char)((v & 0x7f) | (v > 0x7f ? 0x80 : 0));
        v >>= 7;
    } while (v);
    MSIM_TRY(msim_file_write(m->file, head, n));
    if (size)
        protobuf_c_message_pack(message, m->data.data);
    return msim_file_write(m->file, m->data.data, size);
}

/* ---- the metadata ------------------------------------------------------- */

static enum msim_status sink(void *ctx, const char *bytes, size_t n)
{
    struct msim_text_piece piece;

    return msim_vec_text(ctx, bytes, n, &piece);
}

/*
 * The members of a group. Simulators take an empty list for all ranks; for our
 * own reader no list means that the trace has none.
 */
static void print_members(const struct msim_trace *t,
                          const struct msim_group *g, struct msim_json *j,
                          bool simulator)
{
    if (!g->count && !simulator)
        return;
    msim_json_open(j, "ranks", '[', false);
    for (uint32_t k = 0; k < g->count; k++)
        msim_json_integer(j, NULL, t->group_ranks[g->first + k]);
    if (!g->count && g->size == 1 && t->rank >= 0)
        msim_json_integer(j, NULL, t->rank);
    msim_json_close(j);
}

/* The members that simulators must know: listed, all ranks, or this one
 * alone. */
static bool is_known(const struct msim_trace *t, const struct msim_group *g)
{
    return g->count || (g->size && g->size == t->world_size) ||
           (g->size == 1 && t->rank >= 0);
}

/* The groups in the form in which an execution trace defines them. */
static enum msim_status print_groups(struct msim_chakra_messages *m,
                                     bool simulator)
{
    const struct msim_trace *t = m->b.t;
    struct msim_json j;

    m->groups.n = 0;
    msim_json_begin(&j, sink, &m->groups);
    msim_json_open(&j, NULL, '[', false);
    for (uint32_t i = 0; i < t->n_groups; i++) {
        const struct msim_group *g = &t->groups[i];

        if (simulator && !is_known(t, g))
            continue;
        msim_json_open(&j, NULL, '{', false);
        msim_json_text(&j, "pg_name", msim_trace_text(t, g->name));
        print_members(t, g, &j, simulator);
        if (g->size)
            msim_json_unsigned(&j, "group_size", g->size);
        msim_json_close(&j);
    }
    MSIM_TRY(msim_json_end(&j));
    while (m->groups.n && ((char *)m->groups.data)[m->groups.n - 1] == '\n')
        m->groups.n--;
    ((char *)m->groups.data)[m->groups.n] = '\0';
    return MSIM_OK;
}

/* A node that gives simulators the groups, unless the trace has its own. */
static enum msim_status send_groups(struct msim_chakra_messages *m)
{
    ChakraProtoMsg__Node node;

    msim_chakra_begin(&m->b);
    chakra_proto_msg__node__init(&node);
    chakra_proto_msg__ioinfo__init(&m->b.info[0]);
    m->text.n = 0;
    MSIM_TRY(print_groups(m, true));
    MSIM_TRY(msim_chakra_print_text(&m->text, m->groups.data));
    m->b.info[0].values = m->text.data;
    m->b.info[0].shapes = (char *)"[[]]";
    m->b.info[0].types = (char *)"['String']";
    node.id = m->b.p->nodes.n + 1;
    node.name = (char *)"## process_group:init ##";
    node.type = CHAKRA_PROTO_MSG__NODE_TYPE__METADATA_NODE;
    node.inputs = &m->b.info[0];
    msim_chakra_add_bool(&m->b, "is_cpu_op", true);
    msim_chakra_add_text(&m->b, "event",
                         msim_chakra_event_text(MSIM_CHAKRA_MADE_EVENT));
    node.n_attr = m->b.n;
    node.attr = m->b.list;
    m->count++;
    return send(m, &node.base);
}

/* Threads, then streams: pairs of numbers in the order of the trace. */
static enum msim_status list_lanes(struct msim_chakra_messages *m)
{
    const struct msim_trace *t = m->b.t;
    int64_t *to;

    m->deps.n = 0;
    for (uint32_t i = 0; i < 2 * (t->n_threads + t->n_streams); i++)
        if (!msim_vec_add(&m->deps, sizeof(*to)))
            return MSIM_ENOMEM;
    to = m->deps.data;
    for (uint32_t i = 0; i < t->n_threads; i++) {
        to[2 * i] = t->threads[i].pid;
        to[2 * i + 1] = t->threads[i].tid;
    }
    if (t->n_threads)
        msim_chakra_add_list(&m->b, "threads", to, (size_t)2 * t->n_threads);
    to = to ? to + (size_t)2 * t->n_threads : to;
    for (uint32_t i = 0; i < t->n_streams; i++) {
        to[2 * i] = t->streams[i].device;
        to[2 * i + 1] = t->streams[i].id;
    }
    if (t->n_streams)
        msim_chakra_add_list(&m->b, "streams", to, (size_t)2 * t->n_streams);
    return MSIM_OK;
}

static void add_gpu_properties(struct msim_chakra_messages *m)
{
    const struct msim_gpu_properties *g = &m->b.t->gpu_properties;

    if (!g->name && !g->memory_bytes && !g->sms)
        return;
    msim_chakra_add_text(&m->b, "gpu_name", msim_trace_text(m->b.t, g->name));
    msim_chakra_add_number(&m->b, "gpu_memory_bytes", (int64_t)g->memory_bytes);
    msim_chakra_add_number(&m->b, "gpu_sms", g->sms);
    msim_chakra_add_number(&m->b, "gpu_cc_major", g->cc_major);
    msim_chakra_add_number(&m->b, "gpu_cc_minor", g->cc_minor);
}

enum msim_status msim_chakra_messages_begin(struct msim_chakra_messages *m)
{
    ChakraProtoMsg__GlobalMetadata meta;
    ChakraProtoMsg__StringList names;
    const struct msim_trace *t = m->b.t;
    char **text = calloc((size_t)t->n_threads + 1, sizeof(*text));
    ChakraProtoMsg__AttributeProto *a;
    enum msim_status status;

    if (!text)
        return MSIM_ENOMEM;
    msim_chakra_begin(&m->b);
    chakra_proto_msg__global_metadata__init(&meta);
    chakra_proto_msg__string_list__init(&names);
    meta.version = (char *)VERSION;
    msim_chakra_add_text(&m->b, MSIM_CHAKRA_WRITER_ATTR, MSIM_VERSION);
    msim_chakra_add_number(&m->b, "rank", t->rank);
    msim_chakra_add_number(&m->b, "world_size", t->world_size);
    msim_chakra_add_bool(&m->b, "has_et", t->has_et);
    if (t->host)
        msim_chakra_add_text(&m->b, "host", msim_trace_text(t, t->host));
    add_gpu_properties(m);
    status = list_lanes(m);
    for (uint32_t i = 0; i < t->n_threads; i++)
        text[i] = (char *)msim_trace_text(t, t->threads[i].name);
    names.values = text;
    names.n_values = t->n_threads;
    a = msim_chakra_add(&m->b, "thread_names");
    a->value_case = CHAKRA_PROTO_MSG__ATTRIBUTE_PROTO__VALUE_STRING_LIST;
    a->string_list = &names;
    if (status == MSIM_OK)
        status = print_groups(m, false);
    msim_chakra_add_text(&m->b, "process_groups", m->groups.data);
    meta.n_attr = m->b.n;
    meta.attr = m->b.list;
    if (status == MSIM_OK)
        status = send(m, &meta.base);
    free(text);
    if (status == MSIM_OK && t->n_groups && !m->defined)
        status = send_groups(m);
    return status;
}

/* ---- a node ------------------------------------------------------------- */

static const char *name_of(const struct msim_chakra_messages *m,
                           const struct msim_chakra_out_node *n)
{
    const struct msim_trace *t = m->b.t;

    switch ((enum msim_chakra_event)n->event) {
    case MSIM_CHAKRA_CALL_EVENT:
        return msim_trace_text(t, t->calls[n->row].name);
    case MSIM_CHAKRA_KERNEL_EVENT:
    case MSIM_CHAKRA_COMM_EVENT:
    case MSIM_CHAKRA_MEMCPY_EVENT:
    case MSIM_CHAKRA_MEMSET_EVENT:
        return msim_trace_text(t, t->gpu[n->row].name);
    case MSIM_CHAKRA_SYNC_EVENT:
        return "synchronisation";
    case MSIM_CHAKRA_MADE_EVENT:
        return msim_trace_text(t, t->ops[n->op].name);
    case MSIM_CHAKRA_REST_EVENT:
        if (n->row == MSIM_NONE)
            return "between operators";
        return msim_trace_text(t, t->ops[n->row].name);
    default:
        return msim_trace_text(t, t->ops[n->row].name);
    }
}

static bool on_gpu(const struct msim_chakra_out_node *n)
{
    return (n->event >= MSIM_CHAKRA_KERNEL_EVENT &&
            n->event <= MSIM_CHAKRA_MEMSET_EVENT) ||
           n->event == MSIM_CHAKRA_MADE_EVENT;
}

static enum msim_status fill_deps(struct msim_chakra_messages *m,
                                  ChakraProtoMsg__Node *node,
                                  const struct msim_chakra_out_node *n)
{
    const struct msim_chakra_dep *all = m->b.p->deps.data;
    bool delayed = false;

    m->deps.n = m->lags.n = 0;
    for (uint32_t i = 0; i < n->n_deps; i++) {
        uint64_t *id = msim_vec_add(&m->deps, sizeof(*id));
        int64_t *lag = msim_vec_add(&m->lags, sizeof(*lag));

        if (!id || !lag)
            return MSIM_ENOMEM;
        *id = (uint64_t)all[n->deps + i].node + 1;
        *lag = all[n->deps + i].lag_ns;
        delayed |= *lag != 0;
    }
    node->data_deps = m->deps.data;
    node->n_data_deps = n->n_deps;
    if (delayed)
        msim_chakra_add_list(&m->b, MSIM_CHAKRA_DEPS_LAG_ATTR, m->lags.data,
                             n->n_deps);
    return MSIM_OK;
}

enum msim_status msim_chakra_messages_node(struct msim_chakra_messages *m,
                                           uint32_t i)
{
    const struct msim_chakra_out_node *n =
        (const struct msim_chakra_out_node *)m->b.p->nodes.data + i;
    uint64_t parent = (uint64_t)n->ctrl + 1;
    ChakraProtoMsg__Node node;

    msim_chakra_begin(&m->b);
    chakra_proto_msg__node__init(&node);
    node.id = (uint64_t)i + 1;
    MSIM_TRY(clean(&m->text, name_of(m, n), &node.name));
    node.type = CHAKRA_PROTO_MSG__NODE_TYPE__COMP_NODE;
    if (n->ctrl != MSIM_NONE) {
        node.ctrl_deps = &parent;
        node.n_ctrl_deps = 1;
    }
    msim_chakra_add_bool(&m->b, "is_cpu_op", !on_gpu(n));
    msim_chakra_add_text(
        &m->b, "event",
        msim_chakra_event_text((enum msim_chakra_event)n->event));
    MSIM_TRY(fill_deps(m, &node, n));
    MSIM_TRY(msim_chakra_fill(&m->b, &node, n));
    node.n_attr = m->b.n;
    node.attr = m->b.list;
    m->count++;
    return send(m, &node.base);
}

/* ---- begin and end ------------------------------------------------------ */

uint64_t msim_chakra_messages_count(const struct msim_chakra_messages *m)
{
    return m->count;
}

uint64_t msim_chakra_messages_rounded(const struct msim_chakra_messages *m)
{
    return m->b.rounded;
}

enum msim_status msim_chakra_messages_new(struct msim_chakra_messages **out,
                                          const struct msim_chakra_nodes *p,
                                          struct msim_file *file,
                                          const struct msim_chakra_work *works)
{
    const struct msim_trace *t = p->trace;
    struct msim_chakra_messages *m = calloc(1, sizeof(*m));

    *out = NULL;
    if (!m)
        return MSIM_ENOMEM;
    m->b.p = p;
    m->b.t = t;
    m->file = file;
    m->b.works = works;
    m->b.kernels = calloc((size_t)t->n_ops + 1, sizeof(*m->b.kernels));
    if (!m->b.kernels) {
        msim_chakra_messages_free(m);
        return MSIM_ENOMEM;
    }
    for (uint32_t i = 0; i < t->n_gpu; i++)
        if (t->gpu[i].op != MSIM_NONE && t->gpu[i].kind == MSIM_GPU_KERNEL)
            m->b.kernels[t->gpu[i].op]++;
    for (uint32_t i = 0; i < t->n_ops; i++)
        m->defined |= !strncmp(msim_trace_text(t, t->ops[i].name),
                               "## process_group:init", 21);
    if (t->n_streams)
        m->b.device = t->streams[0].device;
    *out = m;
    return MSIM_OK;
}

void msim_chakra_messages_free(struct msim_chakra_messages *m)
{
    if (!m)
        return;
    msim_chakra_builder_release(&m->b);
    free(m->deps.data);
    free(m->lags.data);
    free(m->data.data);
    free(m->text.data);
    free(m->groups.data);
    free(m);
}
