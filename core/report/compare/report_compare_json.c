/*
 * core/report/compare/report_compare_json.c - a comparison for programs: JSON
 * and CSV.
 */
#include "core/base/csv.h"
#include "core/base/json.h"
#include "core/report/compare/compare.h"
#include "core/report/write/report.h"

#include <inttypes.h>
#include <math.h>

/* ---- JSON --------------------------------------------------------------- */

static void write_beyond(struct msim_json *j, enum msim_beyond b)
{
    if (b == MSIM_BEYOND_UNKNOWN)
        msim_json_text(j, "beyond_intervals", NULL);
    else
        msim_json_bool(j, "beyond_intervals", b == MSIM_BEYOND_YES);
}

static void write_change(struct msim_json *j, const char *key,
                         const struct msim_change *c)
{
    msim_json_open(j, key, '{', false);
    msim_json_number(j, "a", c->us[0].predicted);
    msim_json_number(j, "b", c->us[1].predicted);
    msim_json_number(j, "difference", c->difference);
    msim_json_number(j, "ratio", msim_change_ratio(c));
    write_beyond(j, c->beyond);
    msim_json_close(j);
}

static void write_two(struct msim_json *j, const char *key, const char *first,
                      const struct msim_change *a, const char *second,
                      const struct msim_change *b)
{
    msim_json_open(j, key, '{', true);
    write_change(j, first, a);
    write_change(j, second, b);
    msim_json_close(j);
}

/* Which side alone has the row; NULL where both have. */
static const char *only(bool in_a, bool in_b)
{
    return in_a && in_b ? NULL : in_a ? "a" : "b";
}

static void write_row(struct msim_json *j, const struct msim_changes *t,
                      const struct msim_change *c)
{
    const char *a = c->name[0], *b = c->name[1];

    msim_json_open(j, NULL, '{', false);
    msim_json_text(j, "name", a ? a : b);
    msim_json_text(j, "b_name", b ? b : a);
    msim_json_text(j, "kind", c->kind);
    msim_json_text(j, "only", only(a, b));
    msim_json_number(j, "a_calls", c->calls[0]);
    msim_json_number(j, "b_calls", c->calls[1]);
    msim_json_number(j, "a_us", c->us[0].predicted);
    msim_json_number(j, "b_us", c->us[1].predicted);
    msim_json_number(j, "difference_us", c->difference);
    msim_json_number(j, "ratio", msim_change_ratio(c));
    msim_json_number(j, "share", msim_change_share(t, c));
    write_beyond(j, c->beyond);
    msim_json_close(j);
}

static void write_table(struct msim_json *j, const struct msim_changes *t)
{
    bool is_there = !t->absent;

    msim_json_open(j, t->key, '{', true);
    msim_json_text(j, "of", t->of);
    msim_json_text(j, "absent", t->absent);
    msim_json_number(j, "a_us",
                     is_there ? t->total.us[0].predicted : (double)NAN);
    msim_json_number(j, "b_us",
                     is_there ? t->total.us[1].predicted : (double)NAN);
    msim_json_number(j, "difference_us",
                     is_there ? t->total.difference : (double)NAN);
    msim_json_open(j, "rows", '[', true);
    for (uint32_t i = 0; i < t->n; i++)
        write_row(j, t, &t->rows[i]);
    msim_json_close(j);
    msim_json_close(j);
}

static void write_rank_number(struct msim_json *j, int64_t rank)
{
    if (rank >= 0)
        msim_json_integer(j, "rank", rank);
    else
        msim_json_text(j, "rank", NULL);
}

static void write_side(struct msim_json *j, const char *key,
                       const struct msim_side *s)
{
    msim_json_open(j, key, '{', true);
    msim_json_text(j, "input", s->input);
    msim_json_unsigned(j, "inputs", s->n_inputs);
    msim_json_text(j, "kind", s->is_file ? "prediction" : "trace");
    msim_json_text(j, "platform", s->platform);
    msim_json_text(j, "costs", s->costs);
    msim_json_text(j, "host", s->host);
    msim_json_unsigned(j, "ranks", s->ranks);
    write_rank_number(j, s->rank);
    msim_json_unsigned(j, "iterations", s->iterations.n);
    msim_json_text(j, "options", s->options);
    msim_report_json_step(j, &s->step);
    msim_json_close(j);
}

static void write_ranks(struct msim_json *j, const struct msim_comparison *c)
{
    msim_json_open(j, "ranks", '[', true);
    for (uint32_t i = 0; i < c->n_ranks; i++) {
        const struct msim_rank_change *r = &c->ranks[i];

        msim_json_open(j, NULL, '{', true);
        write_rank_number(j, r->rank);
        msim_json_text(j, "only", only(r->on[0], r->on[1]));
        write_change(j, "iteration_us", &r->iteration);
        write_change(j, "kernel_us", &r->kernel);
        write_two(j, "communication_us", "transfer", &r->transfer, "wait",
                  &r->wait);
        msim_json_open(j, "breakdown_us", '{', true);
        for (int k = 0; k < MSIM_CLASSES; k++)
            write_change(j, MSIM_CLASS_NAMES[k], &r->breakdown[k]);
        msim_json_close(j);
        msim_json_close(j);
    }
    msim_json_close(j);
}

static void write_figures(struct msim_json *j, const struct msim_comparison *c)
{
    write_change(j, "iteration_us", &c->iteration);
    write_change(j, "period_us", &c->period);
    write_change(j, "measured_us", &c->measured);
    write_change(j, "kernel_us", &c->kernel);
    write_two(j, "communication_us", "transfer", &c->transfer, "wait",
              &c->wait);
    write_change(j, "external_wait_us", &c->external);
    write_two(j, "overlapped_us", "communication", &c->overlapped_communication,
              "memory_copy", &c->overlapped_copy);
}

enum msim_status msim_report_compare_json(const struct msim_comparison *c,
                                          FILE *out)
{
    struct msim_json j;

    msim_json_document(&j, msim_sink_file, out, "mystique-sim/comparison/1");
    write_side(&j, "a", c->side[0]);
    write_side(&j, "b", c->side[1]);
    write_figures(&j, c);
    write_table(&j, &c->breakdown);
    write_table(&j, &c->iterations);
    write_table(&j, &c->main_waits);
    write_table(&j, &c->gpu_idle);
    write_table(&j, &c->families);
    write_table(&j, &c->ops);
    write_table(&j, &c->kernels);
    write_table(&j, &c->streams);
    write_table(&j, &c->host_ops);
    write_table(&j, &c->owners);
    write_ranks(&j, c);
    msim_json_open(&j, "warnings", '[', true);
    for (uint32_t i = 0; i < c->n_warnings; i++)
        msim_json_text(&j, NULL, c->warnings[i]);
    msim_json_close(&j);
    msim_report_json_import(&j, "a_import", c->side[0]->files,
                            c->side[0]->n_files, false);
    msim_report_json_import(&j, "b_import", c->side[1]->files,
                            c->side[1]->n_files, false);
    return msim_json_end(&j);
}

/* ---- CSV ---------------------------------------------------------------- */

static void csv_row(FILE *out, const char *table, const char *name,
                    const struct msim_changes *t, const struct msim_change *c)
{
    static const char *const BEYOND[] = {"", "no", "yes"};

    msim_csv_write(out, table);
    msim_csv_add(out, name);
    msim_csv_add(out, c->kind);
    msim_csv_add(out, only(c->name[0], c->name[1]));
    msim_csv_add_number(out, c->calls[0]);
    msim_csv_add_number(out, c->calls[1]);
    msim_csv_add_number(out, c->us[0].predicted);
    msim_csv_add_number(out, c->us[1].predicted);
    msim_csv_add_number(out, c->difference);
    msim_csv_add_number(out, msim_change_ratio(c));
    msim_csv_add_number(out, t ? msim_change_share(t, c) : (double)NAN);
    msim_csv_add(out, BEYOND[c->beyond]);
    fputc('\n', out);
}

static void csv_table(FILE *out, const struct msim_changes *t)
{
    for (uint32_t i = 0; i < t->n; i++) {
        const struct msim_change *c = &t->rows[i];

        csv_row(out, t->key, c->name[0] ? c->name[0] : c->name[1], t, c);
    }
}

static void csv_ranks(FILE *out, const struct msim_comparison *c)
{
    for (uint32_t i = 0; i < c->n_ranks; i++) {
        struct msim_change row = c->ranks[i].iteration;
        char name[32] = "";

        if (c->ranks[i].rank >= 0)
            snprintf(name, sizeof(name), "%" PRId64, c->ranks[i].rank);
        for (int side = 0; side < 2; side++)
            if (!c->ranks[i].on[side])
                row.name[side] = NULL;
        csv_row(out, "ranks", name, NULL, &row);
    }
}

enum msim_status msim_report_compare_csv(const struct msim_comparison *c,
                                         FILE *out)
{
    fputs("table,name,kind,only,a_calls,b_calls,a_us,b_us,difference_us,ratio,"
          "share,beyond_intervals\n",
          out);
    csv_row(out, "iteration_us", "", NULL, &c->iteration);
    csv_row(out, "period_us", "", NULL, &c->period);
    csv_row(out, "measured_us", "", NULL, &c->measured);
    csv_row(out, "kernel_us", "", NULL, &c->kernel);
    csv_row(out, "communication_us", "transfer", NULL, &c->transfer);
    csv_row(out, "communication_us", "wait", NULL, &c->wait);
    csv_row(out, "external_wait_us", "", NULL, &c->external);
    csv_table(out, &c->breakdown);
    csv_table(out, &c->iterations);
    csv_table(out, &c->main_waits);
    csv_table(out, &c->gpu_idle);
    csv_table(out, &c->families);
    csv_table(out, &c->ops);
    csv_table(out, &c->kernels);
    csv_table(out, &c->streams);
    csv_table(out, &c->host_ops);
    csv_table(out, &c->owners);
    csv_ranks(out, c);
    return ferror(out) ? MSIM_EWRITE : MSIM_OK;
}
