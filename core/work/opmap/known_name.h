/*
 * core/work/opmap/known_name.h - is the name of a vector operator one that is
 * known? The law of pointwise operators would take any.
 */
#ifndef MSIM_CORE_WORK_OPMAP_KNOWN_NAME_H
#define MSIM_CORE_WORK_OPMAP_KNOWN_NAME_H
#include <stdbool.h>
#include <stddef.h>

/*
 * Names of traces are known ("aten::gelu", "gelu_backward", "add_"), and those
 * of tables of measured times (core/work/vector_name.h: "addu", "ln", "emb").
 */
bool msim_vector_name_known(const char *op);

/* Whether it is known, and its kernels are not: MSIM_OPMAP_NEAREST. */
bool msim_vector_name_nearest(const char *op);

/* Why an unknown one cannot be predicted, with the one that is near. */
void msim_vector_name_unknown(const char *op, char *text, size_t size);

#endif
