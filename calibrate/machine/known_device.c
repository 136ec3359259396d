/*
 * calibrate/machine/known_device.c - the shipped platform of a device.
 */
#include "calibrate/machine/machine.h"

#include "core/base/print.h"
#include "models/platform/platform.h"

#include <string.h>

#define NOT_MEASURED ": not measured here"

void msim_cal_known_find(struct msim_cal_known *k, const char *data_dir,
                         const cJSON *device)
{
    const char *gpu = msim_json_get_text(device, "name"), *found = NULL;
    struct msim_arena arena;

    *k = (struct msim_cal_known){.platform = NULL};
    msim_arena_init(&arena);
    if (data_dir && gpu)
        found = msim_platform_match(
            &arena, data_dir, gpu,
            msim_json_get_count(device, "memory_bytes", UINT64_MAX, 0),
            (uint32_t)msim_json_get_count(device, "sms", UINT32_MAX, 0));
    if (found) {
        snprintf(k->name, sizeof(k->name), "%s", found);
        k->platform = msim_platform_json(data_dir, found);
    }
    msim_arena_release(&arena);
}

void msim_cal_known_release(struct msim_cal_known *k)
{
    cJSON_Delete(k->platform);
    *k = (struct msim_cal_known){.platform = NULL};
}

/* Figures that say how much of another one can be had: what was measured is
 * what can be had. */
static const char *base_of(const char *key)
{
    static const char *const BASES[][2] = {
        {"stream_ratio", "memory_bandwidth"},
        {"sustained_ratio", "fp32_flops"},
        {"fp32_product_ratio", "fp32_flops"},
        {"usable_memory_bytes", "memory_bytes"},
        {"attention_floor_us", "kernel_floor_us"},
    };

    for (size_t i = 0; i < sizeof(BASES) / sizeof(*BASES); i++)
        if (strcmp(BASES[i][0], key) == 0)
            return BASES[i][1];
    return NULL;
}

static bool has(const cJSON *sheet, const char *key)
{
    return cJSON_GetObjectItemCaseSensitive(sheet, key) != NULL;
}

static enum msim_status add(cJSON *sheet, const cJSON *figure,
                            const char *platform)
{
    cJSON *copy = cJSON_Duplicate(figure, true);
    char source[96];

    if (!copy || !cJSON_AddItemToObject(sheet, figure->string, copy)) {
        cJSON_Delete(copy);
        return MSIM_ENOMEM;
    }
    if (!has(copy, "value"))
        return MSIM_OK; /* "links" has names */
    snprintf(source, sizeof(source), "data sheet of %s" NOT_MEASURED, platform);
    cJSON_DeleteItemFromObjectCaseSensitive(copy, "source");
    return cJSON_AddStringToObject(copy, "source", source) ? MSIM_OK
                                                           : MSIM_ENOMEM;
}

/* Shares are looked at first, while it shows which figures were measured. */
enum msim_status msim_cal_known_complete(cJSON *sheet,
                                         const struct msim_cal_known *k)
{
    const cJSON *theirs =
        cJSON_GetObjectItemCaseSensitive(k->platform, "data_sheet");
    const cJSON *figure;

    for (int shares = 1; shares >= 0; shares--) {
        cJSON_ArrayForEach(figure, theirs)
        {
            const char *base = base_of(figure->string);

            if ((base != NULL) == shares && !has(sheet, figure->string) &&
                !(base && has(sheet, base)))
                MSIM_TRY(add(sheet, figure, k->name));
        }
    }
    return MSIM_OK;
}

void msim_cal_known_show(FILE *out, const cJSON *platform)
{
    const cJSON *sheet =
        cJSON_GetObjectItemCaseSensitive(platform, "data_sheet");
    const char *links = msim_json_get_text(platform, "links_of");
    const cJSON *figure;
    uint32_t shown = 0;

    cJSON_ArrayForEach(figure, sheet)
    {
        const char *source = msim_json_get_text(figure, "source");
        const char *end = source ? strstr(source, NOT_MEASURED) : NULL;

        if (end && shown++ == 0)
            msim_print(out, "not measured here, but of the %.*s: ",
                       (int)(end - source), source);
        if (end)
            msim_print(out, "%s%s", shown > 1 ? ", " : "", figure->string);
    }
    if (shown)
        fputc('\n', out);
    if (links)
        msim_print(out, "collectives were not timed: those of %s are taken\n",
                   links);
}
