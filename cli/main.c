/*
 * cli/main.c - the verb is the first argument; without one it is `predict`.
 */
#include "cli/cmd.h"
#include "core/base/files.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Output that could not be written is a failure, whatever the verb returned. Of
 * an earlier write the reason is gone; a line end more has the same. */
static int finish(int rc)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return rc;
    errno = 0;
    (void)(putchar('\n') == EOF || fflush(stdout) != 0);
    msim_message("cannot write to standard output: %s",
                 errno ? strerror(errno) : "an earlier write failed");
    return MSIM_EXIT_INTERNAL;
}

/* A word that is no verb and no file is more likely a mistyped verb. */
static int is_mistyped_verb(const char *arg)
{
    return arg[0] != '-' && !strpbrk(arg, "./") && access(arg, F_OK) != 0;
}

static int run(int argc, char **argv)
{
    const struct msim_verb *verb;

    if (argc < 2) {
        msim_message("want a trace or a verb, got nothing; see "
                     "'mystique-sim --help'");
        return MSIM_EXIT_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
        return msim_cmd_help(1, argv);
    verb = msim_verb_find(argv[1]);
    if (verb)
        return verb->run(argc - 1, argv + 1);
    if (is_mistyped_verb(argv[1]))
        return msim_verb_unknown(argv[1]);
    return msim_cmd_predict(argc, argv);
}

/* A file of ours would take the number of a stream that is closed, and hold
 * messages then. Nothing can be written to what stands in for it. */
static void open_closed_streams(void)
{
    int fd;

    do
        fd = open("/dev/null", O_RDONLY);
    while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd > STDERR_FILENO)
        close(fd);
}

/* Arrays that come and go keep their pages, which the system would have to
 * clear for each of them anew; only what is longer than any goes back at once.
 */
static void keep_pages(void)
{
    (void)mallopt(M_MMAP_THRESHOLD, 32 << 20);
    (void)mallopt(M_TRIM_THRESHOLD, 256 << 20);
}

int main(int argc, char **argv)
{
    int rc;

    keep_pages();
    open_closed_streams();
    /* A file that may not grow further is an error like a full disk, after
     * which a draft is removed. */
    signal(SIGXFSZ, SIG_IGN);
    rc = finish(run(argc, argv));
    msim_files_read_release();
    return rc;
}
