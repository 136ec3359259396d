/*
 * core/base/strtab.h - interned strings: equal text, equal number.
 *
 * Numbers count up from 0 in the order of first use; number 0 is always the
 * empty string. Text is kept NUL-terminated in an arena and never moves.
 * Not thread-safe.
 */
#ifndef MSIM_CORE_BASE_STRTAB_H
#define MSIM_CORE_BASE_STRTAB_H
#include "core/base/status.h"

#include <stddef.h>

struct msim_strtab; /* opaque */

/* On success `*out` is owned by the caller; on failure it is NULL. */
MSIM_MUST_CHECK
enum msim_status msim_strtab_new(struct msim_strtab **out);

/* Accepts NULL. */
void msim_strtab_free(struct msim_strtab *t);

/* Intern `len` bytes (they may hold NUL: the text then ends there). */
MSIM_MUST_CHECK
enum msim_status msim_strtab_add(struct msim_strtab *t, const char *s,
                                 size_t len, uint32_t *id);

/*
 * Intern all texts of `from`, in the order of their numbers: `(*numbers)[i]` is
 * the number in `t` of text `i` of `from`. On success it is the caller's to
 * free, on failure NULL.
 */
MSIM_MUST_CHECK
enum msim_status msim_strtab_join(struct msim_strtab *t,
                                  const struct msim_strtab *from,
                                  uint32_t **numbers);

/* The number of `s`, or UINT32_MAX where it was never added. */
uint32_t msim_strtab_find(const struct msim_strtab *t, const char *s);

/* The text of a number given out by this table. */
const char *msim_strtab_text(const struct msim_strtab *t, uint32_t id);

uint32_t msim_strtab_count(const struct msim_strtab *t);

#endif
