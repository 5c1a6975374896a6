#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Runs the GPU tests and the benchmark on this machine's CUDA GPU, in the place of the topology's. usage: run_device.sh BUILD
set -eu
build=${1:?usage: run_device.sh BUILD}
export SOFTFIELD_GPU=cuda
"$build/tests/api/gpu_test"
"$build/tests/system/gpu_comch_test"
"$build/tests/system/gpu_rdma_test"
"$build/tests/system/gpu_rdma_receive_test"
"$build/tests/system/gpu_rdma_failure_test"
"$build/tests/system/gpu_dma_test"
"$build/bench/gpu/gpu_bench" --seconds 0.25 --runs 5
exec "$build/bench/gpu_rdma/gpu_rdma_bench" --runs 3 --scale 0.3
