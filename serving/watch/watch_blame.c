/*
 * serving/watch/watch_blame.c - growth handed down the flow.
 */
#include "serving/watch/watch_model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of a stage, in ms: what is usual, now and at the horizon. */
struct msim_blame_work {
    double self, net, wait;             /* usual */
    double self_now, net_now, wait_now; /* now */
    double d_self, d_net, d_wait;       /* growth at the horizon, from 0 */
    double d_time;  /* the same of a visit, with its calls */
    double rate;    /* log growth of its arrivals, from 0 */
    double latency; /* of that, what requests grew by */
};

const char *msim_resource_text(enum msim_resource r)
{
    static const char *const WORDS[] = {
#define X(name, word) [MSIM_RESOURCE_##name] = (word),
        MSIM_RESOURCE_MAP(X)
#undef X
    };

    return WORDS[r];
}

enum msim_status msim_blame_init(struct msim_blame *b, uint32_t n_stages,
                                 uint32_t n_classes)
{
    *b = (struct msim_blame){.n = n_stages};
    b->stages = calloc(n_stages, sizeof(*b->stages));
    b->kept = calloc(n_stages, sizeof(*b->kept));
    b->work = calloc(n_stages, sizeof(*b->work));
    b->columns = calloc((size_t)n_stages * 3, sizeof(*b->columns));
    b->classes = calloc((size_t)n_classes * 3 + 1, sizeof(*b->classes));
    return b->stages && b->kept && b->work && b->classes && b->columns
               ? MSIM_OK
               : MSIM_ENOMEM;
}

void msim_blame_release(struct msim_blame *b)
{
    free(b->stages);
    free(b->kept);
    free(b->work);
    free(b->columns);
    free(b->classes);
    memset(b, 0, sizeof(*b));
}

static double or_zero(double v)
{
    return isnan(v) ? 0 : v;
}

/* Stages that serve in batches take longer when more arrives. */
static double own_growth(const struct msim_app *app, uint32_t s, double self,
                         double rate)
{
    if (app->stages[s].batching.on && rate > 0)
        return fmax(0, self - rate);
    return self;
}

static void look_at(struct msim_blame_work *w, const struct msim_app *app,
                    uint32_t s, const struct msim_history *h, double horizon)
{
    struct msim_deviation self =
        msim_history_deviation(h, s, MSIM_TRACK_SELF, horizon);
    struct msim_deviation net =
        msim_history_deviation(h, s, MSIM_TRACK_NET, horizon);
    struct msim_deviation wait =
        msim_history_deviation(h, s, MSIM_TRACK_WAIT, horizon);
    struct msim_deviation log_wait =
        msim_history_deviation(h, s, MSIM_TRACK_WAIT_LOG, horizon);
    struct msim_deviation rate =
        msim_history_deviation(h, s, MSIM_TRACK_RATE, horizon);
    double base = msim_history_usual(h, s, MSIM_TRACK_SELF)->median;
    double ahead;

    *w = (struct msim_blame_work){0};
    w->rate = fmax(0, rate.ahead);
    w->self = isnan(base) ? 0 : exp(base);
    w->net = or_zero(msim_history_usual(h, s, MSIM_TRACK_NET)->median);
    w->wait = or_zero(msim_history_usual(h, s, MSIM_TRACK_WAIT)->median);
    ahead = own_growth(app, s, fmin(self.ahead, 3), w->rate);
    w->self_now = w->self * exp(self.excess);
    w->net_now = w->net + net.excess;
    w->wait_now = fmax(0, w->wait + wait.excess);
    w->d_self = fmax(0, w->self * expm1(ahead));
    w->d_net = fmax(0, net.ahead);
    /* a queue near its end grows with a rate of its own */
    w->d_wait =
        fmax(0, fmax(wait.ahead, w->wait * expm1(fmin(log_wait.ahead, 3))));
}

/* Growth of visits, callees first. */
static void add_calls(struct msim_blame_work *w,
                      const struct msim_watch_flow *f)
{
    for (uint32_t k = f->n; k-- > 0;) {
        uint32_t s = f->order[k], n;
        const struct msim_flow_edge *e = msim_app_edges_of(f->app, s, &n);
        double d = w[s].d_self + w[s].d_wait;

        for (uint32_t i = 0; i < n; i++)
            d += f->edge_weight[&e[i] - f->app->edges] *
                 (w[e[i].to].d_net + w[e[i].to].d_time);
        w[s].d_time = d;
    }
}

/* Hand `amount` down to what `s` calls, by how much each call grew; `grown` is
 * the sum of that. */
static void hand_down(struct msim_blame *b, const struct msim_watch_flow *f,
                      uint32_t s, double amount, double grown)
{
    uint32_t n;
    const struct msim_flow_edge *e = msim_app_edges_of(f->app, s, &n);

    if (!(grown > 0))
        return;
    for (uint32_t i = 0; i < n; i++) {
        struct msim_blame_work *to = &b->work[e[i].to];
        double part = amount * f->edge_weight[&e[i] - f->app->edges] / grown;

        b->stages[e[i].to].net += part * to->d_net;
        to->latency += part * to->d_time;
    }
}

/* What a stage does with the growth of its queue. */
static void judge_queue(struct msim_blame *b, const struct msim_watch_flow *f,
                        uint32_t s, double amount, double calls)
{
    /* growth of which nothing is known is that of workers: 3 % of the time */
    const double UNKNOWN = 0.03;
    const struct msim_blame_work *w = &b->work[s];
    bool holds = f->app->stages[s].call == MSIM_CALL_RPC;
    double held = w->self + (holds ? f->time[s] - w->self - w->wait : 0);
    double self = held > 0 ? w->d_self / held : 0;
    double called = holds && held > 0 ? calls / held : 0;
    double all = self + called + w->rate + UNKNOWN;

    b->stages[s].self += amount * self / all;
    b->stages[s].load += amount * w->rate / all;
    b->stages[s].workers += amount * UNKNOWN / all;
    hand_down(b, f, s, amount * called / all, calls);
}

static void hand_all_down(struct msim_blame *b, const struct msim_watch_flow *f)
{
    memset(b->stages, 0, b->n * sizeof(*b->stages));
    b->work[f->app->start].latency = b->work[f->app->start].d_time;
    for (uint32_t k = 0; k < f->n; k++) {
        uint32_t s = f->order[k];
        struct msim_blame_work *w = &b->work[s];
        double calls = w->d_time - w->d_self - w->d_wait;
        double each = w->d_time > 0 ? w->latency / w->d_time : 0;

        b->stages[s].self += each * w->d_self;
        hand_down(b, f, s, each * calls, calls);
        judge_queue(b, f, s, each * w->d_wait, calls);
    }
}

static double total(const struct msim_blame_stage *s)
{
    return s->self + s->net + s->workers + s->load;
}

/* Of a stage whose own service got longer: what stalls it? Pressure on the CPU
 * rises with load, too, so that memory and disk are believed first. */
static enum msim_resource stalled_by(const double z[3], const double excess[3])
{
    bool memory = z[1] > 3 && excess[1] > 0.3 * excess[0];
    bool disk = z[2] > 3 && excess[2] > 0.3 * excess[0];

    if (memory && disk)
        return excess[1] > excess[2] ? MSIM_RESOURCE_MEMORY
                                     : MSIM_RESOURCE_DISK;
    return memory ? MSIM_RESOURCE_MEMORY
           : disk ? MSIM_RESOURCE_DISK
                  : MSIM_RESOURCE_CPU;
}

static void name_resource(struct msim_blame *b, const struct msim_history *h)
{
    const struct msim_blame_stage *s = &b->kept[b->stage];
    double excess[3];
    double most = fmax(fmax(s->self, s->net), fmax(s->workers, s->load));

    for (uint32_t i = 0; i < 3; i++) {
        struct msim_deviation d =
            msim_history_deviation(h, b->stage, MSIM_TRACK_PSI_CPU + i, 0);

        b->z_psi[i] = d.z;
        excess[i] = d.excess;
    }
    b->z_self = msim_history_deviation(h, b->stage, MSIM_TRACK_SELF, 0).z;
    b->z_net = msim_history_deviation(h, b->stage, MSIM_TRACK_NET, 0).z;
    b->z_rate = msim_history_deviation(h, b->stage, MSIM_TRACK_RATE, 0).z;
    if (most == s->self)
        b->resource = stalled_by(b->z_psi, excess);
    else if (most == s->net)
        b->resource = MSIM_RESOURCE_NETWORK;
    else
        b->resource =
            most == s->load ? MSIM_RESOURCE_LOAD : MSIM_RESOURCE_WORKERS;
}

/* Of `n` classes the usual times come first, then those of now and ahead. */
static void compare_classes(struct msim_blame *b, uint32_t n)
{
    const double *usual = b->classes, *now = usual + n, *ahead = now + n;

    b->slow_now = b->slow_ahead = 0;
    for (uint32_t c = 0; c < n; c++) {
        if (ahead[c] - usual[c] <= b->slow_ahead)
            continue;
        b->slow_ahead = ahead[c] - usual[c];
        b->slow_now = now[c] - usual[c];
    }
}

/* Times of a mean request: usual, now and at the horizon; the weights of the
 * edges are those at the horizon. */
static void compare(struct msim_blame *b, struct msim_watch_flow *f)
{
    double *own = b->columns, *net = own + b->n, *weight = net + b->n;
    uint32_t k = f->app->n_classes;
    double usual, now, ahead;

    for (uint32_t s = 0; s < b->n; s++) {
        own[s] = b->work[s].self + b->work[s].wait;
        net[s] = b->work[s].net;
    }
    usual = msim_watch_flow_time(f, own, net);
    msim_watch_flow_slow(f, own, net, b->classes);
    for (uint32_t s = 0; s < b->n; s++) {
        own[s] = b->work[s].self_now + b->work[s].wait_now;
        net[s] = b->work[s].net_now;
    }
    now = msim_watch_flow_time(f, own, net);
    msim_watch_flow_slow(f, own, net, b->classes + k);
    for (uint32_t s = 0; s < b->n; s++) {
        own[s] = b->work[s].self + b->work[s].wait + b->work[s].d_self +
                 b->work[s].d_wait;
        net[s] = b->work[s].net + b->work[s].d_net;
    }
    ahead = msim_watch_flow_time(f, own, net);
    msim_watch_flow_slow(f, own, net, b->classes + 2 * (size_t)k);
    compare_classes(b, k);
    msim_watch_flow_weigh(f, own, net, weight);
    b->usual_ms = usual;
    b->ratio_now = usual > 0 ? now / usual : 1;
    b->ratio_ahead = usual > 0 ? ahead / usual : 1;
}

/* One second may be chance; whoever was to blame in the seconds before, too, is
 * believed first. */
static void keep(struct msim_blame_stage *kept,
                 const struct msim_blame_stage *now)
{
    const double FADES = 0.7;

    kept->self = FADES * kept->self + now->self;
    kept->net = FADES * kept->net + now->net;
    kept->workers = FADES * kept->workers + now->workers;
    kept->load = FADES * kept->load + now->load;
}

void msim_blame_find(struct msim_blame *b, struct msim_watch_flow *f,
                     const struct msim_history *h, double horizon)
{
    double most = -1;

    for (uint32_t s = 0; s < b->n; s++)
        look_at(&b->work[s], f->app, s, h, horizon);
    compare(b, f);
    add_calls(b->work, f);
    hand_all_down(b, f);
    b->ms = 0;
    for (uint32_t s = 0; s < b->n; s++) {
        keep(&b->kept[s], &b->stages[s]);
        b->ms += total(&b->stages[s]);
        if (total(&b->kept[s]) > most) {
            most = total(&b->kept[s]);
            b->stage = s;
        }
    }
    b->share = b->ms > 0 ? total(&b->stages[b->stage]) / b->ms : 0;
    name_resource(b, h);
}
