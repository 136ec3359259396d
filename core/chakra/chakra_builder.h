/*
 * core/chakra/chakra_builder.h - one Chakra message while it is made: its
 * attributes, and the memory that they point to; for chakra_message.c and
 * chakra_fill.c only.
 */
#ifndef MSIM_CORE_CHAKRA_CHAKRA_BUILDER_H
#define MSIM_CORE_CHAKRA_CHAKRA_BUILDER_H
#include "core/chakra/chakra_nodes.h"
#include "core/chakra/chakra_repr.h"

#include <chakra.pb-c.h>

#define MSIM_CHAKRA_ATTRIBUTES 48

struct msim_chakra_builder {
    const struct msim_chakra_nodes *p;
    const struct msim_trace *t;
    const struct msim_chakra_work *works; /* or NULL */
    uint32_t *kernels; /* of each operator, which share its work */
    int64_t device;    /* that tensors are on */
    uint64_t rounded;  /* times that are not whole nanoseconds */

    /* The current message. */
    ChakraProtoMsg__AttributeProto attr[MSIM_CHAKRA_ATTRIBUTES];
    ChakraProtoMsg__AttributeProto *list[MSIM_CHAKRA_ATTRIBUTES];
    size_t n;
    ChakraProtoMsg__Int64List lists[4];
    size_t n_lists;
    int64_t triples[2][3];
    struct msim_chakra_lists in, out;
    ChakraProtoMsg__IOInfo info[2];
};

void msim_chakra_builder_release(struct msim_chakra_builder *b);

/* Begin a message: no attributes. */
static inline void msim_chakra_begin(struct msim_chakra_builder *b)
{
    b->n = b->n_lists = 0;
}

/* Add an attribute; names and values must live until the message is packed. */
ChakraProtoMsg__AttributeProto *msim_chakra_add(struct msim_chakra_builder *b,
                                                const char *name);
void msim_chakra_add_number(struct msim_chakra_builder *b, const char *name,
                            int64_t value);
void msim_chakra_add_word(struct msim_chakra_builder *b,
                          enum msim_chakra_word word, int64_t value);
void msim_chakra_add_int32(struct msim_chakra_builder *b, const char *name,
                           int32_t value);
void msim_chakra_add_bool(struct msim_chakra_builder *b, const char *name,
                          bool value);
void msim_chakra_add_text(struct msim_chakra_builder *b, const char *name,
                          const char *value);
void msim_chakra_add_list(struct msim_chakra_builder *b, const char *name,
                          int64_t *values, size_t n);

/* Fill `node` from the row that node `n` is made of: type, times, inputs,
 * attributes. */
MSIM_MUST_CHECK
enum msim_status msim_chakra_fill(struct msim_chakra_builder *b,
                                  ChakraProtoMsg__Node *node,
                                  const struct msim_chakra_out_node *n);

#endif
