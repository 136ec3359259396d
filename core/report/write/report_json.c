/*
 * core/report/write/report_json.c - a prediction as JSON.
 */
#include "core/base/json.h"
#include "core/report/columns/report_columns.h"
#include "core/report/write/report.h"

#include <math.h>
#include <string.h>

void msim_report_json_range(struct msim_json *j, const char *key,
                            double predicted, double low, double high)
{
    msim_json_open(j, key, '{', false);
    msim_json_number(j, "predicted", predicted);
    msim_json_number(j, "low", low);
    msim_json_number(j, "high", high);
    msim_json_close(j);
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

static void put_part(struct msim_json *j, const struct msim_prediction *p,
                     enum msim_report_part part)
{
    const struct msim_record_list *l = msim_report_columns(part);

    if (l->key)
        msim_record_json_list(j, l, p);
    else
        msim_record_json(j, l->columns, l->n, p);
}

/* `fits` is null where the peak or the capacity is not known. */
static void write_figures(struct msim_json *j, const struct msim_prediction *p)
{
    put_part(j, p, MSIM_REPORT_TIMES);
    write_scenario(j, &p->scenario);
    put_part(j, p, MSIM_REPORT_WORK);
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
    const struct msim_record_list *l = msim_report_columns(MSIM_REPORT_OPS);

    msim_json_open(j, key, '[', true);
    for (uint32_t i = 0; i < n; i++) {
        msim_json_open(j, NULL, '{', false);
        msim_record_json(j, l->columns, 1, &ops[i]);
        if (with_shapes)
            msim_json_text(j, "shapes", ops[i].shapes);
        msim_record_json(j, l->columns + 1, l->n - 1, &ops[i]);
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
    const struct msim_record_list *l = msim_report_columns(MSIM_REPORT_RANKS);

    msim_json_open(j, l->key, '[', true);
    for (uint32_t i = 0; i < p->n_ranks_detail; i++) {
        struct msim_rank_row r = p->ranks_detail[i];

        if (!r.stands_for)
            r.stands_for = 1;
        msim_json_open(j, NULL, '{', false);
        msim_record_json(j, l->columns, l->n, &r);
        write_waits(j, &r.waits);
        msim_report_json_rank_memory(j, &r.memory);
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

/* ---- the rest ----------------------------------------------------------- */

static void write_texts(struct msim_json *j, const char *key,
                        const char *const *texts, uint32_t n)
{
    msim_json_open(j, key, '[', true);
    for (uint32_t i = 0; i < n; i++)
        msim_json_text(j, NULL, texts[i]);
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
    put_part(&j, p, MSIM_REPORT_ITERATIONS);
    write_figures(&j, p);
    write_ops(&j, "ops", p->ops, p->n_ops, false);
    write_ranks(&j, p);
    put_part(&j, p, MSIM_REPORT_PATH);
    write_texts(&j, "warnings", p->warnings, p->n_warnings);
    msim_json_text(&j, "host", p->host);
    write_host_factors(&j, p);
    msim_report_json_step(&j, &p->step);
    msim_json_text(&j, "network", p->network);
    if (p->nodes)
        msim_json_number(&j, "nodes", p->nodes);
    write_clock(&j, &p->clock);
    write_texts(&j, "inputs", p->inputs, p->n_inputs);
    put_part(&j, p, MSIM_REPORT_FAMILIES);
    msim_json_text(&j, "verdict", p->verdict);
    put_part(&j, p, MSIM_REPORT_SENSITIVITY);
    write_rates(&j, p);
    put_part(&j, p, MSIM_REPORT_KERNELS);
    put_part(&j, p, MSIM_REPORT_HOST_OPS);
    put_part(&j, p, MSIM_REPORT_PHASES);
    put_part(&j, p, MSIM_REPORT_REGIONS);
    write_ops(&j, "not_covered", p->uncovered, p->n_uncovered, false);
    put_part(&j, p, MSIM_REPORT_PATH_OF);
    put_part(&j, p, MSIM_REPORT_OWNERS);
    write_waits(&j, &p->waits);
    put_part(&j, p, MSIM_REPORT_EDGES);
    put_part(&j, p, MSIM_REPORT_COLLECTIVES);
    put_part(&j, p, MSIM_REPORT_STRAGGLERS);
    write_named(&j, "copied_us", p->copied, p->n_copied);
    put_part(&j, p, MSIM_REPORT_LINKS);
    msim_json_number(&j, "flops_counted", p->flops_counted);
    msim_json_number(&j, "memory_bandwidth_bytes_per_second", p->bandwidth);
    if (p->shapes)
        write_ops(&j, "shapes", p->shapes, p->n_shapes, true);
    msim_json_number(&j, "unexplained_us", p->unexplained_us);
    msim_json_text(&j, "source_platform", p->source_platform);
    msim_json_text(&j, "source_trace", p->source_trace);
    put_part(&j, p, MSIM_REPORT_PERIOD);
    msim_guard_json(&j, p->marks);
    msim_json_unsigned(&j, "gpus", p->gpus);
    if (p->n_usage)
        msim_report_json_usage(&j, p);
    /* model costs read no GPU time */
    msim_report_json_import(&j, "import", p->files, p->n_files,
                            p->costs && strcmp(p->costs, "model") == 0);
    return msim_json_end(&j);
}
