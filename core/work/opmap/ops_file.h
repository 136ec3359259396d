/*
 * core/work/opmap/ops_file.h - a user's own table of operators (`--ops FILE`),
 * which comes before the built-in one.
 *
 * A CSV file. The first row names the columns; a file has those that it needs,
 * in any order:
 *
 *   operator   name or glob (*, ?, [...]); the first row that matches counts
 *   like       an operator of the built-in table, whose row it has; or
 *   rule       a rule of the program, with its columns
 *              (core/work/opmap/ops_rule.h); or
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
 * Sizes are formulas of the operator's arguments (core/work/opmap/ops_expr.h).
 * Where a formula has no value for an operator, the operator gets a bound. The
 * built-in table (data/ops) is in the same language, less formulas; as in it a
 * row describes the kernels that the operator itself
 * launches; operators that it calls count by themselves.
 */
#ifndef MSIM_CORE_WORK_OPMAP_OPS_FILE_H
#define MSIM_CORE_WORK_OPMAP_OPS_FILE_H
#include "core/base/strtab.h"
#include "core/work/opmap/ops_expr.h"

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
