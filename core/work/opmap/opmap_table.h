/*
 * core/work/opmap/opmap_table.h - the built-in table of operators: all tables
 * of core/work/rules as one.
 */
#ifndef MSIM_CORE_WORK_OPMAP_OPMAP_TABLE_H
#define MSIM_CORE_WORK_OPMAP_OPMAP_TABLE_H
#include "core/work/rules/opmap_rule.h"

/* The row for an operator's name ("aten::" allowed), or NULL. */
const struct msim_opmap_row *msim_opmap_find(const char *name);

/* The table that holds a row of msim_opmap_find(); that of prefixes for a row
 * that none holds. */
const struct msim_opmap_table *
msim_opmap_table_of(const struct msim_opmap_row *row);

/* The names of all rows but prefixes, in no order: the k-th, or NULL behind the
 * last. */
const char *msim_opmap_name(uint32_t k);

/* An operator's name without what says how ATen was called ("aten::",
 * "prims::", "extern_kernels."). */
const char *msim_opmap_bare_name(const char *name);

#endif
