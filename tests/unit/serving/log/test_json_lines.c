/* serving/log/json_lines.c: lines of a file, long ones and empty ones, and what
 * is no object. */
#include "core/base/files.h"
#include "serving/log/request_log.h"
#include "tests/check.h"

#include <stdlib.h>
#include <unistd.h>

static char path[] = P_tmpdir "/msim-lines-XXXXXX";
static struct msim_error err;

/* The lines that came, "1:x 3:y"; line `stop` is too many. */
static struct {
    char seen[256];
    uint64_t stop;
    size_t longest;
} got;

static enum msim_status note(void *ctx, const cJSON *object, uint64_t line,
                             struct msim_error *e)
{
    const cJSON *name = cJSON_GetObjectItem(object, "n");
    size_t used = strlen(got.seen);

    CHECK(ctx == &got);
    if (line == got.stop)
        return msim_fail(e, MSIM_ELIMIT, path, MSIM_OFFSET_NONE, "enough");
    if (strlen(cJSON_GetStringValue(name)) > got.longest)
        got.longest = strlen(cJSON_GetStringValue(name));
    snprintf(got.seen + used, sizeof(got.seen) - used, "%s%llu:%.3s",
             used ? " " : "", (unsigned long long)line,
             cJSON_GetStringValue(name));
    return MSIM_OK;
}

static enum msim_status read_it(const char *text)
{
    FILE *f = fopen(path, "w");

    if (!CHECK(f != NULL))
        return MSIM_EIO;
    fputs(text, f);
    fclose(f);
    got.seen[0] = '\0';
    err = (struct msim_error){0};
    return msim_json_lines_read(path, note, &got, &err);
}

/* Empty lines count; the last one may have no end. */
static void test_json_lines__are_read(void)
{
    CHECK_INT(read_it("{\"n\": \"a\"}\n\n  \t\r\n{\"n\": \"b\"} \t\r\n"
                      "{\"n\": \"c\"}"),
              MSIM_OK);
    CHECK_STR(got.seen, "1:a 4:b 5:c");
    CHECK_INT(read_it(""), MSIM_OK);
    CHECK_STR(got.seen, "");
    CHECK_INT(read_it("\n\n{\"n\": \"a\"}\n"), MSIM_OK);
    CHECK_STR(got.seen, "3:a");
}

/* What an answer depends on is not overwritten with it. */
static void test_json_lines__are_noted(void)
{
    msim_files_read_release();
    CHECK_INT(msim_files_read_spare(path, &err), MSIM_OK);
    CHECK_INT(read_it("{\"n\": \"a\"}"), MSIM_OK);
    CHECK_INT(msim_files_read_spare(path, &err), MSIM_EUSAGE);
    msim_files_read_release();
}

/* Pieces of the input end anywhere: of 40 lines each is longer than one before,
 * up to 400,000 characters. */
static void test_json_lines__are_long(void)
{
    char *text = malloc(40 * 400100), *at = text;

    REQUIRE(text != NULL);
    for (int i = 1; i <= 40; i++) {
        at += snprintf(at, 32, "{\"n\": \"");
        memset(at, 'x', (size_t)i * 10000);
        at += i * 10000;
        at += snprintf(at, 32, "\"}\n");
    }
    got.longest = 0;
    CHECK_INT(read_it(text), MSIM_OK);
    CHECK_INT(got.longest, 400000);
    CHECK(strstr(got.seen, "1:xxx 2:xxx 3:xxx") != NULL);
    free(text);
}

static void test_json_lines__refuse(void)
{
    static const char *const WRONG[] = {"[1]", "3", "{\"n\"", "\"n\"", "x"};

    for (size_t i = 0; i < sizeof(WRONG) / sizeof(*WRONG); i++) {
        char text[64];

        snprintf(text, sizeof(text), "{\"n\": \"a\"}\n%s\n{\"n\": \"b\"}\n",
                 WRONG[i]);
        CHECK_INT(read_it(text), MSIM_ESYNTAX);
        CHECK_STR(got.seen, "1:a");
        CHECK_STR(err.text, "line 2: not a JSON object");
        CHECK_STR(err.file, path);
    }
    CHECK_INT(read_it("{\"n\": \"a\"}\n{"), MSIM_ESYNTAX); /* without an end */
    CHECK_STR(err.text, "line 2: not a JSON object");
    got.stop = 2;
    CHECK_INT(read_it("{\"n\": \"a\"}\n{\"n\": \"b\"}\n{\"n\": \"c\"}"),
              MSIM_ELIMIT);
    CHECK_STR(got.seen, "1:a");
    CHECK_STR(err.text, "enough");
    got.stop = 0;
}

int main(void)
{
    int fd = mkstemp(path);

    if (fd < 0)
        return 1;
    close(fd);
    RUN(test_json_lines__are_read);
    RUN(test_json_lines__are_noted);
    RUN(test_json_lines__are_long);
    RUN(test_json_lines__refuse);
    CHECK_INT(unlink(path), 0);
    err = (struct msim_error){0};
    CHECK_INT(msim_json_lines_read(path, note, &got, &err), MSIM_EIO);
    return check_summary();
}
