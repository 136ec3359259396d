/*
 * How far sizes that launches tell (core/work/kernel/infer.h) are from shapes:
 * kernels of operators whose shapes are recorded, estimated both ways by the
 * same laws.
 *
 *     launch_spread PLATFORM TRACE...
 *
 * For every operator of a known work, the sum over its kernels as their
 * launches have it, over the same from shapes. No time of the trace is read.
 * Prints one line an unlike operator (its kernels' names and launches), tab
 * separated: the kind of its longest kernel, how its size is known ("own",
 * "nearby", "related", "alone"), the natural logarithm of that ratio, the
 * spread that the model states, the operator's name and the kernel's.
 */
#include "core/base/containers.h"
#include "core/job/job.h"
#include "core/work/kernel/infer.h"
#include "core/work/opmap/opmap.h"
#include "core/work/work.h"
#include "models/estimate/model.h"
#include "models/platform/platform.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const KINDS[MSIM_KERNEL_KINDS] = {
    [MSIM_KERNEL_OTHER] = "other",
    [MSIM_KERNEL_MATRIX] = "product",
    [MSIM_KERNEL_GEMV] = "matrix by vector",
    [MSIM_KERNEL_CONV] = "convolution",
    [MSIM_KERNEL_ATTENTION] = "attention",
    [MSIM_KERNEL_DECODE] = "attention of one query",
    [MSIM_KERNEL_SPLIT_K] = "sum of partial products",
    [MSIM_KERNEL_ELEMENTWISE] = "elementwise",
    [MSIM_KERNEL_FOREACH] = "list of tensors",
    [MSIM_KERNEL_COPY] = "copy",
    [MSIM_KERNEL_REDUCTION] = "reduction",
    [MSIM_KERNEL_SOFTMAX] = "softmax",
    [MSIM_KERNEL_NORM] = "norm of rows",
    [MSIM_KERNEL_BATCH_NORM] = "norm of channels",
    [MSIM_KERNEL_POOL] = "pool",
    [MSIM_KERNEL_INDEX] = "gather",
    [MSIM_KERNEL_EMBEDDING] = "embedding bag",
    [MSIM_KERNEL_SORT] = "sort",
    [MSIM_KERNEL_COLLECTIVE] = "collective",
};

struct both {
    const struct msim_platform *platform;
    const struct msim_trace *t;
    struct msim_infer launches;
    struct msim_op_kernels launched;
    struct msim_idmap seen;
};

static double estimate_us(const struct both *b, const struct msim_work *w)
{
    struct msim_estimate e;

    return msim_model_predict(b->platform, w, false, &e, NULL) == MSIM_OK &&
                   e.source < MSIM_SOURCE_BOUND
               ? e.us
               : NAN;
}

/* `*convolves` where most of it is a convolution. */
static double by_shapes(const struct both *b, uint32_t op, uint32_t n_kernels,
                        bool *convolves)
{
    struct msim_work works[MSIM_OPMAP_MAX];
    double us = 0;
    uint32_t n;

    memset(works, 0, sizeof(works));
    if (msim_opmap(b->t, NULL, op, (int)n_kernels, MSIM_OPMAP_AS_TRACED, works,
                   &n) != MSIM_OPMAP_WORKS)
        return NAN;
    for (uint32_t i = 0; i < n; i++)
        us += estimate_us(b, &works[i]);
    *convolves = n && works[0].family == MSIM_FAMILY_CONV;
    return n ? us : NAN;
}

/* A convolution that takes longest over its layout says nothing of layouts. */
static bool comparable(const struct both *b, uint32_t gpu, bool convolves)
{
    enum msim_kernel_kind kind = msim_infer_name(&b->launches, gpu)->kind;

    return !convolves || kind == MSIM_KERNEL_CONV || kind == MSIM_KERNEL_MATRIX;
}

static const char *how(const struct msim_infer *l, uint32_t gpu)
{
    if (l->products[gpu].m > 0)
        return msim_infer_own(l, gpu) ? "related" : "alone";
    return msim_infer_own(l, gpu) ? "own" : "nearby";
}

/* Sum over the kernels of `op`; `*longest` is that which takes longest. */
static double by_launches(const struct both *b, uint32_t op, uint32_t *longest,
                          double *spread)
{
    double sum = 0, most = 0;

    for (uint32_t j = b->launched.begin[op]; j < b->launched.begin[op + 1];
         j++) {
        struct msim_work w;
        double us, doubt;

        if (!msim_infer_work(&b->launches, b->launched.gpu[j], &w, &doubt))
            return NAN;
        us = estimate_us(b, &w);
        if (!(us <= most)) {
            most = us;
            *longest = b->launched.gpu[j];
            *spread = doubt;
        }
        sum += us;
    }
    return sum;
}

/* Names and launches of its kernels, and its arguments, as one number. */
static uint64_t alike(const struct both *b, uint32_t op)
{
    uint64_t key = b->t->ops[op].args;

    for (uint32_t j = b->launched.begin[op]; j < b->launched.begin[op + 1];
         j++) {
        const struct msim_gpu *e = &b->t->gpu[b->launched.gpu[j]];

        key = msim_idmap_pair((int64_t)key, e->name);
        key = msim_idmap_pair((int64_t)key, e->config);
    }
    return key;
}

static void compare(struct both *b, uint32_t op)
{
    uint32_t n = b->launched.begin[op + 1] - b->launched.begin[op];
    uint32_t longest = 0, *slot;
    double spread = 0, shapes, launches;
    bool convolves = false;

    if (n == 0 ||
        msim_idmap_put(&b->seen, alike(b, op), op, &slot) != MSIM_OK ||
        *slot != op)
        return;
    shapes = by_shapes(b, op, n, &convolves);
    launches = by_launches(b, op, &longest, &spread);
    if (shapes > 0 && launches > 0 && comparable(b, longest, convolves))
        printf("%s\t%s\t%.4f\t%.4f\t%s\t%.60s\n",
               KINDS[msim_infer_name(&b->launches, longest)->kind],
               how(&b->launches, longest), log(launches / shapes), spread,
               msim_trace_text(b->t, b->t->ops[op].name),
               msim_trace_text(b->t, b->t->gpu[longest].name));
}

static enum msim_status compare_rank(struct both *b)
{
    MSIM_TRY(msim_infer_init(&b->launches, b->t));
    MSIM_TRY(msim_op_kernels_init(&b->launched, b->t));
    /* Sizes that rules take from launches would compare with themselves. */
    for (uint32_t i = 0; i < b->t->n_ops && !b->launches.shapeless; i++)
        if (msim_args_count(b->t, b->t->ops[i].args))
            compare(b, i);
    return MSIM_OK;
}

static enum msim_status run(const char *data, const char *platform,
                            const char *const *paths, uint32_t n,
                            struct msim_error *err)
{
    struct msim_load_options opt = {.threads = 1};
    struct msim_platform *p = NULL;
    struct msim_job *job = NULL;
    enum msim_status status = msim_platform_load(&p, data, platform, err);

    if (status == MSIM_OK)
        status = msim_job_load(&job, paths, n, &opt, err);
    for (uint32_t i = 0; status == MSIM_OK && i < job->n_ranks; i++) {
        struct both b = {.platform = p, .t = job->ranks[i]};

        status = compare_rank(&b);
        msim_infer_release(&b.launches);
        msim_op_kernels_release(&b.launched);
        msim_idmap_release(&b.seen);
    }
    msim_job_free(job);
    msim_platform_free(p);
    return status;
}

int main(int argc, char **argv)
{
    struct msim_error err = {0};

    if (argc < 3) {
        fprintf(stderr, "usage: launch_spread PLATFORM TRACE...\n");
        return 2;
    }
    if (run(MSIM_DATA, argv[1], (const char *const *)argv + 2,
            (uint32_t)argc - 2, &err) == MSIM_OK)
        return 0;
    fprintf(stderr, "launch_spread: %s\n", err.text);
    return 1;
}
