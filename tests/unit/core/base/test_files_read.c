/*
 * tests/unit/core/base/test_files_read.c - the files that this process read.
 */
#include "core/base/files.h"

#include "tests/check.h"

#include <stdlib.h>
#include <unistd.h>

static char folder[] = P_tmpdir "/msim-files-read-XXXXXX";
static char a[64], b[64];

static void put(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");

    REQUIRE(f);
    fputs(text, f);
    fclose(f);
}

/* The hash of the files `first` and `then`; 0: it failed. */
static uint64_t hash_of(const char *first, const char *then)
{
    uint64_t hash = 0;

    msim_files_read_forget(a);
    msim_files_read_forget(b);
    CHECK_INT(msim_files_read_note(first, NULL), MSIM_OK);
    if (then)
        CHECK_INT(msim_files_read_note(then, NULL), MSIM_OK);
    return msim_files_read_hash(&hash, NULL) == MSIM_OK ? hash : 0;
}

static void test_files_read__hash(void)
{
    uint64_t one, both;

    put(a, "one");
    put(b, "two");
    one = hash_of(a, NULL);
    both = hash_of(a, b);
    CHECK(one && both && one != both);
    CHECK_UINT(hash_of(b, a), both); /* in any order */
    CHECK_UINT(hash_of(a, a), one);  /* twice */
    put(a, "two");
    put(b, "one");
    CHECK(hash_of(a, b) != both); /* the same texts, exchanged */
    put(a, "one");
    put(b, "two");
    CHECK_UINT(hash_of(a, b), both);
}

static void test_files_read__changed_meanwhile(void)
{
    struct msim_error err = {0};
    uint64_t hash;

    CHECK(hash_of(a, b));
    put(b, "longer");
    CHECK_INT(msim_files_read_hash(&hash, &err), MSIM_EIO);
    CHECK_STR(err.file, b);
    CHECK_STR(err.text, "was changed while this run read it");
    REQUIRE(msim_files_read_note(b, NULL) == MSIM_OK); /* and is read again */
    CHECK_INT(msim_files_read_hash(&hash, NULL), MSIM_EIO);
    CHECK(hash_of(a, b));
}

/* A folder counts, what is no file does not. */
static void test_files_read__spare(void)
{
    struct msim_error err = {0};

    CHECK_INT(msim_files_read_spare(folder, NULL), MSIM_OK);
    REQUIRE(msim_files_read_note(folder, NULL) == MSIM_OK);
    CHECK_INT(msim_files_read_spare(folder, &err), MSIM_EUSAGE);
    CHECK_STR(err.text, "is a folder that this run reads; want another to "
                        "write to");
    REQUIRE(msim_files_read_note("/dev/null", NULL) == MSIM_OK);
    CHECK_INT(msim_files_read_spare("/dev/null", NULL), MSIM_OK);
    CHECK_INT(msim_files_read_spare("/no/such/file", NULL), MSIM_OK);
}

/* The inode of a file that is gone may be given to the next one. */
static void test_files_read__gone(void)
{
    char moved[80];

    snprintf(moved, sizeof(moved), "%s/moved", folder);
    CHECK(hash_of(a, NULL));
    CHECK_INT(msim_files_read_spare(a, NULL), MSIM_EUSAGE);
    CHECK(rename(a, moved) == 0);
    CHECK_INT(msim_files_read_spare(moved, NULL), MSIM_OK);
    CHECK(rename(moved, a) == 0);
}

/* Another run of this process begins with none. */
static void test_files_read__release(void)
{
    CHECK(hash_of(a, b));
    msim_files_read_release();
    CHECK_INT(msim_files_read_spare(a, NULL), MSIM_OK);
    CHECK(hash_of(a, b));
    CHECK_INT(msim_files_read_spare(a, NULL), MSIM_EUSAGE);
}

static void test_files_read__standard_output(void)
{
    struct msim_error err = {0};
    int kept = dup(STDOUT_FILENO);

    fflush(stdout);
    REQUIRE(freopen(b, "a", stdout));
    CHECK_INT(msim_files_read_note(b, &err), MSIM_EUSAGE);
    CHECK_INT(msim_files_read_note(a, NULL), MSIM_OK);
    fflush(stdout);
    dup2(kept, STDOUT_FILENO);
    close(kept);
    CHECK(strstr(err.text, "standard output"));
}

int main(void)
{
    if (!mkdtemp(folder))
        return 1;
    snprintf(a, sizeof(a), "%s/a", folder);
    snprintf(b, sizeof(b), "%s/b", folder);
    RUN(test_files_read__hash);
    RUN(test_files_read__changed_meanwhile);
    RUN(test_files_read__spare);
    RUN(test_files_read__gone);
    RUN(test_files_read__release);
    RUN(test_files_read__standard_output);
    unlink(a);
    unlink(b);
    rmdir(folder);
    return check_summary();
}
