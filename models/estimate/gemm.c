/*
 * models/estimate/gemm.c - matrix products by models/law/gemm_law.c, on CPUs by
 * models/law/cpu_law.c.
 */
#include "models/estimate/gemm.h"
#include "models/estimate/model.h"
#include "models/law/gemm_law.h"
#include "models/platform/fit_estimate.h"
#include "models/platform/platform_data.h"

#include <math.h>
#include <string.h>

static bool gemm_covers(const struct msim_platform *p,
                        const struct msim_work *w)
{
    (void)p;
    return w->family == MSIM_FAMILY_GEMM && w->u.gemm.m > 0 &&
           w->u.gemm.n > 0 && w->u.gemm.k > 0 && w->u.gemm.batch > 0;
}

/*
 * Where a kind has no fit, a similar kind stands in. Constants are fractions of
 * the data sheet, so that the rate of the wanted type still counts.
 */
bool msim_gemm_pick(const struct msim_platform *p, const struct msim_work *w,
                    struct msim_pick *out)
{
    /* For bare products: first those that a calibration timed with PyTorch;
     * then vidur's, which are PyTorch's by its profiler, as traces are; the
     * next ones call the same library. */
    static const char *const PREFER[] = {"torch",     "vidur",  "vllm",
                                         "sglang",    "trtllm", "NeuSight",
                                         "DeepBench", NULL};
    const char *first = msim_gemm_kind(
        w, msim_data_sheet_rate_on(&p->sheet, w->dtype, w->variant));
    const char *keys[6] = {first};
    size_t n = 1;

    if (strcmp(first, "fp64") == 0)
        keys[n++] = "fp32";
    if (strcmp(first, "fp8_block") == 0 || strcmp(first, "nvfp4") == 0)
        keys[n++] = "fp8";
    if (strcmp(first, "sq") == 0)
        keys[n++] = "int8_wo";
    if (strcmp(first, "fp32") != 0 && strcmp(first, "fp64") != 0)
        keys[n++] = "half";
    keys[n++] = "fp32";
    return msim_fit_pick(p, msim_law_of(MSIM_FAMILY_GEMM, p->is_host),
                         w->framework, PREFER, keys, out);
}

/*
 * Tensor-core kernels load 16 bytes at a time. Rows that do not start on 16
 * bytes are loaded in smaller pieces (NVIDIA, "Matrix multiplication background
 * user's guide", section 2.2, without a figure for every case). Half the rate
 * is an estimate, and the interval is wider for it. All rows but DeepBench's
 * are of aligned sizes.
 */
#define UNALIGNED_RATE   0.5
#define UNALIGNED_LOG_SD 0.25

static bool is_unaligned(const struct msim_platform *p,
                         const struct msim_work *w)
{
    enum msim_rate rate = msim_data_sheet_rate(w->dtype, w->variant);
    int64_t bytes = msim_dtype_bytes(w->dtype);

    return bytes > 0 && rate != MSIM_RATE_FP64 && rate != MSIM_RATE_FP32 &&
           p->sheet.rate[rate] > p->sheet.rate[MSIM_RATE_FP32] &&
           (w->u.gemm.n % 16 * bytes % 16 != 0 ||
            w->u.gemm.k % 16 * bytes % 16 != 0);
}

/* Adjust for what differs between a bare product and the rows. */
static void adjust_bare(const struct msim_platform *p, struct msim_work *w,
                        struct msim_adjust *adjust)
{
    if (!is_unaligned(p, w))
        return;
    w->flops /= UNALIGNED_RATE;
    adjust->log_sd = UNALIGNED_LOG_SD;
}

/* The counts of a product, and the operator's bytes where it reads more than
 * the product, as one that adds a matrix. */
static void count(struct msim_work *work, const struct msim_work *w)
{
    *work = *w;
    msim_work_count(work);
    work->bytes_read = fmax(work->bytes_read, w->bytes_read);
}

static enum msim_status gemm_predict(const struct msim_platform *p,
                                     const struct msim_work *w,
                                     struct msim_estimate *out)
{
    struct msim_adjust adjust = {.factor = 1};
    struct msim_work work;
    struct msim_pick pick;

    if (!msim_gemm_pick(p, w, &pick))
        return MSIM_ENOMODEL;
    count(&work, w);
    if (pick.bare)
        adjust_bare(p, &work, &adjust);
    msim_fit_estimate(p, &pick, &work, &adjust, out);
    return MSIM_OK;
}

static void gemm_explain(const struct msim_platform *p,
                         const struct msim_work *w, FILE *out)
{
    struct msim_work work;
    struct msim_pick pick;

    fprintf(out,
            "law: t0 + norm(flops / rate, bytes / bandwidth, k steps)\n"
            "inputs: m %lld, n %lld, k %lld, batch %lld, %s\n",
            (long long)w->u.gemm.m, (long long)w->u.gemm.n,
            (long long)w->u.gemm.k, (long long)w->u.gemm.batch,
            msim_gemm_kind(w, msim_data_sheet_rate(w->dtype, w->variant)));
    count(&work, w);
    if (is_unaligned(p, w))
        fprintf(out, "rows do not begin on 16 bytes: half the rate\n");
    if (msim_gemm_pick(p, w, &pick))
        msim_fit_explain(p, &pick, &work, out);
}

const struct msim_model MSIM_MODEL_GEMM = {"gemm", gemm_covers, gemm_predict,
                                           gemm_explain};
