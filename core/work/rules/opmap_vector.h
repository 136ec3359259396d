/*
 * core/work/rules/opmap_vector.h - works whose time depends on the bytes that
 * they move.
 */
#ifndef MSIM_CORE_WORK_RULES_OPMAP_VECTOR_H
#define MSIM_CORE_WORK_RULES_OPMAP_VECTOR_H
#include "core/work/rules/opmap_rule.h"

/* Fill rows, cols and elems: `rows` independent runs of `cols`. */
void msim_opmap_set_rows(struct msim_work *w, double rows, double cols);

#endif
