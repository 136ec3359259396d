/*
 * tests/unit/core/report/page/test_page_file.c - a page as one file: its head,
 * its data, and nothing else.
 */
#include "core/report/page/page.h"
#include "core/report/page/page_internal.h"
#include "tests/unit/written_text.h"

#include <unistd.h>

#define ANSWER "{\"schema\": \"none\"}\n"

static char path[] = P_tmpdir "/msim-page-XXXXXX";

/* ---- heads --------------------------------------------------------------- */

static void test_page_file__heads(void)
{
    for (int drawn = 0; drawn < 2; drawn++) {
        struct written w = written_begin(), want = written_begin();
        char *text;

        msim_page_head("a < b", "page", drawn, w.out);
        fputs("<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\">\n"
              "<meta name=generator content=\"mystique-sim page\">\n"
              "<meta http-equiv=\"Content-Security-Policy\" content=\""
              "default-src 'none'; style-src ",
              want.out);
        if (drawn)
            fprintf(want.out, "'sha256-%s'; script-src 'sha256-%s'",
                    msim_page_css_sha256, msim_page_js_sha256);
        else
            fputs("'unsafe-inline'", want.out);
        fprintf(want.out,
                "\">\n<meta name=\"viewport\" content=\"width=device-width\">\n"
                "<title>a &lt; b</title>\n<style>%s</style>\n",
                msim_page_css);
        text = written_end(&want);
        WRITTEN(&w, text);
        free(text);
    }
}

/* ---- whole pages --------------------------------------------------------- */

static void put_block(FILE *out, const char *id, const void *bytes, size_t n)
{
    char *packed;

    CHECK_INT(msim_page_pack(&packed, bytes, n), MSIM_OK);
    fprintf(out,
            "<script type=\"application/octet-stream\" id=\"%s\">%s</script>\n",
            id, packed);
    free(packed);
}

static void put_bars(FILE *out, const struct msim_timeline *t)
{
    struct msim_bytes head = {.n = 0}, columns = {.n = 0};

    CHECK_INT(msim_page_timeline(&head, &columns, t), MSIM_OK);
    put_block(out, "bars-head", head.at, head.n);
    put_block(out, "bars", columns.at, columns.n);
    msim_bytes_release(&head);
    msim_bytes_release(&columns);
}

/* The file that was written, which the caller frees. */
static char *read_back(void)
{
    size_t most = 1 << 22;
    char *text = calloc(1, most);
    FILE *f = fopen(path, "r");

    if (CHECK(text && f))
        CHECK(fread(text, 1, most - 1, f) < most - 1);
    if (f)
        fclose(f);
    return text;
}

/* Of planes the classes that the job has: two here. */
#define PLANES                                                                 \
    "{\n  \"classes\": [\"%s\", \"%s\"],\n  \"least\": 0.5,\n  \"most\": 2,\n" \
    "  \"checked\": 7,\n  \"deviation\": 0.25,\n  \"planes\": [\n"             \
    "    [100, 1, 3],\n    [50, 4, 6]\n  ]\n}\n"

static void check_page(const struct msim_timeline *t,
                       const struct msim_planes *planes,
                       const char *planes_text)
{
    const struct msim_page_parts parts = {.title = "a < b",
                                          .json = ANSWER,
                                          .json_size = strlen(ANSWER),
                                          .timeline = t,
                                          .planes = planes};
    struct written want = written_begin();
    struct msim_error err = {0};
    char *text, *got;

    CHECK_INT(msim_page_save(&parts, path, &err), MSIM_OK);
    msim_page_head("a < b", "page", true, want.out);
    fputs("<body><h1>a &lt; b</h1>\n<noscript><p>This page is drawn by a "
          "script of its own, which loads nothing; the same figures as text "
          "are what mystique-sim prints without --html.</p></noscript>\n"
          "<svg hidden=\"\"></svg><main></main>\n",
          want.out);
    put_block(want.out, "answer", ANSWER, strlen(ANSWER));
    if (t)
        put_bars(want.out, t);
    if (planes_text)
        put_block(want.out, "planes", planes_text, strlen(planes_text));
    fprintf(want.out, "<script>%s</script>\n</html>\n", msim_page_js);
    text = written_end(&want);
    got = read_back();
    CHECK(strcmp(got, text) == 0);
    free(got);
    free(text);
}

static void test_page_file__parts(void)
{
#define X(name, text) text,
    static const char *const CLASSES[] = {MSIM_PLANE_CLASSES_MAP(X)};
#undef X
    struct msim_plane two[2] = {{.constant = 100}, {.constant = 50}};
    struct msim_planes planes = {.planes = two,
                                 .n = 2,
                                 .least = 0.5,
                                 .most = 2,
                                 .checked = 7,
                                 .deviation = 0.25};
    struct msim_timeline t = {.n_spans = 0};
    char text[512];

    planes.has[0] = planes.has[2] = true;
    for (int k = 0; k < 3; k++) {
        two[0].us[k] = 1 + k;
        two[1].us[k] = 4 + k;
    }
    snprintf(text, sizeof(text), PLANES, CLASSES[0], CLASSES[2]);
    check_page(NULL, NULL, NULL);
    check_page(NULL, &planes, text);
    check_page(&t, &planes, text);
    planes.n = 0; /* none could be found */
    check_page(&t, &planes, NULL);
}

static enum msim_status write_answer(const void *of, FILE *out)
{
    fputs(of, out);
    return MSIM_OK;
}

static enum msim_status write_nothing(const void *of, FILE *out)
{
    (void)of;
    (void)out;
    return MSIM_ELIMIT;
}

/* The same page; where the answer fails the file stays as it was. */
static void test_page_file__of_an_answer(void)
{
    struct msim_error err = {0};
    char *before, *after;

    check_page(NULL, NULL, NULL);
    before = read_back();
    CHECK_INT(msim_page_save_json("a < b", write_answer, ANSWER, path, &err),
              MSIM_OK);
    after = read_back();
    CHECK(strcmp(before, after) == 0);
    free(after);
    CHECK_INT(msim_page_save_json("c", write_nothing, NULL, path, &err),
              MSIM_ELIMIT);
    after = read_back();
    CHECK(strcmp(before, after) == 0);
    free(after);
    free(before);
    CHECK(msim_page_save_json("a", write_answer, ANSWER, "/nowhere/at/all",
                              &err) != MSIM_OK);
}

int main(void)
{
    int fd = mkstemp(path);

    if (fd < 0)
        return 1;
    close(fd);
    RUN(test_page_file__heads);
    RUN(test_page_file__parts);
    RUN(test_page_file__of_an_answer);
    CHECK(unlink(path) == 0);
    return check_summary();
}
