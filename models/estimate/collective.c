/*
 * models/estimate/collective.c - collectives and point-to-point transfers.
 *
 * The law of models/law/collective_law.c, corrected by curves of measured
 * points where the platform has them (models/platform/fit.h).
 */
#include "core/base/print.h"
#include "core/work/kernel_fact.h"
#include "models/estimate/model.h"
#include "models/law/law.h"
#include "models/platform/fit.h"
#include "models/platform/platform_data.h"

#include <math.h>
#include <stack_rows.h>
#include <string.h>

static bool collective_covers(const struct msim_platform *p,
                              const struct msim_work *w)
{
    (void)p;
    return w->family == MSIM_FAMILY_COLLECTIVE &&
           w->u.coll.collective != MSIM_COLL_UNKNOWN &&
           w->u.coll.collective != MSIM_COLL_WAIT;
}

#define LINKS_MAX 6

static void add_link(const char **links, size_t *n, const char *link)
{
    for (size_t i = 0; i < *n; i++)
        if (strcmp(links[i], link) == 0)
            return;
    if (*n < LINKS_MAX && *link)
        links[(*n)++] = link;
}

/* The interconnect of the work, else that of the platform, else those of
 * platforms that stand in for it: the law uses the rate of the data sheet. */
static size_t links_for(const struct msim_platform *p,
                        const struct msim_work *w, const char **links)
{
    size_t n = 0;

    if (w->u.coll.interconnect)
        add_link(links, &n, w->u.coll.interconnect);
    for (; p; p = p->next)
        add_link(links, &n,
                 w->u.coll.nodes > 1 && *p->sheet.internode
                     ? p->sheet.internode
                     : p->sheet.interconnect);
    return n;
}

/*
 * Between more than two GPUs on PCIe, the machine decides: which of them share
 * a switch, and whether they reach each other's memory. On all-reduces of 64 MB
 * over 4 and 8 GPUs of three machines, another machine's curve is off by 1.3 (a
 * mean logarithm; an L40S that goes through the host's memory is 8 times slower
 * than an RTX PRO 6000, less what their PCIe explains), typical constants by
 * 0.7. So no curve of another machine is taken.
 */
static bool is_machines_own(const struct msim_platform *p,
                            const struct msim_work *w,
                            const struct msim_pick *pick)
{
    return pick->platform == p || w->u.coll.nodes > 1 || w->u.coll.ranks <= 2 ||
           w->u.coll.interconnect || !msim_transfer_on_pcie(&p->sheet, w);
}

/* Whether another network than that of its fits joins the work's nodes. */
static bool is_joined(const struct msim_platform *p, const struct msim_work *w)
{
    return p->joined && w->u.coll.nodes > 1 && !w->u.coll.interconnect;
}

static bool is_between_two(const struct msim_work *w)
{
    return w->u.coll.collective == MSIM_COLL_SEND ||
           w->u.coll.collective == MSIM_COLL_RECV;
}

/* Keys without the algorithm follow, for an algorithm that has no fit. */
static bool pick_of_links(const struct msim_platform *p,
                          const struct msim_work *w, const char *const *links,
                          size_t n_links, struct msim_pick *out)
{
    static const char *const PREFER[] = {MSIM_STACKS_COLLECTIVE};
    struct msim_work like_all_to_all = *w;
    char text[3 * LINKS_MAX][MSIM_FIT_KEY];
    const char *keys[3 * LINKS_MAX + 1];
    size_t n = 0;

    like_all_to_all.u.coll.collective = MSIM_COLL_ALL_TO_ALL;
    for (size_t l = 0; l < n_links; l++) {
        if (w->u.coll.algorithm)
            msim_collective_key(text[n++], sizeof(text[0]), links[l],
                                w->u.coll.algorithm, w);
        msim_collective_key(text[n++], sizeof(text[0]), links[l], "", w);
        if (is_between_two(w)) /* all others have one key */
            msim_collective_key(text[n++], sizeof(text[0]), links[l], "",
                                &like_all_to_all);
    }
    for (size_t i = 0; i < n; i++)
        keys[i] = text[i];
    keys[n] = NULL;
    return n > 0 && msim_fit_pick(p, &MSIM_LAW_COLLECTIVE, w->framework, PREFER,
                                  keys, out);
}

/* Whether no fit of another key is better: it has a larger variance for that
 * alone. */
static bool is_best(const struct msim_platform *p, const struct msim_pick *pick)
{
    double log_sd = MSIM_FACT(NULL, OTHER_KEY_LOG_SD);

    return pick->platform == p && pick->variance < log_sd * log_sd;
}

static bool collective_pick(const struct msim_platform *p,
                            const struct msim_work *w, struct msim_pick *out)
{
    const char *links[LINKS_MAX];
    size_t n;
    bool found;

    if (is_joined(p, w))
        return false;
    n = links_for(p, w, links);
    /* the link of the work itself, mostly */
    found = n > 1 && pick_of_links(p, w, links, 1, out) && is_best(p, out);
    return (found || pick_of_links(p, w, links, n, out)) &&
           is_machines_own(p, w, out);
}

/* Whether `c` is of collectives between nodes as `w`, over any of the links. */
static bool is_between_nodes(const struct msim_fit *c,
                             const struct msim_work *w)
{
    char link[MSIM_FIT_KEY], key[MSIM_FIT_KEY];

    snprintf(link, sizeof(link), "%.*s", (int)strcspn(c->key, "/"), c->key);
    msim_collective_key(key, sizeof(key), link, "", w);
    return strcmp(c->key, key) == 0;
}

/* A platform's file may have several machines of its GPU. A group over nodes
 * that the first of them did not run, and another did, is the other's: nobody
 * said which machine it is. */
static void prefer_measured(const struct msim_work *w, struct msim_pick *pick)
{
    const struct msim_platform *of = pick->platform;
    const struct msim_fit *c;

    if (!of || w->u.coll.nodes < 2 || w->u.coll.interconnect ||
        w->u.coll.as_fitted || msim_curves_measured(&pick->fit->curves, w))
        return;
    for (uint32_t i = of->over_nodes; i; i = c->over_nodes) {
        c = msim_fit_whole(&of->fits[i - 1]);
        if (!c)
            return;
        /* few fits have curves of the group: texts are looked at last */
        if (msim_curves_measured(&c->curves, w) && is_between_nodes(c, w) &&
            strcmp(c->framework, pick->fit->framework) == 0) {
            pick->fit = c;
            return;
        }
    }
}

/* What estimates a group: a fit of a platform, or its data sheet. */
struct by {
    const struct msim_platform *p;
    struct msim_pick pick;
    bool picked;
};

/* The platform whose fits of collectives are used is p->links where it has a
 * fit for such a group. Links that the file names know no other network. */
static void choose(const struct msim_platform *p, const struct msim_work *w,
                   struct by *by)
{
    bool joined = p->links == p->named_links && is_joined(p, w);

    by->p = p->links;
    by->picked = p->links && !joined && collective_pick(by->p, w, &by->pick);
    if (by->picked)
        return;
    by->p = p;
    by->picked = collective_pick(p, w, &by->pick);
}

static void typical(double params[MSIM_TRANSFER_PARAMS])
{
    for (size_t i = 0; i < MSIM_TRANSFER_PARAMS; i++)
        params[i] = MSIM_TRANSFER[i].start;
}

/* The standard deviation for a link that was not measured. */
static double link_log_sd(const struct msim_data_sheet *s,
                          const struct msim_work *w)
{
    if (s->no_link)
        return MSIM_FACT(NULL, UNKNOWN_LINK_LOG_SD);
    if (w->u.coll.nodes > 1)
        return 0; /* the network's interval */
    return w->u.coll.ranks > 2 && msim_transfer_on_pcie(s, w)
               ? MSIM_FACT(NULL, PCIE_LOG_SD)
               : MSIM_FACT(NULL, LINK_LOG_SD);
}

/* 1 up to `small` bytes, 0 from `large` on; between them in proportion to the
 * logarithm. */
static double smallness(double bytes, double small, double large)
{
    return log(large / fmin(fmax(bytes, small), large)) / log(large / small);
}

/*
 * By how much networks fall short of the rates of their cards, a logarithm:
 * rings and trees the less, the larger the part of a message that a rank sends
 * at once; messages to single ranks (all-to-all, send and receive) at any size.
 * Between both ends it falls more slowly than the time of the wire grows, so
 * that more bytes never take less.
 */
static double network_middle(const struct msim_work *w)
{
    double small = MSIM_FACT(NULL, NETWORK_SMALL);
    bool single =
        is_between_two(w) || w->u.coll.collective == MSIM_COLL_ALL_TO_ALL;
    double part = single ? small : (double)w->u.coll.bytes / w->u.coll.ranks;

    return MSIM_FACT(NULL, NETWORK_START) *
           smallness(part, small, MSIM_FACT(NULL, NETWORK_LARGE));
}

void msim_collective_of_any_machine(const struct msim_platform *p,
                                    const struct msim_work *w,
                                    struct msim_estimate *e)
{
    double large = MSIM_FACT(NULL, MACHINE_LARGE_LOG_SD), half;
    double small = MSIM_FACT(NULL, MACHINE_SMALL_LOG_SD);

    if (w->family != MSIM_FAMILY_COLLECTIVE || w->u.coll.nodes > 1 ||
        w->u.coll.interconnect || !p->is_named)
        return;
    half = MSIM_Z90 * (large + (small - large) *
                                   smallness((double)w->u.coll.bytes,
                                             MSIM_FACT(NULL, MACHINE_SMALL),
                                             MSIM_FACT(NULL, MACHINE_LARGE)));
    e->low_us = fmin(e->low_us, e->us * exp(-half));
    e->high_us = fmax(e->high_us, e->us * exp(half));
}

/* Without a fit for the link: the constants that fits start from, which are
 * typical, and a wide interval. */
static void from_data_sheet(const struct msim_platform *p,
                            const struct msim_work *w,
                            struct msim_estimate *out)
{
    double params[MSIM_TRANSFER_PARAMS], low = 0, high = 0;

    typical(params);
    out->us = MSIM_LAW_COLLECTIVE.time_us(&p->sheet, w, params);
    out->source = p->sheet.no_link ? MSIM_SOURCE_NOT_RUN : MSIM_SOURCE_LAW;
    out->family = MSIM_FAMILY_COLLECTIVE;
    if (w->u.coll.nodes > 1) {
        out->us *= exp(network_middle(w));
        low = -MSIM_FACT(NULL, NETWORK_FASTER);
        high = MSIM_FACT(NULL, NETWORK_SLOWER);
    }
    msim_interval_set(out, low, high, link_log_sd(&p->sheet, w));
}

double msim_collective_shortfall(const struct msim_platform *p,
                                 const struct msim_work *w)
{
    struct by by;

    choose(p, w, &by);
    return w->u.coll.nodes < 2 || by.picked ? 1 : exp(network_middle(w));
}

/* Apply the factor of a misconfigured log where the work names it. */
static void follow_log(const struct msim_pick *pick, const struct msim_work *w,
                       struct msim_estimate *e)
{
    double factor = msim_curves_log_factor(&pick->fit->curves, w);

    e->us *= factor;
    e->low_us *= factor;
    e->high_us *= factor;
}

/* The pick of a group: `by` has that of all groups of its kind. */
static struct msim_pick pick_for(const struct by *by, const struct msim_work *w)
{
    struct msim_pick pick = by->pick;

    prefer_measured(w, &pick);
    return pick;
}

/*
 * Of a group that nobody ran: no more than was measured where it was spread
 * wider; of one that was run, where it took so much more that its machines were
 * misconfigured, and nobody names these. Not where GPUs of a node share PCIe,
 * so that more of them are slower. Lowers `e`, and says to that over how many
 * nodes; 0: it was no more.
 */
static uint32_t lower_to_wider(const struct by *by, const struct msim_work *w,
                               struct msim_estimate *e)
{
    struct msim_work wider;
    struct msim_estimate f;
    struct msim_pick pick;
    uint32_t i = 0, lowered = 0;
    double most;

    if (w->u.coll.nodes < 2 || w->u.coll.as_fitted || !by->picked ||
        msim_transfer_on_pcie(&by->p->sheet, w))
        return 0;
    pick = pick_for(by, w);
    most = e->source != MSIM_SOURCE_TABLE ? 1
           : w->u.coll.interconnect       ? INFINITY
                                    : MSIM_FACT(NULL, NETWORK_MISCONFIGURED);
    while (msim_curves_wider(&pick.fit->curves, w, &i, &wider)) {
        msim_fit_estimate(by->p, &pick, &wider, NULL, &f);
        if (f.us * most >= e->us)
            continue;
        e->us = f.us;
        e->low_us = fmin(e->low_us, f.low_us);
        e->high_us = f.high_us;
        lowered = wider.u.coll.nodes;
    }
    return lowered;
}

/* Whether the one machine that has rows of GPUs which share PCIe is so much
 * slower than such links usually are that it went through the host's memory:
 * who names the GPU alone has another, to which typical constants are nearer.
 */
static bool is_slow_machine(const struct by *by, const struct msim_pick *pick,
                            const struct msim_work *w)
{
    struct msim_estimate usual = {0};
    struct msim_work large = *w;

    if (!by->p->is_named || w->u.coll.nodes > 1 || w->u.coll.ranks <= 2 ||
        w->u.coll.interconnect || !msim_transfer_on_pcie(&by->p->sheet, w))
        return false;
    large.u.coll.bytes = (uint64_t)MSIM_FACT(NULL, NETWORK_LARGE);
    from_data_sheet(by->p, &large, &usual);
    return msim_fit_us(by->p, pick, &large) >
           usual.us * MSIM_FACT(NULL, NETWORK_MISCONFIGURED);
}

static void estimate_alone(const struct by *by, const struct msim_work *w,
                           struct msim_estimate *out)
{
    struct msim_pick pick;

    if (by->picked)
        pick = pick_for(by, w);
    if (!by->picked || is_slow_machine(by, &pick, w)) {
        from_data_sheet(by->p, w, out);
        return;
    }
    msim_fit_estimate(by->p, &pick, w, NULL, out);
    (void)lower_to_wider(by, w, out);
    follow_log(&pick, w, out);
}

/* ---- more nodes cost no less --------------------------------------------- */

/* The work over fewer nodes: the same ranks, or as many a node; false where
 * that is no such group. */
static bool on_fewer(const struct msim_platform *p, const struct msim_work *w,
                     uint32_t nodes, bool same_ranks, struct msim_work *out)
{
    uint32_t inside = w->u.coll.ranks / w->u.coll.nodes;

    *out = *w;
    out->u.coll.nodes = nodes;
    if (!same_ranks)
        out->u.coll.ranks = inside * nodes;
    if (!same_ranks)
        return out->u.coll.ranks > 1;
    /* On PCIe more GPUs in a node share more links. */
    return out->u.coll.ranks <= (uint64_t)nodes * MSIM_GPUS_A_NODE &&
           !msim_transfer_on_pcie(&p->sheet, w);
}

/* Whether it is known, without its interval, that a group takes no longer. */
static bool is_no_longer(const struct by *by, const struct msim_work *w,
                         double us)
{
    struct msim_pick pick;

    if (!by->picked)
        return false;
    pick = pick_for(by, w);
    return msim_fit_us(by->p, &pick, w) *
               msim_curves_log_factor(&pick.fit->curves, w) <=
           us;
}

/* Groups with one choice, as keys of fits go: on several nodes, of two ranks on
 * one, of more. */
enum kind { NODES, PAIR, NODE, KINDS };

static enum kind kind_of(const struct msim_work *w)
{
    return w->u.coll.nodes > 1 ? NODES : w->u.coll.ranks > 2 ? NODE : PAIR;
}

/* Curves of more nodes than that do not cross those of fewer. */
#define FEWER_MOST 64

/* Of a rank a node, where the links inside one were named beside the platform:
 * they are another machine's, and nothing passes them. */
static bool passes_no_link(const struct msim_platform *p,
                           const struct msim_work *w)
{
    return p->links && strcmp(p->links->name, p->links_of) != 0 &&
           w->u.coll.ranks == w->u.coll.nodes;
}

/*
 * Curves of several numbers of nodes come from different days and places of a
 * cluster, so that they cross. What nobody ran over these nodes takes no less
 * than the same over fewer: 1, 2, 4, ... of them. Raises `e`, and says over how
 * many nodes that is; 0: it was no less. `by` made `e`.
 */
static uint32_t raise_to_fewer(const struct msim_platform *p,
                               const struct msim_work *w, const struct by *by,
                               struct msim_estimate *e)
{
    struct by of[KINDS];
    bool chosen[KINDS] = {[NODES] = true};
    uint32_t raised = 0;
    struct msim_work fewer;
    struct msim_estimate f;

    if (w->u.coll.nodes < 2 || e->source == MSIM_SOURCE_TABLE ||
        is_between_two(w) || passes_no_link(p, w))
        return 0;
    of[NODES] = *by;
    for (uint32_t nodes = 1; nodes < w->u.coll.nodes && nodes <= FEWER_MOST;
         nodes *= 2)
        for (int same_ranks = 0; same_ranks < 2; same_ranks++) {
            enum kind kind;

            if (!on_fewer(p, w, nodes, same_ranks, &fewer))
                continue;
            kind = kind_of(&fewer);
            if (!chosen[kind])
                choose(p, &fewer, &of[kind]);
            chosen[kind] = true;
            if (is_no_longer(&of[kind], &fewer, e->us))
                continue;
            estimate_alone(&of[kind], &fewer, &f);
            if (f.us <= e->us)
                continue;
            e->us = f.us;
            e->high_us = fmax(e->high_us, f.high_us);
            raised = nodes;
        }
    return raised;
}

/* What was raised, to what was measured wider: but where it was raised by links
 * inside a node that are another machine's. */
static uint32_t lower_again(const struct msim_platform *p, const struct by *by,
                            const struct msim_work *w, struct msim_estimate *e)
{
    return p->links && by->p != p->links ? 0 : lower_to_wider(by, w, e);
}

/* Both ends of a message are one transfer: the sender's. */
static struct msim_work one_end(const struct msim_work *w)
{
    struct msim_work sent = *w;

    if (w->u.coll.collective == MSIM_COLL_RECV)
        sent.u.coll.collective = MSIM_COLL_SEND;
    return sent;
}

static enum msim_status collective_predict(const struct msim_platform *p,
                                           const struct msim_work *w,
                                           struct msim_estimate *out)
{
    const struct msim_work sent = one_end(w);
    struct by by;

    choose(p, &sent, &by);
    estimate_alone(&by, &sent, out);
    if (raise_to_fewer(p, &sent, &by, out))
        (void)lower_again(p, &by, &sent, out);
    return MSIM_OK;
}

void msim_collective_links(const struct msim_platform *p, uint32_t ranks,
                           uint32_t nodes, char *text, size_t size)
{
    struct msim_work w = {.family = MSIM_FAMILY_COLLECTIVE, .variant = ""};
    const struct msim_platform *of;
    const char *where;
    struct by by;

    w.u.coll.collective = MSIM_COLL_ALL_REDUCE;
    w.u.coll.bytes = 1 << 26;
    w.u.coll.ranks = ranks;
    w.u.coll.nodes = nodes;
    choose(p, &w, &by);
    of = by.p;
    where = nodes > 1 ? of->sheet.internode : of->sheet.interconnect;
    if (by.picked)
        snprintf(text, size, "as measured on %s%s", by.pick.fit->table,
                 by.pick.platform == of ? "" : ", which stands in");
    else if (nodes > 1)
        snprintf(text, size,
                 "assumed: %.3g GB/s a card, %.3g cards a GPU, %.3g us",
                 of->sheet.network * 1e-9, of->sheet.cards_per_gpu,
                 of->sheet.latency_us);
    else if (of->sheet.no_link)
        snprintf(text, size,
                 "not known: no collective was timed here; %.3g GB/s a GPU is "
                 "taken, which is PCIe's",
                 of->sheet.link * 1e-9);
    else
        snprintf(text, size, "assumed: %s%s%.3g GB/s a GPU%s", where,
                 *where ? ", " : "", of->sheet.link * 1e-9,
                 ranks > 2 && msim_transfer_on_pcie(&of->sheet, &w)
                     ? ", less where more than 2 share it"
                     : "");
}

static void collective_explain(const struct msim_platform *p,
                               const struct msim_work *w, FILE *out)
{
    struct msim_transfer way;
    double params[MSIM_TRANSFER_PARAMS];
    struct msim_estimate e;
    struct msim_pick pick;
    uint32_t raised, lowered;
    const struct msim_work sent = one_end(w);
    struct by by;

    w = &sent;
    choose(p, w, &by);
    estimate_alone(&by, w, &e);
    raised = raise_to_fewer(p, w, &by, &e);
    if (by.picked) {
        pick = pick_for(&by, w);
        if (!raised)
            msim_fit_estimate(by.p, &pick, w, NULL, &e);
    }
    lowered = lower_again(p, &by, w, &e);
    p = by.p;
    typical(params);
    if (by.picked)
        memcpy(params, pick.fit->params, sizeof(params));
    way = msim_transfer_choose(&p->sheet, w, params);
    msim_print(
        out,
        "law: start + steps * hop + wire / link, by the fastest way: %s, "
        "%s\n"
        "inputs: %s of %llu bytes over %u ranks on %u nodes\n",
        way.algorithm, way.protocol, msim_collective_text(w->u.coll.collective),
        (unsigned long long)w->u.coll.bytes, w->u.coll.ranks, w->u.coll.nodes);
    if (by.picked) {
        msim_fit_explain(p, &pick, w, out);
        if (pick.platform)
            msim_curves_explain(&pick.fit->curves, w, out);
    } else {
        msim_print(
            out,
            "rows: none for this link; typical constants on the data "
            "sheet's %.4g GB/s%s\n",
            (w->u.coll.nodes > 1 ? p->sheet.network : p->sheet.link) * 1e-9,
            p->sheet.no_link ? " (links inside a node are not known)" : "");
    }
    if (raised)
        msim_print(
            out,
            "raised: the estimate over %u node%s is longer, and more nodes "
            "cost no less\n",
            raised, raised == 1 ? "" : "s");
    if (lowered)
        msim_print(out,
                   "lowered: the same was measured over %u nodes, where it "
                   "took less\n",
                   lowered);
}

const struct msim_model MSIM_MODEL_COLLECTIVE = {
    "collective", collective_covers, collective_predict, collective_explain};
