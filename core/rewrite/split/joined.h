/*
 * core/rewrite/split/joined.h - the trace of one of several tensor parallel
 * ranks as that of one of fewer, which have larger shares.
 *
 *     8 heads of 32, rows 512 of 2048, 4 ranks     as 2 ranks: 16 heads, rows
 *                                                  1024
 *                                                  as one: 32 heads, all rows
 *
 * Where one rank remains it exchanges nothing: what it gathered or scattered is
 * what it has.
 */
#ifndef MSIM_CORE_REWRITE_SPLIT_JOINED_H
#define MSIM_CORE_REWRITE_SPLIT_JOINED_H
#include "core/trace/trace.h"

/* That of a rank with the shares of `ratio` recorded ones, which divides their
 * number. On success the caller owns `*out` (msim_trace_free()). EUSAGE where
 * the trace does not say which of its sizes are shares, with the reason in
 * `err`; ENOMEM, ELIMIT. */
MSIM_MUST_CHECK
enum msim_status msim_joined_new(struct msim_trace **out,
                                 const struct msim_trace *t,
                                 struct msim_strtab *strings, uint32_t ratio,
                                 struct msim_error *err);

#endif
