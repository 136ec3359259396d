/*
 * tests/unit/replay/emit/test_python_data.c - data.json: what each tensor is
 * for, looks like and begins with, what grows with the batch, and which nodes
 * and operators it is about; as text.
 */
#include "replay/emit/emit_python_internal.h"

#include "tests/unit/made_et.h"

/* data.json of what was made, and the program, to be released. */
static char *data_of(struct made_et *m, struct made_program *x,
                     const struct msim_program_options *how)
{
    const struct msim_emit_options plain = {.title = "t", .version = "9"};
    char path[] = "msim-test-data-XXXXXX";
    static char text[16384];
    struct msim_file *f = NULL;
    FILE *in;
    int fd = mkstemp(path);

    *text = '\0';
    close(fd);
    if (CHECK(program_of(m, x, how, false)) &&
        CHECK(msim_file_open(&f, path, NULL, NULL) == MSIM_OK)) {
        enum msim_status status = msim_data_write(f, &x->body, 0, &plain);

        CHECK_INT(msim_file_close(f, status, NULL), MSIM_OK);
        in = fopen(path, "rb");
        if (CHECK(in != NULL)) {
            text[fread(text, 1, sizeof(text) - 1, in)] = '\0';
            fclose(in);
        }
    }
    unlink(path);
    return text;
}

/* The value of `key`, without quotes, braces and blanks: to the end of its line
 * or, where that opens a list, of the list. */
static void cut(const char *data, const char *key, char part[4096])
{
    const char *from = strstr(data, key);
    size_t n = 0;
    bool list;

    *part = '\0';
    if (!CHECK(from != NULL))
        return;
    from += strlen(key);
    list = from[strcspn(from, "\n") - 1] == '[';
    from += list ? strcspn(from, "\n") + 1 : 0;
    for (; *from && n < 4095; from++) {
        if (*from == '\n' && (!list || from[1 + strspn(from + 1, " ")] == ']'))
            break;
        if (!strchr("\"{} ", *from))
            part[n++] = *from;
    }
    part[n] = '\0';
}

#define CHECK_DATA(m, how, key, want)                                          \
    do {                                                                       \
        struct made_program made_;                                             \
        char part_[4096];                                                      \
        cut(data_of((m), &made_, (how)), "\"" key "\": ", part_);              \
        CHECK_STR(part_, (want));                                              \
        program_done(&made_);                                                  \
    } while (0)

/* ---- tensors --------------------------------------------------------------
 */

/* The tensors of one operator whose arguments are all from outside. */
static void check_tensors(const char *schema, const char *in, const char *want)
{
    struct made_et m = {0};

    et_op(&m, 100, schema, in, "99:2");
    CHECK_DATA(&m, NULL, "tensors", want);
}

/* Strides where memory is not read in order: one of a single element says
 * nothing. What is written begins with zeros. */
static void test_data__looks(void)
{
    check_tensors(
        ET_ADD, "1:4x3@0/1/4 2:1x3@0/7/1 =1",
        "role:input,dtype:float32,shape:[4,3],stride:[1,4],fill:[normal,1],"
        "batch:0,\n"
        "role:input,dtype:float32,shape:[1,3],fill:[normal,1]");
    check_tensors(
        ET_ADD, "1:2x3@0/3/2 2:2x3@0/3/1 =1",
        "role:input,dtype:float32,shape:[2,3],stride:[3,2],fill:[normal,1],"
        "batch:0,\n"
        "role:input,dtype:float32,shape:[2,3],fill:[normal,1],batch:0");
    check_tensors(ET_ADD_, "1:4x3 2:4 =1",
                  "role:state,dtype:float32,shape:[4,3],fill:[zeros],\n"
                  "role:input,dtype:float32,shape:[4],fill:[normal,1],batch:0");
}

/* Numbers that keep a step finite; without sizes, one. */
static void test_data__fills(void)
{
    check_tensors(
        "my::all(Tensor a, Tensor weight, Tensor c, Tensor d, Tensor e, Tensor "
        "f) -> Tensor",
        "1:4x4d 2:4 3:4x8i 4:4b 5: 6:3x4h",
        "role:input,dtype:float64,shape:[4,4],fill:[normal,1],batch:0,\n"
        "role:positive,dtype:float32,shape:[4],fill:[full,1],\n"
        "role:input,dtype:int32,shape:[4,8],fill:[integers,0,0],batch:0,\n"
        "role:input,dtype:bool,shape:[4],fill:[integers,0,1],batch:0,\n"
        "role:input,dtype:float32,shape:[],fill:[full,1],\n"
        "role:input,dtype:float16,shape:[3,4],fill:[normal,1],batch:1");
    /* A weight of two sizes, and one of whole numbers, may be anything. */
    check_tensors(
        "my::two(Tensor weight, Tensor rstd, Tensor running_var) -> Tensor",
        "1:4x4 2:4l 3:4",
        "role:input,dtype:float32,shape:[4,4],fill:[normal,1],batch:0,\n"
        "role:input,dtype:int64,shape:[4],fill:[integers,0,0],batch:0,\n"
        "role:positive,dtype:float32,shape:[4],fill:[full,1]");
    check_tensors("my::mean(Tensor running_mean, Tensor max_norm, Tensor x) "
                  "-> Tensor",
                  "1:4 2: 3:5",
                  "role:state,dtype:float32,shape:[4],fill:[zeros],\n"
                  "role:positive,dtype:float32,shape:[],fill:[full,1],\n"
                  "role:input,dtype:float32,shape:[5],fill:[normal,1],batch:0");
}

/* What an index may point at: rows of a table, classes, the size that is
 * named, the least size of all that are indexed. */
static void test_data__indices(void)
{
    static const char take[] = "my::take(Tensor self, Tensor index) -> Tensor";
    static const char gather[] =
        "aten::gather(Tensor self, int dim, Tensor index) -> Tensor";
    static const char loss[] =
        "aten::nll_loss(Tensor self, Tensor target) -> Tensor";

    check_tensors(
        "aten::embedding_bag(Tensor weight, Tensor indices, Tensor offsets) -> "
        "Tensor",
        "1:10x4 2:12l 3:3l",
        "role:input,dtype:float32,shape:[10,4],fill:[normal,1],batch:0,\n"
        "role:index,dtype:int64,shape:[12],fill:[integers,0,9],\n"
        "role:offsets,dtype:int64,shape:[3],fill:[offsets,12,3]");
    check_tensors(
        loss, "1:6x5 2:6l",
        "role:input,dtype:float32,shape:[6,5],fill:[normal,1],batch:0,\n"
        "role:index,dtype:int64,shape:[6],fill:[integers,0,4],batch:0");
    check_tensors(
        loss, "1:7 2:1l",
        "role:input,dtype:float32,shape:[7],fill:[normal,1],batch:0,\n"
        "role:index,dtype:int64,shape:[1],fill:[integers,0,6]");
    check_tensors(
        gather, "1:6x5x4 =1 2:6x5x4l",
        "role:input,dtype:float32,shape:[6,5,4],fill:[normal,1],batch:0,\n"
        "role:index,dtype:int64,shape:[6,5,4],fill:[integers,0,4],batch:0");
    check_tensors(
        gather, "1:6x5x4 =-1 2:6x5x4l",
        "role:input,dtype:float32,shape:[6,5,4],fill:[normal,1],batch:0,\n"
        "role:index,dtype:int64,shape:[6,5,4],fill:[integers,0,3],batch:0");
    check_tensors(
        gather, "1:6x5x4 =3 2:6x5x4l",
        "role:input,dtype:float32,shape:[6,5,4],fill:[normal,1],batch:0,\n"
        "role:index,dtype:int64,shape:[6,5,4],fill:[integers,0,0],batch:0");
    check_tensors(
        take, "1:6x5 2:6l",
        "role:input,dtype:float32,shape:[6,5],fill:[normal,1],batch:0,\n"
        "role:index,dtype:int64,shape:[6],fill:[integers,0,5],batch:0");
    check_tensors(
        "aten::index(Tensor self, Tensor?[] indices) -> Tensor",
        "1:7x5x8 (2:3l 3:3l)",
        "role:input,dtype:float32,shape:[7,5,8],fill:[normal,1],\n"
        "role:index,dtype:int64,shape:[3],fill:[integers,0,4],batch:0,\n"
        "role:index,dtype:int64,shape:[3],fill:[integers,0,4],batch:0");
    check_tensors(
        take, "1:6x5 2:6",
        "role:input,dtype:float32,shape:[6,5],fill:[normal,1],batch:0,\n"
        "role:input,dtype:float32,shape:[6],fill:[normal,1],batch:0");
}

/* An index of two tables points into the smaller one; its copy means what it
 * means. */
static void test_data__indices_of_two(void)
{
    struct made_et m = {0};

    et_op(&m, 100, "aten::embedding(Tensor weight, Tensor indices) -> Tensor",
          "1:10x4 2:3l", "7:3x4");
    et_op(&m, 110, "aten::clone(Tensor self) -> Tensor", "2:3l", "8:3l");
    et_op(&m, 120, "aten::embedding(Tensor weight, Tensor indices) -> Tensor",
          "3:7x4 8:3l", "9:3x4");
    et_op(&m, 130, "aten::embedding(Tensor weight, Tensor indices) -> Tensor",
          "4:8x4 2:3l", "10:3x4");
    CHECK_DATA(
        &m, NULL, "tensors",
        "role:input,dtype:float32,shape:[10,4],fill:[normal,1],batch:0,\n"
        "role:index,dtype:int64,shape:[3],fill:[integers,0,6],\n"
        "role:input,dtype:float32,shape:[7,4],fill:[normal,1],\n"
        "role:input,dtype:float32,shape:[8,4],fill:[normal,1]");
}

/* Two looks at one memory are views of it: it is as long as the farther one. */
static void test_data__memory(void)
{
    static const char two[] = "my::two(Tensor a, Tensor b) -> Tensor";

    check_tensors(
        two, "1#7:4@2 2#7:3x2@1/3/1",
        "role:input,dtype:float32,shape:[4],stride:[1],base:2,offset:2,\n"
        "role:input,dtype:float32,shape:[3,2],stride:[3,1],base:2,offset:1,\n"
        "role:memory,dtype:float32,shape:[9],fill:[normal,0.02]");
    check_tensors(
        two, "1#7:4@7 2#7:2x3",
        "role:input,dtype:float32,shape:[4],stride:[1],base:2,offset:7,\n"
        "role:input,dtype:float32,shape:[2,3],stride:[3,1],base:2,offset:0,\n"
        "role:memory,dtype:float32,shape:[11],fill:[normal,0.02]");
    check_tensors(
        two, "1#7:4@7 2#7:2x0",
        "role:input,dtype:float32,shape:[4],fill:[normal,1],batch:0,\n"
        "role:input,dtype:float32,shape:[2,0],fill:[normal,1]");
    check_tensors(
        two, "1#7:4 2#7:4l",
        "role:input,dtype:float32,shape:[4],fill:[normal,1],batch:0,\n"
        "role:input,dtype:int64,shape:[4],fill:[integers,0,0],batch:0");
}

/* ---- the batch ------------------------------------------------------------
 */

/* Of three tensors, the sizes that grow: "0 1 -", "-" where none does. */
static void check_grown(const char *schema, const char *in, const char *size,
                        const char *grow)
{
    struct made_et m = {0};
    struct made_program x;
    char part[4096], grows[16] = "", *line = part;

    et_op(&m, 100, schema, in, "99:2");
    CHECK_DATA(&m, NULL, "batch", size);
    et_op(&m, 100, schema, in, "99:2");
    cut(data_of(&m, &x, NULL), "\"tensors\": ", part);
    program_done(&x);
    for (char *end; line; line = end) {
        const char *at;

        end = strchr(line, '\n');
        if (end)
            *end++ = '\0';
        at = strstr(line, "batch:");
        snprintf(grows + strlen(grows), sizeof(grows) - strlen(grows), "%s%c",
                 *grows ? " " : "", at ? at[6] : '-');
    }
    CHECK_STR(grows, grow);
}

static void check_batch(const char *in, const char *size, const char *grow)
{
    check_grown("my::three(Tensor a, Tensor b, Tensor c) -> Tensor", in, size,
                grow);
}

/* The size that most inputs have, and of as many the one that is first more
 * often, or that comes first; multiples of it grow, and what is empty does
 * not. */
static void test_data__batch(void)
{
    check_batch("1:6x4 2:4x9 3:12x5", "4,", "1 0 0");
    check_batch("1:6x4 2:6x9 3:4x5", "6,", "0 0 -");
    check_batch("1:6x4 2:4x6 3:0x5", "6,", "0 1 -");
    check_batch("1:4x4x4 2:6x5 3:6x7", "6,", "- 0 0");
    check_batch("1:4x6 2:6x4 3:6x4", "6,", "1 0 0");
    check_batch("1: 2:0x3 3:", "0,", "- - -");
    check_batch("1:1x3 2:3x2 3:5", "3,", "1 0 -");
    check_batch("1:0x3 2:0x4 3:5", "5,", "- - 0");
    check_batch("1:1x3 2:1x4 3:5", "1,", "0 0 0");
    check_batch("1:6x9 2:6x7 3:4x5@0/6/1", "6,", "0 0 -");
    check_grown("my::put(Tensor(a!) a, Tensor b, Tensor c) -> Tensor",
                "1:6x9 2:4x6 3:5x6", "4,", "- 0 -"); /* no input begins so */
}

/* ---- what it is about -----------------------------------------------------
 */

/* One step in a mark, of two operators, and an operator behind it. */
static void marked(struct made_et *m)
{
    et_node(m, 100, 0, 1, "ProfilerStep#3", "", "");
    et_node(m, 101, 100, 1, ET_RELU, "1:4x4", "7:4x4");
    et_node(m, 102, 101, 1, ET_TANH, "1:4x4", "8:4x4");
    et_node(m, 103, 100, 1, ET_MUL, "7:4x4 1:4x4", "9:4x4");
    et_node(m, 104, 0, 1, ET_TANH, "9:4x4", "10:4x4");
}

static void test_data__nodes(void)
{
    struct msim_program_options all = {.step = MSIM_NONE, .namespaces = "my"};
    struct msim_program_options step = {.step = 0, .namespaces = "my"};
    struct msim_program_options part = step;
    struct made_et m = {0};

    marked(&m);
    CHECK_DATA(&m, &all, "step", "null,");
    marked(&m);
    CHECK_DATA(&m, &all, "nodes", "null,");
    marked(&m);
    CHECK_DATA(&m, &step, "step", "ProfilerStep#3,");
    marked(&m);
    CHECK_DATA(&m, &step, "nodes", "null,");
    marked(&m);
    part.choice.ops = "aten::[rm]*";
    CHECK_DATA(&m, &part, "nodes", "[[101,102],[103,103]],");
    marked(&m);
    CHECK_DATA(&m, &part, "operators", "aten::relu.default,\naten::mul.Tensor");
}

static void test_data__left_out(void)
{
    struct made_et m = {0};
    struct made_program x;

    et_op(&m, 100, "other::op(Tensor x) -> Tensor", "1:4x4", "7:4x4");
    et_op(&m, 110, ET_RELU, "1:4x4", "8:4x4");
    CHECK_DATA(&m, NULL, "left_out",
               "node:100,name:other::op,reason:operatorsofitsnamespacearenot"
               "called,unless--namespacesnamesit");
    et_op(&m, 100, "other::op(Tensor x) -> Tensor", "1:4x4", "7:4x4");
    et_op(&m, 110, ET_RELU, "1:4x4", "8:4x4");
    CHECK(strstr(data_of(&m, &x, NULL),
                 "\"emitted\": 1, \"selected\": 2, \"device_time\": null,"));
    program_done(&x);
}

int main(void)
{
    RUN(test_data__looks);
    RUN(test_data__fills);
    RUN(test_data__indices);
    RUN(test_data__indices_of_two);
    RUN(test_data__memory);
    RUN(test_data__batch);
    RUN(test_data__nodes);
    RUN(test_data__left_out);
    return check_summary();
}
