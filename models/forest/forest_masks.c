/*
 * models/forest/forest_masks.c - tables of masks, and their ANDs.
 */
#include "models/forest/forest_masks.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#define MSIM_WIDE
#endif

#define FEATURES_MAX MSIM_FOREST_FEATURES
#define CUTS         MSIM_FOREST_ROOM
#define LEAVES_MAX   (CHAR_BIT * sizeof(uint32_t)) /* of a tree with a mask */
#define AT_ONCE      32

struct msim_forest_masks {
    bool wide;                    /* the processor has vectors of 32 bytes */
    uint32_t lanes;               /* trees, and more to whole AT_ONCE */
    uint32_t n_used;              /* features that a tree splits at: */
    uint8_t used[FEATURES_MAX];   /* which, */
    uint32_t first[FEATURES_MAX]; /* and the row of each one's rank 0 */
    float ends[FEATURES_MAX][8];  /* every eighth cut of each one */
    uint32_t *rows;               /* `lanes` each */
    int32_t *values;              /* LEAVES_MAX a lane */
};

typedef uint32_t lanes4 __attribute__((vector_size(16)));

/* Vectors of 32 bytes halve the instructions, where the processor has them. */
#ifdef MSIM_WIDE
static bool is_wide(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("popcnt");
}
#else
static bool is_wide(void)
{
    return false;
}
#endif

void msim_forest_masks_free(struct msim_forest_masks *m)
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
        for (uint32_t k = 0; k < 8; k++)
            m->ends[m->n_used][k] = f->cuts[i * CUTS + 8 * k + 7];
        m->first[m->n_used] = (uint32_t)rows;
        m->used[m->n_used++] = (uint8_t)i;
        rows += f->n_cuts[i] + 1u;
    }
    m->wide = is_wide();
    m->lanes = (f->n_trees + AT_ONCE - 1) / AT_ONCE * AT_ONCE;
    bytes = (rows + LEAVES_MAX) * m->lanes * sizeof(*m->rows);
    m->rows = aligned_alloc(AT_ONCE * sizeof(*m->rows), bytes);
    if (!m->rows) {
        msim_forest_masks_free(m);
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

/* Whether any sum of leaves, one a tree, is an int32_t. */
static bool are_small(const struct msim_forest *f)
{
    double most = 0;

    for (uint32_t i = 0; i < (f->n_nodes + f->n_trees) / 2; i++)
        most = fmax(most, fabs((double)f->leaves[i]));
    return most * f->n_trees <= INT32_MAX;
}

struct msim_forest_masks *msim_forest_masks_new(const struct msim_forest *f)
{
    struct msim_forest_masks *m =
        f->most_leaves > LEAVES_MAX || !are_small(f) ? NULL : new_masks(f);
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

static void find_ranks(const struct msim_forest *f,
                       const struct msim_forest_masks *m, const double *x,
                       uint8_t *ranks)
{
    for (uint32_t u = 0; u < m->n_used; u++)
        ranks[u] = (uint8_t)msim_forest_rank(f, m->used[u], x[m->used[u]]);
}

/* The leaves of AT_ONCE trees, from `tree` on, added up. */
static int32_t add_leaves(const struct msim_forest_masks *m, uint32_t tree,
                          const uint32_t *const *rows, uint32_t n)
{
    lanes4 left[AT_ONCE / 4];
    uint32_t bits[AT_ONCE];
    int32_t sum = 0;

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

static int32_t add_plain(const struct msim_forest_masks *m,
                         const uint32_t *const *rows, uint32_t n)
{
    int32_t sum = 0;

    for (uint32_t t = 0; t < m->lanes; t += AT_ONCE)
        sum += add_leaves(m, t, rows, n);
    return sum;
}

#ifdef MSIM_WIDE
/* How many of eight cuts, which rise, are not above `key`. */
__attribute__((target("avx2,popcnt"))) static inline uint32_t
count_cuts(__m256 key, const float *cuts)
{
    __m256 reached = _mm256_cmp_ps(key, _mm256_loadu_ps(cuts), _CMP_GE_OQ);

    return (uint32_t)__builtin_popcount((unsigned)_mm256_movemask_ps(reached));
}

/* The same as find_ranks(): eight cuts, of which one ends each eight, and those
 * eight. */
__attribute__((target("avx2,popcnt"))) static void
find_ranks_wide(const struct msim_forest *f, const struct msim_forest_masks *m,
                const double *x, uint8_t *ranks)
{
    for (uint32_t u = 0; u < m->n_used; u++) {
        uint32_t feature = m->used[u], before;
        const float *cuts = f->cuts + (size_t)feature * CUTS;
        float at = (float)x[feature];
        __m256 key;

        at = at < FLT_MAX ? at : FLT_MAX; /* which is below the padding */
        key = _mm256_set1_ps(at);
        before = 8 * count_cuts(key, m->ends[u]);
        ranks[u] = (uint8_t)(before + count_cuts(key, cuts + before));
    }
}

/* The leaves of eight trees. The lowest bit of a mask is a power of two, and
 * its number the exponent of that as a float. */
__attribute__((target("avx2"))) static inline __m256i
leaves_of(const int32_t *values, __m256i left)
{
    const __m256i from = _mm256_sub_epi32(
        _mm256_mullo_epi32(_mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7),
                           _mm256_set1_epi32(LEAVES_MAX)),
        _mm256_set1_epi32(127));
    __m256i lowest =
        _mm256_and_si256(left, _mm256_sub_epi32(_mm256_setzero_si256(), left));
    __m256i power =
        _mm256_srli_epi32(_mm256_castps_si256(_mm256_cvtepi32_ps(lowest)), 23);

    /* 1 << 31 is the only negative one */
    power = _mm256_and_si256(power, _mm256_set1_epi32(0xff));
    return _mm256_i32gather_epi32(values, _mm256_add_epi32(power, from),
                                  sizeof(*values));
}

/* The same as add_plain(). */
__attribute__((target("avx2"))) static int32_t
add_wide(const struct msim_forest_masks *m, const uint32_t *const *rows,
         uint32_t n)
{
    __m256i sum = _mm256_setzero_si256();
    int32_t sums[8], all = 0;

    for (uint32_t tree = 0; tree < m->lanes; tree += AT_ONCE) {
        const int32_t *values = m->values + (size_t)tree * LEAVES_MAX;
        __m256i left[AT_ONCE / 8];

        for (uint32_t i = 0; i < AT_ONCE / 8; i++)
            left[i] = _mm256_set1_epi32(-1);
        for (uint32_t u = 0; u < n; u++) {
            const __m256i *row =
                (const __m256i *)(const void *)(rows[u] + tree);

            for (uint32_t i = 0; i < AT_ONCE / 8; i++)
                left[i] = _mm256_and_si256(left[i], row[i]);
        }
        for (uint32_t i = 0; i < AT_ONCE / 8; i++)
            sum = _mm256_add_epi32(
                sum, leaves_of(values + (size_t)i * 8 * LEAVES_MAX, left[i]));
    }
    memcpy(sums, &sum, sizeof(sums));
    for (uint32_t i = 0; i < 8; i++)
        all += sums[i];
    return all;
}
#else
#define find_ranks_wide find_ranks
#define add_wide        add_plain
#endif

int32_t msim_forest_masks_sum(const struct msim_forest *f,
                              const struct msim_forest_masks *m,
                              const double *x)
{
    const uint32_t *rows[FEATURES_MAX + 1];
    uint8_t ranks[FEATURES_MAX];
    uint32_t n = 0;

    if (m->wide)
        find_ranks_wide(f, m, x, ranks);
    else
        find_ranks(f, m, x, ranks);
    for (uint32_t u = 0; u < m->n_used; u++) {
        rows[n] = m->rows + (size_t)(m->first[u] + ranks[u]) * m->lanes;
        n += ranks[u] > 0; /* rank 0 rules out no leaf */
    }
    return m->wide ? add_wide(m, rows, n) : add_plain(m, rows, n);
}
