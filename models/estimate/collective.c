/*
 * models/estimate/collective.c - collectives and point-to-point transfers.
 *
 * The law of models/law/collective_law.c, corrected by curves of measured
 * points where the platform has them (models/platform/curve.h).
 */
#include "models/estimate/model.h"
#include "models/law/collective_law.h"
#include "models/law/transfer.h"
#include "models/platform/fit_estimate.h"
#include "models/platform/interval.h"
#include "models/platform/platform_data.h"

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

/* Keys without the algorithm follow, for an algorithm that has no fit. */
static bool collective_pick(const struct msim_platform *p,
                            const struct msim_work *w, struct msim_pick *out)
{
    static const char *const PREFER[] = {"nccl", NULL};
    struct msim_work like_all_to_all = *w;
    char text[3 * LINKS_MAX][MSIM_FIT_KEY];
    const char *keys[3 * LINKS_MAX + 1];
    const char *links[LINKS_MAX];
    size_t n = 0, n_links;

    if (p->joined && w->u.coll.nodes > 1 && !w->u.coll.interconnect)
        return false;
    like_all_to_all.u.coll.collective = MSIM_COLL_ALL_TO_ALL;
    n_links = links_for(p, w, links);
    for (size_t l = 0; l < n_links; l++) {
        if (w->u.coll.algorithm)
            msim_collective_key(text[n++], sizeof(text[0]), links[l],
                                w->u.coll.algorithm, w);
        msim_collective_key(text[n++], sizeof(text[0]), links[l], "", w);
        msim_collective_key(text[n++], sizeof(text[0]), links[l], "",
                            &like_all_to_all);
    }
    for (size_t i = 0; i < n; i++)
        keys[i] = text[i];
    keys[n] = NULL;
    return n > 0 && msim_fit_pick(p, &MSIM_LAW_COLLECTIVE, w->framework, PREFER,
                                  keys, out);
}

/* The platform whose fits of collectives are used: p->links where it has a fit
 * for such a group. */
static const struct msim_platform *with_fits(const struct msim_platform *p,
                                             const struct msim_work *w)
{
    struct msim_pick pick;

    return p->links && collective_pick(p->links, w, &pick) ? p->links : p;
}

static void typical(double params[MSIM_TRANSFER_PARAMS])
{
    for (size_t i = 0; i < MSIM_TRANSFER_PARAMS; i++)
        params[i] = MSIM_TRANSFER[i].start;
}

/*
 * 5 % and 95 % points of log(measured / predicted) by typical constants over
 * nine clusters of the tables, each with equal weight. Few networks reach the
 * rates of their data sheets.
 */
#define NETWORK_LOW  -0.24
#define NETWORK_HIGH 1.98
#define LINK_LOG_SD  0.5

/* Without a fit for the link: the constants that fits start from, which are
 * typical, and a wide interval. */
static void from_data_sheet(const struct msim_platform *p,
                            const struct msim_work *w,
                            struct msim_estimate *out)
{
    double params[MSIM_TRANSFER_PARAMS];

    typical(params);
    out->us = MSIM_LAW_COLLECTIVE.time_us(&p->sheet, w, params);
    out->source = MSIM_SOURCE_LAW;
    out->family = MSIM_FAMILY_COLLECTIVE;
    if (w->u.coll.nodes > 1)
        msim_interval_set(out, NETWORK_LOW, NETWORK_HIGH, 0);
    else
        msim_interval_set(out, 0, 0, LINK_LOG_SD);
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

static enum msim_status collective_predict(const struct msim_platform *p,
                                           const struct msim_work *w,
                                           struct msim_estimate *out)
{
    struct msim_pick pick;

    p = with_fits(p, w);
    if (collective_pick(p, w, &pick)) {
        msim_fit_estimate(p, &pick, w, NULL, out);
        follow_log(&pick, w, out);
    } else {
        from_data_sheet(p, w, out);
    }
    return MSIM_OK;
}

static void collective_explain(const struct msim_platform *p,
                               const struct msim_work *w, FILE *out)
{
    struct msim_transfer way;
    double params[MSIM_TRANSFER_PARAMS];
    struct msim_pick pick;
    bool picked;

    p = with_fits(p, w);
    picked = collective_pick(p, w, &pick);
    typical(params);
    if (picked)
        memcpy(params, pick.fit->params, sizeof(params));
    way = msim_transfer_choose(&p->sheet, w, params);
    fprintf(
        out,
        "law: start + steps * hop + wire / link, by the fastest way: %s, "
        "%s\n"
        "inputs: %s of %llu bytes over %u ranks on %u nodes\n",
        way.algorithm, way.protocol, msim_collective_text(w->u.coll.collective),
        (unsigned long long)w->u.coll.bytes, w->u.coll.ranks, w->u.coll.nodes);
    if (picked) {
        msim_fit_explain(p, &pick, w, out);
        if (pick.platform)
            msim_curves_explain(&pick.fit->curves, w, out);
    } else {
        fprintf(out,
                "rows: none for this link; typical constants on the data "
                "sheet's %.4g GB/s\n",
                (w->u.coll.nodes > 1 ? p->sheet.network : p->sheet.link) *
                    1e-9);
    }
}

const struct msim_model MSIM_MODEL_COLLECTIVE = {
    "collective", collective_covers, collective_predict, collective_explain};
