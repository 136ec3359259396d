/*
 * replay/validate/report_validation_text.c - a validation as text and as CSV.
 */
#include "core/base/print.h"
#include "replay/validate/report_validation.h"

#include "core/base/csv.h"

#include <inttypes.h>
#include <math.h>

/* ---- text ---------------------------------------------------------------- */

static void write_ms(double us, FILE *out)
{
    if (isfinite(us))
        fprintf(out, " %11.3f", us / 1e3);
    else
        msim_print(out, " %11s", "-");
}

static void write_error(double share, FILE *out)
{
    if (isfinite(share))
        fprintf(out, " %+8.1f%%", 100 * share);
    else
        msim_print(out, " %9s", "-");
}

static void write_rows(const struct msim_validation *v, FILE *out)
{
    msim_print(out, "%-12s %5s %11s %11s %11s %9s %9s\n", "ms", "ops",
               "measured", "replayed", "predicted", "replay", "predicted");
    msim_print(out, "%-12s %5s %11s %11s %11s %9s %9s\n", "", "", "", "", "",
               "/measured", "/replayed");
    for (uint32_t i = 0; i < v->n; i++) {
        const struct msim_validation_row *r = &v->rows[i];

        if (r->operators)
            msim_print(out, "%-12s %5u", r->name, r->operators);
        else
            msim_print(out, "%-12s %5s", r->name, "");
        write_ms(r->measured, out);
        write_ms(r->replayed, out);
        write_ms(r->predicted, out);
        write_error(msim_replay_error(r), out);
        write_error(msim_prediction_error(r), out);
        fprintf(out, "\n");
    }
}

static void write_iterations(const struct msim_validation *v, FILE *out)
{
    if (v->n_iterations == 0)
        return;
    msim_print(out, "\n%-12s %11s %9s %11s %9s\n", "iteration", "step ms",
               "/measured", "operators", "/measured");
    for (uint32_t i = 0; i < v->n_iterations; i++) {
        const struct msim_family_times *s = &v->iterations[i];

        fprintf(out, "%-12" PRId64, msim_validation_iteration(v, i));
        write_ms(s->step_us, out);
        write_error(msim_validation_error(s->step_us, v->rows[0].measured),
                    out);
        write_ms(s->operators_us, out);
        write_error(msim_validation_error(s->operators_us, v->rows[1].measured),
                    out);
        fprintf(out, "\n");
    }
}

static void write_figure(double value, FILE *out)
{
    if (isfinite(value))
        fprintf(out, " %15.6g", value);
    else
        msim_print(out, " %15s", "-");
}

static void write_system(const struct msim_validation *v, FILE *out)
{
    if (v->n_system == 0)
        return;
    msim_print(out, "\n%-24s %15s %15s\n", "system", "measured", "replayed");
    for (uint32_t i = 0; i < v->n_system; i++) {
        msim_print(out, "%-24s", v->system[i].name);
        write_figure(v->system[i].measured, out);
        write_figure(v->system[i].replayed, out);
        fprintf(out, "\n");
    }
}

void msim_validation_text(const struct msim_validation *v, FILE *out)
{
    write_rows(v, out);
    write_iterations(v, out);
    write_system(v, out);
}

/* ---- CSV ----------------------------------------------------------------- */

static void write_record(const struct msim_validation_row *r, FILE *out)
{
    msim_csv_print(out, "%s,%u", r->name, r->operators);
    msim_csv_add_number(out, r->measured);
    msim_csv_add_number(out, r->replayed);
    msim_csv_add_number(out, r->predicted);
    msim_csv_add_number(out, msim_replay_error(r));
    msim_csv_add_number(out, msim_prediction_error(r));
    fprintf(out, "\n");
}

void msim_validation_csv(const struct msim_validation *v, FILE *out)
{
    fprintf(out, "name,operators,measured_us,replayed_us,predicted_us,"
                 "replay_error,prediction_error\n");
    for (uint32_t i = 0; i < v->n; i++)
        write_record(&v->rows[i], out);
    for (uint32_t i = 0; i < v->n_iterations; i++) {
        char name[40];
        struct msim_validation_row r = v->rows[0];

        snprintf(name, sizeof(name), "iteration %" PRId64,
                 msim_validation_iteration(v, i));
        r.name = name;
        r.replayed = v->iterations[i].step_us;
        write_record(&r, out);
    }
}
