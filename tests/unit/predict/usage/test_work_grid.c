/*
 * tests/unit/predict/usage/test_work_grid.c - grids by what is asked for.
 */
#include "predict/usage/work_grid.h"
#include "tests/check.h"

#include <string.h>

static const struct msim_gpu_properties A100 = {
    .sms = 108, .cc_major = 8, .cc_minor = 0};

static struct msim_work work(enum msim_family family)
{
    struct msim_work w;

    memset(&w, 0, sizeof(w));
    w.family = family;
    w.dtype = MSIM_DT_F16;
    return w;
}

static struct msim_residency product(int64_t m, int64_t n, int64_t k)
{
    struct msim_work w = work(MSIM_FAMILY_GEMM);

    w.u.gemm.m = m;
    w.u.gemm.n = n;
    w.u.gemm.k = k;
    w.u.gemm.batch = 1;
    return msim_work_grid(&A100, &w);
}

/* The example of work_grid.h: 8 x 16 tiles of 64 are the largest that are 108.
 * 4,096 x 4,096 has 512 tiles of 256 x 128. */
static void test_work_grid__tiles(void)
{
    CHECK_REL(product(512, 1024, 64).blocks, 128, 1e-6);
    CHECK_REL(product(512, 1024, 64).threads, 64, 1e-6);
    CHECK_REL(product(4096, 4096, 64).blocks, 512, 1e-6);
    CHECK_REL(product(4096, 4096, 64).resident, 1, 1e-6);
}

/* A T4 has 64 KiB of shared memory an SM: no tile of 256 x 128. A GPU of which
 * no limit is known has the largest. */
static void test_work_grid__tiles_fit(void)
{
    const struct msim_gpu_properties t4 = {
        .sms = 40, .cc_major = 7, .cc_minor = 5};
    const struct msim_gpu_properties other = {.sms = 40};
    struct msim_work w = work(MSIM_FAMILY_GEMM);

    w.u.gemm.m = w.u.gemm.n = 4096;
    w.u.gemm.k = 64;
    w.u.gemm.batch = 1;
    CHECK_REL(msim_work_grid(&t4, &w).blocks, 1024, 1e-6);
    CHECK(msim_work_grid(&t4, &w).resident > 0);
    CHECK_REL(msim_work_grid(&other, &w).blocks, 512, 1e-6);
}

/* 4 tiles of 64 x 64 on 108 SMs: 27 parts fit, of 8,192 terms there are 8 parts
 * of 1,024. */
static void test_work_grid__split_sums(void)
{
    CHECK_REL(product(128, 128, 8192).blocks, 32, 1e-6);
    CHECK_REL(product(128, 128, 1 << 20).blocks, 4 * 27, 1e-6);
}

/* 512 elements a block of 128 threads, 16 of which an SM of 2,048 holds. */
static void test_work_grid__pointwise(void)
{
    struct msim_work w = work(MSIM_FAMILY_POINTWISE);
    struct msim_residency r;

    w.u.vector.elems = 5121;
    r = msim_work_grid(&A100, &w);
    CHECK_REL(r.blocks, 11, 1e-6);
    CHECK_REL(r.threads, 128, 1e-6);
    CHECK_REL(r.resident, 16, 1e-6);
}

/* Rows of 1,024 go four to a block, short ones eight, long ones have one. */
static void test_work_grid__softmax(void)
{
    struct msim_work w = work(MSIM_FAMILY_SOFTMAX);

    w.u.vector.rows = 800;
    w.u.vector.cols = 1024;
    CHECK_REL(msim_work_grid(&A100, &w).blocks, 200, 1e-6);
    w.u.vector.cols = 128;
    CHECK_REL(msim_work_grid(&A100, &w).blocks, 100, 1e-6);
    w.u.vector.cols = 1025;
    CHECK_REL(msim_work_grid(&A100, &w).blocks, 800, 1e-6);
}

/* The example of reduce_grid.c: 1,024 columns of 512 rows are 8 blocks of 128
 * threads. */
static void test_work_grid__reduction(void)
{
    struct msim_work w = work(MSIM_FAMILY_REDUCTION);
    struct msim_residency r;

    w.u.vector.rows = 1024;
    w.u.vector.cols = 512;
    w.u.vector.fold = MSIM_FOLD_ACROSS;
    r = msim_work_grid(&A100, &w);
    CHECK_REL(r.blocks, 8, 1e-6);
    CHECK_REL(r.threads, 128, 1e-6);
}

/* 100,000 bytes leave four channels 32 KiB at most; 24 are all there are. An
 * all-to-all has a block for each of 8 ranks. */
static void test_work_grid__collectives(void)
{
    struct msim_work w = work(MSIM_FAMILY_COLLECTIVE);

    w.u.coll.collective = MSIM_COLL_ALL_REDUCE;
    w.u.coll.ranks = 8;
    w.u.coll.bytes = 100000;
    CHECK_REL(msim_work_grid(&A100, &w).blocks, 4, 1e-6);
    w.u.coll.bytes = 100 << 20;
    CHECK_REL(msim_work_grid(&A100, &w).blocks, 24, 1e-6);
    w.u.coll.bytes = 0;
    CHECK_REL(msim_work_grid(&A100, &w).blocks, 1, 1e-6);
    w.u.coll.collective = MSIM_COLL_ALL_TO_ALL;
    CHECK_REL(msim_work_grid(&A100, &w).blocks, 8, 1e-6);
}

static void test_work_grid__copies_hold_nothing(void)
{
    struct msim_work w = work(MSIM_FAMILY_COPY);

    w.u.vector.elems = 1 << 20;
    CHECK(msim_work_grid(&A100, &w).blocks == 0);
}

int main(void)
{
    RUN(test_work_grid__tiles);
    RUN(test_work_grid__tiles_fit);
    RUN(test_work_grid__split_sums);
    RUN(test_work_grid__pointwise);
    RUN(test_work_grid__softmax);
    RUN(test_work_grid__reduction);
    RUN(test_work_grid__collectives);
    RUN(test_work_grid__copies_hold_nothing);
    return check_summary();
}
