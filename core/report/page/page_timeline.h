/*
 * core/report/page/page_timeline.h - the bars of a run as columns, for a page.
 *
 * The head is JSON: `unit_ps`, `names`, `kinds`, `lanes` (`rank`, `device`,
 * `name`, `n`: its bars) and `steps`. The columns are numbers of seven bits a
 * byte (msim_bytes_put_number()), all bars of the first, then of the next:
 *
 *     gap     from the end of the bar before on the lane (0 for the first) to
 *             its begin, in units; signed
 *     length  in units
 *     name    index into `names`
 *     kind    2 * index into `kinds` + 1 where it is on the critical path
 *
 * Bars lie in the order of the lanes, and of time on each. An event is some
 * ten letters of the page.
 */
#ifndef MSIM_CORE_REPORT_PAGE_PAGE_TIMELINE_H
#define MSIM_CORE_REPORT_PAGE_PAGE_TIMELINE_H
#include "core/report/analyse/prediction.h"
#include "core/report/page/page_pack.h"

/* Adds to `head` and `columns`, which the caller releases in any case. ENOMEM.
 */
MSIM_MUST_CHECK
enum msim_status msim_page_timeline(struct msim_bytes *head,
                                    struct msim_bytes *columns,
                                    const struct msim_timeline *t);

#endif
