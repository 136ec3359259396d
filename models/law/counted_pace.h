/*
 * models/law/counted_pace.h - paces of vector kernels that were counted from
 * their source: threads whose loads wait for each other (interpolation of maps,
 * scans down columns, CTC), distances of pairs of rows, sorts in shared memory.
 */
#ifndef MSIM_MODELS_LAW_COUNTED_PACE_H
#define MSIM_MODELS_LAW_COUNTED_PACE_H
#include "core/work/data_sheet.h"

/* Is the vector work `w` one of these? Its interval is to be wide. */
bool msim_is_counted(const struct msim_work *w);

/* Microseconds that it takes, whatever memory could deliver. */
double msim_counted_us(const struct msim_data_sheet *s,
                       const struct msim_work *w);

#endif
