/*
 * Lines, scalars and lists of numbers of a Python program.
 */
#include "replay/emit/emit_python_internal.h"

#include "tests/check.h"

#include <stdlib.h>

/* ---- lines --------------------------------------------------------------- */

static void lined(unsigned indent, const char *line, const char *want)
{
    struct msim_body b = {.indent = indent};

    msim_body_line(&b, line);
    CHECK_STR(msim_text_get(&b.text), want);
    free(b.text.bytes.data);
}

#define TEN "aaaaaaaaa" /* nine, and what follows */

/* 96 characters are not too long; one more is broken behind the last comma that
 * leaves room, four further in. Further in there is less room. */
static void test_line__of_96_characters(void)
{
    const char *fits = "f(" TEN "0" TEN "0" TEN "0" TEN "0" TEN "0" TEN "0" TEN
                       "0" TEN "0, bbbbb, cccc)";
    const char *longer = "f(" TEN "0" TEN "0" TEN "0" TEN "0" TEN "0" TEN
                         "0" TEN "0" TEN "0, bbbbb, ccccc)";
    char want[160];

    CHECK_UINT(strlen(fits), 96);
    snprintf(want, sizeof(want), "%s\n", fits);
    lined(0, fits, want);
    snprintf(want, sizeof(want), "%.90s\n    ccccc)\n", longer);
    lined(0, longer, want);
    snprintf(want, sizeof(want), " %.90s\n     cccc)\n", fits);
    lined(1, fits, want);
    snprintf(want, sizeof(want), "        %.83s\n            bbbbb, cccc)\n",
             fits);
    lined(8, fits, want);
}

/* The same by another rule: of all places behind a comma inside brackets and
 * outside quotes the last that leaves the line short enough, or none. */
static size_t last_break(const char *s, size_t from, size_t room)
{
    size_t best = 0;
    int depth = 0;
    bool quoted = false;

    for (size_t i = 0; s[i] && i < from + room; i++) {
        if (quoted && s[i] == '\\') {
            i++;
        } else if (s[i] == '\'') {
            quoted = !quoted;
        } else if (!quoted) {
            depth += (s[i] == '(') + (s[i] == '[');
            depth -= (s[i] == ')') + (s[i] == ']');
            if (s[i] == ',' && s[i + 1] == ' ' && depth > 0 && i >= from)
                best = i + 2;
        }
    }
    return best;
}

static void break_up(char *out, size_t size, const char *s, unsigned indent)
{
    size_t n = strlen(s), from = 0, room = 96 - indent, used, at;

    used = (size_t)snprintf(out, size, "%*s", (int)indent, "");
    while (n - from > room && (at = last_break(s, from, room)) > 0) {
        used += (size_t)snprintf(out + used, size - used, "%.*s\n%*s",
                                 (int)(at - 1 - from), s + from,
                                 (int)indent + 4, "");
        from = at;
        room = 96 - indent - 4;
    }
    snprintf(out + used, size - used, "%s\n", s + from);
}

static void test_line__of_random_pieces(void)
{
    static const char *const PIECES[] = {"x",
                                         "(",
                                         ")",
                                         "[",
                                         "]",
                                         ", ",
                                         "1, 2",
                                         "'a'",
                                         "'it\\'s, '",
                                         "', '",
                                         "'\\\\', [1, 2], ",
                                         "abcdefgh, ",
                                         ",",
                                         "f(a, b)"};
    uint64_t random = 1;
    char line[1024], want[4096];

    for (int round = 0; round < 500; round++) {
        size_t n = 0;

        while (n < 60 + (size_t)round / 2) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            n += (size_t)snprintf(line + n, sizeof(line) - n, "%s",
                                  PIECES[(random >> 33) % 14]);
        }
        break_up(want, sizeof(want), line, (unsigned)round % 9);
        lined((unsigned)round % 9, line, want);
    }
}

/* What failed before stays the first failure. */
static void test_line__takes_a_failure(void)
{
    struct msim_body b = {.indent = 4};
    struct msim_text line = {.status = MSIM_OK}, bad = {.status = MSIM_ENOMEM},
                     worse = {.status = MSIM_EINTERNAL};

    msim_text_put(&line, "x = 1");
    msim_body_take_line(&b, &line);
    CHECK_STR(msim_text_get(&b.text), "    x = 1\n");
    CHECK_INT(b.text.status, MSIM_OK);
    msim_body_take_line(&b, &bad);
    CHECK_INT(b.text.status, MSIM_ENOMEM);
    msim_body_take_line(&b, &worse);
    CHECK_INT(b.text.status, MSIM_ENOMEM);
    free(b.text.bytes.data);
}

/* ---- scalars ------------------------------------------------------------- */

/* A trace with a few texts. */
static const char *const TEXTS[] = {"cuda:0", "cpu:1", "meta", "it's"};
enum { GPU = 1, CPU, META, TEXT };

struct made {
    struct msim_strtab *strings;
    struct msim_trace trace;
    struct msim_program program;
    struct msim_body body;
};

static bool begin(struct made *m)
{
    *m = (struct made){.program = {.trace = &m->trace}};
    m->body.p = &m->program;
    if (msim_strtab_new(&m->strings) != MSIM_OK)
        return false;
    m->trace.strings = m->strings;
    for (uint32_t i = 0; i < 4; i++) {
        uint32_t id;

        if (msim_strtab_add(m->strings, TEXTS[i], strlen(TEXTS[i]), &id) !=
                MSIM_OK ||
            id != i + 1)
            return false;
    }
    return true;
}

static void scalar(const struct made *m, int kind, const char *name,
                   struct msim_arg a, const char *want)
{
    const struct msim_schema_arg type = {
        .kind = (uint8_t)kind, .name = {name, (uint32_t)strlen(name)}};
    struct msim_text out = {.status = MSIM_OK};

    msim_body_scalar(&m->body, &out, &type, &a);
    CHECK_INT(out.status, MSIM_OK);
    CHECK_STR(msim_text_get(&out), want);
    free(out.bytes.data);
}

static struct msim_arg whole(int64_t v)
{
    return (struct msim_arg){.kind = MSIM_ARG_INT, .v.i = v};
}

static struct msim_arg real(double v)
{
    return (struct msim_arg){.kind = MSIM_ARG_REAL, .v.f = v};
}

static struct msim_arg text(int64_t id)
{
    return (struct msim_arg){.kind = MSIM_ARG_STR, .v.i = id};
}

static void test_scalar__numbers_and_words(void)
{
    struct made m;

    REQUIRE(begin(&m));
    scalar(&m, MSIM_SCHEMA_PLAIN, "n", whole(-7), "-7");
    scalar(&m, MSIM_SCHEMA_PLAIN, "n", whole(INT64_MAX), "9223372036854775807");
    scalar(&m, MSIM_SCHEMA_PLAIN, "n", real(2), "2.0");
    scalar(&m, MSIM_SCHEMA_PLAIN, "n", real(-0.5), "-0.5");
    scalar(&m, MSIM_SCHEMA_PLAIN, "n", real(1e30), "1e+30");
    scalar(&m, MSIM_SCHEMA_PLAIN, "n", real(INFINITY), "float('inf')");
    scalar(&m, MSIM_SCHEMA_PLAIN, "n", real(-INFINITY), "float('-inf')");
    scalar(&m, MSIM_SCHEMA_PLAIN, "n", real(NAN), "float('nan')");
    scalar(&m, MSIM_SCHEMA_PLAIN, "n", real(0), "0.0");
    scalar(&m, MSIM_SCHEMA_PLAIN, "eps", real(0), "1e-08"); /* was cut to it */
    scalar(&m, MSIM_SCHEMA_PLAIN, "eps", real(0.5), "0.5");
    scalar(&m, MSIM_SCHEMA_PLAIN, "b",
           (struct msim_arg){.kind = MSIM_ARG_BOOL, .v.i = 1}, "True");
    scalar(&m, MSIM_SCHEMA_PLAIN, "b", (struct msim_arg){.kind = MSIM_ARG_BOOL},
           "False");
    scalar(&m, MSIM_SCHEMA_PLAIN, "s", text(TEXT), "'it\\'s'");
    scalar(&m, MSIM_SCHEMA_PLAIN, "x", (struct msim_arg){.kind = MSIM_ARG_NONE},
           "None");
    msim_strtab_free(m.strings);
}

/* c10's numbers of types and formats (c10/core/ScalarType.h,
 * c10/core/MemoryFormat.h); what is none of them is written as it is. */
static void test_scalar__enumerations(void)
{
    static const char *const DTYPES[] = {"torch.uint8",
                                         "torch.int8",
                                         "torch.int16",
                                         "torch.int32",
                                         "torch.int64",
                                         "torch.float16",
                                         "torch.float32",
                                         "torch.float64",
                                         "torch.complex32",
                                         "torch.complex64",
                                         "torch.complex128",
                                         "torch.bool",
                                         "torch.qint8",
                                         "torch.quint8",
                                         "torch.qint32",
                                         "torch.bfloat16",
                                         "16"};
    static const char *const FORMATS[] = {
        "torch.contiguous_format", "torch.preserve_format",
        "torch.channels_last", "torch.channels_last_3d", "4"};
    struct made m;

    REQUIRE(begin(&m));
    for (int i = 0; i < 17; i++)
        scalar(&m, MSIM_SCHEMA_DTYPE, "dtype", whole(i), DTYPES[i]);
    for (int i = 0; i < 5; i++)
        scalar(&m, MSIM_SCHEMA_MEMORY_FORMAT, "f", whole(i), FORMATS[i]);
    scalar(&m, MSIM_SCHEMA_DTYPE, "dtype", whole(-1), "-1");
    scalar(&m, MSIM_SCHEMA_DTYPE, "dtype", real(1), "1.0");
    scalar(&m, MSIM_SCHEMA_LAYOUT, "layout", whole(0), "torch.strided");
    scalar(&m, MSIM_SCHEMA_LAYOUT, "layout", whole(1), "1");
    scalar(&m, MSIM_SCHEMA_LAYOUT, "layout", real(0), "0.0");
    scalar(&m, MSIM_SCHEMA_PLAIN, "layout", whole(0), "0");
    msim_strtab_free(m.strings);
}

/* That of the run, but for the CPU of a run with a GPU, and for no device. */
static void test_scalar__devices(void)
{
    struct made m;

    REQUIRE(begin(&m));
    scalar(&m, MSIM_SCHEMA_DEVICE, "device", text(GPU), "DEV");
    scalar(&m, MSIM_SCHEMA_DEVICE, "device", text(CPU), "'cpu'");
    scalar(&m, MSIM_SCHEMA_DEVICE, "device", text(META), "'meta'");
    scalar(&m, MSIM_SCHEMA_DEVICE, "device", text(TEXT), "DEV");
    scalar(&m, MSIM_SCHEMA_PLAIN, "device", text(CPU), "'cpu:1'");
    scalar(&m, MSIM_SCHEMA_DEVICE, "device", whole(3), "3");
    m.trace.cpu_only = true;
    scalar(&m, MSIM_SCHEMA_DEVICE, "device", text(CPU), "DEV");
    scalar(&m, MSIM_SCHEMA_DEVICE, "device", text(META), "DEV");
    scalar(&m, MSIM_SCHEMA_PLAIN, "device", text(CPU), "'cpu:1'");
    msim_strtab_free(m.strings);
}

/* ---- lists of numbers ---------------------------------------------------- */

/* Equal lists are one; neither a part of a list nor a longer one is equal. */
static void test_list__once_each(void)
{
    static const int64_t A[] = {1, 2, 3, 4}, B[] = {1, 2, 3, 5};
    const struct msim_number_list *list;
    struct msim_body b = {.indent = 0};

    CHECK_UINT(msim_body_list(&b, A, 4), 0);
    CHECK_UINT(msim_body_list(&b, B, 4), 1);
    CHECK_UINT(msim_body_list(&b, A, 3), 2);
    CHECK_UINT(msim_body_list(&b, B, 3), 2);
    CHECK_UINT(msim_body_list(&b, B, 4), 1);
    CHECK_UINT(msim_body_list(&b, A + 1, 3), 3);
    CHECK_UINT(msim_body_list(&b, A, 4), 0);
    CHECK_UINT(msim_body_list(&b, A, 0), 4);
    REQUIRE(b.lists.n == 5 && b.numbers.n == 4 + 4 + 3 + 3);
    list = b.lists.data;
    CHECK_UINT(list[1].first, 4);
    CHECK_UINT(list[1].n, 4);
    CHECK_INT(((const int64_t *)b.numbers.data)[list[1].first + 3], 5);
    CHECK_INT(((const int64_t *)b.numbers.data)[list[3].first], 2);
    free(b.lists.data);
    free(b.numbers.data);
}

int main(void)
{
    RUN(test_line__of_96_characters);
    RUN(test_line__of_random_pieces);
    RUN(test_line__takes_a_failure);
    RUN(test_scalar__numbers_and_words);
    RUN(test_scalar__enumerations);
    RUN(test_scalar__devices);
    RUN(test_list__once_each);
    return check_summary();
}
