/*
 * core/graph/contention/contention_fit.c - the figures of one device, from its
 * own trace.
 *
 *   slowdown    the same kernel (name and launch) at the same time as a
 *               collective and not: median over launches of duration / median
 *               duration alone. With too few launches: the caller's figure
 *   host link   rates of large copies at the same time as one the other way,
 *               and alone. Where none ran alone, both directions are assumed
 *               to be one pipe, and their shares of it are fitted
 *   engines     most copies of one direction that ran at once, as far as a GPU
 *               can
 */
#include "core/base/containers.h"
#include "core/base/units.h"
#include "core/graph/contention/graph_contention_internal.h"

#include "core/base/quantile.h"

#include <math.h>
#include <stdlib.h>

/* Least evidence for a figure: launches, and copies. */
#define LAUNCHES_MIN 20
#define ALONE_MIN    3
#define COPIES_MIN   3
/* Shorter kernels show little where traces have whole microseconds; smaller
 * copies are latency, not bandwidth. */
#define KERNEL_MIN (10 * (msim_ps)MSIM_PS_PER_US)
#define COPY_MIN   (1u << 20)
/* Copies that overlap by less were one after the other. */
#define BLUR (6 * (msim_ps)MSIM_PS_PER_US)
/* Overlapped for nearly all of its time, and for nearly none. */
#define CONCURRENT 0.95
#define ALONE      0.05

/* When something of a set of kinds ran: merged and in order. */
struct spans {
    struct msim_interval_ps *at;
    uint32_t n;
};

/* The current device: demands [first, end) are its own and its rank's. */
struct fit {
    struct msim_contention_builder *b;
    struct msim_shared_device *device;
    struct msim_contention_figure figure; /* rank and device filled in */
    uint32_t index, first, end;
};

static bool is_kind(const struct fit *f, uint32_t d, unsigned kinds)
{
    const struct msim_demand *demand = &f->b->s->demands[d];

    return demand->device == f->index && kinds >> demand->kind & 1 &&
           f->b->ran[d].begin != MSIM_TIME_NONE;
}

static const struct msim_gpu *event_of(const struct fit *f, uint32_t d)
{
    const struct msim_graph *g = f->b->b->g;
    const struct msim_task_ref *ref = &g->refs[f->b->s->demands[d].task];

    return &f->b->b->job->ranks[ref->rank]->gpu[ref->index];
}

static enum msim_status find_spans(const struct fit *f, unsigned kinds,
                                   struct spans *out)
{
    size_t room = (size_t)(f->end - f->first) + 1;
    struct msim_keyed *order = malloc(room * sizeof(*order));
    uint32_t n = 0;

    out->n = 0;
    out->at = malloc(room * sizeof(*out->at));
    if (!order || !out->at) {
        free(order);
        return MSIM_ENOMEM;
    }
    for (uint32_t d = f->first; d < f->end; d++)
        if (is_kind(f, d, kinds))
            order[n++] = (struct msim_keyed){f->b->ran[d].begin, d};
    msim_keyed_sort(order, n);
    for (uint32_t i = 0; i < n; i++) {
        struct msim_interval_ps ran = f->b->ran[order[i].index];
        struct msim_interval_ps *last = &out->at[out->n ? out->n - 1 : 0];

        if (out->n && ran.begin <= last->end)
            last->end = ran.end > last->end ? ran.end : last->end;
        else
            out->at[out->n++] = ran;
    }
    free(order);
    return MSIM_OK;
}

/* The first span that ends after `at`. */
static uint32_t first_after(const struct spans *s, msim_ps at)
{
    return msim_first_after(&s->at->end, sizeof(*s->at), 0, s->n, at);
}

/* For how long of `ran` something of the spans ran. */
static msim_ps overlap(const struct spans *s, struct msim_interval_ps ran)
{
    msim_ps sum = 0;

    for (uint32_t i = first_after(s, ran.begin);
         i < s->n && s->at[i].begin < ran.end; i++) {
        msim_ps from = s->at[i].begin > ran.begin ? s->at[i].begin : ran.begin;
        msim_ps to = s->at[i].end < ran.end ? s->at[i].end : ran.end;

        sum += to - from;
    }
    return sum;
}

static double share(const struct spans *s, struct msim_interval_ps ran)
{
    return (double)overlap(s, ran) / (double)(ran.end - ran.begin);
}

static enum msim_status note(const struct fit *f,
                             enum msim_contention_rule rule,
                             enum msim_contention_source source,
                             const char *what, double value, uint32_t evidence)
{
    struct msim_contention_figure figure = f->figure;

    figure.rule = (uint8_t)rule;
    figure.source = (uint8_t)source;
    figure.what = what;
    figure.value = value;
    figure.evidence = evidence;
    return msim_contention_figure_add(f->b->s, figure);
}

/* ---- compute at the same time as communication ----------------------- */

struct launch {
    uint64_t key; /* name and launch configuration */
    double us;
    bool concurrent;
};

/* By key, those alone first. */
static int compare_launch(const void *a, const void *b)
{
    const struct launch *x = a, *y = b;

    if (x->key != y->key)
        return MSIM_ORDER(x->key, y->key);
    return x->concurrent - y->concurrent;
}

static uint32_t collect_launches(const struct fit *f, const struct spans *comm,
                                 struct launch *out)
{
    uint32_t n = 0;

    for (uint32_t d = f->first; d < f->end; d++) {
        const struct msim_gpu *e = event_of(f, d);
        double concurrent;

        if (!is_kind(f, d, 1u << MSIM_DEMAND_KERNEL) || e->dur < KERNEL_MIN ||
            e->config == MSIM_NONE)
            continue;
        concurrent = share(comm, f->b->ran[d]);
        if (concurrent <= ALONE || concurrent >= CONCURRENT)
            out[n++] = (struct launch){(uint64_t)e->name << 32 | e->config,
                                       (double)e->dur / MSIM_PS_PER_US,
                                       concurrent >= CONCURRENT};
    }
    if (n)
        qsort(out, n, sizeof(*out), compare_launch);
    return n;
}

/* Of all launches at the same time as a collective: duration over the median
 * alone. */
static uint32_t find_ratios(const struct launch *l, uint32_t n, double *ratios,
                            double *tmp)
{
    uint32_t found = 0;

    for (uint32_t i = 0, end; i < n; i = end) {
        uint32_t alone = 0;
        double by;

        for (end = i; end < n && l[end].key == l[i].key; end++)
            if (!l[end].concurrent)
                tmp[alone++] = l[end].us;
        if (alone < ALONE_MIN)
            continue;
        by = msim_median_mean(tmp, alone);
        for (uint32_t k = i + alone; k < end; k++)
            ratios[found++] = l[k].us / by;
    }
    return found;
}

static bool has_collectives(const struct fit *f)
{
    for (uint32_t d = f->first; d < f->end; d++)
        if (f->b->s->demands[d].device == f->index &&
            msim_demand_is_transfer(f->b->s->demands[d].kind))
            return true;
    return false;
}

/* The trace has `n` launches, whose ratios are these. */
static enum msim_status set_slowdown(struct fit *f, double *ratios, uint32_t n)
{
    double given = f->b->b->opt->slowdown;
    enum msim_contention_source source = MSIM_CONTENTION_ASSUMED;

    if (n >= LAUNCHES_MIN) {
        source = MSIM_CONTENTION_FITTED;
        f->device->slowdown = fmax(msim_median_mean(ratios, n), 1);
    } else if (given > 0) {
        source = MSIM_CONTENTION_GIVEN;
        f->device->slowdown = fmax(given, 1);
    }
    return note(f, MSIM_CONTENTION_SLOWDOWN, source,
                "duration of kernels beside a collective, alone: 1",
                f->device->slowdown, n);
}

static enum msim_status fit_slowdown(struct fit *f)
{
    size_t room = (size_t)(f->end - f->first) + 1;
    struct launch *launches = malloc(room * sizeof(*launches));
    double *ratios = malloc(room * sizeof(*ratios));
    double *tmp = malloc(room * sizeof(*tmp));
    struct spans comm = {0};
    enum msim_status status = MSIM_ENOMEM;
    uint32_t n = 0;

    if (launches && ratios && tmp)
        status =
            find_spans(f,
                       1u << MSIM_DEMAND_ARRIVE | 1u << MSIM_DEMAND_TRANSFER |
                           1u << MSIM_DEMAND_SEND | 1u << MSIM_DEMAND_RECEIVE,
                       &comm);
    if (status == MSIM_OK && comm.n)
        n = find_ratios(launches, collect_launches(f, &comm, launches), ratios,
                        tmp);
    if (status == MSIM_OK && has_collectives(f))
        status = set_slowdown(f, ratios, n);
    free(launches);
    free(ratios);
    free(tmp);
    free(comm.at);
    return status;
}

/* ---- copies ------------------------------------------------------------- */

enum { TO_DEVICE, TO_HOST };
#define COPIES (1u << MSIM_DEMAND_TO_DEVICE | 1u << MSIM_DEMAND_TO_HOST)
#define KIND_OF(side)                                                          \
    ((side) == TO_HOST ? MSIM_DEMAND_TO_HOST : MSIM_DEMAND_TO_DEVICE)

/* Large copies of one direction, by whether one ran the other way. */
struct rates {
    double *concurrent, *alone; /* bytes per us */
    uint32_t n_concurrent, n_alone;
};

static void find_rates(const struct fit *f, int side, const struct spans *other,
                       struct rates *r)
{
    for (uint32_t d = f->first; d < f->end; d++) {
        const struct msim_gpu *e = event_of(f, d);
        double part, rate;

        if (!is_kind(f, d, 1u << KIND_OF(side)) || e->bytes < COPY_MIN ||
            e->dur <= 0)
            continue;
        part = share(other, f->b->ran[d]);
        rate = (double)e->bytes / ((double)e->dur / MSIM_PS_PER_US);
        if (part >= CONCURRENT)
            r->concurrent[r->n_concurrent++] = rate;
        else if (part <= ALONE)
            r->alone[r->n_alone++] = rate;
    }
}

/* Keep the times at which copies of both directions ran at once. Returns how
 * long these last, in us. */
static double keep_shared(struct spans *all, const struct spans way[2])
{
    msim_ps sum = 0;
    uint32_t n = 0;

    for (uint32_t i = 0; i < all->n; i++) {
        msim_ps length = all->at[i].end - all->at[i].begin;

        if (overlap(&way[0], all->at[i]) + overlap(&way[1], all->at[i]) <=
            length)
            continue;
        sum += length;
        all->at[n++] = all->at[i];
    }
    all->n = n;
    return (double)sum / MSIM_PS_PER_US;
}

/* All bytes that were copied at these times, in both directions. */
static double bytes_in(const struct fit *f, const struct spans *s)
{
    double sum = 0;

    for (uint32_t d = f->first; d < f->end; d++)
        if (is_kind(f, d, COPIES) && overlap(s, f->b->ran[d]) > 0)
            sum += (double)event_of(f, d)->bytes;
    return sum;
}

static void set_link(struct fit *f, double to_device, double to_host)
{
    double capacity = to_device + to_host;

    f->device->host_link = (struct msim_pipe){
        capacity, {to_device / capacity, to_host / capacity}};
}

/* Copies of both directions were seen alone and overlapped. */
static enum msim_status fit_link(struct fit *f, struct rates *r)
{
    double rate[2];
    uint32_t n = 0;

    for (int side = TO_DEVICE; side <= TO_HOST; side++) {
        rate[side] =
            fmin(msim_median_mean(r[side].concurrent, r[side].n_concurrent) /
                     msim_median_mean(r[side].alone, r[side].n_alone),
                 1);
        n += r[side].n_concurrent;
    }
    set_link(f, rate[TO_DEVICE], rate[TO_HOST]);
    MSIM_TRY(note(f, MSIM_CONTENTION_HOST_LINK, MSIM_CONTENTION_FITTED,
                  "rate of a copy to the device beside one to the host, "
                  "alone: 1",
                  rate[TO_DEVICE], n));
    return note(f, MSIM_CONTENTION_HOST_LINK, MSIM_CONTENTION_FITTED,
                "rate of a copy to the host beside one to the device, "
                "alone: 1",
                rate[TO_HOST], n);
}

/*
 * Copies were seen overlapped, none alone, so what a copy would take alone
 * does not follow. It does if both directions are one pipe, which is assumed.
 * The pipe's rate, `capacity` in bytes per us, is all bytes over the time that
 * it was busy.
 */
static enum msim_status assume_pipe(struct fit *f, struct rates *r,
                                    double capacity)
{
    int side = r[TO_HOST].n_concurrent >= r[TO_DEVICE].n_concurrent ? TO_HOST
                                                                    : TO_DEVICE;
    double part =
        msim_median_mean(r[side].concurrent, r[side].n_concurrent) / capacity;
    uint32_t n = r[side].n_concurrent;

    part = fmin(fmax(part, 0.01), 0.99);
    if (side == TO_HOST)
        set_link(f, 1 - part, part);
    else
        set_link(f, part, 1 - part);
    MSIM_TRY(note(f, MSIM_CONTENTION_HOST_LINK, MSIM_CONTENTION_FITTED,
                  "share of the host link that a copy to the host has beside "
                  "one to the device",
                  f->device->host_link.weight[TO_HOST], n));
    return note(f, MSIM_CONTENTION_HOST_LINK, MSIM_CONTENTION_ASSUMED,
                "rate of the host link for both directions together, GB/s",
                capacity / 1000, n);
}

static enum msim_status fit_rates(struct fit *f, struct rates *r,
                                  const struct spans *way)
{
    struct spans all = {0};
    enum msim_status status = MSIM_OK;
    double us;

    if (r[0].n_concurrent >= COPIES_MIN && r[1].n_concurrent >= COPIES_MIN &&
        r[0].n_alone >= COPIES_MIN && r[1].n_alone >= COPIES_MIN)
        return fit_link(f, r);
    if (r[0].n_concurrent < COPIES_MIN && r[1].n_concurrent < COPIES_MIN)
        return MSIM_OK;
    status = find_spans(f, COPIES, &all);
    us = keep_shared(&all, way);
    if (status == MSIM_OK && us > 0)
        status = assume_pipe(f, r, bytes_in(f, &all) / us);
    free(all.at);
    return status;
}

static enum msim_status fit_copies(struct fit *f)
{
    size_t room = (size_t)(f->end - f->first) + 1;
    struct spans way[2] = {{0}, {0}};
    struct rates r[2] = {{0}, {0}};
    enum msim_status status = MSIM_OK;

    for (int side = TO_DEVICE; side <= TO_HOST && status == MSIM_OK; side++) {
        r[side].concurrent = malloc(room * sizeof(double));
        r[side].alone = malloc(room * sizeof(double));
        status = r[side].concurrent && r[side].alone
                     ? find_spans(f, 1u << KIND_OF(side), &way[side])
                     : MSIM_ENOMEM;
    }
    for (int side = TO_DEVICE; side <= TO_HOST && status == MSIM_OK; side++)
        find_rates(f, side, &way[!side], &r[side]);
    if (status == MSIM_OK)
        status = fit_rates(f, r, way);
    for (int side = TO_DEVICE; side <= TO_HOST; side++) {
        free(r[side].concurrent);
        free(r[side].alone);
        free(way[side].at);
    }
    return status;
}

/* The part of a copy that a copy on another engine would overlap. Of a short
 * copy its middle, which lies in a long copy or does not. */
static struct msim_interval_ps core_of(struct msim_interval_ps ran)
{
    msim_ps middle = ran.begin + (ran.end - ran.begin) / 2;

    if (ran.end - ran.begin > 2 * BLUR)
        return (struct msim_interval_ps){ran.begin + BLUR, ran.end - BLUR};
    return (struct msim_interval_ps){middle, middle + 1};
}

/* Most copies of one direction at once: begins and ends in order of time. */
static enum msim_status count_engines(struct fit *f, int side)
{
    size_t room = 2 * (size_t)(f->end - f->first) + 1;
    struct msim_keyed *marks = malloc(room * sizeof(*marks));
    uint32_t n = 0, now = 0, most = 1;

    if (!marks)
        return MSIM_ENOMEM;
    for (uint32_t d = f->first; d < f->end; d++) {
        struct msim_interval_ps core;

        if (!is_kind(f, d, 1u << KIND_OF(side)))
            continue;
        core = core_of(f->b->ran[d]);
        marks[n++] = (struct msim_keyed){core.begin, 1};
        marks[n++] = (struct msim_keyed){core.end, 0};
    }
    msim_keyed_sort(marks, n);
    for (uint32_t i = 0; i < n; i++) {
        now = marks[i].index ? now + 1 : now - 1;
        most = now > most ? now : most;
    }
    most = most < MSIM_RESIDENT_MOST ? most : MSIM_RESIDENT_MOST;
    free(marks);
    f->device->engines[side] = most;
    return n ? note(f, MSIM_CONTENTION_COPY_ENGINE, MSIM_CONTENTION_PHYSICAL,
                    side == TO_HOST ? "copies to the host at a time"
                                    : "copies to the device at a time",
                    most, n / 2)
             : MSIM_OK;
}

enum msim_status msim_contention_fit(struct msim_contention_builder *b,
                                     uint32_t rank, int64_t device_id,
                                     uint32_t device, uint32_t first,
                                     uint32_t end)
{
    struct fit f = {.b = b,
                    .device = &b->s->devices[device],
                    .figure = {.rank = rank, .device = device_id},
                    .index = device,
                    .first = first,
                    .end = end};

    MSIM_TRY(fit_slowdown(&f));
    MSIM_TRY(fit_copies(&f));
    MSIM_TRY(count_engines(&f, TO_DEVICE));
    return count_engines(&f, TO_HOST);
}
