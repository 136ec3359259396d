/*
 * `schema`: the JSON Schema of an answer, by its name or by what is near it.
 */
#include "cli/cmd.h"
#include "core/base/json.h"
#include "tests/unit/cli/said.h"

static int asked(const char *name, struct said *s)
{
    char verb[] = "schema", text[64];
    char *argv[] = {verb, text};
    int rc;

    snprintf(text, sizeof(text), "%s", name ? name : "");
    said_begin();
    rc = msim_cmd_schema(name ? 2 : 1, argv);
    said_end(s);
    return rc;
}

/* Does the file begin like that? */
static bool begins(const char *name, const char *text)
{
    char path[1024], bytes[64] = "";
    FILE *f;

    snprintf(path, sizeof(path), "%s/schemas/%s.json", MSIM_DATA, name);
    f = fopen(path, "r");
    if (!f)
        return false;
    if (fread(bytes, 1, sizeof(bytes) - 1, f) < sizeof(bytes) - 1)
        bytes[0] = '\0';
    fclose(f);
    return bytes[0] && strncmp(bytes, text, strlen(bytes)) == 0;
}

/* Each that is listed is there, by the name in its answers, too. */
static void test_schema__all(void)
{
    struct said list, s;
    char *rest = NULL, answer[96];
    uint32_t n = 0;

    CHECK_INT(asked(NULL, &list), MSIM_EXIT_OK);
    CHECK(strncmp(list.out, "prediction\npredictions\nwhatif\n", 30) == 0);
    for (char *name = strtok_r(list.out, "\n", &rest); name;
         name = strtok_r(NULL, "\n", &rest), n++) {
        CHECK_INT(asked(name, &s), MSIM_EXIT_OK);
        CHECK(begins(name, s.out));
        snprintf(answer, sizeof(answer), "mystique-sim/%s/1", name);
        CHECK_INT(asked(answer, &s), MSIM_EXIT_OK);
        CHECK(begins(name, s.out));
    }
    CHECK_INT(n, 26);
}

static void test_schema__meant(void)
{
    static const char *const ROWS[][2] = {
        {"predict", ", did you mean 'prediction', 'predictions', "
                    "'explanation'?"},
        {"calibrate", ", did you mean 'calibrated', 'evidence', "
                      "'experiments'?"},
        {"size", ", did you mean 'serving-plan'?"},
        {"synth", ", did you mean 'synthesis'?"},
        {"predicton", ", did you mean 'prediction'?"},
        {"plan/serv", ", did you mean 'plan/serving'?"},
        {"mystique-sim/plan/2", ""},
        {"nothing-like-it", ""},
    };

    for (size_t i = 0; i < sizeof(ROWS) / sizeof(*ROWS); i++) {
        char want[256];
        struct said s;

        CHECK_INT(asked(ROWS[i][0], &s), MSIM_EXIT_USAGE);
        snprintf(want, sizeof(want),
                 "mystique-sim: no schema is called '%s'%s; 'mystique-sim "
                 "schema' lists them\n",
                 ROWS[i][0], ROWS[i][1]);
        CHECK_STR(s.err, want);
        CHECK_STR(s.out, "");
    }
}

static void test_schema__no_data(void)
{
    struct said s;

    setenv("MSIM_DATA", "no/such/folder", 1);
    CHECK_INT(asked("plan", &s), MSIM_EXIT_USAGE);
    CHECK(strstr(s.err, "the environment's MSIM_DATA is 'no/such/folder'"));
}

int main(void)
{
    setenv("MSIM_DATA", MSIM_DATA, 1);
    RUN(test_schema__all);
    RUN(test_schema__meant);
    RUN(test_schema__no_data);
    return check_summary();
}
