/*
 * core/chakra/chakra_message.h - one rank's nodes as Chakra messages in a
 * file; for write_chakra.c only.
 */
#ifndef MSIM_CORE_CHAKRA_CHAKRA_MESSAGE_H
#define MSIM_CORE_CHAKRA_CHAKRA_MESSAGE_H
#include "core/base/write_file.h"
#include "core/chakra/chakra_nodes.h"

struct msim_chakra_messages; /* opaque */

/* `p`, `file` and `works` (may be NULL) must outlive `*out`, which is the
 * caller's; release with msim_chakra_messages_free(), which accepts NULL. */
MSIM_MUST_CHECK
enum msim_status msim_chakra_messages_new(struct msim_chakra_messages **out,
                                          const struct msim_chakra_nodes *p,
                                          struct msim_file *file,
                                          const struct msim_chakra_work *works);
void msim_chakra_messages_free(struct msim_chakra_messages *m);

/* Write the metadata, and a node that defines the process groups. */
MSIM_MUST_CHECK
enum msim_status msim_chakra_messages_begin(struct msim_chakra_messages *m);
/* Write node `i` of `p`. */
MSIM_MUST_CHECK
enum msim_status msim_chakra_messages_node(struct msim_chakra_messages *m,
                                           uint32_t i);

/* Nodes written so far, and times that had to be rounded to nanoseconds. */
uint64_t msim_chakra_messages_count(const struct msim_chakra_messages *m);
uint64_t msim_chakra_messages_rounded(const struct msim_chakra_messages *m);

#endif
