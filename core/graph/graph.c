#include "core/graph/graph.h"

#include "core/graph/contention.h"

#include <stdlib.h>

const char *msim_edge_text(enum msim_edge_kind kind)
{
    static const char *const TEXT[] = {
#define X(name, text) text,
        MSIM_EDGE_MAP(X)
#undef X
    };

    return (unsigned)kind < MSIM_EDGE_KINDS ? TEXT[kind] : "";
}

const char *msim_edge_source_text(enum msim_edge_source source)
{
    static const char *const TEXT[] = {"program order", "recorded ids",
                                       "measured times"};

    return (unsigned)source < MSIM_EDGE_SOURCES ? TEXT[source] : "";
}

const char *msim_copied_text(enum msim_copied what)
{
    static const char *const TEXT[] = {
#define X(name, text) text,
        MSIM_COPIED_MAP(X)
#undef X
    };

    return (unsigned)what < MSIM_COPIED_KINDS ? TEXT[what] : "";
}

void msim_graph_free(struct msim_graph *g)
{
    if (!g)
        return;
    free(g->kind);
    free(g->lane);
    free(g->window);
    free(g->n_preds);
    free(g->edge_begin);
    free(g->edges);
    free(g->edge_kind);
    free(g->traced);
    free(g->refs);
    free(g->releases);
    free(g->lanes);
    free(g->windows);
    free(g->iterations);
    msim_sharing_free(g->sharing);
    free(g);
}
