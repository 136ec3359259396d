/*
 * core/read/chakra/read_chakra.c - from the bytes of a Chakra file to its
 * nodes.
 *
 * The bytes are cut into messages, protobuf-c unpacks them, and attributes are
 * found by name. chakra_rows.c and chakra_finish.c turn the nodes into rows.
 */

#include "core/read/chakra/read_chakra_internal.h"
#include "core/read/et/read_et.h"

#include <chakra.pb-c.h>
#include <stdlib.h>
#include <string.h>

/* A longer message is damage. */
#define MESSAGE_MAX ((uint64_t)1 << 30)

/* ---- attributes --------------------------------------------------------- */

static bool take_triple(const struct ChakraProtoMsg__AttributeProto *a,
                        uint32_t triple[3])
{
    const struct ChakraProtoMsg__Int64List *l = msim_chakra_value_list(a);

    if (!l || l->n_values != 3)
        return false;
    for (int i = 0; i < 3; i++)
        triple[i] = l->values[i] > 0 && l->values[i] < UINT32_MAX
                        ? (uint32_t)l->values[i]
                        : 0;
    return true;
}

static void take_attribute(struct msim_chakra *c,
                           const struct ChakraProtoMsg__AttributeProto *a)
{
    struct msim_chakra_attrs *to = &c->attrs;
    uint8_t word = msim_keyset_find(&c->words, a->name, strlen(a->name));

    if (word == MSIM_CHAKRA_NO_WORD || to->has[word])
        return; /* of a name that comes twice, other readers take the first */
    if (word < MSIM_CHAKRA_NUMBERS) {
        to->has[word] = msim_chakra_value_number(a, &to->number[word]);
    } else if (word < MSIM_CHAKRA_GRID) {
        to->text[word] = msim_chakra_value_text(a);
        to->has[word] = to->text[word] != NULL;
    } else {
        to->has[word] = take_triple(a, to->triple[word - MSIM_CHAKRA_GRID]);
    }
}

/* ---- problems ----------------------------------------------------------- */

static enum msim_status fail_at(struct msim_reader *r, size_t at,
                                enum msim_status status)
{
    msim_chakra_of(r)->fault = msim_chakra_of(r)->offset + at;
    return status;
}

/* A message that protobuf-c refuses, or that has bytes where text is due. */
static enum msim_status fail_broken(struct msim_reader *r, const char *bytes,
                                    size_t len)
{
    const char *why;
    size_t at = msim_chakra_damage(bytes, len, !msim_chakra_of(r)->begun, &why);

    if (!msim_chakra_of(r)->begun)
        msim_read_problem(r, MSIM_ESYNTAX, "broken metadata: %s",
                          why ? why : "a field of another type");
    else
        msim_read_problem(r, MSIM_ESYNTAX, "node %llu in the file: %s",
                          (unsigned long long)r->trace->import.records + 1,
                          why ? why : "a field of another type than a node's");
    return fail_at(r, why ? at : 0, MSIM_ESYNTAX);
}

/* ---- a node ------------------------------------------------------------- */

static enum msim_status take_values(struct msim_reader *r,
                                    const ChakraProtoMsg__IOInfo *io,
                                    struct msim_et_values *to)
{
    int result = msim_chakra_tokens(r, io->values, &to->values);

    if (!result)
        result = msim_chakra_tokens(r, io->shapes, &to->shapes);
    if (!result)
        result = msim_chakra_types(r, io->types, &to->types);
    return (enum msim_status)result;
}

static enum msim_status add_deps(struct msim_chakra *c, const uint64_t *ids,
                                 size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t *dep = msim_vec_add(&c->deps, sizeof(*dep));

        if (!dep)
            return MSIM_ENOMEM;
        *dep = ids[i];
    }
    return MSIM_OK;
}

static enum msim_status take_deps(struct msim_reader *r,
                                  const ChakraProtoMsg__Node *m,
                                  struct msim_chakra_node *n)
{
    struct msim_chakra *c = msim_chakra_of(r);

    n->deps = c->deps.n;
    MSIM_TRY(add_deps(c, m->data_deps, m->n_data_deps));
    n->n_deps = c->deps.n - n->deps;
    MSIM_TRY(add_deps(c, m->ctrl_deps, m->n_ctrl_deps));
    n->n_ctrl = c->deps.n - n->deps - n->n_deps;
    n->has_parent = m->n_ctrl_deps > 0;
    n->parent = n->has_parent ? m->ctrl_deps[0] : 0;
    return MSIM_OK;
}

/* In nanoseconds: of a start from the first one, and of a duration. */
#define SPAN_MAX (MSIM_TRACE_MAX / 1000)

static enum msim_status fail_time(struct msim_reader *r,
                                  const struct msim_chakra_node *n,
                                  const char *what, const char *want)
{
    return (enum msim_status)msim_read_problem(
        r, MSIM_EFORMAT, "node %llu '%.80s': %s, want %s",
        (unsigned long long)n->id, msim_strtab_text(r->strings, n->name), what,
        want);
}

/* The attribute in nanoseconds, else the field in microseconds. */
static enum msim_status take_durations(struct msim_reader *r,
                                       const ChakraProtoMsg__Node *m,
                                       struct msim_chakra_node *n)
{
    const struct msim_chakra_attrs *a = &msim_chakra_of(r)->attrs;
    int64_t own = 0, span;

    if (m->duration_micros > SPAN_MAX / 1000)
        return fail_time(r, n, "it takes more than a day",
                         "'duration_micros' in microseconds");
    own = (int64_t)m->duration_micros * 1000;
    if (a->has[MSIM_CHAKRA_DURATION_NS])
        own = a->number[MSIM_CHAKRA_DURATION_NS];
    span = a->has[MSIM_CHAKRA_SPAN_NS] ? a->number[MSIM_CHAKRA_SPAN_NS] : own;
    if (own < 0 || span < 0 || own > SPAN_MAX || span > SPAN_MAX)
        return fail_time(r, n, "a duration is negative or beyond a day",
                         "nanoseconds");
    n->own = own * 1000;
    n->span = span * 1000;
    msim_chakra_of(r)->timed |= own || span;
    return MSIM_OK;
}

static enum msim_status take_start(struct msim_reader *r,
                                   const ChakraProtoMsg__Node *m,
                                   struct msim_chakra_node *n)
{
    struct msim_chakra *c = msim_chakra_of(r);
    int64_t ns = 0, from;

    n->start = MSIM_TIME_NONE;
    if (c->attrs.has[MSIM_CHAKRA_START_NS])
        ns = c->attrs.number[MSIM_CHAKRA_START_NS];
    else if (m->start_time_micros > INT64_MAX / 1000)
        return fail_time(r, n, "it starts in no time that can be counted",
                         "'start_time_micros' in microseconds");
    else
        ns = (int64_t)m->start_time_micros * 1000;
    /* A start of 0 counts if another node or the attribute shows that the file
     * has starts; else it means that there is none. */
    if (ns == 0 && !c->attrs.has[MSIM_CHAKRA_START_NS] && !c->started)
        return MSIM_OK;
    if (!c->based)
        c->base_ns = ns;
    c->based = c->started = true;
    if (__builtin_sub_overflow(ns, c->base_ns, &from) || from > SPAN_MAX ||
        from < -SPAN_MAX)
        return fail_time(r, n, "it starts more than a day from the first",
                         "one clock for all nodes");
    n->start = from * 1000;
    return MSIM_OK;
}

/* A node is added whole or not at all, so that --salvage may keep the rest. */
static enum msim_status add_node(struct msim_reader *r,
                                 const ChakraProtoMsg__Node *m)
{
    struct msim_chakra *c = msim_chakra_of(r);
    struct msim_chakra_node n = {
        .id = m->id, .at = c->offset, .row = MSIM_NONE};
    struct msim_chakra_node *kept;
    uint32_t *slot;

    if (msim_idmap_get(&c->ids, m->id) != MSIM_NONE)
        return (enum msim_status)msim_read_problem(
            r, MSIM_EFORMAT,
            "two nodes have the id %llu: '%.80s' is the second",
            (unsigned long long)m->id, m->name);
    MSIM_TRY(msim_strtab_add(r->strings, m->name, strlen(m->name), &n.name));
    MSIM_TRY(take_deps(r, m, &n));
    MSIM_TRY(take_durations(r, m, &n));
    MSIM_TRY(take_start(r, m, &n));
    MSIM_TRY(msim_chakra_row(r, &n, m->type > 0 ? (uint32_t)m->type : 0));
    kept = msim_vec_add(&c->nodes, sizeof(*kept));
    if (!kept)
        return MSIM_ENOMEM;
    *kept = n;
    return msim_idmap_put(&c->ids, m->id, c->nodes.n - 1, &slot);
}

static enum msim_status take_node(struct msim_reader *r,
                                  const ChakraProtoMsg__Node *m)
{
    struct msim_chakra *c = msim_chakra_of(r);
    uint32_t deps = c->deps.n;
    enum msim_status status;

    c->attrs = (struct msim_chakra_attrs){0};
    for (size_t i = 0; i < m->n_attr; i++)
        take_attribute(c, m->attr[i]);
    msim_et_begin(msim_et_of(r));
    msim_et_of(r)->node.has_inputs = m->inputs != NULL;
    msim_et_of(r)->node.has_outputs = m->outputs != NULL;
    msim_et_of(r)->node.id = m->id;
    if (m->inputs)
        MSIM_TRY(take_values(r, m->inputs, &msim_et_of(r)->in));
    if (m->outputs)
        MSIM_TRY(take_values(r, m->outputs, &msim_et_of(r)->out));
    status = add_node(r, m);
    if (status != MSIM_OK)
        c->deps.n = deps;
    return status;
}

/* ---- messages ----------------------------------------------------------- */

static enum msim_status keep_message(struct msim_reader *r, const char *bytes,
                                     size_t len)
{
    struct msim_trace *t = r->trace;
    size_t need = t->source_len + len;

    if (!r->keep_source)
        return MSIM_OK;
    if (need > t->source_cap) {
        size_t cap = need + need / 2 + 4096;
        char *grown = realloc(t->source, cap);

        if (!grown)
            return MSIM_ENOMEM;
        t->source = grown;
        t->source_cap = cap;
    }
    memcpy(t->source + t->source_len, bytes, len);
    t->source_len = need;
    return MSIM_OK;
}

static enum msim_status metadata_message(struct msim_reader *r,
                                         const char *bytes, size_t len)
{
    const char *why;
    ChakraProtoMsg__GlobalMetadata *m;
    enum msim_status status;

    if (msim_chakra_damage(bytes, len, true, &why) < len)
        return fail_broken(r, bytes, len);
    m = chakra_proto_msg__global_metadata__unpack(NULL, len,
                                                  (const uint8_t *)bytes);
    if (!m)
        return fail_broken(r, bytes, len);
    status = msim_chakra_metadata(r, m);
    chakra_proto_msg__global_metadata__free_unpacked(m, NULL);
    msim_chakra_of(r)->begun = true;
    return status;
}

static enum msim_status node_message(struct msim_reader *r, const char *bytes,
                                     size_t len)
{
    const char *why;
    ChakraProtoMsg__Node *m;
    enum msim_status status;

    if (msim_chakra_damage(bytes, len, false, &why) < len)
        return fail_broken(r, bytes, len);
    m = chakra_proto_msg__node__unpack(NULL, len, (const uint8_t *)bytes);
    if (!m)
        return fail_broken(r, bytes, len);
    status = take_node(r, m);
    chakra_proto_msg__node__free_unpacked(m, NULL);
    if (status != MSIM_OK)
        return fail_at(r, 0, status);
    r->trace->import.records++;
    r->complete++;
    return MSIM_OK;
}

/* A whole message: `head` bytes of length and the content. `offset` is at its
 * length. */
static enum msim_status message(struct msim_reader *r, const char *bytes,
                                size_t head, size_t len)
{
    bool begun = msim_chakra_of(r)->begun;

    msim_chakra_of(r)->offset += head;
    MSIM_TRY(begun ? node_message(r, bytes + head, len - head)
                   : metadata_message(r, bytes + head, len - head));
    msim_chakra_of(r)->offset += len - head;
    return keep_message(r, bytes, len);
}

/*
 * The length of the message at `bytes`, with its own length field; 0 where it
 * is not known yet.
 */
static enum msim_status measure(struct msim_reader *r, const char *bytes,
                                size_t len, size_t *head, size_t *whole)
{
    uint64_t size;
    int n = msim_chakra_varint(bytes, len, &size);

    *head = *whole = 0;
    if (n == 0)
        return MSIM_OK;
    if (n < 0 || size > MESSAGE_MAX) {
        msim_read_problem(r, MSIM_ESYNTAX,
                          "a message of more than %llu MiB, want the length of "
                          "a node",
                          (unsigned long long)(MESSAGE_MAX >> 20));
        return fail_at(r, 0, MSIM_ESYNTAX);
    }
    *head = (size_t)n;
    *whole = (size_t)n + (size_t)size;
    return MSIM_OK;
}

/* Complete the message that the last piece cut; `*used` is how many bytes that
 * took. */
static enum msim_status feed_pending(struct msim_reader *r, const char *bytes,
                                     size_t len, size_t *used)
{
    struct msim_vec *p = &msim_chakra_of(r)->pending;
    struct msim_text_piece piece;
    size_t head, whole, take;

    for (*used = 0; *used < len;) {
        MSIM_TRY(measure(r, p->data, p->n, &head, &whole));
        /* One byte more until the length is known, then what is missing. */
        take = whole ? whole - p->n : 1;
        take = take < len - *used ? take : len - *used;
        MSIM_TRY(msim_vec_text(p, bytes + *used, take, &piece));
        *used += take;
        MSIM_TRY(measure(r, p->data, p->n, &head, &whole));
        if (whole && whole == p->n) {
            p->n = 0;
            return message(r, p->data, head, whole);
        }
    }
    return MSIM_OK;
}

static enum msim_status feed_piece(struct msim_reader *r, const char *bytes,
                                   size_t len)
{
    struct msim_text_piece piece;
    size_t head, whole, at = 0;

    if (msim_chakra_of(r)->pending.n)
        MSIM_TRY(feed_pending(r, bytes, len, &at));
    while (at < len) {
        MSIM_TRY(measure(r, bytes + at, len - at, &head, &whole));
        if (!whole || whole > len - at)
            break;
        MSIM_TRY(message(r, bytes + at, head, whole));
        at += whole;
    }
    return msim_vec_text(&msim_chakra_of(r)->pending, bytes + at, len - at,
                         &piece);
}

static enum msim_status feed_end(struct msim_reader *r)
{
    struct msim_chakra *c = msim_chakra_of(r);
    size_t head, whole = 0;

    if (c->pending.n == 0)
        return MSIM_OK;
    MSIM_TRY(measure(r, c->pending.data, c->pending.n, &head, &whole));
    c->fault = c->offset + c->pending.n;
    if (whole)
        msim_read_problem(
            r, MSIM_ETRUNCATED,
            "cut: the Chakra trace ends %u bytes into a message of %zu",
            c->pending.n, whole);
    else
        msim_read_problem(
            r, MSIM_ETRUNCATED,
            "cut: the Chakra trace ends within the length of a message");
    return MSIM_ETRUNCATED;
}

/* ---- begin and end ------------------------------------------------------ */

static void init_words(struct msim_keyset *set)
{
    static const struct msim_keyword WORDS[] = {
#define X(name, text) {text, MSIM_CHAKRA_##name},
        MSIM_CHAKRA_NUMBER_MAP(X) MSIM_CHAKRA_TEXT_MAP(X)
            MSIM_CHAKRA_TRIPLE_MAP(X)
#undef X
                {NULL, 0}};

    msim_keyset_init(set, WORDS);
}

static enum msim_status chakra_begin(struct msim_reader *r)
{
    struct msim_chakra *c = calloc(1, sizeof(*c));

    if (!c)
        return MSIM_ENOMEM;
    init_words(&c->words);
    msim_et_init(&c->et, false);
    r->state = c;
    return MSIM_OK;
}

static enum msim_status chakra_feed(struct msim_reader *r, const char *bytes,
                                    size_t len)
{
    return len ? feed_piece(r, bytes, len) : feed_end(r);
}

static uint64_t chakra_offset(const struct msim_reader *r)
{
    return msim_chakra_of(r)->fault;
}

static void chakra_free(void *state)
{
    struct msim_chakra *c = state;

    if (!c)
        return;
    msim_et_release(&c->et);
    free(c->pending.data);
    free(c->nodes.data);
    free(c->deps.data);
    free(c->numbers.data);
    msim_idmap_release(&c->ids);
    msim_idmap_release(&c->comms);
    msim_idmap_release(&c->streams);
    msim_idmap_release(&c->configs);
    free(c);
}

const struct msim_read_format msim_chakra_format = {
    .id = MSIM_FORMAT_CHAKRA,
    .records = "nodes",
    .begin = chakra_begin,
    .feed = chakra_feed,
    .offset = chakra_offset,
    .finish = msim_chakra_rows,
    .free = chakra_free,
};
