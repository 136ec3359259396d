/*
 * replay/emit/text.h - text of a Python program that grows; a failure is kept
 * until it is asked for.
 *
 * What a trace says becomes part of a program in three ways, and no other: as a
 * string, as a word that can only be a name, and as numbers.
 */
#ifndef MSIM_REPLAY_EMIT_TEXT_H
#define MSIM_REPLAY_EMIT_TEXT_H
#include "core/base/containers.h"

struct msim_text {
    struct msim_vec bytes; /* its owner frees bytes.data */
    enum msim_status status;
};

/* Add what `fmt` says, in which each %s becomes a string of Python's, with its
 * quotes, in ASCII and on one line. */
void msim_text_add(struct msim_text *t, const char *fmt, ...) MSIM_PRINTF(2, 3);

/* Add a word: letters, digits, `_`, dots. Anything else is EINTERNAL: a program
 * is not to be made of it. */
void msim_text_word(struct msim_text *t, const char *word, size_t n);

/* Add a piece of a program, which is ours. */
void msim_text_put(struct msim_text *t, const char *ours);
void msim_text_bytes(struct msim_text *t, const char *ours, size_t n);

/* Add all of `more`, with its failure, and free it. */
void msim_text_take(struct msim_text *t, struct msim_text *more);

/* What is there, ended by a NUL; "" while it is empty or after a failure. */
const char *msim_text_get(struct msim_text *t);

#endif
