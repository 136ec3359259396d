/*
 * core/chakra/write_chakra.c - a job as Chakra files.
 *
 * Nodes become messages, and messages files. Which nodes there are and what
 * they depend on is in chakra_nodes.c.
 */

#include "core/base/files.h"
#include "core/chakra/write_chakra_internal.h"
#include "core/graph/build/graph_build.h"
#include "core/read/chakra/read_chakra.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct writing {
    struct msim_job *job;
    const struct msim_chakra_options *opt;
    struct msim_chakra_summary *summary;
    struct msim_error *err;
    const char *path;
    struct msim_graph *graph; /* NULL: no rank has times */
    uint32_t *order;          /* of its tasks */
    struct msim_file_set set;
    char **names; /* of the files, one a rank */
    uint64_t *nodes;
};

/* ---- names -------------------------------------------------------------- */

static bool ends_in(const char *text, size_t len, const char *tail)
{
    size_t n = strlen(tail);

    return len > n && memcmp(text + len - n, tail, n) == 0;
}

/* PATH, or PREFIX.RANK.et where there are several ranks. */
static char *name_of(const struct writing *w, uint32_t rank)
{
    int64_t number = w->job->ranks[rank]->rank;
    size_t len = strlen(w->path);
    bool gz = ends_in(w->path, len, ".gz");
    char *name;

    if (w->job->n_ranks == 1)
        return strdup(w->path);
    len -= gz ? 3 : 0;
    len -= ends_in(w->path, len, ".et") ? 3 : 0;
    if (asprintf(&name, "%.*s.%lld.et%s", (int)len, w->path,
                 (long long)(number >= 0 ? number : (int64_t)rank),
                 gz ? ".gz" : "") < 0)
        return NULL;
    return name;
}

/* ---- an order of the tasks ---------------------------------------------- */

/* Each task after those that it waits for; else in order of their numbers. */
static enum msim_status order_tasks(const struct msim_graph *g, uint32_t *order,
                                    struct msim_error *err)
{
    uint32_t *missing = malloc(((size_t)g->n_tasks + 1) * sizeof(*missing));
    uint32_t n = 0;

    if (!missing)
        return MSIM_ENOMEM;
    for (uint32_t t = 0; t < g->n_tasks; t++) {
        missing[t] = g->n_preds[t];
        if (!missing[t])
            order[n++] = t;
    }
    for (uint32_t k = 0; k < n; k++)
        for (uint32_t e = g->edge_begin[order[k]];
             e < g->edge_begin[order[k] + 1]; e++)
            if (--missing[g->edges[e].to] == 0)
                order[n++] = g->edges[e].to;
    free(missing);
    if (n == g->n_tasks)
        return MSIM_OK;
    return msim_fail(err, MSIM_ECYCLE, NULL, MSIM_OFFSET_NONE,
                     "%u tasks of the trace wait for each other, and Chakra "
                     "has no place for that",
                     g->n_tasks - n);
}

static enum msim_status build_graph(struct writing *w)
{
    /* A file is of one rank: it begins when it was recorded. */
    const struct msim_graph_options opt = {.device_times = true,
                                           .peers = MSIM_PEERS_FIXED,
                                           .without = 1u << MSIM_EDGE_BEGIN};

    MSIM_TRY(msim_graph_build(&w->graph, w->job, &opt, w->err));
    w->order = malloc(((size_t)w->graph->n_tasks + 1) * sizeof(*w->order));
    if (!w->order)
        return MSIM_ENOMEM;
    return order_tasks(w->graph, w->order, w->err);
}

/* ---- one rank ----------------------------------------------------------- */

/* Messages that were read are written as they are. */
static enum msim_status copy_source(struct writing *w, uint32_t rank,
                                    struct msim_file *file)
{
    const struct msim_trace *t = w->job->ranks[rank];
    uint64_t len = 0;
    size_t at = 0;
    uint32_t n = 0;

    for (; at < t->source_len; n++)
        at += (size_t)msim_chakra_varint(t->source + at, t->source_len - at,
                                         &len) +
              (size_t)len;
    w->nodes[rank] = n - 1; /* the first is metadata */
    w->summary->copied++;
    return msim_file_write(file, t->source, t->source_len);
}

static enum msim_status write_plan(struct writing *w, uint32_t rank,
                                   const struct msim_chakra_nodes *p,
                                   struct msim_file *file)
{
    struct msim_chakra_messages *m;
    enum msim_status status;

    MSIM_TRY(msim_chakra_messages_new(
        &m, p, file, w->opt->works ? w->opt->works[rank] : NULL));
    status = msim_chakra_messages_begin(m);
    for (uint32_t i = 0; i < p->nodes.n && status == MSIM_OK; i++)
        status = msim_chakra_messages_node(m, i);
    w->nodes[rank] = msim_chakra_messages_count(m);
    w->summary->rounded += msim_chakra_messages_rounded(m);
    msim_chakra_messages_free(m);
    return status;
}

static enum msim_status write_rank(struct writing *w, uint32_t rank,
                                   struct msim_file *file)
{
    const struct msim_trace *t = w->job->ranks[rank];
    struct msim_chakra_nodes p = {0};
    enum msim_status status;

    if (t->source)
        return copy_source(w, rank, file);
    if (t->has_times)
        status = msim_chakra_nodes_timed(&p, w->graph, w->order, rank);
    else
        status = msim_chakra_nodes_shapes(
            &p, t, w->opt->works ? w->opt->works[rank] : NULL);
    if (status == MSIM_OK)
        status = write_plan(w, rank, &p, file);
    w->summary->delays += p.delays;
    w->summary->delay_ns += p.delayed / 1000;
    w->summary->releases += p.releases;
    w->summary->without_times |= !t->has_times;
    msim_chakra_nodes_release(&p);
    return status;
}

/* ---- all files ---------------------------------------------------------- */

static enum msim_status add_rank(struct writing *w, uint32_t rank)
{
    struct msim_file_how how = {.set = &w->set};
    struct msim_file *file;

    w->names[rank] = name_of(w, rank);
    if (!w->names[rank])
        return MSIM_ENOMEM;
    if (w->job->n_ranks > 1)
        MSIM_TRY(
            msim_folder_spare(w->names[rank], MSIM_CHAKRA_WRITER_ATTR, w->err));
    how.gzip = ends_in(w->names[rank], strlen(w->names[rank]), ".gz");
    MSIM_TRY(msim_file_open(&file, w->names[rank], &how, w->err));
    return msim_file_close(file, write_rank(w, rank, file), w->err);
}

static void report(const struct writing *w)
{
    for (uint32_t i = 0; i < w->job->n_ranks; i++) {
        w->summary->files++;
        w->summary->nodes += w->nodes[i];
        if (w->opt->written)
            w->opt->written(w->opt->ctx, w->names[i], w->nodes[i]);
    }
}

/* There is one graph of all ranks, so all or none must have times. */
static enum msim_status check_times(struct writing *w, bool *timed)
{
    uint32_t with = 0, planned = 0;

    for (uint32_t i = 0; i < w->job->n_ranks; i++) {
        planned += !w->job->ranks[i]->source;
        with += w->job->ranks[i]->has_times;
    }
    *timed = planned && with;
    if (!planned || with == 0 || with == w->job->n_ranks)
        return MSIM_OK;
    return msim_fail(w->err, MSIM_EFORMAT, NULL, MSIM_OFFSET_NONE,
                     "%u of %u ranks have times, want all or none: convert "
                     "them apart",
                     with, w->job->n_ranks);
}

static enum msim_status write_all(struct writing *w)
{
    bool timed;

    MSIM_TRY(check_times(w, &timed));
    if (timed)
        MSIM_TRY(build_graph(w));
    for (uint32_t i = 0; i < w->job->n_ranks; i++)
        MSIM_TRY(add_rank(w, i));
    return MSIM_OK;
}

enum msim_status msim_chakra_write(struct msim_job *job, const char *path,
                                   const struct msim_chakra_options *opt,
                                   struct msim_chakra_summary *summary,
                                   struct msim_error *err)
{
    struct writing w = {
        .job = job, .opt = opt, .summary = summary, .err = err, .path = path};
    enum msim_status status = MSIM_ENOMEM;

    *summary = (struct msim_chakra_summary){0};
    w.names = calloc((size_t)job->n_ranks + 1, sizeof(*w.names));
    w.nodes = calloc((size_t)job->n_ranks + 1, sizeof(*w.nodes));
    if (w.names && w.nodes)
        status = write_all(&w);
    status = msim_file_set_end(&w.set, status, err);
    if (status == MSIM_OK)
        report(&w);
    for (uint32_t i = 0; w.names && i < job->n_ranks; i++)
        free(w.names[i]);
    free(w.names);
    free(w.nodes);
    free(w.order);
    msim_graph_free(w.graph);
    if (status != MSIM_OK)
        msim_fail(err, status, path, MSIM_OFFSET_NONE, "%s",
                  msim_status_text(status));
    return status;
}
