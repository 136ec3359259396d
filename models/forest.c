/*
 * models/forest.c - evaluating and reading regression trees.
 */
#include "models/forest.h"

#include <stdlib.h>
#include <string.h>

/* Features and cuts are compared as floats, as XGBoost does: a row equal to a
 * cut when fitted is equal to it here, too. */
double msim_forest_eval(const struct msim_forest *f, const double *x)
{
    double sum = 0;

    for (uint32_t t = 0; t < f->n_trees; t++) {
        uint32_t i = f->roots[t];

        while (f->nodes[i].right)
            i = (float)x[f->nodes[i].feature] < f->nodes[i].cut
                    ? i + 1
                    : (uint32_t)f->nodes[i].right;
        sum += f->nodes[i].cut;
    }
    if (f->n_trees == 0)
        return 0;
    return sum < f->low ? f->low : sum > f->high ? f->high : sum;
}

void msim_forest_release(struct msim_forest *f)
{
    free(f->nodes);
    free(f->roots);
    memset(f, 0, sizeof(*f));
}

/* Fill one node from its number in the file. */
static enum msim_status read_node(struct msim_forest_node *node,
                                  const cJSON *split, const cJSON **leaf,
                                  const cJSON *cuts, uint32_t n_features)
{
    const cJSON *values, *cut;
    int code;

    if (!cJSON_IsNumber(split))
        return MSIM_EFORMAT;
    code = split->valueint;
    if (code == 0) {
        if (!cJSON_IsNumber(*leaf))
            return MSIM_EFORMAT;
        node->cut = (*leaf)->valuedouble * MSIM_FOREST_UNIT;
        *leaf = (*leaf)->next;
        return MSIM_OK;
    }
    if (code < 0 || (uint32_t)(code - 1) / 64 >= n_features)
        return MSIM_EFORMAT;
    node->feature = (uint32_t)(code - 1) / 64;
    values = cJSON_GetArrayItem(cuts, (int)node->feature);
    cut = cJSON_GetArrayItem(values, (code - 1) % 64);
    if (!cJSON_IsNumber(cut))
        return MSIM_EFORMAT;
    node->cut = (float)cut->valuedouble;
    node->right = -1;
    return MSIM_OK;
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

static enum msim_status read_nodes(struct msim_forest *f, const cJSON *json,
                                   uint32_t n_features)
{
    const cJSON *cuts = cJSON_GetObjectItemCaseSensitive(json, "cuts");
    const cJSON *splits = cJSON_GetObjectItemCaseSensitive(json, "splits");
    const cJSON *leaves = cJSON_GetObjectItemCaseSensitive(json, "leaves");
    const cJSON *leaf = leaves ? leaves->child : NULL;
    const cJSON *split;
    uint32_t *stack;
    bool whole;

    f->n_nodes = (uint32_t)cJSON_GetArraySize(splits);
    f->nodes = calloc((size_t)f->n_nodes + 1, sizeof(*f->nodes));
    f->roots = calloc((size_t)f->n_nodes + 1, sizeof(*f->roots));
    if (!f->nodes || !f->roots)
        return MSIM_ENOMEM;
    split = splits ? splits->child : NULL;
    for (uint32_t i = 0; i < f->n_nodes; i++, split = split->next)
        MSIM_TRY(read_node(&f->nodes[i], split, &leaf, cuts, n_features));
    stack = calloc((size_t)f->n_nodes + 1, sizeof(*stack));
    if (!stack)
        return MSIM_ENOMEM;
    whole = link_nodes(f, stack);
    free(stack);
    return whole ? MSIM_OK : MSIM_EFORMAT;
}

enum msim_status msim_forest_read(struct msim_forest *f, const cJSON *json,
                                  uint32_t n_features)
{
    enum msim_status status;

    memset(f, 0, sizeof(*f));
    f->low = msim_json_get_number(json, "low", 0);
    f->high = msim_json_get_number(json, "high", 0);
    status = read_nodes(f, json, n_features);
    if (status != MSIM_OK)
        msim_forest_release(f);
    return status;
}
