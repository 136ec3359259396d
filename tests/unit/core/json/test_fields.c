/*
 * tests/unit/core/json/test_fields.c - members of a JSON object, and what is
 * said of those that are not as they should be.
 */
#include "core/json/fields.h"
#include "tests/check.h"

#include <stdlib.h>

static struct msim_error err;
static cJSON *json;

static struct msim_fields of(const char *text)
{
    cJSON_Delete(json);
    json = cJSON_Parse(text);
    CHECK(json != NULL);
    err = (struct msim_error){0};
    return msim_fields_of(json, "a.json", &err);
}

static void check_said(const struct msim_fields *f, const char *want)
{
    CHECK_INT(f->status, *want ? MSIM_EFORMAT : MSIM_OK);
    CHECK_INT(err.status, f->status);
    CHECK_STR(err.text, want);
    CHECK_STR(err.file, *want ? "a.json" : "");
    if (*want)
        CHECK_UINT(err.offset, MSIM_OFFSET_NONE);
}

static void check_whole(const char *text, int64_t least, int64_t missing,
                        int64_t want, const char *said)
{
    struct msim_fields f = of(text);

    CHECK_INT(msim_field_int(&f, "n", least, missing), want);
    check_said(&f, said);
}

static void test_fields__int(void)
{
    const char *const from_2 = "n is 1, want a whole number from 2";

    check_whole("{\"n\":2}", 2, 7, 2, "");
    check_whole("{\"n\":1}", 2, 7, 2, from_2);
    check_whole("{\"n\":1e15}", 2, 7, 1000000000000000, "");
    check_whole("{\"n\":1000000000000001}", 2, 7, 2,
                "n is 1000000000000001, want a whole number from 2 to 1e15");
    check_whole("{\"n\":2.5}", 2, 7, 2, "n is 2.5, want a whole number from 2");
    check_whole("{\"n\":\"3\"}", 2, 7, 2,
                "n is \"3\", want a whole number from 2");
    check_whole("{\"n\":true}", 2, 7, 2,
                "n is true, want a whole number from 2");
    check_whole("{\"n\":1e400}", 0, 7, 0,
                "n is a number beyond 1.8e308, want a whole number from 0 to "
                "1e15");
    check_whole("{\"n\":-3}", -3, 7, -3, "");
    check_whole("{\"n\":null}", 2, 7, 7, "");
    check_whole("{\"N\":3}", 2, 7, 7, "");
    check_whole("{}", 2, 7, 7, "");
    check_whole("{}", 2, MSIM_FIELD_WANTED, 2,
                "n is missing, want a whole number from 2");
    check_whole("{\"n\":null}", 2, MSIM_FIELD_WANTED, 2,
                "n is missing, want a whole number from 2");
    check_whole("{\"n\":5}", 2, MSIM_FIELD_WANTED, 5, "");
}

static void test_fields__real(void)
{
    struct msim_fields f = of("{\"a\":0.5,\"z\":0,\"m\":-1,\"b\":1e400,\"t\":"
                              "\"1\",\"n\":null}");

    CHECK(msim_field_real(&f, "a", 9) == 0.5);
    CHECK(msim_field_real(&f, "n", 9) == 9);
    CHECK(msim_field_real(&f, "no", 9) == 9);
    check_said(&f, "");
    CHECK(msim_field_real(&f, "z", 9) == 1);
    check_said(&f, "z is 0, want a number above 0");
    CHECK(msim_field_real(&f, "m", 9) == 1);
    check_said(&f, "z is 0, want a number above 0"); /* the first stays */
    f = of("{\"b\":1e400}");
    CHECK(msim_field_real(&f, "b", 9) == 1);
    check_said(&f, "b is a number beyond 1.8e308, want a number above 0");
    f = of("{\"t\":\"1\"}");
    CHECK(msim_field_real(&f, "t", 9) == 1);
    check_said(&f, "t is \"1\", want a number above 0");
    f = of("{\"t\":-0.25}");
    CHECK(msim_field_real(&f, "t", 9) == 1);
    check_said(&f, "t is -0.25, want a number above 0");
}

/* What must be there, as of whole numbers. */
static void test_fields__wanted_reals(void)
{
    struct msim_fields f = of("{\"n\":null,\"a\":3}");

    CHECK(msim_field_real(&f, "a", MSIM_FIELD_WANTED) == 3);
    CHECK(msim_field_between(&f, "a", 2, 4, MSIM_FIELD_WANTED) == 3);
    check_said(&f, "");
    CHECK(msim_field_real(&f, "n", MSIM_FIELD_WANTED) == 1);
    check_said(&f, "n is missing, want a number above 0");
    f = of("{}");
    CHECK(msim_field_between(&f, "x", 2, 4, MSIM_FIELD_WANTED) == 2);
    check_said(&f, "x is missing, want a number from 2 to 4");
}

static void check_between(const char *text, double most, double want,
                          const char *said)
{
    struct msim_fields f = of(text);

    CHECK(msim_field_between(&f, "x", 0.25, most, 7) == want);
    check_said(&f, said);
}

static void test_fields__between(void)
{
    check_between("{\"x\":0.25}", 2, 0.25, "");
    check_between("{\"x\":2}", 2, 2, "");
    check_between("{\"x\":1}", 2, 1, "");
    check_between("{}", 2, 7, "");
    check_between("{\"x\":0.24}", 2, 0.25,
                  "x is 0.24, want a number from 0.25 to 2");
    check_between("{\"x\":2.01}", 2, 0.25,
                  "x is 2.01, want a number from 0.25 to 2");
    check_between("{\"x\":[]}", 2, 0.25,
                  "x is [], want a number from 0.25 to 2");
    check_between("{\"x\":1e300}", INFINITY, 1e300, "");
    check_between("{\"x\":0}", INFINITY, 0.25,
                  "x is 0, want a number from 0.25");
    check_between("{\"x\":1e400}", INFINITY, 0.25,
                  "x is a number beyond 1.8e308, want a number from 0.25");
}

static void test_fields__bool(void)
{
    struct msim_fields f = of("{\"t\":true,\"f\":false,\"n\":1}");

    CHECK(msim_field_bool(&f, "t", false));
    CHECK(!msim_field_bool(&f, "f", true));
    CHECK(msim_field_bool(&f, "no", true));
    CHECK(!msim_field_bool(&f, "no", false));
    check_said(&f, "");
    CHECK(!msim_field_bool(&f, "n", true));
    check_said(&f, "n is 1, want true or false");
}

static void test_fields__text_and_array(void)
{
    struct msim_fields f = of("{\"t\":\"x y\",\"a\":[1,2],\"n\":null}");
    const cJSON *a = msim_field_array(&f, "a");

    CHECK_STR(msim_field_text(&f, "t"), "x y");
    CHECK(msim_field_text(&f, "n") == NULL);
    CHECK(msim_field_text(&f, "no") == NULL);
    CHECK_INT(cJSON_GetArraySize(a), 2);
    CHECK(msim_field_array(&f, "n") == NULL);
    CHECK(msim_field_json(&f, "n") == NULL);
    CHECK(msim_field_json(&f, "a") == a);
    check_said(&f, "");
    CHECK(msim_field_array(&f, "t") == NULL);
    check_said(&f, "t is \"x y\", want an array");
    f = of("{\"a\":[1,2]}");
    CHECK(msim_field_text(&f, "a") == NULL);
    check_said(&f, "a is [1,2], want a text");
}

static void check_word(const char *text, const char *const *words, int want,
                       const char *said)
{
    struct msim_fields f = of(text);

    CHECK_INT(msim_field_word(&f, "w", words, 9), want);
    check_said(&f, said);
}

static void test_fields__word(void)
{
    static const char *const THREE[] = {"one", "two", "three", NULL};
    static const char *const TWO[] = {"one", "two", NULL};
    static const char *const ONE[] = {"one", NULL};

    check_word("{\"w\":\"one\"}", THREE, 0, "");
    check_word("{\"w\":\"three\"}", THREE, 2, "");
    check_word("{}", THREE, 9, "");
    check_word("{\"w\":\"on\"}", THREE, 9,
               "w is \"on\", want one, two or three");
    check_word("{\"w\":\"three\"}", TWO, 9, "w is \"three\", want one or two");
    check_word("{\"w\":1}", ONE, 9, "w is 1, want one");
}

/* A long value is cut. */
static void test_fields__long_value(void)
{
    char text[200], want[200];

    snprintf(text, sizeof(text), "{\"t\":\"%.*s\"}", 100,
             "0123456789012345678901234567890123456789012345678901234567890123"
             "456789012345678901234567890123456789");
    snprintf(want, sizeof(want), "t is \"%.59s, want true or false",
             "0123456789012345678901234567890123456789012345678901234567890123"
             "456789");
    {
        struct msim_fields f = of(text);

        msim_field_bool(&f, "t", true);
        check_said(&f, want);
    }
}

static void test_fields__inside(void)
{
    struct msim_fields f = of("{\"m\":{\"e\":{\"n\":0}},\"x\":3}");
    struct msim_fields m = msim_fields_open(&f, "m");
    struct msim_fields e = msim_fields_open(&m, "e"), none, x;

    CHECK_STR(m.path, "m.");
    CHECK_STR(e.path, "m.e.");
    none = msim_fields_open(&f, "none"); /* all of it is absent */
    CHECK(none.object == NULL);
    CHECK_INT(msim_field_int(&none, "n", 1, 5), 5);
    check_said(&f, "");
    CHECK_INT(msim_field_int(&e, "n", 1, 5), 1);
    check_said(&e, "m.e.n is 0, want a whole number from 1");
    CHECK_INT(f.status, MSIM_OK);
    msim_fields_close(&m, &e);
    msim_fields_close(&f, &m);
    CHECK_INT(f.status, MSIM_EFORMAT);
    f = of("{\"x\":3}");
    x = msim_fields_open(&f, "x");
    CHECK(x.object == NULL);
    CHECK_INT(x.status, MSIM_EFORMAT);
    check_said(&f, "x is 3, want an object");
    f.status = MSIM_ELIMIT; /* what has failed stays so */
    x.status = MSIM_OK;
    msim_fields_close(&f, &x);
    CHECK_INT(f.status, MSIM_ELIMIT);
}

static void test_fields__items(void)
{
    struct msim_fields f = of("{\"m\":{\"a\":[{\"n\":0},7]}}");
    struct msim_fields m = msim_fields_open(&f, "m"), i;
    const cJSON *a = msim_field_array(&m, "a");

    i = msim_fields_open_item(&m, "a", 0, cJSON_GetArrayItem(a, 0));
    CHECK_STR(i.path, "m.a[0].");
    CHECK_INT(msim_field_int(&i, "n", 0, 5), 0);
    CHECK_INT(m.status, MSIM_OK);
    i = msim_fields_open_item(&m, "a", 1, cJSON_GetArrayItem(a, 1));
    CHECK_INT(i.status, MSIM_EFORMAT);
    CHECK(i.object == NULL);
    check_said(&m, "m.a[1] is 7, want an object");
    f = of("{\"a\":[1,[2]]}");
    msim_field_refuse_item(&f, "a", 1, "a rank");
    check_said(&f, "a[1] is [2], want a rank");
    f = of("{\"a\":[1]}");
    msim_field_refuse_item(&f, "a", 4, "a rank");
    check_said(&f, "a[4] is missing, want a rank");
    f = of("{\"a\":[1]}");
    msim_field_refuse(&f, "a", "a rank");
    check_said(&f, "a is [1], want a rank");
}

static void test_fields__only(void)
{
    static const char *const KEYS[] = {"layers", "heads", "experts", NULL};
    struct msim_fields f = of("{\"heads\":1,\"layers\":2,\"experts\":3}"), m;

    msim_fields_only(&f, KEYS);
    check_said(&f, "");
    f = of("{\"heads\":1,\"layrs\":2}");
    msim_fields_only(&f, KEYS);
    check_said(&f, "layrs is not known, did you mean layers?");
    f = of("{\"heads\":1,\"xyzxyzxyz\":2}");
    msim_fields_only(&f, KEYS);
    check_said(&f, "xyzxyzxyz is not known, want layers, heads or experts");
    f = of("{\"m\":{\"head\":1}}");
    m = msim_fields_open(&f, "m");
    msim_fields_only(&m, KEYS);
    check_said(&m, "m.head is not known, did you mean heads?");
    f = of("{\"m\":{\"xyzxyzxyz\":1}}");
    m = msim_fields_open(&f, "m");
    msim_fields_only(&m, KEYS);
    check_said(&m, "m.xyzxyzxyz is not known, want layers, heads or experts");
    m = msim_fields_open(&f, "none");
    msim_fields_only(&m, KEYS);
    CHECK_INT(m.status, MSIM_OK);
}

/* The first `most` bytes of "a..., a... or a...": `n` words of 39 letters. */
static void list_of(const char *const *words, size_t n, char *text, size_t most)
{
    char all[2048] = "";
    size_t used = 0;

    for (size_t i = 0; i < n; i++)
        used += (size_t)snprintf(all + used, sizeof(all) - used, "%s%s",
                                 i == 0       ? ""
                                 : i == n - 1 ? " or "
                                              : ", ",
                                 words[i]);
    snprintf(text, most + 1, "%s", all);
}

/* Lists are cut at 255 bytes, where a word is wanted, and at 799 of keys. */
static void test_fields__long_lists(void)
{
    static char names[24][40];
    const char *words[25] = {NULL};
    char list[1024], said[1100];

    for (size_t n = 1; n <= 24; n++) {
        struct msim_fields f;

        memset(names[n - 1], (int)('a' + n - 1), 39);
        words[n - 1] = names[n - 1];
        list_of(words, n, list, 255);
        snprintf(said, sizeof(said), "w is 1, want %s", list);
        check_word("{\"w\":1}", words, 9, said);
        list_of(words, n, list, 799);
        snprintf(said, sizeof(said), "0123456789 is not known, want %s", list);
        f = of("{\"0123456789\":1}");
        msim_fields_only(&f, words);
        check_said(&f, said);
    }
}

int main(void)
{
    RUN(test_fields__int);
    RUN(test_fields__real);
    RUN(test_fields__wanted_reals);
    RUN(test_fields__between);
    RUN(test_fields__bool);
    RUN(test_fields__text_and_array);
    RUN(test_fields__word);
    RUN(test_fields__long_value);
    RUN(test_fields__inside);
    RUN(test_fields__items);
    RUN(test_fields__only);
    RUN(test_fields__long_lists);
    cJSON_Delete(json);
    return check_summary();
}
