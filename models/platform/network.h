/*
 * models/platform/network.h - the network between nodes, which is described
 * apart from the GPU.
 *
 * Read from data/networks/NAME.json, where every figure has its provenance. A
 * file has "parameters" of the network, or "cells" (fits) of collectives that
 * were measured (`mystique-sim calibrate` writes them, with the data sheet that
 * their laws use), or both.
 */
#ifndef MSIM_MODELS_PLATFORM_NETWORK_H
#define MSIM_MODELS_PLATFORM_NETWORK_H
#include "core/base/status.h"

#include <stdbool.h>

struct msim_network {
    char name[48], title[96], path[1400];
    bool measured; /* the file is also a platform, with fits of collectives */
    /* All 0: the file has no "parameters". */
    double card_rate;      /* bytes/s of one network card, one direction */
    double cards_per_node; /* that collectives can use at once */
    double gpus_per_node;
    double latency_us; /* of a message, as a library sees it */
};

/*
 * Load a network by name (case-insensitive) from `data_dir`/networks, or by
 * file path (a name that holds a '/' or ends in .json). An unknown name is
 * EUNKNOWN and `err` lists the known ones; EFORMAT names what is missing.
 */
MSIM_MUST_CHECK
enum msim_status msim_network_load(struct msim_network *out,
                                   const char *data_dir, const char *name,
                                   struct msim_error *err);

#endif
