/*
 * Property: whatever is done to a trace's bytes, loading it either gives a
 * job that keeps every promise of trace.h, or fails with a sentence; a trace
 * that was cut is refused (but for Chakra, where what ends with a message is a
 * shorter trace), and --salvage keeps no less than nothing. Every other job is
 * loaded with details, and all have lives. Memory errors and leaks are the
 * sanitizers' part.
 *
 * For every trace below MSIM_TRACES/traces and MSIM_DATA/traces: 40 cuts and
 * 300 byte flips of the first 400 kB, 20 of each of the whole file, and a few
 * of the compressed file; all from fixed seeds, of which share.h says how many.
 * One process a CPU.
 */
#include "core/base/hash.h"
#include "core/job/job.h"
#include "core/job/job_files.h"
#include "core/lives/lives.h"
#include "core/read/chakra/read_chakra.h"
#include "core/stream/input.h"

#include "tests/fuzz/share.h"
#include "tests/trace_checks.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define HEAD_LEN   ((size_t)400 * 1000)
#define HEAD_CUTS  40
#define HEAD_FLIPS 300
#define WHOLE_RUNS 20
/* The whole of a file larger than this would take longer than all others. */
#define WHOLE_MAX ((size_t)40 << 20)

struct bytes {
    char *data;
    size_t len;
};

struct counts {
    uint64_t loaded, refused, failures;
};

static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static uint64_t seed_of(const char *path)
{
    const char *name = strstr(path, "traces/");

    /* The folder that the traces lie in must not change what is tried. */
    return msim_hash_text(MSIM_HASH_START, name ? name : path);
}

static void complain(struct counts *c, const char *path, const char *what,
                     uint64_t number, const char *why)
{
    c->failures++;
    fprintf(stderr, "%s: %s %" PRIu64 ": %s\n", path, what, number, why);
}

/* Whatever ids and trees a trace has, its storages have lives. */
static const char *lives_broken(const struct msim_job *job)
{
    const char *broken = NULL;
    struct msim_lives l;
    uint32_t i, k;

    for (i = 0; i < job->n_ranks; i++) {
        if (msim_lives_find(&l, job->ranks[i]) != MSIM_OK)
            return "its lives are not found";
        for (k = 0; k < job->ranks[i]->n_tensor_ids; k++)
            if (l.of[k] != MSIM_NONE && l.of[k] >= l.n)
                broken = "a tensor is on a life that is none";
        msim_lives_release(&l);
    }
    return broken;
}

/* Load and check; whether it loaded. */
static bool try_bytes(struct counts *c, const char *path, const char *what,
                      uint64_t number, const char *data, size_t len,
                      bool salvage)
{
    struct msim_load_options opt = {
        .salvage = salvage, .threads = 1, .details = number % 2};
    struct msim_error err = {0};
    struct msim_job *job;
    const char *broken;
    enum msim_status status =
        msim_job_load_memory(&job, path, data, len, &opt, &err);

    if (status != MSIM_OK) {
        c->refused++;
        if (job)
            complain(c, path, what, number, "a job in spite of a failure");
        if (!err.text[0] || err.status != status)
            complain(c, path, what, number, "no reason given");
        return false;
    }
    c->loaded++;
    broken = job_broken(job);
    if (!broken)
        broken = lives_broken(job);
    if (broken)
        complain(c, path, what, number, broken);
    msim_job_free(job);
    return true;
}

static bool is_json(struct bytes b)
{
    return b.len && (*b.data == '{' || *b.data == '[');
}

static void try_cuts(struct counts *c, const char *path, struct bytes b,
                     const char *what, unsigned runs, uint64_t *random)
{
    unsigned i;

    for (i = 0; i < runs && b.len > 2; i++) {
        /* Trailing blanks may go without harm. */
        size_t len = next_random(random) % (b.len - 2);

        if (try_bytes(c, path, what, i, b.data, len, false) && is_json(b))
            complain(c, path, what, i, "a cut file was loaded");
        try_bytes(c, path, what, i, b.data, len, true);
    }
}

static void try_flips(struct counts *c, const char *path, struct bytes b,
                      const char *what, unsigned runs, uint64_t *random)
{
    unsigned i;

    for (i = 0; i < runs && b.len; i++) {
        size_t at = next_random(random) % b.len;
        char old = b.data[at];

        b.data[at] = (char)(old ^ (char)(1 + next_random(random) % 255));
        try_bytes(c, path, what, i, b.data, b.len, i % 2);
        b.data[at] = old;
    }
}

/* All bytes of a file, inflated or as they are. */
static struct bytes read_file(const char *path, bool inflated)
{
    struct msim_error err = {0};
    struct msim_input *in = NULL;
    struct bytes b = {0};
    const char *piece;
    size_t len, n;

    if (!inflated) {
        FILE *f = fopen(path, "rb");

        b.data = malloc(HEAD_LEN);
        if (f && b.data)
            b.len = fread(b.data, 1, HEAD_LEN, f);
        if (f)
            fclose(f);
        return b;
    }
    if (msim_input_open(&in, path, false, &err) != MSIM_OK)
        return b;
    while (msim_input_next(in, &piece, &len, &err) == MSIM_OK && len) {
        char *grown = realloc(b.data, b.len + len);

        if (!grown)
            break;
        b.data = grown;
        memcpy(b.data + b.len, piece, len);
        b.len += len;
    }
    msim_input_close(in);
    n = b.len;
    while (n && strchr(" \n\r\t", b.data[n - 1]))
        n--;
    b.len = n;
    return b;
}

static void try_file(struct counts *c, const char *path)
{
    uint64_t random = seed_of(path);
    struct bytes whole = read_file(path, true), head = whole;
    struct bytes packed = read_file(path, false);

    if (is_json(whole) ||
        msim_chakra_sniff(whole.data, whole.len, true) == MSIM_CHAKRA_YES) {
        if (head.len > HEAD_LEN)
            head.len = HEAD_LEN;
        try_cuts(c, path, head, "head cut", fuzz_share(HEAD_CUTS), &random);
        try_flips(c, path, head, "head flip", fuzz_share(HEAD_FLIPS), &random);
        if (whole.len <= WHOLE_MAX && whole.len > HEAD_LEN) {
            try_cuts(c, path, whole, "cut", fuzz_share(WHOLE_RUNS), &random);
            try_flips(c, path, whole, "flip", fuzz_share(WHOLE_RUNS), &random);
        }
    }
    try_flips(c, path, packed, "packed flip", fuzz_share(WHOLE_RUNS), &random);
    free(whole.data);
    free(packed.data);
}

/* Every n-th file, where n is the number of processes. */
static int work(const struct msim_job_files *files, uint32_t first,
                uint32_t step)
{
    struct counts c = {0};
    uint32_t i;

    for (i = first; i < files->n; i += step)
        try_file(&c, files->all[i].path);
    printf("process %u: %" PRIu64 " loaded, %" PRIu64 " refused, %" PRIu64
           " failures\n",
           first, c.loaded, c.refused, c.failures);
    fflush(stdout);
    return c.failures != 0;
}

/* In child processes, so that a crash is told from a failure. */
static int run_all(const struct msim_job_files *files)
{
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    uint32_t n = cpus > 1 ? cpus < 8 ? (uint32_t)cpus : 8 : 1, i;
    int result = 0, status;

    for (i = 0; i < n; i++) {
        pid_t child = fork();

        if (child == 0)
            exit(work(files, i, n));
        if (child < 0)
            result = 1;
    }
    while (wait(&status) > 0)
        if (!WIFEXITED(status) || WEXITSTATUS(status))
            result = 1;
    return result;
}

int main(int argc, char **argv)
{
    const char *folders[] = {MSIM_DATA "/traces", MSIM_TRACES "/traces"};
    struct msim_job_files files = {0};
    struct msim_error err = {0};
    int result, i;

    for (i = 1; i < argc; i++) {
        const char *path = argv[i];

        if (msim_job_files_find(&files, &path, 1, &err) != MSIM_OK)
            break;
    }
    for (i = 0; argc == 1 && i < 2; i++)
        if (access(folders[i], R_OK) == 0 &&
            msim_job_files_find(&files, &folders[i], 1, &err) != MSIM_OK)
            break;
    if (err.status != MSIM_OK) {
        fprintf(stderr, "fuzz_load: %s: %s\n", err.file, err.text);
        return 1;
    }
    if (files.n == 0) {
        printf("skipped: no traces in %s\n", folders[0]);
        return 77;
    }
    result = run_all(&files);
    msim_job_files_release(&files);
    return result;
}
