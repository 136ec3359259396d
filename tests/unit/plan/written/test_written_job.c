/* plan/whatif/job_write.c, plan/synth/synth_manifest.c and
 * plan/written/written_job.c: scenarios of a described job are written, and
 * each folder is read as that job. */
#include "plan/written/written_job.h"

#include "core/base/files.h"
#include "core/reshape/reshape.h"
#include "models/platform/platform.h"
#include "plan/memory/job_memory.h"
#include "plan/whatif/job_whatif.h"
#include "predict/inputs.h"
#include "tests/check.h"

#include <dirent.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define MODEL                                                                  \
    "{\"name\": \"tiny\", \"layers\": 4, \"hidden\": 64, \"heads\": 4, "       \
    "\"kv_heads\": 4, \"ffn\": 128, \"vocab\": 100}"

static char folder[] = P_tmpdir "/msim-written-XXXXXX";
static struct msim_job_whatif w;
static struct msim_job_scenario rows[6];
static struct msim_error err;

static const char *at(const char *name)
{
    static char path[128];

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    return path;
}

static void forget(const char *path)
{
    char inside[512];
    struct dirent *e;
    DIR *d = opendir(path);

    while (d && (e = readdir(d))) {
        snprintf(inside, sizeof(inside), "%s/%s", path, e->d_name);
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0 &&
            unlink(inside) != 0)
            forget(inside);
    }
    if (d)
        closedir(d);
    rmdir(path);
}

/* ---- scenarios of a job -------------------------------------------------- */

enum { SAME, WIDER, REFUSED, SCALED, OFFLOADED, NO_MODEL };

/* On 2 GPUs, two micro batches; of the strategy these are given. */
static void begin(void)
{
    static const char *const NAMES[] = {"same",   "wider",     "refused",
                                        "scaled", "offloaded", "no model"};
    struct msim_strategy s = {.gpus = 2,
                              .nodes = 1,
                              .tp = 1,
                              .pp = 1,
                              .vp = 1,
                              .cp = 1,
                              .ep = 1,
                              .etp = 1,
                              .dp = 2,
                              .micro_batch = 1,
                              .grad_accum = 2,
                              .global_batch = 4,
                              .sequence = 16,
                              .precision = MSIM_PRECISION_BF16,
                              .gpus_a_node = 8};
    cJSON *json = cJSON_Parse(MODEL);

    w = (struct msim_job_whatif){.rows = rows, .n = 6};
    w.given = 1ULL << MSIM_GIVEN_gpus | 1ULL << MSIM_GIVEN_global_batch |
              1ULL << MSIM_GIVEN_sequence;
    CHECK_INT(msim_described_parse(&w.model, json, "model", &err), MSIM_OK);
    cJSON_Delete(json);
    w.base.strategy = s;
    for (int i = 0; i < 6; i++) {
        rows[i] = (struct msim_job_scenario){.strategy = s};
        rows[i].change.factors = (struct msim_job_factors){.kernels = 1,
                                                           .communication = 1,
                                                           .copies = 1,
                                                           .host = 1,
                                                           .overlap = -1};
        snprintf(rows[i].name, sizeof(rows[i].name), "%s", NAMES[i]);
    }
    rows[WIDER].change.model.hidden.to = 128;
    rows[WIDER].change.model.layers = 2;
    rows[WIDER].strategy.recompute = MSIM_RECOMPUTE_FULL;
    snprintf(rows[REFUSED].reason, sizeof(rows[0].reason), "it cannot be");
    rows[OFFLOADED].strategy.offload = MSIM_OFFLOAD_OPTIMIZER;
    rows[NO_MODEL].change.model.hidden.from = 63;
    rows[NO_MODEL].change.model.hidden.to = 128;
}

static struct msim_written_job read_again(const char *name)
{
    struct msim_written_job job;
    bool is = false;

    err = (struct msim_error){0};
    CHECK_INT(msim_written_job_open(&job, &is, at(name), MSIM_DATA, &err),
              MSIM_OK);
    CHECK_STR(err.text, "");
    CHECK(is);
    return job;
}

static void test_job_write__scenarios(void)
{
    struct msim_scenario_written *out = NULL;
    struct msim_written_job job;

    begin();
    REQUIRE(msim_job_write_look(&w, folder, &err) == MSIM_OK);
    REQUIRE(msim_jobs_write(&out, &w, MODEL, folder, &err) == MSIM_OK);
    CHECK_STR(out[SAME].folder, at("same"));
    CHECK_STR(out[SAME].why, "");
    CHECK_INT(out[SAME].files, 1);
    CHECK(out[SAME].nodes > 100);
    CHECK(out[WIDER].folder != NULL);
    CHECK_STR(out[WIDER].why, "");
    CHECK(out[REFUSED].folder == NULL);
    CHECK_STR(out[REFUSED].why, "it has no answer");
    CHECK_STR(out[SCALED].folder, at("scaled")); /* no factor is yet */
    CHECK_STR(out[SCALED].why, "");
    CHECK(out[OFFLOADED].folder == NULL);
    CHECK(strncmp(out[OFFLOADED].why, "offload cannot be written", 25) == 0);
    CHECK(out[NO_MODEL].folder == NULL && *out[NO_MODEL].why);
    msim_scenarios_written_free(out, w.n);
    job = read_again("same");
    CHECK_INT(job.n_changes, 0);
    CHECK_UINT(job.is.given, w.given);
    CHECK_INT(job.is.model.hidden, 64);
    CHECK_INT(job.is.strategy.gpus, 2);
    CHECK_INT(job.is.strategy.global_batch, 4);
    CHECK_INT(job.is.strategy.sequence, 16);
    CHECK_INT(job.source.ranks, 2);
    CHECK_INT(job.source.files, 1);
    CHECK_INT(job.gpus_a_node, 0);
    CHECK_INT(strncmp(job.file, "{\"name\":\"tiny\",", 15), 0);
    msim_written_job_release(&job);
    job = read_again("wider");
    CHECK_INT(job.n_changes, 1);
    CHECK_UINT(job.is.given, w.given | 1ULL << MSIM_GIVEN_recompute);
    CHECK_INT(job.is.strategy.recompute, MSIM_RECOMPUTE_FULL);
    CHECK_INT(job.is.model.hidden, 128);
    CHECK_INT(job.is.model.layers, 2);
    msim_written_job_release(&job);
}

/* A file of the folder, without the program's version. */
static const char *text_of(const char *name)
{
    static char text[4096];
    FILE *f = fopen(at(name), "r");
    char *version, *end;

    if (!CHECK(f != NULL))
        return "";
    text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
    fclose(f);
    version = strstr(text, "  \"version\"");
    end = version ? strchr(version, '\n') : NULL;
    if (CHECK(end != NULL))
        memmove(version, end + 1, strlen(end + 1) + 1);
    return text;
}

static void test_synth_manifest__whole(void)
{
#define MANIFEST(recompute, changes, given)                                    \
    "{\n  \"schema\": \"mystique-sim/synth/1\",\n  \"model\": \"tiny\",\n  "   \
    "\"strategy\": {\"gpus\": 2, \"nodes\": 1, \"tp\": 1, \"pp\": 1, \"vp\": " \
    "1, \"cp\": 1, \"ep\": 1, \"etp\": 1, \"dp\": 2, \"zero\": 0, "            \
    "\"micro_batch\": 1, "                                                     \
    "\"grad_accum\": 2, \"global_batch\": 4, \"sequence\": 16, "               \
    "\"precision\": \"bf16\", \"recompute\": \"" recompute                     \
    "\", \"optimizer\": \"adamw\"},\n  \"ranks\": 2,\n  \"ranks_a_file\": "    \
    "2,\n"                                                                     \
    "  \"described\": {\n    \"model\": " MODEL ",\n" changes                  \
    "    \"strategy\": {\"gpus\": \"2\", \"global_batch\": \"4\", "            \
    "\"sequence\": \"16\", " given "\"optimizer\": \"adamw\"}\n  }\n}\n"
    CHECK_STR(text_of("same/synth.json"), MANIFEST("none", "", ""));
    CHECK_STR(text_of("wider/synth.json"),
              MANIFEST("full",
                       "    \"changes\": [{\"hidden\": 128, \"layers\": 2}],\n",
                       "\"recompute\": \"full\", "));
}

/* Factors of durations are not of the traces. */
static void test_job_write__factors(void)
{
    for (int i = 0; i < 6; i++) {
        struct msim_scenario_written *out = NULL;
        struct msim_job_factors *f = &rows[0].change.factors;

        begin();
        w.n = 1;
        snprintf(rows[0].name, sizeof(rows[0].name), "factor %d", i);
        *(i == 0   ? &f->kernels
          : i == 1 ? &f->communication
          : i == 2 ? &f->copies
          : i == 3 ? &f->host
                   : &f->overlap) = i < 4    ? 2
                                    : i == 4 ? 0
                                             : -1;
        f->graph = i == 5;
        REQUIRE(msim_jobs_write(&out, &w, MODEL, folder, &err) == MSIM_OK);
        CHECK_STR(out[0].why, "its changes of durations are not");
        CHECK(out[0].folder != NULL);
        msim_scenarios_written_free(out, w.n);
    }
}

static void test_job_write__refuses(void)
{
    struct msim_scenario_written *out = NULL;

    begin();
    snprintf(rows[1].name, sizeof(rows[1].name), "same");
    CHECK_INT(msim_job_write_look(&w, folder, &err), MSIM_EUSAGE);
    w.n = 1; /* which is alone */
    err = (struct msim_error){0};
    CHECK_INT(msim_job_write_look(&w, folder, &err), MSIM_OK);
    CHECK(unlink(at("same/synth.json")) == 0);
    CHECK(mkdir(at("same/synth.json"), 0700) == 0); /* of somebody else */
    CHECK(msim_jobs_write(&out, &w, MODEL, folder, &err) != MSIM_OK);
    CHECK(out == NULL);
    CHECK(*err.text != '\0');
    forget(at("same"));
}

/* ---- what stands beside traces ------------------------------------------- */

static void put(const char *text)
{
    FILE *f = fopen(at("synth.json"), "w");

    REQUIRE(f);
    fputs(text, f);
    fclose(f);
}

/* Why the folder cannot be read; "": it can, or there is nothing to read. */
static const char *refused(const char *text, bool *is)
{
    struct msim_written_job job;
    enum msim_status status;

    put(text);
    err = (struct msim_error){0};
    status = msim_written_job_open(&job, is, folder, MSIM_DATA, &err);
    CHECK_INT(status != MSIM_OK, *err.text != '\0');
    CHECK(status == MSIM_OK || !*is);
    if (*is)
        msim_written_job_release(&job);
    return err.text;
}

#define JOB(strategy, more)                                                    \
    "{\"described\": {\"model\": " MODEL more ", \"strategy\": {" strategy     \
    "}}, \"ranks_a_file\": 2}"
#define TEN                                                                    \
    "{\"ffn\": 2}, {\"ffn\": 2}, {\"ffn\": 2}, {\"ffn\": 2}, {\"ffn\": 2}, "   \
    "{\"ffn\": 2}, {\"ffn\": 2}, {\"ffn\": 2}, {\"ffn\": 2}, {\"ffn\": 2}"

static void test_written_job__refuses(void)
{
    static const struct {
        const char *text, *why;
        bool is;
    } CASES[] = {
        {JOB("\"gpus\": 4", ""), "", true},
        {"{\"schema\": 1}", "", false}, /* of an older version */
        {"{", NULL, false},
        {JOB("\"gpus\": 3, \"tp\": 2", ""),
         "described: gpus 3 cannot be split by tp x pp x cp 2", false},
        {JOB("\"gpus\": 0", ""), NULL, false},
        {JOB("", ", \"changes\": [{\"hidden\": {\"from\": 63, \"to\": 128}}]"),
         NULL, false},
        {JOB("", ", \"changes\": [{\"hidden\": 128}, {\"layers\": 2}]"), "",
         true},
        {JOB("", ", \"changes\": [{\"other\": 128}]"), NULL, false},
        {JOB("", ", \"changes\": [" TEN ", {\"ffn\": 2}, {\"ffn\": 2}, {"
                 "\"ffn\": 2}, {\"ffn\": 2}, {\"ffn\": 2}, {\"ffn\": 2}]"),
         "", true}, /* sixteen */
        {JOB("", ", \"changes\": [" TEN ", " TEN "]"), NULL, false},
        {"{\"described\": {\"strategy\": {}}}", NULL, false},
    };

    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        bool is = !CASES[i].is;
        const char *why = refused(CASES[i].text, &is);

        if (CASES[i].why)
            CHECK_STR(why, CASES[i].why);
        CHECK_INT(*why == '\0', CASES[i].why && !*CASES[i].why);
        CHECK_INT(is, CASES[i].is);
    }
    CHECK(strstr(refused(JOB("", ", \"changes\": [" TEN ", " TEN "]"),
                         &(bool){false}),
                 "at most 16 changes") != NULL);
}

static void test_written_job__no_file(void)
{
    struct msim_written_job job;
    bool is = true;

    unlink(at("synth.json"));
    CHECK_INT(msim_written_job_open(&job, &is, folder, MSIM_DATA, &err),
              MSIM_OK);
    CHECK(!is);
    CHECK(mkdir(at("synth.json"), 0700) == 0);
    err = (struct msim_error){0};
    CHECK_INT(msim_written_job_open(&job, &is, folder, MSIM_DATA, &err),
              MSIM_EIO);
    CHECK_STR(err.text, "is no regular file, want what synth wrote");
    CHECK(rmdir(at("synth.json")) == 0);
}

/* Ranks, files, GPUs of a node that are stated. */
static void test_written_job__ranks(void)
{
    struct msim_written_job job;
    bool is;

    put(JOB("\"gpus\": 12, \"nodes\": 2", ""));
    CHECK_INT(msim_written_job_open(&job, &is, folder, MSIM_DATA, &err),
              MSIM_OK);
    CHECK_INT(job.source.ranks, 12);
    CHECK_INT(job.source.files, 6);
    CHECK_INT(job.gpus_a_node, 6);
    msim_written_job_release(&job);
    put("{\"described\": {\"model\": " MODEL ", \"strategy\": {\"gpus\": 3}}}");
    CHECK_INT(msim_written_job_open(&job, &is, folder, MSIM_DATA, &err),
              MSIM_OK);
    CHECK_INT(job.source.ranks, 3);
    CHECK_INT(job.source.files, 0); /* nobody says */
    msim_written_job_release(&job);
}

/* One folder alone, which stands for all ranks. */
static void test_written_job__lets_know(void)
{
    const char *paths[] = {folder, folder};
    struct msim_predict_settings s = {.paths = paths, .n_paths = 2};
    struct msim_written_job job;

    put(JOB("\"gpus\": 12, \"nodes\": 2", ""));
    CHECK_INT(msim_written_job_let_know(&job, &s, MSIM_DATA, &err), MSIM_OK);
    CHECK(s.described == NULL && !s.load.stand_for_all);
    msim_written_job_release(&job);
    s.n_paths = 1;
    CHECK_INT(msim_written_job_let_know(&job, &s, MSIM_DATA, &err), MSIM_OK);
    CHECK(s.described == &job.source && s.load.stand_for_all);
    CHECK_INT(s.gpus_a_node, 6);
    msim_written_job_release(&job);
}

/* What measured jobs take is the law's, and the formula's where it is of Adam.
 */
static void test_written_job__asks(void)
{
    struct msim_platform *on = NULL;
    struct msim_measured_step got;
    struct msim_written_job job;
    bool is;

    REQUIRE(msim_platform_load(&on, MSIM_DATA, "a100", &err) == MSIM_OK);
    for (int sgd = 0; sgd < 2; sgd++) {
        struct msim_memory_gpu gpu = {.usable = msim_platform_usable_bytes(on),
                                      .link = msim_platform_link_rate(on)};
        struct msim_pricer pricer = {.platform = on};
        struct msim_step_estimate e;
        struct msim_job_memory m;
        struct msim_strategy s;
        struct msim_terms terms;
        char text[512], why[256];

        put(sgd ? JOB("\"gpus\": 4, \"optimizer\": \"sgd\"", "")
                : JOB("\"gpus\": 4", ""));
        REQUIRE(msim_written_job_open(&job, &is, folder, MSIM_DATA, &err) ==
                MSIM_OK);
        CHECK_INT(job.source.ask(&got, job.source.own, NULL, on, &err),
                  MSIM_OK);
        s = job.is.strategy;
        CHECK(!msim_strategy_complete(&s, job.is.given, &job.is.model, 8, text,
                                      sizeof(text), why, sizeof(why)));
        CHECK_INT(msim_terms_make(&terms, &pricer, &job.is.model, &s, &err),
                  MSIM_OK);
        e = msim_step_predict(&terms, &job.fit);
        m = msim_job_memory_of(&job.is.model, &s, &job.memory, &gpu);
        CHECK_REL(got.us, e.us, 1e-12);
        CHECK_REL(got.low_us, e.low_us, 1e-12);
        CHECK_REL(got.high_us, e.high_us, 1e-12);
        CHECK_REL(got.peak, sgd ? 0 : m.at.most, 1e-12);
        CHECK_REL(got.low_peak, m.low, 1e-12);
        CHECK_REL(got.high_peak, m.high, 1e-12);
        msim_pricer_release(&pricer);
        msim_written_job_release(&job);
    }
    put(JOB("\"precision\": \"fp8\"", ""));
    msim_platform_free(on);
    on = NULL;
    REQUIRE(msim_platform_load(&on, MSIM_DATA, "v100", &err) == MSIM_OK);
    REQUIRE(msim_written_job_open(&job, &is, folder, MSIM_DATA, &err) ==
            MSIM_OK);
    CHECK_INT(job.source.ask(&got, job.source.own, NULL, on, &err),
              MSIM_EUSAGE); /* it has no such type */
    CHECK(*err.text != '\0');
    msim_written_job_release(&job);
    msim_platform_free(on);
}

/* ---- of changed traces --------------------------------------------------- */

/* The changes that synth.json has then; "": there is none. */
static const char *changes_of(const struct msim_written_job *job,
                              const struct msim_reshape *by)
{
    static const struct msim_folder_kind KIND = {"synth.json", "\"schema\""};
    static const struct msim_folder_kinds KINDS = {&KIND, 1};
    const struct msim_step_change change = {.reshape = by};
    static char text[1024];
    const char *begin, *end;
    struct msim_folder f;
    enum msim_status status;

    *text = '\0';
    CHECK_INT(msim_folder_begin(&f, at("changed"), &KINDS, &err), MSIM_OK);
    status = msim_written_job_write(job, &f, &change, 2, &err);
    CHECK_INT(msim_folder_end(&f, status, &err), MSIM_OK);
    if (access(at("changed/synth.json"), F_OK) == 0) {
        begin = text_of("changed/synth.json");
        CHECK(strstr(begin, "\"ranks_a_file\": 2,\n") != NULL);
        begin = strstr(begin, "\"changes\": ");
        end = begin ? strchr(begin, ']') : NULL;
        snprintf(text, sizeof(text), "%.*s",
                 end ? (int)(end - begin) - 11 + 1 : 4,
                 end ? begin + 11 : "none");
    }
    forget(at("changed"));
    return text;
}

static void test_written_job__writes_changed(void)
{
    static const struct msim_reshape
        WIDE = {.sizes = {{MSIM_SIZE_HIDDEN, 64, 128}}, .n_sizes = 1},
        BATCH = {.axes = {{0, 2, false}}, .n_axes = 1},
        TYPE = {.dtype = MSIM_DT_BF16},
        ODD = {.sizes = {{MSIM_SIZE_HEADS, 4, 3}}, .n_sizes = 1};
    struct msim_measured_step got;
    struct msim_platform *on = NULL;
    struct msim_written_job job;
    bool is;

    put(JOB("\"gpus\": 4", ""));
    REQUIRE(msim_written_job_open(&job, &is, folder, MSIM_DATA, &err) ==
            MSIM_OK);
    CHECK_STR(changes_of(&job, &WIDE), "[{\"hidden\": 128}]");
    CHECK_STR(changes_of(&job, &BATCH), "none");
    CHECK_STR(changes_of(&job, &TYPE), ""); /* no description has it */
    CHECK_STR(changes_of(&job, &ODD), "");
    REQUIRE(msim_platform_load(&on, MSIM_DATA, "a100", &err) == MSIM_OK);
    for (int i = 0; i < 2; i++) {
        const struct msim_step_change by = {.reshape = i ? &TYPE : &WIDE};

        CHECK_INT(job.source.ask(&got, job.source.own, &by, on, &err), MSIM_OK);
        CHECK_INT(got.us > 0, !i);
        CHECK_INT(got.peak > 0, !i);
    }
    msim_platform_free(on);
    msim_written_job_release(&job);
    put(JOB("\"gpus\": 4", ", \"changes\": [" TEN ", {\"ffn\": 2}, {\"ffn\": "
                           "2}, {\"ffn\": 2}, {\"ffn\": 2}, {\"ffn\": 2}]"));
    REQUIRE(msim_written_job_open(&job, &is, folder, MSIM_DATA, &err) ==
            MSIM_OK);
    CHECK(strstr(changes_of(&job, &WIDE), "{\"hidden\": 128}]") != NULL);
    msim_written_job_release(&job);
    put(JOB("\"gpus\": 4",
            ", \"changes\": [" TEN ", {\"ffn\": 2}, {\"ffn\": 2}, {\"ffn\": 2}"
            ", {\"ffn\": 2}, {\"ffn\": 2}, {\"ffn\": 2}]"));
    REQUIRE(msim_written_job_open(&job, &is, folder, MSIM_DATA, &err) ==
            MSIM_OK);
    CHECK_STR(changes_of(&job, &WIDE), "");   /* seventeen are too many */
    CHECK(*changes_of(&job, &BATCH) != '\0'); /* these are sixteen */
    msim_written_job_release(&job);
}

int main(void)
{
    if (!mkdtemp(folder))
        return 1;
    RUN(test_job_write__scenarios);
    RUN(test_synth_manifest__whole);
    RUN(test_job_write__factors);
    RUN(test_job_write__refuses);
    RUN(test_written_job__refuses);
    RUN(test_written_job__no_file);
    RUN(test_written_job__ranks);
    RUN(test_written_job__lets_know);
    RUN(test_written_job__asks);
    RUN(test_written_job__writes_changed);
    forget(folder);
    return check_summary();
}
