/*
 * tests/unit/read_spec.h - a plan's spec from a file.
 */
#ifndef MSIM_TESTS_UNIT_READ_SPEC_H
#define MSIM_TESTS_UNIT_READ_SPEC_H
#include "core/base/json.h"
#include "plan/search/spec.h"

static inline enum msim_status read_spec_at(struct msim_spec *spec,
                                            const char *path, const char *data,
                                            struct msim_error *err)
{
    enum msim_status status;
    cJSON *json;

    MSIM_TRY(msim_json_read(&json, path, err));
    status = msim_spec_of_json(spec, json, path, data, err);
    cJSON_Delete(json);
    return status;
}

#endif
