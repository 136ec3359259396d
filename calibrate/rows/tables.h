/*
 * calibrate/rows/tables.h - what the programs that fit read and write.
 */
#ifndef MSIM_CALIBRATE_ROWS_TABLES_H
#define MSIM_CALIBRATE_ROWS_TABLES_H
#include "calibrate/rows/samples.h"

#define MSIM_TABLES 7

/* A choice of tables; zeros choose all. */
struct msim_tables {
    bool some, chosen[MSIM_TABLES];
};

/* Add the table `name` to the choice; false, with the known names in `err`,
 * where there is none. */
bool msim_tables_choose(struct msim_tables *t, const char *name,
                        struct msim_error *err);

/* Append the rows of the chosen tables in `folder`, and sort. */
MSIM_MUST_CHECK
enum msim_status msim_tables_read(struct msim_samples *s, const char *folder,
                                  const struct msim_tables *t,
                                  struct msim_error *err);

/* Write a tree to `path`, completely or not at all. */
MSIM_MUST_CHECK
enum msim_status msim_tree_write(const cJSON *json, const char *path,
                                 struct msim_error *err);

/* The same, where this program may have read `path`: what it read is brought up
 * to date. */
MSIM_MUST_CHECK
enum msim_status msim_tree_renew(const cJSON *json, const char *path,
                                 struct msim_error *err);

#endif
