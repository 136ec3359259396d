/*
 * core/stream/memory.c - how much memory there is, by the words of Linux.
 */
#include "core/stream/input.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

uint64_t msim_memory_used(void)
{
    FILE *f = fopen("/proc/self/statm", "re");
    uint64_t pages = 0;
    char line[256], *second;

    if (!f)
        return 0;
    if (fgets(line, sizeof(line), f)) { /* in pages: all, resident, ... */
        (void)strtoull(line, &second, 10);
        pages = strtoull(second, NULL, 10);
    }
    fclose(f);
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

uint64_t msim_memory_there(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), each = sysconf(_SC_PAGESIZE);

    return pages > 0 && each > 0 ? (uint64_t)pages * (uint64_t)each
                                 : UINT64_MAX;
}
