/* plan/synth/synth.c: which jobs are written, which are refused and with which
 * words, how many files there are; and the words that PyTorch has for types. */
#include "plan/synth/synth.h"
#include "plan/synth/synth_internal.h"
#include "tests/check.h"

#include <stdlib.h>
#include <string.h>

static struct msim_described model;
static struct msim_strategy strategy;
static struct msim_synth_options options;

static void begin(void)
{
    model = (struct msim_described){.name = "small",
                                    .layers = 2,
                                    .hidden = 64,
                                    .heads = 2,
                                    .kv_heads = 2,
                                    .head_dim = 32,
                                    .ffn = 128,
                                    .vocab = 100};
    strategy = (struct msim_strategy){.gpus = 1,
                                      .nodes = 1,
                                      .tp = 1,
                                      .pp = 1,
                                      .vp = 1,
                                      .cp = 1,
                                      .ep = 1,
                                      .dp = 1,
                                      .micro_batch = 1,
                                      .grad_accum = 1,
                                      .global_batch = 1,
                                      .sequence = 16,
                                      .precision = MSIM_PRECISION_BF16};
    options =
        (struct msim_synth_options){.model = &model, .strategy = &strategy};
}

static void begin_dlrm(int64_t tables, int64_t gpus)
{
    begin();
    model.type = MSIM_MODEL_DLRM;
    model.dlrm.n_kinds = 1;
    model.dlrm.tables[0].rows = 10;
    model.dlrm.tables[0].pooling = 1;
    model.dlrm.tables[0].count = tables;
    strategy.gpus = strategy.dp = gpus;
}

/* ---- what is refused ----------------------------------------------------- */

static uint32_t begun, ended;

/* Whoever comes here was not refused. */
static enum msim_status stop(void **trace, void *own, const char *name,
                             struct msim_error *err)
{
    (void)own;
    (void)name;
    (void)err;
    *trace = NULL;
    begun++;
    return MSIM_EWRITE;
}

static enum msim_status drop(void *trace, const char *bytes, size_t n)
{
    (void)trace;
    (void)bytes;
    (void)n;
    return MSIM_OK;
}

static enum msim_status end(void *trace, enum msim_status status,
                            struct msim_error *err)
{
    (void)trace;
    (void)err;
    ended++;
    return status;
}

/* Why it is not written; "": it is. */
static const char *refused(void)
{
    static struct msim_error err;
    const struct msim_synth_place to = {NULL, stop, drop, end};
    struct msim_synth_result result;
    enum msim_status status;

    begun = ended = 0;
    err = (struct msim_error){0};
    status = msim_synth_make(&options, &to, &result, &err);
    CHECK_INT(status, *err.text ? MSIM_EUSAGE : MSIM_EWRITE);
    CHECK_INT(begun, *err.text ? 0 : 1);
    CHECK_INT(ended, begun);
    CHECK_INT(result.files, 0);
    return err.text;
}

static void test_synth__refuses_strategies(void)
{
    begin();
    CHECK_STR(refused(), "");
    strategy.technique.compile = MSIM_STATED_YES;
    CHECK_STR(refused(), "compile cannot be written; leave it out (whatif, "
                         "plan and validate --rows know it)");
    begin(); /* which are written */
    strategy.technique.framework = 1;
    strategy.technique.schedule = MSIM_SCHEDULE_1F1B;
    CHECK_STR(refused(), "");
    begin();
    strategy.pp = strategy.gpus = strategy.vp = 2;
    strategy.grad_accum = 3;
    CHECK_STR(refused(), "grad_accum is 3, and vp 2 takes micro batches in "
                         "groups of pp; want a multiple of 2");
    strategy.grad_accum = 4;
    CHECK_STR(refused(), "");
    strategy.grad_accum = 3;
    strategy.vp = 1;
    CHECK_STR(refused(), "");
    begin();
    strategy.precision = MSIM_PRECISION_NVFP4;
    CHECK_STR(refused(),
              "precision is nvfp4, for which PyTorch has no type of tensor; "
              "want mxfp8, fp8, bf16, fp16 or fp32");
    begin();
    strategy.offload = MSIM_OFFLOAD_ACTIVATIONS;
    CHECK_STR(refused(),
              "offload cannot be written: a written rank works on its GPU "
              "alone; leave it out, and let whatif change the traces: "
              "{\"offload\": \"optimizer\"}, or \"activations\"");
}

static void test_synth__refuses_long_steps(void)
{
    begin();
    model.layers = 50000;
    CHECK_STR(refused(), "");
    strategy.grad_accum = 2;
    CHECK_STR(refused(),
              "a rank passes 100000 layers (layers / pp x grad_accum), want at "
              "most 50000 in a written step: fewer micro batches "
              "(global_batch), or more stages");
    strategy.pp = strategy.gpus = 2;
    CHECK_STR(refused(), "");
    model.layers = 50001;
    CHECK(strncmp(refused(), "a rank passes 50001 layers", 26) == 0);
}

/* Each size that a tensor may have, at 1e15 of its numbers and above. */
static void test_synth__refuses_large_tensors(void)
{
    static const struct {
        int64_t sequence, hidden, vocab, ffn, classes, heads, head_dim;
        int64_t side, channels;
    } CASES[] = {
        {1000, 10000000, 1, 1, 1, 1, 1, 1, 1}, /* 1e5 x 1e3 x 1e7 */
        {1000, 1, 10000000, 1, 1, 1, 1, 1, 1},
        {1000, 1, 1, 10000000, 1, 1, 1, 1, 1},
        {1000, 1, 1, 1, 10000000, 1, 1, 1, 1},
        {1000, 1, 1, 1, 1, 10, 333333, 1, 1}, /* x 3 x 3,333,330 */
        {100000, 1, 1, 1, 1, 1, 1, 1, 1},     /* 1e5 x 1e5^2 */
        {1, 1, 1, 1, 1, 1, 1, 100000, 1},     /* 1e5 x 1e5^2 */
        {1, 1, 1, 1, 1, 1, 1, 50000, 4},
    };

    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++)
        for (int more = 0; more < 2; more++) {
            begin();
            model.layers = 1;
            model.hidden = CASES[i].hidden;
            model.vocab = CASES[i].vocab;
            model.ffn = CASES[i].ffn;
            model.classes = CASES[i].classes;
            model.heads = model.kv_heads = CASES[i].heads;
            model.head_dim = CASES[i].head_dim;
            model.image.size = CASES[i].side;
            model.image.channels = CASES[i].channels;
            strategy.sequence = CASES[i].sequence;
            strategy.micro_batch = 100000 + 200 * more;
            CHECK_INT(strncmp(refused(), "the model has ", 14) == 0, more);
        }
    CHECK(strstr(refused(), " parameters, and 1e+15 numbers of one tensor, "
                            "want at most 1e+15 in a written step") != NULL);
    begin();
    model.hidden = 10000000; /* and a matrix of 1e15 */
    model.ffn = 100000000;
    CHECK(strstr(refused(), "the model has ") != NULL);
}

static void test_synth__refuses_dlrms(void)
{
    static const struct {
        int64_t tables, gpus, samples;
        bool separate;
        const char *want;
    } CASES[] = {
        {1024, 1024, 1000000, false, ""},
        {1025, 1025, 1, false, "gpus is 1025, want at most 1024 of a dlrm"},
        {1, 1, 1000001, false,
         "micro_batch is 1000001, want at most 1000000 of a dlrm"},
        {3, 4, 1, false,
         "gpus is 4, but the model has 3 tables, which are spread whole; want "
         "at most so many GPUs"},
        {3, 4, 1, true, ""},
        {1024, 1, 1, true, ""},
        {1025, 1, 1, false, ""},
        {1025, 1, 1, true,
         "the model has 1025 tables, want at most 1024 with separate "
         "look-ups"},
    };

    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        begin_dlrm(CASES[i].tables, CASES[i].gpus);
        model.dlrm.separate = CASES[i].separate;
        strategy.micro_batch = CASES[i].samples;
        CHECK_STR(refused(), CASES[i].want);
    }
}

/* ---- files --------------------------------------------------------------- */

static char names[256];
static uint32_t left; /* bytes that can be written; UINT32_MAX: all */

static enum msim_status note(void **trace, void *own, const char *name,
                             struct msim_error *err)
{
    size_t n = strlen(names);

    (void)err;
    *trace = own;
    begun++;
    snprintf(names + n, sizeof(names) - n, "%s ", name);
    return MSIM_OK;
}

static enum msim_status take(void *trace, const char *bytes, size_t n)
{
    CHECK(trace == &names && bytes != NULL);
    if (left == UINT32_MAX)
        return MSIM_OK;
    left = n > left ? 0 : left - (uint32_t)n;
    return left ? MSIM_OK : MSIM_EWRITE;
}

static struct msim_synth_result written(enum msim_status want)
{
    const struct msim_synth_place to = {&names, note, take, end};
    struct msim_synth_result result;
    struct msim_error err = {0};

    begun = ended = 0;
    *names = '\0';
    CHECK_INT(msim_synth_make(&options, &to, &result, &err), want);
    CHECK_INT(ended, begun);
    return result;
}

/* Ranks of a stage do alike; of a DLRM all, where they have as much of the
 * tables. */
static void test_synth__files(void)
{
    struct msim_synth_result r;
    uint64_t nodes;

    left = UINT32_MAX;
    begin();
    strategy.gpus = 4;
    strategy.dp = strategy.pp = 2;
    r = written(MSIM_OK);
    CHECK_STR(names, "rank-0.et.json rank-2.et.json ");
    CHECK_INT(r.files, 2);
    CHECK_INT(r.ranks_a_file, 2);
    nodes = r.nodes;
    options.every_rank = true;
    r = written(MSIM_OK);
    CHECK_STR(names, "rank-0.et.json rank-1.et.json rank-2.et.json "
                     "rank-3.et.json ");
    CHECK_INT(r.files, 4);
    CHECK_INT(r.ranks_a_file, 1);
    CHECK_UINT(r.nodes, 2 * nodes);
    begin_dlrm(4, 2);
    model.dlrm.dense = model.dlrm.dim = 4;
    model.dlrm.n_bottom = model.dlrm.n_top = 1;
    model.dlrm.bottom[0] = 4;
    model.dlrm.top[0] = 1;
    CHECK_INT(written(MSIM_OK).ranks_a_file, 2);
    CHECK_STR(names, "rank-0.et.json ");
    model.dlrm.tables[0].count = 3; /* two and one */
    CHECK_INT(written(MSIM_OK).ranks_a_file, 1);
    CHECK_STR(names, "rank-0.et.json rank-1.et.json ");
}

/* A write that fails ends all. */
static void test_synth__ends_early(void)
{
    struct msim_synth_result r;

    begin();
    strategy.gpus = strategy.pp = 2;
    left = 70000;
    r = written(MSIM_EWRITE);
    CHECK_STR(names, "rank-0.et.json ");
    CHECK_INT(r.files, 0);
    CHECK_UINT(r.nodes, 0);
}

/* ---- groups -------------------------------------------------------------- */

static char *trace; /* of one rank */
static size_t traced;

static enum msim_status keep(void *own, const char *bytes, size_t n)
{
    char *more = realloc(trace, traced + n + 1);

    (void)own;
    if (!CHECK(more != NULL))
        return MSIM_ENOMEM;
    trace = more;
    memcpy(trace + traced, bytes, n);
    traced += n;
    trace[traced] = '\0';
    return MSIM_OK;
}

/* All groups of a kind are the one that begins at this rank. */
static void check_group(const char *kind, int64_t rank, int64_t first)
{
    char name[48];
    int seen = 0;

    snprintf(name, sizeof(name), "\"%s ", kind);
    for (const char *at = trace; (at = strstr(at, name)); seen++) {
        at += strlen(name);
        if (*at < '0' || *at > '9') /* another kind, whose name begins so */
            continue;
        if (!CHECK_INT(strtol(at, NULL, 10), first))
            CHECK_INT(rank, -1);
    }
    CHECK(seen > 0);
}

static bool whole; /* experts are; then ep is 4 */

/* A file has ended: of rank t + 2 c + 4 d + 8 of its stage. */
static enum msim_status check_rank(void *own, enum msim_status how,
                                   struct msim_error *err)
{
    int64_t r = begun - 1, t = r % 2, c = r / 2 % 2, d = r / 4 % 2;
    int64_t stage = r / 8 * 8;

    (void)own;
    (void)err;
    check_group("tensor", r, stage + 4 * d + 2 * c);
    check_group("context", r, stage + 4 * d + t);
    check_group("data", r, stage + t);
    check_group("expert", r, stage + 4 * d + (whole ? 0 : t));
    check_group("expert data", r, stage + 2 * c + t);
    check_group("pipeline forward", r, r - stage);
    check_group("pipeline backward", r, r - stage);
    traced = 0;
    return how;
}

/* Tensor parallel ranks are next to each other, then context, data, stages;
 * experts are shared out among the ranks of both, and where each is whole
 * tensor parallel ranks have different ones, too. */
static void test_synth__groups(void)
{
    const struct msim_synth_place to = {&names, note, keep, check_rank};
    struct msim_synth_result result;
    struct msim_error err = {0};

    begin();
    model.moe.experts = 4;
    model.moe.topk = 1;
    model.moe.ffn = 32;
    strategy.gpus = 16;
    strategy.tp = strategy.cp = strategy.dp = strategy.pp = strategy.ep = 2;
    options.every_rank = true;
    for (int i = 0; i < 2; i++) {
        whole = i == 1;
        strategy.etp = whole ? 1 : 2;
        strategy.ep = whole ? 4 : 2;
        begun = 0;
        *names = '\0';
        CHECK_INT(msim_synth_make(&options, &to, &result, &err), MSIM_OK);
        CHECK_INT(result.files, 16);
    }
    free(trace);
    trace = NULL;
}

/* ---- types --------------------------------------------------------------- */

/* Numbers of c10/core/ScalarType.h, and words of NCCL's collectives. */
static void test_synth__types(void)
{
    static const struct {
        enum msim_dtype type;
        int64_t number;
        const char *word;
    } CASES[] = {{MSIM_DT_I32, 3, "Int"},        {MSIM_DT_I64, 4, "Long"},
                 {MSIM_DT_F16, 5, "Half"},       {MSIM_DT_F32, 6, "Float"},
                 {MSIM_DT_BOOL, 11, "BFloat16"}, {MSIM_DT_BF16, 15, "BFloat16"},
                 {MSIM_DT_F8, 24, "BFloat16"}};

    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        CHECK_INT(msim_synth_scalar_type(CASES[i].type), CASES[i].number);
        CHECK_STR(msim_synth_dtype_text(CASES[i].type), CASES[i].word);
    }
}

int main(void)
{
    RUN(test_synth__refuses_strategies);
    RUN(test_synth__refuses_long_steps);
    RUN(test_synth__refuses_large_tensors);
    RUN(test_synth__refuses_dlrms);
    RUN(test_synth__files);
    RUN(test_synth__ends_early);
    RUN(test_synth__groups);
    RUN(test_synth__types);
    return check_summary();
}
