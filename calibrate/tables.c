/*
 * calibrate/tables.c - what the programs that fit read and write.
 */
#include "calibrate/tables.h"

#include "core/base/write_file.h"

#include <string.h>

enum msim_status msim_tables_read(struct msim_samples *s, const char *folder,
                                  struct msim_error *err)
{
    static const char *const TABLES[] = {
        "gemm", "attention", "vector",         "collective",
        "conv", "moe",       "expert_dispatch"};
    char path[1024];

    for (size_t i = 0; i < sizeof(TABLES) / sizeof(*TABLES); i++) {
        snprintf(path, sizeof(path), "%s/%s.csv.gz", folder, TABLES[i]);
        MSIM_TRY(msim_samples_add(s, path, err));
    }
    msim_samples_sort(s);
    return MSIM_OK;
}

enum msim_status msim_tree_write(const cJSON *json, const char *path,
                                 struct msim_error *err)
{
    struct msim_file *file;
    char *text = cJSON_Print(json);
    enum msim_status status;

    if (!text)
        return MSIM_ENOMEM;
    status = msim_file_open(&file, path, false, err);
    if (status == MSIM_OK) {
        status = msim_file_write(file, text, strlen(text));
        if (status == MSIM_OK)
            status = msim_file_write(file, "\n", 1);
        if (status == MSIM_OK)
            status = msim_file_commit(file, err);
        else
            msim_file_abandon(file);
    }
    cJSON_free(text);
    return status;
}
