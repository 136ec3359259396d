/*
 * predict/whatif/price_list.h - prices of instances from a user's table.
 *
 *     platform,gpus,usd_per_hour,kind,source,date
 *     h100,8,24.00,on demand,quote of our provider,2026-11-02
 *
 * says that a GPU of an H100 instance costs 3 US dollars an hour. Without
 * `gpus` the price is one GPU's. Other columns are for readers.
 */
#ifndef MSIM_PREDICT_WHATIF_PRICE_LIST_H
#define MSIM_PREDICT_WHATIF_PRICE_LIST_H
#include "core/base/status.h"

/*
 * The prices of an hour of one GPU of each of `platforms` ("a100,h100@vllm"; a
 * stack has its GPU's), in `of`, which has room for all of them; at most
 * `most`. The table may call a platform by any name that `data` (its folder)
 * has of it. EFORMAT names what is wrong in the table, such as a second price
 * of one; EUSAGE a platform that it has not.
 */
MSIM_MUST_CHECK
enum msim_status msim_price_list_read(double *of, double most, const char *path,
                                      const char *platforms, const char *data,
                                      struct msim_error *err);

#endif
