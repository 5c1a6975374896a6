/* SPDX-License-Identifier: BSD-3-Clause */
/* The default topology: one host with one BlueField, at the addresses that the remote-offload guide uses. */
#include "topology/topology.h"

const char sf_topology_default[] =
	"{\n"
	"  \"description\": \"One host with one BlueField and one GPU: what is there without SOFTFIELD_TOPOLOGY.\",\n"
	"  \"nodes\": [\n"
	"    {\"name\": \"host0\", \"kind\": \"host\"},\n"
	"    {\"name\": \"dpu0\", \"kind\": \"dpu\", \"host\": \"host0\"}\n"
	"  ],\n"
	"  \"devices\": [\n"
	"    {\"node\": \"dpu0\", \"pci\": \"03:00.0\", \"ibdev\": \"mlx5_0\", \"ipv4\": \"192.168.100.2\"},\n"
	"    {\"node\": \"dpu0\", \"pci\": \"03:00.1\", \"ibdev\": \"mlx5_1\", \"ipv4\": \"192.168.101.2\"},\n"
	"    {\"node\": \"host0\", \"pci\": \"d8:00.0\", \"ibdev\": \"mlx5_2\", \"ipv4\": \"192.168.100.1\",\n"
	"     \"uplink\": \"dpu0/03:00.0\", \"vfs\": [\n"
	"      {\"pci\": \"d8:00.2\", \"ibdev\": \"mlx5_4\"},\n"
	"      {\"pci\": \"d8:00.3\", \"ibdev\": \"mlx5_5\"}\n"
	"    ]},\n"
	"    {\"node\": \"host0\", \"pci\": \"d8:00.1\", \"ibdev\": \"mlx5_3\", \"ipv4\": \"192.168.101.1\", \"uplink\": "
	"\"dpu0/03:00.1\"}\n"
	"  ],\n"
	"  \"gpus\": [\n"
	"    {\"node\": \"host0\", \"pci\": \"b5:00.0\"}\n"
	"  ]\n"
	"}\n";
