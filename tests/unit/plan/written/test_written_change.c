/* plan/written/written_change.c: changes of traces as those of the job that
 * they were written of, and which no description has. */
#include "plan/written/written_job.h"

#include "core/rewrite/rewrite.h"
#include "tests/check.h"

/* Of 8 layers on 8 GPUs, two by two; on one; of both as the last member says:
 * on one node of 8, two stages, 12 on two nodes with tp 4, and a sequence as
 * long as its batch. */
enum { PAIRS, ONE, NODE, STAGES, NODES, SQUARE };
static const struct {
    struct msim_strategy s;
    uint32_t more; /* given beside gpus, micro_batch and sequence */
} JOBS[] = {
#define JOB .micro_batch = 4, .sequence = 512
    [PAIRS] = {{.gpus = 8, .tp = 2, .global_batch = 64, JOB},
               1ULL << MSIM_GIVEN_tp | 1ULL << MSIM_GIVEN_global_batch},
    [ONE] = {{.gpus = 1, JOB}, 0},
    [NODE] = {{.gpus = 8, .nodes = 1, JOB}, 1ULL << MSIM_GIVEN_nodes},
    [STAGES] = {{.gpus = 2, .pp = 2, JOB}, 1ULL << MSIM_GIVEN_pp},
    [NODES] = {{.gpus = 12, .nodes = 2, .tp = 4, JOB},
               1ULL << MSIM_GIVEN_tp | 1ULL << MSIM_GIVEN_nodes},
    [SQUARE] = {{.gpus = 1, .micro_batch = 4, .sequence = 4}, 0},
};

static struct msim_written_is job_of(int which)
{
    return (struct msim_written_is){
        .model = {.layers = 8,
                  .hidden = 512,
                  .heads = 8,
                  .kv_heads = 8,
                  .head_dim = 64,
                  .ffn = 2048,
                  .vocab = 1000},
        .strategy = JOBS[which].s,
        .given = JOBS[which].more | 1ULL << MSIM_GIVEN_gpus |
                 1ULL << MSIM_GIVEN_micro_batch | 1ULL << MSIM_GIVEN_sequence};
}

/* "no: " where no description has it; all that is given; sizes that change. */
static const char *made(int job, const struct msim_reshape *reshape,
                        const struct msim_rewrite *rewrite)
{
    static char text[512];
    const struct msim_step_change by = {.reshape = reshape, .rewrite = rewrite};
    struct msim_written_is was = job_of(job), now;
    struct msim_job_model sizes;
    struct msim_error err = {0};
    size_t n;
    bool is;

    CHECK_INT(msim_written_change_make(&now, &sizes, &is, &was, &by, &err),
              MSIM_OK);
    n = (size_t)snprintf(text, sizeof(text), "%s", is ? "" : "no:");
    for (int g = 0; g < MSIM_GIVEN_COUNT; g++) {
        char value[64];

        if (!(now.given >> g & 1))
            continue;
        msim_strategy_value_text(
            (enum msim_given)g,
            msim_strategy_value(&now.strategy, (enum msim_given)g), value,
            sizeof(value));
        n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s=%s",
                              n ? " " : "", msim_given_text((enum msim_given)g),
                              value);
    }
#define X(name)                                                                \
    if (is && sizes.name.to)                                                   \
        n += (size_t)snprintf(text + n, sizeof(text) - n, " %s %lld>%lld",     \
                              #name, (long long)sizes.name.from,               \
                              (long long)now.model.name);
    MSIM_JOB_SIZE_MAP(X)
#undef X
    return text;
}

#define BATCH  " micro_batch=4 grad_accum=1 sequence=512"
#define SINGLE "dp=1" BATCH
#define PAIR   "tp=2 dp=4 micro_batch=4 grad_accum=4 sequence=512"

static void test_written_change__other_ways(void)
{
    static const uint32_t EVEN[] = {4, 4}, UNEVEN[] = {5, 3};
    static const struct {
        int job;
        struct msim_rewrite by;
        const char *want;
    } CASES[] = {
        {ONE, {.world = 0}, SINGLE},
        {PAIRS, {.world = 0}, PAIR},
        {ONE, {.world = 1}, SINGLE},
        {ONE, {.world = 4}, "dp=4" BATCH},
        {PAIRS,
         {.world = 2},
         "no: tp=2 dp=2 micro_batch=4 grad_accum=4 "
         "sequence=512"},
        {ONE, {.shard = MSIM_SHARD_ZERO1}, "dp=1 zero=1" BATCH},
        {ONE, {.shard = MSIM_SHARD_ZERO2}, "dp=1 zero=2" BATCH},
        {ONE, {.shard = MSIM_SHARD_GRAD_OP}, "dp=1 zero=2" BATCH},
        {ONE, {.shard = MSIM_SHARD_FULL}, "dp=1 zero=3" BATCH},
        {ONE, {.shard = MSIM_SHARD_NO_SHARD}, "dp=1 zero=0" BATCH},
        {ONE, {.shard = MSIM_SHARD_ZERO1, .mixed = 1}, "no: dp=1 zero=1" BATCH},
        {ONE,
         {.shard = MSIM_SHARD_ZERO1, .bucket_mib = 1},
         "no: dp=1 zero=1" BATCH},
        {ONE,
         {.shard = MSIM_SHARD_ZERO1, .bucket_views = true},
         "no: dp=1 zero=1" BATCH},
        {ONE, {.parallel = {.tp = 2, .rows = true}}, "tp=2 dp=1" BATCH},
        {ONE,
         {.parallel = {.tp = 2, .etp = 1, .rows = true}},
         "tp=2 etp=1 dp=1" BATCH},
        {ONE, {.parallel = {.tp = 1}}, SINGLE},
        {ONE, {.parallel = {.tp = 2}}, "no: tp=2 dp=1" BATCH},
        {PAIRS, {.parallel = {.tp = 2, .rows = true}}, "no: " PAIR},
        {PAIRS, {.parallel = {.joins = 1}}, PAIR},
        {PAIRS,
         {.parallel = {.joins = 2}},
         "tp=1 dp=4 micro_batch=4 grad_accum=4 sequence=512"},
        {ONE, {.parallel = {.pp = 1}}, SINGLE},
        {ONE, {.parallel = {.pp = 2}}, "pp=2 dp=1" BATCH},
        {ONE, {.parallel = {.pp = 2, .blocks = EVEN}}, "pp=2 dp=1" BATCH},
        {ONE, {.parallel = {.pp = 2, .blocks = UNEVEN}}, "no: pp=2 dp=1" BATCH},
        {STAGES, {.parallel = {.pp = 2}}, "no: pp=2 dp=1" BATCH},
        {ONE, {.parallel = {.pp = 2, .vp = 1}}, "pp=2 dp=1" BATCH},
        {ONE,
         {.parallel = {.pp = 2, .vp = 2, .order = MSIM_TURNS_INTERLEAVED}},
         "pp=2 vp=2 dp=1" BATCH " schedule=interleaved"},
        {ONE,
         {.parallel = {.pp = 2, .order = MSIM_TURNS_ZERO_BUBBLE}},
         "pp=2 dp=1" BATCH " schedule=zero-bubble"},
        {ONE,
         {.parallel = {.pp = 2, .order = MSIM_TURNS_GPIPE}},
         "no: pp=2 dp=1" BATCH},
        {ONE,
         {.accumulate = 8},
         "dp=1 micro_batch=4 grad_accum=8 sequence=512"},
        {ONE,
         {.accumulate = 8, .parallel = {.micro_batches = 6}},
         "dp=1 micro_batch=4 grad_accum=6 sequence=512"},
        {ONE, {.recompute_every = 1}, SINGLE " recompute=full"},
        {ONE, {.recompute_every = 2}, "no: " SINGLE " recompute=full"},
        {ONE, {.recompute_ops = "*mm"}, "no: " SINGLE},
        {ONE, {.offload_activations = true}, SINGLE " offload=activations"},
        {ONE, {.offload_states = true}, SINGLE " offload=optimizer"},
        {ONE,
         {.offload_activations = true, .offload_states = true},
         "no: " SINGLE " offload=optimizer"},
        {ONE, {.optimizer_8bit = true}, SINGLE " optimizer_bits=8"},
        {ONE, {.in_backward = true}, SINGLE " optimizer_in_backward=yes"},
        {ONE, {.autocast = MSIM_DT_BF16}, "no: " SINGLE},
        {ONE, {.fp8 = true}, "no: " SINGLE},
        /* Every node keeps its GPUs: 8, or 6, the last one fewer. */
        {NODE, {.world = 0}, "nodes=1 dp=8" BATCH},
        {NODE, {.parallel = {.pp = 3}}, "nodes=3 pp=3 dp=8" BATCH},
        {NODES, {.world = 0}, "nodes=2 tp=4 dp=3" BATCH},
        {NODES, {.parallel = {.joins = 2}}, "nodes=1 tp=2 dp=3" BATCH},
        {NODES, {.parallel = {.joins = 4}}, "nodes=1 tp=1 dp=3" BATCH},
        {NODES,
         {.parallel = {.pp = 3, .joins = 4}},
         "nodes=2 tp=1 pp=3 dp=3" BATCH},
    };
    static const struct msim_reshape NONE;

    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++)
        CHECK_STR(made(CASES[i].job, &NONE, &CASES[i].by), CASES[i].want);
    CHECK_STR(made(PAIRS, &NONE, NULL), PAIR);
}

static void test_written_change__other_sizes(void)
{
    static const struct {
        int job;
        struct msim_reshape by;
        const char *want;
    } CASES[] = {
#define AXIS(...) {.axes = {{__VA_ARGS__}}, .n_axes = 1}
        {ONE, AXIS(0, 8, false),
         "dp=1 micro_batch=8 grad_accum=1 "
         "sequence=512"},
        {ONE, AXIS(4, 8, false),
         "dp=1 micro_batch=8 grad_accum=1 "
         "sequence=512"},
        {ONE, AXIS(5, 8, false), "no: " SINGLE},
        {ONE, AXIS(512, 1024, true),
         "dp=1 micro_batch=4 grad_accum=1 "
         "sequence=1024"},
        {ONE, AXIS(512, 1024, false), "no: " SINGLE},
        {ONE, AXIS(256, 1024, true), "no: " SINGLE},
        {SQUARE, AXIS(4, 8, true),
         "no: dp=1 micro_batch=4 grad_accum=1 "
         "sequence=4"},
        {ONE, {.dtype = MSIM_DT_BF16}, "no: " SINGLE},
        {ONE, {.tf32 = true}, "no: " SINGLE},
#define SIZE(...) {.sizes = {{__VA_ARGS__}}, .n_sizes = 1}
        {ONE, SIZE(MSIM_SIZE_HIDDEN, 512, 1024), SINGLE " hidden 512>1024"},
        {ONE, SIZE(MSIM_SIZE_HIDDEN, 0, 1024), SINGLE " hidden 0>1024"},
        {ONE, SIZE(MSIM_SIZE_HIDDEN, 500, 1024), "no: " SINGLE},
        {ONE, SIZE(MSIM_SIZE_FFN, 2048, 1024), SINGLE " ffn 2048>1024"},
        {ONE, SIZE(MSIM_SIZE_BATCH, 1, 2), "no: " SINGLE},
        /* Each of two ranks has a half, but of the width. */
        {PAIRS, SIZE(MSIM_SIZE_HIDDEN, 512, 1024), PAIR " hidden 512>1024"},
        {PAIRS, SIZE(MSIM_SIZE_HEADS, 4, 8), PAIR " heads 8>16"},
        {PAIRS, SIZE(MSIM_SIZE_FFN, 1024, 2048), PAIR " ffn 2048>4096"},
        {PAIRS, SIZE(MSIM_SIZE_VOCAB, 500, 600), PAIR " vocab 1000>1200"},
        {PAIRS, SIZE(MSIM_SIZE_VOCAB, 500, INT64_MAX / 2 + 1), "no: " PAIR},
        {PAIRS, SIZE(MSIM_SIZE_VOCAB, INT64_MAX / 2 + 1, 600), "no: " PAIR},
        {ONE,
         {.sizes = {{MSIM_SIZE_FFN, 0, 1024}, {MSIM_SIZE_VOCAB, 0, 64}},
          .n_sizes = 2},
         SINGLE " ffn 0>1024 vocab 0>64"},
        {ONE, /* twice the same */
         {.sizes = {{MSIM_SIZE_FFN, 0, 1024}, {MSIM_SIZE_FFN, 0, 64}},
          .n_sizes = 2},
         "no: " SINGLE},
    };

    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++)
        CHECK_STR(made(CASES[i].job, &CASES[i].by, NULL), CASES[i].want);
}

/* A job that cannot be has no others. */
static void test_written_change__of_none(void)
{
    static const struct msim_reshape BATCH_OF_8 = AXIS(0, 8, false);
    const struct msim_step_change by = {.reshape = &BATCH_OF_8};
    struct msim_written_is was = job_of(PAIRS), now;
    struct msim_job_model sizes;
    struct msim_error err = {0};
    bool is = true;

    was.strategy.gpus = 7;
    CHECK_INT(msim_written_change_make(&now, &sizes, &is, &was, &by, &err),
              MSIM_OK);
    CHECK(!is);
    CHECK_INT(now.strategy.micro_batch, 4);
    CHECK(msim_job_model_is_same(&sizes));
}

int main(void)
{
    RUN(test_written_change__other_ways);
    RUN(test_written_change__other_sizes);
    RUN(test_written_change__of_none);
    return check_summary();
}
