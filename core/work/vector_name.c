/*
 * core/work/vector_name.c - what the name of a vector operator says.
 */
#include "core/work/vector_name.h"

#include <string.h>

enum msim_family msim_vector_name_family(const char *op)
{
    static const struct {
        const char *part;
        enum msim_family family;
    } PARTS[] = {
        {"softmax", MSIM_FAMILY_SOFTMAX},
        {"norm", MSIM_FAMILY_NORM},
        {"emb", MSIM_FAMILY_EMBEDDING},
        {"index_select", MSIM_FAMILY_EMBEDDING},
        {"copy", MSIM_FAMILY_COPY},
        {"sum", MSIM_FAMILY_REDUCTION},
        {"mean", MSIM_FAMILY_REDUCTION},
        {"adam", MSIM_FAMILY_OPTIMIZER},
        {"sgd", MSIM_FAMILY_OPTIMIZER},
    };

    if (strcmp(op, "ln") == 0)
        return MSIM_FAMILY_NORM;
    for (size_t i = 0; i < sizeof(PARTS) / sizeof(*PARTS); i++)
        if (strstr(op, PARTS[i].part))
            return PARTS[i].family;
    return MSIM_FAMILY_POINTWISE;
}

double msim_vector_name_inputs(const char *op)
{
    static const char *const BY_INPUTS[][13] = {
        {"fill", "fill_", "bernoulli_"},
        {NULL}, /* all others */
        {"add", "sub", "mul", "div", "pow", "add_", "lerp_",
         "batch_norm_backward", "gelu_backward", "layer_norm_backward",
         "silu_backward", "softmax_backward", "threshold_backward"},
        {"addcmul_", "addcdiv_"},
    };

    for (size_t n = 0; n < sizeof(BY_INPUTS) / sizeof(*BY_INPUTS); n++)
        for (size_t i = 0; i < 13 && BY_INPUTS[n][i]; i++)
            if (strcmp(op, BY_INPUTS[n][i]) == 0)
                return (double)n;
    return 1;
}
