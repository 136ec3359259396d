/*
 * tests/unit/core/rewrite/test_rewritten_stages.c - every operator of a step
 * that is cut into stages.
 */
#include "tests/unit/core/rewrite/rewritten_text.h"

/* 1F1B of two micro batches: the first stage runs both ahead, and each has
 * memory of its own; the step updates the stage's own parameter. */
static void test_rewritten__two_stages(void)
{
    struct msim_rewrite r = {
        .parallel = {.pp = 2, .vp = 1, .micro_batches = 2, .recorded = 1}};

    check_rewritten(
        r, "linear a32x64 b96x64 > c32x96 { mm a32x64 b64x96 > c32x96 }\n"
           "relu c32x96 > d32x96\n"
           "record_param_comms d32x96 [10 #0 3072 3072] { nccl:send }\n"
           "linear a32x64 b96x64 > e32x96 { mm a32x64 b64x96 > e32x96 }\n"
           "relu e32x96 > f32x96\n"
           "record_param_comms f32x96 [10 #1 3072 3072] { nccl:send }\n"
           "empty > g32x96\n"
           "record_param_comms g32x96 [11 #0 3072 3072] { nccl:recv }\n"
           "record_param_comms [12 #0 0 0] { nccl:wait }\n"
           ":R > { ReluBackward > { threshold_backward g32x96 d32x96 > h32x96 "
           "} }\n"
           ":M > { MmBackward0 > { mm h96x32 a32x64 > i96x64 } }\n"
           ":A > { AccumulateGrad i96x64 > { detach i96x64 > i96x64 } }\n"
           "empty > j32x96\n"
           "record_param_comms j32x96 [11 #1 3072 3072] { nccl:recv }\n"
           "record_param_comms [12 #1 0 0] { nccl:wait }\n"
           ":R > { ReluBackward > { threshold_backward j32x96 f32x96 > k32x96 "
           "} }\n"
           ":M > { MmBackward0 > { mm k96x32 a32x64 > l96x64 } }\n"
           ":A > { AccumulateGrad l96x64 > { add_ i96x64 l96x64 > i96x64 } }\n"
           "Optimizer.step#Adam.step > { _foreach_addcdiv_ (1 b96x64 (1 i96x64 "
           "(1 m96x64 > }\n");
    r.parallel.stage = 1;
    check_rewritten(
        r, "empty > a32x96\n"
           "record_param_comms a32x96 [11 #0 3072 3072] { nccl:recv }\n"
           "record_param_comms [12 #0 0 0] { nccl:wait }\n"
           "linear a32x96 b45x96 > c32x45 { mm a32x96 b96x45 > c32x45 }\n"
           "relu c32x45 > d32x45\n"
           "mse_loss d32x45 > e1\n"
           "empty > f32x96\n"
           "record_param_comms f32x96 [11 #1 3072 3072] { nccl:recv }\n"
           "record_param_comms [12 #1 0 0] { nccl:wait }\n"
           ":L > { LossBackward > { mse_loss_backward e1 d32x45 > g32x45 } }\n"
           ":R > { ReluBackward > { threshold_backward g32x45 d32x45 > h32x45 "
           "} }\n"
           ":M > { MmBackward0 > { mm h32x45 b45x96 > i32x96 mm h45x32 a32x96 "
           "> j45x96 } }\n"
           ":A > { AccumulateGrad j45x96 > { detach j45x96 > j45x96 } }\n"
           "record_param_comms i32x96 [10 #0 3072 3072] { nccl:send }\n"
           "linear f32x96 b45x96 > k32x45 { mm f32x96 b96x45 > k32x45 }\n"
           "relu k32x45 > l32x45\n"
           "mse_loss l32x45 > m1\n"
           ":L > { LossBackward > { mse_loss_backward m1 l32x45 > n32x45 } }\n"
           ":R > { ReluBackward > { threshold_backward n32x45 l32x45 > o32x45 "
           "} }\n"
           ":M > { MmBackward0 > { mm o32x45 b45x96 > p32x96 mm o45x32 f32x96 "
           "> q45x96 } }\n"
           ":A > { AccumulateGrad q45x96 > { add_ j45x96 q45x96 > j45x96 } }\n"
           "record_param_comms p32x96 [10 #1 3072 3072] { nccl:send }\n"
           "Optimizer.step#Adam.step > { _foreach_addcdiv_ (1 b45x96 (1 j45x96 "
           "(1 r45x96 > }\n");
}

/* Gradients of inputs are sent before those of weights are found. */
static void test_rewritten__zero_bubble(void)
{
    struct msim_rewrite r = {.parallel = {.pp = 2,
                                          .vp = 1,
                                          .micro_batches = 2,
                                          .order = MSIM_TURNS_ZERO_BUBBLE,
                                          .recorded = 1,
                                          .stage = 1}};

    check_rewritten(
        r, "empty > a32x96\n"
           "record_param_comms a32x96 [11 #0 3072 3072] { nccl:recv }\n"
           "record_param_comms [12 #0 0 0] { nccl:wait }\n"
           "linear a32x96 b45x96 > c32x45 { mm a32x96 b96x45 > c32x45 }\n"
           "relu c32x45 > d32x45\n"
           "mse_loss d32x45 > e1\n"
           "empty > f32x96\n"
           "record_param_comms f32x96 [11 #1 3072 3072] { nccl:recv }\n"
           "record_param_comms [12 #1 0 0] { nccl:wait }\n"
           ":L > { LossBackward > { mse_loss_backward e1 d32x45 > g32x45 } }\n"
           ":R > { ReluBackward > { threshold_backward g32x45 d32x45 > h32x45 "
           "} }\n"
           ":M > { MmBackward0 > { mm h32x45 b45x96 > i32x96 } }\n"
           "record_param_comms i32x96 [10 #0 3072 3072] { nccl:send }\n"
           "linear f32x96 b45x96 > j32x45 { mm f32x96 b96x45 > j32x45 }\n"
           "relu j32x45 > k32x45\n"
           "mse_loss k32x45 > l1\n"
           ":L > { LossBackward > { mse_loss_backward l1 k32x45 > m32x45 } }\n"
           ":R > { ReluBackward > { threshold_backward m32x45 k32x45 > n32x45 "
           "} }\n"
           ":M > { MmBackward0 > { mm n32x45 b45x96 > o32x96 } }\n"
           "record_param_comms o32x96 [10 #1 3072 3072] { nccl:send }\n"
           ":M > { MmBackward0 > { mm h45x32 a32x96 > p45x96 } }\n"
           ":A > { AccumulateGrad p45x96 > { detach p45x96 > p45x96 } }\n"
           ":M > { MmBackward0 > { mm n45x32 f32x96 > q45x96 } }\n"
           ":A > { AccumulateGrad q45x96 > { add_ p45x96 q45x96 > p45x96 } }\n"
           "Optimizer.step#Adam.step > { _foreach_addcdiv_ (1 b45x96 (1 p45x96 "
           "(1 r45x96 > }\n");
}

/* Three copies: what the first stage sums over micro batches is reduced once,
 * with the last of them. */
static void test_rewritten__copies(void)
{
    check_rewritten(
        (struct msim_rewrite){
            .world = 3,
            .parallel =
                {.pp = 2, .vp = 1, .dp = 3, .micro_batches = 2, .recorded = 1}},
        "linear a32x64 b96x64 > c32x96 { mm a32x64 b64x96 > c32x96 }\n"
        "relu c32x96 > d32x96\n"
        "record_param_comms d32x96 [10 #0 3072 3072] { nccl:send }\n"
        "linear a32x64 b96x64 > e32x96 { mm a32x64 b64x96 > e32x96 }\n"
        "relu e32x96 > f32x96\n"
        "record_param_comms f32x96 [10 #1 3072 3072] { nccl:send }\n"
        "empty > g32x96\n"
        "record_param_comms g32x96 [11 #0 3072 3072] { nccl:recv }\n"
        "record_param_comms [12 #0 0 0] { nccl:wait }\n"
        ":R > { ReluBackward > { threshold_backward g32x96 d32x96 > h32x96 } "
        "}\n"
        ":M > { MmBackward0 > { mm h96x32 a32x64 > i96x64 } }\n"
        ":A > { AccumulateGrad i96x64 > { detach i96x64 > i96x64 } }\n"
        "empty > j32x96\n"
        "record_param_comms j32x96 [11 #1 3072 3072] { nccl:recv }\n"
        "record_param_comms [12 #1 0 0] { nccl:wait }\n"
        ":R > { ReluBackward > { threshold_backward j32x96 f32x96 > k32x96 } "
        "}\n"
        ":M > { MmBackward0 > { mm k96x32 a32x64 > l96x64 } }\n"
        ":A > { AccumulateGrad l96x64 > { add_ i96x64 l96x64 > i96x64 mul "
        "i6144 m6144 > m6144 c10d::allreduce_ m6144 m6144 [1 #1 6144 6144] } "
        "}\n"
        "record_param_comms [12 #1 0 0]\n"
        "copy_ i6144 m6144 > i6144\n"
        "Optimizer.step#Adam.step > { _foreach_addcdiv_ (1 b96x64 (1 i96x64 (1 "
        "n96x64 > }\n");
}

/* Stages that share out parameters over their copies are not known. */
static void test_rewritten__no_shards(void)
{
    const struct msim_rewrite r = {
        .world = 2,
        .shard = MSIM_SHARD_FULL,
        .parallel = {.pp = 2, .vp = 1, .dp = 2, .recorded = 1}};
    struct msim_job *job =
        made_nodes(REWRITTEN, sizeof(REWRITTEN) / sizeof(*REWRITTEN));
    struct msim_error err = {0};
    struct msim_trace *out;

    CHECK_INT(msim_rewritten_new(&out, job->ranks[0], job->strings, &r, &err),
              MSIM_EUSAGE);
    CHECK(strstr(err.text, "want \"shard\": \"ddp\"") != NULL);
    msim_job_free(job);
}

int main(void)
{
    RUN(test_rewritten__two_stages);
    RUN(test_rewritten__zero_bubble);
    RUN(test_rewritten__copies);
    RUN(test_rewritten__no_shards);
    return check_summary();
}
