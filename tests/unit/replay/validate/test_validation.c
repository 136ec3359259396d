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

    set(&a.system, "busy", 0.25);
    set(&a.system, "cpu_us", 7);
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
    struct msim_family_times each[2] = {{.number = 7}, {.number = -1}};
    struct msim_validation_side a = {.n_each = 0};
    struct msim_validation_side b = {.each = each, .n_each = 2};
    struct msim_validation v;

    msim_validation_make(&v, &a, &b, NULL);
    CHECK_INT(v.n_iterations, 2);
    CHECK_INT(msim_validation_iteration(&v, 0), 7);
    CHECK_INT(msim_validation_iteration(&v, 1), 1);
}

int main(void)
{
    RUN(test_rows);
    RUN(test_system);
    RUN(test_iteration__number);
    return check_summary();
}
