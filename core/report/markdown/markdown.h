/*
 * core/report/markdown/markdown.h - answers as Markdown, for pull requests and
 * notes.
 */
#ifndef MSIM_CORE_REPORT_MARKDOWN_MARKDOWN_H
#define MSIM_CORE_REPORT_MARKDOWN_MARKDOWN_H
#include "core/base/status.h"
#include "core/report/analyse/prediction.h"

#include <stdio.h>

struct msim_comparison;

#define MSIM_MARKDOWN_ROWS 10 /* of a table that may be long */

/*
 * Write what `fmt` says, in which each %s is a text: words and figures as they
 * are, and whatever has another character as code between backticks, where
 * nothing is a tag, a link, a mention or the end of a cell.
 */
void msim_markdown_print(FILE *out, const char *fmt, ...) MSIM_PRINTF(2, 3);

/* The period and its interval, where the time goes, the operators that take
 * most. */
MSIM_MUST_CHECK
enum msim_status msim_markdown_prediction(const struct msim_prediction *p,
                                          FILE *out);
/* Both sides and their differences; the operators that changed most. */
MSIM_MUST_CHECK
enum msim_status msim_markdown_comparison(const struct msim_comparison *c,
                                          FILE *out);

#endif
