/* serving/apps/suite.c: which files of a folder are applications, their order
 * and names, and what is refused before anything runs. */
#include "serving/apps/app_sweep.h"
#include "tests/unit/serving/made_app.h"

#include <sys/stat.h>

#define APP                                                                    \
    "{'schema': 'mystique-sim/app/1', 'arrivals': {'process': 'poisson', "     \
    "'rate': 1}, 'stages': {'a': {'kind': 'tool'}}, 'flow': {'start': 'a'}}"

static struct msim_suite suite;
static struct msim_error err;

static enum msim_status read_it(const char *path)
{
    err = (struct msim_error){0};
    return msim_suite_read(&suite, path, &err);
}

static void remove_it(const char *name)
{
    CHECK_INT(remove(made_path(name)), 0);
}

/* By name; neither hidden ones nor other endings, nor one without a name. */
static void test_suite__of_a_folder(void)
{
    static const char *const NAMES[] = {"b.json", "a.json", "c.json", ".d.json",
                                        "e.txt",  ".json",  "f.jsonl"};
    char path[128];

    for (int i = 0; i < 7; i++)
        made_put(NAMES[i], i < 3 ? APP : "no JSON");
    REQUIRE(read_it(made_folder) == MSIM_OK);
    REQUIRE(suite.n == 3);
    for (uint32_t i = 0; i < 3; i++) {
        snprintf(path, sizeof(path), "%s/%c.json", made_folder, 'a' + (int)i);
        CHECK_STR(suite.apps[i].path, path);
        snprintf(path, sizeof(path), "%c", 'a' + (int)i);
        CHECK_STR(suite.apps[i].name, path);
        CHECK(cJSON_GetObjectItem(suite.apps[i].json, "stages") != NULL);
    }
    msim_suite_release(&suite);
    CHECK_INT(suite.n, 0);
    CHECK(!suite.apps);
    for (int i = 0; i < 7; i++)
        remove_it(NAMES[i]);
}

/* A file by its path may have any name. */
static void test_suite__of_a_file(void)
{
    made_put("one.json", APP);
    made_put("two.app", APP);
    REQUIRE(read_it(made_path("one.json")) == MSIM_OK);
    REQUIRE(suite.n == 1);
    CHECK_STR(suite.apps[0].name, "one");
    msim_suite_release(&suite);
    REQUIRE(read_it(made_path("two.app")) == MSIM_OK);
    CHECK_STR(suite.apps[0].name, "two.app");
    msim_suite_release(&suite);
    remove_it("one.json");
    remove_it("two.app");
}

static void test_suite__refuses(void)
{
    char want[128];

    CHECK_INT(read_it(made_folder), MSIM_EFORMAT);
    CHECK_STR(err.text, "has 0 files NAME.json, want applications, one a file "
                        "(1 to 10000)");
    CHECK_STR(err.file, made_folder);
    made_put("a.json", APP);
    made_put("b.json", "{'schema': 'mystique-sim/app/1'}");
    CHECK_INT(read_it(made_folder), MSIM_EFORMAT);
    snprintf(want, sizeof(want), "%s/b.json", made_folder);
    CHECK_STR(err.file, want);
    CHECK_INT(suite.n, 0);
    CHECK(!suite.apps);
    made_put("b.json", "{");
    CHECK_INT(read_it(made_folder), MSIM_ESYNTAX);
    CHECK_INT(suite.n, 0);
    remove_it("a.json");
    remove_it("b.json");
    CHECK_INT(read_it(made_path("a.json")), MSIM_EIO);
    CHECK_INT(suite.n, 0);
}

/* 10,000 are read, of which the first is wrong; one more is too many. */
static void test_suite__of_many(void)
{
    char name[32], first[128];

    made_put("a.json", "{");
    snprintf(first, sizeof(first), "%s", made_path("a.json"));
    for (int i = 1; i < 10000; i++) {
        snprintf(name, sizeof(name), "b%d.json", i);
        REQUIRE(link(first, made_path(name)) == 0);
    }
    CHECK_INT(read_it(made_folder), MSIM_ESYNTAX);
    CHECK_INT(link(first, made_path("c.json")), 0);
    CHECK_INT(read_it(made_folder), MSIM_EFORMAT);
    CHECK_STR(err.text, "has 10001 files NAME.json, want applications, one a "
                        "file (1 to 10000)");
    for (int i = 1; i < 10000; i++) {
        snprintf(name, sizeof(name), "b%d.json", i);
        remove_it(name);
    }
    remove_it("a.json");
    remove_it("c.json");
}

int main(void)
{
    made_begin();
    RUN(test_suite__of_a_folder);
    RUN(test_suite__of_a_file);
    RUN(test_suite__refuses);
    RUN(test_suite__of_many);
    CHECK_INT(rmdir(made_folder), 0);
    return check_summary();
}
