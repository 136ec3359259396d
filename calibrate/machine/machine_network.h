/*
 * calibrate/machine/machine_network.h - what was measured between ranks, as a
 * file that
 * --network takes.
 *
 * It is the part of the calibrated platform that collectives are predicted
 * from, so that they can be asked for on any platform. The ranks were those of
 * one machine: what joins several is not in it, and groups that span nodes
 * keep the network that they have without it.
 */
#ifndef MSIM_CALIBRATE_MACHINE_MACHINE_NETWORK_H
#define MSIM_CALIBRATE_MACHINE_MACHINE_NETWORK_H
#include "core/base/json.h"

/* The file's tree, of the platform's; the caller's. NULL with MSIM_OK where no
 * collective was measured. */
MSIM_MUST_CHECK
enum msim_status msim_cal_network(cJSON **out, const cJSON *platform);

#endif
