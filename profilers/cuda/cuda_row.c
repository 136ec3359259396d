/*
 * profilers/cuda/cuda_row.c - operations in a row, with nothing between them.
 *
 * A timed run stands alone, behind kernels that empty the cache and wait: the
 * device's power and clock are not those of a program that computes all the
 * time, and no operand lies in the cache that the operation before left there.
 * So a product is also run over and over until the clock has settled, and the
 * operations of a program one after the other. CUPTI records nothing meanwhile:
 * it would make the gaps longer.
 */
#include "profilers/cuda/cuda.h"
#include "profilers/cuda/kernels/kernels.h"

/* A batch of runs between two looks at the clock. */
#define BATCH_US  5000
#define BATCH_MAX 500 /* a queue has room for about 1000 */

/* What the host takes to queue an operation, at most; it waits behind a kernel
 * that spins so long, as far as the queue has room. */
#define QUEUE_US 10
#define SPIN_MAX 5000

static enum msim_status begin(struct msim_cuda *c, uint32_t n,
                              struct msim_error *err)
{
    double spin = QUEUE_US * (double)n;

    MSIM_TRY(MSIM_CUDA(
        msim_kernel_spin(1, spin < SPIN_MAX ? spin : SPIN_MAX, c->stream)));
    return MSIM_CUDA(cudaEventRecord(c->begin, c->stream));
}

static enum msim_status end(struct msim_cuda *c, double *us,
                            struct msim_error *err)
{
    float ms = 0;

    MSIM_TRY(MSIM_CUDA(cudaEventRecord(c->end, c->stream)));
    MSIM_TRY(MSIM_CUDA(cudaEventSynchronize(c->end)));
    MSIM_TRY(MSIM_CUDA(cudaEventElapsedTime(&ms, c->begin, c->end)));
    *us = 1e3 * (double)ms;
    return MSIM_OK;
}

/* ---- the operations of a program ----------------------------------------- */

static enum msim_status run_order(struct msim_cuda *c,
                                  const struct msim_case *cases,
                                  const uint32_t *order, uint32_t n, double *us,
                                  struct msim_error *err)
{
    MSIM_TRY(begin(c, n, err));
    for (uint32_t i = 0; i < n; i++) {
        struct msim_cuda_op *op = msim_cuda_case_op(&cases[order[i]]);

        MSIM_TRY(op->launch(op->state, c->stream, err));
    }
    return end(c, us, err);
}

enum msim_status msim_cuda_together(struct msim_cuda *c,
                                    const struct msim_case *cases,
                                    const uint32_t *order, uint32_t n,
                                    double *us, struct msim_error *err)
{
    enum msim_status status;

    for (uint32_t i = 0; i < n; i++)
        if (!msim_cuda_case_op(&cases[order[i]]))
            return msim_fail(err, MSIM_ENOMODEL, NULL, MSIM_OFFSET_NONE,
                             "latencies, collectives and pairs do not run in a "
                             "row");
    MSIM_TRY(msim_cuda_unseen(c, err));
    status = run_order(c, cases, order, n, us, err);
    msim_cuda_seen_again(c);
    return status;
}

/* ---- one operation, over and over ---------------------------------------- */

static enum msim_status run_batch(struct msim_cuda *c, struct msim_cuda_op *op,
                                  uint32_t n, double *us,
                                  struct msim_error *err)
{
    MSIM_TRY(begin(c, 1, err));
    for (uint32_t i = 0; i < n; i++)
        MSIM_TRY(op->launch(op->state, c->stream, err));
    return end(c, us, err);
}

static uint32_t batch_of(double us)
{
    double n = BATCH_US / (us > 1 ? us : 1);

    return n < 1 ? 1 : n > BATCH_MAX ? BATCH_MAX : (uint32_t)n;
}

/* Batches until so many seconds have passed; sums of their runs and times. */
static enum msim_status run_for(struct msim_cuda *c, struct msim_cuda_op *op,
                                double seconds, uint32_t *batch,
                                struct msim_sustained *out,
                                struct msim_error *err)
{
    double from = msim_cuda_now_us(), us;

    while (msim_cuda_now_us() - from < 1e6 * seconds) {
        MSIM_TRY(run_batch(c, op, *batch, &us, err));
        out->runs += *batch;
        out->us += us;
        *batch = batch_of(us / *batch);
    }
    out->seconds = 1e-6 * (msim_cuda_now_us() - from);
    return MSIM_OK;
}

/* The first half lets the clock settle, the second counts. */
static enum msim_status run_halves(struct msim_cuda *c, struct msim_cuda_op *op,
                                   double seconds, struct msim_sustained *out,
                                   struct msim_error *err)
{
    struct msim_nvml_state before, after;
    struct msim_sustained settling = {0};
    uint32_t batch = 1;

    *out = settling;
    MSIM_TRY(run_for(c, op, seconds / 2, &batch, &settling, err));
    before = msim_nvml_read_now(c->nvml);
    MSIM_TRY(run_for(c, op, seconds / 2, &batch, out, err));
    after = msim_nvml_read_now(c->nvml);
    out->us /= out->runs;
    out->sm_mhz = (before.sm_mhz + after.sm_mhz) / 2.0;
    out->power_w = (after.joules - before.joules) / out->seconds;
    return MSIM_OK;
}

enum msim_status msim_cuda_sustain(struct msim_cuda *c,
                                   const struct msim_case *what, double seconds,
                                   struct msim_sustained *out,
                                   struct msim_error *err)
{
    struct msim_cuda_op *op = msim_cuda_case_op(what);
    enum msim_status status;

    if (!op)
        return msim_fail(err, MSIM_ENOMODEL, NULL, MSIM_OFFSET_NONE,
                         "latencies, collectives and pairs are not sustained");
    MSIM_TRY(msim_cuda_unseen(c, err));
    status = run_halves(c, op, seconds, out, err);
    msim_cuda_seen_again(c);
    return status;
}
