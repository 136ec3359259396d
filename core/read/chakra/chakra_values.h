/*
 * core/read/chakra/chakra_values.h - attributes of Chakra messages by value,
 * and the metadata of a file; for read_chakra.c and chakra_values.c only.
 */
#ifndef MSIM_CORE_READ_CHAKRA_CHAKRA_VALUES_H
#define MSIM_CORE_READ_CHAKRA_CHAKRA_VALUES_H
#include "core/read/reader.h"

struct ChakraProtoMsg__AttributeProto; /* protobuf-c makes these */
struct ChakraProtoMsg__Int64List;
struct ChakraProtoMsg__GlobalMetadata;

/* A whole number of any type; false for all else. */
bool msim_chakra_value_number(const struct ChakraProtoMsg__AttributeProto *a,
                              int64_t *value);
/* A text, or NULL for all else. */
const char *
msim_chakra_value_text(const struct ChakraProtoMsg__AttributeProto *a);
/* A list of int64, or NULL for all else. */
const struct ChakraProtoMsg__Int64List *
msim_chakra_value_list(const struct ChakraProtoMsg__AttributeProto *a);

/* Take what the metadata have about the file and, in our own files, about the
 * trace. */
MSIM_MUST_CHECK
enum msim_status
msim_chakra_metadata(struct msim_reader *r,
                     const struct ChakraProtoMsg__GlobalMetadata *m);

#endif
