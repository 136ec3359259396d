/*
 * core/work/opmap/opmap_table.h - the built-in table of operators: all rows of
 * data/ops, as cmake/ops_rows.py makes C of them when the program is built.
 *
 * An in-place operator (a trailing '_') has the row of its plain form unless it
 * has one of its own.
 */
#ifndef MSIM_CORE_WORK_OPMAP_OPMAP_TABLE_H
#define MSIM_CORE_WORK_OPMAP_OPMAP_TABLE_H
#include "core/work/rules/opmap_rule.h"

struct msim_opmap_table {
    const struct msim_opmap_row *rows;
    uint32_t n;
};

/* Sorted by name, which is bare (msim_opmap_bare_name()). */
extern const struct msim_opmap_table msim_opmap_names;
/* Names that are made while a program runs. Rows match as prefixes, and the
 * first that matches counts: longer ones stand before shorter ones. */
extern const struct msim_opmap_table msim_opmap_prefixes;

/* The row for an operator's name ("aten::" allowed), or NULL. */
const struct msim_opmap_row *msim_opmap_find(const char *name);

/* An operator's name without what says how ATen was called ("aten::",
 * "prims::", "extern_kernels."). */
const char *msim_opmap_bare_name(const char *name);

#endif
