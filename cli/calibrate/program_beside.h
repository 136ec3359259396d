/*
 * cli/calibrate/program_beside.h - programs of this project that lie beside
 * this one: what links GSL or XGBoost is a program of its own.
 */
#ifndef MSIM_CLI_CALIBRATE_PROGRAM_BESIDE_H
#define MSIM_CLI_CALIBRATE_PROGRAM_BESIDE_H
#include <limits.h>

/* The path of the program `name` (of fewer than 64 bytes). */
void msim_beside_path(char path[PATH_MAX], const char *name);

#endif
