/*
 * tests/unit/core/rewrite/test_rewritten.c - every operator of a step that is
 * changed, by ways to train.
 */
#include "tests/unit/core/rewrite/rewritten_text.h"

/* What a block made in forward is made again, of its input, before backward
 * reads it; of operators by name alone those. */
static void test_rewritten__recompute(void)
{
    check_rewritten(
        (struct msim_rewrite){.recompute_every = 1}, FORWARD_AND_LOSS
        ":CheckpointBackward { linear d32x96 e45x96 > j32x45 { mm "
        "d32x96 e96x45 > j32x45 } relu j32x45 > k32x45 }\n"
        ":R > { ReluBackward > { threshold_backward i32x45 k32x45 > "
        "l32x45 } }\n"
        ":M > { MmBackward0 > { mm l32x45 e45x96 > m32x96 mm l45x32 "
        "d32x96 > n45x96 } }\n"
        ":A > { AccumulateGrad n45x96 > { detach n45x96 > n45x96 } }\n"
        ":CheckpointBackward { linear a32x64 b96x64 > o32x96 { mm "
        "a32x64 b64x96 > o32x96 } relu o32x96 > p32x96 }\n"
        ":R > { ReluBackward > { threshold_backward m32x96 p32x96 > "
        "q32x96 } }\n"
        ":M > { MmBackward0 > { mm q96x32 a32x64 > r96x64 } }\n"
        ":A > { AccumulateGrad r96x64 > { detach r96x64 > r96x64 } }\n"
        "Optimizer.step#Adam.step > { _foreach_addcdiv_ (2 b96x64 "
        "e45x96 (2 r96x64 n45x96 (2 s96x64 t45x96 > }\n");
    check_rewritten(
        (struct msim_rewrite){.recompute_every = 2}, FORWARD_AND_LOSS
        ":R > { ReluBackward > { threshold_backward i32x45 g32x45 > "
        "j32x45 } }\n"
        ":M > { MmBackward0 > { mm j32x45 e45x96 > k32x96 mm j45x32 "
        "d32x96 > l45x96 } }\n"
        ":A > { AccumulateGrad l45x96 > { detach l45x96 > l45x96 } }\n"
        ":CheckpointBackward { linear a32x64 b96x64 > m32x96 { mm "
        "a32x64 b64x96 > m32x96 } relu m32x96 > n32x96 }\n"
        ":R > { ReluBackward > { threshold_backward k32x96 n32x96 > "
        "o32x96 } }\n"
        ":M > { MmBackward0 > { mm o96x32 a32x64 > p96x64 } }\n"
        ":A > { AccumulateGrad p96x64 > { detach p96x64 > p96x64 } }\n"
        "Optimizer.step#Adam.step > { _foreach_addcdiv_ (2 b96x64 "
        "e45x96 (2 p96x64 l45x96 (2 q96x64 r45x96 > }\n");
    check_rewritten(
        (struct msim_rewrite){.recompute_every = 1,
                              .recompute_ops = "aten::relu"},
        FORWARD_AND_LOSS
        ":CheckpointBackward { relu f32x45 > j32x45 }\n"
        ":R > { ReluBackward > { threshold_backward i32x45 j32x45 > "
        "k32x45 } }\n"
        ":M > { MmBackward0 > { mm k32x45 e45x96 > l32x96 mm k45x32 "
        "d32x96 > m45x96 } }\n"
        ":A > { AccumulateGrad m45x96 > { detach m45x96 > m45x96 } }\n"
        ":CheckpointBackward { relu c32x96 > n32x96 }\n"
        ":R > { ReluBackward > { threshold_backward l32x96 n32x96 > "
        "o32x96 } }\n"
        ":M > { MmBackward0 > { mm o96x32 a32x64 > p96x64 } }\n"
        ":A > { AccumulateGrad p96x64 > { detach p96x64 > p96x64 } }\n"
        "Optimizer.step#Adam.step > { _foreach_addcdiv_ (2 b96x64 "
        "e45x96 (2 p96x64 m45x96 (2 q96x64 r45x96 > }\n");
}

/* The second micro batch adds its gradients to those of the first. */
static void test_rewritten__accumulate(void)
{
    check_rewritten(
        (struct msim_rewrite){.accumulate = 2}, TWO_BATCHES
        "} }\n"
        ":R > { ReluBackward > { threshold_backward v32x96 p32x96 > "
        "x32x96 } }\n"
        ":M > { MmBackward0 > { mm x96x32 a32x64 > y96x64 } }\n"
        ":A > { AccumulateGrad y96x64 > { add_ n96x64 y96x64 > n96x64 "
        "} }\n"
        "Optimizer.step#Adam.step > { _foreach_addcdiv_ (2 b96x64 "
        "e45x96 (2 n96x64 l45x96 (2 z96x64 A45x96 > }\n");
}

/* What backward reads waits on the host; so do states, and the optimizer
 * runs there. */
static void test_rewritten__offload(void)
{
    check_rewritten(
        (struct msim_rewrite){.offload_activations = true},
        "linear a32x64 b96x64 > c32x96 { mm a32x64 b64x96 > c32x96 }\n"
        "relu c32x96 > d32x96\n"
        "linear d32x96 e45x96 > f32x45 { mm d32x96 e96x45 > f32x45 }\n"
        "empty > g3072@\n"
        "copy_ g3072@ d3072 > g3072@\n"
        "relu f32x45 > h32x45\n"
        "mse_loss h32x45 > i1\n"
        "empty > j1440@\n"
        "copy_ j1440@ h1440 > j1440@\n"
        "empty > k1440\n"
        "copy_ k1440 j1440@ > k1440\n"
        ":L > { LossBackward > { mse_loss_backward i1 k32x45 > l32x45 "
        "} }\n"
        ":R > { ReluBackward > { threshold_backward l32x45 k32x45 > "
        "m32x45 } }\n"
        "empty > n3072\n"
        "copy_ n3072 g3072@ > n3072\n"
        ":M > { MmBackward0 > { mm m32x45 e45x96 > o32x96 mm m45x32 "
        "n32x96 > p45x96 } }\n"
        ":A > { AccumulateGrad p45x96 > { detach p45x96 > p45x96 } }\n"
        ":R > { ReluBackward > { threshold_backward o32x96 n32x96 > "
        "q32x96 } }\n"
        ":M > { MmBackward0 > { mm q96x32 a32x64 > r96x64 } }\n"
        ":A > { AccumulateGrad r96x64 > { detach r96x64 > r96x64 } }\n"
        "Optimizer.step#Adam.step > { _foreach_addcdiv_ (2 b96x64 "
        "e45x96 (2 r96x64 p45x96 (2 s96x64 t45x96 > }\n");
    check_rewritten(
        (struct msim_rewrite){.offload_states = true}, FORWARD_AND_LOSS
        ":R > { ReluBackward > { threshold_backward i32x45 g32x45 > "
        "j32x45 } }\n"
        ":M > { MmBackward0 > { mm j32x45 e45x96 > k32x96 mm j45x32 "
        "d32x96 > l45x96 } }\n"
        ":A > { AccumulateGrad l45x96 > { detach l45x96 > l45x96 } }\n"
        ":R > { ReluBackward > { threshold_backward k32x96 d32x96 > "
        "m32x96 } }\n"
        ":M > { MmBackward0 > { mm m96x32 a32x64 > n96x64 } }\n"
        ":A > { AccumulateGrad n96x64 > { detach n96x64 > n96x64 } }\n"
        "Optimizer.step#Adam.step > { empty > o4320@ copy_ o4320@ "
        "l4320 > o4320@ empty > p6144@ copy_ p6144@ n6144 > p6144@ "
        "_foreach_addcdiv_ (2 q96x64@ r45x96@ (2 p96x64@ o45x96@ (2 "
        "s96x64@ t45x96@ > copy_ b6144 q6144@ > b6144 copy_ e4320 "
        "r4320@ > e4320 }\n");
}

/* States of 8 bits, in the same places; each parameter updated when its
 * gradient is there. */
static void test_rewritten__optimizer(void)
{
    check_rewritten(
        (struct msim_rewrite){.optimizer_8bit = true}, FORWARD_AND_LOSS
        ":R > { ReluBackward > { threshold_backward i32x45 g32x45 > "
        "j32x45 } }\n"
        ":M > { MmBackward0 > { mm j32x45 e45x96 > k32x96 mm j45x32 "
        "d32x96 > l45x96 } }\n"
        ":A > { AccumulateGrad l45x96 > { detach l45x96 > l45x96 } }\n"
        ":R > { ReluBackward > { threshold_backward k32x96 d32x96 > "
        "m32x96 } }\n"
        ":M > { MmBackward0 > { mm m96x32 a32x64 > n96x64 } }\n"
        ":A > { AccumulateGrad n96x64 > { detach n96x64 > n96x64 } }\n"
        "Optimizer.step#Adam.step > { _foreach_addcdiv_ (2 b96x64 "
        "e45x96 (2 n96x64 l45x96 (2 o96x64i p45x96i > }\n");
    check_rewritten(
        (struct msim_rewrite){.in_backward = true}, FORWARD_AND_LOSS
        ":R > { ReluBackward > { threshold_backward i32x45 g32x45 > "
        "j32x45 } }\n"
        ":M > { MmBackward0 > { mm j32x45 e45x96 > k32x96 mm j45x32 "
        "d32x96 > l45x96 } }\n"
        ":A > { AccumulateGrad l45x96 > { detach l45x96 > l45x96 } }\n"
        "Optimizer.step#in_backward { _foreach_addcdiv_ (1 e45x96 (1 "
        "l45x96 (1 m45x96 > }\n"
        "Optimizer.zero_grad#in_backward\n"
        ":R > { ReluBackward > { threshold_backward k32x96 d32x96 > "
        "n32x96 } }\n"
        ":M > { MmBackward0 > { mm n96x32 a32x64 > o96x64 } }\n"
        ":A > { AccumulateGrad o96x64 > { detach o96x64 > o96x64 } }\n"
        "Optimizer.step#in_backward { _foreach_addcdiv_ (1 b96x64 (1 "
        "o96x64 (1 p96x64 > }\n"
        "Optimizer.zero_grad#in_backward\n"
        "Optimizer.step#Adam.step >\n");
}

/* Products in half precision; in 8 bits those but the last layer's. */
static void test_rewritten__types(void)
{
    check_rewritten(
        (struct msim_rewrite){.autocast = MSIM_DT_BF16},
        "to { empty > a2048b copy_ a2048b b2048 > a2048b }\n"
        "to { empty > c6144b copy_ c6144b d6144 > c6144b }\n"
        "linear a32x64b c96x64b > e32x96b { mm a32x64b c64x96b > "
        "e32x96b }\n"
        "relu e32x96b > f32x96b\n"
        "to { empty > g4320b copy_ g4320b h4320 > g4320b }\n"
        "linear f32x96b g45x96b > i32x45b { mm f32x96b g96x45b > "
        "i32x45b }\n"
        "relu i32x45b > j32x45b\n"
        "to { empty > k1440 copy_ k1440 j1440b > k1440 }\n"
        "mse_loss k32x45 > l1\n"
        ":L > { LossBackward > { mse_loss_backward l1 k32x45 > m32x45 "
        "} }\n"
        ":ToCopyBackward0 { empty > n1440b copy_ n1440b m1440 > n1440b "
        "}\n"
        ":R > { ReluBackward > { threshold_backward n32x45b j32x45b > "
        "o32x45b } }\n"
        ":M > { MmBackward0 > { mm o32x45b g45x96b > p32x96b mm "
        "o45x32b f32x96b > q45x96b } }\n"
        ":ToCopyBackward0 { empty > r4320 copy_ r4320 q4320b > r4320 "
        "}\n"
        ":A > { AccumulateGrad r45x96 > { detach r45x96 > r45x96 } }\n"
        ":R > { ReluBackward > { threshold_backward p32x96b f32x96b > "
        "s32x96b } }\n"
        ":M > { MmBackward0 > { mm s96x32b a32x64b > t96x64b } }\n"
        ":ToCopyBackward0 { empty > u6144 copy_ u6144 t6144b > u6144 "
        "}\n"
        ":A > { AccumulateGrad u96x64 > { detach u96x64 > u96x64 } }\n"
        "view b2048 > b2048\n"
        "Optimizer.step#Adam.step > { _foreach_addcdiv_ (2 d96x64 "
        "h45x96 (2 u96x64 r45x96 (2 v96x64 w45x96 > }\n");
    check_rewritten(
        (struct msim_rewrite){.fp8 = true},
        "linear a32x64 b96x64 > c32x96 { to { empty > d20488 copy_ "
        "d20488 a2048 > d20488 } to { empty > e61448 copy_ e61448 "
        "b6144 > e61448 } _scaled_mm d32x648 e64x968 f g > c32x96 }\n"
        "relu c32x96 > h32x96\n"
        "linear h32x96 i45x96 > j32x45 { mm h32x96 i96x45 > j32x45 }\n"
        "relu j32x45 > k32x45\n"
        "mse_loss k32x45 > l1\n"
        ":L > { LossBackward > { mse_loss_backward l1 k32x45 > m32x45 "
        "} }\n"
        ":R > { ReluBackward > { threshold_backward m32x45 k32x45 > "
        "n32x45 } }\n"
        ":M > { MmBackward0 > { mm n32x45 i45x96 > o32x96 mm n45x32 "
        "h32x96 > p45x96 } }\n"
        ":A > { AccumulateGrad p45x96 > { detach p45x96 > p45x96 } }\n"
        ":R > { ReluBackward > { threshold_backward o32x96 h32x96 > "
        "q32x96 } }\n"
        ":M > { MmBackward0 > { to { empty > r30728 copy_ r30728 q3072 "
        "> r30728 } clone { empty > s20488 copy_ s20488 d20488 > "
        "s20488 } _scaled_mm r96x328 s32x648 t u > v96x64 } }\n"
        ":A > { AccumulateGrad v96x64 > { detach v96x64 > v96x64 } }\n"
        "Optimizer.step#Adam.step > { _foreach_addcdiv_ (2 b96x64 "
        "i45x96 (2 v96x64 p45x96 (2 w96x64 x45x96 > }\n");
}

/* Ways that go together. */
static void test_rewritten__together(void)
{
    check_rewritten(
        (struct msim_rewrite){.recompute_every = 1, .accumulate = 2},
        FORWARD_AND_LOSS
        ":CheckpointBackward { linear d32x96 e45x96 > j32x45 { mm "
        "d32x96 e96x45 > j32x45 } relu j32x45 > k32x45 }\n"
        ":R > { ReluBackward > { threshold_backward i32x45 k32x45 > "
        "l32x45 } }\n"
        ":M > { MmBackward0 > { mm l32x45 e45x96 > m32x96 mm l45x32 "
        "d32x96 > n45x96 } }\n"
        ":A > { AccumulateGrad n45x96 > { detach n45x96 > n45x96 } }\n"
        ":CheckpointBackward { linear a32x64 b96x64 > o32x96 { mm "
        "a32x64 b64x96 > o32x96 } relu o32x96 > p32x96 }\n"
        ":R > { ReluBackward > { threshold_backward m32x96 p32x96 > "
        "q32x96 } }\n"
        ":M > { MmBackward0 > { mm q96x32 a32x64 > r96x64 } }\n"
        ":A > { AccumulateGrad r96x64 > { detach r96x64 > r96x64 } }\n"
        "linear a32x64 b96x64 > s32x96 { mm a32x64 b64x96 > s32x96 }\n"
        "relu s32x96 > t32x96\n"
        "linear t32x96 e45x96 > u32x45 { mm t32x96 e96x45 > u32x45 }\n"
        "relu u32x45 > v32x45\n"
        "mse_loss v32x45 > w1\n"
        ":L > { LossBackward > { mse_loss_backward w1 v32x45 > x32x45 "
        "} }\n"
        ":CheckpointBackward { linear t32x96 e45x96 > y32x45 { mm "
        "t32x96 e96x45 > y32x45 } relu y32x45 > z32x45 }\n"
        ":R > { ReluBackward > { threshold_backward x32x45 z32x45 > "
        "A32x45 } }\n"
        ":M > { MmBackward0 > { mm A32x45 e45x96 > B32x96 mm A45x32 "
        "t32x96 > C45x96 } }\n"
        ":A > { AccumulateGrad C45x96 > { add_ n45x96 C45x96 > n45x96 "
        "} }\n"
        ":CheckpointBackward { linear a32x64 b96x64 > D32x96 { mm "
        "a32x64 b64x96 > D32x96 } relu D32x96 > E32x96 }\n"
        ":R > { ReluBackward > { threshold_backward B32x96 E32x96 > "
        "F32x96 } }\n"
        ":M > { MmBackward0 > { mm F96x32 a32x64 > G96x64 } }\n"
        ":A > { AccumulateGrad G96x64 > { add_ r96x64 G96x64 > r96x64 "
        "} }\n"
        "Optimizer.step#Adam.step > { _foreach_addcdiv_ (2 b96x64 "
        "e45x96 (2 r96x64 n45x96 (2 H96x64 I45x96 > }\n");
    check_rewritten(
        (struct msim_rewrite){.offload_activations = true,
                              .recompute_every = 1},
        "linear a32x64 b96x64 > c32x96 { mm a32x64 b64x96 > c32x96 }\n"
        "relu c32x96 > d32x96\n"
        "linear d32x96 e45x96 > f32x45 { mm d32x96 e96x45 > f32x45 }\n"
        "empty > g3072@\n"
        "copy_ g3072@ d3072 > g3072@\n"
        "relu f32x45 > h32x45\n"
        "mse_loss h32x45 > i1\n"
        "empty > j1440@\n"
        "copy_ j1440@ h1440 > j1440@\n"
        "empty > k1440\n"
        "copy_ k1440 j1440@ > k1440\n"
        ":L > { LossBackward > { mse_loss_backward i1 k32x45 > l32x45 "
        "} }\n"
        "empty > m3072\n"
        "copy_ m3072 g3072@ > m3072\n"
        ":CheckpointBackward { linear m32x96 e45x96 > n32x45 { mm "
        "m32x96 e96x45 > n32x45 } relu n32x45 > o32x45 }\n"
        ":R > { ReluBackward > { threshold_backward l32x45 o32x45 > "
        "p32x45 } }\n"
        ":M > { MmBackward0 > { mm p32x45 e45x96 > q32x96 mm p45x32 "
        "m32x96 > r45x96 } }\n"
        ":A > { AccumulateGrad r45x96 > { detach r45x96 > r45x96 } }\n"
        ":CheckpointBackward { linear a32x64 b96x64 > s32x96 { mm "
        "a32x64 b64x96 > s32x96 } relu s32x96 > t32x96 }\n"
        ":R > { ReluBackward > { threshold_backward q32x96 t32x96 > "
        "u32x96 } }\n"
        ":M > { MmBackward0 > { mm u96x32 a32x64 > v96x64 } }\n"
        ":A > { AccumulateGrad v96x64 > { detach v96x64 > v96x64 } }\n"
        "Optimizer.step#Adam.step > { _foreach_addcdiv_ (2 b96x64 "
        "e45x96 (2 v96x64 r45x96 (2 w96x64 x45x96 > }\n");
}

int main(void)
{
    RUN(test_rewritten__recompute);
    RUN(test_rewritten__accumulate);
    RUN(test_rewritten__offload);
    RUN(test_rewritten__optimizer);
    RUN(test_rewritten__types);
    RUN(test_rewritten__together);
    return check_summary();
}
