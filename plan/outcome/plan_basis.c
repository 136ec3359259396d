/*
 * plan/outcome/plan_basis.c - the last sections of the report: where figures
 * come from, and what words mean.
 */
#include "plan/outcome/plan_report_internal.h"

#include "core/base/units.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static void put_platform(const struct msim_plan *plan,
                         const struct msim_spec *spec, uint32_t i, FILE *out)
{
    const struct msim_spec_platform *p = &spec->platforms[i];
    double gib = plan->basis.platforms[i].memory / MSIM_GIB;

    msim_html_print(out,
                    "<tr><td>%s</td><td>%s</td><td class=n>%.1f GiB</td>"
                    "<td class=n>%.2f TB/s</td><td>",
                    p->name, plan->basis.platforms[i].title, gib,
                    plan->basis.platforms[i].bandwidth / 1e12);
    if (plan->basis.platforms[i].rows > 0)
        fprintf(out, "fitted to %" PRIu64 " measured rows of this GPU",
                plan->basis.platforms[i].rows);
    else
        fputs("no measured rows of its own: laws of like GPUs and its data "
              "sheet",
              out);
    msim_html_print(out, "</td><td>%u GPUs a node; %s</td>",
                    plan->basis.platforms[i].gpus_a_node,
                    *plan->basis.platforms[i].network
                        ? plan->basis.platforms[i].network
                        : "the network of its usual server");
    if (p->price > 0)
        msim_html_print(out, "<td class=n>%.4g %s</td>", p->price,
                        spec->currency);
    else
        fputs("<td class=n>not given</td>", out);
    if (p->power_w > 0)
        fprintf(out, "<td class=n>%.0f W</td></tr>\n", p->power_w);
    else
        fputs("<td class=n>not given</td></tr>\n", out);
}

/* Whose interval the recommended way has, or more. */
static void put_held(const struct msim_plan *plan, FILE *out)
{
    const struct msim_step_fit *fit = &plan->basis.fit;
    const struct msim_plan_point *p = &plan->points[plan->best];
    double low = p->low_us / p->us, high = p->high_us / p->us;

    msim_html_print(
        out,
        "<li>The recommended way is of the kind &ldquo;%s&rdquo;: 90 %% of "
        "measured steps of models or sources that a fit did not see lie "
        "between %.2f and %.2f times the prediction.",
        msim_step_class_text(p->class), 1 / fit->low[p->class],
        fit->high[p->class]);
    if (low < 0.995 / fit->low[p->class] || high > 1.005 * fit->high[p->class])
        fprintf(out,
                " Its own interval is wider, %.2f to %.2f: it is of several "
                "kinds that were not measured together, or nothing tells what "
                "joins its nodes.",
                low, high);
    fputs("</li>\n", out);
}

/* Kinds of programs in pairs: like rows of the fit, and unlike all of them. */
static void put_kinds(const struct msim_plan *plan, FILE *out)
{
    const struct msim_step_fit *fit = &plan->basis.fit;
    bool any = plan->best != UINT32_MAX;
    unsigned held = any ? plan->points[plan->best].class : MSIM_STEP_CLASSES;

    fputs("<div class=scroll><table><thead><tr><th>kind of program<th class=n>"
          "measured over predicted, 90 %<th class=n>unlike all rows"
          "</tr></thead>\n<tbody>",
          out);
    for (unsigned i = 0; i < MSIM_STEP_CLASSES; i += 2) {
        msim_html_print(out, "<tr><td>%s",
                        msim_step_class_text((enum msim_step_class)i));
        for (unsigned k = i; k < i + 2; k++)
            msim_html_print(out,
                            k == held ? "<td class=n>the answer: <b>%.2f to "
                                        "%.2f</b>"
                                      : "<td class=n>%.2f to %.2f",
                            1 / fit->low[k], fit->high[k]);
        fputs("</tr>\n", out);
    }
    fputs("</tbody></table></div>\n", out);
}

static void put_steps(const struct msim_plan *plan, FILE *out)
{
    const struct msim_step_fit *fit = &plan->basis.fit;

    fprintf(out,
            "<h3>Time of a step</h3>\n<p>Every operator and collective is "
            "estimated on the GPU by laws that are fitted to measured ones. "
            "The step law puts them together; its constants are fitted to %u "
            "published training jobs (",
            fit->n_rows);
    for (uint32_t i = 0; i < fit->n_sources; i++) {
        msim_html_print(out, "%s%s", i ? ", " : "", fit->sources[i]);
    }
    fputs("). Nothing here was run.</p>\n<ul>\n", out);
    if (plan->best != UINT32_MAX) {
        double c = plan->points[plan->best].correction;

        put_held(plan, out);

        if (fabs(c - 1) > 0.0005)
            fprintf(out,
                    "<li>Measured jobs like the recommended one took &times; "
                    "%.3f of the law's time; its time has that factor.</li>\n",
                    c);
        else
            fputs("<li>No measured job is like the recommended one: its time "
                  "is the law's.</li>\n",
                  out);
    }
    fputs("</ul>\n", out);
    put_kinds(plan, out);
}

static void put_peaks(const struct msim_plan *plan, FILE *out)
{
    fprintf(out,
            "<h3>Memory</h3>\n<p>The peak of a rank of the pipeline stage "
            "that needs most, by formula; its constants are fitted to measured "
            "peaks. CUDA's context and NCCL's buffers come beside it. "
            "90 %% of peaks of models that a fit did not see lie between %.2f "
            "and %.2f times the prediction.</p>\n",
            1 / plan->basis.memory_low, plan->basis.memory_high);
}

/* How far models are off for the step that was recorded. */
static void put_recorded(const struct msim_plan_traced *t, FILE *out)
{
    char measured[32], predicted[32], low[32], high[32];

    if (isnan(t->measured_us) || isnan(t->predicted_us)) {
        fputs("<li>The trace has no measured time of its own GPU that a "
              "prediction could be held against.</li>\n",
              out);
        return;
    }
    msim_plan_time_text(t->measured_us, measured, sizeof(measured));
    msim_plan_time_text(t->predicted_us, predicted, sizeof(predicted));
    msim_plan_time_text(t->low_us, low, sizeof(low));
    msim_plan_time_text(t->high_us, high, sizeof(high));
    msim_html_print(
        out,
        "<li>The recorded step, on %s: measured %s; predicted there from "
        "its shapes alone %s (90 %%: %s to %s), &times; %.2f of the "
        "measured one. Kernel times of the trace correct the predictions "
        "of this report.</li>\n",
        t->platform, measured, predicted, low, high,
        t->predicted_us / t->measured_us);
}

/* Does "NAME/../" begin at `at`? */
static bool is_left_again(const char *at)
{
    size_t n = strcspn(at, "/");
    return n > 0 && strncmp(at + n, "/../", 4) == 0 &&
           !(at[0] == '.' && (n == 1 || (n == 2 && at[1] == '.')));
}

/* A path for a reader, who need not follow "plans/../../data" in and out of
 * folders; files are opened by the path itself, since a folder may be a link.
 */
static void put_path(const char *path, FILE *out)
{
    char text[sizeof(((struct msim_spec *)NULL)->trace[0])];
    size_t begin = 0;

    snprintf(text, sizeof(text), "%s", path);
    while (text[begin]) {
        char *at = text + begin;
        size_t n = strcspn(at, "/");
        size_t skip = strncmp(at, "./", 2) == 0 ? 2
                      : is_left_again(at)       ? n + 4
                                                : 0;

        memmove(at, at + skip, strlen(at + skip) + 1);
        /* What stands in front may be left now. */
        begin = skip ? 0 : begin + n + (at[n] == '/');
    }
    msim_html_print(out, "%s", *text ? text : ".");
}

static void put_trace(const struct msim_plan *plan,
                      const struct msim_spec *spec, FILE *out)
{
    const struct msim_plan_traced *t = &plan->basis.traced;

    fputs("<h3>Time of a step</h3>\n<p>Every way is the recorded step with "
          "changes: other sizes, operators that the change adds or takes away, "
          "another GPU. Each kernel and each exchange between GPUs is "
          "estimated by laws that are fitted to measured ones; a simulation of "
          "host, GPU and links puts them together. Nothing here was "
          "run.</p>\n<ul>\n<li>Recorded: ",
          out);
    for (uint32_t i = 0; i < spec->n_traces; i++) {
        fputs(i ? ", " : "", out);
        put_path(spec->trace[i], out);
    }
    fprintf(out, "; a batch of %" PRId64 ".</li>\n<li>The host (CPU side): ",
            t->batch);
    msim_html_print(
        out, "%s, the same for all ways.</li>\n",
        *t->host
            ? t->host
            : "as recorded, or generic where the trace has no times of it");
    put_recorded(t, out);
    msim_html_print(
        out, "</ul>\n<h3>Memory</h3>\n<p>%s</p>\n",
        t->knows_memory
            ? "What the tensors of the recorded step hold at once, changed "
              "as the step is, with the rounding of PyTorch's allocator. "
              "The interval is that of peaks measured on captured steps "
              "(0.82 to 1.10 of the prediction). CUDA's context and NCCL's "
              "buffers come beside it."
            : "Not known: the trace does not name the tensors. An "
              "execution trace of the same step does.");
}

void msim_plan_page_basis(const struct msim_plan *plan,
                          const struct msim_spec *spec, FILE *out)
{
    fputs("<h2>What it stands on</h2>\n", out);
    if (spec->traced) {
        put_trace(plan, spec, out);
    } else {
        put_steps(plan, out);
        put_peaks(plan, out);
    }
    fputs("<section><h3>GPUs, networks, "
          "prices</h3>\n<div class=scroll><table><tr><th>name<th>product<th "
          "class=n>memory<th class=n>bandwidth<th>operators<th>network<th "
          "class=n>a GPU and hour<th class=n>power a GPU</tr>\n",
          out);
    for (uint32_t i = 0; i < spec->n_platforms; i++)
        put_platform(plan, spec, i, out);
    fputs("</table></div>\n<p class=soft>Prices and power are the spec's. Cost "
          "and "
          "energy are GPU time times those; nothing else is in them (storage, "
          "people, restarts after failures).</p></section>\n",
          out);
}

/* Of traced steps. */
static const char *const TRACED_WORDS[][2] = {
    {"batch", "samples that one GPU computes at once"},
    {"micro batches", "batches whose gradients are summed before the optimizer "
                      "steps"},
    {"ddp", "every GPU has a copy of the model; gradients are exchanged"},
    {"zero1, zero2, zero3", "what GPUs share instead of each keeping a copy: "
                            "optimizer state; gradients too; weights too "
                            "(FSDP)"},
    {"amp_bf16", "mixed precision: products in 16 bits, weights in 32"},
    {"recompute", "activations that are computed again in backward instead of "
                  "kept: less memory, more time"},
    {"offload", "optimizer: its state and its step are on the host"},
    {"MFU", "the arithmetic of the step over what the GPUs could do at their "
            "peak"},
    {"90 %", "the interval that nine of ten measured runs are expected in"},
};

static void put_words(const char *const (*words)[2], size_t n, FILE *out)
{
    fputs("<section><h2>Words</h2>\n<dl>\n", out);
    for (size_t i = 0; i < n; i++)
        msim_html_print(out, "<dt>%s</dt><dd>%s</dd>\n", words[i][0],
                        words[i][1]);
    fputs("</dl></section>\n", out);
}

void msim_plan_page_words(const struct msim_spec *spec, FILE *out)
{
    static const char *const WORDS[][2] = {
        {"dp", "data parallel ranks: copies of the model, each with its own "
               "sequences"},
        {"tp", "tensor parallel ranks: GPUs that share every layer"},
        {"pp", "pipeline stages: GPUs that have some of the layers each"},
        {"vp", "pieces of every stage, which shorten the bubble"},
        {"cp, ep", "context parallel ranks share a sequence, expert parallel "
                   "ranks share the experts"},
        {"zero", "what data parallel ranks share instead of each keeping a "
                 "copy: 1 optimizer state, 2 gradients too, 3 weights too "
                 "(FSDP)"},
        {"micro batch", "sequences that one rank computes at once"},
        {"recompute", "activations that are computed again in backward instead "
                      "of kept: less memory, more time"},
        {"bubble", "time that stages wait for one another at the begin and the "
                   "end of a step"},
        {"MFU",
         "model FLOPs utilisation: the arithmetic of the model over what "
         "the GPUs could do at their peak"},
        {"90 %", "the interval that nine of ten measured runs are expected "
                 "in"},
    };

    if (spec->traced)
        put_words(TRACED_WORDS, sizeof(TRACED_WORDS) / sizeof(*TRACED_WORDS),
                  out);
    else
        put_words(WORDS, sizeof(WORDS) / sizeof(*WORDS), out);
}
