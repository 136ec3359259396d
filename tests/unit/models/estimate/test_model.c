/*
 * Predictions: what holds for any of them, whatever the constants.
 */
#include "models/estimate/model.h"
#include "models/platform/platform.h"
#include "models/platform/platform_data.h"
#include "tests/check.h"

#include <stdlib.h>

static struct msim_platform *platform;

static struct msim_estimate predict(const struct msim_work *w)
{
    struct msim_estimate e = {0};
    struct msim_error err = {0};

    CHECK_INT(msim_model_predict(platform, w, false, &e, &err), MSIM_OK);
    CHECK(e.us > 0 && isfinite(e.us));
    CHECK(e.low_us > 0 && e.low_us <= e.us && e.us <= e.high_us);
    CHECK(isfinite(e.high_us));
    return e;
}

static struct msim_work gemm(int64_t m, int64_t n, int64_t k,
                             enum msim_dtype dtype)
{
    return (struct msim_work){.family = MSIM_FAMILY_GEMM,
                              .dtype = dtype,
                              .u.gemm = {.m = m, .n = n, .k = k, .batch = 1}};
}

/* 8192^3 in fp16: 1.1 TFLOP at 312 TFLOP/s are 3.5 ms at best; a fit of
 * which products take more than twice that would be wrong. */
static void test_model__big_gemm_nears_the_peak(void)
{
    struct msim_work w = gemm(8192, 8192, 8192, MSIM_DT_F16);
    double best_us = 2 * 8192.0 * 8192 * 8192 / 312e12 * 1e6;
    struct msim_estimate e = predict(&w);

    CHECK(e.us > best_us && e.us < 2 * best_us);
    CHECK_INT(e.family, MSIM_FAMILY_GEMM);
    CHECK_INT(e.source, MSIM_SOURCE_LAW);
}

/* TF32 runs at half of fp16's rate and eight times fp32's on an A100; what is
 * measured lies between. */
static void test_model__tf32_is_between(void)
{
    struct msim_work half = gemm(4096, 4096, 4096, MSIM_DT_F16);
    struct msim_work full = gemm(4096, 4096, 4096, MSIM_DT_F32);
    struct msim_work tf32 = full;

    tf32.variant = "tf32";
    CHECK(predict(&half).us < predict(&tf32).us);
    CHECK(2 * predict(&tf32).us < predict(&full).us);
}

/* What one more element in each row does to TimeSformer's scores. */
static double odd_over_even(enum msim_dtype dtype)
{
    struct msim_work even = gemm(3136, 3136, 64, dtype);
    struct msim_work odd = gemm(3137, 3137, 64, dtype);

    even.u.gemm.batch = odd.u.gemm.batch = 96;
    return predict(&odd).us / predict(&even).us;
}

/* Rows that do not begin on 16 bytes hold tensor cores up; a GPU without any,
 * and fp32, take as long as for whole ones. */
static void test_model__odd_rows(void)
{
    struct msim_platform *mine = platform;

    CHECK(odd_over_even(MSIM_DT_F16) > 2);
    CHECK_REL(odd_over_even(MSIM_DT_F32), 1, 0.02);
    if (CHECK_INT(msim_platform_load(&platform, MSIM_DATA, "m40", NULL),
                  MSIM_OK))
        CHECK_REL(odd_over_even(MSIM_DT_F16), 1, 0.02);
    msim_platform_free(platform);
    platform = mine;
}

/* 1 GiB read and written: between the data sheet's 2.04 TB/s and half of it. */
static void test_model__copies_at_memory_speed(void)
{
    struct msim_work w = {
        .family = MSIM_FAMILY_COPY,
        .dtype = MSIM_DT_F32,
        .bytes_read = 1 << 30,
        .bytes_written = 1 << 30,
        .u.vector = {.elems = 1 << 28, .rows = 1, .cols = 1 << 28}};
    double best_us = 2.0 * (1 << 30) / 2.039e12 * 1e6;
    double us = predict(&w).us;

    CHECK(us > best_us && us < 2 * best_us);
    /* the same to the host: PCIe 4 moves 25 GB/s */
    w.u.vector.copy = MSIM_COPY_D2H;
    CHECK_REL(predict(&w).us, (1 << 30) / 25e9 * 1e6, 0.1);
}

/* 64 MiB over 8 GPUs of 300 GB/s: a ring sends 7/4 of it from each. */
static void test_model__all_reduce_nears_the_link(void)
{
    struct msim_work w = {.family = MSIM_FAMILY_COLLECTIVE,
                          .dtype = MSIM_DT_F16,
                          .u.coll = {.collective = MSIM_COLL_ALL_REDUCE,
                                     .bytes = 64 << 20,
                                     .ranks = 8,
                                     .nodes = 1}};
    double best_us = 1.75 * (64 << 20) / 300e9 * 1e6;
    double us = predict(&w).us;

    CHECK(us > best_us && us < 2.5 * best_us);
    for (int c = MSIM_COLL_ALL_REDUCE; c < MSIM_COLL_WAIT; c++) {
        w.u.coll.collective = (enum msim_collective)c;
        CHECK_INT(predict(&w).family, MSIM_FAMILY_COLLECTIVE);
        w.u.coll.nodes = 4;
        w.u.coll.ranks = 32;
        (void)predict(&w);
    }
}

/* 1,000 sums of two numbers. */
static struct msim_work few_sums(void)
{
    return (struct msim_work){
        .family = MSIM_FAMILY_POINTWISE,
        .dtype = MSIM_DT_F32,
        .variant = "add",
        .bytes_read = 8000,
        .bytes_written = 4000,
        .u.vector = {.elems = 1000, .rows = 1, .cols = 1000}};
}

/* What a source measures holds its launch gap; the bare kernel does not. */
static void test_model__leaves_the_gap_out(void)
{
    struct msim_work w = few_sums();
    double bare = predict(&w).us;

    w.framework = "NeuSight";
    CHECK(bare < 4);
    CHECK(predict(&w).us > bare);
}

static void test_model__bounds_what_it_does_not_know(void)
{
    struct msim_work w = {.family = MSIM_FAMILY_BOUND,
                          .dtype = MSIM_DT_F32,
                          .bytes_read = 2.039e9};
    struct msim_estimate e = predict(&w);
    struct msim_error err = {0};

    CHECK_INT(e.source, MSIM_SOURCE_BOUND);
    CHECK(e.low_us >= 1000 && e.high_us >= 4 * e.us);
    CHECK_INT(msim_model_predict(platform, &w, true, &e, &err), MSIM_ENOMODEL);
    CHECK(strstr(err.text, "bound") != NULL);
}

/* As an addition of the same bytes, in a wider interval that says so: beside
 * the law's own, independent deviations by 1.5 down and by 5 up. */
static void test_model__says_where_the_nearest_law_is_taken(void)
{
    struct msim_work w = {.family = MSIM_FAMILY_POINTWISE,
                          .dtype = MSIM_DT_F32,
                          .variant = "isin",
                          .bytes_read = 1e9,
                          .u.vector = {.elems = 250000000, .rows = 1}};
    struct msim_estimate own = predict(&w), e;
    struct msim_error err = {0};

    w.nearest = true;
    e = predict(&w);
    CHECK_INT(own.source, MSIM_SOURCE_LAW);
    CHECK_INT(e.source, MSIM_SOURCE_NEAREST);
    CHECK_REL(e.us, own.us, 1e-12);
    CHECK_REL(log(e.us / e.low_us), hypot(log(own.us / own.low_us), log(1.5)),
              1e-9);
    CHECK_REL(log(e.high_us / e.us), hypot(log(own.high_us / own.us), log(5)),
              1e-9);
    CHECK_INT(msim_model_predict(platform, &w, true, &e, &err), MSIM_ENOMODEL);
    CHECK(strstr(err.text, "isin") != NULL);
}

/* One kernel of a few elements takes less than 4 us; of those that follow each
 * other one begins every 4 us at best. Programs' factors go on top. */
static void test_model__launches_one_by_one(void)
{
    struct msim_work w = few_sums();

    CHECK(predict(&w).us < 3.9);
    w.repeats = 512;
    CHECK_REL(predict(&w).us,
              512 * 4 * msim_program_factor(&platform->programs, &w), 1e-9);
}

/* A small generator, so that the works are the same on every machine. */
static uint64_t next_random(uint64_t *state)
{
    *state =
        *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 33;
}

static int64_t any_size(uint64_t *state)
{
    static const int64_t ODD[] = {0, -1, 1, INT64_MAX, INT64_MIN, 1 << 30};
    uint64_t r = next_random(state);

    return r % 4 ? (int64_t)(next_random(state) % 5000) : ODD[r / 4 % 6];
}

/* Works with sizes as broken traces may hold them. */
static void test_model__survives_any_work(void)
{
    uint64_t state = 1;

    for (int i = 0; i < 20000; i++) {
        struct msim_work w;
        int64_t *sizes = (int64_t *)&w.u;
        struct msim_estimate e;
        struct msim_error err = {0};

        memset(&w, 0, sizeof(w));
        w.family = (enum msim_family)(next_random(&state) % MSIM_FAMILY_COUNT);
        w.dtype = (enum msim_dtype)(next_random(&state) % (MSIM_DT_C128 + 1));
        w.bytes_read = (double)any_size(&state);
        if (w.family == MSIM_FAMILY_GEMM) {
            w.u.gemm.m = any_size(&state);
            w.u.gemm.n = any_size(&state);
            w.u.gemm.k = any_size(&state);
            w.u.gemm.batch = any_size(&state);
        } else if (w.family == MSIM_FAMILY_CONV) {
            for (size_t j = 1; j < 15; j++)
                sizes[j] = any_size(&state);
        } else if (w.family == MSIM_FAMILY_ATTENTION) {
            w.u.attention.batch = any_size(&state);
            w.u.attention.heads = any_size(&state);
            w.u.attention.kv_heads = any_size(&state);
            w.u.attention.q_len = any_size(&state);
            w.u.attention.kv_len = any_size(&state);
            w.u.attention.head_dim = any_size(&state);
            w.u.attention.window = any_size(&state);
        } else if (w.family == MSIM_FAMILY_COLLECTIVE) {
            w.u.coll.collective = (enum msim_collective)(next_random(&state) %
                                                         (MSIM_COLL_WAIT + 1));
            w.u.coll.bytes = (uint64_t)any_size(&state);
            w.u.coll.ranks = (uint32_t)any_size(&state);
            w.u.coll.nodes = (uint32_t)any_size(&state);
        } else {
            w.u.vector.elems = any_size(&state);
            w.u.vector.rows = any_size(&state);
            w.u.vector.cols = any_size(&state);
        }
        if (msim_model_predict(platform, &w, false, &e, &err) == MSIM_OK)
            if (!(e.us > 0 && e.us <= 1e8 && e.low_us <= e.us &&
                  e.us <= e.high_us && e.high_us <= 1e10))
                CHECK_INT(i, -1); /* names the case */
    }
}

/* Estimates of `w` by itself and as a graph launches it. */
static void alone_and_graphed(const char *name, const struct msim_work *w,
                              double *alone_us, double *graphed_us)
{
    struct msim_platform *mine = platform;
    struct msim_work again = *w;

    again.graphed = true;
    CHECK_INT(msim_platform_load(&platform, MSIM_DATA, name, NULL), MSIM_OK);
    *alone_us = platform ? predict(w).us : 0;
    *graphed_us = platform ? predict(&again).us : 0;
    msim_platform_free(platform);
    platform = mine;
}

/* Rows of graphs lack the start of a kernel from Hopper on, 2 us; products in 8
 * bits are of libraries that do not overlap. */
static void test_model__products_alone_begin_later(void)
{
    struct msim_work half = gemm(512, 512, 1024, MSIM_DT_BF16);
    struct msim_work narrow = gemm(512, 512, 1024, MSIM_DT_F8);
    double alone, graphed;

    alone_and_graphed("h100", &half, &alone, &graphed);
    CHECK_REL(alone - graphed, 2.0, 1e-6);
    alone_and_graphed("b200", &half, &alone, &graphed);
    CHECK_REL(alone - graphed, 2.0, 1e-6);
    alone_and_graphed("a100", &half, &alone, &graphed);
    CHECK_REL(alone, graphed, 1e-9);
    alone_and_graphed("h100", &narrow, &alone, &graphed);
    CHECK_REL(alone, graphed, 1e-9);
}

/* One chip with two memories: what memory does not bind takes as long. */
static void test_model__h200_multiplies_as_an_h100(void)
{
    struct msim_work w = gemm(2048, 4096, 4096, MSIM_DT_BF16);
    double h100, h200, graphed;

    alone_and_graphed("h100", &w, &h100, &graphed);
    alone_and_graphed("h200", &w, &h200, &graphed);
    CHECK(h200 > 0.9 * h100 && h200 < 1.05 * h100);
}

static void test_model__explains(void)
{
    struct msim_work w = gemm(512, 512, 512, MSIM_DT_F16);
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);

    REQUIRE(f != NULL);
    msim_model_explain(platform, &w, f);
    fclose(f);
    CHECK(strstr(text, "model: gemm on a100") != NULL);
    CHECK(strstr(text, "rows: ") != NULL);
    CHECK(strstr(text, "held-out") != NULL);
    CHECK(strstr(text, "compute_efficiency") != NULL);
    free(text);
}

int main(void)
{
    if (msim_platform_load(&platform, MSIM_DATA, "a100", NULL) != MSIM_OK) {
        fprintf(stderr, "platform 'a100' cannot be loaded\n");
        return 1;
    }
    RUN(test_model__big_gemm_nears_the_peak);
    RUN(test_model__tf32_is_between);
    RUN(test_model__odd_rows);
    RUN(test_model__copies_at_memory_speed);
    RUN(test_model__all_reduce_nears_the_link);
    RUN(test_model__leaves_the_gap_out);
    RUN(test_model__bounds_what_it_does_not_know);
    RUN(test_model__says_where_the_nearest_law_is_taken);
    RUN(test_model__launches_one_by_one);
    RUN(test_model__survives_any_work);
    RUN(test_model__products_alone_begin_later);
    RUN(test_model__h200_multiplies_as_an_h100);
    RUN(test_model__explains);
    msim_platform_free(platform);
    return check_summary();
}
