/*
 * calibrate/boost.c - growing the trees of models/forest.h.
 */
#include "calibrate/boost.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BINS (MSIM_FOREST_CUTS + 1)

struct node {
    uint32_t begin, end; /* rows order[begin .. end) */
    int feature;         /* -1: a leaf */
    uint32_t cut, left, right;
    double sum; /* of the clipped errors */
    /* The best split that is left to make. */
    double gain;
    int best_feature;
    uint32_t best_cut;
};

struct boost {
    const struct msim_boost_options *o;
    uint32_t n, features;
    double (*cuts)[MSIM_FOREST_CUTS];
    uint32_t *n_cuts;
    uint8_t *bins;   /* [row][feature] */
    double *error;   /* y less the trees so far */
    double *clipped; /* the same within -clip..clip */
    uint32_t *order, *scratch;
    struct node *nodes;
    uint32_t n_nodes;
    cJSON *splits, *leaves;
};

/* ---- bins ------------------------------------------------------------------
 */

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;

    return (x > y) - (x < y);
}

/* A short decimal, so that the file holds exactly what was fitted with. */
static double shorten(double v)
{
    char text[32];

    snprintf(text, sizeof(text), "%.5g", v);
    return strtod(text, NULL);
}

/* Cuts between distinct values, at equal shares of the rows where there are
 * too many of them. `sorted` holds all rows' values. */
static uint32_t make_cuts(const double *sorted, uint32_t n, double *cuts)
{
    uint32_t count = 0;
    uint32_t distinct = 1;
    uint32_t step;

    for (uint32_t i = 1; i < n; i++)
        distinct += sorted[i] != sorted[i - 1];
    step = distinct <= BINS ? 1 : n / BINS;
    for (uint32_t i = 1, last = 0; i < n && count < MSIM_FOREST_CUTS; i++) {
        double cut;

        if (sorted[i] == sorted[i - 1] || i - last < step)
            continue;
        cut = shorten((sorted[i] + sorted[i - 1]) / 2);
        last = i;
        if (cut >= sorted[i - 1] && cut < sorted[i])
            cuts[count++] = cut;
    }
    return count;
}

static uint8_t bin_of(const double *cuts, uint32_t n, double v)
{
    uint32_t low = 0;

    while (n > 0) { /* the first cut that is not below v */
        uint32_t half = n / 2;

        if (cuts[low + half] < v) {
            low += half + 1;
            n -= half + 1;
        } else {
            n = half;
        }
    }
    return (uint8_t)low;
}

static enum msim_status make_bins(struct boost *b, const double *x)
{
    double *column = malloc((size_t)b->n * sizeof(*column));

    if (!column)
        return MSIM_ENOMEM;
    for (uint32_t f = 0; f < b->features; f++) {
        for (uint32_t i = 0; i < b->n; i++)
            column[i] = x[(size_t)i * b->features + f];
        qsort(column, b->n, sizeof(*column), by_value);
        b->n_cuts[f] = make_cuts(column, b->n, b->cuts[f]);
        for (uint32_t i = 0; i < b->n; i++)
            b->bins[(size_t)i * b->features + f] = bin_of(
                b->cuts[f], b->n_cuts[f], x[(size_t)i * b->features + f]);
    }
    free(column);
    return MSIM_OK;
}

/* ---- one tree ---------------------------------------------------------------
 */

struct histogram {
    double sum;
    uint32_t count;
};

/* The best split of one feature, from its histogram. */
static void scan(const struct boost *b, struct node *node, int feature,
                 const struct histogram *h)
{
    uint32_t count = node->end - node->begin;
    double all = node->sum * node->sum / (count + b->o->penalty);
    double left = 0;
    uint32_t n_left = 0;

    for (uint32_t cut = 0; cut < b->n_cuts[feature]; cut++) {
        double right, gain;
        uint32_t n_right;

        left += h[cut].sum;
        n_left += h[cut].count;
        n_right = count - n_left;
        if (n_left < b->o->least || n_right < b->o->least)
            continue;
        right = node->sum - left;
        gain = left * left / (n_left + b->o->penalty) +
               right * right / (n_right + b->o->penalty) - all;
        if (gain > node->gain * (1 + 1e-9) + 1e-9) {
            node->gain = gain;
            node->best_feature = feature;
            node->best_cut = cut;
        }
    }
}

static void find_split(const struct boost *b, struct node *node,
                       struct histogram *h)
{
    node->gain = 0;
    node->best_feature = -1;
    if (node->end - node->begin < 2 * b->o->least)
        return;
    memset(h, 0, (size_t)b->features * BINS * sizeof(*h));
    for (uint32_t i = node->begin; i < node->end; i++) {
        uint32_t row = b->order[i];
        const uint8_t *bins = b->bins + (size_t)row * b->features;

        for (uint32_t f = 0; f < b->features; f++) {
            h[f * BINS + bins[f]].sum += b->clipped[row];
            h[f * BINS + bins[f]].count++;
        }
    }
    for (uint32_t f = 0; f < b->features; f++)
        scan(b, node, (int)f, h + (size_t)f * BINS);
}

static uint32_t new_node(struct boost *b, uint32_t begin, uint32_t end,
                         struct histogram *h)
{
    struct node *node = &b->nodes[b->n_nodes];

    *node = (struct node){.begin = begin, .end = end, .feature = -1};
    for (uint32_t i = begin; i < end; i++)
        node->sum += b->clipped[b->order[i]];
    find_split(b, node, h);
    return b->n_nodes++;
}

/* Rows of a node to the left and right of its best split, order kept. */
static uint32_t partition(struct boost *b, const struct node *node)
{
    uint32_t left = node->begin;
    uint32_t right = 0;

    for (uint32_t i = node->begin; i < node->end; i++) {
        uint32_t row = b->order[i];

        if (b->bins[(size_t)row * b->features + (size_t)node->best_feature] <=
            node->best_cut)
            b->order[left++] = row;
        else
            b->scratch[right++] = row;
    }
    memcpy(b->order + left, b->scratch, right * sizeof(*b->scratch));
    return left;
}

static void grow(struct boost *b, struct histogram *h)
{
    b->n_nodes = 0;
    for (uint32_t i = 0; i < b->n; i++)
        b->order[i] = i;
    (void)new_node(b, 0, b->n, h);
    for (uint32_t leaves = 1; leaves < b->o->leaves; leaves++) {
        struct node *best = NULL;
        uint32_t middle;

        for (uint32_t i = 0; i < b->n_nodes; i++)
            if (b->nodes[i].feature < 0 && b->nodes[i].gain > 0 &&
                (!best || b->nodes[i].gain > best->gain))
                best = &b->nodes[i];
        if (!best)
            return;
        middle = partition(b, best);
        best->feature = best->best_feature;
        best->cut = best->best_cut;
        best->left = new_node(b, best->begin, middle, h);
        best->right = new_node(b, middle, best->end, h);
    }
}

/* Write the tree in preorder and take its answer off the errors. The depth is
 * at most the number of leaves. */
static enum msim_status keep(struct boost *b, uint32_t *stack)
{
    uint32_t depth = 0;

    stack[depth++] = 0;
    while (depth > 0) {
        const struct node *node = &b->nodes[stack[--depth]];
        uint32_t count = node->end - node->begin;
        double value;

        if (node->feature >= 0) {
            if (!cJSON_AddItemToArray(
                    b->splits, cJSON_CreateNumber(1 + node->feature * 64 +
                                                  (int)node->cut)))
                return MSIM_ENOMEM;
            stack[depth++] = node->right;
            stack[depth++] = node->left;
            continue;
        }
        value = b->o->rate * node->sum / (count + b->o->penalty);
        value = round(value / MSIM_FOREST_UNIT);
        if (!cJSON_AddItemToArray(b->splits, cJSON_CreateNumber(0)) ||
            !cJSON_AddItemToArray(b->leaves, cJSON_CreateNumber(value)))
            return MSIM_ENOMEM;
        for (uint32_t i = node->begin; i < node->end; i++)
            b->error[b->order[i]] -= value * MSIM_FOREST_UNIT;
    }
    return MSIM_OK;
}

static enum msim_status grow_all(struct boost *b)
{
    size_t cells = (size_t)b->features * BINS;
    struct histogram *h = malloc(cells * sizeof(*h));
    uint32_t *stack = malloc((size_t)b->o->leaves * 2 * sizeof(*stack));
    enum msim_status status = h && stack ? MSIM_OK : MSIM_ENOMEM;

    for (uint32_t t = 0; status == MSIM_OK && t < b->o->trees; t++) {
        for (uint32_t i = 0; i < b->n; i++)
            b->clipped[i] = fmax(-b->o->clip, fmin(b->o->clip, b->error[i]));
        grow(b, h);
        status = keep(b, stack);
    }
    free(h);
    free(stack);
    return status;
}

/* ---- the whole
 * ----------------------------------------------------------------
 */

/* Drop the cuts that no tree splits at, and number the splits anew. */
static void drop_unused(struct boost *b, bool (*used)[BINS])
{
    cJSON *split;
    uint8_t number[BINS];

    cJSON_ArrayForEach(split, b->splits)
    {
        if (split->valueint > 0)
            used[(split->valueint - 1) / 64][(split->valueint - 1) % 64] = true;
    }
    for (uint32_t f = 0; f < b->features; f++) {
        uint32_t n = 0;

        for (uint32_t c = 0; c < b->n_cuts[f]; c++) {
            number[c] = (uint8_t)n;
            if (used[f][c])
                b->cuts[f][n++] = b->cuts[f][c];
        }
        b->n_cuts[f] = n;
        cJSON_ArrayForEach(split, b->splits)
        {
            int code = split->valueint - 1;

            if (code >= 0 && (uint32_t)code / 64 == f)
                cJSON_SetNumberValue(split,
                                     1 + code / 64 * 64 + number[code % 64]);
        }
    }
}

static cJSON *cuts_json(const struct boost *b)
{
    cJSON *all = cJSON_CreateArray();

    for (uint32_t f = 0; all && f < b->features; f++) {
        cJSON *one = cJSON_CreateDoubleArray(b->cuts[f], (int)b->n_cuts[f]);

        if (!one || !cJSON_AddItemToArray(all, one)) {
            cJSON_Delete(all);
            return NULL;
        }
    }
    return all;
}

static enum msim_status make_json(cJSON **out, struct boost *b, double low,
                                  double high)
{
    bool(*used)[BINS] = calloc(b->features, sizeof(*used));
    cJSON *o = cJSON_CreateObject();

    *out = o;
    if (!o || !used) {
        free(used);
        return MSIM_ENOMEM;
    }
    drop_unused(b, used);
    free(used);
    cJSON_AddNumberToObject(o, "low", shorten(low));
    cJSON_AddNumberToObject(o, "high", shorten(high));
    if (!cJSON_AddItemToObject(o, "cuts", cuts_json(b)))
        return MSIM_ENOMEM;
    cJSON_AddItemToObject(o, "splits", b->splits);
    cJSON_AddItemToObject(o, "leaves", b->leaves);
    b->splits = b->leaves = NULL;
    return MSIM_OK;
}

static enum msim_status allocate(struct boost *b)
{
    size_t n = b->n;
    size_t f = b->features;

    b->cuts = calloc(f, sizeof(*b->cuts));
    b->n_cuts = calloc(f, sizeof(*b->n_cuts));
    b->bins = malloc(n * f);
    b->error = malloc(n * sizeof(*b->error));
    b->clipped = malloc(n * sizeof(*b->clipped));
    b->order = malloc(n * sizeof(*b->order));
    b->scratch = malloc(n * sizeof(*b->scratch));
    b->nodes = calloc((size_t)b->o->leaves * 2, sizeof(*b->nodes));
    b->splits = cJSON_CreateArray();
    b->leaves = cJSON_CreateArray();
    return b->cuts && b->n_cuts && b->bins && b->error && b->clipped &&
                   b->order && b->scratch && b->nodes && b->splits && b->leaves
               ? MSIM_OK
               : MSIM_ENOMEM;
}

static void release(struct boost *b)
{
    free(b->cuts);
    free(b->n_cuts);
    free(b->bins);
    free(b->error);
    free(b->clipped);
    free(b->order);
    free(b->scratch);
    free(b->nodes);
    cJSON_Delete(b->splits);
    cJSON_Delete(b->leaves);
}

enum msim_status msim_boost_fit(cJSON **out, const double *x, const double *y,
                                uint32_t n, uint32_t features,
                                const struct msim_boost_options *options)
{
    struct boost b = {.o = options, .n = n, .features = features};
    enum msim_status status;
    double low = 0, high = 0;

    *out = NULL;
    status = allocate(&b);
    if (status == MSIM_OK)
        status = make_bins(&b, x);
    for (uint32_t i = 0; status == MSIM_OK && i < n; i++) {
        b.error[i] = y[i];
        low = fmin(low, y[i]);
        high = fmax(high, y[i]);
    }
    if (status == MSIM_OK)
        status = grow_all(&b);
    if (status == MSIM_OK)
        status = make_json(out, &b, low, high);
    release(&b);
    if (status != MSIM_OK) {
        cJSON_Delete(*out);
        *out = NULL;
    }
    return status;
}
