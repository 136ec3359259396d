/*
 * calibrate/machine/known_device.h - what is known of the device that is
 * calibrated without having timed it: the shipped platform of that device.
 *
 * Figures that rows do not tell come from its data sheet: a rate that a library
 * refuses, links to GPUs that are not there. Collectives that nothing timed are
 * as on that platform, too ("links_of").
 */
#ifndef MSIM_CALIBRATE_MACHINE_KNOWN_DEVICE_H
#define MSIM_CALIBRATE_MACHINE_KNOWN_DEVICE_H
#include "core/base/json.h"
#include "core/base/status.h"

#include <stdio.h>

struct msim_cal_known {
    char name[48];   /* of the platform */
    cJSON *platform; /* its file; owned. NULL: no platform is of this device */
};

/*
 * Find the platform in `data_dir` (NULL: none is known) that has the "device"
 * of a greeting, by name, memory and multiprocessors, as a traced GPU is found.
 */
void msim_cal_known_find(struct msim_cal_known *k, const char *data_dir,
                         const cJSON *device);
void msim_cal_known_release(struct msim_cal_known *k);

/* Add to a data sheet what it has not; each figure's source says so. */
MSIM_MUST_CHECK
enum msim_status msim_cal_known_complete(cJSON *sheet,
                                         const struct msim_cal_known *k);

/* Show which figures of a platform are from there; nothing where none is. */
void msim_cal_known_show(FILE *out, const cJSON *platform);

#endif
