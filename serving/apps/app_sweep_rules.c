/*
 * serving/apps/app_sweep_rules.c - what holds of neighbours in a sweep.
 *
 * Neighbours are two points of one application that differ in one axis alone,
 * and there by the next larger number. Both saw the same requests, so that a
 * hundredth is no chance; what differs by less counts as equal.
 */
#include "serving/apps/app_sweep.h"

#include <math.h>

#define EQUAL 1.01

struct neighbours {
    const struct msim_app_sweep_point *less, *more;
};

typedef bool holds(const struct neighbours *n);

static bool latency_no_longer(const struct neighbours *n)
{
    return n->more->p99_ms <= EQUAL * n->less->p99_ms;
}

static bool latency_no_shorter(const struct neighbours *n)
{
    return n->less->p99_ms <= EQUAL * n->more->p99_ms;
}

static bool cost_no_higher(const struct neighbours *n)
{
    return n->more->cost_per_1000 <= EQUAL * n->less->cost_per_1000;
}

static bool energy_no_higher(const struct neighbours *n)
{
    return n->more->energy_wh_per_1000 <= EQUAL * n->less->energy_wh_per_1000;
}

static bool latency_falls_less(const struct neighbours *n)
{
    return n->less->p99_ms / n->more->p99_ms <=
           EQUAL * n->more->gpus / n->less->gpus;
}

/* Rules of neighbours on an axis; `figure` tells which must be known. */
static const struct neighbour_rule {
    const char *text;
    enum msim_app_sweep_axis axis;
    holds *holds;
    enum { LATENCY, COST, ENERGY } figure;
} NEIGHBOUR_RULES[] = {
    {"more replicas: the p99 is no longer", MSIM_APP_SWEEP_REPLICAS,
     latency_no_longer, LATENCY},
    {"more replicas: the p99 falls by less than the GPUs grow",
     MSIM_APP_SWEEP_REPLICAS, latency_falls_less, LATENCY},
    {"a higher rate: the p99 is no shorter", MSIM_APP_SWEEP_RATE,
     latency_no_shorter, LATENCY},
    {"a higher rate: 1,000 requests cost no more", MSIM_APP_SWEEP_RATE,
     cost_no_higher, COST},
    {"a higher rate: 1,000 requests take no more energy", MSIM_APP_SWEEP_RATE,
     energy_no_higher, ENERGY},
};
#define N_NEIGHBOUR_RULES (sizeof(NEIGHBOUR_RULES) / sizeof(*NEIGHBOUR_RULES))

static double number_of(const struct msim_app_sweep_runs *r,
                        const struct msim_app_sweep_point *p,
                        enum msim_app_sweep_axis axis)
{
    const cJSON *item = msim_app_sweep_item(r->sweep, p->index, axis, NULL);

    return item ? item->valuedouble : (double)NAN;
}

/* The point that differs from `p` in `axis` alone, by the next larger number;
 * NULL: there is none. */
static const struct msim_app_sweep_point *
next_of(const struct msim_app_sweep_runs *r,
        const struct msim_app_sweep_point *p, enum msim_app_sweep_axis axis)
{
    uint64_t each = msim_app_sweep_points(r->sweep), stride = 1;
    const struct msim_app_sweep_point *next = NULL;
    uint32_t at;

    for (int a = MSIM_APP_SWEEP_AXES - 1; a > (int)axis; a--)
        stride *= r->sweep->n[a];
    (void)msim_app_sweep_item(r->sweep, p->index, axis, &at);
    for (uint32_t k = 0; k < r->sweep->n[axis]; k++) {
        const struct msim_app_sweep_point *q =
            &r->points[p->app * each + p->index + k * stride - at * stride];

        if (number_of(r, q, axis) > number_of(r, p, axis) &&
            (!next || number_of(r, q, axis) < number_of(r, next, axis)))
            next = q;
    }
    return next;
}

static bool knows(const struct msim_app_sweep_point *p, int figure)
{
    if (!p->ran)
        return false;
    return !isnan(figure == LATENCY ? p->p99_ms
                  : figure == COST  ? p->cost_per_1000
                                    : p->energy_wh_per_1000);
}

static void test_neighbours(struct msim_app_sweep_rule *rule,
                            const struct neighbour_rule *def,
                            const struct msim_app_sweep_runs *r)
{
    *rule = (struct msim_app_sweep_rule){.text = def->text};
    for (uint32_t i = 0; i < r->n && r->sweep->axes[def->axis]; i++) {
        struct neighbours n = {&r->points[i],
                               next_of(r, &r->points[i], def->axis)};

        if (!n.more || !knows(n.less, (int)def->figure) ||
            !knows(n.more, (int)def->figure))
            continue;
        rule->of++;
        rule->holds += def->holds(&n);
    }
}

/* The stage with the largest share of the path is the one with the most held
 * workers. */
static bool blames_the_busiest(const struct msim_app_sweep_point *p)
{
    uint32_t slow = 0, busy = 0;

    for (uint32_t i = 1; i < p->n_stages; i++) {
        if (p->stages[i].critical_share > p->stages[slow].critical_share)
            slow = i;
        if (p->stages[i].utilisation > p->stages[busy].utilisation)
            busy = i;
    }
    return slow == busy;
}

static bool has_both(const struct msim_app_sweep_point *p)
{
    return p->feasible && !isnan(p->p99_ms) && !isnan(p->cost_per_1000);
}

/* Of the other feasible points at the application and rate of point `i`, how
 * many there are, cost less, and answer sooner. */
struct others {
    uint32_t n, cheaper, faster;
};

static struct others others_of(const struct msim_app_sweep_runs *r, uint32_t i)
{
    const struct msim_app_sweep_point *p = &r->points[i];
    uint64_t each = msim_app_sweep_points(r->sweep);
    struct others o = {0};
    uint32_t rate, other;

    (void)msim_app_sweep_item(r->sweep, p->index, MSIM_APP_SWEEP_RATE, &rate);
    for (uint64_t k = p->app * each; k < (p->app + 1) * each; k++) {
        const struct msim_app_sweep_point *q = &r->points[k];

        (void)msim_app_sweep_item(r->sweep, q->index, MSIM_APP_SWEEP_RATE,
                                  &other);
        if (k == i || other != rate || !has_both(q))
            continue;
        o.n++;
        o.cheaper += q->cost_per_1000 < p->cost_per_1000 ||
                     (k < i && q->cost_per_1000 <= p->cost_per_1000);
        o.faster += q->p99_ms < p->p99_ms;
    }
    return o;
}

static void test_points(struct msim_app_sweep_rule rules[2],
                        const struct msim_app_sweep_runs *r)
{
    rules[0] = (struct msim_app_sweep_rule){
        .text = "most of the latency is spent in the stage whose workers are "
                "held most"};
    rules[1] = (struct msim_app_sweep_rule){
        .text = "the cheapest point that can bear a rate is the fastest, too"};
    for (uint32_t i = 0; i < r->n; i++) {
        if (r->points[i].ran && r->points[i].n_stages > 1) {
            rules[0].of++;
            rules[0].holds += blames_the_busiest(&r->points[i]);
        }
        if (has_both(&r->points[i])) {
            struct others o = others_of(r, i);

            rules[1].of += o.n > 0 && o.cheaper == 0;
            rules[1].holds += o.n > 0 && o.cheaper == 0 && o.faster == 0;
        }
    }
}

void msim_app_sweep_rules(
    struct msim_app_sweep_rule rules[MSIM_APP_SWEEP_RULES],
    const struct msim_app_sweep_runs *r)
{
    _Static_assert(N_NEIGHBOUR_RULES + 2 == MSIM_APP_SWEEP_RULES,
                   "a row a rule");
    for (size_t i = 0; i < N_NEIGHBOUR_RULES; i++)
        test_neighbours(&rules[i], &NEIGHBOUR_RULES[i], r);
    test_points(&rules[N_NEIGHBOUR_RULES], r);
}
