/*
 * profilers/ask/backend_child.c - a backend as a child process.
 *
 * The child leads a process group of its own, so that a shell or mpirun is
 * killed with everything below it.
 */
#include "profilers/ask/backend_child.h"

#include "profilers/serve.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LINE_MAX      (64u << 20)
#define GRACE_SECONDS 2.0 /* for a process to end by itself */

extern char **environ;

double msim_child_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- beginning and end --------------------------------------------------- */

static void close_pipes(struct msim_child *c)
{
    if (c->to > 0)
        close(c->to);
    if (c->from > 0)
        close(c->from);
    c->to = c->from = 0;
}

/* Wait up to `seconds` for the child's end; true with its status in `how`. */
static bool reap(struct msim_child *c, double seconds, int *how)
{
    double end = msim_child_now() + seconds;
    const struct timespec pause = {.tv_nsec = 2000000};

    for (;;) {
        pid_t done = waitpid(c->pid, how, WNOHANG);

        if (done == c->pid || (done < 0 && errno != EINTR)) {
            c->pid = 0;
            return true;
        }
        if (msim_child_now() >= end)
            return false;
        nanosleep(&pause, NULL);
    }
}

/* End the whole process group; `kindly`: after it had time to end itself. */
static void end_process(struct msim_child *c, bool kindly, int *how)
{
    *how = 0;
    if (c->pid == 0)
        return;
    if (kindly && reap(c, GRACE_SECONDS, how))
        return;
    kill(-c->pid, SIGTERM);
    if (reap(c, GRACE_SECONDS / 4, how))
        return;
    kill(-c->pid, SIGKILL);
    kill(c->pid, SIGKILL);
    while (!reap(c, GRACE_SECONDS, how))
        ;
}

void msim_child_stop(struct msim_child *c)
{
    int how;

    close_pipes(c);
    end_process(c, true, &how);
    free(c->buffer);
    *c = (struct msim_child){0};
}

/* The child inherits neither end: spawn() duplicates the two that it wants. */
static bool make_pipe(int ends[2])
{
    return pipe2(ends, O_CLOEXEC) == 0;
}

static int spawn(struct msim_child *c, const char *command, int in, int out)
{
    char shell[] = "sh", option[] = "-c", run[] = "exec \"$0\"";
    /* a program takes the shell's place, so that it ends with this one */
    bool is_program = access(command, X_OK) == 0;
    char *argv[] = {shell, option, is_program ? run : (char *)command,
                    is_program ? (char *)command : NULL, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t defaults;
    int rc;

    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
    posix_spawnattr_init(&attributes);
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGPIPE);
    posix_spawnattr_setsigdefault(&attributes, &defaults);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setflags(&attributes,
                             POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF);
    rc = posix_spawn(&c->pid, "/bin/sh", &actions, &attributes, argv, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    if (rc != 0)
        c->pid = 0;
    return rc;
}

static enum msim_status start(struct msim_child *c, const char *command,
                              struct msim_error *err)
{
    int in[2], out[2], rc;

    if (!make_pipe(in))
        return MSIM_EIO;
    if (!make_pipe(out)) {
        close(in[0]);
        close(in[1]);
        return MSIM_EIO;
    }
    rc = spawn(c, command, in[0], out[1]);
    close(in[0]);
    close(out[1]);
    c->to = in[1];
    c->from = out[0];
    if (rc == 0)
        return MSIM_OK;
    return msim_fail(err, MSIM_EIO, NULL, MSIM_OFFSET_NONE,
                     "'%s' cannot be started: %s", command, strerror(rc));
}

/* ---- lines --------------------------------------------------------------- */

/* The child ended: fail with how it did. */
static enum msim_status died(struct msim_child *c, struct msim_error *err)
{
    int how, signal;

    close_pipes(c);
    end_process(c, true, &how);
    /* A shell ends with 128 and the signal of what it ran. */
    signal = WIFSIGNALED(how) ? WTERMSIG(how) : WEXITSTATUS(how) - 128;
    c->unusable = WIFEXITED(how) && WEXITSTATUS(how) == MSIM_SERVE_UNUSABLE;
    if (signal > 0)
        return msim_fail(err, MSIM_EIO, NULL, MSIM_OFFSET_NONE,
                         "the backend was killed by signal %d", signal);
    return msim_fail(err, MSIM_EIO, NULL, MSIM_OFFSET_NONE,
                     "the backend ended with exit code %d", WEXITSTATUS(how));
}

static enum msim_status hung(struct msim_child *c, double seconds,
                             struct msim_error *err)
{
    int how;

    close_pipes(c);
    end_process(c, false, &how);
    return msim_fail(err, MSIM_ELIMIT, NULL, MSIM_OFFSET_NONE,
                     "the backend did not answer within %.3g s", seconds);
}

/* Take the first line out of the buffer; NULL where it holds none. */
static cJSON *take_line(struct msim_child *c, bool *found)
{
    char *end = c->used ? memchr(c->buffer, '\n', c->used) : NULL;
    cJSON *line = NULL;
    size_t n;

    *found = end != NULL;
    if (!end)
        return NULL;
    n = (size_t)(end - c->buffer) + 1;
    line = cJSON_ParseWithLength(c->buffer, n - 1);
    memmove(c->buffer, c->buffer + n, c->used - n);
    c->used -= n;
    return line;
}

static enum msim_status make_room(struct msim_child *c)
{
    size_t size = c->size ? 2 * c->size : 65536;
    char *bytes;

    if (c->size - c->used >= 4096)
        return MSIM_OK;
    if (size > LINE_MAX)
        return MSIM_ELIMIT;
    bytes = realloc(c->buffer, size);
    if (!bytes)
        return MSIM_ENOMEM;
    c->buffer = bytes;
    c->size = size;
    return MSIM_OK;
}

/* More bytes into the buffer: how many, 0 at the end, -1 where time is up. */
static ssize_t read_more(struct msim_child *c, double end)
{
    struct pollfd p = {.fd = c->from, .events = POLLIN};

    for (;;) {
        double left = end - msim_child_now();
        int ready;

        if (left <= 0)
            return -1;
        ready = poll(&p, 1, left > 3600 ? 3600000 : (int)(left * 1000) + 1);
        if (ready > 0) {
            ssize_t n = read(c->from, c->buffer + c->used, c->size - c->used);

            if (n < 0 && errno == EINTR)
                continue;
            return n < 0 ? 0 : n;
        }
    }
}

static enum msim_status read_answer(struct msim_child *c, double seconds,
                                    cJSON **answer, struct msim_error *err)
{
    double end = msim_child_now() + seconds;
    bool found;

    for (;;) {
        ssize_t n;

        *answer = take_line(c, &found);
        if (found)
            break;
        MSIM_TRY(make_room(c));
        n = read_more(c, end);
        if (n < 0)
            return hung(c, seconds, err);
        if (n == 0)
            return died(c, err);
        c->used += (size_t)n;
    }
    if (cJSON_IsObject(*answer))
        return MSIM_OK;
    cJSON_Delete(*answer);
    *answer = NULL;
    msim_child_stop(c);
    return msim_fail(err, MSIM_ESYNTAX, NULL, MSIM_OFFSET_NONE,
                     "the backend answered with a line that is no JSON object");
}

static enum msim_status send_line(struct msim_child *c, const cJSON *line,
                                  struct msim_error *err)
{
    char *text = cJSON_PrintUnformatted(line);
    size_t n = text ? strlen(text) : 0, at = 0;

    if (!text)
        return MSIM_ENOMEM;
    text[n++] = '\n';
    while (at < n) {
        ssize_t done = write(c->to, text + at, n - at);

        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            break;
        at += (size_t)done;
    }
    cJSON_free(text);
    return at == n ? MSIM_OK : died(c, err);
}

static enum msim_status start_once(struct msim_child *c, const char *command,
                                   double seconds, cJSON **greeting,
                                   struct msim_error *err)
{
    *greeting = NULL;
    msim_child_stop(c);
    MSIM_TRY(start(c, command, err));
    return read_answer(c, seconds, greeting, err);
}

/* A device may be in use by what just ended. Where no greeting came in time,
 * another try would cost as much again. */
enum msim_status msim_child_start(struct msim_child *c, const char *command,
                                  double seconds, cJSON **greeting,
                                  struct msim_error *err)
{
    const struct timespec pause = {.tv_sec = 1};
    struct msim_error why = {0};
    enum msim_status status = start_once(c, command, seconds, greeting, &why);

    if (status == MSIM_EIO) {
        nanosleep(&pause, NULL);
        return start_once(c, command, seconds, greeting, err);
    }
    return status == MSIM_OK
               ? status
               : msim_fail(err, status, NULL, MSIM_OFFSET_NONE, "%s", why.text);
}

enum msim_status msim_child_ask(struct msim_child *c, const cJSON *question,
                                double seconds, cJSON **answer,
                                struct msim_error *err)
{
    *answer = NULL;
    MSIM_TRY(send_line(c, question, err));
    return read_answer(c, seconds, answer, err);
}

enum msim_status msim_child_next(struct msim_child *c, double seconds,
                                 cJSON **answer, struct msim_error *err)
{
    *answer = NULL;
    return read_answer(c, seconds, answer, err);
}
