/*
 * core/report/write/report_csv.c - the operators of a prediction as CSV.
 */
#include "core/base/csv.h"
#include "core/report/write/report.h"
#include "core/report/write/report_format.h"

#define OPTIONS 1024 /* bytes */

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
        msim_csv_add_number(out, op->calls);
        msim_csv_add_number(out, op->us.predicted);
        msim_csv_add_number(out, op->us.low);
        msim_csv_add_number(out, op->us.high);
        msim_csv_add_number(out, op->us.measured);
        msim_csv_add(out, op->model);
        msim_csv_add(out, op->source);
        msim_csv_add(out, options);
        fputc('\n', out);
    }
    return ferror(out) ? MSIM_EWRITE : MSIM_OK;
}
