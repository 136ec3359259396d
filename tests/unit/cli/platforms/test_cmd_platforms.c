/*
 * `platforms`: the list of all, and one of them as JSON.
 */
#include "cli/cmd.h"
#include "cli/platforms/platform_page.h"
#include "tests/unit/cli/said.h"

static char *asked(const char *name, const char *option, struct said *s,
                   int *rc)
{
    char verb[] = "platforms", one[32], two[32];
    char *argv[] = {verb, one, two};

    snprintf(one, sizeof(one), "%s", name ? name : option);
    snprintf(two, sizeof(two), "%s", option ? option : "");
    said_begin();
    *rc = msim_cmd_platforms(1 + (name != NULL) + (option != NULL), argv);
    return said_end_whole(s);
}

/* NAN where there is none. */
static double number(const cJSON *o, const char *key)
{
    return msim_json_get_number(o, key, NAN);
}

static void check_number(const cJSON *o, const char *key, double want)
{
    if (isnan(want))
        CHECK(!cJSON_HasObjectItem(o, key));
    else
        CHECK_REL(number(o, key) + 1, want + 1, 1e-12);
}

/* A file as it is, without its trees, with what is gathered for its page. */
static void test_json__of_one(void)
{
    struct msim_error err = {0};
    struct msim_platform_page page;
    struct msim_platform *p;
    const cJSON *all, *one;
    struct said s;
    int rc, i = 0;
    char *text = asked("h100", "--json", &s, &rc);
    cJSON *json = cJSON_Parse(text), *file;

    free(text);
    CHECK_INT(rc, MSIM_EXIT_OK);
    REQUIRE(json != NULL);
    REQUIRE(msim_platform_load(&p, MSIM_DATA, "h100", &err) == MSIM_OK);
    REQUIRE(msim_json_read(&file, msim_platform_file(p), &err) == MSIM_OK);
    REQUIRE(msim_platform_page_make(&page, p, file) == MSIM_OK);
    all = cJSON_GetObjectItem(json, "families");
    CHECK_INT(cJSON_GetArraySize(all), MSIM_PLATFORM_PAGE_FAMILIES);
    cJSON_ArrayForEach(one, all)
    {
        const struct msim_platform_page_family *f = &page.families[i++];

        CHECK_STR(msim_json_get_text(one, "law"), f->law);
        check_number(one, "cells", f->fits);
        check_number(one, "rows", f->rows);
        check_number(one, "error_held_back", f->mean);
        check_number(one, "error_held_back_median", f->median);
        check_number(one, "error_held_back_p90", f->p90);
        check_number(one, "error_held_back_worst", f->worst);
        check_number(one, "interval_coverage", f->inside);
        check_number(one, "interval_high_over_low", f->width);
        check_number(one, "inherited", f->inherited);
        check_number(one, "error_left_out", f->held_out);
        check_number(one, "interval_factor", f->interval_factor);
    }
    all = cJSON_GetObjectItem(json, "inherited");
    CHECK_INT(cJSON_GetArraySize(all), page.n_picks);
    i = 0;
    cJSON_ArrayForEach(one, all)
    {
        const struct msim_pick *pick = &page.picks[i++];

        CHECK_STR(msim_json_get_text(one, "law"), pick->fit->law->name);
        CHECK_STR(msim_json_get_text(one, "framework"), pick->fit->framework);
        CHECK_STR(msim_json_get_text(one, "key"), pick->fit->key);
        CHECK_STR(msim_json_get_text(one, "from"),
                  msim_platform_page_whose(pick));
        CHECK_INT(msim_json_get_true(one, "trees"), pick->trees);
        check_number(one, "error_left_out", msim_pick_held_out_error(p, pick));
        check_number(one, "interval_factor", exp(msim_pick_half_width(pick)));
    }
    cJSON_ArrayForEach(one, cJSON_GetObjectItem(json, "cells"))
        CHECK(!cJSON_HasObjectItem(one, "forest"));
    /* all else is the file's */
    cJSON_DeleteItemFromObject(json, "families");
    cJSON_DeleteItemFromObject(json, "inherited");
    cJSON_ArrayForEach(one, cJSON_GetObjectItem(file, "cells"))
        cJSON_DeleteItemFromObject((cJSON *)one, "forest");
    CHECK(cJSON_Compare(json, file, true));
    msim_platform_page_release(&page);
    msim_platform_free(p);
    cJSON_Delete(file);
    cJSON_Delete(json);
}

/* Constants are shown where they are asked for. */
static void test_text__of_one(void)
{
    struct said s;
    int rc;
    char *text = asked("h100", NULL, &s, &rc), *more;

    CHECK_INT(rc, MSIM_EXIT_OK);
    CHECK(strncmp(text, "h100: ", 6) == 0);
    more = asked("h100", "--constants", &s, &rc);
    CHECK_INT(rc, MSIM_EXIT_OK);
    CHECK(strlen(more) > strlen(text));
    free(text);
    free(more);
}

static void test_one__unknown(void)
{
    struct said s;
    int rc;

    free(asked("h1000", NULL, &s, &rc));
    CHECK_INT(rc, MSIM_EXIT_USAGE);
    CHECK(strstr(
        s.err,
        "unknown platform 'h1000', did you mean 'h100'? known are: a10, "));
    CHECK_STR(s.out, "");
}

/* Both lists are of all files, in the order of their names. */
static void test_list__all(void)
{
    struct said s;
    int rc, n = 0, lines = -1; /* but the heading */
    char *text = asked(NULL, "--json", &s, &rc), line[64];
    cJSON *json = cJSON_Parse(text);
    const cJSON *one;
    const char *at;

    free(text);
    CHECK_INT(rc, MSIM_EXIT_OK);
    text = asked(NULL, NULL, &s, &rc);
    CHECK_INT(rc, MSIM_EXIT_OK);
    at = text;
    CHECK_STR(msim_json_get_text(json, "schema"), "mystique-sim/platforms/1");
    cJSON_ArrayForEach(one, cJSON_GetObjectItem(json, "platforms"))
    {
        snprintf(line, sizeof(line), "\n%-15s ",
                 msim_json_get_text(one, "name"));
        at = at ? strstr(at, line) : NULL;
        CHECK(at != NULL);
        n++;
    }
    for (const char *c = text; *c; c++)
        lines += *c == '\n';
    CHECK_INT(lines, n);
    CHECK(n > 30);
    free(text);
    cJSON_Delete(json);
}

int main(void)
{
    setenv("MSIM_DATA", MSIM_DATA, 1);
    RUN(test_json__of_one);
    RUN(test_text__of_one);
    RUN(test_one__unknown);
    RUN(test_list__all);
    return check_summary();
}
