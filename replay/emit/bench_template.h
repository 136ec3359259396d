/*
 * replay/emit/bench_template.h - replay/emit/bench.py.in as the build embeds
 * it: what every benchmark has beside its own statements.
 */
#ifndef MSIM_REPLAY_EMIT_BENCH_TEMPLATE_H
#define MSIM_REPLAY_EMIT_BENCH_TEMPLATE_H

extern const char msim_bench_template[]; /* ends in a NUL */

#endif
