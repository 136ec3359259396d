/*
 * core/work/vector_name.c - families and inputs of vector operators, by name.
 */
#include "core/work/work.h"

#include "core/base/texts.h"

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

    size_t first = sizeof(PARTS) / sizeof(*PARTS); /* of those in it */

    if (msim_same_text(op, "ln"))
        return MSIM_FAMILY_NORM;
    for (; *op; op++)
        for (size_t i = 0; i < first; i++)
            if (*op == PARTS[i].part[0] &&
                strncmp(op, PARTS[i].part, strlen(PARTS[i].part)) == 0)
                first = i;
    return first < sizeof(PARTS) / sizeof(*PARTS) ? PARTS[first].family
                                                  : MSIM_FAMILY_POINTWISE;
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
            if (msim_same_text(op, BY_INPUTS[n][i]))
                return (double)n;
    return 1;
}

/* Rows of a table are looked up by numbers of 8 bytes, or added to in a
 * gradient that is cleared before. */
static void count_table(struct msim_work *w, double table_rows)
{
    double each = msim_dtype_bytes(w->dtype);
    double rows = (double)w->u.vector.rows, cols = (double)w->u.vector.cols;

    w->u.vector.table_rows = table_rows;
    w->u.vector.lookups = rows;
    w->u.vector.row_bytes = cols * each;
    w->bytes_read += 8 * rows;
    if (msim_same_text(w->variant, "embedding_backward"))
        w->bytes_written += table_rows * cols * each;
}

void msim_vector_name_count(struct msim_work *w, const char *op, double bytes,
                            double table_rows)
{
    double inputs = msim_vector_name_inputs(op);

    w->family = msim_vector_name_family(op);
    w->variant = op;
    w->in_place = msim_work_is_in_place(op);
    if (bytes <= 0)
        bytes = (inputs + 1) * (double)w->u.vector.elems *
                msim_dtype_bytes(w->dtype);
    w->bytes_read = bytes * inputs / (inputs + 1);
    w->bytes_written = bytes / (inputs + 1);
    if (table_rows > 0)
        count_table(w, table_rows);
}
