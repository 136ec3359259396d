/*
 * calibrate/machine/machine_network.h - the collectives of a calibrated
 * platform as a network file (--network), to predict them on any platform.
 *
 * All ranks were on one machine. The file holds nothing about links between
 * machines: groups that span nodes keep the network of their platform.
 */
#ifndef MSIM_CALIBRATE_MACHINE_MACHINE_NETWORK_H
#define MSIM_CALIBRATE_MACHINE_MACHINE_NETWORK_H
#include "core/base/json.h"

/* Make the file's tree from the platform's; `*out` is the caller's, NULL with
 * MSIM_OK where no collective was measured. */
MSIM_MUST_CHECK
enum msim_status msim_cal_network(cJSON **out, const cJSON *platform);

#endif
