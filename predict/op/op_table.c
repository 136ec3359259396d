/*
 * predict/op/op_table.c - a table of operators, answered as a whole.
 */
#include "predict/op/op_table.h"

#include "predict/op/op_table_internal.h"

static enum msim_status write_csv(const struct msim_platform *p,
                                  const struct msim_row_map *map,
                                  struct msim_csv *csv, FILE *out,
                                  struct msim_guard_count *count,
                                  struct msim_error *err)
{
    for (uint32_t i = 0; i < msim_csv_columns(csv); i++) {
        msim_csv_write(out, msim_csv_header(csv, i));
        fputc(',', out);
    }
    fputs("predicted_us,low_us,high_us,model\n", out);
    return msim_op_rows(p, map, csv, &(struct msim_op_output){.csv = out},
                        count, err);
}

static enum msim_status write_json(const struct msim_platform *p,
                                   const struct msim_row_map *map,
                                   struct msim_csv *csv, FILE *out,
                                   struct msim_guard_count *count,
                                   struct msim_error *err)
{
    struct msim_json j;

    msim_json_document(&j, msim_sink_file, out, "mystique-sim/operations/1");
    msim_json_text(&j, "platform", msim_platform_name(p));
    msim_json_open(&j, "rows", '[', true);
    MSIM_TRY(msim_op_rows(p, map, csv, &(struct msim_op_output){.json = &j},
                          count, err));
    msim_json_close(&j);
    msim_guard_count_json(&j, count, "rows");
    return msim_json_end(&j);
}

enum msim_status msim_op_table(const struct msim_platform *p, const char *path,
                               bool json, FILE *out,
                               struct msim_guard_count *count,
                               struct msim_error *err)
{
    struct msim_row_map map;
    struct msim_csv *csv;
    enum msim_status status;

    MSIM_TRY(msim_csv_open(&csv, path, err));
    status = msim_row_map_init(&map, csv, err);
    if (status == MSIM_OK)
        status = json ? write_json(p, &map, csv, out, count, err)
                      : write_csv(p, &map, csv, out, count, err);
    else if (!err->file[0]) /* of the header, as a whole */
        snprintf(err->file, sizeof(err->file), "%s", path);
    msim_csv_close(csv);
    return status;
}
