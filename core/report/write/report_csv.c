/*
 * core/report/write/report_csv.c - the operators of a prediction as CSV.
 */
#include "core/base/csv.h"
#include "core/report/write/report.h"

#define OPTIONS 1024 /* bytes */

/* As put_sizes() of report_json.c has them. */
static void add_sizes(FILE *out, const struct msim_op_sizes *s)
{
    msim_csv_add_number(out, s->flops);
    msim_csv_add_number(out, s->bytes);
    msim_csv_add_number(out, s->flops / s->bytes);
    msim_csv_add_number(out, s->flops / s->us * 1e6);
    msim_csv_add_number(out, s->bytes / s->us * 1e6);
    msim_csv_add_number(out, s->peak_flops_per_second);
}

enum msim_status msim_report_csv(const struct msim_prediction *p, FILE *out)
{
    char options[OPTIONS];

    msim_format_options(options, sizeof(options), &p->scenario);
    fputs("name,calls,predicted_us,low_us,high_us,measured_us,model,source,"
          "options,communication,limit,peak_share,slack_us,flops,bytes,"
          "intensity,flops_per_second,bytes_per_second,"
          "peak_flops_per_second\n",
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
        msim_csv_add(out, op->communication ? "true" : "false");
        msim_csv_add(out, op->limit);
        msim_csv_add_number(out, op->peak_share);
        msim_csv_add_number(out, op->slack_us);
        add_sizes(out, &op->sizes);
        fputc('\n', out);
    }
    return ferror(out) ? MSIM_EWRITE : MSIM_OK;
}
