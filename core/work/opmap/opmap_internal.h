/*
 * core/work/opmap/opmap_internal.h - what the files of core/work/opmap share;
 * no other room includes it.
 */
#ifndef MSIM_CORE_WORK_OPMAP_OPMAP_INTERNAL_H
#define MSIM_CORE_WORK_OPMAP_OPMAP_INTERNAL_H
#include "core/base/status.h"
#include "core/work/rules/opmap_rule.h"

/* ---- opmap table --------------------------------------------------------- */
/*
 * The built-in table of operators: all rows of data/ops, as cmake/ops_rows.py
 * makes C of them when the program is built.
 *
 * An in-place operator (a trailing '_') has the row of its plain form unless it
 * has one of its own.
 */

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

/* ---- ops rule ------------------------------------------------------------ */
/*
 * A row of a user's table that names a rule of the program, as the rows of
 * data/ops do:
 *
 *   rule        a word of MSIM_RULE_MAP (core/work/rules/opmap_rules.h)
 *   variant     its kernels in tables of measured times  [default: the name]
 *   inputs      tensor arguments that are read
 *   flops_each  operations an element
 *   kernels     of the operator, where the trace has none
 *   flags       words of MSIM_FLAG_MAP (core/work/rules/opmap_rule.h)
 *   arg         the rule's own: a number, or a word of its list
 */

/* X(name, the word): columns of such rows; `kernels` is a formula elsewhere. */
#define MSIM_OPS_RULE_MAP(X)                                                   \
    X(RULE, "rule")                                                            \
    X(VARIANT, "variant")                                                      \
    X(INPUTS, "inputs")                                                        \
    X(FLOPS_EACH, "flops_each")                                                \
    X(KERNELS, "kernels")                                                      \
    X(FLAGS, "flags")                                                          \
    X(ARG, "arg")

enum msim_ops_rule_column {
#define X(name, word) MSIM_OPS_RULE_##name,
    MSIM_OPS_RULE_MAP(X)
#undef X
        MSIM_OPS_RULE_COLUMNS
};

/* The words of those columns. */
extern const char *const msim_ops_rule_words[MSIM_OPS_RULE_COLUMNS];

/* What is wrong with a field. */
struct msim_ops_fault {
    char found[120], want[260];
};

/*
 * Fill `row` but for its name from the fields of one row, "" where the file has
 * none. Without a rule only `flags` may be there, and of them those that say
 * what launches. The variant is not copied: it must live as long as `row`.
 * EFORMAT: `fault` says why.
 */
MSIM_MUST_CHECK
enum msim_status
msim_ops_rule_read(struct msim_opmap_row *row,
                   const char *const fields[MSIM_OPS_RULE_COLUMNS],
                   struct msim_ops_fault *fault);

#endif
