/*
 * The CPU backend as it greets: what it times, what it leaves out and says of
 * it, what it refuses, and the processor that it finds.
 */
#include "profilers/cpu/cpu.h"
#include "tests/check.h"

#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

static struct msim_cpu *open_cpu(void)
{
    void *cpu = NULL;

    CHECK_INT(MSIM_BACKEND_CPU.open(&cpu, NULL), MSIM_OK);
    return cpu;
}

/* What a function writes, as an object. */
static cJSON *written(void (*write)(void *, struct msim_json *), void *self)
{
    static struct msim_json j;
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    cJSON *o;

    if (!out)
        return NULL;
    msim_json_begin(&j, msim_sink_file, out);
    msim_json_open(&j, NULL, '{', false);
    write(self, &j);
    msim_json_close(&j);
    CHECK_INT(msim_json_end(&j), MSIM_OK);
    fclose(out);
    CHECK(strchr(text, '\n') == text + size - 1); /* one line */
    o = cJSON_Parse(text);
    free(text);
    return o;
}

static void write_device(void *self, struct msim_json *out)
{
    msim_cpu_device_write(self, out);
}

/* A clock that is not known is not said. */
static void test_cpu_device__members(void)
{
    struct msim_cpu_device d = {.name = "P (3 cores)",
                                .cores = 3,
                                .memory_bytes = 4096,
                                .cache_bytes = 512,
                                .mhz = 0.5};
    cJSON *o = written(write_device, &d);
    char *text = cJSON_PrintUnformatted(o);

    CHECK_STR(text, "{\"device\":{\"name\":\"P (3 cores)\",\"kind\":\"cpu\","
                    "\"sms\":3,\"threads\":3,\"memory_bytes\":4096,"
                    "\"l2_bytes\":512,\"clock_mhz\":0.5}}");
    cJSON_free(text);
    cJSON_Delete(o);
    d.mhz = 0;
    o = written(write_device, &d);
    CHECK(!cJSON_HasObjectItem(cJSON_GetObjectItem(o, "device"), "clock_mhz"));
    cJSON_Delete(o);
}

/* The first number behind "NAME :" in the processor's file; 0: none. */
static double number_of(const char *name)
{
    FILE *f = fopen("/proc/cpuinfo", "r");
    char line[512];
    double found = 0;

    while (f && !(found > 0) && fgets(line, sizeof(line), f))
        if (strncmp(line, name, strlen(name)) == 0 && strchr(line, ':'))
            found = strtod(strchr(line, ':') + 1, NULL);
    if (f)
        fclose(f);
    return found;
}

/* The largest of the caches that the kernel lists, in KiB; 0: it lists none. */
static long cache_kib(void)
{
    char path[96], text[32] = "";
    long most = 0, own;

    for (int i = 0; i < 8; i++) {
        FILE *f;

        snprintf(path, sizeof(path),
                 "/sys/devices/system/cpu/cpu0/cache/index%d/size", i);
        f = fopen(path, "r");
        own = f && fgets(text, sizeof(text), f) ? strtol(text, NULL, 10) : 0;
        most = own > most ? own : most;
        if (f)
            fclose(f);
    }
    return most;
}

/* What the kernel says: cores by affinity, all memory, the largest cache. */
static void test_cpu_device__found(void)
{
    struct msim_cpu_device d;
    char end[32];
    cpu_set_t set;

    REQUIRE(sched_getaffinity(0, sizeof(set), &set) == 0);
    msim_cpu_device_find(&d);
    CHECK_UINT(d.cores, CPU_COUNT(&set));
    CHECK_UINT(d.memory_bytes, (uint64_t)sysconf(_SC_PHYS_PAGES) *
                                   (uint64_t)sysconf(_SC_PAGE_SIZE));
    CHECK_UINT(d.cache_bytes,
               cache_kib() ? 1024 * (uint64_t)cache_kib() : 32 << 20);
    CHECK((d.mhz > 0) == (number_of("cpu MHz") > 0));
    CHECK(d.mhz <= 0 || (d.mhz > 100 && d.mhz < 1e4));
    snprintf(end, sizeof(end), " (%u core%s)", d.cores,
             d.cores == 1 ? "" : "s");
    CHECK(strstr(d.name, end) && d.name[0] != ' ' && d.name[0] != ':');
    CHECK(!strchr(d.name, '\n'));
    CPU_ZERO(&set); /* one core, and its word */
    CPU_SET(sched_getcpu(), &set);
    REQUIRE(sched_setaffinity(0, sizeof(set), &set) == 0);
    msim_cpu_device_find(&d);
    CHECK_UINT(d.cores, 1);
    CHECK(strstr(d.name, " (1 core)"));
}

/* Its clock goes on, and is of microseconds. */
static void test_cpu_device__clock(void)
{
    double begin = msim_cpu_now_us(), waited;

    usleep(20000);
    waited = msim_cpu_now_us() - begin;
    CHECK(waited >= 20000 && waited < 20e6);
}

static void check_list(const cJSON *o, const char *name, const char *want)
{
    char *text =
        cJSON_PrintUnformatted(cJSON_GetObjectItemCaseSensitive(o, name));

    CHECK_STR(text, want);
    cJSON_free(text);
}

static void test_cpu_backend__greets(void)
{
    struct msim_cpu *cpu = open_cpu();
    cJSON *o, *tables, *left;
    bool conv;

    REQUIRE(cpu);
    conv = *msim_cpu_conv_kinds() != NULL;
    o = written(MSIM_BACKEND_CPU.describe, cpu);
    tables = cJSON_GetObjectItem(o, "tables");
    left = cJSON_GetObjectItem(o, "left_out");
    CHECK_STR(MSIM_BACKEND_CPU.name, "cpu");
    CHECK(cJSON_HasObjectItem(o, "device"));
    CHECK(cJSON_HasObjectItem(cJSON_GetObjectItem(o, "libraries"), "OpenBLAS"));
    CHECK(cJSON_HasObjectItem(cJSON_GetObjectItem(o, "libraries"), "oneDNN") ==
          (msim_cpu_dnnl_version() != NULL));
    check_list(tables, "gemm",
               msim_cpu_has_bfloat16(cpu) ? "[\"fp32\",\"fp64\",\"bfloat16\"]"
                                          : "[\"fp32\",\"fp64\"]");
    check_list(tables, "vector",
               "[\"add:fp32\",\"mul:fp32\",\"relu:fp32\",\"gelu:fp32\","
               "\"tanh:fp32\",\"copy:fp32\",\"softmax:fp32\","
               "\"log_softmax:fp32\",\"layer_norm:fp32\",\"rms_norm:fp32\","
               "\"sum:fp32\",\"index_select:fp32\"]");
    check_list(tables, "copy", "[\"d2d\"]");
    check_list(tables, "latency", "[\"call\",\"wake\"]");
    if (conv)
        check_list(tables, "conv",
                   "[\"conv2d_fwd:fp32\",\"conv2d_bwd_data:fp32\","
                   "\"conv2d_bwd_weight:fp32\"]");
    CHECK(cJSON_HasObjectItem(tables, "conv") == conv);
    CHECK(cJSON_HasObjectItem(left, "conv") == !conv);
    CHECK_STR(msim_json_get_text(left, "attention"),
              "no library here has it as one operator");
    CHECK_STR(msim_json_get_text(left, "collective"),
              "mystique-prof-mpi times these");
    cJSON_Delete(o);
    o = written(MSIM_BACKEND_CPU.state, cpu);
    CHECK(cJSON_HasObjectItem(o, "clock_mhz") == (msim_cpu_clock_mhz() > 0));
    cJSON_Delete(o);
    MSIM_BACKEND_CPU.close(cpu);
}

/* Of what is offered each is made ready and timed; of the rest it says why. */
static void test_cpu_backend__prepares(void)
{
    static const struct {
        const char *line, *why; /* NULL: it is timed */
    } CASES[] = {
        {"{\"table\":\"latency\",\"op\":\"call\"}", NULL},
        {"{\"table\":\"latency\",\"op\":\"wake\"}", NULL},
        {"{\"table\":\"copy\",\"op\":\"d2d\",\"bytes\":64}", NULL},
        {"{\"table\":\"vector\",\"op\":\"add\",\"dtype\":\"fp32\",\"shape\":"
         "\"3x4\"}",
         NULL},
        {"{\"table\":\"latency\",\"op\":\"launch\"}",
         "no latency 'launch' here, want call or wake"},
        {"{\"table\":\"copy\",\"op\":\"h2d\",\"bytes\":64}",
         "no copy 'h2d' here, want d2d: host and device are one"},
        {"{\"table\":\"vector\",\"op\":\"add\",\"dtype\":\"fp16\",\"shape\":"
         "\"3x4\"}",
         "no operator 'add' of 'fp16' here"},
        {"{\"table\":\"vector\",\"op\":\"batch_norm\",\"dtype\":\"fp32\","
         "\"shape\":\"3x4\"}",
         "no operator 'batch_norm' of 'fp32' here"},
        {"{\"table\":\"gemm\",\"dtype\":\"fp16\",\"m\":2,\"n\":3,\"k\":4}",
         "no products of 'fp16' here, want fp32, fp64 or bfloat16"},
        {"{\"table\":\"attention\",\"phase\":\"prefill\",\"dtype\":\"fp32\","
         "\"batch\":2,\"heads\":8,\"kv_heads\":4,\"q_len\":16,\"kv_len\":32,"
         "\"head_dim\":64}",
         "no table 'attention' here"},
        {"{\"table\":\"latency\",\"op\":\"call\",\"beside\":{\"table\":"
         "\"latency\",\"op\":\"call\"}}",
         "mystique-prof-mpi times what runs beside a collective"},
    };
    struct msim_cpu *cpu = open_cpu();

    REQUIRE(cpu);
    for (size_t i = 0; i < sizeof(CASES) / sizeof(*CASES); i++) {
        cJSON *line = cJSON_Parse(CASES[i].line);
        struct msim_error err = {0};
        struct msim_case c = {0};
        double us = -1;

        CHECK_INT(MSIM_BACKEND_CPU.prepare(cpu, line, &c, &err),
                  CASES[i].why ? MSIM_ENOMODEL : MSIM_OK);
        CHECK_STR(err.text, CASES[i].why ? CASES[i].why : "");
        CHECK(!CASES[i].why == (c.time != NULL));
        if (!CASES[i].why) {
            CHECK_INT(c.time(c.state, &us, NULL), MSIM_OK);
            CHECK(us >= 0 && us < 60e6);
            if (c.release)
                c.release(c.state);
        }
        cJSON_Delete(line);
    }
    MSIM_BACKEND_CPU.close(cpu);
}

/* A call that does nothing takes nanoseconds, of which a thousand are timed
 * together; so does a copy of 3 x 4 numbers move 3 x 4 x 3 x 4 bytes. */
static void test_cpu_backend__checks(void)
{
    struct msim_cpu *cpu = open_cpu();
    cJSON *line = cJSON_Parse("{\"table\":\"latency\",\"op\":\"call\"}");
    cJSON *add = cJSON_Parse("{\"table\":\"vector\",\"op\":\"add\",\"dtype\":"
                             "\"fp32\",\"shape\":\"3x4\"}");
    cJSON *wrong = cJSON_Parse("{\"table\":\"vector\"}");
    double us, least = 1e9, bytes = 0;
    struct msim_case c;

    REQUIRE(cpu);
    REQUIRE(MSIM_BACKEND_CPU.prepare(cpu, line, &c, NULL) == MSIM_OK);
    for (int i = 0; i < 100; i++) {
        CHECK_INT(c.time(c.state, &us, NULL), MSIM_OK);
        least = us < least ? us : least;
    }
    CHECK(least > 0 && least < 0.5);
    CHECK_INT(MSIM_BACKEND_CPU.check(add, &bytes, NULL), MSIM_OK);
    CHECK_REL(bytes, 3 * 4 * 3 * 4, 0);
    CHECK_INT(MSIM_BACKEND_CPU.check(wrong, &bytes, NULL), MSIM_EFORMAT);
    CHECK_INT(MSIM_BACKEND_CPU.prepare(cpu, wrong, &c, NULL), MSIM_EFORMAT);
    cJSON_Delete(line);
    cJSON_Delete(add);
    cJSON_Delete(wrong);
    MSIM_BACKEND_CPU.close(cpu);
}

int main(void)
{
    RUN(test_cpu_device__members);
    RUN(test_cpu_device__clock);
    RUN(test_cpu_backend__greets);
    RUN(test_cpu_backend__prepares);
    RUN(test_cpu_backend__checks);
    RUN(test_cpu_device__found); /* the last: one core is left */
    return check_summary();
}
