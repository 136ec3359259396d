/*
 * The tables of all laws: what fits begin with, between which bounds, by which
 * features, and what is added where another stack's or GPU's fit stands in.
 *
 * Committed fits (data/platforms, data/laws/common.json) were made with these:
 * the order of features is that of their trees. Whoever changes a figure makes
 * the fits again (tests/accuracy/op.sh update), and then writes it here.
 */
#include "models/law/law.h"

#include "tests/check.h"
#include "tests/unit/appended.h"

static const struct {
    const struct msim_law *law;
    const char *name;
    uint32_t n_sizes, n_names;
    double stack_log_sd;
    bool follows_floor, has_key_log_sd, has_carry;
    struct msim_param params[MSIM_LAW_PARAMS];
    double carried_low[MSIM_LAW_PARAMS];
    const char *features;
} LAWS[] = {
    {&MSIM_LAW_GEMM,
     "gemm",
     6,
     0,
     0.12,
     1,
     1,
     0,
     {{"t0", "us", 4, 0.3, 200},
      {"compute_efficiency", "1", 0.75, 0.02, 2},
      {"bandwidth_efficiency", "1", 0.75, 0.02, 6},
      {"norm", "1", 2.5, 1, 8},
      {"wave_exponent", "1", 0.5, 0.01, 1},
      {"depth", "us per 1024 of k", 1, 0.01, 60}},
     {0, 0, 0.7},
     "log_m log_n log_k log_batch log_flops log_bytes log_mn log_nk log_mk "
     "waves_64x64 tail_64x64 waste_64x64 waves_128x64 tail_128x64 waste_128x64 "
     "waves_128x128 tail_128x128 waste_128x128 waves_256x128 tail_256x128 "
     "waste_256x128 log_gcd_m_256 log_gcd_n_1024 log_gcd_k_1024 a_transposed "
     "b_transposed"},
    {&MSIM_LAW_ATTENTION,
     "attention",
     8,
     0,
     0.35,
     0,
     1,
     1,
     {{"t0", "us", 6, 0.3, 200},
      {"compute_efficiency", "1", 0.5, 0.005, 2},
      {"bandwidth_efficiency", "1", 0.6, 0.005, 6},
      {"norm", "1", 2.5, 1, 8},
      {"wave_exponent", "1", 0.3, 0.01, 1},
      {"depth", "us per 1024 keys", 3, 0.01, 200}},
     {0},
     "log_batch log_heads log_kv_heads log_q_len log_kv_len log_flops "
     "log_bytes log_head_dim log_group log_keys log_window log_window_kv "
     "kv_bytes input_bytes waves_64 tail_64 waves_128 tail_128 waves_256 "
     "tail_256 log_kv_blocks log_tokens waves_kv tail_kv log_packed_16 "
     "packed_64 packed_128 log_splits log_split_kv tail_split log_rounds"},
    {&MSIM_LAW_CONV,
     "conv",
     6,
     0,
     0.2,
     0,
     0,
     0,
     {{"t0", "us", 10, 0.3, 300},
      {"compute_efficiency", "1", 0.8, 0.05, 4},
      {"bandwidth_efficiency", "1", 0.6, 0.02, 4},
      {"norm", "1", 2, 1, 8},
      {"pipeline_depth", "1", 32, 1, 1000},
      {"narrow_tile_cost", "1", 16, 0.5, 64},
      {"adding_cost", "1", 5, 0.1, 100},
      {"winograd_gain", "1", 1.6, 0.3, 4},
      {"transform_cost", "1", 1.5, 0.1, 30},
      {"least_area", "1", 2, 0.1, 8}},
     {0},
     "log_n log_c log_hw log_k log_flops log_bytes log_m log_crs log_rs stride "
     "waves_64x64 tail_64x64 waves_128x128 tail_128x128 waves_128x32 "
     "tail_128x32 log_gcd_c log_gcd_k log_p tile_waste_2 tile_waste_4 "
     "log_groups pad aspect"},
    {&MSIM_LAW_VECTOR,
     "vector",
     2,
     0,
     0.1,
     0,
     1,
     1,
     {{"t0", "us", 3, 0.3, 200},
      {"bandwidth_efficiency", "1", 0.8, 0.005, 1.5},
      {"cache_speedup", "1", 2, 1, 12},
      {"cache_share", "1", 0.7, 0.02, 4},
      {"row", "us per row of an SM", 0.1, 0.0001, 10},
      {"norm", "1", 1.5, 1, 8}},
     {0},
     "log_bytes log_elems log_rows log_cols log_l2 log_gcd_cols waves tail"},
    {&MSIM_LAW_MOE,
     "moe",
     9,
     3,
     0.45,
     0,
     0,
     0,
     {{"t0", "us", 25, 1, 300},
      {"compute_efficiency", "1", 0.5, 0.01, 2},
      {"bandwidth_efficiency", "1", 0.75, 0.02, 2},
      {"norm", "1", 2, 1, 8},
      {"padding_exponent", "1", 0.3, 0.01, 1},
      {"scatter", "passes over all pairs", 0.3, 0.001, 20},
      {"cache_speedup", "1", 2, 1, 8},
      {"expert", "us per active expert", 0.02, 0.0001, 20},
      {"ungated", "1", 1.05, 1, 1.5}},
     {0},
     "log_hidden log_experts log_topk log_tokens log_inter log_local log_pairs "
     "log_flops log_bytes log_active log_most log_pairs_active log_l2 waste_16 "
     "waste_64 waste_128 waves_64 waves_128 waves_out tail_64 alpha flavour "
     "log_ep log_imbalance log_all_pairs log_each plain"},
    {&MSIM_LAW_COLLECTIVE,
     "collective",
     3,
     0,
     0.1,
     0,
     0,
     0,
     {{"t0", "us", 5, 0.5, 400},
      {"hop", "us", 0.8, 0.02, 60},
      {"low_latency_efficiency", "1", 0.25, 0.003, 1},
      {"bulk_efficiency", "1", 0.8, 0.01, 2.5},
      {"in_switch_start", "us", 15, 1, 400},
      {"crowding", "1", 1, 0.01, 3},
      {"network_hop", "latencies", 2, 0.02, 100},
      {"network_efficiency", "1", 0.8, 0.01, 3}},
     {0},
     "log_bytes log_ranks log_nodes"},
    {&MSIM_LAW_DISPATCH,
     "dispatch",
     5,
     0,
     0.1,
     0,
     0,
     0,
     {{"t0", "us", 20, 1, 200},
      {"expert", "us per expert", 0.005, 1e-05, 1},
      {"row", "us per 1024 elements", 1, 0.001, 20},
      {"copy", "ns per element and SM", 0.08, 0.001, 2},
      {"send", "ns per element and SM", 0.05, 0.001, 2},
      {"message_start", "elements", 1000, 1, 20000},
      {"link_efficiency", "1", 0.7, 0.02, 2},
      {"norm", "1", 3, 1, 12}},
     {0},
     "log_tokens log_hidden log_topk log_experts log_sms log_wire messages "
     "log_elements log_limits"},
    {&MSIM_LAW_CPU_GEMM,
     "cpu_gemm",
     6,
     0,
     0.3,
     0,
     0,
     0,
     {{"t0", "us", 0.3, 0.02, 100},
      {"compute_efficiency", "1", 0.9, 0.02, 3},
      {"edge_m", "1", 3, 0.01, 300},
      {"edge_n", "1", 3, 0.01, 300},
      {"edge_k", "1", 3, 0.01, 300},
      {"passes_a", "1", 1, 0.02, 20},
      {"passes_b", "1", 1, 0.02, 20},
      {"passes_c", "1", 1, 0.02, 20},
      {"page", "us per new page", 0.1, 0.0001, 5}},
     {0},
     "log_m log_n log_k log_batch log_flops log_bytes log_mn log_nk log_mk "
     "log_gcd_m_1024 log_gcd_n_1024 log_gcd_k_1024 waste_16x16 a_transposed "
     "b_transposed"},
    {&MSIM_LAW_CPU_CONV,
     "cpu_conv",
     6,
     0,
     0.3,
     0,
     0,
     0,
     {{"t0", "us", 5, 0.05, 200},
      {"compute_efficiency", "1", 0.9, 0.02, 3},
      {"edge_places", "1", 3, 0.01, 300},
      {"edge_filters", "1", 3, 0.01, 300},
      {"edge_channels", "1", 3, 0.01, 300},
      {"passes_in", "1", 1, 0.01, 30},
      {"passes_weight", "1", 1, 0.01, 30},
      {"passes_out", "1", 1, 0.01, 30},
      {"page", "us per new page", 0.1, 0.0001, 5}},
     {0},
     "log_n log_c log_hw log_k log_flops log_bytes log_pq log_crs log_rs "
     "stride log_gcd_c log_gcd_k log_groups pad fill_c fill_k"},
    {&MSIM_LAW_CPU_VECTOR,
     "cpu_vector",
     2,
     0,
     0.2,
     0,
     0,
     0,
     {{"t0", "us", 0.5, 0.02, 100},
      {"bandwidth_efficiency", "1", 0.7, 0.001, 5},
      {"one_core_exponent", "1", 0.5, 0.01, 1.2},
      {"row", "us per row of a core", 0.01, 1e-05, 10},
      {"page", "us per new page", 0.1, 0.0001, 5}},
     {0},
     "log_bytes log_elems log_rows log_cols log_cache log_gcd_cols log_cores "
     "log_row_bytes"},
};
#define N_LAWS (sizeof(LAWS) / sizeof(*LAWS))

static void test_laws__heads(void)
{
    for (size_t i = 0; i < N_LAWS; i++) {
        const struct msim_law *l = LAWS[i].law;

        CHECK_STR(l->name, LAWS[i].name);
        CHECK_UINT(l->n_sizes, LAWS[i].n_sizes);
        CHECK_UINT(l->n_names, LAWS[i].n_names);
        CHECK_REL(l->stack_log_sd, LAWS[i].stack_log_sd, 0);
        CHECK_INT(l->start_follows_floor, LAWS[i].follows_floor);
        CHECK_INT(l->key_log_sd != NULL, LAWS[i].has_key_log_sd);
        CHECK_INT(l->carry != NULL, LAWS[i].has_carry);
        CHECK(l->time_us && l->describe && l->key);
        for (int k = 0; k < MSIM_LAW_PARAMS; k++)
            CHECK_REL(l->carried_low[k], LAWS[i].carried_low[k], 0);
    }
}

/* The constant part comes first, in microseconds, and every bound is above 0,
 * since fits go by logarithms. */
static void test_laws__params(void)
{
    for (size_t i = 0; i < N_LAWS; i++) {
        const struct msim_law *l = LAWS[i].law;
        uint32_t n = 0;

        while (n < MSIM_LAW_PARAMS && LAWS[i].params[n].name)
            n++;
        if (!CHECK_UINT(l->n_params, n))
            continue;
        CHECK_STR(l->params[0].name, "t0");
        CHECK_STR(l->params[0].unit, "us");
        for (uint32_t k = 0; k < n; k++) {
            const struct msim_param *is = &l->params[k];
            const struct msim_param *want = &LAWS[i].params[k];

            CHECK_STR(is->name, want->name);
            CHECK_STR(is->unit, want->unit);
            CHECK_REL(is->start, want->start, 0);
            CHECK_REL(is->low, want->low, 0);
            CHECK_REL(is->high, want->high, 0);
            CHECK(is->low > 0 && is->low <= is->start && is->start < is->high);
        }
    }
}

static void test_laws__features(void)
{
    for (size_t i = 0; i < N_LAWS; i++) {
        const struct msim_law *l = LAWS[i].law;
        char text[1024] = "";

        CHECK(l->n_features <= MSIM_LAW_FEATURES);
        CHECK(l->n_names <= l->n_sizes && l->n_sizes <= l->n_features);
        for (uint32_t k = 0; k < l->n_features; k++) {
            APPEND(text, "%s", k ? " " : "");
            APPEND(text, "%s", l->features[k]);
        }
        CHECK_STR(text, LAWS[i].features);
    }
}

int main(void)
{
    RUN(test_laws__features);
    RUN(test_laws__heads);
    RUN(test_laws__params);
    return check_summary();
}
