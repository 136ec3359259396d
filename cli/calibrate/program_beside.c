/*
 * cli/calibrate/program_beside.c - where programs of this project lie.
 */
#include "cli/calibrate/program_beside.h"

#include <string.h>
#include <unistd.h>

#define NAME_ROOM 64

void msim_beside_path(char path[PATH_MAX], const char *name)
{
    ssize_t n = readlink("/proc/self/exe", path, PATH_MAX - NAME_ROOM);
    char *slash;

    path[n > 0 ? n : 0] = '\0';
    slash = strrchr(path, '/');
    memcpy(slash ? slash + 1 : path, name, strnlen(name, NAME_ROOM - 1) + 1);
}
