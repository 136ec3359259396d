/*
 * plan/search/plan_parts.c - blocks of a plan's points in files.
 */
#include "plan/search/plan.h"

#include "core/base/files.h"
#include "core/base/hash.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAGIC "msimplan"
#define NAME  "#.part"

struct header {
    char magic[8];
    uint64_t key, which, points;
    uint64_t left_out[MSIM_PLAN_REASONS];
    uint64_t refusals, others;
    struct msim_plan_point nearest;
    double nearest_share;
    uint64_t sum; /* a hash of all else */
};

enum msim_status msim_plan_key(uint64_t *key, struct msim_error *err)
{
    static const char VERSION[] = MSIM_VERSION;
    const uint64_t sizes[] = {sizeof(struct msim_plan_point),
                              sizeof(struct header)};

    MSIM_TRY(msim_files_read_hash(key, err));
    *key = msim_hash_bytes(*key, VERSION, sizeof(VERSION));
    *key = msim_hash_bytes(*key, sizes, sizeof(sizes));
    return MSIM_OK;
}

static uint64_t sum_of(const struct header *h, const struct msim_plan_block *b)
{
    struct header bare;
    uint64_t sum = MSIM_HASH_START;

    memcpy(&bare, h, sizeof(bare));
    bare.sum = 0;
    sum = msim_hash_bytes(sum, &bare, sizeof(bare));
    if (b->n)
        sum = msim_hash_bytes(sum, b->points, b->n * sizeof(*b->points));
    if (b->refusals.n)
        sum = msim_hash_bytes(sum, b->refusals.of,
                              b->refusals.n * sizeof(*b->refusals.of));
    return sum;
}

void msim_plan_block_release(struct msim_plan_block *b)
{
    free(b->points);
    free(b->refusals.of);
    *b = (struct msim_plan_block){0};
}

static void path_of(char *path, size_t size,
                    const struct msim_plan_share *share, uint64_t which)
{
    snprintf(path, size, "%.1024s/%llu.part", share->folder,
             (unsigned long long)which);
}

#define PATH 1200

static bool read_all(FILE *f, struct msim_plan_block *b, uint64_t key,
                     uint64_t which)
{
    struct header h;

    if (fread(&h, sizeof(h), 1, f) != 1 ||
        memcmp(h.magic, MAGIC, sizeof(h.magic)) != 0 || h.key != key ||
        h.which != which || h.points > UINT32_MAX / sizeof(*b->points) ||
        h.refusals > MSIM_PLAN_REFUSALS)
        return false;
    b->points = malloc((h.points + 1) * sizeof(*b->points));
    b->refusals.of = malloc((h.refusals + 1) * sizeof(*b->refusals.of));
    if (!b->points || !b->refusals.of ||
        fread(b->points, sizeof(*b->points), h.points, f) != h.points ||
        fread(b->refusals.of, sizeof(*b->refusals.of), h.refusals, f) !=
            h.refusals)
        return false;
    b->refusals.n = b->refusals.cap = (uint32_t)h.refusals;
    b->n = b->cap = (uint32_t)h.points;
    if (sum_of(&h, b) != h.sum)
        return false;
    memcpy(b->left_out, h.left_out, sizeof(h.left_out));
    b->refusals.others = h.others;
    b->nearest = h.nearest;
    b->nearest_share = h.nearest_share;
    return true;
}

bool msim_plan_part_read(struct msim_plan_block *b,
                         const struct msim_plan_share *share, uint64_t key,
                         uint64_t which)
{
    char path[PATH];
    FILE *f;
    bool whole;

    path_of(path, sizeof(path), share, which);
    f = fopen(path, "rb");
    if (!f)
        return false;
    whole = read_all(f, b, key, which);
    fclose(f);
    if (!whole)
        msim_plan_block_release(b);
    return whole;
}

/* It holds a checksum, so that it may be cut by a failure of the power. */
static const struct msim_file_how PART = {.swept = true, .passing = true};

static enum msim_status write_part(const struct msim_plan_block *b,
                                   const struct msim_plan_share *share,
                                   uint64_t key, uint64_t which,
                                   struct msim_error *err)
{
    struct header h = {.key = key,
                       .which = which,
                       .points = b->n,
                       .refusals = b->refusals.n,
                       .others = b->refusals.others,
                       .nearest = b->nearest,
                       .nearest_share = b->nearest_share};
    struct msim_file *f;
    enum msim_status status;
    char path[PATH];

    memcpy(h.magic, MAGIC, sizeof(h.magic));
    memcpy(h.left_out, b->left_out, sizeof(h.left_out));
    h.sum = sum_of(&h, b);
    path_of(path, sizeof(path), share, which);
    MSIM_TRY(msim_file_open(&f, path, &PART, err));
    status = msim_file_write(f, (const char *)&h, sizeof(h));
    if (status == MSIM_OK)
        status = msim_file_write(f, (const char *)b->points,
                                 b->n * sizeof(*b->points));
    if (status == MSIM_OK && b->refusals.n)
        status = msim_file_write(f, (const char *)b->refusals.of,
                                 b->refusals.n * sizeof(*b->refusals.of));
    return msim_file_close(f, status, err);
}

/* Where another process has made the whole plan and removed the folder, nobody
 * wants the part. */
enum msim_status msim_plan_part_write(const struct msim_plan_block *b,
                                      const struct msim_plan_share *share,
                                      uint64_t key, uint64_t which,
                                      struct msim_error *err)
{
    struct msim_error why = {0};
    enum msim_status status = write_part(b, share, key, which, &why);

    if (status == MSIM_OK || access(share->folder, F_OK) != 0)
        return MSIM_OK;
    return msim_fail(err, status, why.file, why.offset, "%s", why.text);
}

/* ---- the folder ---------------------------------------------------------- */

enum msim_status msim_plan_parts_begin(const struct msim_plan_share *share,
                                       struct msim_error *err)
{
    static const struct msim_folder_kind PARTS = {NAME, MAGIC};
    static const struct msim_folder_kinds KINDS = {&PARTS, 1};

    MSIM_TRY(msim_folder_look(share->folder, &KINDS, err));
    return msim_folder_make(share->folder, err);
}

static bool is_part(const void *none, const char *name, size_t n)
{
    (void)none;
    return msim_folder_matches(NAME, name, n);
}

void msim_plan_parts_remove(const struct msim_plan_share *share)
{
    DIR *d = opendir(share->folder);
    const struct dirent *entry;
    char path[PATH];

    while (d && (entry = readdir(d))) {
        snprintf(path, sizeof(path), "%.900s/%.255s", share->folder,
                 entry->d_name);
        if (is_part(NULL, entry->d_name, strlen(entry->d_name)) &&
            msim_folder_is_marked(path, MAGIC))
            (void)unlink(path);
    }
    if (d)
        closedir(d);
    msim_file_sweep(share->folder, is_part, NULL);
    (void)rmdir(share->folder);
}
