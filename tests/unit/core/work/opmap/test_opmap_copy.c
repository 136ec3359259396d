/* Copies and memsets by their own event, and by their operator's tensors. */
#include "core/work/opmap/opmap.h"
#include "tests/unit/made_ops.h"

static struct build b;

static struct msim_gpu *copy_of(const char *op, const char *args,
                                uint64_t bytes)
{
    struct msim_gpu *g;

    build_init(&b);
    build_op(&b, 0, op, args, NULL);
    g = build_kernel(&b, 0, "Memcpy DtoD", 1, 1);
    g->kind = MSIM_GPU_MEMCPY;
    g->copy_kind = MSIM_COPY_D2D;
    g->bytes = bytes;
    return g;
}

/* What is recorded counts; else what the operator writes, if all that it does
 * is one copy. */
static void test_opmap_copy__bytes(void)
{
    static const struct {
        const char *op, *args;
        uint64_t recorded, want;
    } cases[] = {
        {"aten::copy_", "f32[3,5] f16[3,5]", 7, 7},
        {"aten::copy_", "f32[3,5] f16[3,5]", 0, 60},
        {"aten::fill_", "f16[3,5] 0", 0, 30},
        {"aten::_local_scalar_dense", "i64[]", 0, 8},
        {"aten::cat", "(f32[3,5] f32[3,5]) 0", 0, 0},
        {"aten::add", "f32[3,5] f32[3,5]", 0, 0},
        {"aten::mse_loss", "f32[3,5] f32[3,5] 1", 0, 0},
        {"aten::view", "f32[3,5]", 0, 0},
        {"no such", "", 0, 0},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct msim_gpu *g =
            copy_of(cases[i].op, cases[i].args, cases[i].recorded);

        CHECK_INT(msim_copied_bytes(&b.t, g), cases[i].want);
        g->op = MSIM_NONE;
        CHECK_INT(msim_copied_bytes(&b.t, g), cases[i].recorded);
        build_release(&b);
    }
}

static void test_opmap_copy__works(void)
{
    struct msim_gpu g = {
        .kind = MSIM_GPU_MEMCPY, .copy_kind = MSIM_COPY_H2D, .pageable = true};
    struct msim_work w = msim_copy_work(&g, 40);

    CHECK_INT(w.family, MSIM_FAMILY_COPY);
    CHECK_INT(w.dtype, MSIM_DT_U8);
    CHECK_STR(w.variant, "copy");
    CHECK_INT(w.kernels, 1);
    CHECK_INT((int64_t)w.bytes_read, 40);
    CHECK_INT((int64_t)w.bytes_written, 40);
    CHECK_INT(w.u.vector.elems, 40);
    CHECK_INT(w.u.vector.rows, 1);
    CHECK_INT(w.u.vector.cols, 40);
    CHECK_INT(w.u.vector.copy, MSIM_COPY_H2D);
    CHECK(w.u.vector.pageable);
    g.kind = MSIM_GPU_MEMSET;
    g.pageable = false;
    w = msim_copy_work(&g, 40);
    CHECK_STR(w.variant, "fill");
    CHECK_INT((int64_t)w.bytes_read, 0);
    CHECK_INT((int64_t)w.bytes_written, 40);
    CHECK_INT(w.u.vector.copy, MSIM_COPY_D2D);
    CHECK(!w.u.vector.pageable);
}

int main(void)
{
    RUN(test_opmap_copy__bytes);
    RUN(test_opmap_copy__works);
    return check_summary();
}
