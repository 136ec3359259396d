/*
 * models/estimate/gemm.c - matrix products by models/law/gemm_law.c, on CPUs by
 * models/law/cpu_law.c.
 */
#include "core/base/print.h"
#include "core/base/texts.h"
#include "core/work/kernel_fact.h"
#include "models/estimate/model.h"
#include "models/estimate/model_internal.h"
#include "models/law/law.h"
#include "models/platform/fit.h"
#include "models/platform/platform_data.h"

#include <math.h>
#include <stack_rows.h>
#include <stdio.h>
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
    static const char *const PREFER[] = {MSIM_STACKS_GEMM};
    const char *first = msim_gemm_kind(
        w, msim_data_sheet_rate_on(&p->sheet, w->dtype, w->variant));
    const char *keys[6] = {first};
    size_t n = 1;

    if (msim_same_text(first, "fp64"))
        keys[n++] = "fp32";
    if (msim_same_text(first, "fp8_block") || msim_same_text(first, "nvfp4"))
        keys[n++] = "fp8";
    if (msim_same_text(first, "sq"))
        keys[n++] = "int8_wo";
    if (!msim_same_text(first, "fp32") && !msim_same_text(first, "fp64") &&
        !msim_same_text(first, "half"))
        keys[n++] = "half";
    keys[n++] = "fp32";
    return msim_fit_pick(p, msim_law_of(MSIM_FAMILY_GEMM, p->is_host),
                         w->framework, PREFER, keys, out);
}

/*
 * Tensor-core kernels load 16 bytes at a time. Rows that do not start on 16
 * bytes are loaded in smaller pieces (NVIDIA, "Matrix multiplication background
 * user's guide", section 2.2). All rows but DeepBench's are of aligned sizes.
 * 0: the SMs do not set the pace.
 */
static double pieces_us(const struct msim_platform *p,
                        const struct msim_work *w)
{
    enum msim_rate rate = msim_data_sheet_rate(w->dtype, w->variant);

    if (p->is_host || rate == MSIM_RATE_FP64 || rate == MSIM_RATE_FP32 ||
        p->sheet.rate[rate] <= p->sheet.rate[MSIM_RATE_FP32])
        return 0;
    return msim_sm_pace_product_us(&p->sheet, w);
}

/* The constant part of another GPU's fit does not carry to GPUs whose tiles say
 * it. */
static void by_tiles(const struct msim_platform *p, const struct msim_work *w,
                     struct msim_estimate *e)
{
    double tiles = msim_sm_pace_tiles_us(&p->sheet, w);

    if (p->is_host || !(tiles > 0))
        return;
    msim_pace_add(tiles - e->start_us, e);
    e->start_us = p->sheet.floor_us;
}

/* The counts of a product, and the operator's bytes where it reads more than
 * the product, as one that adds a matrix. */
static void count(struct msim_work *work, const struct msim_work *w)
{
    *work = *w;
    msim_work_count(work);
    work->bytes_read = fmax(work->bytes_read, w->bytes_read);
}

/* A sum of more terms than any row has is split where there are few tiles. */
static double parts_of(const struct msim_platform *p, const struct msim_work *w)
{
    double side = MSIM_FACT(NULL, LONG_SUM_TILE);
    double tiles = ceil((double)w->u.gemm.m / side) *
                   ceil((double)w->u.gemm.n / side) * (double)w->u.gemm.batch;

    if ((double)w->u.gemm.k < MSIM_FACT(NULL, LONG_SUM_FROM) || p->is_host)
        return 1;
    return fmax(
        1, fmin(floor(p->sheet.sms / tiles),
                floor((double)w->u.gemm.k / MSIM_FACT(NULL, LONG_SUM_TERMS))));
}

/* The product as so many of a part each, whose results are written and added up
 * by a second kernel. */
static struct msim_work in_parts(const struct msim_work *w, double parts)
{
    struct msim_work all = *w;
    double sums = parts * (double)w->u.gemm.m * (double)w->u.gemm.n *
                  (double)w->u.gemm.batch * sizeof(float);

    all.u.gemm.batch = (int64_t)((double)w->u.gemm.batch * parts);
    all.u.gemm.k = (int64_t)((double)w->u.gemm.k / parts);
    all.bytes_read += sums;
    all.bytes_written += sums;
    all.kernels = 2;
    return all;
}

/* Of a matrix and a vector nothing but the matrix's bytes counts (gemv). */
static void by_vector(const struct msim_platform *p, const struct msim_work *w,
                      struct msim_estimate *e)
{
    double bytes = w->bytes_read + w->bytes_written;
    double us =
        p->sheet.floor_us +
        bytes * 1e6 / (p->sheet.bandwidth * MSIM_FACT(NULL, GEMV_BANDWIDTH));

    if (w->u.gemm.m > 1 && w->u.gemm.n > 1)
        return;
    if (p->is_host || bytes < p->sheet.l2_bytes || us > e->us)
        return;
    e->us = us;
    e->start_us = p->sheet.floor_us;
    msim_interval_set(e, 0, 0, MSIM_FACT(NULL, GEMV_LOG_SD));
}

/*
 * Rows of these stacks are of a product that a CUDA graph repeats. From Hopper
 * on its library starts a kernel before the one in front of it ends
 * (programmatic dependent launch: CUDA C++ Programming Guide), so that a row
 * lacks the start. A profiler's time of one kernel has it. Rows in 8 bits are
 * of other libraries, which do not: none is below 4.4 us. How much it is, and
 * of which rows, is in data/laws/kernels.json.
 */
static double hidden_start_us(const struct msim_platform *p,
                              const struct msim_pick *pick)
{
    const struct msim_library_facts *k = &p->shared.kernels;
    char word[64];

    if (!msim_same_text(pick->fit->key, "half") || !pick->platform)
        return 0;
    MSIM_JOIN_TEXT(word, sizeof(word), " ", pick->platform->sheet.generation,
                   " ");
    if (!strstr(k->generations, word))
        return 0;
    MSIM_JOIN_TEXT(word, sizeof(word), " ", pick->fit->framework, " ");
    return strstr(k->frameworks, word) ? k->graph_start_us : 0;
}

/*
 * What stacks differ by in 8 and 4 bits, where which of them is not said: each
 * has kernels of its own, as in 16 bits they have not.
 */
static double narrow_log_sd(const struct msim_pick *pick)
{
    const char *kind = pick->fit->key;

    if (!pick->bare || pick->fit->law != &MSIM_LAW_GEMM)
        return 0;
    if (msim_same_text(kind, "nvfp4"))
        return MSIM_FACT(NULL, NARROW_PRODUCT_FP4_LOG_SD);
    return msim_same_text(kind, "fp8") || msim_same_text(kind, "fp8_block")
               ? MSIM_FACT(NULL, NARROW_PRODUCT_FP8_LOG_SD)
               : 0;
}

/* By one fit. */
static void by_pick(const struct msim_platform *p, const struct msim_work *w,
                    const struct msim_pick *pick, struct msim_estimate *out)
{
    const struct msim_adjust adjust = {.factor = 1,
                                       .log_sd = narrow_log_sd(pick)};
    struct msim_work work;
    double parts = pick->bare ? parts_of(p, w) : 1;

    count(&work, w);
    msim_fit_estimate(p, pick, &work, &adjust, out);
    if (parts > 1) {
        struct msim_estimate split = {0};

        work = in_parts(&work, parts);
        msim_fit_estimate(p, pick, &work, &adjust, &split);
        if (split.us < out->us)
            *out = split;
    }
    if (!pick->bare)
        return;
    if (!w->graphed) {
        double start = hidden_start_us(p, pick);

        msim_pace_add(start, out);
        out->start_us += start;
    }
    if (pick->platform != p)
        by_tiles(p, w, out);
    msim_pace_join(pieces_us(p, w), out);
    by_vector(p, w, out);
}

/* ---- bare kernels in 8 bits ----------------------------------------------
 */

/*
 * Stacks whose rows of "fp8" time the kernel (sglang's, of sgl_kernel's
 * fp8_scaled_mm; those of a calibration, of torch._scaled_mm), and one whose
 * rows time a linear layer: vLLM's reads its input in 16 bits, finds the
 * greatest element of each row and casts (W8A8 with dynamic scales, a kernel of
 * its own before the product). Without that cast a product begins 1.3 ps an
 * element of its input later on a B200 than sglang's: three bytes at 2.3 TB/s.
 * A kernel with a scale a block (DeepGEMM's) does the same product, and scales
 * beside it: one with a scale a tensor takes no longer.
 */
struct narrow_stack {
    const char *stack, *variant;
    bool casts;
};
static const struct narrow_stack NARROW_STACKS[] = {
    {"torch", NULL, false},
    {"sglang", NULL, false},
    {"sglang", "fp8_block", false},
    {"vllm", NULL, true}};
#define N_NARROW_STACKS (sizeof(NARROW_STACKS) / sizeof(*NARROW_STACKS))

static bool is_narrow(const struct msim_platform *p, const struct msim_work *w)
{
    bool bare = !w->framework || msim_same_text(w->framework, "pytorch");

    return bare && !p->is_host &&
           strcmp(msim_gemm_kind(w, msim_data_sheet_rate_on(&p->sheet, w->dtype,
                                                            w->variant)),
                  "fp8") == 0;
}

/* The cast of the product's input in 16 bits, us. */
static double cast_us(const struct msim_platform *p, const struct msim_work *w)
{
    double elems =
        (double)w->u.gemm.m * (double)w->u.gemm.k * (double)w->u.gemm.batch;
    struct msim_work cast = {.family = MSIM_FAMILY_POINTWISE,
                             .dtype = MSIM_DT_BF16,
                             .variant = "mul",
                             .kernels = 1,
                             .bytes_read = 2 * elems,
                             .bytes_written = elems};
    struct msim_estimate e;

    cast.u.vector.elems = msim_whole(elems);
    cast.u.vector.rows = 1;
    cast.u.vector.cols = msim_whole(elems);
    if (msim_model_predict(p, &cast, false, &e, NULL) != MSIM_OK)
        return 0;
    return e.us;
}

static void take_off(double us, struct msim_estimate *e)
{
    double left = fmax(e->us - us, fmin(e->start_us, e->us));

    msim_pace_add(left - e->us, e);
}

/* The fit of one stack's rows, as that of a bare kernel. */
static bool pick_stack(const struct msim_platform *p, const struct msim_work *w,
                       const struct narrow_stack *by, struct msim_pick *out)
{
    struct msim_work of = *w;
    double other;

    of.framework = by->stack;
    of.variant = by->variant ? by->variant : w->variant;
    if (!msim_gemm_pick(p, &of, out) || out->other_framework || out->other_key)
        return false;
    other = out->fit->law->stack_log_sd;
    out->variance += other * other;
    out->bare = true;
    return true;
}

/* The fastest of what stacks take for the kernel, of those with rows on the
 * nearest GPU; false: none has rows. */
static bool by_narrow_stacks(const struct msim_platform *p,
                             const struct msim_work *w,
                             struct msim_estimate *out,
                             const struct narrow_stack **by)
{
    struct msim_pick picks[N_NARROW_STACKS];
    double variance = INFINITY;
    bool found = false, has_rows[N_NARROW_STACKS];

    for (size_t i = 0; i < N_NARROW_STACKS; i++) {
        has_rows[i] = pick_stack(p, w, &NARROW_STACKS[i], &picks[i]);
        if (has_rows[i])
            variance = fmin(variance, picks[i].variance);
    }
    for (size_t i = 0; i < N_NARROW_STACKS; i++) {
        struct msim_estimate e = {0};

        if (!has_rows[i] || picks[i].variance > variance)
            continue;
        by_pick(p, w, &picks[i], &e);
        if (NARROW_STACKS[i].casts)
            take_off(cast_us(p, w), &e);
        if (found && e.us >= out->us)
            continue;
        *out = e;
        *by = &NARROW_STACKS[i];
        found = true;
    }
    return found;
}

static enum msim_status gemm_predict(const struct msim_platform *p,
                                     const struct msim_work *w,
                                     struct msim_estimate *out)
{
    const struct narrow_stack *by;
    struct msim_pick pick;

    if (is_narrow(p, w) && by_narrow_stacks(p, w, out, &by))
        return MSIM_OK;
    if (!msim_gemm_pick(p, w, &pick))
        return MSIM_ENOMODEL;
    by_pick(p, w, &pick, out);
    return MSIM_OK;
}

static void gemm_explain(const struct msim_platform *p,
                         const struct msim_work *w, FILE *out)
{
    struct msim_estimate e;
    struct msim_work work;
    struct msim_pick pick;
    const struct narrow_stack *by;

    msim_print(out,
               "law: t0 + norm(flops / rate, bytes / bandwidth, k steps)\n"
               "inputs: m %lld, n %lld, k %lld, batch %lld, %s\n",
               (long long)w->u.gemm.m, (long long)w->u.gemm.n,
               (long long)w->u.gemm.k, (long long)w->u.gemm.batch,
               msim_gemm_kind(w, msim_data_sheet_rate(w->dtype, w->variant)));
    count(&work, w);
    if (parts_of(p, w) > 1)
        fprintf(out, "sums of %g parts may be faster\n", parts_of(p, w));
    if (pieces_us(p, w) > 0)
        fprintf(out, "rows do not begin on 16 bytes: SMs load for %.4g us\n",
                pieces_us(p, w));
    if (is_narrow(p, w) && by_narrow_stacks(p, w, &e, &by)) {
        msim_print(out, "the fastest of bare kernels: %s's %s%s\n", by->stack,
                   by->variant ? by->variant : "fp8",
                   by->casts ? ", less the cast of its input" : "");
        if (pick_stack(p, w, by, &pick))
            msim_fit_explain(p, &pick, &work, out);
    } else if (msim_gemm_pick(p, w, &pick)) {
        msim_fit_explain(p, &pick, &work, out);
    }
}

const struct msim_model MSIM_MODEL_GEMM = {"gemm", gemm_covers, gemm_predict,
                                           gemm_explain};
