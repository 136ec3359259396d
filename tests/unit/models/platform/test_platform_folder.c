/*
 * models/platform/platform_find.c and platform_load.c: a folder of platforms
 * that are made up, with and without the table of their names.
 */
#include "models/platform/platform.h"
#include "models/platform/platform_data.h"
#include "tests/check.h"

#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[32];
static char written[32][64]; /* paths */
static uint32_t n_written;

/* A file of the folder; its size. */
static size_t put(const char *name, const char *text)
{
    char path[64];
    FILE *out;

    snprintf(path, sizeof(path), "%.24s/platforms/%.20s", folder, name);
    out = fopen(path, "w");
    if (!CHECK(out != NULL))
        return 0;
    fputs(text, out);
    fclose(out);
    memcpy(written[n_written++], path, sizeof(path));
    return strlen(text);
}

static void begin(void)
{
    char path[64];

    n_written = 0;
    snprintf(folder, sizeof(folder), "msim-test-XXXXXX");
    CHECK(mkdtemp(folder) != NULL);
    snprintf(path, sizeof(path), "%.24s/platforms", folder);
    CHECK(mkdir(path, 0700) == 0);
}

static void done(void)
{
    char path[64];

    while (n_written > 0)
        unlink(written[--n_written]);
    snprintf(path, sizeof(path), "%.24s/platforms", folder);
    rmdir(path);
    rmdir(folder);
}

/* ---- names --------------------------------------------------------------- */

#define FILE_A                                                                 \
    "{\"name\":\"a\",\"generation\":\"old\",\"aliases\":[\"Alias A\",3],"      \
    "\"devices\":[{\"name\":\"Dev A\",\"memory_from\":10,\"memory_to\":20,"    \
    "\"sms\":5},{\"sms\":7},{\"name\":\"Any\"}]}"
#define FILE_B "{\"name\":\"b\",\"aliases\":[\"bee\"]}"
#define FILE_C "{\"name\":\"c\",\"generation\":\"new\"}"
#define HEAD   "platform,bytes,hash,kind,name,memory_from,memory_to,sms\n"

/* All rows as text: "a generation old 0 inf 0; ". */
static const char *called(void)
{
    static const char *const KINDS[] = {"generation", "alias", "device"};
    static char text[1024];
    struct msim_platform_called *rows = NULL;
    struct msim_arena arena;
    size_t len = 0;
    uint32_t n;

    text[0] = '\0';
    msim_arena_init(&arena);
    CHECK_INT(msim_platform_calls(&arena, folder, &rows, &n, NULL), MSIM_OK);
    for (uint32_t i = 0; i < n; i++)
        len += (size_t)snprintf(
            text + len, sizeof(text) - len, "%s %s %s %g %g %g; ",
            rows[i].platform, KINDS[rows[i].kind], rows[i].name,
            rows[i].memory_from, rows[i].memory_to, rows[i].sms);
    free(rows);
    msim_arena_release(&arena);
    return text;
}

#define OF_A                                                                   \
    "a generation old 0 0 0; a alias Alias A 0 0 0; a device Dev A 10 20 5; "  \
    "a device Any 0 inf 0; "
#define OF_B "b alias bee 0 0 0; "
#define OF_C "c generation new 0 0 0; "
/* as the table has them */
#define TOLD_B "b alias told 0 inf 0; b device d 1 2 3; "
#define TOLD_C "c generation newer 0 inf 0; "

/* From files; one that cannot be read is called nothing. */
static void test_folder__names_of_files(void)
{
    begin();
    CHECK_STR(called(), "");
    (void)put("a.json", FILE_A);
    (void)put("b.json", FILE_B);
    (void)put("bad.json", "{");
    (void)put("c.json", FILE_C);
    CHECK_STR(called(), OF_A OF_B OF_C);
    done();
}

/* The table's rows count for the very file that they are of, by its size; rows
 * of others are passed over. A table of another form is none. */
static void test_folder__names_of_the_table(void)
{
    static const struct {
        const char *head, *before, *between, *more;
        int wrong; /* bytes that b's rows say too many */
        const char *says;
    } CASE[] = {
        {HEAD, "", "", "", 0, OF_A TOLD_B TOLD_C},
        {HEAD, "", "", "", 1, OF_A OF_B TOLD_C},
        {HEAD, "aa,1,,alias,x,,,\n", "", "", 0, OF_A TOLD_B TOLD_C},
        {HEAD, "", "bb,1,,alias,x,,,\nbb,1,,alias,y,,,\n", "", 1,
         OF_A OF_B TOLD_C},
        {"platform,bytes,hash,kind,name,memory_from,memory_to,SMs\n", "", "",
         "", 0, OF_A OF_B OF_C},
        {"platform,bytes,hash,kind,name,memory_from,memory_to\n", "", "", "", 0,
         OF_A OF_B OF_C},
        {"platform,bytes,hash,kind,name,memory_from,memory_to,sms,more\n", "",
         "", ",", 0, OF_A OF_B OF_C},
    };
    char text[512];

    for (size_t i = 0; i < sizeof(CASE) / sizeof(*CASE); i++) {
        size_t bytes;

        begin();
        (void)put("a.json", FILE_A);
        bytes = put("b.json", FILE_B) + (size_t)CASE[i].wrong;
        (void)put("c.json", FILE_C);
        snprintf(text, sizeof(text),
                 "%s%sb,%zu,,alias,told,,,%s\nb,%zu,,device,d,1,2,3%s\n%s"
                 "c,%zu,,generation,newer,,,%s\n",
                 CASE[i].head, CASE[i].before, bytes, CASE[i].more, bytes,
                 CASE[i].more, CASE[i].between, strlen(FILE_C), CASE[i].more);
        (void)put("names.csv", text);
        CHECK_STR(called(), CASE[i].says);
        done();
    }
}

/* A file is as it was shipped where its bytes have the hash of its rows. */
static void test_folder__knows_what_is_shipped(void)
{
    begin();
    CHECK(!msim_platform_is_shipped(folder, "b", 0));
    (void)put("names.csv", HEAD "a,1,10,alias,x,,,\nb,1,ffffffffffffffff,"
                                "alias,y,,,\nb,1,ffffffffffffffff,alias,z,,,"
                                "\n");
    CHECK(msim_platform_is_shipped(folder, "a", 16));
    CHECK(!msim_platform_is_shipped(folder, "a", 10));
    CHECK(msim_platform_is_shipped(folder, "b", UINT64_MAX));
    CHECK(!msim_platform_is_shipped(folder, "b", 16));
    CHECK(!msim_platform_is_shipped(folder, "c", 16));
    done();
}

static void test_folder__finds(void)
{
    static const struct {
        const char *typed, *found;
    } CASE[] = {
        {"a", "a"},           {"A", "a"},           {"rtx-40", "rtx-40"},
        {"RTX 40", "rtx-40"}, {"rtx_40", "rtx-40"}, {"alias a", "a"},
        {"ALIAS_A", "a"},     {"bee", "b"},         {"be", NULL},
        {"beee", NULL},       {"old", NULL},        {"Dev A", NULL}};
    char path[128], want[128];
    struct msim_error err;

    begin();
    (void)put("a.json", FILE_A);
    (void)put("b.json", FILE_B);
    (void)put("rtx-40.json", "{\"aliases\":[\"a\"]}"); /* a name goes first */
    for (size_t i = 0; i < sizeof(CASE) / sizeof(*CASE); i++) {
        err = (struct msim_error){0};
        CHECK_INT(
            msim_platform_find(path, sizeof(path), folder, CASE[i].typed, &err),
            CASE[i].found ? MSIM_OK : MSIM_EUNKNOWN);
        snprintf(want, sizeof(want), "%s/platforms/%s.json", folder,
                 CASE[i].found ? CASE[i].found : "");
        if (CASE[i].found)
            CHECK_STR(path, want);
        else
            CHECK(strstr(err.text, CASE[i].typed) &&
                  strstr(err.text, "rtx-40"));
    }
    CHECK_INT(msim_platform_find(path, sizeof(path), folder, "x/y", NULL),
              MSIM_OK);
    CHECK_STR(path, "x/y");
    done();
}

/* By the device's name in any case, memory between both ends, and SMs; what the
 * trace does not say fits all. */
static void test_folder__matches(void)
{
    static const struct {
        const char *gpu;
        uint64_t memory;
        uint32_t sms;
        bool found;
    } CASE[] = {{"Dev A", 15, 5, true},  {"dev a", 15, 5, true},
                {"Dev A", 10, 5, true},  {"Dev A", 9, 5, false},
                {"Dev A", 20, 5, true},  {"Dev A", 21, 5, false},
                {"Dev A", 0, 5, true},   {"Dev A", 15, 0, true},
                {"Dev A", 15, 6, false}, {"Alias A", 0, 0, false},
                {"Any", 1000, 0, true},  {"Any", 1000, 3, false}};
    struct msim_arena arena;

    begin();
    (void)put("a.json", FILE_A);
    msim_arena_init(&arena);
    for (size_t i = 0; i < sizeof(CASE) / sizeof(*CASE); i++)
        CHECK_STR(msim_platform_match(&arena, folder, CASE[i].gpu,
                                      CASE[i].memory, CASE[i].sms),
                  CASE[i].found ? "a" : NULL);
    msim_arena_release(&arena);
    done();
}

/* ---- loading ------------------------------------------------------------- */

#define SHEET(more)                                                            \
    "\"data_sheet\":{\"fp32_flops\":{\"value\":1e13},\"sms\":{\"value\":80},"  \
    "\"memory_bytes\":1e10,\"l2_bytes\":1e6,\"memory_bandwidth\":1e12,"        \
    "\"kernel_floor_us\":2,\"pcie_bandwidth\":1e10,"                           \
    "\"pageable_bandwidth\":5e9,\"link_bandwidth\":1e11,"                      \
    "\"network_bandwidth\":1e10,\"trace_factor\":1.5" more "}"

/* Platform `name` of a generation. */
static void put_platform(const char *name, const char *generation,
                         const char *more, const char *sheet)
{
    char file[32], text[1024];

    snprintf(file, sizeof(file), "%s.json", name);
    snprintf(text, sizeof(text), "{\"name\":\"%s\",\"generation\":\"%s\",%s%s}",
             name, generation, more, sheet);
    (void)put(file, text);
}

static struct msim_platform *load(const char *name, struct msim_error *err)
{
    struct msim_platform *p;
    enum msim_status status;

    *err = (struct msim_error){0};
    status = msim_platform_load(&p, folder, name, err);
    CHECK_INT(p == NULL, status != MSIM_OK);
    return p;
}

/* Names of what stands in, in order. */
static const char *stand_ins(const struct msim_platform *p)
{
    static char text[256];

    text[0] = '\0';
    for (p = p ? p->next : NULL; p; p = p->next)
        snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s ",
                 p->name);
    return text;
}

/* All of its generation, but itself, in the order of names; those that a file
 * names, in its order, whatever they are of, and no more. */
static void test_folder__loads_stand_ins(void)
{
    struct msim_platform *p;
    struct msim_error err;

    begin();
    put_platform("a", "g", "", SHEET(""));
    put_platform("b", "h", "", SHEET(""));
    put_platform("c", "g", "", SHEET(""));
    put_platform("d", "g", "\"stand_ins\":[\"b\",\"a\"],", SHEET(""));
    put_platform("e", "g", "\"stand_ins\":[],", SHEET(""));
    p = load("c", &err);
    CHECK_STR(stand_ins(p), "a d e ");
    CHECK(p && !p->next->next->next->next);
    msim_platform_free(p);
    p = load("d", &err);
    CHECK_STR(stand_ins(p), "b a ");
    msim_platform_free(p);
    p = load("e", &err);
    CHECK_STR(stand_ins(p), "");
    msim_platform_free(p);
    done();
}

/* Sixteen stand in at most: of a generation the first, of names no more. */
static void test_folder__has_most_stand_ins(void)
{
    char names[256] = "\"stand_ins\":[\"p00\"", name[8];
    struct msim_platform *p;
    struct msim_error err;
    uint32_t n = 0;

    begin();
    for (int i = 0; i < 18; i++) {
        snprintf(name, sizeof(name), "p%02d", i);
        put_platform(name, "g", "", SHEET(""));
        if (i > 0 && i < 16)
            snprintf(names + strlen(names), sizeof(names) - strlen(names),
                     ",\"p%02d\"", i);
    }
    p = load("p00", &err);
    for (const struct msim_platform *at = p ? p->next : NULL; at; at = at->next)
        n++;
    CHECK_INT(n, 16);
    msim_platform_free(p);
    snprintf(names + strlen(names), sizeof(names) - strlen(names), "],");
    put_platform("x", "other", names, SHEET(""));
    p = load("x", &err);
    CHECK(p != NULL);
    msim_platform_free(p);
    snprintf(names + strlen(names) - 2, 16, ",\"p16\"],");
    put_platform("y", "other", names, SHEET(""));
    p = load("y", &err);
    CHECK(!p);
    CHECK_STR(err.text, "more than 16 'stand_ins'");
    put_platform("z", "other", "\"stand_ins\":[7],", SHEET(""));
    p = load("z", &err);
    CHECK(!p);
    CHECK_STR(err.text, "'stand_ins' wants names of platforms");
    done();
}

/* What the file says of itself, and what is taken without it. */
static void test_folder__reads_the_head(void)
{
    struct msim_platform *p;
    struct msim_error err;

    begin();
    put_platform("a", "g", "", SHEET(""));
    put_platform(
        "b", "h",
        "\"kind\":\"cpu\",\"title\":\"A title\",\"base\":\"c\",\"parameters\":"
        "{\"conv_strided_data_gradient\":{\"value\":1.5},"
        "\"conv_weight_gradient\":{\"value\":1.25}},",
        SHEET(""));
    if ((p = load("a", &err))) {
        CHECK(!p->is_host && !p->is_copy && !*p->base);
        CHECK_STR(p->title, "a");
        CHECK_REL(p->conv_strided_data, 1, 0);
        CHECK_REL(p->conv_weight, 1, 0);
        CHECK_REL(p->sheet.bandwidth, 1e12, 0);
    }
    msim_platform_free(p);
    if ((p = load("b", &err))) {
        CHECK(p->is_host);
        CHECK_STR(p->title, "A title");
        CHECK_STR(p->base, "c");
        CHECK_REL(p->conv_strided_data, 1.5, 0);
        CHECK_REL(p->conv_weight, 1.25, 0);
    }
    msim_platform_free(p);
    (void)put("n.json", "{\"generation\":\"g\"," SHEET("") "}");
    CHECK(!load("n", &err));
    CHECK_STR(err.text, "name is missing, want a text");
    (void)put("m.json", "{\"name\":\"m\"," SHEET("") "}");
    CHECK(!load("m", &err));
    CHECK_STR(err.text, "generation is missing, want a text");
    done();
}

/* Types that a file says nothing of are those of its generation, wherever one
 * of them says it; not those of another. */
static void test_folder__inherits_types(void)
{
    struct msim_platform *p;
    struct msim_error err;

    begin();
    put_platform("a", "g", "\"stand_ins\":[\"h\"],", SHEET(""));
    put_platform("b", "g", "\"stand_ins\":[\"h\",\"t\"],", SHEET(""));
    put_platform("h", "other", "", SHEET(",\"tf32_flops\":{\"value\":1e14}"));
    put_platform("t", "g", "", SHEET(",\"tf32_flops\":{\"value\":1e14}"));
    if ((p = load("a", &err)))
        CHECK(p->sheet.missing[MSIM_RATE_TF32]);
    msim_platform_free(p);
    if ((p = load("b", &err)))
        CHECK(!p->sheet.missing[MSIM_RATE_TF32]);
    msim_platform_free(p);
    done();
}

/* A machine whose links nobody timed has those of another. */
static void test_folder__loads_links(void)
{
    struct msim_platform *p;
    struct msim_error err;

    begin();
    put_platform("a", "g", "\"links_of\":\"B\",", SHEET(""));
    put_platform("b", "h", "", SHEET(""));
    put_platform("c", "g", "\"links_of\":\"none\",", SHEET(""));
    if ((p = load("a", &err))) {
        CHECK(p->links && p->links == p->named_links);
        CHECK_STR(p->links ? p->links->name : "", "b");
    }
    msim_platform_free(p);
    if ((p = load("b", &err)))
        CHECK(!p->links && !p->named_links);
    msim_platform_free(p);
    p = load("c", &err);
    CHECK(!p);
    CHECK(!strncmp(err.text, "'links_of': ", 12) && strstr(err.text, "'none'"));
    done();
}

/* A copy has an index of its own and all else of what it was made of; a stack
 * is part of a name. */
static void test_folder__copies(void)
{
    struct msim_platform *p, *copy = NULL;
    struct msim_error err;

    begin();
    put_platform("a", "g", "", SHEET(""));
    if ((p = load("a@pytorch-2.9", &err))) {
        CHECK_STR(p->name, "a@pytorch-2.9");
        CHECK_REL(p->sheet.pytorch, 2.9, 0);
        CHECK_REL(p->usual.pytorch, 2.9, 0);
        CHECK_INT(msim_platform_copy(&copy, p), MSIM_OK);
        CHECK(copy && copy->is_copy && copy->index.entries != p->index.entries);
        CHECK(copy && copy->next == p->next);
        CHECK_STR(copy ? copy->name : "", "a@pytorch-2.9");
        CHECK_INT(msim_platform_pair(p, copy), MSIM_OK);
    }
    msim_platform_free(copy);
    msim_platform_free(p);
    msim_platform_free(NULL);
    done();
}

int main(void)
{
    RUN(test_folder__names_of_files);
    RUN(test_folder__names_of_the_table);
    RUN(test_folder__knows_what_is_shipped);
    RUN(test_folder__finds);
    RUN(test_folder__matches);
    RUN(test_folder__loads_stand_ins);
    RUN(test_folder__has_most_stand_ins);
    RUN(test_folder__reads_the_head);
    RUN(test_folder__inherits_types);
    RUN(test_folder__loads_links);
    RUN(test_folder__copies);
    return check_summary();
}
