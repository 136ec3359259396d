/*
 * core/chakra/chakra_builder.c - the attributes of one message.
 */
#include "core/chakra/write_chakra_internal.h"

#include <stdlib.h>

typedef ChakraProtoMsg__AttributeProto attribute;

void msim_chakra_builder_release(struct msim_chakra_builder *b)
{
    free(b->kernels);
    msim_chakra_lists_release(&b->in);
    msim_chakra_lists_release(&b->out);
}

attribute *msim_chakra_add(struct msim_chakra_builder *b, const char *name)
{
    attribute *a = &b->attr[b->n];

    chakra_proto_msg__attribute_proto__init(a);
    a->name = (char *)name;
    b->list[b->n++] = a;
    return a;
}

void msim_chakra_add_number(struct msim_chakra_builder *b, const char *name,
                            int64_t value)
{
    attribute *a = msim_chakra_add(b, name);

    a->value_case = CHAKRA_PROTO_MSG__ATTRIBUTE_PROTO__VALUE_INT64_VAL;
    a->int64_val = value;
}

void msim_chakra_add_word(struct msim_chakra_builder *b,
                          enum msim_chakra_word word, int64_t value)
{
    msim_chakra_add_number(b, msim_chakra_word_text(word), value);
}

void msim_chakra_add_int32(struct msim_chakra_builder *b, const char *name,
                           int32_t value)
{
    attribute *a = msim_chakra_add(b, name);

    a->value_case = CHAKRA_PROTO_MSG__ATTRIBUTE_PROTO__VALUE_INT32_VAL;
    a->int32_val = value;
}

void msim_chakra_add_bool(struct msim_chakra_builder *b, const char *name,
                          bool value)
{
    attribute *a = msim_chakra_add(b, name);

    a->value_case = CHAKRA_PROTO_MSG__ATTRIBUTE_PROTO__VALUE_BOOL_VAL;
    a->bool_val = value;
}

void msim_chakra_add_text(struct msim_chakra_builder *b, const char *name,
                          const char *value)
{
    attribute *a = msim_chakra_add(b, name);

    a->value_case = CHAKRA_PROTO_MSG__ATTRIBUTE_PROTO__VALUE_STRING_VAL;
    a->string_val = (char *)value;
}

void msim_chakra_add_list(struct msim_chakra_builder *b, const char *name,
                          int64_t *values, size_t n)
{
    ChakraProtoMsg__Int64List *l = &b->lists[b->n_lists++];
    attribute *a = msim_chakra_add(b, name);

    chakra_proto_msg__int64_list__init(l);
    l->values = values;
    l->n_values = n;
    a->value_case = CHAKRA_PROTO_MSG__ATTRIBUTE_PROTO__VALUE_INT64_LIST;
    a->int64_list = l;
}
