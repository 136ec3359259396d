/*
 * plan/describe/model_names.h - which file a model's name means.
 *
 * Names are compared without organisation, case and punctuation, so that
 * "meta-llama/Llama-3.1-8B" is llama3.1-8b. `data_dir`/models/names.csv has
 * what makers add to a name of the same shape ("Instruct", "FP8"), and names
 * that begin as another's does (DeepSeek-R1 is DeepSeek-V3).
 */
#ifndef MSIM_PLAN_DESCRIBE_MODEL_NAMES_H
#define MSIM_PLAN_DESCRIBE_MODEL_NAMES_H
#include "core/base/status.h"

#include <stddef.h>

/* What may follow the name of a file. */
enum msim_model_rest {
    MSIM_MODEL_REST_KNOWN, /* what names.csv has, versions and dates */
    MSIM_MODEL_REST_ANY    /* whatever tables say of a served model */
};

/*
 * The file in `folder` for `name`, into `path`: the longest file name that
 * `name` begins with, as typed, else as names.csv begins it; of a distilled
 * model the student's, which follows "Distill". EUNKNOWN where there is none,
 * EIO where the folder cannot be read. Without names.csv nothing is added.
 */
MSIM_MUST_CHECK
enum msim_status msim_model_name_find(char *path, size_t size,
                                      const char *folder, const char *data_dir,
                                      const char *name,
                                      enum msim_model_rest rest,
                                      struct msim_error *err);

#endif
