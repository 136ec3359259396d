/*
 * models/platform/platform_shelf.h - platforms that many runs ask for by name,
 * each read once.
 */
#ifndef MSIM_MODELS_PLATFORM_PLATFORM_SHELF_H
#define MSIM_MODELS_PLATFORM_PLATFORM_SHELF_H
#include "models/platform/platform.h"

/* Zero it at the start. Not thread-safe. */
struct msim_platform_shelf {
    struct msim_shelf_entry *entries;
    uint32_t n, cap;
};

/*
 * As msim_platform_load(), but read only the first time that the shelf is asked
 * for the name. What is taken is the caller's, to set and to free, while the
 * shelf lives. Without a shelf (NULL) it is loaded.
 */
MSIM_MUST_CHECK
enum msim_status msim_platform_take(struct msim_platform_shelf *shelf,
                                    struct msim_platform **out,
                                    const char *data_dir, const char *name,
                                    struct msim_error *err);

void msim_platform_shelf_release(struct msim_platform_shelf *shelf);

#endif
