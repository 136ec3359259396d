/* serving/log: every format of a log at its limits, what it becomes, and what
 * is refused. */
#include "serving/log/request_log.h"
#include "tests/unit/serving/made_app.h"

#include <math.h>

static struct msim_request_log requests;

/* "" or what is wrong. */
static const char *read_log(const char *text)
{
    made_put("log", text);
    made_error = (struct msim_error){0};
    (void)!msim_request_log_read(&requests, made_path("log"), &made_error);
    return made_error.text;
}

static bool is_same(double got, double want)
{
    return isnan(want) ? isnan(got) : fabs(got - want) <= 1e-6 * fabs(want);
}

#define CSV  "t_s,input_tokens,output_tokens,queued_ms,ttft_ms,e2e_ms\n"
#define ROW  "{'t_s': 0, "
#define VLLM "{'start_times': [7], "
#define GUIDE(group, request)                                                  \
    "{\n'benchmarks': [{'requests': {'" group "': [{'start_time': 5, " request \
    "}]}}]}"
#define AIPERF(metrics)                                                        \
    "{'metadata': {'request_start_ns': 1}, 'metrics': {" metrics "}}"
#define PERF(more) "[{'start_time': 5, 'end_time': 5.5, " more "}]"

/* The last of a log of `n`. */
static void test_log_formats__are_read(void)
{
    static const struct {
        const char *text;
        uint32_t n;
        double t_s, input, output, queued, ttft, e2e;
    } CASES[] = {
        {CSV "0,1e9,0,0,1e12,0.5\n", 1, 0, 1e9, 1, 0, 1e12, 0.5},
        {CSV "0,1,1,1e12,0,1e12\n9.5,,2,,,\n", 2, 9.5, 0, 2, NAN, NAN, NAN},
        {"timestamp\n250\n1500\n", 2, 1.5, 0, 0, NAN, NAN, NAN},
        {"TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:15:46,3,4\n"
         "2023-11-16 18:15:47.5,5,6\n",
         2, 1.5, 5, 6, NAN, NAN, NAN},
        {"timestamp,input_length,output_length\n0,3,4\n", 1, 0, 3, 4, NAN, NAN,
         NAN},
        {ROW "'input_tokens': 1000000000, 'output_tokens': 0, 'queued_ms': 0, "
             "'ttft_ms': 0.5, 'e2e_ms': 0}",
         1, 0, 1e9, 1, 0, 0.5, 0},
        {ROW "'queued_ms': 0.25, 'ttft_ms': 0, 'e2e_ms': 0.75}", 1, 0, 0, 0,
         0.25, 0, 0.75},
        {"\n \n{'timestamp': 1500, 'input_length': 3, 'output_length': 4}\n", 1,
         1.5, 3, 4, NAN, NAN, NAN},
        /* vLLM: clocks that go back have no latency. */
        {VLLM "'input_lens': [0], 'output_lens': [999999999], 'ttfts': "
              "[-0.001], 'itls': [[0.5]]}",
         1, 0, 1, 999999999, NAN, NAN, 499},
        {VLLM "'input_lens': [1], 'ttfts': [0.5], 'itls': [[-0.25, -0.5]]}", 1,
         0, 1, 0, NAN, 500, NAN},
        {VLLM "'input_lens': [2], 'ttfts': [0]}", 1, 0, 2, 0, NAN, 0, NAN},
        {"{'start_times': [8, 7, 9], 'input_lens': [2, 3], 'ttfts': [1, 2, 3],"
         " 'itls': [[1], [], [3]], 'errors': ['', 'x', '']}",
         3, 2, 0, 0, NAN, 3000, 6000},
        /* GuideLLM: of those that succeeded. */
        {GUIDE("successful", "'prompt_tokens': 1200000000, 'output_tokens': 0, "
                             "'time_to_first_token_ms': 0, 'request_latency': "
                             "1e9"),
         1, 0, 1e9, 1, NAN, 0, 1e12},
        {GUIDE("successful", "'prompt_tokens': 999999999, "
                             "'time_to_first_token_ms': 0.5"),
         1, 0, 999999999, 0, NAN, 0.5, NAN},
        {GUIDE("errored", "'time_to_first_token_ms': 1, 'request_latency': 1"),
         1, 0, 0, 0, NAN, NAN, NAN},
        {"{\n'benchmarks': [{'requests': {'total': [{}, {}], 'successful': "
         "[{'request_start_time': 3, 'start_time': 1}, {'start_time': 7, "
         "'request_latency': 2}]}}]}",
         2, 4, 0, 0, NAN, NAN, 2000},
        /* AIPerf: by unit. */
        {AIPERF("'input_sequence_length': {'value': 7}, "
                "'output_sequence_length': {'value': 0}, "
                "'time_to_first_token': {'value': 5, 'unit': 'us'}, "
                "'request_latency': {'value': 5, 'unit': 'ns'}"),
         1, 0, 7, 1, NAN, 5e-3, 5e-6},
        {AIPERF("'time_to_first_token': {'value': 5, 'unit': 's'}, "
                "'request_latency': {'value': 0}"),
         1, 0, 0, 0, NAN, 5000, 0},
        /* inference-perf, in both ways that it has. */
        {PERF("'info': {'output_tokens': 2, 'chunk_times': [5.25, 5.5]}"), 1, 0,
         0, 2, NAN, 250, 500},
        {PERF("'info': {'output_token_times': [5.125], 'chunk_times': [5.25]}"),
         1, 0, 0, 0, NAN, 125, 500},
        {PERF("'info': {'input_tokens': 4, 'output_tokens': 9, "
              "'request_metrics': {'text': {'input_tokens': 3}}, "
              "'response_metrics': {'output_tokens': 5, 'chunk_times': []}}"),
         1, 0, 4, 5, NAN, NAN, 500},
        {PERF("'error': {}, 'info': {'chunk_times': [6]}"), 1, 0, 0, 0, NAN,
         NAN, NAN},
        {"[{'start_time': 1e15, 'end_time': -1e15}]", 1, 0, 0, 0, NAN, NAN,
         NAN},
        {"[{'start_time': 9, 'end_time': 9}, {'start_time': 5, 'end_time': "
         "6}]",
         2, 4, 0, 0, NAN, NAN, 0},
    };

    for (size_t i = 0; i < sizeof(CASES) / sizeof(*CASES); i++) {
        const struct msim_logged *row;

        CHECK_STR(read_log(CASES[i].text), "");
        if (!CHECK_INT(requests.n, CASES[i].n))
            continue;
        row = &requests.rows[requests.n - 1];
        if (!CHECK(is_same(row->t_s, CASES[i].t_s) &&
                   is_same(row->input_tokens, CASES[i].input) &&
                   is_same(row->output_tokens, CASES[i].output) &&
                   is_same(row->queued_ms, CASES[i].queued) &&
                   is_same(row->ttft_ms, CASES[i].ttft) &&
                   is_same(row->e2e_ms, CASES[i].e2e)))
            fprintf(stderr, "  %s: %g %u %u %g %g %g\n", CASES[i].text,
                    row->t_s, row->input_tokens, row->output_tokens,
                    row->queued_ms, row->ttft_ms, row->e2e_ms);
        msim_request_log_release(&requests);
    }
}

/* Blocks of both formats, and prefixes, which are alike where their texts are
 * in both. */
static void test_log_formats__have_prefixes(void)
{
    static const char *const LOGS[] = {
        "t_s,prefix_id,hash_ids\n0,a,1  -2 1000000000000000\n0,a,\n0,b,7\n",
        "{'t_s': 0, 'prefix_id': 'a', 'blocks': [1, -2, 1e15]}\n{'t_s': 0, "
        "'prefix_id': 'a'}\n{'t_s': 0, 'prefix_id': 5, 'hash_ids': [7]}\n"};

    for (int i = 0; i < 2; i++) {
        const struct msim_logged *r;

        CHECK_STR(read_log(LOGS[i]), "");
        REQUIRE(requests.n == 3);
        r = requests.rows;
        CHECK(r[0].prefix != 0 && r[0].prefix == r[1].prefix);
        CHECK(r[2].prefix != r[0].prefix);
        CHECK_INT(r[0].n_blocks, 3);
        CHECK_INT(r[1].n_blocks, 0);
        CHECK_INT(r[2].n_blocks, 1);
        CHECK_INT(r[2].first_block, 3);
        msim_request_log_release(&requests);
    }
}

static void test_log_formats__refuse(void)
{
    static const struct {
        const char *text, *says;
    } CASES[] = {
        {CSV "0,1000000001,,,,\n",
         "line 2: input_tokens is '1000000001', want a number from 0"},
        {CSV "0,,1.5,,,\n",
         "line 2: output_tokens is '1.5', want a whole number"},
        {CSV "0,,,-1,,\n", "line 2: queued_ms is '-1', want a number from 0"},
        {CSV "0,,,,1.1e12,\n",
         "line 2: ttft_ms is '1.1e12', want a number from 0"},
        {"timestamp\nx\n", "line 2: timestamp is 'x', want a number"},
        {"t_s,blocks\n1,1.5\n",
         "line 2: blocks is '1.5', want whole numbers, a space between them"},
        {ROW "'input_tokens': 1000000001}",
         "line 1: input_tokens is 1000000001, want at most 1000000000"},
        {ROW "'output_length': -1}",
         "line 1: output_length is -1, want a whole number from 0"},
        {ROW "'queued_ms': -0.5}",
         "line 1: queued_ms is -0.5, want a number from 0"},
        {ROW "'ttft_ms': -0.5}",
         "line 1: ttft_ms is -0.5, want a number from 0"},
        {ROW "'e2e_ms': -0.5}", "line 1: e2e_ms is -0.5, want a number from 0"},
        {ROW "'prefix_id': true}",
         "line 1: prefix_id is true, want a text or a number"},
        {ROW "'blocks': [1, 1.5]}",
         "line 1: blocks[1] is 1.5, want a whole number"},
        {ROW "'blocks': [2e15]}",
         "line 1: blocks[0] is 2e+15, want a whole number"},
        {"{'timestamp': 'x'}",
         "line 1: timestamp is \"x\", want seconds from 0"},
        {"{'t_s': 0}\n{'metadata': {}}\n",
         "line 2: t_s is missing, want seconds from 0"},
        {"{'start_times': ['x'], 'input_lens': [1]}",
         "line 1: start_times is [\"x\"], want numbers"},
        {GUIDE("successful", "'request_latency': -1"),
         "requests[0].request_latency is -1, want a number from 0 to "
         "1000000000"},
        {GUIDE("successful", "'time_to_first_token_ms': -1"),
         "requests[0].time_to_first_token_ms is -1, want a number from 0 to "
         "1e+12"},
        {"{\n'benchmarks': [{'requests': {'successful': [{'start_time': 5}, "
         "{'start_time': 2e15}]}}]}",
         "requests[1].start_time is 2e+15, want a number from -1e+15 to 1e+15"},
        {"{'metadata': {'request_start_ns': -1}, 'metrics': {}}",
         "line 1: metadata.request_start_ns is -1, want a number from 0 to "
         "1e+19"},
        {AIPERF("'request_latency': {'value': -1}"),
         "line 1: metrics.request_latency.value is -1, want a number from 0 to "
         "1e+12"},
        {"[{'start_time': 5, 'end_time': 6}, {'start_time': 5}]",
         "[1].end_time is missing, want seconds of a clock"},
        {PERF("'info': {'output_tokens': -1}"),
         "[0].info.output_tokens is -1, want a whole number from 0"},
        {"{\n'a': 1}\n", "not a log of requests: want csv, JSON lines, or "
                         "results of vllm bench "
                         "serve, GuideLLM, AIPerf or inference-perf"},
        {"[]", "no requests in it"},
    };

    for (size_t i = 0; i < sizeof(CASES) / sizeof(*CASES); i++) {
        CHECK_STR(read_log(CASES[i].text), CASES[i].says);
        CHECK_INT(made_error.status, MSIM_EFORMAT);
        CHECK(!requests.rows && requests.n == 0);
    }
}

int main(void)
{
    static const char *const FILES[] = {"log", NULL};

    made_begin();
    RUN(test_log_formats__are_read);
    RUN(test_log_formats__have_prefixes);
    RUN(test_log_formats__refuse);
    made_end(FILES);
    return check_summary();
}
