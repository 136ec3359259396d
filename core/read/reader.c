/*
 * core/read/reader.c - what readers of all formats need.
 */
#include "core/read/reader.h"

#include "core/base/vec.h"

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

void msim_read_leave_out(struct msim_reader *r, const char *fmt, ...)
{
    char text[sizeof(r->out->first_unsound.text)];
    va_list ap;

    if (r->out->unsound++)
        return;
    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    msim_fail(&r->out->first_unsound, MSIM_EFORMAT, NULL,
              msim_sax_offset(r->sax), "%s", text);
}

void msim_read_unread(struct msim_reader *r, uint32_t what, uint64_t us)
{
    struct msim_unread_kind *u = r->out->unread;

    while (u->n && u->what != what &&
           u < &r->out->unread[MSIM_READ_UNREAD_KINDS - 1])
        u++;
    if (!u->n)
        u->what = what;
    else if (u->what != what)
        u->what = 0;
    u->n++;
    u->us += us;
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
