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
           ":L > { LossBackward > { mse_loss_backward e1 d32x45 > f32x45 } }\n"
           ":R > { ReluBackward > { threshold_backward f32x45 d32x45 > g32x45 "
           "} }\n"
           ":M > { MmBackward0 > { mm g32x45 b45x96 > h32x96 mm g45x32 a32x96 "
           "> i45x96 } }\n"
           ":A > { AccumulateGrad i45x96 > { detach i45x96 > i45x96 } }\n"
           "record_param_comms h32x96 [10 #0 3072 3072] { nccl:send }\n"
           "empty > j32x96\n"
           "record_param_comms j32x96 [11 #1 3072 3072] { nccl:recv }\n"
           "record_param_comms [12 #1 0 0] { nccl:wait }\n"
           "linear j32x96 b45x96 > k32x45 { mm j32x96 b96x45 > k32x45 }\n"
           "relu k32x45 > l32x45\n"
           "mse_loss l32x45 > m1\n"
           ":L > { LossBackward > { mse_loss_backward m1 l32x45 > n32x45 } }\n"
           ":R > { ReluBackward > { threshold_backward n32x45 l32x45 > o32x45 "
           "} }\n"
           ":M > { MmBackward0 > { mm o32x45 b45x96 > p32x96 mm o45x32 j32x96 "
           "> q45x96 } }\n"
           ":A > { AccumulateGrad q45x96 > { add_ i45x96 q45x96 > i45x96 } }\n"
           "record_param_comms p32x96 [10 #1 3072 3072] { nccl:send }\n"
           "Optimizer.step#Adam.step > { _foreach_addcdiv_ (1 b45x96 (1 i45x96 "
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
           ":L > { LossBackward > { mse_loss_backward e1 d32x45 > f32x45 } }\n"
           ":R > { ReluBackward > { threshold_backward f32x45 d32x45 > g32x45 "
           "} }\n"
           ":M > { MmBackward0 > { mm g32x45 b45x96 > h32x96 } }\n"
           "record_param_comms h32x96 [10 #0 3072 3072] { nccl:send }\n"
           "empty > i32x96\n"
           "record_param_comms i32x96 [11 #1 3072 3072] { nccl:recv }\n"
           "record_param_comms [12 #1 0 0] { nccl:wait }\n"
           "linear i32x96 b45x96 > j32x45 { mm i32x96 b96x45 > j32x45 }\n"
           "relu j32x45 > k32x45\n"
           "mse_loss k32x45 > l1\n"
           ":L > { LossBackward > { mse_loss_backward l1 k32x45 > m32x45 } }\n"
           ":R > { ReluBackward > { threshold_backward m32x45 k32x45 > n32x45 "
           "} }\n"
           ":M > { MmBackward0 > { mm n32x45 b45x96 > o32x96 } }\n"
           "record_param_comms o32x96 [10 #1 3072 3072] { nccl:send }\n"
           ":M > { MmBackward0 > { mm g45x32 a32x96 > p45x96 } }\n"
           ":A > { AccumulateGrad p45x96 > { detach p45x96 > p45x96 } }\n"
           ":M > { MmBackward0 > { mm n45x32 i32x96 > q45x96 } }\n"
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

/* The stage before has its gradient before sums are waited for. */
static void test_rewritten__sent_before_sums(void)
{
    check_rewritten(
        (struct msim_rewrite){
            .world = 3,
            .parallel = {.pp = 2, .vp = 1, .dp = 3, .recorded = 1, .stage = 1}},
        "empty > a32x96\n"
        "record_param_comms a32x96 [11 #0 3072 3072] { nccl:recv }\n"
        "record_param_comms [12 #0 0 0] { nccl:wait }\n"
        "linear a32x96 b45x96 > c32x45 { mm a32x96 b96x45 > c32x45 }\n"
        "relu c32x45 > d32x45\n"
        "mse_loss d32x45 > e1\n"
        ":L > { LossBackward > { mse_loss_backward e1 d32x45 > f32x45 } }\n"
        ":R > { ReluBackward > { threshold_backward f32x45 d32x45 > g32x45 } "
        "}\n"
        ":M > { MmBackward0 > { mm g32x45 b45x96 > h32x96 mm g45x32 a32x96 > "
        "i45x96 } }\n"
        ":A > { AccumulateGrad i45x96 > { detach i45x96 > i45x96 mul i4320 "
        "j4320 > j4320 c10d::allreduce_ j4320 j4320 [1 #1 4320 4320] } }\n"
        "record_param_comms h32x96 [10 #0 3072 3072] { nccl:send }\n"
        "record_param_comms [12 #1 0 0]\n"
        "copy_ i4320 j4320 > i4320\n"
        "Optimizer.step#Adam.step > { _foreach_addcdiv_ (1 b45x96 (1 i45x96 (1 "
        "k45x96 > }\n");
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

/* A table that embedding and head share: each stage has one of its own, sums
 * its own gradients, and both reduce before the step. */
static void test_rewritten__shared_table(void)
{
    static const struct made_node TIED[] = {
        {10, 0, "aten::embedding", 0, 1, "1:70x8 3:32", "20:32x8"},
        {11, 0, "aten::linear", 0, 2, "20:32x8 2:8x8", "21:32x8"},
        {12, 0, "aten::relu", 0, 3, "21:32x8", "22:32x8"},
        {13, 0, "aten::linear", 0, 4, "22:32x8 5:8x8", "23:32x8"},
        {14, 0, "aten::relu", 0, 5, "23:32x8", "24:32x8"},
        {15, 0, "aten::mm", 0, 6, "24:32x8 1:8x70", "25:32x70"},
        {20, 0, "autograd::engine::evaluate_function: M", 0, -1, "", ""},
        {21, 20, "MmBackward0", 1, 6, "", ""},
        {22, 21, "aten::mm", 0, -1, "25:70x32 24:32x8", "30:70x8"},
        {23, 21, "aten::mm", 0, -1, "25:32x70 1:70x8", "31:32x8"},
        {30, 0, "autograd::engine::evaluate_function: L", 0, -1, "", ""},
        {31, 30, "LinearBackward0", 1, 4, "", ""},
        {32, 31, "aten::mm", 0, -1, "31:32x8 5:8x8", "32:32x8"},
        {40, 0, "autograd::engine::evaluate_function: L", 0, -1, "", ""},
        {41, 40, "LinearBackward0", 1, 2, "", ""},
        {42, 41, "aten::mm", 0, -1, "32:32x8 2:8x8", "33:32x8"},
        {50, 0, "autograd::engine::evaluate_function: E", 0, -1, "", ""},
        {51, 50, "EmbeddingBackward0", 1, 1, "", ""},
        {52, 51, "aten::embedding_dense_backward", 0, -1, "33:32x8 3:32",
         "34:70x8"},
        {53, 0, "aten::add", 0, -1, "30:70x8 34:70x8", "35:70x8"},
        {60, 0, "autograd::engine::evaluate_function: A", 0, -1, "", ""},
        {61, 60, "torch::autograd::AccumulateGrad", 1, -1, "35:70x8", ""},
        {62, 61, "aten::detach", 0, -1, "35:70x8", "35:70x8"},
        {80, 0, "Optimizer.step#Adam.step", 7, -1, "", ""},
        {81, 80, "aten::addcdiv_", 0, -1, "1:70x8 35:70x8 6:70x8", ""},
    };
    struct msim_rewrite r = {
        .parallel = {.pp = 2, .vp = 1, .micro_batches = 2, .recorded = 1}};

    for (r.parallel.stage = 0; r.parallel.stage < 2; r.parallel.stage++) {
        struct made_changed m;
        char *text;

        if (!change_nodes(&m, TIED, sizeof(TIED) / sizeof(*TIED), &r))
            return;
        text = rewritten_text(&m);
        CHECK_STR(
            text,
            r.parallel.stage
                ? "empty > a32x8\n"
                  "record_param_comms a32x8 [11 #0 256 256] { nccl:recv }\n"
                  "record_param_comms [12 #0 0 0] { nccl:wait }\n"
                  "linear a32x8 b8x8 > c32x8\n"
                  "relu c32x8 > d32x8\n"
                  "mm d32x8 e8x70 > f32x70\n"
                  ":M > { MmBackward0 > { mm f70x32 d32x8 > g70x8 mm f32x70 "
                  "e70x8 > h32x8 } }\n"
                  ":L > { LinearBackward0 > { mm h32x8 b8x8 > i32x8 } }\n"
                  "record_param_comms i32x8 [10 #0 256 256] { nccl:send }\n"
                  "empty > j32x8\n"
                  "record_param_comms j32x8 [11 #1 256 256] { nccl:recv }\n"
                  "record_param_comms [12 #1 0 0] { nccl:wait }\n"
                  "linear j32x8 b8x8 > k32x8\n"
                  "relu k32x8 > l32x8\n"
                  "mm l32x8 e8x70 > m32x70\n"
                  ":M > { MmBackward0 > { mm m70x32 l32x8 > n70x8 mm m32x70 "
                  "e70x8 > o32x8 } }\n"
                  "add_ g560 n560 > g560\n"
                  ":L > { LinearBackward0 > { mm o32x8 b8x8 > p32x8 } }\n"
                  "record_param_comms p32x8 [10 #1 256 256] { nccl:send }\n"
                  "record_param_comms g560 g560 [1 #0 560 560] { "
                  "nccl:all_reduce }\n"
                  "record_param_comms [12 #0 0 0] { nccl:wait }\n"
                  "Optimizer.step#Adam.step > { addcdiv_ e70x8 g70x8 q70x8 > "
                  "}\n"
                : "embedding a70x8 b32 > c32x8\n"
                  "linear c32x8 d8x8 > e32x8\n"
                  "relu e32x8 > f32x8\n"
                  "record_param_comms f32x8 [10 #0 256 256] { nccl:send }\n"
                  "embedding a70x8 b32 > g32x8\n"
                  "linear g32x8 d8x8 > h32x8\n"
                  "relu h32x8 > i32x8\n"
                  "record_param_comms i32x8 [10 #1 256 256] { nccl:send }\n"
                  "empty > j32x8\n"
                  "record_param_comms j32x8 [11 #0 256 256] { nccl:recv }\n"
                  "record_param_comms [12 #0 0 0] { nccl:wait }\n"
                  ":L > { LinearBackward0 > { mm j32x8 d8x8 > k32x8 } }\n"
                  ":E > { EmbeddingBackward0 > { embedding_dense_backward "
                  "k32x8 b32 > l70x8 } }\n"
                  ":A > { AccumulateGrad l70x8 > { detach l70x8 > l70x8 } }\n"
                  "empty > m32x8\n"
                  "record_param_comms m32x8 [11 #1 256 256] { nccl:recv }\n"
                  "record_param_comms [12 #1 0 0] { nccl:wait }\n"
                  ":L > { LinearBackward0 > { mm m32x8 d8x8 > n32x8 } }\n"
                  ":E > { EmbeddingBackward0 > { embedding_dense_backward "
                  "n32x8 b32 > o70x8 } }\n"
                  ":A > { AccumulateGrad o70x8 > { add_ l70x8 o70x8 > l70x8 } "
                  "}\n"
                  "record_param_comms l560 l560 [1 #0 560 560] { "
                  "nccl:all_reduce }\n"
                  "record_param_comms [12 #0 0 0] { nccl:wait }\n"
                  "Optimizer.step#Adam.step > { addcdiv_ a70x8 l70x8 p70x8 > "
                  "}\n");
        free(text);
        done_step(&m);
    }
}

/* Nor are buckets of a recorded DDP, which hold gradients of both stages. */
static void test_rewritten__no_buckets(void)
{
    const struct msim_rewrite ddp = {.world = 2};
    const struct msim_rewrite r = {
        .parallel = {.pp = 2, .vp = 1, .recorded = 2}};
    struct made_changed m;
    struct msim_error err = {0};
    struct msim_trace *out;

    if (!change_nodes(&m, REWRITTEN, sizeof(REWRITTEN) / sizeof(*REWRITTEN),
                      &ddp))
        return;
    CHECK_INT(msim_rewritten_new(&out, m.t, m.job->strings, &r, &err),
              MSIM_EUSAGE);
    CHECK(strstr(err.text, "reduces gradients in buckets") != NULL);
    done_step(&m);
}

/* All stages at a time are what they are one by one, also behind a change that
 * comes before; after a failure none is there. */
static void test_rewritten__all_stages(void)
{
    struct msim_rewrite r = {.accumulate = 2,
                             .parallel = {.pp = 2, .vp = 1, .recorded = 1}};
    struct msim_job *job =
        made_nodes(REWRITTEN, sizeof(REWRITTEN) / sizeof(*REWRITTEN));
    struct msim_trace *all[3], *one;
    struct msim_error err = {0};

    CHECK_INT(
        msim_rewritten_stages_new(all, job->ranks[0], job->strings, &r, &err),
        MSIM_OK);
    for (uint32_t k = 0; k < 2 && all[k]; k++) {
        r.parallel.stage = k;
        CHECK_INT(
            msim_rewritten_new(&one, job->ranks[0], job->strings, &r, &err),
            MSIM_OK);
        CHECK_INT(all[k]->rank, one->rank);
        CHECK_INT(all[k]->n_ops, one->n_ops);
        for (uint32_t i = 0; i < one->n_ops && i < all[k]->n_ops; i++)
            CHECK_STR(msim_trace_text(all[k], all[k]->ops[i].name),
                      msim_trace_text(one, one->ops[i].name));
        msim_trace_free(one);
        msim_trace_free(all[k]);
    }
    r.parallel.pp = 3;
    CHECK_INT(
        msim_rewritten_stages_new(all, job->ranks[0], job->strings, &r, &err),
        MSIM_EUSAGE);
    CHECK(!all[0] && !all[1] && !all[2]);
    msim_job_free(job);
}

int main(void)
{
    RUN(test_rewritten__two_stages);
    RUN(test_rewritten__all_stages);
    RUN(test_rewritten__zero_bubble);
    RUN(test_rewritten__copies);
    RUN(test_rewritten__shared_table);
    RUN(test_rewritten__sent_before_sums);
    RUN(test_rewritten__no_shards);
    RUN(test_rewritten__no_buckets);
    return check_summary();
}
