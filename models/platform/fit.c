/*
 * models/platform/fit.c - reading fits.
 */
#include "models/platform/fit.h"

#include "core/base/texts.h"
#include "core/lex/json_lexer.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static enum msim_status bad(const struct msim_fit *c, const char *file,
                            const char *what, struct msim_error *err)
{
    return msim_fail(err, MSIM_EFORMAT, file, MSIM_OFFSET_NONE,
                     "fit '%s' of '%s': %s", c->key, c->framework, what);
}

static bool read_texts(struct msim_fit *c, const cJSON *json)
{
    const char *framework = msim_json_get_text(json, "framework");
    const char *key = msim_json_get_text(json, "key");
    const char *table = msim_json_get_text(json, "table_gpu");

    if (!framework || !key || !table)
        return false;
    snprintf(c->framework, sizeof(c->framework), "%s", framework);
    snprintf(c->key, sizeof(c->key), "%s", key);
    snprintf(c->table, sizeof(c->table), "%s", table);
    return true;
}

static bool read_params(struct msim_fit *c, const cJSON *json)
{
    const cJSON *o = cJSON_GetObjectItemCaseSensitive(json, "constants");

    for (uint32_t i = 0; i < c->law->n_params; i++) {
        c->params[i] = msim_json_get_number(o, c->law->params[i].name, -1);
        if (!(c->params[i] > 0))
            return false;
    }
    c->gap.least_us = msim_json_get_number(o, "launch_gap", 0);
    c->gap.added_us = msim_json_get_number(o, "launch_added", 0);
    return c->gap.least_us >= 0 && c->gap.added_us >= 0;
}

/* "range": {feature: [low, high]}; features without a range are not bounded. */
static void read_range(struct msim_fit *c, const cJSON *json)
{
    const cJSON *o = cJSON_GetObjectItemCaseSensitive(json, "range");

    for (uint32_t i = 0; i < c->law->n_sizes; i++) {
        const cJSON *r =
            cJSON_GetObjectItemCaseSensitive(o, c->law->features[i]);
        const cJSON *low = cJSON_GetArrayItem(r, 0);
        const cJSON *high = cJSON_GetArrayItem(r, 1);

        c->range_low[i] = cJSON_IsNumber(low) ? low->valuedouble : -INFINITY;
        c->range_high[i] = cJSON_IsNumber(high) ? high->valuedouble : INFINITY;
    }
}

static bool read_bins(struct msim_fit *c, const cJSON *interval)
{
    const cJSON *bin;

    c->n_bins = 0;
    cJSON_ArrayForEach(bin, interval)
    {
        struct msim_fit_bin *b = &c->bins[c->n_bins];

        if (c->n_bins == MSIM_FIT_BINS)
            return false;
        b->upto_us = msim_json_get_number(bin, "upto_us", INFINITY);
        b->low = msim_json_get_number(bin, "low", NAN);
        b->high = msim_json_get_number(bin, "high", NAN);
        if (!(b->low <= b->high))
            return false;
        c->n_bins++;
    }
    return true;
}

/* The correction: trees, or kriging, or none. */
static enum msim_status read_learned(struct msim_fit *c, const cJSON *json,
                                     enum msim_fit_trees trees,
                                     const char *file, struct msim_error *err)
{
    const cJSON *forest = cJSON_GetObjectItemCaseSensitive(json, "forest");
    const cJSON *kriging = cJSON_GetObjectItemCaseSensitive(json, "nearby");
    enum msim_status status = MSIM_OK;

    if (forest && trees == MSIM_TREES_READ)
        status = msim_forest_read(&c->forest, forest, c->law->n_features);
    else if (forest && trees == MSIM_TREES_LATER)
        status = msim_forest_read_later(&c->forest, forest, c->law->n_features);
    if (status == MSIM_EFORMAT)
        return bad(c, file, "'forest' does not hold whole trees", err);
    if (status == MSIM_OK && kriging)
        status = msim_kriging_read(&c->kriging, kriging, c->law);
    if (status == MSIM_EFORMAT)
        return bad(c, file,
                   "'nearby' wants a 'reach' above 0 for features of the law, "
                   "and 'rows' of a number for each feature and weight",
                   err);
    return status;
}

enum msim_status msim_fit_read(struct msim_fit *c, const cJSON *json,
                               enum msim_fit_trees trees, const char *file,
                               struct msim_error *err)
{
    const char *law = msim_json_get_text(json, "law");
    enum msim_status status;

    memset(c, 0, sizeof(*c));
    c->law = law ? msim_law_find(law) : NULL;
    if (!c->law)
        return bad(c, file, "'law' is no law of this program", err);
    if (!read_texts(c, json))
        return bad(c, file, "'framework', 'key' or 'table_gpu' is missing",
                   err);
    if (!read_params(c, json))
        return bad(c, file, "'constants' are missing or not above 0", err);
    read_range(c, json);
    if (!read_bins(c, cJSON_GetObjectItemCaseSensitive(json, "interval")))
        return bad(c, file, "'interval' wants bins with low <= high", err);
    c->rows = (uint32_t)msim_json_get_count(json, "rows", UINT32_MAX, 0);
    c->models = (uint32_t)msim_json_get_count(json, "models", UINT32_MAX, 0);
    c->error = msim_json_get_number(json, "error_fitted", 0);
    c->heldout = msim_json_get_number(json, "error_held_back", 0);
    status = msim_curves_read(&c->curves, json);
    if (status == MSIM_EFORMAT)
        return bad(c, file,
                   "'curves' want a collective, ranks, and as many bytes "
                   "(rising) as us and spread, all above 0; 'variants' and "
                   "'logs' a version and factors above 0",
                   err);
    if (status == MSIM_OK)
        status = read_learned(c, json, trees, file, err);
    if (status != MSIM_OK)
        msim_fit_release(c);
    return status;
}

void msim_fit_release(struct msim_fit *c)
{
    msim_forest_release(&c->forest);
    msim_kriging_release(&c->kriging);
    msim_curves_release(&c->curves);
}

/* ---- fits that are left -------------------------------------------------- */

struct msim_fit_left {
    struct msim_fits_left *all;
    char *text;
    size_t n;
    struct msim_fit *_Atomic read; /* NULL: not yet */
};

struct msim_fits_left {
    pthread_mutex_t lock;    /* to read them */
    struct msim_arena nodes; /* of the one that is being read */
    enum msim_fit_trees trees;
    bool intervals; /* are read at once */
    uint32_t n;
    struct msim_fit_left of[];
};

struct msim_fits_left *msim_fits_left_new(uint32_t n, enum msim_fit_trees trees,
                                          bool intervals)
{
    struct msim_fits_left *all = calloc(1, sizeof(*all) + n * sizeof(*all->of));

    if (!all)
        return NULL;
    pthread_mutex_init(&all->lock, NULL);
    all->trees = trees;
    all->intervals = intervals;
    return all;
}

static void free_read(struct msim_fit_left *left)
{
    struct msim_fit *read = atomic_load(&left->read);

    if (read)
        msim_fit_release(read);
    free(read);
}

void msim_fits_left_free(struct msim_fits_left *all)
{
    if (!all)
        return;
    for (uint32_t i = 0; i < all->n; i++)
        free_read(&all->of[i]);
    msim_arena_release(&all->nodes);
    pthread_mutex_destroy(&all->lock);
    free(all);
}

/* ---- what a choice goes by ----------------------------------------------- */

/* A member of the object, not of what is in it. */
struct member {
    const char *key;
    size_t key_len;
    const struct msim_lexer *value;
};

static bool is_member(const struct member *m, const char *key)
{
    return strlen(key) == m->key_len && memcmp(m->key, key, m->key_len) == 0;
}

/* As snprintf() does. */
static void copy_text(char *to, size_t size, const struct member *m)
{
    size_t n = m->value->len < size ? m->value->len : size - 1;

    memcpy(to, m->value->text, n);
    to[n] = '\0';
}

static void take_text(struct msim_fit *c, const struct member *m)
{
    char law[sizeof(c->framework)];

    if (is_member(m, "framework"))
        copy_text(c->framework, sizeof(c->framework), m);
    if (is_member(m, "key"))
        copy_text(c->key, sizeof(c->key), m);
    if (!is_member(m, "law"))
        return;
    copy_text(law, sizeof(law), m);
    c->law = msim_law_find(law);
}

static void take_rows(struct msim_fit *c, const struct member *m)
{
    double rows = 0;

    if (is_member(m, "rows") &&
        msim_decimal_real(m->value->text, m->value->len, &rows))
        c->rows = (uint32_t)rows;
}

/* A number of a bin. */
static void take_bound(struct msim_fit_bin *b, const struct member *m)
{
    double *to = is_member(m, "upto_us") ? &b->upto_us
                 : is_member(m, "low")   ? &b->low
                 : is_member(m, "high")  ? &b->high
                                         : NULL;

    if (to)
        (void)msim_decimal_real(m->value->text, m->value->len, to);
}

/* What read_bins() reads, behind the bracket that opens the array, where a bin
 * has numbers alone. False where it does not. */
static bool take_bins(struct msim_fit *c, struct msim_lexer *l)
{
    const uint32_t depth = l->depth;
    struct member m = {.value = l};
    struct msim_fit_bin *b = NULL;

    while (l->depth >= depth) {
        enum msim_token token = msim_lexer_next(l);

        if (token == MSIM_TOKEN_MAP && l->depth == depth + 1 &&
            c->n_bins < MSIM_FIT_BINS) {
            b = &c->bins[c->n_bins++];
            *b = (struct msim_fit_bin){INFINITY, NAN, NAN};
        } else if (token == MSIM_TOKEN_KEY) {
            m.key = l->text;
            m.key_len = l->len;
        } else if (token == MSIM_TOKEN_NUMBER && b) {
            take_bound(b, &m);
        } else if (token == MSIM_TOKEN_MAP_END
                       ? !(b->low <= b->high)
                       : token != MSIM_TOKEN_ARRAY_END) {
            return false;
        }
    }
    return true;
}

/* Pass an object or array, behind its bracket. */
static bool pass(struct msim_fit *c, const struct member *m,
                 struct msim_lexer *l, bool intervals)
{
    return intervals && is_member(m, "interval") ? take_bins(c, l)
                                                 : msim_lexer_skip(l);
}

static bool has_all(const struct msim_fit *c)
{
    return c->law && *c->framework && *c->key && c->rows;
}

/* False where what it reads is not as it has to be. */
static bool read_head(struct msim_fit *c, const char *text, size_t n,
                      bool intervals)
{
    struct msim_lexer l = {.at = text, .end = text + n};
    enum msim_token token = msim_lexer_next(&l);
    struct member m = {.value = &l};

    while (l.depth && (intervals || !has_all(c))) {
        token = msim_lexer_next(&l);
        if (token == MSIM_TOKEN_KEY) {
            m.key = l.text;
            m.key_len = l.len;
        } else if (token == MSIM_TOKEN_STRING) {
            take_text(c, &m);
        } else if (token == MSIM_TOKEN_NUMBER) {
            take_rows(c, &m);
        } else if (token == MSIM_TOKEN_ODD_KEY ||
                   token == MSIM_TOKEN_ODD_STRING) {
            msim_lexer_pass(&l, token);
        } else if (token <= MSIM_TOKEN_ODD ||
                   ((token == MSIM_TOKEN_MAP || token == MSIM_TOKEN_ARRAY) &&
                    !pass(c, &m, &l, intervals))) {
            return false;
        }
    }
    return true;
}

enum msim_status msim_fit_leave(struct msim_fit *c, struct msim_fits_left *all,
                                const cJSON *json, const char *file,
                                struct msim_error *err)
{
    struct msim_fit_left *left = &all->of[all->n];

    memset(c, 0, sizeof(*c));
    left->all = all;
    left->text = json->valuestring;
    left->n = (size_t)json->valueint;
    if (!read_head(c, left->text, left->n, all->intervals))
        return bad(c, file, "is no JSON, or 'interval' is wrong", err);
    if (!c->law || !*c->framework || !*c->key)
        return msim_fail(err, MSIM_EFORMAT, file, MSIM_OFFSET_NONE,
                         "fit '%s' of '%s': 'law' is no law of this program, "
                         "or 'framework' or 'key' is missing",
                         c->key, c->framework);
    c->left = left;
    all->n++;
    return MSIM_OK;
}

/* ---- all else ------------------------------------------------------------ */

/* Nothing but memory can be missing: the text was looked at. */
static struct msim_fit *read_now(const struct msim_fit *c)
{
    struct msim_fits_left *all = c->left->all;
    struct msim_fit *read = malloc(sizeof(*read));
    cJSON *json;

    msim_arena_reset(&all->nodes);
    json = read ? msim_json_in_place(c->left->text, c->left->n, &all->nodes)
                : NULL;
    if (json && msim_fit_read(read, json, all->trees, "", NULL) == MSIM_OK) {
        read->over_nodes = c->over_nodes;
        return read;
    }
    free(read);
    return NULL;
}

const struct msim_fit *msim_fit_whole(const struct msim_fit *c)
{
    struct msim_fit_left *left = c->left;
    struct msim_fit *read;

    if (!left)
        return c;
    read = atomic_load_explicit(&left->read, memory_order_acquire);
    if (read)
        return read;
    pthread_mutex_lock(&left->all->lock);
    read = atomic_load(&left->read);
    if (!read) {
        read = read_now(c);
        atomic_store_explicit(&left->read, read, memory_order_release);
    }
    pthread_mutex_unlock(&left->all->lock);
    return read;
}

enum msim_status msim_fit_complete(struct msim_fit *c)
{
    struct msim_fit_left *left = c->left;

    if (!left)
        return MSIM_OK;
    if (!msim_fit_whole(c))
        return MSIM_ENOMEM;
    *c = *atomic_load(&left->read);
    free(atomic_load(&left->read));
    atomic_store(&left->read, NULL);
    return MSIM_OK;
}
