/*
 * replay/fleet/fleet_groups.c - files to jobs: by sorting them so that those
 * of one job lie next to each other.
 */
#include "replay/fleet/fleet.h"

#include "core/base/containers.h"
#include "core/job/job_files.h"
#include "core/stream/input.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *keep(struct msim_arena *arena, const char *text, size_t len)
{
    char *copy = msim_arena_alloc(arena, len + 1);

    return copy ? memcpy(copy, text, len) : NULL;
}

/* ---- names -------------------------------------------------------------- */

static bool is_half(const char *name, size_t len)
{
    return (len == 2 && !memcmp(name, "et", 2)) ||
           (len == 6 && !memcmp(name, "kineto", 6));
}

/* The length of `path` without its last part; 0: it has one part only. */
static size_t above(const char *path, size_t len)
{
    while (len > 0 && path[len - 1] != '/')
        len--;
    while (len > 1 && path[len - 1] == '/')
        len--;
    return len;
}

static enum msim_status place(struct msim_arena *arena,
                              struct msim_fleet_file *f)
{
    size_t dir = above(f->path, strlen(f->path)), folder = above(f->path, dir);
    const char *last = f->path + folder;

    last += *last == '/';
    if (!is_half(last, (size_t)(f->path + dir - last)))
        folder = dir;
    f->dir = keep(arena, f->path, dir);
    f->folder = keep(arena, f->path, folder);
    return f->dir && f->folder ? MSIM_OK : MSIM_ENOMEM;
}

/* By the words that its rank may be made of. */
static enum msim_status name_pattern(struct msim_arena *arena,
                                     struct msim_fleet_file *f)
{
    const char *name = msim_path_name(f->path);
    size_t stem = msim_job_stem(name);

    f->pattern = msim_rank_name_starred(arena, &f->name, name,
                                        name + (stem ? stem : strlen(name)));
    return f->pattern ? MSIM_OK : MSIM_ENOMEM;
}

static enum msim_status describe(struct msim_arena *arena,
                                 struct msim_fleet_file *f)
{
    f->name = (struct msim_rank_name){.path = f->path, .rank = -1};
    f->twin = MSIM_NONE;
    return place(arena, f);
}

/* ---- ranks -------------------------------------------------------------- */

typedef const struct msim_fleet_file *file_ref;

static int compare(int64_t a, int64_t b)
{
    return MSIM_ORDER(a, b);
}

static int same_names(file_ref a, file_ref b)
{
    int c = strcmp(a->dir, b->dir);

    if (!c)
        c = compare(a->et, b->et);
    if (!c)
        c = compare(a->name.rank < 0, b->name.rank < 0);
    return c ? c : strcmp(a->pattern, b->pattern);
}

/* Of files whose names say no rank. */
static int same_worlds(file_ref a, file_ref b)
{
    int c = strcmp(a->dir, b->dir);

    if (!c)
        c = compare(a->et, b->et);
    if (!c)
        c = compare(a->name.rank < 0, b->name.rank < 0);
    return c ? c : compare(a->world, b->world);
}

static int by_names(const void *a, const void *b)
{
    const file_ref x = *(const file_ref *)a, y = *(const file_ref *)b;
    int c = same_names(x, y);

    if (!c)
        c = compare(x->name.rank, y->name.rank);
    return c ? c : strcmp(x->path, y->path);
}

static int by_worlds(const void *a, const void *b)
{
    const file_ref x = *(const file_ref *)a, y = *(const file_ref *)b;
    int c = same_worlds(x, y);

    if (!c)
        c = compare(x->rank, y->rank);
    return c ? c : strcmp(x->path, y->path);
}

static void lead(struct msim_fleet_file *files, file_ref *of, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++) {
        struct msim_fleet_file *f = &files[of[i] - files];

        if (of[i]->name.rank >= 0 && of[i]->name.rank == of[i - 1]->name.rank)
            f->twin = (uint32_t)(of[i - 1] - files);
        else
            f->leader = of[0]->leader;
    }
}

/* How many from `of` on belong together. */
static uint32_t run_of(const file_ref *of, uint32_t n,
                       int (*same)(file_ref, file_ref))
{
    uint32_t len = 1;

    while (len < n && same(of[0], of[len]) == 0)
        len++;
    return len;
}

/* Files of one pattern: ranks of one job, or none of them is. */
static enum msim_status settle(struct msim_fleet_file *files, file_ref *of,
                               uint32_t n, unsigned words)
{
    struct msim_rank_name *names = calloc(n, sizeof(*names));
    enum msim_status status = names ? MSIM_OK : MSIM_ENOMEM;
    uint64_t world = 0;

    for (uint32_t i = 0; i < n && names; i++) {
        names[i] = of[i]->name;
        world = of[i]->world > world ? of[i]->world : world;
    }
    if (names)
        status = msim_rank_names_settle(names, n, words, world);
    for (uint32_t i = 0; i < n && status == MSIM_OK; i++)
        files[of[i] - files].name = names[i];
    free(names);
    if (status != MSIM_OK || of[0]->name.rank < 0)
        return status;
    qsort(of, n, sizeof(*of), by_names);
    lead(files, of, n);
    return MSIM_OK;
}

/* By one kind of name after the other; last, those that say none. */
static enum msim_status join_names(struct msim_arena *arena,
                                   struct msim_fleet_file *files, file_ref *of,
                                   uint32_t n)
{
    static const unsigned tries[] = {MSIM_RANK_BIT(RANK),
                                     MSIM_RANK_ALL & ~(MSIM_RANK_BIT(RANK) |
                                                       MSIM_RANK_BIT(SUFFIX) |
                                                       MSIM_RANK_BIT(TAIL)),
                                     MSIM_RANK_BIT(SUFFIX), 0};

    for (size_t t = 0; t < sizeof(tries) / sizeof(*tries); t++) {
        uint32_t left = 0;

        for (uint32_t i = 0; i < n; i++) {
            if (files[i].name.rank >= 0)
                continue;
            msim_rank_name_read(&files[i].name, tries[t]);
            MSIM_TRY(name_pattern(arena, &files[i]));
            of[left++] = &files[i];
        }
        qsort(of, left, sizeof(*of), by_names);
        for (uint32_t i = 0, len; i < left; i += len) {
            len = run_of(of + i, left - i, same_names);
            MSIM_TRY(settle(files, of + i, len, tries[t]));
        }
    }
    return MSIM_OK;
}

/* Do `n` files say different ranks of one job? */
static bool are_ranks(const file_ref *of, uint32_t n)
{
    if (n < 2 || of[0]->name.rank >= 0 || of[0]->world < n)
        return false;
    for (uint32_t i = 0; i < n; i++)
        if (of[i]->rank < 0 || (i && of[i]->rank == of[i - 1]->rank))
            return false;
    return true;
}

static void join_worlds(struct msim_fleet_file *files, file_ref *of, uint32_t n)
{
    qsort(of, n, sizeof(*of), by_worlds);
    for (uint32_t i = 0, len; i < n; i += len) {
        len = run_of(of + i, n - i, same_worlds);
        if (are_ranks(of + i, len))
            lead(files, of + i, len);
    }
}

/* ---- execution traces --------------------------------------------------- */

/* With those that have times before execution traces. */
static int by_folders(const void *a, const void *b)
{
    const file_ref x = *(const file_ref *)a, y = *(const file_ref *)b;
    int c = strcmp(x->folder, y->folder);

    if (!c)
        c = strcmp(x->pattern, y->pattern);
    if (!c)
        c = compare(x->et, y->et);
    return c ? c : strcmp(x->path, y->path);
}

static int same_folders(file_ref a, file_ref b)
{
    return strcmp(a->folder, b->folder);
}

/* Of the leaders of one folder. */
static void pair(struct msim_fleet_file *files, const file_ref *of, uint32_t n)
{
    bool only = n == 2 && of[0]->et != of[1]->et;

    for (uint32_t i = 1; i < n; i++) {
        file_ref a = of[i - 1], b = of[i];
        bool agree = !a->et && b->et && !strcmp(a->pattern, b->pattern);

        if (agree || only)
            files[(b->et ? b : a) - files].leader = (b->et ? a : b)->leader;
    }
}

static void join_halves(struct msim_fleet_file *files, file_ref *of, uint32_t n)
{
    uint32_t leaders = 0;

    for (uint32_t i = 0; i < n; i++)
        if (files[i].leader == i && files[i].twin == MSIM_NONE)
            of[leaders++] = &files[i];
    qsort(of, leaders, sizeof(*of), by_folders);
    for (uint32_t i = 0, len; i < leaders; i += len) {
        len = run_of(of + i, leaders - i, same_folders);
        pair(files, of + i, len);
    }
    /* A leader may have got one. */
    for (uint32_t i = 0; i < n; i++)
        files[i].leader = files[files[i].leader].leader;
}

static int by_path(const void *a, const void *b)
{
    return strcmp(((file_ref)a)->path, ((file_ref)b)->path);
}

enum msim_status msim_fleet_group(struct msim_arena *arena,
                                  struct msim_fleet_file *files, uint32_t n)
{
    file_ref *of = malloc(((size_t)n + 1) * sizeof(*of));
    enum msim_status status = of ? MSIM_OK : MSIM_ENOMEM;

    if (n)
        qsort(files, n, sizeof(*files), by_path);
    for (uint32_t i = 0; i < n && status == MSIM_OK; i++) {
        files[i].leader = i;
        status = describe(arena, &files[i]);
    }
    if (status == MSIM_OK)
        status = join_names(arena, files, of, n);
    if (status == MSIM_OK) {
        for (uint32_t i = 0; i < n; i++)
            of[i] = &files[i];
        join_worlds(files, of, n);
        join_halves(files, of, n);
    }
    free(of);
    return status;
}

/* ---- the name of a job -------------------------------------------------- */

static bool is_below(const char *path, const char *folder)
{
    size_t len = strlen(folder);

    return !strncmp(path, folder, len) && path[len] == '/';
}

/* Does the job have all files in and below its folder, none of them named? */
static bool owns_folder(const struct msim_fleet_file *files, uint32_t n,
                        uint32_t leader)
{
    const char *folder = files[leader].folder;

    for (uint32_t i = 0; i < n; i++)
        if (is_below(files[i].path, folder) &&
            (files[i].leader != leader || files[i].named ||
             files[i].twin != MSIM_NONE))
            return false;
    return folder[0] && strcmp(folder, "/") != 0;
}

const char *msim_fleet_job_name(struct msim_arena *arena,
                                const struct msim_fleet_file *files, uint32_t n,
                                uint32_t leader)
{
    const struct msim_fleet_file *f = &files[leader];
    bool alone = true;

    if (owns_folder(files, n, leader))
        return f->folder;
    for (uint32_t i = 0; i < n && alone; i++)
        alone = i == leader || files[i].leader != leader || files[i].et;
    if (alone || f->name.rank < 0)
        return f->path;
    return msim_rank_name_starred(arena, &f->name, f->path,
                                  f->path + strlen(f->path));
}
