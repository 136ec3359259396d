/*
 * tests/unit/core/base/test_write_file.c - tests of core/base/write_file.h.
 */
#include "core/base/write_file.h"
#include "tests/check.h"

#include <dirent.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

static char folder[] = P_tmpdir "/msim-write-file-XXXXXX";
static char path[128];

static unsigned files_in_folder(void)
{
    DIR *d = opendir(folder);
    unsigned n = 0;

    while (d && readdir(d))
        n++;
    if (d)
        closedir(d);
    return n - 2; /* . and .. */
}

/* The file's text, inflated where it is compressed. */
static const char *content(void)
{
    static char text[64];
    gzFile f = gzopen(path, "rb");
    int n = f ? gzread(f, text, sizeof(text) - 1) : 0;

    text[n > 0 ? n : 0] = '\0';
    if (f)
        gzclose(f);
    return text;
}

static void write_text(const char *text, bool gzip, bool commit)
{
    unsigned before = files_in_folder();
    struct msim_file *f;

    REQUIRE(msim_file_open(&f, path, gzip, NULL) == MSIM_OK);
    CHECK_INT(msim_file_write(f, text, strlen(text)), MSIM_OK);
    CHECK_UINT(files_in_folder(), before + 1);
    if (commit)
        CHECK_INT(msim_file_commit(f, NULL), MSIM_OK);
    else
        msim_file_abandon(f);
}

static void test_write_file__replaces(void)
{
    write_text("first", false, true);
    CHECK_STR(content(), "first");
    write_text("second", false, true);
    CHECK_STR(content(), "second");
    CHECK_UINT(files_in_folder(), 1);
}

static void test_write_file__abandon_keeps_the_old(void)
{
    write_text("old", false, true);
    write_text("new", false, false);
    CHECK_STR(content(), "old");
    CHECK_UINT(files_in_folder(), 1);
    msim_file_abandon(NULL);
}

static void test_write_file__gzip(void)
{
    unsigned char magic[2] = {0};
    FILE *f;

    write_text("packed", true, true);
    CHECK_STR(content(), "packed");
    f = fopen(path, "rb");
    REQUIRE(f);
    CHECK_UINT(fread(magic, 1, 2, f), 2);
    CHECK(magic[0] == 0x1f && magic[1] == 0x8b);
    fclose(f);
}

/* A link is followed, or the file that it names would keep the old text. */
static void test_write_file__follows_links(void)
{
    char real[160];
    struct stat st;

    unlink(path);
    snprintf(real, sizeof(real), "%s/real", folder);
    REQUIRE(symlink(real, path) == 0);
    fclose(fopen(real, "w"));
    write_text("through", false, true);
    CHECK(lstat(path, &st) == 0 && S_ISLNK(st.st_mode));
    CHECK_STR(content(), "through");
    unlink(real);
    unlink(path);
}

static void test_write_file__devices_are_written_directly(void)
{
    struct msim_file *f;
    struct stat st;

    REQUIRE(msim_file_open(&f, "/dev/null", false, NULL) == MSIM_OK);
    CHECK_STR(msim_file_draft(f), "/dev/null");
    CHECK_INT(msim_file_write(f, "x", 1), MSIM_OK);
    CHECK_INT(msim_file_commit(f, NULL), MSIM_OK);
    CHECK(stat("/dev/null", &st) == 0 && S_ISCHR(st.st_mode));
}

static void test_write_file__says_why_not(void)
{
    struct msim_error err = {0};
    struct msim_file *f;

    CHECK_INT(msim_file_open(&f, "/nowhere/at/all", false, &err), MSIM_EIO);
    CHECK(!f);
    CHECK_STR(err.file, "/nowhere/at/all");
    CHECK_STR(err.text, "cannot write: No such file or directory");
}

int main(void)
{
    if (!mkdtemp(folder))
        return 1;
    snprintf(path, sizeof(path), "%s/out", folder);
    RUN(test_write_file__replaces);
    RUN(test_write_file__abandon_keeps_the_old);
    RUN(test_write_file__gzip);
    RUN(test_write_file__follows_links);
    RUN(test_write_file__devices_are_written_directly);
    RUN(test_write_file__says_why_not);
    unlink(path);
    rmdir(folder);
    return check_summary();
}
