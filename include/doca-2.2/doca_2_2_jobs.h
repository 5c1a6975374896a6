/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file doca_2_2_jobs.h
 * The jobs and events of DOCA 2.2: the types that doca_ctx.h, doca_dma.h, doca_sha.h, doca_sync_event.h and doca_graph.h share
 * with libdoca_2_2. Programs include those headers.
 */
#ifndef DOCA_2_2_JOBS_H_
#define DOCA_2_2_JOBS_H_

#include <stdint.h>
#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_buf;
struct doca_ctx;

/* ---- doca_ctx.h ---- */

/** The width in bits of each library's range of job numbers. */
#define DOCA_ACTION_SDK_RANGE 16

/** The first number of each library's range. */
enum doca_action_type {
	DOCA_ACTION_NONE = 0,						/**< no action */
	DOCA_ACTION_DMA_FIRST = 1 << DOCA_ACTION_SDK_RANGE,		/**< DMA */
	DOCA_ACTION_DEVEMU_FIRST = 2 << DOCA_ACTION_SDK_RANGE,		/**< device emulation */
	DOCA_ACTION_DEVEMU_PCI_FIRST = 3 << DOCA_ACTION_SDK_RANGE,	/**< PCI device emulation */
	DOCA_ACTION_VIRTIO_FS_FIRST = 4 << DOCA_ACTION_SDK_RANGE,	/**< virtio file systems */
	DOCA_ACTION_VBLK_FIRST = 5 << DOCA_ACTION_SDK_RANGE,		/**< virtio block devices */
	DOCA_ACTION_REGEX_FIRST = 6 << DOCA_ACTION_SDK_RANGE,		/**< regular expressions */
	DOCA_ACTION_NVME_FIRST = 7 << DOCA_ACTION_SDK_RANGE,		/**< NVMe */
	DOCA_ACTION_APPSHIELD_FIRST = 8 << DOCA_ACTION_SDK_RANGE,	/**< App Shield */
	DOCA_ACTION_SHA_FIRST = 9 << DOCA_ACTION_SDK_RANGE,		/**< SHA */
	DOCA_ACTION_COMPRESS_FIRST = 10 << DOCA_ACTION_SDK_RANGE,	/**< compression */
	DOCA_ACTION_IPSEC_FIRST = 11 << DOCA_ACTION_SDK_RANGE,		/**< IPsec */
	DOCA_ACTION_RMAX_FIRST = 12 << DOCA_ACTION_SDK_RANGE,		/**< Rivermax */
	DOCA_ACTION_RDMA_FIRST = 13 << DOCA_ACTION_SDK_RANGE,		/**< RDMA */
	DOCA_ACTION_GRAPH_FIRST = 14 << DOCA_ACTION_SDK_RANGE,		/**< graphs */
	DOCA_ACTION_SYNC_EVENT_FIRST = 15 << DOCA_ACTION_SDK_RANGE,	/**< sync events */
	DOCA_ACTION_DPI_FIRST = 16 << DOCA_ACTION_SDK_RANGE,		/**< deep packet inspection */
	DOCA_ACTION_EC_FIRST = 17 << DOCA_ACTION_SDK_RANGE,		/**< erasure coding */
	DOCA_ACTION_NVRD_TRANSPORT_FIRST = 18 << DOCA_ACTION_SDK_RANGE, /**< NVRD transport */
};

/** Flags of a job. */
enum doca_job_flags {
	DOCA_JOB_FLAGS_NONE = 0, /**< none */
};

/** The first member of every job. The queue copies a job when it is submitted; the bufs it names stay in use. */
struct doca_job {
	int type;		   /**< the operation: a number of the library's */
	int flags;		   /**< enum doca_job_flags */
	struct doca_ctx *ctx;	   /**< the context that executes it */
	union doca_data user_data; /**< returned in the event */
};

/** The result of a job. */
struct doca_event {
	int type;		   /**< the job's */
	union doca_data user_data; /**< the job's */
	union doca_data result;	   /**< u64 is a doca_error_t */
};

/** Flags of doca_workq_progress_retrieve(). */
enum doca_workq_retrieve_flags {
	DOCA_WORKQ_RETRIEVE_FLAGS_NONE = 0, /**< none */
};

/* ---- doca_dma.h ---- */

/** Jobs of DMA. */
enum doca_dma_job_types {
	DOCA_DMA_JOB_MEMCPY = DOCA_ACTION_DMA_FIRST + 1, /**< struct doca_dma_job_memcpy */
};

/** Appends the data of a source to the data of a destination. */
struct doca_dma_job_memcpy {
	struct doca_job base;		 /**< type DOCA_DMA_JOB_MEMCPY */
	struct doca_buf *dst_buff;	 /**< the destination, or head of a list */
	struct doca_buf const *src_buff; /**< the source, or head of a list */
};

/** The result of an event, as a struct. */
struct doca_dma_memcpy_result {
	doca_error_t result; /**< of the copy */
};

/* ---- doca_rdma.h ---- */

/** The destination of a datagram. Opaque; not used. */
struct doca_rdma_addr;

/** Jobs of RDMA. */
enum doca_rdma_job_types {
	DOCA_RDMA_JOB_RECV = DOCA_ACTION_RDMA_FIRST + 1, /**< struct doca_rdma_job_recv */
	DOCA_RDMA_JOB_SEND,				 /**< struct doca_rdma_job_send */
	DOCA_RDMA_JOB_SEND_IMM,				 /**< the same, with immediate data */
	DOCA_RDMA_JOB_READ,				 /**< struct doca_rdma_job_read_write */
	DOCA_RDMA_JOB_WRITE,				 /**< the same */
	DOCA_RDMA_JOB_WRITE_IMM,			 /**< the same, with immediate data, which consumes a receive */
	DOCA_RDMA_JOB_ATOMIC_CMP_SWP,			 /**< struct doca_rdma_job_atomic */
	DOCA_RDMA_JOB_ATOMIC_FETCH_ADD,			 /**< the same */
};

/** Receives a message of the peer, or the immediate data of its write. */
struct doca_rdma_job_recv {
	struct doca_job base;	   /**< type DOCA_RDMA_JOB_RECV */
	struct doca_buf *dst_buff; /**< the message is appended to its data, or replaces them if they fill it; NULL: no bytes */
};

/** Sends the data of a buf to a receive of the peer. */
struct doca_rdma_job_send {
	struct doca_job base;			     /**< type DOCA_RDMA_JOB_SEND or DOCA_RDMA_JOB_SEND_IMM */
	struct doca_buf const *src_buff;	     /**< the message, or head of a list; NULL for one without bytes */
	doca_be32_t immediate_data;		     /**< no byte is swapped */
	struct doca_rdma_addr const *rdma_peer_addr; /**< not used */
};

/** Reads memory of the peer, or writes it. */
struct doca_rdma_job_read_write {
	struct doca_job base;		 /**< type DOCA_RDMA_JOB_READ, DOCA_RDMA_JOB_WRITE or DOCA_RDMA_JOB_WRITE_IMM */
	struct doca_buf *dst_buff;	 /**< read: local, the bytes are appended; write: the peer's */
	struct doca_buf const *src_buff; /**< read: the peer's; write: local */
	doca_be32_t immediate_data;	 /**< of DOCA_RDMA_JOB_WRITE_IMM; no byte is swapped */
	struct doca_rdma_addr const *rdma_peer_addr; /**< not used */
};

/** Compares and swaps, or fetches and adds, eight bytes of the peer. */
struct doca_rdma_job_atomic {
	struct doca_job base;			     /**< type DOCA_RDMA_JOB_ATOMIC_CMP_SWP or DOCA_RDMA_JOB_ATOMIC_FETCH_ADD */
	struct doca_buf *cmp_or_add_dest_buff;	     /**< the peer's */
	struct doca_buf *result_buff;		     /**< local: receives the value before */
	uint64_t swap_or_add_data;		     /**< the new value, or the summand */
	uint64_t cmp_data;			     /**< swap: the expected value */
	struct doca_rdma_addr const *rdma_peer_addr; /**< not used */
};

/* ---- doca_sha.h ---- */

/** Jobs of SHA. */
enum doca_sha_job_type {
	DOCA_SHA_JOB_SHA1 = DOCA_ACTION_SHA_FIRST + 1, /**< SHA-1 of the source; struct doca_sha_job */
	DOCA_SHA_JOB_SHA256,			       /**< SHA-256 of the source */
	DOCA_SHA_JOB_SHA512,			       /**< SHA-512 of the source */
	DOCA_SHA_JOB_SHA1_PARTIAL,		       /**< SHA-1, piece by piece; struct doca_sha_partial_job */
	DOCA_SHA_JOB_SHA256_PARTIAL,		       /**< SHA-256, piece by piece */
	DOCA_SHA_JOB_SHA512_PARTIAL,		       /**< SHA-512, piece by piece */
};

/** Flags of a SHA job. */
enum doca_sha_job_flags {
	DOCA_SHA_JOB_FLAGS_NONE = 0,		  /**< none; of a partial job: more pieces follow */
	DOCA_SHA_JOB_FLAGS_SHA_PARTIAL_FINAL = 1, /**< the last piece: the digest is written */
};

/** Hashes the data of a source and appends the digest to a destination. */
struct doca_sha_job {
	struct doca_job base;	   /**< type DOCA_SHA_JOB_* */
	struct doca_buf *req_buf;  /**< the source, or head of a list */
	struct doca_buf *resp_buf; /**< the destination */
	uint64_t flags;		   /**< enum doca_sha_job_flags */
};

/** The state of a hash that is computed piece by piece. Opaque. */
struct doca_sha_partial_session;

/** One piece of a hash. All pieces but the last have a multiple of the block size (64 bytes, 128 for SHA-512). */
struct doca_sha_partial_job {
	struct doca_sha_job sha_job;		  /**< type DOCA_SHA_JOB_*_PARTIAL, the same for all pieces */
	struct doca_sha_partial_session *session; /**< one job in flight at a time */
};

/* ---- doca_sync_event.h ---- */

/** Jobs of a sync event. */
enum doca_sync_event_job_types {
	DOCA_SYNC_EVENT_JOB_WAIT_GT = DOCA_ACTION_SYNC_EVENT_FIRST + 1, /**< struct doca_sync_event_job_wait */
	DOCA_SYNC_EVENT_JOB_GET,					/**< struct doca_sync_event_job_get */
	DOCA_SYNC_EVENT_JOB_UPDATE_SET,					/**< struct doca_sync_event_job_update_set */
	DOCA_SYNC_EVENT_JOB_UPDATE_ADD,					/**< struct doca_sync_event_job_update_add */
};

/** The result of an event, as a struct. */
struct doca_sync_event_result {
	doca_error_t result; /**< of the job */
};

/** Ends when the event's value, masked, is greater than a value. */
struct doca_sync_event_job_wait {
	struct doca_job base; /**< type DOCA_SYNC_EVENT_JOB_WAIT_GT */
	uint64_t value;	      /**< 0 to 254 */
	uint64_t mask;	      /**< the bits of the event's value to compare */
};

/** Reads the event's value. */
struct doca_sync_event_job_get {
	struct doca_job base; /**< type DOCA_SYNC_EVENT_JOB_GET */
	uint64_t *value;      /**< set to the value; must live until the job has ended */
};

/** Sets the event's value. */
struct doca_sync_event_job_update_set {
	struct doca_job base; /**< type DOCA_SYNC_EVENT_JOB_UPDATE_SET */
	uint64_t value;	      /**< the new value */
};

/** Adds to the event's value. */
struct doca_sync_event_job_update_add {
	struct doca_job base; /**< type DOCA_SYNC_EVENT_JOB_UPDATE_ADD */
	uint64_t value;	      /**< what to add */
	uint64_t *fetched;    /**< set to the value before; must live until the job has ended */
};

/* ---- doca_graph.h ---- */

/** Jobs of graphs, as events name them. */
enum doca_graph_job_types {
	DOCA_GRAPH_JOB = DOCA_ACTION_GRAPH_FIRST + 1, /**< a graph instance has ended */
};

/** The state of a node of an instance. */
enum doca_graph_instance_node_state {
	DOCA_GRAPH_INSTANCE_NODE_STATE_NOT_STARTED = 0, /**< it waits for others, or for the submit */
	DOCA_GRAPH_INSTANCE_NODE_STATE_STARTED = 1,	/**< it runs */
	DOCA_GRAPH_INSTANCE_NODE_STATE_COMPLETED = 2,	/**< it has succeeded */
	DOCA_GRAPH_INSTANCE_NODE_STATE_ERROR = 3,	/**< it has failed */
};

#ifdef __cplusplus
}
#endif

#endif /* DOCA_2_2_JOBS_H_ */
