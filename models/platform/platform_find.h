/*
 * models/platform/platform_find.h - the files of data/platforms by name, alias
 * and device.
 */
#ifndef MSIM_MODELS_PLATFORM_PLATFORM_FIND_H
#define MSIM_MODELS_PLATFORM_PLATFORM_FIND_H
#include "core/base/arena.h"
#include "core/base/json.h"

/* The names of the platforms in `data_dir`/platforms, as msim_data_list(). */
MSIM_MUST_CHECK
enum msim_status msim_platform_list(struct msim_arena *arena,
                                    const char *data_dir,
                                    const char *const **names, uint32_t *n,
                                    struct msim_error *err);

/*
 * The name of the platform that a traced GPU is, by its device name, memory and
 * number of SMs (the A100 of 40 GB is not that of 80 GB); 0 bytes or SMs: the
 * trace does not have them. NULL where none matches. The text is owned by
 * `arena`.
 */
const char *msim_platform_match(struct msim_arena *arena, const char *data_dir,
                                const char *gpu, uint64_t memory_bytes,
                                uint32_t sms);

/*
 * The path of the platform `name`: `name` itself where it is a path, else the
 * file with this name, else the file with this alias, in upper or lower case.
 * EUNKNOWN where there is none; `err` lists the known names.
 */
MSIM_MUST_CHECK
enum msim_status msim_platform_find(char *path, size_t size,
                                    const char *data_dir, const char *name,
                                    struct msim_error *err);

/* The file of platform `name` as a tree, the caller's to delete; NULL where it
 * cannot be read. */
cJSON *msim_platform_json(const char *data_dir, const char *name);

#endif
