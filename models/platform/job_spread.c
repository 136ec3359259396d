/*
 * models/platform/job_spread.c - reading what kernels of one job share.
 */
#include "models/platform/platform_data.h"

#include "core/base/json.h"

#include <string.h>
#include <unistd.h>

/* Beyond that a spread is a mistake: a factor of 140 either way. */
#define MOST 3

static bool family_of(const char *text, int *f)
{
    for (*f = 0; *f < MSIM_FAMILY_COUNT; (*f)++)
        if (text && strcmp(text, msim_family_text((enum msim_family) * f)) == 0)
            return true;
    return false;
}

static enum msim_status read_spread(struct msim_job_spread *s,
                                    const cJSON *json, const char *file,
                                    struct msim_error *err)
{
    const cJSON *machine = cJSON_GetObjectItemCaseSensitive(json, "machine");
    const cJSON *o;
    int f;

    s->known = true;
    if (!msim_json_get_up_to(machine, "slower", MOST, &s->slower) ||
        !msim_json_get_up_to(machine, "faster", MOST, &s->faster))
        return msim_fail(err, MSIM_EFORMAT, file, MSIM_OFFSET_NONE,
                         "'machine' wants 'slower' and 'faster' from 0 to %d",
                         MOST);
    cJSON_ArrayForEach(o, cJSON_GetObjectItemCaseSensitive(json, "families"))
    {
        if (!family_of(o->string, &f) ||
            !msim_json_get_up_to(o, "log_sd", MOST, &s->family[f]))
            return msim_fail(err, MSIM_EFORMAT, file, MSIM_OFFSET_NONE,
                             "'families' wants families with a 'log_sd' from 0 "
                             "to %d",
                             MOST);
    }
    return MSIM_OK;
}

enum msim_status msim_job_spread_read(struct msim_job_spread *s,
                                      const char *file, struct msim_error *err)
{
    cJSON *json = NULL;
    enum msim_status status;

    memset(s, 0, sizeof(*s));
    if (access(file, F_OK) != 0)
        return MSIM_OK;
    status = msim_json_read_our(&json, file, "jobs", err);
    if (status == MSIM_OK)
        status = read_spread(s, json, file, err);
    cJSON_Delete(json);
    return status;
}
