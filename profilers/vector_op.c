/*
 * profilers/vector_op.c - the vector operators that our own backends time.
 */
#include "profilers/experiment.h"

#include <stddef.h>
#include <string.h>

static const struct {
    const char *text;
    enum msim_vector_kind kind;
} OPS[] = {
#define X(name, text, kind) {text, MSIM_VECTOR_##kind},
    MSIM_VECTOR_MAP(X)
#undef X
};

const char *msim_vector_op_text(enum msim_vector_op op)
{
    return op < MSIM_VOP_COUNT ? OPS[op].text : NULL;
}

enum msim_vector_op msim_vector_op_parse(const char *text)
{
    int i = 0;

    while (i < MSIM_VOP_COUNT && (!text || strcmp(OPS[i].text, text) != 0))
        i++;
    return (enum msim_vector_op)i;
}

enum msim_vector_kind msim_vector_op_kind(enum msim_vector_op op)
{
    return OPS[op].kind;
}
