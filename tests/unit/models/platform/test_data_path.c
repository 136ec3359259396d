/* models/platform/data_path.c: files of data folders by their names. */
#include "models/platform/platform.h"

#include "tests/check.h"

#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[32];

static const char *const FILES[] = {"b.json",  "A.json", "c.json.txt",
                                    ".d.json", ".json",  "e"};
#define N_FILES (sizeof(FILES) / sizeof(*FILES))

static const char *in_folder(const char *name)
{
    static char path[PATH_MAX];

    snprintf(path, sizeof(path), "%s/hosts/%s", folder, name);
    return path;
}

/* hosts/ with two files of a kind and four others. */
static bool make_folder(void)
{
    snprintf(folder, sizeof(folder), "%s", "msim-test-XXXXXX");
    if (!mkdtemp(folder) || mkdir(in_folder(""), 0700) != 0)
        return false;
    for (size_t i = 0; i < N_FILES; i++) {
        FILE *out = fopen(in_folder(FILES[i]), "w");

        if (!out)
            return false;
        fclose(out);
    }
    return true;
}

static void remove_folder(void)
{
    for (size_t i = 0; i < N_FILES; i++)
        unlink(in_folder(FILES[i]));
    rmdir(in_folder(""));
    rmdir(folder);
}

static void test_data_path__is_path(void)
{
    static const char *const PATHS[] = {"a/b", "/", "x.json", "h100.b.json"};
    static const char *const NAMES[] = {"a100",  "",        ".json", ".x.json",
                                        "x.jso", "x.json2", "json"};

    for (size_t i = 0; i < sizeof(PATHS) / sizeof(*PATHS); i++)
        CHECK(msim_data_is_path(PATHS[i]));
    for (size_t i = 0; i < sizeof(NAMES) / sizeof(*NAMES); i++)
        CHECK(!msim_data_is_path(NAMES[i]));
}

/* Sorted by bytes, capitals first; what is hidden or no JSON is none. */
static void test_data_path__list(void)
{
    const char *const *names;
    struct msim_arena arena;
    struct msim_error err = {0};
    uint32_t n = 77;

    REQUIRE(make_folder());
    msim_arena_init(&arena);
    CHECK_INT(msim_data_list(&arena, folder, "host", &names, &n, &err),
              MSIM_OK);
    if (CHECK_UINT(n, 2)) {
        CHECK_STR(names[0], "A");
        CHECK_STR(names[1], "b");
    }
    CHECK_INT(msim_data_list(&arena, folder, "network", &names, &n, &err),
              MSIM_EIO);
    CHECK_UINT(n, 0);
    CHECK_STR(err.text, "the folder of networks cannot be opened");
    msim_arena_release(&arena);
    remove_folder();
}

static void test_data_path__find(void)
{
    struct msim_error err = {0};
    char path[256], want[256];

    REQUIRE(make_folder());
    CHECK_INT(msim_data_path(path, sizeof(path), folder, "host", "a", &err),
              MSIM_OK);
    snprintf(want, sizeof(want), "%s/hosts/A.json", folder);
    CHECK_STR(path, want);
    CHECK_INT(
        msim_data_path(path, sizeof(path), folder, "host", "mine/b.json", &err),
        MSIM_OK);
    CHECK_STR(path, "mine/b.json");
    CHECK_INT(msim_data_path(path, sizeof(path), folder, "host", "e", &err),
              MSIM_EUNKNOWN);
    CHECK_STR(err.text, "unknown host 'e', known are: A, b");
    err = (struct msim_error){0};
    CHECK_INT(msim_data_path(path, sizeof(path), folder, "host", "A,b", &err),
              MSIM_EUNKNOWN);
    CHECK_STR(err.text, "unknown host 'A,b', want one name here, of: A, b");
    remove_folder();
}

/* A data folder is one with platforms in it, where its path has room. */
static void test_data_path__folder(void)
{
    char path[PATH_MAX];
    size_t n = strlen(MSIM_DATA);

    CHECK(msim_data_folder(path, sizeof(path), MSIM_DATA, ""));
    CHECK_STR(path, MSIM_DATA);
    CHECK(msim_data_folder(path, n + 1, MSIM_DATA, ""));
    CHECK(!msim_data_folder(path, n, MSIM_DATA, ""));
    CHECK(!msim_data_folder(path, sizeof(path), MSIM_DATA, "/hosts"));
    CHECK_STR(path, MSIM_DATA "/hosts");
    CHECK(msim_data_folder(path, sizeof(path), MSIM_DATA, "/../data"));
    REQUIRE(make_folder());
    CHECK(!msim_data_folder(path, sizeof(path), folder, ""));
    remove_folder();
}

/* Of a name that looks like a known one that is said first; numbers are what
 * GPUs are known by. */
static void test_data_path__what_was_meant(void)
{
    static const char *const NAMES[] = {
        "a100",       "a100-pcie-40gb", "a100-pcie-80gb", "gtx-1080-ti",
        "h100",       "h200",           "l40s",           "mi300x",
        "rtx-2080ti", "rtx-3090",       "rtx-3090-ti",    "rtx-4090",
        "rtx-4090-d"};
    static const struct {
        const char *typed, *meant; /* NULL: nothing */
    } ROWS[] = {{"hh100", "h100"},
                {"h2000", "h200"},
                {"l40ss", "l40s"},
                {"rtx4090ti", "rtx-4090"},
                {"rtx3090tie", "rtx-3090-ti"},
                {"a100pcie80", "a100"},
                {"a100-pcie-80g", "a100-pcie-80gb"},
                {"mi300", "mi300x"},
                {"gtx1080", "gtx-1080-ti"},
                {"h10O", "h100"},
                {"tesla99", NULL},
                {"x4090", NULL},
                {"l4", NULL},
                {"nothing-like-it", NULL},
                {"", NULL}};

    for (size_t i = 0; i < sizeof(ROWS) / sizeof(*ROWS); i++) {
        struct msim_error err = {0};
        char want[128];

        CHECK_INT(msim_data_unknown("platform", ROWS[i].typed, NAMES,
                                    sizeof(NAMES) / sizeof(*NAMES), &err),
                  MSIM_EUNKNOWN);
        snprintf(want, sizeof(want),
                 "unknown platform '%s', %s%s%sknown are: ", ROWS[i].typed,
                 ROWS[i].meant ? "did you mean '" : "",
                 ROWS[i].meant ? ROWS[i].meant : "",
                 ROWS[i].meant ? "'? " : "");
        if (!CHECK(strncmp(err.text, want, strlen(want)) == 0))
            fprintf(stderr, "%s\n", err.text);
    }
}

/* More names than a message has room for are cut. */
static void test_data_path__many_names(void)
{
    static const char NAME[] = "a name of thirty-two characters.";
    const char *names[64];
    struct msim_error err = {0};

    for (int i = 0; i < 64; i++)
        names[i] = NAME;
    CHECK_INT(msim_data_unknown("host", "x", names, 2, &err), MSIM_EUNKNOWN);
    CHECK_STR(err.text, "unknown host 'x', known are: a name of thirty-two "
                        "characters., a name of thirty-two characters.");
    err = (struct msim_error){0};
    CHECK_INT(msim_data_unknown("host", "x", names, 64, &err), MSIM_EUNKNOWN);
    CHECK(strstr(err.text, "unknown host 'x', known are: a name") == err.text);
    CHECK(strlen(err.text) < sizeof(err.text));
}

int main(void)
{
    RUN(test_data_path__find);
    RUN(test_data_path__folder);
    RUN(test_data_path__is_path);
    RUN(test_data_path__list);
    RUN(test_data_path__what_was_meant);
    RUN(test_data_path__many_names);
    return check_summary();
}
