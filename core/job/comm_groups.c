/*
 * core/job/comm_groups.c - the ranks of process groups, in a file beside the
 * traces.
 */
#include "core/job/job_internal.h"

#include "core/base/containers.h"
#include "core/base/files.h"
#include "core/base/json.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Lists of a hundred thousand ranks are smaller. */
#define BYTES_MAX ((off_t)4 << 20)

static bool is_rank(const cJSON *n)
{
    return cJSON_IsNumber(n) && n->valuedouble >= 0 &&
           n->valuedouble <= INT32_MAX &&
           floor(n->valuedouble) == n->valuedouble;
}

static bool is_list(const cJSON *list)
{
    const cJSON *n;

    if (!cJSON_IsArray(list) || !list->child)
        return false;
    cJSON_ArrayForEach(n, list)
    {
        if (!is_rank(n))
            return false;
    }
    return true;
}

/* What lies beside the traces may be anything, such as a report that is written
 * anew: only the file that is taken counts as read. NULL: it is not JSON. */
static cJSON *read_small(const char *path)
{
    struct stat st;
    cJSON *json = NULL;
    char *text;
    FILE *f;

    if (stat(path, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size > BYTES_MAX)
        return NULL;
    text = malloc((size_t)st.st_size + 1);
    f = text ? fopen(path, "rbe") : NULL;
    if (f && msim_json_parse(&json, text, fread(text, 1, (size_t)st.st_size, f),
                             NULL) != MSIM_OK)
        json = NULL;
    if (f)
        fclose(f);
    free(text);
    return json;
}

/* The object, which is the caller's; NULL: it is none. */
static cJSON *read_groups(const char *path)
{
    cJSON *all = read_small(path);
    const cJSON *list;

    list = cJSON_IsObject(all) ? all->child : NULL;
    while (list && is_list(list))
        list = list->next;
    if (!list && cJSON_IsObject(all) && all->child)
        return all;
    cJSON_Delete(all);
    return NULL;
}

bool msim_comm_groups_is(const char *path)
{
    cJSON *all = read_groups(path);

    cJSON_Delete(all);
    return all != NULL;
}

/* ---- the file ------------------------------------------------------------ */

static const struct msim_file_info *first_chakra(const struct msim_job *job)
{
    for (uint32_t i = 0; i < job->n_files; i++)
        if (job->files[i].format == MSIM_FORMAT_CHAKRA)
            return &job->files[i];
    return NULL;
}

static bool is_json(const char *name)
{
    size_t len = strlen(name);

    return name[0] != '.' && len > 5 && !strcmp(name + len - 5, ".json");
}

/* The only file of groups beside `path`, which the caller frees; NULL: none, or
 * several (`*n`). */
static char *find_beside(const char *path, uint32_t *n)
{
    const char *slash = strrchr(path, '/');
    int len = slash ? (int)(slash - path) : 1;
    const char *folder = slash ? path : ".";
    char *at = strndup(folder, (size_t)len), *found = NULL;
    DIR *d = at ? opendir(at) : NULL;
    struct dirent *entry;

    while (d && (entry = readdir(d))) {
        char *one;

        if (!is_json(entry->d_name) ||
            asprintf(&one, "%s/%s", at, entry->d_name) < 0)
            continue;
        if (!msim_comm_groups_is(one) || (*n)++) {
            free(one);
            continue;
        }
        found = one;
    }
    if (d)
        closedir(d);
    free(at);
    if (*n == 1)
        return found;
    free(found);
    return NULL;
}

/* ---- what it says -------------------------------------------------------- */

static enum msim_status list_ranks(struct msim_trace *t, struct msim_group *g,
                                   const cJSON *list)
{
    const cJSON *n;

    g->first = t->n_group_ranks;
    cJSON_ArrayForEach(n, list)
    {
        MSIM_TRY(msim_grow((void **)&t->group_ranks, &t->cap_group_ranks,
                           t->n_group_ranks, sizeof(*t->group_ranks)));
        t->group_ranks[t->n_group_ranks++] = (int32_t)n->valuedouble;
        g->count++;
    }
    g->size = g->count;
    return MSIM_OK;
}

static enum msim_status take(struct msim_job *job, const cJSON *all)
{
    for (uint32_t r = 0; r < job->n_ranks; r++) {
        struct msim_trace *t = job->ranks[r];

        for (uint32_t i = 0; i < t->n_groups; i++) {
            struct msim_group *g = &t->groups[i];
            const cJSON *list = cJSON_GetObjectItemCaseSensitive(
                all, msim_trace_text(t, g->name));

            if (list && !g->count)
                MSIM_TRY(list_ranks(t, g, list));
        }
    }
    return MSIM_OK;
}

static bool lacks_ranks(const struct msim_job *job)
{
    for (uint32_t r = 0; r < job->n_ranks; r++)
        for (uint32_t i = 0; i < job->ranks[r]->n_groups; i++)
            if (!job->ranks[r]->groups[i].count)
                return true;
    return false;
}

enum msim_status msim_comm_groups_take(struct msim_job *job, const char *named)
{
    const struct msim_file_info *chakra = first_chakra(job);
    enum msim_status status = MSIM_OK;
    char *found = NULL;
    cJSON *all = NULL;
    uint32_t n = 0;

    if (!chakra || !lacks_ranks(job))
        return MSIM_OK;
    if (!named)
        found = find_beside(chakra->path, &n);
    if (n > 1)
        msim_job_warn(job,
                      "%u files beside '%s' list process groups: name the one "
                      "of this job with the traces, none is read",
                      n, chakra->path);
    if (named || found)
        all = read_groups(named ? named : found);
    if (all)
        status = take(job, all);
    if (all && status == MSIM_OK)
        status = msim_files_read_note(named ? named : found, NULL);
    cJSON_Delete(all);
    free(found);
    return status;
}
