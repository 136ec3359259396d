/* serving/app/app_help.c: texts in the arena, paths of a file's folder, what is
 * assumed, and names that cannot be shown. */
#include "serving/app/app_internal.h"
#include "tests/check.h"

static struct msim_error err;
static struct msim_app app;
static struct msim_fields fields;

static void begin(const char *path)
{
    msim_app_release(&app);
    msim_arena_init(&app.arena);
    app.path = path;
    err = (struct msim_error){0};
    fields = msim_fields_of(NULL, "app.json", &err);
    snprintf(fields.path, sizeof(fields.path), "%s", "stages[1].");
}

static void test_app_help__copies(void)
{
    char text[] = "abc";
    const char *copy;

    begin("app.json");
    copy = msim_app_copy(&app, &fields, text);
    text[0] = 'x';
    CHECK_STR(copy, "abc");
    CHECK_STR(msim_app_copy(&app, &fields, ""), "");
    CHECK(!msim_app_copy(&app, &fields, NULL));
    CHECK(msim_app_room(&app, &fields, 0, 8) != NULL);
    CHECK_INT(fields.status, MSIM_OK);
}

static void test_app_help__joins(void)
{
    static const struct {
        const char *app, *path, *joined;
    } CASES[] = {{"app.json", "log.csv", "log.csv"},
                 {"a/app.json", "log.csv", "a/log.csv"},
                 {"/a/b/app.json", "../log.csv", "/a/b/../log.csv"},
                 {"/app.json", "log.csv", "/log.csv"},
                 {"a/app.json", "/b/log.csv", "/b/log.csv"},
                 {"a/app.json", "", "a/"}};

    for (size_t i = 0; i < sizeof(CASES) / sizeof(*CASES); i++) {
        begin(CASES[i].app);
        CHECK_STR(msim_app_join(&app, &fields, CASES[i].path), CASES[i].joined);
    }
}

/* Any number of them, in order, by their path; texts are copied. */
static void test_app_help__assumes(void)
{
    char member[16], value[16];

    begin("app.json");
    for (uint32_t i = 0; i < 20; i++) {
        snprintf(member, sizeof(member), "m%u", i);
        snprintf(value, sizeof(value), "%u", 100 + i);
        msim_app_assume(&app, &fields, member, value, "usual");
        CHECK_INT(app.n_assumed, i + 1);
        for (uint32_t k = 0; k <= i; k++) { /* those before are kept */
            char want[32];

            snprintf(want, sizeof(want), "stages[1].m%u", k);
            CHECK_STR(app.assumed[k].path, want);
            snprintf(want, sizeof(want), "%u", 100 + k);
            CHECK_STR(app.assumed[k].value, want);
            CHECK_STR(app.assumed[k].why, "usual");
        }
    }
    CHECK_INT(fields.status, MSIM_OK);
}

/* "" where the name is taken. */
static const char *said(const char *name)
{
    begin("app.json");
    msim_app_check_name(&fields, "name", name);
    CHECK_INT(fields.status, err.text[0] ? MSIM_EFORMAT : MSIM_OK);
    return err.text;
}

#define WANT                                                                   \
    " in it, want no characters that cannot be seen: of control, of "          \
    "direction, ends of lines"

static void test_app_help__names(void)
{
    CHECK_STR(said("web"), "");
    CHECK_STR(said(""), "");
    CHECK_STR(said("\xc3\xa9t\xc3\xa9 \xe2\x82\xac"), "");
    CHECK_STR(said("a\tb"), "stages[1].name: the name has U+0009" WANT);
    CHECK_STR(said("\xe2\x80\xae"), "stages[1].name: the name has U+202E" WANT);
    CHECK_STR(said("ab\xff"),
              "stages[1].name: the name has the byte 0xFF" WANT);
    CHECK_STR(said("\xc3\xa9\xe2\x80"),
              "stages[1].name: the name has the byte 0xE2" WANT);
    CHECK_STR(err.file, "app.json");
    /* what is wrong first is said */
    begin("app.json");
    fields.status = MSIM_ENOMEM;
    msim_app_check_name(&fields, "name", "\t");
    CHECK_INT(fields.status, MSIM_ENOMEM);
    CHECK_STR(err.text, "");
}

int main(void)
{
    RUN(test_app_help__copies);
    RUN(test_app_help__joins);
    RUN(test_app_help__assumes);
    RUN(test_app_help__names);
    msim_app_release(&app);
    return check_summary();
}
