/*
 * calibrate/machine/concurrent.c - compute beside a collective.
 */
#include "calibrate/machine/machine_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- which experiments --------------------------------------------------- */

#define ENOUGH 120 /* experiments; the budget ends before, as a rule */
#define TRIES  50  /* points outside the limits, one after the other */

/* Sizes of gradient buckets, which are what runs beside compute. */
#define BYTES_MIN 1048576.0
#define BYTES_MAX 33554432.0

static bool draw_compute(const struct msim_cal_space *s, uint32_t kind,
                         uint64_t *random, struct msim_cal_experiment *out)
{
    for (int i = 0; i < TRIES; i++) {
        double u[MSIM_CAL_AXES];

        for (uint32_t a = 0; a < MSIM_CAL_AXES; a++)
            u[a] = msim_cal_design_uniform(random);
        if (msim_cal_space_point(s, &s->kinds[kind], u, out))
            return true;
    }
    return false;
}

static bool is_bucket(const struct msim_cal_experiment *collective)
{
    double bytes = (double)collective->timed.work.u.coll.bytes;

    return bytes >= BYTES_MIN && bytes <= BYTES_MAX;
}

/* The `i`-th collective of a space, around and around; false where there is
 * none. */
static bool draw_collective(const struct msim_cal_space *s,
                            const struct msim_cal_design *design, uint32_t i,
                            uint64_t *random, struct msim_cal_experiment *out)
{
    uint32_t kinds[MSIM_CAL_KINDS], n = 0;

    for (uint32_t k = 0; k < s->n; k++)
        if (s->kinds[k].table == MSIM_TABLE_COLLECTIVE)
            kinds[n++] = k;
    for (int t = 0; n && t < TRIES; t++)
        if (msim_cal_design_draw(design, kinds[i % n], msim_cal_design_uniform,
                                 random, out) &&
            is_bucket(out))
            return true;
    return false;
}

bool msim_cal_concurrent_next(struct msim_cal_pairing *p,
                              const struct msim_cal_space *computes,
                              const struct msim_cal_space *space,
                              const struct msim_cal_design *design,
                              struct msim_cal_experiment *out)
{
    while (computes->n && p->turn < ENOUGH) {
        uint32_t kind = p->turn % computes->n, round = p->turn / computes->n;
        struct msim_cal_experiment beside;
        bool found =
            draw_collective(space, design, kind + round, &p->random, &beside) &&
            draw_compute(computes, kind, &p->random, out);

        p->turn++;
        if (!found)
            continue;
        out->is_pair = true;
        out->concurrent = beside.timed;
        return true;
    }
    return false;
}

double msim_cal_concurrent_seconds(const struct msim_cal_journal *j,
                                   const char *backend, uint32_t ranks)
{
    double sum = 0;

    for (uint32_t i = 0; i < j->n; i++) {
        const struct msim_cal_entry *e = &j->entries[i];

        if (e->experiment.is_pair && strcmp(e->backend, backend) == 0 &&
            e->experiment.concurrent.work.u.coll.ranks == ranks)
            sum += e->seconds;
    }
    return sum;
}

/* ---- what came out ------------------------------------------------------- */

struct sums {
    struct msim_cal_ratios of[MSIM_CAL_SLOWED], all;
};

/* The index of a table, collective and backend; MSIM_CAL_SLOWED: no room. */
static uint32_t group_of(struct msim_cal_concurrents *b, enum msim_table table,
                         const char *collective, const char *backend)
{
    struct msim_cal_slowed *to = b->list;
    uint32_t i = 0;

    while (i < b->n &&
           (to[i].table != table || strcmp(to[i].collective, collective) != 0 ||
            strcmp(to[i].backend, backend) != 0))
        i++;
    if (i < b->n || i == MSIM_CAL_SLOWED)
        return i;
    to[i] = (struct msim_cal_slowed){.table = table};
    snprintf(to[i].collective, sizeof(to[i].collective), "%s", collective);
    snprintf(to[i].backend, sizeof(to[i].backend), "%s", backend);
    return b->n++;
}

static enum msim_status add_entry(struct msim_cal_concurrents *b,
                                  struct sums *s,
                                  const struct msim_cal_entry *e)
{
    const struct msim_cal_experiment *x = &e->experiment;
    double ratio = msim_cal_entry_us(e) / e->answer.alone_us;
    uint32_t i;

    if (!x->is_pair || x->concurrent.table != MSIM_TABLE_COLLECTIVE ||
        !x->concurrent.op || !msim_cal_entry_is_row(e) ||
        !(e->answer.alone_us > 0))
        return MSIM_OK;
    i = group_of(b, x->timed.table, x->concurrent.op, e->backend);
    if (i < MSIM_CAL_SLOWED)
        MSIM_TRY(msim_cal_ratios_add(&s->of[i], ratio));
    return msim_cal_ratios_add(&s->all, ratio);
}

enum msim_status msim_cal_concurrent(struct msim_cal_concurrents *out,
                                     const struct msim_cal_journal *j)
{
    struct sums sums = {.all = {.n = 0}};
    enum msim_status status = MSIM_OK;

    *out = (struct msim_cal_concurrents){.n = 0};
    for (uint32_t i = 0; status == MSIM_OK && i < j->n; i++)
        status = add_entry(out, &sums, &j->entries[i]);
    for (uint32_t i = 0; i < out->n; i++) {
        out->list[i].ratio = msim_cal_ratio_of(&sums.of[i]);
        msim_cal_ratios_release(&sums.of[i]);
    }
    out->all = msim_cal_ratio_of(&sums.all);
    msim_cal_ratios_release(&sums.all);
    return status;
}

void msim_cal_concurrent_write(cJSON *platform,
                               const struct msim_cal_concurrents *b)
{
    cJSON *o = b->all.n ? cJSON_AddObjectToObject(platform, "beside") : NULL;
    cJSON *list;

    if (!o)
        return;
    cJSON_AddStringToObject(o, "unit",
                            "time beside a collective over time alone");
    msim_cal_ratio_write(o, &b->all);
    list = cJSON_AddArrayToObject(o, "of");
    for (uint32_t i = 0; list && i < b->n; i++) {
        cJSON *one = cJSON_CreateObject();

        cJSON_AddItemToArray(list, one);
        cJSON_AddStringToObject(one, "table",
                                msim_table_text(b->list[i].table));
        cJSON_AddStringToObject(one, "collective", b->list[i].collective);
        cJSON_AddStringToObject(one, "backend", b->list[i].backend);
        msim_cal_ratio_write(one, &b->list[i].ratio);
    }
}
