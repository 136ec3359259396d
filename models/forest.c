/*
 * models/forest.c - evaluating and reading regression trees.
 */
#include "models/forest.h"

#include <stdlib.h>
#include <string.h>

#define FEATURES_MOST 64
#define AT_ONCE       8

/* One step down a tree; a leaf stays where it is. */
static inline uint32_t step(const struct msim_forest_node *nodes, uint32_t i,
                            const float *x)
{
    const struct msim_forest_node *n = &nodes[i];
    uint32_t next = x[n->feature] < n->cut ? i + 1 : (uint32_t)n->right;

    return n->right ? next : i;
}

/*
 * Leaves of `n` trees from `roots`. Their paths do not depend on one another:
 * taken together, the waits for memory overlap, and no branch is there to be
 * mispredicted.
 */
static double walk(const struct msim_forest *f, const uint32_t *roots,
                   const float *x)
{
    uint32_t at[AT_ONCE];
    double sum = 0;
    bool moved = true;

    memcpy(at, roots, sizeof(at));
    while (moved) {
        moved = false;
        for (int t = 0; t < AT_ONCE; t++) {
            uint32_t next = step(f->nodes, at[t], x);

            moved |= next != at[t];
            at[t] = next;
        }
    }
    for (int t = 0; t < AT_ONCE; t++)
        sum += f->nodes[at[t]].cut;
    return sum;
}

/* Features and cuts are compared as floats, as XGBoost does: a row equal to a
 * cut when fitted is equal to it here, too. */
double msim_forest_eval(const struct msim_forest *f, const double *x)
{
    float values[FEATURES_MOST];
    double sum = 0;
    uint32_t t = 0;

    if (f->n_trees == 0)
        return 0;
    for (uint32_t i = 0; i < f->n_features; i++)
        values[i] = (float)x[i];
    for (; t + AT_ONCE <= f->n_trees; t += AT_ONCE)
        sum += walk(f, &f->roots[t], values);
    for (; t < f->n_trees; t++) {
        uint32_t i = f->roots[t];

        while (f->nodes[i].right)
            i = step(f->nodes, i, values);
        sum += f->nodes[i].cut;
    }
    sum *= MSIM_FOREST_UNIT;
    return sum < f->low ? f->low : sum > f->high ? f->high : sum;
}

void msim_forest_release(struct msim_forest *f)
{
    free(f->nodes);
    free(f->roots);
    memset(f, 0, sizeof(*f));
}

/* ---- reading ---------------------------------------------------------------
 */

/* The next whole number of a text; false at its end, or where it is none. */
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

/* Cuts of all features, each with room for the most. */
struct cuts {
    float *value;
    uint32_t n[FEATURES_MOST], features;
};

static bool read_cuts(struct cuts *c, const char *text)
{
    uint32_t feature = 0;

    while (*text && feature < c->features) {
        char *end;
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
        v = strtof(text, &end);
        if (end == text || c->n[feature] == MSIM_FOREST_CUTS)
            return false;
        c->value[feature * MSIM_FOREST_CUTS + c->n[feature]++] = v;
        text = end;
    }
    return *text == '\0';
}

/* Fill one node from its number in the file. */
static bool read_node(struct msim_forest_node *node, const char **splits,
                      const char **leaves, const struct cuts *c)
{
    int code, leaf;
    uint32_t cut;

    if (!next_int(splits, &code))
        return false;
    if (code == 0) {
        if (!next_int(leaves, &leaf))
            return false;
        node->cut = (float)leaf;
        return true;
    }
    if (code < 0 || (uint32_t)(code - 1) / 64 >= c->features)
        return false;
    node->feature = (uint32_t)(code - 1) / 64;
    cut = (uint32_t)(code - 1) % 64;
    if (cut >= c->n[node->feature])
        return false;
    node->cut = c->value[node->feature * MSIM_FOREST_CUTS + cut];
    node->right = -1;
    return true;
}

/* How many numbers a text holds, if they are numbers. */
static uint32_t count_numbers(const char *text)
{
    uint32_t n = 0;

    for (; *text; text++)
        n += *text != ' ' && (text[1] == ' ' || text[1] == '\0');
    return n;
}

/*
 * Preorder to links: an open split waits on a stack for its right child,
 * which begins where its left sub-tree ends. Returns false where the last
 * tree is not complete.
 */
static bool link_nodes(struct msim_forest *f, uint32_t *stack)
{
    uint32_t depth = 0;
    bool begins = true;

    for (uint32_t i = 0; i < f->n_nodes; i++) {
        if (begins)
            f->roots[f->n_trees++] = i;
        begins = false;
        if (f->nodes[i].right == -1) {
            stack[depth++] = i;
            continue;
        }
        /* A leaf ends every split that already has its right child. */
        while (depth > 0 && f->nodes[stack[depth - 1]].right != -1)
            depth--;
        if (depth > 0)
            f->nodes[stack[depth - 1]].right = (int32_t)(i + 1);
        else
            begins = true;
    }
    return begins;
}

static enum msim_status link_all(struct msim_forest *f)
{
    uint32_t *stack = calloc((size_t)f->n_nodes + 1, sizeof(*stack));
    bool whole;

    if (!stack)
        return MSIM_ENOMEM;
    whole = link_nodes(f, stack);
    free(stack);
    return whole ? MSIM_OK : MSIM_EFORMAT;
}

static enum msim_status read_nodes(struct msim_forest *f, const cJSON *json,
                                   const struct cuts *c)
{
    const char *splits = msim_json_get_text(json, "splits");
    const char *leaves = msim_json_get_text(json, "leaves");

    if (!splits || !leaves)
        return MSIM_EFORMAT;
    f->n_nodes = count_numbers(splits);
    f->nodes = calloc((size_t)f->n_nodes + 1, sizeof(*f->nodes));
    f->roots = calloc((size_t)f->n_nodes + 1, sizeof(*f->roots));
    if (!f->nodes || !f->roots)
        return MSIM_ENOMEM;
    for (uint32_t i = 0; i < f->n_nodes; i++)
        if (!read_node(&f->nodes[i], &splits, &leaves, c))
            return MSIM_EFORMAT;
    return *leaves ? MSIM_EFORMAT : link_all(f);
}

enum msim_status msim_forest_read(struct msim_forest *f, const cJSON *json,
                                  uint32_t n_features)
{
    const char *text = msim_json_get_text(json, "cuts");
    struct cuts c = {.features = n_features};
    enum msim_status status = MSIM_EFORMAT;

    memset(f, 0, sizeof(*f));
    if (n_features > FEATURES_MOST)
        return MSIM_ELIMIT;
    c.value = malloc((size_t)n_features * MSIM_FOREST_CUTS * sizeof(*c.value));
    if (!c.value)
        return MSIM_ENOMEM;
    f->low = msim_json_get_number(json, "low", 0);
    f->high = msim_json_get_number(json, "high", 0);
    f->n_features = n_features;
    if (text && read_cuts(&c, text))
        status = read_nodes(f, json, &c);
    free(c.value);
    if (status != MSIM_OK)
        msim_forest_release(f);
    return status;
}
