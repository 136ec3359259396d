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
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
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
    /* Whoever reads nothing is not waited for beyond its time. */
    (void)fcntl(c->to, F_SETFL, O_NONBLOCK);
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

/* It does not keep to the protocol: end it, and say how. */
static enum msim_status broke(struct msim_child *c, enum msim_status status,
                              struct msim_error *err, const char *fmt, ...)
    MSIM_PRINTF(4, 5);

static enum msim_status broke(struct msim_child *c, enum msim_status status,
                              struct msim_error *err, const char *fmt, ...)
{
    char text[200];
    va_list args;

    msim_child_stop(c);
    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    return msim_fail(err, status, NULL, MSIM_OFFSET_NONE, "the backend %s",
                     text);
}

/* Take the first line out of the buffer, `*found` where it holds one. */
static enum msim_status take_line(struct msim_child *c, bool *found,
                                  cJSON **line)
{
    char *end = c->used ? memchr(c->buffer, '\n', c->used) : NULL;
    enum msim_status status;
    size_t n;

    *line = NULL;
    *found = end != NULL;
    if (!end)
        return MSIM_OK;
    n = (size_t)(end - c->buffer) + 1;
    status = msim_json_parse(line, c->buffer, n - 1, NULL);
    memmove(c->buffer, c->buffer + n, c->used - n);
    c->used -= n;
    return status;
}

static enum msim_status make_room(struct msim_child *c, struct msim_error *err)
{
    size_t size = c->size ? 2 * c->size : 65536;
    char *bytes;

    if (c->size - c->used >= 4096)
        return MSIM_OK;
    if (size > LINE_MAX)
        return broke(c, MSIM_ELIMIT, err, "sent a line of more than %u MiB",
                     LINE_MAX >> 20);
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

static enum msim_status read_line(struct msim_child *c, double seconds,
                                  cJSON **line, struct msim_error *err)
{
    double end = msim_child_now() + seconds;
    enum msim_status status;
    bool found;

    for (;;) {
        ssize_t n;

        status = take_line(c, &found, line);
        if (found)
            break;
        MSIM_TRY(make_room(c, err));
        n = read_more(c, end);
        if (n < 0)
            return hung(c, seconds, err);
        if (n == 0)
            return died(c, err);
        c->used += (size_t)n;
    }
    if (status == MSIM_ENOMEM || cJSON_IsObject(*line))
        return status;
    cJSON_Delete(*line);
    *line = NULL;
    return broke(c, MSIM_ESYNTAX, err,
                 "answered with a line that is no JSON object");
}

/* An answer to another question would be kept as one to this. */
static enum msim_status read_answer(struct msim_child *c, double seconds,
                                    cJSON **answer, struct msim_error *err)
{
    double id;

    MSIM_TRY(read_line(c, seconds, answer, err));
    id = msim_json_get_number(*answer, "id", NAN);
    if (id == c->id)
        return MSIM_OK;
    cJSON_Delete(*answer);
    *answer = NULL;
    return isnan(id)
               ? broke(c, MSIM_EFORMAT, err,
                       "answered without the id of the question")
               : broke(c, MSIM_EFORMAT, err,
                       "answered question %.15g, asked was %.15g", id, c->id);
}

/* Has it sent more than answers? */
static bool has_spoken(const struct msim_child *c)
{
    struct pollfd p = {.fd = c->from, .events = POLLIN};
    int bytes = 0;

    return c->used > 0 || (poll(&p, 1, 0) > 0 &&
                           ioctl(c->from, FIONREAD, &bytes) == 0 && bytes > 0);
}

/* All of `text`; 0, or why not: ETIMEDOUT. */
static int write_all(struct msim_child *c, const char *text, size_t n,
                     double end)
{
    struct pollfd p = {.fd = c->to, .events = POLLOUT};

    while (n > 0) {
        ssize_t done = write(c->to, text, n);
        double left = end - msim_child_now();

        if (done > 0) {
            text += done;
            n -= (size_t)done;
            continue;
        }
        if (done < 0 && errno != EAGAIN && errno != EINTR)
            return errno;
        if (left <= 0)
            return ETIMEDOUT;
        (void)poll(&p, 1, left > 3600 ? 3600000 : (int)(left * 1000) + 1);
    }
    return 0;
}

/* The same; a child that is gone does not end this process by a signal. */
static int send_text(struct msim_child *c, const char *text, size_t n,
                     double end)
{
    const struct timespec now = {0};
    sigset_t pipe, before;
    int why;

    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe, &before);
    why = write_all(c, text, n, end);
    if (why == EPIPE)
        (void)sigtimedwait(&pipe, NULL, &now);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return why;
}

static enum msim_status send_line(struct msim_child *c, const cJSON *line,
                                  double seconds, struct msim_error *err)
{
    char *text = cJSON_PrintUnformatted(line);
    size_t n = text ? strlen(text) : 0;
    int why;

    if (!text)
        return MSIM_ENOMEM;
    text[n] = '\n'; /* over its end: write() wants none */
    why = send_text(c, text, n + 1, msim_child_now() + seconds);
    cJSON_free(text);
    return why == 0           ? MSIM_OK
           : why == ETIMEDOUT ? hung(c, seconds, err)
                              : died(c, err);
}

static enum msim_status start_once(struct msim_child *c, const char *command,
                                   double seconds, cJSON **greeting,
                                   struct msim_error *err)
{
    *greeting = NULL;
    msim_child_stop(c);
    MSIM_TRY(start(c, command, err));
    return read_line(c, seconds, greeting, err);
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
    if (has_spoken(c))
        return broke(c, MSIM_EFORMAT, err,
                     "sent more lines than it was asked "
                     "for");
    c->id = msim_json_get_number(question, "id", NAN);
    MSIM_TRY(send_line(c, question, seconds, err));
    return read_answer(c, seconds, answer, err);
}

enum msim_status msim_child_next(struct msim_child *c, double seconds,
                                 cJSON **answer, struct msim_error *err)
{
    *answer = NULL;
    return read_answer(c, seconds, answer, err);
}

/* What it sends in its last moments is read before it is waited for. */
enum msim_status msim_child_end(struct msim_child *c, struct msim_error *err)
{
    double end = msim_child_now() + GRACE_SECONDS;
    ssize_t n = 0;

    if (c->to > 0)
        close(c->to);
    c->to = 0;
    MSIM_TRY(make_room(c, err));
    if (c->used == 0)
        n = read_more(c, end);
    if (c->used || n > 0)
        return broke(c, MSIM_EFORMAT, err,
                     "sent more lines than it was asked for");
    msim_child_stop(c);
    return MSIM_OK;
}
