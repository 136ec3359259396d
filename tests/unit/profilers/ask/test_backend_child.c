/*
 * A backend as a process: answers, and every way not to answer.
 */
#include "profilers/ask/backend_child.h"
#include "tests/check.h"

#include <stdlib.h>

/* A shell that greets, and then does `after` with each line it reads. */
#define BACKEND(after)                                                         \
    "echo '{\"backend\":\"x\"}'; while read -r line; do " after "; done"

/* What comes of one question, and what is said of it. */
static enum msim_status ask(const char *command, double seconds,
                            struct msim_error *err)
{
    struct msim_child c = {0};
    cJSON *greeting, *answer = NULL, *question = cJSON_Parse("{\"id\":1}");
    enum msim_status status = msim_child_start(&c, command, 10, &greeting, err);

    if (status == MSIM_OK) {
        CHECK_STR(msim_json_get_text(greeting, "backend"), "x");
        status = msim_child_ask(&c, question, seconds, &answer, err);
        CHECK((status == MSIM_OK) == (answer != NULL));
        CHECK((status == MSIM_OK) == (c.pid != 0));
    }
    cJSON_Delete(greeting);
    cJSON_Delete(answer);
    cJSON_Delete(question);
    msim_child_stop(&c);
    CHECK(c.pid == 0);
    return status;
}

static void test_child__answers(void)
{
    struct msim_error err = {0};

    CHECK_INT(ask(BACKEND("echo \"$line\""), 10, &err), MSIM_OK);
    /* in pieces, and with an answer before it is asked for */
    CHECK_INT(ask(BACKEND("printf '{\"id\"'; sleep 0.1; echo ':1}'"), 10, &err),
              MSIM_OK);
}

static void test_child__dies(void)
{
    struct msim_error exits = {0}, killed = {0}, behind = {0}, mute = {0};

    CHECK_INT(ask(BACKEND("exit 7"), 10, &exits), MSIM_EIO);
    CHECK_STR(exits.text, "the backend ended with exit code 7");
    CHECK_INT(ask(BACKEND("kill -SEGV $$"), 10, &killed), MSIM_EIO);
    CHECK_STR(killed.text, "the backend was killed by signal 11");
    CHECK_INT(ask(BACKEND("sh -c 'kill -KILL $$'; exit $?"), 10, &behind),
              MSIM_EIO);
    CHECK_STR(behind.text, "the backend was killed by signal 9");
    CHECK_INT(ask("exit 3", 10, &mute), MSIM_EIO);
    CHECK_STR(mute.text, "the backend ended with exit code 3");
}

/* The first start fails, the second does not; one without a greeting is not
 * waited for twice. */
static void test_child__one_more_start(void)
{
    char folder[] = "msim-test-child-XXXXXX", command[200];
    struct msim_error err = {0};
    struct msim_child c = {0};
    cJSON *greeting;
    double begin;

    REQUIRE(mkdtemp(folder));
    snprintf(command, sizeof(command), "rmdir %s 2>/dev/null && exit 3; %s",
             folder, BACKEND("echo \"$line\""));
    CHECK_INT(ask(command, 10, &err), MSIM_OK);
    CHECK_STR(err.text, "");
    begin = msim_child_now();
    CHECK_INT(msim_child_start(&c, "sleep 100", 0.7, &greeting, &err),
              MSIM_ELIMIT);
    CHECK(msim_child_now() - begin < 1.4);
    CHECK_STR(err.text, "the backend did not answer within 0.7 s");
    msim_child_stop(&c);
}

static void test_child__hangs(void)
{
    struct msim_error err = {0}, nonsense = {0};

    CHECK_INT(ask(BACKEND("sleep 100"), 0.2, &err), MSIM_ELIMIT);
    CHECK_STR(err.text, "the backend did not answer within 0.2 s");
    CHECK_INT(ask(BACKEND("echo what"), 10, &nonsense), MSIM_ESYNTAX);
}

/* Whose answer is it? */
static void test_child__answers_another_question(void)
{
    struct msim_error other = {0}, none = {0};

    CHECK_INT(ask(BACKEND("echo '{\"id\":8}'"), 10, &other), MSIM_EFORMAT);
    CHECK_STR(other.text, "the backend answered question 8, asked was 1");
    CHECK_INT(ask(BACKEND("echo '{\"time_us\":8}'"), 10, &none), MSIM_EFORMAT);
    CHECK_STR(none.text, "the backend answered without the id of the question");
}

/* A second line for one question is not the answer to the next, whether it is
 * there before that is asked or after. */
static void test_child__answers_twice(void)
{
    struct msim_child c = {0};
    struct msim_error err = {0};
    cJSON *line, *first = cJSON_Parse("{\"id\":1}"),
                 *second = cJSON_Parse("{\"id\":2}");

    for (int i = 0; i < 2; i++) {
        REQUIRE(msim_child_start(&c, BACKEND("echo \"$line\"; echo \"$line\""),
                                 10, &line, NULL) == MSIM_OK);
        cJSON_Delete(line);
        REQUIRE(msim_child_ask(&c, first, 10, &line, NULL) == MSIM_OK);
        cJSON_Delete(line);
        CHECK_INT(i ? msim_child_end(&c, &err)
                    : msim_child_ask(&c, second, 10, &line, NULL),
                  MSIM_EFORMAT);
        CHECK(c.pid == 0);
    }
    CHECK_STR(err.text, "the backend sent more lines than it was asked for");
    cJSON_Delete(first);
    cJSON_Delete(second);
}

static void test_child__ends(void)
{
    struct msim_child c = {0};
    cJSON *greeting;

    REQUIRE(msim_child_start(&c, BACKEND("echo"), 10, &greeting, NULL) ==
            MSIM_OK);
    cJSON_Delete(greeting);
    CHECK_INT(msim_child_end(&c, NULL), MSIM_OK);
    CHECK(c.pid == 0);
}

/* A question that no pipe holds: whoever does not read it is not waited for,
 * and whoever is gone does not take this process along. */
static void test_child__does_not_listen(void)
{
    static char text[1 << 20];
    static const char *const DEAF[] = {"echo '{\"backend\":\"x\"}'; sleep 100",
                                       "echo '{\"backend\":\"x\"}'; exit 3"};
    struct msim_error late = {0}, gone = {0};
    struct msim_child c = {0};
    cJSON *line, *question = cJSON_Parse("{\"id\":1}");

    memset(text, 'x', sizeof(text) - 1);
    cJSON_AddStringToObject(question, "text", text);
    for (int i = 0; i < 2; i++) {
        REQUIRE(msim_child_start(&c, DEAF[i], 10, &line, NULL) == MSIM_OK);
        cJSON_Delete(line);
        CHECK_INT(msim_child_ask(&c, question, 0.2, &line, i ? &gone : &late),
                  i ? MSIM_EIO : MSIM_ELIMIT);
        CHECK(c.pid == 0);
    }
    CHECK_STR(late.text, "the backend did not answer within 0.2 s");
    CHECK_STR(gone.text, "the backend ended with exit code 3");
    msim_child_stop(&c);
    cJSON_Delete(question);
}

static void test_child__does_not_greet(void)
{
    struct msim_error err = {0};
    struct msim_child c = {0};
    cJSON *greeting;

    CHECK_INT(msim_child_start(&c, "sleep 100", 0.2, &greeting, &err),
              MSIM_ELIMIT);
    CHECK(!greeting && c.pid == 0);
    msim_child_stop(&c);
}

/* A stopped child starts again, without what was left of its last life. */
static void test_child__starts_again(void)
{
    struct msim_child c = {0};
    cJSON *greeting, *answer, *question = cJSON_Parse("{\"id\":1}");

    for (int i = 0; i < 3; i++) {
        REQUIRE(msim_child_start(&c,
                                 BACKEND("echo \"$line\"; echo '{\"id\":9}'"),
                                 10, &greeting, NULL) == MSIM_OK);
        cJSON_Delete(greeting);
        REQUIRE(msim_child_ask(&c, question, 10, &answer, NULL) == MSIM_OK);
        CHECK_REL(msim_json_get_number(answer, "id", 0), 1, 0);
        cJSON_Delete(answer);
    }
    msim_child_stop(&c);
    cJSON_Delete(question);
}

int main(void)
{
    RUN(test_child__answers);
    RUN(test_child__dies);
    RUN(test_child__one_more_start);
    RUN(test_child__hangs);
    RUN(test_child__answers_another_question);
    RUN(test_child__answers_twice);
    RUN(test_child__ends);
    RUN(test_child__does_not_listen);
    RUN(test_child__does_not_greet);
    RUN(test_child__starts_again);
    return check_summary();
}
