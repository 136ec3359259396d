/*
 * tests/unit/core/base/test_write_file.c - tests of core/base/write_file.c.
 */
#include "core/base/files.h"

#include "tests/check.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
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

/* Close it with `status`. */
static void write_text(const char *text, bool gzip, enum msim_status status)
{
    unsigned before = files_in_folder();
    struct msim_file *f;

    REQUIRE(msim_file_open(&f, path, &(struct msim_file_how){.gzip = gzip},
                           NULL) == MSIM_OK);
    CHECK_INT(msim_file_write(f, text, strlen(text)), MSIM_OK);
    CHECK_UINT(files_in_folder(), before + 1);
    CHECK_INT(msim_file_close(f, status, NULL), status);
}

static void test_write_file__replaces(void)
{
    write_text("first", false, MSIM_OK);
    CHECK_STR(content(), "first");
    write_text("second", false, MSIM_OK);
    CHECK_STR(content(), "second");
    CHECK_UINT(files_in_folder(), 1);
}

static void test_write_file__failure_keeps_the_old(void)
{
    write_text("old", false, MSIM_OK);
    write_text("new", false, MSIM_ENOMEM);
    CHECK_STR(content(), "old");
    CHECK_UINT(files_in_folder(), 1);
    CHECK_INT(msim_file_close(NULL, MSIM_EFORMAT, NULL), MSIM_EFORMAT);
}

static void test_write_file__gzip(void)
{
    unsigned char magic[2] = {0};
    FILE *f;

    write_text("packed", true, MSIM_OK);
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
    write_text("through", false, MSIM_OK);
    CHECK(lstat(path, &st) == 0 && S_ISLNK(st.st_mode));
    CHECK_STR(content(), "through");
    unlink(real);
    unlink(path);
}

static void test_write_file__devices_are_written_directly(void)
{
    struct msim_file *f;
    struct stat st;

    REQUIRE(msim_file_open(&f, "/dev/null", NULL, NULL) == MSIM_OK);
    CHECK_STR(msim_file_draft(f), "/dev/null");
    CHECK_INT(msim_file_close(f, msim_file_write(f, "x", 1), NULL), MSIM_OK);
    CHECK(stat("/dev/null", &st) == 0 && S_ISCHR(st.st_mode));
}

static void test_write_file__says_why_not(void)
{
    struct msim_error err = {0};
    struct msim_file *f;

    CHECK_INT(msim_file_open(&f, "/nowhere/at/all", NULL, &err), MSIM_EIO);
    CHECK(!f);
    CHECK_STR(err.file, "/nowhere/at/all");
    CHECK_STR(err.text, "cannot write: No such file or directory");
}

/* A reason that the writer's caller has not seen; packed bytes may be written
 * at the end alone. */
static void test_write_file__says_that_the_disk_is_full(void)
{
    static char zeros[1 << 16];

    for (int gzip = 0; gzip < 2; gzip++) {
        struct msim_error err = {0};
        struct msim_file *f;
        enum msim_status status;

        if (msim_file_open(&f, "/dev/full",
                           &(struct msim_file_how){.gzip = gzip},
                           &err) != MSIM_OK)
            SKIP("no /dev/full");
        status = msim_file_write(f, zeros, sizeof(zeros));
        CHECK_INT(status, gzip ? MSIM_OK : MSIM_EWRITE);
        CHECK_INT(msim_file_close(f, status, &err), MSIM_EWRITE);
        CHECK_STR(err.file, "/dev/full");
        CHECK_STR(err.text, "cannot write: No space left on device");
    }
}

/* Room that comes back does not make up for bytes that were lost. */
static void test_write_file__a_failure_stays(void)
{
    struct rlimit before, small;
    struct msim_error err = {0};
    struct msim_file *f;
    char text[100];

    write_text("old", false, MSIM_OK);
    memset(text, 'x', sizeof(text));
    signal(SIGXFSZ, SIG_IGN);
    REQUIRE(getrlimit(RLIMIT_FSIZE, &before) == 0);
    small = (struct rlimit){10, before.rlim_max};
    REQUIRE(msim_file_open(&f, path, NULL, NULL) == MSIM_OK);
    CHECK_INT(msim_file_write(f, text, sizeof(text)), MSIM_OK);
    REQUIRE(setrlimit(RLIMIT_FSIZE, &small) == 0);
    (void)msim_file_draft(f);
    REQUIRE(setrlimit(RLIMIT_FSIZE, &before) == 0);
    CHECK_INT(msim_file_close(f, MSIM_OK, &err), MSIM_EWRITE);
    CHECK_STR(err.text, "cannot write: File too large");
    CHECK_STR(content(), "old");
}

/* Files that are there, and files that are not. */
static void test_write_file__same(void)
{
    char again[200], other[200], root[] = "/no-such-file";

    snprintf(again, sizeof(again), "%s/./out", folder);
    snprintf(other, sizeof(other), "%s/other", folder);
    for (int i = 0; i < 2; i++) {
        CHECK(msim_file_is_same(path, again));
        CHECK(!msim_file_is_same(path, other));
        CHECK(!msim_file_is_same("out", path));
        unlink(path);
    }
    CHECK(msim_file_is_same(root, "//no-such-file"));
    write_text("old", false, MSIM_OK);
    REQUIRE(symlink(path, other) == 0);
    CHECK(msim_file_is_same(path, other));
    unlink(other);
}

/* By another name, a link of either kind; not what is beside it. */
static void test_write_file__spares_what_was_read(void)
{
    static const char *const LINKS[] = {"hard", "soft"};
    struct msim_error err = {0};
    struct msim_file *f;
    char other[160];

    write_text("input", false, MSIM_OK);
    REQUIRE(msim_files_read_note(path, NULL) == MSIM_OK);
    for (int i = 0; i < 2; i++) {
        snprintf(other, sizeof(other), "%s/%s", folder, LINKS[i]);
        REQUIRE((i ? symlink : link)(path, other) == 0);
        err = (struct msim_error){0};
        CHECK_INT(msim_file_open(&f, other, NULL, &err), MSIM_EUSAGE);
        CHECK_STR(err.file, other);
        CHECK(strstr(err.text, "that this run reads as '"));
        unlink(other);
    }
    CHECK_INT(msim_file_save(other, "x", 1, NULL, NULL), MSIM_OK);
    unlink(other);
    CHECK_STR(content(), "input");
    msim_files_read_forget(path);
    write_text("anew", false, MSIM_OK);
}

/* ---- sets ---------------------------------------------------------------- */

static enum msim_status add(struct msim_file_set *set, const char *name,
                            enum msim_status status)
{
    struct msim_file_how how = {.set = set};
    struct msim_file *f;

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    MSIM_TRY(msim_file_open(&f, path, &how, NULL));
    if (status == MSIM_OK)
        status = msim_file_write(f, name, strlen(name));
    return msim_file_close(f, status, NULL);
}

static void test_write_file__set(void)
{
    struct msim_file_set set = {{NULL, 0, 0}};

    CHECK_INT(add(&set, "a", MSIM_OK), MSIM_OK);
    CHECK_INT(add(&set, "b", MSIM_OK), MSIM_OK);
    CHECK(access(path, F_OK) != 0); /* not before its end */
    CHECK_INT(msim_file_set_end(&set, MSIM_OK, NULL), MSIM_OK);
    CHECK_STR(content(), "b");
    CHECK_INT(add(&set, "a", MSIM_OK), MSIM_OK);
    CHECK_INT(add(&set, "c", MSIM_EFORMAT), MSIM_EFORMAT);
    CHECK_INT(msim_file_set_end(&set, MSIM_EFORMAT, NULL), MSIM_EFORMAT);
    CHECK_UINT(files_in_folder(), 3); /* and what was there */
    /* One that cannot be renamed is alone. */
    CHECK_INT(add(&set, "b", MSIM_OK), MSIM_OK);
    CHECK_INT(add(&set, "c", MSIM_OK), MSIM_OK);
    CHECK_INT(add(&set, "a", MSIM_OK), MSIM_OK);
    snprintf(path, sizeof(path), "%s/c", folder);
    CHECK(mkdir(path, 0700) == 0);
    CHECK_INT(msim_file_set_end(&set, MSIM_OK, NULL), MSIM_EIO);
    CHECK(rmdir(path) == 0);
    CHECK_UINT(files_in_folder(), 3);
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof(path), "%s/%c", folder, "ab"[i]);
        CHECK(unlink(path) == 0);
    }
    snprintf(path, sizeof(path), "%s/out", folder);
}

/* ---- what killed processes left ------------------------------------------ */

/* A process that has ended. */
static pid_t gone(void)
{
    pid_t pid = fork();

    if (pid == 0)
        _exit(0);
    waitpid(pid, NULL, 0);
    return pid;
}

static bool leave(const char *of, pid_t writer, char *draft, size_t size)
{
    FILE *f;

    snprintf(draft, size, "%s/%s.part%ld-0", folder, of, (long)writer);
    f = fopen(draft, "w");
    return f && fclose(f) == 0;
}

static void test_write_file__removes_what_was_left(void)
{
    char left[200], alive[200], locked[200], other[200], no[200];
    int fd;

    REQUIRE(leave("out", gone(), left, sizeof(left)));
    REQUIRE(leave("out", getppid(), alive, sizeof(alive)));
    REQUIRE(leave("out", gone(), locked, sizeof(locked)));
    REQUIRE(leave("output", gone(), other, sizeof(other)));
    snprintf(no, sizeof(no), "%s/out.part12-", folder);
    fclose(fopen(no, "w"));
    fd = open(locked, O_WRONLY);
    CHECK(flock(fd, LOCK_EX) == 0);
    CHECK_INT(msim_file_save(path, "new", 3, NULL, NULL), MSIM_OK);
    close(fd);
    CHECK(access(left, F_OK) != 0);
    CHECK(unlink(alive) == 0);
    CHECK(unlink(locked) == 0);
    CHECK(unlink(other) == 0);
    CHECK(unlink(no) == 0);
}

static void test_write_file__keeps_the_mode(void)
{
    struct stat st;

    CHECK_INT(msim_file_save(path, "old", 3, NULL, NULL), MSIM_OK);
    CHECK(chmod(path, 0640) == 0);
    CHECK_INT(msim_file_save(path, "new", 3, NULL, NULL), MSIM_OK);
    CHECK(stat(path, &st) == 0);
    CHECK_INT(st.st_mode & 07777, 0640);
    CHECK(chmod(path, 0400) == 0);
    if (geteuid() != 0) /* root may */
        CHECK_INT(msim_file_save(path, "no", 2, NULL, NULL), MSIM_EIO);
    CHECK(chmod(path, 0600) == 0);
}

int main(void)
{
    if (!mkdtemp(folder))
        return 1;
    snprintf(path, sizeof(path), "%s/out", folder);
    RUN(test_write_file__replaces);
    RUN(test_write_file__failure_keeps_the_old);
    RUN(test_write_file__gzip);
    RUN(test_write_file__follows_links);
    RUN(test_write_file__devices_are_written_directly);
    RUN(test_write_file__says_why_not);
    RUN(test_write_file__says_that_the_disk_is_full);
    RUN(test_write_file__a_failure_stays);
    RUN(test_write_file__same);
    RUN(test_write_file__spares_what_was_read);
    RUN(test_write_file__set);
    RUN(test_write_file__removes_what_was_left);
    RUN(test_write_file__keeps_the_mode);
    unlink(path);
    rmdir(folder);
    return check_summary();
}
