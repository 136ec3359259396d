/*
 * tests/unit/serving/test_request_log.c - tests of serving/log/request_log.h.
 */
#include "serving/log/request_log.h"

#include "tests/unit/serving/made_app.h"

#include <zlib.h>

static struct msim_request_log requests;

static enum msim_status read_log(const char *text)
{
    made_put("log", text);
    made_error = (struct msim_error){0};
    return msim_request_log_read(&requests, made_path("log"), &made_error);
}

static void test_request_log__csv(void)
{
    REQUIRE(read_log("id,t_s,class,input_tokens,output_tokens,blocks,ttft_ms\n"
                     "0,0.5,b,100,7,3 4,12.5\n1,2.5,,0,9,,\n") == MSIM_OK);
    CHECK_UINT(requests.n, 2);
    CHECK_REL(requests.rows[0].t_s, 0.5, 0);
    CHECK_STR(msim_request_log_class(&requests, requests.rows[0].cls), "b");
    CHECK_UINT(requests.rows[0].input_tokens, 100);
    CHECK_UINT(requests.rows[0].output_tokens, 7);
    CHECK_UINT(requests.rows[0].n_blocks, 2);
    CHECK_UINT(requests.blocks[1], 4);
    CHECK_REL(requests.rows[0].ttft_ms, 12.5, 0);
    CHECK(isnan(requests.rows[0].e2e_ms));
    CHECK_UINT(requests.rows[1].cls, 0);
    CHECK_UINT(requests.rows[1].input_tokens, 1);
    CHECK_UINT(requests.rows[1].n_blocks, 0);
    CHECK(isnan(requests.rows[1].ttft_ms));
    CHECK_REL(msim_request_log_seconds(&requests), 2, 0);
    CHECK_REL(msim_request_log_rate(&requests), 0.5, 0);
    msim_request_log_release(&requests);
    REQUIRE(read_log("t_s\n1\n1.125\n1.25\n") == MSIM_OK);
    CHECK_REL(msim_request_log_rate(&requests), 8, 1e-12);
    msim_request_log_release(&requests);
    REQUIRE(read_log("timestamp\n1500\n") == MSIM_OK); /* ms */
    CHECK_REL(requests.rows[0].t_s, 1.5, 1e-15);
    CHECK(isnan(msim_request_log_rate(&requests)));
    msim_request_log_release(&requests);
}

/* From 23:59:59.5 to the next day's (a leap day's) 00:00:00.75: 1.25 s. */
static void test_request_log__azure(void)
{
    REQUIRE(read_log("TIMESTAMP,ContextTokens,GeneratedTokens\n"
                     "2024-02-28 23:59:59.5000000,4808,10\n"
                     "2024-02-29 00:00:00.750000+00:00,3180,8\n"
                     "2024-03-01T00:00:00Z,1,1\n") == MSIM_OK);
    CHECK_REL(requests.rows[0].t_s, 0, 0);
    CHECK_REL(requests.rows[1].t_s, 1.25, 1e-6); /* of 1.7e9 s in a double */
    CHECK_REL(requests.rows[2].t_s, 86400.5, 1e-9);
    CHECK_UINT(requests.rows[0].input_tokens, 4808);
    CHECK_UINT(requests.rows[1].output_tokens, 8);
    msim_request_log_release(&requests);
}

static void test_request_log__json_lines(void)
{
    REQUIRE(
        read_log("\n{'timestamp': 27482, 'input_length': 6955, "
                 "'output_length': 52, 'hash_ids': [46, 47, 2353]}\n \r\n"
                 "{'t_s': 30, 'input_tokens': 5, 'class': 'x', 'prefix_id': "
                 "'p', 'e2e_ms': 9, 'else': {}}") == MSIM_OK);
    CHECK_UINT(requests.n, 2);
    CHECK_REL(requests.rows[0].t_s, 27.482, 1e-15);
    CHECK_UINT(requests.rows[0].input_tokens, 6955);
    CHECK_UINT(requests.rows[0].output_tokens, 52);
    CHECK_UINT(requests.rows[0].n_blocks, 3);
    CHECK_UINT(requests.blocks[2], 2353);
    CHECK_STR(msim_request_log_class(&requests, requests.rows[1].cls), "x");
    CHECK(requests.rows[1].prefix != 0);
    CHECK_UINT(requests.rows[1].output_tokens, 0);
    CHECK_REL(requests.rows[1].e2e_ms, 9, 0);
    msim_request_log_release(&requests);
}

static void test_request_log__packed(void)
{
    gzFile f = gzopen(made_path("log"), "wb");

    REQUIRE(f);
    gzputs(f, "{\"t_s\": 1}\n{\"t_s\": 2}\n");
    gzclose(f);
    REQUIRE(msim_request_log_read(&requests, made_path("log"), &made_error) ==
            MSIM_OK);
    CHECK_UINT(requests.n, 2);
    msim_request_log_release(&requests);
    f = gzopen(made_path("log"), "wb");
    REQUIRE(f);
    gzputs(f, "t_s\n1\n1\n3\n");
    gzclose(f);
    REQUIRE(msim_request_log_read(&requests, made_path("log"), &made_error) ==
            MSIM_OK);
    CHECK_UINT(requests.n, 3);
    msim_request_log_release(&requests);
}

static void test_request_log__refuses_by_line(void)
{
    static const struct {
        const char *text, *says;
    } WRONG[] = {
        {"t_s\n5\n4.5\n", "line 3: the time is 4.5 s and the line before has 5 "
                          "s, want times that do not go back"},
        {"t_s\n-1\n", "line 2: the time is -1 s, want"},
        {"t_s\nx\n", "line 2: t_s is 'x', want a number"},
        {"t_s,input_tokens\n1,2.5\n", "line 2: input_tokens is '2.5', want"},
        {"t_s,output_tokens\n1,-2\n", "line 2: output_tokens is '-2', want"},
        {"t_s,blocks\n1,1 x\n", "line 2: blocks is '1 x', want"},
        {"t_s,e2e_ms\n1,-4\n", "line 2: e2e_ms is '-4', want"},
        {"TIMESTAMP\nnoon\n", "line 2: TIMESTAMP is 'noon', want a date"},
        {"TIMESTAMP\n2024-02-28 10:00:00+02:00\n",
         "line 2: TIMESTAMP is '2024-02-28 10:00:00+02:00', want a date"},
        {"a,b\n1,2\n", "no column 't_s', want"},
        {"t_s\n", "no requests in it"},
        {"{'t_s': 5}\n{'t_s': 4}\n", "line 2: the time is 4 s and the line"},
        {"{'t_s': 'x'}\n", "line 1: t_s is \"x\", want"},
        {"{'a': 1}\n", "line 1: t_s is missing, want"},
        {"{'t_s': 1, 'input_tokens': 1.5}\n",
         "line 1: input_tokens is 1.5, want"},
        {"{'t_s': 1, 'hash_ids': [1, 'x']}\n",
         "line 1: hash_ids[1] is \"x\", want"},
        {"{'t_s': 1}\n{'t_s':\n", "line 2: not a JSON object"},
        {"{'t_s': 1}\n[1]\n", "line 2: not a JSON object"},
        {"{\n'a': 1}\n", "not a log of requests: want"},
        {"[{'a': 1}]\n", "[0].start_time is missing, want"},
        {"[1]\n", "[0].start_time is missing, want"},
        {"{'input_lens': [1]}\n", "line 1: start_times is missing, want"},
        {"{'metadata': {}, 'metrics': {}}\n",
         "line 1: metadata.request_start_ns is missing, want"},
        {"{\n'benchmarks': [{'requests': {'successful': [{}]}}]}",
         "requests[0].start_time is missing, want"},
    };

    for (size_t i = 0; i < sizeof(WRONG) / sizeof(*WRONG); i++) {
        char got[1024];

        CHECK(read_log(WRONG[i].text) != MSIM_OK);
        snprintf(got, sizeof(got), "%.*s", (int)strlen(WRONG[i].says),
                 made_error.text);
        CHECK_STR(got, WRONG[i].says);
        CHECK(!requests.rows && !requests.classes);
    }
}

/* Results of four load generators: two requests, the second sent 1.5 s after
 * the first, though it ended, and was written, before it. */
static void test_request_log__results_of_tools(void)
{
    static const char *const FILES[] = {
        /* vLLM: 0.2 s to the first token, 0.3 and 0.1 s to the others. */
        "{'date': 'x', 'input_lens': [20, 10], 'output_lens': [1, 3], 'ttfts': "
        "[0.1, 0.2], 'itls': [[], [0.3, 0.1]], 'start_times': [101.5, 100], "
        "'errors': ['', '']}",
        "{\n 'benchmarks': [{'requests': {'successful': ["
        "{'request_start_time': 101.5, 'prompt_tokens': 20, 'output_tokens': "
        "1, 'time_to_first_token_ms': 100, 'request_latency': 0.1}, "
        "{'start_time': 100, 'prompt_tokens': 10, 'output_tokens': 3, "
        "'time_to_first_token_ms': 200, 'request_latency': 0.6}], "
        "'errored': []}}]}",
        "{'metadata': {'request_start_ns': 1763066701500000000}, 'metrics': "
        "{'time_to_first_token': {'value': 100, 'unit': 'ms'}, "
        "'request_latency': {'value': 0.1, 'unit': 's'}, "
        "'input_sequence_length': {'value': 20, 'unit': 'tokens'}, "
        "'output_sequence_length': {'value': 1, 'unit': 'tokens'}}}\n"
        "{'metadata': {'request_start_ns': 1763066700000000000}, 'metrics': "
        "{'time_to_first_token': {'value': 200, 'unit': 'ms'}, "
        "'request_latency': {'value': 600, 'unit': 'ms'}, "
        "'input_sequence_length': {'value': 10, 'unit': 'tokens'}, "
        "'output_sequence_length': {'value': 3, 'unit': 'tokens'}}}\n",
        "[{'start_time': 101.5, 'end_time': 101.6, 'info': {'input_tokens': "
        "20, 'output_tokens': 1, 'output_token_times': [101.6]}, 'error': "
        "null}, {'start_time': 100, 'end_time': 100.6, 'info': "
        "{'request_metrics': {'text': {'input_tokens': 10}}, "
        "'response_metrics': {'output_tokens': 3, 'output_token_times': "
        "[100.2, 100.6]}}}]",
    };

    for (size_t i = 0; i < sizeof(FILES) / sizeof(*FILES); i++) {
        const struct msim_logged *row;

        REQUIRE(read_log(FILES[i]) == MSIM_OK);
        REQUIRE(requests.n == 2);
        row = requests.rows;
        CHECK_REL(row[0].t_s, 0, 0);
        CHECK_REL(row[1].t_s, 1.5, 1e-6);
        CHECK_UINT(row[0].input_tokens, 10);
        CHECK_UINT(row[0].output_tokens, 3);
        CHECK_REL(row[0].ttft_ms, 200, 1e-6);
        CHECK_REL(row[0].e2e_ms, 600, 1e-6);
        CHECK_UINT(row[1].input_tokens, 20);
        CHECK_REL(row[1].ttft_ms, 100, 1e-6);
        CHECK_REL(row[1].e2e_ms, 100, 1e-6);
        msim_request_log_release(&requests);
    }
}

/* One that failed has arrived, and took no time that is known. */
static void test_request_log__failed_requests(void)
{
    REQUIRE(read_log("{'input_lens': [5], 'output_lens': [0], 'ttfts': [0], "
                     "'itls': [[]], 'start_times': [7], 'errors': ['refused']"
                     "}") == MSIM_OK);
    CHECK_UINT(requests.n, 1);
    CHECK_UINT(requests.rows[0].output_tokens, 1);
    CHECK(isnan(requests.rows[0].ttft_ms) && isnan(requests.rows[0].e2e_ms));
    msim_request_log_release(&requests);
    REQUIRE(read_log("{\n'benchmarks': [{'requests': {'incomplete': "
                     "[{'request_start_time': 1, 'request_latency': 3}]}}]}") ==
            MSIM_OK);
    CHECK(isnan(requests.rows[0].e2e_ms));
    msim_request_log_release(&requests);
}

int main(void)
{
    static const char *const FILES[] = {"log", NULL};

    made_begin();
    RUN(test_request_log__csv);
    RUN(test_request_log__azure);
    RUN(test_request_log__json_lines);
    RUN(test_request_log__packed);
    RUN(test_request_log__results_of_tools);
    RUN(test_request_log__failed_requests);
    RUN(test_request_log__refuses_by_line);
    made_end(FILES);
    return check_summary();
}
