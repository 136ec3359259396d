/*
 * core/work/opmap/opmap_table.c - the row of an operator, by its name.
 *
 * Each table is sorted and searched by bisection: for the whole name, its plain
 * form, a synonym. Names that are made while a program runs come last.
 */
#include "core/work/opmap/opmap_table.h"

#include <string.h>

static const struct msim_opmap_table *const tables[] = {
    &msim_opmap_no_kernel, &msim_opmap_pointwise, &msim_opmap_memory,
    &msim_opmap_reduction, &msim_opmap_gemm,      &msim_opmap_norm,
    &msim_opmap_embedding, &msim_opmap_conv,      &msim_opmap_attention,
    &msim_opmap_resample,  &msim_opmap_optimizer, &msim_opmap_comm,
    &msim_opmap_moe,
};
#define N_TABLES (sizeof(tables) / sizeof(tables[0]))

/* Order of `name` (its first `len` bytes) against a row's name. */
static int compare(const char *name, size_t len, const char *row)
{
    int d = (unsigned char)name[0] - (unsigned char)row[0];

    if (d)
        return d;
    d = strncmp(name, row, len);
    return d ? d : -(int)(unsigned char)row[len];
}

static const struct msim_opmap_row *
find_in(const struct msim_opmap_table *table, const char *name, size_t len)
{
    uint32_t lo = 0, hi = table->n;

    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        int d = compare(name, len, table->rows[mid].name);

        if (d == 0)
            return &table->rows[mid];
        if (d < 0)
            hi = mid;
        else
            lo = mid + 1;
    }
    return NULL;
}

static const struct msim_opmap_row *find_exact(const char *name, size_t len)
{
    const struct msim_opmap_row *row = NULL;

    for (size_t k = 0; k < N_TABLES && !row; k++)
        row = find_in(tables[k], name, len);
    return row;
}

/* Autograd's nodes are called SomethingBackward0; they only call others. */
static const struct msim_opmap_row *find_backward_node(const char *name,
                                                       size_t len)
{
    static const struct msim_opmap_row node = {"Backward", NULL, NULL, 0,
                                               0,          0,    0};
    size_t end = len;

    while (end && name[end - 1] >= '0' && name[end - 1] <= '9')
        end--;
    if (end == len || end < 8 || memcmp(name + end - 8, "Backward", 8) != 0)
        return NULL;
    return &node;
}

static const struct msim_opmap_row *find_prefix(const char *name)
{
    for (uint32_t k = 0; k < msim_opmap_prefixes.n; k++) {
        const struct msim_opmap_row *row = &msim_opmap_prefixes.rows[k];

        if (name[0] == row->name[0] &&
            strncmp(name, row->name, strlen(row->name)) == 0)
            return row;
    }
    return NULL;
}

/* The other ways to call ATen's operators: as they were traced (prims), and
 * from generated code. */
const char *msim_opmap_bare_name(const char *name)
{
    static const char *const ALIKE[] = {"aten::", "prims::", "extern_kernels."};

    for (size_t i = 0; i < sizeof(ALIKE) / sizeof(ALIKE[0]); i++)
        if (strncmp(name, ALIKE[i], strlen(ALIKE[i])) == 0)
            return name + strlen(ALIKE[i]);
    return name;
}

/* What Python's in-place operators (&=, <<=), prims and what Inductor calls
 * (extern_kernels) are called in ATen. */
static const struct msim_opmap_row *find_synonym(const char *name)
{
    static const char *const SYNONYMS[][2] = {
        {"__iand__", "__and__"},
        {"__ilshift__", "__lshift__"},
        {"__ior__", "__or__"},
        {"__irshift__", "__rshift__"},
        {"__ixor__", "__xor__"},
        {"bias_addmm", "addmm"},
        {"broadcast_in_dim", "expand"},
        {"collapse_view", "view"},
        {"convert_element_type", "_to_copy"},
        {"iota", "arange"},
        {"split_dim", "view"},
    };

    for (size_t i = 0; i < sizeof(SYNONYMS) / sizeof(SYNONYMS[0]); i++)
        if (strcmp(name, SYNONYMS[i][0]) == 0)
            return find_exact(SYNONYMS[i][1], strlen(SYNONYMS[i][1]));
    return NULL;
}

const struct msim_opmap_row *msim_opmap_find(const char *name)
{
    const char *bare = msim_opmap_bare_name(name);
    size_t len = strlen(bare);
    const struct msim_opmap_row *row;

    if (len == 0)
        return NULL;
    row = find_exact(bare, len);
    if (!row && len > 1 && bare[len - 1] == '_')
        row = find_exact(bare, len - 1);
    if (!row && bare != name)
        row = find_exact(name, strlen(name));
    if (!row)
        row = find_synonym(bare);
    if (!row && bare == name)
        row = find_backward_node(name, len);
    if (!row && bare == name)
        row = find_prefix(name);
    return row;
}

const char *msim_opmap_name(uint32_t k)
{
    for (size_t i = 0; i < N_TABLES; i++) {
        if (k < tables[i]->n)
            return tables[i]->rows[k].name;
        k -= tables[i]->n;
    }
    return NULL;
}

const struct msim_opmap_table *
msim_opmap_table_of(const struct msim_opmap_row *row)
{
    for (size_t k = 0; k < N_TABLES; k++)
        if (row >= tables[k]->rows && row < tables[k]->rows + tables[k]->n)
            return tables[k];
    return &msim_opmap_prefixes;
}
