/*
 * cli/datadir.c - where platforms/ and hosts/ are.
 */
#include "cli/cmd.h"

#include "models/platform/platform.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The folder that the running program lies in; "" where it is not known. */
static void program_folder(char dir[PATH_MAX])
{
    ssize_t n = readlink("/proc/self/exe", dir, PATH_MAX - 1);
    char *slash;

    dir[n > 0 ? n : 0] = '\0';
    slash = strrchr(dir, '/');
    if (slash)
        *slash = '\0';
}

enum msim_status msim_datadir_find(char *path, size_t size,
                                   struct msim_error *err)
{
    const char *chosen = getenv("MSIM_DATA");
    char program[PATH_MAX];

    if (chosen && chosen[0]) {
        if (msim_data_folder(path, size, chosen, ""))
            return MSIM_OK;
        return msim_fail(err, MSIM_EUNKNOWN, NULL, MSIM_OFFSET_NONE,
                         "the environment's MSIM_DATA is '%s', want a folder "
                         "that holds platforms/",
                         chosen);
    }
    program_folder(program);
    if (program[0] &&
        (msim_data_folder(path, size, program, "/../share/mystique-sim") ||
         msim_data_folder(path, size, program, "/../data")))
        return MSIM_OK;
    if (msim_data_folder(path, size, MSIM_DATA_SOURCE, "") ||
        msim_data_folder(path, size, MSIM_DATA_INSTALL, ""))
        return MSIM_OK;
    return msim_fail(err, MSIM_EUNKNOWN, NULL, MSIM_OFFSET_NONE,
                     "no data folder, looked beside the program and in '%s': "
                     "set MSIM_DATA to the folder that holds platforms/",
                     MSIM_DATA_INSTALL);
}
