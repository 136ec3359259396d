/*
 * The file of constants of collectives: all are read, each is checked, and what
 * is put there is read again.
 */
#include "calibrate/collective/coll_fit.h"

#include "tests/check.h"

#include <stdlib.h>
#include <unistd.h>

#define FILE_OF_ALL MSIM_DATA "/laws/collectives.json"

static cJSON *read_tree(void)
{
    cJSON *tree = NULL;

    CHECK_INT(msim_json_read(&tree, FILE_OF_ALL, NULL), MSIM_OK);
    return tree;
}

static cJSON *fabric(cJSON *tree, const char *name)
{
    cJSON *covariance = cJSON_GetObjectItem(tree, "covariance");

    return cJSON_GetObjectItem(cJSON_GetObjectItem(covariance, "fabrics"),
                               name);
}

static cJSON *component(cJSON *tree)
{
    return cJSON_GetArrayItem(
        cJSON_GetObjectItem(fabric(tree, "pcie"), "components"), 0);
}

static cJSON *weights(cJSON *tree)
{
    return cJSON_GetObjectItem(cJSON_GetObjectItem(tree, "intervals"),
                               "weights");
}

/* Read a tree's file; the error's text, "" where there is none. */
static const char *read_back(struct msim_coll_constants *c, const cJSON *tree)
{
    static struct msim_error err;
    char path[] = "msim-test-constants-XXXXXX";
    char *text = cJSON_PrintUnformatted(tree);
    int fd = mkstemp(path);
    enum msim_status status;
    FILE *f;

    err = (struct msim_error){0};
    f = fd >= 0 ? fdopen(fd, "wb") : NULL;
    if (!CHECK(f && text))
        return NULL;
    fputs(text, f);
    fclose(f);
    cJSON_free(text);
    status = msim_coll_constants_read(c, path, &err);
    CHECK_INT(status, *err.text ? MSIM_EFORMAT : MSIM_OK);
    unlink(path);
    return err.text;
}

static void set(cJSON *o, const char *key, double v)
{
    cJSON_ReplaceItemInObjectCaseSensitive(o, key, cJSON_CreateNumber(v));
}

static const char *const ANY[] = {"log_sd", "size", "ranks", "nodes"};
static const char *const SHARES[] = {"gpu",   "generation", "source",
                                     "stack", "mode",       "collective"};
static const char *const WEIGHTS[] = {
    "octaves",         "log_sd_ratio", "own_gpu", "own_group",   "same_ranks",
    "same_collective", "prior",        "next",    "change_share"};

/* `key` of an object that `of` finds, missing or with values that are refused
 * or taken. */
static void check_member(cJSON *(*of)(cJSON *), const char *key, bool share)
{
    const double wrong[] = {0, -1, 1.0001}, right[] = {1e-9, 1};
    struct msim_coll_constants c;
    char want[128];
    cJSON *tree = read_tree();

    snprintf(want, sizeof(want), "'%s' is missing or wrong, want a number %s",
             key, share ? "above 0, at most 1" : "above 0");
    for (size_t i = 0; i < 2u + share; i++) {
        set(of(tree), key, wrong[i]);
        CHECK_STR(read_back(&c, tree), want);
    }
    for (size_t i = 0; i < 2; i++) {
        set(of(tree), key, right[i]);
        CHECK_STR(read_back(&c, tree), "");
    }
    if (!share) {
        set(of(tree), key, 77);
        CHECK_STR(read_back(&c, tree), "");
    }
    cJSON_DeleteItemFromObjectCaseSensitive(of(tree), key);
    CHECK_STR(read_back(&c, tree), want);
    cJSON_Delete(tree);
}

static cJSON *network(cJSON *tree)
{
    return fabric(tree, "network");
}

static void test_coll_constants__each_number(void)
{
    for (size_t i = 0; i < sizeof(ANY) / sizeof(*ANY); i++)
        check_member(component, ANY[i], false);
    for (size_t i = 0; i < sizeof(SHARES) / sizeof(*SHARES); i++)
        check_member(component, SHARES[i], true);
    for (size_t i = 0; i < sizeof(WEIGHTS) / sizeof(*WEIGHTS); i++)
        check_member(weights, WEIGHTS[i], false);
    check_member(network, "noise", false);
}

static void test_coll_constants__words_and_lists(void)
{
    static const struct {
        const char *of, *word;
        int is;
    } WORDS[] = {{"regime", "start", MSIM_COLL_START},
                 {"regime", "wire", MSIM_COLL_WIRE},
                 {"regime", "between", MSIM_COLL_BETWEEN},
                 {"regime", "host", MSIM_COLL_HOST},
                 {"regime", "hosts", -1},
                 {"shape", "smooth", MSIM_COLL_SMOOTH},
                 {"shape", "rough", MSIM_COLL_ROUGH},
                 {"shape", "trend", MSIM_COLL_TREND},
                 {"shape", "", -1}};
    struct msim_coll_constants c;
    const struct msim_coll_component *one =
        &c.fabrics[MSIM_COLL_PCIE].components[0];
    char want[128];
    cJSON *tree, *list;

    for (size_t i = 0; i < sizeof(WORDS) / sizeof(*WORDS); i++) {
        tree = read_tree();
        cJSON_ReplaceItemInObjectCaseSensitive(
            component(tree), WORDS[i].of, cJSON_CreateString(WORDS[i].word));
        snprintf(want, sizeof(want),
                 "'%s' is missing or wrong, want a known word", WORDS[i].of);
        CHECK_STR(read_back(&c, tree), WORDS[i].is < 0 ? want : "");
        if (WORDS[i].is >= 0)
            CHECK_INT(*WORDS[i].of == 'r' ? (int)one->regime : (int)one->shape,
                      WORDS[i].is);
        cJSON_Delete(tree);
    }
    /* from one to eight */
    tree = read_tree();
    list = cJSON_GetObjectItem(fabric(tree, "pcie"), "components");
    while (cJSON_GetArraySize(list) < MSIM_COLL_COMPONENTS)
        cJSON_AddItemToArray(list, cJSON_Duplicate(component(tree), true));
    CHECK_STR(read_back(&c, tree), "");
    CHECK_UINT(c.fabrics[MSIM_COLL_PCIE].n_components, 8);
    cJSON_AddItemToArray(list, cJSON_Duplicate(component(tree), true));
    CHECK_STR(read_back(&c, tree),
              "'components' is missing or wrong, want 8 at most");
    while (cJSON_GetArraySize(list) > 0)
        cJSON_DeleteItemFromArray(list, 0);
    CHECK_STR(read_back(&c, tree),
              "'components' is missing or wrong, want one at least");
    cJSON_DeleteItemFromObject(
        cJSON_GetObjectItem(cJSON_GetObjectItem(tree, "covariance"), "fabrics"),
        "pcie");
    CHECK_STR(read_back(&c, tree),
              "'pcie' is missing or wrong, want the constants of that fabric");
    cJSON_Delete(tree);
}

/* What is put is read again, in the place of that fabric alone. */
static void test_coll_constants__put(void)
{
    const struct msim_coll_process p = {
        .noise = 0.25,
        .n_components = 2,
        .components = {{MSIM_COLL_HOST, MSIM_COLL_TREND, 1, 2, 3, 4, 0.1, 0.2,
                        0.3, 0.4, 0.5, 0.6},
                       {MSIM_COLL_START, MSIM_COLL_ROUGH, 5, 6, 7, 8, 0.6, 0.5,
                        0.4, 0.3, 0.2, 0.1}}};
    struct msim_coll_constants before, after;
    cJSON *tree = read_tree(), *none = cJSON_CreateObject();

    CHECK_STR(read_back(&before, tree), "");
    CHECK_INT(msim_coll_constants_put(tree, MSIM_COLL_PCIE, &p, 9, -12.5,
                                      "2026-11-01"),
              MSIM_OK);
    CHECK_STR(msim_json_get_text(fabric(tree, "pcie"), "date"), "2026-11-01");
    CHECK_REL(msim_json_get_number(fabric(tree, "pcie"), "points", 0), 9, 0);
    CHECK_REL(msim_json_get_number(fabric(tree, "pcie"), "log_likelihood", 0),
              -12.5, 0);
    CHECK_STR(read_back(&after, tree), "");
    before.fabrics[MSIM_COLL_PCIE] = p;
    CHECK_INT(memcmp(&before, &after, sizeof(before)), 0);
    CHECK_INT(msim_coll_constants_put(none, MSIM_COLL_PCIE, &p, 9, 0, ""),
              MSIM_EINTERNAL);
    CHECK_STR(msim_coll_fabric_text(MSIM_COLL_SWITCHED), "switched");
    CHECK_STR(msim_coll_fabric_text(MSIM_COLL_NETWORK), "network");
    cJSON_Delete(tree);
    cJSON_Delete(none);
}

int main(void)
{
    RUN(test_coll_constants__each_number);
    RUN(test_coll_constants__words_and_lists);
    RUN(test_coll_constants__put);
    return check_summary();
}
