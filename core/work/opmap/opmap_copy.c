/* core/work/opmap/opmap_copy.c - copies and memsets, by their own event. */
#include "core/work/opmap/opmap.h"

#include <string.h>

/* Is all that such a work moves one copy or memset? A join is several. */
static bool is_one_copy(const struct msim_work *w)
{
    return w->family == MSIM_FAMILY_COPY &&
           (!strcmp(w->variant, "copy") || !strcmp(w->variant, "fill") ||
            !strcmp(w->variant, "item"));
}

uint64_t msim_copied_bytes(const struct msim_trace *t, const struct msim_gpu *e)
{
    struct msim_work works[MSIM_OPMAP_MAX];
    uint32_t n;

    if (e->bytes || e->op == MSIM_NONE ||
        msim_opmap(t, NULL, e->op, 1, MSIM_OPMAP_AS_TRACED, works, &n) !=
            MSIM_OPMAP_WORKS ||
        n != 1 || !is_one_copy(&works[0]))
        return e->bytes;
    return (uint64_t)works[0].bytes_written;
}

struct msim_work msim_copy_work(const struct msim_gpu *e, uint64_t bytes)
{
    struct msim_work w;
    bool set = e->kind == MSIM_GPU_MEMSET;

    memset(&w, 0, sizeof(w));
    w.family = MSIM_FAMILY_COPY;
    w.dtype = MSIM_DT_U8;
    w.variant = set ? "fill" : "copy";
    w.kernels = 1;
    w.bytes_read = set ? 0 : (double)bytes;
    w.bytes_written = (double)bytes;
    w.u.vector.elems = (int64_t)bytes;
    w.u.vector.rows = 1;
    w.u.vector.cols = w.u.vector.elems;
    w.u.vector.copy = set ? MSIM_COPY_D2D : (enum msim_copy_kind)e->copy_kind;
    w.u.vector.pageable = e->pageable;
    return w;
}
