/*
 * Where the data folder is, and programs beside this one. A copy of this
 * program, in a folder made for it, says what it finds.
 */
#include "cli/cmd.h"

#include "cli/calibrate/program_beside.h"
#include "tests/check.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = P_tmpdir "/msim-data-XXXXXX";

static const char *path_of(const char *name)
{
    static char paths[4][128];
    static int next;
    char *path = paths[next++ % 4];

    snprintf(path, sizeof(paths[0]), "%s%s", folder, name);
    return path;
}

static void copy_self(const char *to)
{
    static char bytes[1 << 16];
    FILE *in = fopen("/proc/self/exe", "r"), *out = fopen(to, "w");
    size_t n;

    if (!in || !out)
        abort();
    while ((n = fread(bytes, 1, sizeof(bytes), in)) > 0)
        if (fwrite(bytes, 1, n, out) != n)
            abort();
    fclose(in);
    if (fclose(out) != 0)
        abort();
    chmod(to, 0700);
}

/* What the copy finds: a folder, or "!" and why there is none. */
static const char *found(void)
{
    static char text[1024];
    FILE *out = popen(path_of("/bin/copy find"), "r");

    if (!out || !fgets(text, sizeof(text), out))
        text[0] = '\0';
    if (out)
        pclose(out);
    return text;
}

/* In the order of the header, as far as they hold platforms/. */
static void test_find__in_order(void)
{
    static const char *const FOLDERS[] = {"/bin", "/data", "/share",
                                          "/share/mystique-sim", "/mine"};

    unsetenv("MSIM_DATA");
    for (size_t i = 0; i < sizeof(FOLDERS) / sizeof(*FOLDERS); i++)
        CHECK_INT(mkdir(path_of(FOLDERS[i]), 0700), 0);
    copy_self(path_of("/bin/copy"));
    CHECK_INT(found()[0], '/'); /* that of the sources, not here */
    CHECK(strncmp(found(), folder, strlen(folder)) != 0);
    CHECK_INT(mkdir(path_of("/data/platforms"), 0700), 0);
    CHECK_STR(found(), path_of("/bin/../data"));
    CHECK_INT(mkdir(path_of("/share/mystique-sim/platforms"), 0700), 0);
    CHECK_STR(found(), path_of("/bin/../share/mystique-sim"));
    setenv("MSIM_DATA", "", 1); /* is none */
    CHECK_STR(found(), path_of("/bin/../share/mystique-sim"));
    setenv("MSIM_DATA", path_of("/data"), 1);
    CHECK_STR(found(), path_of("/data"));
    setenv("MSIM_DATA", path_of("/mine"), 1);
    CHECK(strncmp(found(), "!the environment's MSIM_DATA is '", 33) == 0);
    CHECK(strstr(found(), "/mine', want a folder that holds platforms/"));
}

/* A path for which there is no room is none. */
static void test_find__room(void)
{
    char path[64];
    size_t n;

    setenv("MSIM_DATA", path_of("/data"), 1);
    n = strlen(path_of("/data"));
    CHECK_INT(msim_datadir_find(path, n + 1, NULL), MSIM_OK);
    CHECK_INT(msim_datadir_find(path, n, NULL), MSIM_EUNKNOWN);
}

/* The folder of the program, and of a name at most 63 bytes. */
static void test_beside__this(void)
{
    char self[PATH_MAX], path[PATH_MAX], name[64], want[PATH_MAX + 128];
    ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

    REQUIRE(n > 0);
    self[n] = '\0';
    *strrchr(self, '/') = '\0';
    msim_beside_path(path, "msim-learn");
    snprintf(want, sizeof(want), "%s/msim-learn", self);
    CHECK_STR(path, want);
    memset(name, 'n', sizeof(name) - 1);
    name[63] = '\0';
    memset(path, 'x', sizeof(path)); /* what was there before */
    msim_beside_path(path, name);
    snprintf(want, sizeof(want), "%s/%s", self, name);
    CHECK_STR(path, want);
    msim_beside_path(path, "");
    snprintf(want, sizeof(want), "%s/", self);
    CHECK_STR(path, want);
}

static int find(void)
{
    struct msim_error err = {0};
    char path[PATH_MAX];

    if (msim_datadir_find(path, sizeof(path), &err) == MSIM_OK)
        printf("%s", path);
    else
        printf("!%s", err.text);
    return 0;
}

int main(int argc, char **argv)
{
    static const char *const MADE[] = {"/bin/copy",
                                       "/share/mystique-sim/platforms",
                                       "/share/mystique-sim",
                                       "/share",
                                       "/data/platforms",
                                       "/data",
                                       "/mine",
                                       "/bin",
                                       ""};

    if (argc == 2 && strcmp(argv[1], "find") == 0)
        return find();
    if (!mkdtemp(folder))
        return 1;
    RUN(test_find__in_order);
    RUN(test_find__room);
    RUN(test_beside__this);
    for (size_t i = 0; i < sizeof(MADE) / sizeof(*MADE); i++)
        CHECK_INT(remove(path_of(MADE[i])), 0);
    return check_summary();
}
