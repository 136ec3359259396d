/*
 * predict/scenario/change_machine.c - changes of what the job runs on.
 */
#include "core/base/json.h"
#include "predict/scenario/scenario.h"

#include <string.h>

static const char *read_name(struct msim_change_reader *r, const char *key)
{
    const char *text = msim_field_text(r->f, key);
    const char *kept = text && *text ? msim_change_text(r, text) : NULL;

    if (!kept)
        msim_field_refuse(r->f, key, "a name, or a file");
    r->row->other_target = true;
    return kept;
}

/* A number is its text. */
static const char *read_rate(struct msim_change_reader *r, const char *key)
{
    const cJSON *item = msim_field_json(r->f, key);
    char text[32];

    if (!cJSON_IsNumber(item))
        return read_name(r, key);
    r->row->other_target = true;
    msim_number_text(text, item->valuedouble);
    return msim_change_text(r, text);
}

void msim_change_read_clock(struct msim_change_reader *r, const char *key)
{
    const char *text = read_rate(r, key);
    struct msim_clock_wish *wish = &r->row->settings.clock;
    struct msim_error why = {0};
    bool cap = strcmp(key, "power_cap") == 0;

    if (text && (cap ? msim_power_cap_parse(wish, text, &why)
                     : msim_clock_parse(wish, text, &why)) != MSIM_OK)
        msim_field_refuse(r->f, key,
                          cap ? "watts, as \"300\""
                              : "megahertz or a share, as \"1100\" or \"0.8\"");
}

static uint32_t read_count(struct msim_change_reader *r, const char *key)
{
    int64_t n = msim_field_int(r->f, key, 1, 1);

    r->row->other_target = true;
    if (n > 10000000)
        msim_field_refuse(r->f, key, "at most 10,000,000");
    return n > 10000000 ? 1 : (uint32_t)n;
}

void msim_change_read_gpu(struct msim_change_reader *r, const char *key)
{
    r->row->settings.platform = read_name(r, key);
}

void msim_change_read_network(struct msim_change_reader *r, const char *key)
{
    /* A grid takes numbers of what is a kind of time. */
    if (cJSON_IsNumber(cJSON_GetObjectItemCaseSensitive(r->f->object, key)))
        msim_field_refuse(r->f, key,
                          "a name or a file; a factor is of "
                          "\"communication\"");
    else
        r->row->settings.network = read_name(r, key);
}

void msim_change_read_host(struct msim_change_reader *r, const char *key)
{
    r->row->settings.host = read_name(r, key);
}

void msim_change_read_nodes(struct msim_change_reader *r, const char *key)
{
    r->row->settings.nodes = read_count(r, key);
}

void msim_change_read_ranks(struct msim_change_reader *r, const char *key)
{
    r->row->settings.ranks = read_count(r, key);
}
