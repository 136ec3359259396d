/*
 * core/read/nsys/nsys_text.h - what texts of Nsight Systems say. Private to
 * core/read/nsys.
 */
#ifndef MSIM_CORE_READ_NSYS_NSYS_TEXT_H
#define MSIM_CORE_READ_NSYS_NSYS_TEXT_H
#include <stdbool.h>
#include <stddef.h>

/* A range of emit_nvtx: "aten::mm, seq = 3, op_id = 5, sizes = [[2, 3], []]".
 */
struct msim_nsys_op {
    size_t name;       /* bytes of it, at the begin of the text */
    const char *sizes; /* "[[2, 3], []]", or NULL; in the text */
    size_t n_sizes;    /* bytes of it */
};
/* Is `text` one? */
bool msim_nsys_op_find(struct msim_nsys_op *out, const char *text);

/* The number of a step: "step 3", "Iteration_3", "iter#3"; `word`: which word
 * names it. -1: the text is none. */
long long msim_nsys_step(const char *text, int *word);

/* Bytes of a call's name without the version behind it ("_v3020"). */
size_t msim_nsys_call(const char *name);

#endif
