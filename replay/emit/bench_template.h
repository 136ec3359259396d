/*
 * replay/emit/bench_template.h - replay/emit/bench.py.in as the build embeds
 * it: what every benchmark has beside its own statements; and
 * collectives.py.in, what those with collectives have, too.
 */
#ifndef MSIM_REPLAY_EMIT_BENCH_TEMPLATE_H
#define MSIM_REPLAY_EMIT_BENCH_TEMPLATE_H

/* Both end in a NUL. */
extern const char msim_bench_template[];
extern const char msim_collectives_template[];

#endif
