/* The works of all operators of a rank: those of each, equal ones once. */
#include "core/work/opmap/works.h"
#include "tests/unit/made_ops.h"

static const char PRODUCT[] = "f32[8,4] f32[4,16]";

/* Two equal products, a view between them and a product of other sizes: three
 * lists, of which the view's is empty. */
static void test_works__equal_works_are_stored_once(void)
{
    const struct msim_work *first, *second, *other;
    struct msim_works *works;
    struct build b;
    uint32_t n;

    build_init(&b);
    build_op(&b, 0, "aten::mm", PRODUCT, NULL);
    build_op(&b, 0, "aten::view", "f32[8,16]", NULL);
    build_op(&b, 0, "aten::mm", PRODUCT, NULL);
    build_op(&b, 0, "aten::mm", "f32[8,4] f32[4,32]", NULL);
    REQUIRE(msim_works_new(&works, &b.t, NULL, MSIM_OPMAP_AS_TRACED) ==
            MSIM_OK);
    CHECK_INT(msim_works_of(works, 0, &first, &n), MSIM_OPMAP_WORKS);
    CHECK_INT(n, 1);
    CHECK_INT(first->u.gemm.n, 16);
    CHECK_INT(msim_works_of(works, 2, &second, &n), MSIM_OPMAP_WORKS);
    CHECK(first == second);
    CHECK_INT(msim_works_of(works, 3, &other, &n), MSIM_OPMAP_WORKS);
    CHECK_INT(other->u.gemm.n, 32);
    CHECK_INT(msim_works_of(works, 1, &other, &n), MSIM_OPMAP_NO_KERNEL);
    CHECK_INT(n, 0);
    CHECK_INT(works->n_lists, 3);
    CHECK_INT(works->n_works, 2);
    msim_works_free(works);
    build_release(&b);
}

int main(void)
{
    RUN(test_works__equal_works_are_stored_once);
    return check_summary();
}
