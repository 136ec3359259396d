/*
 * core/read/kineto/kineto_keys.h - the keys of an event and of its arguments;
 * for this room only.
 */
#ifndef MSIM_CORE_READ_KINETO_KINETO_KEYS_H
#define MSIM_CORE_READ_KINETO_KINETO_KEYS_H
#include "core/read/keyword.h"

enum msim_kineto_key {
    K_OTHER,
    K_PH,
    K_CAT,
    K_NAME,
    K_PID,
    K_TID,
    K_TS,
    K_DUR,
    K_ARGS,
    K_EXTERNAL,
    K_CORRELATION,
    K_DEVICE,
    K_STREAM,
    K_BYTES,
    K_RF_ID,
    K_SEQ,
    K_FWD,
    K_DIMS,
    K_STRIDES,
    K_TYPES,
    K_VALUES,
    K_GRID,
    K_BLOCK,
    K_REGISTERS,
    K_SHARED,
    K_SYNC_KIND,
    K_WAIT_STREAM,
    K_RECORD,
    K_COLLECTIVE,
    K_DTYPE,
    K_IN_ELEMS,
    K_OUT_ELEMS,
    K_GROUP_SIZE,
    K_GROUP_START,
    K_GROUP_STRIDE,
    K_GROUP_NAME,
    K_GROUP_RANKS,
    K_SRC,
    K_DST,
    K_COMM_SEQ,
    K_TASK_TYPE,
    K_DEVICE_TYPE,
    K_DEVICE_ID,
    K_ALLOCATED,
    K_RESERVED,
};

void msim_kineto_keys_init(struct msim_keyset *keys);

#endif
