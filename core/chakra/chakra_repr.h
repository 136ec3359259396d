/*
 * core/chakra/chakra_repr.h - inputs and outputs as Chakra keeps them: lists
 * as Python prints them. The inverse of chakra_python.c; for this room only.
 */
#ifndef MSIM_CORE_CHAKRA_CHAKRA_REPR_H
#define MSIM_CORE_CHAKRA_CHAKRA_REPR_H
#include "core/base/vec.h"
#include "core/trace/trace.h"

/* The three lists of one side of an operator, NUL-terminated. */
struct msim_chakra_lists {
    struct msim_vec values, shapes, types;
};

void msim_chakra_lists_release(struct msim_chakra_lists *l);

/*
 * Print block `block` of `t`, with tensor ids from `ids` on (MSIM_NONE: 0)
 * and tensors of the GPU on `device`.
 */
MSIM_MUST_CHECK
enum msim_status msim_chakra_print(struct msim_chakra_lists *l,
                                   const struct msim_trace *t, uint32_t block,
                                   uint32_t ids, int64_t device);

/* Add `text` to `to` as a list of Python with one quoted text. */
MSIM_MUST_CHECK
enum msim_status msim_chakra_print_text(struct msim_vec *to, const char *text);

/* The name of an element type in an ET's types: "float", "c10::Half". */
const char *msim_chakra_dtype_text(enum msim_dtype t);

#endif
