/*
 * models/law/gather.h - the share of look-ups into a table that hit a cache.
 */
#ifndef MSIM_MODELS_LAW_GATHER_H
#define MSIM_MODELS_LAW_GATHER_H

/*
 * The share, 0 to 1, of `lookups` independent look-ups into a table of `table`
 * rows that hit a cache of `cached` rows, which is empty at first. The
 * probability of row i (from 1) is in proportion to i^-skew: skew 0 is uniform,
 * 1 is Zipf's law. A look-up hits if its row was fetched before and was not
 * evicted since. The share is the minimum of two: the look-ups that repeat an
 * earlier one, and the hits of a full cache by the approximation of Che, Tung
 * and Wang ("Hierarchical web caching systems", 2002). 0 where a count is not
 * above 0.
 */
double msim_gather_hits(double lookups, double table, double cached,
                        double skew);

/*
 * How many different rows `lookups` such look-ups fetch; 0 where a count is not
 * above 0.
 */
double msim_gather_distinct(double lookups, double table, double skew);

#endif
