/*
 * tests/unit/core/rewrite/made_layers.h - a training step of several layers, as
 * an execution trace made here.
 */
#ifndef MSIM_TESTS_UNIT_CORE_REWRITE_MADE_LAYERS_H
#define MSIM_TESTS_UNIT_CORE_REWRITE_MADE_LAYERS_H
#include "tests/unit/core/rewrite/trained_step.h"

#define LAYERS_MOST 8
#define NODES_A     24 /* of one layer */

/* Storages of layer i, from 0. */
#define WEIGHT   (100 + i)
#define STATE    (120 + i)
#define PRODUCT  (200 + i)
#define RESULT   (300 + i) /* the input of the next */
#define GRAD_OUT (401 + i)
#define GRAD_MID (420 + i)
#define GRAD     (440 + i)
#define BUCKET   (500 + k) /* k: which one */

/* The nodes of a step of several layers, and their texts. */
struct layered {
    struct made_node nodes[NODES_A * LAYERS_MOST + 8];
    char texts[3 * NODES_A * LAYERS_MOST + 16][256];
    size_t n, n_texts;
    unsigned per; /* gradients in a bucket of DDP; 0: there are none */
    bool shares;  /* are gathered first */
    bool strays;  /* the backend's thread sends below what goes on meanwhile, */
    bool outside; /* or below nothing, as a label */
};

MSIM_PRINTF(2, 3)
static inline const char *layered_text(struct layered *l, const char *fmt, ...)
{
    char *to = l->texts[l->n_texts++];
    va_list args;

    va_start(args, fmt);
    vsnprintf(to, sizeof(l->texts[0]), fmt, args);
    va_end(args);
    return to;
}

static inline void layered_add(struct layered *l, unsigned parent,
                               const char *name, int scope, int seq,
                               const char *in, const char *out)
{
    l->nodes[l->n] = (struct made_node){
        (unsigned)l->n + 10, parent, name, scope, seq, in, out};
    l->n++;
}

/* Input of layer i: the step's (3), or what the layer before made. */
static inline unsigned layered_given(unsigned i)
{
    return i ? 300 + i - 1 : 3;
}

static inline void layered_forward(struct layered *l, unsigned i)
{
    layered_add(l, 0, "aten::linear", 0, (int)(2 * i + 1),
                layered_text(l, "%u:4000 %u:4000", layered_given(i), WEIGHT),
                layered_text(l, "%u:4000", PRODUCT));
    layered_add(l, 0, "aten::relu", 0, (int)(2 * i + 2),
                layered_text(l, "%u:4000", PRODUCT),
                layered_text(l, "%u:4000", RESULT));
}

/* Bucket k, of a step of n layers. */
static inline const char *layered_bucket(struct layered *l, unsigned n,
                                         unsigned k, const char *fmt)
{
    unsigned left = n - k * l->per;

    return layered_text(l, fmt, BUCKET, 4000 * (left < l->per ? left : l->per));
}

/* Gradient i into its bucket, under the statement `top`; which is sent. */
static inline void layered_reduce(struct layered *l, unsigned n, unsigned i,
                                  unsigned top)
{
    unsigned place = n - 1 - i, k = place / l->per, in = place % l->per;
    const char *part = layered_text(l, "%u+%u:4000", BUCKET, 4000 * in);

    layered_add(l, top, "torch::distributed::reducer::mul_out", 0, -1, part,
                "");
    layered_add(l, (unsigned)l->n + 9, "aten::mul", 0, -1,
                layered_text(l, "%u:4000 %s", GRAD, part), part);
    if (in + 1 < l->per && i)
        return;
    layered_add(l, top, "c10d::allreduce_", 0, -1,
                layered_bucket(l, n, k, "[%u:%u]"), "");
    if (!l->strays || !i)
        layered_add(l, (unsigned)l->n + 9, "gloo:all_reduce", 0, -1,
                    layered_bucket(l, n, k, "%u:%u"), "");
}

/* Sums go back to gradients, bucket by bucket. */
static inline void layered_behind(struct layered *l, unsigned n)
{
    for (unsigned k = 0; l->per && k * l->per < n; k++)
        for (int copies = 0; copies < 2; copies++)
            for (unsigned in = 0; in < l->per && k * l->per + in < n; in++) {
                unsigned i = n - 1 - k * l->per - in;
                const char *part =
                    layered_text(l, "%u+%u:4000", BUCKET, 4000 * in);

                if (copies)
                    layered_add(l, 0, "aten::copy_", 0, -1,
                                layered_text(l, "%u:4000 %s", GRAD, part), "");
                else
                    layered_add(l, 0, "aten::as_strided", 0, -1,
                                layered_text(l, "%s #%u",
                                             layered_bucket(l, n, k, "%u:%u"),
                                             4000 * in),
                                part);
            }
}

static inline void layered_backward(struct layered *l, unsigned n, unsigned i)
{
    unsigned at = (unsigned)l->n + 10;

    layered_add(l, 0, "autograd::engine::evaluate_function: R", 0, -1, "", "");
    layered_add(l, at, "ReluBackward", 1, (int)(2 * i + 2), "", "");
    if (l->strays && l->per && i + 1 < n && (n - 1 - i) % l->per == 0)
        layered_add(
            l, l->outside ? 0 : at + 1, "gloo:all_reduce", l->outside ? 7 : 0,
            -1, layered_bucket(l, n, (n - 1 - i) / l->per - 1, "%u:%u"), "");
    layered_add(l, at + 1, "aten::threshold_backward", 0, -1,
                layered_text(l, "%u:4000 %u:4000", GRAD_OUT, RESULT),
                layered_text(l, "%u:4000", GRAD_MID));
    at = (unsigned)l->n + 7;
    layered_add(l, 0, "autograd::engine::evaluate_function: L", 0, -1, "", "");
    layered_add(l, at + 3, "LinearBackward", 1, (int)(2 * i + 1), "", "");
    layered_add(l, at + 4, "aten::linear_backward", 0, -1,
                layered_text(l, "%u:4000 %u:4000 %u:4000", GRAD_MID,
                             layered_given(i), WEIGHT),
                layered_text(l, "%u:4000 %u:4000", GRAD_OUT - 1, GRAD));
    layered_add(l, 0, "autograd::engine::evaluate_function: A", 0, -1, "", "");
    layered_add(l, at + 6, "torch::autograd::AccumulateGrad", 1, -1,
                layered_text(l, "%u:4000", GRAD), "");
    layered_add(l, at + 7, "aten::detach", 0, -1,
                layered_text(l, "%u:4000", GRAD),
                layered_text(l, "%u:4000", GRAD));
    if (l->per)
        layered_reduce(l, n, i, at + 6);
}

static inline void layered_list(char *to, size_t size, unsigned n,
                                unsigned first)
{
    size_t used = (size_t)snprintf(to, size, "[");

    for (unsigned i = 0; i < n; i++)
        used += (size_t)snprintf(to + used, size - used, "%s%u:4000",
                                 i ? " " : "", first + i);
    snprintf(to + used, size - used, "]");
}

/* `first` + i for 2 x n members, of so many elements by turns. */
static inline void layered_pairs(char *to, size_t size, unsigned n,
                                 unsigned first, unsigned a, unsigned b)
{
    size_t used = (size_t)snprintf(to, size, "[");

    for (unsigned i = 0; i < 2 * n; i++)
        used += (size_t)snprintf(to + used, size - used, "%s%u:%u",
                                 i ? " " : "", first + i, i % 2 ? b : a);
    snprintf(to + used, size - used, "]");
}

/* `n` layers, a loss, and a step: one operator a parameter, or on lists. */
static inline void made_layers(struct layered *l, unsigned n, bool lists)
{
    char p[256], g[128], m[128], d[128];
    unsigned at;

    l->n = l->n_texts = 0;
    if (l->shares) {
        layered_pairs(p, sizeof(p), n, 600, 2000, 500);
        layered_add(l, 0, "aten::cat", 0, -1, layered_text(l, "%s", p),
                    layered_text(l, "690:%u", n * 2500));
    }
    for (unsigned i = 0; i < n; i++)
        layered_forward(l, i);
    layered_add(l, 0, "aten::mse_loss", 0, (int)(2 * n + 1),
                layered_text(l, "%u:4000", layered_given(n)), "24:1");
    at = (unsigned)l->n + 10;
    layered_add(l, 0, "autograd::engine::evaluate_function: L", 0, -1, "", "");
    layered_add(l, at, "LossBackward", 1, (int)(2 * n + 1), "", "");
    layered_add(l, at + 1, "aten::mse_loss_backward", 0, -1,
                layered_text(l, "24:1 %u:4000", layered_given(n)),
                layered_text(l, "%u:4000", 400 + n));
    for (unsigned i = n; i-- > 0;)
        layered_backward(l, n, i);
    layered_behind(l, n);
    at = (unsigned)l->n + 10;
    layered_add(l, 0, "Optimizer.step#Adam.step", 7, -1, "", "");
    for (unsigned i = 0; i < n && !lists; i++)
        layered_add(
            l, at, "aten::addcdiv_", 0, -1,
            layered_text(l, "%u:4000 %u:4000 %u:4000", WEIGHT, GRAD, STATE),
            "");
    if (lists) {
        layered_list(p, sizeof(p), n, 100);
        layered_list(g, sizeof(g), n, 440);
        layered_list(m, sizeof(m), n, 120);
        layered_list(d, sizeof(d), n, 140);
        layered_add(l, at, "aten::_foreach_mul_", 0, -1,
                    layered_text(l, "%s", m), "");
        layered_add(l, at, "aten::_foreach_sqrt", 0, -1,
                    layered_text(l, "%s", m), layered_text(l, "%s", d));
        layered_add(l, at, "aten::_foreach_addcdiv_", 0, -1,
                    layered_text(l, "%s %s %s", p, g, d), "");
    }
}

/* The same, whose step is of shares that no pass names (FSDP): two a layer,
 * with states and counts of steps, which are read one by one. */
static inline void made_shares(struct layered *l, unsigned n)
{
    char p[256], m[256], t[256];
    unsigned at;

    l->shares = true;
    made_layers(l, n, true);
    l->shares = false;
    l->n -= 3;
    at = (unsigned)l->n + 9;
    layered_pairs(p, sizeof(p), n, 600, 2000, 500);
    layered_pairs(m, sizeof(m), n, 620, 2000, 500);
    layered_pairs(t, sizeof(t), n, 640, 1, 1);
    layered_add(l, at, "aten::_foreach_add_", 0, -1, layered_text(l, "%s", t),
                "");
    layered_add(l, at, "aten::_foreach_mul_", 0, -1, layered_text(l, "%s", p),
                "");
    for (unsigned i = 0; i < 2 * n; i++)
        layered_add(l, at, "aten::item", 0, -1,
                    layered_text(l, "%u:1", 640 + i), "");
    for (unsigned i = 0; i < 2 * n; i++)
        layered_add(l, at, "aten::item", 0, -1,
                    layered_text(l, "%u:1", 640 + i), "");
    layered_add(l, at, "aten::_foreach_sqrt_", 0, -1, layered_text(l, "%s", m),
                "");
}

#endif
