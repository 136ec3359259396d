/*
 * plan/outcome/plan_draw.c - scripts for gnuplot.
 */
#include "plan/outcome/plan_draw.h"

#include "core/report/write/gnuplot.h"

#include <errno.h>
#include <string.h>

void msim_plan_script_begin(FILE *out, int height)
{
    fprintf(out,
            "set encoding utf8\n"
            "set terminal svg noenhanced size 960,%d "
            "font 'sans,17' background '#ffffff'\n"
            "set border 3 lc rgb '#888888'\nset tics nomirror tc rgb "
            "'#333333'\nset grid lc rgb '#dddddd'\nset key outside right top\n",
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
