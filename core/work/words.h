/*
 * core/work/words.h - the words by which tables of measured times and
 * experiments name dtypes, collectives and the passes of a convolution.
 *
 * Several sources spell one thing in several ways ("half", "float16"); all of
 * them are read. What is written has one spelling: msim_dtype_text(),
 * msim_collective_text(), msim_conv_pass_text(). Everything is static text.
 */
#ifndef MSIM_CORE_WORK_WORDS_H
#define MSIM_CORE_WORK_WORDS_H
#include "core/work/work.h"

/*
 * The dtype of the arithmetic's inputs, MSIM_DT_UNKNOWN for no known word.
 * Some words say more than that: how fp32 is rounded ("tf32") or how weights
 * are packed ("nvfp4", "int4_wo"). `*variant` becomes such a word, as in
 * msim_work.variant; NULL for a plain dtype.
 */
enum msim_dtype msim_dtype_parse(const char *word, const char **variant);

/* MSIM_COLL_UNKNOWN for no known word; "all_reduce", "all-reduce" and
 * "AllReduce" are one. Both halves of a point-to-point transfer ("send_recv")
 * are MSIM_COLL_SEND. */
enum msim_collective msim_collective_parse(const char *word);

/* False, and `*pass` untouched, for no known word. */
bool msim_conv_pass_parse(const char *word, enum msim_conv_pass *pass);
const char *msim_conv_pass_text(enum msim_conv_pass pass);

#endif
