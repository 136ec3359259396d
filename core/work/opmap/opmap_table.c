/*
 * core/work/opmap/opmap_table.c - the row of an operator, by its name.
 *
 * Rows are sorted and searched by bisection: for the whole name, then its plain
 * form. Names that are made while a program runs come last.
 */
#include "core/work/opmap/opmap_internal.h"

#include <string.h>

/* Order of `name` (its first `len` bytes) against a row's name. */
static int compare(const char *name, size_t len, const char *row)
{
    int d = (unsigned char)name[0] - (unsigned char)row[0];

    if (d)
        return d;
    d = strncmp(name, row, len);
    return d ? d : -(int)(unsigned char)row[len];
}

static const struct msim_opmap_row *find_exact(const char *name, size_t len)
{
    uint32_t lo = 0, hi = msim_opmap_names.n;

    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        const struct msim_opmap_row *row = &msim_opmap_names.rows[mid];
        int d = compare(name, len, row->name);

        if (d == 0)
            return row->like ? row->like : row;
        if (d < 0)
            hi = mid;
        else
            lo = mid + 1;
    }
    return NULL;
}

/* Autograd's nodes are called SomethingBackward0; they only call others. */
static const struct msim_opmap_row *find_backward_node(const char *name,
                                                       size_t len)
{
    static const struct msim_opmap_row node = {.name = "Backward"};
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
    if (!row && bare == name)
        row = find_backward_node(name, len);
    if (!row && bare == name)
        row = find_prefix(name);
    return row;
}
