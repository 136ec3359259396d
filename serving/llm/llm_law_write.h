/*
 * serving/llm/llm_law_write.h - the file of a law, as llm_law.h reads it.
 */
#ifndef MSIM_SERVING_LLM_LLM_LAW_WRITE_H
#define MSIM_SERVING_LLM_LLM_LAW_WRITE_H
#include "serving/llm/llm_law.h"

struct cJSON;

/* Where the constants are from. */
struct msim_llm_law_source {
    const char *how, *command, *file; /* texts of the file */
    uint32_t used, left_out, failed;  /* rows */
};

/* The caller deletes it; NULL: no memory. */
struct cJSON *msim_llm_law_json(const struct msim_llm_law *law,
                                const struct msim_llm_law_source *from);

/* The same, written to `path`. ENOMEM, and as msim_file_open(). */
MSIM_MUST_CHECK
enum msim_status msim_llm_law_write(const struct msim_llm_law *law,
                                    const struct msim_llm_law_source *from,
                                    const char *path, struct msim_error *err);

#endif
