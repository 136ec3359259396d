/*
 * profilers/cuda/cupti/cupti_metrics.h - which metrics of a chip are counted,
 * and what the counters make of them: the half of counting that wants no GPU.
 */
#ifndef MSIM_PROFILERS_CUDA_CUPTI_CUPTI_METRICS_H
#define MSIM_PROFILERS_CUDA_CUPTI_CUPTI_METRICS_H
#include "profilers/counters.h"
#include "profilers/cuda/cupti/cupti_range.h"

struct msim_cupti_metrics {
    const struct msim_cupti_range *api;
    void *host;
    struct msim_metrics chosen;
    const char *names[MSIM_METRICS]; /* of these */
    uint8_t *config;                 /* for the target; owned */
    size_t config_size;
    size_t passes; /* runs that they take together */
};

/*
 * Choose for a chip ("GH100") what makes profilers/counters.h's figures;
 * `available` as the library gave it, NULL: all that the chip has. ENOMODEL
 * where the library does not know the chip or refuses. Release in any case;
 * `api` must live as long.
 */
MSIM_MUST_CHECK
enum msim_status msim_cupti_metrics_init(struct msim_cupti_metrics *m,
                                         const struct msim_cupti_range *api,
                                         const char *chip,
                                         const uint8_t *available,
                                         struct msim_error *err);
void msim_cupti_metrics_release(struct msim_cupti_metrics *m);

/* The figures of the only range in a decoded image; `passes` too. */
MSIM_MUST_CHECK
enum msim_status msim_cupti_metrics_read(const struct msim_cupti_metrics *m,
                                         const uint8_t *data, size_t size,
                                         struct msim_counts *out,
                                         struct msim_error *err);

/* ENOMODEL, naming the call, for what CUPTI refuses. */
MSIM_MUST_CHECK
enum msim_status msim_cupti_check(CUptiResult r, const char *call,
                                  struct msim_error *err);

/* Call it, with the size of what it takes filled in. */
#define MSIM_CUPTI(api, call, p)                                               \
    ((p)->size = MSIM_SIZE_##call, msim_cupti_check((api)->call(p), #call, err))

#endif
