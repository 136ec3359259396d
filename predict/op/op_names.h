/*
 * predict/op/op_names.h - what is known of the names of operators that rows of
 * a table have: a table has few, and looking one up takes longer than an
 * estimate, longest of one that nobody knows.
 */
#ifndef MSIM_PREDICT_OP_OP_NAMES_H
#define MSIM_PREDICT_OP_OP_NAMES_H
#include <stdbool.h>

#define MSIM_OP_NAMES  64
#define MSIM_OP_REASON 128 /* bytes, of what a row lacks */

struct msim_op_name {
    char text[64];            /* "": of none */
    bool known, nearest;      /* core/work/opmap/known_name.h */
    char why[MSIM_OP_REASON]; /* where it is not known */
};

/* Some names, by their hashes, and behind them a long one; all zero: none. A
 * thread has its own. */
struct msim_op_names {
    struct msim_op_name of[MSIM_OP_NAMES + 1];
};

/* What is known of a name; it stays until the next call. */
const struct msim_op_name *msim_op_name_find(struct msim_op_names *names,
                                             const char *text);

#endif
