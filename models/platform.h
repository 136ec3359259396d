/*
 * models/platform.h - a GPU (and the links between several) as parameters.
 *
 * Read from data/platforms/NAME.json, where every parameter carries its value,
 * unit and provenance: data sheet or fit, rows, range, residual.
 */
#ifndef MSIM_MODELS_PLATFORM_H
#define MSIM_MODELS_PLATFORM_H
#include "core/trace.h"

struct msim_platform; /* opaque */

/*
 * Load a platform by name, alias (case-insensitive) or file path (a name that
 * holds a '/' or ends in .json). Names are searched in `data_dir`. An unknown
 * name is EUNKNOWN and `err` lists the known ones. On success `*out` is owned
 * by the caller; on failure it is NULL.
 */
MSIM_MUST_CHECK
enum msim_status msim_platform_load(struct msim_platform **out,
                                    const char *data_dir, const char *name,
                                    struct msim_error *err);
void msim_platform_free(struct msim_platform *p);

const char *msim_platform_name(const struct msim_platform *p);

/*
 * The platform whose aliases match a traced GPU by device name, memory and SM
 * count (an A100 of 40 GB is not one of 80), as its name in the directory;
 * NULL where none matches exactly. The text is owned by `arena`.
 */
const char *msim_platform_match(struct msim_arena *arena, const char *data_dir,
                                const char *gpu, uint64_t memory_bytes,
                                uint32_t sms);

/* Dense peak rate in FLOP/s for the dtype (fp32: as frameworks run it). */
double msim_platform_peak_flops(const struct msim_platform *p,
                                enum msim_dtype dtype);

#endif
