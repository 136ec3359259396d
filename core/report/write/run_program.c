/*
 * core/report/write/run_program.c - run another program and wait for it.
 */
#include "core/report/write/run_program.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* The child's standard streams: its input, its output, its messages. */
static int set_streams(posix_spawn_file_actions_t *actions,
                       const struct msim_run_program *p, FILE *complaints)
{
    const char *output = p->output ? p->output : "/dev/null";
    int rc =
        p->input
            ? posix_spawn_file_actions_adddup2(actions, fileno(p->input), 0)
            : posix_spawn_file_actions_addopen(actions, 0, "/dev/null",
                                               O_RDONLY, 0);

    if (!rc)
        rc = posix_spawn_file_actions_addopen(actions, 1, output,
                                              O_WRONLY | O_TRUNC, 0);
    if (!rc)
        rc = posix_spawn_file_actions_adddup2(actions, fileno(complaints), 2);
    return rc;
}

/* Start it; 0 or an errno. */
static int start(pid_t *pid, const struct msim_run_program *p, FILE *complaints)
{
    posix_spawn_file_actions_t actions;
    int rc = posix_spawn_file_actions_init(&actions);

    if (rc)
        return rc;
    rc = set_streams(&actions, p, complaints);
    if (!rc)
        rc = posix_spawnp(pid, p->argv[0], &actions, NULL, p->argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    return rc;
}

/* The last line of `complaints` that is not empty. */
static void last_words(FILE *complaints, char *text, size_t size)
{
    char line[256];

    snprintf(text, size, "no reason given");
    rewind(complaints);
    while (fgets(line, sizeof(line), complaints)) {
        line[strcspn(line, "\n")] = '\0';
        if (line[strspn(line, " \t^")])
            snprintf(text, size, "%s", line + strspn(line, " \t"));
    }
}

static enum msim_status wait_for(pid_t pid, const struct msim_run_program *p,
                                 FILE *complaints, struct msim_error *err)
{
    char text[256];
    int how;

    while (waitpid(pid, &how, 0) < 0)
        if (errno != EINTR)
            return msim_fail(err, MSIM_EINTERNAL, NULL, MSIM_OFFSET_NONE,
                             "lost %s: %s", p->argv[0], strerror(errno));
    if (WIFEXITED(how) && WEXITSTATUS(how) == 0)
        return MSIM_OK;
    last_words(complaints, text, sizeof(text));
    return msim_fail(err, MSIM_EIO, NULL, MSIM_OFFSET_NONE, "%s: %s", p->failed,
                     text);
}

enum msim_status msim_program_run(const struct msim_run_program *p,
                                  struct msim_error *err)
{
    FILE *complaints = tmpfile();
    enum msim_status status;
    pid_t pid;
    int rc;

    if (!complaints ||
        (p->input && (fflush(p->input) != 0 ||
                      lseek(fileno(p->input), 0, SEEK_SET) != 0))) {
        if (complaints)
            fclose(complaints);
        return msim_fail(err, MSIM_EIO, NULL, MSIM_OFFSET_NONE,
                         "cannot use a temporary file: %s", strerror(errno));
    }
    rc = start(&pid, p, complaints);
    if (rc == 0)
        status = wait_for(pid, p, complaints, err);
    else
        status = msim_fail(err, MSIM_EIO, NULL, MSIM_OFFSET_NONE,
                           "cannot run '%s': %s; %s", p->argv[0], strerror(rc),
                           p->advice);
    fclose(complaints);
    return status;
}
