/*
 * tests/unit/made_prediction.h - a made-up prediction for tests of writers.
 *
 * Small round numbers, so that expectations can be worked out by head: an
 * iteration of 1000 us that 900 us of compute, 50 of communication, 30 of
 * copies, 15 of host and 5 of idle time make up; three operators, of which
 * one is a collective and one is only bounded.
 */
#ifndef MSIM_TESTS_UNIT_MADE_PREDICTION_H
#define MSIM_TESTS_UNIT_MADE_PREDICTION_H
#include "core/report/write/report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct made {
    struct msim_prediction p;
    struct msim_iteration iterations[2];
    struct msim_op_row ops[3], uncovered[1];
    struct msim_family_row families[3];
    struct msim_rank_row ranks[2];
    const char *inputs[1], *warnings[1];
    struct msim_path_row path[2];
    struct msim_owner_row owners[2];
    struct msim_named_us waits[2], copied[1];
    struct msim_edge_row edges[1];
    struct msim_collective_row collectives[1];
    struct msim_straggler_row stragglers[1];
};

static inline void made_ops(struct made *m)
{
    m->ops[0] = (struct msim_op_row){
        .name = "aten::mm",
        .model = "gemm",
        .source = "law",
        .calls = 4,
        .us = {800, 700, 900, 820},
        .sizes = {8e9, 4e6, 800, 2e13}, /* 2000 FLOP/B, 1e13/s, 5 GB/s */
    };
    m->ops[1] = (struct msim_op_row){
        .name = "record_param_comms",
        .model = "collective",
        .source = "table",
        .calls = 1,
        .us = {120, 100, 150, NAN},
        .sizes = {NAN, NAN, NAN, NAN},
        .communication = true,
    };
    m->ops[2] = (struct msim_op_row){
        .name = "my::op",
        .model = "bound",
        .source = "bound",
        .calls = 1.5,
        .us = {80, 20, 320, NAN},
        .sizes = {NAN, NAN, NAN, NAN},
    };
    m->uncovered[0] = m->ops[2];
    m->families[0] = (struct msim_family_row){"gemm", 4, m->ops[0].us};
    m->families[1] = (struct msim_family_row){"collective", 1, m->ops[1].us};
    m->families[2] = (struct msim_family_row){"bound", 1.5, m->ops[2].us};
}

static inline void made_ranks(struct made *m)
{
    for (int i = 0; i < 2; i++)
        m->ranks[i] = (struct msim_rank_row){
            .rank = i,
            .iteration_us = {1000 - 100 * i, 800, 1300, NAN},
            .kernel_us = {880, 720, 1220, 900},
            .transfer_us = 120,
            .wait_us = 10,
            .breakdown_us = {900 - 100 * i, 50, 30, 15, 5},
        };
}

/* 999.999999 us of host and 0.000001 of latency; waits of both kinds. */
static inline void made_where(struct made *m)
{
    m->path[0] = (struct msim_path_row){.kind = "host",
                                        .name = "aten::mm",
                                        .op = "aten::mm",
                                        .lane = "thread 1",
                                        .start = 0,
                                        .dur = 999999999};
    m->path[1] = (struct msim_path_row){.kind = "latency",
                                        .name = "launch",
                                        .lane = "stream 7",
                                        .start = 999999999,
                                        .dur = 1,
                                        .edge = "launch",
                                        .edge_source = "recorded ids"};
    m->owners[0] = (struct msim_owner_row){.kind = "host",
                                           .name = "aten::mm",
                                           .op = "aten::mm",
                                           .us = 750,
                                           .share = 0.75,
                                           .pieces = 3};
    m->owners[1] = (struct msim_owner_row){.kind = "latency",
                                           .name = "launch",
                                           .us = 250,
                                           .share = 0.25,
                                           .pieces = 2};
    m->waits[0] = (struct msim_named_us){"launch queue full", 12.5};
    m->waits[1] = (struct msim_named_us){"launch", 2.5};
    m->copied[0] = (struct msim_named_us){"host work", 15};
    m->edges[0] = (struct msim_edge_row){"launch", "recorded ids", 20, 7};
    m->collectives[0] = (struct msim_collective_row){.name = "all_reduce",
                                                     .bytes = NAN,
                                                     .ranks = 2,
                                                     .calls = 1,
                                                     .transfer_us = 120,
                                                     .wait_us = 10,
                                                     .skew_mean_us = 8,
                                                     .skew_max_us = 9,
                                                     .last_rank = 1};
    m->stragglers[0] = (struct msim_straggler_row){1, 1, 10};
}

static inline void made_where_fill(struct made *m)
{
    m->p.path_iteration = "ProfilerStep#5";
    m->p.path_length = 1000000000;
    m->p.path = m->path;
    m->p.n_path = 2;
    m->p.owners = m->owners;
    m->p.n_owners = 2;
    m->p.waits.main_thread = (struct msim_wait_list){&m->waits[0], 1};
    m->p.waits.gpu_idle = (struct msim_wait_list){&m->waits[1], 1};
    m->p.edges = m->edges;
    m->p.n_edges = 1;
    m->p.collectives = m->collectives;
    m->p.n_collectives = 1;
    m->p.stragglers = m->stragglers;
    m->p.n_stragglers = 1;
    m->p.copied = m->copied;
    m->p.n_copied = 1;
}

/* Points into itself: do not copy it. */
static inline void made_fill(struct made *m)
{
    memset(m, 0, sizeof(*m));
    made_ops(m);
    made_ranks(m);
    made_where(m);
    m->iterations[0] =
        (struct msim_iteration){.name = "ProfilerStep#5",
                                .us = {1000, 800, 1300, 1100},
                                .breakdown_us = {900, 50, 30, 15, 5},
                                .overlapped_communication_us = 70};
    m->iterations[1] = m->iterations[0];
    m->iterations[1].name = "ProfilerStep#6";
    m->iterations[1].us.measured = 900;
    m->inputs[0] = "run/et";
    m->warnings[0] = "one thing to know";
    m->p = (struct msim_prediction){
        .version = "9.9.9",
        .platform = "a100",
        .costs = "model",
        .host = "generic",
        .inputs = m->inputs,
        .n_inputs = 1,
        .ranks = 2,
        .iterations = m->iterations,
        .n_iterations = 2,
        .iteration_us = {1000, 800, 1300, 1000},
        .kernel_us = {880, 720, 1220, NAN},
        .transfer_us = 120,
        .wait_us = 10,
        .breakdown_us = {900, 50, 30, 15, 5},
        .overlapped_communication_us = 70,
        .coverage_ops = 0.75,
        .coverage_time = 0.92,
        .memory = {.peak = NAN,
                   .reserved = NAN,
                   .low = NAN,
                   .high = NAN,
                   .capacity = NAN,
                   .rank = -1},
        .flops = 1.5e12,
        .mfu = 0.25,
        .flops_counted = 1,
        .ops = m->ops,
        .n_ops = 3,
        .families = m->families,
        .n_families = 3,
        .uncovered = m->uncovered,
        .n_uncovered = 1,
        .ranks_detail = m->ranks,
        .n_ranks_detail = 2,
        .warnings = m->warnings,
        .n_warnings = 1,
        .seconds = 0.5,
    };
    made_where_fill(m);
}

/* What a writer writes; the caller frees it. */
static inline char *
made_text(const struct msim_prediction *p,
          enum msim_status (*write)(const struct msim_prediction *, FILE *))
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    enum msim_status status = MSIM_ENOMEM;

    if (out) {
        status = write(p, out);
        fclose(out);
    }
    if (status != MSIM_OK) {
        free(text);
        return NULL;
    }
    return text;
}

#endif
