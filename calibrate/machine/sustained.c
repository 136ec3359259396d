/*
 * calibrate/machine/sustained.c - products back to back.
 */
#include "calibrate/machine/machine_internal.h"

#include "calibrate/fit/law_fit.h"
#include "calibrate/measure/experiment_space.h"

#include <math.h>
#include <string.h>

/* ---- which experiments --------------------------------------------------- */

/* Enough tiles for the largest devices, and short enough to run many times. */
#define LEAST 4096
#define STEP  512
#define STEPS 9 /* to 8192 */

/* The kinds of products in these types; their number. */
static uint32_t find_kinds(const struct msim_cal_kind *kinds[4],
                           const struct msim_cal_space *space)
{
    static const char *const TYPES[] = {"bfloat16", "fp16", "tf32", "fp32"};
    uint32_t n = 0;

    for (size_t t = 0; t < sizeof(TYPES) / sizeof(*TYPES); t++)
        for (uint32_t i = 0; i < space->n; i++)
            if (space->kinds[i].table == MSIM_TABLE_GEMM &&
                strcmp(space->kinds[i].kind, TYPES[t]) == 0)
                kinds[n++] = &space->kinds[i];
    return n;
}

static int64_t draw(uint64_t *random)
{
    return LEAST + STEP * (int64_t)(STEPS * msim_cal_design_uniform(random));
}

bool msim_cal_sustained_next(struct msim_cal_sustaining *s,
                             const struct msim_cal_space *space,
                             struct msim_cal_experiment *out)
{
    const struct msim_cal_kind *kinds[4];
    uint32_t n = find_kinds(kinds, space);
    struct msim_experiment *e = &out->timed;

    while (n && s->turn < MSIM_CAL_SUSTAINED) {
        *out = (struct msim_cal_experiment){.is_pair = false};
        e->table = MSIM_TABLE_GEMM;
        e->dtype_word = kinds[s->turn++ % n]->dtype;
        e->work.u.gemm.m = draw(&s->random);
        e->work.u.gemm.n = draw(&s->random);
        e->work.u.gemm.k = draw(&s->random);
        e->work.u.gemm.batch = 1;
        e->work.u.gemm.b_transposed = true; /* a linear layer */
        msim_experiment_complete(e);
        if (msim_experiment_bytes(e) <= space->bytes_most)
            return true;
    }
    return false;
}

double msim_cal_sustained_seconds(const struct msim_cal_journal *j,
                                  const char *backend)
{
    double sum = 0;

    for (uint32_t i = 0; i < j->n; i++) {
        const struct msim_cal_entry *e = &j->entries[i];

        if (e->answer.sustained_us > 0 && strcmp(e->backend, backend) == 0)
            sum += e->seconds;
    }
    return sum;
}

/* ---- what came out ------------------------------------------------------- */

struct sums {
    struct msim_cal_ratios time, clock, power;
};

static enum msim_status add_entry(struct sums *s,
                                  const struct msim_cal_entry *e)
{
    const struct msim_cal_answer *a = &e->answer;

    if (!(a->sustained_us > 0) || !msim_cal_entry_is_row(e))
        return MSIM_OK;
    MSIM_TRY(
        msim_cal_ratios_add(&s->time, a->sustained_us / msim_cal_entry_us(e)));
    if (a->sm_mhz > 0)
        MSIM_TRY(msim_cal_ratios_add(&s->clock, a->sm_mhz));
    return a->power_w > 0 ? msim_cal_ratios_add(&s->power, a->power_w)
                          : MSIM_OK;
}

static struct msim_cal_ratio end(struct msim_cal_ratios *r)
{
    struct msim_cal_ratio of = msim_cal_ratio_of(r);

    msim_cal_ratios_release(r);
    return of;
}

enum msim_status msim_cal_sustain(struct msim_cal_sustained *out,
                                  const struct msim_cal_journal *j)
{
    struct sums s = {.time = {.n = 0}};
    enum msim_status status = MSIM_OK;

    for (uint32_t i = 0; status == MSIM_OK && i < j->n; i++)
        status = add_entry(&s, &j->entries[i]);
    out->time = end(&s.time);
    out->clock = end(&s.clock);
    out->power = end(&s.power);
    return status;
}

void msim_cal_sustained_write(cJSON *platform,
                              const struct msim_cal_sustained *s)
{
    cJSON *o =
        s->time.n ? cJSON_AddObjectToObject(platform, "sustained") : NULL;
    cJSON *time;

    if (!o)
        return;
    if (s->clock.n)
        msim_number_add(o, "sm_mhz", s->clock.median);
    if (s->power.n)
        msim_number_add(o, "power_w", s->power.median);
    time = cJSON_AddObjectToObject(o, "time_ratio");
    if (time)
        msim_cal_ratio_write(time, &s->time);
}
