/*
 * profilers/cuda/cuda_counters.c - hardware counters of an operation.
 *
 * An operation is counted twice: alone, and with the reading of a buffer of
 * twice the L2 cache behind it, because what an operation wrote may still lie
 * in that cache when it ends; it is on the way to memory that it is counted. So
 * bytes written are those of the second count, which adds nothing to them, and
 * all else is of the first.
 */
#include "profilers/cuda/cuda.h"
#include "profilers/cuda/cupti/cupti_counters.h"
#include "profilers/cuda/kernels/kernels.h"

struct counted_op {
    struct msim_cuda *cuda;
    struct msim_cuda_op *op;
    bool warm, behind; /* read the buffer behind it */
};

static enum msim_status flush(struct counted_op *k, struct msim_error *err)
{
    struct msim_cuda *c = k->cuda;

    return MSIM_CUDA(msim_kernel_flush(c->flush, c->flush_bytes,
                                       (unsigned)c->device.multiProcessorCount,
                                       c->stream));
}

static enum msim_status ready(void *state, struct msim_error *err)
{
    struct counted_op *k = state;

    if (!k->warm || k->behind)
        MSIM_TRY(flush(k, err));
    return MSIM_CUDA(cudaStreamSynchronize(k->cuda->stream));
}

static enum msim_status run(void *state, struct msim_error *err)
{
    struct counted_op *k = state;

    MSIM_TRY(k->op->launch(k->op->state, k->cuda->stream, err));
    if (k->behind)
        MSIM_TRY(flush(k, err));
    return MSIM_CUDA(cudaStreamSynchronize(k->cuda->stream));
}

static enum msim_status count_both(struct counted_op *k,
                                   struct msim_counts *out,
                                   struct msim_error *err)
{
    struct msim_cupti_counters *counters = k->cuda->counters;
    struct msim_counted what = {k, ready, run};
    struct msim_counts behind;

    MSIM_TRY(msim_cupti_counters_read(counters, &what, out, err));
    k->behind = true;
    MSIM_TRY(msim_cupti_counters_read(counters, &what, &behind, err));
    out->of[MSIM_FIGURE_DRAM_WRITE] = behind.of[MSIM_FIGURE_DRAM_WRITE];
    out->passes += behind.passes;
    return MSIM_OK;
}

/* What failed once is not tried again: it could be the device's end. */
static enum msim_status give_up(struct msim_cuda *c, enum msim_status status,
                                const struct msim_error *err)
{
    c->counters_shut = true;
    snprintf(c->counters_why, sizeof(c->counters_why), "%.180s",
             err && err->text[0] ? err->text : msim_status_text(status));
    return status;
}

static enum msim_status refuse(const struct msim_cuda *c,
                               struct msim_error *err)
{
    return msim_fail(err, MSIM_ENOMODEL, NULL, MSIM_OFFSET_NONE, "%s",
                     c->counters_why);
}

void msim_cuda_counters_open(struct msim_cuda *c)
{
    c->counters_shut =
        !msim_cupti_counters_likely(c->counters_why, sizeof(c->counters_why));
}

void msim_cuda_counters_close(struct msim_cuda *c)
{
    msim_cupti_counters_free(c->counters);
    c->counters = NULL;
}

enum msim_status msim_cuda_count(struct msim_cuda *c, struct msim_cuda_op *op,
                                 bool warm, struct msim_counts *out,
                                 struct msim_error *err)
{
    struct counted_op k = {.cuda = c, .op = op, .warm = warm};
    enum msim_status status;

    if (c->counters_shut)
        return refuse(c, err);
    MSIM_TRY(MSIM_CUDA(cudaDeviceSynchronize()));
    MSIM_TRY(msim_cuda_unseen(c, err));
    status = c->counters ? MSIM_OK : msim_cupti_counters_new(&c->counters, err);
    if (status == MSIM_OK)
        status = count_both(&k, out, err);
    msim_cuda_seen_again(c);
    return status == MSIM_OK ? MSIM_OK : give_up(c, status, err);
}
