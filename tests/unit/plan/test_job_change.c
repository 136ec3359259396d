/*
 * tests/unit/plan/test_job_change.c - tests of plan/whatif/job_change.c.
 */
#include "plan/whatif/job_whatif.h"

#include "tests/check.h"

#include <stdarg.h>

static const struct msim_strategy BASE = {.gpus = 8,
                                          .nodes = 1,
                                          .dp = 8,
                                          .tp = 1,
                                          .pp = 1,
                                          .vp = 1,
                                          .cp = 1,
                                          .ep = 1,
                                          .zero = 1,
                                          .micro_batch = 2,
                                          .grad_accum = 4,
                                          .global_batch = 64,
                                          .sequence = 4096};

/* ---- what is read -------------------------------------------------------- */

static void say(char *to, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void say(char *to, size_t size, const char *format, ...)
{
    size_t used = strlen(to);
    va_list args;

    va_start(args, format);
    vsnprintf(to + used, size - used, format, args);
    va_end(args);
}

/* All that differs from no change, a word each: members that are set, then the
 * rest. */
static void show(const struct msim_job_change *c, char *out, size_t size)
{
    const struct msim_job_factors *f = &c->factors;
    const struct {
        const char *name;
        double v, usual;
    } FACTORS[] = {
        {"kernels", f->kernels, 1},  {"communication", f->communication, 1},
        {"copies", f->copies, 1},    {"host", f->host, 1},
        {"overlap", f->overlap, -1}, {"graph", f->graph, 0}};
    char value[64];

    *out = '\0';
    for (int g = 0; g < MSIM_GIVEN_COUNT; g++) {
        enum msim_given m = (enum msim_given)g;
        int64_t v = msim_strategy_value(&c->strategy, m);

        msim_strategy_value_text(m, v, value, sizeof(value));
        if (c->given >> g & 1)
            say(out, size, "%s=%s ", msim_given_text(m), value);
        else
            CHECK_INT(v, msim_strategy_value(&BASE, m));
    }
    if (*c->platform)
        say(out, size, "gpu %s ", c->platform);
    if (*c->network)
        say(out, size, "network %s ", c->network);
    if (c->world)
        say(out, size, "world %d ", (int)c->world);
    for (size_t i = 0; i < sizeof(FACTORS) / sizeof(*FACTORS); i++)
        if (FACTORS[i].v != FACTORS[i].usual)
            say(out, size, "%s x %.4g ", FACTORS[i].name, FACTORS[i].v);
    if (*c->reason)
        say(out, size, "reason %s ", c->reason);
    if (*out)
        out[strlen(out) - 1] = '\0';
}

/* Read the changes, members of one object, one after the other. */
static enum msim_status read_changes(struct msim_job_change *c,
                                     const char *text, struct msim_error *err)
{
    cJSON *json = cJSON_Parse(text);
    struct msim_fields f = msim_fields_of(json, NULL, err);
    const cJSON *item;

    if (!CHECK(json))
        printf("%s\n", text);
    msim_job_change_begin(c, &BASE);
    cJSON_ArrayForEach(item, json) msim_job_change_read(c, &f, item->string);
    cJSON_Delete(json);
    return f.status;
}

static void test_job_change__reads_all_kinds(void)
{
    static const struct {
        const char *text, *want;
    } CASES[] = {
        {"{}", ""},
        {"{\"gpu\": \"h100\"}", "gpu h100"},
        {"{\"network\": \"ethernet-100\"}", "network ethernet-100"},
        {"{\"world\": 1}", "world 1"},
        {"{\"world\": null}", "world 1"},
        {"{\"shard\": null}", "zero=0"},
        {"{\"world\": 1000000000}", "world 1000000000"},
        {"{\"parallel\": {}}", ""},
        {"{\"parallel\": {\"dp\": 2, \"tp\": 3, \"pp\": 4, \"vp\": 5, "
         "\"cp\": 6, \"ep\": 7, \"etp\": 8, \"sp\": true, "
         "\"schedule\": \"1f1b\"}}",
         "tp=3 pp=4 vp=5 cp=6 ep=7 etp=8 dp=2 schedule=1f1b"},
        {"{\"parallel\": {\"schedule\": \"zero-bubble\"}}",
         "schedule=zero-bubble"},
        {"{\"shard\": \"ddp\"}", "zero=0"},
        {"{\"shard\": \"zero1\"}", "zero=1"},
        {"{\"shard\": \"zero2\"}", "zero=2"},
        {"{\"shard\": \"zero3\"}", "zero=3"},
        {"{\"shard\": \"fsdp\"}", "zero=3"},
        {"{\"shard\": 0}", "zero=0"},
        {"{\"shard\": 3}", "zero=3"},
        {"{\"batch\": 512}", "global_batch=512"},
        {"{\"batch\": {\"global\": 512}}", "global_batch=512"},
        {"{\"batch\": {\"micro\": 4}}", "micro_batch=4"},
        {"{\"batch\": {\"micro\": 4, \"global\": 512}}",
         "micro_batch=4 global_batch=512"},
        {"{\"sequence\": 8192}", "sequence=8192"},
        {"{\"accumulate\": 3}", "grad_accum=3"},
        {"{\"dtype\": \"fp8\"}", "precision=fp8"},
        {"{\"recompute\": \"full\"}", "recompute=full"},
        {"{\"offload\": \"optimizer\"}", "offload=optimizer"},
        {"{\"quantise_comms\": 8}",
         "gradient_bits=8 weight_bits=8 dispatch_bits=8"},
        {"{\"quantise_comms\": {\"gradients\": 4}}", "gradient_bits=4"},
        {"{\"quantise_comms\": {\"weights\": 16}}", "weight_bits=16"},
        {"{\"quantise_comms\": {\"dispatch\": 16}}", "dispatch_bits=16"},
        {"{\"quantise_comms\": {}}", ""},
        {"{\"lora\": 16}", "lora_rank=16"},
        {"{\"lora\": {\"rank\": 8}}", "lora_rank=8"},
        {"{\"lora\": {\"rank\": 8, \"targets\": \"mlp\"}}",
         "lora_rank=8 lora_targets=mlp"},
        {"{\"qlora\": 16}", "lora_rank=16 base_bits=4"},
        {"{\"qlora\": {\"rank\": 8, \"targets\": \"all\"}}",
         "lora_rank=8 lora_targets=all base_bits=4"},
        {"{\"chunked_loss\": 8}", "loss_chunks=8"},
        {"{\"optimizer_bits\": 8}", "optimizer_bits=8"},
        {"{\"master_weights\": false}", "master_weights=no"},
        {"{\"optimizer_in_backward\": true}", "optimizer_in_backward=yes"},
        {"{\"fuse\": false}", "compile=no"},
        {"{\"compile\": true}", "compile=yes"},
        {"{\"packed\": 512}", "document=512"},
        {"{\"speedup\": {\"select\": \"kernels\", \"factor\": 4}}",
         "kernels x 0.25"},
        {"{\"scale\": {\"select\": \"kernels\", \"factor\": 4}}",
         "kernels x 4"},
        {"{\"scale\": {\"select\": \"communication\", \"factor\": 0.5}}",
         "communication x 0.5"},
        {"{\"scale\": {\"select\": \"copies\", \"factor\": 3}}", "copies x 3"},
        {"{\"scale\": {\"select\": \"host\", \"factor\": 3}}", "host x 3"},
        {"{\"remove\": {\"select\": \"host\"}}", "host x 0"},
        {"{\"remove\": {\"select\": \"communication\"}}", "communication x 0"},
        {"{\"straggler\": {\"factor\": 1}}", ""},
        {"{\"straggler\": {\"rank\": 0, \"factor\": 1.5}}",
         "kernels x 1.5 host x 1.5"},
        /* Factors go together. */
        {"{\"straggler\": {\"factor\": 2}, \"speedup\": {\"select\": "
         "\"kernels\", \"factor\": 4}, \"scale\": {\"select\": \"host\", "
         "\"factor\": 3}}",
         "kernels x 0.5 host x 6"},
        {"{\"cuda_graph\": true}", "graph x 1"},
        {"{\"overlap\": 0}", "overlap x 0"},
        {"{\"overlap\": 1}", "overlap x 1"},
        {"{\"overlap\": 0.25}", "overlap x 0.25"},
        {"{\"remove\": {\"select\": \"op:aten::mm\"}}",
         "reason 'op:aten::mm' selects operators of a traced job; a described "
         "one has kernels, communication, copies and host"},
        {"{\"scale\": {\"select\": \"family:gemm\", \"factor\": 2}}",
         "reason 'family:gemm' selects operators of a traced job; a described "
         "one has kernels, communication, copies and host"},
        {"{\"clock\": 1}",
         "reason clock changes a traced job: whatif SCENARIOS.json TRACE"},
        {"{\"reshape\": {}}",
         "reason reshape changes a traced job: whatif SCENARIOS.json TRACE"},
    };

    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        struct msim_error err = {0};
        struct msim_job_change c;
        char got[1024];

        CHECK(read_changes(&c, CASES[i].text, &err) == MSIM_OK);
        CHECK_STR(err.text, "");
        show(&c, got, sizeof(got));
        CHECK_STR(got, CASES[i].want);
    }
}

static void test_job_change__refuses_by_path(void)
{
    static const char SCALE[] = "kernels, communication, copies or host";
    static const struct {
        const char *text, *path, *want;
    } CASES[] = {
        {"{\"gpu\": \"\"}", "gpu", "a name, or a file"},
        {"{\"network\": \"\"}", "network", "a name, or a file"},
        {"{\"gpu\": 1}", "gpu is 1", ""},
        {"{\"world\": 0}", "world", "a whole number from 1"},
        {"{\"world\": 1000000001}", "world", "at most 1,000,000,000 GPUs"},
        {"{\"parallel\": 4}", "parallel", "{\"tp\": 4, \"pp\": 2}"},
        {"{\"parallel\": {\"dp\": 0}}", "parallel.dp", ""},
        {"{\"parallel\": {\"np\": 2}}", "parallel.np is not known", ""},
        {"{\"parallel\": {\"sp\": false}}", "parallel.sp",
         "true: tensor parallel ranks split sequences, too"},
        {"{\"shard\": 4}", "shard", ""},
        {"{\"shard\": \"zero4\"}", "shard", "zero3 or fsdp"},
        {"{\"batch\": \"8\"}", "batch",
         "sequences of a step, or {\"global\": 512} or {\"micro\": 4}"},
        {"{\"batch\": {}}", "batch", "{\"global\": 512} or {\"micro\": 4}"},
        {"{\"batch\": 0}", "batch", ""},
        {"{\"batch\": {\"micro\": 0}}", "batch.micro", ""},
        {"{\"batch\": {\"global\": 0}}", "batch.global", ""},
        {"{\"batch\": {\"local\": 1}}", "batch.local is not known", ""},
        {"{\"dtype\": \"fp9\"}", "dtype", ""},
        {"{\"accumulate\": 0}", "accumulate", ""},
        {"{\"lora\": \"8\"}", "lora",
         "a rank, or {\"rank\": 16, \"targets\": \"all\"}"},
        {"{\"lora\": 0}", "lora", ""},
        {"{\"lora\": {}}", "lora.rank is missing", ""},
        {"{\"lora\": {\"rank\": 8, \"targets\": \"x\"}}", "lora.targets", ""},
        {"{\"lora\": {\"rank\": 8, \"bits\": 4}}", "lora.bits is not known",
         ""},
        {"{\"quantise_comms\": \"8\"}", "quantise_comms",
         "bits, or {\"gradients\": 8, \"weights\": 8, \"dispatch\": 8}"},
        {"{\"quantise_comms\": {\"all\": 8}}",
         "quantise_comms.all is not known", ""},
        {"{\"quantise_comms\": {\"weights\": 32}}", "quantise_comms.weights",
         ""},
        {"{\"quantise_comms\": 4}", "quantise_comms", ""},
        {"{\"scale\": null}", "scale is missing", "an object with \"select\""},
        {"{\"straggler\": null}", "straggler is missing", "{\"factor\": 1.2}"},
        {"{\"scale\": 2}", "scale is 2", "an object"},
        {"{\"scale\": {\"factor\": 2}}", "scale.select", SCALE},
        {"{\"scale\": {\"select\": \"gpu\", \"factor\": 2}}", "scale.select",
         SCALE},
        {"{\"scale\": {\"select\": \"host\"}}", "scale.factor",
         "a number above 0"},
        {"{\"speedup\": {\"select\": \"host\", \"factor\": 0}}",
         "speedup.factor", "a number above 0"},
        {"{\"remove\": {\"select\": \"host\", \"factor\": 2}}",
         "remove.factor is not known", ""},
        {"{\"straggler\": 2}", "straggler is 2", "an object"},
        {"{\"straggler\": {}}", "straggler.factor", "a number from 1"},
        {"{\"straggler\": {\"factor\": 0.999}}", "straggler.factor",
         "a number from 1"},
        {"{\"straggler\": {\"rank\": -1, \"factor\": 2}}", "straggler.rank",
         "a whole number from 0"},
        {"{\"straggler\": {\"by\": 1, \"factor\": 2}}",
         "straggler.by is not known", ""},
        {"{\"cuda_graph\": false}", "cuda_graph", "true: of all layers"},
        {"{\"cuda_graph\": 1}", "cuda_graph", "true: of all layers"},
        {"{\"overlap\": -0.001}", "overlap", "a number from 0 to 1: the share"},
        {"{\"overlap\": 1.001}", "overlap", "a number from 0 to 1: the share"},
        {"{\"overlap\": \"0\"}", "overlap", "a number from 0 to 1: the share"},
    };

    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        struct msim_error err = {0};
        struct msim_job_change c;

        if (!CHECK(read_changes(&c, CASES[i].text, &err) == MSIM_EFORMAT))
            printf("%s\n", CASES[i].text);
        if (strncmp(err.text, CASES[i].path, strlen(CASES[i].path)) != 0 ||
            !strstr(err.text, CASES[i].want)) {
            CHECK_STR(err.text, CASES[i].path);
            CHECK_STR(err.text, CASES[i].want);
        }
        /* Of what is wrong no factor comes. */
        CHECK(c.factors.kernels == 1 && c.factors.host == 1);
    }
}

static void test_job_change__names_are_all_read(void)
{
    uint32_t n = 0;

    while (msim_job_change_names[n])
        n++;
    CHECK_UINT(n, 39);
    for (uint32_t i = 0; i < n; i++) {
        struct msim_error err = {0};
        struct msim_job_change c;
        char text[64];

        /* A list is no value of any: it is refused, or of traced jobs. */
        snprintf(text, sizeof(text), "{\"%s\": []}", msim_job_change_names[i]);
        CHECK((read_changes(&c, text, &err) != MSIM_OK) == !*c.reason);
        CHECK(*c.reason || strncmp(err.text, msim_job_change_names[i],
                                   strlen(msim_job_change_names[i])) == 0);
    }
}

/* ---- what follows -------------------------------------------------------- */

/* What is to be found again, of a base whose global batch is stated or not. */
static void test_job_change__settles(void)
{
    static const struct {
        const char *text;
        bool batch_given;
        int gpus;
        const char *open; /* members that follow from others */
    } CASES[] = {
        {"{}", true, 8, "nodes etp dp grad_accum"},
        {"{}", false, 8, "nodes etp dp global_batch"},
        {"{\"parallel\": {\"tp\": 2}}", true, 8, "nodes etp dp grad_accum"},
        {"{\"world\": 64}", true, 64, "nodes etp dp global_batch"},
        {"{\"world\": 64}", false, 64, "nodes etp dp global_batch"},
        {"{\"world\": 64, \"parallel\": {\"dp\": 4}}", true, 64,
         "nodes etp global_batch"},
        {"{\"parallel\": {\"dp\": 4, \"etp\": 1}}", true, 8,
         "gpus nodes grad_accum"},
        {"{\"parallel\": {\"dp\": 4}}", true, 8, "gpus nodes etp grad_accum"},
        {"{\"parallel\": {\"dp\": 4}}", false, 8,
         "gpus nodes etp global_batch"},
        {"{\"batch\": 128}", true, 8, "nodes etp dp grad_accum"},
        {"{\"batch\": 128}", false, 8, "nodes etp dp grad_accum"},
        {"{\"batch\": 128, \"world\": 64}", true, 64,
         "nodes etp dp grad_accum"},
        {"{\"batch\": 128, \"accumulate\": 2}", true, 8, "nodes etp dp"},
        {"{\"accumulate\": 2}", true, 8, "nodes etp dp global_batch"},
        {"{\"accumulate\": 2, \"world\": 16}", false, 16,
         "nodes etp dp global_batch"},
    };

    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        uint64_t given =
                     CASES[i].batch_given ? 1ULL << MSIM_GIVEN_global_batch : 0,
                 now = 0;
        struct msim_error err = {0};
        struct msim_job_change c;
        struct msim_strategy s;
        char open[128] = "";

        REQUIRE(read_changes(&c, CASES[i].text, &err) == MSIM_OK);
        msim_job_change_settle(&s, &now, &c, &BASE, given);
        for (int g = 0; g < MSIM_GIVEN_COUNT; g++)
            if (!(now >> g & 1))
                say(open, sizeof(open), "%s%s", *open ? " " : "",
                    msim_given_text((enum msim_given)g));
        CHECK_STR(open, CASES[i].open);
        CHECK_UINT(now >> MSIM_GIVEN_COUNT, 0);
        CHECK_INT(s.gpus, CASES[i].gpus);
    }
}

/* What the base says of its experts stays said. */
static void test_job_change__keeps_whole_experts(void)
{
    struct msim_strategy base = BASE, s;
    struct msim_error err = {0};
    struct msim_job_change c;
    uint64_t now = 0;

    base.tp = 2;
    base.dp = 4;
    base.etp = 1;
    msim_job_change_begin(&c, &base);
    msim_job_change_settle(&s, &now, &c, &base, 1ULL << MSIM_GIVEN_etp);
    CHECK(now >> MSIM_GIVEN_etp & 1);
    CHECK_INT(s.etp, 1);
    CHECK_STR(err.text, "");
}

int main(void)
{
    RUN(test_job_change__keeps_whole_experts);
    RUN(test_job_change__reads_all_kinds);
    RUN(test_job_change__refuses_by_path);
    RUN(test_job_change__names_are_all_read);
    RUN(test_job_change__settles);
    return check_summary();
}
