/*
 * calibrate/machine/counter_ratio.c - hardware counters of some experiments.
 */
#include "calibrate/machine/counter_ratio.h"

#include "profilers/counters.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- which experiments ----------------------------------------------------
 */

#define ENOUGH 240 /* experiments; the budget ends before, as a rule */
#define TRIES  50  /* points outside the limits, one after the other */

/* What is known of copies is no law's, but it checks the counters. */
static const char *const TABLES[] = {"gemm", "vector", "conv", "attention",
                                     "copy"};
#define N_TABLES (sizeof(TABLES) / sizeof(*TABLES))

/* Copies are counted where nothing of the host's takes part. */
static bool is_counted(const struct msim_cal_kind *k, const char *table)
{
    static const char *const COPIES[] = {"d2d", "read", "write"};

    if (strcmp(k->table, table) != 0)
        return false;
    for (size_t i = 0; i < 3; i++)
        if (strcmp(k->kind, COPIES[i]) == 0)
            return true;
    return strcmp(table, "copy") != 0;
}

/* The `i`-th kind of a table, around and around; the number of kinds where
 * there is none. */
static uint32_t kind_of(const struct msim_cal_space *s, const char *table,
                        uint32_t i)
{
    uint32_t n = 0;

    for (uint32_t k = 0; k < s->n; k++)
        n += is_counted(&s->kinds[k], table);
    for (uint32_t k = 0; n && k < s->n; k++)
        if (is_counted(&s->kinds[k], table) && i-- % n == 0)
            return k;
    return s->n;
}

cJSON *msim_cal_count_next(struct msim_cal_counting *k,
                           const struct msim_cal_space *space,
                           const struct msim_cal_design *plan)
{
    while (k->turn < ENOUGH) {
        uint32_t round = k->turn / N_TABLES;
        uint32_t kind = kind_of(space, TABLES[k->turn++ % N_TABLES], round);
        cJSON *o = NULL;

        for (int i = 0; kind < space->n && !o && i < TRIES; i++)
            o = msim_cal_design_draw(plan, kind, msim_cal_design_uniform,
                                     &k->random);
        if (o)
            return o;
    }
    return NULL;
}

double msim_cal_count_seconds(const struct msim_cal_journal *j,
                              const char *backend)
{
    double sum = 0;

    for (uint32_t i = 0; i < j->n; i++) {
        const struct msim_cal_entry *e = &j->entries[i];

        if (strcmp(e->backend, backend) == 0 &&
            (cJSON_HasObjectItem(e->answer, "counters") ||
             cJSON_HasObjectItem(e->answer, "counters_error")))
            sum += e->seconds;
    }
    return sum;
}

/* ---- what came out --------------------------------------------------------
 */

enum { READ, WRITTEN, FLOPS, SUMS };

struct group {
    struct msim_cal_ratios of[SUMS];
};

/* What laws assume of an experiment; false where they know none. */
static bool assumed(const struct msim_cal_entry *e, double sums[SUMS])
{
    const char *op = msim_json_get_text(e->experiment, "op");
    double bytes = msim_json_get_number(e->experiment, "bytes", 0);
    const char *table = msim_json_get_text(e->experiment, "table");
    struct msim_cal_texts texts;
    struct msim_work w;

    if (table && op && strcmp(table, "copy") == 0) {
        sums[READ] = strcmp(op, "write") == 0 ? 0 : bytes;
        sums[WRITTEN] = strcmp(op, "read") == 0 ? 0 : bytes;
        sums[FLOPS] = 0;
        return true;
    }
    if (!msim_cal_work(e->experiment, e->backend, &texts, &w))
        return false;
    sums[READ] = w.bytes_read;
    sums[WRITTEN] = w.bytes_written;
    sums[FLOPS] = w.flops;
    return true;
}

static double figure(const cJSON *counters, enum msim_counter_figure f)
{
    return msim_json_get_number(counters, msim_figure_text(f), (double)NAN);
}

static void counted(const cJSON *counters, double sums[SUMS])
{
    static const enum msim_counter_figure OPERATIONS[] = {
        MSIM_FIGURE_FP64, MSIM_FIGURE_FP32, MSIM_FIGURE_FP16,
        MSIM_FIGURE_TENSOR, MSIM_FIGURE_TENSOR_INT8};

    sums[READ] = figure(counters, MSIM_FIGURE_DRAM_READ);
    sums[WRITTEN] = figure(counters, MSIM_FIGURE_DRAM_WRITE);
    sums[FLOPS] = 0;
    for (size_t i = 0; i < sizeof(OPERATIONS) / sizeof(*OPERATIONS); i++)
        sums[FLOPS] += figure(counters, OPERATIONS[i]);
}

/* Where experiments of this table and backend belong; NULL: no room. */
static struct group *group_of(struct msim_cal_counts *c, struct group *groups,
                              const struct msim_cal_entry *e)
{
    const char *table = msim_json_get_text(e->experiment, "table");
    struct msim_cal_counted *to;
    uint32_t i = 0;

    while (i < c->n && (strcmp(c->list[i].table, table) != 0 ||
                        strcmp(c->list[i].backend, e->backend) != 0))
        i++;
    if (i == MSIM_CAL_COUNTED)
        return NULL;
    to = &c->list[i];
    if (i == c->n) {
        *to = (struct msim_cal_counted){.experiments = 0};
        snprintf(to->table, sizeof(to->table), "%s", table);
        snprintf(to->backend, sizeof(to->backend), "%s", e->backend);
        c->n++;
    }
    to->experiments++;
    return &groups[i];
}

/* What is not known, or assumed to be nothing, has no ratio. */
static enum msim_status add_entry(struct msim_cal_counts *c,
                                  struct group *groups,
                                  const struct msim_cal_entry *e)
{
    const cJSON *counters =
        cJSON_GetObjectItemCaseSensitive(e->answer, "counters");
    double is[SUMS], should[SUMS];
    struct group *g;

    if (!counters || !assumed(e, should))
        return MSIM_OK;
    g = group_of(c, groups, e);
    counted(counters, is);
    for (int i = 0; g && i < SUMS; i++)
        if (should[i] > 0 && is[i] >= 0)
            MSIM_TRY(msim_cal_ratios_add(&g->of[i], is[i] / should[i]));
    return MSIM_OK;
}

enum msim_status msim_cal_count(struct msim_cal_counts *out,
                                const struct msim_cal_journal *j)
{
    struct group groups[MSIM_CAL_COUNTED] = {0};
    enum msim_status status = MSIM_OK;

    out->n = 0;
    for (uint32_t i = 0; status == MSIM_OK && i < j->n; i++)
        status = add_entry(out, groups, &j->entries[i]);
    for (uint32_t i = 0; i < out->n; i++) {
        out->list[i].read = msim_cal_ratio_of(&groups[i].of[READ]);
        out->list[i].written = msim_cal_ratio_of(&groups[i].of[WRITTEN]);
        out->list[i].flops = msim_cal_ratio_of(&groups[i].of[FLOPS]);
        for (int k = 0; k < SUMS; k++)
            msim_cal_ratios_release(&groups[i].of[k]);
    }
    return status;
}
