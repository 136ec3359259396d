/*
 * core/report/page/page_text.h - page.css and page.js, as the build embeds them
 * (cmake/embed.cmake), and the hash of the script in base64 of SHA-256.
 */
#ifndef MSIM_CORE_REPORT_PAGE_PAGE_TEXT_H
#define MSIM_CORE_REPORT_PAGE_PAGE_TEXT_H

extern const char msim_page_css[], msim_page_js[], msim_page_js_sha256[];
extern const char msim_page_css_sha256[];

#endif
