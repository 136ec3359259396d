/*
 * tests/fuzz/verbs/shipped.c - what the product ships is read once a process,
 * and no other program is run, so that the time of a run goes to what the
 * fuzzer made.
 *
 * The linker (--wrap) puts these functions before those of their names.
 */
#include "core/base/json.h"
#include "core/report/write/chart.h"
#include "models/forest/forest.h"
#include "models/host/host.h"
#include "models/platform/platform.h"
#include "plan/memory/job_memory.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST_KEPT    100
#define MOST_FORESTS 8192 /* a power of two, and twice those shipped */

enum msim_status __real_msim_json_read(cJSON **out, const char *path,
                                       struct msim_error *err);
enum msim_status __wrap_msim_json_read(cJSON **out, const char *path,
                                       struct msim_error *err);
void __real_cJSON_Delete(cJSON *item);
void __wrap_cJSON_Delete(cJSON *item);
enum msim_status __real_msim_forest_read(struct msim_forest *f,
                                         const cJSON *json,
                                         uint32_t n_features);
enum msim_status __wrap_msim_forest_read(struct msim_forest *f,
                                         const cJSON *json,
                                         uint32_t n_features);
void __real_msim_forest_release(struct msim_forest *f);
void __wrap_msim_forest_release(struct msim_forest *f);
enum msim_status __real_msim_platform_load(struct msim_platform **out,
                                           const char *data_dir,
                                           const char *name,
                                           struct msim_error *err);
enum msim_status __wrap_msim_platform_load(struct msim_platform **out,
                                           const char *data_dir,
                                           const char *name,
                                           struct msim_error *err);
enum msim_status __real_msim_host_load(struct msim_host **out,
                                       const char *data_dir, const char *name,
                                       struct msim_error *err);
enum msim_status __wrap_msim_host_load(struct msim_host **out,
                                       const char *data_dir, const char *name,
                                       struct msim_error *err);
void __real_msim_host_free(struct msim_host *h);
void __wrap_msim_host_free(struct msim_host *h);
enum msim_status __real_msim_steps_read(struct msim_step_fit *step,
                                        struct msim_memory_fit *memory,
                                        const char *data_dir,
                                        const char *without,
                                        struct msim_error *err);
enum msim_status __wrap_msim_steps_read(struct msim_step_fit *step,
                                        struct msim_memory_fit *memory,
                                        const char *data_dir,
                                        const char *without,
                                        struct msim_error *err);
void __real_msim_step_fit_release(struct msim_step_fit *fit);
void __wrap_msim_step_fit_release(struct msim_step_fit *fit);
enum msim_status __wrap_msim_program_run(char **output, size_t *n,
                                         const struct msim_run_program *p,
                                         struct msim_error *err);

/* ---- forests ------------------------------------------------------------- */

/* Those of kept JSON, by the place of their JSON and by that of their splits.
 */
static struct shipped_forest {
    const void *key;
    struct msim_forest *forest; /* NULL: not read yet */
} forests[MOST_FORESTS];
static unsigned n_forests;

/* Of `key`, or the one that is free for it. */
static struct shipped_forest *forest_of(const void *key)
{
    uint64_t at = (uint64_t)(uintptr_t)key * 0x9e3779b97f4a7c15u >> 32;

    while (forests[at % MOST_FORESTS].key &&
           forests[at % MOST_FORESTS].key != key)
        at++;
    return &forests[at % MOST_FORESTS];
}

static void note_forest(const void *key, struct msim_forest *forest)
{
    struct shipped_forest *s = forest_of(key);

    if (!s->key && 2 * ++n_forests > MOST_FORESTS)
        abort();
    *s = (struct shipped_forest){key, forest};
}

static void note_forests(const cJSON *json)
{
    for (const cJSON *c = json->child; c; c = c->next) {
        if (c->string && strcmp(c->string, "forest") == 0)
            note_forest(c, NULL);
        note_forests(c);
    }
}

enum msim_status __wrap_msim_forest_read(struct msim_forest *f,
                                         const cJSON *json, uint32_t n_features)
{
    struct shipped_forest *s = forest_of(json);

    if (!s->key)
        return __real_msim_forest_read(f, json, n_features);
    if (!s->forest) {
        s->forest = malloc(sizeof(*s->forest));
        if (!s->forest)
            abort();
        MSIM_TRY(__real_msim_forest_read(s->forest, json, n_features));
        if (s->forest->splits)
            note_forest(s->forest->splits, s->forest);
    }
    *f = *s->forest;
    return MSIM_OK;
}

void __wrap_msim_forest_release(struct msim_forest *f)
{
    if (f->splits && forest_of(f->splits)->key)
        *f = (struct msim_forest){0};
    else
        __real_msim_forest_release(f);
}

/* ---- JSON ---------------------------------------------------------------- */

static struct {
    char path[512];
    cJSON *json;
} kept[MOST_KEPT];

/* Shipped, or the second input of a target. */
static bool stays_as_it_is(const char *path)
{
    return strncmp(path, MSIM_DATA, strlen(MSIM_DATA)) == 0 ||
           strncmp(path, "corpus/", strlen("corpus/")) == 0;
}

enum msim_status __wrap_msim_json_read(cJSON **out, const char *path,
                                       struct msim_error *err)
{
    size_t i = 0;

    if (!stays_as_it_is(path))
        return __real_msim_json_read(out, path, err);
    while (i < MOST_KEPT && kept[i].json && strcmp(kept[i].path, path) != 0)
        i++;
    if (i == MOST_KEPT || strlen(path) >= sizeof(kept->path))
        return __real_msim_json_read(out, path, err);
    if (!kept[i].json) {
        MSIM_TRY(__real_msim_json_read(&kept[i].json, path, err));
        snprintf(kept[i].path, sizeof(kept->path), "%s", path);
        note_forests(kept[i].json);
    }
    *out = kept[i].json;
    return MSIM_OK;
}

void __wrap_cJSON_Delete(cJSON *item)
{
    for (size_t i = 0; item && i < MOST_KEPT && kept[i].json; i++)
        if (kept[i].json == item)
            return;
    __real_cJSON_Delete(item);
}

/* ---- platforms ----------------------------------------------------------- */

/* Those of the data folder, by name, as many as there is place for. */
enum msim_status __wrap_msim_platform_load(struct msim_platform **out,
                                           const char *data_dir,
                                           const char *name,
                                           struct msim_error *err)
{
    static struct {
        char name[64];
        struct msim_platform *p;
    } shipped[MOST_KEPT];
    size_t i = 0;

    while (i < MOST_KEPT && shipped[i].p && strcmp(shipped[i].name, name) != 0)
        i++;
    if (i == MOST_KEPT || strlen(name) >= sizeof(shipped->name) ||
        strchr(name, '/') || access(name, F_OK) == 0 ||
        strcmp(data_dir, MSIM_DATA) != 0)
        return __real_msim_platform_load(out, data_dir, name, err);
    if (!shipped[i].p) {
        MSIM_TRY(__real_msim_platform_load(&shipped[i].p, data_dir, name, err));
        snprintf(shipped[i].name, sizeof(shipped->name), "%s", name);
    }
    return msim_platform_copy(out, shipped[i].p);
}

/* ---- hosts --------------------------------------------------------------- */

/* All targets have that one, or a file. */
static struct msim_host *generic;

enum msim_status __wrap_msim_host_load(struct msim_host **out,
                                       const char *data_dir, const char *name,
                                       struct msim_error *err)
{
    if (strcmp(name, "generic") != 0 || access(name, F_OK) == 0)
        return __real_msim_host_load(out, data_dir, name, err);
    if (!generic)
        MSIM_TRY(__real_msim_host_load(&generic, data_dir, name, err));
    *out = generic;
    return MSIM_OK;
}

void __wrap_msim_host_free(struct msim_host *h)
{
    if (h != generic)
        __real_msim_host_free(h);
}

/* ---- the fits of training steps ------------------------------------------ */

static struct msim_step_fit steps; /* on all rows */
static struct msim_memory_fit peaks;

enum msim_status __wrap_msim_steps_read(struct msim_step_fit *step,
                                        struct msim_memory_fit *memory,
                                        const char *data_dir,
                                        const char *without,
                                        struct msim_error *err)
{
    if (without && *without)
        return __real_msim_steps_read(step, memory, data_dir, without, err);
    if (!steps.rows)
        MSIM_TRY(__real_msim_steps_read(&steps, &peaks, data_dir, NULL, err));
    *step = steps;
    *memory = peaks;
    return MSIM_OK;
}

void __wrap_msim_step_fit_release(struct msim_step_fit *fit)
{
    if (fit->rows && fit->rows == steps.rows)
        *fit = (struct msim_step_fit){0};
    else
        __real_msim_step_fit_release(fit);
}

/* ---- programs ------------------------------------------------------------ */

/* A chart or a page that ends as it must. */
enum msim_status __wrap_msim_program_run(char **output, size_t *n,
                                         const struct msim_run_program *p,
                                         struct msim_error *err)
{
    const char *whole =
        strcmp(*p->argv, "gnuplot") == 0 ? "<svg></svg>" : "%PDF-1.7\n%%EOF\n";

    (void)err;
    *n = strlen(whole);
    *output = strdup(whole);
    return *output ? MSIM_OK : MSIM_ENOMEM;
}
