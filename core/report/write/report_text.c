/*
 * core/report/write/report_text.c - the report for people.
 *
 * The question comes first, then the time, then the reasons. Figures of one
 * table share a unit, so that they can be compared at a glance. Bars use block
 * characters only where the output is a terminal that shows them.
 */
#include "core/base/print.h"
#include "core/report/write/report_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXAMPLE_COLUMNS 64
#define EXPLAIN_COLUMNS 49 /* beside the operator of such an example */
#define BAR_CELLS       24
#define BAR_BYTES       (2 + 3 * BAR_CELLS + 4)

static bool locale_is_utf8(void)
{
    static const char *const NAMES[] = {"LC_ALL", "LC_CTYPE", "LANG"};

    for (size_t i = 0; i < sizeof(NAMES) / sizeof(NAMES[0]); i++) {
        const char *value = getenv(NAMES[i]);

        if (value && value[0])
            return strstr(value, "UTF-8") || strstr(value, "utf8");
    }
    return false;
}

/*
 * The breakdown of the same iterations as the headline: of the slowest rank of
 * each, so that both have one total. `hidden` (may be NULL): communication and
 * copies behind compute.
 */
static struct msim_breakdown breakdown_of(const struct msim_page *page,
                                          struct msim_breakdown *hidden)
{
    const struct msim_prediction *p = page->p;
    struct msim_breakdown b = {0}, h = {0};
    double n = p->n_iterations ? p->n_iterations : 1;

    for (uint32_t i = 0; i < p->n_iterations; i++) {
        const struct msim_iteration *it = &p->iterations[i];

        b.compute += it->breakdown_us.compute / n;
        b.communication += it->breakdown_us.communication / n;
        b.memory_copy += it->breakdown_us.memory_copy / n;
        b.host += it->breakdown_us.host / n;
        b.idle += it->breakdown_us.idle / n;
        h.communication += it->overlapped_communication_us / n;
        h.memory_copy += it->overlapped_copy_us / n;
    }
    if (hidden)
        *hidden = h;
    return b;
}

/* ---- totals ------------------------------------------------------------- */

static void print_figure(const struct msim_page *page, const char *label,
                         const struct msim_figure *f)
{
    char text[MSIM_FIGURE];

    msim_format_figure(text, f, page->p->elsewhere);
    msim_page_line(page, label, "%s", text);
}

/* How many iterations the period leaves out, and why. */
static void print_left_out(const struct msim_page *page)
{
    const struct msim_prediction *p = page->p;
    uint32_t out = 0;

    for (uint32_t i = 0; i < p->n_iterations; i++) {
        const struct msim_iteration *it = &p->iterations[i];

        if (!it->state || strcmp(it->state, p->period.state) == 0)
            continue;
        msim_print(page->out,
                   out++ ? ", %s (%s)" : "\n                   without %s (%s)",
                   it->name, it->state);
    }
}

/* Behind `used` columns of a line, or on the next one. */
static void print_busiest(const struct msim_page *page, int used)
{
    const struct msim_period *p = &page->p->period;
    char text[2 * MSIM_FIGURE], share[MSIM_CELL];
    int more;

    msim_format_share(share, p->busiest_share);
    more = snprintf(text, sizeof(text), "%s %.100s (%.20s), %s busy",
                    p->bounds ? "bound by" : "busiest is", p->busiest,
                    p->busiest_kind, share);
    msim_print(page->out,
               used + 2 + more > MSIM_PAGE_COLUMNS ? ";\n                   %s"
                                                   : "; %s",
               text);
}

/* The steady state; the reason where it is not the iteration. */
static void print_period(const struct msim_page *page)
{
    const struct msim_period *p = &page->p->period;
    char host[MSIM_CELL], gpu[MSIM_CELL];
    int used;

    if (!p->state || isnan(p->us.predicted))
        return;
    print_figure(page, "period", &p->us);
    if (fabs(p->us.predicted / page->p->iteration_us.predicted - 1) < 0.005)
        return;
    msim_format_time(host, p->host_range_us);
    msim_format_time(gpu, p->gpu_range_us);
    used = msim_print(page->out, "  %-15s  host %s, GPU %s", "", host, gpu);
    if (p->busiest_kind)
        print_busiest(page, used);
    print_left_out(page);
    fputc('\n', page->out);
}

/* Of the slowest rank of each iteration, as its breakdown. */
static void print_communication(const struct msim_page *page)
{
    const struct msim_prediction *p = page->p;
    char transfer[MSIM_CELL], wait[MSIM_CELL], exposed[MSIM_CELL];
    struct msim_breakdown b = breakdown_of(page, NULL);
    double transfer_us = 0, wait_us = 0;

    if (!(p->transfer_us > 0) && !(p->wait_us > 0))
        return;
    for (uint32_t i = 0; i < p->n_iterations; i++) {
        transfer_us += p->iterations[i].transfer_us / p->n_iterations;
        wait_us += p->iterations[i].wait_us / p->n_iterations;
    }
    msim_format_time(transfer, transfer_us);
    msim_format_time(wait, wait_us);
    msim_format_time(exposed, b.communication);
    msim_page_line(page, "communication",
                   "%12s   on the wire; %s waiting for peers; %s exposed",
                   transfer, wait, exposed);
    if (p->external_wait_us > 0) {
        msim_format_time(wait, p->external_wait_us);
        msim_page_line(page, "external wait",
                       "%12s   for ranks without a trace", wait);
    }
}

/* What collectives rest on: measured, or assumed. */
static void print_links(const struct msim_page *page)
{
    const struct msim_prediction *p = page->p;

    if (p->links_inside)
        msim_page_line(page, "links", "inside a node %s", p->links_inside);
    if (p->links_between)
        msim_page_line(page, "network", "between nodes %s", p->links_between);
}

/* An assumption that decides a host-bound job. */
static void print_host(const struct msim_page *page)
{
    const struct msim_prediction *p = page->p;

    if (!p->host)
        return;
    msim_page_line(page, "host", "%12s   %s x %.2f to %.2f (90 %%)", p->host,
                   strcmp(p->host, MSIM_HOST_TRACED) == 0
                       ? "in another run it takes"
                       : "others take",
                   p->host_low, p->host_high);
    if (p->host_speed > 0 && (p->host_speed < 1 || p->host_speed > 1))
        msim_page_line(page, "",
                       "%12s   its times x %.2f, for hosts as old as this GPU",
                       "", p->host_speed);
}

void msim_report_step_text(const struct msim_step_note *s,
                           char text[MSIM_STEP_TEXT])
{
    char graph[MSIM_CELL];

    *text = '\0';
    if (s->graph_us > 0)
        msim_format_time(graph, s->graph_us);
    if (s->factor > 0)
        snprintf(text, MSIM_STEP_TEXT,
                 s->graph_us > 0
                     ? "x %.2f of the %s that the graph takes by itself"
                     : "x %.2f of what the graph takes by itself",
                 s->factor, graph);
}

static void print_step(const struct msim_page *page)
{
    char text[MSIM_STEP_TEXT], *of;

    msim_report_step_text(&page->p->step, text);
    of = strstr(text, " of ");
    if (!of)
        return;
    *of = '\0';
    msim_page_line(page, "measured jobs", "%12s   %s", text, of + 1);
}

/* What follows from the period and from what the user says of the job. */
static void print_rates(const struct msim_page *page)
{
    const struct msim_rates *asked = &page->p->rates;
    struct msim_rated r = msim_prediction_rated(page->p);
    const char *s = r.gpus > 1 ? "s" : "";
    char cell[MSIM_CELL], low[MSIM_CELL], high[MSIM_CELL], unit[32];
    char interval[2 * MSIM_CELL + 16] = "";

    if (!(page->p->period.us.predicted > 0))
        return;
    msim_format_name(unit, sizeof(unit), asked->unit ? asked->unit : "", 24);
    msim_format_large(cell, r.per_second.predicted);
    msim_format_large(low, r.per_second.low);
    msim_format_large(high, r.per_second.high);
    if (r.per_second.low < r.per_second.high)
        snprintf(interval, sizeof(interval), "   90 %%: %s to %s", low, high);
    if (asked->per_iteration > 0)
        msim_page_line(page, "throughput", "%8s%s/s%s", cell, unit, interval);
    if (asked->usd_per_hour > 0)
        msim_page_line(page, "cost",
                       "%9.4g USD for 1000 iterations on %.0f GPU%s",
                       1e3 * r.cost_usd, r.gpus, s);
    if (asked->watts > 0)
        msim_page_line(page, "energy", "%9.4g J for an iteration on %.0f GPU%s",
                       r.joules, r.gpus, s);
}

static void print_flops(const struct msim_page *page)
{
    const struct msim_prediction *p = page->p;
    char flops[MSIM_CELL], mfu[MSIM_CELL], counted[MSIM_CELL];

    if (!(p->flops > 0))
        return;
    msim_format_large(flops, p->flops);
    msim_format_share(mfu, p->mfu);
    msim_format_share(counted, p->flops_counted);
    msim_page_line(page, "arithmetic",
                   isnan(p->mfu)
                       ? "%8sFLOP   in the %s of the kernel time that "
                         "has shapes"
                       : "%8sFLOP   %s of the platform's peak (MFU)",
                   flops, isnan(p->mfu) ? counted : mfu);
}

/* What the mean is taken over, where there are several. */
static void print_iterations(const struct msim_page *page)
{
    const struct msim_prediction *p = page->p;
    double low = INFINITY, high = -INFINITY;
    char from[MSIM_CELL], to[MSIM_CELL], first[64], last[64];

    if (p->n_iterations < 2)
        return;
    for (uint32_t i = 0; i < p->n_iterations; i++) {
        low = fmin(low, p->iterations[i].us.predicted);
        high = fmax(high, p->iterations[i].us.predicted);
    }
    msim_format_time(from, low);
    msim_format_time(to, high);
    msim_format_name(first, sizeof(first), p->iterations[0].name, 32);
    msim_format_name(last, sizeof(last),
                     p->iterations[p->n_iterations - 1].name, 32);
    msim_print(page->out, "  mean of %u iterations, %s to %s: %s to %s\n",
               p->n_iterations, first, last, from, to);
}

/* The line for jobs in which a few ranks represent many. */
static void print_folded(const struct msim_page *page)
{
    const struct msim_prediction *p = page->p;

    if (p->n_ranks_detail && p->ranks_detail[0].stands_for > 1)
        msim_page_line(page, "ranks", "%9u      simulated as %u", p->ranks,
                       p->n_ranks_detail);
}

static void print_gpus(const struct msim_page *page)
{
    const struct msim_prediction *p = page->p;

    if (p->gpus > p->ranks)
        msim_page_line(page, "GPUs", "%9u      driven by %u process%s", p->gpus,
                       p->ranks, p->ranks > 1 ? "es" : "");
}

/* A sentence of any length, broken between words, not between a figure and its
 * percent sign; further lines go in. */
static void print_sentence(FILE *out, const char *text)
{
    size_t room = MSIM_PAGE_COLUMNS;

    while (strlen(text) > room) {
        size_t end = room;

        while (end > 0 && (text[end] != ' ' || text[end + 1] == '%'))
            end--;
        if (end == 0)
            break;
        msim_print(out, "%.*s\n  ", (int)end, text);
        text += end + 1;
        room = MSIM_PAGE_COLUMNS - 2;
    }
    msim_print(out, "%s\n", text);
}

/* What bounds the job comes first. */
static void print_verdict(const struct msim_page *page)
{
    const struct msim_prediction *p = page->p;
    bool gpu = p->kernel_us.predicted > 0 || p->transfer_us > 0 ||
               p->breakdown_us.memory_copy > 0;

    if (!gpu && p->costs && strcmp(p->costs, "measured") == 0)
        print_sentence(page->out,
                       "no GPU work in the traces: --platform NAME predicts it "
                       "for a GPU ('mystique-sim platforms' lists them)");
    else if (p->verdict)
        print_sentence(page->out, p->verdict);
}

static void print_totals(const struct msim_page *page)
{
    char title[512], change[MSIM_FIGURE];

    msim_format_title(title, sizeof(title), page->p);
    msim_format_scenario(change, page->p);
    print_verdict(page);
    msim_print(page->out, change[0] ? "%s\n%s\n\n" : "%s\n%s\n", title, change);
    print_figure(page, "iteration", &page->p->iteration_us);
    print_period(page);
    print_figure(page, "kernels", &page->p->kernel_us);
    print_communication(page);
    print_links(page);
    print_host(page);
    print_step(page);
    print_rates(page);
    print_flops(page);
    msim_page_usage(page);
    msim_page_memory(page);
    print_iterations(page);
    print_folded(page);
    print_gpus(page);
}

/* ---- where the time goes ------------------------------------------------ */

/* Two blanks, and `share` (0 to 1) of BAR_CELLS, in eighths of a block where
 * blocks are shown. */
static void format_bar(char text[BAR_BYTES], const struct msim_page *page,
                       double share)
{
    static const char *const EIGHTHS[] = {
        "",
        "\xe2\x96\x8f",
        "\xe2\x96\x8e",
        "\xe2\x96\x8d",
        "\xe2\x96\x8c",
        "\xe2\x96\x8b",
        "\xe2\x96\x8a",
        "\xe2\x96\x89",
    };
    double clamped = fmin(fmax(share, 0), 1);
    int eighths = (int)lround(clamped * BAR_CELLS * 8);
    int full = page->blocks ? eighths / 8 : (eighths + 7) / 8;
    size_t used = (size_t)snprintf(text, BAR_BYTES, "%s", eighths ? "  " : "");

    for (int i = 0; i < full; i++)
        used += (size_t)snprintf(text + used, BAR_BYTES - used, "%s",
                                 page->blocks ? "\xe2\x96\x88" : "#");
    snprintf(text + used, BAR_BYTES - used, "%s",
             page->blocks ? EIGHTHS[eighths % 8] : "");
}

struct class_row {
    const char *name;
    double us;
    double overlapped; /* overlapped by compute, in addition; 0: none */
};

static void print_all(const struct msim_page *page, const struct class_row *c)
{
    const struct msim_unit *unit = msim_unit_for(c->us);
    char time[MSIM_CELL];

    msim_format_in(time, unit, c->us);
    msim_print(page->out, "  %-15s%9s %-2s%9s\n", c->name, time, unit->name,
               "100.0 %");
}

static void print_class(const struct msim_page *page, const struct class_row *c,
                        double total, const struct msim_unit *unit)
{
    char time[MSIM_CELL], share[MSIM_CELL], hidden[MSIM_CELL], bar[BAR_BYTES],
        more[MSIM_CELL + 32] = "";
    double part = total > 0 ? c->us / total : 0;

    msim_format_in(time, unit, c->us);
    msim_format_share(share, part);
    msim_format_time(hidden, c->overlapped);
    if (c->overlapped > 0)
        snprintf(more, sizeof(more), "  (%s more behind compute)", hidden);
    format_bar(bar, page, part);
    msim_print(page->out, "  %-15s%9s %-2s%9s%s%s\n", c->name, time, unit->name,
               share, bar, more);
}

static void print_breakdown(const struct msim_page *page)
{
    const struct msim_prediction *p = page->p;
    struct msim_breakdown hidden, b = breakdown_of(page, &hidden);
    const struct class_row rows[] = {
        {"compute", b.compute, 0},
        {"communication", b.communication, hidden.communication},
        {"memory copy", b.memory_copy, hidden.memory_copy},
        {"host", b.host, 0},
        {"idle", b.idle, 0},
    };
    struct class_row all = {"in all", 0, 0};

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        all.us += rows[i].us;
    msim_print(page->out, "\nwhere an iteration goes%s\n",
               p->ranks > 1 ? ", on the slowest rank of each" : "");
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        print_class(page, &rows[i], all.us, msim_unit_for(all.us));
    print_all(page, &all);
}

/* ---- the end ------------------------------------------------------------ */

/* An operator that a law covers and whose name a shell takes as it is, or
 * NULL: the line is there to be pasted. */
static const char *explainable(const struct msim_prediction *p)
{
    static const char WORD[] = "abcdefghijklmnopqrstuvwxyz"
                               "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_:.";

    for (uint32_t i = 0; i < p->n_ops; i++) {
        const struct msim_op_row *op = &p->ops[i];

        if (!op->source || (strcmp(op->source, "law") != 0 &&
                            strcmp(op->source, "table") != 0))
            continue;
        if (strlen(op->name) <= EXAMPLE_COLUMNS &&
            !op->name[strspn(op->name, WORD)])
            return op->name;
    }
    return NULL;
}

static void print_example(FILE *out, const char *op)
{
    bool fits = strlen(op) + EXPLAIN_COLUMNS <= MSIM_PAGE_COLUMNS;

    msim_print(out,
               fits
                   ? ",\n      --explain '%s' says where its time comes from\n"
                   : ",\n      --explain '%s'\n      says where its time comes "
                     "from\n",
               op);
}

#define NEXT                                                                   \
    "\nnext: --timeline run.json.gz shows the run in ui.perfetto.dev, "        \
    "--chart "                                                                 \
    "run.svg draws it"

static void print_notes(const struct msim_page *page)
{
    const struct msim_prediction *p = page->p;
    const char *example;

    msim_report_warnings(p->warnings, p->n_warnings, page->out);
    example = explainable(p);
    fputs(example ? NEXT : NEXT "\n", page->out);
    if (example)
        print_example(page->out, example);
    /* Wall time would make two runs differ: not in files and pipes. */
    if (page->terminal && !isnan(p->seconds))
        fprintf(page->out, "(took %.1f s)\n", p->seconds);
}

static void begin_page(struct msim_page *page)
{
    int fd = fileno(page->out);

    page->terminal = fd >= 0 && isatty(fd);
    page->blocks = page->terminal && locale_is_utf8();
    msim_page_add_ops(page);
    msim_page_add_owners(page);
    msim_page_add_work(page);
    msim_page_fit(page);
    print_totals(page);
    print_breakdown(page);
}

static void print_page(struct msim_page *page)
{
    begin_page(page);
    msim_page_phases(page);
    msim_page_path(page);
    msim_page_waits(page);
    msim_page_ops(page);
    msim_page_kernels(page);
    msim_page_coverage(page);
    msim_page_ranks(page);
    msim_page_known(page);
    print_notes(page);
}

static enum msim_status print(void (*which)(struct msim_page *),
                              const struct msim_prediction *p, FILE *out)
{
    struct msim_page page = {.p = p, .out = out};

    page.names = calloc(1, sizeof(*page.names));
    if (!page.names)
        return MSIM_ENOMEM;
    which(&page);
    free(page.names);
    return ferror(out) ? MSIM_EWRITE : MSIM_OK;
}

enum msim_status msim_report_text(const struct msim_prediction *p, FILE *out)
{
    return print(print_page, p, out);
}

enum msim_status msim_report_brief(const struct msim_prediction *p, FILE *out)
{
    return print(begin_page, p, out);
}
