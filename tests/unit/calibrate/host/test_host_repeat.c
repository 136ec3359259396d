/* calibrate/host/host_repeat.c: which steps are compared, and by what. */
#include "calibrate/host/host_fit.h"

#include "tests/check.h"

#include <math.h>

/* Units of a host made by hand; keys are 0, 1 and 2. */
struct made {
    struct msim_host_op ops[32];
    struct msim_host_unit units[8];
    struct msim_host_samples s;
};

static uint32_t add_unit(struct made *m, uint32_t recording)
{
    m->s.ops = m->ops;
    m->s.units = m->units;
    m->units[m->s.n_units].recording = recording;
    return m->s.n_units++;
}

static void add_op(struct made *m, uint32_t unit, uint32_t key, double work)
{
    m->ops[m->s.n_ops++] = (struct msim_host_op){
        .work = work, .key = key, .step = MSIM_NONE, .unit = unit};
}

/* One program with the given times of one operator, one recording each. */
static enum msim_status make(struct msim_host_repeats *r, double a, double b)
{
    struct made m = {0};

    add_op(&m, add_unit(&m, 0), 0, a);
    add_op(&m, add_unit(&m, 1), 0, b);
    return msim_host_repeats_make(r, &m.s, 3);
}

static void test_host_repeat__only_equal_counts_are_compared(void)
{
    struct msim_host_repeats r;
    struct made m = {0};
    uint32_t a = add_unit(&m, 0), b = add_unit(&m, 1);

    add_op(&m, a, 0, 10);
    add_op(&m, b, 0, 12);
    add_op(&m, a, 1, 8);
    add_op(&m, b, 1, 100); /* loads data: called twice */
    add_op(&m, b, 1, 100);
    add_op(&m, MSIM_NONE, 0, 1000);
    REQUIRE(msim_host_repeats_make(&r, &m.s, 3) == MSIM_OK);
    CHECK_UINT(r.n_pairs, 1);
    CHECK_REL(r.rms, log(12.0 / 10), 1e-12);
    CHECK_REL(r.shared, 22.0 / 230, 1e-12);
    CHECK_UINT(msim_host_repeats_inside(&r, 1.21), 1);
    CHECK_UINT(msim_host_repeats_inside(&r, 1.19), 0);
    msim_host_repeats_release(&r);
}

/* Steps of one recording only where there is no other. */
static void test_host_repeat__recordings_before_steps(void)
{
    struct msim_host_repeats r;
    struct made m = {0};

    add_op(&m, add_unit(&m, 0), 0, 10);
    add_op(&m, add_unit(&m, 0), 0, 20);
    REQUIRE(msim_host_repeats_make(&r, &m.s, 3) == MSIM_OK);
    CHECK(!msim_host_repeats_rerun(&r));
    CHECK_UINT(r.n_pairs, 1);
    msim_host_repeats_release(&r);
    add_op(&m, add_unit(&m, 1), 0, 10);
    REQUIRE(msim_host_repeats_make(&r, &m.s, 3) == MSIM_OK);
    CHECK(msim_host_repeats_rerun(&r));
    CHECK_UINT(r.n_pairs, 2);
    CHECK_REL(r.rms, log(2) / sqrt(2), 1e-12);
    msim_host_repeats_release(&r);
}

static void test_host_repeat__nothing_to_compare(void)
{
    struct msim_host_samples none = {0};
    struct msim_host_repeats r;

    REQUIRE(msim_host_repeats_make(&r, &none, 3) == MSIM_OK);
    CHECK_UINT(r.n_pairs, 0);
    CHECK(isnan(r.rms));
    CHECK_REL(msim_host_repeat_factor(&r, 1, MSIM_NONE), 0, 0);
    msim_host_repeats_release(&r);
}

/* Student's t at 95 % for 2 and 3: 2.919986, 2.353363 (any table of it). */
static void test_host_repeat__factor_takes_programs_alike(void)
{
    struct msim_host_repeats r[3];

    REQUIRE(make(&r[0], 10, 11) == MSIM_OK);
    REQUIRE(make(&r[1], 10, 11) == MSIM_OK);
    REQUIRE(make(&r[2], 10, 10) == MSIM_OK);
    CHECK_REL(msim_host_repeat_factor(r, 3, 2), pow(1.1, 2.919986), 1e-6);
    CHECK_REL(msim_host_repeat_factor(r, 3, MSIM_NONE),
              pow(1.1, 2.353363 * sqrt(2.0 / 3)), 1e-6);
    CHECK_REL(msim_host_repeat_factor(r, 2, 0), 0, 0);
    for (int i = 0; i < 3; i++)
        msim_host_repeats_release(&r[i]);
}

int main(void)
{
    RUN(test_host_repeat__only_equal_counts_are_compared);
    RUN(test_host_repeat__recordings_before_steps);
    RUN(test_host_repeat__nothing_to_compare);
    RUN(test_host_repeat__factor_takes_programs_alike);
    return check_summary();
}
