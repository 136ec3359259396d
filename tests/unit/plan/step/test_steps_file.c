/* plan/step/steps_file.c: a small file of steps, what is refused in it, and
 * predictions by a fit that is made up. */
#include "models/platform/platform.h"
#include "plan/memory/job_memory.h"
#include "plan/step/step_law.h"
#include "tests/check.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

static struct msim_error err;
static struct msim_step_fit fit;

/* ---- the file ------------------------------------------------------------ */

static const char *const CLASSES[] = {"experts",
                                      "experts, unlike all rows",
                                      "unfused",
                                      "unfused, unlike all rows",
                                      "8 or 4 bits",
                                      "8 or 4 bits, unlike all rows",
                                      "sharded",
                                      "sharded, unlike all rows",
                                      "usual, in stages",
                                      "usual, in stages, unlike all rows",
                                      "usual",
                                      "usual, unlike all rows"};

static void add_row(cJSON *rows, int n, double first)
{
    cJSON *row = cJSON_CreateArray();

    for (int i = 0; i < n; i++)
        cJSON_AddItemToArray(row, cJSON_CreateNumber(first + i));
    cJSON_AddItemToArray(rows, row);
}

/* Constants 0, 1, 2, ...; factors 1, 2, ... below and 11, 12, ... above; two
 * sources; two rows, the greater kind first. */
static cJSON *made_fit(const char *without)
{
    cJSON *object = cJSON_CreateObject(), *to, *rows;

    cJSON_AddStringToObject(object, "without", without);
    to = cJSON_AddObjectToObject(object, "constants");
    for (uint32_t i = 0; i < MSIM_STEP_CONSTANTS; i++)
        cJSON_AddNumberToObject(to, msim_step_constant_text(i), i);
    to = cJSON_AddObjectToObject(object, "interval");
    for (int i = 0; i < MSIM_STEP_CLASSES; i++) {
        cJSON *class = cJSON_AddObjectToObject(to, CLASSES[i]);

        cJSON_AddNumberToObject(class, "low", 1 + i);
        cJSON_AddNumberToObject(class, "high", 11 + i);
    }
    to = cJSON_AddArrayToObject(object, "sources");
    cJSON_AddItemToArray(to, cJSON_CreateString("tables"));
    cJSON_AddItemToArray(to, cJSON_CreateString("reports"));
    rows = cJSON_AddArrayToObject(object, "rows");
    add_row(rows, 9, 500);
    add_row(rows, 9, 20);
    return object;
}

static cJSON *made_file(void)
{
    cJSON *json = cJSON_CreateObject();
    cJSON *fits = cJSON_AddArrayToObject(json, "fits");

    cJSON_AddItemToArray(fits, made_fit("tables"));
    cJSON_AddItemToArray(fits, made_fit(""));
    cJSON_AddItemToArray(fits, made_fit("reports"));
    return json;
}

static cJSON *child(cJSON *of, const char *key)
{
    return cJSON_GetObjectItem(of, key);
}

static enum msim_status read_it(const cJSON *json, const char *without)
{
    msim_step_fit_release(&fit);
    err = (struct msim_error){0};
    return msim_step_fit_of(&fit, json, "s.json", without, &err);
}

static void test_steps_file__is_read(void)
{
    cJSON *json = made_file();
    const double *constants = (const double *)&fit.constants;

    REQUIRE(read_it(json, NULL) == MSIM_OK);
    for (uint32_t i = 0; i < MSIM_STEP_CONSTANTS; i++)
        CHECK_REL(constants[i], i, 0);
    for (int i = 0; i < MSIM_STEP_CLASSES; i++) {
        CHECK_STR(msim_step_class_text((enum msim_step_class)i), CLASSES[i]);
        CHECK_REL(fit.low[i], 1 + i, 0);
        CHECK_REL(fit.high[i], 11 + i, 0);
    }
    CHECK_INT(fit.n_sources, 2);
    CHECK(msim_step_fit_uses(&fit, "tables"));
    CHECK(msim_step_fit_uses(&fit, "reports"));
    CHECK(!msim_step_fit_uses(&fit, "table"));
    REQUIRE(fit.n_rows == 2); /* by kind */
    CHECK_INT(fit.rows[0].kind, 20);
    CHECK_INT(fit.rows[0].format, 21);
    for (int i = 0; i < MSIM_NEIGHBOUR_SIZES; i++)
        CHECK_REL(fit.rows[0].size[i], 22 + i, 0);
    CHECK_REL(fit.rows[0].residual, 28, 0);
    CHECK_INT(fit.rows[1].kind, 500);
    msim_step_fit_release(&fit);
    CHECK(!fit.rows);
    CHECK_INT(fit.n_rows, 0);
    cJSON_Delete(json);
}

/* The fit without a source, by its name. */
static void test_steps_file__has_a_fit_without(void)
{
    cJSON *json = made_file(), *last;

    last = cJSON_GetArrayItem(child(json, "fits"), 2);
    cJSON_SetNumberValue(child(child(last, "constants"), "linear"), 70);
    CHECK_INT(read_it(json, "reports"), MSIM_OK);
    CHECK_REL(fit.constants.linear, 70, 0);
    CHECK_INT(read_it(json, ""), MSIM_OK);
    CHECK_REL(fit.constants.linear, 0, 0);
    CHECK_INT(read_it(json, "logs"), MSIM_EUNKNOWN);
    CHECK_STR(err.text, "no fit is without the rows of 'logs', want one of: "
                        "tables reports");
    CHECK(!fit.rows);
    cJSON_DeleteItemFromObject(json, "fits");
    CHECK_INT(read_it(json, NULL), MSIM_EUNKNOWN);
    CHECK_STR(err.text, "no fit is without the rows of '', want one of:");
    cJSON_Delete(json);
}

static void check_wrong(const cJSON *json, const char *what)
{
    char want[128];

    CHECK_INT(read_it(json, ""), MSIM_EFORMAT);
    snprintf(want, sizeof(want),
             "%s is missing or no number above 0; run msim-fit-steps", what);
    CHECK_STR(err.text, want);
    CHECK_STR(err.file, "s.json");
}

static void test_steps_file__refuses(void)
{
    for (uint32_t i = 0; i < MSIM_STEP_CONSTANTS; i++)
        for (int way = 0; way < 2; way++) {
            cJSON *json = made_file();
            cJSON *of =
                child(cJSON_GetArrayItem(child(json, "fits"), 1), "constants");

            if (way)
                cJSON_DeleteItemFromObject(of, msim_step_constant_text(i));
            else
                cJSON_SetNumberValue(child(of, msim_step_constant_text(i)),
                                     -0.1);
            check_wrong(json, msim_step_constant_text(i));
            cJSON_Delete(json);
        }
    for (int i = 0; i < MSIM_STEP_CLASSES; i++)
        for (int way = 0; way < 4; way++) {
            cJSON *json = made_file();
            cJSON *of = child(
                child(cJSON_GetArrayItem(child(json, "fits"), 1), "interval"),
                CLASSES[i]);
            const char *key = way % 2 ? "low" : "high";

            if (way / 2)
                cJSON_DeleteItemFromObject(of, key);
            else
                cJSON_SetNumberValue(child(of, key), 0.99);
            check_wrong(json, CLASSES[i]);
            cJSON_Delete(json);
        }
    for (int n = 8; n <= 10; n += 2) { /* a row has nine numbers */
        cJSON *json = made_file();

        add_row(child(cJSON_GetArrayItem(child(json, "fits"), 1), "rows"), n,
                1);
        check_wrong(json, "a row");
        cJSON_Delete(json);
    }
}

/* Sources are 12 at most, of 47 letters; what is no text is left out. */
static void test_steps_file__has_sources(void)
{
    cJSON *json = made_file();
    cJSON *list = child(cJSON_GetArrayItem(child(json, "fits"), 1), "sources");

    cJSON_AddItemToArray(list, cJSON_CreateNumber(3));
    for (int i = 0; i < 11; i++) {
        char name[64];

        snprintf(name, sizeof(name), "%050d", i + 1000);
        cJSON_AddItemToArray(list, cJSON_CreateString(name));
    }
    REQUIRE(read_it(json, "") == MSIM_OK);
    CHECK_INT(fit.n_sources, 12);
    CHECK_INT(strlen(fit.sources[2]), 47);
    CHECK(msim_step_fit_uses(&fit, "reports"));
    cJSON_DeleteItemFromObject(cJSON_GetArrayItem(child(json, "fits"), 1),
                               "rows");
    CHECK_INT(read_it(json, ""), MSIM_OK); /* none are there */
    CHECK_INT(fit.n_rows, 0);
    cJSON_Delete(json);
}

/* Both fits of what is shipped, or one of them. */
static void test_steps_file__is_shipped(void)
{
    struct msim_memory_fit memory, alone;
    struct msim_step_fit step = {0};

    REQUIRE(msim_steps_read(&step, &memory, MSIM_DATA, NULL, &err) == MSIM_OK);
    CHECK(step.n_rows > 0 && step.n_sources > 0);
    CHECK(step.constants.linear > 0);
    memset(&alone, 0xff, sizeof(alone));
    CHECK_INT(msim_steps_read(NULL, &alone, MSIM_DATA, NULL, &err), MSIM_OK);
    CHECK(memcmp(&alone, &memory, sizeof(alone)) == 0);
    msim_step_fit_release(&step);
    err = (struct msim_error){0};
    CHECK_INT(msim_steps_read(&step, NULL, MSIM_DATA, "nobody", &err),
              MSIM_EUNKNOWN);
    CHECK(!step.rows);
    err = (struct msim_error){0};
    memset(&step, 0xff, sizeof(step));
    CHECK_INT(msim_steps_read(&step, NULL, MSIM_DATA "/no", NULL, &err),
              MSIM_EIO);
    CHECK(!step.rows);
    CHECK_REL(step.constants.linear, 0, 0);
    CHECK(strstr(err.file, "/no/laws/steps.json") != NULL);
}

static bool same_fit(const struct msim_step_fit *a,
                     const struct msim_step_fit *b)
{
    return memcmp(&a->constants, &b->constants, sizeof(a->constants)) == 0 &&
           memcmp(a->low, b->low, sizeof(a->low)) == 0 &&
           memcmp(a->high, b->high, sizeof(a->high)) == 0 &&
           a->n_sources == b->n_sources &&
           memcmp(a->sources, b->sources, sizeof(a->sources)) == 0 &&
           a->n_rows == b->n_rows &&
           (a->n_rows == 0 ||
            memcmp(a->rows, b->rows, a->n_rows * sizeof(*a->rows)) == 0);
}

/* Where names.csv knows the file, only the fit that is asked for is read: it is
 * that of a file which nobody knows. */
static void test_steps_file__one_fit_is_read(void)
{
    static const char *const WITHOUT[] = {NULL, "llm-foundry", "nanotron",
                                          "training_steps", "nobody"};
    char folder[] = "msim-test-steps-XXXXXX", laws[64];

    CHECK(!msim_steps_are_shipped(MSIM_DATA, 1));
    REQUIRE(mkdtemp(folder) != NULL);
    snprintf(laws, sizeof(laws), "%s/laws", folder);
    REQUIRE(symlink(MSIM_DATA "/laws", laws) == 0);
    for (size_t i = 0; i < sizeof(WITHOUT) / sizeof(*WITHOUT); i++) {
        struct msim_step_fit a, b;
        struct msim_memory_fit m, n;
        struct msim_error why = {0};
        enum msim_status status;

        err = (struct msim_error){0};
        status = msim_steps_read(&a, &m, MSIM_DATA, WITHOUT[i], &err);
        CHECK_INT(msim_steps_read(&b, &n, folder, WITHOUT[i], &why), status);
        CHECK_INT(status, i < 4 ? MSIM_OK : MSIM_EUNKNOWN);
        CHECK_STR(err.text, why.text);
        CHECK(same_fit(&a, &b) && memcmp(&m, &n, sizeof(m)) == 0);
        msim_step_fit_release(&a);
        msim_step_fit_release(&b);
    }
    unlink(laws);
    rmdir(folder);
}

/* ---- classes ------------------------------------------------------------- */

/* A usual job; hidden size 2, all else 1. */
static struct msim_terms terms(void)
{
    struct msim_terms t = {.hidden = 2,
                           .sequence = 1,
                           .micro_batch = 1,
                           .first_layers = 1,
                           .middle_layers = 1,
                           .last_layers = 1,
                           .layers = 1,
                           .pp = 1,
                           .vp = 1,
                           .micro_batches = 1,
                           .dp = 1,
                           .tp = 1,
                           .ep = 1,
                           .flops = 6e12};

    t.at[MSIM_PLACE_LAYER].us[MSIM_PART_OP_LINEAR][MSIM_PASS_FORWARD] = 1000;
    return t;
}

/* The first that fits; 0.3 of evidence is enough. */
static void test_steps_file__classes(void)
{
    struct msim_terms t = terms();

    CHECK_INT(msim_step_class_of(&t), MSIM_STEP_CLASS_USUAL);
    CHECK_INT(msim_step_class_by(&t, 0.3), MSIM_STEP_CLASS_USUAL);
    CHECK_INT(msim_step_class_by(&t, 0.29), MSIM_STEP_CLASS_USUAL_FAR);
    t.pp = 2;
    CHECK_INT(msim_step_class_of(&t), MSIM_STEP_CLASS_STAGED);
    t.zero = 1;
    CHECK_INT(msim_step_class_of(&t), MSIM_STEP_CLASS_STAGED);
    t.zero = 2;
    CHECK_INT(msim_step_class_of(&t), MSIM_STEP_CLASS_SHARDED);
    t.narrow = true;
    CHECK_INT(msim_step_class_of(&t), MSIM_STEP_CLASS_NARROW);
    t.unfused = true;
    CHECK_INT(msim_step_class_of(&t), MSIM_STEP_CLASS_UNFUSED);
    t.at[MSIM_PLACE_LAYER].us[MSIM_PART_OP_EXPERT][MSIM_PASS_FORWARD] = 0.5;
    CHECK_INT(msim_step_class_of(&t), MSIM_STEP_CLASS_EXPERTS);
    CHECK_INT(msim_step_class_by(&t, 0), MSIM_STEP_CLASS_EXPERTS_FAR);
}

/* ---- predictions --------------------------------------------------------- */

/* Every constant 1, what hides or waits 0; factors 2, 3, ... and 22, 23, ... */
static struct msim_step_fit made(void)
{
    struct msim_step_fit f = {0};
    double *constants = (double *)&f.constants;

    for (size_t i = 0; i < MSIM_STEP_CONSTANTS; i++)
        constants[i] = 1;
    f.constants.hidden = f.constants.hidden_waits = 0;
    for (int i = 0; i < MSIM_STEP_CLASSES; i++) {
        f.low[i] = 2 + i;
        f.high[i] = 22 + i;
    }
    return f;
}

/* A row of the job itself draws the law's time towards what it took: of 1 +
 * 0.3, which says nothing. */
static void test_steps_file__predicts(void)
{
    struct msim_step_fit f = made();
    struct msim_terms t = terms();
    struct msim_neighbour row = msim_neighbour_of(&t);
    struct msim_step_estimate e;
    struct msim_step_parts parts;
    double us = msim_step_us(&t, &f.constants, &parts), factor;

    row.residual = 0.65f;
    f.low[MSIM_STEP_CLASS_EXPERTS_FAR] = 99; /* it is none */
    f.rows = &row;
    f.n_rows = 1;
    factor = exp((double)row.residual / 1.3);
    e = msim_step_predict(&t, &f);
    CHECK(e.near);
    CHECK_REL(e.correction, factor, 1e-12);
    CHECK_REL(e.us, us * factor, 1e-12);
    CHECK(parts.compute > 0);
    CHECK_REL(e.parts.compute, parts.compute * factor, 1e-12);
    CHECK_REL(e.parts.optimizer, parts.optimizer * factor, 1e-12);
    CHECK_REL(e.flops, 6e12, 0);
    CHECK_INT(e.class, MSIM_STEP_CLASS_USUAL);
    CHECK_REL(e.low_us, e.us / (2 + MSIM_STEP_CLASS_USUAL), 1e-12);
    CHECK_REL(e.high_us, e.us * (22 + MSIM_STEP_CLASS_USUAL), 1e-12);
}

/* Unlike all rows: the widest interval of what it is, with the network's on the
 * share of gradients. */
static void test_steps_file__predicts_far_from_rows(void)
{
    struct msim_step_fit f = made();
    struct msim_terms t = terms();
    struct msim_step_estimate e;
    double network;

    t.unfused = t.narrow = true; /* 3 and 5 */
    e = msim_step_predict(&t, &f);
    CHECK(!e.near);
    CHECK_REL(e.correction, 1, 0);
    CHECK_INT(e.class, MSIM_STEP_CLASS_UNFUSED_FAR);
    CHECK_REL(e.us / e.low_us, 2 + MSIM_STEP_CLASS_NARROW_FAR, 1e-12);
    CHECK_REL(e.high_us / e.us, 22 + MSIM_STEP_CLASS_NARROW_FAR, 1e-12);
    f.low[MSIM_STEP_CLASS_UNFUSED_FAR] = 50;
    f.high[MSIM_STEP_CLASS_UNFUSED_FAR] = 60;
    t.dp = 8;
    t.sum_us = 500;
    t.network_log = 0.7;
    e = msim_step_predict(&t, &f);
    CHECK(e.parts.gradients > 0);
    network = 0.7 * e.parts.gradients / e.us;
    CHECK_REL(log(e.us / e.low_us), hypot(log(50), network), 1e-12);
    CHECK_REL(log(e.high_us / e.us), hypot(log(60), network), 1e-12);
    t.at[MSIM_PLACE_LAYER].us[MSIM_PART_OP_EXPERT][0] = 1; /* below both */
    e = msim_step_predict(&t, &f);
    CHECK_INT(e.class, MSIM_STEP_CLASS_EXPERTS_FAR);
    network = 0.7 * e.parts.gradients / e.us;
    CHECK_REL(log(e.us / e.low_us), hypot(log(50), network), 1e-12);
    /* intervals of what it is not do not count */
    f.low[MSIM_STEP_CLASS_EXPERTS_FAR] = 2;
    f.low[MSIM_STEP_CLASS_USUAL_FAR] = 70; /* it is not usual */
    e = msim_step_predict(&t, &f);
    CHECK_REL(log(e.us / e.low_us), hypot(log(50), network), 1e-12);
}

/* FLOPs of a second over those of the data sheet, in the type of products. */
static void test_steps_file__utilisation(void)
{
    struct msim_step_estimate e = {.us = 2e6, .flops = 1e15};
    struct msim_strategy s = {.precision = MSIM_PRECISION_BF16};
    struct msim_platform *on;

    REQUIRE(msim_platform_load(&on, MSIM_DATA, "h100", &err) == MSIM_OK);
    CHECK_REL(msim_step_mfu(&e, on, &s),
              5e14 / msim_platform_peak_flops(on, MSIM_DT_BF16, NULL), 1e-12);
    s.precision = MSIM_PRECISION_FP8;
    CHECK_REL(msim_step_mfu(&e, on, &s),
              5e14 / msim_platform_peak_flops(on, MSIM_DT_F8, NULL), 1e-12);
    s.precision = MSIM_PRECISION_FP32;
    CHECK_REL(msim_step_mfu(&e, on, &s),
              5e14 / msim_platform_peak_flops(on, MSIM_DT_F32, NULL), 1e-12);
    s.precision = MSIM_PRECISION_TF32;
    CHECK_REL(msim_step_mfu(&e, on, &s),
              5e14 / msim_platform_peak_flops(on, MSIM_DT_F32, "tf32"), 1e-12);
    msim_platform_free(on);
}

/* A ratio of 2 of which corrections make a factor of 1.1 is 2 / 1.1 without;
 * below 5 % there is nothing to say. */
static void test_steps_file__ratios(void)
{
    double low = 1.9, high = 2.1;

    CHECK(!msim_step_ratio_widen(exp(0.0499), 2, &low, &high));
    CHECK(!msim_step_ratio_widen(exp(-0.0499), 2, &low, &high));
    CHECK_REL(low, 1.9, 0);
    CHECK_REL(high, 2.1, 0);
    CHECK(msim_step_ratio_widen(1.1, 2, &low, &high));
    CHECK_REL(low, 2 / 1.1, 1e-12);
    CHECK_REL(high, 2.1, 0);
    CHECK(msim_step_ratio_widen(0.8, 2, &low, &high));
    CHECK_REL(low, 2 / 1.1, 1e-12);
    CHECK_REL(high, 2.5, 1e-12);
}

int main(void)
{
    RUN(test_steps_file__is_read);
    RUN(test_steps_file__has_a_fit_without);
    RUN(test_steps_file__refuses);
    RUN(test_steps_file__has_sources);
    RUN(test_steps_file__is_shipped);
    RUN(test_steps_file__one_fit_is_read);
    RUN(test_steps_file__classes);
    RUN(test_steps_file__predicts);
    RUN(test_steps_file__predicts_far_from_rows);
    RUN(test_steps_file__utilisation);
    RUN(test_steps_file__ratios);
    msim_step_fit_release(&fit);
    return check_summary();
}
