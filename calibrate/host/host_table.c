/*
 * calibrate/host/host_table.c - mean times of each operator on each host.
 */
#include "calibrate/host/host_fit.h"

#include <math.h>
#include <stdlib.h>

/* Where every call may have waited, the shortest tenth of enough calls has
 * waited least. */
#define SHORT      0.1
#define SHORT_MIN  20
#define DEVICE_MIN 20 /* kernels that latency and gap are taken from */

static double call_time(struct msim_host_samples *s, enum msim_call_kind kind)
{
    if (s->calls[kind].n)
        return msim_series_core(&s->calls[kind]);
    if (s->all_calls[kind].n >= SHORT_MIN)
        return msim_series_quantile(&s->all_calls[kind], SHORT);
    return NAN;
}

/* Once a job has warmed up, memory comes from the caching allocator. */
static bool is_steady(enum msim_call_kind kind)
{
    return kind != MSIM_CALL_MALLOC && kind != MSIM_CALL_FREE;
}

static void fill_sums(struct msim_host_table *t, uint32_t h)
{
    const struct msim_host_samples *s = &t->hosts[h];
    size_t row = (size_t)h * t->n_keys;

    for (uint32_t i = 0; i < s->n_ops; i++) {
        t->mean[row + s->ops[i].key] += s->ops[i].self;
        t->count[row + s->ops[i].key]++;
    }
    for (uint32_t i = 0; i < s->n_made; i++) {
        enum msim_call_kind kind = (enum msim_call_kind)s->made[i].kind;
        double us = t->call_us[h][kind];

        if (is_steady(kind) && us > 0)
            t->made[row + s->made[i].key] += us;
    }
    for (uint32_t k = 0; k < t->n_keys; k++)
        if (t->count[row + k]) {
            t->mean[row + k] /= t->count[row + k];
            t->made[row + k] /= t->count[row + k];
        }
}

static void fill_host(struct msim_host_table *t, struct msim_host_samples *s,
                      uint32_t h)
{
    for (int k = 0; k < MSIM_HOST_CALL_KINDS; k++)
        t->call_us[h][k] = call_time(s, (enum msim_call_kind)k);
    for (int k = 0; k < MSIM_AFTER_KINDS; k++)
        t->after_us[h][k] = msim_series_mean(&s->after[k]);
    t->latency_us[h] = s->latency.n < DEVICE_MIN
                           ? NAN
                           : msim_series_quantile(&s->latency, 0.5);
    t->gap_us[h] = s->gap.n < DEVICE_MIN ? NAN : msim_series_core(&s->gap);
    fill_sums(t, h);
}

enum msim_status msim_host_table_make(struct msim_host_table *t,
                                      struct msim_host_samples *hosts,
                                      uint32_t n_hosts,
                                      const struct msim_host_keys *keys)
{
    size_t n = (size_t)n_hosts * keys->n + 1;

    *t = (struct msim_host_table){
        .hosts = hosts, .keys = keys, .n_hosts = n_hosts, .n_keys = keys->n};
    t->mean = calloc(n, sizeof(*t->mean));
    t->made = calloc(n, sizeof(*t->made));
    t->count = calloc(n, sizeof(*t->count));
    if (!t->mean || !t->made || !t->count) {
        msim_host_table_release(t);
        return MSIM_ENOMEM;
    }
    for (uint32_t h = 0; h < n_hosts; h++)
        fill_host(t, &hosts[h], h);
    return MSIM_OK;
}

void msim_host_table_release(struct msim_host_table *t)
{
    free(t->mean);
    free(t->made);
    free(t->count);
    *t = (struct msim_host_table){0};
}
