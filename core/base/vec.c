/*
 * core/base/vec.c - arrays that grow.
 */
#include "core/base/containers.h"

#include <stdlib.h>
#include <string.h>

enum msim_status msim_grow(void **data, uint32_t *capacity, uint32_t length,
                           size_t elem)
{
    uint64_t want;
    void *p;

    if (length < *capacity)
        return MSIM_OK;
    if (length >= UINT32_MAX - 1)
        return MSIM_ELIMIT;
    /* Half as much again: peak memory counts more here than copies. */
    want = *capacity ? (uint64_t)*capacity + *capacity / 2 + 1 : 64;
    if (want > UINT32_MAX - 1)
        want = UINT32_MAX - 1;
    p = realloc(*data, (size_t)want * elem);
    if (!p)
        return MSIM_ENOMEM;
    *data = p;
    *capacity = (uint32_t)want;
    return MSIM_OK;
}

void *msim_vec_add(struct msim_vec *v, size_t elem)
{
    if (msim_grow(&v->data, &v->cap, v->n, elem) != MSIM_OK)
        return NULL;
    return (char *)v->data + elem * v->n++;
}

enum msim_status msim_vec_text(struct msim_vec *v, const char *text, size_t len,
                               struct msim_text_piece *piece)
{
    if (len > UINT32_MAX / 4 - v->n)
        return MSIM_ELIMIT;
    while (v->cap < v->n + len + 1)
        MSIM_TRY(msim_grow(&v->data, &v->cap, v->cap, 1));
    *piece = (struct msim_text_piece){v->n, (uint32_t)len};
    if (len)
        memcpy((char *)v->data + v->n, text, len);
    v->n += (uint32_t)len;
    return MSIM_OK;
}
