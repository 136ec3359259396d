/*
 * plan/outcome/plan_draw.c - scripts for gnuplot.
 */
#include "plan/outcome/plan_report.h"

#include "core/report/write/chart.h"

#include <errno.h>
#include <string.h>

/* Those of the pages that page.js draws. */
const char *msim_plan_color(uint32_t i)
{
    static const char *const COLORS[] = {"#2f6db5", "#d9822b", "#3a9a62",
                                         "#7a5ea8", "#b3261e", "#8f98a5",
                                         "#1f9aa5", "#a5791f"};

    return COLORS[i % (sizeof(COLORS) / sizeof(COLORS[0]))];
}

void msim_plan_script_begin(FILE *out, int height)
{
    fprintf(out,
            "set encoding utf8\n"
            "set terminal svg noenhanced size 640,%d "
            "font 'sans,17' background '#ffffff'\n"
            "set border 3 lc rgb '#888888'\nset tics nomirror tc rgb "
            "'#333333'\nset grid lc rgb '#dddddd'\n"
            "set key outside bottom center horizontal Left reverse height 1.5 "
            "font ',14'\n",
            height);
}

enum msim_status msim_plan_script_draw(FILE *script, char **svg,
                                       struct msim_error *err)
{
    size_t n;
    enum msim_status status = msim_gnuplot_run(script, svg, &n, err);

    fclose(script);
    return status;
}

FILE *msim_plan_script(struct msim_error *err)
{
    FILE *script = tmpfile();

    if (!script)
        (void)msim_fail(err, MSIM_EWRITE, NULL, MSIM_OFFSET_NONE,
                        "cannot use a temporary file: %s", strerror(errno));
    return script;
}
