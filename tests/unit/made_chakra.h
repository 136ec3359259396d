/*
 * tests/unit/made_chakra.h - Chakra files byte by byte, for tests of their
 * reader: what a tool would write, and what none should.
 */
#ifndef MSIM_TESTS_UNIT_MADE_CHAKRA_H
#define MSIM_TESTS_UNIT_MADE_CHAKRA_H
#include "core/job/job.h"

#include "tests/check.h"

struct made {
    char bytes[8192];
    size_t n;
};

static inline void made_raw(struct made *m, const void *bytes, size_t n)
{
    if (m->n <= sizeof(m->bytes) && n <= sizeof(m->bytes) - m->n) {
        memcpy(m->bytes + m->n, bytes, n);
        m->n += n;
    }
}

static inline void made_varint(struct made *m, uint64_t v)
{
    do {
        char c = (char)((v & 0x7f) | (v > 0x7f ? 0x80 : 0));

        made_raw(m, &c, 1);
        v >>= 7;
    } while (v);
}

static inline void made_bytes(struct made *m, uint64_t field, const void *bytes,
                              size_t n)
{
    made_varint(m, field << 3 | 2);
    made_varint(m, n);
    made_raw(m, bytes, n);
}

static inline void made_text(struct made *m, uint64_t field, const char *text)
{
    made_bytes(m, field, text, strlen(text));
}

static inline void made_number(struct made *m, uint64_t field, uint64_t v)
{
    made_varint(m, field << 3);
    made_varint(m, v);
}

/* An attribute of a message: int64 (9), bool (27), string (29). */
static inline void made_attr(struct made *m, uint64_t field, const char *name,
                             uint64_t kind, int64_t v, const char *text)
{
    struct made a = {.n = 0};

    made_text(&a, 1, name);
    if (text)
        made_text(&a, kind, text);
    else
        made_number(&a, kind, (uint64_t)v);
    made_bytes(m, field, a.bytes, a.n);
}

/* A message behind its length. */
static inline void made_message(struct made *m, const struct made *message)
{
    made_varint(m, message->n);
    made_raw(m, message->bytes, message->n);
}

static inline void made_metadata(struct made *m)
{
    struct made meta = {.n = 0};

    made_text(&meta, 1, "0.0.4");
    made_message(m, &meta);
}

/* What a test says of a node; 0 and NULL are left out. */
struct made_node {
    uint64_t id, parent, type, micros;
    const char *name, *values, *shapes, *types, *pg;
    uint64_t deps[4]; /* up to the first 0 */
    bool gpu;
    int64_t stream, comm_type, comm_size; /* comm_size: a collective */
};

static inline void made_node_message(struct made *n, const struct made_node *d)
{
    struct made deps = {.n = 0}, io = {.n = 0};

    made_number(n, 1, d->id);
    made_text(n, 2, d->name);
    made_number(n, 3, d->type ? d->type : 4);
    if (d->parent)
        made_number(n, 4, d->parent);
    for (int i = 0; i < 4 && d->deps[i]; i++)
        made_varint(&deps, d->deps[i]);
    if (deps.n)
        made_bytes(n, 5, deps.bytes, deps.n); /* packed */
    if (d->micros)
        made_number(n, 7, d->micros);
    if (d->values) {
        made_text(&io, 1, d->values);
        made_text(&io, 2, d->shapes);
        made_text(&io, 3, d->types);
        made_bytes(n, 8, io.bytes, io.n);
    }
    made_attr(n, 10, "is_cpu_op", 27, !d->gpu, NULL);
    made_attr(n, 10, d->gpu ? "stream" : "tid", 9, d->gpu ? d->stream : 1,
              NULL);
    if (d->comm_size) {
        made_attr(n, 10, "comm_type", 9, d->comm_type, NULL);
        made_attr(n, 10, "comm_size", 9, d->comm_size, NULL);
    }
    if (d->pg)
        made_attr(n, 10, "pg_name", 29, 0, d->pg);
}

static inline void made_node(struct made *m, struct made_node d)
{
    struct made n = {.n = 0};

    made_node_message(&n, &d);
    made_message(m, &n);
}

static inline struct msim_job *made_load(const struct made *m, bool salvage,
                                         struct msim_error *err)
{
    struct msim_load_options opt = {
        .salvage = salvage, .threads = 1, .keep_source = true};
    struct msim_job *job = NULL;

    memset(err, 0, sizeof(*err));
    if (msim_job_load_memory(&job, "made.et", m->bytes, m->n, &opt, err) !=
        MSIM_OK)
        return NULL;
    return job;
}

#endif
