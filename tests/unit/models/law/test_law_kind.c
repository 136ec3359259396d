/*
 * models/law/law_kind.c: each word of a kind, by what the shape is.
 */
#include "models/law/law.h"
#include "tests/check.h"

#include <string.h>

/* Behind the law's name and key. */
static const char *words(const struct msim_work *w, bool host)
{
    static char text[160];
    const char *comma;

    msim_law_kind(w, host, text, sizeof(text));
    comma = strchr(text, ',');
    return comma ? comma + 2 : "";
}

static const char *product(int64_t m, int64_t n, int64_t k, int64_t batch,
                           bool a_transposed, bool b_transposed)
{
    struct msim_work w = {.family = MSIM_FAMILY_GEMM, .dtype = MSIM_DT_F16};

    w.u.gemm.m = m;
    w.u.gemm.n = n;
    w.u.gemm.k = k;
    w.u.gemm.batch = batch;
    w.u.gemm.a_transposed = a_transposed;
    w.u.gemm.b_transposed = b_transposed;
    return words(&w, false);
}

static void test_law_kind__of_products(void)
{
    CHECK_STR(product(64, 64, 64, 1, false, false), "");
    CHECK_STR(product(64, 64, 64, 2, false, false), "many");
    CHECK_STR(product(1, 64, 64, 1, false, false), "a vector");
    CHECK_STR(product(64, 1, 64, 2, false, false), "a vector, many");
    /* of A k lies side by side, or m where it is transposed; of B and C n,
     * and k of B where that is transposed */
    CHECK_STR(product(64, 64, 62, 1, false, false), "rows of pairs");
    CHECK_STR(product(64, 64, 61, 1, false, false), "odd rows");
    CHECK_STR(product(64, 64, 61, 1, true, false), "");
    CHECK_STR(product(61, 64, 64, 1, false, false), "");
    CHECK_STR(product(61, 64, 64, 1, true, false), "odd rows");
    CHECK_STR(product(64, 62, 64, 1, false, true), "rows of pairs");
    CHECK_STR(product(64, 64, 62, 1, true, true), "rows of pairs");
}

static void test_law_kind__of_wide_products(void)
{
    struct msim_work w = {.family = MSIM_FAMILY_GEMM, .dtype = MSIM_DT_F32};

    w.u.gemm.m = w.u.gemm.n = 64;
    w.u.gemm.k = 62;
    w.u.gemm.batch = 1;
    CHECK_STR(words(&w, false), "odd rows"); /* fp32 has no pairs */
    CHECK_STR(words(&w, true), "");          /* nor has a host */
}

static void test_law_kind__of_convolutions(void)
{
    struct msim_work w = {.family = MSIM_FAMILY_CONV, .dtype = MSIM_DT_F32};

    w.u.conv.h = w.u.conv.r = 3;
    w.u.conv.c = 32;
    w.u.conv.groups = 1;
    CHECK_STR(words(&w, false), "");
    w.u.conv.transposed = true;
    CHECK_STR(words(&w, false), "transposed");
    w.u.conv.deep = true;
    CHECK_STR(words(&w, false), "deep, transposed");
    w.u.conv.groups = 4;
    CHECK_STR(words(&w, false), "deep, transposed, in groups");
    w.u.conv.groups = 32;
    CHECK_STR(words(&w, false), "deep, transposed, a filter a channel");
    w.u.conv.c = w.u.conv.groups = 1;
    w.u.conv.transposed = w.u.conv.deep = false;
    CHECK_STR(words(&w, false), "");
    w.u.conv.h = 1;
    CHECK_STR(words(&w, false), "");
    w.u.conv.r = 1;
    CHECK_STR(words(&w, false), "of rows");
    w.u.conv.channels_last = true;
    CHECK_STR(words(&w, false), "of rows, channels last");
}

static void test_law_kind__of_memory(void)
{
    struct msim_work w = {.family = MSIM_FAMILY_COPY, .dtype = MSIM_DT_F32};

    CHECK_STR(words(&w, false), "");
    w.u.vector.copy = MSIM_COPY_H2D;
    CHECK_STR(words(&w, false), "host");
    w.u.vector.copy = MSIM_COPY_D2H;
    CHECK_STR(words(&w, false), "host");
    w.u.vector.copy = MSIM_COPY_D2D;
    w.u.vector.strided = true;
    CHECK_STR(words(&w, false), "out of order");
    w.u.vector.addressed = true;
    w.u.vector.taps = 9;
    CHECK_STR(words(&w, false), "by windows, addressed, out of order");
    w.family = MSIM_FAMILY_REDUCTION;
    w.u.vector.fold = MSIM_FOLD_ACROSS;
    CHECK_STR(words(&w, false),
              "across rows, by windows, addressed, out of order");
}

static const char *softmax(int64_t cols, enum msim_fold fold)
{
    struct msim_work w = {.family = MSIM_FAMILY_SOFTMAX, .dtype = MSIM_DT_F16};

    w.u.vector.cols = cols;
    w.u.vector.fold = fold;
    return words(&w, false);
}

static void test_law_kind__of_softmax(void)
{
    CHECK_STR(softmax(64, MSIM_FOLD_ACROSS), "across rows");
    CHECK_STR(softmax(1024, MSIM_FOLD_ALONG), "a warp a row");
    CHECK_STR(softmax(1025, MSIM_FOLD_ALONG), "odd rows");
    CHECK_STR(softmax(2048, MSIM_FOLD_ALONG), "a block a row");
    CHECK_STR(softmax(1 << 20, MSIM_FOLD_ALONG), "in passes");
}

static void test_law_kind__of_attention(void)
{
    struct msim_work w = {.family = MSIM_FAMILY_ATTENTION,
                          .dtype = MSIM_DT_F16};

    CHECK_STR(words(&w, false), "");
    w.u.attention.backward = true;
    CHECK_STR(words(&w, false), "backward");
    w.dtype = MSIM_DT_F32;
    CHECK_STR(words(&w, false), "backward, full");
}

/* A text that is too short is cut, and ended. */
static void test_law_kind__cuts(void)
{
    struct msim_work w = {.family = MSIM_FAMILY_GEMM, .dtype = MSIM_DT_F16};
    char text[6];

    memset(text, 'x', sizeof(text));
    w.u.gemm.m = w.u.gemm.n = w.u.gemm.k = w.u.gemm.batch = 1;
    msim_law_kind(&w, false, text, 5);
    CHECK_STR(text, "gemm");
    CHECK_INT(text[5], 'x');
}

int main(void)
{
    RUN(test_law_kind__of_products);
    RUN(test_law_kind__of_wide_products);
    RUN(test_law_kind__of_convolutions);
    RUN(test_law_kind__of_memory);
    RUN(test_law_kind__of_softmax);
    RUN(test_law_kind__of_attention);
    RUN(test_law_kind__cuts);
    return check_summary();
}
