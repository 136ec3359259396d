/*
 * models/law/attention_law.c: times, features and keys by hand, and constants
 * on another GPU.
 */
#include "models/law/law.h"
#include "tests/check.h"

static struct msim_work encoder(int64_t tokens)
{
    struct msim_work w = {.family = MSIM_FAMILY_ATTENTION,
                          .dtype = MSIM_DT_BF16};

    w.u.attention.phase = MSIM_ATTENTION_ENCODER;
    w.u.attention.batch = 1;
    w.u.attention.heads = w.u.attention.kv_heads = 8;
    w.u.attention.q_len = w.u.attention.kv_len = tokens;
    w.u.attention.head_dim = 64;
    return w;
}

/* 128 more keys of few heads take 3.5 us more on an AMD GPU, whatever the
 * constants of others say; a slower walk stays, and so do those of others. */
static void test_attention_law__keys_are_walked(void)
{
    struct msim_data_sheet s = {.sms = 304,
                                .clock_hz = 2.1e9,
                                .bandwidth = 5.3e12,
                                .l2_bytes = 268e6,
                                .sustained = 1,
                                .miopen = true};
    struct msim_work few = encoder(128), more = encoder(256);
    double p[MSIM_LAW_PARAMS] = {9, 1, 1, 1, 0.1, 8};

    s.rate[MSIM_RATE_FP16] = 1e18; /* nothing but the walk counts */
    MSIM_LAW_ATTENTION.carry(&s, p);
    CHECK_REL(MSIM_LAW_ATTENTION.time_us(&s, &more, p) -
                  MSIM_LAW_ATTENTION.time_us(&s, &few, p),
              3.5, 0.1);
    p[5] = 40;
    MSIM_LAW_ATTENTION.carry(&s, p);
    CHECK_REL(p[5], 40, 1e-12);
    p[5] = 8;
    s.miopen = false;
    MSIM_LAW_ATTENTION.carry(&s, p);
    CHECK_REL(p[5], 8, 1e-12);
}

/* 3 sequences of 8 heads, which share keys by fours: 300 queries and 700 keys,
 * with a window of 500. */
static struct msim_work grouped(void)
{
    struct msim_work w = {.family = MSIM_FAMILY_ATTENTION,
                          .dtype = MSIM_DT_BF16,
                          .flops = 6e6,
                          .bytes_read = 3e6,
                          .bytes_written = 1e6};

    w.u.attention.phase = MSIM_ATTENTION_ENCODER;
    w.u.attention.batch = 3;
    w.u.attention.heads = 8;
    w.u.attention.kv_heads = 2;
    w.u.attention.q_len = 300;
    w.u.attention.kv_len = 700;
    w.u.attention.head_dim = 64;
    w.u.attention.window = 500;
    w.u.attention.kv_dtype = MSIM_DT_F8;
    return w;
}

static struct msim_data_sheet sheet(void)
{
    return (struct msim_data_sheet){.rate = {[MSIM_RATE_FP16] = 1e12},
                                    .sustained = 0.5,
                                    .sms = 10,
                                    .bandwidth = 2e12};
}

/* 3 x 8 x 3 blocks of 128 queries are 7.2 waves of 10. A window bounds the
 * keys that are walked, where there are as many. */
static void test_attention_law__time(void)
{
    static const double P[MSIM_LAW_PARAMS] = {3, 0.8, 0.4, 2, 0.5, 16};
    static const int64_t WINDOWS[][2] = {
        {500, 500}, {0, 700}, {700, 700}, {900, 700}, {1, 1}};
    struct msim_data_sheet s = sheet();
    struct msim_work w = grouped();
    double compute = 6e6 / (5e5 * 0.8) * sqrt(8 / 7.2);
    double memory = 4e6 / (2e6 * 0.4);

    for (size_t i = 0; i < sizeof(WINDOWS) / sizeof(*WINDOWS); i++) {
        double depth = (double)WINDOWS[i][1] / 1024 * 16;

        w.u.attention.window = WINDOWS[i][0];
        CHECK_REL(MSIM_LAW_ATTENTION.time_us(&s, &w, P),
                  3 + sqrt(compute * compute + memory * memory + depth * depth),
                  1e-12);
    }
}

/* Six groups of keys leave three blocks for each of 20 that fill the SMs
 * twice. */
static void test_attention_law__features(void)
{
    struct msim_data_sheet s = sheet();
    struct msim_work w = grouped();
    double pairs = msim_attention_pairs(&w);
    const double want[] = {
        log(3),
        log(8),
        log(2),
        log(300),
        log(700),
        log(6e6),
        log(4e6),
        log(64),
        log(4),
        log(pairs / 300),
        log(500),
        log(500.0 / 700),
        1,
        2,
        log(24 * 5 / 10.0),
        1,
        log(7.2),
        8 / 7.2,
        log(4.8),
        5 / 4.8,
        log(6 * 6 / 10.0), /* 6 blocks of 128 keys */
        log(900),
        log(0.6), /* groups of decoding from here on */
        1 / 0.6,
        log(75),            /* 4 x 300 queries share keys */
        log(6 * 19 / 10.0), /* in blocks of 64 */
        log(6 * 10 / 10.0),
        log(3),
        log(8 / 3.0), /* 8 blocks of 64 of the window's keys */
        2 / 1.8,
        log(3 * 2)};
    const uint32_t n = sizeof(want) / sizeof(*want);
    double x[MSIM_LAW_FEATURES];

    CHECK_UINT(MSIM_LAW_ATTENTION.n_features, n);
    MSIM_LAW_ATTENTION.describe(&s, &w, x);
    for (uint32_t i = 0; i < n; i++)
        if (!CHECK(fabs(x[i] - want[i]) < 1e-12))
            fprintf(stderr, "%s: %g, want %g\n", MSIM_LAW_ATTENTION.features[i],
                    x[i], want[i]);
    /* 20 stands for no window; one of all keys is none */
    w.u.attention.window = 0;
    MSIM_LAW_ATTENTION.describe(&s, &w, x);
    CHECK_REL(x[10], 20, 0);
    CHECK(!(fabs(x[11]) > 0));
    w.u.attention.window = 700;
    MSIM_LAW_ATTENTION.describe(&s, &w, x);
    CHECK_REL(x[10], log(700), 1e-12);
    CHECK(!(fabs(x[11]) > 0));
    /* at least one part of the keys each, and no more parts than blocks */
    w.u.attention.batch = 30;
    MSIM_LAW_ATTENTION.describe(&s, &w, x);
    CHECK(!(fabs(x[27]) > 0));
    CHECK_REL(x[28], log(11), 1e-12);
    w.u.attention.batch = w.u.attention.kv_heads = 1;
    MSIM_LAW_ATTENTION.describe(&s, &w, x);
    CHECK_REL(x[27], log(11), 1e-12);
}

static void test_attention_law__keys(void)
{
    static const char *const KEYS[] = {"prefill", "decode", "encoder"};
    struct msim_work w = grouped();
    char key[32];

    for (int i = 0; i < 3; i++) {
        w.u.attention.phase = (enum msim_attention_phase)i;
        MSIM_LAW_ATTENTION.key(&w, key, sizeof(key));
        CHECK_STR(key, KEYS[i]);
        for (int k = 0; k < 3; k++)
            CHECK_REL(MSIM_LAW_ATTENTION.key_log_sd(KEYS[i], KEYS[k]),
                      i == 1 || k == 1 ? 0.7 : 0.2, 0);
    }
}

int main(void)
{
    RUN(test_attention_law__features);
    RUN(test_attention_law__keys);
    RUN(test_attention_law__keys_are_walked);
    RUN(test_attention_law__time);
    return check_summary();
}
