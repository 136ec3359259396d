/*
 * models/platform/forest.c - evaluating and reading regression trees.
 */
#include "models/platform/forest.h"

#include "core/base/decimal.h"

#include <limits.h>
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define FEATURES_MAX 128
#define CUTS         (MSIM_FOREST_CUTS + 1) /* room of a feature */
#define NODES_MAX    65536
#define LEAVES_MAX   (CHAR_BIT * sizeof(uint32_t)) /* of a tree with a mask */
#define AT_ONCE      16

/*
 * The trees as masks (QuickScorer: Lucchese et al., SIGIR 2015). A tree's mask
 * has a bit for each leaf, the leftmost lowest. A split that sends a row to the
 * right rules out the leaves on its left; the lowest bit that no split rules
 * out is the row's leaf. What the splits at one feature leave depends on its
 * rank alone, and so is a table: as many ANDs as features do for all trees.
 */
struct msim_forest_masks {
    uint32_t lanes;               /* trees, and more to whole AT_ONCE */
    uint32_t n_used;              /* features that a tree splits at: */
    uint8_t used[FEATURES_MAX];   /* which, */
    uint32_t first[FEATURES_MAX]; /* and the row of each one's rank 0 */
    uint32_t *rows;               /* `lanes` each */
    int32_t *values;              /* LEAVES_MAX a lane */
};

struct msim_forest_made {
    struct msim_forest_masks *_Atomic masks; /* NULL: none, or not yet */
    atomic_bool begun;
};

typedef uint32_t lanes4 __attribute__((vector_size(16)));

/*
 * The number of a feature's cuts that are <= `x`. Features and cuts are
 * compared as floats, as in XGBoost: a row that was equal to a cut in the fit
 * is equal to it here, too.
 */
static inline uint32_t rank_of(const struct msim_forest *f, uint32_t feature,
                               double x)
{
    const float *cuts = f->cuts + (size_t)feature * CUTS, *c = cuts;
    const float key = (float)x;
    uint32_t at;

    for (uint32_t half = CUTS / 2; half > 0; half /= 2)
        c = key < c[half - 1] ? c : c + half;
    at = (uint32_t)(c - cuts);
    /* what is no number is not below the padding either */
    return at < f->n_cuts[feature] ? at : f->n_cuts[feature];
}

static bool goes_right(uint32_t code, const uint8_t *ranks)
{
    return ranks[(code - 1) / CUTS] > (code - 1) % CUTS;
}

/* ---- as masks ------------------------------------------------------------ */

static void free_masks(struct msim_forest_masks *m)
{
    if (m)
        free(m->rows);
    free(m);
}

static struct msim_forest_masks *new_masks(const struct msim_forest *f)
{
    struct msim_forest_masks *m = calloc(1, sizeof(*m));
    size_t rows = 0, bytes;

    if (!m)
        return NULL;
    for (uint32_t i = 0; i < f->n_features; i++) {
        if (!f->n_cuts[i])
            continue;
        m->first[m->n_used] = (uint32_t)rows;
        m->used[m->n_used++] = (uint8_t)i;
        rows += f->n_cuts[i] + 1u;
    }
    m->lanes = (f->n_trees + AT_ONCE - 1) / AT_ONCE * AT_ONCE;
    bytes = (rows + LEAVES_MAX) * m->lanes * sizeof(*m->rows);
    m->rows = aligned_alloc(AT_ONCE * sizeof(*m->rows), bytes);
    if (!m->rows) {
        free_masks(m);
        return NULL;
    }
    memset(m->rows, 0xff, rows * m->lanes * sizeof(*m->rows));
    m->values = (int32_t *)(m->rows + rows * m->lanes);
    memset(m->values, 0, bytes - rows * m->lanes * sizeof(*m->rows));
    return m;
}

/* The place of each feature among those in use. */
static void place_used(const struct msim_forest_masks *m, uint8_t *place)
{
    for (uint32_t u = 0; u < m->n_used; u++)
        place[m->used[u]] = (uint8_t)u;
}

/* Splits whose left side is not read to its end, outermost first, and those
 * whose right side is not. */
struct open_split {
    uint32_t code, first_leaf;
    bool right;
};

/* Rows at or beyond the cut of a split do not go to the leaves of its left
 * side. */
static void rule_out(struct msim_forest_masks *m, const uint8_t *place,
                     uint32_t tree, const struct open_split *s, uint32_t leaf)
{
    uint32_t row =
        m->first[place[(s->code - 1) / CUTS]] + (s->code - 1) % CUTS + 1;

    m->rows[(size_t)row * m->lanes + tree] &=
        ~((1u << leaf) - (1u << s->first_leaf));
}

/* Masks of one tree, for ranks that are just at a cut; returns its nodes. */
static uint32_t add_tree(struct msim_forest_masks *m, const uint8_t *place,
                         uint32_t tree, const uint16_t *splits,
                         const float *leaves)
{
    struct open_split open[LEAVES_MAX];
    uint32_t n_open = 0, leaf = 0, i = 0;

    do {
        if (splits[i]) {
            open[n_open++] = (struct open_split){splits[i], leaf, false};
            continue;
        }
        m->values[tree * LEAVES_MAX + leaf] = (int32_t)leaves[leaf];
        leaf++;
        while (n_open && open[n_open - 1].right)
            n_open--;
        if (n_open) {
            rule_out(m, place, tree, &open[n_open - 1], leaf);
            open[n_open - 1].right = true;
        }
    } while (i++, n_open);
    return i;
}

/* NULL where a tree has too many leaves, or there is no memory. */
static struct msim_forest_masks *make_masks(const struct msim_forest *f)
{
    struct msim_forest_masks *m =
        f->most_leaves > LEAVES_MAX ? NULL : new_masks(f);
    uint8_t place[FEATURES_MAX] = {0};
    uint32_t node = 0;

    if (!m)
        return NULL;
    place_used(m, place);
    for (uint32_t t = 0; t < f->n_trees; t++) /* a tree has a leaf more than
                                                 splits */
        node +=
            add_tree(m, place, t, f->splits + node, f->leaves + (node + t) / 2);
    for (uint32_t u = 0; u < m->n_used; u++) {
        uint32_t *row = m->rows + (size_t)m->first[u] * m->lanes;
        uint32_t n = f->n_cuts[m->used[u]] * m->lanes;

        for (uint32_t i = 0; i < n; i++)
            row[m->lanes + i] &= row[i];
    }
    return m;
}

/* Made by the thread that is first to ask; until then, others go without. */
static const struct msim_forest_masks *masks_of(const struct msim_forest *f)
{
    struct msim_forest_made *made = f->made;
    struct msim_forest_masks *m =
        atomic_load_explicit(&made->masks, memory_order_acquire);

    if (m || atomic_load_explicit(&made->begun, memory_order_relaxed) ||
        atomic_exchange(&made->begun, true))
        return m;
    m = make_masks(f);
    atomic_store_explicit(&made->masks, m, memory_order_release);
    return m;
}

/* The leaves of AT_ONCE trees, from `tree` on, added up. */
static int64_t add_leaves(const struct msim_forest_masks *m, uint32_t tree,
                          const uint32_t *const *rows, uint32_t n)
{
    lanes4 left[AT_ONCE / 4];
    uint32_t bits[AT_ONCE];
    int64_t sum = 0;

    memset(left, 0xff, sizeof(left));
    for (uint32_t u = 0; u < n; u++) {
        const lanes4 *row = (const lanes4 *)(const void *)(rows[u] + tree);

        for (uint32_t i = 0; i < AT_ONCE / 4; i++)
            left[i] &= row[i];
    }
    memcpy(bits, left, sizeof(bits));
    for (uint32_t i = 0; i < AT_ONCE; i++)
        sum += m->values[(tree + i) * LEAVES_MAX +
                         (uint32_t)__builtin_ctz(bits[i])];
    return sum;
}

static int64_t by_masks(const struct msim_forest *f,
                        const struct msim_forest_masks *m, const double *x)
{
    const uint32_t *rows[FEATURES_MAX + 1];
    uint32_t n = 0;
    int64_t sum = 0;

    for (uint32_t u = 0; u < m->n_used; u++) {
        uint32_t rank = rank_of(f, m->used[u], x[m->used[u]]);

        rows[n] = m->rows + (size_t)(m->first[u] + rank) * m->lanes;
        n += rank > 0; /* rank 0 rules out no leaf */
    }
    for (uint32_t t = 0; t < m->lanes; t += AT_ONCE)
        sum += add_leaves(m, t, rows, n);
    return sum;
}

/* ---- node by node -------------------------------------------------------- */

/* Pass a subtree: `*node` and `*leaf` go to what stands behind it. */
static void pass(const struct msim_forest *f, uint32_t *node, uint32_t *leaf)
{
    for (uint32_t open = 1; open > 0; ++*node) {
        open += f->splits[*node] ? 1 : -1u;
        *leaf += !f->splits[*node];
    }
}

static int64_t by_nodes(const struct msim_forest *f, const double *x)
{
    uint8_t ranks[FEATURES_MAX];
    uint32_t node = 0, leaf = 0;
    int64_t sum = 0;

    for (uint32_t i = 0; i < f->n_features; i++)
        ranks[i] = (uint8_t)rank_of(f, i, x[i]);
    while (node < f->n_nodes) {
        uint32_t rights = 0; /* sides that the row does not go to */

        for (; f->splits[node]; rights++)
            if (goes_right(f->splits[node++], ranks)) {
                pass(f, &node, &leaf);
                rights--;
            }
        sum += (int64_t)f->leaves[leaf++];
        for (node++; rights > 0; rights--)
            pass(f, &node, &leaf);
    }
    return sum;
}

double msim_forest_eval(const struct msim_forest *f, const double *x)
{
    const struct msim_forest_masks *m;
    double sum;

    if (f->n_trees == 0)
        return 0;
    m = masks_of(f);
    sum = (double)(m ? by_masks(f, m, x) : by_nodes(f, x)) * MSIM_FOREST_UNIT;
    return sum < f->low ? f->low : sum > f->high ? f->high : sum;
}

void msim_forest_release(struct msim_forest *f)
{
    if (f->made)
        free_masks(atomic_load(&f->made->masks));
    free(f->made);
    free(f->splits);
    free(f->leaves);
    free(f->cuts);
    free(f->n_cuts);
    memset(f, 0, sizeof(*f));
}

/* ---- reading ------------------------------------------------------------- */

static inline uint32_t digit(char c)
{
    return (uint32_t)(unsigned char)c - '0';
}

/* The next whole number of a text; false at its end, or where no number is. */
static inline bool next_int(const char **at, int *out)
{
    const char *c = *at;
    bool minus;
    int v;

    while (*c == ' ')
        c++;
    minus = *c == '-';
    c += minus;
    v = (int)digit(*c);
    if (v < 0 || v > 9)
        return false;
    for (uint32_t d; (d = digit(*++c)) <= 9; v = v * 10 + (int)d)
        if (v > 100000000)
            return false;
    *out = minus ? -v : v;
    *at = c;
    return *c == ' ' || *c == '\0';
}

/* The cuts of all features. */
static bool read_cuts(struct msim_forest *f, const char *text)
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
        if (end == text || f->n_cuts[feature] == MSIM_FOREST_CUTS)
            return false;
        f->cuts[(size_t)feature * CUTS + f->n_cuts[feature]++] = v;
        text = end;
    }
    return *text == '\0';
}

/* Where the text stands, and the tree that is not read to its end. */
struct reading {
    const char *splits, *leaves;
    uint32_t open; /* subtrees that are to come */
    uint32_t n_leaves, tree_leaves;
};

/* What splits may be at: 1 + feature * 64 + cut. */
static void note_codes(const struct msim_forest *f, bool *codes)
{
    for (uint32_t i = 0; i < f->n_features; i++)
        memset(codes + 1 + (size_t)i * CUTS, 1, f->n_cuts[i]);
}

static void end_tree(struct msim_forest *f, struct reading *r)
{
    f->n_trees++;
    if (r->tree_leaves > f->most_leaves)
        f->most_leaves = r->tree_leaves;
    r->tree_leaves = 0;
    r->open = 1;
}

/* False where it is no number that can stand there. */
static inline bool read_node(struct msim_forest *f, struct reading *r,
                             const bool *codes)
{
    int code, leaf;

    if (!next_int(&r->splits, &code))
        return false;
    f->splits[f->n_nodes++] = (uint16_t)code;
    if (code) {
        r->open++;
        return code > 0 && code <= FEATURES_MAX * CUTS && codes[code];
    }
    if (!next_int(&r->leaves, &leaf))
        return false;
    f->leaves[r->n_leaves++] = (float)leaf;
    r->tree_leaves++;
    if (--r->open == 0)
        end_tree(f, r);
    return true;
}

static bool more(const char **text)
{
    while (**text == ' ')
        ++*text;
    return **text != '\0';
}

static enum msim_status read_nodes(struct msim_forest *f, const cJSON *json)
{
    struct reading r = {.splits = msim_json_get_text(json, "splits"),
                        .leaves = msim_json_get_text(json, "leaves"),
                        .open = 1};
    bool codes[FEATURES_MAX * CUTS + 1] = {false};
    size_t most;

    if (!r.splits || !r.leaves)
        return MSIM_EFORMAT;
    most = strlen(r.splits) / 2 + 1; /* numbers in it */
    f->splits = malloc(most * sizeof(*f->splits));
    f->leaves = malloc(most * sizeof(*f->leaves));
    f->made = calloc(1, sizeof(*f->made));
    if (!f->splits || !f->leaves || !f->made)
        return MSIM_ENOMEM;
    note_codes(f, codes);
    while (more(&r.splits)) {
        if (f->n_nodes == NODES_MAX)
            return MSIM_ELIMIT;
        if (!read_node(f, &r, codes))
            return MSIM_EFORMAT;
    }
    return r.open == 1 && !r.tree_leaves && !*r.leaves ? MSIM_OK : MSIM_EFORMAT;
}

enum msim_status msim_forest_read(struct msim_forest *f, const cJSON *json,
                                  uint32_t n_features)
{
    const char *text = msim_json_get_text(json, "cuts");
    enum msim_status status = MSIM_EFORMAT;

    memset(f, 0, sizeof(*f));
    if (n_features > FEATURES_MAX)
        return MSIM_ELIMIT;
    f->cuts = malloc((size_t)n_features * CUTS * sizeof(*f->cuts));
    f->n_cuts = calloc((size_t)n_features + 1, sizeof(*f->n_cuts));
    if (!f->cuts || !f->n_cuts) {
        msim_forest_release(f);
        return MSIM_ENOMEM;
    }
    f->low = msim_json_get_number(json, "low", 0);
    f->high = msim_json_get_number(json, "high", 0);
    f->n_features = n_features;
    if (text && read_cuts(f, text))
        status = read_nodes(f, json);
    if (status != MSIM_OK)
        msim_forest_release(f);
    return status;
}
