/*
 * plan/search/plan_parts.c - blocks of a plan's points in files.
 */
#include "plan/search/plan_parts.h"

#include "core/base/write_file.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct header {
    char magic[8];
    uint64_t key, which, points;
    uint64_t left_out[MSIM_PLAN_REASONS];
    uint64_t refusals, others;
    struct msim_plan_point nearest;
    double nearest_share;
};

static const char MAGIC[8] = "msimplan";

/* FNV-1a, 64 bits (Fowler, Noll, Vo). */
static uint64_t hash(uint64_t h, const void *bytes, size_t n)
{
    const unsigned char *at = bytes;

    for (size_t i = 0; i < n; i++)
        h = (h ^ at[i]) * UINT64_C(1099511628211);
    return h;
}

uint64_t msim_plan_key(const struct msim_plan_share *share,
                       const struct msim_spec *spec, uint64_t identity)
{
    uint64_t h = hash(UINT64_C(14695981039346656037), MSIM_VERSION,
                      sizeof(MSIM_VERSION)),
             size = sizeof(struct msim_plan_point);

    h = hash(h, &size, sizeof(size));
    h = hash(h, &identity, sizeof(identity));
    h = hash(h, spec->model.name, strlen(spec->model.name));
    h = hash(h, &spec->model.layers,
             sizeof(spec->model) - offsetof(struct msim_described, layers));
    return hash(h, share->text, strlen(share->text));
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
        memcmp(h.magic, MAGIC, sizeof(MAGIC)) != 0 || h.key != key ||
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
    memcpy(b->left_out, h.left_out, sizeof(h.left_out));
    b->refusals.others = h.others;
    b->nearest = h.nearest;
    b->nearest_share = h.nearest_share;
    b->known = true;
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

enum msim_status msim_plan_part_write(const struct msim_plan_block *b,
                                      const struct msim_plan_share *share,
                                      uint64_t key, uint64_t which)
{
    struct header h = {.key = key,
                       .which = which,
                       .points = b->n,
                       .refusals = b->refusals.n,
                       .others = b->refusals.others,
                       .nearest = b->nearest,
                       .nearest_share = b->nearest_share};
    struct msim_error err = {0};
    struct msim_file *f;
    enum msim_status status;
    char path[PATH];

    memcpy(h.magic, MAGIC, sizeof(MAGIC));
    memcpy(h.left_out, b->left_out, sizeof(h.left_out));
    path_of(path, sizeof(path), share, which);
    MSIM_TRY(msim_file_open(&f, path, false, &err));
    status = msim_file_write(f, (const char *)&h, sizeof(h));
    if (status == MSIM_OK)
        status = msim_file_write(f, (const char *)b->points,
                                 b->n * sizeof(*b->points));
    if (status == MSIM_OK && b->refusals.n)
        status = msim_file_write(f, (const char *)b->refusals.of,
                                 b->refusals.n * sizeof(*b->refusals.of));
    if (status == MSIM_OK)
        return msim_file_commit(f, &err);
    msim_file_abandon(f);
    return status;
}

void msim_plan_parts_remove(const struct msim_plan_share *share, uint64_t n)
{
    char path[PATH];

    for (uint64_t i = 0; i < n; i++) {
        path_of(path, sizeof(path), share, i);
        (void)unlink(path);
    }
    (void)rmdir(share->folder);
}
