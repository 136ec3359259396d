/* The works of all operators of a rank: those of each, equal ones once. */
#include "core/work/opmap/opmap.h"
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

/* Of 250 lists, each of its own and twice: slots grow, and all are found. */
static void test_works__many(void)
{
    const struct msim_work *got;
    struct msim_works *works;
    static struct build b;
    char args[64];
    uint32_t n;

    build_init(&b);
    for (uint32_t i = 0; i < 250; i++) {
        snprintf(args, sizeof(args), "f32[8,4] f32[4,%u]", 1 + i % 125);
        build_op(&b, 0, "aten::mm", args, NULL);
    }
    REQUIRE(msim_works_new(&works, &b.t, NULL, MSIM_OPMAP_AS_TRACED) ==
            MSIM_OK);
    for (uint32_t i = 0; i < 250; i++) {
        CHECK_INT(msim_works_of(works, i, &got, &n), MSIM_OPMAP_WORKS);
        CHECK_INT(got->u.gemm.n, 1 + i % 125);
    }
    CHECK_INT(works->n_lists, 125);
    CHECK_INT(works->n_works, 125);
    msim_works_free(works);
    build_release(&b);
}

/* Where the GPU was seen, what launched nothing has none, and what launched
 * two kernels has both; a bound is told from a work. */
static void test_works__launches(void)
{
    const struct msim_work *got;
    struct msim_works *works;
    static struct build b;
    uint32_t n;

    build_init(&b);
    b.t.has_gpu_events = true;
    build_op(&b, 0, "aten::mm", PRODUCT, NULL);
    build_op(&b, 0, "aten::mm", PRODUCT, NULL);
    build_op(&b, 0, "lib::unknown", PRODUCT, NULL);
    build_kernel(&b, 1, "a", 1, 64);
    build_kernel(&b, 1, "b", 1, 64);
    build_kernel(&b, 2, "c", 1, 64);
    REQUIRE(msim_works_new(&works, &b.t, NULL, MSIM_OPMAP_AS_TRACED) ==
            MSIM_OK);
    CHECK_INT(msim_works_of(works, 0, &got, &n), MSIM_OPMAP_NO_KERNEL);
    CHECK_INT(n, 0);
    CHECK(!got);
    CHECK_INT(msim_works_of(works, 1, &got, &n), MSIM_OPMAP_WORKS);
    CHECK_INT(got->kernels, 2);
    CHECK_INT(msim_works_of(works, 2, &got, &n), MSIM_OPMAP_UNKNOWN);
    CHECK_INT(n, 1);
    CHECK_INT(got->family, MSIM_FAMILY_BOUND);
    msim_works_free(works);
    build_release(&b);
}

/* A transfer is launched by what is inside it. */
static void test_works__transfers(void)
{
    const struct msim_work *got;
    struct msim_works *works;
    static struct build b;
    uint32_t n;

    build_init(&b);
    b.t.has_gpu_events = true;
    build_op(&b, 0, "record_param_comms", "", NULL);
    build_op(&b, 1, "nccl:all_reduce", "", NULL);
    b.ops[0].comm = 0;
    b.comms[0] = (struct msim_comm){.in_elems = 9,
                                    .group = MSIM_NONE,
                                    .collective = MSIM_COLL_ALL_REDUCE,
                                    .dtype = MSIM_DT_F32};
    b.t.n_comms = 1;
    REQUIRE(msim_works_new(&works, &b.t, NULL, MSIM_OPMAP_AS_TRACED) ==
            MSIM_OK);
    CHECK_INT(msim_works_of(works, 0, &got, &n), MSIM_OPMAP_WORKS);
    CHECK_INT((int64_t)got->u.coll.bytes, 36);
    CHECK_INT(msim_works_of(works, 1, &got, &n), MSIM_OPMAP_NO_KERNEL);
    msim_works_free(works);
    build_release(&b);
}

/* Ranks have works of their own, at the place where each is to run: tensors of
 * a CPU ask a GPU for what it does in their stead. */
static void test_works__ranks(void)
{
    static struct build b[2];
    struct msim_trace *ranks[] = {&b[0].t, &b[1].t};
    const struct msim_work *got;
    struct msim_works **works;
    uint32_t n;

    for (int i = 0; i < 2; i++) {
        build_init(&b[i]);
        build_op(&b[i], 0, "aten::mm",
                 i ? "f32[8,4]@ f32[4,16]@" : "f32[8,4]@ f32[4,32]@", NULL);
    }
    b[1].t.cpu_only = true;
    REQUIRE(msim_works_new_ranks(&works, ranks, 2, NULL, false) == MSIM_OK);
    CHECK(works[0]->trace == ranks[0] && works[1]->trace == ranks[1]);
    CHECK_INT(msim_works_of(works[0], 0, &got, &n), MSIM_OPMAP_NO_KERNEL);
    CHECK_INT(msim_works_of(works[1], 0, &got, &n), MSIM_OPMAP_WORKS);
    CHECK_INT(got->u.gemm.n, 16);
    msim_works_free_ranks(works, 2);
    msim_works_free_ranks(NULL, 2);
    msim_works_free(NULL);
    build_release(&b[0]);
    build_release(&b[1]);
}

int main(void)
{
    RUN(test_works__many);
    RUN(test_works__launches);
    RUN(test_works__transfers);
    RUN(test_works__ranks);
    RUN(test_works__equal_works_are_stored_once);
    return check_summary();
}
