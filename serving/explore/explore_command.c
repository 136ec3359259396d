/*
 * serving/explore/explore_command.c - the explorer as a process.
 *
 * Its output is a file, so that no pipe fills up and there is nothing to read
 * while it runs: to wait is all.
 */
#include "serving/explore/explore_command.h"

#include "core/base/json_out.h"

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

#define OPTION_WORDS 10 /* --stage S ... --seed s */
#define MOST_BYTES   ((off_t)4 << 30)

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

/* ---- the process --------------------------------------------------------- */

static double seconds_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static bool is_too_long(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && st.st_size > MOST_BYTES;
}

/* Wait for the end of `pid`; `*why` is what was wrong with how long it took
 * or how much it said, else NULL. Returns its status. */
static int wait_for(pid_t pid, double end, const char *path, const char **why)
{
    struct timespec pause = {.tv_nsec = 500000};
    int how = 0;

    for (*why = NULL; !*why;) {
        pid_t done = waitpid(pid, &how, WNOHANG);

        if (done == pid || (done < 0 && errno != EINTR))
            return how;
        if (seconds_now() >= end)
            *why = "has not ended in time";
        else if (is_too_long(path))
            *why = "prints more than 4 GiB";
        nanosleep(&pause, NULL);
        if (pause.tv_nsec < 20000000)
            pause.tv_nsec *= 2;
    }
    kill(pid, SIGKILL);
    while (waitpid(pid, &how, 0) < 0 && errno == EINTR)
        ;
    return how;
}

static enum msim_status refuse(const struct msim_explorer *e,
                               const struct msim_explore_question *q,
                               enum msim_status status, struct msim_error *err,
                               const char *what, int number)
{
    char count[16] = "";

    if (number >= 0)
        snprintf(count, sizeof(count), " %d", number);
    return msim_fail(err, status, NULL, MSIM_OFFSET_NONE,
                     "the explorer '%s', asked for stage '%s' (%" PRId64
                     " replicas, %.4g visits/s, %.4g s), %s%s",
                     e->words[0], q->stage, q->replicas, q->rate, q->seconds,
                     what, count);
}

static enum msim_status judge(const struct msim_explorer *e,
                              const struct msim_explore_question *q, int how,
                              struct msim_error *err)
{
    if (WIFSIGNALED(how))
        return refuse(e, q, MSIM_EIO, err, "was killed by signal",
                      WTERMSIG(how));
    if (WEXITSTATUS(how) != 0)
        return refuse(e, q, MSIM_EIO, err, "ended with exit code",
                      WEXITSTATUS(how));
    return MSIM_OK;
}

static int spawn(pid_t *pid, char **words, const char *path)
{
    posix_spawn_file_actions_t actions;
    int rc;

    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null",
                                     O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, path,
                                     O_WRONLY | O_TRUNC, 0);
    rc = posix_spawnp(pid, words[0], &actions, NULL, words, environ);
    posix_spawn_file_actions_destroy(&actions);
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
    const char *why;
    pid_t pid;
    int how, rc;

    snprintf(replicas, sizeof(replicas), "%" PRId64, q->replicas);
    snprintf(seed, sizeof(seed), "%" PRIu64, q->seed);
    msim_number_text(rate, q->rate);
    msim_number_text(seconds, q->seconds);
    memcpy(e->words + e->n_words, options, sizeof(options));
    rc = spawn(&pid, e->words, path);
    if (rc)
        return msim_fail(err, MSIM_EIO, NULL, MSIM_OFFSET_NONE,
                         "cannot run the explorer '%s': %s", e->words[0],
                         strerror(rc));
    how = wait_for(pid, seconds_now() + q->seconds + e->patience, path, &why);
    if (why)
        return refuse(e, q, MSIM_ELIMIT, err, why, -1);
    return judge(e, q, how, err);
}
