/*
 * core/report/page/page.h - an answer as one HTML file: its frame, its texts,
 * its planes.
 */
#ifndef MSIM_CORE_REPORT_PAGE_PAGE_H
#define MSIM_CORE_REPORT_PAGE_PAGE_H
#include "core/base/status.h"
#include "core/report/analyse/prediction.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* ---- html ---------------------------------------------------------------- */
/* Text and pictures inside an HTML page. */

/*
 * Write what `fmt` says, in which each %s is a text: between tags, or inside
 * the quotes of an attribute. A page has no addresses from elsewhere, so none
 * is written.
 */
void msim_html_print(FILE *out, const char *fmt, ...) MSIM_PRINTF(2, 3);

/* An SVG of gnuplot, in the page: no colour depends on what is around it. */
void msim_html_svg(const char *svg, FILE *out);

/* ---- page planes --------------------------------------------------------- */
/*
 * A period as a function of what is faster or slower, for sliders.
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

/* ---- page head ----------------------------------------------------------- */
/*
 * How every page begins: the mark that tells it from other files, what may run
 * in it, and its style.
 */

/* The mark of such a page; `of` is a text without quotes. */
#define MSIM_PAGE_MARK(of)                                                     \
    "<meta name=generator content=\"mystique-sim " of "\">"

/* Up to the style that all pages have (page.css). No page loads anything: one
 * that our script draws runs that script alone, any other none. */
void msim_page_head(const char *title, const char *of, bool is_drawn,
                    FILE *out);

/* ---- page file ----------------------------------------------------------- */
/*
 * An answer as one HTML file that needs no network: `--html FILE`.
 *
 * The page has the answer as `--json` prints it, and where there are some the
 * bars of the timeline and the planes of sliders, packed (page_pack.c); its
 * script (page.js) draws all of it. Nothing but that script runs in the page: a
 * Content-Security-Policy has its hash.
 */

struct msim_page_parts {
    const char *title;
    const char *json; /* the answer; its `schema` tells the script what it is */
    size_t json_size;
    const struct msim_timeline *timeline; /* NULL: none */
    const struct msim_planes *planes;     /* NULL: none */
};

/* The page of what `write` writes of `of` as JSON, alone. As below. */
MSIM_MUST_CHECK
enum msim_status
msim_page_save_json(const char *title,
                    enum msim_status (*write)(const void *of, FILE *out),
                    const void *of, const char *path, struct msim_error *err);

/* Write `path`: whole or not at all. EIO, EWRITE, ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_page_save(const struct msim_page_parts *parts,
                                const char *path, struct msim_error *err);

#endif
