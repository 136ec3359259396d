/* What rules know of the kernels of single operators, and what they do not. */
#include "core/work/opmap/opmap.h"
#include "tests/unit/made_ops.h"

static struct build b;
static struct msim_work w[MSIM_OPMAP_MAX];
static uint32_t n;

static enum msim_opmap_result map(const char *name, const char *args,
                                  const char *outs)
{
    enum msim_opmap_result r;

    build_init(&b);
    build_op(&b, 0, name, args, outs);
    r = msim_opmap(&b.t, NULL, 0, -1, MSIM_OPMAP_AS_TRACED, w, &n);
    build_release(&b);
    return r;
}

/* Whose kernels no rule knows says so; a kernel an element has its own law. */
static void test_opmap_kernels__nearest(void)
{
    CHECK_INT(map("aten::histc", "f32[1000] 100 0. 0.", "f32[100]"),
              MSIM_OPMAP_WORKS);
    CHECK(w[0].nearest);
    CHECK_INT(map("aten::gelu", "f32[1000]", "f32[1000]"), MSIM_OPMAP_WORKS);
    CHECK(!w[0].nearest);
}

int main(void)
{
    RUN(test_opmap_kernels__nearest);
    return check_summary();
}
