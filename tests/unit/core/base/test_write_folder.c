/*
 * tests/unit/core/base/test_write_folder.c - a folder of files of ours.
 */
#include "core/base/files.h"

#include "tests/check.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = P_tmpdir "/msim-folder-XXXXXX";
static char inside[64]; /* the folder that is filled */

static const struct msim_folder_kind OF[] = {{"all.txt", "(ours)"},
                                             {"n-#.txt", "(ours)"}};
static const struct msim_folder_kinds KINDS = {OF, 2};

static const char *at(const char *name)
{
    static char path[2][128];
    static int turn;

    turn = !turn;
    snprintf(path[turn], sizeof(path[turn]), "%s/%s", inside, name);
    return path[turn];
}

static void put(const char *name, const char *text)
{
    FILE *f = fopen(at(name), "w");

    REQUIRE(f);
    fputs(text, f);
    fclose(f);
}

static bool is_there(const char *name)
{
    return access(at(name), F_OK) == 0;
}

/* Fill the folder with these files, ended by NULL; close them with `status`. */
static enum msim_status fill(const char *const *names, enum msim_status status,
                             struct msim_error *err)
{
    struct msim_folder f;
    struct msim_file *file;
    enum msim_status begun = msim_folder_begin(&f, inside, &KINDS, err);

    for (; begun == MSIM_OK && status == MSIM_OK && *names; names++) {
        status = msim_folder_file(&file, &f, *names, err);
        if (status == MSIM_OK)
            status =
                msim_file_close(file, msim_file_write(file, "(ours)", 6), err);
        CHECK(!is_there(*names) || status != MSIM_OK || is_there("old"));
    }
    return msim_folder_end(&f, begun == MSIM_OK ? status : begun, err);
}

#define NAMES(...) ((const char *const[]){__VA_ARGS__, NULL})

static void test_folder__matches(void)
{
    CHECK(msim_folder_matches("n-#.txt", "n-12.txt", 8));
    CHECK(msim_folder_matches("#.part", "0.part", 6));
    CHECK(!msim_folder_matches("n-#.txt", "n-.txt", 6));
    CHECK(!msim_folder_matches("n-#.txt", "n-1x.txt", 8));
    CHECK(!msim_folder_matches("n-#.txt", "n-1.txt.bak", 11));
    CHECK(!msim_folder_matches("n-#.txt", "n-1.tx", 6));
}

/* All of it is of one run; other files are left alone. */
static void test_folder__holds_one_run(void)
{
    CHECK_INT(fill(NAMES("all.txt", "n-0.txt", "n-1.txt"), MSIM_OK, NULL),
              MSIM_OK);
    CHECK(is_there("all.txt") && is_there("n-0.txt") && is_there("n-1.txt"));
    put("old", "a mark for fill()");
    put("n-1.text", "not of these names");
    CHECK_INT(fill(NAMES("all.txt", "n-2.txt"), MSIM_OK, NULL), MSIM_OK);
    CHECK(is_there("all.txt") && is_there("n-2.txt") && is_there("n-1.text"));
    CHECK(!is_there("n-0.txt") && !is_there("n-1.txt"));
    CHECK_INT(fill(NAMES("all.txt"), MSIM_EFORMAT, NULL), MSIM_EFORMAT);
    CHECK(is_there("n-2.txt")); /* a failure changes nothing */
}

static void test_folder__keeps_what_is_not_ours(void)
{
    struct msim_error err = {0};

    put("n-7.txt", "theirs");
    CHECK_INT(msim_folder_look(inside, &KINDS, &err), MSIM_EUSAGE);
    CHECK_STR(err.file, at("n-7.txt"));
    CHECK_INT(fill(NAMES("all.txt", "n-7.txt"), MSIM_OK, NULL), MSIM_EUSAGE);
    CHECK(!msim_folder_is_marked(at("n-7.txt"), "(ours)"));
    unlink(at("n-7.txt"));
    /* a pipe would wait for a writer */
    REQUIRE(mkfifo(at("n-7.txt"), 0600) == 0);
    CHECK_INT(msim_folder_look(inside, &KINDS, NULL), MSIM_EUSAGE);
    unlink(at("n-7.txt"));
    CHECK_INT(msim_folder_look(inside, &KINDS, NULL), MSIM_OK);
    CHECK_INT(msim_folder_look("/no/such/folder", &KINDS, NULL), MSIM_OK);
}

/* A mark is at either end, and short of it nowhere. */
static void test_folder__marks(void)
{
    char text[4000];

    memset(text, 'x', sizeof(text));
    text[sizeof(text) - 1] = '\0';
    put("n-3.txt", text);
    CHECK(!msim_folder_is_marked(at("n-3.txt"), "(ours)"));
    memcpy(text + 2000, "(ours)", 6);
    put("n-3.txt", text);
    CHECK(!msim_folder_is_marked(at("n-3.txt"), "(ours)"));
    memcpy(text + sizeof(text) - 20, "(ours)", 6);
    put("n-3.txt", text);
    CHECK(msim_folder_is_marked(at("n-3.txt"), "(ours)"));
    put("n-3.txt", "");
    CHECK(!msim_folder_is_marked(at("n-3.txt"), "(ours)"));
    unlink(at("n-3.txt"));
}

static void test_folder__cannot_be_made(void)
{
    struct msim_error err = {0};

    CHECK_INT(msim_folder_make("/nowhere/at/all", &err), MSIM_EIO);
    CHECK_STR(err.text, "cannot be made: No such file or directory");
}

/* A path that is cut somewhere is another one. */
static void test_folder__long_paths(void)
{
    static const struct msim_folder_kinds NONE;
    char text[900];

    memset(text, 'a', sizeof(text));
    text[sizeof(text) - 1] = '\0';
    CHECK_INT(msim_folder_look(text, &NONE, NULL), MSIM_EUSAGE);
    text[700] = '\0';
    CHECK_INT(msim_folder_look(text, &NONE, NULL), MSIM_OK);
}

int main(void)
{
    static const char *const ALL[] = {"all.txt", "n-2.txt", "n-1.text", "old"};

    if (!mkdtemp(folder))
        return 1;
    snprintf(inside, sizeof(inside), "%s/x", folder);
    RUN(test_folder__matches);
    RUN(test_folder__holds_one_run);
    RUN(test_folder__keeps_what_is_not_ours);
    RUN(test_folder__marks);
    RUN(test_folder__cannot_be_made);
    RUN(test_folder__long_paths);
    for (size_t i = 0; i < sizeof(ALL) / sizeof(*ALL); i++)
        unlink(at(ALL[i]));
    rmdir(inside);
    rmdir(folder);
    return check_summary();
}
