/*
 * tests/unit/core/write_et/test_et_file.c - the frame of an execution trace's
 * file, and one node of it.
 */
#include "core/write_et/write_et.h"

#include "tests/unit/loaded.h"

static enum msim_status keep(void *ctx, const char *bytes, size_t n)
{
    struct spelled *to = ctx;

    spell(to, "%.*s", (int)n, bytes);
    return MSIM_OK;
}

/* A column's name in its place. */
static void put(struct msim_json *j, const void *of, enum msim_et_column c)
{
    static const char *const names[] = {"v", "s", "t", "d"};

    msim_json_text(j, NULL, of);
    msim_json_text(j, NULL, names[c]);
}

struct attr {
    const char *name, *type, *value;
};

/* The first `n` attributes, and both sides, of which `of` is put or nothing. */
static void spell_node(struct spelled *to, const struct attr *attrs, size_t n,
                       bool put_sides)
{
    static const char *const sides[] = {"inputs", "outputs"};
    static const char *const columns[] = {"values", "shapes", "types",
                                          "strides"};
    static const char names[] = "vstd";

    spell(to, "{\"id\": 12, \"name\": \"aten::mm\", \"ctrl_deps\": 3");
    for (int i = 0; i < 2; i++) {
        spell(to, ", \"%s\": {", sides[i]);
        for (int c = 0; c < 4; c++) {
            spell(to, "%s\"%s\": [", c ? ", " : "", columns[c]);
            if (put_sides)
                spell(to, "\"%s\", \"%c\"", sides[i], names[c]);
            spell(to, "]");
        }
        spell(to, "}");
    }
    spell(to, ", \"attrs\": [");
    for (size_t i = 0; i < n; i++) {
        const char *quote = strcmp(attrs[i].type, "string") ? "" : "\"";

        spell(to, "%s{\"name\": \"%s\", \"type\": \"%s\", \"value\": %s%s%s}",
              i ? ", " : "", attrs[i].name, attrs[i].type, quote,
              attrs[i].value, quote);
    }
    spell(to, "]}");
}

static void check_node(const struct msim_et_record *n, const struct attr *attrs,
                       size_t n_attrs)
{
    struct spelled got = {"", 0}, want = {"", 0};
    struct msim_json j;

    msim_json_begin(&j, keep, &got);
    msim_et_file_node(&j, n);
    CHECK_INT(msim_json_end(&j), MSIM_OK);
    got.text[strcspn(got.text, "\n")] = '\0';
    spell_node(&want, attrs, n_attrs, n->in.put != NULL);
    CHECK_STR(got.text, want.text);
}

static void test_et_file__node(void)
{
    static const struct attr bare[] = {
        {"rf_id", "uint64", "9"},      {"fw_parent", "uint64", "0"},
        {"seq_id", "int64", "-1"},     {"scope", "uint64", "1"},
        {"tid", "uint64", "4"},        {"fw_tid", "uint64", "5"},
        {"op_schema", "string", ""},   {"kernel_backend", "string", ""},
        {"kernel_file", "string", ""},
    };
    static const struct attr more[] = {
        {"op_schema", "string", "mm()"},
        {"kernel_backend", "string", ""},
        {"kernel_file", "string", ""},
        {"tensor_range", "string", "{}"},
        {"collective_name", "string", "send"},
        {"dtype", "string", "float"},
        {"in_msg_nelems", "uint64", "7"},
        {"out_msg_nelems", "uint64", "8"},
        {"in_split_size", "string", "[]"},
        {"out_split_size", "string", "[]"},
        {"global_rank_start", "uint64", "3"},
        {"global_rank_stride", "uint64", "4"},
        {"pg_name", "string", "g"},
        {"pg_desc", "string", "g"},
        {"pg_size", "uint64", "2"},
    };
    struct attr all[6 + sizeof(more) / sizeof(*more)];
    struct msim_et_message m = {
        .name = "send", .dtype = "float", .in_elems = 7, .out_elems = 8};
    struct msim_et_record n = {.id = 12,
                               .parent = 3,
                               .rf_id = 9,
                               .sequence = -1,
                               .thread = 4,
                               .fw_thread = 5,
                               .name = "aten::mm",
                               .scope = 1};

    check_node(&n, bare, sizeof(bare) / sizeof(*bare));
    memcpy(all, bare, 6 * sizeof(*bare));
    memcpy(all + 6, more, sizeof(more));
    n.schema = "mm()";
    n.ranges = "{}";
    n.in = (struct msim_et_side){put, "inputs"};
    n.out = (struct msim_et_side){put, "outputs"};
    n.message = &m;
    check_node(&n, all, 16); /* no group */
    m.group = "g";
    m.size = 2;
    m.start = 3;
    m.stride = 4;
    check_node(&n, all, 21);
}

/* Blanks and ends of lines do not count. */
static void test_et_file__frame(void)
{
    struct spelled got = {"", 0};
    struct msim_json j;
    size_t n = 0;

    msim_et_file_begin(&j, keep, &got, "made", 77);
    CHECK_INT(msim_et_file_end(&j), MSIM_OK);
    for (size_t i = 0; got.text[i]; i++)
        if (got.text[i] != ' ' && got.text[i] != '\n')
            got.text[n++] = got.text[i];
    got.text[n] = '\0';
    CHECK(strstr(got.text, "{\"schema\":\"1.1.1-chakra.0.0.4\",\"generator\":"
                           "\"made\",\"pid\":77,\"time\":\"1970-01-01"
                           "00:00:00\",\"start_ts\":0,\"nodes\":[{\"id\":1,"
                           "\"name\":\"[pytorch|profiler|execution_trace|"
                           "process]\",\"ctrl_deps\":1,") == got.text);
    CHECK(strstr(got.text, "\"seq_id\",\"type\":\"int64\",\"value\":-1}"));
    CHECK(strstr(got.text, "\"scope\",\"type\":\"uint64\",\"value\":7}"));
    CHECK(strstr(got.text, "}]}],\"finish_ts\":1}"));
}

static void test_et_file__types(void)
{
    static const struct {
        enum msim_dtype dtype;
        const char *name, *tensor;
    } cases[] = {
        {MSIM_DT_UNKNOWN, "unknown", "Tensor(unknown)"},
        {MSIM_DT_F64, "double", "Tensor(double)"},
        {MSIM_DT_F16, "c10::Half", "Tensor(c10::Half)"},
        {MSIM_DT_F8, "c10::Float8_e4m3fn", "Tensor(c10::Float8_e4m3fn)"},
        {MSIM_DT_I64, "long int", "Tensor(long int)"},
        {MSIM_DT_U8, "unsigned char", "Tensor(unsigned char)"},
        {MSIM_DT_ODD, "odd", "Tensor(odd)"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        CHECK_STR(msim_et_dtype(cases[i].dtype), cases[i].name);
        CHECK_STR(msim_et_tensor_type(cases[i].dtype), cases[i].tensor);
    }
}

int main(void)
{
    RUN(test_et_file__node);
    RUN(test_et_file__frame);
    RUN(test_et_file__types);
    return check_summary();
}
