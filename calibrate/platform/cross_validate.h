/*
 * calibrate/platform/cross_validate.h - a GPU predicted as if nobody had
 * measured it.
 *
 * Its own cells are taken away; what is left is its data sheet, the cells of
 * its kin and the laws common to all GPUs, these fitted without its generation.
 * Rows of the GPU then say how far off such a prediction is.
 */
#ifndef MSIM_CALIBRATE_PLATFORM_CROSS_VALIDATE_H
#define MSIM_CALIBRATE_PLATFORM_CROSS_VALIDATE_H
#include "calibrate/platform/shared_laws_fit.h"

enum msim_left_out_kind {
    MSIM_WITHOUT_GPU,        /* others of its generation stay */
    MSIM_WITHOUT_GENERATION, /* they go, too */
};

/*
 * The doubt in cells of other GPUs, as a standard deviation that lets 90 % of
 * the rows of GPUs left out lie inside, for each law with such rows, into
 * `out->sd`. Of generation `without` (below 0: none) nothing is used.
 * `rows` gets, for each law in turn, how many rows of its own generation and of
 * others it stands on; may be NULL.
 */
MSIM_MUST_CHECK
enum msim_status msim_cross_validate_sds(const struct msim_shared_fit *k,
                                         int without,
                                         struct msim_shared_laws *out,
                                         uint32_t (*rows)[2]);

/* One line of the report for each cell of each GPU left out. */
extern const char MSIM_CROSS_VALIDATE_HEADER[];
MSIM_MUST_CHECK
enum msim_status msim_cross_validate(const struct msim_shared_fit *k,
                                     enum msim_left_out_kind what, FILE *out);

#endif
