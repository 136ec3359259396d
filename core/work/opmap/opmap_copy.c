/* core/work/opmap/opmap_copy.c - copies and memsets, by their own event. */
#include "core/work/opmap/opmap.h"

#include <string.h>

struct msim_work msim_copy_work(const struct msim_gpu *e)
{
    struct msim_work w;
    bool set = e->kind == MSIM_GPU_MEMSET;

    memset(&w, 0, sizeof(w));
    w.family = MSIM_FAMILY_COPY;
    w.dtype = MSIM_DT_U8;
    w.variant = set ? "fill" : "copy";
    w.kernels = 1;
    w.bytes_read = set ? 0 : (double)e->bytes;
    w.bytes_written = (double)e->bytes;
    w.u.vector.elems = (int64_t)e->bytes;
    w.u.vector.rows = 1;
    w.u.vector.cols = w.u.vector.elems;
    w.u.vector.copy = set ? MSIM_COPY_D2D : (enum msim_copy_kind)e->copy_kind;
    w.u.vector.pageable = e->pageable;
    return w;
}
