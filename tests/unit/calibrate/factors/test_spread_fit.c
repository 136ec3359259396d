/*
 * calibrate/factors/spread_fit.c: widths that made-up programs of one kind each
 * have.
 */
#include "calibrate/factors/factor_fit.h"
#include "tests/check.h"

#include <math.h>
#include <stdlib.h>

enum { NEAR, FAR, PLATFORMS };

static const int PROGRAMS[PLATFORMS] = {300, 12};
#define ROWS 312

/* Every other program is of the first kind and errs by 5 % at most; the others
 * take up to e times as long, and at most a tenth less. On FAR all take 1.65
 * times as long. No factor knows of either. */
struct made_up {
    struct msim_program_sum rows[ROWS];
    struct msim_program_part parts[ROWS];
    struct msim_program_sums sums;
    struct msim_factor_fit fits[PLATFORMS];
    struct msim_program_factors unknown[PLATFORMS];
};

/* From -1 to 1, evenly: multiples of the golden ratio (Weyl). */
static double even(int i)
{
    return 2 * fmod(0.6180339887 * i, 1) - 1;
}

static double off_of(int program, int platform)
{
    double at = even(program), shift = platform == FAR ? 0.5 : 0;

    if (program % 2 == 0)
        return shift + 0.05 * at;
    return shift + (at > 0 ? at : 0.1 * at);
}

static void make_platform(struct made_up *m, int platform)
{
    for (int i = 0; i < PROGRAMS[platform]; i++) {
        uint32_t n = m->sums.n++;

        m->parts[n] = (struct msim_program_part){
            .factor = MSIM_FACTOR_COUNT,
            .spread = i % 2 ? MSIM_SPREAD_CONV_ODD : MSIM_SPREAD_VECTOR,
            .family = i % 2 ? MSIM_FAMILY_CONV : MSIM_FAMILY_POINTWISE,
            .us = 100,
            .low_us = 1,
            .high_us = 1e4};
        m->rows[n] =
            (struct msim_program_sum){.platform = (uint32_t)platform,
                                      .group = (uint32_t)(i / 2),
                                      .us = 100 * exp(off_of(i, platform)),
                                      .parts = n,
                                      .n_parts = 1};
    }
}

static struct made_up *made_up(void)
{
    struct made_up *m = calloc(1, sizeof(*m));

    for (int p = 0; p < PLATFORMS; p++)
        make_platform(m, p);
    m->sums.rows = m->rows;
    m->sums.parts = m->parts;
    m->sums.n_parts = m->sums.n;
    m->sums.platforms.n = PLATFORMS;
    m->sums.groups.n = ROWS / 2;
    return m;
}

static double inside(const struct made_up *m, const struct msim_spread_fit *f,
                     uint32_t platform)
{
    double sum = 0;

    for (uint32_t i = 0; i < m->sums.n; i++)
        if (m->rows[i].platform == platform)
            sum += f->rows[i].inside;
    return sum / PROGRAMS[platform];
}

static void check_between(double x, double least, double most)
{
    CHECK_REL(x, fmin(fmax(x, least), most), 0);
}

static void test_spread_fit__widths(void)
{
    struct made_up *m = made_up();
    const struct msim_spread_width *narrow, *wide;
    struct msim_spread_fit f;

    CHECK_INT(msim_spread_fit_make(&f, &m->sums, m->fits, m->unknown), MSIM_OK);
    narrow = &f.kind[MSIM_SPREAD_VECTOR];
    wide = &f.kind[MSIM_SPREAD_CONV_ODD];
    /* 95 % of errors that are even up to 0.05 and to 1, 0.1 */
    check_between(narrow->slower, 0.04, 0.1);
    check_between(narrow->faster, 0.04, 0.06);
    check_between(wide->slower, 0.8, 1.05);
    check_between(wide->faster, 0.08, 0.11);
    check_between(f.shared[NEAR], 0, 0.05);
    check_between(f.shared[FAR], 0.4, 0.6);
    check_between(inside(m, &f, NEAR), 0.88, 0.98);
    msim_spread_fit_release(&f);
    free(m);
}

/* Six programs of thin products that take eight times as long, among 150 of
 * others: too few for widths of their own, they have those of all products,
 * which so few do not move beyond what nine of ten are within. */
static void test_spread_fit__few_programs_are_pooled(void)
{
    struct made_up *m = made_up();
    const struct msim_spread_width *thin, *all;
    struct msim_spread_fit f;

    for (uint32_t i = 1; i < m->sums.n; i += 2) {
        m->parts[i].family = MSIM_FAMILY_GEMM;
        m->parts[i].spread =
            i < 12 ? MSIM_SPREAD_GEMM_THIN : MSIM_SPREAD_GEMM_FULL;
        if (i < 12)
            m->rows[i].us *= 8;
    }
    CHECK_INT(msim_spread_fit_make(&f, &m->sums, m->fits, m->unknown), MSIM_OK);
    thin = &f.kind[MSIM_SPREAD_GEMM_THIN];
    all = &f.kind[MSIM_SPREAD_GEMM_FULL];
    CHECK(thin->slower == all->slower && thin->faster == all->faster);
    check_between(all->slower, 0.8, 1.5);
    check_between(f.programs[MSIM_SPREAD_GEMM_THIN], 3, 6);
    msim_spread_fit_release(&f);
    free(m);
}

int main(void)
{
    RUN(test_spread_fit__widths);
    RUN(test_spread_fit__few_programs_are_pooled);
    return check_summary();
}
