/*
 * core/work/opmap/ops_expr.h - sizes as formulas of an operator's arguments,
 * for tables of users (core/work/opmap/ops_file.h).
 *
 *     2 * elems(in0) + bytes(out)     dim(in0, -1)      max(arg(3), 1)
 *
 *   in0, in1 ...    the tensors among the arguments, in their order
 *   list0, list1    lists of tensors, by the argument's place
 *   in, out, outK   all of them together; results
 *   bytes(x)        of a tensor, a list, or all; elems(x): its elements
 *   dim(x, k)       size k of a tensor, from the end where k is below 0
 *   arg(k)          the number that argument k is
 *   + - * / ( ) min(a, b) max(a, b)
 *
 * A trace without results (Kineto's) takes the largest tensor for them. A
 * formula whose tensor or number an operator does not have has no value there.
 */
#ifndef MSIM_CORE_WORK_OPMAP_OPS_EXPR_H
#define MSIM_CORE_WORK_OPMAP_OPS_EXPR_H
#include "core/work/rules/opmap_rule.h"

#define MSIM_OPS_EXPR_STEPS 48

enum msim_ops_step_kind {
    MSIM_STEP_NUMBER,
    MSIM_STEP_BYTES,
    MSIM_STEP_ELEMS,
    MSIM_STEP_DIM,
    MSIM_STEP_ARG,
    MSIM_STEP_ADD,
    MSIM_STEP_SUBTRACT,
    MSIM_STEP_MULTIPLY,
    MSIM_STEP_DIVIDE,
    MSIM_STEP_MIN,
    MSIM_STEP_MAX,
};

enum msim_ops_what { MSIM_WHAT_IN, MSIM_WHAT_OUT, MSIM_WHAT_LIST };

struct msim_ops_step {
    uint8_t kind, what;
    int32_t which; /* tensor, list or argument; -1: all of them */
    int32_t dim;
    double number;
};

/* In postfix order; n 0: there is none. */
struct msim_ops_expr {
    struct msim_ops_step steps[MSIM_OPS_EXPR_STEPS];
    uint32_t n;
};

/* Parse `text`. EFORMAT: `why` (of `size` bytes) gets what was found where, and
 * what was wanted. */
MSIM_MUST_CHECK
enum msim_status msim_ops_expr_parse(struct msim_ops_expr *e, const char *text,
                                     char *why, size_t size);

/* Its value for an operator; false where it has none, or a negative one. */
bool msim_ops_expr_value(const struct msim_ops_expr *e,
                         const struct msim_opmap_ctx *c, double *v);

#endif
