/*
 * Three times side by side, and the machine's figures of both files.
 */
#include "replay/validate/validation.h"

#include "tests/check.h"

#include <math.h>
#include <string.h>

static const struct msim_validation_row *find(const struct msim_validation *v,
                                              const char *name)
{
    for (uint32_t i = 0; i < v->n; i++)
        if (strcmp(v->rows[i].name, name) == 0)
            return &v->rows[i];
    return NULL;
}

static void set(struct msim_system_figures *s, const char *name, double value)
{
    snprintf(s->items[s->n].name, sizeof(s->items[0].name), "%s", name);
    s->items[s->n++].value = value;
}

static void test_rows(void)
{
    struct msim_validation_side a = {.n_each = 0}, b = {.n_each = 0};
    struct msim_validation v;

    a.times.us[MSIM_FAMILY_GEMM] = a.times.operators_us = 10;
    b.times.us[MSIM_FAMILY_GEMM] = b.times.operators_us = 12;
    b.times.ops[MSIM_FAMILY_GEMM] = 3;
    msim_validation_make(&v, &a, &b, NULL);
    CHECK_INT(v.n, 3);
    REQUIRE(find(&v, "gemm") != NULL);
    CHECK_INT(find(&v, "gemm")->operators, 3);
    CHECK_REL(msim_replay_error(find(&v, "gemm")), 0.2, 1e-9);
    CHECK(isnan(msim_prediction_error(find(&v, "gemm"))));
    CHECK(isnan(msim_replay_error(find(&v, "step"))));
    CHECK_INT(find(&v, "operators")->operators, 3);
    CHECK_INT(v.n_system, 0);
}

/* Those of the replay first; what one file alone has is not known of the
 * other. */
static void test_system(void)
{
    static struct msim_validation_side a, b;
    struct msim_validation v;

    set(&a.system, "cpu_us", 7);
    set(&a.system, "busy", 0.25);
    set(&b.system, "power_w", 300);
    set(&b.system, "busy", 0.5);
    msim_validation_make(&v, &a, &b, NULL);
    REQUIRE(v.n_system == 3);
    CHECK_STR(v.system[0].name, "power_w");
    CHECK(isnan(v.system[0].measured));
    CHECK_REL(v.system[1].measured, 0.25, 1e-12);
    CHECK_REL(v.system[1].replayed, 0.5, 1e-12);
    CHECK_STR(v.system[2].name, "cpu_us");
    CHECK(isnan(v.system[2].replayed));
}

static void test_iteration__number(void)
{
    struct msim_family_times each[3] = {
        {.number = 7}, {.number = -1}, {.number = 0}};
    struct msim_validation_side a = {.n_each = 0};
    struct msim_validation_side b = {.each = each, .n_each = 3};
    struct msim_validation v;

    msim_validation_make(&v, &a, &b, NULL);
    CHECK_INT(v.n_iterations, 3);
    CHECK_INT(msim_validation_iteration(&v, 0), 7);
    CHECK_INT(msim_validation_iteration(&v, 1), 1);
    CHECK_INT(msim_validation_iteration(&v, 2), 0);
}

/* What is predicted of the step and of families, as far as one of the three
 * has it: all of it is the operators'. */
static void test_rows__predicted(void)
{
    struct msim_validation_side a = {.times = {.step_us = 40}};
    struct msim_validation_side b = {.times = {.step_us = 50}};
    struct msim_family_row families[] = {
        {.model = "conv", .us = {.predicted = 4}},
        {.model = "gemm", .us = {.predicted = 9}},
        {.model = "norm", .us = {.predicted = 0}}};
    struct msim_prediction p = {.families = families,
                                .n_families = 3,
                                .iteration_us = {.predicted = 30}};
    struct msim_validation v;

    b.times.us[MSIM_FAMILY_GEMM] = 12;
    b.times.ops[MSIM_FAMILY_GEMM] = 2;
    b.times.ops[MSIM_FAMILY_POINTWISE] = 1;
    a.times.us[MSIM_FAMILY_COPY] = 0.5;
    msim_validation_make(&v, &a, &b, &p);
    CHECK_INT(v.n, 6); /* not norm: nothing has a time of it */
    CHECK_REL(v.rows[0].predicted, 30, 1e-12);
    CHECK_REL(v.rows[0].measured, 40, 1e-12);
    CHECK_REL(v.rows[0].replayed, 50, 1e-12);
    CHECK_REL(v.rows[1].predicted, 13, 1e-12);
    CHECK_INT(v.rows[1].operators, 3);
    REQUIRE(find(&v, "gemm") && find(&v, "conv") && find(&v, "copy") &&
            find(&v, "pointwise"));
    CHECK_REL(msim_prediction_error(find(&v, "gemm")), -0.25, 1e-12);
    CHECK_REL(find(&v, "conv")->predicted, 4, 1e-12);
    CHECK_REL(find(&v, "copy")->measured, 0.5, 1e-12);
    CHECK_REL(find(&v, "copy")->predicted + 1, 1, 1e-12);
}

/* Of operators, the smaller number of each family over the larger of all. */
static void test_shared__by_family(void)
{
    static const struct {
        uint32_t of[2], in[2];
        double shared;
    } ROWS[] = {
        {{0, 0}, {0, 0}, 1},     {{4, 0}, {4, 0}, 1},   {{4, 0}, {0, 4}, 0},
        {{3, 1}, {1, 1}, 0.5},   {{1, 1}, {3, 1}, 0.5}, {{0, 0}, {1, 0}, 0},
        {{2, 6}, {3, 5}, 0.875},
    };

    for (size_t i = 0; i < sizeof(ROWS) / sizeof(*ROWS); i++) {
        struct msim_validation_side a = {.n_each = 0}, b = {.n_each = 0};
        struct msim_validation v = {.sides = {&a, &b}};

        a.times.ops[0] = ROWS[i].of[0];
        b.times.ops[0] = ROWS[i].in[0];
        a.times.ops[MSIM_FAMILY_COUNT - 1] = ROWS[i].of[1];
        b.times.ops[MSIM_FAMILY_COUNT - 1] = ROWS[i].in[1];
        CHECK_REL(1 + msim_validation_shared(&v), 1 + ROWS[i].shared, 1e-12);
    }
}

/* Of no time there is no error. */
static void test_error__of_no_time(void)
{
    CHECK(isnan(msim_validation_error(1, 0)));
    CHECK(isnan(msim_validation_error(1, -1)));
    CHECK(isnan(msim_validation_error(1, NAN)));
    CHECK_REL(msim_validation_error(1, 0.5), 1, 1e-12);
}

int main(void)
{
    RUN(test_rows);
    RUN(test_system);
    RUN(test_iteration__number);
    RUN(test_rows__predicted);
    RUN(test_shared__by_family);
    RUN(test_error__of_no_time);
    return check_summary();
}
