/*
 * What the name of a vector operator says: families as works of traces have
 * them, and how many tensors are read.
 */
#include "core/work/work.h"
#include "tests/check.h"

static void test_vector_name__families(void)
{
    static const struct {
        const char *op;
        enum msim_family family;
    } OPS[] = {
        {"add_", MSIM_FAMILY_POINTWISE},
        {"ln", MSIM_FAMILY_NORM},
        {"layer_norm_backward", MSIM_FAMILY_NORM},
        {"batch_norm", MSIM_FAMILY_NORM},
        {"softmax_backward", MSIM_FAMILY_SOFTMAX},
        {"emb", MSIM_FAMILY_EMBEDDING},
        {"index_select", MSIM_FAMILY_EMBEDDING},
        {"embedding_backward", MSIM_FAMILY_EMBEDDING},
        {"copy_", MSIM_FAMILY_COPY},
        {"sum", MSIM_FAMILY_REDUCTION},
    };

    for (size_t i = 0; i < sizeof(OPS) / sizeof(*OPS); i++)
        CHECK_INT(msim_vector_name_family(OPS[i].op), OPS[i].family);
}

static void test_vector_name__inputs(void)
{
    static const struct {
        const char *op;
        int inputs;
    } OPS[] = {
        {"fill", 0},          {"fill_", 0},
        {"bernoulli_", 0},    {"relu", 1},
        {"copy_", 1},         {"addu", 1},
        {"add", 2},           {"lerp_", 2},
        {"gelu_backward", 2}, {"threshold_backward", 2},
        {"addcmul_", 3},      {"addcdiv_", 3},
    };

    for (size_t i = 0; i < sizeof(OPS) / sizeof(*OPS); i++)
        CHECK_INT((int)msim_vector_name_inputs(OPS[i].op), OPS[i].inputs);
}

int main(void)
{
    RUN(test_vector_name__families);
    RUN(test_vector_name__inputs);
    return check_summary();
}
