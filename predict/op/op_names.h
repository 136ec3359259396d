/*
 * predict/op/op_names.h - what is known of the names of operators that rows of
 * a table have: a table has few, and looking one up takes longer than an
 * estimate, longest of one that nobody knows.
 */
#ifndef MSIM_PREDICT_OP_OP_NAMES_H
#define MSIM_PREDICT_OP_OP_NAMES_H
#include <stdbool.h>

struct msim_op_name {
    char text[64];       /* "": of none */
    bool known, nearest; /* core/work/opmap/opmap.h */
    char why[128];       /* where it is not known */
};

/* Some names, by their hashes, and a long one; all zero: none. A thread has its
 * own. */
struct msim_op_names {
    struct msim_op_name of[64], is_long;
};

/* What is known of a name; it stays until the next call. */
const struct msim_op_name *msim_op_name_find(struct msim_op_names *names,
                                             const char *text);

#endif
