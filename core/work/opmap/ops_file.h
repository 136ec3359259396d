/*
 * core/work/opmap/ops_file.h - tables of operators as users write them, and the
 * expressions in them.
 */
#ifndef MSIM_CORE_WORK_OPMAP_OPS_FILE_H
#define MSIM_CORE_WORK_OPMAP_OPS_FILE_H
#include "core/base/containers.h"
#include "core/work/rules/opmap_rule.h"

/* ---- ops expr ------------------------------------------------------------ */
/*
 * Sizes as formulas of an operator's arguments, for tables of users
 * ("ops file").
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

/* ---- ops file ------------------------------------------------------------ */
/*
 * A user's own table of operators (`--ops FILE`), which comes before the
 * built-in one.
 *
 * A CSV file. The first row names the columns; a file has those that it needs,
 * in any order:
 *
 *   operator   name or glob (*, ?, [...]); the first row that matches counts
 *   like       an operator of the built-in table, whose row it has; or
 *   rule       a rule of the program, with its columns
 *              (core/work/opmap/ops_rule.c); or
 *   law        pointwise, reduction, softmax, norm, embedding, copy, optimizer
 *              (by bytes), gemm (by m, n, k), bound, time, nothing
 *   read       bytes read            [default: bytes(in)]
 *   written    bytes written         [default: bytes(out)]
 *   flops      [default: 0]
 *   rows, cols of a reduction        [default: cols: the last size of in0]
 *   m n k batch  of a product (m x k)(k x n)
 *   us         of law time: microseconds of all its kernels together
 *   kernels    of the operator, where the trace has none  [default: 1]
 *   within     the interval is wider by this factor either way
 *              [default: like and rule 1.25, bound 1, time 1.2, other laws
 *              1.5]
 *   note       for people
 *
 *     operator,like,law,read,written
 *     mylib::gelu_*,aten::gelu,,,
 *     mylib::add3,,pointwise,3 * bytes(in0),bytes(in0)
 *     mylib::plan,,nothing,,
 *
 * Sizes are formulas of the operator's arguments ("ops expr").
 * Where a formula has no value for an operator, the operator gets a bound. The
 * built-in table (data/ops) is in the same language, less formulas; as in it a
 * row describes the kernels that the operator itself
 * launches; operators that it calls count by themselves.
 */

/* X(name, the word): columns that hold formulas. */
#define MSIM_OPS_SIZE_MAP(X)                                                   \
    X(READ, "read")                                                            \
    X(WRITTEN, "written")                                                      \
    X(FLOPS, "flops")                                                          \
    X(ROWS, "rows")                                                            \
    X(COLS, "cols")                                                            \
    X(M, "m")                                                                  \
    X(N, "n")                                                                  \
    X(K, "k")                                                                  \
    X(BATCH, "batch")                                                          \
    X(US, "us")                                                                \
    X(KERNELS, "kernels")

enum msim_ops_size {
#define X(name, word) MSIM_OPS_##name,
    MSIM_OPS_SIZE_MAP(X)
#undef X
        MSIM_OPS_SIZES
};

/* A row of the file. */
struct msim_ops_entry {
    struct msim_opmap_row row;                 /* first: rules are handed it */
    char *glob, *like_name, *variant, *origin; /* "ops.csv:3" */
    enum msim_family family;
    double interval_factor;
    struct msim_ops_expr sizes[MSIM_OPS_SIZES];
};

struct msim_ops; /* opaque */

/*
 * Read `path` ("-": standard input) for traces whose names are in `strings`,
 * all of which must be there by now. On success `*out` is owned by the caller;
 * on failure it is NULL: EIO, or EFORMAT with the file, the line, what was
 * found and what was wanted.
 */
MSIM_MUST_CHECK
enum msim_status msim_ops_load(struct msim_ops **out, const char *path,
                               const struct msim_strtab *strings,
                               struct msim_error *err);
void msim_ops_free(struct msim_ops *o); /* accepts NULL */

/* The row for the operator with this name (a string's number), or NULL; also
 * where `o` is NULL. */
const struct msim_ops_entry *msim_ops_find(const struct msim_ops *o,
                                           uint32_t name);

#endif
