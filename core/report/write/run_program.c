/*
 * core/report/write/run_program.c - run another program and wait for it.
 */
#include "core/report/write/chart.h"

#include "core/base/containers.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

struct running {
    const struct msim_run_program *p;
    FILE *complaints;
    int out[2]; /* a pipe from its standard output */
    pid_t pid;
};

/* The child's standard streams: its input, its output, its messages. */
static int set_streams(posix_spawn_file_actions_t *actions,
                       const struct running *r)
{
    int rc =
        r->p->input
            ? posix_spawn_file_actions_adddup2(actions, fileno(r->p->input), 0)
            : posix_spawn_file_actions_addopen(actions, 0, "/dev/null",
                                               O_RDONLY, 0);

    if (!rc)
        rc = posix_spawn_file_actions_adddup2(actions, r->out[1], 1);
    if (!rc)
        rc =
            posix_spawn_file_actions_adddup2(actions, fileno(r->complaints), 2);
    return rc;
}

/* Start it; 0 or an errno. */
static int start(struct running *r)
{
    char *const *argv = r->p->argv;
    posix_spawn_file_actions_t actions;
    int rc = posix_spawn_file_actions_init(&actions);

    if (rc)
        return rc;
    rc = set_streams(&actions, r);
    if (!rc)
        rc = posix_spawnp(&r->pid, argv[0], &actions, NULL, argv, environ);
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

static enum msim_status wait_for(const struct running *r,
                                 struct msim_error *err)
{
    char text[256];
    int how;

    while (waitpid(r->pid, &how, 0) < 0)
        if (errno != EINTR)
            return msim_fail(err, MSIM_EINTERNAL, NULL, MSIM_OFFSET_NONE,
                             "lost %s: %s", r->p->argv[0], strerror(errno));
    if (WIFEXITED(how) && WEXITSTATUS(how) == 0)
        return MSIM_OK;
    last_words(r->complaints, text, sizeof(text));
    return msim_fail(err, MSIM_EIO, NULL, MSIM_OFFSET_NONE, "%s: %s",
                     r->p->failed, text);
}

/* All that comes out of the pipe. */
static enum msim_status read_output(const struct running *r,
                                    struct msim_vec *bytes)
{
    struct msim_text_piece piece;
    char some[1 << 16];
    ssize_t n;

    while ((n = read(r->out[0], some, sizeof(some))) != 0) {
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return MSIM_EIO;
        MSIM_TRY(msim_vec_text(bytes, some, (size_t)n, &piece));
        ((char *)bytes->data)[bytes->n] = '\0';
    }
    return MSIM_OK;
}

static enum msim_status run(struct running *r, struct msim_vec *bytes,
                            struct msim_error *err)
{
    enum msim_status status, end;
    int rc = start(r);

    close(r->out[1]);
    if (rc)
        return msim_fail(err, MSIM_EIO, NULL, MSIM_OFFSET_NONE,
                         "cannot run '%s': %s; %s", r->p->argv[0], strerror(rc),
                         r->p->advice);
    status = read_output(r, bytes);
    close(r->out[0]); /* it ends, where not all was read */
    r->out[0] = -1;
    end = wait_for(r, err);
    return status == MSIM_OK ? end : status;
}

/* Has the script reached the file that it was written to? */
static bool is_ready(FILE *input)
{
    return !input || (fflush(input) == 0 && !ferror(input) &&
                      lseek(fileno(input), 0, SEEK_SET) == 0);
}

enum msim_status msim_program_run(char **output, size_t *n,
                                  const struct msim_run_program *p,
                                  struct msim_error *err)
{
    struct running r = {.p = p, .complaints = tmpfile(), .out = {-1, -1}};
    struct msim_vec bytes = {NULL, 0, 0};
    enum msim_status status = MSIM_EWRITE;

    if (r.complaints && is_ready(p->input) && pipe2(r.out, O_CLOEXEC) == 0)
        status = run(&r, &bytes, err);
    else
        (void)msim_fail(err, status, NULL, MSIM_OFFSET_NONE,
                        "cannot use a temporary file: %s", strerror(errno));
    if (r.out[0] >= 0)
        close(r.out[0]);
    if (r.complaints)
        fclose(r.complaints);
    if (status != MSIM_OK)
        free(bytes.data);
    *output = status == MSIM_OK ? bytes.data : NULL;
    *n = bytes.n;
    return status;
}
