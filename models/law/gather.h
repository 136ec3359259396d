/*
 * models/law/gather.h - how many look-ups of a table's rows find them in a
 * cache.
 */
#ifndef MSIM_MODELS_LAW_GATHER_H
#define MSIM_MODELS_LAW_GATHER_H

/*
 * Share, 0 to 1, of `lookups` independent look-ups into a table of `table`
 * rows that hit in a cache that holds `cached` of its rows and begins empty,
 * when row i (from 1) is asked for in proportion to i^-skew: 0 is uniform, 1
 * is Zipf's law. A row hits when it was fetched before and not since evicted:
 * the least of what repeats at all and of what the cache keeps by the
 * approximation of Che, Tung and Wang ("Hierarchical web caching systems",
 * 2002). 0 where a count is not above 0.
 */
double msim_gather_hits(double lookups, double table, double cached,
                        double skew);

#endif
