/*
 * core/report/page/page_planes.h - a period as a function of what is faster or
 * slower, for sliders.
 *
 * The longest of all paths through a graph takes the largest of sums, one a
 * path, of the time of each class of work on it:
 *
 *     period(f) = max over planes of (constant + sum of us[i] * f[i])
 *
 * f[i] multiplies the durations of class i. A page has the planes of the paths
 * that matter, so that it computes what a simulation would, without one.
 * Where work contends for a resource the period is no such largest sum: so the
 * deviation from simulations that no plane was made of stands beside it.
 *
 * Example: 30 us of kernels beside 40 us of host are planes (30, 0) and (0,
 * 40). With f = (2, 1) the period is 60 us, with (1, 1) it is 40.
 */
#ifndef MSIM_CORE_REPORT_PAGE_PAGE_PLANES_H
#define MSIM_CORE_REPORT_PAGE_PAGE_PLANES_H
#include <stdbool.h>
#include <stdint.h>

/* Classes do not meet: LINK is communication that is not of NETWORK. X(NAME,
   what a page calls it). */
#define MSIM_PLANE_CLASSES_MAP(X)                                              \
    X(KERNELS, "kernels")                                                      \
    X(HOST, "host")                                                            \
    X(LINK, "communication")                                                   \
    X(NETWORK, "network")

enum msim_plane_class {
#define X(name, text) MSIM_PLANE_##name,
    MSIM_PLANE_CLASSES_MAP(X)
#undef X
        MSIM_PLANE_CLASSES
};

struct msim_plane {
    double constant, us[MSIM_PLANE_CLASSES]; /* microseconds */
};

struct msim_planes {
    bool has[MSIM_PLANE_CLASSES]; /* the job has such work */
    double least, most;           /* factors that planes were made for */
    struct msim_plane *planes;
    uint32_t n, cap;
    uint32_t checked; /* simulations that no plane was made of */
    double deviation; /* the largest of them, as a share of the period */
};

/* The period at those factors; 0 without planes. */
double msim_planes_period(const struct msim_planes *p,
                          const double factors[MSIM_PLANE_CLASSES]);
void msim_planes_release(struct msim_planes *p);

#endif
