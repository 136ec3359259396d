/*
 * calibrate/stat/boost.c - trees by XGBoost, rewritten for platform files.
 *
 * The one file that knows XGBoost (tests/lint/arrows.sh).
 */
#include "calibrate/stat/boost.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xgboost/c_api.h>

/* ---- growing ----------------------------------------------------- */

struct training {
    DMatrixHandle data;
    BoosterHandle booster;
};

/* XGBoost's functions return 0 or -1. */
static enum msim_status called(int result)
{
    return result == 0 ? MSIM_OK : MSIM_EINTERNAL;
}

static enum msim_status set_number(BoosterHandle booster, const char *name,
                                   double v)
{
    char text[32];

    snprintf(text, sizeof(text), "%.9g", v);
    return called(XGBoosterSetParam(booster, name, text));
}

/* The pseudo-Huber loss is the squared error for small errors and linear above
 * `clip`, for measured tables hold outliers. base_score 0: trees correct the
 * law, so their sum starts at no correction. */
static enum msim_status set_options(BoosterHandle booster,
                                    const struct msim_boost_options *o)
{
    static const char *const FIXED[][2] = {
        {"verbosity", "0"},      {"nthread", "1"},
        {"seed", "0"},           {"booster", "gbtree"},
        {"tree_method", "hist"}, {"grow_policy", "lossguide"},
        {"base_score", "0"},     {"objective", "reg:pseudohubererror"},
    };

    for (size_t i = 0; i < sizeof(FIXED) / sizeof(*FIXED); i++)
        MSIM_TRY(called(XGBoosterSetParam(booster, FIXED[i][0], FIXED[i][1])));
    MSIM_TRY(set_number(booster, "max_leaves", o->leaves));
    MSIM_TRY(set_number(booster, "max_depth", o->depth));
    MSIM_TRY(set_number(booster, "max_bin", MSIM_FOREST_CUTS + 1));
    MSIM_TRY(set_number(booster, "huber_slope", o->clip));
    MSIM_TRY(set_number(booster, "eta", o->rate));
    MSIM_TRY(set_number(booster, "lambda", o->penalty));
    return set_number(booster, "min_child_weight", o->least);
}

/* XGBoost compares floats, as models/forest/forest.c does. */
static enum msim_status make_data(DMatrixHandle *data, const double *x,
                                  const double *y, uint32_t n,
                                  uint32_t features)
{
    size_t values = (size_t)n * features;
    float *xs = malloc(values * sizeof(*xs));
    float *ys = malloc(n * sizeof(*ys));
    enum msim_status status = xs && ys ? MSIM_OK : MSIM_ENOMEM;

    for (size_t i = 0; status == MSIM_OK && i < values; i++)
        xs[i] = (float)x[i];
    for (uint32_t i = 0; status == MSIM_OK && i < n; i++)
        ys[i] = (float)y[i];
    if (status == MSIM_OK)
        status = called(XGDMatrixCreateFromMat(xs, n, features, NAN, data));
    if (status == MSIM_OK)
        status = called(XGDMatrixSetFloatInfo(*data, "label", ys, n));
    free(xs);
    free(ys);
    return status;
}

/* The sums of the trees so far; XGBoost's memory, until the next call. */
static enum msim_status ask(const struct training *t, const float **sums)
{
    static const char HOW[] =
        "{\"type\": 1, \"training\": false, \"iteration_begin\": 0, "
        "\"iteration_end\": 0, \"strict_shape\": false}";
    const bst_ulong *shape;
    bst_ulong dimensions;

    return called(XGBoosterPredictFromDMatrix(t->booster, t->data, HOW, &shape,
                                              &dimensions, sums));
}

/* The derivatives of the loss of an answer `y` where the trees say `sum`. */
static void differentiate(const struct msim_boost_options *o, double sum,
                          double y, float *gradient, float *curvature)
{
    double p = 1 / (1 + exp(-sum)), r = sum - y;
    double w = 1 / sqrt(1 + r * r / (o->clip * o->clip));

    *gradient = (float)(o->logistic ? p - y : w * r);
    *curvature = (float)(o->logistic ? p * (1 - p) : w);
}

/* One tree more, on derivatives of our own; rows from `first` on are no part
 * of it. */
static enum msim_status grow_own(struct training *t, const double *y,
                                 uint32_t n, uint32_t first,
                                 const struct msim_boost_options *options)
{
    float *gradient = calloc(n, sizeof(*gradient));
    float *weight = calloc(n, sizeof(*weight));
    enum msim_status status = gradient && weight ? MSIM_OK : MSIM_ENOMEM;
    const float *sums = NULL;

    if (status == MSIM_OK)
        status = ask(t, &sums);
    for (uint32_t i = 0; status == MSIM_OK && i < first; i++)
        differentiate(options, (double)sums[i], y[i], &gradient[i], &weight[i]);
    if (status == MSIM_OK)
        status = called(
            XGBoosterBoostOneIter(t->booster, t->data, gradient, weight, n));
    free(gradient);
    free(weight);
    return status;
}

static enum msim_status grow(struct training *t, const double *x,
                             const double *y, uint32_t n, uint32_t features,
                             const struct msim_boost_options *options)
{
    bool own = options->weighted || options->logistic;

    MSIM_TRY(make_data(&t->data, x, y, n, features));
    MSIM_TRY(called(XGBoosterCreate(&t->data, 1, &t->booster)));
    MSIM_TRY(set_options(t->booster, options));
    for (uint32_t i = 0; i < options->trees; i++)
        MSIM_TRY(
            own ? grow_own(t, y, n, n, options)
                : called(XGBoosterUpdateOneIter(t->booster, (int)i, t->data)));
    for (uint32_t i = 0; own && options->first > 0 && i < options->more; i++)
        MSIM_TRY(grow_own(t, y, n, options->first, options));
    return MSIM_OK;
}

static enum msim_status read_sums(const struct training *t, uint32_t n,
                                  double *sums)
{
    const float *result;

    MSIM_TRY(ask(t, &result));
    for (uint32_t i = 0; i < n; i++)
        sums[i] = (double)result[i];
    return MSIM_OK;
}

static void release(struct training *t)
{
    if (t->booster)
        (void)XGBoosterFree(t->booster);
    if (t->data)
        (void)XGDMatrixFree(t->data);
}

/* ---- rewriting --------------------------------------------------- */

struct rewriting {
    uint32_t features;
    float (*cuts)[MSIM_FOREST_CUTS]; /* those in use, ascending */
    uint32_t *n_cuts;
    FILE *out;
};

/* A split of XGBoost's dump: {"split": "f3", "split_condition": 0.5,
 * "children": [where below, where not]}; a leaf is {"leaf": 0.25}. */
struct split {
    uint32_t feature;
    float cut;
    const cJSON *below, *above;
};

static bool read_split(const struct rewriting *r, const cJSON *node,
                       struct split *out)
{
    const char *name = msim_json_get_text(node, "split");
    const cJSON *children = cJSON_GetObjectItemCaseSensitive(node, "children");

    if (!name || name[0] != 'f' || cJSON_GetArraySize(children) != 2)
        return false;
    out->feature = (uint32_t)strtoul(name + 1, NULL, 10);
    out->cut = (float)msim_json_get_number(node, "split_condition", NAN);
    out->below = cJSON_GetArrayItem(children, 0);
    out->above = cJSON_GetArrayItem(children, 1);
    return out->feature < r->features && isfinite(out->cut);
}

/* The first cut of a feature that is not below `cut`, as an index. */
static uint32_t place(const struct rewriting *r, uint32_t feature, float cut)
{
    uint32_t i = 0;

    while (i < r->n_cuts[feature] && r->cuts[feature][i] < cut)
        i++;
    return i;
}

/* Add the cuts of a tree. Recursion is as deep as the tree. */
static enum msim_status collect(struct rewriting *r, const cJSON *node)
{
    struct split s;
    uint32_t i, n;
    float *cuts;

    if (cJSON_HasObjectItem(node, "leaf"))
        return MSIM_OK;
    if (!read_split(r, node, &s))
        return MSIM_EINTERNAL;
    i = place(r, s.feature, s.cut);
    n = r->n_cuts[s.feature];
    cuts = r->cuts[s.feature];
    if (i == n || cuts[i] != s.cut) {
        if (n == MSIM_FOREST_CUTS)
            return MSIM_ELIMIT;
        memmove(&cuts[i + 1], &cuts[i], (n - i) * sizeof(*cuts));
        cuts[i] = s.cut;
        r->n_cuts[s.feature]++;
    }
    MSIM_TRY(collect(r, s.below));
    return collect(r, s.above);
}

/* The splits of a tree in preorder, 0 for a leaf; or its leaves, in the same
 * order. */
static enum msim_status write_nodes(struct rewriting *r, const cJSON *node,
                                    bool leaves)
{
    const cJSON *leaf = cJSON_GetObjectItemCaseSensitive(node, "leaf");
    struct split s;
    long number = 0;

    if (!leaf && !read_split(r, node, &s))
        return MSIM_EINTERNAL;
    if (!leaf)
        number = 1 + s.feature * 64 + place(r, s.feature, s.cut);
    else if (leaves)
        number = lround(leaf->valuedouble / MSIM_FOREST_UNIT);
    if (leaf || !leaves)
        fprintf(r->out, " %ld", number);
    if (leaf)
        return MSIM_OK;
    MSIM_TRY(write_nodes(r, s.below, leaves));
    return write_nodes(r, s.above, leaves);
}

/* The shortest decimal that is the same float. */
static double shorten(float v)
{
    char text[32];

    for (int digits = 5; digits <= 9; digits++) {
        snprintf(text, sizeof(text), "%.*g", digits, (double)v);
        if (strtof(text, NULL) == v)
            break;
    }
    return strtod(text, NULL);
}

/* The splits or leaves of all trees, as a member. */
static enum msim_status add_list(cJSON *forest, const char *key, bool leaves,
                                 struct rewriting *r, const cJSON *trees)
{
    char *text = NULL;
    size_t size = 0;
    enum msim_status status = MSIM_OK;
    const cJSON *tree;

    r->out = open_memstream(&text, &size);
    if (!r->out)
        return MSIM_ENOMEM;
    cJSON_ArrayForEach(tree, trees)
    {
        if (status == MSIM_OK)
            status = write_nodes(r, tree, leaves);
    }
    if (fclose(r->out) != 0 && status == MSIM_OK)
        status = MSIM_ENOMEM;
    /* every number has a space before it */
    if (status == MSIM_OK && !cJSON_AddStringToObject(forest, key, text + 1))
        status = MSIM_ENOMEM;
    free(text);
    return status;
}

static enum msim_status add_cuts(cJSON *forest, const struct rewriting *r)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    enum msim_status status = MSIM_OK;

    if (!out)
        return MSIM_ENOMEM;
    for (uint32_t f = 0; f < r->features; f++) {
        for (uint32_t i = 0; i < r->n_cuts[f]; i++)
            fprintf(out, i ? " %.9g" : "%.9g", shorten(r->cuts[f][i]));
        fputc(';', out);
    }
    if (fclose(out) != 0 || !cJSON_AddStringToObject(forest, "cuts", text))
        status = MSIM_ENOMEM;
    free(text);
    return status;
}

static enum msim_status rewrite_all(struct rewriting *r, cJSON *forest,
                                    const cJSON *trees)
{
    const cJSON *tree;

    r->cuts = calloc(r->features, sizeof(*r->cuts));
    r->n_cuts = calloc(r->features, sizeof(*r->n_cuts));
    if (!r->cuts || !r->n_cuts)
        return MSIM_ENOMEM;
    cJSON_ArrayForEach(tree, trees) MSIM_TRY(collect(r, tree));
    MSIM_TRY(add_cuts(forest, r));
    MSIM_TRY(add_list(forest, "splits", false, r, trees));
    return add_list(forest, "leaves", true, r, trees);
}

/* All trees as XGBoost writes them, in an array that the caller owns. */
static enum msim_status dump(const struct training *t, cJSON **out)
{
    const char **texts;
    bst_ulong n;

    *out = cJSON_CreateArray();
    if (!*out)
        return MSIM_ENOMEM;
    MSIM_TRY(
        called(XGBoosterDumpModelEx(t->booster, "", 0, "json", &n, &texts)));
    for (bst_ulong i = 0; i < n; i++) {
        cJSON *tree = cJSON_Parse(texts[i]);

        if (!tree || !cJSON_AddItemToArray(*out, tree)) {
            cJSON_Delete(tree);
            return MSIM_ENOMEM;
        }
    }
    return MSIM_OK;
}

/* ---- the whole --------------------------------------------------- */

#define ODDS_MOST 8 /* log odds: 3 in 10,000 */

static enum msim_status add_bounds(cJSON *forest, const double *y, uint32_t n,
                                   bool logistic)
{
    double low = logistic ? -ODDS_MOST : 0, high = -low;

    for (uint32_t i = 0; i < n && !logistic; i++) {
        low = fmin(low, y[i]);
        high = fmax(high, y[i]);
    }
    return cJSON_AddNumberToObject(forest, "low", shorten((float)low)) &&
                   cJSON_AddNumberToObject(forest, "high", shorten((float)high))
               ? MSIM_OK
               : MSIM_ENOMEM;
}

static enum msim_status make_forest(cJSON **out, const struct training *t,
                                    const double *y, uint32_t n,
                                    uint32_t features, bool logistic)
{
    struct rewriting r = {.features = features};
    cJSON *trees;
    enum msim_status status = dump(t, &trees);

    *out = cJSON_CreateObject();
    if (status == MSIM_OK)
        status = *out ? add_bounds(*out, y, n, logistic) : MSIM_ENOMEM;
    if (status == MSIM_OK)
        status = rewrite_all(&r, *out, trees);
    cJSON_Delete(trees);
    free(r.cuts);
    free(r.n_cuts);
    if (status != MSIM_OK) {
        cJSON_Delete(*out);
        *out = NULL;
    }
    return status;
}

enum msim_status msim_boost_fit(cJSON **out, const double *x, const double *y,
                                uint32_t n, uint32_t features,
                                const struct msim_boost_options *options,
                                double *sums)
{
    struct training t = {0};
    enum msim_status status = grow(&t, x, y, n, features, options);

    *out = NULL;
    if (status == MSIM_OK && sums)
        status = read_sums(&t, n, sums);
    if (status == MSIM_OK)
        status = make_forest(out, &t, y, n, features, options->logistic);
    release(&t);
    return status;
}
