/*
 * core/graph/rules/graph_queue.c - the launch queue of a stream.
 *
 * A stream holds a limited number of launches that have not finished; one more
 * blocks the launching thread until the oldest has. So the call that launches
 * the nth waits for the (n - DEPTH)th to end:
 *
 *     end(call of n) >= end(activity n - DEPTH)
 *
 * A CUDA graph is one launch, however many kernels it has. Where traced times
 * contradict an edge (the queue was deeper), it is not made.
 */
#include "core/graph/rules/graph_rules.h"

#include <stdlib.h>

/* CUDA does not document it; its users measure 1,024. */
#define DEPTH 1024
/* Clocks of CPU and GPU agree to about this. */
#define JITTER (2 * (msim_ps)MSIM_PS_PER_US)

static enum msim_status link_call(struct msim_graph_builder *b,
                                  const struct msim_rank_tasks *r,
                                  uint32_t call, uint32_t oldest)
{
    const struct msim_trace *t = r->trace;
    const struct msim_call *c = &t->calls[call];
    msim_ps room = msim_gpu_end(&t->gpu[oldest]);

    if (b->opt->device_times) {
        if (room > c->start + c->dur + JITTER)
            return MSIM_OK;
        msim_builder_waited(b, r->of_call[call], room);
    }
    return msim_builder_edge(b, MSIM_EDGE_QUEUE, MSIM_FROM_ORDER,
                             r->of_gpu[oldest], r->of_call[call], 0);
}

/* `last`: room for the last activity of each launch of the stream. */
static enum msim_status link_stream(struct msim_graph_builder *b,
                                    const struct msim_rank_tasks *r,
                                    const struct msim_stream *s, uint32_t *last)
{
    const struct msim_trace *t = r->trace;
    uint32_t n = 0;

    for (uint32_t i = s->gpu_begin; i < s->gpu_end; i++) {
        uint32_t call = t->gpu[i].call;

        if (n && call != MSIM_NONE && t->gpu[last[n - 1]].call == call) {
            last[n - 1] = i; /* a graph's next */
            continue;
        }
        if (n >= DEPTH && call != MSIM_NONE && r->of_call[call] != MSIM_NONE)
            MSIM_TRY(link_call(b, r, call, last[n - DEPTH]));
        last[n++] = i;
    }
    return MSIM_OK;
}

enum msim_status msim_graph_queue(struct msim_graph_builder *b,
                                  struct msim_rank_tasks *r)
{
    const struct msim_trace *t = r->trace;
    uint32_t *last = malloc(((size_t)t->n_gpu + 1) * sizeof(*last));
    enum msim_status status = MSIM_OK;

    if (!last)
        return MSIM_ENOMEM;
    for (uint32_t s = 0; s < t->n_streams && status == MSIM_OK; s++)
        status = link_stream(b, r, &t->streams[s], last);
    free(last);
    return status;
}
