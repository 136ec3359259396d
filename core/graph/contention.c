/*
 * core/graph/contention.c - what tasks of one device share.
 */
#include "core/graph/contention.h"

#include "core/base/containers.h"

#include <stdlib.h>

const char *msim_contention_text(enum msim_contention_rule rule)
{
    static const char *const TEXT[] = {
#define X(name, text) text,
        MSIM_CONTENTION_MAP(X)
#undef X
    };

    return TEXT[rule];
}

void msim_sharing_free(struct msim_sharing *s)
{
    if (!s)
        return;
    free(s->of_task);
    free(s->demands);
    free(s->devices);
    free(s->figures);
    free(s);
}

enum msim_status msim_contention_figure_add(struct msim_sharing *s,
                                            struct msim_contention_figure f)
{
    MSIM_TRY(msim_grow((void **)&s->figures, &s->cap_figures, s->n_figures,
                       sizeof(*s->figures)));
    s->figures[s->n_figures++] = f;
    return MSIM_OK;
}

static double pipe_rate(const struct msim_pipe *p, int side, uint32_t n0,
                        uint32_t n1)
{
    double rate =
        p->capacity * p->weight[side] / (n0 * p->weight[0] + n1 * p->weight[1]);

    return rate < 1 ? rate : 1;
}

/* Transfers in the directions that one of `kind` uses, itself included: a
 * collective uses both, of which the fuller one holds it up. */
static uint32_t flows_beside(const uint32_t *n, enum msim_demand_kind kind)
{
    uint32_t sent = n[MSIM_DEMAND_SEND], received = n[MSIM_DEMAND_RECEIVE];
    uint32_t most = sent > received ? sent : received;

    return n[MSIM_DEMAND_TRANSFER] + (kind == MSIM_DEMAND_SEND      ? sent
                                      : kind == MSIM_DEMAND_RECEIVE ? received
                                                                    : most);
}

double msim_contention_rate(const struct msim_sharing *s, uint32_t device,
                            enum msim_demand_kind kind,
                            const struct msim_contention_load *load)
{
    const struct msim_shared_device *d = &s->devices[device];
    const uint32_t *n = load->n;

    switch (kind) {
    case MSIM_DEMAND_KERNEL:
        if (!msim_contention_has(s, MSIM_CONTENTION_SLOWDOWN) ||
            !(n[MSIM_DEMAND_ARRIVE] + n[MSIM_DEMAND_TRANSFER] +
              n[MSIM_DEMAND_SEND] + n[MSIM_DEMAND_RECEIVE]))
            return 1;
        return 1 / d->slowdown;
    case MSIM_DEMAND_TRANSFER:
    case MSIM_DEMAND_SEND:
    case MSIM_DEMAND_RECEIVE:
        if (!msim_contention_has(s, MSIM_CONTENTION_INTERCONNECT))
            return 1;
        return pipe_rate(&d->interconnect, 0, flows_beside(n, kind), 0);
    case MSIM_DEMAND_TO_DEVICE:
    case MSIM_DEMAND_TO_HOST:
        if (!msim_contention_has(s, MSIM_CONTENTION_HOST_LINK))
            return 1;
        return pipe_rate(&d->host_link, kind == MSIM_DEMAND_TO_HOST,
                         n[MSIM_DEMAND_TO_DEVICE], n[MSIM_DEMAND_TO_HOST]);
    default:
        return 1;
    }
}
