/*
 * cli/datadir.h - where platforms/ and hosts/ are.
 *
 * The first of these folders that holds a platforms/ folder: $MSIM_DATA;
 * share/mystique-sim of the prefix that the program lies in; data/ beside the
 * program's folder; the source tree's data/; the installed place. The program's
 * own place comes before the fixed ones, so that a copied installation and a
 * build tree each find their own data.
 */
#ifndef MSIM_CLI_DATADIR_H
#define MSIM_CLI_DATADIR_H
#include "core/base/status.h"

#include <stddef.h>

/* On failure EUNKNOWN, and `err` says what to do. */
MSIM_MUST_CHECK
enum msim_status msim_datadir_find(char *path, size_t size,
                                   struct msim_error *err);

#endif
