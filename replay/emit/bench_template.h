/*
 * replay/emit/bench_template.h - replay/emit/bench.py.in as the build embeds
 * it: what every benchmark has beside its own statements; collectives.py.in,
 * what those with collectives have, too; and scripts/capture/meter.py, which
 * lies beside each.
 */
#ifndef MSIM_REPLAY_EMIT_BENCH_TEMPLATE_H
#define MSIM_REPLAY_EMIT_BENCH_TEMPLATE_H

/* All end in a NUL. */
extern const char msim_bench_template[];
extern const char msim_collectives_template[];
extern const char msim_meter_template[];

#endif
