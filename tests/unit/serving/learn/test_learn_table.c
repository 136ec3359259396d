/* serving/learn/learn_table.c and learn_fit.c: what came after each second of
 * runs that are written down, and which rows a fit wants and takes. */
#include "serving/draw/random.h"
#include "serving/learn/learn_table.h"
#include "serving/watch/watch_model.h"
#include "tests/unit/serving/made_app.h"

#include <math.h>

#define HORIZON 2.0

static struct msim_stage stages[] = {{.name = "web", .replicas = 1},
                                     {.name = "db", .replicas = 3}};
static const struct msim_app_class classes[] = {{.name = "all", .share = 1}};
static const struct msim_promise promises[] = {
    {MSIM_CLASS_ALL, MSIM_PROMISE_E2E, 99, 10}};
static const struct msim_app app = {.path = "app.json",
                                    .name = "shop",
                                    .promises = promises,
                                    .n_promises = 1,
                                    .classes = classes,
                                    .n_classes = 1,
                                    .stages = stages,
                                    .n_stages = 2};
static struct msim_runs_table t;
static struct msim_error err;

/* A run of which a second is a row: its p99, and replicas of both stages. */
static const struct {
    double p99;
    int web, db;
} SECONDS[] = {{5, 1, 3},  {5, 1, 3}, {20, 1, 3}, {10, 1, 3}, {5, 1, 3},
               {40, 1, 3}, {5, 2, 2}, {5, 2, 2},  {5, 2, 2}};
enum { N = sizeof(SECONDS) / sizeof(*SECONDS) };

static void put_run(const char *name)
{
    FILE *f = fopen(made_path(name), "w");

    REQUIRE(f);
    fputs("t,stage,arrivals,replicas,p99_ms\n", f);
    for (int i = 0; i < N; i++)
        fprintf(f, "%d,web,10,%d,3\n%d,db,20,%d,4\n%d,e2e,10,,%g\n", i + 1,
                SECONDS[i].web, i + 1, SECONDS[i].db, i + 1, SECONDS[i].p99);
    fclose(f);
}

/* Of seconds 1 to 9, with two to foresee: the third violates, the fourth is at
 * the limit, the sixth violates; a replica moves behind it, which leaves their
 * number as it was. */
static void check_seconds(uint32_t first, uint32_t run, uint32_t part)
{
    static const double CAME[N] = {1, 1, 0, 1, 1, 0, 0, NAN, NAN};
    static const bool STEADY[N] = {true,  true, true, true, false,
                                   false, true, true, true};

    for (uint32_t i = 0; i < N; i++) {
        const struct msim_runs_row *r = msim_runs_row(&t, first + i);

        CHECK_INT(r->run, run);
        CHECK_INT(r->part, part);
        CHECK_REL(r->t, i + 1, 1e-9);
        CHECK(fabs(r->log_p99 - log(SECONDS[i].p99 / 10)) < 1e-9);
        CHECK(isnan(CAME[i]) ? isnan(r->violation) : r->violation == CAME[i]);
        CHECK_INT(r->steady, STEADY[i]);
        CHECK_INT(r->calm, STEADY[i] && SECONDS[i].p99 <= 10);
        CHECK(i + 1 < N ? fabs(r->next - log(SECONDS[i + 1].p99 / 10)) < 1e-9
                        : isnan(r->next));
    }
}

/* Files that end in .csv, by name; others are none of it. */
static void test_learn_table__runs(void)
{
    static const char *const NAMES[] = {"b.csv", "a.csv", ".c.csv",
                                        "d.txt", ".csv",  NULL};
    uint32_t n;

    t = (struct msim_runs_table){.width = msim_runs_width(&app, true),
                                 .part = MSIM_NONE};
    CHECK_INT(t.width,
              MSIM_FEATURES + 2 * MSIM_STAGE_FEATURES + MSIM_E2E_FEATURES);
    CHECK_INT(msim_runs_width(&app, false), MSIM_FEATURES);
    CHECK_INT(
        msim_runs_add_folder(&t, &app, NULL, made_path(""), HORIZON, &n, &err),
        MSIM_EFORMAT);
    CHECK_STR(err.text, "no file ends in .csv, want counters of runs");
    for (int i = 0; NAMES[i]; i++)
        put_run(NAMES[i]);
    err = (struct msim_error){0};
    CHECK_INT(
        msim_runs_add_folder(&t, &app, NULL, made_path(""), HORIZON, &n, &err),
        MSIM_OK);
    CHECK_STR(err.text, "");
    CHECK_INT(n, 2);
    CHECK_INT(t.n_runs, 2);
    REQUIRE(t.rows.n == 2 * N);
    check_seconds(0, 0, 0);
    check_seconds(N, 1, 1);
    t.part = 7;
    CHECK_INT(
        msim_runs_add_run(&t, &app, NULL, made_path("a.csv"), HORIZON, &err),
        MSIM_OK);
    REQUIRE(t.rows.n == 3 * N);
    check_seconds(2 * N, 2, 7);
    /* 10 requests a second of one replica, 20 of three. */
    CHECK_REL(msim_runs_x(&t, 4)[MSIM_FEATURES + MSIM_STAGE_FEATURE_RATE],
              log(10), 1e-6);
    CHECK_REL(
        msim_runs_x(
            &t,
            4)[MSIM_FEATURES + MSIM_STAGE_FEATURES + MSIM_STAGE_FEATURE_RATE],
        log(20.0 / 3), 1e-6);
    CHECK_REL(
        msim_runs_x(
            &t, 4)[t.width - MSIM_E2E_FEATURES + MSIM_E2E_FEATURE_RATE_LAST],
        log(10), 1e-6);
    CHECK_INT(t.x.n, 3 * N * t.width);
    for (int i = 0; NAMES[i]; i++)
        CHECK(remove(made_path(NAMES[i])) == 0);
    CHECK_INT(
        msim_runs_add_folder(&t, &app, NULL, made_path("x"), HORIZON, &n, &err),
        MSIM_EIO);
    CHECK_INT(n, 0);
    msim_runs_table_release(&t);
    CHECK(!t.rows.data && !t.x.data);
}

/* `n` seconds of four runs. Before every fourth a violation comes, which the
 * busy workers of db tell, and its queue half as well; the second run moves a
 * replica in every fifth. */
static void make_table(uint32_t n)
{
    struct msim_random r = msim_random_of(1, 2, 3);

    t = (struct msim_runs_table){.width = msim_runs_width(&app, true),
                                 .n_runs = 4};
    for (uint32_t i = 0; i < n; i++) {
        struct msim_runs_row *row = msim_vec_add(&t.rows, sizeof(*row));
        double yes = i % 4 == 1;

        if (!CHECK(row != NULL))
            return;
        *row = (struct msim_runs_row){.run = i * 4 / n,
                                      .part = i * 4 / n,
                                      .log_p99 = -1,
                                      .violation = yes,
                                      .next = -0.5,
                                      .steady = true,
                                      .calm = i % 8 != 0};
        for (uint32_t k = 0; k < t.width; k++) {
            double *x = msim_vec_add(&t.x, sizeof(*x));

            if (!CHECK(x != NULL))
                return;
            *x = msim_random_unit(&r);
            if (k ==
                MSIM_FEATURES + MSIM_STAGE_FEATURES + MSIM_STAGE_FEATURE_BUSY)
                *x = 0.05 * *x - yes; /* the less the worse: no matter */
            else if (k == MSIM_FEATURES + MSIM_STAGE_FEATURES +
                              MSIM_STAGE_FEATURE_DRAIN)
                *x += yes;
        }
    }
}

static const char *fit(uint32_t held, uint32_t of, cJSON **model)
{
    enum msim_status status;

    err = (struct msim_error){0};
    status = msim_runs_fit(model, &t, &app, held, of, HORIZON, &err);
    CHECK_INT(status, err.status);
    CHECK(status == MSIM_OK || !*model);
    return err.text;
}

static void test_learn_fit__wants_both_kinds(void)
{
    struct msim_runs_row *r;
    cJSON *model = NULL;

    make_table(199);
    CHECK_STR(fit(0, 0, &model), "199 seconds to learn from, 50 of them before "
                                 "a violation: want 200 or more, and both "
                                 "kinds");
    msim_runs_table_release(&t);
    make_table(201);
    r = t.rows.data;
    r[0].steady = r[1].steady = false; /* the first is not, the second is */
    CHECK_STR(fit(0, 0, &model), "199 seconds to learn from, 49 of them before "
                                 "a violation: want 200 or more, and both "
                                 "kinds");
    r[0].steady = r[1].steady = true;
    r[4].violation = NAN; /* the run has ended */
    CHECK_STR(fit(0, 0, &model), "");
    cJSON_Delete(model);
    r[4].violation = 0;
    CHECK_STR(fit(3, 4, &model), "151 seconds to learn from, 38 of them before "
                                 "a violation: want 200 or more, and both "
                                 "kinds");
    for (uint32_t i = 0; i < t.rows.n; i++)
        r[i].violation = 0;
    CHECK_STR(fit(0, 0, &model), "201 seconds to learn from, 0 of them before "
                                 "a violation: want 200 or more, and both "
                                 "kinds");
    for (uint32_t i = 0; i < t.rows.n; i++)
        r[i].violation = 1;
    CHECK_STR(fit(0, 0, &model), "201 seconds to learn from, 201 of them "
                                 "before a violation: want 200 or more, and "
                                 "both kinds");
    msim_runs_table_release(&t);
}

/* The numbers that tell most come first, whichever way. What the model says of
 * the rows is what came. */
static void test_learn_fit__finds_what_tells(void)
{
    struct msim_watch_model m;
    cJSON *model = NULL;

    make_table(400);
    CHECK_STR(fit(0, 0, &model), "");
    REQUIRE(model != NULL);
    CHECK_STR(msim_json_get_text(model, "app"), "shop");
    CHECK_REL(msim_json_get_number(model, "horizon_s", 0), HORIZON, 0);
    CHECK_INT(msim_watch_model_parse(&m, model, "m", &app, &err), MSIM_OK);
    /* of 8: of recorded runs alone; and all of e2e */
    REQUIRE(m.n_columns == 7 + MSIM_E2E_FEATURES);
    for (uint32_t f = 0; f < MSIM_E2E_FEATURES; f++)
        CHECK(m.columns[7 + f].stage == 2 && m.columns[7 + f].feature == f);
    CHECK_INT(m.columns[0].stage, 1);
    CHECK_INT(m.columns[0].feature, MSIM_STAGE_FEATURE_BUSY);
    CHECK_INT(m.columns[1].stage, 1);
    CHECK_INT(m.columns[1].feature, MSIM_STAGE_FEATURE_DRAIN);
    for (uint32_t i = 0; i < 8; i++) {
        const double *from = msim_runs_x(&t, i);
        double x[MSIM_WATCH_COLUMNS_MAX];

        memcpy(x, from, MSIM_FEATURES * sizeof(*x));
        for (uint32_t k = 0; k < m.n_columns; k++)
            x[MSIM_FEATURES + k] = from[msim_runs_column(m.columns[k])];
        CHECK_INT(msim_forest_eval(&m.violation, x) > 0, i % 4 == 1);
    }
    msim_watch_model_release(&m);
    cJSON_Delete(model);
    msim_runs_table_release(&t);
}

/* Four runs are held back once each. A p99 of e^-1 limits becomes one of e^-0.5
 * limits in all of them: a guess of the last one is off by 1 - e^-0.5, one of
 * the usual is right. Trees tell both kinds apart. */
static void test_learn_fit__judges(void)
{
    struct msim_runs_figures f;
    struct msim_runs_row *r;

    make_table(800);
    r = t.rows.data;
    r[9].next = NAN;
    r[10].log_p99 = NAN;
    r[17].violation = NAN;
    err = (struct msim_error){0};
    CHECK_INT(msim_runs_judge(&f, &t, &app, 4, HORIZON, &err), MSIM_OK);
    CHECK_STR(err.text, "");
    CHECK_INT(f.runs, 4);
    CHECK_INT(f.parts, 4);
    CHECK_INT(f.seconds, 798);
    CHECK_INT(f.calm, 700 - 1);
    CHECK_INT(f.violating, 200 - 1);
    CHECK(f.auc > 0.99);
    CHECK(fabs(f.auc_last - 0.5) < 0.01);
    CHECK(fabs(f.calibration_majority) < 0.01); /* a share, of the same share */
    CHECK(f.calibration < 0.1);
    CHECK_REL(f.p99_last, 1 - exp(-0.5), 1e-9);
    CHECK(fabs(f.p99_majority) < 1e-9);
    msim_runs_table_release(&t);
}

/* Simulated rows teach, and are neither judged nor counted as what there is to
 * learn from. Where there are any, trees may split all numbers of stages. */
static void test_learn_fit__judges_what_was_recorded(void)
{
    struct msim_runs_figures f;
    struct msim_runs_row *r;
    cJSON *model = NULL;

    make_table(800);
    t.n_simulated = 9;
    r = t.rows.data;
    for (uint32_t i = 200; i < 800; i++) {
        r[i].simulated = true;
        r[i].part = 0;
    }
    for (uint32_t i = 0; i < 200; i++)
        r[i].part = i / 100;
    r[1].log_p99 = NAN; /* nothing is known of the last p99 */
    err = (struct msim_error){0};
    CHECK_INT(msim_runs_judge(&f, &t, &app, 2, HORIZON, &err), MSIM_EFORMAT);
    CHECK_STR(err.text, "100 seconds to learn from, 25 of them before a "
                        "violation: want 200 or more, and both kinds");
    CHECK_STR(fit(0, 0, &model), "");
    CHECK_INT(
        cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(model, "columns")),
        2 * MSIM_STAGE_FEATURES + MSIM_E2E_FEATURES);
    cJSON_Delete(model);
    for (uint32_t i = 200; i < 400; i++) {
        r[i].simulated = false;
        r[i].part = 1;
    }
    for (uint32_t i = 0; i < 200; i++)
        r[i].part = 0;
    err = (struct msim_error){0};
    CHECK_INT(msim_runs_judge(&f, &t, &app, 2, HORIZON, &err), MSIM_OK);
    CHECK_STR(err.text, "");
    CHECK_INT(f.simulated, 9);
    CHECK(f.calm > 0 && f.calm <= 400 && f.seconds <= 400);
    msim_runs_table_release(&t);
}

/* The next p99 is e^-0.3 limits in recorded seconds, and e^-0.5 in three times
 * as many simulated ones: trees say what it was in recorded ones. */
static void test_learn_fit__ends_with_what_was_recorded(void)
{
    struct msim_watch_model m;
    struct msim_runs_row *r;
    cJSON *model = NULL;
    double said = 0;

    make_table(800);
    r = t.rows.data;
    for (uint32_t i = 0; i < 800; i++) {
        r[i].simulated = i >= 200;
        r[i].next = i < 200 ? -0.3 : -0.5;
    }
    CHECK_STR(fit(0, 0, &model), "");
    CHECK_INT(msim_watch_model_parse(&m, model, "m", &app, &err), MSIM_OK);
    for (uint32_t i = 0; i < 200; i++) {
        const double *from = msim_runs_x(&t, i);
        double x[MSIM_WATCH_COLUMNS_MAX];

        memcpy(x, from, MSIM_FEATURES * sizeof(*x));
        for (uint32_t k = 0; k < m.n_columns; k++)
            x[MSIM_FEATURES + k] = from[msim_runs_column(m.columns[k])];
        said += log(msim_watch_model_next(&m, x, 1)) / 200;
    }
    CHECK(fabs(said + 0.3) < 0.03);
    msim_watch_model_release(&m);
    cJSON_Delete(model);
    msim_runs_table_release(&t);
}

int main(void)
{
    made_begin();
    RUN(test_learn_table__runs);
    RUN(test_learn_fit__wants_both_kinds);
    RUN(test_learn_fit__finds_what_tells);
    RUN(test_learn_fit__judges);
    RUN(test_learn_fit__judges_what_was_recorded);
    RUN(test_learn_fit__ends_with_what_was_recorded);
    CHECK(rmdir(made_folder) == 0);
    return check_summary();
}
