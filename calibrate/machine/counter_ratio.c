/*
 * calibrate/machine/counter_ratio.c - hardware counters over assumed figures.
 */
#include "calibrate/machine/machine_internal.h"

#include "profilers/counters.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- which experiments --------------------------------------------------- */

#define ENOUGH 240 /* experiments; the budget ends before, as a rule */
#define TRIES  50  /* points outside the limits, one after the other */

/* No law is fitted to copies: their known bytes check the counters. */
static const enum msim_table TABLES[] = {MSIM_TABLE_GEMM, MSIM_TABLE_VECTOR,
                                         MSIM_TABLE_CONV, MSIM_TABLE_ATTENTION,
                                         MSIM_TABLE_COPY};
#define N_TABLES (sizeof(TABLES) / sizeof(*TABLES))

/* Copies are counted where nothing of the host's takes part. */
static bool is_counted(const struct msim_cal_kind *k, enum msim_table table)
{
    static const char *const COPIES[] = {"d2d", "read", "write"};

    if (k->table != table)
        return false;
    for (size_t i = 0; i < 3; i++)
        if (strcmp(k->kind, COPIES[i]) == 0)
            return true;
    return table != MSIM_TABLE_COPY;
}

/* The `i`-th kind of a table, around and around; the number of kinds where
 * there is none. */
static uint32_t kind_of(const struct msim_cal_space *s, enum msim_table table,
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

bool msim_cal_count_next(struct msim_cal_counting *k,
                         const struct msim_cal_space *space,
                         const struct msim_cal_design *design,
                         struct msim_cal_experiment *out)
{
    while (k->turn < ENOUGH) {
        uint32_t round = k->turn / N_TABLES;
        uint32_t kind = kind_of(space, TABLES[k->turn++ % N_TABLES], round);

        for (int i = 0; kind < space->n && i < TRIES; i++)
            if (msim_cal_design_draw(design, kind, msim_cal_design_uniform,
                                     &k->random, out))
                return true;
    }
    return false;
}

double msim_cal_count_seconds(const struct msim_cal_journal *j,
                              const char *backend)
{
    double sum = 0;

    for (uint32_t i = 0; i < j->n; i++) {
        const struct msim_cal_entry *e = &j->entries[i];

        if (e->answer.counted && strcmp(e->backend, backend) == 0)
            sum += e->seconds;
    }
    return sum;
}

/* ---- what came out ------------------------------------------------------- */

enum { READ, WRITTEN, FLOPS, SUMS };

struct group {
    struct msim_cal_ratios of[SUMS];
};

/* What laws assume of an experiment; false where they know none. */
static bool assumed(const struct msim_cal_entry *e, double sums[SUMS])
{
    const struct msim_experiment *x = &e->experiment.timed;
    const struct msim_work *w = msim_cal_work(&e->experiment);
    double bytes = (double)x->u.copy.bytes;

    if (x->table == MSIM_TABLE_COPY && x->op) {
        sums[READ] = x->u.copy.op == MSIM_COPY_WAY_WRITE ? 0 : bytes;
        sums[WRITTEN] = x->u.copy.op == MSIM_COPY_WAY_READ ? 0 : bytes;
        sums[FLOPS] = 0;
        return true;
    }
    if (!w)
        return false;
    sums[READ] = w->bytes_read;
    sums[WRITTEN] = w->bytes_written;
    sums[FLOPS] = w->flops;
    return true;
}

static void counted(const struct msim_counts *c, double sums[SUMS])
{
    static const enum msim_counter_figure OPERATIONS[] = {
        MSIM_FIGURE_FP64, MSIM_FIGURE_FP32, MSIM_FIGURE_FP16,
        MSIM_FIGURE_TENSOR, MSIM_FIGURE_TENSOR_INT8};

    sums[READ] = c->of[MSIM_FIGURE_DRAM_READ];
    sums[WRITTEN] = c->of[MSIM_FIGURE_DRAM_WRITE];
    sums[FLOPS] = 0;
    for (size_t i = 0; i < sizeof(OPERATIONS) / sizeof(*OPERATIONS); i++)
        sums[FLOPS] += c->of[OPERATIONS[i]];
}

/* Where experiments of this table and backend belong; NULL: no room. */
static struct group *group_of(struct msim_cal_counts *c, struct group *groups,
                              const struct msim_cal_entry *e)
{
    enum msim_table table = e->experiment.timed.table;
    struct msim_cal_counted *to;
    uint32_t i = 0;

    while (i < c->n && (c->list[i].table != table ||
                        strcmp(c->list[i].backend, e->backend) != 0))
        i++;
    if (i == MSIM_CAL_COUNTED)
        return NULL;
    to = &c->list[i];
    if (i == c->n) {
        *to = (struct msim_cal_counted){.table = table};
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
    double is[SUMS], should[SUMS];
    struct group *g;

    if (!e->answer.counts || !assumed(e, should))
        return MSIM_OK;
    g = group_of(c, groups, e);
    counted(e->answer.counts, is);
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
