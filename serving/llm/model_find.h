/*
 * serving/llm/model_find.h - which config.json a model's name in a table is
 * about.
 */
#ifndef MSIM_SERVING_LLM_MODEL_FIND_H
#define MSIM_SERVING_LLM_MODEL_FIND_H
#include "core/base/status.h"

#include <stddef.h>

/*
 * The file in `folder` for `name`, into `path`: the longest file name that the
 * model's name begins with, where neither organisation, case nor punctuation
 * counts ("meta-llama/Llama-3.1-8B-Instruct" is llama-3.1-8b.json). Names that
 * makers gave to other training of the same model are known: DeepSeek-R1 is
 * deepseek-v3. EUNKNOWN where there is none; EIO where the folder cannot be
 * read.
 */
MSIM_MUST_CHECK
enum msim_status msim_llm_model_find(char *path, size_t size,
                                     const char *folder, const char *name,
                                     struct msim_error *err);

#endif
