/*
 * predict/rows/trace_job.c: what the columns of one job become, what is assumed
 * where they are empty, and what is refused.
 */
#include "predict/rows/trace_rows.h"

#include "tests/check.h"

#include <stdarg.h>
#include <stdlib.h>

static struct msim_scenarios all;
static struct msim_change_reader reader;
static struct msim_trace_job job;

/* "gpus=4;amp=": columns that are there; an empty one is a default. */
static void read_job(const char *columns, const char *platform)
{
    const struct msim_predict_settings s = {.data = "data",
                                            .platform = platform};
    static char text[512];
    char *at = text;

    memset(&job, 0, sizeof(job));
    all = (struct msim_scenarios){.n = 0};
    msim_arena_init(&all.arena);
    reader = (struct msim_change_reader){.all = &all};
    CHECK_INT(msim_change_rows(&reader, 1, &s), MSIM_OK);
    CHECK_INT(msim_change_begin(&reader, 0, "row"), MSIM_OK);
    snprintf(text, sizeof(text), "%s", columns);
    while (*at) {
        char *end = strchr(at, ';'), *is = strchr(at, '=');
        int c = 0;

        if (end)
            *end = '\0';
        *is = '\0';
        while (c < MSIM_TRACE_COLUMNS &&
               strcmp(msim_trace_column_names[c], at) != 0)
            c++;
        if (!CHECK(c < MSIM_TRACE_COLUMNS))
            return;
        job.field[c] = is + 1;
        at = end ? end + 1 : is + 1 + strlen(is + 1);
    }
    msim_trace_job_read(&job, &reader);
}

static char said[512];

MSIM_PRINTF(2, 3)
static void say(bool is, const char *fmt, ...)
{
    size_t used = strlen(said);
    va_list ap;

    if (!is)
        return;
    va_start(ap, fmt);
    vsnprintf(said + used, sizeof(said) - used, fmt, ap);
    va_end(ap);
}

/* What the row changes, in words: "world 4, shard 1, batch 32". */
static const char *changes(void)
{
    const struct msim_predict_settings *s = &all.rows[0].settings;
    const struct msim_rewrite *w = &s->rewrite;

    said[0] = '\0';
    say(s->platform, "gpu %s, ", s->platform);
    say(s->nodes, "nodes %u, ", s->nodes);
    say(w->world, "world %u, ", w->world);
    say(w->shard, "shard %d, ", (int)w->shard);
    say(w->mixed, "mixed %s, ", msim_dtype_text((enum msim_dtype)w->mixed));
    say(w->parallel.tp, "tp %u, ", w->parallel.tp);
    say(w->parallel.pp, "pp %u, ", w->parallel.pp);
    say(w->parallel.vp, "vp %u, ", w->parallel.vp);
    say(w->parallel.dp, "dp %u, ", w->parallel.dp);
    say(w->parallel.micro_batches, "micro %u, ", w->parallel.micro_batches);
    say(w->accumulate, "accumulate %u, ", w->accumulate);
    for (uint32_t i = 0; i < s->reshape.n_axes; i++)
        say(true, "batch %lld, ", (long long)s->reshape.axes[i].to);
    say(s->reshape.dtype, "dtype %s, ", msim_dtype_text(s->reshape.dtype));
    say(s->reshape.n_sizes, "sizes %u, ", s->reshape.n_sizes);
    say(w->autocast, "autocast %s, ",
        msim_dtype_text((enum msim_dtype)w->autocast));
    say(w->layers, "layers %u, ", w->layers);
    say(w->recompute_every, "recompute %u, ", w->recompute_every);
    say(w->offload_states, "states off, ");
    say(w->offload_activations, "activations off, ");
    say(w->optimizer_8bit, "8 bit, ");
    say(w->in_backward, "in backward, ");
    return said;
}

static void done(void)
{
    msim_scenarios_release(&all);
}

/* Columns that say everything, so that nothing is assumed but what a case
 * leaves out. */
#define FULL                                                                   \
    "gpu=x;gpus=1;zero=;strategy=single;batch_per_gpu=4;grad_accum=1;"         \
    "precision=fp32;recompute=none;offload=none"

struct row {
    const char *columns, *changes, *kind, *defaults, *reason;
};

static void check(const struct row *r, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        read_job(r[i].columns, NULL);
        if (!CHECK_STR(all.rows[0].reason, r[i].reason) ||
            !CHECK_STR(job.kind, r[i].kind) ||
            !CHECK_STR(job.defaults, r[i].defaults) ||
            !CHECK_STR(*r[i].reason ? "" : changes(),
                       *r[i].reason ? "" : r[i].changes))
            CHECK_STR(r[i].columns, ""); /* names the case */
        done();
    }
}

#define REST                                                                   \
    ";batch_per_gpu=4;grad_accum=1;precision=fp32;recompute=none;offload=none"
#define GPU "gpu x, "
#define END "accumulate 1, batch 4, "

static void test_trace_job__trains(void)
{
    static const struct row ROW[] = {
        {"gpu=x;gpus=1;strategy=single" REST, GPU END, "single", "", ""},
        {"gpu=x;gpus=4;strategy=ddp" REST, GPU "world 4, shard 1, " END, "ddp",
         "", ""},
        {"gpu=x;gpus=4;strategy=" REST, GPU "world 4, shard 1, " END, "ddp",
         "strategy ddp", ""},
        {"gpu=x;gpus=1;strategy=" REST, GPU END, "single", "strategy single",
         ""},
        {"gpu=x;gpus=4;zero=0" REST, GPU "world 4, shard 1, " END, "ddp", "",
         ""},
        {"gpu=x;gpus=4;zero=1" REST, GPU "world 4, shard 2, " END, "zero1", "",
         ""},
        {"gpu=x;gpus=4;zero=2" REST, GPU "world 4, shard 3, " END, "zero2", "",
         ""},
        {"gpu=x;gpus=4;zero=3" REST, GPU "world 4, shard 6, " END, "zero3", "",
         ""},
        {"gpu=x;gpus=1;zero=3" REST, GPU END, "single", "", ""},
        {"gpu=x;gpus=4;strategy=fsdp_full" REST, GPU "world 4, shard 6, " END,
         "fsdp_full", "", ""},
        {"gpu=x;gpus=4;strategy=fsdp_shard_grad_op" REST,
         GPU "world 4, shard 5, " END, "fsdp_shard_grad_op", "", ""},
        {"gpu=x;dp=4;strategy=ddp" REST, GPU "world 4, shard 1, " END, "ddp",
         "", ""},
        {"gpu=x;dp=2;gpus=8;tp=2;pp=2;strategy=ddp" REST,
         GPU "world 2, shard 1, tp 2, pp 2, vp 1, dp 2, micro 1, batch 4, ",
         "ddp", "", ""},
        {"gpu=x;gpus=8;pp=2;strategy=ddp" REST,
         GPU "world 4, shard 1, pp 2, vp 1, dp 4, micro 1, batch 4, ", "ddp",
         "", ""},
        {"strategy=single" REST, END, "single",
         "platform the traced GPU; gpus 1", ""},
        {"gpu=x;nodes=2;gpus=4;strategy=ddp" REST,
         GPU "nodes 2, world 4, shard 1, " END, "ddp", "", ""},
        {"platform=y;gpu=x;gpus=1;strategy=single" REST, "gpu y, " END,
         "single", "", ""},
        {"platform=;gpu=x;gpus=1;strategy=single" REST, GPU END, "single", "",
         ""},
    };

    check(ROW, sizeof(ROW) / sizeof(*ROW));
    read_job(FULL, NULL); /* a GPU that the settings name */
    done();
    read_job("gpus=1;strategy=single" REST, "h100");
    CHECK_STR(job.defaults, "platform h100");
    done();
}

#define ONE "gpu=x;gpus=1;strategy=single;"
#define TWO "gpu=x;gpus=2;strategy=ddp;"
#define W2  GPU "world 2, shard 1, "

static void test_trace_job__has_types_and_sizes(void)
{
    static const struct row ROW[] = {
        {ONE "batch_per_gpu=;grad_accum=;precision=;recompute=;offload=", GPU,
         "single",
         "precision as traced; batch_per_gpu as traced; grad_accum as traced; "
         "recompute none; offload none",
         ""},
        {ONE "micro_batch=8;grad_accum=2;precision=bf16;recompute=none;"
             "offload=none",
         GPU "accumulate 2, batch 8, dtype bfloat16, ", "single accumulated",
         "", ""},
        {ONE "batch_per_gpu=4;grad_accum=1;precision=amp_bf16;recompute=none;"
             "offload=none",
         GPU END "autocast bfloat16, ", "single amp", "", ""},
        {ONE "batch_per_gpu=4;grad_accum=1;amp=1;recompute=none;offload=none",
         GPU END "autocast fp16, ", "single amp", "", ""},
        {ONE "batch_per_gpu=4;grad_accum=1;amp=0;recompute=none;offload=none",
         GPU END, "single", "", ""},
        {"gpu=x;gpus=2;strategy=fsdp;batch_per_gpu=4;grad_accum=1;amp=1;"
         "recompute=none;offload=none",
         GPU "world 2, shard 6, mixed fp16, " END, "fsdp amp", "", ""},
        {"gpu=x;gpus=2;zero=3;batch_per_gpu=4;grad_accum=1;amp=1;"
         "recompute=none;offload=none",
         GPU "world 2, shard 6, mixed fp16, " END, "zero3 amp", "", ""},
        {TWO "batch_per_gpu=4;grad_accum=1;precision=amp_fp16;recompute=full;"
             "offload=optimizer",
         W2 END "autocast fp16, recompute 1, states off, ",
         "ddp amp recomputed offloaded", "", ""},
        {ONE "batch_per_gpu=4;grad_accum=1;precision=fp32;"
             "activation_checkpointing=1;cpu_offload=1",
         GPU END "recompute 1, states off, ", "single recomputed offloaded", "",
         ""},
        {ONE "batch_per_gpu=4;grad_accum=1;precision=fp32;"
             "activation_checkpointing=0;cpu_offload=0",
         GPU END, "single", "", ""},
        {ONE "layers=3;hidden=64" REST, GPU END "sizes 1, layers 3, ", "single",
         "", ""},
        {ONE "optimizer_bits=8;optimizer_in_backward=yes" REST,
         GPU END "8 bit, in backward, ", "single", "", ""},
        {ONE "optimizer_bits=32;optimizer_in_backward=no" REST, GPU END,
         "single", "", ""},
        {ONE "optimizer_in_backward=" REST, GPU END, "single", "", ""},
        {TWO "global_batch=24;batch_per_gpu=4;grad_accum=3;precision=fp32;"
             "recompute=none;offload=none",
         W2 "accumulate 3, batch 4, ", "ddp accumulated", "", ""},
        {ONE "cp=1;ep=1;sequence=" REST, GPU END, "single", "", ""},
    };

    check(ROW, sizeof(ROW) / sizeof(*ROW));
}

/* The first that is wrong is the reason, with what was found. */
static void test_trace_job__refuses(void)
{
    static const struct {
        const char *columns, *reason;
    } CASE[] = {
        {ONE "batch_per_gpu=0",
         "batch_per_gpu is '0', want a whole number from 1"},
        {ONE "batch_per_gpu=many",
         "batch_per_gpu is 'many', want a whole number from 1"},
        {ONE "grad_accum=0", "grad_accum is '0', want a whole number from 1"},
        {"gpu=x;gpus=0", "gpus is '0', want a whole number from 1"},
        {"gpu=x;nodes=0", "nodes is '0', want a whole number from 1"},
        {ONE "tp=0", "tp is '0', want a whole number from 1"},
        {ONE "amp=2", "amp is '2', want 0 or 1"},
        {ONE "amp=-1", "amp is '-1', want a whole number from 0"},
        {ONE "cpu_offload=2", "cpu_offload is '2', want 0 or 1"},
        {ONE "cp=2",
         "cp is '2', want 1: no change of a trace splits its model so"},
        {ONE "ep=4",
         "ep is '4', want 1: no change of a trace splits its model so"},
        {ONE "sequence=128",
         "sequence is '128', want nothing: the sequence is the traced one"},
        {"gpu=x;dp=2;gpus=3", "gpus is '3', want as many as 'dp'"},
        {"gpu=x;dp=2;gpus=3;tp=2", "gpus is '3', want as many as dp x tp x pp"},
        {"gpu=x;gpus=3;tp=2", "gpus is '3', want a multiple of tp x pp"},
        {"gpu=x;gpus=2;zero=4", "zero is '4', want 0 to 3"},
        {"gpu=x;gpus=2;zero=1;strategy=ddp",
         "strategy is 'ddp', want nothing beside 'zero'"},
        {"gpu=x;gpus=2;strategy=single",
         "strategy is 'single', want another one than 'single' for ranks that "
         "train together"},
        {TWO "global_batch=25;batch_per_gpu=4;grad_accum=3",
         "global_batch is '25', want ranks x grad_accum x the batch of a "
         "rank"},
        {ONE "optimizer_in_backward=1",
         "optimizer_in_backward is '1', want yes or no"},
        {ONE "tp=0;amp=2", "tp is '0', want a whole number from 1"},
    };

    for (size_t i = 0; i < sizeof(CASE) / sizeof(*CASE); i++) {
        read_job(CASE[i].columns, NULL);
        CHECK_STR(all.rows[0].reason, CASE[i].reason);
        done();
    }
    /* what a change refuses is the reason, too */
    read_job(ONE "optimizer_bits=16" REST, NULL);
    CHECK_STR(all.rows[0].reason, "optimizer_bits is 16, want 8, or 32");
    done();
}

static void test_trace_job__takes_either(void)
{
    static const struct {
        const char *a, *b;
        bool first;
    } CASE[] = {{"1", "2", true},  {"", "2", false},  {NULL, "2", false},
                {"1", NULL, true}, {"", NULL, true},  {NULL, NULL, true},
                {"", "", false},   {NULL, "", false}, {"1", "", true}};

    for (size_t i = 0; i < sizeof(CASE) / sizeof(*CASE); i++) {
        memset(&job, 0, sizeof(job));
        job.field[MSIM_TRACE_COLUMN_gpu] = CASE[i].a;
        job.field[MSIM_TRACE_COLUMN_zero] = CASE[i].b;
        CHECK_INT(msim_trace_job_either(&job, MSIM_TRACE_COLUMN_gpu,
                                        MSIM_TRACE_COLUMN_zero),
                  CASE[i].first ? MSIM_TRACE_COLUMN_gpu
                                : MSIM_TRACE_COLUMN_zero);
    }
}

int main(void)
{
    RUN(test_trace_job__trains);
    RUN(test_trace_job__has_types_and_sizes);
    RUN(test_trace_job__refuses);
    RUN(test_trace_job__takes_either);
    return check_summary();
}
