/*
 * core/work/kernel/infer_elems.c - how many elements a kernel touches, by its
 * launch or its neighbours.
 */
#include "core/work/kernel/infer.h"

#include "core/base/containers.h"
#include "core/work/kernel_fact.h"

#include <math.h>

/* How many launches away a neighbour may be. */
#define NEAR 16

uint32_t msim_infer_sms(const struct msim_infer *l)
{
    uint32_t sms = l->t->gpu_properties.sms;

    return sms ? sms : (uint32_t)MSIM_FACT(NULL, SM_USUAL);
}

/* Is the grid as large as the GPU, rather than as the work? */
static bool is_full(const struct msim_infer *l, uint32_t i)
{
    uint32_t sms = msim_infer_sms(l), config = l->t->gpu[i].config;

    return config != MSIM_NONE && l->t->configs[config].grid[0] % sms == 0;
}

static bool by_launch(const struct msim_infer *l, uint32_t i)
{
    const struct msim_kernel_name *k = msim_infer_name(l, i);

    switch (k->kind) {
    case MSIM_KERNEL_ELEMENTWISE:
    case MSIM_KERNEL_FOREACH:
    case MSIM_KERNEL_COPY:
    case MSIM_KERNEL_POOL:
    case MSIM_KERNEL_INDEX:
    case MSIM_KERNEL_SORT:
    case MSIM_KERNEL_SPLIT_K:
        return !k->strides || !is_full(l, i);
    default:
        return false;
    }
}

/* Maps have more positions than a tile, filters one or nine. */
static bool is_filter(const struct msim_infer *l, uint32_t i)
{
    uint32_t config = l->t->gpu[i].config;

    return msim_infer_name(l, i)->layout && config != MSIM_NONE &&
           l->t->configs[config].grid[0] == 1;
}

static double launched_elems(const struct msim_infer *l, uint32_t i)
{
    const struct msim_kernel_name *k = msim_infer_name(l, i);
    const struct msim_infer_product *p = &l->products[i];

    /* the grid of a convolution without a tile in its name says nothing */
    if (k->kind == MSIM_KERNEL_CONV && k->tile[0] == 0)
        return 0;
    if (p->m > 0)
        return p->m * p->n * p->batch;
    if (l->t->gpu[i].config == MSIM_NONE)
        return 0;
    if (k->kind == MSIM_KERNEL_FOREACH)
        return msim_infer_blocks(l, i) * k->items *
               MSIM_FACT(NULL, FOREACH_FULL);
    if (k->kind == MSIM_KERNEL_EMBEDDING && k->cols > 0)
        return msim_infer_blocks(l, i) *
               l->t->configs[l->t->gpu[i].config].block[1] * k->cols;
    if (!by_launch(l, i))
        return 0;
    return msim_infer_threads(l, i) * k->items *
           (is_filter(l, i) ? MSIM_FACT(NULL, CONV_FILTER_FILL) : 1);
}

/* The largest tensor that kernel `i` reads or writes; the factors of a product
 * count. */
static double largest_operand(const struct msim_infer *l, uint32_t i)
{
    const struct msim_infer_product *p = &l->products[i];

    if (p->m == 0 || msim_infer_name(l, i)->kind != MSIM_KERNEL_MATRIX)
        return l->elems[i];
    return p->batch * fmax(p->m * p->n, p->k * fmax(p->m, p->n));
}

/* A convolution whose output is not known: what was before it says nothing of
 * what comes after. */
static bool hides(const struct msim_infer *l, uint32_t i)
{
    return l->elems[i] == 0 && l->t->gpu[i].kind == MSIM_GPU_KERNEL &&
           msim_infer_name(l, i)->kind == MSIM_KERNEL_CONV;
}

/*
 * The largest of the nearest `n` kernels on one side (`step` -1: before, 1:
 * after) whose sizes are known and not below this launch's.
 */
static double near_elems(const struct msim_infer *l, uint32_t i, int step,
                         int n)
{
    double most = 0, least = fmax(msim_infer_threads(l, i), 1);
    uint32_t o = l->place[i];

    for (int d = 0; d < NEAR && n > 0; d++) {
        double elems;

        if ((step < 0 && o == 0) || (step > 0 && o + 1 >= l->t->n_gpu))
            break;
        o = step < 0 ? o - 1 : o + 1;
        if (hides(l, l->order[o]))
            break;
        elems =
            step < 0 ? l->elems[l->order[o]] : largest_operand(l, l->order[o]);
        n -= elems >= least;
        if (elems >= least)
            most = fmax(most, elems);
    }
    return most;
}

/* One launch joins what others wrote, one after the other. */
static double joined_elems(const struct msim_infer *l, uint32_t i)
{
    uint32_t o = l->place[i], config = l->t->gpu[i].config;
    uint32_t n = config == MSIM_NONE ? 1 : l->t->configs[config].grid[1];
    uint32_t most = (uint32_t)MSIM_FACT(NULL, JOINED_TENSORS);
    uint32_t last = o > most ? o - most : 0;
    double each = o > 0 ? l->elems[l->order[o - 1]] : 0, sum = 0;

    for (; o > last && n > 0 && l->elems[l->order[o - 1]] == each; o--, n--)
        sum += each;
    return sum;
}

/* The larger of what the kernel before wrote and what the kernel after
 * reads. */
static double moved_elems(const struct msim_infer *l, uint32_t i)
{
    double elems = fmax(near_elems(l, i, -1, 2), near_elems(l, i, 1, 2));

    return msim_infer_name(l, i)->joins ? fmax(elems, joined_elems(l, i))
                                        : elems;
}

double msim_infer_taken(const struct msim_infer *l, uint32_t i)
{
    double elems = near_elems(l, i, -1, 1);

    return elems > 0 ? elems : near_elems(l, i, 1, 1);
}

double msim_infer_elems(const struct msim_infer *l, uint32_t i)
{
    double threads = msim_infer_threads(l, i), elems = l->elems[i];

    if (elems > 0)
        return elems;
    if (l->t->gpu[i].config == MSIM_NONE)
        return MSIM_FACT(NULL, SM_THREADS) * msim_infer_sms(l); /* one wave */
    switch (msim_infer_name(l, i)->kind) {
    case MSIM_KERNEL_REDUCTION:
        elems = msim_infer_taken(l, i);
        if (elems == 0)
            return threads * MSIM_FACT(NULL, REDUCE_VALUES_MIN);
        elems = fmax(elems, threads * MSIM_FACT(NULL, REDUCE_VALUES_LEAST));
        /* Work is split until the GPU is full, then threads take more. */
        return threads < MSIM_FACT(NULL, SM_THREADS) * msim_infer_sms(l) / 2
                   ? fmin(elems, threads * MSIM_FACT(NULL, REDUCE_VALUES_MAX))
                   : elems;
    case MSIM_KERNEL_OTHER:
        return threads;
    case MSIM_KERNEL_SOFTMAX:
    case MSIM_KERNEL_NORM:
    case MSIM_KERNEL_BATCH_NORM:
        return fmax(msim_infer_taken(l, i), threads);
    default:
        return fmax(moved_elems(l, i), threads);
    }
}

/* Copies in the order of their launches: the next one then knows how much the
 * one before it moved. */
static void copied_elements(struct msim_infer *l)
{
    for (uint32_t o = 0; o < l->t->n_gpu; o++)
        if (l->t->gpu[l->order[o]].kind == MSIM_GPU_KERNEL &&
            msim_infer_name(l, l->order[o])->kind == MSIM_KERNEL_COPY)
            l->elems[l->order[o]] = msim_infer_elems(l, l->order[o]);
}

/* Kernels whose neighbours forward are those of the layer, but backward may be
 * of anything: sums of gradients and their copies are launched in between. */
static bool like_forward(enum msim_kernel_kind kind)
{
    return kind == MSIM_KERNEL_BATCH_NORM || kind == MSIM_KERNEL_NORM ||
           kind == MSIM_KERNEL_SOFTMAX;
}

/* The key of a kernel's layer and kind; false: of no known layer, or not such a
 * kernel. */
static bool layer_key(const struct msim_infer *l, uint32_t i, uint64_t *key,
                      bool *backward)
{
    enum msim_kernel_kind kind = msim_infer_name(l, i)->kind;
    int64_t node;

    if (l->t->gpu[i].kind != MSIM_GPU_KERNEL || !like_forward(kind) ||
        !msim_infer_node(l->t, i, &node, backward))
        return false;
    *key = msim_idmap_pair(node, (uint32_t)kind);
    return true;
}

/* A layer's gradient has the elements of its forward pass. */
static enum msim_status layer_elements(struct msim_infer *l)
{
    struct msim_idmap forward = {0};
    enum msim_status status = MSIM_OK;
    uint32_t n = l->t->n_gpu, of, *slot;
    uint64_t key;
    bool backward;

    for (uint32_t i = 0; i < n && status == MSIM_OK; i++)
        if (layer_key(l, i, &key, &backward) && !backward)
            status = msim_idmap_put(&forward, key, i, &slot);
    for (uint32_t i = 0; i < n && status == MSIM_OK; i++)
        if (layer_key(l, i, &key, &backward) && backward &&
            (of = msim_idmap_get(&forward, key)) != MSIM_NONE)
            l->elems[i] = msim_infer_elems(l, of);
    msim_idmap_release(&forward);
    return status;
}

enum msim_status msim_infer_elements(struct msim_infer *l)
{
    for (uint32_t i = 0; i < l->t->n_gpu; i++)
        if (l->t->gpu[i].kind == MSIM_GPU_KERNEL)
            l->elems[i] = launched_elems(l, i);
    copied_elements(l);
    return layer_elements(l);
}

bool msim_infer_own(const struct msim_infer *l, uint32_t i)
{
    if (l->products[i].m > 0)
        return l->products[i].related;
    return launched_elems(l, i) > 0;
}
