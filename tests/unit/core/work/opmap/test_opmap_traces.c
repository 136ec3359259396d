/*
 * What operators map to, held against real traces: every kernel's operator
 * has a work, an ET alone tells what was launched, and sizes add up to what
 * the models are known to compute.
 */
#include "core/job/job.h"
#include "core/work/opmap/opmap.h"
#include "tests/check.h"

#include <stdlib.h>

/* One trace with the launches of each operator. */
struct loaded {
    struct msim_job *job;
    const struct msim_trace *t;
    int *launched; /* all GPU activities */
    int *kernels;
    double *us; /* of kernels */
};

static bool load(struct loaded *l, const char *path)
{
    char full[512];
    const char *paths[1] = {full};
    struct msim_load_options opt = {.threads = 1};
    struct msim_error err = {0};
    const struct msim_trace *t;

    memset(l, 0, sizeof(*l));
    snprintf(full, sizeof(full), "%s/traces/%s", MSIM_TRACES, path);
    if (!CHECK(msim_job_load(&l->job, paths, 1, &opt, &err) == MSIM_OK)) {
        fprintf(stderr, "  %s: %s\n", err.file, err.text);
        return false;
    }
    l->t = t = l->job->ranks[0];
    l->launched = calloc((size_t)t->n_ops + 1, sizeof(*l->launched));
    l->kernels = calloc((size_t)t->n_ops + 1, sizeof(*l->kernels));
    l->us = calloc((size_t)t->n_ops + 1, sizeof(*l->us));
    for (uint32_t g = 0; g < t->n_gpu; g++) {
        uint32_t op = t->gpu[g].op;

        if (op == MSIM_NONE)
            continue;
        l->launched[op]++;
        if (t->gpu[g].kind != MSIM_GPU_KERNEL)
            continue;
        l->kernels[op]++;
        l->us[op] += (double)t->gpu[g].dur / MSIM_PS_PER_US;
    }
    return true;
}

static void unload(struct loaded *l)
{
    free(l->launched);
    free(l->kernels);
    free(l->us);
    msim_job_free(l->job);
}

/* Share of the time of kernels with an operator that has works. */
static double covered(const struct loaded *l)
{
    struct msim_work w[MSIM_OPMAP_MAX];
    double all = 0, known = 0;
    uint32_t n;

    for (uint32_t i = 0; i < l->t->n_ops; i++) {
        if (l->kernels[i] == 0)
            continue;
        all += l->us[i];
        if (msim_opmap(l->t, NULL, i, l->kernels[i], MSIM_OPMAP_AS_TRACED, w,
                       &n) == MSIM_OPMAP_WORKS)
            known += l->us[i];
        else
            printf("  no works: %s, %.1f us\n",
                   msim_trace_text(l->t, l->t->ops[i].name), l->us[i]);
    }
    return all > 0 ? known / all : 0;
}

static void test_opmap_traces__kernels_have_works(void)
{
    static const char *const paths[] = {
        "vgg13-h100",
        "particle-transformer-a100/kineto/batch-2.json.gz",
        "particle-transformer-a100/kineto/batch-512.json.gz",
        "ranking-a100",
        "resnet50-v100/kineto/list-format-2020.json.gz",
        "resnet50-v100/kineto/workers-0.json.gz",
        "same-model-h100-mi300x/Falconsai_nsfw_image_detection__1016002/"
        "h100.json.gz",
        "same-model-h100-mi300x/gaunernst_bert-small-uncased__1016001/"
        "mi300.json.gz",
        "dlrm-8xv100/kineto/rank-0.json.gz",
    };

    SKIP_WITHOUT_TRACES();
    for (size_t k = 0; k < sizeof(paths) / sizeof(paths[0]); k++) {
        struct loaded l;

        if (load(&l, paths[k]) && !CHECK(covered(&l) >= 0.995))
            fprintf(stderr, "  %s\n", paths[k]);
        unload(&l);
    }
}

/* Sums of flops over the forward works of a name. */
static double flops_of(const struct loaded *l, const char *name)
{
    struct msim_work w[MSIM_OPMAP_MAX];
    bool seen = l->t->has_gpu_events;
    double flops = 0;
    uint32_t n;

    for (uint32_t i = 0; i < l->t->n_ops; i++) {
        if (strcmp(msim_trace_text(l->t, l->t->ops[i].name), name) != 0)
            continue;
        (void)msim_opmap(l->t, NULL, i, seen ? l->kernels[i] : -1,
                         MSIM_OPMAP_AS_TRACED, w, &n);
        for (uint32_t k = 0; k < n; k++)
            flops += w[k].flops;
    }
    return flops;
}

/*
 * ResNet-50 takes 4.087e9 multiplications an image in its convolutions, of
 * which this trace records neither stride nor padding: 6 steps of 32 images.
 * Two layers more or less in size would be off by over 1 %.
 */
static void test_opmap_traces__resnet50_multiplications(void)
{
    double want = 2 * 4.087e9 * 32 * 6;
    struct loaded l;

    SKIP_WITHOUT_TRACES();
    if (load(&l, "resnet50-v100/kineto/workers-4.json.gz")) {
        CHECK_REL(flops_of(&l, "aten::cudnn_convolution"), want, 0.005);
        CHECK_REL(flops_of(&l, "aten::cudnn_convolution_backward_weight"), want,
                  0.005);
    }
    unload(&l);
}

/*
 * One of 8 ranks of 40 layers, hidden 4096, 4 sequences of 2048: a layer has
 * products with 1536 + 512 + 2 * 2048 output columns, the end one with 6400;
 * attention has two batches of 32 (heads x sequences) of 2048 x 2048 x 64.
 */
static void test_opmap_traces__megatron_products(void)
{
    double layers = 2.0 * 8192 * 4096 * (1536 + 512 + 2 * 2048) * 40;
    double end = 2.0 * 8192 * 4096 * 6400;
    double scores = 2.0 * 32 * 2048 * 2048 * 64 * 40;
    struct msim_work w[MSIM_OPMAP_MAX];
    struct loaded l;
    uint32_t n, transfers = 0;

    SKIP_WITHOUT_TRACES();
    if (load(&l, "megatron-8b-tp8-a100/et/rank-0.json.gz")) {
        CHECK_REL(flops_of(&l, "aten::mm"), layers + end, 1e-12);
        CHECK_REL(flops_of(&l, "aten::baddbmm"), scores, 1e-12);
        CHECK_REL(flops_of(&l, "aten::bmm"), scores, 1e-12);
        for (uint32_t i = 0; i < l.t->n_ops; i++) {
            CHECK(msim_opmap(l.t, NULL, i, -1, MSIM_OPMAP_AS_TRACED, w, &n) !=
                  MSIM_OPMAP_UNKNOWN);
            transfers += n && w[0].family == MSIM_FAMILY_COLLECTIVE;
        }
        /* two a layer, two for logits and loss, one for the embedding */
        CHECK_INT(transfers, 85);
    }
    unload(&l);
}

/* Operators of each name that launch, after the ET and after the GPU. */
static uint32_t disagreements(const struct loaded *et,
                              const struct loaded *kineto)
{
    uint32_t names = msim_strtab_count(et->job->strings), wrong = 0, n;
    int *count = calloc(names, sizeof(*count));
    struct msim_work w[MSIM_OPMAP_MAX];

    for (uint32_t i = 0; i < et->t->n_ops; i++)
        if (msim_opmap(et->t, NULL, i, -1, MSIM_OPMAP_AS_TRACED, w, &n) !=
            MSIM_OPMAP_NO_KERNEL)
            count[et->t->ops[i].name]++;
    for (uint32_t i = 0; i < kineto->t->n_ops; i++) {
        const char *name = msim_trace_text(kineto->t, kineto->t->ops[i].name);
        uint32_t id = msim_strtab_find(et->job->strings, name);

        if (kineto->launched[i] && id < names)
            count[id]--;
        else if (kineto->launched[i])
            wrong++;
    }
    for (uint32_t k = 0; k < names; k++) {
        if (count[k])
            printf("  %s: %d more in the ET\n",
                   msim_strtab_text(et->job->strings, k), count[k]);
        wrong += (uint32_t)abs(count[k]);
    }
    free(count);
    return wrong;
}

/* Both files of a run: what the ET says is launched is what was launched. */
static void test_opmap_traces__an_et_tells_what_launches(void)
{
    static const char *const pairs[][2] = {
        {"vgg13-h100/et", "vgg13-h100/kineto"},
        {"dlrm-8xv100/et/rank-0.json.gz", "dlrm-8xv100/kineto/rank-0.json.gz"},
        {"resnet50-ddp-2xa100/et/schema-1.1.1.json.gz",
         "resnet50-ddp-2xa100/kineto"},
    };

    SKIP_WITHOUT_TRACES();
    for (size_t k = 0; k < sizeof(pairs) / sizeof(pairs[0]); k++) {
        struct loaded et, kineto = {0};

        if (load(&et, pairs[k][0]) && load(&kineto, pairs[k][1]))
            CHECK_UINT(disagreements(&et, &kineto), 0);
        unload(&et);
        unload(&kineto);
    }
}

int main(void)
{
    RUN(test_opmap_traces__kernels_have_works);
    RUN(test_opmap_traces__resnet50_multiplications);
    RUN(test_opmap_traces__megatron_products);
    RUN(test_opmap_traces__an_et_tells_what_launches);
    return check_summary();
}
