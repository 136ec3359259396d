/*
 * A program as JSON: what is called on what, loops, tensors from outside and
 * what was left out.
 */
#include "replay/emit/emit_python.h"

#include "core/base/json.h"
#include "tests/unit/made_et.h"

static char *as_text(const struct msim_program *p, bool loops)
{
    char *text = NULL, *flat;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    cJSON *json;

    CHECK_INT(msim_emit_json(p, loops, out), MSIM_OK);
    fclose(out);
    json = cJSON_Parse(text);
    free(text);
    flat = cJSON_PrintUnformatted(json);
    cJSON_Delete(json);
    return flat;
}

/* Two results, of which the second is made of the first, and an operator
 * without a signature. */
static void test_emit_json__statements(void)
{
    struct made_et m = {0};
    struct made_program x;
    char *text;

    et_op(&m, 100, ET_MM, "1:2x3 2:3x4", "7:2x4");
    et_op(&m, 110, ET_ADD, "7:2x4 1:2x3 =1", "8:2x4");
    et_op(&m, 120, "my::broken(Tensor", "8:2x4", "9:2x4");
    REQUIRE(program_of(&m, &x, NULL, true));
    text = as_text(x.p, true);
    CHECK_STR(
        text,
        "{\"schema\":\"mystique-sim/program/1\",\"form\":\"direct\","
        "\"why_direct\":null,\"gradients\":0,\"statements\":[{\"node\":100,"
        "\"operator\":\"aten::mm\",\"overload\":\"\",\"recorded\":false,"
        "\"inputs\":[[\"outside\",0],[\"outside\",1]],\"outputs\":[0]},"
        "{\"node\":110,\"operator\":\"aten::add\",\"overload\":\"Tensor\","
        "\"recorded\":false,\"inputs\":[[\"value\",0],[\"outside\",0]],"
        "\"outputs\":[1]}],\"outside\":[{\"role\":\"input\",\"dtype\":"
        "\"fp32\",\"shape\":[2,3]},{\"role\":\"input\",\"dtype\":\"fp32\","
        "\"shape\":[3,4]}],\"loops\":[],\"left_out\":[{\"node\":120,\"name\":"
        "\"my::broken\",\"reason\":\"the trace has no signature of it "
        "(op_schema)\"}],\"inferred\":[]}");
    free(text);
    program_done(&x);
}

/* A training step: y = x w, its sum, backward, w += gradient. */
static void test_emit_json__training(void)
{
    struct made_et m = {0};
    struct made_program x;
    char *text;

    et_op(&m, 100, ET_MM, "1:2x3 2:3x4", "7:2x4");
    et_loss(&m, 110, "7:2x4 -");
    et_node(&m, 120, 0, 1, ET_ENGINE "MmBackward0", "", "");
    et_node(&m, 121, 120, 1, ET_MM, "1:3x2/1/3 51:2x4/0/0", "12:3x4");
    et_accumulate(&m, 130, 1, "12:3x4");
    et_op(&m, 140, ET_ADD_, "2:3x4 12:3x4 =1", "2:3x4");
    REQUIRE(program_of(&m, &x, NULL, true));
    text = as_text(x.p, true);
    CHECK_STR(text,
              "{\"schema\":\"mystique-sim/program/1\",\"form\":\"autogra"
              "d\",\"why_direct\":null,\"gradients\":1,\"statements\":[{"
              "\"node\":100,\"operator\":\"aten::mm\",\"overload\":\"\",\"re"
              "corded\":true,\"inputs\":[[\"outside\",0],[\"outside\",1]"
              "],\"outputs\":[0]},{\"node\":110,\"operator\":\"aten::sum"
              "\",\"overload\":\"\",\"recorded\":true,\"inputs\":[[\"value\""
              ",0]],\"outputs\":[1]},{\"node\":120,\"operator\":\"backwa"
              "rd\",\"recorded\":true,\"inputs\":[[\"value\",1]],\"output"
              "s\":[]},{\"node\":140,\"operator\":\"aten::add_\",\"overlo"
              "ad\":\"Tensor\",\"recorded\":false,\"inputs\":[[\"outside\""
              ",1],[\"gradient\",0]],\"outputs\":[2]}],\"outside\":[{\"r"
              "ole\":\"input\",\"dtype\":\"fp32\",\"shape\":[2,3]},{\"role\""
              ":\"parameter\",\"dtype\":\"fp32\",\"shape\":[3,4]}],\"loops"
              "\":[],\"left_out\":[],\"inferred\":[]}");
    free(text);
    program_done(&x);
}

static void test_emit_json__loops(void)
{
    struct made_et m = {0};
    struct made_program x;
    char in[16], out[16], *text;

    for (int i = 0; i < 6; i++) {
        snprintf(in, sizeof(in), "%d:2x4", 7 + i);
        snprintf(out, sizeof(out), "%d:2x4", 8 + i);
        et_op(&m, 100 + 10 * (unsigned)i, ET_RELU, in, out);
    }
    REQUIRE(program_of(&m, &x, NULL, true));
    text = as_text(x.p, true);
    CHECK(
        strstr(text, "\"loops\":[{\"first\":0,\"statements\":1,\"runs\":6}]"));
    free(text);
    text = as_text(x.p, false);
    CHECK(strstr(text, "\"loops\":[]"));
    free(text);
    program_done(&x);
}

int main(void)
{
    RUN(test_emit_json__statements);
    RUN(test_emit_json__training);
    RUN(test_emit_json__loops);
    return check_summary();
}
