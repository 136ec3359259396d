/*
 * calibrate/host/host_write.h - a fitted host as a file of data/hosts.
 */
#ifndef MSIM_CALIBRATE_HOST_HOST_WRITE_H
#define MSIM_CALIBRATE_HOST_HOST_WRITE_H
#include "calibrate/host/host_fit.h"
#include "calibrate/host/host_repeat.h"
#include "core/base/json.h"

/* One host of the fit, for the provenance. */
struct msim_host_entry {
    double probe_us; /* median of operators that do next to nothing */
    bool used;       /* false: its recording slowed its operators */
    struct msim_host_score score; /* of a fit without it */
};

struct msim_host_document {
    const char *name, *title;
    const struct msim_host_table *table;
    const struct msim_host_fit *fit;
    const struct msim_host_entry *entries;   /* by host */
    const struct msim_host_repeats *repeats; /* by host */
    /* Runs that nobody recorded, over these, the host's memory, and operators
     * that no trace has: members of the file, as given. NULL: none. */
    const cJSON *unrecorded, *memory, *timed;
};

/* Write the file `path`, completely or not at all; equal input gives equal
 * bytes. */
MSIM_MUST_CHECK
enum msim_status msim_host_write(const struct msim_host_document *p,
                                 const char *path, struct msim_error *err);

#endif
