/*
 * models/law/moe_law.c: the time of a layer of experts, its features and its
 * key, by hand.
 */
#include "models/law/law.h"

#include "tests/check.h"

/* 96 pairs of 64 tokens; of 20 experts here 12 have some, the busiest 30. Split
 * over two, the inner size is 500. */
static struct msim_work experts(void)
{
    struct msim_work w = {.family = MSIM_FAMILY_MOE,
                          .dtype = MSIM_DT_BF16,
                          .flops = 4e9,
                          .bytes_read = 3e6,
                          .bytes_written = 1e6};

    w.u.moe.hidden = 1024;
    w.u.moe.inter = 1000;
    w.u.moe.tp = 2;
    w.u.moe.routing = (struct msim_moe_routing){.tokens = 64,
                                                .topk = 6,
                                                .experts = 80,
                                                .ep = 4,
                                                .kind = MSIM_ROUTING_EVEN,
                                                .alpha = 1.2};
    w.u.moe.load = (struct msim_moe_load){.local = 20,
                                          .pairs = 96,
                                          .active = 12,
                                          .most = 30,
                                          .tiles = {15, 14, 13, 12.5}};
    return w;
}

/* 100 TFLOP/s, 2 TB/s, and a cache of which experts get `share`. */
static struct msim_data_sheet sheet(void)
{
    struct msim_data_sheet s = {
        .sms = 50, .sustained = 1, .bandwidth = 2e12, .l2_bytes = 8e6};

    s.rate[MSIM_RATE_FP16] = 1e14;
    return s;
}

static const double P[] = {20, 0.5, 0.8, 3, 0.25, 0.5, 4, 0.03, 1.2};

/* The formula on top of moe_law.c, with `rate` FLOP/us; 0.6 of the L2 cache is
 * for experts (experts,cache_share of data/laws/kernels.csv). */
static double time_by_hand(double more, double rate)
{
    double padding = 13 * 64 / 96.0;
    double compute = more * 4e9 / (rate * 0.5) * pow(padding, 0.25);
    double bytes = more * 4e6, cache = 8e6 * 0.6;
    double hit = bytes / (1 + pow(bytes / cache, 4));
    double memory = (bytes - hit) / (2e6 * 0.8) + hit / (2e6 * 0.8 * 4);
    double scatter = 64 * 6 * 2 * (1024 + 500.0) / 2e6 * 0.5;

    return 20 + cbrt(pow(compute, 3) + pow(memory, 3)) + scatter + 12 * 0.03;
}

static void test_moe_law__time(void)
{
    struct msim_data_sheet s = sheet();
    struct msim_work w = experts();

    CHECK_REL(MSIM_LAW_MOE.time_us(&s, &w, P), time_by_hand(1, 1e8), 1e-12);
    w.u.moe.plain = true;
    CHECK_REL(MSIM_LAW_MOE.time_us(&s, &w, P), time_by_hand(1.2, 1e8), 1e-12);
    /* where memory is all, the cache shows */
    s.rate[MSIM_RATE_FP16] = 1e20;
    CHECK_REL(MSIM_LAW_MOE.time_us(&s, &w, P), time_by_hand(1.2, 1e14), 1e-12);
}

static void test_moe_law__parts(void)
{
    struct msim_work w = experts();

    CHECK_REL(msim_moe_tp(&w), 2, 0);
    w.u.moe.tp = 1;
    CHECK_REL(msim_moe_tp(&w), 1, 0);
    w.u.moe.tp = 0;
    CHECK_REL(msim_moe_tp(&w), 1, 0);
}

static void test_moe_law__features(void)
{
    struct msim_data_sheet s = sheet();
    struct msim_work w = experts();
    double into = 13 * 8 / 50.0; /* tiles of 64 rows by 1000 columns of 128 */
    const double want[] = {log(1024),
                           log(80),
                           log(6),
                           log(64),
                           log(500),
                           log(20),
                           log(96),
                           log(4e9),
                           log(4e6),
                           log(12),
                           log(30),
                           log(8),
                           log(0.5),
                           15 * 16 / 96.0,
                           13 * 64 / 96.0,
                           12.5 * 128 / 96,
                           log(into),
                           log(12.5 * 8 / 50),
                           log(13 * 8 / 50.0),
                           3 / into,
                           0,
                           0,
                           log(4),
                           log(30 * 12 / 96.0),
                           log(384),
                           log(384 / 80.0),
                           0};
    const uint32_t n = sizeof(want) / sizeof(*want);
    double x[MSIM_LAW_FEATURES];

    CHECK_UINT(MSIM_LAW_MOE.n_features, n);
    MSIM_LAW_MOE.describe(&s, &w, x);
    for (uint32_t i = 0; i < n; i++)
        if (!CHECK_REL(x[i], want[i], 1e-12))
            fprintf(stderr, "%s\n", MSIM_LAW_MOE.features[i]);
    w.u.moe.hidden = 1100; /* 9 columns of tiles out of it */
    w.u.moe.plain = true;
    w.u.moe.routing.ep = 1;
    w.u.moe.routing.kind = MSIM_ROUTING_POWER_LAW;
    MSIM_LAW_MOE.describe(&s, &w, x);
    CHECK_REL(x[18], log(13 * 9 / 50.0), 1e-12);
    CHECK_REL(x[20], 1.2, 0);
    CHECK(x[22] == 0);
    CHECK_REL(x[26], 1, 0);
}

/* The kernels that a back end's name tells, the first word that it holds. */
static void test_moe_law__kernels(void)
{
    static const struct {
        const char *backend, *kernels;
        double flavour;
    } ROWS[] = {
        {NULL, NULL, 0},
        {"deepgemm", NULL, 0},
        {"marlin", "marlin", 0},
        {"triton_modular", "triton", 1},
        {"cutlass_situ", "cutlass", 2},
        {"torch_flow", "cutlass", 0},
        {"mxfp4_flashinfer_trtllm", "trtllm-gen", 4},
        {"fused_moe", "triton", 0},
        {"trtllm_cutlass", "cutlass", 0},
        {"marlin_triton", "marlin", 0},
        {"modular_situ_mxfp4_flashinfer", NULL, 7},
    };
    struct msim_data_sheet s = sheet();
    struct msim_work w = experts();
    double x[MSIM_LAW_FEATURES];
    char key[64], want[64];

    for (size_t i = 0; i < sizeof(ROWS) / sizeof(*ROWS); i++) {
        w.backend = ROWS[i].backend;
        CHECK_STR(msim_moe_kernels(&w), ROWS[i].kernels);
        MSIM_LAW_MOE.describe(&s, &w, x);
        CHECK(!(fabs(x[21] - ROWS[i].flavour) > 0));
        MSIM_LAW_MOE.key(&w, key, sizeof(key));
        snprintf(want, sizeof(want), "%s/%s", msim_dtype_text(MSIM_DT_BF16),
                 ROWS[i].kernels ? ROWS[i].kernels : "any");
        CHECK_STR(key, want);
    }
    w.variant = "fp8_block";
    CHECK_STR(msim_moe_type(&w), "fp8_block");
    w.variant = "";
    CHECK_STR(msim_moe_type(&w), msim_dtype_text(MSIM_DT_BF16));
}

int main(void)
{
    RUN(test_moe_law__features);
    RUN(test_moe_law__kernels);
    RUN(test_moe_law__parts);
    RUN(test_moe_law__time);
    return check_summary();
}
