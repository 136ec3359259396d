/* Data sheets: which rate is whose, what a file may leave out, and what of it
 * is refused. */
#include "core/work/data_sheet.h"
#include "core/work/estimate.h"
#include "tests/check.h"

#include <stdlib.h>

#define NEEDED                                                                 \
    "\"fp32_flops\": 2e13, \"sms\": 100, \"memory_bytes\": 8e10, "             \
    "\"l2_bytes\": 5e7, \"memory_bandwidth\": 2e12"

static enum msim_status read_sheet(struct msim_data_sheet *s,
                                   const char *members,
                                   const struct msim_data_sheet *like,
                                   struct msim_error *err)
{
    enum msim_status status;
    char text[2000];
    cJSON *json;
    size_t at;

    snprintf(text, sizeof(text), "{%s}", members);
    if (msim_json_parse(&json, text, strlen(text), &at) != MSIM_OK)
        abort();
    memset(s, 0, sizeof(*s));
    status = msim_data_sheet_read(s, json, like, "p.json", err);
    cJSON_Delete(json);
    return status;
}

static void test_data_sheet__rates(void)
{
    static const struct {
        enum msim_dtype dtype;
        const char *variant;
        enum msim_rate rate;
    } cases[] = {
        {MSIM_DT_F64, NULL, MSIM_RATE_FP64},
        {MSIM_DT_C128, "", MSIM_RATE_FP64},
        {MSIM_DT_F32, NULL, MSIM_RATE_FP32},
        {MSIM_DT_F32, "tf32", MSIM_RATE_TF32},
        {MSIM_DT_F32, "add", MSIM_RATE_FP32},
        {MSIM_DT_F16, "tf32", MSIM_RATE_FP16},
        {MSIM_DT_BF16, NULL, MSIM_RATE_FP16},
        {MSIM_DT_F8, "fp8_block", MSIM_RATE_FP8},
        {MSIM_DT_F8, "nvfp4", MSIM_RATE_FP4},
        {MSIM_DT_I8, NULL, MSIM_RATE_INT8},
        {MSIM_DT_U8, NULL, MSIM_RATE_INT8},
        {MSIM_DT_F16, "sq", MSIM_RATE_INT8},
        {MSIM_DT_I64, NULL, MSIM_RATE_FP32},
    };
    struct msim_data_sheet s = {.sustained = 0.5};

    for (int k = 0; k < MSIM_RATE_COUNT; k++)
        s.rate[k] = 1e12 * (k + 1);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct msim_work w = {.dtype = cases[i].dtype,
                              .variant = cases[i].variant};

        CHECK_INT(msim_data_sheet_rate(w.dtype, w.variant), cases[i].rate);
        CHECK_INT(msim_data_sheet_rate_on(&s, w.dtype, w.variant),
                  cases[i].rate);
        CHECK_REL(msim_data_sheet_peak_per_us(&s, &w),
                  1e6 * (cases[i].rate + 1), 1e-12);
        CHECK_REL(msim_data_sheet_flops_per_us(&s, &w),
                  0.5e6 * (cases[i].rate + 1), 1e-12);
    }
    s.missing[MSIM_RATE_TF32] = s.missing[MSIM_RATE_FP8] = true;
    CHECK_INT(msim_data_sheet_rate_on(&s, MSIM_DT_F32, "tf32"), MSIM_RATE_FP32);
    CHECK_INT(msim_data_sheet_rate_on(&s, MSIM_DT_F8, NULL), MSIM_RATE_FP8);
}

/* The largest of four ratios, whichever way round. */
static void test_data_sheet__distance(void)
{
    const struct msim_data_sheet a = {
        .rate = {[MSIM_RATE_FP32] = 20, [MSIM_RATE_FP16] = 300},
        .sustained = 1,
        .sms = 100,
        .bandwidth = 2};
    struct msim_data_sheet b;

    CHECK_REL(msim_data_sheet_distance(&a, &a), 0, 0);
    for (int k = 0; k < 5; k++) {
        b = a;
        *(k == 0   ? &b.sms
          : k == 1 ? &b.bandwidth
          : k == 2 ? &b.rate[MSIM_RATE_FP32]
          : k == 3 ? &b.rate[MSIM_RATE_FP16]
                   : &b.sustained) *= 3;
        CHECK_REL(msim_data_sheet_distance(&a, &b), log(3), 1e-12);
        CHECK_REL(msim_data_sheet_distance(&b, &a), log(3), 1e-12);
    }
}

/* What is not given is typical, or that of a GPU which is alike. */
static void test_data_sheet__what_is_not_given(void)
{
    struct msim_data_sheet s, like = {0};

    CHECK_INT(read_sheet(&s, NEEDED, NULL, NULL), MSIM_OK);
    CHECK_REL(s.floor_us, 2, 0);
    CHECK_REL(s.pcie, 25e9, 0);
    CHECK_REL(s.pageable, 8e9, 0);
    CHECK_REL(s.link, 25e9, 0);
    CHECK_REL(s.network, 25e9, 0);
    CHECK_REL(s.trace_factor, 1.5, 0);
    CHECK_REL(s.sustained, 1, 0);
    CHECK_REL(s.stream, 1, 0);
    CHECK_REL(s.product_fp32, 1, 0);
    CHECK_REL(s.dies, 1, 0);
    CHECK_REL(s.usable_bytes, 8e10, 0);
    CHECK_REL(s.cards_per_gpu, 1, 0);
    CHECK_REL(s.latency_us, MSIM_NETWORK_LATENCY_US, 0);
    CHECK_REL(s.shared_cache, 0, 0);
    CHECK_REL(s.clock_hz, 0, 0);
    CHECK(s.no_link && !s.no_bf16 && !s.in_switch && !s.miopen);
    CHECK_REL(s.mesh, 0, 0);
    CHECK_STR(s.interconnect, "");
    snprintf(like.interconnect, sizeof(like.interconnect), "a bus");
    like.floor_us = 3;
    like.link = 7e9;
    like.pcie = like.pageable = like.network = 1e10;
    like.trace_factor = 2;
    CHECK_INT(read_sheet(&s, NEEDED, &like, NULL), MSIM_OK);
    CHECK_REL(s.floor_us, 3, 0);
    CHECK_REL(s.link, 7e9, 0);
    CHECK_REL(s.trace_factor, 2, 0);
    CHECK_STR(s.interconnect, "a bus");
    CHECK(!s.no_link); /* the like one's is known */
    like.no_link = true;
    CHECK_INT(read_sheet(&s, NEEDED, &like, NULL), MSIM_OK);
    CHECK(s.no_link);
    CHECK_INT(read_sheet(&s, NEEDED ", \"link_bandwidth\": 3e11", &like, NULL),
              MSIM_OK);
    CHECK(!s.no_link);
    CHECK_REL(s.link, 3e11, 0);
    CHECK_INT(read_sheet(&s,
                         NEEDED
                         ", \"bf16_flops\": 0, \"links\": {\"interconnect\": "
                         "\"x\", \"internode\": \"y\", \"in_switch\": true, "
                         "\"mesh\": 7}, \"libraries\": {\"convolution\": "
                         "\"MIOpen\"}",
                         &like, NULL),
              MSIM_OK);
    CHECK(s.no_bf16 && s.in_switch && s.miopen);
    CHECK_REL(s.mesh, 7, 0);
    CHECK_STR(s.interconnect, "x");
    CHECK_STR(s.internode, "y");
}

/* Types without a unit run at the rate of another one. */
static void test_data_sheet__what_falls_back(void)
{
    struct msim_data_sheet s;

    CHECK_INT(read_sheet(&s, NEEDED, NULL, NULL), MSIM_OK);
    for (int k = 0; k < MSIM_RATE_COUNT; k++) {
        CHECK_REL(s.rate[k], 2e13, 0);
        CHECK_INT(s.missing[k], k != MSIM_RATE_FP32);
    }
    CHECK_INT(read_sheet(&s,
                         NEEDED ", \"fp16_flops\": 3e14, \"fp8_flops\": 6e14, "
                                "\"fp64_flops\": 0",
                         NULL, NULL),
              MSIM_OK);
    CHECK_REL(s.rate[MSIM_RATE_FP16], 3e14, 0);
    CHECK_REL(s.rate[MSIM_RATE_INT8], 3e14, 0);
    CHECK_REL(s.rate[MSIM_RATE_FP8], 6e14, 0);
    CHECK_REL(s.rate[MSIM_RATE_FP4], 6e14, 0);
    CHECK_REL(s.rate[MSIM_RATE_FP64], 2e13, 0);
    CHECK(s.missing[MSIM_RATE_FP64] && !s.missing[MSIM_RATE_FP8]);
}

/* Each figure's range, both ends of which are in it. */
static void test_data_sheet__ranges(void)
{
    static const struct {
        const char *key;
        double least, most;
    } cases[] = {
        {"fp64_flops", 1e8, 1e18},
        {"fp4_flops", 1e8, 1e18},
        {"bf16_flops", 1e8, 1e18},
        {"usable_memory_bytes", 1e6, 1e14},
        {"kernel_floor_us", 1e-3, 1e7},
        {"pcie_bandwidth", 1e7, 1e14},
        {"pageable_bandwidth", 1e7, 1e14},
        {"link_bandwidth", 1e7, 1e15},
        {"network_bandwidth", 1e6, 1e14},
        {"trace_factor", 1, 100},
        {"sustained_ratio", 0.01, 1},
        {"stream_ratio", 0.1, 1},
        {"fp32_product_ratio", 0.01, 3},
        {"dies", 1, 256},
        {"shared_cache_bandwidth", 1e8, 1e16},
        {"attention_floor_us", 1e-3, 1e7},
        {"boost_clock", 1e7, 1e11},
        {"power_limit", 0.1, 1e6},
        {"compute_capability", 1, 99},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        for (int k = 0; k < 4; k++) {
            double v =
                (k < 2 ? cases[i].least : cases[i].most) * (k == 0   ? 0.99
                                                            : k == 3 ? 1.01
                                                                     : 1);
            struct msim_error err = {0};
            struct msim_data_sheet s;
            char text[400], want[160];
            bool good = k == 1 || k == 2;

            snprintf(text, sizeof(text), NEEDED ", \"%s\": %.17g", cases[i].key,
                     v);
            CHECK_INT(read_sheet(&s, text, NULL, &err),
                      good ? MSIM_OK : MSIM_EFORMAT);
            snprintf(want, sizeof(want),
                     "'%s' is missing or wrong, want a number from %g to %g",
                     cases[i].key, cases[i].least, cases[i].most);
            CHECK_STR(err.text, good ? "" : want);
        }
}

static void test_data_sheet__what_must_be_given(void)
{
    static const struct {
        const char *members, *why;
    } cases[] = {
        {"\"sms\": 100",
         "'fp32_flops' is missing or wrong, want a rate above 0 FLOP/s"},
        {"\"fp32_flops\": 2e13, \"memory_bytes\": 8e10, \"l2_bytes\": 5e7, "
         "\"memory_bandwidth\": 2e12",
         "'sms' is missing or wrong, want a number above 0"},
        {"\"fp32_flops\": 2e13, \"sms\": 100, \"l2_bytes\": 5e7, "
         "\"memory_bandwidth\": 2e12",
         "'memory_bytes' is missing or wrong, want a number above 0"},
        {"\"fp32_flops\": 2e13, \"sms\": 100, \"memory_bytes\": 8e10, "
         "\"memory_bandwidth\": 2e12",
         "'l2_bytes' is missing or wrong, want a number above 0"},
        {"\"fp32_flops\": 2e13, \"sms\": 100, \"memory_bytes\": 8e10, "
         "\"l2_bytes\": 5e7",
         "'memory_bandwidth' is missing or wrong, want a number above 0"},
        {"\"fp32_flops\": 2e13, \"sms\": 0.5",
         "'sms' is missing or wrong, want a number from 1 to 100000"},
        {NEEDED ", \"pcie_bandwidth\": \"fast\"",
         "'pcie_bandwidth' is missing or wrong, want a number from 1e+07 to "
         "1e+14"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct msim_error err = {0};
        struct msim_data_sheet s;

        CHECK_INT(read_sheet(&s, cases[i].members, NULL, &err), MSIM_EFORMAT);
        CHECK_STR(err.text, cases[i].why);
        CHECK_STR(err.file, "p.json");
    }
}

/* The words of what an estimate stands on. */
static void test_data_sheet__words_of_estimates(void)
{
    static const struct {
        enum msim_source source;
        const char *text;
    } cases[] = {
        {MSIM_SOURCE_MEASURED, "measured"}, {MSIM_SOURCE_TABLE, "table"},
        {MSIM_SOURCE_LAW, "law"},           {MSIM_SOURCE_SCALED, "scaled"},
        {MSIM_SOURCE_INFERRED, "launch"},   {MSIM_SOURCE_BOUND, "bound"},
        {MSIM_SOURCE_CLASS, "class"},       {MSIM_SOURCE_NOT_RUN, "not run"},
        {MSIM_SOURCE_NEAREST, "nearest"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        CHECK_STR(msim_source_text(cases[i].source), cases[i].text);
    CHECK_STR(msim_bounded_text(MSIM_BOUNDED_NOT), "");
    CHECK_STR(msim_bounded_text(MSIM_BOUNDED_MEMORY),
              "its sizes are more than the device's memory");
}

int main(void)
{
    RUN(test_data_sheet__rates);
    RUN(test_data_sheet__distance);
    RUN(test_data_sheet__what_is_not_given);
    RUN(test_data_sheet__what_falls_back);
    RUN(test_data_sheet__ranges);
    RUN(test_data_sheet__what_must_be_given);
    RUN(test_data_sheet__words_of_estimates);
    return check_summary();
}
