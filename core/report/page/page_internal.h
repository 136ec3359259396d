/*
 * core/report/page/page_internal.h - what the files of core/report/page share;
 * no other room includes it.
 */
#ifndef MSIM_CORE_REPORT_PAGE_PAGE_INTERNAL_H
#define MSIM_CORE_REPORT_PAGE_PAGE_INTERNAL_H
#include "core/base/status.h"
#include "core/report/analyse/prediction.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- page pack ----------------------------------------------------------- */
/*
 * Data inside an HTML page: compressed, and in letters that no page takes for
 * anything else.
 *
 * Bytes are packed by gzip and written in base64 (RFC 4648): letters, digits,
 * '+', '/' and '='. So no text of a trace ("</script>", "<!--", U+2028) stands
 * in the page as it is; the page's script unpacks it and shows it as text.
 */

/* Bytes in the making; all zero: none. */
struct msim_bytes {
    uint8_t *at; /* heap */
    size_t n, cap;
    bool failed; /* memory was short */
};

/* Seven bits a byte, the lowest first; the eighth: there are more. */
void msim_bytes_put_number(struct msim_bytes *b, uint64_t value);
/* The same, where small negative numbers are short, too. */
void msim_bytes_put_signed(struct msim_bytes *b, int64_t value);
/* The sink of a struct msim_json. */
enum msim_status msim_bytes_sink(void *bytes, const char *text, size_t n);
void msim_bytes_release(struct msim_bytes *b);

/* On success the caller frees `*text`; ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_page_pack(char **text, const void *bytes, size_t n);

/* ---- page text ----------------------------------------------------------- */
/*
 * page.css and page.js, as the build embeds them (cmake/embed.cmake), and the
 * hash of the script in base64 of SHA-256.
 */

extern const char msim_page_css[], msim_page_js[], msim_page_js_sha256[];
extern const char msim_page_css_sha256[];

/* ---- page timeline ------------------------------------------------------- */
/*
 * The bars of a run as columns, for a page.
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

/* Adds to `head` and `columns`, which the caller releases in any case. ENOMEM.
 */
MSIM_MUST_CHECK
enum msim_status msim_page_timeline(struct msim_bytes *head,
                                    struct msim_bytes *columns,
                                    const struct msim_timeline *t);

#endif
