/*
 * models/forest/forest.c - evaluating and reading regression trees.
 */
#include "models/forest/forest.h"

#include "core/base/texts.h"
#include "models/forest/forest_masks.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define FEATURES_MAX MSIM_FOREST_FEATURES
#define CUTS         MSIM_FOREST_ROOM
#define NODES_MAX    65536

struct msim_forest_made {
    struct msim_forest_masks *_Atomic masks; /* NULL: none, or not yet */
    atomic_uint asked;                /* how often, until they are made */
    struct msim_forest *_Atomic read; /* of texts: NULL: not yet */
    pthread_mutex_t lock;             /* to read them */
};

static bool goes_right(uint32_t code, const uint8_t *ranks)
{
    return ranks[(code - 1) / CUTS] > (code - 1) % CUTS;
}

/* Node by node until then: masks take as long as some forty rows. */
#define ROWS_BEFORE 16

/* Made by the thread whose turn it is; until then, others go without. */
static const struct msim_forest_masks *masks_of(const struct msim_forest *f)
{
    struct msim_forest_made *made = f->made;
    struct msim_forest_masks *m =
        atomic_load_explicit(&made->masks, memory_order_acquire);

    if (m ||
        atomic_load_explicit(&made->asked, memory_order_relaxed) >
            ROWS_BEFORE ||
        atomic_fetch_add(&made->asked, 1) != ROWS_BEFORE)
        return m;
    m = msim_forest_masks_new(f);
    atomic_store_explicit(&made->masks, m, memory_order_release);
    return m;
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
        ranks[i] = (uint8_t)msim_forest_rank(f, i, x[i]);
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

static const struct msim_forest *read_of(const struct msim_forest *f);

double msim_forest_eval(const struct msim_forest *f, const double *x)
{
    const struct msim_forest_masks *m;
    double sum;

    if (f->later.cuts)
        f = read_of(f);
    if (!f || f->n_trees == 0)
        return 0;
    m = masks_of(f);
    sum = (double)(m ? msim_forest_masks_sum(f, m, x) : by_nodes(f, x)) *
          MSIM_FOREST_UNIT;
    return sum < f->low ? f->low : sum > f->high ? f->high : sum;
}

static void free_made(struct msim_forest_made *made)
{
    struct msim_forest *read = made ? atomic_load(&made->read) : NULL;

    if (!made)
        return;
    msim_forest_masks_free(atomic_load(&made->masks));
    if (read)
        msim_forest_release(read);
    free(read);
    pthread_mutex_destroy(&made->lock);
    free(made);
}

void msim_forest_release(struct msim_forest *f)
{
    free_made(f->made);
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

static enum msim_status read_nodes(struct msim_forest *f,
                                   const struct msim_forest_text *text)
{
    struct reading r = {
        .splits = text->splits, .leaves = text->leaves, .open = 1};
    bool codes[FEATURES_MAX * CUTS + 1] = {false};
    size_t most = strlen(r.splits) / 2 + 1; /* numbers in it */

    f->splits = malloc(most * sizeof(*f->splits));
    f->leaves = malloc(most * sizeof(*f->leaves));
    if (!f->splits || !f->leaves)
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

/* `f` has its features and bounds; on failure it is released. */
static enum msim_status read_text(struct msim_forest *f,
                                  const struct msim_forest_text *text)
{
    enum msim_status status = MSIM_ENOMEM;

    f->cuts = malloc((size_t)f->n_features * CUTS * sizeof(*f->cuts));
    f->n_cuts = calloc((size_t)f->n_features + 1, sizeof(*f->n_cuts));
    if (f->cuts && f->n_cuts)
        status = read_cuts(f, text->cuts) ? read_nodes(f, text) : MSIM_EFORMAT;
    if (status != MSIM_OK)
        msim_forest_release(f);
    return status;
}

static enum msim_status begin(struct msim_forest *f,
                              struct msim_forest_text *text, const cJSON *json,
                              uint32_t n_features)
{
    text->cuts = msim_json_get_text(json, "cuts");
    text->splits = msim_json_get_text(json, "splits");
    text->leaves = msim_json_get_text(json, "leaves");
    memset(f, 0, sizeof(*f));
    if (n_features > FEATURES_MAX)
        return MSIM_ELIMIT;
    if (!text->cuts || !text->splits || !text->leaves)
        return MSIM_EFORMAT;
    f->low = msim_json_get_number(json, "low", 0);
    f->high = msim_json_get_number(json, "high", 0);
    f->n_features = n_features;
    f->made = calloc(1, sizeof(*f->made));
    if (!f->made)
        return MSIM_ENOMEM;
    pthread_mutex_init(&f->made->lock, NULL);
    return MSIM_OK;
}

enum msim_status msim_forest_read(struct msim_forest *f, const cJSON *json,
                                  uint32_t n_features)
{
    struct msim_forest_text text;

    MSIM_TRY(begin(f, &text, json, n_features));
    return read_text(f, &text);
}

enum msim_status msim_forest_read_later(struct msim_forest *f,
                                        const cJSON *json, uint32_t n_features)
{
    struct msim_forest_text text;

    MSIM_TRY(begin(f, &text, json, n_features));
    f->later = text;
    return MSIM_OK;
}

static struct msim_forest *read_now(const struct msim_forest *f)
{
    struct msim_forest *read = calloc(1, sizeof(*read));

    if (!read)
        return NULL;
    read->n_features = f->n_features;
    read->low = f->low;
    read->high = f->high;
    read->made = calloc(1, sizeof(*read->made));
    if (read->made)
        pthread_mutex_init(&read->made->lock, NULL);
    if (read->made && read_text(read, &f->later) == MSIM_OK)
        return read;
    msim_forest_release(read);
    free(read);
    return NULL;
}

/* By the first thread that asks; others wait for it. */
static const struct msim_forest *read_of(const struct msim_forest *f)
{
    struct msim_forest_made *made = f->made;
    struct msim_forest *read =
        atomic_load_explicit(&made->read, memory_order_acquire);

    if (read)
        return read;
    pthread_mutex_lock(&made->lock);
    read = atomic_load(&made->read);
    if (!read) {
        read = read_now(f);
        atomic_store_explicit(&made->read, read, memory_order_release);
    }
    pthread_mutex_unlock(&made->lock);
    return read;
}
