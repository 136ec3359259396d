/*
 * plan/search/plan_platforms.c - the platforms of a spec.
 */
#include "plan/search/spec.h"

#include <string.h>

/* The error, which says what is known, with the member before it. */
static enum msim_status name_member(enum msim_status status,
                                    const struct msim_spec *spec, uint32_t i,
                                    const char *member, struct msim_error *err)
{
    struct msim_error found = *err;

    if (status != MSIM_EUNKNOWN)
        return status;
    *err = (struct msim_error){0};
    return msim_fail(err, status, spec->file, MSIM_OFFSET_NONE,
                     "platforms[%u]%s: %s", i, member, found.text);
}

static enum msim_status load_one(struct msim_plan_platforms *out,
                                 const struct msim_spec *spec, uint32_t i,
                                 const char *data_dir, struct msim_error *err)
{
    const struct msim_spec_platform *p = &spec->platforms[i];

    MSIM_TRY(
        name_member(msim_platform_load(&out->of[i], data_dir, p->name, err),
                    spec, i, "", err));
    if (!*p->network)
        return MSIM_OK;
    MSIM_TRY(name_member(
        msim_network_load(&out->networks[i], data_dir, p->network, err), spec,
        i, ".network", err));
    return name_member(
        msim_platform_connect(out->of[i], &out->networks[i], data_dir, err),
        spec, i, ".network", err);
}

enum msim_status msim_plan_platforms_load(struct msim_plan_platforms *out,
                                          const struct msim_spec *spec,
                                          const char *data_dir,
                                          struct msim_error *err)
{
    memset(out, 0, sizeof(*out));
    for (uint32_t i = 0; i < spec->n_platforms; i++)
        MSIM_TRY(load_one(out, spec, i, data_dir, err));
    return MSIM_OK;
}

void msim_plan_platforms_release(struct msim_plan_platforms *p)
{
    for (uint32_t i = 0; i < MSIM_SPEC_PLATFORMS; i++)
        msim_platform_free(p->of[i]);
    memset(p, 0, sizeof(*p));
}
