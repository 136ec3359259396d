/*
 * calibrate/machine/machine_sheet.c - a data sheet of measured peaks.
 */
#include "calibrate/machine/machine.h"
#include "calibrate/measure/journal.h"
#include "core/work/data_sheet.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* What moves bytes, by where they go: in memory as a copy, read alone, by a
 * vector operator; from host to device; from each rank. */
enum way { COPIED, READ, MOVED, TO_DEVICE, PAGEABLE, SENT, WAYS };

/* The best figures of all rows. */
struct peaks {
    double rate[MSIM_RATE_COUNT]; /* FLOP/s of products */
    double least[WAYS]; /* bytes: what is smaller tells of caches and starts */
    double kept[WAYS];  /* bytes that may be in the cache still, unwritten */
    double best[WAYS];  /* bytes/s */
    double shortest_us; /* of vector operators */
};

/* An experiment that moves bytes. */
struct moved {
    enum way way;
    double size, bytes; /* of its operand, and all that count */
};

static void note(double *best, double value)
{
    if (isfinite(value) && value > *best)
        *best = value;
}

/* ---- what moves bytes ---------------------------------------------------- */

static bool copy_moves(struct moved *m, const struct msim_experiment *e)
{
    double bytes = (double)e->u.copy.bytes;

    switch (e->u.copy.op) {
    case MSIM_COPY_WAY_D2D:
        *m = (struct moved){COPIED, bytes, 2 * bytes};
        return true;
    case MSIM_COPY_WAY_READ:
        *m = (struct moved){READ, bytes, bytes};
        return true;
    case MSIM_COPY_WAY_H2D:
        *m = (struct moved){e->u.copy.pageable ? PAGEABLE : TO_DEVICE, bytes,
                            bytes};
        return true;
    default:
        return false;
    }
}

/* Bytes that each rank sends in a ring: 2 (n - 1) / n of the buffer. */
static bool ranks_move(struct moved *m, const struct msim_work *w)
{
    double n = w->u.coll.ranks, bytes = (double)w->u.coll.bytes;

    *m = (struct moved){SENT, bytes, 2 * (n - 1) / n * bytes};
    return w->u.coll.collective == MSIM_COLL_ALL_REDUCE && n > 1;
}

static bool work_moves(struct moved *m, const struct msim_work *w)
{
    double bytes = w->bytes_read + w->bytes_written;

    switch (w->family) {
    case MSIM_FAMILY_COLLECTIVE:
        return ranks_move(m, w);
    case MSIM_FAMILY_GEMM:
    case MSIM_FAMILY_ATTENTION:
    case MSIM_FAMILY_CONV:
        return false;
    default:
        *m = (struct moved){MOVED, bytes, bytes};
        return true;
    }
}

static bool moves(struct moved *m, const struct msim_experiment *e,
                  const struct msim_work *w)
{
    return e->table == MSIM_TABLE_COPY ? copy_moves(m, e)
                                       : w && work_moves(m, w);
}

/*
 * The bytes from which on a way's rate is that of what it is named after. On a
 * GPU, where all lines are clean before a run, what it wrote last may still lie
 * in the cache when it ends: a cache full is not counted, so that no rate
 * is above the memory's. On a CPU each run writes back what those before it
 * left. The host's caches, and several ranks' together, may be larger than any
 * that is known here, so that of links only the largest sizes count.
 */
static void set_least(struct peaks *p, const struct msim_cal_journal *j)
{
    const cJSON *device = cJSON_GetObjectItemCaseSensitive(
        msim_cal_journal_greeting(j, NULL), "device");
    double cache = msim_json_get_number(device, "l2_bytes", 0);
    struct moved m;

    for (uint32_t i = 0; i < j->n; i++) {
        const struct msim_cal_entry *e = &j->entries[i];

        if (msim_cal_entry_is_row(e) &&
            moves(&m, &e->experiment.timed, msim_cal_work(&e->experiment)))
            note(&p->least[m.way], m.size / 2);
    }
    p->least[COPIED] = cache;
    p->least[MOVED] = 2 * cache; /* read and written */
    p->kept[COPIED] = p->kept[MOVED] = msim_cal_is_cpu(device) ? 0 : cache;
    p->least[READ] = cache;
    p->least[TO_DEVICE] = fmax(p->least[TO_DEVICE], cache);
    p->least[PAGEABLE] = fmax(p->least[PAGEABLE], cache);
}

static void note_entry(struct peaks *p, const struct msim_cal_entry *e)
{
    const struct msim_work *w = msim_cal_work(&e->experiment);
    double us = msim_cal_entry_us(e);
    struct moved m;

    if (w && w->family == MSIM_FAMILY_GEMM)
        note(&p->rate[msim_data_sheet_rate(w->dtype, w->variant)],
             1e6 * w->flops / us);
    if (!moves(&m, &e->experiment.timed, w))
        return;
    if (m.size >= p->least[m.way])
        note(&p->best[m.way], 1e6 * (m.bytes - p->kept[m.way]) / us);
    if (m.way == MOVED)
        p->shortest_us = fmin(p->shortest_us, us);
}

static struct peaks find_peaks(const struct msim_cal_journal *j)
{
    struct peaks p = {.shortest_us = INFINITY};

    set_least(&p, j);
    for (uint32_t i = 0; i < j->n; i++)
        if (msim_cal_entry_is_row(&j->entries[i]))
            note_entry(&p, &j->entries[i]);
    return p;
}

/* ---- the sheet ----------------------------------------------------------- */

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
    double half = is_cpu ? p->best[COPIED] / 2 : 0;

    add_figure(sheet, "pcie_bandwidth", fmax(p->best[TO_DEVICE], half), "B/s",
               is_cpu ? "measured: copies in memory, which these are"
                      : "measured: copies from pinned memory");
    add_figure(sheet, "pageable_bandwidth", fmax(p->best[PAGEABLE], half),
               "B/s",
               is_cpu ? "measured: copies in memory, which these are"
                      : "measured: copies from pageable memory");
    add_figure(sheet, "link_bandwidth", p->best[SENT], "B/s",
               "measured: what an all-reduce sends from each rank");
}

static void add_memory(cJSON *sheet, const struct peaks *p)
{
    static const struct {
        enum way way;
        const char *source;
    } WAYS_TO_TELL[] = {
        {COPIED, "measured: the fastest copy of more than the last-level "
                 "cache, read and written"},
        {READ, "measured: the fastest that was only read, more than the "
               "last-level cache"},
        {MOVED, "measured: the fastest vector operator on more than the "
                "last-level cache"},
    };
    size_t i = 0;

    while (i < 2 && !(p->best[WAYS_TO_TELL[i].way] > 0))
        i++;
    add_figure(sheet, "memory_bandwidth", p->best[WAYS_TO_TELL[i].way], "B/s",
               WAYS_TO_TELL[i].source);
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
    add_memory(sheet, p);
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
                     "products, and copies or vector operators of much more "
                     "than the last-level cache: %s; give more --budget",
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
    if (p.best[SENT] > 0 || !known->platform)
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
