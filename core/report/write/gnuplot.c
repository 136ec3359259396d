/*
 * core/report/write/gnuplot.c - run gnuplot on a script.
 */
#include "core/report/write/gnuplot.h"

#include "core/base/write_file.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

void msim_gnuplot_quote(FILE *script, const char *text)
{
    fputc('\'', script);
    for (const char *s = text; *s; s++) {
        if (*s == '\'')
            fputc('\'', script);
        fputc(*s == '\n' || *s == '\r' ? ' ' : *s, script);
    }
    fputc('\'', script);
}

/* The child's standard streams: our script, the output, its messages. */
static int set_streams(posix_spawn_file_actions_t *actions, FILE *script,
                       const char *output, FILE *complaints)
{
    int rc = posix_spawn_file_actions_adddup2(actions, fileno(script), 0);

    if (!rc)
        rc = posix_spawn_file_actions_addopen(actions, 1, output,
                                              O_WRONLY | O_TRUNC, 0);
    if (!rc)
        rc = posix_spawn_file_actions_adddup2(actions, fileno(complaints), 2);
    return rc;
}

/* Start gnuplot; 0 or an errno. */
static int start(pid_t *pid, FILE *script, const char *output, FILE *complaints)
{
    /* Without -d the reader's own start-up file could change the chart. */
    char program[] = "gnuplot", defaults[] = "-d", input[] = "-";
    char *argv[] = {program, defaults, input, NULL};
    posix_spawn_file_actions_t actions;
    int rc = posix_spawn_file_actions_init(&actions);

    if (rc)
        return rc;
    rc = set_streams(&actions, script, output, complaints);
    if (!rc)
        rc = posix_spawnp(pid, program, &actions, NULL, argv, environ);
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

static enum msim_status wait_for(pid_t pid, FILE *complaints,
                                 struct msim_error *err)
{
    char text[256];
    int how;

    while (waitpid(pid, &how, 0) < 0)
        if (errno != EINTR)
            return msim_fail(err, MSIM_EINTERNAL, NULL, MSIM_OFFSET_NONE,
                             "lost gnuplot: %s", strerror(errno));
    if (WIFEXITED(how) && WEXITSTATUS(how) == 0)
        return MSIM_OK;
    last_words(complaints, text, sizeof(text));
    return msim_fail(err, MSIM_EIO, NULL, MSIM_OFFSET_NONE,
                     "gnuplot could not draw the chart: %s", text);
}

enum msim_status msim_gnuplot_run(FILE *script, const char *output,
                                  struct msim_error *err)
{
    FILE *complaints = tmpfile();
    enum msim_status status;
    pid_t pid;
    int rc;

    if (!complaints || fflush(script) != 0 ||
        lseek(fileno(script), 0, SEEK_SET) != 0) {
        if (complaints)
            fclose(complaints);
        return msim_fail(err, MSIM_EIO, NULL, MSIM_OFFSET_NONE,
                         "cannot use a temporary file: %s", strerror(errno));
    }
    rc = start(&pid, script, output, complaints);
    if (rc == 0)
        status = wait_for(pid, complaints, err);
    else
        status = msim_fail(err, MSIM_EIO, NULL, MSIM_OFFSET_NONE,
                           "cannot run 'gnuplot': %s; charts need it, install "
                           "it (Debian: apt install gnuplot-nox)",
                           strerror(rc));
    fclose(complaints);
    return status;
}

enum msim_status msim_gnuplot_draw(FILE *script, const char *path,
                                   struct msim_error *err)
{
    struct msim_file *file;
    enum msim_status status;

    MSIM_TRY(msim_file_open(&file, path, false, err));
    status = msim_gnuplot_run(script, msim_file_draft(file), err);
    if (status == MSIM_OK)
        return msim_file_commit(file, err);
    msim_file_abandon(file);
    return status;
}
