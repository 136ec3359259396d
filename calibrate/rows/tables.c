/*
 * calibrate/rows/tables.c - what the programs that fit read and write.
 */
#include "calibrate/rows/samples.h"

#include "core/base/files.h"

#include <string.h>

static const char *const NAMES[MSIM_TABLES] = {
    "gemm", "attention", "vector",         "collective",
    "conv", "moe",       "expert_dispatch"};

bool msim_tables_choose(struct msim_tables *t, const char *name,
                        struct msim_error *err)
{
    char known[200] = "";

    for (size_t i = 0; i < MSIM_TABLES; i++) {
        size_t used = strlen(known);

        if (strcmp(NAMES[i], name) == 0)
            return t->some = t->chosen[i] = true;
        snprintf(known + used, sizeof(known) - used, "%s%s", i ? ", " : "",
                 NAMES[i]);
    }
    (void)msim_fail(err, MSIM_EUNKNOWN, NULL, MSIM_OFFSET_NONE,
                    "unknown table '%s', known are: %s", name, known);
    return false;
}

enum msim_status msim_tables_read(struct msim_samples *s, const char *folder,
                                  const struct msim_tables *t,
                                  struct msim_error *err)
{
    char path[1024];

    for (size_t i = 0; i < MSIM_TABLES; i++) {
        if (t->some && !t->chosen[i])
            continue;
        snprintf(path, sizeof(path), "%s/%s.csv.gz", folder, NAMES[i]);
        MSIM_TRY(msim_samples_add(s, path, err));
    }
    msim_samples_sort(s);
    return MSIM_OK;
}

enum msim_status msim_tree_write(const cJSON *json, const char *path,
                                 struct msim_error *err)
{
    char *text = cJSON_Print(json);
    size_t n = text ? strlen(text) : 0;
    enum msim_status status;

    if (!text)
        return MSIM_ENOMEM;
    text[n] = '\n'; /* over its end: files have none */
    status = msim_file_save(path, text, n + 1, NULL, err);
    cJSON_free(text);
    return status;
}

enum msim_status msim_tree_renew(const cJSON *json, const char *path,
                                 struct msim_error *err)
{
    msim_files_read_forget(path);
    return msim_tree_write(json, path, err);
}
