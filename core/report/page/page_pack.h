/*
 * core/report/page/page_pack.h - data inside an HTML page: compressed, and in
 * letters that no page takes for anything else.
 *
 * Bytes are packed by gzip and written in base64 (RFC 4648): letters, digits,
 * '+', '/' and '='. So no text of a trace ("</script>", "<!--", U+2028) stands
 * in the page as it is; the page's script unpacks it and shows it as text.
 */
#ifndef MSIM_CORE_REPORT_PAGE_PAGE_PACK_H
#define MSIM_CORE_REPORT_PAGE_PAGE_PACK_H
#include "core/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes in the making; all zero: none. */
struct msim_bytes {
    uint8_t *at; /* heap */
    size_t n, cap;
    bool failed; /* memory was short */
};

void msim_bytes_put(struct msim_bytes *b, const void *bytes, size_t n);
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

#endif
