/*
 * models/platform/forest.c - evaluating and reading regression trees.
 */
#include "models/platform/forest.h"

#include "core/base/decimal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FEATURES_MAX 64
#define AT_ONCE      8
#define CUTS         (MSIM_FOREST_CUTS + 1) /* room of a feature */
#define NODES_MAX    65536

/*
 * The number of a feature's cuts that are <= `x`. Features and cuts are
 * compared as floats, as in XGBoost: a row that was equal to a cut in the fit
 * is equal to it here, too.
 */
static inline uint8_t rank_of(const float *cuts, float x)
{
    uint32_t at = 0;

    for (uint32_t half = CUTS / 2; half > 0; half /= 2)
        at += half & (0U - !(x < cuts[at + half - 1]));
    return (uint8_t)at;
}

/* One step down from node `i`; a leaf stays where it is. */
static inline uint32_t step(const uint32_t *nodes, uint32_t i,
                            const uint8_t *ranks)
{
    uint32_t node = nodes[i];

    return (node >> 16) + (ranks[node & 255] >= (node >> 8 & 255));
}

/*
 * The sum of the leaves of AT_ONCE trees from tree `first`. Their paths do not
 * depend on one another, so that waits for memory overlap. All take the same
 * number of steps, so that no branch can be mispredicted.
 */
static double walk(const struct msim_forest *f, uint32_t first,
                   const uint8_t *ranks)
{
    const uint32_t *nodes = f->nodes;
    uint32_t at[AT_ONCE];
    uint32_t steps = 0;
    double sum = 0;

    for (uint32_t t = 0; t < AT_ONCE; t++) {
        at[t] = f->roots[first + t];
        steps = f->depths[first + t] > steps ? f->depths[first + t] : steps;
    }
    for (; steps > 0; steps--)
        for (uint32_t t = 0; t < AT_ONCE; t++)
            at[t] = step(nodes, at[t], ranks);
    for (uint32_t t = 0; t < AT_ONCE; t++)
        sum += (double)f->values[at[t]];
    return sum;
}

double msim_forest_eval(const struct msim_forest *f, const double *x)
{
    uint8_t ranks[FEATURES_MAX];
    double sum = 0;
    uint32_t t = 0;

    if (f->n_trees == 0)
        return 0;
    for (uint32_t i = 0; i < f->n_features; i++)
        ranks[i] = rank_of(f->cuts + (size_t)i * CUTS, (float)x[i]);
    for (; t + AT_ONCE <= f->n_trees; t += AT_ONCE)
        sum += walk(f, t, ranks);
    for (; t < f->n_trees; t++) {
        uint32_t i = f->roots[t];

        for (uint32_t s = f->depths[t]; s > 0; s--)
            i = step(f->nodes, i, ranks);
        sum += (double)f->values[i];
    }
    sum *= MSIM_FOREST_UNIT;
    return sum < f->low ? f->low : sum > f->high ? f->high : sum;
}

void msim_forest_release(struct msim_forest *f)
{
    free(f->nodes);
    free(f->values);
    free(f->cuts);
    free(f->roots);
    free(f->depths);
    memset(f, 0, sizeof(*f));
}

/* ---- reading ------------------------------------------------------------- */

/* The next whole number of a text; false at its end, or where no number is. */
static bool next_int(const char **at, int *out)
{
    const char *c = *at;
    bool minus;
    int v = 0;

    while (*c == ' ')
        c++;
    minus = *c == '-';
    c += minus;
    if (*c < '0' || *c > '9')
        return false;
    for (; *c >= '0' && *c <= '9'; c++) {
        if (v > 100000000)
            return false;
        v = v * 10 + (*c - '0');
    }
    *out = minus ? -v : v;
    *at = c;
    return *c == ' ' || *c == '\0';
}

/* Read the cuts of all features; `n` gets the number of cuts of each. */
static bool read_cuts(struct msim_forest *f, uint32_t *n, const char *text)
{
    uint32_t feature = 0;

    for (size_t i = 0; i < (size_t)f->n_features * CUTS; i++)
        f->cuts[i] = INFINITY;
    while (*text && feature < f->n_features) {
        const char *end;
        float v;

        if (*text == ' ') {
            text++;
            continue;
        }
        if (*text == ';') {
            feature++;
            text++;
            continue;
        }
        v = msim_decimal_float(text, &end);
        if (end == text || n[feature] == MSIM_FOREST_CUTS)
            return false;
        f->cuts[(size_t)feature * CUTS + n[feature]++] = v;
        text = end;
    }
    return *text == '\0';
}

/* Where the next nodes of the file go: the one that is to come last, first. */
struct open_node {
    uint32_t at, depth;
};

/* Nodes that have their place are those that were read and those that are open:
 * never more than there are numbers, so that none is open behind the last. */
struct reading {
    const char *splits, *leaves;
    const uint32_t *n_cuts;
    struct open_node *open;
    uint32_t n_open, used;
};

/* The place of the next node; below none that is open a tree begins. */
static struct open_node take_place(struct msim_forest *f, struct reading *r)
{
    if (r->n_open)
        return r->open[--r->n_open];
    f->roots[f->n_trees++] = r->used;
    return (struct open_node){r->used++, 0};
}

static bool read_leaf(struct msim_forest *f, struct reading *r,
                      struct open_node n)
{
    uint8_t *deepest = &f->depths[f->n_trees - 1];
    int leaf;

    if (!next_int(&r->leaves, &leaf) || n.depth > UINT8_MAX)
        return false;
    if (n.depth > *deepest)
        *deepest = (uint8_t)n.depth;
    f->values[n.at] = (float)leaf;
    f->nodes[n.at] = UINT8_MAX << 8 | n.at << 16;
    return true;
}

static bool read_split(struct msim_forest *f, struct reading *r,
                       struct open_node n, int code)
{
    uint32_t feature = (uint32_t)(code - 1) / 64;
    uint32_t cut = (uint32_t)(code - 1) % 64, left = r->used;

    if (code < 0 || feature >= f->n_features || cut >= r->n_cuts[feature] ||
        left + 2 > f->n_nodes)
        return false;
    f->nodes[n.at] = feature | (cut + 1) << 8 | left << 16;
    r->open[r->n_open++] = (struct open_node){left + 1, n.depth + 1};
    r->open[r->n_open++] = (struct open_node){left, n.depth + 1};
    r->used += 2;
    return true;
}

/* False where it is no number that can stand there. */
static bool read_node(struct msim_forest *f, struct reading *r)
{
    struct open_node n = take_place(f, r);
    int code;

    if (!next_int(&r->splits, &code))
        return false;
    return code ? read_split(f, r, n, code) : read_leaf(f, r, n);
}

/* The number of words in a text. */
static uint32_t count_numbers(const char *text)
{
    size_t length = strlen(text);
    uint32_t n = 0;

    for (size_t i = 0; i < length; i++) /* without jumps: by vectors */
        n += (text[i] != ' ') & ((text[i + 1] == ' ') | (text[i + 1] == '\0'));
    return n;
}

static enum msim_status read_nodes(struct msim_forest *f, const cJSON *json,
                                   const uint32_t *n_cuts)
{
    struct reading r = {.splits = msim_json_get_text(json, "splits"),
                        .leaves = msim_json_get_text(json, "leaves"),
                        .n_cuts = n_cuts};
    bool good = true;
    size_t n;

    if (!r.splits || !r.leaves)
        return MSIM_EFORMAT;
    f->n_nodes = count_numbers(r.splits);
    if (f->n_nodes > NODES_MAX)
        return MSIM_ELIMIT;
    n = (size_t)f->n_nodes + 1;
    f->nodes = calloc(n, sizeof(*f->nodes));
    f->values = calloc(n, sizeof(*f->values));
    f->roots = calloc(n, sizeof(*f->roots));
    f->depths = calloc(n, sizeof(*f->depths));
    r.open = malloc(n * sizeof(*r.open));
    if (!f->nodes || !f->values || !f->roots || !f->depths || !r.open) {
        free(r.open);
        return MSIM_ENOMEM;
    }
    for (uint32_t i = 0; i < f->n_nodes && good; i++)
        good = read_node(f, &r);
    free(r.open);
    return good && !*r.leaves ? MSIM_OK : MSIM_EFORMAT;
}

enum msim_status msim_forest_read(struct msim_forest *f, const cJSON *json,
                                  uint32_t n_features)
{
    const char *text = msim_json_get_text(json, "cuts");
    uint32_t n_cuts[FEATURES_MAX] = {0};
    enum msim_status status = MSIM_EFORMAT;

    memset(f, 0, sizeof(*f));
    if (n_features > FEATURES_MAX)
        return MSIM_ELIMIT;
    f->cuts = malloc((size_t)n_features * CUTS * sizeof(*f->cuts));
    if (!f->cuts)
        return MSIM_ENOMEM;
    f->low = msim_json_get_number(json, "low", 0);
    f->high = msim_json_get_number(json, "high", 0);
    f->n_features = n_features;
    if (text && read_cuts(f, n_cuts, text))
        status = read_nodes(f, json, n_cuts);
    if (status != MSIM_OK)
        msim_forest_release(f);
    return status;
}
