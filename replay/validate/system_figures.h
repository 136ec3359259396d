/*
 * replay/validate/system_figures.h - what a trace of `replay -o` tells of the
 * machine: its member "mystiqueSystem".
 */
#ifndef MSIM_REPLAY_VALIDATE_SYSTEM_FIGURES_H
#define MSIM_REPLAY_VALIDATE_SYSTEM_FIGURES_H
#include <stdint.h>

#define MSIM_SYSTEM_FIGURES 32
#define MSIM_SYSTEM_NAME    48

struct msim_system_figures {
    struct msim_system_figure {
        char name[MSIM_SYSTEM_NAME];
        double value;
    } items[MSIM_SYSTEM_FIGURES];
    uint32_t n;
};

/*
 * Of the file `path`; none where it has none, as traces of a profiler, or is no
 * JSON. A file that cannot be read has none either: whoever loads it says so.
 */
void msim_system_figures_read(struct msim_system_figures *s, const char *path);

/* The figure of that name; NAN. */
double msim_system_figure(const struct msim_system_figures *s,
                          const char *name);

#endif
