/*
 * Fits that are read when they are needed are those that are read at once: of
 * every shipped platform and of the shared laws, each fit, member by member.
 * The folder without names.csv does not know what was shipped, and reads all.
 */
#include "models/platform/fit.h"
#include "models/platform/platform.h"
#include "models/platform/platform_data.h"
#include "tests/check.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64];

/* Links to all that is shipped, but names.csv. */
static bool make_folder(const char *const *names, uint32_t n)
{
    char path[256], target[512];

    snprintf(folder, sizeof(folder), "msim-test-left-XXXXXX");
    if (!mkdtemp(folder))
        return false;
    snprintf(path, sizeof(path), "%s/platforms", folder);
    if (mkdir(path, 0777) != 0)
        return false;
    snprintf(path, sizeof(path), "%s/laws", folder);
    if (symlink(MSIM_DATA "/laws", path) != 0)
        return false;
    for (uint32_t i = 0; i < n; i++) {
        snprintf(path, sizeof(path), "%s/platforms/%s.json", folder, names[i]);
        snprintf(target, sizeof(target), "%s/platforms/%s.json", MSIM_DATA,
                 names[i]);
        if (symlink(target, path) != 0)
            return false;
    }
    return true;
}

static void remove_folder(const char *const *names, uint32_t n)
{
    char path[256];

    for (uint32_t i = 0; i < n; i++) {
        snprintf(path, sizeof(path), "%s/platforms/%s.json", folder, names[i]);
        unlink(path);
    }
    snprintf(path, sizeof(path), "%s/laws", folder);
    unlink(path);
    snprintf(path, sizeof(path), "%s/platforms", folder);
    rmdir(path);
    rmdir(folder);
}

static bool same_numbers(const double *a, const double *b, size_t n)
{
    return memcmp(a, b, n * sizeof(*a)) == 0;
}

static bool same_curves(const struct msim_curves *a,
                        const struct msim_curves *b)
{
    bool same = a->n == b->n && a->n_logs == b->n_logs &&
                a->n_variants == b->n_variants;

    for (uint32_t i = 0; same && i < a->n; i++) {
        const struct msim_curve *of = &a->list[i], *other = &b->list[i];

        same = of->n == other->n && of->ranks == other->ranks &&
               of->nodes == other->nodes && of->measured == other->measured &&
               same_numbers(of->bytes, other->bytes, 3 * (size_t)of->n);
    }
    return same;
}

/* Trees by what they say of a few points. */
static bool same_trees(const struct msim_fit *a, const struct msim_fit *b)
{
    double x[MSIM_LAW_FEATURES] = {0};
    bool same = true;

    for (int k = 0; same && k < 4; k++) {
        for (int i = 0; i < MSIM_LAW_FEATURES; i++)
            x[i] = k * 3 + i % 5;
        same =
            msim_forest_eval(&a->forest, x) == msim_forest_eval(&b->forest, x);
    }
    return same;
}

static bool same_fit(const struct msim_fit *a, const struct msim_fit *b)
{
    return a->law == b->law && strcmp(a->framework, b->framework) == 0 &&
           strcmp(a->key, b->key) == 0 && strcmp(a->table, b->table) == 0 &&
           same_numbers(a->params, b->params, MSIM_LAW_PARAMS) &&
           a->gap.least_us == b->gap.least_us &&
           a->gap.added_us == b->gap.added_us &&
           same_numbers(a->range_low, b->range_low, a->law->n_sizes) &&
           same_numbers(a->range_high, b->range_high, a->law->n_sizes) &&
           a->n_bins == b->n_bins &&
           memcmp(a->bins, b->bins, a->n_bins * sizeof(*a->bins)) == 0 &&
           a->rows == b->rows && a->models == b->models &&
           a->over_nodes == b->over_nodes && a->error == b->error &&
           a->heldout == b->heldout && same_curves(&a->curves, &b->curves) &&
           same_trees(a, b);
}

/* What the choice goes by, before `c` is read. */
static bool has_head(const struct msim_fit *c, const struct msim_fit *of)
{
    return c->law == of->law && strcmp(c->framework, of->framework) == 0 &&
           strcmp(c->key, of->key) == 0 && c->rows == of->rows &&
           c->over_nodes == of->over_nodes;
}

static void check_fits(const struct msim_fit *left, uint32_t n,
                       const struct msim_fit *now, uint32_t n_now)
{
    CHECK_UINT(n, n_now);
    for (uint32_t i = 0; i < n && n == n_now; i++) {
        const struct msim_fit *whole;

        CHECK(left[i].left != NULL && now[i].left == NULL);
        CHECK(has_head(&left[i], &now[i]));
        whole = msim_fit_whole(&left[i]);
        REQUIRE(whole != NULL);
        CHECK(whole != &left[i] && msim_fit_whole(&left[i]) == whole);
        CHECK(same_fit(whole, &now[i]));
        CHECK(msim_fit_whole(&now[i]) == &now[i]);
    }
}

static void check_intervals(const struct msim_fit *left,
                            const struct msim_fit *now, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        CHECK_UINT(left[i].n_bins, now[i].n_bins);
        CHECK(memcmp(left[i].bins, now[i].bins,
                     now[i].n_bins * sizeof(*now[i].bins)) == 0);
    }
}

static uint32_t fits_checked;

static void check_platform(const char *name)
{
    struct msim_platform *left, *now;
    struct msim_error err = {0};

    REQUIRE(msim_platform_load(&left, MSIM_DATA, name, &err) == MSIM_OK);
    REQUIRE(msim_platform_load(&now, folder, name, &err) == MSIM_OK);
    check_intervals(left->shared.fits, now->shared.fits, now->shared.n_fits);
    check_fits(left->shared.fits, left->shared.n_fits, now->shared.fits,
               now->shared.n_fits);
    CHECK_UINT(msim_platform_rows(left), msim_platform_rows(now));
    for (struct msim_platform *a = left, *b = now; a && b;
         a = a->next, b = b->next) {
        check_fits(a->fits, a->n_fits, b->fits, b->n_fits);
        fits_checked += a->n_fits;
    }
    msim_platform_free(left);
    msim_platform_free(now);
}

static void test_fit_left__as_read_at_once(void)
{
    struct msim_arena arena;
    const char *const *names;
    uint32_t n;

    msim_arena_init(&arena);
    REQUIRE(msim_platform_list(&arena, MSIM_DATA, &names, &n, NULL) == MSIM_OK);
    REQUIRE(make_folder(names, n));
    for (uint32_t i = 0; i < n; i++)
        check_platform(names[i]);
    CHECK(fits_checked > 1000);
    remove_folder(names, n);
    msim_arena_release(&arena);
}

/* What is completed has no text any more, and is what it would be read to. */
static void test_fit_left__completed(void)
{
    struct msim_platform *a, *b;

    REQUIRE(msim_platform_load(&a, MSIM_DATA, "a100", NULL) == MSIM_OK);
    REQUIRE(msim_platform_load(&b, MSIM_DATA, "a100", NULL) == MSIM_OK);
    REQUIRE(a->n_fits == b->n_fits && a->n_fits > 0);
    for (uint32_t i = 0; i < a->n_fits; i++) {
        CHECK_INT(msim_fit_complete(&a->fits[i]), MSIM_OK);
        CHECK(a->fits[i].left == NULL);
        CHECK_INT(msim_fit_complete(&a->fits[i]), MSIM_OK);
        CHECK(same_fit(&a->fits[i], msim_fit_whole(&b->fits[i])));
    }
    msim_platform_free(a);
    msim_platform_free(b);
}

/* `says`: the error, or NULL. */
static void leave(struct msim_fit *c, const char *text, const char *says)
{
    enum msim_status want = says ? MSIM_EFORMAT : MSIM_OK;
    struct msim_fits_left *all = msim_fits_left_new(1, MSIM_TREES_READ, true);
    char copy[256];
    cJSON json = {.type = cJSON_Raw, .valuestring = copy};
    struct msim_error err = {0};

    REQUIRE(all != NULL);
    snprintf(copy, sizeof(copy), "%s", text);
    json.valueint = (int)strlen(copy);
    CHECK_INT(msim_fit_leave(c, all, &json, "file", &err), want);
    CHECK(want == MSIM_OK || strstr(err.text, says));
    msim_fits_left_free(all);
}

/* Members in any order, those of members passed over, odd texts too. */
static void test_fit_left__head(void)
{
    struct msim_fit c;

    leave(&c,
          "{\"how\":\"caf\\u00e9\",\"constants\":{\"rows\":7,\"key\":\"no\"},"
          "\"rows\":12,\"interval\":[{\"low\":-0.5,\"high\":0.25}],"
          "\"key\":\"add\",\"framework\":\"torch\",\"law\":\"vector\"}",
          NULL);
    CHECK(c.law == &MSIM_LAW_VECTOR && c.rows == 12 && c.n_bins == 1);
    CHECK(c.bins[0].low == -0.5 && c.bins[0].high == 0.25);
    CHECK_STR(c.key, "add");
    CHECK_STR(c.framework, "torch");
    leave(&c, "{\"law\":\"no\",\"framework\":\"f\",\"key\":\"k\"}",
          "'law' is no law");
    leave(&c, "{\"law\":\"vector\",\"key\":\"k\"}", "'framework'");
    leave(&c, "{\"law\":\"vector\",\"framework\":\"f\"}", "'key'");
    leave(&c, "{\"law\":}", "is no JSON");
    leave(&c, "{\"law\":", "is no JSON");
    leave(&c, "{\"interval\":[{\"low\":2,\"high\":1}]}", "'interval'");
    leave(&c, "{\"interval\":[{\"low\":{\"value\":1}}]}", "'interval'");
    leave(&c, "{\"interval\":[1,{}]}", "'interval'");
    leave(&c, "{\"interval\":[{\"low\":1", "'interval'");
}

int main(void)
{
    RUN(test_fit_left__as_read_at_once);
    RUN(test_fit_left__completed);
    RUN(test_fit_left__head);
    return check_summary();
}
