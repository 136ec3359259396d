/*
 * calibrate/measure/cal_experiment.c - what is to be timed, as a JSON object.
 */
#include "calibrate/measure/cal_experiment.h"

#include "core/base/hash.h"
#include "core/work/rows.h"
#include "profilers/experiment.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Members that are no part of what is timed. */
static bool is_extra(const char *name)
{
    return strcmp(name, "id") == 0 || strcmp(name, "policy") == 0 ||
           strcmp(name, "raw") == 0 || strcmp(name, "counters") == 0;
}

struct row {
    const char *names[MSIM_CAL_FIELDS];
    char *fields[MSIM_CAL_FIELDS];
    uint32_t n;
};

static void add_field(struct row *r, const char *name, const char *text)
{
    if (r->n == MSIM_CAL_FIELDS)
        return;
    r->names[r->n] = name;
    r->fields[r->n++] = (char *)text;
}

static void fill_row(struct row *r, const cJSON *experiment,
                     struct msim_cal_texts *texts)
{
    const cJSON *member;

    cJSON_ArrayForEach(member, experiment)
    {
        if (is_extra(member->string) || r->n == MSIM_CAL_FIELDS)
            continue;
        if (cJSON_IsNumber(member)) {
            snprintf(texts->numbers[r->n], sizeof(*texts->numbers), "%.15g",
                     member->valuedouble);
            add_field(r, member->string, texts->numbers[r->n]);
        } else if (cJSON_IsString(member)) {
            add_field(r, member->string, member->valuestring);
        }
    }
}

bool msim_cal_work(const cJSON *experiment, const char *framework,
                   struct msim_cal_texts *texts, struct msim_work *w)
{
    const char *table = msim_json_get_text(experiment, "table");
    struct row r = {.n = 0};
    struct msim_row_map map;
    char reason[128];

    if (cJSON_GetObjectItemCaseSensitive(experiment, "beside"))
        return false;
    add_field(&r, "framework", framework);
    fill_row(&r, experiment, texts);
    return table && msim_row_map_names(&map, r.names, r.n, NULL) == MSIM_OK &&
           strcmp(msim_table_text(map.table), table) == 0 &&
           !msim_row_work(&map, r.fields, w, reason, sizeof(reason));
}

static uint64_t mix(uint64_t h, const char *text)
{
    return msim_hash_byte(msim_hash_text(h, text), 0xff);
}

/* The order of members does not matter: their hashes are added. */
uint64_t msim_cal_hash(const cJSON *experiment, const char *backend)
{
    uint64_t sum = mix(MSIM_HASH_START, backend);
    const cJSON *member;
    char number[32];

    cJSON_ArrayForEach(member, experiment)
    {
        uint64_t h = MSIM_HASH_START;

        if (is_extra(member->string))
            continue;
        if (cJSON_IsObject(member)) /* an experiment by itself */
            snprintf(number, sizeof(number), "%016llx",
                     (unsigned long long)msim_cal_hash(member, ""));
        else
            snprintf(number, sizeof(number), "%.15g", member->valuedouble);
        h = mix(h, member->string);
        sum += mix(h, cJSON_IsString(member) ? member->valuestring : number);
    }
    return sum;
}

void msim_cal_describe(const cJSON *experiment, char *text, size_t size)
{
    const cJSON *member;
    size_t used = 0;

    text[0] = '\0';
    cJSON_ArrayForEach(member, experiment)
    {
        bool bare = cJSON_IsString(member);
        char other[128] = "";

        if (is_extra(member->string) || used >= size)
            continue;
        used +=
            (size_t)snprintf(text + used, size - used, "%s", used ? " " : "");
        if (used >= size)
            return;
        if (cJSON_IsObject(member))
            msim_cal_describe(member, other, sizeof(other));
        else if (!bare)
            snprintf(other, sizeof(other), "%.15g", member->valuedouble);
        used += (size_t)snprintf(text + used, size - used, "%s%s%s",
                                 bare ? member->valuestring : member->string,
                                 bare ? "" : " ", other);
    }
}

bool msim_cal_is_cpu(const cJSON *device)
{
    const char *kind = msim_json_get_text(device, "kind");

    return kind && strcmp(kind, "cpu") == 0;
}

/* Per core and multiprocessor: vector units of 16 lanes at 2 GHz that reach
 * two thirds; a GPU of the last ten years. Within a factor of a few, which is
 * what a plan needs. */
struct msim_cal_guess msim_cal_guess_of(const cJSON *device)
{
    double sms = fmax(msim_json_get_number(device, "sms", 1), 1);

    if (msim_cal_is_cpu(device))
        return (struct msim_cal_guess){40e9 * sms, 10e9, 1};
    return (struct msim_cal_guess){100e9 * sms, 10e9 * sms, 4};
}

double msim_cal_bytes(const cJSON *experiment)
{
    struct msim_experiment e;

    return msim_experiment_read(&e, experiment, NULL) == MSIM_OK
               ? msim_experiment_bytes(&e)
               : 0;
}

/* Fractions of the fp32 rate: what does not run in plain vector units runs no
 * slower. */
static double rate_share(enum msim_dtype dtype)
{
    return dtype == MSIM_DT_F64 ? 0.5 : msim_dtype_bytes(dtype) < 4 ? 4 : 1;
}

double msim_cal_expected_us(const cJSON *experiment,
                            const struct msim_cal_guess *g)
{
    struct msim_cal_texts texts;
    struct msim_work w = {.dtype = MSIM_DT_F32};
    double bytes = 2 * msim_json_get_number(experiment, "bytes", 0);

    if (msim_cal_work(experiment, "", &texts, &w) &&
        w.family != MSIM_FAMILY_COLLECTIVE)
        bytes = w.bytes_read + w.bytes_written;
    return g->floor_us + fmax(w.flops / (g->flops * rate_share(w.dtype)),
                              bytes / g->bandwidth) *
                             1e6;
}
