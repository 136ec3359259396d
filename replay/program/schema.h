/*
 * replay/program/schema.h - the signature of an operator, as an execution trace
 * writes it:
 *
 *     aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor
 *
 * Only what a call needs is kept: which argument is called what, which are
 * given by name alone, what they are when left out, which are written, and how
 * many results there are. Pieces point into the text, which must stay.
 */
#ifndef MSIM_REPLAY_PROGRAM_SCHEMA_H
#define MSIM_REPLAY_PROGRAM_SCHEMA_H
#include "core/base/status.h"

#include <stdbool.h>

#define MSIM_SCHEMA_ARGS 64

enum msim_schema_kind {
    MSIM_SCHEMA_PLAIN, /* int, float, bool, str, Scalar */
    MSIM_SCHEMA_TENSOR,
    MSIM_SCHEMA_DTYPE,
    MSIM_SCHEMA_LAYOUT,
    MSIM_SCHEMA_DEVICE,
    MSIM_SCHEMA_MEMORY_FORMAT,
    MSIM_SCHEMA_GENERATOR,
    MSIM_SCHEMA_STORAGE,
    MSIM_SCHEMA_OBJECT, /* process groups and others that no trace holds */
};

struct msim_schema_piece {
    const char *at;
    uint32_t len;
};

struct msim_schema_arg {
    struct msim_schema_piece name, missing; /* missing: its default; len 0:
                                               it has to be given */
    uint8_t kind;
    bool by_name; /* after the `*` */
    bool written; /* Tensor(a!) */
    bool list;
    bool optional; /* Tensor?: None will do */
    bool real;     /* float: PyTorch's traces cut it to six decimals */
};

struct msim_schema {
    const char *text;
    char name[96], overload[64];
    struct msim_schema_arg args[MSIM_SCHEMA_ARGS];
    uint32_t n_args, n_results;
    bool results_are_lists; /* the only result is a list */
    bool collective;        /* c10d's, with a process group among its arguments;
                               such signatures do not mark what is written:
                               all tensors but those called input are */
};

/*
 * Read `text` into `*out`. False where it is no signature, has more than
 * MSIM_SCHEMA_ARGS arguments, or names that are no words: names become part of
 * a program.
 */
bool msim_schema_read(struct msim_schema *out, const char *text);

/* Is argument `a` called `name`? */
bool msim_schema_is(const struct msim_schema_arg *a, const char *name);

#endif
