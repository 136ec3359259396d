/*
 * predict/write/scenario_folder.c: names of scenarios as those of folders, each
 * of which is one scenario's.
 */
#include "predict/write/scenario_write.h"

#include "tests/check.h"

#include <stdlib.h>

static void check_folder(const char *name, const char *want)
{
    char *path = msim_scenario_folder("DIR", name);

    CHECK_STR(path, want);
    free(path);
}

/* Letters, digits, "_", "-" and "." stay; a "." in front does not. */
static void test_scenario_folder__names(void)
{
    check_folder("batch 64, 2x", "DIR/batch-64--2x");
    check_folder("azAZ09_-.", "DIR/azAZ09_-.");
    check_folder("`{@[/:", "DIR/------"); /* neighbours of letters and digits */
    check_folder(".hidden", "DIR/-hidden");
    check_folder("..", "DIR/-.");
    check_folder("a/../b", "DIR/a-..-b");
    check_folder("\xc3\xa9", "DIR/--");
    check_folder("", "DIR/");
}

/* A hundred bytes of a name are shown. */
static void test_scenario_folder__long_names(void)
{
    char name[128], want[128] = "DIR/";

    for (int n = 99; n <= 101; n++) {
        memset(name, 'x', sizeof(name));
        name[n] = '\0';
        memset(want + 4, 'x', 100);
        want[4 + (n < 100 ? n : 100)] = '\0';
        check_folder(name, want);
    }
}

static enum msim_status look(const char *const *names, uint32_t n,
                             struct msim_error *err)
{
    const struct msim_folder_kinds kinds = {NULL, 0};

    *err = (struct msim_error){0};
    return msim_scenario_folders_look("no-such-dir", names, n, &kinds, err);
}

/* Two names that come to one folder are refused, whichever they are. */
static void test_scenario_folder__one_each(void)
{
    static const char *const NAMES[] = {"a b", "a c", "a_b", "a-b", "a:c"};
    static const char *const LAST[] = {"a b", "a c", "a_c", "a:c"};
    struct msim_error err;

    CHECK_INT(look(NAMES, 0, &err), MSIM_OK);
    CHECK_INT(look(NAMES, 3, &err), MSIM_OK);
    CHECK_INT(look(NAMES, 4, &err), MSIM_EUSAGE);
    CHECK_STR(err.file, "no-such-dir/a-b");
    CHECK_STR(err.text, "would be the folder of scenario 'a b' and of 'a-b', "
                        "want names that differ in letters or digits");
    CHECK_INT(look(LAST, 4, &err), MSIM_EUSAGE);
    CHECK_STR(err.text, "would be the folder of scenario 'a c' and of 'a:c', "
                        "want names that differ in letters or digits");
}

int main(void)
{
    RUN(test_scenario_folder__long_names);
    RUN(test_scenario_folder__names);
    RUN(test_scenario_folder__one_each);
    return check_summary();
}
