/*
 * core/work/opmap/known_name.c - is the name of a vector operator one that is
 * known?
 */
#include "core/work/opmap/opmap.h"

#include "core/base/texts.h"
#include "core/work/opmap/opmap_internal.h"

#include <stdio.h>
#include <string.h>

#define NAME_MAX_LEN 64
#define NAMES_MAX    1024

/* What tables call operators that no trace calls so. Further parts behind a
 * colon are a choice ("scale_matrix:fp8"). */
static const char *const OF_TABLES[] = {
    "ln",
    "emb",
    "rope",
    "softmax_backward",
    "silu_mul",
    "scale_matrix",
    "input_layernorm",
    "post_attention_layernorm",
    "batch_norm_backward",
    "layer_norm_backward",
    "group_norm_backward",
    "embedding_backward",
    "copy",
    "fill",
    "adam",
    "adamw",
    "sgd",
};
#define N_OF_TABLES (sizeof(OF_TABLES) / sizeof(OF_TABLES[0]))

bool msim_vector_name_known(const char *op)
{
    char plain[NAME_MAX_LEN];
    size_t len = strcspn(op, ":");

    if (msim_opmap_find(op))
        return true;
    if (op[len] == ':' && op[len + 1] == ':')
        return false;
    if (len == 0 || len >= sizeof(plain))
        return false;
    memcpy(plain, op, len);
    plain[len] = '\0';
    for (size_t i = 0; i < N_OF_TABLES; i++)
        if (strcmp(plain, OF_TABLES[i]) == 0)
            return true;
    /* In place, and with a number as the second operand: add_, mulu_. */
    if (len > 1 && plain[len - 1] == '_')
        plain[--len] = '\0';
    if (len > 1 && plain[len - 1] == 'u' && !msim_opmap_find(plain))
        plain[--len] = '\0';
    return msim_opmap_find(plain) != NULL;
}

bool msim_vector_name_nearest(const char *op)
{
    const struct msim_opmap_row *row = msim_opmap_find(op);

    return row && row->flags & MSIM_OPMAP_NEAREST;
}

void msim_vector_name_unknown(const char *op, char *text, size_t size)
{
    const char *words[NAMES_MAX], *near;
    size_t n = 0;

    for (; n < N_OF_TABLES; n++)
        words[n] = OF_TABLES[n];
    for (uint32_t k = 0; n < NAMES_MAX && k < msim_opmap_names.n; k++) {
        const char *name = msim_opmap_names.rows[k].name;

        if (name[0] != '_')
            words[n++] = name;
    }
    near = msim_nearest_word(msim_opmap_bare_name(op), words, n);
    if (near)
        snprintf(text, size, "op '%.40s' is not known, did you mean '%s'?", op,
                 near);
    else
        snprintf(text, size, "op '%.40s' is not known", op);
}
