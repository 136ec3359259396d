/*
 * core/report/write/report_csv.c - the operators of a prediction as CSV.
 */
#include "core/base/csv.h"
#include "core/base/json_out.h"
#include "core/report/write/report.h"
#include "core/report/write/report_format.h"

#include <math.h>

#define OPTIONS 1024 /* bytes */

/* An empty field where the value is not known. */
static void write_number(FILE *out, double value)
{
    char text[32];

    msim_number_text(text, value);
    fprintf(out, ",%s", isfinite(value) ? text : "");
}

static void write_text(FILE *out, const char *text)
{
    fputc(',', out);
    msim_csv_write(out, text ? text : "");
}

enum msim_status msim_report_csv(const struct msim_prediction *p, FILE *out)
{
    char options[OPTIONS];

    msim_format_options(options, sizeof(options), &p->scenario);
    fputs("name,calls,predicted_us,low_us,high_us,measured_us,model,source,"
          "options\n",
          out);
    for (uint32_t i = 0; i < p->n_ops; i++) {
        const struct msim_op_row *op = &p->ops[i];

        msim_csv_write(out, op->name);
        write_number(out, op->calls);
        write_number(out, op->us.predicted);
        write_number(out, op->us.low);
        write_number(out, op->us.high);
        write_number(out, op->us.measured);
        write_text(out, op->model);
        write_text(out, op->source);
        write_text(out, options);
        fputc('\n', out);
    }
    return ferror(out) ? MSIM_EIO : MSIM_OK;
}
