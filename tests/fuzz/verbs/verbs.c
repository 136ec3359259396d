/*
 * tests/fuzz/verbs/verbs.c - every verb, in process, on bytes of a fuzzer.
 *
 * Property: whatever a file says, a verb that reads it ends with the exit code
 * of an answer, a refusal or a limit (0 to 4: no memory for 2^31 layers),
 * without a memory error, a leak or a hang. The targets are command lines
 * (targets.def), where @ is the file that the fuzzer makes; they run in a
 * folder of their own, in which corpus/ is that beside this file.
 *
 * Of one process all runs are of one target: that of MSIM_FUZZ_TARGET.
 * libFuzzer drives it in a build with -DMSIM_FUZZ=ON (Clang), drive.c in any.
 */
#include "tests/fuzz/verbs/verbs.h"

#include "tests/fuzz/verbs/mutate_json.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOST_WORDS   24
#define MOST_WRITTEN (1 << 20) /* a job of a thousand layers ends there */

const struct fuzz_target FUZZ_TARGETS[] = {
#define TARGET(name, file, command) {name, file, command},
#include "tests/fuzz/verbs/targets.def"
#undef TARGET
    {NULL, NULL, NULL},
};

static const struct fuzz_target *target;
static char folder[PATH_MAX];
static char words[MOST_WORDS][PATH_MAX];
static char *argv[MOST_WORDS + 1];
static int argc;

/* Its main, which the build calls so. */
int mystique_sim_main(int n, char **args);

const struct fuzz_target *fuzz_target_find(const char *name)
{
    const struct fuzz_target *t = FUZZ_TARGETS;

    while (name && t->name && strcmp(t->name, name) != 0)
        t++;
    return name && t->name ? t : NULL;
}

static void add_word(const char *word, size_t n)
{
    if (n == 1 && *word == '@')
        snprintf(words[argc], PATH_MAX, "%s", target->file);
    else
        snprintf(words[argc], PATH_MAX, "%.*s", (int)n, word);
    argv[argc] = words[argc];
    argv[++argc] = NULL;
}

static void split(const char *command)
{
    argc = 0;
    add_word("mystique-sim", strlen("mystique-sim"));
    while (*command) {
        size_t n = strcspn(command, " ");

        add_word(command, n);
        command += n + (command[n] == ' ');
    }
}

static void leave(void)
{
    char command[PATH_MAX + 16];

    snprintf(command, sizeof(command), "rm -rf %s", folder);
    if (system(command) != 0)
        perror(folder);
}

void fuzz_begin(const struct fuzz_target *t)
{
    target = t;
    split(t->command);
}

/* Answers and sentences go nowhere; what sanitizers say has descriptor 2. */
static void be_silent(void)
{
    int none = open("/dev/null", O_WRONLY | O_CLOEXEC);
    FILE *errors = fopen("/dev/null", "w");

    if (none < 0 || !errors || dup2(none, STDOUT_FILENO) < 0)
        abort();
    setvbuf(errors, NULL, _IOFBF, 1 << 16);
    stderr = errors;
    close(none);
}

/* In memory where there is such a folder: outputs are synced. */
static void enter_folder(void)
{
    const char *above = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : P_tmpdir;

    snprintf(folder, sizeof(folder), "%s/msim-fuzz-XXXXXX", above);
    if (!mkdtemp(folder) || chdir(folder) ||
        symlink(MSIM_SOURCE "/tests/fuzz/verbs/corpus", "corpus"))
        abort();
    atexit(leave);
}

int LLVMFuzzerInitialize(int *n, char ***args)
{
    (void)n;
    (void)args;
    setenv("MSIM_DATA", MSIM_DATA, 1);
    enter_folder();
    if (getenv("MSIM_FUZZ_TARGET")) {
        const struct fuzz_target *t =
            fuzz_target_find(getenv("MSIM_FUZZ_TARGET"));

        if (!t)
            abort();
        fuzz_begin(t);
    }
    be_silent();
    return 0;
}

static void write_input(const uint8_t *data, size_t size)
{
    FILE *f = fopen(target->file, "w");

    if (!f || fwrite(data, 1, size, f) != size || fclose(f))
        abort();
}

/* Of the files that are written from here on. */
static void limit_files(rlim_t bytes)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_FSIZE, &limit) != 0)
        abort();
    limit.rlim_cur = bytes < limit.rlim_max ? bytes : limit.rlim_max;
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *args[MOST_WORDS + 1];
    int rc;

    write_input(data, size);
    memcpy(args, argv, sizeof(args));
    limit_files(MOST_WRITTEN);
    rc = mystique_sim_main(argc, args);
    limit_files(RLIM_INFINITY);
    if (rc < 0 || rc > 4)
        abort();
    return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size,
                               unsigned seed)
{
    const char *suffix = strrchr(target->file, '.');

    return fuzz_mutate(data, size, max_size, seed,
                       suffix && strncmp(suffix, ".json", 5) == 0);
}
