/*
 * calibrate/machine/concurrent.c - computing beside a collective.
 */
#include "calibrate/machine/concurrent.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- which experiments ----------------------------------------------------
 */

#define ENOUGH 120 /* experiments; the budget ends before, as a rule */
#define TRIES  50  /* points outside the limits, one after the other */

/* Collectives as they run beside what computes: buckets of gradients. */
#define BYTES_MIN 1048576.0
#define BYTES_MAX 33554432.0

static cJSON *draw_compute(const struct msim_cal_space *s, uint32_t kind,
                           uint64_t *random)
{
    cJSON *o = NULL;

    for (int i = 0; !o && i < TRIES; i++) {
        double u[MSIM_CAL_AXES];

        for (uint32_t a = 0; a < MSIM_CAL_AXES; a++)
            u[a] = msim_cal_design_uniform(random);
        o = msim_cal_space_point(s, &s->kinds[kind], u);
    }
    return o;
}

static bool is_bucket(const cJSON *collective)
{
    double bytes = msim_json_get_number(collective, "bytes", 0);

    return bytes >= BYTES_MIN && bytes <= BYTES_MAX;
}

/* The `i`-th collective of a space, around and around; NULL where there is
 * none. */
static cJSON *draw_collective(const struct msim_cal_space *s,
                              const struct msim_cal_design *plan, uint32_t i,
                              uint64_t *random)
{
    uint32_t kinds[MSIM_CAL_KINDS], n = 0;
    cJSON *o = NULL;

    for (uint32_t k = 0; k < s->n; k++)
        if (strcmp(s->kinds[k].table, "collective") == 0)
            kinds[n++] = k;
    for (int t = 0; n && !o && t < TRIES; t++) {
        o = msim_cal_design_draw(plan, kinds[i % n], msim_cal_design_uniform,
                                 random);
        if (!o || is_bucket(o))
            continue;
        cJSON_Delete(o);
        o = NULL;
    }
    return o;
}

cJSON *msim_cal_concurrent_next(struct msim_cal_pairing *p,
                                const struct msim_cal_space *computes,
                                const struct msim_cal_space *space,
                                const struct msim_cal_design *plan)
{
    while (computes->n && p->turn < ENOUGH) {
        uint32_t kind = p->turn % computes->n, round = p->turn / computes->n;
        cJSON *concurrent =
            draw_collective(space, plan, kind + round, &p->random);
        cJSON *o = concurrent ? draw_compute(computes, kind, &p->random) : NULL;

        p->turn++;
        if (o && cJSON_AddItemToObject(o, "beside", concurrent))
            return o;
        cJSON_Delete(o);
        cJSON_Delete(concurrent);
    }
    return NULL;
}

double msim_cal_concurrent_seconds(const struct msim_cal_journal *j,
                                   const char *backend, uint32_t ranks)
{
    double sum = 0;

    for (uint32_t i = 0; i < j->n; i++) {
        const struct msim_cal_entry *e = &j->entries[i];
        const cJSON *concurrent =
            cJSON_GetObjectItemCaseSensitive(e->experiment, "beside");

        if (concurrent && strcmp(e->backend, backend) == 0 &&
            msim_json_get_number(concurrent, "ranks", 0) == ranks)
            sum += e->seconds;
    }
    return sum;
}

/* ---- what came out --------------------------------------------------------
 */

struct sums {
    struct msim_cal_ratios of[MSIM_CAL_SLOWED], all;
};

/* The index of a table, collective and backend; MSIM_CAL_SLOWED: no room. */
static uint32_t group_of(struct msim_cal_concurrents *b, const char *table,
                         const char *collective, const char *backend)
{
    struct msim_cal_slowed *to = b->list;
    uint32_t i = 0;

    while (i < b->n && (strcmp(to[i].table, table) != 0 ||
                        strcmp(to[i].collective, collective) != 0 ||
                        strcmp(to[i].backend, backend) != 0))
        i++;
    if (i < b->n || i == MSIM_CAL_SLOWED)
        return i;
    to[i] = (struct msim_cal_slowed){.ratio = {.n = 0}};
    snprintf(to[i].table, sizeof(to[i].table), "%s", table);
    snprintf(to[i].collective, sizeof(to[i].collective), "%s", collective);
    snprintf(to[i].backend, sizeof(to[i].backend), "%s", backend);
    return b->n++;
}

static enum msim_status add_entry(struct msim_cal_concurrents *b,
                                  struct sums *s,
                                  const struct msim_cal_entry *e)
{
    const cJSON *concurrent =
        cJSON_GetObjectItemCaseSensitive(e->experiment, "beside");
    const char *table = msim_json_get_text(e->experiment, "table");
    const char *collective =
        concurrent ? msim_json_get_text(concurrent, "collective") : NULL;
    double alone = msim_json_get_number(e->answer, "alone_us", 0);
    double ratio = msim_cal_entry_us(e) / alone;
    uint32_t i;

    if (!table || !collective || !msim_cal_entry_is_row(e) || !(alone > 0))
        return MSIM_OK;
    i = group_of(b, table, collective, e->backend);
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
        cJSON_AddStringToObject(one, "table", b->list[i].table);
        cJSON_AddStringToObject(one, "collective", b->list[i].collective);
        cJSON_AddStringToObject(one, "backend", b->list[i].backend);
        msim_cal_ratio_write(one, &b->list[i].ratio);
    }
}
