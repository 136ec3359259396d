/*
 * cli/capture/capture_model.c - capture.py as a process.
 */
#include "cli/capture/capture_model.h"

#include "core/base/files.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define SAID 8192 /* bytes of what Python said that are looked at: the last */
/* How capture.py, and its options, begin what they say. */
#define NAMED   "capture.py: "
#define REFUSED "error: "
#define WARNED  NAMED "warning: "

extern char **environ;

static bool joined(char path[PATH_MAX], const char *folder, const char *name)
{
    int n = snprintf(path, PATH_MAX, "%s/%s", folder, name);

    return n > 0 && n < PATH_MAX;
}

/* Installed it lies in the data folder; in the sources, beside it. */
static enum msim_status find_script(char path[PATH_MAX], const char *data,
                                    struct msim_error *err)
{
    if (joined(path, data, "capture.py") && access(path, R_OK) == 0)
        return MSIM_OK;
    if (joined(path, data, "../scripts/capture.py") && access(path, R_OK) == 0)
        return MSIM_OK;
    return msim_fail(err, MSIM_EUNKNOWN, NULL, MSIM_OFFSET_NONE,
                     "no capture.py in '%s' or in scripts beside it: "
                     "'--model' needs it",
                     data);
}

static enum msim_status make_folder(struct msim_captured *c,
                                    struct msim_error *err)
{
    const char *base = getenv("TMPDIR");

    if (!base || !base[0])
        base = "/tmp";
    if (!joined(c->folder, base, "mystique-sim.XXXXXX") ||
        !mkdtemp(c->folder)) {
        c->folder[0] = '\0';
        return msim_fail(err, MSIM_EIO, base, MSIM_OFFSET_NONE,
                         "cannot make a folder here: %s", strerror(errno));
    }
    if (joined(c->path, c->folder, "model.json.gz") &&
        joined(c->said, c->folder, "said"))
        return MSIM_OK;
    return msim_fail(err, MSIM_ELIMIT, base, MSIM_OFFSET_NONE,
                     "the path is too long");
}

/* Start it, its output to nowhere, its messages to a file. */
static int spawn(pid_t *pid, const struct msim_captured *c, const char *python,
                 const char *script, const char *model)
{
    char device[] = "--device=meta", name[] = "--model", out[] = "--out";
    char *argv[] = {(char *)python,  (char *)script,
                    device,          name,
                    (char *)model,   out,
                    (char *)c->path, NULL};
    posix_spawn_file_actions_t actions;
    int rc;

    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null",
                                     O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null",
                                     O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, c->said,
                                     O_WRONLY | O_CREAT | O_TRUNC, 0600);
    rc = posix_spawnp(pid, python, &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    return rc;
}

/* The last part of what was said, as text. */
static void read_said(const char *path, char text[SAID])
{
    FILE *file = fopen(path, "r");
    size_t n = 0;

    if (file) {
        if (fseek(file, -(SAID - 1), SEEK_END) != 0)
            rewind(file);
        n = fread(text, 1, SAID - 1, file);
        fclose(file);
    }
    text[n] = '\0';
}

/* The line that says why: capture.py's own, else the last one. */
static const char *why(char text[SAID])
{
    char *named = NULL, *next;

    for (char *at = strstr(text, NAMED); at; at = strstr(at + 1, NAMED))
        named = at;
    for (char *end = text + strlen(text); end > text && end[-1] == '\n';)
        *--end = '\0';
    if (!named) {
        next = strrchr(text, '\n');
        return next ? next + 1 : text;
    }
    named += strlen(NAMED);
    if (strncmp(named, REFUSED, strlen(REFUSED)) == 0)
        named += strlen(REFUSED);
    next = strchr(named, '\n');
    if (next)
        *next = '\0';
    return named;
}

static enum msim_status failed(const struct msim_captured *c, int how,
                               const char *model, struct msim_error *err)
{
    char text[SAID];
    bool usage = WIFEXITED(how) && WEXITSTATUS(how) == 2;

    if (WIFSIGNALED(how))
        return msim_fail(err, MSIM_EFORMAT, NULL, MSIM_OFFSET_NONE,
                         "cannot record '%s': Python was ended by signal %d",
                         model, WTERMSIG(how));
    read_said(c->said, text);
    return msim_fail(err, usage ? MSIM_EUSAGE : MSIM_EFORMAT, NULL,
                     MSIM_OFFSET_NONE, "cannot record '%s': %s", model,
                     why(text));
}

static enum msim_status record(const struct msim_captured *c,
                               const char *script, const char *model,
                               struct msim_error *err)
{
    const char *python = getenv("PYTHON");
    int rc, how = 0;
    pid_t pid;

    if (!python || !python[0])
        python = "python3";
    rc = spawn(&pid, c, python, script, model);
    if (rc != 0)
        return msim_fail(err, MSIM_EIO, python, MSIM_OFFSET_NONE,
                         "cannot be started (%s): '--model' needs Python with "
                         "PyTorch, the environment's PYTHON says where",
                         strerror(rc));
    while (waitpid(pid, &how, 0) < 0 && errno == EINTR)
        ;
    if (WIFEXITED(how) && WEXITSTATUS(how) == 0)
        return MSIM_OK;
    return failed(c, how, model, err);
}

/* FILE.py:FUNCTION, or another file; what is none is not noted. */
static enum msim_status note_read(const char *model, struct msim_error *err)
{
    char path[PATH_MAX];

    snprintf(path, sizeof(path), "%.*s", (int)strcspn(model, ":"), model);
    MSIM_TRY(msim_files_read_note(path, err));
    return msim_files_read_note(model, err);
}

enum msim_status msim_capture_model(struct msim_captured *c, const char *data,
                                    const char *model, struct msim_error *err)
{
    char script[PATH_MAX];
    enum msim_status status = note_read(model, err);

    if (status == MSIM_OK)
        status = find_script(script, data, err);
    if (status == MSIM_OK)
        status = make_folder(c, err);
    return status == MSIM_OK ? record(c, script, model, err) : status;
}

void msim_captured_warnings(const struct msim_captured *c,
                            void (*show)(const char *text))
{
    char text[SAID], *rest = NULL;

    read_said(c->said, text);
    for (char *line = strtok_r(text, "\n", &rest); line;
         line = strtok_r(NULL, "\n", &rest))
        if (strncmp(line, WARNED, strlen(WARNED)) == 0)
            show(line + strlen(WARNED));
}

void msim_captured_release(struct msim_captured *c)
{
    if (!c->folder[0])
        return;
    unlink(c->path);
    unlink(c->said);
    rmdir(c->folder);
    c->folder[0] = '\0';
}
