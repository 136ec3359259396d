/*
 * predict/op/op_names.c - names of operators, looked up once.
 */
#include "predict/op/op_table_internal.h"

#include "core/base/hash.h"
#include "core/base/texts.h"
#include "core/work/opmap/opmap.h"

#include <stdio.h>
#include <string.h>

const struct msim_op_name *msim_op_name_find(struct msim_op_names *names,
                                             const char *text)
{
    bool is_short = strlen(text) < sizeof(names->of->text);
    uint64_t at = msim_hash_text(MSIM_HASH_START, text) %
                  (sizeof(names->of) / sizeof(*names->of));
    struct msim_op_name *n = is_short ? &names->of[at] : &names->is_long;

    if (is_short && msim_same_text(n->text, text))
        return n;
    snprintf(n->text, sizeof(n->text), "%s", text);
    n->known = msim_vector_name_known(text);
    n->nearest = n->known && msim_vector_name_nearest(text);
    if (!n->known)
        msim_vector_name_unknown(text, n->why, sizeof(n->why));
    return n;
}
