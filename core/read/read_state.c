/* What readers of all formats need. */
#include "core/read/read_state.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void *msim_scratch_add(struct msim_scratch *s, size_t elem)
{
    if (msim_grow(&s->data, &s->cap, s->n, elem) != MSIM_OK)
        return NULL;
    return (char *)s->data + elem * s->n++;
}

int msim_scratch_text(struct msim_scratch *s, const char *text, size_t len,
                      struct msim_text_piece *piece)
{
    if (len > UINT32_MAX / 4 - s->n)
        return MSIM_ELIMIT;
    while (s->cap < s->n + len + 1)
        if (msim_grow(&s->data, &s->cap, s->cap, 1) != MSIM_OK)
            return MSIM_ENOMEM;
    *piece = (struct msim_text_piece){s->n, (uint32_t)len};
    if (len)
        memcpy((char *)s->data + s->n, text, len);
    s->n += (uint32_t)len;
    return 0;
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
