/*
 * models/host/host_gpu.c: what a GPU's host calls where a capture of a CPU, or
 * of the meta device, has something else.
 */
#include "models/host/host_gpu.h"

#include "tests/unit/made_ops.h"

static struct build b;

/* Every pair of names, and whether what a CPU has inside is not called. */
static const struct {
    const char *cpu, *gpu, *first; /* first: that it calls, or NULL */
    int n;                         /* that it calls */
    bool is_kernel;
} ROWS[] = {
    {"aten::native_batch_norm", "aten::cudnn_batch_norm", "aten::empty_like", 7,
     true},
    {"aten::native_batch_norm_backward", "aten::cudnn_batch_norm_backward",
     "aten::empty", 5, true},
    {"NativeBatchNormBackward0", "CudnnBatchNormBackward0", NULL, 0, false},
    {"autograd::engine::evaluate_function: NativeBatchNormBackward0",
     "autograd::engine::evaluate_function: CudnnBatchNormBackward0", NULL, 0,
     false},
    {"aten::mkldnn_convolution", "aten::cudnn_convolution", NULL, 0, true},
    {"aten::convolution_backward", "aten::convolution_backward", "aten::empty",
     2, true},
    {"aten::relu", "aten::relu", "aten::clamp_min", 1, false},
    {"aten::relu_", "aten::relu_", "aten::clamp_min_", 1, false},
};
#define N_ROWS (sizeof(ROWS) / sizeof(*ROWS))

static void check_inside(uint32_t op, const char *first, int n)
{
    const char *const *inside = msim_host_gpu_inside(&b.t, op);
    int count = 0;

    CHECK_STR(inside[0], first);
    while (inside[count])
        count++;
    CHECK_INT(count, n);
}

/* On a capture of a CPU names are those of a GPU; elsewhere they stay. What a
 * kernel has inside is replaced, what another has is kept. */
static void test_host_gpu__rows(void)
{
    for (int cpu_only = 0; cpu_only < 2; cpu_only++)
        for (size_t i = 0; i < N_ROWS; i++) {
            build_init(&b);
            b.t.cpu_only = cpu_only;
            build_op(&b, 0, ROWS[i].cpu, "f32[8]", "");
            build_op(&b, 0, ROWS[i].gpu, "f32[8]", "");
            build_op(&b, 0, ROWS[i].cpu, "f32[8]", "");
            build_op(&b, 1, "aten::empty", "", "");
            CHECK_STR(msim_host_gpu_name(&b.t, 0),
                      cpu_only ? ROWS[i].gpu : ROWS[i].cpu);
            CHECK_STR(msim_host_gpu_name(&b.t, 1), ROWS[i].gpu);
            CHECK_STR(msim_host_gpu_name(&b.t, 3), "aten::empty");
            check_inside(0, ROWS[i].first, ROWS[i].n);
            check_inside(1, ROWS[i].first, ROWS[i].n);
            if (cpu_only && ROWS[i].is_kernel)
                check_inside(2, ROWS[i].first, ROWS[i].n);
            else
                check_inside(2, NULL, 0);
            CHECK_INT(msim_host_gpu_calls(&b.t, 3),
                      !(cpu_only && ROWS[i].is_kernel));
            CHECK(msim_host_gpu_calls(&b.t, 2));
            build_release(&b);
        }
}

/* On the meta device a convolution calls cuDNN's directly: something is between
 * them on a GPU. */
static void test_host_gpu__convolutions(void)
{
    build_init(&b);
    build_op(&b, 0, "aten::convolution", "f32[8]", "");
    build_op(&b, 1, "aten::cudnn_convolution", "f32[8]", "");
    build_op(&b, 0, "aten::_convolution", "f32[8]", "");
    build_op(&b, 1, "aten::cudnn_convolution", "f32[8]", "");
    build_op(&b, 0, "aten::cudnn_convolution", "f32[8]", "");
    build_op(&b, 0, "aten::convolution", "f32[8]", "");
    build_op(&b, 1, "aten::cudnn_convolution", "f32[8]", "");
    build_op(&b, 2, "aten::empty", "", "");
    check_inside(1, "aten::_convolution", 1);
    check_inside(3, NULL, 0);
    check_inside(4, NULL, 0);
    check_inside(6, NULL, 0);
    build_release(&b);
}

static void to_host(uint32_t op)
{
    const struct msim_arg_block *block = &b.blocks[b.ops[op].args];

    for (uint32_t i = 0; i < block->count; i++)
        b.args[block->first + i].device = MSIM_DEV_HOST;
}

/* One kernel takes a list on a GPU, unless the step runs on the host. */
static void test_host_gpu__lists(void)
{
    build_init(&b);
    b.t.cpu_only = true;
    build_op(&b, 0, "aten::_foreach_add_", "f32[8] f32[4]", "");
    build_op(&b, 1, "aten::add_", "f32[8]", "");
    build_op(&b, 2, "aten::empty", "", "");
    build_op(&b, 0, "aten::linear", "f32[8]", ""); /* calls others there, too */
    build_op(&b, 1, "aten::empty", "", "");
    CHECK(msim_host_gpu_calls(&b.t, 0));
    CHECK(!msim_host_gpu_calls(&b.t, 1));
    CHECK(!msim_host_gpu_calls(&b.t, 2));
    CHECK(msim_host_gpu_calls(&b.t, 4));
    to_host(0);
    CHECK(msim_host_gpu_calls(&b.t, 1));
    CHECK(msim_host_gpu_calls(&b.t, 2));
    b.ops[0].args = MSIM_NONE;
    CHECK(!msim_host_gpu_calls(&b.t, 1));
    b.t.cpu_only = false;
    CHECK(msim_host_gpu_calls(&b.t, 1));
    build_release(&b);
}

/* 8 and 4 numbers of 4 bytes are read and 8 of 2 written, all of them in the
 * host's memory, by an operator of a step that calls no other. */
static void test_host_gpu__bytes_of_a_step(void)
{
    build_init(&b);
    build_op(&b, 0, "Optimizer.step#Adam.step", "", "");
    build_op(&b, 1, "aten::add_", "f32[8] 3 f32[4]", "f16[8]");
    build_op(&b, 1, "aten::mul_", "f32[8]", "");
    build_op(&b, 2, "aten::empty", "", "");
    build_op(&b, 0, "aten::add_", "f32[8]", "");
    to_host(1);
    CHECK(msim_host_step_bytes(&b.t, 1) == 0); /* what it writes is not */
    b.args[b.blocks[b.ops[1].outs].first].device = MSIM_DEV_HOST;
    CHECK_REL(msim_host_step_bytes(&b.t, 1), 8 * 4 + 4 * 4 + 8 * 2, 0);
    b.ops[1].outs = MSIM_NONE;
    CHECK_REL(msim_host_step_bytes(&b.t, 1), 8 * 4 + 4 * 4, 0);
    b.args[b.blocks[b.ops[1].args].first + 2].device = MSIM_DEV_GPU;
    CHECK(msim_host_step_bytes(&b.t, 1) == 0);
    to_host(2);
    CHECK(msim_host_step_bytes(&b.t, 2) == 0); /* it calls another */
    to_host(4);
    CHECK(msim_host_step_bytes(&b.t, 4) == 0); /* in no step */
    CHECK(msim_host_step_bytes(&b.t, 0) == 0);
    b.ops[1].args = MSIM_NONE;
    CHECK(msim_host_step_bytes(&b.t, 1) == 0);
    build_release(&b);
}

/* A number that the CPU has is read without a call: by its tensor, or, in a
 * capture of a CPU, within a step. */
static void test_host_gpu__numbers(void)
{
    build_init(&b);
    build_op(&b, 0, "aten::item", "f32[1]@", "");
    build_op(&b, 0, "aten::_local_scalar_dense", "f32[1]@", "");
    build_op(&b, 0, "aten::item", "f32[1]", "");
    build_op(&b, 0, "aten::item", "", "");
    build_op(&b, 0, "aten::neg", "f32[1]@", "");
    build_op(&b, 0, "aten::item", "f32[1]@ f32[1]", "");
    build_op(&b, 0, "Optimizer.step#SGD.step", "", "");
    build_op(&b, 1, "aten::item", "f32[1]", "");
    build_op(&b, 2, "aten::_local_scalar_dense", "f32[1]", "");
    build_op(&b, 0, "aten::item", "3 f32[1]@", "");
    for (uint32_t i = 0; i < b.t.n_ops; i++)
        CHECK_INT(msim_host_is_number(&b.t, i), i < 2 || i == 9);
    to_host(2);
    CHECK(msim_host_is_number(&b.t, 2));
    b.t.cpu_only = true;
    for (uint32_t i = 0; i < b.t.n_ops; i++)
        CHECK_INT(msim_host_is_number(&b.t, i), i == 7 || i == 8);
    build_release(&b);
}

/* The number that an optimizer's step makes on the CPU, in one call of Python;
 * not what a step makes on the GPU, nor what others make. A capture of a CPU
 * does not tell them apart. */
static void test_host_gpu__numbers_made(void)
{
    build_init(&b);
    build_op(&b, 0, "Optimizer.step#Adam.step", "", "");
    build_op(&b, 1, "aten::empty", "", "f32[1]@");
    build_op(&b, 1, "aten::detach_", "f32[1]@", "f32[1]@");
    build_op(&b, 1, "aten::empty", "", "f32[1]");
    build_op(&b, 1, "aten::neg", "f32[1]@", "f32[1]@");
    build_op(&b, 0, "aten::empty", "", "f32[1]@");
    for (uint32_t i = 0; i < b.t.n_ops; i++)
        CHECK_INT(msim_host_is_number(&b.t, i), i == 1 || i == 2);
    b.t.cpu_only = true;
    CHECK(!msim_host_is_number(&b.t, 1));
    build_release(&b);
}

static void test_host_gpu__in_backward(void)
{
    build_init(&b);
    build_op(&b, 0, "autograd::engine::evaluate_function: MmBackward0", "", "");
    build_op(&b, 1, "MmBackward0", "", "");
    build_op(&b, 2, "aten::mm", "", "");
    build_op(&b, 0, "my autograd::x", "", "");
    build_op(&b, 1, "aten::mm", "", "");
    for (uint32_t i = 0; i < 5; i++)
        CHECK_INT(msim_host_is_in_backward(&b.t, i), i < 3);
    build_release(&b);
}

int main(void)
{
    RUN(test_host_gpu__bytes_of_a_step);
    RUN(test_host_gpu__convolutions);
    RUN(test_host_gpu__in_backward);
    RUN(test_host_gpu__lists);
    RUN(test_host_gpu__numbers);
    RUN(test_host_gpu__numbers_made);
    RUN(test_host_gpu__rows);
    return check_summary();
}
