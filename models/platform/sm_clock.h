/*
 * models/platform/sm_clock.h - a GPU at another SM clock, or under a power cap.
 *
 * What the SMs pace goes with their clock: arithmetic, the L2 cache, and every
 * constant of a law that is a time (launch, a step of a main loop, a row). The
 * rates of device memory, links and PCIe do not. A law is asked on both data
 * sheets, so that what was learned of the GPU at its usual clock stays:
 *
 *     time(clock) = time(usual) * law(sheet at clock) / law(sheet)
 *
 * Under a cap of W watts the clock falls until the power fits:
 *
 *     W = idle + (limit - idle) * (clock / usual)^2.5,  idle = limit / 4
 *
 * Example: an A100 of 300 W under 250 W keeps (175 / 225)^0.4 = 0.904 of its
 * clock; products that its arithmetic bounds take 1.106 times as long.
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
    double width_ratio; /* of a slowdown, as a share of its logarithm (90 %) */
};

/*
 * The value of --clock: a share of the usual clock ("0.8", "80%") or a clock
 * ("1100", "1100MHz", "1.1GHz"); of --power-cap: watts ("300", "300W"). EUSAGE
 * says what was wanted.
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
 * The clock that platform `name` with data sheet `s` runs at: the slower of
 * those that the wish's clock and its cap make. EUSAGE where the data sheet has
 * no clock or power limit to count from, or does not allow the cap.
 */
MSIM_MUST_CHECK
enum msim_status msim_clock_solve(struct msim_sm_clock *out,
                                  const struct msim_clock_wish *w,
                                  const struct msim_data_sheet *s,
                                  const char *name, struct msim_error *err);

/* The data sheet of a GPU whose SMs run at `ratio` of their clock. */
struct msim_data_sheet msim_clock_sheet(const struct msim_data_sheet *usual,
                                        double ratio);

/*
 * Likewise the constants of a law, `usual` to `at`: times, and how much faster
 * than device memory the L2 cache is (which cannot be slower, since all goes
 * through it). A law without a constant for the cache has that in the share of
 * bandwidth that it reaches, where this is above 1.
 */
void msim_clock_constants(const struct msim_law *law, const double *usual,
                          double ratio, double *at);

/* Half of the 90 % interval, as a logarithm, that the clock adds to a time that
 * is `slowdown` times as long for it. */
double msim_clock_half_width(const struct msim_sm_clock *c, double slowdown);

/* "1.10 GHz (of 1.41)", and why; "" where no clock was asked for. */
void msim_clock_text(const struct msim_sm_clock *c, char *text, size_t size);

#endif
