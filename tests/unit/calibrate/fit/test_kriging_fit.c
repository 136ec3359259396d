/*
 * Corrections by kriging of made-up rows: a smooth surface is found, an outlier
 * hardly bends it, noise is taken for noise, and what is written is read again.
 */
#include "calibrate/fit/kriging_fit.h"

#include "tests/check.h"

#include <gsl/gsl_errno.h>
#include <stdlib.h>

#define N 60

static double x[N * MSIM_LAW_FEATURES], y[N];
static uint64_t group[N];

static uint32_t feature(const struct msim_law *law, const char *name)
{
    uint32_t f = 0;

    while (f < law->n_features && strcmp(law->features[f], name) != 0)
        f++;
    CHECK(f < law->n_features);
    return f < law->n_features ? f : 0;
}

/* Rows in fifteen groups of four along one size, 12 e-folds in all. */
static void place_rows(const struct msim_law *law, const char *name)
{
    uint32_t f = feature(law, name);

    memset(x, 0, sizeof(x));
    for (uint32_t i = 0; i < N; i++) {
        x[i * law->n_features + f] = 0.2 * i;
        group[i] = i / 4;
    }
}

/* The smooth surface: a wave of an e-fold or three. */
static double wave(uint32_t i)
{
    return 0.3 * sin(0.2 * i / 1.5);
}

static struct msim_kriging_answer at(const struct msim_kriging *m,
                                     const struct msim_law *law, uint32_t i)
{
    return msim_kriging_correct(m, x + (size_t)i * law->n_features, 1);
}

static cJSON *fit(struct msim_kriging *m, const struct msim_law *law)
{
    cJSON *o;

    CHECK_INT(msim_kriging_fit(&o, law, x, y, group, N), MSIM_OK);
    CHECK_INT(msim_kriging_read(m, o, law), MSIM_OK);
    return o;
}

static void test_kriging_fit__follows_a_surface(void)
{
    const struct msim_law *law = &MSIM_LAW_GEMM;
    struct msim_kriging m;
    double most = 0, least = 0;
    cJSON *o;

    place_rows(law, "log_m");
    for (uint32_t i = 0; i < N; i++) {
        y[i] = wave(i);
        most = fmax(most, y[i]);
        least = fmin(least, y[i]);
    }
    o = fit(&m, law);
    CHECK_UINT(m.n, N);
    CHECK_UINT(m.n_features, 10);
    CHECK_REL(m.noise, 0.02, 0); /* there is none */
    CHECK(fabs(m.low - least) < 1e-6 && fabs(m.high - most) < 1e-6);
    for (uint32_t i = 0; i < N; i++)
        CHECK(fabs(at(&m, law, i).log - wave(i)) < 0.02);
    msim_kriging_release(&m);
    cJSON_Delete(o);
}

/* One row is off by two, a factor of seven: the surface goes less than an
 * eighth of the way there. */
static void test_kriging_fit__outliers(void)
{
    const struct msim_law *law = &MSIM_LAW_CONV;
    struct msim_kriging m;
    cJSON *o;

    place_rows(law, "log_c");
    for (uint32_t i = 0; i < N; i++)
        y[i] = wave(i) + (i == 30 ? 2 : 0);
    o = fit(&m, law);
    CHECK_UINT(m.n_features, 7);
    for (uint32_t i = 0; i < N; i++)
        CHECK(fabs(at(&m, law, i).log - wave(i)) < (i == 30 ? 0.24 : 0.18));
    CHECK_REL(m.high, y[30], 1e-6);
    msim_kriging_release(&m);
    cJSON_Delete(o);
}

/* Nothing but noise: as much of it as is tried, and length scales as long. */
static void test_kriging_fit__noise(void)
{
    const struct msim_law *law = &MSIM_LAW_GEMM;
    struct msim_kriging m;
    const cJSON *reach;
    cJSON *o;

    place_rows(law, "log_m");
    for (uint32_t i = 0; i < N; i++)
        y[i] = ((double)(i * 7919 % 101) - 50) / 100;
    o = fit(&m, law);
    CHECK_REL(m.noise, 0.2, 0);
    reach = cJSON_GetObjectItemCaseSensitive(o, "reach");
    CHECK_REL(msim_json_get_number(reach, "log_m", 0), 2 * 2, 0);
    CHECK_REL(msim_json_get_number(reach, "tail_128x128", 0), 2 * 1, 0);
    CHECK_REL(msim_json_get_number(reach, "log_gcd_m_256", 0), 2 * 3, 0);
    CHECK_REL(msim_json_get_number(reach, "log_gcd_k_1024", 0), 2 * 4, 0);
    for (uint32_t i = 0; i < N; i++)
        CHECK(fabs(at(&m, law, i).log) < 0.3);
    msim_kriging_release(&m);
    cJSON_Delete(o);
}

/* The length scales of each law, by 0.7, 1.2 or 2. */
static void test_kriging_fit__length_scales(void)
{
    static const struct {
        const char *name;
        double is;
    } GEMM[] = {{"log_m", 2},          {"log_n", 2},
                {"log_k", 2},          {"tail_128x128", 1},
                {"waste_128x128", 1},  {"log_gcd_m_256", 3},
                {"log_gcd_n_1024", 4}, {"log_gcd_k_1024", 4},
                {"a_transposed", 1},   {"b_transposed", 1}},
      CONV[] = {{"log_n", 3},  {"log_c", 2},    {"log_hw", 2}, {"log_k", 2},
                {"log_rs", 1}, {"stride", 0.5}, {"pad", 1.5}};

    for (int k = 0; k < 2; k++) {
        const struct msim_law *law = k ? &MSIM_LAW_CONV : &MSIM_LAW_GEMM;
        size_t n =
            k ? sizeof(CONV) / sizeof(*CONV) : sizeof(GEMM) / sizeof(*GEMM);
        struct msim_kriging m;
        const cJSON *reach;
        double stretch;
        cJSON *o;

        place_rows(law, "log_n");
        for (uint32_t i = 0; i < N; i++)
            y[i] = wave(i);
        o = fit(&m, law);
        reach = cJSON_GetObjectItemCaseSensitive(o, "reach");
        CHECK_UINT(cJSON_GetArraySize(reach), n);
        stretch = msim_json_get_number(reach, "log_n", 0) / (k ? 3 : 2);
        CHECK(fabs(stretch - 0.7) < 1e-9 || fabs(stretch - 1.2) < 1e-9 ||
              fabs(stretch - 2) < 1e-9);
        for (size_t i = 0; i < n; i++)
            CHECK_REL(
                msim_json_get_number(reach, k ? CONV[i].name : GEMM[i].name, 0),
                stretch * (k ? CONV[i].is : GEMM[i].is), 1e-9);
        msim_kriging_release(&m);
        cJSON_Delete(o);
    }
    CHECK(msim_kriging_suits(&MSIM_LAW_GEMM));
    CHECK(msim_kriging_suits(&MSIM_LAW_CONV));
    CHECK(!msim_kriging_suits(&MSIM_LAW_VECTOR));
}

int main(void)
{
    (void)gsl_set_error_handler_off();
    RUN(test_kriging_fit__follows_a_surface);
    RUN(test_kriging_fit__outliers);
    RUN(test_kriging_fit__noise);
    RUN(test_kriging_fit__length_scales);
    return check_summary();
}
