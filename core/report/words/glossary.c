/*
 * core/report/words/glossary.c - the words of text reports, for `help report`.
 */
#include "core/report/words/glossary.h"

#include "core/base/print.h"

#include <string.h>

#define COLUMNS 80
#define LABEL   26

struct word {
    const char *word, *meaning;
};

/* In alphabetical order, whatever the case. */
static const struct word WORDS[] = {
    {"90 %", "How far the ends of the 90 % interval are from the time before "
             "it: nine of ten times the true time is inside."},
    {"all streams", "The GPU as a whole: its streams keep it busy together, "
                    "though none alone does."},
    {"arithmetic", "The floating-point operations of one iteration, as the "
                   "operators' shapes give them."},
    {"as traced", "No platform is given: the run is simulated with the times "
                  "of the trace itself."},
    {"attention", "Model of fused attention (flash attention and its like)."},
    {"backward", "Phase in which autograd computes gradients, with what is "
                 "computed again for it."},
    {"begin of a recording",
     "A rank began later than another; it begins as long after that one's "
     "work."},
    {"between operators", "Time of the iterating thread with no operator "
                          "recorded: Python, data loading, compilation."},
    {"blocking copy", "A copy that keeps its caller until it is done, as "
                      "copies from pageable memory do."},
    {"bound", "A guess from memory traffic alone, because no law covers the "
              "operator; its interval is wide."},
    {"bound by", "What would have to become faster first for an iteration to "
                 "become shorter."},
    {"by class", "The critical path, summed by what kind of work it is."},
    {"call", "A call of the CUDA or HIP runtime (a launch, a copy, an "
             "allocation), without its waiting."},
    {"calls", "How often in one iteration; a mean over iterations, so it may "
              "be a fraction."},
    {"class", "The time on another GPU, scaled by what kind of kernel it is "
              "(tensor, memory, latency)."},
    {"collective",
     "Communication in which all ranks of a group take part (all_reduce, "
     "all_to_all); nobody can finish before all have arrived."},
    {"comm.", "See communication."},
    {"communication", "Time on the wire, and the instants in which a "
                      "collective runs and no compute kernel does."},
    {"communication-bound",
     "Verdict: faster communication would shorten an iteration most."},
    {"compilation",
     "Host work of TorchDynamo or Inductor, told from their marks."},
    {"compute", "The instants in which a compute kernel runs."},
    {"conv", "Model of convolutions."},
    {"copied times",
     "What the simulation takes from the trace as it was measured: work and "
     "latencies, never waits that it can explain."},
    {"copies", "Copies and memsets: see copy."},
    {"copy", "Copies between memories, and memsets."},
    {"copy engine busy", "The hardware that copies was still at another copy."},
    {"copy-bound", "Verdict: faster copies would shorten an iteration most."},
    {"cost", "The price of all GPUs for the period of 1000 iterations."},
    {"costs", "Where GPU times come from: measured (the trace), model (laws), "
              "scaled (the trace's times, carried to another GPU)."},
    {"covered by laws and tables",
     "The share of operators, and of their time, that a table or a law of "
     "their "
     "own kernels gives, and not a bound, a guess from a launch, the law of "
     "the nearest kind or a class."},
    {"critical path",
     "The chain of work and latencies that decides how long an iteration "
     "takes; other work may become faster without gain."},
    {"data loader", "The thread that iterates waits for a batch."},
    {"delay without a cause",
     "It began later than anything in the traces explains; the delay is kept."},
    {"delays without a cause", "See delay without a cause."},
    {"device synchronisation",
     "A call that waits until the whole GPU is done."},
    {"dispatch", "Model of small kernels whose time is that of starting them."},
    {"each", "The mean time of one call."},
    {"embedding",
     "Model of look-ups in embedding tables, and of their gradients."},
    {"empty", "Said of an iteration in which nothing is recorded."},
    {"energy", "The given power of all GPUs, times the period."},
    {"error",
     "How far the predicted time is from the measured one of the same run."},
    {"event synchronisation",
     "A call that waits for an event that a stream records."},
    {"exposed", "Communication that no compute kernel hides."},
    {"external wait", "Waiting for ranks whose traces are not given."},
    {"first", "Said of an iteration when the one before it is not recorded: "
              "how far the GPU was behind is not known."},
    {"forward", "Phase in which the model computes its output and the loss."},
    {"gap", "Host time between operators."},
    {"gaps between activities of a stream",
     "The GPU's own time between two kernels in a row."},
    {"gaps inside CUDA and HIP graphs",
     "The GPU's own time between two kernels of a captured graph."},
    {"gemm", "Model of matrix products."},
    {"GPU", "GPU time of what a phase or a region launched, whenever it ran."},
    {"GPU use", "With --usage: what GPUs do at an instant, on average over the "
                "time of the iterations and over all GPUs; memory, arithmetic "
                "and power are of all that runs."},
    {"GPU-bound", "Verdict: faster kernels would shorten an iteration most, or "
                  "the GPU is busy all the time."},
    {"hand-over between threads", "One thread waits for another, as the main "
                                  "thread does for autograd's backward pass."},
    {"held", "Nothing of this job's own lets the work start earlier: it begins "
             "when it was recorded, or when another rank arrives."},
    {"held from outside", "The part of the critical path that is held."},
    {"hidden", "The share of communication that runs behind compute."},
    {"host", "The CPU side: threads that run Python and operators and launch "
             "kernels; in the breakdown, when the GPU has nothing to do. Above "
             "it: whose times it has, and what others take of them."},
    {"host time with nothing recorded", "See between operators."},
    {"host work in operators", "What the CPU does inside operators."},
    {"host-bound", "Verdict: a faster host (CPU, Python, launches) would "
                   "shorten an iteration most, or a thread is busy all the "
                   "time."},
    {"how dependencies are known",
     "How many edges of each kind decide when something starts, of all, and "
     "from what they are known."},
    {"idle",
     "The instants in which neither the GPU nor the main thread has work."},
    {"idle GPU, for", "What the GPU waited for while nothing ran on it."},
    {"in all", "The sum of a table."},
    {"input of a collective",
     "The kernel that computes what a collective sends has to end first."},
    {"iteration", "One training step of the slowest rank: the range of its "
                  "mark ProfilerStep#N, else the whole trace."},
    {"iterations",
     "The steps of the trace, each with its mark ProfilerStep#N."},
    {"kernel", "A program that runs on the GPU."},
    {"kernels", "The sum of all compute kernels over all streams; more than "
                "the iteration where streams run at the same time."},
    {"kernels and copies", "What ran on the GPU, by its own name; not known "
                           "where models give the times."},
    {"last to arrive", "The ranks that reached collectives last, in how many "
                       "of one iteration, and how long the others waited."},
    {"latency", "Time until started work begins, with nothing to wait for; of "
                "a kernel: too little work to fill the GPU."},
    {"latency of stream waits", "How long after an event a stream goes on."},
    {"launch", "The GPU had nothing to do until the host launched this; as a "
               "source: sizes are guessed from a kernel's name and launch."},
    {"launch latency",
     "Time from a launch to the start of the kernel on an idle GPU."},
    {"launch queue full",
     "So much work is queued that the next launch has to wait."},
    {"launched before the recording",
     "Work whose launch is not in the trace; it starts when it was recorded."},
    {"law", "An equation with constants fitted to measurements: work and data "
            "sheet in, time out."},
    {"limited by",
     "What holds the kernels back (tensor or vector units, memory, latency), "
     "and their share of the data sheet's rate for it."},
    {"links", "What the transfers inside a node rest on: measurements, or an "
              "assumption."},
    {"main thread, for",
     "What the thread that iterates waited for, and how long."},
    {"marked regions",
     "What the job marks with torch.profiler.record_function; marks may lie "
     "inside others."},
    {"measured", "What the trace itself shows."},
    {"measured jobs",
     "Of traces that synth wrote: how much longer, or shorter, measured jobs "
     "like the described one take than its graph alone."},
    {"measured times",
     "Dependencies that follow only from when things began and ended."},
    {"memory",
     "Limit: the bandwidth of the GPU's memory. As a figure: the most "
     "that tensors hold at once, and what PyTorch reserves for it."},
    {"memory copy", "The instants in which the GPU only copies."},
    {"memory recorded", "The most that PyTorch's allocator was recorded to "
                        "hold on a GPU, and to reserve for it."},
    {"MFU", "Model FLOP utilisation: the arithmetic at the data sheet's peak "
            "rate, over the time."},
    {"model", "The kind of law behind a time, in brackets how else it is known "
              "(table, launch, scaled, nearest, bound, class)."},
    {"moe", "Model of mixtures of experts."},
    {"multiprocessors full of another stream's kernel",
     "The kernel could run, but another one fills the GPU."},
    {"nearest",
     "The law of the nearest kind of kernel, by bytes, because none knows the "
     "operator's own kernels; its interval is wide."},
    {"network", "What the transfers between nodes rest on."},
    {"no operator", "Host work outside of any operator."},
    {"no operator takes device time",
     "Nothing of the traces runs on a GPU; with --platform it is predicted for "
     "one."},
    {"norm", "Model of normalisations."},
    {"not covered", "See not covered by a law of their own."},
    {"not covered by a law of their own",
     "Operators for which there is only a bound, a size guessed from a launch, "
     "the law of the nearest kind of kernel, or a class."},
    {"not run",
     "A law, for a number of ranks that nobody measured on this GPU, or for "
     "links of which nothing is known."},
    {"on the wire",
     "Time in which data of collectives moves, without waiting for peers."},
    {"operators", "The outermost operators, with the GPU time of all kernels "
                  "that they launched."},
    {"optimizer", "Phase (or model) of the optimizer's step, with setting "
                  "gradients to zero."},
    {"other", "Work that belongs to no phase, such as loading a batch."},
    {"owner",
     "Who a piece of the critical path belongs to: operator, call or cause."},
    {"period", "The time from one iteration to the next once the run has "
               "settled; never below what the busiest stream or thread needs."},
    {"phases", "Work by part of a training step; GPU time of what was launched "
               "there, and host time."},
    {"pointwise", "Model of operators that work element by element."},
    {"program order", "One thread does one thing after another; known from the "
                      "order, or from what a call means."},
    {"rank", "One process of a job, with a GPU of its own."},
    {"rank without a trace",
     "A peer arrived in a collective, and its own trace is not given."},
    {"ranks", "Each rank's own means. An iteration lasts as long as its "
              "slowest rank, so that it may be longer than every row."},
    {"recorded ids", "Dependencies that follow from ids in the trace."},
    {"reduction", "Model of sums, means and the like."},
    {"rendezvous", "All ranks of a collective have arrived."},
    {"return from waiting calls",
     "Time from the end of a wait to the end of its call."},
    {"run-up", "Said of iterations at the start in which the GPU falls further "
               "and further behind."},
    {"runtime calls", "The work of calls, without waiting."},
    {"save", "How much shorter the period would be if this kind of work took "
             "half its time."},
    {"scaled",
     "The trace's time, times the ratio of a law's times on two GPUs."},
    {"send and receive", "One rank waits for a message of another."},
    {"settled", "Said of iterations that count for the period."},
    {"several", "Short pieces of the critical path, together."},
    {"share", "Part of the table's total, or of the iteration."},
    {"SMs busy", "The share of multiprocessors that hold a block of a kernel."},
    {"softmax", "Model of softmax and cross entropy."},
    {"start as recorded", "Nothing in the traces explains why it started so "
                          "late: it starts when it did."},
    {"stream", "A queue of the GPU; what is in one runs in order."},
    {"stream order", "The stream's earlier kernel had just ended, and the GPU "
                     "needs a moment between two."},
    {"stream synchronisation", "A call that waits until a stream is done."},
    {"stream waits for event", "A stream waits for another one."},
    {"synchronisation hidden in a call",
     "A call that waits for the GPU by its nature, as cudaMalloc and cudaFree "
     "do."},
    {"table", "Interpolated between measured times."},
    {"tensor", "Limit: the rate of the tensor cores."},
    {"throughput",
     "Samples or tokens of --per-iteration a second, by the period."},
    {"time", "Time in one iteration, in the unit that the heading names."},
    {"time to spare", "How much longer one call of an operator may take before "
                      "an iteration ends later."},
    {"traced", "What the trace shows, where the prediction is of another run."},
    {"transfer", "Time of collectives on the wire."},
    {"transfers of collectives", "See transfer."},
    {"undrained", "Said of an iteration of which GPU work is missing at the "
                  "end of the trace."},
    {"unknown", "A wait whose cause the simulation does not know."},
    {"vector", "Limit: the rate of the ordinary arithmetic units."},
    {"wait", "Waiting for peers in collectives."},
    {"waiting", "Who waits, for what, and how long."},
    {"waits for absent ranks", "See external wait."},
    {"waits for data loader processes", "See data loader."},
    {"warps held",
     "The warps that multiprocessors hold, over those that all of "
     "them can hold."},
    {"where an iteration goes",
     "Each instant of it belongs to one class, the first that applies: "
     "compute, communication, memory copy, host, idle. They add up."},
    {"with wait", "The measured time of a collective holds its waiting for "
                  "peers, so it is not an error."},
};

/* Bytes of `text` that a line of `columns` has room for: whole words. */
static size_t line_of(const char *text, size_t columns)
{
    size_t n = strcspn(text, " ");

    while (text[n]) {
        size_t more = 1 + strcspn(text + n + 1, " ");

        if (n + more > columns)
            break;
        n += more;
    }
    return n;
}

/* A word that is too long for its column has a line of its own. */
static void print_word(const struct word *w, FILE *out)
{
    const char *label = w->word;

    if (strlen(label) + 4 > LABEL) {
        msim_print(out, "  %s\n", label);
        label = "";
    }
    for (const char *at = w->meaning; *at; label = "") {
        size_t n = line_of(at, COLUMNS - LABEL);

        msim_print(out, "  %-*s%.*s\n", LABEL - 2, label, (int)n, at);
        at += n + strspn(at + n, " ");
    }
}

enum msim_status msim_report_words(FILE *out)
{
    fputs("The words of text reports, in alphabetical order. Times are of one "
          "iteration, a\nmean over iterations; of several ranks those of the "
          "slowest.\n\n",
          out);
    for (size_t i = 0; i < sizeof(WORDS) / sizeof(WORDS[0]); i++)
        print_word(&WORDS[i], out);
    return ferror(out) ? MSIM_EWRITE : MSIM_OK;
}
