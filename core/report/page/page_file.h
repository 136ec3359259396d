/*
 * core/report/page/page_file.h - an answer as one HTML file that needs no
 * network: `--html FILE`.
 *
 * The page has the answer as `--json` prints it, and where there are some the
 * bars of the timeline and the planes of sliders, packed (page_pack.h); its
 * script (page.js) draws all of it. Nothing but that script runs in the page: a
 * Content-Security-Policy has its hash.
 */
#ifndef MSIM_CORE_REPORT_PAGE_PAGE_FILE_H
#define MSIM_CORE_REPORT_PAGE_PAGE_FILE_H
#include "core/report/analyse/prediction.h"
#include "core/report/page/page_planes.h"

#include <stdio.h>

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
