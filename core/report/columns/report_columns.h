/*
 * core/report/columns/report_columns.h - what JSON says of a prediction, each
 * member stated once: core/report/write writes it, core/report/compare reads
 * it.
 */
#ifndef MSIM_CORE_REPORT_COLUMNS_REPORT_COLUMNS_H
#define MSIM_CORE_REPORT_COLUMNS_REPORT_COLUMNS_H
#include "core/record/record.h"

/* Members of the whole, the first ones, and arrays of it. */
enum msim_report_part {
    MSIM_REPORT_TIMES,
    MSIM_REPORT_WORK,
    MSIM_REPORT_PERIOD,
    MSIM_REPORT_PATH_OF,
    MSIM_REPORT_LINKS,
    MSIM_REPORT_ITERATIONS,
    MSIM_REPORT_OPS,
    MSIM_REPORT_RANKS,
    MSIM_REPORT_PATH,
    MSIM_REPORT_OWNERS,
    MSIM_REPORT_EDGES,
    MSIM_REPORT_COLLECTIVES,
    MSIM_REPORT_STRAGGLERS,
    MSIM_REPORT_KERNELS,
    MSIM_REPORT_SENSITIVITY,
    MSIM_REPORT_HOST_OPS,
    MSIM_REPORT_PHASES,
    MSIM_REPORT_REGIONS,
    MSIM_REPORT_FAMILIES
};

/* Columns of struct msim_prediction; of an array, those of its records, and its
 * key. Of operators, ranks and the path not all that is written is a column:
 * report_json.c. */
const struct msim_record_list *msim_report_columns(enum msim_report_part part);

#endif
