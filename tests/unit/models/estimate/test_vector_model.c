/*
 * models/estimate/vector.c: which rows stand in for an operator, copies to and
 * from the host, and streams that no rate of a table outruns.
 */
#include "models/estimate/model.h"
#include "models/estimate/model_internal.h"
#include "models/law/law.h"
#include "models/platform/fit.h"
#include "models/platform/platform.h"
#include "models/platform/platform_data.h"
#include "tests/check.h"

#include <math.h>
#include <stdlib.h>

extern const struct msim_model MSIM_MODEL_VECTOR;

static struct msim_platform *p;

/* 2^26 numbers of 32 bits, read once and written once. */
static struct msim_work work(enum msim_family family, const char *variant)
{
    return (struct msim_work){
        .family = family,
        .dtype = MSIM_DT_F32,
        .variant = variant,
        .kernels = 1,
        .bytes_read = 4.0 * (1 << 26),
        .bytes_written = 4.0 * (1 << 26),
        .u.vector = {.elems = 1 << 26, .rows = 1 << 16, .cols = 1 << 10}};
}

static struct msim_estimate predict(const struct msim_work *w)
{
    struct msim_estimate e = {0};

    CHECK_INT(MSIM_MODEL_VECTOR.predict(p, w, &e), MSIM_OK);
    CHECK_INT(e.family, w->family);
    return e;
}

static char *explained(const struct msim_work *w)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    MSIM_MODEL_VECTOR.explain(p, w, out);
    fclose(out);
    return text;
}

static bool explains(const struct msim_work *w, const char *want)
{
    char *text = explained(w);
    bool found = strstr(text, want) != NULL;

    free(text);
    return found;
}

static void test_vector__covers_its_families(void)
{
    for (int f = 0; f < MSIM_FAMILY_COUNT; f++) {
        struct msim_work w = work((enum msim_family)f, "");

        CHECK_INT(MSIM_MODEL_VECTOR.covers(p, &w),
                  f >= MSIM_FAMILY_POINTWISE && f <= MSIM_FAMILY_OPTIMIZER);
    }
}

/* What stands in for an operator of no rows of its own, how much longer the
 * shortest kernel of its family takes, and how sure that is. */
static void test_vector__has_stand_ins(void)
{
    static const struct {
        enum msim_family family;
        const char *variant, *keys[4];
        double more_us, log_sd;
        bool carries;
    } CASE[] = {
        {MSIM_FAMILY_POINTWISE, "thing", {"add", "mul", "addu"}, 0, 0.15, true},
        {MSIM_FAMILY_COPY, "thing", {"addu", "relu", "add"}, 0, 0.2, false},
        {MSIM_FAMILY_OPTIMIZER, "thing", {"add", "mul"}, 0, 0.3, false},
        {MSIM_FAMILY_REDUCTION,
         "thing",
         {"addu", "relu", "add"},
         1.5,
         0.3,
         false},
        {MSIM_FAMILY_EMBEDDING,
         "thing",
         {"index_select", "addu", "add"},
         1.1,
         0.4,
         false},
        {MSIM_FAMILY_NORM,
         "batch_norm",
         {"addu", "relu", "add"},
         3.1,
         0.2,
         false},
        {MSIM_FAMILY_NORM,
         "group_norm_x",
         {"addu", "relu", "add"},
         3.1,
         0.2,
         false},
    };
    static const char *const PREFER[] = {"torch", "NeuSight", "vidur", NULL};

    p->sheet.stream = 1;
    for (size_t i = 0; i < sizeof(CASE) / sizeof(*CASE); i++) {
        struct msim_work w = work(CASE[i].family, CASE[i].variant);
        const struct msim_law *law = msim_law_of(CASE[i].family, false);
        const char *keys[8] = {CASE[i].variant, CASE[i].variant};
        struct msim_adjust adjust = {.factor = 1,
                                     .least_us =
                                         p->sheet.floor_us + CASE[i].more_us,
                                     .log_sd = CASE[i].log_sd};
        struct msim_estimate e, want = {0};
        char key[MSIM_FIT_KEY];
        struct msim_pick pick;
        size_t n = 1;

        law->key(&w, key, sizeof(key));
        keys[0] = key;
        for (size_t k = 0; k < 4 && CASE[i].keys[k]; k++)
            keys[++n] = CASE[i].keys[k];
        keys[++n] = NULL;
        REQUIRE(msim_fit_pick(p, law, NULL, PREFER, keys, &pick));
        CHECK(pick.other_key);
        if (!CASE[i].carries)
            pick.trees = false;
        msim_fit_estimate(p, &pick, &w, &adjust, &want);
        msim_pace_join(msim_sm_pace_us(&p->sheet, &w), &want); /* of norms */
        e = predict(&w);
        CHECK_REL(e.us, want.us, 1e-9);
        CHECK_REL(e.low_us, want.low_us, 1e-9);
        CHECK_REL(e.high_us, want.high_us, 1e-9);
    }
}

/* An operand out of memory order takes twice as long, and nobody knows that
 * well: 0.3 more of the logarithm. */
static void test_vector__is_slow_out_of_order(void)
{
    struct msim_work w = work(MSIM_FAMILY_POINTWISE, "add");
    struct msim_estimate own = predict(&w), e;

    CHECK(!explains(&w, "times: "));
    w.u.vector.strided = true;
    e = predict(&w);
    CHECK(e.us > 1.8 * own.us && e.us < 2.05 * own.us);
    CHECK(log(e.high_us / e.us) > log(own.high_us / own.us) + 0.2);
    CHECK(explains(&w, "times: 2, for an operand out of memory order\n"));
    CHECK(explains(&w, ", not in memory order\n"));
}

/* Beyond the cache no stream is faster than the share of the bandwidth that
 * long ones reach; look-ups and other stacks have rates of their own. */
static void test_vector__keeps_to_the_stream(void)
{
    struct msim_work w = work(MSIM_FAMILY_POINTWISE, "add");
    struct msim_estimate free_, bound;
    double least;

    p->sheet.stream = 1;
    free_ = predict(&w);
    p->sheet.stream = 0.1;
    bound = predict(&w);
    least = free_.start_us + (msim_vector_bytes(&w) - p->sheet.l2_bytes) * 1e6 /
                                 (p->sheet.bandwidth * 0.1);
    CHECK_REL(bound.us, least, 1e-9);
    CHECK_REL(bound.low_us, free_.low_us * least / free_.us, 1e-9);
    CHECK_REL(bound.high_us, free_.high_us * least / free_.us, 1e-9);
    p->sheet.stream = 0.99; /* below what rows say: nothing changes */
    CHECK(predict(&w).us < 1.15 * free_.us);
    w.framework = "vidur";
    p->sheet.stream = 1;
    free_ = predict(&w);
    p->sheet.stream = 0.1;
    CHECK_REL(predict(&w).us, free_.us, 1e-12);
    w = work(MSIM_FAMILY_EMBEDDING, "embedding");
    bound = predict(&w);
    p->sheet.stream = 1;
    CHECK_REL(bound.us, predict(&w).us, 1e-12);
}

/* ---- copies to and from the host ----------------------------------------- */

/* The shortest kernel and the bytes over PCIe; memory that is not pinned has a
 * rate of its own, and is less sure. */
static void test_vector__copies_over_pcie(void)
{
    static const struct {
        enum msim_copy_kind copy;
        bool pageable;
        double written, read;
    } CASE[] = {{MSIM_COPY_H2D, false, 1e9, 2e9},
                {MSIM_COPY_D2H, false, 1e9, 2e9},
                {MSIM_COPY_H2D, true, 1e9, 2e9},
                {MSIM_COPY_D2H, true, 0, 2e9}};

    for (size_t i = 0; i < sizeof(CASE) / sizeof(*CASE); i++) {
        struct msim_work w = work(MSIM_FAMILY_COPY, "copy");
        double rate = CASE[i].pageable ? p->sheet.pageable : p->sheet.pcie;
        double bytes = CASE[i].written > 0 ? CASE[i].written : CASE[i].read;
        double sd = CASE[i].pageable ? 0.5 : 0.25;
        struct msim_estimate e;

        w.u.vector.copy = CASE[i].copy;
        w.u.vector.pageable = CASE[i].pageable;
        w.bytes_written = CASE[i].written;
        w.bytes_read = CASE[i].read;
        CHECK(MSIM_MODEL_VECTOR.covers(p, &w));
        e = predict(&w);
        CHECK_REL(e.us, p->sheet.floor_us + bytes * 1e6 / rate, 1e-12);
        CHECK_REL(e.start_us, p->sheet.floor_us, 0);
        CHECK_REL(e.low_us, e.us * exp(-1.645 * sd), 1e-9);
        CHECK_REL(e.high_us, e.us * exp(1.645 * sd), 1e-9);
        CHECK_INT(e.source, MSIM_SOURCE_LAW);
        CHECK(explains(&w, CASE[i].pageable
                               ? "law: floor + bytes / PCIe rate (pageable "
                                 "memory)\n"
                               : "law: floor + bytes / PCIe rate (pinned "
                                 "memory)\n"));
        CHECK(!explains(&w, "law: t0"));
    }
}

/* Copies on the GPU, and between GPUs, are not of PCIe here. */
static void test_vector__copies_on_the_gpu(void)
{
    struct msim_work w = work(MSIM_FAMILY_COPY, "copy");

    w.u.vector.copy = MSIM_COPY_D2D;
    CHECK(predict(&w).us < 2e3);
    CHECK(explains(&w, "law: t0 + bytes / bandwidth, faster while they fit "
                       "into the L2 cache\n"));
    w = work(MSIM_FAMILY_POINTWISE, "add"); /* nor is what is no copy */
    w.u.vector.copy = MSIM_COPY_H2D;
    CHECK(explains(&w, "law: t0"));
}

static void test_vector__explains(void)
{
    struct msim_work w = work(MSIM_FAMILY_POINTWISE, "");

    CHECK(explains(&w, "inputs: pointwise, 5.36871e+08 bytes, 67108864 "
                       "elements, 65536 x 1024\n"));
    CHECK(!explains(&w, "look-ups: "));
    CHECK(!explains(&w, "grid: "));
    w.variant = "mul";
    CHECK(explains(&w, "inputs: mul, "));
    w = work(MSIM_FAMILY_EMBEDDING, "embedding");
    w.u.vector.lookups = 1000;
    w.u.vector.table_rows = 5000;
    w.u.vector.row_bytes = 512;
    CHECK(explains(&w, "look-ups: 1000 rows of a table of 5000, 512 bytes "
                       "each\n"));
    w = work(MSIM_FAMILY_REDUCTION, "sum");
    CHECK(!explains(&w, "grid: ")); /* its direction is not known */
    w.u.vector.fold = MSIM_FOLD_ACROSS;
    CHECK(explains(&w, "grid: "));
    w = work(MSIM_FAMILY_POINTWISE, "add");
    CHECK(!explains(&w, "SMs: "));
}

int main(void)
{
    if (!CHECK_INT(msim_platform_load(&p, MSIM_DATA, "a100", NULL), MSIM_OK))
        return check_summary();
    RUN(test_vector__covers_its_families);
    RUN(test_vector__has_stand_ins);
    RUN(test_vector__is_slow_out_of_order);
    RUN(test_vector__keeps_to_the_stream);
    RUN(test_vector__copies_over_pcie);
    RUN(test_vector__copies_on_the_gpu);
    RUN(test_vector__explains);
    msim_platform_free(p);
    return check_summary();
}
