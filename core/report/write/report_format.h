/*
 * core/report/write/report_format.h - figures and names as people read them.
 *
 * For all text that people read: reports, explanations, the page of a platform.
 */
#ifndef MSIM_CORE_REPORT_WRITE_REPORT_FORMAT_H
#define MSIM_CORE_REPORT_WRITE_REPORT_FORMAT_H
#include "core/report/analyse/prediction.h"

#include <stddef.h>

#define MSIM_CELL 32 /* bytes that any formatted figure fits into */

#define MSIM_FIGURE 192 /* and one with interval and measured time */

/* A unit of time and how many decimals it is shown with. */
struct msim_unit {
    const char *name;
    double us; /* microseconds in one */
    int decimals;
};

/* The unit in which `us` (NAN counts as 0) has 1 to 999 before the point. */
const struct msim_unit *msim_unit_for(double us);

/* "12.3", without the unit; "-" for NAN. */
void msim_format_in(char cell[MSIM_CELL], const struct msim_unit *u, double us);

/* "12.3 ms" in its own unit; "-" for NAN. */
void msim_format_time(char cell[MSIM_CELL], double us);

/* "12.3 %" for 0.123; "-" for NAN. */
void msim_format_share(char cell[MSIM_CELL], double share);

/* "+2.8 %": predicted against measured; "-" where either is unknown. */
void msim_format_error(char cell[MSIM_CELL], const struct msim_figure *f);

/*
 * "10.0 ms 90 %: 8.0 to 13.0 ms measured 9.8 ms, error +2.0 %", as far as it
 * is known; no interval where it is a point. The first figure is padded to
 * nine columns. With `elsewhere` (msim_prediction) what was measured is of
 * another run: "traced 9.8 ms, change +2.0 %".
 */
void msim_format_figure(char text[MSIM_FIGURE], const struct msim_figure *f,
                        bool elsewhere);

/*
 * What a prediction changes: "traced 112.2 ms -> predicted 56.1 ms, x 0.500
 * (90 %: 0.480 to 0.510)" of the period, as far as it is known. Empty without a
 * change.
 */
void msim_format_scenario(char text[MSIM_FIGURE],
                          const struct msim_prediction *p);

/* The options that made a prediction, separated by blanks, or "". */
void msim_format_options(char *out, size_t size,
                         const struct msim_scenario_note *n);

/* "1.23 T" with the prefixes k, M, G, T, P, E; "-" for NAN. */
void msim_format_large(char cell[MSIM_CELL], double value);
/* Memory that is held: "1.23 GiB", in powers of 1024; "-" for NAN. */
void msim_format_memory(char cell[MSIM_CELL], double bytes);

/*
 * `name` made fit to print. Bytes that are not UTF-8 and control characters
 * become '?'; the middle of a name longer than `columns` characters becomes
 * "...". Truncates to `size` bytes as well, never inside a character. A
 * character counts as one column. Returns the columns used.
 */
unsigned msim_format_name(char *out, size_t size, const char *name,
                          unsigned columns);

/*
 * msim_format_name() for an operator or a kernel, without words that say
 * little: those before every backward operator; of a C++ kernel `void`,
 * parameters, anonymous namespaces and PyTorch's own. A long kernel loses its
 * end.
 */
unsigned msim_format_op(char *out, size_t size, const char *name,
                        unsigned columns);

/* "12", "0.67": how often, as a mean. */
void msim_format_calls(char cell[MSIM_CELL], double calls);

/* The first line of a report: what was predicted, and for what. */
void msim_format_title(char *out, size_t size, const struct msim_prediction *p);

#endif
