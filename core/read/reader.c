/*
 * core/read/reader.c - what readers of all formats need.
 */
#include "core/read/reader.h"

#include "core/base/containers.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void msim_read_result_release(struct msim_read_result *read)
{
    msim_trace_free(read->trace);
    for (uint32_t i = 0; i < read->n_others; i++)
        msim_trace_free(read->others[i]);
    free(read->others);
    read->trace = NULL;
    read->others = NULL;
    read->n_others = 0;
}

enum msim_status msim_read_begin(struct msim_reader *r,
                                 const struct msim_read_format *format)
{
    r->out->trace = r->trace;
    r->out->format = format->id;
    r->format = format;
    r->in_records = true;
    return format->begin(r);
}

void msim_read_records_end(struct msim_reader *r)
{
    r->in_records = false;
    msim_sax_use(r->sax, r->top);
}

int msim_read_problem(struct msim_reader *r, enum msim_status status,
                      const char *fmt, ...)
{
    char text[sizeof(r->problem.text)];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    return msim_fail(&r->problem, status, NULL, MSIM_OFFSET_NONE, "%s", text);
}

static uint64_t offset_of(const struct msim_reader *r)
{
    return r->format->offset ? r->format->offset(r) : msim_sax_offset(r->sax);
}

void msim_read_count(struct msim_reader *r, enum msim_import_kind kind)
{
    struct msim_import_count *c = msim_import_add(&r->trace->import, kind, 1);

    if (c->n == 1)
        msim_import_at(c, offset_of(r));
}

enum msim_status msim_read_count_name(struct msim_reader *r,
                                      enum msim_import_kind kind,
                                      const char *name, uint64_t us)
{
    struct msim_import_count *c;
    uint32_t id;

    MSIM_TRY(msim_strtab_add(r->strings, name, strlen(name), &id));
    c = msim_import_add_name(&r->trace->import, kind, id);
    c->us += us;
    if (c->n == 1)
        msim_import_at(c, offset_of(r));
    return MSIM_OK;
}

void msim_read_leave_out(struct msim_reader *r, const char *fmt, ...)
{
    struct msim_import_count *c = &r->trace->import.rows[MSIM_IMPORT_UNSOUND];
    char text[256];
    va_list ap;

    msim_read_count(r, MSIM_IMPORT_UNSOUND);
    if (c->n > 1)
        return;
    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    if (msim_strtab_add(r->strings, text, strlen(text), &c->example))
        c->example = 0; /* out of memory: it is counted all the same */
}

enum msim_status msim_read_odd_type(struct msim_reader *r, const char *s,
                                    size_t len, uint8_t *slot)
{
    struct msim_odd_type *types = r->out->odd_types;
    uint32_t name;

    MSIM_TRY(msim_strtab_add(r->strings, s, len, &name));
    *slot = 0;
    while (*slot < MSIM_READ_ODD_TYPES - 1 && types[*slot].name &&
           types[*slot].name != name)
        ++*slot;
    types[*slot].name = *slot < MSIM_READ_ODD_TYPES - 1 ? name : 0;
    return MSIM_OK;
}

int msim_read_string(struct msim_reader *r, const char *s, size_t len,
                     uint32_t *id)
{
    return msim_strtab_add(r->strings, s, len, id);
}

enum msim_status msim_read_config(struct msim_trace *t,
                                  struct msim_idmap *known,
                                  const struct msim_launch_config *c,
                                  uint32_t *config)
{
    uint64_t key = 0, word;
    uint32_t parts[8], i, *slot;

    _Static_assert(sizeof(parts) == sizeof(*c), "hashed as parts");
    memcpy(parts, c, sizeof(parts));
    for (i = 0; i < 8; i++) {
        word = parts[i];
        key = (key ^ word) * 0xff51afd7ed558ccdu;
        key ^= key >> 29;
    }
    MSIM_TRY(msim_grow((void **)&t->configs, &t->cap_configs, t->n_configs,
                       sizeof(*t->configs)));
    MSIM_TRY(msim_idmap_put(known, key, t->n_configs, &slot));
    *config = *slot;
    if (*config < t->n_configs && !memcmp(&t->configs[*config], c, sizeof(*c)))
        return MSIM_OK;
    *config = t->n_configs; /* new, or two with one hash */
    t->configs[t->n_configs++] = *c;
    return MSIM_OK;
}
