/*
 * models/platform/data_path.h - the files of data/hosts and data/networks by
 * their names.
 */
#ifndef MSIM_MODELS_PLATFORM_DATA_PATH_H
#define MSIM_MODELS_PLATFORM_DATA_PATH_H
#include "core/base/status.h"

#include <stddef.h>

/*
 * The file of entry `name`: `name` itself where it is a path (it holds a '/' or
 * ends in .json), else `data_dir`/KINDs/NAME.json, whatever the case of the
 * letters. `kind` is the word for one such thing ("host"). EUNKNOWN, listing
 * the known, where there is none.
 */
MSIM_MUST_CHECK
enum msim_status msim_data_path(char *path, size_t size, const char *data_dir,
                                const char *kind, const char *name,
                                struct msim_error *err);

#endif
