/*
 * core/read/chakra/read_chakra.h - Chakra execution traces (protobuf, .et);
 * used by read_file.c as the other formats' handlers are.
 *
 * Messages are taken from the pieces of an input as they come; only one that
 * a piece cuts is copied. Files of this project come back as they were
 * written (chakra.h says what nodes carry for that). Files of others have no
 * launches and often no starts: both are made, chakra_finish.c says how.
 */
#ifndef MSIM_CORE_READ_CHAKRA_READ_CHAKRA_H
#define MSIM_CORE_READ_CHAKRA_READ_CHAKRA_H
#include "core/read/read_state.h"

/* `keep`: the messages go to the trace as they are (msim_load_options). */
enum msim_status msim_chakra_new(struct msim_reader *r, bool keep);
/* The next bytes; a problem with a message is in r->problem. */
MSIM_MUST_CHECK
enum msim_status msim_chakra_feed(struct msim_reader *r, const char *bytes,
                                  size_t len);
/* No more bytes: ETRUNCATED within a message. */
MSIM_MUST_CHECK
enum msim_status msim_chakra_end(struct msim_reader *r);
/* All nodes are in: order, nest and link them. */
MSIM_MUST_CHECK
enum msim_status msim_chakra_finish(struct msim_reader *r);
/* Offset of the byte that a failed call is about. */
uint64_t msim_chakra_offset(const struct msim_reader *r);
void msim_chakra_free(struct msim_chakra *c); /* accepts NULL */

#endif
