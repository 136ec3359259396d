/*
 * calibrate/machine/machine_sheet.c - a data sheet of measured peaks.
 */
#include "calibrate/machine/known_device.h"
#include "calibrate/machine/machine_fit.h"
#include "calibrate/measure/failure_list.h"
#include "core/work/data_sheet.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The best figures of all rows. */
struct peaks {
    double rate[MSIM_RATE_COUNT]; /* FLOP/s of products */
    double copy;                  /* bytes/s in memory, read and written */
    double to_device, pageable;   /* bytes/s between host and device */
    double moved;                 /* bytes/s of any vector operator */
    double shortest_us;
    double send; /* bytes/s a rank, all-reduce */
};

static double cache_of(const struct msim_cal_journal *j)
{
    return msim_json_get_number(
        cJSON_GetObjectItemCaseSensitive(msim_cal_journal_greeting(j, NULL),
                                         "device"),
        "l2_bytes", 0);
}

static void note(double *best, double value)
{
    if (isfinite(value) && value > *best)
        *best = value;
}

static void note_copy(struct peaks *p, const struct msim_experiment *e,
                      double us, double cache)
{
    double bytes = (double)e->u.copy.bytes;

    if (bytes < cache)
        return;
    if (e->u.copy.op == MSIM_COPY_WAY_D2D)
        note(&p->copy, 2e6 * bytes / us);
    else if (e->u.copy.op == MSIM_COPY_WAY_H2D)
        note(e->u.copy.pageable ? &p->pageable : &p->to_device,
             1e6 * bytes / us);
}

/* Bytes that each rank sends in a ring: 2 (n - 1) / n of the buffer. */
static double sent_bytes(const struct msim_work *w)
{
    double n = w->u.coll.ranks;

    return w->u.coll.collective == MSIM_COLL_ALL_REDUCE && n > 1
               ? 2 * (n - 1) / n * (double)w->u.coll.bytes
               : 0;
}

static void note_work(struct peaks *p, const struct msim_work *w, double us,
                      double cache)
{
    double bytes = w->bytes_read + w->bytes_written;

    switch (w->family) {
    case MSIM_FAMILY_GEMM:
        note(&p->rate[msim_data_sheet_rate(w->dtype, w->variant)],
             1e6 * w->flops / us);
        break;
    case MSIM_FAMILY_COLLECTIVE:
        note(&p->send, 1e6 * sent_bytes(w) / us);
        break;
    case MSIM_FAMILY_ATTENTION:
    case MSIM_FAMILY_CONV:
        break;
    default:
        if (bytes > 2 * cache)
            note(&p->moved, 1e6 * bytes / us);
        p->shortest_us = fmin(p->shortest_us, us);
        break;
    }
}

static struct peaks find_peaks(const struct msim_cal_journal *j)
{
    struct peaks p = {.shortest_us = INFINITY};
    double cache = cache_of(j);

    for (uint32_t i = 0; i < j->n; i++) {
        const struct msim_cal_entry *e = &j->entries[i];
        double us = msim_cal_entry_us(e);
        const struct msim_work *w = msim_cal_work(&e->experiment);

        if (!msim_cal_entry_is_row(e))
            continue;
        if (e->experiment.timed.table == MSIM_TABLE_COPY)
            note_copy(&p, &e->experiment.timed, us, cache);
        else if (w)
            note_work(&p, w, us, cache);
    }
    return p;
}

static void add_figure(cJSON *sheet, const char *key, double value,
                       const char *unit, const char *source)
{
    cJSON *o = value > 0 && isfinite(value)
                   ? cJSON_AddObjectToObject(sheet, key)
                   : NULL;

    if (!o)
        return;
    cJSON_AddNumberToObject(o, "value", value);
    cJSON_AddStringToObject(o, "unit", unit);
    cJSON_AddStringToObject(o, "source", source);
}

static void add_rates(cJSON *sheet, const struct peaks *p)
{
    static const char *const KEYS[] = {
#define X(name, key) key,
        MSIM_RATE_MAP(X)
#undef X
    };

    for (int i = 0; i < MSIM_RATE_COUNT; i++)
        add_figure(sheet, KEYS[i], p->rate[i],
                   i == MSIM_RATE_INT8 ? "op/s" : "FLOP/s",
                   "measured: the fastest matrix product of this type");
}

static void add_device(cJSON *sheet, const cJSON *device)
{
    static const char REPORTED[] = "reported by the device";

    add_figure(sheet, "sms", msim_json_get_number(device, "sms", 1), "1",
               REPORTED);
    add_figure(sheet, "memory_bytes",
               msim_json_get_number(device, "memory_bytes", 0), "B", REPORTED);
    add_figure(sheet, "l2_bytes", msim_json_get_number(device, "l2_bytes", 0),
               "B", "reported by the device: its last-level cache");
}

/* On a CPU, host and device share one memory: a transfer is a copy in it. */
static void add_transfers(cJSON *sheet, const struct peaks *p, bool is_cpu)
{
    double half = is_cpu ? p->copy / 2 : 0;

    add_figure(sheet, "pcie_bandwidth", fmax(p->to_device, half), "B/s",
               is_cpu ? "measured: copies in memory, which these are"
                      : "measured: copies from pinned memory");
    add_figure(sheet, "pageable_bandwidth", fmax(p->pageable, half), "B/s",
               is_cpu ? "measured: copies in memory, which these are"
                      : "measured: copies from pageable memory");
    add_figure(sheet, "link_bandwidth", p->send, "B/s",
               "measured: what an all-reduce sends from each rank");
}

static cJSON *make_figures(const struct msim_cal_journal *j,
                           const struct peaks *p)
{
    const cJSON *greeting = msim_cal_journal_greeting(j, NULL);
    const cJSON *device = cJSON_GetObjectItemCaseSensitive(greeting, "device");
    cJSON *sheet = cJSON_CreateObject();

    if (!sheet)
        return NULL;
    add_rates(sheet, p);
    add_device(sheet, device);
    add_figure(sheet, "memory_bandwidth", p->copy > 0 ? p->copy : p->moved,
               "B/s",
               p->copy > 0 ? "measured: the fastest copy of more than the "
                             "last-level cache, read and written"
                           : "measured: the fastest vector operator on more "
                             "than the last-level cache");
    add_figure(sheet, "kernel_floor_us", p->shortest_us, "us",
               "measured: the shortest vector operator");
    add_transfers(sheet, p, msim_cal_is_cpu(device));
    return sheet;
}

/* The interconnect of the first greeting that names one. */
static void add_links(cJSON *sheet, const struct msim_cal_journal *j)
{
    for (uint32_t i = 0; i < j->n_greetings; i++) {
        const cJSON *greeting =
            cJSON_GetObjectItemCaseSensitive(j->greetings[i], "greeting");
        const char *link = msim_json_get_text(greeting, "interconnect");
        cJSON *links = link ? cJSON_AddObjectToObject(sheet, "links") : NULL;

        if (!links)
            continue;
        cJSON_AddStringToObject(links, "interconnect", link);
        return;
    }
}

void msim_cal_device_name(char name[96], const struct msim_cal_journal *j)
{
    const cJSON *device = cJSON_GetObjectItemCaseSensitive(
        msim_cal_journal_greeting(j, NULL), "device");
    const char *text = msim_json_get_text(device, "name");

    snprintf(name, 96, "%s", text ? text : "device");
    for (char *c = name; *c; c++)
        if (*c == ',' || *c == '"' || (unsigned char)*c < ' ')
            *c = ' ';
}

static void add_names(cJSON *o, const struct msim_cal_journal *j,
                      const char *name)
{
    const cJSON *device = cJSON_GetObjectItemCaseSensitive(
        msim_cal_journal_greeting(j, NULL), "device");
    const char *title = msim_json_get_text(device, "name");
    const char *kind = msim_json_get_text(device, "kind");
    const char *generation = msim_json_get_text(device, "generation");
    cJSON *tables, *known;
    char table[96];

    cJSON_AddStringToObject(o, "name", name);
    cJSON_AddStringToObject(o, "kind", kind ? kind : "gpu");
    cJSON_AddStringToObject(o, "title", title ? title : name);
    cJSON_AddStringToObject(o, "generation",
                            generation ? generation : "calibrated");
    /* No other platform silently stands in for kinds that were not timed. */
    cJSON_AddItemToObject(o, "stand_ins", cJSON_CreateArray());
    tables = cJSON_AddArrayToObject(o, "tables");
    msim_cal_device_name(table, j);
    cJSON_AddItemToArray(tables, cJSON_CreateString(table));
    known = cJSON_AddArrayToObject(o, "devices");
    if (title) {
        cJSON *one = cJSON_CreateObject();

        cJSON_AddItemToArray(known, one);
        cJSON_AddStringToObject(one, "name", title);
        cJSON_AddNumberToObject(one, "sms",
                                msim_json_get_number(device, "sms", 1));
    }
}

static enum msim_status too_few(const struct msim_cal_journal *j,
                                struct msim_error *err)
{
    char asked[400];

    MSIM_TRY(msim_cal_failures_tell(asked, sizeof(asked), j));
    return msim_fail(err, MSIM_ECHECK, j->path, MSIM_OFFSET_NONE,
                     "too few rows to tell the device's rates from, want fp32 "
                     "products, and copies or vector operators of more than "
                     "the last-level cache: %s; give more --budget",
                     asked);
}

/* Without rows between ranks, links and collectives are those of the shipped
 * platform. */
static enum msim_status add_sheet(cJSON *o, const struct msim_cal_journal *j,
                                  const struct msim_cal_known *known,
                                  struct msim_error *err)
{
    struct peaks p = find_peaks(j);
    cJSON *sheet = make_figures(j, &p);

    if (!sheet || !cJSON_AddItemToObject(o, "data_sheet", sheet)) {
        cJSON_Delete(sheet);
        return MSIM_ENOMEM;
    }
    if (p.send > 0 || !known->platform)
        add_links(sheet, j);
    else
        cJSON_AddStringToObject(o, "links_of", known->name);
    MSIM_TRY(msim_cal_known_complete(sheet, known));
    return msim_json_get_number(sheet, "fp32_flops", 0) > 0 &&
                   msim_json_get_number(sheet, "memory_bandwidth", 0) > 0
               ? MSIM_OK
               : too_few(j, err);
}

enum msim_status msim_cal_sheet(cJSON **out, const struct msim_cal_journal *j,
                                const char *name, const char *data,
                                struct msim_error *err)
{
    const cJSON *device = cJSON_GetObjectItemCaseSensitive(
        msim_cal_journal_greeting(j, NULL), "device");
    struct msim_cal_known known;
    enum msim_status status;

    *out = cJSON_CreateObject();
    if (!*out)
        return MSIM_ENOMEM;
    add_names(*out, j, name);
    msim_cal_known_find(&known, data, device);
    status = add_sheet(*out, j, &known, err);
    msim_cal_known_release(&known);
    if (status != MSIM_OK) {
        cJSON_Delete(*out);
        *out = NULL;
    }
    return status;
}
