/*
 * core/report/write/run_program.h - run another program and wait for it.
 */
#ifndef MSIM_CORE_REPORT_WRITE_RUN_PROGRAM_H
#define MSIM_CORE_REPORT_WRITE_RUN_PROGRAM_H
#include "core/base/status.h"

#include <stdio.h>

struct msim_run_program {
    char *const *argv;  /* ended by NULL; argv[0] is found on $PATH, without a
                           shell */
    FILE *input;        /* read from its start; NULL: nothing */
    const char *advice; /* where it cannot be run: what to install */
    const char *failed; /* where it fails, before its own last message */
};

/*
 * EIO where it cannot be run or fails. On success the `*n` bytes that it wrote
 * to its standard output are in `*output`, with a zero behind them, which is
 * the caller's, NULL where there are none: whoever writes them to a file
 * notices that a disk is full, as few programs do.
 */
MSIM_MUST_CHECK
enum msim_status msim_program_run(char **output, size_t *n,
                                  const struct msim_run_program *p,
                                  struct msim_error *err);

#endif
