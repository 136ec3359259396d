/*
 * replay/validate/report_validation_json.c - a validation as JSON.
 */
#include "replay/validate/validation.h"

#include "core/report/write/report.h"

static void write_rows(const struct msim_validation *v, struct msim_json *out)
{
    msim_json_open(out, "rows", '[', true);
    for (uint32_t i = 0; i < v->n; i++) {
        const struct msim_validation_row *r = &v->rows[i];

        msim_json_open(out, NULL, '{', false);
        msim_json_text(out, "name", r->name);
        msim_json_unsigned(out, "operators", r->operators);
        msim_json_number(out, "measured_us", r->measured);
        msim_json_number(out, "replayed_us", r->replayed);
        msim_json_number(out, "predicted_us", r->predicted);
        msim_json_number(out, "replay_error", msim_replay_error(r));
        msim_json_number(out, "prediction_error", msim_prediction_error(r));
        msim_json_close(out);
    }
    msim_json_close(out);
}

static void write_iterations(const struct msim_validation *v,
                             struct msim_json *out)
{
    msim_json_open(out, "iterations", '[', true);
    for (uint32_t i = 0; i < v->n_iterations; i++) {
        const struct msim_family_times *s = &v->iterations[i];

        msim_json_open(out, NULL, '{', false);
        msim_json_integer(out, "number", msim_validation_iteration(v, i));
        msim_json_number(out, "step_us", s->step_us);
        msim_json_number(
            out, "step_error",
            msim_validation_error(s->step_us, v->rows[0].measured));
        msim_json_number(out, "operators_us", s->operators_us);
        msim_json_number(
            out, "operators_error",
            msim_validation_error(s->operators_us, v->rows[1].measured));
        msim_json_close(out);
    }
    msim_json_close(out);
}

static void write_system(const struct msim_validation *v, struct msim_json *out)
{
    msim_json_open(out, "system", '[', true);
    for (uint32_t i = 0; i < v->n_system; i++) {
        msim_json_open(out, NULL, '{', false);
        msim_json_text(out, "name", v->system[i].name);
        msim_json_number(out, "measured", v->system[i].measured);
        msim_json_number(out, "replayed", v->system[i].replayed);
        msim_json_close(out);
    }
    msim_json_close(out);
}

void msim_validation_json(const struct msim_validation *v,
                          struct msim_json *out)
{
    msim_json_open(out, NULL, '{', true);
    msim_json_text(out, "schema", "mystique-sim/validation/1");
    msim_json_text(out, "version", MSIM_VERSION);
    msim_json_text(out, "platform", v->platform);
    write_rows(v, out);
    write_iterations(v, out);
    write_system(v, out);
    msim_report_json_import(out, "trace_import", v->sides[0]->files,
                            v->sides[0]->n_files, false);
    msim_report_json_import(out, "replayed_import", v->sides[1]->files,
                            v->sides[1]->n_files, false);
    msim_json_close(out);
}
