/*
 * predict/scenario/change_durations.c - changes of how long work takes.
 */
#include "predict/scenario/scenario.h"

#include <stdio.h>
#include <string.h>

/* One more factor of the row; `in` is the object that names `select`. */
static void add_factor(struct msim_change_reader *r, struct msim_fields *in,
                       const char *select, double factor)
{
    struct msim_scenario_row *row = r->row;
    struct msim_error why = {0};
    char text[512];
    const char *kept;

    snprintf(text, sizeof(text), "%.400s=%.17g", select, factor);
    kept = msim_change_text(r, text);
    if (!kept || row->settings.n_scales == MSIM_CHANGE_SCALES) {
        msim_field_refuse(in, "select", "at most 64 changes a scenario");
        return;
    }
    if (msim_scale_parse(&row->scales[row->settings.n_scales], kept, &why) ==
        MSIM_OK)
        row->settings.n_scales++;
    else
        msim_field_refuse(in, "select", msim_scale_wanted(&why));
}

void msim_change_read_scale(struct msim_change_reader *r, const char *key)
{
    static const char *const WITH[] = {"select", "factor", NULL};
    static const char *const WITHOUT[] = {"select", NULL};
    bool remove = strcmp(key, "remove") == 0;
    struct msim_fields in = msim_fields_open(r->f, key);
    const char *select;
    double factor = 0;

    if (!in.object)
        msim_field_refuse(r->f, key, "an object with \"select\"");
    msim_fields_only(&in, remove ? WITHOUT : WITH);
    select = msim_field_text(&in, "select");
    if (!select)
        msim_field_refuse(&in, "select", MSIM_SCALE_ACCEPTED);
    if (!remove) {
        factor = msim_field_real(&in, "factor", 0);
        if (!(factor > 0))
            msim_field_refuse(&in, "factor", "a number above 0");
    }
    if (strcmp(key, "speedup") == 0 && factor > 0)
        factor = 1 / factor;
    if (select && in.status == MSIM_OK)
        add_factor(r, &in, select, factor);
    msim_fields_close(r->f, &in);
}

/* Data loading of a step takes so long; the factor follows from the base's. */
void msim_change_read_loader(struct msim_change_reader *r, const char *key)
{
    static const char *const KEYS[] = {"milliseconds", NULL};
    struct msim_fields in = msim_change_open(r, key, "{\"milliseconds\": 2}");

    msim_fields_only(&in, KEYS);
    r->row->loader_ms = msim_field_real(&in, "milliseconds", 0);
    if (!(r->row->loader_ms > 0))
        msim_field_refuse(&in, "milliseconds", "a number above 0");
    if (in.status == MSIM_OK)
        add_factor(r, &in, MSIM_SCENARIO_LOADER, 1);
    msim_fields_close(r->f, &in);
}

/* One rank's GPU and host are slower; the others are as fast as they were, and
 * those without a trace come no later for it. */
static void read_slow_rank(struct msim_change_reader *r, struct msim_fields *in)
{
    static const char *const OF[] = {"kernels", "copies", "host", NULL};
    int64_t rank = msim_field_int(in, "rank", 0, MSIM_FIELD_WANTED);
    double factor = msim_field_real(in, "factor", 0);

    if (!(factor > 0))
        msim_field_refuse(in, "factor", "a number above 0");
    for (const char *const *of = OF; *of && in->status == MSIM_OK; of++) {
        char select[64];

        snprintf(select, sizeof(select), "%s@%lld", *of, (long long)rank);
        add_factor(r, in, select, factor);
    }
    r->row->settings.peers = MSIM_PEERS_FIXED;
    r->row->other_target = true;
}

/* Each rank is slower or faster by itself. */
static void read_slow_ranks(struct msim_change_reader *r,
                            struct msim_fields *in, const char *key)
{
    struct msim_edit *e = msim_change_edit(r, key, MSIM_EDIT_STRAGGLE);
    double sigma = msim_field_real(in, "sigma", 0);
    int64_t seed = msim_field_int(in, "seed", 0, 1);

    if (!(sigma <= 1))
        msim_field_refuse(in, "sigma", "a number above 0, at most 1");
    if (!e)
        return;
    e->sigma = sigma;
    e->seed = (uint64_t)seed;
}

void msim_change_read_straggler(struct msim_change_reader *r, const char *key)
{
    static const char *const ONE[] = {"rank", "factor", NULL};
    static const char *const ALL[] = {"sigma", "seed", NULL};
    struct msim_fields in = msim_change_open(
        r, key,
        "{\"rank\": 3, \"factor\": 1.2} or {\"sigma\": 0.05, \"seed\": 1}");
    bool all = cJSON_HasObjectItem(in.object, "sigma") ||
               cJSON_HasObjectItem(in.object, "seed");

    msim_fields_only(&in, all ? ALL : ONE);
    if (all)
        read_slow_ranks(r, &in, key);
    else
        read_slow_rank(r, &in);
    msim_fields_close(r->f, &in);
}

/* Work is launched as one: the host's time between launches is gone. */
void msim_change_read_cuda_graph(struct msim_change_reader *r, const char *key)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(r->f->object, key);
    char select[300];

    if (cJSON_IsTrue(item))
        add_factor(r, r->f, "host", 0);
    else if (cJSON_IsString(item) && *item->valuestring) {
        snprintf(select, sizeof(select), "host:%.250s", item->valuestring);
        add_factor(r, r->f, select, 0);
    } else
        msim_field_refuse(r->f, key,
                          "true, or the operators that are in it, such as "
                          "\"forward*\"");
}
