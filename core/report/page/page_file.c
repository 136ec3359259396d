/*
 * core/report/page/page_file.c - an answer as one HTML file.
 */
#include "core/report/page/page.h"

#include "core/base/files.h"
#include "core/base/json.h"
#include "core/report/page/page_internal.h"

#include <stdlib.h>

#define SCRIPT msim_page_js /* as it was when the program was built */

/* ---- data ---------------------------------------------------------------- */

/* A block that no browser runs: its type is no script's. */
static enum msim_status put_block(const char *id, const void *bytes, size_t n,
                                  FILE *out)
{
    char *text;

    MSIM_TRY(msim_page_pack(&text, bytes, n));
    msim_html_print(out,
                    "<script type=\"application/octet-stream\" id=\"%s\">%s"
                    "</script>\n",
                    id, text);
    free(text);
    return MSIM_OK;
}

static enum msim_status put_timeline(const struct msim_timeline *t, FILE *out)
{
    struct msim_bytes head = {.n = 0}, columns = {.n = 0};
    enum msim_status status = msim_page_timeline(&head, &columns, t);

    if (status == MSIM_OK)
        status = put_block("bars-head", head.at, head.n, out);
    if (status == MSIM_OK)
        status = put_block("bars", columns.at, columns.n, out);
    msim_bytes_release(&head);
    msim_bytes_release(&columns);
    return status;
}

static void write_plane(struct msim_json *j, const struct msim_planes *p,
                        const struct msim_plane *plane)
{
    msim_json_open(j, NULL, '[', false);
    msim_json_number(j, NULL, plane->constant);
    for (int k = 0; k < MSIM_PLANE_CLASSES; k++)
        if (p->has[k])
            msim_json_number(j, NULL, plane->us[k]);
    msim_json_close(j);
}

static enum msim_status write_planes(struct msim_bytes *to,
                                     const struct msim_planes *p)
{
#define X(name, text) text,
    static const char *const CLASSES[] = {MSIM_PLANE_CLASSES_MAP(X)};
#undef X
    struct msim_json j;

    msim_json_begin(&j, msim_bytes_sink, to);
    msim_json_open(&j, NULL, '{', true);
    msim_json_open(&j, "classes", '[', false);
    for (int k = 0; k < MSIM_PLANE_CLASSES; k++)
        if (p->has[k])
            msim_json_text(&j, NULL, CLASSES[k]);
    msim_json_close(&j);
    msim_json_number(&j, "least", p->least);
    msim_json_number(&j, "most", p->most);
    msim_json_unsigned(&j, "checked", p->checked);
    msim_json_number(&j, "deviation", p->deviation);
    msim_json_open(&j, "planes", '[', true);
    for (uint32_t i = 0; i < p->n; i++)
        write_plane(&j, p, &p->planes[i]);
    msim_json_close(&j);
    return msim_json_end(&j);
}

static enum msim_status put_planes(const struct msim_planes *p, FILE *out)
{
    struct msim_bytes text = {.n = 0};
    enum msim_status status = write_planes(&text, p);

    if (status == MSIM_OK)
        status = put_block("planes", text.at, text.n, out);
    msim_bytes_release(&text);
    return status;
}

/* ---- the page ------------------------------------------------------------ */

static void put_head(const char *title, FILE *out)
{
    msim_page_head(title, "page", true, out);
    msim_html_print(out,
                    "<body><h1>%s</h1>\n"
                    "<noscript><p>This page is drawn by a script of its own, "
                    "which loads nothing; the same figures as text are what "
                    "mystique-sim prints without --html.</p></noscript>\n"
                    "<svg hidden=\"\"></svg><main></main>\n",
                    title);
}

static enum msim_status put_page(const struct msim_page_parts *p, FILE *out)
{
    put_head(p->title, out);
    MSIM_TRY(put_block("answer", p->json, p->json_size, out));
    if (p->timeline)
        MSIM_TRY(put_timeline(p->timeline, out));
    if (p->planes && p->planes->n)
        MSIM_TRY(put_planes(p->planes, out));
    fputs("<script>", out);
    fputs(SCRIPT, out);
    fputs("</script>\n</html>\n", out);
    return ferror(out) ? MSIM_EWRITE : MSIM_OK;
}

enum msim_status msim_page_save(const struct msim_page_parts *parts,
                                const char *path, struct msim_error *err)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    enum msim_status status = MSIM_ENOMEM;

    if (out) {
        status = put_page(parts, out);
        if (fclose(out) != 0 && status == MSIM_OK)
            status = MSIM_ENOMEM;
    }
    if (status == MSIM_OK)
        status = msim_file_save(path, text, size, NULL, err);
    free(text);
    return status;
}

enum msim_status
msim_page_save_json(const char *title,
                    enum msim_status (*write)(const void *of, FILE *out),
                    const void *of, const char *path, struct msim_error *err)
{
    char *json = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&json, &size);
    enum msim_status status;

    if (!out)
        return MSIM_ENOMEM;
    status = write(of, out);
    if (fclose(out) != 0 && status == MSIM_OK)
        status = MSIM_ENOMEM;
    if (status == MSIM_OK)
        status = msim_page_save(&(struct msim_page_parts){.title = title,
                                                          .json = json,
                                                          .json_size = size},
                                path, err);
    free(json);
    return status;
}
