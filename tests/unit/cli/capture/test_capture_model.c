/*
 * capture.py as a process, in whose place a shell script stands.
 */
#include "cli/capture/capture_model.h"

#include "core/base/files.h"
#include "tests/check.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define MODEL "net.py:build"

static char folder[] = P_tmpdir "/msim-capture-XXXXXX";
static char python[64], data[64], script[64];

static void write_file(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");

    REQUIRE(f != NULL);
    fputs(text, f);
    fclose(f);
    chmod(path, 0700);
}

/* The answer of a Python that does `what`. */
static enum msim_status capture(struct msim_captured *c, const char *what,
                                struct msim_error *err)
{
    char text[1024];

    *c = (struct msim_captured){0};
    *err = (struct msim_error){0};
    snprintf(text, sizeof(text), "#!/bin/sh\n%s\n", what);
    write_file(python, text);
    setenv("PYTHON", python, 1);
    return msim_capture_model(c, data, MODEL, err);
}

static const char *said_of(const struct msim_captured *c)
{
    static char text[512];
    FILE *f = fopen(c->said, "r");
    size_t n = f ? fread(text, 1, sizeof(text) - 1, f) : 0;

    text[n] = '\0';
    if (f)
        fclose(f);
    return text;
}

/* ---- what is started ----------------------------------------------------- */

static void check_asked(const struct msim_captured *c, const char *of)
{
    char want[2 * PATH_MAX];

    snprintf(want, sizeof(want),
             "%s --device=meta --model " MODEL " --out %s\n", of, c->path);
    CHECK_STR(said_of(c), want);
    CHECK(strncmp(c->path, folder, strlen(folder)) == 0);
    CHECK(strstr(c->path, "/model.json.gz") != NULL);
}

/* The trace lies in a folder of its own, which goes with it. */
static void test_capture__recorded(void)
{
    struct msim_captured c;
    struct msim_error err;
    char gone[PATH_MAX];

    CHECK_INT(capture(&c, "echo out; echo \"$@\" >&2; echo x >\"$6\"", &err),
              MSIM_OK);
    check_asked(&c, script);
    CHECK_INT(access(c.path, R_OK), 0);
    snprintf(gone, sizeof(gone), "%s", c.folder);
    msim_captured_release(&c);
    CHECK(access(gone, F_OK) != 0);
    CHECK_STR(c.folder, "");
    msim_captured_release(&c);
}

/* What is read of the model is no file to write to. */
static void test_capture__is_read(void)
{
    struct msim_captured c = {0};
    struct msim_error err;
    char path[128], model[160];

    CHECK_INT(capture(&c, "true", &err), MSIM_OK);
    msim_captured_release(&c);
    snprintf(path, sizeof(path), "%s/net.py", folder);
    snprintf(model, sizeof(model), "%s:build", path);
    write_file(path, "");
    CHECK_INT(msim_files_read_spare(path, NULL), MSIM_OK);
    CHECK_INT(msim_capture_model(&c, data, model, &err), MSIM_OK);
    CHECK_INT(msim_files_read_spare(path, NULL), MSIM_EUSAGE);
    msim_captured_release(&c);
    msim_files_read_release();
    unlink(path);
}

/* Without $PYTHON it is python3 of $PATH; an empty one is none. */
static void test_capture__which_python(void)
{
    struct msim_captured c = {0};
    struct msim_error err = {0};
    char path[128], *kept = strdup(getenv("PATH"));

    snprintf(path, sizeof(path), "%s/python3", folder);
    write_file(path, "#!/bin/sh\necho three >&2\n");
    snprintf(path, sizeof(path), "%s:/bin:/usr/bin", folder);
    setenv("PATH", path, 1);
    for (int empty = 0; empty < 2; empty++) {
        if (empty)
            setenv("PYTHON", "", 1);
        else
            unsetenv("PYTHON");
        CHECK_INT(msim_capture_model(&c, data, MODEL, &err), MSIM_OK);
        CHECK_STR(said_of(&c), "three\n");
        msim_captured_release(&c);
    }
    setenv("PATH", kept, 1);
    free(kept);
    snprintf(path, sizeof(path), "%s/python3", folder);
    unlink(path);
    setenv("PYTHON", "/no/such/python", 1);
    CHECK_INT(msim_capture_model(&c, data, MODEL, &err), MSIM_EIO);
    CHECK_STR(err.file, "/no/such/python");
    CHECK_STR(err.text,
              "cannot be started (No such file or directory): '--model' needs "
              "Python with PyTorch, the environment's PYTHON says where");
    msim_captured_release(&c);
}

/* capture.py is in the data folder, else in scripts/ beside it. */
static void test_capture__which_script(void)
{
    struct msim_captured c;
    struct msim_error err;
    char other[128], beside[128];

    unlink(script);
    CHECK_INT(capture(&c, "true", &err), MSIM_EUNKNOWN);
    snprintf(other, sizeof(other),
             "no capture.py in '%s' or in scripts beside it: '--model' needs "
             "it",
             data);
    CHECK_STR(err.text, other);
    snprintf(other, sizeof(other), "%s/scripts", folder);
    snprintf(beside, sizeof(beside), "%s/scripts/capture.py", folder);
    mkdir(other, 0700);
    write_file(beside, "");
    CHECK_INT(capture(&c, "echo \"$@\" >&2", &err), MSIM_OK);
    snprintf(other, sizeof(other), "%s/../scripts/capture.py", data);
    check_asked(&c, other);
    msim_captured_release(&c);
    unlink(beside);
    snprintf(other, sizeof(other), "%s/scripts", folder);
    rmdir(other);
    write_file(script, "");
}

/* An empty $TMPDIR is none. */
static void test_capture__which_folder(void)
{
    struct msim_captured c;
    struct msim_error err;
    char *kept = strdup(getenv("TMPDIR")), *longer = calloc(1, PATH_MAX);
    size_t n, most = PATH_MAX - strlen("/mystique-sim.XXXXXX");

    setenv("TMPDIR", "/no/such/folder", 1);
    CHECK_INT(capture(&c, "true", &err), MSIM_EIO);
    CHECK_STR(err.file, "/no/such/folder");
    CHECK_STR(err.text, "cannot make a folder here: No such file or directory");
    CHECK_STR(c.folder, "");
    setenv("TMPDIR", "", 1);
    CHECK_INT(capture(&c, "true", &err), MSIM_OK);
    CHECK(strncmp(c.folder, P_tmpdir "/mystique-sim.",
                  strlen(P_tmpdir "/mystique-sim.")) == 0);
    msim_captured_release(&c);
    /* a folder for which there is room, and none for what lies in it */
    snprintf(longer, PATH_MAX, "%s", kept);
    for (n = strlen(longer); n + 2 < most; n += 2)
        memcpy(longer + n, "/.", 2);
    setenv("TMPDIR", longer, 1);
    CHECK_INT(capture(&c, "true", &err), MSIM_ELIMIT);
    CHECK_STR(err.text, "the path is too long");
    msim_captured_release(&c);
    setenv("TMPDIR", kept, 1);
    free(longer);
    free(kept);
}

/* ---- what it says -------------------------------------------------------- */

static void test_capture__why_not(void)
{
    static const struct {
        const char *what;
        enum msim_status status;
        const char *why;
    } ROWS[] = {
        {"echo 'capture.py: no such file' >&2; exit 1", MSIM_EFORMAT,
         "no such file"},
        {"echo 'usage: a'; echo 'capture.py: error: no model' >&2; exit 2",
         MSIM_EUSAGE, "no model"},
        {"printf 'x\\ncapture.py: a\\ncapture.py: b\\nmore\\n' >&2; exit 1",
         MSIM_EFORMAT, "b"},
        {"printf 'Traceback:\\n  File\\nValueError: 3\\n\\n' >&2; exit 1",
         MSIM_EFORMAT, "ValueError: 3"},
        {"printf 'one line' >&2; exit 3", MSIM_EFORMAT, "one line"},
        {"printf '\\n\\n' >&2; exit 1", MSIM_EFORMAT, ""},
        {"exit 1", MSIM_EFORMAT, ""},
        {"kill -9 $$", MSIM_EFORMAT, "Python was ended by signal 9"},
        /* of a long text the last 8191 bytes: what is named before is not */
        {"echo 'capture.py: a' >&2; printf '%08176d\\n' 7 >&2; exit 1",
         MSIM_EFORMAT, "a"},
        {"echo 'capture.py: a' >&2; printf '%08172d\\nlast\\n' 7 >&2; exit 1",
         MSIM_EFORMAT, "last"},
    };

    for (size_t i = 0; i < sizeof(ROWS) / sizeof(*ROWS); i++) {
        struct msim_captured c;
        struct msim_error err;
        char want[256];

        CHECK_INT(capture(&c, ROWS[i].what, &err), ROWS[i].status);
        snprintf(want, sizeof(want), "cannot record '" MODEL "': %s",
                 ROWS[i].why);
        CHECK_STR(err.text, want);
        msim_captured_release(&c);
    }
}

static char shown[256];

static void show(const char *text)
{
    size_t n = strlen(shown);

    snprintf(shown + n, sizeof(shown) - n, "%s;", text);
}

static void test_captured__warnings(void)
{
    struct msim_captured c;
    struct msim_error err;

    CHECK_INT(capture(&c,
                      "printf 'other\\ncapture.py: warning: a\\ncapture.py: "
                      "b\\n x capture.py: warning: c\\ncapture.py: warning: "
                      "d e' >&2",
                      &err),
              MSIM_OK);
    msim_captured_warnings(&c, show);
    CHECK_STR(shown, "a;d e;");
    msim_captured_release(&c);
    shown[0] = '\0';
    msim_captured_warnings(&c, show); /* what is gone says nothing */
    CHECK_STR(shown, "");
}

int main(void)
{
    if (!mkdtemp(folder))
        return 1;
    snprintf(python, sizeof(python), "%s/python", folder);
    snprintf(data, sizeof(data), "%s/data", folder);
    snprintf(script, sizeof(script), "%s/data/capture.py", folder);
    mkdir(data, 0700);
    write_file(script, "");
    setenv("TMPDIR", folder, 1);
    RUN(test_capture__recorded);
    RUN(test_capture__is_read);
    RUN(test_capture__which_python);
    RUN(test_capture__which_script);
    RUN(test_capture__which_folder);
    RUN(test_capture__why_not);
    RUN(test_captured__warnings);
    unlink(script);
    unlink(python);
    rmdir(data);
    CHECK_INT(rmdir(folder), 0); /* nothing is left in it */
    return check_summary();
}
