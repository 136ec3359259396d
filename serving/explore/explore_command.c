/*
 * serving/explore/explore_command.c - the explorer as a process.
 *
 * Its output is a file, so that no pipe fills up and there is nothing to read
 * while it runs: to wait is all.
 */
#include "serving/explore/explore_internal.h"

#include "core/base/json.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define OPTION_WORDS 10   /* --stage S ... --seed s */
#define ROW_BYTES    1024 /* of a line, with columns that are passed over */

extern char **environ;

/* ---- words --------------------------------------------------------------- */

/* One word from `*from` on, unquoted into `*to`; false where a quote stays
 * open. */
static bool take_word(const char **from, char **to)
{
    char quote = 0;
    const char *s = *from;

    for (; *s && (quote || !strchr(" \t\n", *s)); s++) {
        if (quote ? *s == quote : (*s == '\'' || *s == '"'))
            quote = quote ? 0 : *s;
        else if (*s == '\\' && quote != '\'' && s[1])
            *(*to)++ = *++s;
        else
            *(*to)++ = *s;
    }
    *(*to)++ = '\0';
    *from = s;
    return !quote;
}

enum msim_status msim_explorer_init(struct msim_explorer *e,
                                    const char *command, double patience,
                                    struct msim_error *err)
{
    size_t length = strlen(command);
    char *to;

    *e = (struct msim_explorer){.patience = patience};
    e->text = malloc(length + 2);
    /* No more words than bytes. */
    e->words = malloc((length + OPTION_WORDS + 2) * sizeof(*e->words));
    if (!e->text || !e->words)
        return MSIM_ENOMEM;
    to = e->text;
    for (;;) {
        command += strspn(command, " \t\n");
        if (!*command)
            break;
        e->words[e->n_words++] = to;
        if (!take_word(&command, &to))
            return msim_fail(err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                             "option '--explore' has a quote that is never "
                             "closed");
    }
    if (!e->n_words)
        return msim_fail(err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                         "option '--explore' is empty, want a command");
    return MSIM_OK;
}

void msim_explorer_release(struct msim_explorer *e)
{
    free(e->text);
    free(e->words);
    *e = (struct msim_explorer){0};
}

/* ---- signals ------------------------------------------------------------- */

/*
 * What ends this process from outside reaches no group but its own: it is held
 * back while an explorer runs, and let through when that is stopped.
 */
static void hold_ends(sigset_t *ends, sigset_t *before)
{
    static const int ENDS[] = {SIGINT, SIGTERM, SIGHUP};

    sigemptyset(ends);
    for (size_t i = 0; i < sizeof(ENDS) / sizeof(ENDS[0]); i++) {
        struct sigaction now;

        if (sigaction(ENDS[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN)
            sigaddset(ends, ENDS[i]);
    }
    sigprocmask(SIG_BLOCK, ends, before);
}

static bool is_to_end(const sigset_t *ends)
{
    sigset_t waiting;

    sigpending(&waiting);
    for (int i = 1; i < NSIG; i++)
        if (sigismember(ends, i) == 1 && sigismember(&waiting, i) == 1)
            return true;
    return false;
}

/* ---- the process --------------------------------------------------------- */

static double seconds_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static bool is_too_long(const char *path, double most_rows)
{
    struct stat st;

    return stat(path, &st) == 0 && (double)st.st_size > most_rows * ROW_BYTES;
}

enum fault { NONE, LATE, LONG, SIGNALLED };

/* Wait for the end of `pid`, or stop it and its group. Returns its status. */
static int wait_for(pid_t pid, double end, const char *path, double most_rows,
                    const sigset_t *ends, enum fault *fault)
{
    struct timespec pause = {.tv_nsec = 500000};
    int how = 0;

    for (*fault = NONE; !*fault;) {
        pid_t done = waitpid(pid, &how, WNOHANG);

        if (done == pid || (done < 0 && errno != EINTR))
            return how;
        if (seconds_now() >= end)
            *fault = LATE;
        else if (is_too_long(path, most_rows))
            *fault = LONG;
        else if (is_to_end(ends))
            *fault = SIGNALLED;
        else
            nanosleep(&pause, NULL);
        if (pause.tv_nsec < 20000000)
            pause.tv_nsec *= 2;
    }
    kill(-pid, SIGKILL);
    while (waitpid(pid, &how, 0) < 0 && errno == EINTR)
        ;
    return how;
}

static enum msim_status refuse(const struct msim_explorer *e,
                               const struct msim_explore_question *q,
                               enum msim_status status, struct msim_error *err,
                               const char *what)
{
    return msim_fail(err, status, NULL, MSIM_OFFSET_NONE,
                     "the explorer '%s', asked for stage '%s' (%" PRId64
                     " replicas, %.4g visits/s, %.4g s), %s",
                     e->words[0], q->stage, q->replicas, q->rate, q->seconds,
                     what);
}

static enum msim_status refuse_fault(const struct msim_explorer *e,
                                     const struct msim_explore_question *q,
                                     enum fault fault, struct msim_error *err)
{
    char what[160];

    if (fault == LATE)
        snprintf(what, sizeof(what),
                 "has not ended in time: it was stopped after %.4g s of load "
                 "and %.4g s of --patience",
                 q->seconds, e->patience);
    else if (fault == SIGNALLED)
        snprintf(what, sizeof(what), "was stopped: a signal came");
    else
        snprintf(what, sizeof(what),
                 "prints too much: it was stopped after more than %.3g kB, "
                 "want at most %.0f lines",
                 q->most_rows * ROW_BYTES / 1e3, q->most_rows);
    return refuse(e, q, MSIM_ELIMIT, err, what);
}

static enum msim_status judge(const struct msim_explorer *e,
                              const struct msim_explore_question *q, int how,
                              struct msim_error *err)
{
    char what[64];

    if (WIFSIGNALED(how))
        snprintf(what, sizeof(what), "was killed by signal %d", WTERMSIG(how));
    else if (WEXITSTATUS(how) != 0)
        snprintf(what, sizeof(what), "ended with exit code %d",
                 WEXITSTATUS(how));
    else
        return MSIM_OK;
    return refuse(e, q, MSIM_EIO, err, what);
}

/* ---- a question ---------------------------------------------------------- */

/* A process group of its own, with the signals of `mask` blocked. */
static int spawn(pid_t *pid, char **words, const char *path,
                 const sigset_t *mask)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t how;
    int rc;

    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null",
                                     O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, path,
                                     O_WRONLY | O_TRUNC, 0);
    posix_spawnattr_init(&how);
    posix_spawnattr_setflags(&how,
                             POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
    posix_spawnattr_setpgroup(&how, 0);
    posix_spawnattr_setsigmask(&how, mask);
    rc = posix_spawnp(pid, words[0], &actions, &how, words, environ);
    posix_spawnattr_destroy(&how);
    posix_spawn_file_actions_destroy(&actions);
    return rc;
}

/* Run the words; `*how` is how it ended. An errno where it cannot be run. */
static int run(const struct msim_explorer *e,
               const struct msim_explore_question *q, const char *path,
               int *how, enum fault *fault)
{
    sigset_t ends, mask;
    pid_t pid;
    int rc;

    hold_ends(&ends, &mask);
    rc = spawn(&pid, e->words, path, &mask);
    if (!rc)
        *how = wait_for(pid, seconds_now() + q->seconds + e->patience, path,
                        q->most_rows, &ends, fault);
    if (*fault == SIGNALLED)
        unlink(path); /* nobody else will */
    sigprocmask(SIG_SETMASK, &mask, NULL);
    return rc;
}

enum msim_status msim_explorer_ask(const struct msim_explorer *e,
                                   const struct msim_explore_question *q,
                                   const char *path, struct msim_error *err)
{
    char replicas[32], rate[32], seconds[32], seed[32];
    char *options[OPTION_WORDS + 1] = {(char[]){"--stage"},
                                       (char *)(uintptr_t)q->stage,
                                       (char[]){"--replicas"},
                                       replicas,
                                       (char[]){"--rate"},
                                       rate,
                                       (char[]){"--seconds"},
                                       seconds,
                                       (char[]){"--seed"},
                                       seed,
                                       NULL};
    enum fault fault = NONE;
    int how = 0, rc;

    snprintf(replicas, sizeof(replicas), "%" PRId64, q->replicas);
    snprintf(seed, sizeof(seed), "%" PRIu64, q->seed);
    msim_number_text(rate, q->rate);
    msim_number_text(seconds, q->seconds);
    memcpy(e->words + e->n_words, options, sizeof(options));
    rc = run(e, q, path, &how, &fault);
    if (rc)
        return msim_fail(err, MSIM_EIO, NULL, MSIM_OFFSET_NONE,
                         "cannot run the explorer '%s': %s", e->words[0],
                         strerror(rc));
    return fault ? refuse_fault(e, q, fault, err) : judge(e, q, how, err);
}
