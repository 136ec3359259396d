/*
 * models/platform/platform_find.h - the files of data/platforms by name, alias
 * and device.
 */
#ifndef MSIM_MODELS_PLATFORM_PLATFORM_FIND_H
#define MSIM_MODELS_PLATFORM_PLATFORM_FIND_H
#include "core/base/containers.h"
#include "core/base/json.h"

/* The names of the platforms in `data_dir`/platforms, as msim_data_list(). */
MSIM_MUST_CHECK
enum msim_status msim_platform_list(struct msim_arena *arena,
                                    const char *data_dir,
                                    const char *const **names, uint32_t *n,
                                    struct msim_error *err);

/* How a platform is called, by people (an alias) or by traces (a device). */
struct msim_platform_called {
    const char *platform;
    enum msim_called {
        MSIM_CALLED_GENERATION,
        MSIM_CALLED_ALIAS,
        MSIM_CALLED_DEVICE
    } kind;
    const char *name;
    double memory_from, memory_to; /* bytes, of a device */
    double sms;                    /* 0: the file does not say */
};

/*
 * All of that, in the order of platforms' names, from `data_dir`/platforms/
 * names.csv: no platform file is opened but those that the table is not of.
 * `*rows` is the caller's to free(), texts are the arena's. EIO where there is
 * no folder; ENOMEM.
 */
MSIM_MUST_CHECK
enum msim_status msim_platform_calls(struct msim_arena *arena,
                                     const char *data_dir,
                                     struct msim_platform_called **rows,
                                     uint32_t *n, struct msim_error *err);

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
 * file with this name, else the file with this alias, in upper or lower case,
 * with blanks or underscores in place of dashes.
 * EUNKNOWN where there is none; `err` lists the known names.
 */
MSIM_MUST_CHECK
enum msim_status msim_platform_find(char *path, size_t size,
                                    const char *data_dir, const char *name,
                                    struct msim_error *err);

/* Whether names.csv has `hash` (msim_hash_words()) for the file of `platform`,
 * a path from `data_dir`/platforms without its ".json":
 * it is as it was when the table was written, and looked at. */
bool msim_platform_is_shipped(const char *data_dir, const char *platform,
                              uint64_t hash);

/* The file of platform `name` as a tree, the caller's to delete; NULL where it
 * cannot be read. */
cJSON *msim_platform_json(const char *data_dir, const char *name);

#endif
