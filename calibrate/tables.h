/*
 * calibrate/tables.h - what the programs that fit read and write.
 */
#ifndef MSIM_CALIBRATE_TABLES_H
#define MSIM_CALIBRATE_TABLES_H
#include "calibrate/samples.h"

/* Append the rows of every table of measured times in `folder`, and sort. */
MSIM_MUST_CHECK
enum msim_status msim_tables_read(struct msim_samples *s, const char *folder,
                                  struct msim_error *err);

/* Write a tree to `path`, completely or not at all. */
MSIM_MUST_CHECK
enum msim_status msim_tree_write(const cJSON *json, const char *path,
                                 struct msim_error *err);

#endif
