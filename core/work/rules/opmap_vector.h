/*
 * core/work/rules/opmap_vector.h - works whose time depends on the bytes that
 * they move.
 */
#ifndef MSIM_CORE_WORK_RULES_OPMAP_VECTOR_H
#define MSIM_CORE_WORK_RULES_OPMAP_VECTOR_H
#include "core/work/rules/opmap_rule.h"

/* Fill rows, cols and elems: `rows` independent runs of `cols`. */
void msim_opmap_set_rows(struct msim_work *w, double rows, double cols);

/* The rule behind most rows: row->inputs tensors in, one out. */
bool msim_opmap_pointwise_rule(struct msim_opmap_ctx *c,
                               const struct msim_opmap_row *row);

/* Look-ups in many embedding tables at once, and their backward passes, which
 * fbgemm names after the optimizer inside. */
bool msim_opmap_fbgemm_lookup(struct msim_opmap_ctx *c,
                              const struct msim_opmap_row *row);
bool msim_opmap_fbgemm_backward(struct msim_opmap_ctx *c,
                                const struct msim_opmap_row *row);

#endif
