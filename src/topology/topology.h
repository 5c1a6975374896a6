/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which nodes, devices, representors and GPUs exist: the default topology, or the JSON file that SOFTFIELD_TOPOLOGY names.
 * Read once per process, then immutable.
 */
#ifndef SF_TOPOLOGY_TOPOLOGY_H
#define SF_TOPOLOGY_TOPOLOGY_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <doca_error.h>

#include "base/port_range.h"
#include "base/visibility.h"

#define SF_PCI_ADDR_SIZE 13 /* 0000:03:00.0 and NUL */

#define SF_TOPOLOGY_TEXT_MAX (4 << 20) /* bytes of a topology file */
#define SF_TOPOLOGY_NODES_MAX 256
#define SF_TOPOLOGY_DEVICES_MAX 1024 /* with VFs and SFs */
#define SF_TOPOLOGY_GPUS_MAX 256
#define SF_NODE_PORT 18515   /* of `softfield node`, unless the topology sets another */
#define SF_KEY_REAL "ibdev:" /* the fabric knows a real RDMA device by it (SF_KEY_IBDEV) */

enum sf_node_kind { SF_NODE_HOST, SF_NODE_DPU };
enum sf_function_kind { SF_FUNCTION_PF, SF_FUNCTION_VF, SF_FUNCTION_SF };

struct sf_node {
	const char *name; /* "host0", "dpu0" */
	enum sf_node_kind kind;
	const char *host;	    /* a DPU's host node, or NULL */
	const char *address;	    /* for a node on another machine, or NULL */
	uint16_t port;		    /* TCP port of `softfield node` on that machine */
	struct sf_port_range ports; /* where its programs listen */
	uint32_t cpus;		    /* of a DPU, offered through UROM; 0: not stated */
};

/* A network function. On a DPU: a port, which carries the representors of the host functions behind it. */
struct sf_device {
	const struct sf_node *node;
	char key[96]; /* "host0/0000:d8:00.0": unique, the same in every process of the topology; a real one: SF_KEY_REAL and its
			 name */
	char pci_addr[SF_PCI_ADDR_SIZE];
	char ibdev[64], iface[64];
	char rep_iface[64];    /* the interface of its representor on the DPU, "pf0vf1"; empty without uplink */
	uint32_t rep_pf_index; /* the number in rep_iface: the uplink's index among the DPU's ports */
	char vuid[128];
	uint8_t mac[6];
	uint8_t ipv4[4];
	uint8_t ipv6[16];
	bool has_ipv4;
	enum sf_function_kind kind;
	uint32_t vf_index;		/* SF_FUNCTION_VF only */
	uint32_t sf_index;		/* SF_FUNCTION_SF only */
	const struct sf_device *parent; /* the PF of a VF or SF; else NULL */
	uint16_t vhca_id;
	uint64_t rate_bps;
	uint32_t engine_threads;	/* threads that process large DMA, SHA, AES-GCM, Compress and EC tasks of this device */
	const struct sf_device *uplink; /* the DPU port that a host function, or a DPU's SF, is behind; or NULL */
};

struct sf_gpu_desc {
	const struct sf_node *node;
	char pci_addr[SF_PCI_ADDR_SIZE];
	char name[64];
};

struct sf_topology {
	struct sf_node *nodes;
	struct sf_device *devices;
	struct sf_gpu_desc *gpus;
	uint32_t num_nodes, num_devices, num_gpus;
	const char *key; /* path of the key file that all machines of the topology have; NULL: machines cannot connect */
	bool is_bare;	 /* "tls": false: connections are not encrypted, and prove the key when they begin */
	const struct sf_node *self; /* the node that SOFTFIELD_NODE names, or NULL: this process sees every device */
};

/* The process's topology, loaded on first use. Each call logs and returns BAD_CONFIG for an invalid file, or NOT_FOUND for an
 * unknown SOFTFIELD_NODE. */
SF_API doca_error_t sf_topology_get(const struct sf_topology **topology);

/* Parses JSON text (len bytes, untrusted). On failure *message has the error and its place; the caller frees it. */
SF_API doca_error_t sf_topology_parse(const char *text, size_t len, struct sf_topology **topology, char **message);
SF_API void sf_topology_free(struct sf_topology *topology);

/* Returns whether this process sees the node's devices: with SOFTFIELD_NODE only that node's, else those of all nodes of this
 * machine. */
SF_API bool sf_topology_sees(const struct sf_topology *topology, const struct sf_node *node);

SF_API const struct sf_node *sf_topology_find_node(const struct sf_topology *topology, const char *name);

/* Returns whether the device is a port of a DPU, which has representors. */
SF_API bool sf_device_is_port(const struct sf_device *device);

/* The device of the process's topology that has the key, or NULL. */
const struct sf_device *sf_device_find(const char *key);

/* Returns whether they are one device, or a host function and the DPU port that it is behind. */
bool sf_device_shares_pci(const struct sf_device *a, const struct sf_device *b);

/* Returns the JSON text of the process's topology (SOFTFIELD_TOPOLOGY's file, or the default) and its origin. The caller frees
 * the text. On failure *message has the reason; the caller frees it. */
SF_API doca_error_t sf_topology_text(char **text, size_t *len, const char **origin, char **message);

/* Reads a whole topology file, as sf_topology_text. */
SF_API doca_error_t sf_topology_read(const char *path, char **text, size_t *len, char **message);

/* The default topology, as JSON. */
SF_API extern const char sf_topology_default[];

/* Converts "03:00.0" or "0000:03:00.0", in upper or lower case, to the long lower-case form. INVALID_VALUE otherwise. */
SF_API doca_error_t sf_pci_addr_normalise(const char *text, char addr[SF_PCI_ADDR_SIZE]);

#endif
