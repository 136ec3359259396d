/*
 * predict/carry/scaled.c, predict/carry/kernel_class.c and what predict/cost.c
 * makes of them: times measured on one GPU, carried to another.
 */
#include "core/reshape/reshape.h"
#include "predict/carry/scaled.h"

#include "models/estimate/model.h"
#include "models/platform/platform.h"
#include "models/platform/platform_data.h"
#include "tests/unit/made_job.h"

#include <math.h>

/* Two GPUs: the second has twice the bandwidth and the links, four times the
 * half-precision rate, half the shortest kernel. */
static const struct msim_data_sheet SMALL = {
    .rate = {[MSIM_RATE_FP32] = 10e12,
             [MSIM_RATE_FP16] = 100e12,
             [MSIM_RATE_FP8] = 100e12},
    .sustained = 1,
    .sms = 100,
    .bandwidth = 1e12,
    .floor_us = 2,
    .link = 100e9,
};
static const struct msim_data_sheet LARGE = {
    .rate = {[MSIM_RATE_FP32] = 10e12,
             [MSIM_RATE_FP16] = 400e12,
             [MSIM_RATE_FP8] = 800e12},
    .sustained = 1,
    .sms = 100,
    .bandwidth = 2e12,
    .floor_us = 1,
    .link = 200e9,
};

static enum msim_kernel_class class_of(const char *name)
{
    return msim_kernel_class_of(&SMALL,
                                &(struct msim_kernel_facts){name, NULL, 50, 0});
}

static void check_class(const char *name, enum msim_kernel_class want)
{
    if (!CHECK_INT(class_of(name), want))
        fprintf(stderr, "  of '%s'\n", name);
}

static void test_scaled__names(void)
{
    static const char *const TENSOR[] = {
        "ampere_fp16_s16816gemm_fp16_128x128_ldg8_relu_f2f_stages_32x5_tn",
        "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x64x64",
        "Cijk_Alik_Bljk_BBS_BH_MT256x128x64_MI32x32x8x1_SN",
        "void cutlass::Kernel2<cutlass_80_tensorop_bf16_256x128_64x3_tn>",
        "void ck::kernel_gemm_xdl_cshuffle_v3<ck::GridwiseGemm>",
        "volta_scudnn_winograd_128x128_ldg1_ldg4",
        "void pytorch_flash::flash_fwd_kernel<Flash_fwd_kernel_traits<64>>",
        "attn_fwd",
        NULL,
    };
    static const char *const MEMORY[] = {
        "void at::native::vectorized_elementwise_kernel<4, AddFunctor>",
        "triton_poi_fused_add_0",
        "triton_red_fused_native_layer_norm_1",
        "void at::native::(anonymous namespace)::CatArrayBatchedCopy<8>",
        "void cublasLt::splitKreduce_kernel<32, 16>",
        "kernel_cutlass_kernel_flashinfernormkernelsrmsnormRMSNormKernel",
        "void gemv2T_kernel_val<int, int, __half>",
        /* Narrow tiles: few columns for each row that is read. */
        "nvjet_sm103_tst_64x16_64x16_4x1_v_bz_TNT",
        "Cijk_Alik_Bljk_BBS_BH_MT64x16x256_MI16x16x1_SN",
        "bmm_Bfloat16_t128x8x128u2_s6_et128x8_m128x8x16",
        /* One query a sequence. */
        "fmhaSm100fKernel_QkvBfloat16PagedKvCausalForGen",
        "void paged_attention_ll4mi_QKV_mfma16_kernel<0>",
        "void flash_fwd_splitkv_kernel<>",
        "",
        NULL,
    };

    for (const char *const *n = TENSOR; *n; n++)
        check_class(*n, MSIM_CLASS_TENSOR);
    for (const char *const *n = MEMORY; *n; n++)
        check_class(*n, MSIM_CLASS_MEMORY);
}

/* Of 2.5 shortest kernels and less, or with blocks for less than half of the
 * GPU: latency, whatever the name. */
static void test_scaled__latency(void)
{
    const struct msim_launch_config few = {.grid = {7, 7, 1}};
    const struct msim_launch_config many = {.grid = {10, 5, 1}};
    struct msim_kernel_facts k = {"gemm_128x128", NULL, 5, false};

    CHECK_INT(msim_kernel_class_of(&SMALL, &k), MSIM_CLASS_LATENCY);
    k.us = 5.1;
    CHECK_INT(msim_kernel_class_of(&SMALL, &k), MSIM_CLASS_TENSOR);
    k.config = &many;
    CHECK_INT(msim_kernel_class_of(&SMALL, &k), MSIM_CLASS_TENSOR);
    k.config = &few;
    CHECK_INT(msim_kernel_class_of(&SMALL, &k), MSIM_CLASS_LATENCY);
    k.communication = true;
    CHECK_INT(msim_kernel_class_of(&SMALL, &k), MSIM_CLASS_LINK);
}

static double carried(const char *name, double us, bool communication)
{
    return msim_kernel_class_us(
        &SMALL, &LARGE,
        &(struct msim_kernel_facts){name, NULL, us, communication});
}

/* 45 us on SMALL: a head of 5 us that takes half as long on LARGE, and 40 us
 * at the rate of its class. */
static void test_scaled__class_ratio(void)
{
    const struct msim_launch_config one = {.grid = {1, 1, 1}};

    CHECK_REL(carried("elementwise", 45, false), 2.5 + 20, 1e-12);
    CHECK_REL(carried("gemm_bf16_128x128", 45, false), 2.5 + 10, 1e-12);
    CHECK_REL(carried("gemm_e4m3_128x128", 45, false), 2.5 + 5, 1e-12);
    CHECK_REL(carried("Cijk_Ailk_Bljk_SB_MT128x128x8", 45, false), 2.5 + 40,
              1e-12);
    CHECK_REL(carried("ampere_sgemm_128x128_tn", 45, false), 2.5 + 40, 1e-12);
    CHECK_REL(carried("ncclDevKernel", 45, true), 2.5 + 20, 1e-12);
    CHECK_REL(carried("elementwise", 3, false), 1.5, 1e-12);
    CHECK_REL(msim_kernel_class_us(
                  &SMALL, &LARGE,
                  &(struct msim_kernel_facts){"elementwise", &one, 45, false}),
              22.5, 1e-12);
}

static struct msim_platform *load(const char *name)
{
    struct msim_platform *p = NULL;

    CHECK_INT(msim_platform_load(&p, MSIM_DATA, name, NULL), MSIM_OK);
    return p;
}

/* 10 us, where models say 2 us here and 6 us there: 30 us. Both ends are a
 * factor of 2 away on both sides: the squares of the logarithms add up, times
 * one and the same share on both sides. */
static void test_scaled__model_ratio(void)
{
    struct msim_platform *a = load("a100"), *b = load("h100");
    struct msim_scaling s = {
        .source = a,
        .target = b,
        .from = {.us = 2, .low_us = 1, .high_us = 4},
        .to = {.us = 6,
               .low_us = 3,
               .high_us = 12,
               .family = MSIM_FAMILY_GEMM,
               .source = MSIM_SOURCE_LAW},
    };
    struct msim_estimate e;

    msim_scaled_by_model(&s, 10, &e);
    CHECK_REL(e.us, 30, 1e-12);
    CHECK_INT(e.family, MSIM_FAMILY_GEMM);
    CHECK_INT(e.source, MSIM_SOURCE_SCALED);
    CHECK_REL(log(e.high_us / e.us), log(e.us / e.low_us), 1e-9);
    CHECK(e.high_us > 30 * 2 && e.high_us < 30 * pow(2, sqrt(2)));

    /* From a GPU to itself nothing is in doubt. */
    s.target = a;
    s.to = s.from;
    msim_scaled_by_model(&s, 10, &e);
    CHECK(e.us == 10 && e.low_us == 10 && e.high_us == 10);
    CHECK(msim_scaled_factor(a, a) == 1);
    CHECK(msim_scaled_factor(a, b) > msim_platform_trace_factor(a));
    msim_platform_free(a);
    msim_platform_free(b);
}

static void made_shaped(struct made *m, const char *name, int ts, int dur)
{
    made_event(m, "cpu_op", name, MADE_HOST, 1, ts, dur);
    made_add(m, "\"Input Dims\":[[4096,1024],[1024,2048]],"
                "\"Input type\":[\"c10::Half\",\"c10::Half\"]}},");
}

/* A product of two kernels, a copy, a collective, and a kernel of no operator,
 * all of odd lengths. */
static struct made made_mixture(void)
{
    static const struct made_comm SUM = {"allreduce", "0", "0, 1", 2,
                                         1 << 20,     0,   -1,     -1};
    struct made m = made_trace(0, 2);

    made_shaped(&m, "aten::mm", 0, 50);
    made_call(&m, 1, "cudaLaunchKernel", 10, 2, 1);
    made_kernel(&m, 7, "gemm_a", 20, 101, 1);
    made_call(&m, 1, "cudaLaunchKernel", 20, 2, 2);
    made_kernel(&m, 7, "gemm_b", 130, 53, 2);
    made_call(&m, 1, "cudaMemcpyAsync", 60, 2, 3);
    made_copy(&m, 7, "DtoD (Device -> Device)", 200, 37, 3, 1 << 24);
    made_call(&m, 1, "cudaLaunchKernel", 70, 2, 4);
    made_nccl(&m, 7, SUM, 240, 89, 4);
    made_call(&m, 1, "cudaLaunchKernel", 80, 2, 5);
    made_kernel(&m, 7, "elementwise", 340, 45, 5);
    return m;
}

static struct msim_works **works_of(struct msim_trace *const *ranks, uint32_t n)
{
    struct msim_works **works = NULL;

    CHECK_INT(msim_works_new_ranks(&works, ranks, n, NULL, false), MSIM_OK);
    return works;
}

/* `views`: the ranks with other sizes; NULL: as traced. */
static struct msim_costs *costs_of(const struct made_job *j,
                                   const struct msim_platform *from,
                                   const struct msim_platform *to,
                                   struct msim_trace *const *views)
{
    struct msim_cost_options opt = {.platform = to, .source = from};
    uint32_t n = j->job->n_ranks;
    struct msim_costs *c = NULL;
    struct msim_works **works, **traced = NULL;
    struct msim_host *host;

    if (!CHECK(msim_host_load(&host, MSIM_DATA, "generic", NULL) == MSIM_OK))
        return NULL;
    works = works_of(views ? views : j->job->ranks, n);
    if (views)
        traced = works_of(j->job->ranks, n);
    opt.host = host;
    opt.works = works;
    opt.works_traced = traced;
    CHECK_INT(msim_costs_new(&c, j->graph, &opt, NULL), MSIM_OK);
    msim_works_free_ranks(works, n);
    if (traced)
        msim_works_free_ranks(traced, n);
    msim_host_free(host);
    return c;
}

static struct msim_costs *costs(const struct made_job *j,
                                const struct msim_platform *from,
                                const struct msim_platform *to)
{
    return costs_of(j, from, to, NULL);
}

/* Same GPU on both sides: measured, to the picosecond, without doubt. */
static void test_scaled__same_gpu_is_measured(void)
{
    struct made m = made_mixture();
    struct msim_platform *p = load("h100");
    struct made_job j;
    struct msim_costs *c;

    REQUIRE(made_load(&j, &m, 1));
    (void)made_run(&j, (struct made_what){0});
    c = costs(&j, p, p);
    for (uint32_t t = 0; c && t < j.graph->n_tasks; t++) {
        CHECK_INT(c->mid[t], j.costs->mid[t]);
        CHECK_INT(c->low[t], j.costs->mid[t]);
        CHECK_INT(c->high[t], j.costs->mid[t]);
    }
    CHECK(c && c->machine.slower == 1 && c->machine.faster == 1);
    msim_costs_free(c);
    msim_platform_free(p);
    made_unload(&j);
}

static double ratio(const struct made_job *j, const struct msim_costs *c,
                    const char *kernel)
{
    uint32_t t = made_task(j, kernel);

    return (double)c->mid[t] / (double)j->graph->traced[t];
}

static double model_us(const struct msim_platform *p, int64_t m)
{
    const struct msim_work w = {
        .family = MSIM_FAMILY_GEMM,
        .dtype = MSIM_DT_F16,
        .variant = "",
        .kernels = 2,
        .u.gemm = {.m = m, .n = 2048, .k = 1024, .batch = 1}};
    struct msim_estimate e = {0};

    CHECK_INT(msim_model_predict(p, &w, true, &e, NULL), MSIM_OK);
    return e.us;
}

/* Kernels of an operator go by its law, one of none by its class; the interval
 * holds the estimate; each says what it stands on. */
static void test_scaled__other_gpu(void)
{
    struct made m = made_mixture();
    struct msim_platform *from = load("a100"), *to = load("h100");
    struct made_job j;
    struct msim_costs *c;
    uint32_t t;

    REQUIRE(made_load(&j, &m, 1));
    (void)made_run(&j, (struct made_what){0});
    c = costs(&j, from, to);
    REQUIRE(c != NULL);
    CHECK_REL(ratio(&j, c, "gemm_a"), ratio(&j, c, "gemm_b"), 1e-6);
    CHECK_REL(ratio(&j, c, "gemm_a"), model_us(to, 4096) / model_us(from, 4096),
              0.02);
    /* 2.5 floors of 2.0 us against 1.3 us; 2039 against 3350 GB/s. */
    CHECK_REL(ratio(&j, c, "elementwise"),
              (5 * 1.3 / 2 + 40 * 2039.0 / 3350) / 45, 1e-6);
    CHECK(ratio(&j, c, "ncclDevKernel") != 1);
    CHECK(ratio(&j, c, "Memcpy DtoD (Device -> Device)") < 1);
    t = made_task(&j, "elementwise");
    CHECK_STR(msim_costs_text(c->made_by[t]), "class");
    CHECK_INT(c->source[t], MSIM_SOURCE_CLASS);
    t = made_task(&j, "gemm_a");
    CHECK_STR(msim_costs_text(c->made_by[t]), "gemm");
    CHECK_INT(c->source[t], MSIM_SOURCE_SCALED);
    for (t = 0; t < j.graph->n_tasks; t++)
        CHECK(c->low[t] <= c->mid[t] && c->mid[t] <= c->high[t]);
    for (int kind = 0; kind < MSIM_EDGE_KINDS; kind++)
        CHECK_INT(c->lag[kind], -1);
    msim_costs_free(c);
    msim_platform_free(from);
    msim_platform_free(to);
    made_unload(&j);
}

/* An operator of other sizes takes the model's time at these, times what is
 * left of the traced one's error: an eighth of its logarithm where the model
 * says an eighth. Its two kernels show the error together, and keep their
 * parts. */
static void test_scaled__other_sizes_of_several_kernels(void)
{
    const struct msim_reshape eighth = {.axes = {{.from = 4096, .to = 512}},
                                        .n_axes = 1};
    struct made m = made_mixture();
    struct msim_platform *p = load("a100");
    struct msim_trace **views;
    struct made_job j;
    struct msim_costs *c;
    double before, after, left, want;

    REQUIRE(made_load(&j, &m, 1));
    (void)made_run(&j, (struct made_what){0});
    REQUIRE(msim_reshaped_ranks(&views, j.job->ranks, 1, &eighth, NULL) ==
            MSIM_OK);
    c = costs_of(&j, p, p, views);
    REQUIRE(c != NULL);
    before = model_us(p, 4096);
    after = model_us(p, 512);
    left = exp2(-fabs(log2(after / before)));
    want = after * pow((101 + 53) / before, left);
    CHECK(left <
          0.25); /* a sum of kernels that each were the whole is not it */
    CHECK_REL(((double)c->mid[made_task(&j, "gemm_a")] +
               (double)c->mid[made_task(&j, "gemm_b")]) /
                  1e6,
              want, 1e-6);
    CHECK_REL(ratio(&j, c, "gemm_a"), ratio(&j, c, "gemm_b"), 1e-6);
    CHECK_REL(ratio(&j, c, "elementwise"), 1, 1e-12);
    msim_costs_free(c);
    msim_reshaped_free_ranks(views, 1);
    msim_platform_free(p);
    made_unload(&j);
}

/* Of a kernel's task, the logarithms of high / mid and mid / low; of all
 * kernels together, the factors. */
struct doubt {
    double high, low, slower, faster;
};

static struct doubt doubt_of(const struct made_job *j,
                             const struct msim_platform *from,
                             const struct msim_platform *to, const char *kernel)
{
    struct msim_costs *c = costs(j, from, to);
    uint32_t t = made_task(j, kernel);
    struct doubt d = {0};

    if (!CHECK(c != NULL))
        return d;
    d.high = log((double)c->high[t] / (double)c->mid[t]);
    d.low = log((double)c->mid[t] / (double)c->low[t]);
    d.slower = c->machine.slower;
    d.faster = c->machine.faster;
    msim_costs_free(c);
    return d;
}

static void share(struct msim_platform *p, double log_sd)
{
    p->jobs = (struct msim_job_spread){
        .known = true, .slower = log_sd, .faster = log_sd / 2};
    p->jobs.family[MSIM_FAMILY_GEMM] = log_sd;
}

/* What a family and a machine share between jobs widens model costs. The trace
 * itself tells of both under scaled ones, which stay. */
static void test_scaled__shares_between_jobs(void)
{
    struct made m = made_mixture();
    struct msim_platform *from = load("a100"), *to = load("h100");
    struct doubt narrow, wide;
    struct made_job j;

    REQUIRE(made_load(&j, &m, 1));
    (void)made_run(&j, (struct made_what){0});
    share(from, 0);
    share(to, 0);
    narrow = doubt_of(&j, NULL, to, "gemm_a");
    share(to, 0.5);
    wide = doubt_of(&j, NULL, to, "gemm_a");
    CHECK(narrow.slower == 1 && narrow.faster == 1);
    CHECK_REL(wide.high, hypot(narrow.high, MSIM_Z90 * 0.5), 1e-6);
    CHECK_REL(wide.low, hypot(narrow.low, MSIM_Z90 * 0.5), 1e-6);
    CHECK_REL(wide.slower, exp(MSIM_Z90 * 0.5), 1e-12);
    CHECK_REL(wide.faster, exp(MSIM_Z90 * 0.25), 1e-12);

    share(to, 0);
    narrow = doubt_of(&j, from, to, "gemm_a");
    share(from, 0.5);
    share(to, 0.5);
    wide = doubt_of(&j, from, to, "gemm_a");
    CHECK(wide.high == narrow.high && wide.low == narrow.low);
    CHECK_REL(wide.slower, msim_scaled_factor(from, to), 1e-12);
    CHECK_REL(wide.faster, msim_scaled_factor(from, to), 1e-12);
    msim_platform_free(from);
    msim_platform_free(to);
    made_unload(&j);
}

int main(void)
{
    RUN(test_scaled__names);
    RUN(test_scaled__latency);
    RUN(test_scaled__class_ratio);
    RUN(test_scaled__model_ratio);
    RUN(test_scaled__same_gpu_is_measured);
    RUN(test_scaled__other_gpu);
    RUN(test_scaled__other_sizes_of_several_kernels);
    RUN(test_scaled__shares_between_jobs);
    return check_summary();
}
