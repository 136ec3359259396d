/*
 * core/report/columns/report_columns.c - the members of a prediction's JSON.
 */
#include "core/report/columns/report_columns.h"

#include "core/report/analyse/prediction.h"

#define NUMBER(of, member, key) MSIM_COLUMN(struct of, member, key)
#define IN(of, group, member, key)                                             \
    MSIM_COLUMN(struct of, member, key, .in = (group))
#define OF_TYPE(kind, of, member, key, ...)                                    \
    MSIM_COLUMN(struct of, member, key, .type = MSIM_COLUMN_##kind, __VA_ARGS__)
#define TEXT(of, member, key) OF_TYPE(TEXT, of, member, key)
#define NAME(of, member, key) OF_TYPE(TEXT, of, member, key, .must = true)
#define RANK(of)              OF_TYPE(RANK, of, rank, "rank")

/* An interval as an object, and inside a record, where the unit is part of each
 * key. */
#define FIGURE(of, group, member)                                              \
    IN(of, group, member.predicted, "predicted"),                              \
        IN(of, group, member.low, "low"), IN(of, group, member.high, "high"),  \
        IN(of, group, member.measured, "measured")
#define FIGURE_US(of)                                                          \
    MSIM_COLUMN(struct of, us.predicted, "predicted_us", .must = true),        \
        NUMBER(of, us.low, "low_us"), NUMBER(of, us.high, "high_us"),          \
        NUMBER(of, us.measured, "measured_us")

/* What iterations, ranks and the whole have alike. */
#define COMMUNICATION(of)                                                      \
    IN(of, "communication_us", transfer_us, "transfer"),                       \
        IN(of, "communication_us", wait_us, "wait")
#define BREAKDOWN(of)                                                          \
    IN(of, "breakdown_us", breakdown_us.compute, "compute"),                   \
        IN(of, "breakdown_us", breakdown_us.communication, "communication"),   \
        IN(of, "breakdown_us", breakdown_us.memory_copy, "memory_copy"),       \
        IN(of, "breakdown_us", breakdown_us.host, "host"),                     \
        IN(of, "breakdown_us", breakdown_us.idle, "idle")
#define OVERLAPPED(of)                                                         \
    IN(of, "overlapped_us", overlapped_communication_us, "communication"),     \
        IN(of, "overlapped_us", overlapped_copy_us, "memory_copy")

static const struct msim_column TIMES[] = {
    FIGURE(msim_prediction, "iteration_us", iteration_us),
    FIGURE(msim_prediction, "period_us", period.us)};

static const struct msim_column WORK[] = {
    FIGURE(msim_prediction, "kernel_us", kernel_us),
    COMMUNICATION(msim_prediction),
    NUMBER(msim_prediction, external_wait_us, "external_wait_us"),
    BREAKDOWN(msim_prediction),
    OVERLAPPED(msim_prediction),
    IN(msim_prediction, "coverage", coverage_ops, "ops"),
    IN(msim_prediction, "coverage", coverage_time, "device_time")};

/* What the period was read off, and what works most in it. */
#define OF_PERIOD(kind, member, key)                                           \
    OF_TYPE(kind, msim_prediction, period.member, key, .in = "period_of")
static const struct msim_column PERIOD[] = {
    OF_PERIOD(TEXT, state, "state"),
    OF_PERIOD(U32, iterations, "iterations"),
    OF_PERIOD(RANK, rank, "rank"),
    OF_PERIOD(REAL, host_range_us, "host_range_us"),
    OF_PERIOD(REAL, gpu_range_us, "gpu_range_us"),
    OF_PERIOD(TEXT, busiest_kind, "busiest_kind"),
    OF_PERIOD(TEXT, busiest, "busiest"),
    OF_PERIOD(REAL, busiest_us, "busiest_us"),
    OF_PERIOD(REAL, busiest_share, "busiest_share"),
    OF_PERIOD(FLAG, bounds, "bounds")};

static const struct msim_column PATH_OF[] = {
    OF_TYPE(TEXT, msim_prediction, path_iteration, "iteration",
            .in = "critical_path_of"),
    OF_TYPE(TIME, msim_prediction, path_length, "us",
            .in = "critical_path_of")};

static const struct msim_column LINKS[] = {
    OF_TYPE(TEXT, msim_prediction, links_inside, "inside_node", .in = "links"),
    OF_TYPE(TEXT, msim_prediction, links_between, "between_nodes",
            .in = "links")};

static const struct msim_column ITERATIONS[] = {
    NAME(msim_iteration, name, "name"),
    FIGURE_US(msim_iteration),
    RANK(msim_iteration),
    COMMUNICATION(msim_iteration),
    BREAKDOWN(msim_iteration),
    OVERLAPPED(msim_iteration),
    TEXT(msim_iteration, state, "state")};

/* Behind its shapes and before its sizes, which are not read. */
static const struct msim_column OPS[] = {
    NAME(msim_op_row, name, "name"),
    NUMBER(msim_op_row, calls, "calls"),
    FIGURE_US(msim_op_row),
    TEXT(msim_op_row, model, "model"),
    TEXT(msim_op_row, source, "source"),
    OF_TYPE(FLAG, msim_op_row, communication, "communication"),
    TEXT(msim_op_row, limit, "limit"),
    NUMBER(msim_op_row, peak_share, "peak_share"),
    NUMBER(msim_op_row, slack_us, "slack_us")};

/* Before what it waits for, and its memory. */
static const struct msim_column RANKS[] = {
    RANK(msim_rank_row),
    OF_TYPE(U32, msim_rank_row, stands_for, "ranks"),
    FIGURE(msim_rank_row, "iteration_us", iteration_us),
    FIGURE(msim_rank_row, "period_us", period_us),
    FIGURE(msim_rank_row, "kernel_us", kernel_us),
    COMMUNICATION(msim_rank_row),
    BREAKDOWN(msim_rank_row),
    OVERLAPPED(msim_rank_row)};

static const struct msim_column PATH[] = {
    TEXT(msim_path_row, name, "name"),
    TEXT(msim_path_row, kind, "kind"),
    TEXT(msim_path_row, op, "op"),
    RANK(msim_path_row),
    TEXT(msim_path_row, lane, "lane"),
    OF_TYPE(TIME, msim_path_row, start, "start_us"),
    OF_TYPE(TIME, msim_path_row, dur, "us"),
    TEXT(msim_path_row, edge, "edge"),
    TEXT(msim_path_row, edge_source, "edge_source")};

static const struct msim_column OWNERS[] = {
    NAME(msim_owner_row, name, "name"),
    TEXT(msim_owner_row, kind, "kind"),
    TEXT(msim_owner_row, op, "op"),
    MSIM_COLUMN(struct msim_owner_row, us, "us", .must = true),
    NUMBER(msim_owner_row, share, "share"),
    NUMBER(msim_owner_row, pieces, "pieces")};

static const struct msim_column EDGES[] = {
    TEXT(msim_edge_row, kind, "kind"), TEXT(msim_edge_row, source, "source"),
    OF_TYPE(U32, msim_edge_row, count, "count"),
    OF_TYPE(U32, msim_edge_row, binding, "binding")};

static const struct msim_column COLLECTIVES[] = {
    TEXT(msim_collective_row, name, "name"),
    TEXT(msim_collective_row, group, "group"),
    NUMBER(msim_collective_row, bytes, "bytes"),
    OF_TYPE(U32, msim_collective_row, ranks, "ranks"),
    NUMBER(msim_collective_row, calls, "calls"),
    NUMBER(msim_collective_row, transfer_us, "transfer_us"),
    NUMBER(msim_collective_row, wait_us, "wait_us"),
    IN(msim_collective_row, "skew_us", skew_mean_us, "mean"),
    IN(msim_collective_row, "skew_us", skew_max_us, "max"),
    OF_TYPE(RANK, msim_collective_row, last_rank, "last_rank")};

static const struct msim_column STRAGGLERS[] = {
    RANK(msim_straggler_row), NUMBER(msim_straggler_row, last_in, "last_in"),
    NUMBER(msim_straggler_row, wait_caused_us, "wait_caused_us")};

static const struct msim_column KERNELS[] = {
    TEXT(msim_kernel_row, name, "name"),
    TEXT(msim_kernel_row, kind, "kind"),
    NUMBER(msim_kernel_row, calls, "calls"),
    NUMBER(msim_kernel_row, us, "predicted_us"),
    NUMBER(msim_kernel_row, longest_us, "longest_us"),
    NUMBER(msim_kernel_row, measured_us, "measured_us")};

static const struct msim_column SENSITIVITY[] = {
    TEXT(msim_sensitivity_row, select, "select"),
    NUMBER(msim_sensitivity_row, factor, "factor"),
    NUMBER(msim_sensitivity_row, period_us, "period_us"),
    NUMBER(msim_sensitivity_row, ratio, "ratio")};

static const struct msim_column HOST_OPS[] = {
    NAME(msim_host_row, name, "name"), TEXT(msim_host_row, kind, "kind"),
    NUMBER(msim_host_row, calls, "calls"), FIGURE_US(msim_host_row)};

static const struct msim_column REGIONS[] = {
    TEXT(msim_region_row, name, "name"),
    NUMBER(msim_region_row, calls, "calls"),
    NUMBER(msim_region_row, gpu_us, "gpu_us"),
    NUMBER(msim_region_row, host_us, "host_us")};

static const struct msim_column FAMILIES[] = {
    NAME(msim_family_row, model, "model"),
    NUMBER(msim_family_row, calls, "calls"), FIGURE_US(msim_family_row)};

#define LIST(member, key, of) MSIM_RECORD_LIST(msim_prediction, member, key, of)
#define PART(of)                                                               \
    {                                                                          \
        .columns = (of), .n = sizeof(of) / sizeof(*(of))                       \
    }

const struct msim_record_list *msim_report_columns(enum msim_report_part part)
{
    static const struct msim_record_list PARTS[] = {
        [MSIM_REPORT_TIMES] = PART(TIMES),
        [MSIM_REPORT_WORK] = PART(WORK),
        [MSIM_REPORT_PERIOD] = PART(PERIOD),
        [MSIM_REPORT_PATH_OF] = PART(PATH_OF),
        [MSIM_REPORT_LINKS] = PART(LINKS),
        [MSIM_REPORT_ITERATIONS] = LIST(iterations, "iterations", ITERATIONS),
        [MSIM_REPORT_OPS] = LIST(ops, "ops", OPS),
        [MSIM_REPORT_RANKS] = LIST(ranks_detail, "ranks_detail", RANKS),
        [MSIM_REPORT_PATH] = LIST(path, "critical_path", PATH),
        [MSIM_REPORT_OWNERS] = LIST(owners, "critical_owners", OWNERS),
        [MSIM_REPORT_EDGES] = LIST(edges, "edges", EDGES),
        [MSIM_REPORT_COLLECTIVES] =
            LIST(collectives, "collectives", COLLECTIVES),
        [MSIM_REPORT_STRAGGLERS] = LIST(stragglers, "stragglers", STRAGGLERS),
        [MSIM_REPORT_KERNELS] = LIST(kernels, "kernels", KERNELS),
        [MSIM_REPORT_SENSITIVITY] =
            LIST(sensitivity, "sensitivity", SENSITIVITY),
        [MSIM_REPORT_HOST_OPS] = LIST(host_ops, "host_ops", HOST_OPS),
        [MSIM_REPORT_PHASES] = LIST(phases, "phases", REGIONS),
        [MSIM_REPORT_REGIONS] = LIST(regions, "regions", REGIONS),
        [MSIM_REPORT_FAMILIES] = LIST(families, "families", FAMILIES),
    };

    return &PARTS[part];
}
