/*
 * tests/unit/plan/test_job_rows.c - tests of plan/rows/job_rows.h.
 */
#include "plan/rows/job_rows.h"

#include "plan/describe/strategy.h"
#include "tests/check.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = P_tmpdir "/msim-rows-XXXXXX";
static struct msim_error err;
static struct msim_job_rows table;

static void put(const char *name, const char *text)
{
    char path[256];
    FILE *f;

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    f = fopen(path, "w");
    REQUIRE(f);
    fputs(text, f);
    fclose(f);
}

static void remove_all(void)
{
    static const char *const NAMES[] = {"jobs.csv", "models/ours.json",
                                        "models", ""};

    for (size_t i = 0; i < sizeof(NAMES) / sizeof(NAMES[0]); i++) {
        char path[256];

        snprintf(path, sizeof(path), "%s/%s", folder, NAMES[i]);
        CHECK(remove(path) == 0);
    }
}

/* A table of this text; release in any case. */
static enum msim_status open_text(const char *text)
{
    char path[256];

    put("jobs.csv", text);
    snprintf(path, sizeof(path), "%s/jobs.csv", folder);
    err = (struct msim_error){0};
    return msim_job_rows_open(&table, path, MSIM_DATA, &err);
}

/* The one row under this header. */
static struct msim_job_row row_of(const char *header, const char *line)
{
    static char kept[2][64]; /* texts of a row are the table's */
    struct msim_job_row row = {0};
    char *const *fields = NULL;
    char text[512];

    snprintf(text, sizeof(text), "%s\n%s\n", header, line);
    CHECK(open_text(text) == MSIM_OK);
    CHECK(msim_job_rows_next(&table, &row, &fields, &err) == MSIM_OK);
    CHECK(fields);
    snprintf(kept[0], 64, "%s", row.platform ? row.platform : "");
    snprintf(kept[1], 64, "%s", row.source ? row.source : "");
    row.platform = row.platform ? kept[0] : NULL;
    row.source = row.source ? kept[1] : NULL;
    CHECK(msim_job_rows_next(&table, &(struct msim_job_row){0}, &fields,
                             &err) == MSIM_OK);
    CHECK(!fields);
    msim_job_rows_release(&table);
    return row;
}

static void test_job_rows__knows_its_columns(void)
{
    static const struct {
        const char *header, *want;
    } CASES[] = {
        {"model,step_mss", "column 'step_mss' is not known, did you mean "
                           "'step_ms'?"},
        {"gpsu,model", "column 'gpsu' is not known, did you mean 'gpus'?"},
        {"model,lora_rnak", "did you mean 'lora_rank'?"},
        {"model,of nothing like these",
         "column 'of nothing like these' is not known, want some of: gpus "
         "nodes tp pp vp cp ep etp dp zero micro_batch grad_accum global_batch "
         "sequence precision recompute offload lora_rank lora_targets "
         "base_bits loss_chunks optimizer_bits master_weights "
         "optimizer_in_backward compile document gradient_bits weight_bits "
         "dispatch_bits dispatch_overlap schedule framework model platform "
         "hidden heads layers "
         "source status step_ms iteration_ms memory_gib"},
        {"gpus,heads,layers", "there is no column 'model', nor 'hidden', "
                              "'heads' and 'layers'"},
    };

    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        CHECK(open_text(CASES[i].header) == MSIM_EFORMAT);
        if (!strstr(err.text, CASES[i].want))
            CHECK_STR(err.text, CASES[i].want);
        msim_job_rows_release(&table);
    }
    CHECK(open_text("model") == MSIM_OK);
    msim_job_rows_release(&table);
    CHECK(open_text("hidden") == MSIM_OK);
    msim_job_rows_release(&table);
}

/* A step is step_ms, or iteration_ms where that says nothing; what is no number
 * above 0 was not measured. */
static void test_job_rows__reads_what_was_measured(void)
{
    static const struct {
        const char *cells; /* status, step_ms, iteration_ms, memory_gib */
        bool failed;
        double step_ms, memory_gib;
    } CASES[] = {
        {",,,", false, 0, 0},
        {"ok,5,,7", false, 5, 7},
        {"ok,0.5,6,0.5", false, 0.5, 0.5},
        {",0,6,0", false, 6, 0},
        {"OK,-1,6,-1", true, 6, 0},
        {"oom,x,1e-3,x", true, 1e-3, 0},
        {"ok,1e999,6,1e999", false, 6, 0},
        {"ok,,-6,", false, 0, 0},
    };

    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        char line[64];
        struct msim_job_row row;

        snprintf(line, sizeof(line), "llama3-8b,%s", CASES[i].cells);
        row = row_of("model,status,step_ms,iteration_ms,memory_gib", line);
        CHECK_STR(row.reason, "");
        CHECK(row.failed == CASES[i].failed);
        CHECK_REL(row.step_ms, CASES[i].step_ms, 0);
        CHECK_REL(row.memory_gib, CASES[i].memory_gib, 0);
    }
}

static void test_job_rows__reads_names(void)
{
    struct msim_job_row row =
        row_of("model,platform,source,gpus", "llama3-8b,,,8");

    CHECK(!row.platform && !row.source);
    CHECK_INT(row.strategy.gpus, 8);
    CHECK_UINT(row.given, 1ULL << MSIM_GIVEN_gpus);
    CHECK(!row.strategy.unfused && row.strategy.technique.framework == 0);
    row = row_of("model,platform,source,gpus", "llama3-8b,h100,paper,");
    CHECK_STR(row.platform, "h100");
    CHECK_STR(row.source, "paper");
    CHECK_UINT(row.given, 0);
    /* The first member that is wrong is the reason. */
    row = row_of("model,gpus,tp", "llama3-8b,x,y");
    CHECK_STR(row.reason,
              "gpus is 'x', want a whole number from 1 to 1000000000");
    CHECK(!row.model);
    row = row_of("model", "llama3-8c");
    CHECK(strstr(row.reason, "llama3-8c"));
    CHECK(!row.model);
}

/* Programs that are not known are copied; those that are, are taken. */
static void test_job_rows__takes_known_frameworks(void)
{
    struct msim_job_row row =
        row_of("model,framework", "llama3-8b,our own program");

    CHECK_STR(row.reason, "");
    CHECK_INT(row.strategy.technique.framework, 0);
    CHECK_UINT(row.given, 0);
    row = row_of("model,framework", "llama3-8b,pytorch");
    CHECK_STR(msim_framework_of(&row.strategy)->name, "pytorch");
    CHECK_UINT(row.given, 1ULL << MSIM_GIVEN_framework);
    row = row_of("hidden,heads,layers,framework", "64,4,2,pytorch");
    CHECK_STR(msim_framework_of(&row.strategy)->name, "pytorch");
}

static void test_job_rows__takes_numbers_for_a_gpt(void)
{
    static const char *const COLUMNS[] = {"hidden", "heads", "layers"};
    static const struct {
        const char *value;
        bool accepted;
    } CASES[] = {{"1", true},   {"1000000", true},  {"0", false},
                 {"-1", false}, {"1000001", false}, {"1.5", false},
                 {"", false},   {"x", false}};
    struct msim_job_row row = row_of("hidden,heads,layers", "96,6,3");
    const struct msim_described *m = &row.by_numbers;

    CHECK_STR(row.reason, "");
    CHECK_STR(row.source, "training_steps");
    CHECK_STR(m->name, "gpt");
    CHECK(m->type == MSIM_MODEL_DECODER && m->tied && m->layernorm && m->bias &&
          !m->gated && !m->encoder && m->head == MSIM_MODEL_LM);
    CHECK(m->positions == MSIM_POSITIONS_LEARNED);
    CHECK_INT(m->hidden, 96);
    CHECK_INT(m->heads, 6);
    CHECK_INT(m->kv_heads, 6);
    CHECK_INT(m->layers, 3);
    CHECK_INT(m->ffn, 384);
    CHECK_INT(m->head_dim, 16);
    CHECK_INT(m->vocab, 50257);
    CHECK(row.strategy.unfused);
    CHECK_STR(msim_framework_of(&row.strategy)->name, "megatron");
    row = row_of("hidden,heads,layers,source", "96,6,3,paper");
    CHECK_STR(row.source, "paper");
    for (int c = 0; c < 3; c++)
        for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
            char line[64], want[64] = "";

            snprintf(line, sizeof(line), "%s,%s,%s",
                     c == 0 ? CASES[i].value : "1000000",
                     c == 1 ? CASES[i].value : "1",
                     c == 2 ? CASES[i].value : "64");
            row = row_of("hidden,heads,layers", line);
            if (!CASES[i].accepted)
                snprintf(want, sizeof(want),
                         "%s is '%s', want a whole number from 1 to 1000000",
                         COLUMNS[c], CASES[i].value);
            CHECK_STR(row.reason, want);
        }
    row = row_of("hidden,heads,layers", "96,7,3");
    CHECK_STR(row.reason, "heads is 7, want a divisor of hidden, which is 96");
    row = row_of("hidden,heads,layers", "96.0,6.0,3.0");
    CHECK_STR(row.reason, "");
    CHECK_INT(row.by_numbers.head_dim, 16);
}

/* Models are read once; those that data has not lie beside the table. */
static void test_job_rows__finds_models(void)
{
    struct msim_job_row row;
    const struct msim_described *first;
    char *const *fields;
    char path[256];

    snprintf(path, sizeof(path), "%s/models", folder);
    REQUIRE(mkdir(path, 0700) == 0);
    put("models/ours.json", "{\"layers\": 2, \"hidden\": 64, \"heads\": 4, "
                            "\"ffn\": 128, \"vocab\": 99}");
    REQUIRE(open_text("model\nours\nllama3-8b\nnone\nours\nllama3-8b\n") ==
            MSIM_OK);
    for (int i = 0; i < 5; i++) {
        static const int64_t VOCABS[] = {99, 128256, 0, 99, 128256};

        CHECK(msim_job_rows_next(&table, &row, &fields, &err) == MSIM_OK);
        first = row.model;
        CHECK((first != NULL) == (VOCABS[i] > 0));
        CHECK_INT(first ? first->vocab : 0, VOCABS[i]);
    }
    CHECK_UINT(table.n_models, 2);
    msim_job_rows_release(&table);
    CHECK(!table.csv && !table.models && table.n_models == 0);
    /* The folder is where the program is, where the path has none. */
    REQUIRE(chdir(folder) == 0);
    CHECK(msim_job_rows_open(&table, "jobs.csv", MSIM_DATA, &err) == MSIM_OK);
    CHECK(msim_job_rows_next(&table, &row, &fields, &err) == MSIM_OK);
    CHECK(row.model && row.model->vocab == 99);
    msim_job_rows_release(&table);
}

int main(void)
{
    if (!mkdtemp(folder))
        return 1;
    RUN(test_job_rows__knows_its_columns);
    RUN(test_job_rows__reads_what_was_measured);
    RUN(test_job_rows__reads_names);
    RUN(test_job_rows__takes_known_frameworks);
    RUN(test_job_rows__takes_numbers_for_a_gpt);
    RUN(test_job_rows__finds_models);
    remove_all();
    return check_summary();
}
