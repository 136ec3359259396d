/*
 * models/platform/data_path.h - the files of data/platforms, data/hosts and
 * data/networks by their names.
 *
 * A kind is the word for one such thing ("host"); its files are
 * DATA_DIR/KINDs/NAME.json.
 */
#ifndef MSIM_MODELS_PLATFORM_DATA_PATH_H
#define MSIM_MODELS_PLATFORM_DATA_PATH_H
#include "core/base/containers.h"

#include <stdbool.h>

/* Whether `name` is the path of a file: it holds a '/' or ends in .json. */
bool msim_data_is_path(const char *name);

/*
 * The names of the files of a kind, sorted by their bytes; `*names` is an array
 * of `*n` texts, all owned by `arena`. EIO where the folder cannot be opened.
 */
MSIM_MUST_CHECK
enum msim_status msim_data_list(struct msim_arena *arena, const char *data_dir,
                                const char *kind, const char *const **names,
                                uint32_t *n, struct msim_error *err);

/* Put base + tail into `path`; true where that is a data folder: it holds
 * platforms/. */
bool msim_data_folder(char *path, size_t size, const char *base,
                      const char *tail);

/* The error EUNKNOWN for `name`, which says the one that it was meant to be and
 * lists the `n` known names. */
MSIM_MUST_CHECK
enum msim_status msim_data_unknown(const char *kind, const char *name,
                                   const char *const *names, uint32_t n,
                                   struct msim_error *err);

/*
 * The path of the file `name`: `name` itself where it is a path, else that of
 * the file with this name in upper or lower case. EUNKNOWN where there is none.
 */
MSIM_MUST_CHECK
enum msim_status msim_data_path(char *path, size_t size, const char *data_dir,
                                const char *kind, const char *name,
                                struct msim_error *err);

#endif
