/*
 * tests/fuzz/verbs/drive.c - the targets of verbs.c without libFuzzer.
 *
 *     fuzz_verbs [RUNS [TARGET...]]
 *
 * Each target runs its seeds and what was kept of longer runs as they are, and
 * then RUNS changes of them (default: 100): the same ones each time, so that a
 * failure comes again.
 */
#include "tests/fuzz/verbs/verbs.h"

#include <glob.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MOST_BYTES 65536
#define MOST_SEEDS 1000

struct seed {
    uint8_t *data;
    size_t size;
};

struct seeds {
    struct seed all[MOST_SEEDS];
    unsigned n;
};

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void read_seed(const char *path, struct seed *s)
{
    FILE *f = fopen(path, "rb");

    s->data = malloc(MOST_BYTES);
    if (!f || !s->data)
        abort();
    s->size = fread(s->data, 1, MOST_BYTES, f);
    fclose(f);
}

static void read_seeds(const struct fuzz_target *t, struct seeds *s)
{
    char pattern[PATH_MAX];
    glob_t found;

    snprintf(pattern, sizeof(pattern), "%s/tests/fuzz/verbs/corpus/%s/*",
             MSIM_SOURCE, t->file);
    s->n = 0;
    if (glob(pattern, 0, NULL, &found) != 0)
        return;
    for (; s->n < found.gl_pathc && s->n < MOST_SEEDS; s->n++)
        read_seed(found.gl_pathv[s->n], &s->all[s->n]);
    globfree(&found);
}

static void free_seeds(struct seeds *s)
{
    for (unsigned i = 0; i < s->n; i++)
        free(s->all[i].data);
}

/* Changes of changes, at most a few one behind the other. */
static void run_changed(const struct seeds *s, unsigned runs)
{
    static uint8_t bytes[MOST_BYTES];

    for (unsigned run = 0; run < runs; run++) {
        const struct seed *from = &s->all[run % s->n];
        size_t size = from->size;

        memcpy(bytes, from->data, size);
        for (unsigned i = 0; i <= run / s->n % 4; i++)
            size =
                LLVMFuzzerCustomMutator(bytes, size, MOST_BYTES, 4 * run + i);
        LLVMFuzzerTestOneInput(bytes, size);
    }
}

static bool run_target(const struct fuzz_target *t, unsigned runs)
{
    static struct seeds seeds;
    double begin = now();

    read_seeds(t, &seeds);
    dprintf(STDERR_FILENO, "%s: ", t->name);
    fuzz_begin(t);
    for (unsigned i = 0; i < seeds.n; i++)
        LLVMFuzzerTestOneInput(seeds.all[i].data, seeds.all[i].size);
    if (seeds.n)
        run_changed(&seeds, runs);
    dprintf(STDERR_FILENO, "%u seeds, %u runs, %.0f a second\n", seeds.n, runs,
            (seeds.n + runs) / (now() - begin));
    free_seeds(&seeds);
    return seeds.n > 0;
}

int main(int argc, char **argv)
{
    unsigned runs = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 100;
    const struct fuzz_target *t;
    int rc = 0;

    LLVMFuzzerInitialize(&argc, &argv);
    for (t = FUZZ_TARGETS; t->name && argc < 3; t++)
        rc |= !run_target(t, runs);
    for (int i = 2; i < argc; i++) {
        t = fuzz_target_find(argv[i]);
        if (!t) {
            dprintf(STDERR_FILENO, "%s: no such target\n", argv[i]);
            return 2;
        }
        rc |= !run_target(t, runs);
    }
    return rc;
}
