/*
 * core/report/write/report_json.c - a prediction as JSON.
 */
#include "core/base/json.h"
#include "core/report/write/report.h"

#include <math.h>
#include <string.h>

static void write_figure(struct msim_json *j, const char *key,
                         const struct msim_figure *f)
{
    msim_json_open(j, key, '{', false);
    msim_json_number(j, "predicted", f->predicted);
    msim_json_number(j, "low", f->low);
    msim_json_number(j, "high", f->high);
    msim_json_number(j, "measured", f->measured);
    msim_json_close(j);
}

void msim_report_json_range(struct msim_json *j, const char *key,
                            double predicted, double low, double high)
{
    msim_json_open(j, key, '{', false);
    msim_json_number(j, "predicted", predicted);
    msim_json_number(j, "low", low);
    msim_json_number(j, "high", high);
    msim_json_close(j);
}

/* An interval inside a record, where the unit is part of each key. */
static void write_figure_us(struct msim_json *j, const struct msim_figure *f)
{
    msim_json_number(j, "predicted_us", f->predicted);
    msim_json_number(j, "low_us", f->low);
    msim_json_number(j, "high_us", f->high);
    msim_json_number(j, "measured_us", f->measured);
}

void msim_report_json_breakdown(struct msim_json *j,
                                const struct msim_breakdown *b)
{
    msim_json_open(j, "breakdown_us", '{', false);
    msim_json_number(j, "compute", b->compute);
    msim_json_number(j, "communication", b->communication);
    msim_json_number(j, "memory_copy", b->memory_copy);
    msim_json_number(j, "host", b->host);
    msim_json_number(j, "idle", b->idle);
    msim_json_close(j);
}

/* An object of two numbers on one line. */
static void write_pair(struct msim_json *j, const char *key, const char *a,
                       double a_value, const char *b, double b_value)
{
    msim_json_open(j, key, '{', false);
    msim_json_number(j, a, a_value);
    msim_json_number(j, b, b_value);
    msim_json_close(j);
}

/* null where the trace has no name. */
static void write_rank(struct msim_json *j, const char *key, int64_t rank)
{
    if (rank >= 0)
        msim_json_integer(j, key, rank);
    else
        msim_json_text(j, key, NULL);
}

static void write_iterations(struct msim_json *j,
                             const struct msim_prediction *p)
{
    msim_json_open(j, "iterations", '[', true);
    for (uint32_t i = 0; i < p->n_iterations; i++) {
        const struct msim_iteration *it = &p->iterations[i];

        msim_json_open(j, NULL, '{', false);
        msim_json_text(j, "name", it->name);
        write_figure_us(j, &it->us);
        write_rank(j, "rank", it->rank);
        write_pair(j, "communication_us", "transfer", it->transfer_us, "wait",
                   it->wait_us);
        msim_report_json_breakdown(j, &it->breakdown_us);
        write_pair(j, "overlapped_us", "communication",
                   it->overlapped_communication_us, "memory_copy",
                   it->overlapped_copy_us);
        msim_json_text(j, "state", it->state);
        msim_json_close(j);
    }
    msim_json_close(j);
}

/* What the period was read off, and what works most in it. */
static void write_period(struct msim_json *j, const struct msim_period *p)
{
    msim_json_open(j, "period_of", '{', false);
    msim_json_text(j, "state", p->state);
    msim_json_unsigned(j, "iterations", p->iterations);
    write_rank(j, "rank", p->rank);
    msim_json_number(j, "host_range_us", p->host_range_us);
    msim_json_number(j, "gpu_range_us", p->gpu_range_us);
    msim_json_text(j, "busiest_kind", p->busiest_kind);
    msim_json_text(j, "busiest", p->busiest);
    msim_json_number(j, "busiest_us", p->busiest_us);
    msim_json_number(j, "busiest_share", p->busiest_share);
    msim_json_bool(j, "bounds", p->bounds);
    msim_json_close(j);
}

/* null where nothing is changed. */
static void write_scenario(struct msim_json *j,
                           const struct msim_scenario_note *n)
{
    if (!n->options) {
        msim_json_text(j, "scenario", NULL);
        return;
    }
    msim_json_open(j, "scenario", '{', false);
    msim_json_open(j, "options", '[', false);
    for (uint32_t i = 0; i < n->n_options; i++)
        msim_json_text(j, NULL, n->options[i]);
    msim_json_close(j);
    msim_json_text(j, "baseline", n->traced ? "traced" : "predicted");
    msim_json_number(j, "baseline_us", n->baseline_us);
    msim_json_number(j, "ratio", n->ratio);
    msim_json_number(j, "ratio_low", n->ratio_low);
    msim_json_number(j, "ratio_high", n->ratio_high);
    msim_json_close(j);
}

/* `fits` is null where the peak or the capacity is not known. */
static void write_figures(struct msim_json *j, const struct msim_prediction *p)
{
    write_figure(j, "iteration_us", &p->iteration_us);
    write_figure(j, "period_us", &p->period.us);
    write_scenario(j, &p->scenario);
    write_figure(j, "kernel_us", &p->kernel_us);
    write_pair(j, "communication_us", "transfer", p->transfer_us, "wait",
               p->wait_us);
    msim_json_number(j, "external_wait_us", p->external_wait_us);
    msim_report_json_breakdown(j, &p->breakdown_us);
    write_pair(j, "overlapped_us", "communication",
               p->overlapped_communication_us, "memory_copy",
               p->overlapped_copy_us);
    write_pair(j, "coverage", "ops", p->coverage_ops, "device_time",
               p->coverage_time);
    msim_report_json_memory(j, &p->memory);
    msim_json_number(j, "flops", p->flops);
    msim_json_number(j, "mfu", p->mfu);
}

static void put_sizes(struct msim_json *j, const struct msim_op_sizes *s)
{
    msim_json_number(j, "flops", s->flops);
    msim_json_number(j, "bytes", s->bytes);
    msim_json_number(j, "intensity", s->flops / s->bytes);
    msim_json_number(j, "flops_per_second", s->flops / s->us * 1e6);
    msim_json_number(j, "bytes_per_second", s->bytes / s->us * 1e6);
    msim_json_number(j, "peak_flops_per_second", s->peak_flops_per_second);
}

static void write_ops(struct msim_json *j, const char *key,
                      const struct msim_op_row *ops, uint32_t n,
                      bool with_shapes)
{
    msim_json_open(j, key, '[', true);
    for (uint32_t i = 0; i < n; i++) {
        msim_json_open(j, NULL, '{', false);
        msim_json_text(j, "name", ops[i].name);
        if (with_shapes)
            msim_json_text(j, "shapes", ops[i].shapes);
        msim_json_number(j, "calls", ops[i].calls);
        write_figure_us(j, &ops[i].us);
        msim_json_text(j, "model", ops[i].model);
        msim_json_text(j, "source", ops[i].source);
        msim_json_bool(j, "communication", ops[i].communication);
        msim_json_text(j, "limit", ops[i].limit);
        msim_json_number(j, "peak_share", ops[i].peak_share);
        msim_json_number(j, "slack_us", ops[i].slack_us);
        put_sizes(j, &ops[i].sizes);
        msim_json_close(j);
    }
    msim_json_close(j);
}

/* ---- where the time goes ------------------------------------------------ */

static void write_named(struct msim_json *j, const char *key,
                        const struct msim_named_us *rows, uint32_t n)
{
    msim_json_open(j, key, '{', false);
    for (uint32_t i = 0; i < n; i++)
        msim_json_number(j, rows[i].name, rows[i].us);
    msim_json_close(j);
}

static void write_waits(struct msim_json *j, const struct msim_wait_rows *w)
{
    msim_json_open(j, "waits_us", '{', false);
    write_named(j, "main_thread", w->main_thread.rows, w->main_thread.n);
    write_named(j, "threads", w->threads.rows, w->threads.n);
    write_named(j, "gpu_idle", w->gpu_idle.rows, w->gpu_idle.n);
    write_named(j, "streams", w->streams.rows, w->streams.n);
    msim_json_close(j);
}

static void write_ranks(struct msim_json *j, const struct msim_prediction *p)
{
    msim_json_open(j, "ranks_detail", '[', true);
    for (uint32_t i = 0; i < p->n_ranks_detail; i++) {
        const struct msim_rank_row *r = &p->ranks_detail[i];

        msim_json_open(j, NULL, '{', false);
        write_rank(j, "rank", r->rank);
        msim_json_unsigned(j, "ranks", r->stands_for ? r->stands_for : 1);
        write_figure(j, "iteration_us", &r->iteration_us);
        write_figure(j, "period_us", &r->period_us);
        write_figure(j, "kernel_us", &r->kernel_us);
        write_pair(j, "communication_us", "transfer", r->transfer_us, "wait",
                   r->wait_us);
        msim_report_json_breakdown(j, &r->breakdown_us);
        write_pair(j, "overlapped_us", "communication",
                   r->overlapped_communication_us, "memory_copy",
                   r->overlapped_copy_us);
        write_waits(j, &r->waits);
        msim_report_json_rank_memory(j, &r->memory);
        msim_json_close(j);
    }
    msim_json_close(j);
}

static void write_path(struct msim_json *j, const struct msim_prediction *p)
{
    msim_json_open(j, "critical_path", '[', true);
    for (uint32_t i = 0; i < p->n_path; i++) {
        const struct msim_path_row *r = &p->path[i];

        msim_json_open(j, NULL, '{', false);
        msim_json_text(j, "name", r->name);
        msim_json_text(j, "kind", r->kind);
        msim_json_text(j, "op", r->op);
        write_rank(j, "rank", r->rank);
        msim_json_text(j, "lane", r->lane);
        msim_json_time(j, "start_us", r->start);
        msim_json_time(j, "us", r->dur);
        msim_json_text(j, "edge", r->edge);
        msim_json_text(j, "edge_source", r->edge_source);
        msim_json_close(j);
    }
    msim_json_close(j);
}

static void write_owners(struct msim_json *j, const struct msim_prediction *p)
{
    msim_json_open(j, "critical_path_of", '{', false);
    msim_json_text(j, "iteration", p->path_iteration);
    msim_json_time(j, "us", p->path_length);
    msim_json_close(j);
    msim_json_open(j, "critical_owners", '[', true);
    for (uint32_t i = 0; i < p->n_owners; i++) {
        const struct msim_owner_row *r = &p->owners[i];

        msim_json_open(j, NULL, '{', false);
        msim_json_text(j, "name", r->name);
        msim_json_text(j, "kind", r->kind);
        msim_json_text(j, "op", r->op);
        msim_json_number(j, "us", r->us);
        msim_json_number(j, "share", r->share);
        msim_json_number(j, "pieces", r->pieces);
        msim_json_close(j);
    }
    msim_json_close(j);
}

static void write_edges(struct msim_json *j, const struct msim_prediction *p)
{
    msim_json_open(j, "edges", '[', true);
    for (uint32_t i = 0; i < p->n_edges; i++) {
        msim_json_open(j, NULL, '{', false);
        msim_json_text(j, "kind", p->edges[i].kind);
        msim_json_text(j, "source", p->edges[i].source);
        msim_json_unsigned(j, "count", p->edges[i].count);
        msim_json_unsigned(j, "binding", p->edges[i].binding);
        msim_json_close(j);
    }
    msim_json_close(j);
}

static void write_collectives(struct msim_json *j,
                              const struct msim_prediction *p)
{
    msim_json_open(j, "collectives", '[', true);
    for (uint32_t i = 0; i < p->n_collectives; i++) {
        const struct msim_collective_row *r = &p->collectives[i];

        msim_json_open(j, NULL, '{', false);
        msim_json_text(j, "name", r->name);
        msim_json_text(j, "group", r->group);
        msim_json_number(j, "bytes", r->bytes);
        msim_json_unsigned(j, "ranks", r->ranks);
        msim_json_number(j, "calls", r->calls);
        msim_json_number(j, "transfer_us", r->transfer_us);
        msim_json_number(j, "wait_us", r->wait_us);
        write_pair(j, "skew_us", "mean", r->skew_mean_us, "max",
                   r->skew_max_us);
        write_rank(j, "last_rank", r->last_rank);
        msim_json_close(j);
    }
    msim_json_close(j);
}

static void write_stragglers(struct msim_json *j,
                             const struct msim_prediction *p)
{
    msim_json_open(j, "stragglers", '[', true);
    for (uint32_t i = 0; i < p->n_stragglers; i++) {
        msim_json_open(j, NULL, '{', false);
        write_rank(j, "rank", p->stragglers[i].rank);
        msim_json_number(j, "last_in", p->stragglers[i].last_in);
        msim_json_number(j, "wait_caused_us", p->stragglers[i].wait_caused_us);
        msim_json_close(j);
    }
    msim_json_close(j);
}

static void write_kernels(struct msim_json *j, const struct msim_prediction *p)
{
    msim_json_open(j, "kernels", '[', true);
    for (uint32_t i = 0; i < p->n_kernels; i++) {
        const struct msim_kernel_row *k = &p->kernels[i];

        msim_json_open(j, NULL, '{', false);
        msim_json_text(j, "name", k->name);
        msim_json_text(j, "kind", k->kind);
        msim_json_number(j, "calls", k->calls);
        msim_json_number(j, "predicted_us", k->us);
        msim_json_number(j, "longest_us", k->longest_us);
        msim_json_number(j, "measured_us", k->measured_us);
        msim_json_close(j);
    }
    msim_json_close(j);
}

static void write_host_factors(struct msim_json *j,
                               const struct msim_prediction *p)
{
    if (!p->host) {
        msim_json_text(j, "host_factors", NULL);
        return;
    }
    msim_json_open(j, "host_factors", '{', false);
    msim_json_number(j, "low", p->host_low);
    msim_json_number(j, "high", p->host_high);
    msim_json_close(j);
}

void msim_report_json_step(struct msim_json *j, const struct msim_step_note *s)
{
    if (!(s->factor > 0))
        return;
    msim_json_open(j, "measured_jobs", '{', false);
    msim_json_number(j, "factor", s->factor);
    msim_json_number(j, "graph_us", s->graph_us > 0 ? s->graph_us : NAN);
    msim_json_number(j, "memory_factor",
                     s->memory_factor > 0 ? s->memory_factor : NAN);
    msim_json_close(j);
}

/* null where the user has not said what it takes. */
static void write_rates(struct msim_json *j, const struct msim_prediction *p)
{
    struct msim_rated r = msim_prediction_rated(p);

    if (p->rates.per_iteration > 0) {
        msim_json_open(j, "throughput", '{', false);
        msim_json_number(j, "per_iteration", p->rates.per_iteration);
        msim_json_text(j, "unit", p->rates.unit);
        msim_json_number(j, "per_second", r.per_second.predicted);
        msim_json_number(j, "low_per_second", r.per_second.low);
        msim_json_number(j, "high_per_second", r.per_second.high);
        msim_json_close(j);
    } else {
        msim_json_text(j, "throughput", NULL);
    }
    msim_json_number(j, "cost_usd", r.cost_usd);
    msim_json_number(j, "energy_joules", r.joules);
}

static void write_sensitivity(struct msim_json *j,
                              const struct msim_prediction *p)
{
    msim_json_text(j, "verdict", p->verdict);
    msim_json_open(j, "sensitivity", '[', true);
    for (uint32_t i = 0; i < p->n_sensitivity; i++) {
        const struct msim_sensitivity_row *r = &p->sensitivity[i];

        msim_json_open(j, NULL, '{', false);
        msim_json_text(j, "select", r->select);
        msim_json_number(j, "factor", r->factor);
        msim_json_number(j, "period_us", r->period_us);
        msim_json_number(j, "ratio", r->ratio);
        msim_json_close(j);
    }
    msim_json_close(j);
}

static void write_host_ops(struct msim_json *j, const struct msim_prediction *p)
{
    msim_json_open(j, "host_ops", '[', true);
    for (uint32_t i = 0; i < p->n_host_ops; i++) {
        const struct msim_host_row *h = &p->host_ops[i];

        msim_json_open(j, NULL, '{', false);
        msim_json_text(j, "name", h->name);
        msim_json_text(j, "kind", h->kind);
        msim_json_number(j, "calls", h->calls);
        write_figure_us(j, &h->us);
        msim_json_close(j);
    }
    msim_json_close(j);
}

static void write_regions(struct msim_json *j, const char *key,
                          const struct msim_region_row *rows, uint32_t n)
{
    msim_json_open(j, key, '[', true);
    for (uint32_t i = 0; i < n; i++) {
        msim_json_open(j, NULL, '{', false);
        msim_json_text(j, "name", rows[i].name);
        msim_json_number(j, "calls", rows[i].calls);
        msim_json_number(j, "gpu_us", rows[i].gpu_us);
        msim_json_number(j, "host_us", rows[i].host_us);
        msim_json_close(j);
    }
    msim_json_close(j);
}

/* ---- the rest ----------------------------------------------------------- */

static void write_texts(struct msim_json *j, const char *key,
                        const char *const *texts, uint32_t n)
{
    msim_json_open(j, key, '[', true);
    for (uint32_t i = 0; i < n; i++)
        msim_json_text(j, NULL, texts[i]);
    msim_json_close(j);
}

static void write_families(struct msim_json *j, const struct msim_prediction *p)
{
    msim_json_open(j, "families", '[', true);
    for (uint32_t i = 0; i < p->n_families; i++) {
        msim_json_open(j, NULL, '{', false);
        msim_json_text(j, "model", p->families[i].model);
        msim_json_number(j, "calls", p->families[i].calls);
        write_figure_us(j, &p->families[i].us);
        msim_json_close(j);
    }
    msim_json_close(j);
}

static void write_clock(struct msim_json *j, const struct msim_clock_note *c)
{
    if (!c->text)
        return;
    msim_json_open(j, "clock", '{', false);
    msim_json_number(j, "ratio", c->ratio);
    msim_json_number(j, "mhz", c->hz * 1e-6);
    msim_json_number(j, "usual_mhz", c->usual_hz * 1e-6);
    msim_json_number(j, "power_cap_w", c->power_cap_watts);
    msim_json_number(j, "interval_factor", c->interval_factor);
    msim_json_close(j);
}

enum msim_status msim_report_json(const struct msim_prediction *p, FILE *out)
{
    struct msim_json j;

    msim_json_begin(&j, msim_sink_file, out);
    msim_json_open(&j, NULL, '{', true);
    /* The contract's keys in its order; later keys follow them. */
    msim_json_text(&j, "schema", "mystique-sim/prediction/1");
    msim_json_text(&j, "version", p->version);
    msim_json_text(&j, "platform", p->platform);
    msim_json_text(&j, "costs", p->costs);
    msim_json_unsigned(&j, "ranks", p->ranks);
    write_iterations(&j, p);
    write_figures(&j, p);
    write_ops(&j, "ops", p->ops, p->n_ops, false);
    write_ranks(&j, p);
    write_path(&j, p);
    write_texts(&j, "warnings", p->warnings, p->n_warnings);
    msim_json_text(&j, "host", p->host);
    write_host_factors(&j, p);
    msim_report_json_step(&j, &p->step);
    msim_json_text(&j, "network", p->network);
    if (p->nodes)
        msim_json_number(&j, "nodes", p->nodes);
    write_clock(&j, &p->clock);
    write_texts(&j, "inputs", p->inputs, p->n_inputs);
    write_families(&j, p);
    write_sensitivity(&j, p);
    write_rates(&j, p);
    write_kernels(&j, p);
    write_host_ops(&j, p);
    write_regions(&j, "phases", p->phases, p->n_phases);
    write_regions(&j, "regions", p->regions, p->n_regions);
    write_ops(&j, "not_covered", p->uncovered, p->n_uncovered, false);
    write_owners(&j, p);
    write_waits(&j, &p->waits);
    write_edges(&j, p);
    write_collectives(&j, p);
    write_stragglers(&j, p);
    write_named(&j, "copied_us", p->copied, p->n_copied);
    msim_json_open(&j, "links", '{', false);
    msim_json_text(&j, "inside_node", p->links_inside);
    msim_json_text(&j, "between_nodes", p->links_between);
    msim_json_close(&j);
    msim_json_number(&j, "flops_counted", p->flops_counted);
    msim_json_number(&j, "memory_bandwidth_bytes_per_second", p->bandwidth);
    if (p->shapes)
        write_ops(&j, "shapes", p->shapes, p->n_shapes, true);
    msim_json_number(&j, "unexplained_us", p->unexplained_us);
    msim_json_text(&j, "source_platform", p->source_platform);
    msim_json_text(&j, "source_trace", p->source_trace);
    write_period(&j, &p->period);
    msim_guard_json(&j, p->marks);
    msim_json_unsigned(&j, "gpus", p->gpus);
    if (p->n_usage)
        msim_report_json_usage(&j, p);
    /* model costs read no GPU time */
    msim_report_json_import(&j, "import", p->files, p->n_files,
                            p->costs && strcmp(p->costs, "model") == 0);
    return msim_json_end(&j);
}
