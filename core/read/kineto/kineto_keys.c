/*
 * core/read/kineto/kineto_keys.c - what the keys are called.
 */
#include "core/read/kineto/read_kineto_internal.h"

static const struct msim_keyword words[] = {
    {"ph", K_PH},
    {"cat", K_CAT},
    {"name", K_NAME},
    {"pid", K_PID},
    {"tid", K_TID},
    {"ts", K_TS},
    {"dur", K_DUR},
    {"args", K_ARGS},
    {"External id", K_EXTERNAL},
    {"external id", K_EXTERNAL},
    {"correlation", K_CORRELATION},
    {"device", K_DEVICE},
    {"stream", K_STREAM},
    {"bytes", K_BYTES},
    {"Record function id", K_RF_ID},
    {"Sequence number", K_SEQ},
    {"Fwd thread id", K_FWD},
    {"Input Dims", K_DIMS},
    {"Input dims", K_DIMS},
    {"Input Strides", K_STRIDES},
    {"Input type", K_TYPES},
    {"Concrete Inputs", K_VALUES},
    {"grid", K_GRID},
    {"block", K_BLOCK},
    {"registers per thread", K_REGISTERS},
    {"shared memory", K_SHARED},
    {"cuda_sync_kind", K_SYNC_KIND},
    {"wait_on_stream", K_WAIT_STREAM},
    {"wait_on_cuda_event_record_corr_id", K_RECORD},
    {"Collective name", K_COLLECTIVE},
    {"dtype", K_DTYPE},
    {"In msg nelems", K_IN_ELEMS},
    {"Out msg nelems", K_OUT_ELEMS},
    {"Group size", K_GROUP_SIZE},
    {"Global rank start", K_GROUP_START},
    {"Global rank stride", K_GROUP_STRIDE},
    {"Process Group Name", K_GROUP_NAME},
    {"Process Group ID", K_GROUP_NAME},
    {"Process Group Ranks", K_GROUP_RANKS},
    {"Src Rank", K_SRC},
    {"Dst Rank", K_DST},
    {"Seq", K_COMM_SEQ},
    {"sycl queue", K_STREAM},
    {"Physic Stream Id", K_STREAM},
    {"Task Type", K_TASK_TYPE},
    {"Device Type", K_DEVICE_TYPE},
    {"Device Id", K_DEVICE_ID},
    {"Total Allocated", K_ALLOCATED},
    {"Total Reserved", K_RESERVED},
    {NULL, 0},
};

void msim_kineto_keys_init(struct msim_keyset *keys)
{
    msim_keyset_init(keys, words);
}
