/*
 * Grouped products: what the groups cut, and how many there are.
 */
#include "core/work/opmap/opmap.h"
#include "tests/unit/made_ops.h"

static struct build b;
static struct msim_work w[MSIM_OPMAP_MAX];
static uint32_t n;

/*
 * 8 groups: 64 rows of 32 to 16 columns in 8 each; a gradient of weights, whose
 * sums of 64 are cut; and of tokens as columns. 2 x 64 x 32 x 16 FLOPs each.
 */
static void test_opmap_grouped__what_is_cut(void)
{
    static const struct {
        const char *args;
        int64_t m, n, k;
    } cases[] = {
        {"bf16[64,32] bf16[8,32,16] i32[8]", 8, 16, 32},
        {"bf16[32,64] bf16[64,16] i32[8]", 32, 16, 8},
        {"bf16[8,16,32] bf16[32,64] i32[8]", 16, 8, 32},
        {"bf16[8,8,32] bf16[8,32,16]", 8, 16, 32},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        build_init(&b);
        build_op(&b, 0, "aten::_grouped_mm", cases[i].args, NULL);
        CHECK_INT(msim_opmap(&b.t, NULL, 0, -1, MSIM_OPMAP_AS_TRACED, w, &n),
                  MSIM_OPMAP_WORKS);
        CHECK_INT(w[0].family, MSIM_FAMILY_GEMM);
        CHECK_INT((int64_t)w[0].flops, 2 * 64 * 32 * 16);
        CHECK_INT(w[0].u.gemm.batch, 8);
        CHECK_INT(w[0].u.gemm.m, cases[i].m);
        CHECK_INT(w[0].u.gemm.n, cases[i].n);
        CHECK_INT(w[0].u.gemm.k, cases[i].k);
        build_release(&b);
    }
}

int main(void)
{
    RUN(test_opmap_grouped__what_is_cut);
    return check_summary();
}
