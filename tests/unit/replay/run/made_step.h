/*
 * tests/unit/replay/run/made_step.h - execution traces of a few products, and
 * what a backend greets with, for tests.
 */
#ifndef MSIM_TESTS_UNIT_REPLAY_RUN_MADE_STEP_H
#define MSIM_TESTS_UNIT_REPLAY_RUN_MADE_STEP_H
#include "core/base/json.h"
#include "tests/unit/loaded.h"

/* A CPU with products, additions and copies, of 1 GB. */
#define MADE_GREETING                                                          \
    "{\"backend\":\"made\",\"sequences\":true,\"device\":{\"name\":\"made\","  \
    "\"kind\":\"cpu\",\"threads\":2,\"memory_bytes\":1e9},\"tables\":{"        \
    "\"gemm\":[\"fp32\"],\"vector\":[\"add:fp32\",\"softmax:fp32\"],"          \
    "\"conv\":[\"conv2d_fwd:fp32\"],\"copy\":[\"d2d\"]}}"

/* A tensor of a x b in `part` (values, shapes, types) of a node's side. */
static inline void made_part(char *to, size_t size, int part, unsigned id,
                             long long a, long long b)
{
    if (part == 0)
        snprintf(to, size, "[%u,%u,0,%lld,4,\"cpu\"]", id, id, a);
    else if (part == 1)
        snprintf(to, size, "[%lld,%lld]", a, b);
    else
        snprintf(to, size, "\"Tensor(float)\"");
}

/* A node of two tensors, a x b and b x c, that makes one of a x c. */
static inline size_t made_node(char *to, size_t size, unsigned id,
                               unsigned parent, const char *name, long long a,
                               long long b, long long c)
{
    static const char *const PARTS[] = {"values", "shapes", "types"};
    char x[96], y[96], z[96];
    size_t n = (size_t)snprintf(
        to, size, ",{\"id\":%u,\"name\":\"%s\",\"ctrl_deps\":%u,\"inputs\":{",
        id, name, parent);

    for (int part = 0; part < 3; part++) {
        made_part(x, sizeof(x), part, 100 * id, a, b);
        made_part(y, sizeof(y), part, 100 * id + 1, b, c);
        n += (size_t)snprintf(to + n, size - n, "%s\"%s\":[%s,%s]",
                              part ? "," : "", PARTS[part], x, y);
    }
    n += (size_t)snprintf(to + n, size - n, "},\"outputs\":{");
    for (int part = 0; part < 3; part++) {
        made_part(z, sizeof(z), part, 100 * id + 2, a, c);
        n += (size_t)snprintf(to + n, size - n, "%s\"%s\":[%s]",
                              part ? "," : "", PARTS[part], z);
    }
    n += (size_t)snprintf(to + n, size - n,
                          "},\"attrs\":[{\"name\":\"tid\",\"type\":\"uint64\","
                          "\"value\":1}]}");
    return n;
}

/* The file of these nodes. */
static inline void made_file(char *to, size_t size, const char *nodes)
{
    snprintf(
        to, size,
        "{\"schema\":\"1.1.1-chakra.0.0.4\",\"pid\":1,\"time\":\"\","
        "\"start_ts\":0,\"nodes\":[{\"id\":1,\"name\":\"[pytorch|profiler|"
        "execution_trace|process]\",\"ctrl_deps\":1,\"inputs\":{\"values\":"
        "[],\"shapes\":[],\"types\":[]},\"outputs\":{\"values\":[],"
        "\"shapes\":[],\"types\":[]},\"attrs\":[]}%s],\"finish_ts\":1}",
        nodes);
}

#endif
