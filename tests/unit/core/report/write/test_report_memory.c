/*
 * tests/unit/core/report/write/test_report_memory.c - memory as text, JSON and
 * a panel.
 */
#include "core/base/units.h"
#include "core/report/write/chart.h"
#include "core/report/write/report_internal.h"
#include "tests/unit/made_prediction.h"
#include "tests/unit/written_text.h"

/* 3 GiB at the peak, of which 2 are parameters, with 1 GiB for the rest. */
struct noted {
    struct msim_named_bytes by[3], first[3];
    struct msim_memory_note_point points[2];
    struct msim_memory_way ways[3];
    struct msim_recorded_memory recorded[2];
    struct msim_memory_note m;
};

static void note(struct noted *n)
{
    *n = (struct noted){
        .by = {{"parameters", 2 * MSIM_GIB},
               {"optimizer_state", 0},
               {"saved_for_backward", MSIM_GIB}},
        .first = {{"parameters", 2 * MSIM_GIB},
                  {"optimizer_state", 0},
                  {"saved_for_backward", 0}},
        .ways = {{"batch 2", MSIM_GIB, MSIM_GIB, 2 * MSIM_GIB, true},
                 {"batch 4", 3 * MSIM_GIB, 3 * MSIM_GIB, 5 * MSIM_GIB, false},
                 {"batch 1", MSIM_MIB, MSIM_MIB, MSIM_GIB, true}},
        .recorded = {{.device = 0, .allocated = 1 << 20, .reserved = 2 << 20},
                     {.device = 3,
                      .allocated = 1 << 20,
                      .reserved = MSIM_BYTES_UNKNOWN}},
        .m = {.peak = 3 * MSIM_GIB,
              .reserved = 3.5 * MSIM_GIB,
              .low = 2.5 * MSIM_GIB,
              .high = 3.25 * MSIM_GIB,
              .context = 512 * MSIM_MIB,
              .nccl = 256 * MSIM_MIB,
              .needed = 4.25 * MSIM_GIB,
              .capacity = 4 * MSIM_GIB,
              .fits = "no",
              .rank = 2}};
    n->points[0] = (struct msim_memory_note_point){
        .at = 0, .op = "aten::mm", .reserved = 2 * MSIM_GIB, .by = n->first};
    n->points[1] = (struct msim_memory_note_point){
        .at = 2000 * MSIM_PS_PER_US, .reserved = 3.5 * MSIM_GIB, .by = n->by};
    n->m.by = n->by;
    n->m.n_by = 3;
}

/* ---- text ---------------------------------------------------------------- */

static void test_report_memory__cells(void)
{
    struct noted n;
    char cell[MSIM_CELL];

    note(&n);
    msim_report_memory_cell(cell, &n.m);
    CHECK_STR(cell, "3.00 !");
    n.m.capacity = n.m.needed; /* it just fits */
    msim_report_memory_cell(cell, &n.m);
    CHECK_STR(cell, "3.00");
    n.m.fits = "edge";
    CHECK_INT(msim_report_memory_mark(&n.m), '?');
    msim_report_memory_cell(cell, &n.m);
    CHECK_STR(cell, "3.00 ?");
    n.m.capacity /= 2; /* more is expected than it has, less is possible */
    CHECK_INT(msim_report_memory_mark(&n.m), '!');
    msim_report_memory_cell(cell, &n.m);
    CHECK_STR(cell, "3.00 !");
    n.m.capacity *= 2;
    n.m.peak = 1;
    msim_report_memory_cell(cell, &n.m);
    CHECK_STR(cell, "0.00 ?");
    n.m.peak = 0;
    msim_report_memory_cell(cell, &n.m);
    CHECK_STR(cell, "-");
    n.m = MSIM_MEMORY_NOT_KNOWN;
    CHECK_INT(msim_report_memory_mark(&n.m), 0);
    msim_report_memory_cell(cell, &n.m);
    CHECK_STR(cell, "-");
}

static void check_text(const struct msim_memory_note *m, const char *want)
{
    struct written w = written_begin();

    msim_report_memory_text(m, "--", w.out);
    WRITTEN(&w, want);
}

#define NEEDS "does not fit: needs 4.25 GiB of 4.00 GiB"
#define PARTS "; at the peak: parameters 2.00 GiB, saved for backward 1.00 GiB"

static void test_report_memory__texts(void)
{
    struct noted n;

    note(&n);
    check_text(&n.m, NEEDS PARTS ", CUDA's context 512.00 MiB, NCCL's buffers "
                                 "256.00 MiB\n");
    n.m.nccl = n.by[1].bytes = 1; /* a byte is not nothing */
    check_text(&n.m, NEEDS "; at the peak: parameters 2.00 GiB, optimizer "
                           "state 1 B, saved for backward 1.00 GiB, CUDA's "
                           "context 512.00 MiB, NCCL's buffers 1 B\n");
    n.m.nccl = n.by[1].bytes = 0;
    check_text(&n.m, NEEDS PARTS ", CUDA's context 512.00 MiB\n");
    n.m.context = 0;
    n.m.nccl = 1;
    check_text(&n.m, NEEDS PARTS "\n");
    n.m.ways = n.ways;
    n.m.n_ways = 1;
    check_text(&n.m, NEEDS PARTS "\n--would fit: batch 2 (2.00 GiB)\n--");
    n.m.n_ways = 3;
    check_text(&n.m, NEEDS PARTS
               "\n--would fit: batch 2 (2.00 GiB); batch 1 (1.00 GiB)\n"
               "--would not yet: batch 4 (5.00 GiB)\n");
    n.m.n_by = n.m.n_ways = 0;
    check_text(&n.m, NEEDS "\n");
    n.m.fits = "edge"; /* of what may fit, the parts are not listed */
    n.m.n_by = 3;
    n.m.needed = n.m.capacity;
    check_text(&n.m, "is not sure to fit: needs 4.00 GiB of 4.00 GiB\n");
    n.m.fits = "yes";
    check_text(&n.m, "");
}

static void check_page(struct msim_prediction *p, const char *want)
{
    struct written w = written_begin();
    struct msim_page page = {.p = p, .out = w.out};

    msim_page_memory(&page);
    WRITTEN(&w, want);
}

/* Figures of one GPU stand below each other; of several each is named. */
static void test_report_memory__pages(void)
{
    struct noted n;
    struct made m;

#define PEAK                                                                   \
    "  memory              3.00 GiB      90 %: 2.50 GiB to 3.25 GiB at the "   \
    "peak"
#define BESIDE                                                                 \
    "\n    beside it: CUDA's context 512.00 MiB, NCCL's buffers 256.00 MiB\n"
    note(&n);
    made_fill(&m);
    n.m.capacity = 8 * MSIM_GIB;
    m.p.memory = n.m;
    check_page(&m.p, PEAK ", 3.50 GiB reserved" BESIDE);
    m.p.memory.reserved = m.p.memory.peak;
    m.p.memory.recorded = (struct msim_recorded_list){n.recorded, 1};
    check_page(
        &m.p, "  memory recorded    1.00 MiB, 2.00 MiB reserved\n" PEAK BESIDE);
    m.p.memory.peak = 0;
    m.p.memory.recorded.n = 2;
    check_page(&m.p, "  memory recorded  GPU 0: 1.00 MiB, 2.00 MiB reserved; "
                     "GPU 3: 1.00 MiB\n");
    m.p.memory = n.m;
    m.p.memory.context = NAN;
    m.p.memory.reserved = NAN;
    m.p.memory.n_by = 0;
    m.p.memory.capacity = 4 * MSIM_GIB;
    check_page(&m.p, PEAK "\n    " NEEDS "\n");
}

/* ---- JSON ---------------------------------------------------------------- */

#define FIGURES                                                                \
    "{\"memory_bytes\": {\"peak\": 3221225472, \"low\": 2684354560, "          \
    "\"high\": 3489660928, \"reserved\": 3758096384, \"cuda_context\": "       \
    "536870912, \"nccl_buffers\": 268435456, \"needed\": 4563402752, "
#define BY                                                                     \
    "\"by\": {\"parameters\": 2147483648, \"optimizer_state\": 0, "            \
    "\"saved_for_backward\": 1073741824}"

static void check_json(const struct msim_memory_note *m,
                       void (*put)(struct msim_json *,
                                   const struct msim_memory_note *),
                       const char *want)
{
    struct written w = written_begin();
    struct msim_json j;

    msim_json_begin(&j, msim_sink_file, w.out);
    msim_json_open(&j, NULL, '{', false);
    put(&j, m);
    msim_json_close(&j);
    CHECK_INT(msim_json_end(&j), MSIM_OK);
    WRITTEN(&w, want);
}

static void test_report_memory__json(void)
{
    struct noted n;

    note(&n);
    check_json(&n.m, msim_report_json_rank_memory,
               FIGURES "\"measured\": null, " BY "}}\n");
    check_json(&n.m, msim_report_json_memory,
               FIGURES "\"measured\": null, \"rank\": 2, " BY
                       ", \"capacity\": 4294967296, \"fits\": \"no\"}}\n");
    n.m.rank = -1;
    n.m.n_by = 0;
    n.m.ways = &n.ways[1];
    n.m.n_ways = 1;
    n.m.points = n.points;
    n.m.n_points = 1;
    check_json(
        &n.m, msim_report_json_memory,
        FIGURES
        "\"measured\": null, \"rank\": null, \"by\": {}, \"capacity\": "
        "4294967296, \"fits\": \"no\", \"would_fit\": [{\"change\": "
        "\"batch 4\", \"peak\": 3221225472, \"reserved\": 3221225472, "
        "\"needed\": 5368709120, \"fits\": false}], \"timeline\": [\n"
        "      {\"at_us\": 0.000, \"operator\": \"aten::mm\", \"reserved\": "
        "2147483648, \"by\": {}}\n    ]}}\n");
    check_json(&n.m, msim_report_json_rank_memory, "{}\n");
    n.m.recorded = (struct msim_recorded_list){n.recorded, 1};
    check_json(&n.m, msim_report_json_rank_memory,
               FIGURES "\"measured\": {\"allocated\": 1048576, \"reserved\": "
                       "2097152, \"gpus\": [{\"gpu\": 0, \"allocated\": "
                       "1048576, \"reserved\": 2097152}]}, \"by\": {}}}\n");
    n.m.recorded.n = 2; /* what one keeps is unknown: so is the sum */
    check_json(&n.m, msim_report_json_rank_memory,
               FIGURES "\"measured\": {\"allocated\": 2097152, \"reserved\": "
                       "null, \"gpus\": [{\"gpu\": 0, \"allocated\": 1048576, "
                       "\"reserved\": 2097152}, {\"gpu\": 3, \"allocated\": "
                       "1048576, \"reserved\": null}]}, \"by\": {}}}\n");
}

/* ---- a panel ------------------------------------------------------------- */

static char *panel(const struct msim_memory_note *m)
{
    struct written w = written_begin();
    struct msim_chart c = {.out = w.out, .height = 400};

    msim_chart_memory(&c, m, 0);
    return written_end(&w);
}

/* Ends of the parts on top of each other, in GiB and ms; what no point has is
 * not drawn; the GPU's memory only below three times what is needed. */
static void test_report_memory__panel(void)
{
    struct noted n;
    char *text;

    note(&n);
    CHECK_INT(msim_chart_memory_height(&n.m), 0);
    n.m.points = n.points;
    n.m.n_points = 2;
    CHECK_INT(msim_chart_memory_height(&n.m), 56 + 200 + 64);
    text = panel(&n.m);
    CHECK(strstr(text, "$memory << MSIM_END\n0 2 2 2 2\n2 2 2 3 "
                       "3.5\nMSIM_END\n"));
    CHECK(strstr(text, "\"Memory of rank 2: 3.00 GiB at the peak, the GPU has "
                       "4.00 GiB\""));
    CHECK(strstr(text, "set yrange [0:4.32]\nset xrange [0:2]\n"));
    CHECK(strstr(text, "set ylabel \"GiB\"\n"));
    CHECK(strstr(text, "fc rgb \"#4477aa\"") &&
          strstr(text, "fc rgb \"#228833\"") &&
          !strstr(text, "fc rgb \"#66ccee\""));
    CHECK(strstr(text, "\"saved for backward\"") && strstr(text, "#cc3311"));
    CHECK(strstr(text,
                 "plot $memory using 1:4 with fillsteps fs solid 1 noborder lc "
                 "rgb \"#228833\", $memory using 1:2 with fillsteps fs solid 1 "
                 "noborder lc rgb \"#4477aa\", 4 with lines lc rgb '#cc3311' "
                 "lw 1.6, $memory using 1:5 with steps lc rgb '#222222' lw "
                 "1.2\n"));
    free(text);
    n.m.capacity = 3 * n.m.needed; /* it would squeeze the curve */
    n.m.rank = -1;
    text = panel(&n.m);
    CHECK(!strstr(text, "#cc3311"));
    CHECK(strstr(text, "\"Memory: 3.00 GiB at the peak, the GPU has 12.75 "
                       "GiB\""));
    CHECK(strstr(text, "set yrange [0:3.78]\n")); /* 1.08 * 3.5 */
    free(text);
    n.m.capacity = NAN;
    n.first[1].bytes = 1;
    n.m.rank = 0;
    n.m.peak = MSIM_GIB / 2; /* in MiB then */
    n.m.reserved = NAN;
    text = panel(&n.m);
    CHECK(strstr(text, "\"Memory of rank 0: 512.00 MiB at the peak\""));
    CHECK(strstr(text, "set yrange [0:552.96]\n"));
    CHECK(strstr(text, "\n2 2048 2048 3072 3584\n"));
    CHECK(strstr(text, "set ylabel \"MiB\"\n"));
    CHECK(strstr(text, "fc rgb \"#66ccee\""));
    free(text);
}

int main(void)
{
    RUN(test_report_memory__cells);
    RUN(test_report_memory__texts);
    RUN(test_report_memory__pages);
    RUN(test_report_memory__json);
    RUN(test_report_memory__panel);
    return check_summary();
}
