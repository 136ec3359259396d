/* models/host.c: reading hosts, and what operators and calls cost on them. */
#include "models/host.h"

#include "models/host_class.h"
#include "tests/check.h"

#include <stdlib.h>
#include <unistd.h>

/* A whole host; %s is put between the braces of its operators. */
#define DISPATCH(self, calls) "{\"self_us\":" #self ",\"calls_us\":" #calls "}"
#define TIME(us)              "{\"us\":" #us ",\"low_us\":0.1,\"high_us\":99}"
#define HOST(operators, low)                                                                                                                                                  \
    "{\"name\":\"made\",\"operators\":{" operators "},\"classes\":{"                                                                                                          \
    "\"leaf\":" DISPATCH(4, 2) ",\"composite\":" DISPATCH(                                                                                                                    \
        3,                                                                                                                                                                    \
        1) ","                                                                                                                                                                \
           "\"autograd\":" DISPATCH(5, 0) ",\"backward\":" DISPATCH(                                                                                                          \
               6,                                                                                                                                                             \
               0) ","                                                                                                                                                         \
                  "\"collective\":" DISPATCH(20, 9) ",\"label\":" DISPATCH(                                                                                                   \
                      7,                                                                                                                                                      \
                      0) "},"                                                                                                                                                 \
                         "\"calls\":{\"other\":" TIME(1) ",\"launch\":" TIME(                                                                                                 \
                             6) ","                                                                                                                                           \
                                "\"graph_launch\":" TIME(                                                                                                                     \
                                    1) ",\"memcpy\":" TIME(1) ","                                                                                                             \
                                                              "\"memcpy_"                                                                                                     \
                                                              "sync\":" TIME(1) ",\"memset\":" TIME(                                                                          \
                                                                  1) ","                                                                                                      \
                                                                     "\"devic"                                                                                                \
                                                                     "e_"                                                                                                     \
                                                                     "sync\""                                                                                                 \
                                                                     ":" TIME(1) ",\"stream_sync\":" TIME(                                                                    \
                                                                         1) ","                                                                                               \
                                                                            "\"event_sync\":" TIME(1) ",\"event_record\":" TIME(                                              \
                                                                                1) ","                                                                                        \
                                                                                   "\"stream_wait\":" TIME(1) ",\"event_query\":" TIME(                                       \
                                                                                       1) ","                                                                                 \
                                                                                          "\"event_elapsed\":" TIME(1) ",\"malloc\":" TIME(                                   \
                                                                                              1) ","                                                                          \
                                                                                                 "\"free\":" TIME(2) "},\"launch_latency\":" TIME(                            \
                                                                                                     8) ","                                                                   \
                                                                                                        "\"kernel_gap\":" TIME(1.5) ",\"after_topmost\":{\"operator\":" TIME( \
                                                                                                            10) ",\"autograd\":" TIME(3) "},\"spread\":{\"low\":" low         \
                                                                                                                                         ",\"high\":4}}"

/* Load a host from its text. */
static enum msim_status load(struct msim_host **h, const char *text,
                             struct msim_error *err)
{
    char path[] = "/tmp/msim-host-XXXXXX.json";
    int fd = mkstemps(path, 5);
    enum msim_status status;

    *h = NULL;
    if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
        return MSIM_EIO;
    close(fd);
    status = msim_host_load(h, MSIM_DATA, path, err);
    unlink(path);
    return status;
}

static void test_host__generic_loads(void)
{
    struct msim_error err = {0};
    struct msim_host *h;
    struct msim_estimate e;

    REQUIRE(msim_host_load(&h, MSIM_DATA, "generic", &err) == MSIM_OK);
    CHECK_STR(msim_host_name(h), "generic");
    e = msim_host_call(h, MSIM_CALL_LAUNCH);
    CHECK(e.low_us > 1 && e.low_us <= e.us && e.us <= e.high_us);
    CHECK(e.high_us < 60);
    e = msim_host_launch_latency(h);
    CHECK(e.us > 3 && e.us < 20);
    e = msim_host_kernel_gap(h);
    CHECK(e.us > 0.3 && e.us < 3);
    msim_host_free(h);
    REQUIRE(msim_host_load(&h, MSIM_DATA, "Generic", &err) == MSIM_OK);
    msim_host_free(h);
}

static void test_host__unknown_name_lists_the_known(void)
{
    struct msim_error err = {0};
    struct msim_host *h;

    CHECK_INT(msim_host_load(&h, MSIM_DATA, "pdp-11", &err), MSIM_EUNKNOWN);
    CHECK(h == NULL);
    CHECK(strstr(err.text, "'pdp-11'") != NULL);
    CHECK(strstr(err.text, "generic") != NULL);
}

static void test_host__missing_folder_and_file(void)
{
    struct msim_error err = {0}, other = {0};
    struct msim_host *h;

    CHECK_INT(msim_host_load(&h, "/nonexistent", "generic", &err), MSIM_EIO);
    CHECK_INT(msim_host_load(&h, MSIM_DATA, "/nonexistent/x.json", &other),
              MSIM_EIO);
    CHECK(h == NULL);
}

static void test_host__bad_files_are_refused(void)
{
    static const char *const BAD[] = {
        "{}",
        "[]",
        "{\"name\":\"x\"}",
        HOST("", "0"),
        HOST("", "1.5"),
        HOST("\"aten::mm\":{\"self_us\":-1,\"calls_us\":0}", "0.25"),
        HOST("\"aten::mm\":{\"self_us\":1e99,\"calls_us\":0}", "0.25"),
        HOST("\"aten::mm\":{\"self_us\":\"x\",\"calls_us\":0}", "0.25"),
        HOST("\"a\":" DISPATCH(1, 1) ",\"a\":" DISPATCH(1, 1), "0.25"),
    };
    struct msim_host *h;

    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        struct msim_error err = {0};

        CHECK_INT(load(&h, BAD[i], &err), MSIM_EFORMAT);
        CHECK(h == NULL);
        CHECK(strstr(err.text, "want") != NULL);
    }
    CHECK_INT(load(&h, "{\"name\":", NULL), MSIM_ESYNTAX);
}

/* ---- operators of a made trace ----------------------------------------- */

struct made {
    struct msim_strtab *strings;
    struct msim_op ops[16];
    struct msim_trace t;
};

static void made_init(struct made *m, bool gpu_events)
{
    memset(m, 0, sizeof *m);
    if (msim_strtab_new(&m->strings) != MSIM_OK)
        abort();
    m->t.ops = m->ops;
    m->t.strings = m->strings;
    m->t.has_gpu_events = gpu_events;
}

/* Add an op; the ops that enclose it grow to hold it. */
static uint32_t add(struct made *m, const char *name, enum msim_op_kind kind,
                    uint32_t parent)
{
    uint32_t i = m->t.n_ops++;

    if (msim_strtab_add(m->strings, name, strlen(name), &m->ops[i].name))
        abort();
    m->ops[i].kind = (uint8_t)kind;
    m->ops[i].parent = parent;
    m->ops[i].end = i + 1;
    for (uint32_t p = parent; p != MSIM_NONE; p = m->ops[p].parent)
        m->ops[p].end = i + 1;
    return i;
}

static double us(const struct msim_host *h, const struct made *m, uint32_t op)
{
    return msim_host_dispatch(h, &m->t, op).us;
}

#define OPERATORS                                                              \
    "\"aten::mm\":" DISPATCH(11, 7) ",\"MmBackward\":" DISPATCH(8, 0)

static void test_host__dispatch_by_name_then_class(void)
{
    struct msim_host *h;
    struct made m;
    uint32_t top, mm, label, leaf, node, comm, inner;

    REQUIRE(load(&h, HOST(OPERATORS, "0.25"), NULL) == MSIM_OK);
    made_init(&m, true);
    label = add(&m, "aten::mm", MSIM_OP_ANNOTATION, MSIM_NONE);
    top = add(&m, "mine::outer", MSIM_OP_OPERATOR, label);
    mm = add(&m, "aten::mm", MSIM_OP_OPERATOR, top);
    inner = add(&m, "aten::mm", MSIM_OP_ANNOTATION, top);
    leaf = add(&m, "mine::leaf", MSIM_OP_OPERATOR, top);
    node = add(&m, "MmBackward0", MSIM_OP_OPERATOR, top);
    comm = add(&m, "c10d::send", MSIM_OP_OPERATOR, top);
    CHECK_REL(us(h, &m, label), 0, 0);
    CHECK_REL(us(h, &m, top), 3, 1e-12);
    CHECK_REL(us(h, &m, mm), 11, 1e-12);
    CHECK_REL(us(h, &m, inner), 7, 1e-12);
    CHECK_REL(us(h, &m, leaf), 4, 1e-12);
    CHECK_REL(us(h, &m, node), 8, 1e-12);
    CHECK_REL(us(h, &m, comm), 20, 1e-12);
    CHECK_REL(msim_host_dispatch(h, &m.t, mm).low_us, 11 * 0.25, 1e-12);
    CHECK_REL(msim_host_dispatch(h, &m.t, mm).high_us, 11 * 4, 1e-12);
    CHECK_REL(msim_host_call(h, MSIM_CALL_FREE).us, 2, 1e-12);
    CHECK_REL(msim_host_launch_latency(h).us, 8, 1e-12);
    CHECK_REL(msim_host_kernel_gap(h).us, 1.5, 1e-12);
    msim_strtab_free(m.strings);
    msim_host_free(h);
}

/* Calls and pauses that such a trace does not have are in the operators. */
static void test_host__without_gpu_events_the_rest_is_added(void)
{
    struct msim_host *h;
    struct made m;
    uint32_t root, label, top, mm, engine;

    REQUIRE(load(&h, HOST(OPERATORS, "0.25"), NULL) == MSIM_OK);
    made_init(&m, false);
    root = add(&m, "[root]", MSIM_OP_ROOT, MSIM_NONE);
    label = add(&m, "step", MSIM_OP_ANNOTATION, root);
    top = add(&m, "mine::outer", MSIM_OP_OPERATOR, label);
    mm = add(&m, "aten::mm", MSIM_OP_OPERATOR, top);
    engine = add(&m, "autograd::engine::evaluate_function: X", MSIM_OP_OPERATOR,
                 root);
    CHECK_REL(us(h, &m, root), 0, 0);
    CHECK_REL(us(h, &m, label), 0, 0);
    CHECK_REL(us(h, &m, top), 3 + 1 + 10, 1e-12);
    CHECK_REL(us(h, &m, mm), 11 + 7, 1e-12);
    CHECK_REL(us(h, &m, engine), 5 + 0 + 3, 1e-12);
    msim_strtab_free(m.strings);
    msim_host_free(h);
}

static void test_host__names_end_before_an_overload_number(void)
{
    CHECK_UINT(msim_host_name_length("MmBackward0"), 10);
    CHECK_UINT(msim_host_name_length("MmBackward"), 10);
    CHECK_UINT(msim_host_name_length("aten::conv2d"), 12);
    CHECK_UINT(msim_host_name_length("aten::relu6"), 11);
    CHECK_UINT(msim_host_name_length("Backward12"), 8);
    CHECK_UINT(msim_host_name_length("0"), 1);
    CHECK_UINT(msim_host_name_length(""), 0);
}

int main(void)
{
    RUN(test_host__generic_loads);
    RUN(test_host__unknown_name_lists_the_known);
    RUN(test_host__missing_folder_and_file);
    RUN(test_host__bad_files_are_refused);
    RUN(test_host__dispatch_by_name_then_class);
    RUN(test_host__without_gpu_events_the_rest_is_added);
    RUN(test_host__names_end_before_an_overload_number);
    return check_summary();
}
