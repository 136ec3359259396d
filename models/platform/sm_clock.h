/*
 * models/platform/sm_clock.h - a GPU at another SM clock, or under a power cap.
 *
 * The clock of the SMs scales arithmetic, the L2 cache, and every constant of a
 * law that is a time (launch, a step of a main loop, a row). It does not scale
 * the rates of device memory, links and PCIe. An estimate is made at the usual
 * clock and multiplied by the ratio of the law on both data sheets, so that a
 * correction, which was learned at the usual clock, still holds:
 *
 *     time(clock) = time(usual) * law(sheet at clock) / law(sheet)
 *
 * Under a cap of W watts the clock falls until the power fits:
 *
 *     W = idle + (limit - idle) * (clock / usual)^2.5,  idle = limit / 4
 *
 * Example: an A100 of 300 W at a cap of 250 W runs at (175 / 225)^0.4 = 0.904
 * of its clock; products that are bound by arithmetic take 1.106 times as long.
 */
#ifndef MSIM_MODELS_PLATFORM_SM_CLOCK_H
#define MSIM_MODELS_PLATFORM_SM_CLOCK_H
#include "models/law/law.h"

#define MSIM_CLOCK_TEXT 96 /* bytes of msim_clock_text() at most */

/* What was asked for; 0: nothing. */
struct msim_clock_wish {
    double ratio; /* of the usual clock */
    double hz;    /* instead of a ratio */
    double watts;
};

struct msim_sm_clock {
    double ratio;    /* SM clock over the usual one; 0: none was asked for */
    double usual_hz; /* the data sheet's boost clock; 0: not known */
    double watts;    /* the cap; 0: none */
    double limit_watts;
    /* half of the 90 % interval of a slowdown's logarithm, over this logarithm
     */
    double width_ratio;
};

/*
 * Parse the value of --clock: a share of the usual clock ("0.8", "80%") or a
 * clock ("1100", "1100MHz", "1.1GHz"); or of --power-cap: watts ("300",
 * "300W"). EUSAGE where it is neither.
 */
MSIM_MUST_CHECK
enum msim_status msim_clock_parse(struct msim_clock_wish *w, const char *value,
                                  struct msim_error *err);
MSIM_MUST_CHECK
enum msim_status msim_power_cap_parse(struct msim_clock_wish *w,
                                      const char *value,
                                      struct msim_error *err);

bool msim_clock_is_asked(const struct msim_clock_wish *w);

/*
 * The clock of platform `name` with the usual data sheet `s`: the lower of the
 * clock that was asked for and the clock under the cap. EUSAGE where the data
 * sheet has no clock or power limit, or the cap is outside its range.
 */
MSIM_MUST_CHECK
enum msim_status msim_clock_solve(struct msim_sm_clock *out,
                                  const struct msim_clock_wish *w,
                                  const struct msim_data_sheet *s,
                                  const char *name, struct msim_error *err);

/* The power of a board of `limit_watts`, whose SMs are busy to the share `load`
 * of what they and memory can do at all; in the middle the line between both
 * ends, which are those of the law above. At the clock, and under the cap. */
double msim_clock_watts(const struct msim_sm_clock *c, double limit_watts,
                        double load);

/* The data sheet of a GPU whose SMs run at `ratio` of their clock. */
struct msim_data_sheet msim_clock_sheet(const struct msim_data_sheet *usual,
                                        double ratio);

/*
 * Scale the constants of a law from `usual` to `at`: times, and the rate of the
 * L2 cache over that of device memory, which stays at least 1, since all data
 * passes the cache. In a law without a constant for the cache, a bandwidth
 * efficiency above 1 is that rate.
 */
void msim_clock_constants(const struct msim_law *law, const double *usual,
                          double ratio, double *at);

/* Half of the 90 % interval, a logarithm, that the clock adds to a time which
 * it makes `slowdown` times as long. */
double msim_clock_half_width(const struct msim_sm_clock *c, double slowdown);

/* Write the clock, as "1.10 GHz (of 1.41)", and the cap; "" where neither was
 * asked for. */
void msim_clock_text(const struct msim_sm_clock *c, char *text, size_t size);

#endif
