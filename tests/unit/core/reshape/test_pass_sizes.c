/* What a recorded pass was of: samples, tokens, context. */
#include "core/reshape/reshape.h"

#include "tests/unit/made_ops.h"

static struct build b;

static void check(int64_t batch, int64_t tokens, int64_t context)
{
    struct msim_pass_sizes s;

    msim_pass_sizes_of(&s, &b.t);
    CHECK_INT(s.batch, batch);
    CHECK_INT(s.tokens, tokens);
    CHECK_INT(s.context, context);
    build_release(&b);
}

/* Of positions one row is looked up for all samples. */
static void test_pass_sizes__the_widest_look_up(void)
{
    build_init(&b);
    build_op(&b, 0, "aten::embedding", "f16[512,64] i64[1,128]",
             "f16[1,128,64]");
    build_op(&b, 0, "aten::embedding", "f16[9000,64] i64[8,128]",
             "f16[8,128,64]");
    build_op(&b, 0, "aten::embedding", "f16[2,64] i64[8,7]", "f16[8,7,64]");
    check(8, 128, -1);
}

/* Attention of the pass's own queries, not of another length's. */
static void test_pass_sizes__keys_of_earlier_tokens(void)
{
    build_init(&b);
    build_op(&b, 0, "aten::embedding", "f16[9000,64] i64[4,1]", "f16[4,1,64]");
    build_op(&b, 0, "aten::scaled_dot_product_attention",
             "f16[4,2,16,32] f16[4,2,99,32] f16[4,2,99,32]", "f16[4,2,16,32]");
    build_op(&b, 0, "aten::scaled_dot_product_attention",
             "f16[4,2,1,32] f16[4,2,512,32] f16[4,2,512,32]", "f16[4,2,1,32]");
    build_op(&b, 0, "aten::scaled_dot_product_attention",
             "f16[4,2,1,32] f16[4,2,700,32] f16[4,2,700,32]", "f16[4,2,1,32]");
    check(4, 1, 511);
}

static void test_pass_sizes__by_attention_alone(void)
{
    build_init(&b);
    build_op(&b, 0, "aten::_scaled_dot_product_flash_attention",
             "f16[3,2,40,32] f16[3,2,40,32] f16[3,2,40,32]", "f16[3,2,40,32]");
    check(3, 40, 0);
}

/* Fewer keys than queries are of another sequence (of an encoder). */
static void test_pass_sizes__fewer_keys_tell_nothing(void)
{
    build_init(&b);
    build_op(&b, 0, "aten::scaled_dot_product_attention",
             "f16[3,2,40,32] f16[3,2,39,32] f16[3,2,39,32]", "f16[3,2,40,32]");
    check(0, 0, -1);
}

static void test_pass_sizes__images_have_samples(void)
{
    build_init(&b);
    build_op(&b, 0, "aten::conv2d", "f16[16,3,224,224] f16[64,3,7,7]",
             "f16[16,64,112,112]");
    check(16, 0, -1);
}

/* Indices in a row are of so many tokens, and of nobody knows how many samples.
 */
static void test_pass_sizes__a_row_of_indices(void)
{
    build_init(&b);
    build_op(&b, 0, "aten::mm", "f16[16,64] f16[64,64]", "f16[16,64]");
    build_op(&b, 0, "aten::embedding", "f16[9000,64]", "f16[16,64]");
    check(0, 0, -1);
}

static void test_pass_sizes__a_step_of_training(void)
{
    struct msim_pass_sizes s;

    build_init(&b);
    build_op(&b, 0, "aten::mm", "f16[16,64] f16[64,64]", "f16[16,64]");
    msim_pass_sizes_of(&s, &b.t);
    CHECK(!s.trains);
    build_op(&b, 0, "autograd::engine::evaluate_function: MmBackward0", "", "");
    msim_pass_sizes_of(&s, &b.t);
    CHECK(s.trains);
    build_release(&b);
    build_init(&b);
    build_op(&b, 0, "aten::mm", "f16[16,64] f16[64,64]", "f16[16,64]");
    b.ops[0].scope = 1;
    msim_pass_sizes_of(&s, &b.t);
    CHECK(s.trains);
    build_release(&b);
}

int main(void)
{
    RUN(test_pass_sizes__the_widest_look_up);
    RUN(test_pass_sizes__keys_of_earlier_tokens);
    RUN(test_pass_sizes__by_attention_alone);
    RUN(test_pass_sizes__fewer_keys_tell_nothing);
    RUN(test_pass_sizes__images_have_samples);
    RUN(test_pass_sizes__a_row_of_indices);
    RUN(test_pass_sizes__a_step_of_training);
    return check_summary();
}
