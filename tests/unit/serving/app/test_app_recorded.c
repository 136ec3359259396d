/* serving/app/app_recorded.c: recorded passes of a stage. */
#include "tests/unit/serving/made_app.h"

static struct msim_app app;

/* Files lie in the file's folder; what is not said the trace tells. */
static void test_app_recorded__sizes(void)
{
    const struct msim_stage *s;

    CHECK_STR(
        made_stage(&app,
                   "'kind': 'model', 'platform': 'h100', 'trace': ['a.json', "
                   "{'file': '/b', 'batch': 2, 'tokens': 3, 'context': 0}]"),
        "");
    s = &app.stages[0];
    CHECK(!s->model);
    CHECK_INT(s->prefill.n, 2);
    CHECK_STR(s->prefill.of[0].file, made_path("a.json"));
    CHECK_INT(s->prefill.of[0].batch, 0);
    CHECK_INT(s->prefill.of[0].tokens, 0);
    CHECK_INT(s->prefill.of[0].context, -1);
    CHECK_STR(s->prefill.of[1].file, "/b");
    CHECK_INT(s->prefill.of[1].batch, 2);
    CHECK_INT(s->prefill.of[1].tokens, 3);
    CHECK_INT(s->prefill.of[1].context, 0);
    CHECK_STR(made_stage(&app,
                         "'kind': 'llm', "
                         "'model': 'llama3-8b', 'platform': 'h100', 'trace': "
                         "{'decode': ['a', 'b', "
                         "'c'], 'prefill': [{'file': 'd', 'context': 7}]}"),
              "");
    s = &app.stages[0];
    CHECK_INT(s->decode.n, 3);
    CHECK_INT(s->prefill.n, 1);
    CHECK_INT(s->prefill.of[0].context, 7);
}

int main(void)
{
    made_begin();
    RUN(test_app_recorded__sizes);
    msim_app_release(&app);
    made_end((const char *const[]){"app.json", NULL});
    return check_summary();
}
