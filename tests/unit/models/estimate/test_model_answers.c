/*
 * models/estimate/model.c and attention_parts.c: what is refused, what a user's
 * table says, limits, what is explained, and attention as the sum of its parts.
 */
#include "models/estimate/model.h"
#include "models/estimate/model_internal.h"
#include "models/platform/platform.h"
#include "models/platform/platform_data.h"
#include "tests/check.h"

#include <math.h>
#include <stdlib.h>

static struct msim_platform *platform, *before;

static struct msim_work gemm(int64_t m, int64_t n, int64_t k)
{
    return (struct msim_work){.family = MSIM_FAMILY_GEMM,
                              .dtype = MSIM_DT_F16,
                              .u.gemm = {.m = m, .n = n, .k = k, .batch = 1}};
}

static struct msim_estimate predict(const struct msim_platform *p,
                                    const struct msim_work *w)
{
    struct msim_estimate e = {0};

    CHECK_INT(msim_model_predict(p, w, false, &e, NULL), MSIM_OK);
    return e;
}

/* What a law knows nobody refuses; what none does, or that of the nearest
 * kind, whoever is strict. A platform without constants has a bound. */
static void test_answers__to_who_is_strict(void)
{
    struct msim_platform bare = *platform;
    struct msim_work odd = {.family = MSIM_FAMILY_BOUND,
                            .dtype = MSIM_DT_F32,
                            .variant = "thing",
                            .bytes_read = 1e9};
    struct msim_work near = {.family = MSIM_FAMILY_POINTWISE,
                             .dtype = MSIM_DT_F32,
                             .variant = "isin",
                             .bytes_read = 1e9,
                             .nearest = true,
                             .u.vector = {.elems = 250000000, .rows = 1}};
    struct msim_work known = gemm(512, 512, 512);
    const struct {
        const struct msim_platform *p;
        const struct msim_work *w;
        const char *says;
    } CASE[] = {
        {platform, &known, ""},
        {platform, &odd, "no model covers bound 'thing' on 'a100'"},
        {platform, &near,
         "no law knows the kernels of pointwise 'isin', want one of their own"},
        {&bare, &known, "platform 'a100' has no constants for gemm ''"},
    };

    bare.index = (struct msim_fit_index){0};
    for (size_t i = 0; i < sizeof(CASE) / sizeof(*CASE); i++) {
        struct msim_error err = {0};
        struct msim_estimate e;

        CHECK_INT(msim_model_predict(CASE[i].p, CASE[i].w, true, &e, &err),
                  i ? MSIM_ENOMODEL : MSIM_OK);
        CHECK_STR(err.text, CASE[i].says);
        CHECK_INT(msim_model_predict(CASE[i].p, CASE[i].w, false, &e, &err),
                  MSIM_OK);
        CHECK_INT(e.source, i == 0   ? MSIM_SOURCE_LAW
                            : i == 2 ? MSIM_SOURCE_NEAREST
                                     : MSIM_SOURCE_BOUND);
    }
}

/* A transfer that a user's table has a time of: no bytes of a kernel say what
 * is plausible. */
static struct msim_work told(double us)
{
    struct msim_work w = {.family = MSIM_FAMILY_COLLECTIVE,
                          .dtype = MSIM_DT_F16};

    w.u.coll.collective = MSIM_COLL_ALL_REDUCE;
    w.u.coll.bytes = 1 << 20;
    w.u.coll.ranks = 2;
    w.u.coll.nodes = 1;
    w.user.us = us;
    return w;
}

/* A user's time is itself, as wide as the table says, and runs as often. */
static void test_answers__of_a_users_table(void)
{
    struct msim_work w = told(500);
    struct msim_estimate e;

    e = predict(platform, &w);
    CHECK_REL(e.us, 500, 0);
    CHECK_REL(e.low_us, 500, 0);
    CHECK_REL(e.high_us, 500, 0);
    CHECK_INT(e.source, MSIM_SOURCE_TABLE);
    CHECK_INT(e.family, MSIM_FAMILY_COLLECTIVE);
    w.user.interval_factor = 1.25;
    w.repeats = 3;
    e = predict(platform, &w);
    CHECK_REL(e.us, 1500, 1e-12);
    CHECK_REL(e.low_us, 1200, 1e-12);
    CHECK_REL(e.high_us, 1875, 1e-12);
    w = gemm(512, 512, 512); /* a law's, wider */
    e = predict(platform, &w);
    w.user.interval_factor = 2;
    CHECK_REL(log(predict(platform, &w).high_us / e.us),
              hypot(log(e.high_us / e.us), log(2)), 1e-9);
    CHECK_REL(log(e.us / predict(platform, &w).low_us),
              hypot(log(e.us / e.low_us), log(2)), 1e-9);
    w.user.interval_factor = 1;
    CHECK_REL(predict(platform, &w).high_us, e.high_us, 0);
}

/* What a trace says takes 100 s at most, from one to ten thousand; what
 * somebody asks for takes what it takes. */
static void test_answers__have_a_limit(void)
{
    static const struct {
        double us, factor;
        bool asked, limited;
    } CASE[] = {{0.99e8, 1, false, false}, {1e8, 1, false, true},
                {5e9, 1, false, true},     {5e9, 1, true, false},
                {1e7, 999, false, false},  {1e7, 1001, false, true},
                {1e7, 1001, true, false}};

    for (size_t i = 0; i < sizeof(CASE) / sizeof(*CASE); i++) {
        struct msim_work w = told(CASE[i].us);
        struct msim_estimate e;

        w.user.interval_factor = CASE[i].factor;
        w.asked = CASE[i].asked;
        e = predict(platform, &w);
        CHECK_REL(e.us, CASE[i].limited ? 1e8 : CASE[i].us, 1e-12);
        CHECK_INT(e.source,
                  CASE[i].limited ? MSIM_SOURCE_BOUND : MSIM_SOURCE_TABLE);
        if (!CASE[i].limited)
            continue;
        CHECK_REL(e.low_us, 1e6, 1e-12);
        CHECK_REL(e.high_us, 1e10, 1e-12);
        CHECK_INT(e.family, MSIM_FAMILY_COLLECTIVE);
    }
}

/* Runs of one kernel follow each other, start and all. */
static void test_answers__repeat(void)
{
    struct msim_work w = gemm(4096, 4096, 4096);
    struct msim_estimate one, many;

    w.framework = "vllm"; /* programs of PyTorch have factors of their own */
    one = predict(platform, &w);
    w.repeats = 7;
    many = predict(platform, &w);
    CHECK_REL(many.us, 7 * one.us, 1e-12);
    CHECK_REL(many.low_us, 7 * one.low_us, 1e-12);
    CHECK_REL(many.high_us, 7 * one.high_us, 1e-12);
    CHECK_REL(many.start_us, 7 * one.start_us, 1e-12);
    CHECK(one.us > 4 && one.start_us > 0);
}

static char *explained(const struct msim_platform *p, const struct msim_work *w)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    msim_model_explain(p, w, out);
    fclose(out);
    return text;
}

static bool explains(const struct msim_platform *p, const struct msim_work *w,
                     const char *want)
{
    char *text = explained(p, w);
    bool found = strstr(text, want) != NULL;

    free(text);
    return found;
}

static void test_answers__explain(void)
{
    struct msim_work w = gemm(512, 512, 512), odd = {.bytes_read = 1e9};
    struct msim_estimate e = predict(platform, &w);
    char want[128], *text;

    snprintf(want, sizeof(want),
             "predicted: %.4g us, 90 %%: %.4g to %.4g us (%s)\n", e.us,
             e.low_us, e.high_us, msim_source_text(e.source));
    CHECK(explains(platform, &w, want));
    CHECK(!explains(platform, &w, "runs: "));
    CHECK(!explains(platform, &w, "nearest: "));
    CHECK(!explains(platform, &w, "emulated: "));
    text = explained(platform, &w);
    CHECK(!strncmp(text, "model: gemm on a100\n", 20));
    free(text);
    w.repeats = 7;
    CHECK(explains(platform, &w, "runs: 7, one after the other\n"));
    odd.family = MSIM_FAMILY_BOUND;
    odd.dtype = MSIM_DT_F32;
    CHECK(explains(platform, &odd, "model: bound on a100\n"));
    odd.family = MSIM_FAMILY_POINTWISE;
    odd.variant = "isin";
    odd.nearest = true;
    odd.u.vector.elems = 250000000;
    odd.u.vector.rows = 1;
    CHECK(explains(platform, &odd,
                   "nearest: no law knows its kernel; that of pointwise is "
                   "taken, by bytes\n"));
    w.user.origin = "ops.csv:3";
    w.user.interval_factor = 2;
    CHECK(explains(platform, &w,
                   "by ops.csv:3, with an interval wider by a factor of 2.00, "
                   "model: gemm on a100\n"));
    w.user.us = 5;
    text = explained(platform, &w);
    CHECK_STR(text, "by ops.csv:3, with an interval wider by a factor of 2.00, "
                    "which says the time: 5 us\n");
    free(text);
    w = gemm(512, 512, 512);
    w.dtype = MSIM_DT_F8; /* an A100 has none */
    CHECK(explains(platform, &w, "emulated: "));
}

/* ---- attention in parts -------------------------------------------------- */

static struct msim_work attention(enum msim_dtype dtype, bool backward)
{
    return (struct msim_work){.family = MSIM_FAMILY_ATTENTION,
                              .dtype = dtype,
                              .u.attention = {.phase = MSIM_ATTENTION_ENCODER,
                                              .backward = backward,
                                              .batch = 2,
                                              .heads = 12,
                                              .kv_heads = 12,
                                              .q_len = 512,
                                              .kv_len = 300,
                                              .head_dim = 64,
                                              .kv_dtype = dtype}};
}

/* 2 x 12 heads of 512 rows of 300 scores. */
#define SCORE_ROWS (2.0 * 12 * 512)
#define SCORES     (SCORE_ROWS * 300)

static struct msim_work on_scores(enum msim_family family, const char *variant,
                                  enum msim_dtype dtype, double read,
                                  double written)
{
    struct msim_work w = {.family = family,
                          .dtype = dtype,
                          .variant = variant,
                          .bytes_read = read * SCORES,
                          .bytes_written = written * SCORES};
    bool softmax = family == MSIM_FAMILY_SOFTMAX;

    w.flops = softmax ? 8 * SCORES : 0;
    w.u.vector.elems = (int64_t)SCORES;
    w.u.vector.rows = softmax ? (int64_t)SCORE_ROWS : 1;
    w.u.vector.cols = softmax ? 300 : (int64_t)SCORES;
    w.u.vector.fold = softmax ? MSIM_FOLD_ALONG : MSIM_FOLD_UNKNOWN;
    return w;
}

static void add(double times, const struct msim_work *w,
                struct msim_estimate *sum)
{
    struct msim_estimate e = predict(before, w);

    sum->us += times * e.us;
    sum->low_us += times * e.low_us;
    sum->high_us += times * e.high_us;
    if (e.source > sum->source)
        sum->source = e.source;
}

/* Queries by keys, a softmax that reads 16 bits and writes 32, a cast, and the
 * product by values; of a gradient both products and casts twice, and a softmax
 * that reads its result and its gradient. In fp32 nothing is cast. */
static void test_parts__add_up(void)
{
    static const struct {
        enum msim_dtype dtype;
        bool backward;
        double read, written;
        const char *softmax;
        bool cast;
    } CASE[] = {{MSIM_DT_F16, false, 2, 4, "softmax", true},
                {MSIM_DT_F16, true, 8, 4, "softmax_backward", true},
                {MSIM_DT_F32, false, 4, 4, "softmax", false},
                {MSIM_DT_F64, true, 16, 8, "softmax_backward", false}};

    for (size_t i = 0; i < sizeof(CASE) / sizeof(*CASE); i++) {
        struct msim_work w = attention(CASE[i].dtype, CASE[i].backward), part;
        struct msim_estimate e, want = {.source = MSIM_SOURCE_LAW};
        double times = CASE[i].backward ? 2 : 1;

        part = gemm(512, 300, 64);
        part.dtype = CASE[i].dtype;
        part.u.gemm.batch = 24;
        msim_work_count(&part);
        add(times, &part, &want);
        part.u.gemm.n = 64;
        part.u.gemm.k = 300;
        msim_work_count(&part);
        add(times, &part, &want);
        part = on_scores(MSIM_FAMILY_SOFTMAX, CASE[i].softmax, CASE[i].dtype,
                         CASE[i].read, CASE[i].written);
        add(1, &part, &want);
        part = on_scores(MSIM_FAMILY_COPY, "copy", CASE[i].dtype, 4, 2);
        if (CASE[i].cast)
            add(times, &part, &want);
        CHECK_INT(msim_attention_parts(before, &w, &e), MSIM_OK);
        CHECK_REL(e.us, want.us, 1e-9);
        CHECK_REL(e.low_us, want.low_us, 1e-9);
        CHECK_REL(e.high_us, want.high_us, 1e-9);
        CHECK_INT(e.source, want.source);
        CHECK_INT(e.family, MSIM_FAMILY_ATTENTION);
    }
}

/* A stack that is named and has no fused attention, of PyTorch's own, on a
 * GPU. */
static void test_parts__are_of_old_stacks(void)
{
    struct msim_work w = attention(MSIM_DT_F16, false);

    CHECK(msim_attention_is_in_parts(before, &w));
    CHECK(!msim_attention_is_in_parts(platform, &w));
    before->is_host = true;
    CHECK(!msim_attention_is_in_parts(before, &w));
    before->is_host = false;
    w.framework = "vllm";
    CHECK(!msim_attention_is_in_parts(before, &w));
}

/* Each part says of how many it is one, and how often it runs. */
static void test_parts__are_explained(void)
{
    static const char *const SAYS[2][4] = {
        {"part 1 of 4, 1 times: gemm\n", "part 2 of 4, 1 times: softmax\n",
         "part 3 of 4, 1 times: copy\n", "part 4 of 4, 1 times: gemm\n"},
        {"part 1 of 4, 2 times: gemm\n", "part 2 of 4, 1 times: softmax\n",
         "part 3 of 4, 2 times: copy\n", "part 4 of 4, 2 times: gemm\n"}};

    for (int back = 0; back < 2; back++) {
        struct msim_work w = attention(MSIM_DT_F16, back);
        char *text = explained(before, &w), *at = text;

        for (int k = 0; k < 4 && at; k++) {
            at = strstr(at, SAYS[back][k]);
            CHECK(at != NULL);
        }
        CHECK(strstr(text, "model: softmax on a100@pytorch-1.13") != NULL);
        free(text);
    }
}

int main(void)
{
    if (msim_platform_load(&platform, MSIM_DATA, "a100", NULL) != MSIM_OK ||
        msim_platform_load(&before, MSIM_DATA, "a100@pytorch-1.13", NULL) !=
            MSIM_OK) {
        fprintf(stderr, "platform 'a100' cannot be loaded\n");
        return 1;
    }
    RUN(test_answers__to_who_is_strict);
    RUN(test_answers__of_a_users_table);
    RUN(test_answers__have_a_limit);
    RUN(test_answers__repeat);
    RUN(test_answers__explain);
    RUN(test_parts__add_up);
    RUN(test_parts__are_of_old_stacks);
    RUN(test_parts__are_explained);
    msim_platform_free(platform);
    msim_platform_free(before);
    return check_summary();
}
