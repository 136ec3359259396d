/*
 * tests/unit/core/rewrite/test_rewritten_shares.c - every operator of a step
 * that tensor parallel ranks share.
 */
#include "tests/unit/core/rewrite/rewritten_text.h"

/* A normalisation, and an MLP from 64 to 96 and back, beside its input. */
static const struct made_node MLP[] = {
    {10, 0, "aten::native_layer_norm", 0, 1, "3:32x64 8:64 9:64",
     "20:32x64 21:32x1 22:32x1"},
    {11, 0, "aten::linear", 0, 2, "20:32x64 1:96x64", "23:32x96"},
    {12, 11, "aten::t", 0, -1, "1:96x64", "1:64x96"},
    {13, 11, "aten::mm", 0, -1, "20:32x64 1:64x96", "23:32x96"},
    {14, 0, "aten::gelu", 0, 3, "23:32x96", "24:32x96"},
    {15, 0, "aten::linear", 0, 4, "24:32x96 2:64x96", "25:32x64"},
    {16, 15, "aten::t", 0, -1, "2:64x96", "2:96x64"},
    {17, 15, "aten::mm", 0, -1, "24:32x96 2:96x64", "25:32x64"},
    {18, 0, "aten::add", 0, 5, "25:32x64 3:32x64", "26:32x64"},
    {20, 0, "autograd::engine::evaluate_function: M", 0, -1, "", ""},
    {21, 20, "MmBackward0", 1, 4, "", ""},
    {22, 21, "aten::t", 0, -1, "26:32x64", "26:64x32"},
    {23, 21, "aten::mm", 0, -1, "26:64x32 24:32x96", "30:64x96"},
    {24, 21, "aten::mm", 0, -1, "26:32x64 2:64x96", "31:32x96"},
    {30, 0, "autograd::engine::evaluate_function: A", 0, -1, "", ""},
    {31, 30, "torch::autograd::AccumulateGrad", 1, -1, "30:64x96", ""},
    {32, 31, "aten::detach", 0, -1, "30:64x96", "30:64x96"},
    {40, 0, "autograd::engine::evaluate_function: G", 0, -1, "", ""},
    {41, 40, "GeluBackward0", 1, 3, "", ""},
    {42, 41, "aten::gelu_backward", 0, -1, "31:32x96 23:32x96", "32:32x96"},
    {50, 0, "autograd::engine::evaluate_function: M", 0, -1, "", ""},
    {51, 50, "MmBackward0", 1, 2, "", ""},
    {52, 51, "aten::t", 0, -1, "32:32x96", "32:96x32"},
    {53, 51, "aten::mm", 0, -1, "32:96x32 20:32x64", "33:96x64"},
    {54, 51, "aten::mm", 0, -1, "32:32x96 1:96x64", "34:32x64"},
    {60, 0, "autograd::engine::evaluate_function: A", 0, -1, "", ""},
    {61, 60, "torch::autograd::AccumulateGrad", 1, -1, "33:96x64", ""},
    {62, 61, "aten::detach", 0, -1, "33:96x64", "33:96x64"},
    {70, 0, "autograd::engine::evaluate_function: N", 0, -1, "", ""},
    {71, 70, "NativeLayerNormBackward0", 1, 1, "", ""},
    {72, 71, "aten::native_layer_norm_backward", 0, -1,
     "34:32x64 3:32x64 21:32x1 22:32x1 8:64", "35:32x64 36:64 37:64"},
    {80, 0, "Optimizer.step#Adam.step", 7, -1, "", ""},
    {81, 80, "aten::_foreach_addcdiv_", 0, -1,
     "[1:96x64 2:64x96] [33:96x64 30:64x96] [4:96x64 5:64x96]", ""},
};
#define N_MLP (sizeof(MLP) / sizeof(*MLP))

/* A normalisation that two layers read, whose gradients are added, and the
 * gradient of what is beside them, to which theirs is added in place. */
static const struct made_node GATED[] = {
    {10, 0, "aten::native_layer_norm", 0, 1, "3:32x64 8:64 9:64",
     "20:32x64 21:32x1 22:32x1"},
    {11, 0, "aten::mm", 0, 2, "20:32x64 1:64x96", "23:32x96"},
    {12, 0, "aten::mm", 0, 3, "20:32x64 6:64x96", "24:32x96"},
    {13, 0, "aten::gelu", 0, 4, "23:32x96", "25:32x96"},
    {14, 0, "aten::mul", 0, 5, "25:32x96 24:32x96", "26:32x96"},
    {15, 0, "aten::mm", 0, 6, "26:32x96 2:96x64", "27:32x64"},
    {16, 0, "aten::add", 0, 7, "27:32x64 3:32x64", "28:32x64"},
    {20, 0, "autograd::engine::evaluate_function: M", 0, -1, "", ""},
    {21, 20, "MmBackward0", 1, 6, "", ""},
    {22, 21, "aten::t", 0, -1, "2:96x64", "2:64x96"},
    {23, 21, "aten::mm", 0, -1, "28:32x64 2:64x96", "30:32x96"},
    {30, 0, "autograd::engine::evaluate_function: M", 0, -1, "", ""},
    {31, 30, "MmBackward0", 1, 3, "", ""},
    {32, 31, "aten::t", 0, -1, "6:64x96", "6:96x64"},
    {33, 31, "aten::mm", 0, -1, "30:32x96 6:96x64", "31:32x64"},
    {40, 0, "autograd::engine::evaluate_function: V", 0, -1, "", ""},
    {41, 40, "ViewBackward0", 1, 3, "31:32x64", ""},
    {42, 41, "aten::view", 0, -1, "31:32x64", "31:32x64"},
    {50, 0, "autograd::engine::evaluate_function: M", 0, -1, "", ""},
    {51, 50, "MmBackward0", 1, 2, "", ""},
    {52, 51, "aten::t", 0, -1, "1:64x96", "1:96x64"},
    {53, 51, "aten::mm", 0, -1, "30:32x96 1:96x64", "32:32x64"},
    {60, 0, "aten::add_", 0, -1, "31:32x64 32:32x64", "31:32x64"},
    {70, 0, "autograd::engine::evaluate_function: N", 0, -1, "", ""},
    {71, 70, "NativeLayerNormBackward0", 1, 1, "", ""},
    {72, 71, "aten::native_layer_norm_backward", 0, -1,
     "31:32x64 3:32x64 21:32x1 22:32x1 8:64", "33:32x64 34:64 35:64"},
    {73, 0, "aten::add_", 0, -1, "28:32x64 33:32x64", "28:32x64"},
    {74, 0, "autograd::engine::evaluate_function: M", 0, -1, "", ""},
    {75, 74, "MmBackward0", 1, 1, "", ""},
    {76, 75, "aten::mm", 0, -1, "28:32x64 2:64x96", "36:32x96"},
    {77, 0, "autograd::engine::evaluate_function: A", 0, -1, "", ""},
    {78, 77, "torch::autograd::AccumulateGrad", 1, -1, "34:64", ""},
    {79, 78, "aten::detach", 0, -1, "34:64", "34:64"},
    {80, 0, "Optimizer.step#Adam.step", 7, -1, "", ""},
    {81, 80, "aten::addcmul_", 0, -1, "10:64 34:64 34:64", ""},
    {82, 80, "aten::addcdiv_", 0, -1, "8:64 10:64 11:64", ""},
    {83, 80, "aten::addcdiv_", 0, -1, "1:64x96 12:64x96 13:64x96", ""},
};
#define N_GATED (sizeof(GATED) / sizeof(*GATED))

static void check_nodes(const struct made_node *nodes, size_t n,
                        struct msim_split how, const char *want)
{
    const struct msim_rewrite r = {.parallel = how};
    struct made_changed m;
    char *text;

    if (!change_nodes(&m, nodes, n, &r))
        return;
    text = rewritten_text(&m);
    CHECK_STR(text, want);
    free(text);
    done_step(&m);
}

static void check_mlp(struct msim_split how, const char *want)
{
    check_nodes(MLP, N_MLP, how, want);
}

/* The first layer by its columns, the second by its rows: what that makes is
 * summed; backward what the first one gives back is. */
static void test_rewritten__tensor_parallel(void)
{
    check_mlp(
        (struct msim_split){.tp = 4},
        "native_layer_norm a32x64 b64 c64 > d32x64 e32x1 f32x1\n"
        "linear d32x64 g24x64 > h32x24 { t g24x64 > g64x24 mm d32x64 g64x24 > "
        "h32x24 }\n"
        "gelu h32x24 > i32x24\n"
        "linear i32x24 j64x24 > k32x64 { t j64x24 > j24x64 mm i32x24 j24x64 > "
        "k32x64 }\n"
        "TensorParallelReduce { record_param_comms k32x64 k32x64 [1 #0 2048 "
        "2048] { nccl:all_reduce } record_param_comms [12 #0 0 0] { nccl:wait "
        "} }\n"
        "add k32x64 a32x64 > l32x64\n"
        ":M > { MmBackward0 > { t l32x64 > l64x32 mm l64x32 i32x24 > m64x24 mm "
        "l32x64 j64x24 > n32x24 } }\n"
        ":A > { AccumulateGrad m64x24 > { detach m64x24 > m64x24 } }\n"
        ":G > { GeluBackward0 > { gelu_backward n32x24 h32x24 > o32x24 } }\n"
        ":M > { MmBackward0 > { t o32x24 > o24x32 mm o24x32 d32x64 > p24x64 mm "
        "o32x24 g24x64 > q32x64 } }\n"
        ":TensorParallelReduce { record_param_comms q32x64 q32x64 [1 #1 2048 "
        "2048] { nccl:all_reduce } record_param_comms [12 #1 0 0] { nccl:wait "
        "} }\n"
        ":A > { AccumulateGrad p24x64 > { detach p24x64 > p24x64 } }\n"
        ":N > { NativeLayerNormBackward0 > { native_layer_norm_backward q32x64 "
        "a32x64 e32x1 f32x1 b64 > r32x64 s64 t64 } }\n"
        "Optimizer.step#Adam.step > { _foreach_addcdiv_ (2 g24x64 j64x24 (2 "
        "p24x64 m64x24 (2 u24x64 v64x24 > }\n");
}

/* Between them, rows are shared out, too. */
static void test_rewritten__sequence_parallel(void)
{
    check_mlp(
        (struct msim_split){.tp = 4, .rows = true},
        "native_layer_norm a32x64 b64 c64 > d8x64 e8x1 f8x1\n"
        "TensorParallelGather { empty > g32x64 record_param_comms d8x64 g32x64 "
        "[3 #0 512 2048] { nccl:_all_gather_base } record_param_comms [12 #0 0 "
        "0] { nccl:wait } }\n"
        "linear g32x64 h24x64 > i32x24 { t h24x64 > h64x24 mm g32x64 h64x24 > "
        "i32x24 }\n"
        "gelu i32x24 > j32x24\n"
        "linear j32x24 k64x24 > l32x64 { t k64x24 > k24x64 mm j32x24 k24x64 > "
        "l32x64 }\n"
        "TensorParallelReduce { empty > m8x64 record_param_comms l32x64 m8x64 "
        "[8 #1 2048 512] { nccl:_reduce_scatter_base } record_param_comms [12 "
        "#1 0 0] { nccl:wait } }\n"
        "add m8x64 a32x64 > n8x64\n"
        ":TensorParallelGather { empty > o64x32 record_param_comms n16x32 "
        "o64x32 [3 #2 512 2048] { nccl:_all_gather_base } record_param_comms "
        "[12 #2 0 0] { nccl:wait } }\n"
        ":M > { MmBackward0 > { t o32x64 > o64x32 mm o64x32 j32x24 > p64x24 mm "
        "o32x64 k64x24 > q32x24 } }\n"
        ":A > { AccumulateGrad p64x24 > { detach p64x24 > p64x24 } }\n"
        ":G > { GeluBackward0 > { gelu_backward q32x24 i32x24 > r32x24 } }\n"
        ":TensorParallelGather { empty > s32x64 record_param_comms d8x64 "
        "s32x64 [3 #3 512 2048] { nccl:_all_gather_base } record_param_comms "
        "[12 #3 0 0] { nccl:wait } }\n"
        ":M > { MmBackward0 > { t r32x24 > r24x32 mm r24x32 s32x64 > t24x64 mm "
        "r32x24 h24x64 > u32x64 } }\n"
        ":TensorParallelReduce { empty > v8x64 record_param_comms u32x64 v8x64 "
        "[8 #4 2048 512] { nccl:_reduce_scatter_base } record_param_comms [12 "
        "#4 0 0] { nccl:wait } }\n"
        ":A > { AccumulateGrad t24x64 > { detach t24x64 > t24x64 } }\n"
        ":N > { NativeLayerNormBackward0 > { native_layer_norm_backward v8x64 "
        "a32x64 e8x1 f8x1 b64 > w8x64 x64 y64 } }\n"
        "Optimizer.step#Adam.step > { _foreach_addcdiv_ (2 h24x64 k64x24 (2 "
        "t24x64 p64x24 (2 z24x64 A64x24 > }\n");
}

/* What was gathered once is reduced and scattered once; what was written in
 * place is gathered anew. */
static void test_rewritten__added_parts(void)
{
    check_nodes(GATED, N_GATED, (struct msim_split){.tp = 4, .rows = true},
                "native_layer_norm a32x64 b64 c64 > d8x64 e8x1 f8x1\n"
                "TensorParallelGather { empty > g32x64 record_param_comms "
                "d8x64 g32x64 [3 #0 512 2048] { nccl:_all_gather_base } "
                "record_param_comms [12 #0 0 0] { nccl:wait } }\n"
                "mm g32x64 h64x24 > i32x24\n"
                "mm g32x64 j64x24 > k32x24\n"
                "gelu i32x24 > l32x24\n"
                "mul l32x24 k32x24 > m32x24\n"
                "mm m32x24 n24x64 > o32x64\n"
                "TensorParallelReduce { empty > p8x64 record_param_comms "
                "o32x64 p8x64 [8 #1 2048 512] { nccl:_reduce_scatter_base } "
                "record_param_comms [12 #1 0 0] { nccl:wait } }\n"
                "add p8x64 a32x64 > q8x64\n"
                ":TensorParallelGather { empty > r32x64 record_param_comms "
                "q8x64 r32x64 [3 #2 512 2048] { nccl:_all_gather_base } "
                "record_param_comms [12 #2 0 0] { nccl:wait } }\n"
                ":M > { MmBackward0 > { t n24x64 > n64x24 mm r32x64 n64x24 "
                "> s32x24 } }\n"
                ":M > { MmBackward0 > { t j64x24 > j24x64 mm s32x24 j24x64 "
                "> t32x64 } }\n"
                ":V > { ViewBackward0 t32x64 > { view t32x64 > t32x64 } }\n"
                ":M > { MmBackward0 > { t h64x24 > h24x64 mm s32x24 h24x64 "
                "> u32x64 } }\n"
                "add_ t32x64 u32x64 > t32x64\n"
                ":TensorParallelReduce { empty > v8x64 record_param_comms "
                "t32x64 v8x64 [8 #3 2048 512] { nccl:_reduce_scatter_base } "
                "record_param_comms [12 #3 0 0] { nccl:wait } }\n"
                ":N > { NativeLayerNormBackward0 > { "
                "native_layer_norm_backward v8x64 a32x64 e8x1 f8x1 b64 > "
                "w8x64 x64 y64 } }\n"
                "add_ q8x64 w8x64 > q8x64\n"
                ":TensorParallelGather { empty > z32x64 record_param_comms "
                "q8x64 z32x64 [3 #4 512 2048] { nccl:_all_gather_base } "
                "record_param_comms [12 #4 0 0] { nccl:wait } }\n"
                ":M > { MmBackward0 > { mm z32x64 n64x24 > A32x24 } }\n"
                ":A > { AccumulateGrad x64 > { detach x64 > x64 } }\n"
                "Optimizer.step#Adam.step > { addcmul_ B64 x64 x64 > "
                "addcdiv_ b64 B64 C64 > addcdiv_ h64x24 D64x24 E64x24 > }\n");
}

/* By PyTorch's DTensor: what is dispatched, and around modules. */
static void test_rewritten__dtensor(void)
{
    check_mlp((struct msim_split){.tp = 4, .dtensor = true},
              "native_layer_norm a32x64 b64 c64 > d32x64 e32x1 f32x1\n"
              "linear d32x64 g24x64 > h32x24 { _FromTorchTensor t g24x64 > "
              "g64x24 { PythonSubclass { t g24x64 > g64x24 } } mm d32x64 "
              "g64x24 > h32x24 { PythonSubclass { mm d32x64 g64x24 > h32x24 "
              "} } Redistribute _ToTorchTensor }\n"
              "gelu h32x24 > i32x24\n"
              "linear i32x24 j64x24 > k32x64 { _FromTorchTensor t j64x24 > "
              "j24x64 { PythonSubclass { t j64x24 > j24x64 } } mm i32x24 "
              "j24x64 > k32x64 { PythonSubclass { mm i32x24 j24x64 > k32x64 "
              "} } Redistribute _ToTorchTensor }\n"
              "TensorParallelReduce { record_param_comms k32x64 k32x64 [1 "
              "#0 2048 2048] { nccl:all_reduce } record_param_comms [12 #0 "
              "0 0] { nccl:wait } }\n"
              "add k32x64 a32x64 > l32x64\n"
              ":M > { :_ToTorchTensorBackward { _ToTorchTensorBackward { "
              "_FromTorchTensor } } :RedistributeBackward { "
              "RedistributeBackward { NestedRedistribute } } MmBackward0 > "
              "{ t l32x64 > l64x32 { PythonSubclass { t l32x64 > l64x32 } } "
              "mm l64x32 i32x24 > m64x24 { PythonSubclass { mm l64x32 "
              "i32x24 > m64x24 } } mm l32x64 j64x24 > n32x24 { "
              "PythonSubclass { mm l32x64 j64x24 > n32x24 } } } "
              ":_FromTorchTensorBackward { _FromTorchTensorBackward } }\n"
              ":A > { AccumulateGrad m64x24 > { detach m64x24 > m64x24 { "
              "PythonSubclass { detach m64x24 > m64x24 } } } }\n"
              ":G > { GeluBackward0 > { gelu_backward n32x24 h32x24 > "
              "o32x24 } }\n"
              ":M > { :_ToTorchTensorBackward { _ToTorchTensorBackward { "
              "_FromTorchTensor } } :RedistributeBackward { "
              "RedistributeBackward { NestedRedistribute } } MmBackward0 > "
              "{ t o32x24 > o24x32 { PythonSubclass { t o32x24 > o24x32 } } "
              "mm o24x32 d32x64 > p24x64 { PythonSubclass { mm o24x32 "
              "d32x64 > p24x64 } } mm o32x24 g24x64 > q32x64 { "
              "PythonSubclass { mm o32x24 g24x64 > q32x64 } } } "
              ":_FromTorchTensorBackward { _FromTorchTensorBackward } }\n"
              ":TensorParallelReduce { record_param_comms q32x64 q32x64 [1 "
              "#1 2048 2048] { nccl:all_reduce } record_param_comms [12 #1 "
              "0 0] { nccl:wait } }\n"
              ":A > { AccumulateGrad p24x64 > { detach p24x64 > p24x64 { "
              "PythonSubclass { detach p24x64 > p24x64 } } } }\n"
              ":N > { NativeLayerNormBackward0 > { "
              "native_layer_norm_backward q32x64 a32x64 e32x1 f32x1 b64 > "
              "r32x64 s64 t64 } }\n"
              "Optimizer.step#Adam.step > { _foreach_addcdiv_ (2 g24x64 "
              "j64x24 (2 p24x64 m64x24 (2 u24x64 v64x24 > { PythonSubclass "
              "{ _foreach_addcdiv_ (2 g24x64 j64x24 (2 p24x64 m64x24 (2 "
              "u24x64 v64x24 > } } }\n");
}

/* It keeps what it gathered in forward. */
static void test_rewritten__dtensor_keeps(void)
{
    check_mlp((struct msim_split){.tp = 4, .rows = true, .dtensor = true},
              "native_layer_norm a32x64 b64 c64 > d8x64 e8x1 f8x1\n"
              "TensorParallelGather { empty > g32x64 record_param_comms "
              "d8x64 g32x64 [3 #0 512 2048] { nccl:_all_gather_base } "
              "record_param_comms [12 #0 0 0] { nccl:wait } }\n"
              "linear g32x64 h24x64 > i32x24 { _FromTorchTensor t h24x64 > "
              "h64x24 { PythonSubclass { t h24x64 > h64x24 } } mm g32x64 "
              "h64x24 > i32x24 { PythonSubclass { mm g32x64 h64x24 > i32x24 "
              "} } Redistribute _ToTorchTensor }\n"
              "gelu i32x24 > j32x24\n"
              "linear j32x24 k64x24 > l32x64 { _FromTorchTensor t k64x24 > "
              "k24x64 { PythonSubclass { t k64x24 > k24x64 } } mm j32x24 "
              "k24x64 > l32x64 { PythonSubclass { mm j32x24 k24x64 > l32x64 "
              "} } Redistribute _ToTorchTensor }\n"
              "TensorParallelReduce { empty > m8x64 record_param_comms "
              "l32x64 m8x64 [8 #1 2048 512] { nccl:_reduce_scatter_base } "
              "record_param_comms [12 #1 0 0] { nccl:wait } }\n"
              "add m8x64 a32x64 > n8x64\n"
              ":TensorParallelGather { empty > o64x32 record_param_comms "
              "n16x32 o64x32 [3 #2 512 2048] { nccl:_all_gather_base } "
              "record_param_comms [12 #2 0 0] { nccl:wait } }\n"
              ":M > { :_ToTorchTensorBackward { _ToTorchTensorBackward { "
              "_FromTorchTensor } } :RedistributeBackward { "
              "RedistributeBackward { NestedRedistribute } } MmBackward0 > "
              "{ t o32x64 > o64x32 { PythonSubclass { t o32x64 > o64x32 } } "
              "mm o64x32 j32x24 > p64x24 { PythonSubclass { mm o64x32 "
              "j32x24 > p64x24 } } mm o32x64 k64x24 > q32x24 { "
              "PythonSubclass { mm o32x64 k64x24 > q32x24 } } } "
              ":_FromTorchTensorBackward { _FromTorchTensorBackward } }\n"
              ":A > { AccumulateGrad p64x24 > { detach p64x24 > p64x24 { "
              "PythonSubclass { detach p64x24 > p64x24 } } } }\n"
              ":G > { GeluBackward0 > { gelu_backward q32x24 i32x24 > "
              "r32x24 } }\n"
              ":M > { :_ToTorchTensorBackward { _ToTorchTensorBackward { "
              "_FromTorchTensor } } :RedistributeBackward { "
              "RedistributeBackward { NestedRedistribute } } MmBackward0 > "
              "{ t r32x24 > r24x32 { PythonSubclass { t r32x24 > r24x32 } } "
              "mm r24x32 g32x64 > s24x64 { PythonSubclass { mm r24x32 "
              "g32x64 > s24x64 } } mm r32x24 h24x64 > t32x64 { "
              "PythonSubclass { mm r32x24 h24x64 > t32x64 } } } "
              ":_FromTorchTensorBackward { _FromTorchTensorBackward } }\n"
              ":TensorParallelReduce { empty > u8x64 record_param_comms "
              "t32x64 u8x64 [8 #3 2048 512] { nccl:_reduce_scatter_base } "
              "record_param_comms [12 #3 0 0] { nccl:wait } }\n"
              ":A > { AccumulateGrad s24x64 > { detach s24x64 > s24x64 { "
              "PythonSubclass { detach s24x64 > s24x64 } } } }\n"
              ":N > { NativeLayerNormBackward0 > { "
              "native_layer_norm_backward u8x64 a32x64 e8x1 f8x1 b64 > "
              "v8x64 w64 x64 } }\n"
              "Optimizer.step#Adam.step > { _foreach_addcdiv_ (2 h24x64 "
              "k64x24 (2 s24x64 p64x24 (2 y24x64 z64x24 > { PythonSubclass "
              "{ _foreach_addcdiv_ (2 h24x64 k64x24 (2 s24x64 p64x24 (2 "
              "y24x64 z64x24 > } } }\n");
}

/* It sums gradients of norms for each that reads them. */
static void test_rewritten__dtensor_rows(void)
{
    check_nodes(GATED, N_GATED,
                (struct msim_split){.tp = 4, .rows = true, .dtensor = true},
                "native_layer_norm a32x64 b64 c64 > d8x64 e8x1 f8x1\n"
                "TensorParallelGather { empty > g32x64 record_param_comms "
                "d8x64 g32x64 [3 #0 512 2048] { nccl:_all_gather_base } "
                "record_param_comms [12 #0 0 0] { nccl:wait } }\n"
                "mm g32x64 h64x24 > i32x24 { PythonSubclass { mm g32x64 "
                "h64x24 > i32x24 } _FromTorchTensor Redistribute "
                "_ToTorchTensor }\n"
                "mm g32x64 j64x24 > k32x24\n"
                "gelu i32x24 > l32x24\n"
                "mul l32x24 k32x24 > m32x24\n"
                "mm m32x24 n24x64 > o32x64\n"
                "TensorParallelReduce { empty > p8x64 record_param_comms "
                "o32x64 p8x64 [8 #1 2048 512] { nccl:_reduce_scatter_base } "
                "record_param_comms [12 #1 0 0] { nccl:wait } }\n"
                "add p8x64 a32x64 > q8x64\n"
                ":TensorParallelGather { empty > r32x64 record_param_comms "
                "q8x64 r32x64 [3 #2 512 2048] { nccl:_all_gather_base } "
                "record_param_comms [12 #2 0 0] { nccl:wait } }\n"
                ":M > { MmBackward0 > { t n24x64 > n64x24 mm r32x64 n64x24 "
                "> s32x24 } }\n"
                ":M > { MmBackward0 > { t j64x24 > j24x64 mm s32x24 j24x64 "
                "> t32x64 } }\n"
                ":V > { ViewBackward0 t32x64 > { view t32x64 > t32x64 } }\n"
                ":M > { :_ToTorchTensorBackward { _ToTorchTensorBackward { "
                "_FromTorchTensor } } :RedistributeBackward { "
                "RedistributeBackward { NestedRedistribute } } MmBackward0 "
                "> { t h64x24 > h24x64 { PythonSubclass { t h64x24 > h24x64 "
                "} } mm s32x24 h24x64 > u32x64 { PythonSubclass { mm s32x24 "
                "h24x64 > u32x64 } } } :_FromTorchTensorBackward { "
                "_FromTorchTensorBackward } }\n"
                "add_ t32x64 u32x64 > t32x64\n"
                ":TensorParallelReduce { empty > v8x64 record_param_comms "
                "t32x64 v8x64 [8 #3 2048 512] { nccl:_reduce_scatter_base } "
                "record_param_comms [12 #3 0 0] { nccl:wait } }\n"
                ":N > { NativeLayerNormBackward0 > { "
                "native_layer_norm_backward v8x64 a32x64 e8x1 f8x1 b64 > "
                "w8x64 x64 y64 } }\n"
                "add_ q8x64 w8x64 > q8x64\n"
                ":TensorParallelGather { empty > z32x64 record_param_comms "
                "q8x64 z32x64 [3 #4 512 2048] { nccl:_all_gather_base } "
                "record_param_comms [12 #4 0 0] { nccl:wait } }\n"
                ":M > { MmBackward0 > { mm z32x64 n64x24 > A32x24 } }\n"
                ":A > { AccumulateGrad x64 > { detach x64 > x64 } }\n"
                "Optimizer.step#Adam.step > { TensorParallelReduce { empty "
                "> B1x64 record_param_comms B1x64 B1x64 [1 #5 64 64] { "
                "nccl:all_reduce } record_param_comms [12 #5 0 0] { "
                "nccl:wait } } TensorParallelReduce { empty > C1x64 "
                "record_param_comms C1x64 C1x64 [1 #6 64 64] { "
                "nccl:all_reduce } record_param_comms [12 #6 0 0] { "
                "nccl:wait } } addcmul_ D64 x64 x64 > addcdiv_ b64 D64 E64 "
                "> addcdiv_ h64x24 F64x24 G64x24 > { PythonSubclass { "
                "addcdiv_ h64x24 F64x24 G64x24 > } } }\n");
}

static void refuse(struct msim_split how, const char *want)
{
    const struct msim_rewrite r = {.parallel = how};
    struct msim_job *job = made_nodes(MLP, N_MLP);
    struct msim_error err = {0};
    struct msim_trace *out;

    CHECK_INT(msim_rewritten_new(&out, job->ranks[0], job->strings, &r, &err),
              MSIM_EUSAGE);
    CHECK(strstr(err.text, want) != NULL);
    CHECK(out == NULL);
    msim_job_free(job);
}

static void test_rewritten__shares_that_are_none(void)
{
    refuse((struct msim_split){.tp = 5}, "parallel.tp is 5: ffn of 96");
    refuse((struct msim_split){.tp = 3, .rows = true},
           "parallel.tp is 3, which does not divide the 32 tokens");
}

int main(void)
{
    RUN(test_rewritten__tensor_parallel);
    RUN(test_rewritten__sequence_parallel);
    RUN(test_rewritten__added_parts);
    RUN(test_rewritten__dtensor);
    RUN(test_rewritten__dtensor_keeps);
    RUN(test_rewritten__dtensor_rows);
    RUN(test_rewritten__shares_that_are_none);
    return check_summary();
}
