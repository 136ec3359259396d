/*
 * Backends by their names: shares of a budget, what is not there, and limits.
 * No profiler lies beside this program, but those that the test puts there.
 */
#include "profilers/ask/backend_child.h"
#include "tests/check.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static struct msim_backends found;
static struct msim_error err;

static enum msim_status find(const char *names)
{
    err = (struct msim_error){0};
    return msim_backends_find(&found, names, &err);
}

/* A command line has a space or a '/'; each has 0.8 of the budget. */
static void test_find_backends__command_lines(void)
{
    static const char *const WANT[] = {"a b", "./c", "/d"};

    CHECK_INT(find("a b,./c,/d"), MSIM_OK);
    REQUIRE(found.n == 3);
    for (int i = 0; i < 3; i++) {
        CHECK_STR(found.list[i].command, WANT[i]);
        CHECK_REL(found.list[i].share, 0.8, 0);
    }
    CHECK(!found.warning);
    CHECK_INT(find("/d"), MSIM_OK); /* the last are forgotten */
    CHECK_UINT(found.n, 1);
    /* eight at most */
    CHECK_INT(find("/1,/2,/3,/4,/5,/6,/7,/8,/9"), MSIM_OK);
    CHECK_UINT(found.n, MSIM_BACKENDS);
    CHECK_STR(found.list[7].command, "/8");
}

static void test_find_backends__long_lines(void)
{
    static char line[MSIM_BACKEND_LINE + 1];
    char want[128];

    memset(line, '/', sizeof(line) - 1);
    snprintf(want, sizeof(want),
             "a backend's command line has %d bytes, want at most %d",
             MSIM_BACKEND_LINE, MSIM_BACKEND_LINE - 1);
    CHECK_INT(find(line), MSIM_EUSAGE);
    CHECK_STR(err.text, want);
    line[MSIM_BACKEND_LINE - 1] = '\0';
    CHECK_INT(find(line), MSIM_OK);
    REQUIRE(found.n == 1);
    CHECK_STR(found.list[0].command, line);
}

static void test_find_backends__not_there(void)
{
    CHECK_INT(find("/a,nothing,/b"), MSIM_ENOMODEL);
    CHECK_STR(err.text,
              "no backend 'nothing': no program 'mystique-prof-nothing' beside "
              "this one, want cpu, cuda, or a command line with a space or a "
              "'/' in it");
    CHECK_UINT(found.n, 1);
    CHECK_INT(find(""), MSIM_ENOMODEL);
    setenv("MSIM_PYTHON", "false", 1);
    CHECK_INT(find("torch"), MSIM_ENOMODEL);
    CHECK_STR(err.text, "no backend 'torch': 'python3 -c \"import torch\"' "
                        "fails; the environment's MSIM_PYTHON may name another "
                        "Python");
}

/* A Python that says yes to all. */
static void test_find_backends__torch(void)
{
    setenv("MSIM_PYTHON", "true", 1);
    CHECK_INT(find("torch"), MSIM_OK);
    REQUIRE(found.n == 1);
    CHECK_REL(found.list[0].share, 0.8, 0);
    CHECK(strncmp(found.list[0].command, "exec 'true' '", 13) == 0 ||
          strncmp(found.list[0].command, "exec true ", 10) == 0);
    CHECK(strstr(found.list[0].command, "prof_torch.py"));
    CHECK(!strstr(found.list[0].command, "--device"));
    /* it finds a GPU, too, and no program for GPUs is there */
    CHECK_INT(find(NULL), MSIM_OK);
    REQUIRE(found.n == 1);
    CHECK(strstr(found.list[0].command, "--device "));
    CHECK(strstr(found.list[0].command, "cuda"));
    CHECK_STR(found.warning, "PyTorch finds a GPU, mystique-prof-cuda none; "
                             "goes on without that");
}

/* A program beside this one, with exit code `rc`. */
static bool put(char *path, size_t size, const char *name, int rc)
{
    ssize_t n = readlink("/proc/self/exe", path, size - 1);
    FILE *f;

    path[n > 0 ? n : 0] = '\0';
    if (!strrchr(path, '/'))
        return false;
    n = strrchr(path, '/') + 1 - path;
    snprintf(path + n, size - (size_t)n, "%s", name);
    f = fopen(path, "wbx"); /* one that is there is not touched */
    if (!f)
        return false;
    fprintf(f, "#!/bin/sh\nexit %d\n", rc);
    return fclose(f) == 0 && chmod(path, 0700) == 0;
}

static void test_find_backends__beside_this_program(void)
{
    char path[1200];

    CHECK_STR(msim_backends_device(), "cpu");
    if (!put(path, sizeof(path), "mystique-prof-cuda", 0))
        SKIP("a program lies beside this one");
    CHECK_STR(msim_backends_device(), "cuda");
    CHECK_INT(find("cuda"), MSIM_OK);
    CHECK_UINT(found.n, 1);
    CHECK(strncmp(found.list[0].command, "exec ", 5) == 0 &&
          strstr(found.list[0].command, path));
    setenv("MSIM_PYTHON", "true", 1); /* PyTorch first */
    CHECK_INT(find(NULL), MSIM_OK);
    REQUIRE(found.n == 2);
    CHECK(strstr(found.list[0].command, "--device "));
    CHECK(strstr(found.list[1].command, path));
    CHECK(!found.warning);
    setenv("MSIM_PYTHON", "false", 1);
    CHECK_INT(find(NULL), MSIM_OK);
    CHECK_UINT(found.n, 1);
    unlink(path);
    /* one that finds no device */
    REQUIRE(put(path, sizeof(path), "mystique-prof-cuda", 2));
    CHECK_STR(msim_backends_device(), "cpu");
    CHECK_INT(find(NULL), MSIM_ENOMODEL);
    unlink(path);
}

int main(void)
{
    RUN(test_find_backends__command_lines);
    RUN(test_find_backends__long_lines);
    RUN(test_find_backends__not_there);
    RUN(test_find_backends__torch);
    RUN(test_find_backends__beside_this_program);
    return check_summary();
}
