/*
 * plan/outcome/plan_basis.c - the last sections of the report: where figures
 * come from, and what words mean.
 */
#include "plan/outcome/plan_page.h"

#include <inttypes.h>
#include <math.h>

static void put_platform(const struct msim_plan *plan,
                         const struct msim_spec *spec, uint32_t i, FILE *out)
{
    const struct msim_spec_platform *p = &spec->platforms[i];
    double gib = plan->basis.platforms[i].memory / 1073741824.0;

    fputs("<tr><td>", out);
    msim_html_text(p->name, out);
    fputs("</td><td>", out);
    msim_html_text(plan->basis.platforms[i].title, out);
    fprintf(out, "</td><td class=n>%.1f GiB</td><td class=n>%.2f TB/s</td><td>",
            gib, plan->basis.platforms[i].bandwidth / 1e12);
    if (plan->basis.platforms[i].rows > 0)
        fprintf(out, "fitted to %" PRIu64 " measured rows of this GPU",
                plan->basis.platforms[i].rows);
    else
        fputs("no measured rows of its own: laws of like GPUs and its data "
              "sheet",
              out);
    fprintf(out, "</td><td>%u GPUs a node; ",
            plan->basis.platforms[i].gpus_a_node);
    msim_html_text(*plan->basis.platforms[i].network
                       ? plan->basis.platforms[i].network
                       : "the network of its usual server",
                   out);
    fputs("</td>", out);
    if (p->price > 0)
        fprintf(out, "<td class=n>%.4g %s</td>", p->price, spec->currency);
    else
        fputs("<td class=n>not given</td>", out);
    if (p->power_w > 0)
        fprintf(out, "<td class=n>%.0f W</td></tr>\n", p->power_w);
    else
        fputs("<td class=n>not given</td></tr>\n", out);
}

static void put_interval(const struct msim_step_fit *fit,
                         enum msim_step_class class, const char *what,
                         FILE *out)
{
    fprintf(
        out,
        "<li>%s: 90 %% of measured steps of models or sources that a fit "
        "did not see lie between %.2f and %.2f times the prediction.</li>\n",
        what, 1 / fit->low[class], fit->high[class]);
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
        fputs(i ? ", " : "", out);
        msim_html_text(fit->sources[i], out);
    }
    fputs("). Nothing here was run.</p>\n<ul>\n", out);
    put_interval(fit, MSIM_STEP_CLASS_PLAIN, "Without pipeline stages", out);
    put_interval(fit, MSIM_STEP_CLASS_PIPELINE, "With pipeline stages", out);
    put_interval(fit, MSIM_STEP_CLASS_EXPERTS, "With experts", out);
    put_interval(fit, MSIM_STEP_CLASS_UNLIKE, "Unlike all measured jobs", out);
    if (plan->best != UINT32_MAX) {
        double c = plan->points[plan->best].correction;

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
}

void msim_plan_page_basis(const struct msim_plan *plan,
                          const struct msim_spec *spec, FILE *out)
{
    fputs("<h2>What it stands on</h2>\n", out);
    put_steps(plan, out);
    fprintf(out,
            "<h3>Memory</h3>\n<p>The peak of a rank of the pipeline stage "
            "that needs most, by formula; its constants are fitted to measured "
            "peaks. CUDA's context and NCCL's buffers come beside it. "
            "90 %% of peaks of models that a fit did not see lie between %.2f "
            "and %.2f times the prediction.</p>\n",
            1 / plan->basis.memory_low, plan->basis.memory_high);
    fputs("<section><h3>GPUs, networks, "
          "prices</h3>\n<table><tr><th>name<th>product<th "
          "class=n>memory<th class=n>bandwidth<th>operators<th>network<th "
          "class=n>a GPU and hour<th class=n>power a GPU</tr>\n",
          out);
    for (uint32_t i = 0; i < spec->n_platforms; i++)
        put_platform(plan, spec, i, out);
    fputs("</table>\n<p class=note>Prices and power are the spec's. Cost and "
          "energy are GPU time times those; nothing else is in them (storage, "
          "people, restarts after failures).</p></section>\n",
          out);
}

void msim_plan_page_words(FILE *out)
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

    fputs("<section><h2>Words</h2>\n<dl>\n", out);
    for (size_t i = 0; i < sizeof(WORDS) / sizeof(WORDS[0]); i++)
        fprintf(out, "<dt>%s</dt><dd>%s</dd>\n", WORDS[i][0], WORDS[i][1]);
    fputs("</dl></section>\n", out);
}
