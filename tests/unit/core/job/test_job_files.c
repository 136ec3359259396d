/*
 * tests/unit/core/job/test_job_files.c - which files a job is made of.
 */
#include "core/job/job_files.h"
#include "tests/check.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = P_tmpdir "/msim-files-XXXXXX";

static const char *at(const char *name)
{
    static char paths[4][200];
    static int turn;
    char *path = paths[turn++ % 4];

    snprintf(path, 200, "%s%s%s", folder, *name ? "/" : "", name);
    return path;
}

static void put(const char *name)
{
    FILE *f = fopen(at(name), "w");

    if (CHECK(f != NULL))
        fclose(f);
}

static const char *const MADE[] = {"b.json", "a/2",     "a/1",
                                   "a/c/x",  ".hidden", "a/.git/y"};

static void make(void)
{
    CHECK_INT(mkdir(at("a"), 0700), 0);
    CHECK_INT(mkdir(at("a/c"), 0700), 0);
    CHECK_INT(mkdir(at("a/.git"), 0700), 0);
    CHECK_INT(mkdir(at("empty"), 0700), 0);
    for (size_t i = 0; i < sizeof(MADE) / sizeof(*MADE); i++)
        put(MADE[i]);
    CHECK_INT(symlink("../b.json", at("a/link")), 0);
    CHECK_INT(symlink("..", at("a/up")), 0);
    CHECK_INT(mkfifo(at("a/pipe"), 0600), 0);
}

static void unmake(void)
{
    for (size_t i = 0; i < sizeof(MADE) / sizeof(*MADE); i++)
        unlink(at(MADE[i]));
    unlink(at("a/link"));
    unlink(at("a/up"));
    unlink(at("a/pipe"));
    rmdir(at("a/c"));
    rmdir(at("a/.git"));
    rmdir(at("a"));
    rmdir(at("empty"));
    rmdir(folder);
}

static void check_found(const char *const *paths, uint32_t n,
                        const char *const *want, uint32_t n_want,
                        const char *named)
{
    struct msim_job_files files = {0};
    struct msim_error err = {0};

    CHECK_INT(msim_job_files_find(&files, paths, n, &err), MSIM_OK);
    CHECK_STR(err.text, "");
    CHECK_UINT(files.n, n_want);
    for (uint32_t i = 0; i < files.n && i < n_want; i++) {
        CHECK_STR(files.all[i].path, strcmp(want[i], "-") ? at(want[i]) : "-");
        CHECK_INT(files.all[i].named, named[i] == 'y');
    }
    msim_job_files_release(&files);
    CHECK(files.all == NULL);
    CHECK_UINT(files.n, 0);
}

/* All below a folder in order of name, links to files among them; what is
 * hidden, links to folders and what is no file are not. */
static void test_job_files__folder(void)
{
    static const char *const ALL[] = {"a/1", "a/2", "a/c/x", "a/link",
                                      "b.json"};
    char path[200];
    const char *paths[] = {path};

    snprintf(path, sizeof(path), "%s", at(""));
    check_found(paths, 1, ALL, 5, "nnnnn");
    snprintf(path, sizeof(path), "%s", at("a//"));
    check_found(paths, 1, ALL, 4, "nnnn");
    snprintf(path, sizeof(path), "%s", at("empty"));
    check_found(paths, 1, ALL, 0, "");
}

/* As they were asked for; standard input is a name of its own. */
static void test_job_files__several(void)
{
    static const char *const WANT[] = {"b.json", "-",      "a/1", "a/2",
                                       "a/c/x",  "a/link", "a/1"};
    char b[200], a[200], one[200];
    const char *paths[] = {b, "-", a, one};

    snprintf(b, sizeof(b), "%s", at("b.json"));
    snprintf(a, sizeof(a), "%s", at("a"));
    snprintf(one, sizeof(one), "%s", at("a/1"));
    check_found(paths, 4, WANT, 7, "yynnnny");
    check_found(paths, 0, WANT, 0, "");
}

static void test_job_files__missing(void)
{
    const char *paths[] = {at("b.json"), at("none"), at("a")};
    struct msim_job_files files = {0};
    struct msim_error err = {0};

    CHECK_INT(msim_job_files_find(&files, paths, 3, &err), MSIM_EIO);
    CHECK_STR(err.file, paths[1]);
    CHECK_STR(err.text, "cannot open: No such file or directory");
    CHECK_UINT(err.offset, MSIM_OFFSET_NONE);
    CHECK_UINT(files.n, 1); /* what is behind it is not searched */
    msim_job_files_release(&files);
}

static void check_stem(const char *name, size_t want)
{
    char path[64];

    CHECK_UINT(msim_job_stem(name), want);
    snprintf(path, sizeof(path), "x.json/%s", name);
    CHECK_INT(msim_job_looks_like_trace(path), want != 0);
}

static void test_job_files__stem(void)
{
    check_stem("a.json", 1);
    check_stem("a.et", 1);
    check_stem("a.sqlite", 1);
    check_stem("a.json.gz", 1);
    check_stem("ab.et.zst", 2);
    check_stem("a.b.json", 3);
    check_stem("a.json.json", 6);
    check_stem("a.gz", 0);
    check_stem("a.json.gz.gz", 0);
    check_stem("a.json.bz2", 0);
    check_stem(".json", 0);
    check_stem(".json.gz", 0);
    check_stem("a.JSON", 0);
    check_stem("json", 0);
    check_stem("", 0);
}

int main(void)
{
    if (!CHECK(mkdtemp(folder) != NULL))
        return check_summary();
    make();
    RUN(test_job_files__folder);
    RUN(test_job_files__several);
    RUN(test_job_files__missing);
    RUN(test_job_files__stem);
    unmake();
    return check_summary();
}
