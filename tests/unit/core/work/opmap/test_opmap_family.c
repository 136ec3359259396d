/* Families of GPU activities: by works, by names, by their own kind. */
#include "core/work/opmap/opmap.h"
#include "tests/unit/made_ops.h"

static struct build b;

/* By works where shapes say them, the one of most arithmetic; by the name of
 * the operator, or of its rule's group, where they do not. */
static void test_opmap_family__operators(void)
{
    static const struct {
        const char *name, *args;
        enum msim_family want;
    } cases[] = {
        {"aten::mm", "f32[8,4] f32[4,2]", MSIM_FAMILY_GEMM},
        {"aten::mse_loss", "f32[3,5] f32[3,5] 1", MSIM_FAMILY_POINTWISE},
        {"aten::nonzero", "f32[3,5]", MSIM_FAMILY_REDUCTION},
        /* a product of two FLOPs, and eight in each step of the cell */
        {"aten::_cudnn_rnn",
         "f32[1,1,1] (f32[2,3]) 4 none f32[1,1,1] none 0 1 0 1",
         MSIM_FAMILY_POINTWISE},
        {"aten::mm", "none none", MSIM_FAMILY_GEMM},
        {"aten::_softmax", "none", MSIM_FAMILY_SOFTMAX},
        {"aten::sum", "none", MSIM_FAMILY_REDUCTION},
        {"aten::add", "none", MSIM_FAMILY_POINTWISE},
        {"aten::embedding", "none", MSIM_FAMILY_EMBEDDING},
        {"aten::native_layer_norm", "none", MSIM_FAMILY_NORM},
        {"aten::cudnn_convolution", "none", MSIM_FAMILY_CONV},
        {"aten::_foreach_add_", "none", MSIM_FAMILY_OPTIMIZER},
        {"fbgemm::split_embedding_codegen_forward_x", "none",
         MSIM_FAMILY_EMBEDDING},
        {"triton_poi_x", "none", MSIM_FAMILY_BOUND},
        {"aten::view", "none", MSIM_FAMILY_BOUND},
        {"no such", "none", MSIM_FAMILY_BOUND},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct msim_works *works;

        build_init(&b);
        build_op(&b, 0, cases[i].name, cases[i].args, NULL);
        build_kernel(&b, 0, "k", 1, 64);
        REQUIRE(msim_works_new(&works, &b.t, NULL, MSIM_OPMAP_AS_TRACED) ==
                MSIM_OK);
        if (!CHECK_INT(msim_op_family(works, 0), cases[i].want))
            fprintf(stderr, "  of %s\n", cases[i].name);
        msim_works_free(works);
        build_release(&b);
    }
}

static void test_opmap_family__activities(void)
{
    static const uint8_t want[] = {MSIM_FAMILY_GEMM, MSIM_FAMILY_COLLECTIVE,
                                   MSIM_FAMILY_COPY, MSIM_FAMILY_COPY,
                                   MSIM_FAMILY_BOUND};
    static const enum msim_gpu_kind kinds[] = {MSIM_GPU_KERNEL, MSIM_GPU_COMM,
                                               MSIM_GPU_MEMCPY, MSIM_GPU_MEMSET,
                                               MSIM_GPU_KERNEL};
    struct msim_works *works;
    uint8_t family[5];

    build_init(&b);
    build_op(&b, 0, "aten::mm", "f32[8,4] f32[4,2]", NULL);
    for (int k = 0; k < 5; k++)
        build_kernel(&b, 0, "k", 1, 64)->kind = kinds[k];
    b.gpu[4].op = MSIM_NONE;
    REQUIRE(msim_works_new(&works, &b.t, NULL, MSIM_OPMAP_AS_TRACED) ==
            MSIM_OK);
    msim_gpu_families(works, family);
    for (int k = 0; k < 5; k++)
        CHECK_INT(family[k], want[k]);
    msim_works_free(works);
    build_release(&b);
}

int main(void)
{
    RUN(test_opmap_family__operators);
    RUN(test_opmap_family__activities);
    return check_summary();
}
