/*
 * tests/unit/core/rewrite/test_shard.c - a step of two layers on four ranks:
 * gradients in buckets, and what is shared out.
 */
#include "tests/unit/core/rewrite/trained_step.h"

/* Messages of a kind. */
static uint32_t messages(const struct msim_trace *t, enum msim_collective kind)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < t->n_comms; i++)
        n += t->comms[i].collective == kind;
    return n;
}

/* Elements of the first tensor of the n-th operator `name`. */
static uint64_t elems_in(const struct made_changed *m, const char *name,
                         uint32_t n)
{
    uint32_t op = find_op(m->t, name, n);

    return op == MSIM_NONE
               ? 0
               : msim_arg_elems(m->t,
                                msim_args_get(m->t, m->t->ops[op].args, 0));
}

/* Two gradients of 4,000 numbers fit into the first bucket, which is sent with
 * the second of them, below its AccumulateGrad. */
static void test_shard__ddp(void)
{
    const struct msim_rewrite r = {.world = 4};
    struct made_changed m;
    uint32_t sent, bucket;

    REQUIRE(change_step(&m, &r));
    CHECK_UINT(m.t->world_size, 4);
    CHECK_UINT(messages(m.t, MSIM_COLL_ALL_REDUCE), 1);
    CHECK_UINT(messages(m.t, MSIM_COLL_WAIT), 1);
    CHECK_UINT(m.t->comms[0].in_elems, 8000);
    CHECK_UINT(count_ops(m.t, "aten::mul"), 2);
    CHECK_UINT(count_ops(m.t, "aten::copy_"), 2);
    sent = find_op(m.t, "c10d::allreduce_", 0);
    CHECK_STR(msim_trace_text(m.t, m.t->ops[m.t->ops[sent].parent].name),
              "torch::autograd::AccumulateGrad");
    /* The bucket is there before; the gradients stay beside it. */
    bucket = life_out(&m, "aten::mul", 1, 0);
    CHECK_UINT(bucket, life_out(&m, "aten::mul", 0, 0));
    CHECK_UINT(m.lives.rows[bucket].born, MSIM_NONE);
    CHECK_UINT(m.lives.rows[bucket].bytes, 32000);
    CHECK_UINT(life_in(&m, "aten::addcdiv_", 1, 1),
               life_out(&m, "aten::linear_backward", 0, 1));
    done_step(&m);
}

static void test_shard__ddp_views(void)
{
    const struct msim_rewrite r = {.world = 4, .bucket_views = true};
    struct made_changed m;

    REQUIRE(change_step(&m, &r));
    CHECK_UINT(count_ops(m.t, "aten::copy_"), 0);
    CHECK_UINT(life_in(&m, "aten::addcdiv_", 0, 1),
               life_out(&m, "aten::mul", 0, 0));
    done_step(&m);
}

/* Three layers of 1.14 MiB each. The first gradient fills the first bucket, of
 * 1 MiB; behind it buckets are as large as is said, 25 MiB where nothing is. */
static const struct made_node LARGE[] = {
    {10, 0, "aten::linear", 0, 1, "4:300000 1:300000", "20:300000"},
    {11, 0, "aten::linear", 0, 2, "20:300000 2:300000", "21:300000"},
    {12, 0, "aten::linear", 0, 3, "21:300000 3:300000", "22:300000"},
    {13, 0, "aten::mse_loss", 0, 4, "22:300000", "23:1"},
    {20, 0, "autograd::engine::evaluate_function: L", 0, -1, "", ""},
    {21, 20, "LossBackward", 1, 4, "", ""},
    {22, 21, "aten::mse_loss_backward", 0, -1, "23:1 22:300000", "30:300000"},
    {30, 0, "autograd::engine::evaluate_function: L", 0, -1, "", ""},
    {31, 30, "LinearBackward", 1, 3, "", ""},
    {32, 31, "aten::linear_backward", 0, -1, "30:300000 21:300000 3:300000",
     "31:300000 41:300000"},
    {35, 0, "autograd::engine::evaluate_function: A", 0, -1, "", ""},
    {36, 35, "torch::autograd::AccumulateGrad", 1, -1, "41:300000", ""},
    {40, 0, "autograd::engine::evaluate_function: L", 0, -1, "", ""},
    {41, 40, "LinearBackward", 1, 2, "", ""},
    {42, 41, "aten::linear_backward", 0, -1, "31:300000 20:300000 2:300000",
     "32:300000 42:300000"},
    {45, 0, "autograd::engine::evaluate_function: A", 0, -1, "", ""},
    {46, 45, "torch::autograd::AccumulateGrad", 1, -1, "42:300000", ""},
    {50, 0, "autograd::engine::evaluate_function: L", 0, -1, "", ""},
    {51, 50, "LinearBackward", 1, 1, "", ""},
    {52, 51, "aten::linear_backward", 0, -1, "32:300000 4:300000 1:300000",
     "43:300000"},
    {55, 0, "autograd::engine::evaluate_function: A", 0, -1, "", ""},
    {56, 55, "torch::autograd::AccumulateGrad", 1, -1, "43:300000", ""},
    {60, 0, "Optimizer.step#Adam.step", 7, -1, "", ""},
    {61, 60, "aten::addcdiv_", 0, -1, "1:300000 43:300000 5:300000", ""},
    {62, 60, "aten::addcdiv_", 0, -1, "2:300000 42:300000 6:300000", ""},
    {63, 60, "aten::addcdiv_", 0, -1, "3:300000 41:300000 7:300000", ""},
};

static void test_shard__ddp_buckets(void)
{
    static const struct {
        double mib;
        uint32_t sent;
        uint64_t last; /* elements */
    } want[] = {{0, 2, 600000}, {1, 3, 300000}, {2, 2, 600000}};

    for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++) {
        const struct msim_rewrite r = {.world = 4, .bucket_mib = want[i].mib};
        struct made_changed m;

        REQUIRE(change_nodes(&m, LARGE, sizeof(LARGE) / sizeof(*LARGE), &r));
        CHECK_UINT(messages(m.t, MSIM_COLL_ALL_REDUCE), want[i].sent);
        CHECK_UINT(m.t->comms[0].in_elems, 300000);
        CHECK_UINT(m.t->comms[want[i].sent - 1].in_elems, want[i].last);
        done_step(&m);
    }
}

/* Micro batches but the last one send nothing. */
static void test_shard__ddp_accumulates(void)
{
    const struct msim_rewrite r = {.world = 4, .accumulate = 3};
    struct made_changed m;

    REQUIRE(change_step(&m, &r));
    CHECK_UINT(messages(m.t, MSIM_COLL_ALL_REDUCE), 1);
    CHECK(find_op(m.t, "c10d::allreduce_", 0) >
          find_op(m.t, "aten::linear_backward", 5));
    done_step(&m);
}

/*
 * Units of 4,000 numbers, of which each rank has 1,000. Gathered before forward
 * and before backward, the second one while the first is computed; each is
 * waited for, and so is the last reduction.
 */
static void test_shard__fsdp(void)
{
    const struct msim_rewrite r = {.world = 4, .shard = MSIM_SHARD_FULL};
    struct made_changed m;

    REQUIRE(change_step(&m, &r));
    CHECK_UINT(messages(m.t, MSIM_COLL_ALL_GATHER), 4);
    CHECK_UINT(messages(m.t, MSIM_COLL_REDUCE_SCATTER), 2);
    CHECK_UINT(messages(m.t, MSIM_COLL_WAIT), 5);
    CHECK_UINT(m.t->comms[0].in_elems, 1000);
    CHECK_UINT(m.t->comms[0].out_elems, 4000);
    CHECK(find_op(m.t, "c10d::_allgather_base_", 1) <
          find_op(m.t, "aten::linear", 0));
    CHECK_UINT(elems_in(&m, "aten::addcdiv_", 0), 1000);
    CHECK_UINT(count_ops(m.t, "aten::cat"), 2);
    /* The first layer reads what was gathered, and it is freed behind it. */
    CHECK_UINT(life_in(&m, "aten::linear", 0, 1),
               life_in(&m, "c10d::_allgather_base_", 0, 1));
    CHECK_UINT(m.lives.rows[life_in(&m, "aten::linear", 0, 1)].last,
               find_op(m.t, "aten::linear", 0));
    CHECK_UINT(life_in(&m, "aten::linear_backward", 1, 2),
               life_in(&m, "c10d::_allgather_base_", 3, 1));
    /* The optimizer updates what is gathered, with what was scattered. */
    CHECK_UINT(life_in(&m, "aten::addcdiv_", 0, 0),
               life_in(&m, "c10d::_allgather_base_", 0, 0));
    CHECK_UINT(life_in(&m, "aten::addcdiv_", 0, 1),
               life_in(&m, "c10d::_reduce_scatter_base_", 1, 1));
    CHECK_UINT(m.lives.rows[life_in(&m, "aten::addcdiv_", 0, 2)].bytes, 4000);
    done_step(&m);
}

/* FSDP's hooks around two units of one parameter each; ZeRO 2 has none, and
 * where nothing is freed nothing is gathered again. */
static void test_shard__fsdp_hooks(void)
{
    static const struct {
        enum msim_shard shard;
        uint32_t before, behind, back;
    } want[] = {{MSIM_SHARD_FULL, 2, 2, 2},
                {MSIM_SHARD_GRAD_OP, 2, 0, 0},
                {MSIM_SHARD_NO_SHARD, 2, 0, 2},
                {MSIM_SHARD_ZERO2, 0, 0, 0}};

    for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++) {
        const struct msim_rewrite r = {.world = 4, .shard = want[i].shard};
        struct made_changed m;

        REQUIRE(change_step(&m, &r));
        CHECK_UINT(count_ops(m.t, "FullyShardedDataParallel._pre_forward"),
                   want[i].before);
        CHECK_UINT(count_ops(m.t, "FlatParamHandle._use_unsharded_views"),
                   want[i].before);
        CHECK_UINT(count_ops(m.t, "FullyShardedDataParallel._post_forward"),
                   want[i].behind);
        CHECK_UINT(
            count_ops(m.t, "FullyShardedDataParallel._pre_backward_hook"),
            want[i].back);
        CHECK_UINT(
            count_ops(m.t, "FullyShardedDataParallel._post_backward_hook"),
            want[i].before);
        CHECK_UINT(count_ops(m.t, "FlatParamHandle._use_sharded_views"),
                   want[i].before);
        done_step(&m);
    }
}

/* Every rank gives its quarter of 4,000 numbers, and gets one of sums. */
static void check_shares(const struct msim_trace *t)
{
    for (uint32_t i = 0; i < t->n_comms; i++) {
        bool gather = t->comms[i].collective == MSIM_COLL_ALL_GATHER;

        if (!gather && t->comms[i].collective != MSIM_COLL_REDUCE_SCATTER)
            continue;
        CHECK_UINT(t->comms[i].in_elems, gather ? 1000 : 4000);
        CHECK_UINT(t->comms[i].out_elems, gather ? 4000 : 1000);
    }
}

/* What each way to share sends in one step. */
static void test_shard__messages(void)
{
    static const struct {
        struct msim_rewrite r;
        uint32_t gather, scatter, reduce, optimizer;
    } want[] = {
        {{.world = 4, .shard = MSIM_SHARD_DDP}, 0, 0, 1, 4000},
        {{.world = 4, .shard = MSIM_SHARD_ZERO1}, 2, 0, 1, 1000},
        {{.world = 4, .shard = MSIM_SHARD_ZERO2}, 2, 2, 0, 1000},
        {{.world = 4, .shard = MSIM_SHARD_NO_SHARD}, 0, 0, 2, 4000},
        {{.world = 4, .shard = MSIM_SHARD_GRAD_OP}, 2, 2, 0, 1000},
        {{.world = 4, .shard = MSIM_SHARD_FULL, .accumulate = 2},
         8,
         4,
         0,
         1000},
        {{.world = 4, .shard = MSIM_SHARD_FULL, .recompute_every = 1},
         4,
         2,
         0,
         1000},
        /* alone: nothing is sent, nothing is shared */
        {{.world = 1, .shard = MSIM_SHARD_FULL}, 0, 0, 0, 4000},
    };

    for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++) {
        struct made_changed m;

        REQUIRE(change_step(&m, &want[i].r));
        CHECK_UINT(messages(m.t, MSIM_COLL_ALL_GATHER), want[i].gather);
        CHECK_UINT(messages(m.t, MSIM_COLL_REDUCE_SCATTER), want[i].scatter);
        CHECK_UINT(messages(m.t, MSIM_COLL_ALL_REDUCE), want[i].reduce);
        check_shares(m.t);
        CHECK_UINT(elems_in(&m, "aten::addcdiv_", 0), want[i].optimizer);
        done_step(&m);
    }
}

/* The second micro batch's share is added to the first one's. */
static void test_shard__fsdp_accumulates(void)
{
    const struct msim_rewrite r = {
        .world = 4, .shard = MSIM_SHARD_FULL, .accumulate = 2};
    struct made_changed m;

    REQUIRE(change_step(&m, &r));
    CHECK_UINT(count_ops(m.t, "aten::add_"), 2);
    CHECK_UINT(elems_in(&m, "aten::add_", 0), 1000);
    CHECK_UINT(life_in(&m, "aten::add_", 0, 0),
               life_in(&m, "aten::addcdiv_", 1, 1));
    CHECK_UINT(life_in(&m, "aten::add_", 0, 1),
               life_in(&m, "c10d::_reduce_scatter_base_", 2, 1));
    done_step(&m);
}

/* Shares, gradients and states are in the host's memory. */
static void test_shard__offload(void)
{
    const struct msim_rewrite r = {
        .world = 4, .shard = MSIM_SHARD_FULL, .offload_states = true};
    struct made_changed m;

    REQUIRE(change_step(&m, &r));
    CHECK_UINT(count_ops(m.t, "aten::copy_"), 6); /* 4 up, 2 down */
    for (uint32_t k = 0; k < 4; k++)
        CHECK_UINT(m.lives.rows[life_in(&m, "aten::addcdiv_", 0, k)].device,
                   MSIM_DEV_HOST);
    CHECK_UINT(m.lives.rows[life_in(&m, "c10d::_allgather_base_", 0, 0)].device,
               MSIM_DEV_GPU);
    done_step(&m);
}

static void test_shard__reasons(void)
{
    static const struct {
        size_t nodes;
        struct msim_rewrite r;
        const char *want;
    } cases[] = {
        {N_MADE, {.shard = MSIM_SHARD_FULL}, "how many ranks"},
        {N_MADE - 3,
         {.world = 2, .shard = MSIM_SHARD_FULL},
         "no parameter can be shared out"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct msim_job *job = made_step(cases[i].nodes);
        struct msim_trace *out = NULL;
        struct msim_error err = {0};

        REQUIRE(job != NULL);
        CHECK_INT(msim_rewritten_new(&out, job->ranks[0], job->strings,
                                     &cases[i].r, &err),
                  MSIM_EUSAGE);
        CHECK(strstr(err.text, cases[i].want) != NULL);
        msim_job_free(job);
    }
}

int main(void)
{
    RUN(test_shard__ddp);
    RUN(test_shard__ddp_views);
    RUN(test_shard__ddp_buckets);
    RUN(test_shard__ddp_accumulates);
    RUN(test_shard__fsdp);
    RUN(test_shard__fsdp_hooks);
    RUN(test_shard__messages);
    RUN(test_shard__fsdp_accumulates);
    RUN(test_shard__offload);
    RUN(test_shard__reasons);
    return check_summary();
}
