/*
 * replay/validate/report_validation_text.c - a validation as text and as CSV.
 */
#include "core/record/record.h"
#include "replay/validate/validation.h"

#include <inttypes.h>
#include <math.h>

/* ---- the step, operators, families --------------------------------------- */

struct line {
    const char *name;
    int64_t operators;
    double measured, replayed, predicted, replay_error, prediction_error;
};

#define MS(record, member, name, title)                                        \
    MSIM_COLUMN(record, member, name, .heading = (title), .gap = 1,            \
                .width = 11, .unit = 1e-3, .decimals = 3)
#define ERROR(record, member, name, title, of)                                 \
    MSIM_COLUMN(record, member, name, .heading = (title), .under = (of),       \
                .gap = 1, .width = 9, .unit = 100, .decimals = 1,              \
                .style = '+', .after = "%")
static const struct msim_column COLUMNS[] = {
    MSIM_COLUMN(struct line, name, "name", .heading = "ms",
                .type = MSIM_COLUMN_TEXT, .width = -12),
    MSIM_COLUMN(struct line, operators, "operators", .heading = "ops",
                .type = MSIM_COLUMN_COUNT, .gap = 1, .width = 5),
    MS(struct line, measured, "measured_us", "measured"),
    MS(struct line, replayed, "replayed_us", "replayed"),
    MS(struct line, predicted, "predicted_us", "predicted"),
    ERROR(struct line, replay_error, "replay_error", "replay", "/measured"),
    ERROR(struct line, prediction_error, "prediction_error", "predicted",
          "/replayed")};

static struct line line_of(const struct msim_validation_row *r)
{
    return (struct line){.name = r->name,
                         .operators = r->operators,
                         .measured = r->measured,
                         .replayed = r->replayed,
                         .predicted = r->predicted,
                         .replay_error = msim_replay_error(r),
                         .prediction_error = msim_prediction_error(r)};
}

static void write_rows(const struct msim_validation *v, FILE *out)
{
    msim_record_text_head(out, MSIM_COLUMNS(COLUMNS));
    for (uint32_t i = 0; i < v->n; i++) {
        struct line line = line_of(&v->rows[i]);

        if (!line.operators)
            line.operators = MSIM_COLUMN_NO_COUNT;
        msim_record_text(out, MSIM_COLUMNS(COLUMNS), &line);
    }
}

static void csv_line(const struct msim_validation_row *r, FILE *out)
{
    struct line line = line_of(r);

    msim_record_csv(out, MSIM_COLUMNS(COLUMNS), &line);
    fputc('\n', out);
}

void msim_validation_csv(const struct msim_validation *v, FILE *out)
{
    msim_record_csv_head(out, MSIM_COLUMNS(COLUMNS));
    fputc('\n', out);
    for (uint32_t i = 0; i < v->n; i++)
        csv_line(&v->rows[i], out);
    for (uint32_t i = 0; i < v->n_iterations; i++) {
        char name[40];
        struct msim_validation_row r = v->rows[0];

        snprintf(name, sizeof(name), "iteration %" PRId64,
                 msim_validation_iteration(v, i));
        r.name = name;
        r.replayed = v->iterations[i].step_us;
        csv_line(&r, out);
    }
}

/* ---- iterations, the machine --------------------------------------------- */

struct iteration {
    int64_t number;
    double step, of_step, operators, of_operators;
};

static void write_iterations(const struct msim_validation *v, FILE *out)
{
    static const struct msim_column OF[] = {
        MSIM_COLUMN(struct iteration, number, NULL, .heading = "iteration",
                    .type = MSIM_COLUMN_COUNT, .width = -12),
        MS(struct iteration, step, NULL, "step ms"),
        ERROR(struct iteration, of_step, NULL, "/measured", NULL),
        MS(struct iteration, operators, NULL, "operators"),
        ERROR(struct iteration, of_operators, NULL, "/measured", NULL)};

    if (v->n_iterations == 0)
        return;
    fputc('\n', out);
    msim_record_text_head(out, MSIM_COLUMNS(OF));
    for (uint32_t i = 0; i < v->n_iterations; i++) {
        const struct msim_family_times *s = &v->iterations[i];

        msim_record_text(
            out, MSIM_COLUMNS(OF),
            &(struct iteration){
                msim_validation_iteration(v, i), s->step_us,
                msim_validation_error(s->step_us, v->rows[0].measured),
                s->operators_us,
                msim_validation_error(s->operators_us, v->rows[1].measured)});
    }
}

static void write_system(const struct msim_validation *v, FILE *out)
{
#define FIGURE(member)                                                         \
    MSIM_COLUMN(struct msim_validation_system, member, NULL,                   \
                .heading = #member, .gap = 1, .width = 15, .decimals = 6,      \
                .style = 'g')
    static const struct msim_column OF[] = {
        MSIM_COLUMN(struct msim_validation_system, name, NULL,
                    .heading = "system", .type = MSIM_COLUMN_TEXT,
                    .width = -24),
        FIGURE(measured), FIGURE(replayed)};

    if (v->n_system == 0)
        return;
    fputc('\n', out);
    msim_record_text_head(out, MSIM_COLUMNS(OF));
    for (uint32_t i = 0; i < v->n_system; i++)
        msim_record_text(out, MSIM_COLUMNS(OF), &v->system[i]);
}

void msim_validation_text(const struct msim_validation *v, FILE *out)
{
    write_rows(v, out);
    write_iterations(v, out);
    write_system(v, out);
}
