/*
 * cli/platforms/platform_calibration.c - how a machine was calibrated: which
 * backends timed it, how much their times differ, how much longer work takes
 * while a collective runs or back to back, and whether counters agree with what
 * laws assume.
 */
#include "cli/platforms/platform_page.h"
#include "core/base/print.h"

static const char *text(const cJSON *o, const char *key)
{
    const char *t = msim_json_get_text(o, key);

    return t ? t : "?";
}

static void put_backend(FILE *out, const cJSON *b)
{
    const cJSON *library;

    msim_print(out, "  %-10s %5.0f rows  %s  version %s", text(b, "backend"),
               msim_json_get_number(b, "rows", 0), text(b, "date"),
               text(b, "version"));
    cJSON_ArrayForEach(library,
                       cJSON_GetObjectItemCaseSensitive(b, "libraries"))
    {
        if (cJSON_IsString(library))
            msim_print(out, "\n             %s: %s", library->string,
                       library->valuestring);
    }
    fputc('\n', out);
}

static void put_difference(FILE *out, const cJSON *d)
{
    msim_print(
        out,
        "  %-10s %s takes x %.2f of %s's times (median of %.0f; 80 %%: %.2f "
        "to %.2f)\n",
        text(d, "table"), text(d, "backend"),
        msim_json_get_number(d, "median", 0), text(d, "over"),
        msim_json_get_number(d, "pairs", 0), msim_json_get_number(d, "p10", 0),
        msim_json_get_number(d, "p90", 0));
}

/* Of one table and collective, or of all. */
static void put_concurrent(FILE *out, const cJSON *b)
{
    const char *table = msim_json_get_text(b, "table");
    const char *collective = msim_json_get_text(b, "collective");

    msim_print(
        out,
        "  %-10s x %.2f as long while %s runs (median of %.0f; 80 %%: %.2f to "
        "%.2f)\n",
        table ? table : "all", msim_json_get_number(b, "median", 0),
        collective ? collective : "a collective",
        msim_json_get_number(b, "experiments", 0),
        msim_json_get_number(b, "p10", 0), msim_json_get_number(b, "p90", 0));
}

static void put_sustained(FILE *out, const cJSON *s)
{
    const cJSON *r = cJSON_GetObjectItemCaseSensitive(s, "time_ratio");
    double mhz = msim_json_get_number(s, "sm_mhz", 0);
    double watts = msim_json_get_number(s, "power_w", 0);

    msim_print(
        out,
        "  %-10s x %.2f as long back to back (median of %.0f; 80 %%: %.2f "
        "to %.2f)",
        "products", msim_json_get_number(r, "median", 0),
        msim_json_get_number(r, "experiments", 0),
        msim_json_get_number(r, "p10", 0), msim_json_get_number(r, "p90", 0));
    if (mhz > 0)
        fprintf(out, ", at %.0f MHz", mhz);
    if (watts > 0)
        msim_print(out, "%s %.0f W", mhz > 0 ? " and" : ", at", watts);
    fputc('\n', out);
}

static void put_ratio(FILE *out, const cJSON *c, const char *key,
                      const char *what)
{
    const cJSON *r = cJSON_GetObjectItemCaseSensitive(c, key);

    if (r)
        msim_print(out, "\n             %s x %.2f (80 %%: %.2f to %.2f)", what,
                   msim_json_get_number(r, "median", 0),
                   msim_json_get_number(r, "p10", 0),
                   msim_json_get_number(r, "p90", 0));
}

static void put_counters(FILE *out, const cJSON *c)
{
    msim_print(out,
               "  %-10s %s counted, over what works assume (medians of %.0f):",
               text(c, "table"), text(c, "backend"),
               msim_json_get_number(c, "experiments", 0));
    put_ratio(out, c, "read_over_assumed", "bytes read   ");
    put_ratio(out, c, "written_over_assumed", "bytes written");
    put_ratio(out, c, "operations_over_assumed", "operations   ");
    fputc('\n', out);
}

static void put_trace(FILE *out, const cJSON *t)
{
    msim_print(out, "  %-32s %6.0f kernels %10.3f ms", text(t, "file"),
               msim_json_get_number(t, "kernels", 0),
               msim_json_get_number(t, "us", 0) / 1e3);
    if (msim_json_get_number(t, "kernels", 0) > 0)
        fprintf(out, " %+7.1f %+7.1f %+7.1f",
                100 * msim_json_get_number(t, "error_base", 0),
                100 * msim_json_get_number(t, "error_fitted", 0),
                100 * msim_json_get_number(t, "error_held_out", 0));
    fputc('\n', out);
}

/* What was learned from traces (predict/learn). */
static void put_evidence(const cJSON *file, FILE *out)
{
    const cJSON *e = cJSON_GetObjectItemCaseSensitive(file, "evidence");
    const cJSON *t;

    if (!cJSON_IsObject(e))
        return;
    msim_print(
        out,
        "\nMade of %s, and learned from these traces: errors of kernels in "
        "%% by %s, as learned,\nand held out (%s); means %.1f, %.1f, %.1f; "
        "SM clock %.0f %% of the usual one\n",
        text(file, "base"), text(file, "base"), text(e, "held_out"),
        100 * msim_json_get_number(e, "error_base", 0),
        100 * msim_json_get_number(e, "error_fitted", 0),
        100 * msim_json_get_number(e, "error_held_out", 0),
        100 * msim_json_get_number(e, "clock", 1));
    cJSON_ArrayForEach(t, cJSON_GetObjectItemCaseSensitive(e, "traces"))
        put_trace(out, t);
}

void msim_platform_page_put_calibration(const cJSON *file, FILE *out)
{
    const cJSON *made = cJSON_GetObjectItemCaseSensitive(file, "provenance");
    const cJSON *apart = cJSON_GetObjectItemCaseSensitive(file, "differences");
    const cJSON *concurrent = cJSON_GetObjectItemCaseSensitive(file, "beside");
    const cJSON *counters = cJSON_GetObjectItemCaseSensitive(file, "counters");
    const cJSON *many = cJSON_GetObjectItemCaseSensitive(file, "sustained");
    const cJSON *item;

    put_evidence(file, out);
    if (!cJSON_IsObject(made))
        return;
    msim_print(out, "\nCalibrated by %s, rows in %s\n", text(made, "program"),
               text(made, "rows_file"));
    cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(made, "backends"))
        put_backend(out, item);
    cJSON_ArrayForEach(item, apart) put_difference(out, item);
    cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(concurrent, "of"))
        put_concurrent(out, item);
    if (concurrent)
        put_concurrent(out, concurrent);
    if (many)
        put_sustained(out, many);
    cJSON_ArrayForEach(item, counters) put_counters(out, item);
}
