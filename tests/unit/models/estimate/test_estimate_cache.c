/*
 * models/estimate/estimate_cache.c: what the cache answers is what the models
 * say, each work once, in a table that is never more than half full.
 */
#include "models/estimate/model.h"

#include "models/platform/platform.h"
#include "tests/check.h"

static struct msim_work product(int64_t m)
{
    struct msim_work w;

    memset(&w, 0, sizeof(w)); /* works are compared by their bytes */
    w.family = MSIM_FAMILY_GEMM;
    w.dtype = MSIM_DT_F16;
    w.u.gemm.m = m;
    w.u.gemm.n = w.u.gemm.k = 64;
    w.u.gemm.batch = 1;
    msim_work_count(&w);
    return w;
}

static double cached_us(struct msim_estimate_cache *m,
                        const struct msim_platform *p, int64_t size)
{
    struct msim_work w = product(size);
    struct msim_estimate e = {0};

    CHECK_INT(msim_estimate_cache_predict(m, p, &w, false, &e, NULL), MSIM_OK);
    return e.us;
}

static double model_us(const struct msim_platform *p, int64_t size)
{
    struct msim_work w = product(size);
    struct msim_estimate e = {0};

    CHECK_INT(msim_model_predict(p, &w, false, &e, NULL), MSIM_OK);
    return e.us;
}

static uint32_t taken(const struct msim_estimate_cache *m)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i <= m->mask; i++)
        n += m->slots[i] != 0;
    return n;
}

/* A row of it, marked, comes back: the models are not asked again. */
static void test_estimate_cache__asks_once(void)
{
    struct msim_estimate_cache m = {0};
    struct msim_platform *p;

    REQUIRE(msim_platform_load(&p, MSIM_DATA, "a100", NULL) == MSIM_OK);
    CHECK_REL(cached_us(&m, p, 8), model_us(p, 8), 0);
    CHECK_REL(cached_us(&m, p, 1024), model_us(p, 1024), 0);
    CHECK_UINT(m.n, 2);
    m.estimates[0].us = 1234;
    m.estimates[1].us = 5678;
    CHECK_REL(cached_us(&m, p, 8), 1234, 0);
    CHECK_REL(cached_us(&m, p, 1024), 5678, 0);
    CHECK_UINT(m.n, 2);
    msim_estimate_cache_release(&m);
    CHECK(!m.works && !m.estimates && !m.slots && !m.n && !m.mask);
    CHECK_REL(cached_us(&m, p, 8), model_us(p, 8), 0);
    CHECK_UINT(m.n, 1);
    msim_estimate_cache_release(&m);
    msim_platform_free(p);
}

/* 1,024 slots hold 512 works; the 513th takes twice as many. All works are
 * found in the table that they were moved to. */
static void test_estimate_cache__grows_at_half(void)
{
    static double us[1200];
    struct msim_estimate_cache m = {0};
    struct msim_platform *p;
    int n_wrong = 0;

    REQUIRE(msim_platform_load(&p, MSIM_DATA, "a100", NULL) == MSIM_OK);
    for (int i = 0; i < 1200; i++) {
        us[i] = cached_us(&m, p, i + 1);
        if (i + 1 == 512)
            CHECK_UINT(m.mask, 1023);
        if (i + 1 == 513 || i + 1 == 1024)
            CHECK_UINT(m.mask, 2047);
        if (i + 1 == 1025)
            CHECK_UINT(m.mask, 4095);
    }
    CHECK_UINT(m.n, 1200);
    CHECK_UINT(taken(&m), 1200);
    for (int i = 0; i < 1200; i++)
        n_wrong += cached_us(&m, p, i + 1) != us[i];
    CHECK_INT(n_wrong, 0);
    CHECK_UINT(m.n, 1200);
    CHECK_REL(us[0], model_us(p, 1), 0);
    CHECK_REL(us[700], model_us(p, 701), 0);
    msim_estimate_cache_release(&m);
    msim_platform_free(p);
}

/* What no model covers is an error where that is asked for, each time. */
static void test_estimate_cache__keeps_no_failure(void)
{
    struct msim_estimate_cache m = {0};
    struct msim_work w = product(8);
    struct msim_estimate e;
    struct msim_error err = {0};
    struct msim_platform *p;

    REQUIRE(msim_platform_load(&p, MSIM_DATA, "a100", NULL) == MSIM_OK);
    w.family = MSIM_FAMILY_BOUND;
    for (int i = 0; i < 2; i++) {
        CHECK_INT(msim_estimate_cache_predict(&m, p, &w, true, &e, &err),
                  MSIM_ENOMODEL);
        CHECK_UINT(m.n, 0);
        CHECK_UINT(taken(&m), 0);
    }
    CHECK(err.text[0] != '\0');
    msim_estimate_cache_release(&m);
    msim_platform_free(p);
}

int main(void)
{
    RUN(test_estimate_cache__asks_once);
    RUN(test_estimate_cache__grows_at_half);
    RUN(test_estimate_cache__keeps_no_failure);
    return check_summary();
}
