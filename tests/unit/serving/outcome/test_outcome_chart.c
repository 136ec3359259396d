/* serving/outcome/outcome_chart.c: what gnuplot is asked to draw; a program in
 * its place answers with that. */
#include "serving/outcome/serving_outcome.h"
#include "tests/unit/fake_gnuplot.h"

#include <math.h>

#define MS  INT64_C(1000000000)
#define ALL 1001

static const struct msim_promise promises[] = {
    {0, MSIM_PROMISE_E2E, 90, 500},
    {0, MSIM_PROMISE_TTFT, 50, 7},
    {MSIM_CLASS_ALL, MSIM_PROMISE_E2E, 99.9, 750}};
static const struct msim_app app = {
    .n_classes = 7, .promises = promises, .n_promises = 3};
static struct msim_class_outcome c[7];
static struct msim_served rows[ALL];
static char path[] = P_tmpdir "/msim-chart-XXXXXX";
static char drawn[32768];

static const char *draw(bool saturated)
{
    struct msim_serving_outcome o = {
        .app = &app,
        .classes = c,
        .saturated = saturated,
        .run = {.requests = rows, .n_requests = ALL}};
    struct msim_error err = {0};
    FILE *f;

    CHECK_INT(msim_serving_chart(&o, path, &err), MSIM_OK);
    CHECK_STR(err.text, "");
    f = fopen(path, "r");
    if (!CHECK(f != NULL))
        return "";
    drawn[fread(drawn, 1, sizeof(drawn) - 1, f)] = '\0';
    fclose(f);
    return drawn;
}

static const char HEAD[] =
    "set encoding utf8\nset border 3 lc rgb '#888888'\nset tics nomirror tc rgb"
    " '#333333'\nset grid lc rgb '#dddddd'\nset key left top\nset xlabel "
    "'percentile of requests'\nset ylabel 'end to end, ms'\nset yrange [0:*]\n"
    "set xtics ()\nset xtics add ('0' -0.000000)\nset xtics add ('50' 0.301030)"
    "\nset xtics add ('90' 1.000000)\nset xtics add ('99' 2.000000)\nset xtics "
    "add ('99.9' 3.000000)\nset title \"Latency and promises\"\n";
static const char TAIL[] =
    "$c6 << MSIM_END\nNaN NaN\nMSIM_END\n$promises << MSIM_END\n1 500\n"
    "3 750\nNaN NaN\nMSIM_END\nplot $c0 using 1:2 with lines lw 2 lc rgb"
    " \"#4477aa\" title \"k0\", $c1 using 1:2 with lines lw 2 lc rgb "
    "\"#ee6677\""
    " title \"k1\", $c2 using 1:2 with lines lw 2 lc rgb \"#228833\" title "
    "\"k2\", $c3 using 1:2 with lines lw 2 lc rgb \"#ccbb44\" title \"k3\", $c4"
    " using 1:2 with lines lw 2 lc rgb \"#66ccee\" title \"k4\", $c5 using 1:2 "
    "with lines lw 2 lc rgb \"#aa3377\" title \"k5\", $c6 using 1:2 with lines "
    "lw 2 lc rgb \"#4477aa\" title \"k6\", $promises using 1:2 with points pt "
    "7 ps 1.2 lc rgb '#222222' title 'promised'\n" FAKE_GNUPLOT_END;

/* Requests take 0 to 1000 ms, as often: 1000 p of them take no longer than
 * percentile p, from 0 to 99.9 in 160 steps of 3 / 160 nines. */
static void test_outcome_chart__whole(void)
{
    static const char *const NAMES[] = {"k0", "k1", "k2", "k3",
                                        "k4", "k5", "k6"};
    char want[16384];
    const char *at;
    size_t used;

    for (int i = 0; i < 7; i++)
        c[i].name = NAMES[i];
    for (int i = 0; i < ALL; i++)
        rows[i] = (struct msim_served){
            .ended = i * MS, .first = MSIM_TIME_NONE, .measured = true};
    at = strchr(draw(false), '\n');
    REQUIRE(at != NULL);
    CHECK(
        strncmp(drawn,
                "set terminal svg noenhanced size 1000,520 font 'sans-serif,14"
                "' background '#ffffff'\n",
                at - drawn + 1) == 0);
    used = (size_t)snprintf(want, sizeof(want), "%s$c0 << MSIM_END\n", HEAD);
    for (int i = 0; i <= 160; i++) {
        double x = 3.0 * i / 160;

        used += (size_t)snprintf(want + used, sizeof(want) - used,
                                 "%.6g %.6g\n", x, 1000 * (1 - pow(10, -x)));
    }
    used += (size_t)snprintf(want + used, sizeof(want) - used,
                             "NaN NaN\nMSIM_END\n");
    for (int i = 1; i < 6; i++)
        used += (size_t)snprintf(want + used, sizeof(want) - used,
                                 "$c%d << MSIM_END\nNaN NaN\nMSIM_END\n", i);
    snprintf(want + used, sizeof(want) - used, "%s", TAIL);
    CHECK_STR(at + 1, want);
    draw(true);
    CHECK(strstr(drawn, "set title \"Latency and promises (overloaded: of this "
                        "run)\"\n") != NULL);
}

int main(void)
{
    int fd = mkstemp(path);

    if (fd < 0 || !fake_gnuplot_begin())
        return 1;
    close(fd);
    RUN(test_outcome_chart__whole);
    CHECK_INT(unlink(path), 0);
    fake_gnuplot_end();
    return check_summary();
}
