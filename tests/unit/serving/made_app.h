/*
 * tests/unit/serving/made_app.h - applications that tests write down: a folder
 * of files, and what reading one says.
 */
#ifndef MSIM_TESTS_UNIT_SERVING_MADE_APP_H
#define MSIM_TESTS_UNIT_SERVING_MADE_APP_H
#include "serving/app/app.h"
#include "tests/check.h"

#include <stdlib.h>
#include <unistd.h>

static char made_folder[] = P_tmpdir "/msim-app-XXXXXX";
static struct msim_error made_error;

/* The path of a file there; until the next call. */
static inline const char *made_path(const char *name)
{
    static char path[128];

    snprintf(path, sizeof(path), "%s/%s", made_folder, name);
    return path;
}

/* Its text uses ' for ", which JSON has so many of. */
static inline void made_put(const char *name, const char *text)
{
    FILE *f = fopen(made_path(name), "w");

    REQUIRE(f);
    for (; *text; text++)
        fputc(*text == '\'' ? '"' : *text, f);
    fclose(f);
}

static inline void made_begin(void)
{
    REQUIRE(mkdtemp(made_folder));
}

/* Remove those files and the folder. */
static inline void made_end(const char *const *names)
{
    for (; *names; names++)
        CHECK(remove(made_path(*names)) == 0);
    CHECK(rmdir(made_folder) == 0);
}

/* An application whose members other than schema, stages and flow are `more`,
 * with a comma behind. */
static inline enum msim_status made_read(struct msim_app *app, const char *more,
                                         const char *stages, const char *flow)
{
    char text[4096];

    snprintf(text, sizeof(text),
             "{'schema': 'mystique-sim/app/1', %s'stages': {%s}, 'flow': {%s}}",
             more, stages, flow);
    made_put("app.json", text);
    made_error = (struct msim_error){0};
    return msim_app_read(app, made_path("app.json"), &made_error);
}

/* An application of one stage 'a' of that text; "" or what is wrong with it.
 * `app` holds nothing, or the one before. */
static inline const char *made_stage(struct msim_app *app, const char *text)
{
    char all[2048];

    snprintf(all, sizeof(all), "'a': {%s}", text);
    msim_app_release(app);
    return made_read(app, "", all, "'start': 'a'") == MSIM_OK ? ""
                                                              : made_error.text;
}

#endif
