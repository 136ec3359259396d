/*
 * profilers/cuda/nvml.h - clocks, power and limits of a GPU, read and never
 * changed.
 *
 * The driver's library is opened when the program runs: a machine without a
 * driver has none to link with, and toolkits come without its header.
 */
#ifndef MSIM_PROFILERS_CUDA_NVML_H
#define MSIM_PROFILERS_CUDA_NVML_H
#include "core/base/json.h"

#include <stdbool.h>

struct msim_nvml; /* opaque */

/*
 * What a GPU is doing; 0: not known.
 *
 * Some drivers take milliseconds for a call. So a state is read again a tenth
 * of a second after the last reading at the earliest, and later where that
 * would be more than 2 % of the time; until then it is the last one.
 */
struct msim_nvml_state {
    unsigned sm_mhz, memory_mhz;
    unsigned power_mw, celsius;
    unsigned long long slowed; /* reasons, as bits of NVML's */
    double joules;             /* since the driver was loaded */
};

/* The GPU with this PCI bus id ("00000000:01:00.0"), or NULL where there is no
 * NVML or no such GPU. */
struct msim_nvml *msim_nvml_open(const char *bus_id);

/* Accepts NULL. */
void msim_nvml_close(struct msim_nvml *n);

/* Zeros where `n` is NULL. */
struct msim_nvml_state msim_nvml_read(struct msim_nvml *n);

/* The same, whatever it takes: of this moment. */
struct msim_nvml_state msim_nvml_read_now(struct msim_nvml *n);

/* "max_sm_mhz", "max_memory_mhz", "power_limit_w", and what a reading takes
 * ("nvml_us") as members, as far as they are known; `driver` (at least 80
 * bytes) gets the driver's version. */
void msim_nvml_describe(struct msim_nvml *n, struct msim_json *out);
void msim_nvml_driver(struct msim_nvml *n, char *driver, unsigned size);

/* Whether the first of its NVLinks is up; false where it is not known. */
bool msim_nvml_has_nvlink(struct msim_nvml *n);

/* A state as members whose names end in `suffix`. */
void msim_nvml_write(const struct msim_nvml_state *s, const char *suffix,
                     struct msim_json *out);

#endif
